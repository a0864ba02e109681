//! What rows are predicted by: priors judged anew as rows come in, and the pool beside the mixture.

use super::Ofab;
use super::tempo::Tempo;
use crate::data::{Frame, resolution};
use crate::engine::ring_fit::prior_of_one;
use crate::family::{Family, FullGaussian, Gauss, GaussScratch, Moments, PriorWorth};
use crate::structure::{POOLED, Pool, PoolTable, Posterior, Predictions, RowBlock, mix};
use serde::{Deserialize, Serialize};

/// Share of a column's variance, and variance in the frame, below which nothing is told apart.
const RELATIVE_FLOOR: f64 = 1e-8;
const ABSOLUTE_FLOOR: f64 = 1e-12;
/// Rows up to which each counts for the weights of the pool, and of how many one does later: by then the weights are
/// known to a ten-thousandth.
const EVERY_ROW: u64 = 20_000;
const ONE_IN: u64 = 10;
/// Variance of rounding to a step of one.
const ROUNDING: f64 = 1.0 / 12.0;

/// Log-scores of the pooled densities, by which they are weighted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Pooling {
    /// Rows given the others while the ring holds all, then rows before they were learned: for rows in random order.
    given_others: PoolTable,
    /// Rows before they were learned, all along: for rows whose order matters.
    ahead: PoolTable,
    /// What a row seems to be worth as a fresh draw while few have told.
    first_worth: f64,
    /// One Gaussian for all rows, in the frame.
    whole: Option<Gauss>,
    #[serde(skip)]
    counted: Vec<f64>,
}

impl Pooling {
    /// The weights, by how much a row is worth as a fresh draw.
    fn weights(&self, row_worth: f64) -> [f64; POOLED] {
        let (given_others, ahead) = (self.given_others.weights(), self.ahead.weights());
        std::array::from_fn(|m| row_worth * given_others[m] + (1.0 - row_worth) * ahead[m])
    }

    /// Rows of a fit, each judged by the others.
    pub fn begin(&mut self, logs: &[Vec<f64>; POOLED], weights: &[f64]) {
        self.given_others = PoolTable::default();
        self.given_others.learn(logs, Some(weights));
    }

    /// Rows before they are learned, the first of them the stream's `first`-th.
    fn learn(&mut self, logs: &[Vec<f64>; POOLED], weights: Option<&[f64]>, first: u64) {
        let counts = |row: u64| row < EVERY_ROW || row.is_multiple_of(ONE_IN);
        let skip = |i: usize| if counts(first + i as u64) { weights.map_or(1.0, |w| w[i]) } else { 0.0 };
        self.counted.clear();
        self.counted.extend((0..logs[0].len()).map(skip));
        for table in [&mut self.given_others, &mut self.ahead] {
            table.learn(logs, Some(&self.counted));
        }
    }

    pub fn fade(&mut self, keep: f64) {
        self.given_others.fade(keep);
        self.ahead.fade(keep);
    }

    /// Adds another shard's rows.
    pub fn add(&mut self, other: &Pooling) {
        self.given_others.add(&other.given_others);
        self.ahead.add(&other.ahead);
    }

    pub fn is_sound(&self, n_columns: usize) -> bool {
        self.given_others.is_sound()
            && (0.0..=1.0).contains(&self.first_worth)
            && self.ahead.is_sound()
            && self.whole.as_ref().is_none_or(|whole| whole.is_sound(n_columns) && whole.known().1 > 0.0)
    }

    pub fn pack(&mut self) {
        if let Some(whole) = &mut self.whole {
            whole.pack();
        }
    }
}

/// Least variances of columns in a frame, from the steps that the first rows show.
pub(super) fn floors(rows: &[f64], frame: &Frame) -> Vec<f64> {
    let steps = resolution(rows, frame.n_columns());
    let in_frame = |(j, step): (usize, &f64)| {
        let step = step / frame.scale(j);
        step * step * ROUNDING + RELATIVE_FLOOR + ABSOLUTE_FLOOR
    };
    steps.iter().enumerate().map(in_frame).collect()
}

impl<F: Family> Ofab<F> {
    /// How rows are predicted besides by the mixture; nothing before there is a model.
    pub(super) fn pool(&self) -> Option<Pool> {
        let whole = self.pooling.whole.clone()?;
        Some(Pool { weights: self.pooling.weights(self.row_worth()), whole })
    }

    /// What a row is worth as a fresh draw.
    fn row_worth(&self) -> f64 {
        if self.tempo.is_known() { self.tempo.row_worth() } else { self.pooling.first_worth }
    }

    /// All rows as one Gaussian.
    pub(super) fn renew_whole(&mut self) {
        let Some(first) = self.comps.first() else { return };
        let mut all = Moments::empty_at(&first.slow.mean);
        for comp in &self.comps {
            all.add_scaled(comp.mass / comp.slow.count.max(f64::MIN_POSITIVE), &comp.slow);
        }
        let prior = prior_of_one(&all, &self.floor);
        self.pooling.whole = Some(Gauss::of(FullGaussian, &all, &prior));
        if let Some(frame) = self.frame.as_ref().filter(|_| !self.tempo.is_known()) {
            let mut rows = Vec::new();
            frame.push_rows(&self.ring.recent(self.ring.len()).0, &mut rows);
            self.pooling.first_worth = Tempo::worth_of(&rows, self.n_columns);
        }
    }

    /// Judges anew what the components' priors are worth.
    pub(super) fn renew_priors(&mut self) {
        let d = self.n_columns;
        let total: f64 = self.comps.iter().map(|c| c.slow.count).sum();
        let left = (total - self.comps.len() as f64).max(1.0);
        let within = |j: usize| self.comps.iter().map(|c| c.slow.count * c.slow.covariance[j * d + j]).sum::<f64>();
        let target: Vec<f64> = (0..d).map(|j| within(j).max(0.0) / left + self.floor[j]).collect();
        let worths = PriorWorth::new(d).choose(self.comps.iter().map(|c| &c.slow), &target);
        let mut scratch = GaussScratch::default();
        for (comp, worth) in self.comps.iter_mut().zip(worths) {
            comp.prior.target.clone_from(&target);
            comp.prior.worth = Some(worth);
            comp.refresh(self.family, &mut scratch);
        }
        self.renew_whole();
    }

    /// Log-densities of a block's rows before they are learned, and what they say of the pool. The log-joints must not
    /// be normalised yet.
    pub(super) fn predict(
        &mut self,
        block: &mut RowBlock,
        joints: &Posterior,
        weights: Option<&[f64]>,
        predictions: &mut Predictions,
        out: &mut Vec<f64>,
    ) {
        let Some(whole) = &self.pooling.whole else { return };
        let log_total = self.total_mass().ln();
        predictions.begin(block);
        for (comp, joint) in self.comps.iter().zip(joints.q.chunks_exact(joints.stride)) {
            let log_weight = comp.mass.max(f64::MIN_POSITIVE).ln() - log_total;
            predictions.add(block, log_weight, &comp.gauss, joint, comp.log_tilted_mass() - log_total);
        }
        predictions.finish(block, whole);
        mix(&self.pooling.weights(self.row_worth()), &predictions.logs, out);
        self.pooling.learn(&predictions.logs, weights, self.n_seen - block.n_rows() as u64);
    }
}
