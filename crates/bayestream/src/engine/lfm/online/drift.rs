//! Whether the stream has left the model: scores of rows that were not learnt from fall far below what they were.

use serde::{Deserialize, Serialize};

/// Batches to know before one can be called strange.
const LEAST_BATCHES: u64 = 4;
/// Standard deviations below the mean that are strange.
const STRANGE: f64 = 6.0;
/// The lowest part of a batch's scores, which is not looked at: a few rows that are far off are outliers, and no change.
const OUTLIERS: f64 = 0.05;
/// Weight of the latest batch, at least.
const LEAST_RATE: f64 = 0.1;

/// Scores of batches so far, per cell.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DriftWatch {
    n_batches: u64,
    mean: f64,
    /// Variance of rows within a batch.
    within: f64,
    /// Variance of batches' means.
    between: f64,
}

impl DriftWatch {
    /// Looks at the scores of a batch; true when they are strange, and then begins anew.
    pub fn sees_drift(&mut self, scores: &[f64]) -> bool {
        let mut sorted = scores.to_vec();
        sorted.sort_by(f64::total_cmp);
        let scores = &sorted[(OUTLIERS * scores.len() as f64) as usize..];
        if scores.is_empty() {
            return false;
        }
        let n = scores.len() as f64;
        let mean = scores.iter().sum::<f64>() / n;
        let within = scores.iter().map(|s| (s - mean).powi(2)).sum::<f64>() / n;
        let spread = (self.within / n).sqrt().max(self.between.sqrt());
        if self.n_batches >= LEAST_BATCHES && mean < self.mean - STRANGE * spread {
            *self = DriftWatch::default();
            return true;
        }
        self.n_batches += 1;
        let rate = (1.0 / self.n_batches as f64).max(LEAST_RATE);
        let off = mean - self.mean;
        self.mean += rate * off;
        self.within += rate * (within - self.within);
        if self.n_batches > 1 {
            let rate = (1.0 / (self.n_batches - 1) as f64).max(LEAST_RATE);
            self.between += rate * (off * off - self.between);
        }
        false
    }

    /// What a file must satisfy.
    pub fn is_sound(&self) -> bool {
        self.mean.is_finite() && [self.within, self.between].iter().all(|v| v.is_finite() && *v >= 0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::num::{self, Rng};

    /// Scores around −2, with a spread of 0.5.
    fn batch(rng: &mut Rng) -> Vec<f64> {
        (0..100).map(|_| -2.0 + 0.5 * rng.normal()).collect()
    }

    #[test]
    fn a_few_rows_far_off_are_no_change_and_many_a_little_off_are() {
        let mut rng = num::stream(5, 0, 0);
        let mut watch = DriftWatch::default();
        (0..10).for_each(|_| assert!(!watch.sees_drift(&batch(&mut rng))));
        let mut with_outliers = batch(&mut rng);
        with_outliers[20..25].copy_from_slice(&[-1e9, -40.0, -1e4, -300.0, -1e6]);
        assert!(!watch.clone().sees_drift(&with_outliers));
        // Six standard errors of a mean are 0.3.
        let lower: Vec<f64> = batch(&mut rng).iter().map(|s| s - 0.6).collect();
        assert!(watch.sees_drift(&lower));
        assert!(!DriftWatch::default().sees_drift(&[]));
    }
}
