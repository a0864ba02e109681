//! Moves that engines share.

mod em;
mod kmeans;
mod pooling;
mod ring;
mod scores;
mod sticks;
mod tempo;
mod twins;

pub use em::{EmOptions, Gather, Part, Pull, Sums, accumulate, em};
pub use kmeans::{Clusters, k_means};
pub use pooling::{Pooling, diagonal_within, floors};
pub use ring::Ring;
pub use scores::ScoreTrack;
pub use sticks::{Sticks, beta, tables};
pub use tempo::Tempo;
pub use twins::twins;

use super::Learner;
use crate::data::Batch;

/// Learns rows that another learner has kept since its beginning, because it has no model of its own yet.
pub fn learn_again(learner: &mut impl Learner, n_columns: usize, rows: &[f64], weights: &[f64]) {
    // They have passed the same checks before.
    if let Ok(batch) = Batch::new(rows, n_columns).and_then(|b| b.with_weights(weights)) {
        learner.update(&batch);
    }
}

/// Largest FAB penalty in the E-step, in nats. Without a cap a newborn component (count near zero) could never live.
pub const PENALTY_CAP: f64 = 0.5;

/// The FAB penalty of a component in the E-step.
/// Deviates: \[OFAB\] (16) has no cap; see `papers/ofab.md`, deviation "penalty cap".
pub fn penalty(n_free: f64, count: f64, cap: f64) -> f64 {
    (n_free / (2.0 * count.max(f64::MIN_POSITIVE))).min(cap) // [OFAB] (16)
}
