//! Moves that engines share.
