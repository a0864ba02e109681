//! Moves that engines share.

mod em;
mod kmeans;
mod ring;
mod scores;

pub use em::{EmOptions, Gather, Part, Pull, Sums, accumulate, em};
pub use kmeans::{Clusters, k_means};
pub use ring::Ring;
pub use scores::ScoreTrack;

/// Largest FAB penalty in the E-step, in nats. Without a cap a newborn component (count near zero) could never live.
pub const PENALTY_CAP: f64 = 0.5;

/// The FAB penalty of a component in the E-step.
/// Deviates: \[OFAB\] (16) has no cap; see `papers/ofab.md`, deviation "penalty cap".
pub fn penalty(n_free: f64, count: f64, cap: f64) -> f64 {
    (n_free / (2.0 * count.max(f64::MIN_POSITIVE))).min(cap) // [OFAB] (16)
}
