//! Learners of disjoint shards of one stream, combined.
