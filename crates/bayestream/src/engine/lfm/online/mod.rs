//! The learner that lives on a stream: kind `lfm/online-fab`.
//!
//! The first rows are held and fitted together; from then on mini-batches move averages per row by steps that get
//! smaller. Rows wait until a mini-batch is whole, so that it does not matter in which portions they come.

mod drift;
#[cfg(test)]
mod laws;
mod master;
mod polish;
mod settings;

pub use settings::OnlineSettings;

use super::drive::fit_rows;
use super::export::export;
use super::rows::Rows;
use crate::data::{Batch, Frame, LARGEST_CELL, Scaling};
use crate::engine::parts::{Ring, ScoreTrack};
use crate::engine::{FeatureLearner, StepReport};
use crate::interrupt::Interrupt;
use crate::num;
use crate::structure::{ComponentId, Event, EventLog, FeatureSet, Happening, LogScore};
use master::{Master, Step};
use serde::{Deserialize, Serialize};

/// The learner of `lfm/online-fab`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct OnlineFab {
    settings: OnlineSettings,
    seed: u64,
    shard: u32,
    n_columns: usize,
    n_seen: u64,
    /// Rows that wait for the first fit or for a whole mini-batch, in the data's own units.
    waiting: Vec<f64>,
    waiting_weights: Vec<f64>,
    master: Option<Master>,
    ring: Ring,
    events: EventLog,
    scores: ScoreTrack,
}

impl OnlineFab {
    /// A learner that has seen nothing.
    pub fn new(settings: OnlineSettings, n_columns: usize, seed: u64, shard: u32) -> OnlineFab {
        OnlineFab {
            settings,
            seed,
            shard,
            n_columns,
            n_seen: 0,
            waiting: Vec::new(),
            waiting_weights: Vec::new(),
            master: None,
            ring: Ring::new(n_columns, settings.buffer),
            events: EventLog::default(),
            scores: ScoreTrack::default(),
        }
    }

    /// Rows that are learnt together next.
    fn wanted(&self) -> usize {
        if self.master.is_none() { self.settings.first_rows(self.n_columns) } else { self.whole() }
    }

    fn whole(&self) -> usize {
        self.settings.batch_rows(self.n_columns)
    }

    fn step(&self) -> Step {
        Step {
            whole: self.whole(),
            shrink_steps: self.settings.fab.shrink_steps,
            max_features: self.settings.fab.max_features,
            watches_drift: self.settings.watches_drift,
        }
    }

    /// Learns the first `n` rows that wait.
    fn learn_waiting(&mut self, n: usize, report: &mut StepReport) {
        let cells: Vec<f64> = self.waiting.drain(..n * self.n_columns).collect();
        let weights: Vec<f64> = self.waiting_weights.drain(..n).collect();
        if self.master.is_some() {
            self.learn(&cells, &weights, report);
        } else {
            self.begin(&cells, &weights);
        }
        self.ring.push(&cells, Some(&weights));
    }

    /// Fits the first rows together.
    fn begin(&mut self, cells: &[f64], weights: &[f64]) {
        let frame = Frame::of_rows(cells, self.n_columns, Scaling::Columns);
        let mut framed = Vec::with_capacity(cells.len());
        frame.push_rows(cells, &mut framed);
        let rng = num::stream(self.seed, u64::from(self.shard), 0);
        let fitted = fit_rows(
            &framed,
            self.n_columns,
            Some(weights),
            &self.settings.fab,
            rng,
            &Interrupt::default(),
            &mut |_| (),
        );
        let master = Master::new(frame, &fitted, self.shard, self.whole());
        master.ids.iter().for_each(|id| self.log(*id, Happening::Born));
        self.master = Some(master);
    }

