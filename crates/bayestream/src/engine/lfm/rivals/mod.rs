//! The rivals that FAB is set beside: what others do with the same model. All keep every row, and fit at the end.
//!
//! | file | rival |
//! |---|---|
//! | `em` | variational EM: FAB without its penalty |
//! | `ibp` | accelerated Gibbs sampling of the Indian buffet process |
//! | `vb` | variational Bayes of a given number of features, the best number chosen |
//! | `meibp` | features that only add, by maximisation of the buffet's posterior |

mod em;
mod ibp;
mod meibp;
mod vb;

use super::parameters::{LEAST_NOISE, Parameters};
use super::rows::Rows;
use crate::interrupt::Interrupt;
use serde::{Deserialize, Serialize};

/// Settings of the rivals, with the defaults of the papers that brought them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RivalSettings {
    /// α: how many features a row is expected to have.
    pub alpha: f64,
    /// The standard deviation of the noise, in units of each column's: these rivals do not learn it.
    pub noise: f64,
    /// The standard deviation of a weight before any row, in the same units.
    pub spread: f64,
    /// Sweeps of the sampler, or rounds of the others.
    pub sweeps: usize,
    /// Features that there may be at most; auto is as many as rows or columns, whichever are fewer.
    pub max_features: Option<usize>,
    /// Stop when what is maximised grows by less than this for a row.
    pub tolerance: f64,
}

impl Default for RivalSettings {
    fn default() -> RivalSettings {
        RivalSettings { alpha: 3.0, noise: 0.75, spread: 1.0, sweeps: 300, max_features: None, tolerance: 1e-4 }
    }
}

impl RivalSettings {
    /// What is wrong with them, if anything.
    pub fn check(&self) -> Result<(), String> {
        let positive = [self.alpha, self.noise, self.spread].iter().all(|v| *v > 0.0 && v.is_finite());
        match positive && self.tolerance >= 0.0 && self.sweeps > 0 {
            true => Ok(()),
            false => Err("alpha, noise and spread must be positive numbers, and there must be a sweep".into()),
        }
    }

    /// Features to begin with.
    fn most(&self, rows: &Rows) -> usize {
        self.max_features.unwrap_or(usize::MAX).min(rows.n).min(rows.d)
    }
}

/// Which rival.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Rival {
    /// Variational EM.
    Em,
    /// Indian buffet process, accelerated Gibbs sampling.
    Ibp,
    /// Variational Bayes.
    Vb,
    /// Maximum-expectation Indian buffet process.
    Meibp,
}

impl Rival {
    /// Fits rows in their frame; `watch` sees the parameters after each sweep or round.
    pub fn fit(
        self,
        rows: &Rows,
        settings: &RivalSettings,
        key: (u64, u64),
        watch: &mut dyn FnMut(&Parameters),
    ) -> Parameters {
        if rows.n == 0 || settings.most(rows) == 0 {
            return super::fit::Fit::new(rows).parameters;
        }
        match self {
            Rival::Em => em::fit(rows, settings, key, watch),
            Rival::Ibp => ibp::fit(rows, settings, key, watch),
            Rival::Vb => vb::fit(rows, settings, key, watch),
            Rival::Meibp => meibp::fit(rows, settings, key, watch),
        }
    }
}

/// Rows one after the other, as samplers that go row by row want them.
struct ByRow {
    n: usize,
    d: usize,
    /// Missing cells are 0.
    cells: Vec<f64>,
    /// 1 where a cell is there, 0 where it is missing.
    observed: Vec<f64>,
    /// Cells that are there.
    n_cells: f64,
    /// Whether to stop.
    interrupt: Interrupt,
}

impl ByRow {
    fn new(rows: &Rows) -> ByRow {
        let (n, d) = (rows.n, rows.d);
        let (mut cells, mut observed) = (vec![0.0; n * d], vec![1.0; n * d]);
        for j in 0..d {
            rows.column(j).iter().enumerate().for_each(|(i, x)| cells[i * d + j] = *x);
        }
        for (h, holes) in rows.holes.iter().enumerate() {
            rows.observed(h).iter().enumerate().for_each(|(i, there)| observed[i * d + holes.column] = *there);
        }
        ByRow { n, d, cells, observed, n_cells: rows.n_cells as f64, interrupt: rows.interrupt.clone() }
    }

    fn row(&self, i: usize) -> (&[f64], &[f64]) {
        (&self.cells[i * self.d..][..self.d], &self.observed[i * self.d..][..self.d])
    }

    /// The model of these features. The noise of each column is what they leave over there: held fixed while they are
    /// learnt, it would say nothing of how well cells are foretold. `z` has a row of `k` for each row.
    fn parameters(&self, z: &[f64], k: usize, weights: Vec<f64>, offset: Vec<f64>) -> Parameters {
        let (n, d) = (self.n, self.d);
        let (mut left, mut counts, mut shares) = (vec![0.0; d], vec![0.0; d], vec![0.0; k]);
        let mut mean = vec![0.0; d];
        for i in 0..n {
            let (cells, observed) = self.row(i);
            mean.copy_from_slice(&offset);
            for f in 0..k {
                let p = z[i * k + f];
                shares[f] += p;
                mean.iter_mut().zip(&weights[f * d..][..d]).for_each(|(m, w)| *m += p * w);
            }
            for j in 0..d {
                left[j] += observed[j] * (cells[j] - mean[j]) * (cells[j] - mean[j]);
                counts[j] += observed[j];
            }
        }
        shares.iter_mut().for_each(|share| *share /= n as f64);
        let precision = left
            .iter()
            .zip(&counts)
            .map(|(left, n)| if *n > 0.0 { 1.0 / (left / n).max(LEAST_NOISE) } else { 1.0 })
            .collect();
        Parameters { k, d, weights, offset, precision, shares }
    }
}
