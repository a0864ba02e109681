//! What sets the engines of this folder apart.

use super::expect::Blend;
use crate::model::Settings;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::Debug;

/// A streaming variational engine, as far as it differs from the others.
pub trait Rule: Copy + Debug + Default + PartialEq + Serialize + DeserializeOwned + Send + Sync + 'static {
    /// True when components are born batch by batch, and not all at the start.
    const GROWS: bool;

    /// True when a batch starts from equal responsibilities.
    const RESETS: bool;

    /// How the statistics take the `step`-th batch (from 1), when `seen` is the mass of all rows and `batch` its own.
    fn blend(&self, settings: &Settings, step: u64, seen: f64, batch: f64) -> Blend;

    /// Expected log-weights of components with these counts.
    fn log_weights(&self, alpha: f64, counts: &[f64], out: &mut Vec<f64>);
}
