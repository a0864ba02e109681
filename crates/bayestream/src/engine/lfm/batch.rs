//! The learner that keeps every row: kind `lfm/fab`, and the rivals.

use super::drive::fit_rows;
use super::export::{check, export};
use super::parameters::Parameters;
use super::rivals::{Rival, RivalSettings};
use super::rows::Rows;
use super::settings::FabSettings;
use super::unseen::noise_of_unseen;
use crate::data::{Batch, Frame, LARGEST_CELL, Scaling};
use crate::engine::{FeatureLearner, StepReport};
use crate::interrupt::{Interrupt, Interrupted};
use crate::num;
use crate::structure::{ComponentId, EventLog, FeatureSet, LogScore};
use serde::{Deserialize, Serialize};

/// How all rows are fitted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Way {
    /// By FAB.
    Fab(FabSettings),
    /// As others do it.
    Rival(Rival, RivalSettings),
}

impl Way {
    /// What is wrong with its settings, if anything.
    pub fn check(&self) -> Result<(), String> {
        match self {
            Way::Fab(settings) => settings.check(),
            Way::Rival(_, settings) => settings.check(),
        }
    }
}

/// The learner that fits all rows when a pass ends, or a copy when asked before.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct BatchFeatures {
    way: Way,
    seed: u64,
    shard: u32,
    n_columns: usize,
    rows: Vec<f64>,
    weights: Vec<f64>,
    fitted: Option<FeatureSet>,
    events: EventLog,
}

/// One iteration of a fit, for those who watch it.
#[derive(Clone, Copy, Debug)]
pub struct Iteration<'a> {
    /// Iterations before this one.
    pub index: usize,
    /// L, in the frame's units; NaN for rivals.
    pub bound: f64,
    /// The parameters after it, in the frame's units.
    pub parameters: &'a Parameters,
    /// The frame.
    pub frame: &'a Frame,
    shard: u32,
}

impl Iteration<'_> {
    /// Features after it.
    pub fn k(&self) -> usize {
        self.parameters.k
    }

    /// The model after it, in the data's own units.
    pub fn features(&self) -> FeatureSet {
        let noise: Vec<f64> = self.parameters.precision.iter().map(|l| 1.0 / l).collect();
        export(self.parameters, &noise, self.frame, &names(self.shard, self.parameters.k))
    }
}

impl BatchFeatures {
    /// A learner that has seen nothing.
    pub fn new(way: Way, n_columns: usize, seed: u64, shard: u32) -> BatchFeatures {
        BatchFeatures {
            way,
            seed,
            shard,
            n_columns,
            rows: Vec::new(),
            weights: Vec::new(),
            fitted: None,
            events: EventLog::default(),
        }
    }

    /// How it fits.
    pub fn way(&self) -> &Way {
        &self.way
    }

    /// The rows that count: one of weight 0 is none.
    fn counting(&self) -> (Vec<f64>, Vec<f64>) {
        let (mut rows, mut weights) = (Vec::with_capacity(self.rows.len()), Vec::with_capacity(self.weights.len()));
        for (row, weight) in self.rows.chunks_exact(self.n_columns.max(1)).zip(&self.weights) {
            if *weight > 0.0 {
                rows.extend_from_slice(row);
                weights.push(*weight);
            }
        }
        (rows, weights)
    }

    /// Fits the rows seen so far and shows each iteration that lasts.
    pub fn fit_traced(&self, watch: &mut dyn FnMut(&Iteration<'_>)) -> FeatureSet {
        self.fit(&Interrupt::default(), watch)
    }

    /// What is left of it after an interrupt is of no use.
    fn fit(&self, interrupt: &Interrupt, watch: &mut dyn FnMut(&Iteration<'_>)) -> FeatureSet {
        let (rows, weights) = self.counting();
        let frame = Frame::of_rows(&rows, self.n_columns, Scaling::Columns);
        let mut framed = Vec::with_capacity(rows.len());
        frame.push_rows(&rows, &mut framed);
        let mut index = 0;
        let mut show = |bound: f64, parameters: &Parameters| {
            watch(&Iteration { index, bound, parameters, frame: &frame, shard: self.shard });
            index += 1;
        };
        let (parameters, rows) = match &self.way {
            Way::Fab(settings) => {
                let rng = num::stream(self.seed, u64::from(self.shard), 0);
                let mut show = |fit: &super::Fit| show(fit.bound, &fit.parameters);
                let fitted = fit_rows(&framed, self.n_columns, Some(&weights), settings, rng, interrupt, &mut show);
                (fitted.fit.parameters, fitted.rows)
            }
            Way::Rival(rival, settings) => {
                let rows = Rows::heeding(interrupt, &framed, self.n_columns, Some(&weights));
                let seed = (self.seed, u64::from(self.shard));
                let parameters = rival.fit(&rows, settings, seed, &mut |p| show(f64::NAN, p));
                (parameters, rows)
            }
        };
        let unseen = noise_of_unseen(&rows, &parameters, rows.mass);
        export(&parameters, &unseen, &frame, &names(self.shard, parameters.k))
    }
}

fn names(shard: u32, k: usize) -> Vec<ComponentId> {
    (0..k as u32).map(|serial| ComponentId { shard, serial }).collect()
}

impl FeatureLearner for BatchFeatures {
    fn update(&mut self, batch: &Batch<'_>) -> StepReport {
        if batch.n_rows() > 0 {
            self.rows.extend_from_slice(batch.rows());
            match batch.weights() {
                Some(weights) => self.weights.extend_from_slice(weights),
                None => self.weights.resize(self.weights.len() + batch.n_rows(), 1.0),
            }
            self.fitted = None;
        }
        StepReport { n_rows: batch.n_rows(), ..StepReport::default() }
    }

    fn finish_unless(&mut self, interrupt: &Interrupt) -> Result<(), Interrupted> {
        if self.fitted.is_none() {
            self.fitted = Some(interrupt.unless_raised(self.fit(interrupt, &mut |_| ()))?);
        }
        Ok(())
    }

    fn scores_after(&self) -> Option<u64> {
        None
    }

    fn features(&self) -> FeatureSet {
        self.fitted.clone().unwrap_or_else(|| self.fit_traced(&mut |_| ()))
    }

    fn recent_rows(&self, n: usize) -> Vec<f64> {
        let first = self.weights.len().saturating_sub(n);
        self.rows[first * self.n_columns..].to_vec()
    }

    fn n_seen(&self) -> u64 {
        self.weights.len() as u64
    }

    fn k_implemented(&self) -> usize {
        self.fitted.as_ref().map_or(0, |set| set.features.len())
    }

    fn events(&self) -> &EventLog {
        &self.events
    }

    fn log_score(&self) -> LogScore {
        LogScore { prequential_mean: f64::NAN, n_scored: 0, recent: Vec::new() }
    }

    fn restore(&mut self, n_columns: usize) -> Result<(), String> {
        self.way.check()?;
        let rows_sound = self.n_columns == n_columns
            && self.rows.len() == self.weights.len() * n_columns
            && !self.rows.iter().any(|v| v.abs() > LARGEST_CELL)
            && self.weights.iter().all(|w| w.is_finite() && *w >= 0.0);
        if !rows_sound {
            return Err("its rows are inconsistent".into());
        }
        self.fitted.as_ref().map_or(Ok(()), |set| check(set, n_columns))
    }
}
