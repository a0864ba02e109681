//! The small, immutable model handed to people and to scoring.

use super::event::{ComponentId, EventLog};
use super::pool::POOLED;
use crate::num;
use serde::{Deserialize, Serialize};

/// One component of a snapshot, in the data's own units.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Component {
    /// Its name for life.
    pub id: ComponentId,
    /// Its share of the rows; the shares of a snapshot add up to one.
    pub weight: f64,
    /// The effective number of rows behind it.
    pub count: f64,
    /// Its mean.
    pub mean: Vec<f64>,
    /// Its covariance, row-major.
    pub covariance: Vec<f64>,
    /// The dimension of its principal subspace, for PPCA.
    pub latent_dim: Option<usize>,
    /// Rows that its covariance rests on, those of the prior included: a row is predicted by the Student t that they
    /// leave. `None`: by the Gaussian.
    pub basis: Option<f64>,
}

/// Log-scores of rows before they were learnt from.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LogScore {
    /// Mean over all scored rows, in nats; NaN before the first.
    pub prequential_mean: f64,
    /// Rows scored so far.
    pub n_scored: u64,
    /// Log-densities of the most recent rows, ascending: what a p-value is relative to.
    pub recent: Vec<f64>,
}

/// What rows are predicted by besides the mixture, in the data's own units.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PooledSnapshot {
    /// Weights of the mixture, of the same with heavy tails, of one Gaussian for all rows and of a broad background.
    pub weights: [f64; POOLED],
    /// The one Gaussian.
    pub whole: Component,
}

/// A mixture at one moment: components of decreasing weight.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Snapshot {
    /// Rows the learner had seen.
    pub n_seen: u64,
    /// Names of the columns.
    pub columns: Vec<String>,
    /// Components in the learner's master model.
    pub k_implemented: usize,
    /// The components of the snapshot; `k_realized` is their number.
    pub components: Vec<Component>,
    /// What rows are predicted by besides the mixture, for kinds that pool.
    pub pool: Option<PooledSnapshot>,
    /// Log-scores along the stream.
    pub log_score: LogScore,
    /// The last events.
    pub events: EventLog,
}

impl Snapshot {
    /// How many components the snapshot has.
    pub fn k_realized(&self) -> usize {
        self.components.len()
    }

    /// Draws `n` rows, row-major. The same seed gives the same rows.
    pub fn sample(&self, n: usize, seed: u64) -> Vec<f64> {
        self.sample_with_components(n, seed).0
    }

    /// The same with the place of each row's component among those of the snapshot.
    pub fn sample_with_components(&self, n: usize, seed: u64) -> (Vec<f64>, Vec<usize>) {
        let d = self.columns.len();
        let factors: Vec<Vec<f64>> = self.components.iter().map(|c| factor(&c.covariance, d)).collect();
        let weights: Vec<f64> = self.components.iter().map(|c| c.weight).collect();
        let mut rng = num::stream(seed, 0, n as u64);
        let (mut rows, mut places) = (Vec::with_capacity(n * d), Vec::with_capacity(n));
        let mut noise = vec![0.0; d];
        for _ in 0..n {
            let k = rng.categorical(&weights);
            places.push(k);
            noise.iter_mut().for_each(|z| *z = rng.normal());
            for i in 0..d {
                let step: f64 = (0..=i).map(|j| factors[k][i * d + j] * noise[j]).sum();
                rows.push(self.components[k].mean[i] + step);
            }
        }
        (rows, places)
    }
}

/// The Cholesky factor of a covariance that a learner has already made positive definite; a component that rounding
/// in the change of units has spoilt falls back to its diagonal.
fn factor(covariance: &[f64], d: usize) -> Vec<f64> {
    let mut l = covariance.to_vec();
    if num::cholesky(&mut l, d).is_err() {
        l.fill(0.0);
        for j in 0..d {
            l[j * d + j] = covariance[j * d + j].max(0.0).sqrt();
        }
    }
    l
}
