//! One bet that the stream has changed.
//!
//! A feature f of the rows is exponentially tilted: exp(θ f − ψ), with ψ = log E exp(θ f) measured on rows of the
//! unchanged stream, has mean one while nothing changes, whatever the distribution of f. Its running product, started
//! over whenever it falls below one (`num::Cusums`), takes exp(h) rows or more on average to reach exp(h) by chance.
//! ψ is known to its standard error only, which is added to it, and rows that follow from the row before are worth less
//! than fresh ones: evidence is divided by the factor by which the variance of sums exceeds that of fresh rows.

use serde::{Deserialize, Serialize};

/// Rows per batch when the variance of sums is measured.
const BATCHES: [u32; 2] = [25, 125];
/// Standard errors that chance is given: of ψ, in which it is taken off every row's evidence, and of variances of sums.
const DOUBT: f64 = 1.5;

/// A bet on one feature that is being calibrated.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Channel {
    /// The feature's place, and θ.
    pub feature: usize,
    tilt: f64,
    calibration: Calibration,
}

/// Sums of exp(θ f).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Calibration {
    n: u32,
    sum: f64,
    squares: f64,
    /// For each length of batch: the batch so far, Σ(batch sum)², batches.
    batches: [(f64, f64, u32); 2],
}

impl Channel {
    pub fn new(feature: usize, tilt: f64) -> Channel {
        Channel { feature, tilt, calibration: Calibration::default() }
    }

    /// θ f of a row.
    pub fn tilted(&self, feature: f64) -> f64 {
        self.tilt * feature
    }

    /// Takes exp(θ f) of a row of the unchanged stream.
    pub fn calibrate(&mut self, s: f64) {
        let sums = &mut self.calibration;
        sums.n += 1;
        sums.sum += s;
        sums.squares += s * s;
        for ((batch, squares, n), length) in sums.batches.iter_mut().zip(BATCHES) {
            *batch += s;
            if sums.n.is_multiple_of(length) {
                *squares += *batch * *batch;
                *n += 1;
                *batch = 0.0;
            }
        }
    }

    /// Ends the calibration: what a row's feature is worth in evidence, as factor and offset. A channel that saw too few
    /// rows never bets.
    pub fn terms(&self) -> (f64, f64) {
        let sums = &self.calibration;
        let n = f64::from(sums.n);
        let mean = sums.sum / n;
        let variance = sums.squares / n - mean * mean;
        if sums.n < 4 * BATCHES[1] {
            return (0.0, 0.0);
        }
        // A feature that never varied: any change of it is news, and the smallest doubt does.
        let share = (variance / (mean * mean)).max(1e-6);
        let ratios = [0, 1].map(|at| {
            let ((_, squares, m), length) = (sums.batches[at], f64::from(BATCHES[at]));
            let m = f64::from(m);
            let ratio = (squares / (m * length * length * mean * mean) - 1.0) * length / share;
            (ratio, 1.0 + DOUBT * (2.0 / m).sqrt())
        });
        let [(short, by_chance), (long, by_luck)] = ratios;
        // Long batches are few: what chance may do is taken off their ratio.
        let inflation = (long / by_luck).max(if short > by_chance { short } else { 1.0 }).max(1.0);
        let offset = mean.ln() + DOUBT * (share * inflation / n).sqrt();
        (self.tilt / inflation, offset / inflation)
    }

    pub fn is_sound(&self, n_features: usize) -> bool {
        let sums = &self.calibration;
        self.feature < n_features
            && [self.tilt, sums.sum, sums.squares].iter().all(|v| v.is_finite())
            && sums.batches.iter().all(|(a, b, _)| a.is_finite() && b.is_finite())
    }
}
