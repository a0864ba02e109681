//! What a component's covariance is expected to be before its rows tell.

use super::{Family, Moments};
use serde::{Deserialize, Serialize};

/// Smallest variance of a component in the learner's frame, where columns have unit spread: a thousandth of a
/// thousandth of a standard deviation keeps repeated rows from becoming spikes without end.
pub const VARIANCE_FLOOR: f64 = 1e-8;

/// A diagonal covariance, and how many rows it is worth.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Prior {
    /// Variance expected of each column.
    pub target: Vec<f64>,
    /// Variance that each column has at least: that of rounding to its resolution.
    pub floor: Vec<f64>,
    /// Rows that the target is worth, κ; `None`: as many as a component needs at first, and none later.
    pub worth: Option<f64>,
}

impl Prior {
    /// A prior that helps a component over its first rows and then vanishes.
    pub fn vanishing(target: Vec<f64>) -> Prior {
        Prior { floor: vec![VARIANCE_FLOOR; target.len()], target, worth: None }
    }

    /// Rows that a covariance rests on, its own less one and those of the prior.
    pub fn basis(&self, count: f64) -> f64 {
        match self.worth {
            Some(worth) => (count - 1.0).max(0.0) + worth,
            None => count,
        }
    }

    /// The same columns in other units.
    pub fn rescale(&mut self, factor: &[f64]) {
        for variances in [&mut self.target, &mut self.floor] {
            variances.iter_mut().zip(factor).for_each(|(v, f)| *v *= f * f);
        }
    }

    /// True when it could have been made here: what a file must satisfy.
    pub fn is_sound(&self, n_columns: usize) -> bool {
        let positive = |v: &f64| v.is_finite() && *v > 0.0;
        self.target.len() == n_columns
            && self.floor.len() == n_columns
            && self.target.iter().chain(&self.floor).all(positive)
            && self.worth.is_none_or(|worth| positive(&worth))
    }
}

/// Rows after which nothing is left of a vanishing prior.
pub fn prior_free_count(n_columns: usize) -> f64 {
    4.0 * n_columns as f64 + 20.0
}

/// The covariance of the density: statistics blended with the prior's target, floored, then shaped by the family. A
/// vanishing prior's weight falls to zero as rows come in (one of D + 2 rows that stays costs half again the
/// statistical limit); one whose worth was judged stays, being worth little where it would cost.
pub fn model_covariance<F: Family>(family: F, moments: &Moments, prior: &Prior, out: &mut Vec<f64>) -> usize {
    let d = moments.n_columns();
    let c = moments.count;
    out.clear();
    match prior.worth {
        Some(worth) => {
            let own = (c - 1.0).max(0.0);
            let (a, b, f) = (c / (own + worth), worth / (own + worth), own / (own + worth));
            out.extend(moments.covariance.iter().map(|v| a * v));
            (0..d).for_each(|j| out[j * d + j] += b * prior.target[j] + f * prior.floor[j]);
        }
        None => {
            let n0 = (d as f64 + 2.0) * (1.0 - c / prior_free_count(d)).max(0.0);
            let (a, b) = if c + n0 > 0.0 { (c / (c + n0), n0 / (c + n0)) } else { (0.0, 1.0) };
            out.extend(moments.covariance.iter().map(|v| a * v));
            (0..d).for_each(|j| out[j * d + j] = (out[j * d + j] + b * prior.target[j]).max(prior.floor[j]));
        }
    }
    family.shape(out, d, prior.basis(c))
}
