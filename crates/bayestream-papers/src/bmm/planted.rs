//! Planted topics: whether they are found.

use crate::summary::mean_sd;
use bayestream::engine::DocumentLearner;
use bayestream::engine::topics::MmHdp;
use bayestream::metrics;
use bayestream::synthetic::PlantedTopics;

/// A planted topic is found when one that is shown overlaps it by more (Bhattacharyya coefficient).
pub const FOUND_ABOVE: f64 = 0.9;

/// What a learner shows, held against what was planted.
pub struct Found {
    /// Topics shown.
    pub n_shown: usize,
    /// Planted topics found.
    pub n_found: usize,
    /// Mean overlap of planted topics with the shown ones they are matched with.
    pub overlap: f64,
}

impl Found {
    /// Matches topics one to one. Planted topics beyond the first `n_present` have not occurred yet.
    pub fn of(learner: &MmHdp, truth: &PlantedTopics, n_present: usize) -> Found {
        let shown: Vec<Vec<f32>> = learner.topics().into_iter().map(|topic| topic.words).collect();
        let pairs = metrics::match_topics(&truth.topics[..n_present], &shown);
        let overlaps: Vec<f64> = pairs.iter().map(|(_, _, overlap)| *overlap).collect();
        let n_found = overlaps.iter().filter(|overlap| **overlap > FOUND_ABOVE).count();
        Found { n_shown: shown.len(), n_found, overlap: mean_sd(&overlaps).0 }
    }
}
