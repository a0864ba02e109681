//! Gaussians whose variance is known, \[BMM\] section 4.1: x ~ N(φ, τ²), φ ~ N(μ, σ²). With several columns each has a
//! known variance and a mean of its own, independent of the others.

use super::part::{Part, partition_gain};
use crate::data::Frame;
use crate::family::{IllegalPrior, Moments};
use crate::model::Settings;
use crate::num::LN_2PI;
use serde::{Deserialize, Serialize};

/// Shares of a column's variance that τ² is looked for among, unless it is given.
const SHARES: [f64; 11] = [1.0, 0.5, 0.25, 0.12, 0.06, 0.03, 0.015, 0.007, 0.003, 0.001, 1e-4];
/// Variance of the prior of a mean, in units of the column's, unless it is given.
const PRIOR_VARIANCE: f64 = 40.0;

/// What is known of the mean of one component: q(φ) = N(μ, σ²), column by column.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KnownVariance {
    mean: Vec<f64>,
    variance: Vec<f64>,
}

/// The prior of means, and the variance that is known.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct KnownVariancePrior {
    /// σ² of a component without rows; its mean is zero, the middle of the first rows.
    variance: Vec<f64>,
    /// τ².
    within: Vec<f64>,
}

impl KnownVariance {
    /// The posterior N(μ, σ²) of a mean in one column.
    #[cfg(test)]
    pub(super) fn one(mean: f64, variance: f64) -> KnownVariance {
        KnownVariance { mean: vec![mean], variance: vec![variance] }
    }

    #[cfg(test)]
    pub(super) fn at(&self, column: usize) -> (f64, f64) {
        (self.mean[column], self.variance[column])
    }
}

impl KnownVariancePrior {
    #[cfg(test)]
    pub(super) fn one(variance: f64, within: f64) -> KnownVariancePrior {
        KnownVariancePrior { variance: vec![variance], within: vec![within] }
    }
}

impl Part for KnownVariance {
    type Prior = KnownVariancePrior;
    type Scratch = ();

    fn priors(settings: &Settings, frame: &Frame) -> Result<Vec<Self::Prior>, IllegalPrior> {
        let d = frame.n_columns();
        // What is given is in the data's own units.
        let framed = |value: f64| -> Vec<f64> { (0..d).map(|j| value / frame.scale(j).powi(2)).collect() };
        let asked = &settings.moments;
        let variance = asked.prior_variance.map_or_else(|| vec![PRIOR_VARIANCE; d], framed);
        Ok(match asked.tau2 {
            Some(tau2) => vec![KnownVariancePrior { variance, within: framed(tau2) }],
            None => SHARES
                .iter()
                .map(|&share| KnownVariancePrior { variance: variance.clone(), within: vec![share; d] })
                .collect(),
        })
    }

    fn new(prior: &Self::Prior) -> Self {
        KnownVariance { mean: vec![0.0; prior.within.len()], variance: prior.variance.clone() }
    }

    fn log_predictive(&self, prior: &Self::Prior, row: &[f64], _scratch: &mut ()) -> f64 {
        let mut sum = 0.0;
        for (j, x) in row.iter().enumerate().filter(|(_, x)| !x.is_nan()) {
            let variance = self.variance[j] + prior.within[j];
            let off = x - self.mean[j];
            sum -= 0.5 * (LN_2PI + variance.ln() + off * off / variance);
        }
        sum
    }

    fn learn(&mut self, prior: &Self::Prior, row: &[f64], share: f64, weight: f64, _scratch: &mut ()) {
        for (j, x) in row.iter().enumerate().filter(|(_, x)| !x.is_nan()) {
            let (mean, variance) = (&mut self.mean[j], &mut self.variance[j]);
            let within = prior.within[j] / weight;
            let taken = *variance / (*variance + within);
            let step = taken * (x - *mean);
            // [BMM] prints (1−p)²σ² + p²v, the variance of a weighted sum and not of a mixture.
            *variance = (1.0 - share) * *variance + share * taken * within + share * (1.0 - share) * step * step;
            *mean += share * step;
        }
    }

    fn forget(&mut self, prior: &Self::Prior, keep: f64) {
        for ((mean, variance), first) in self.mean.iter_mut().zip(&mut self.variance).zip(&prior.variance) {
            // Precisions beyond the prior's fade; a variance above the prior's has nothing to forget but the mean.
            let precision = keep / *variance + (1.0 - keep) / first;
            *mean *= keep / *variance / precision;
            *variance = 1.0 / precision;
        }
    }

    fn as_rows(&self, prior: &Self::Prior, count: f64) -> Moments {
        let d = self.mean.len();
        let mut covariance = vec![0.0; d * d];
        // A mean that is hardly known does not make its component wide: joined to another, it would widen that.
        (0..d).for_each(|j| covariance[j * d + j] = self.variance[j].min(prior.within[j]) + prior.within[j]);
        Moments { count, mean: self.mean.clone(), covariance }
    }

    fn known_rows(&self, prior: &Self::Prior) -> f64 {
        let d = self.mean.len();
        let rows = |j: usize| prior.within[j] * (1.0 / self.variance[j] - 1.0 / prior.variance[j]);
        (0..d).map(rows).sum::<f64>() / d as f64
    }

    fn evidence(&self, prior: &Self::Prior, mass: f64) -> Moments {
        // A cluster that several components share is hardly known to any of them: its rows count all the same.
        self.as_rows(prior, mass.max(1.0))
    }

    fn join(&mut self, prior: &Self::Prior, own: f64, other: &Self, others: f64) {
        let share = others / (own + others);
        for j in 0..self.mean.len() {
            self.mean[j] += share * (other.mean[j] - self.mean[j]);
            let precision = 1.0 / self.variance[j] + 1.0 / other.variance[j] - 1.0 / prior.variance[j];
            let best = self.variance[j].min(other.variance[j]);
            self.variance[j] = if precision > 0.0 { (1.0 / precision).min(best) } else { best };
        }
    }

    fn merge_gain(prior: &Self::Prior, first: &Moments, second: &Moments) -> f64 {
        let (n1, n2) = (first.count, second.count);
        let mut gain = partition_gain(n1, n2);
        for j in 0..first.mean.len() {
            let off = first.mean[j] - second.mean[j];
            let (within, spread) = (prior.within[j], prior.variance[j]);
            let known = |n: f64| (1.0 + n * spread / within).ln();
            gain += 0.5 * (known(n1) + known(n2) - known(n1 + n2));
            gain -= 0.5 * (n1 * n2 / (n1 + n2)) * off * off / within;
        }
        gain
    }

    fn mapped(&self, _prior: &Self::Prior, factor: &[f64], offset: &[f64]) -> Self {
        let each = |j: usize| self.mean[j] * factor[j] + offset[j];
        KnownVariance {
            mean: (0..factor.len()).map(each).collect(),
            variance: self.variance.iter().zip(factor).map(|(v, f)| v * f * f).collect(),
        }
    }

    fn is_prior_sound(prior: &Self::Prior, n_columns: usize) -> bool {
        let positive = |v: &f64| *v > 0.0 && v.is_finite();
        prior.variance.len() == n_columns
            && prior.within.len() == n_columns
            && prior.variance.iter().chain(&prior.within).all(positive)
    }

    fn is_sound(&self, n_columns: usize) -> bool {
        self.mean.len() == n_columns
            && self.variance.len() == n_columns
            && self.mean.iter().all(|v| v.is_finite())
            && self.variance.iter().all(|v| *v > 0.0 && v.is_finite())
    }
}