    /// Learns a mini-batch.
    fn learn(&mut self, cells: &[f64], weights: &[f64], report: &mut StepReport) {
        let step = self.step();
        let Some(master) = &mut self.master else { return };
        let d = self.n_columns;
        let mut framed = Vec::with_capacity(cells.len());
        master.frame.push_rows(cells, &mut framed);
        let rows = Rows::new(&framed, d, Some(weights));
        let mut bounds = master.look(&rows).to_vec();
        for (bound, row) in bounds.iter_mut().zip(cells.chunks_exact(d)) {
            let n_cells = row.iter().filter(|v| !v.is_nan()).count();
            // A row without cells says nothing and has no density.
            if n_cells > 0 {
                let score = *bound + master.frame.log_jacobian_of(row);
                self.scores.push(score);
                report.log_score += score;
                report.n_scored += 1;
            }
            *bound /= n_cells as f64;
        }
        bounds.retain(|bound| bound.is_finite());
        let news = master.learn(&rows, &bounds, &step);
        let ids = master.ids.clone();
        if news.has_drifted {
            ids.iter().filter(|id| !news.born.contains(id)).for_each(|id| self.log(*id, Happening::Drift));
        }
        news.born.iter().for_each(|id| self.log(*id, Happening::Born));
        news.died.iter().for_each(|id| self.log(*id, Happening::Died));
    }

    fn log(&mut self, component: ComponentId, what: Happening) {
        // By the rows learnt, not by those that wait, so that portions do not matter.
        let row = self.n_seen - self.waiting_weights.len() as u64;
        self.events.push(Event { row, component, what });
    }
}

impl FeatureLearner for OnlineFab {
    fn scores_after(&self) -> Option<u64> {
        Some(self.settings.first_rows(self.n_columns) as u64)
    }

    fn update(&mut self, batch: &Batch<'_>) -> StepReport {
        let mut report = StepReport { n_rows: batch.n_rows(), ..StepReport::default() };
        for (at, row) in batch.rows().chunks_exact(self.n_columns).enumerate() {
            let weight = batch.weights().map_or(1.0, |w| w[at]);
            self.n_seen += 1;
            if weight > 0.0 {
                self.waiting.extend_from_slice(row);
                self.waiting_weights.push(weight);
            }
            let wanted = self.wanted();
            if self.waiting_weights.len() >= wanted {
                self.learn_waiting(wanted, &mut report);
            }
        }
        report.k_implemented = self.k_implemented();
        report.n_events = self.events.n_total();
        report
    }

    fn features(&self) -> FeatureSet {
        let mut copy = self.clone();
        copy.learn_waiting(copy.waiting_weights.len(), &mut StepReport::default());
        let (rows, weights) = copy.ring.recent(self.settings.buffer);
        let Some(mut master) = copy.master else { return FeatureSet::default() };
        if self.master.is_some() && self.settings.polishes {
            polish::polish(&mut master, &rows, &weights, &self.settings, &self.step());
        }
        export(&master.parameters, &master.noise_of_missing(&rows, &weights), &master.frame, &master.ids)
    }

    fn recent_rows(&self, n: usize) -> Vec<f64> {
        let n_waiting = self.waiting_weights.len().min(n);
        let (mut rows, _) = self.ring.recent(n - n_waiting);
        rows.extend_from_slice(&self.waiting[self.waiting.len() - n_waiting * self.n_columns..]);
        rows
    }

    fn n_seen(&self) -> u64 {
        self.n_seen
    }

    fn k_implemented(&self) -> usize {
        self.master.as_ref().map_or(0, |master| master.ids.len())
    }

    fn events(&self) -> &EventLog {
        &self.events
    }

    fn log_score(&self) -> LogScore {
        self.scores.report()
    }

    fn restore(&mut self, n_columns: usize) -> Result<(), String> {
        self.settings.check()?;
        let is_waiting_sound = self.n_columns == n_columns
            && self.waiting.len() == self.waiting_weights.len() * n_columns
            && !self.waiting.iter().any(|v| v.abs() > LARGEST_CELL)
            && self.waiting_weights.iter().all(|w| w.is_finite() && *w > 0.0)
            && self.waiting_weights.len() as u64 <= self.n_seen;
        if !is_waiting_sound {
            return Err("its waiting rows are inconsistent".into());
        }
        if !self.ring.is_sound(n_columns) || !self.scores.is_sound() {
            return Err("its buffers are inconsistent".into());
        }
        self.master.as_mut().map_or(Ok(()), |master| master.restore(n_columns))
    }
}
