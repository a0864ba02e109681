//! What the learner of rows asks of a component.

use crate::data::Frame;
use crate::family::{IllegalPrior, Moments};
use crate::model::Settings;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::Debug;

/// The posterior q(β_z) of one component's parameters, in the learner's frame.
pub trait Part: Clone + Debug + Serialize + DeserializeOwned + Send + Sync {
    /// What is known of a component without rows.
    type Prior: Clone + Debug + Serialize + DeserializeOwned + Send + Sync;
    /// Buffers.
    type Scratch: Clone + Debug + Default + Send + Sync;

    /// The priors among which the first rows choose, by how well each row is foretold from those before it.
    fn priors(settings: &Settings, frame: &Frame) -> Result<Vec<Self::Prior>, IllegalPrior>;

    /// A component without rows.
    fn new(prior: &Self::Prior) -> Self;

    /// ln b(x): log predictive density of the observed cells of a row.
    fn log_predictive(&self, prior: &Self::Prior, row: &[f64], scratch: &mut Self::Scratch) -> f64;

    /// Becomes the distribution of its family with the moments of (1 − share) q + share q(· | row), where the row was
    /// seen `weight` times.
    fn learn(&mut self, prior: &Self::Prior, row: &[f64], share: f64, weight: f64, scratch: &mut Self::Scratch);

    /// Forgets: `keep` of what it has beyond the prior stays.
    fn forget(&mut self, prior: &Self::Prior, keep: f64);

    /// The component as so many rows with a mean and a covariance.
    fn as_rows(&self, prior: &Self::Prior, count: f64) -> Moments;

    /// Rows that it knows beyond the prior: of a component that had small shares of many rows, far fewer than those add
    /// up to.
    fn known_rows(&self, prior: &Self::Prior) -> f64;

    /// What it has learnt beyond the prior, as rows, when it took `mass` of them: what the odds of two components being
    /// one are judged by.
    fn evidence(&self, prior: &Self::Prior, mass: f64) -> Moments;

    /// The component that this one and another, each standing for so many rows, are together.
    fn join(&mut self, prior: &Self::Prior, own: f64, other: &Self, others: f64);

    /// Log odds of one component against two with this evidence.
    fn merge_gain(prior: &Self::Prior, first: &Moments, second: &Moments) -> f64;

    /// The component in another frame: every column times a factor plus an offset.
    fn mapped(&self, prior: &Self::Prior, factor: &[f64], offset: &[f64]) -> Self;

    /// True when a prior makes sense: what a file must satisfy.
    fn is_prior_sound(prior: &Self::Prior, n_columns: usize) -> bool;

    /// True when a component makes sense: what a file must satisfy.
    fn is_sound(&self, n_columns: usize) -> bool;
}

/// ln Γ(n₁+n₂) − ln Γ(n₁) − ln Γ(n₂): what a partition into two components costs, at concentration 1.
pub(super) fn partition_gain(first: f64, second: f64) -> f64 {
    use crate::num::ln_gamma;
    ln_gamma(first + second) - ln_gamma(first) - ln_gamma(second)
}
