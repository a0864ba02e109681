//! Notices a component that moves while it stays alive.
//!
//! A short-memory mean bets against the component's own: the log-likelihood ratio of the two, summed row by row and
//! never below zero, is a CUSUM. While nothing changes the ratio is a supermartingale (the short memory is the noisier
//! guess), so the chance that it ever climbs to `h` from a given row is at most exp(−h); a threshold that grows with
//! log(rows · components) keeps false alarms rare along any stream.

use crate::family::Gauss;
use serde::{Deserialize, Serialize};

/// Rows of the component that the short memory averages over.
const SHORT_MEMORY: f64 = 200.0;
/// The component's memory is never cut below this many of its rows.
const LEAST_MEMORY: f64 = 150.0;

/// A short-memory mean, and its CUSUM against the component's own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(in crate::engine) struct MeanWatch {
    mean: Vec<f64>,
    count: f64,
    gain: f64,
    /// Most rows the component may remember; infinite until it has moved.
    pub memory: f64,
    /// Rows since the memory was last changed.
    quiet: f64,
}

impl MeanWatch {
    pub fn at(mean: &[f64]) -> MeanWatch {
        MeanWatch { mean: mean.to_vec(), count: 0.0, gain: 0.0, memory: f64::INFINITY, quiet: 0.0 }
    }

    /// Takes a batch: `mass` rows with Σ(x − centre) = `sum`, where `centre` is the mean of the `count` rows that the
    /// component remembers. True when the component has moved further than `threshold` nats of evidence.
    pub fn notice(
        &mut self,
        gauss: &Gauss,
        centre: &[f64],
        count: f64,
        mass: f64,
        sum: &[f64],
        threshold: f64,
        scratch: &mut Vec<f64>,
    ) -> bool {
        let d = centre.len();
        // The bet is only fair against a mean and a covariance that are known much better than the short memory's.
        let known = 2.0 * SHORT_MEMORY.min(self.memory) + 10.0 * d as f64;
        if self.count >= SHORT_MEMORY / 2.0 && count >= known.min(self.memory) {
            // With a = W(short − mean) and z = W(x − mean): the gain of a row is z·a − |a|²/2.
            scratch.resize(2 * d, 0.0);
            let (a, z) = scratch.split_at_mut(d);
            let w = gauss.whiten();
            for i in 0..d {
                a[i] = (0..=i).map(|j| w[i * d + j] * (self.mean[j] - centre[j])).sum();
                z[i] = (0..=i).map(|j| w[i * d + j] * sum[j]).sum();
            }
            let gain: f64 = (0..d).map(|i| z[i] * a[i] - 0.5 * mass * a[i] * a[i]).sum();
            self.gain = (self.gain + gain).max(0.0);
        }
        let kept = (-mass / SHORT_MEMORY).exp() * self.count;
        self.count = kept + mass;
        let share = 1.0 / self.count.max(f64::MIN_POSITIVE);
        for j in 0..d {
            self.mean[j] = (kept * self.mean[j] + centre[j] * mass + sum[j]) * share;
        }
        self.quiet += mass;
        self.gain > threshold
    }

    /// Begins again at `mean`; gives the mean of the recent rows.
    pub fn restart(&mut self, mean: &[f64]) -> Vec<f64> {
        std::mem::replace(self, MeanWatch { memory: self.memory, ..MeanWatch::at(mean) }).mean
    }

    /// Shortens the component's memory after it moved; gives the mean to start over from.
    pub fn shorten(&mut self) -> &[f64] {
        let halved = self.memory / 2.0;
        self.memory = if halved.is_finite() { halved.max(LEAST_MEMORY) } else { 2.0 * SHORT_MEMORY };
        (self.gain, self.quiet) = (0.0, 0.0);
        &self.mean
    }

    /// Lets the memory grow again after a long quiet time.
    pub fn relax(&mut self) {
        if self.memory.is_finite() && self.quiet > 10.0 * self.memory {
            self.memory *= 2.0;
            self.quiet = 0.0;
        }
    }

    pub fn is_sound(&self, n_columns: usize) -> bool {
        self.mean.len() == n_columns
            && self.mean.iter().all(|v| v.is_finite())
            && [self.count, self.gain, self.quiet].iter().all(|v| v.is_finite())
            && self.memory > 0.0
    }
}
