//! What engines predict rows by beside their mixtures: how the pooled densities are weighted, and what priors rest on.

use crate::data::{Frame, resolution};
use crate::engine::ring_fit::prior_of_one;
use crate::family::{FullGaussian, Gauss, Moments};
use crate::structure::{Component, ComponentId, POOLED, Pool, PoolTable, PooledSnapshot, Predictions, mix};
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
pub struct Pooling {
    /// Rows given the others while the ring holds all, then rows before they were learned: for rows in random order.
    given_others: PoolTable,
    /// Rows before they were learned, all along: for rows whose order matters.
    ahead: PoolTable,
    /// One Gaussian for all rows, in the frame.
    whole: Option<Gauss>,
    #[serde(skip)]
    counted: Vec<f64>,
}

impl Pooling {
    /// How rows are predicted besides by the mixture, by how much a row is worth as a fresh draw; nothing before there
    /// is a model.
    pub fn pool(&self, row_worth: f64) -> Option<Pool> {
        let whole = self.whole.clone()?;
        Some(Pool { weights: self.weights(row_worth), whole })
    }

    /// The same in the data's own units.
    pub fn export(&self, row_worth: f64, frame: &Frame, shard: u32) -> Option<PooledSnapshot> {
        let pool = self.pool(row_worth)?;
        let (rows, basis) = pool.whole.known();
        let whole = Component {
            id: ComponentId { shard, serial: 0 },
            weight: 1.0,
            count: rows,
            mean: frame.mean_out(pool.whole.mean()),
            covariance: frame.covariance_out(&pool.whole.covariance()),
            latent_dim: None,
            basis: Some(basis),
        };
        Some(PooledSnapshot { weights: pool.weights, whole })
    }

    fn weights(&self, row_worth: f64) -> [f64; POOLED] {
        let (given_others, ahead) = (self.given_others.weights(), self.ahead.weights());
        std::array::from_fn(|m| row_worth * given_others[m] + (1.0 - row_worth) * ahead[m])
    }

    /// Rows of a fit, each judged by the others.
    pub fn begin(&mut self, logs: &[Vec<f64>; POOLED], weights: &[f64]) {
        self.given_others = PoolTable::default();
        self.given_others.learn(logs, Some(weights));
    }

    /// One Gaussian for all rows, from the statistics of the components.
    pub fn renew_whole<'a>(&mut self, parts: impl Iterator<Item = (f64, &'a Moments)>, floor: &[f64]) {
        let mut all: Option<Moments> = None;
        for (mass, moments) in parts {
            all.get_or_insert_with(|| Moments::empty_at(&moments.mean))
                .add_scaled(mass / moments.count.max(f64::MIN_POSITIVE), moments);
        }
        if let Some(all) = all {
            self.whole = Some(Gauss::of(FullGaussian, &all, &prior_of_one(&all, floor)));
        }
    }

    /// The one Gaussian for all rows; none before there is a model.
    pub fn whole(&self) -> Option<&Gauss> {
        self.whole.as_ref()
    }

    /// Writes the log-densities of rows before they are learned, the first of them the stream's `first`-th, and takes
    /// what they say of the weights.
    pub fn predict(
        &mut self,
        predictions: &Predictions,
        weights: Option<&[f64]>,
        row_worth: f64,
        first: u64,
        out: &mut Vec<f64>,
    ) {
        mix(&self.weights(row_worth), &predictions.logs, out);
        let counts = |row: u64| row < EVERY_ROW || row.is_multiple_of(ONE_IN);
        let skip = |i: usize| if counts(first + i as u64) { weights.map_or(1.0, |w| w[i]) } else { 0.0 };
        self.counted.clear();
        self.counted.extend((0..predictions.logs[0].len()).map(skip));
        for table in [&mut self.given_others, &mut self.ahead] {
            table.learn(&predictions.logs, Some(&self.counted));
        }
    }

    /// Fades what it has seen.
    pub fn fade(&mut self, keep: f64) {
        self.given_others.fade(keep);
        self.ahead.fade(keep);
    }

    /// Adds another shard's rows.
    pub fn add(&mut self, other: &Pooling) {
        self.given_others.add(&other.given_others);
        self.ahead.add(&other.ahead);
    }

    /// True when it could have been learned: what a file must satisfy.
    pub fn is_sound(&self, n_columns: usize) -> bool {
        self.given_others.is_sound()
            && self.ahead.is_sound()
            && self.whole.as_ref().is_none_or(|whole| whole.is_sound(n_columns) && whole.known().1 > 0.0)
    }

    /// Rebuilds what is not saved.
    pub fn pack(&mut self) {
        if let Some(whole) = &mut self.whole {
            whole.pack();
        }
    }
}

/// Least variances of columns in a frame, from the steps that the first rows show.
pub fn floors(rows: &[f64], frame: &Frame) -> Vec<f64> {
    let steps = resolution(rows, frame.n_columns());
    let in_frame = |(j, step): (usize, &f64)| {
        let step = step / frame.scale(j);
        step * step * ROUNDING + RELATIVE_FLOOR + ABSOLUTE_FLOOR
    };
    steps.iter().enumerate().map(in_frame).collect()
}

/// Variances within components on average, what their covariances are expected to be.
pub fn diagonal_within<'a>(components: impl Iterator<Item = &'a Moments> + Clone, floor: &[f64]) -> Vec<f64> {
    let d = floor.len();
    let total: f64 = components.clone().map(|m| m.count).sum();
    let left = (total - components.clone().count() as f64).max(1.0);
    let within = |j: usize| components.clone().map(|m| m.count * m.covariance[j * d + j]).sum::<f64>();
    (0..d).map(|j| within(j).max(0.0) / left + floor[j]).collect()
}
