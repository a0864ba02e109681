//! Placeholder.
use super::{Learner, StepReport, ofab::Ofab};
use crate::data::Batch;
use crate::family::Family;
use crate::model::Config;
use crate::structure::{Component, EventLog, LogScore, Scorer};
use serde::{Deserialize, Serialize};
/// Placeholder.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound = "F: Family")]
pub struct Fab<F: Family>(Ofab<F>);
impl<F: Family> Fab<F> {
    /// New.
    pub fn new(config: &Config) -> Self {
        Fab(Ofab::new(config))
    }
}
impl<F: Family> Learner for Fab<F> {
    fn update(&mut self, batch: &Batch<'_>) -> StepReport {
        self.0.update(batch)
    }
    fn realize(&self, delta: f64) -> Vec<Component> {
        self.0.realize(delta)
    }
    fn scorer(&self) -> Scorer {
        self.0.scorer()
    }
    fn n_seen(&self) -> u64 {
        self.0.n_seen()
    }
    fn k_implemented(&self) -> usize {
        self.0.k_implemented()
    }
    fn events(&self) -> &EventLog {
        self.0.events()
    }
    fn log_score(&self) -> LogScore {
        self.0.log_score()
    }
    fn restore(&mut self, n: usize) -> Result<(), String> {
        self.0.restore(n)
    }
}
