//! Learners of disjoint shards of one stream, combined.

use super::Ofab;
use crate::engine::parts::{Ring, ScoreTrack};
use crate::family::Family;
use crate::structure::EventLog;

impl<F: Family> Ofab<F> {
    /// One learner of all rows that the parts have seen; `parts` is not empty and its order is canonical.
    pub fn merged<'a>(parts: impl Iterator<Item = &'a Self>, shard: u32) -> Self {
        let parts: Vec<&Self> = parts.collect();
        let mut merged = parts[0].clone();
        merged.shard = shard;
        for other in &parts[1..] {
            merged.n_seen += other.n_seen;
        }
        merged
    }
}
