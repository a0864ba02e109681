//! Gaussian weights with all covariances: the factor of the precision and the natural mean.

use crate::num::{cholesky, rank_one_update, solve_lower, solve_lower_transposed};
use serde::{Deserialize, Serialize};

/// No rows can make an entry of a factor as large as this, whose square must be finite.
const LARGEST_ENTRY: f64 = 1e100;

/// P = LLᵀ and h = Pμ. L only ever takes up rows, so that P stays positive definite whatever comes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Belief {
    lower: Vec<f64>,
    natural: Vec<f64>,
}

impl Belief {
    /// Independent weights of this variance.
    pub(super) fn new(n: usize, sigma2: f64) -> Belief {
        let mut lower = vec![0.0; n * n];
        let root = (1.0 / sigma2).sqrt();
        (0..n).for_each(|i| lower[i * n + i] = root);
        Belief { lower, natural: vec![0.0; n] }
    }

    /// The belief of a precision and a natural mean; none when the precision is not positive definite.
    pub(super) fn of(mut precision: Vec<f64>, natural: Vec<f64>) -> Option<Belief> {
        let n = natural.len();
        cholesky(&mut precision, n).ok()?;
        (0..n).for_each(|i| precision[i * n + i + 1..(i + 1) * n].fill(0.0));
        Some(Belief { lower: precision, natural })
    }

    pub(super) fn len(&self) -> usize {
        self.natural.len()
    }

    /// P, whole.
    pub(super) fn precision(&self) -> Vec<f64> {
        let n = self.len();
        let mut out = vec![0.0; n * n];
        for i in 0..n {
            for j in 0..=i {
                let sum = (0..=j).map(|k| self.lower[i * n + k] * self.lower[j * n + k]).sum();
                (out[i * n + j], out[j * n + i]) = (sum, sum);
            }
        }
        out
    }

    pub(super) fn natural(&self) -> &[f64] {
        &self.natural
    }

    /// Variance of x·w.
    pub(super) fn variance(&self, x: &[f64]) -> f64 {
        let mut whitened = x.to_vec();
        solve_lower(&self.lower, self.len(), &mut whitened);
        whitened.iter().map(|v| v * v).sum()
    }

    /// Takes up `pull · (x·w) − precision · (x·w)²/2`.
    pub(super) fn take_up(&mut self, x: &[f64], precision: f64, pull: f64) {
        let root = precision.sqrt();
        let mut scaled: Vec<f64> = x.iter().map(|v| root * v).collect();
        let n = self.len();
        rank_one_update(&mut self.lower, n, &mut scaled);
        self.natural.iter_mut().zip(x).for_each(|(h, v)| *h += pull * v);
    }

    /// The mean of the weights, into `mean`.
    pub(super) fn solve(&self, mean: &mut [f64]) {
        mean.copy_from_slice(&self.natural);
        solve_lower(&self.lower, self.len(), mean);
        solve_lower_transposed(&self.lower, self.len(), mean);
    }

    /// What is wrong with it, if anything.
    pub(super) fn fault(&self) -> Option<&'static str> {
        let n = self.len();
        let sound = self.lower.iter().all(|v| v.abs() <= LARGEST_ENTRY) && self.natural.iter().all(|v| v.is_finite());
        if self.lower.len() != n * n || !sound {
            return Some("a factor of weights has the wrong size or is not finite");
        }
        let positive = (0..n).all(|i| self.lower[i * n + i] > 0.0);
        (!positive).then_some("a precision of weights is not positive")
    }
}
