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
/// Variance of a component, in units of the median, above which it does not say what others' is.
const WIDEST: f64 = 100.0;
/// Variance of rounding to a step of one.
const ROUNDING: f64 = 1.0 / 12.0;

/// Log-scores of the pooled densities, by which they are weighted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Pooling {
    /// Rows given the others while the ring holds all, then rows before they were learned, but those that began new
    /// components: these say nothing of how rows of a known kind are predicted.
    given_others: PoolTable,
    /// Rows before they were learned, all along: for rows to come that lie where none has been.
    ahead: PoolTable,
    /// One Gaussian for all rows, in the frame.
    whole: Option<Gauss>,
    #[serde(skip)]
    counted: Vec<f64>,
}

impl Pooling {
    /// How rows are predicted besides by the mixture, where a column counts or not; nothing before there is a model.
    pub fn pool(&self, counts: bool) -> Option<Pool> {
        let whole = self.whole.clone()?;
        Some(Pool { weights: self.weights(counts), whole })
    }

    /// The same in the data's own units.
    pub fn export(&self, counts: bool, frame: &Frame, shard: u32) -> Option<PooledSnapshot> {
        let pool = self.pool(counts)?;
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

    fn weights(&self, counts: bool) -> [f64; POOLED] {
        if counts { self.ahead.weights() } else { self.given_others.weights() }
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

    /// Writes the log-densities of rows.
    pub fn predict(&self, predictions: &Predictions, counts: bool, out: &mut Vec<f64>) {
        mix(&self.weights(counts), &predictions.logs, out);
    }

    /// Takes what rows say of the weights, before they are learned and given others; the first of them is the stream's
    /// `first`-th.
    pub fn learn(
        &mut self,
        ahead: &[Vec<f64>; POOLED],
        given_others: &[Vec<f64>; POOLED],
        weights: Option<&[f64]>,
        first: u64,
    ) {
        let counts = |row: u64| row < EVERY_ROW || row.is_multiple_of(ONE_IN);
        let skip = |i: usize| if counts(first + i as u64) { weights.map_or(1.0, |w| w[i]) } else { 0.0 };
        self.counted.clear();
        self.counted.extend((0..ahead[0].len()).map(skip));
        self.given_others.learn(given_others, Some(&self.counted));
        self.ahead.learn(ahead, Some(&self.counted));
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

/// Variances within components on average, what their covariances are expected to be. One that is wider than most by
/// far, as one of rows far off is, counts as if it were not.
pub fn diagonal_within<'a>(components: impl Iterator<Item = &'a Moments> + Clone, floor: &[f64]) -> Vec<f64> {
    let d = floor.len();
    let total: f64 = components.clone().map(|m| m.count).sum();
    let left = (total - components.clone().count() as f64).max(1.0);
    let mut variances: Vec<(f64, f64)> = Vec::new();
    let mut within = |j: usize| {
        variances.clear();
        variances.extend(components.clone().map(|m| (m.covariance[j * d + j].max(0.0), m.count)));
        variances.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mut below = 0.0;
        let most = variances.iter().find(|(_, count)| {
            below += count;
            below >= 0.5 * total
        });
        let most = most.map_or(f64::INFINITY, |(median, _)| WIDEST * median.max(floor[j]));
        variances.iter().map(|(variance, count)| count * variance.min(most)).sum::<f64>()
    };
    (0..d).map(|j| within(j) / left + floor[j]).collect()
}
