//! Whether the stream has left the model: scores of rows that were not learnt from fall far below what they were.

use serde::{Deserialize, Serialize};

/// Batches to know before one can be called strange.
const LEAST_BATCHES: u64 = 4;
/// Standard deviations below the mean that are strange.
const STRANGE: f64 = 6.0;
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
