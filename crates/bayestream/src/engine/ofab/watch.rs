//! Notices a component that moves or changes its scale while it stays alive.
//!
//! A short-memory mean (and scale) bets against the component's own: the log-likelihood ratio of the two, summed row
//! by row and never below zero, is a CUSUM. While nothing changes the ratio is a martingale, so the chance that it
//! ever climbs to `h` from a given row is at most exp(−h); a threshold that grows with log(rows · components) keeps
//! false alarms rare along any stream.

use crate::family::Gauss;
use serde::{Deserialize, Serialize};

/// Rows of the component that the short memory averages over.
const SHORT_MEMORY: f64 = 200.0;
/// The component's memory is never cut below this many of its rows.
const LEAST_MEMORY: f64 = 150.0;

/// A short-memory mean and scale, and their CUSUMs against the component's own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct MeanWatch {
    mean: Vec<f64>,
    /// Mean squared whitened distance per column, relative to the component's covariance.
    scale: f64,
    count: f64,
    mean_gain: f64,
    scale_gain: f64,
    /// Most rows the component may remember; infinite until it has moved.
    pub memory: f64,
    /// Rows since the memory was last changed.
    quiet: f64,
}

impl MeanWatch {
    pub fn at(mean: &[f64]) -> MeanWatch {
        MeanWatch {
            mean: mean.to_vec(),
            scale: 1.0,
            count: 0.0,
            mean_gain: 0.0,
            scale_gain: 0.0,
            memory: f64::INFINITY,
            quiet: 0.0,
        }
    }

    /// Takes a batch's sums about `centre` (the component's mean before the batch); true when the component has moved.
    pub fn notice(
        &mut self,
        gauss: &Gauss,
        centre: &[f64],
        mass: f64,
        sum: &[f64],
        scatter: &[f64],
        threshold: f64,
        scratch: &mut Vec<f64>,
    ) -> bool {
        let d = centre.len();
        if self.count >= SHORT_MEMORY / 2.0 {
            // With a = W(short − mean) and z = W(x − mean): the gain of a row is z·a − |a|²/2.
            scratch.resize(2 * d, 0.0);
            let (a, z) = scratch.split_at_mut(d);
            let w = gauss.whiten();
            for i in 0..d {
                a[i] = (0..=i).map(|j| w[i * d + j] * (self.mean[j] - centre[j])).sum();
                z[i] = (0..=i).map(|j| w[i * d + j] * sum[j]).sum();
            }
            let gain: f64 = (0..d).map(|i| z[i] * a[i] - 0.5 * mass * a[i] * a[i]).sum();
            self.mean_gain = (self.mean_gain + gain).max(0.0);
        }
        let keep = (-mass / SHORT_MEMORY).exp();
        let distance = whitened_trace(gauss.whiten(), scatter, d);
        if self.count >= SHORT_MEMORY / 2.0 {
            let s = self.scale.max(1e-3);
            let gain = -0.5 * (mass * d as f64 * s.ln() + distance * (1.0 / s - 1.0));
            self.scale_gain = (self.scale_gain + gain).max(0.0);
        }
        let kept = keep * self.count;
        self.count = kept + mass;
        let share = 1.0 / self.count.max(f64::MIN_POSITIVE);
        for j in 0..d {
            let target = centre[j] * mass + sum[j];
            self.mean[j] = (kept * self.mean[j] + target) * share;
        }
        self.scale = (kept * self.scale + distance / d as f64) * share;
        self.quiet += mass;
        self.mean_gain > threshold || self.scale_gain > threshold
    }

    /// Shortens the component's memory after it moved; gives the mean to start over from.
    pub fn shorten(&mut self) -> &[f64] {
        let halved = self.memory / 2.0;
        self.memory = if halved.is_finite() { halved.max(LEAST_MEMORY) } else { 2.0 * SHORT_MEMORY };
        (self.mean_gain, self.scale_gain, self.quiet) = (0.0, 0.0, 0.0);
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
            && [self.scale, self.count, self.mean_gain, self.scale_gain, self.quiet].iter().all(|v| v.is_finite())
            && self.memory > 0.0
    }
}

/// trace(W S W') for a lower triangular W and the lower triangle of S.
fn whitened_trace(w: &[f64], scatter: &[f64], d: usize) -> f64 {
    let mut total = 0.0;
    for r in 0..d {
        for i in 0..=r {
            let wi = w[r * d + i];
            let row = &scatter[i * d..i * d + i];
            let cross: f64 = row.iter().zip(&w[r * d..]).map(|(s, w)| s * w).sum();
            total += wi * (2.0 * cross + wi * scatter[i * d + i]);
        }
    }
    total
}
