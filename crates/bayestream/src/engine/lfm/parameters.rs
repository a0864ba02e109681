//! The parameters, and the M-step that makes them of statistics.

use super::statistics::Statistics;
use crate::num::{self, Grid};
use serde::{Deserialize, Serialize};

/// Added to the diagonal of A, in units of the rows: features that are always together leave A singular.
const RIDGE: f64 = 1e-9;
/// The least variance of the noise, in units of the column's variance.
pub(super) const LEAST_NOISE: f64 = 1e-8;
/// Shares keep this far from zero and one where their logarithms are taken.
const LEAST_SHARE: f64 = 1e-300;
const LEAST_REST: f64 = 1e-12;

/// P of the model x = b + Σ z_k w_k + noise, in the frame.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Parameters {
    /// Features.
    pub k: usize,
    /// Columns.
    pub d: usize,
    /// W, feature by feature (k × d).
    pub weights: Vec<f64>,
    /// b.
    pub offset: Vec<f64>,
    /// λ: one over the variance of the noise.
    pub precision: Vec<f64>,
    /// π.
    pub shares: Vec<f64>,
}

/// Buffers of the M-step, kept between calls.
#[derive(Clone, Debug, Default)]
pub struct Maximising {
    factor: Vec<f64>,
    inverse: Vec<f64>,
    forward: Vec<f64>,
    theta: Vec<f64>,
    /// What the parameters leave over of each column.
    pub misfit: Vec<f64>,
}

impl Maximising {
    /// A⁻¹ of complete columns, after an M-step in which some column had no A of its own.
    pub fn inverse_of_a(&mut self) -> &[f64] {
        let s = self.inverse.len().isqrt();
        self.factor.resize(s * s, 0.0);
        let inverse = Grid::new(&self.inverse, s, s);
        num::multiply(inverse.transposed(), inverse, 1.0, 0.0, &mut self.factor);
        &self.factor
    }
}

impl Parameters {
    /// w of a feature.
    pub fn feature(&self, k: usize) -> &[f64] {
        &self.weights[k * self.d..][..self.d]
    }

    /// How much of the variance, in units of the noise, a feature explains: π(1−π) wᵀΛw.
    pub fn salience(&self, k: usize) -> f64 {
        let strength: f64 = self.feature(k).iter().zip(&self.precision).map(|(w, l)| l * w * w).sum();
        self.shares[k] * (1.0 - self.shares[k]) * strength
    }

    /// The M-step: W and b by least squares, λ by what they leave over, π by (12).
    pub fn maximise(&mut self, statistics: &Statistics, work: &mut Maximising) {
        let (k, d, s) = (statistics.k, statistics.d, statistics.k + 1);
        (self.k, self.d) = (k, d);
        let Maximising { factor, inverse, forward, theta, misfit } = work;
        theta.clear();
        theta.resize(s * d, 0.0);
        if statistics.own.iter().any(Option::is_none) {
            factorise(&statistics.a, s, factor);
            inverse.resize(s * s, 0.0);
            num::invert_lower(factor, s, inverse);
            // θ = L⁻ᵀL⁻¹B, all columns at once.
            forward.clear();
            forward.resize(s * d, 0.0);
            let inverse = Grid::new(inverse, s, s);
            num::multiply(inverse, Grid::new(&statistics.b, s, d), 1.0, 0.0, forward);
            num::multiply(inverse.transposed(), Grid::new(forward, s, d), 1.0, 0.0, theta);
        }
        for (column, own) in statistics.own.iter().enumerate() {
            let Some(own) = own else { continue };
            factorise(own, s, factor);
            forward.clear();
            forward.extend((0..s).map(|f| statistics.b[f * d + column]));
            num::solve_lower(factor, s, forward);
            num::solve_lower_transposed(factor, s, forward);
            (0..s).for_each(|f| theta[f * d + column] = forward[f]);
        }
        self.weights.clear();
        self.weights.extend_from_slice(&theta[..k * d]);
        self.offset.clear();
        self.offset.extend_from_slice(&theta[k * d..]);
        self.shares.clear();
        // [FAB/LFM] (12)
        self.shares.extend((0..k).map(|f| statistics.share(f).clamp(0.0, 1.0)));
        *misfit = self.misfit(statistics);
        self.take_noise(statistics, misfit);
    }

    /// λ by what is left over of each column.
    pub fn take_noise(&mut self, statistics: &Statistics, misfit: &[f64]) {
        self.precision.clear();
        self.precision.extend(misfit.iter().zip(&statistics.counts).enumerate().map(|(j, (misfit, count))| {
            let least = statistics.least_noise.get(j).map_or(LEAST_NOISE, |least| least.max(LEAST_NOISE));
            // A column that was never seen has the variance that its frame gives it.
            if *count > 0.0 { 1.0 / (misfit / count).max(least) } else { 1.0 }
        }));
    }

    /// Σ E\[(x − b − Wz)²\] of each column: q − 2θᵀB + θᵀAθ.
    pub fn misfit(&self, statistics: &Statistics) -> Vec<f64> {
        let (k, d, s) = (self.k, self.d, self.k + 1);
        let (mut theta, mut products) = (vec![0.0; s], vec![0.0; s]);
        let of_column = |j: usize| {
            (0..k).for_each(|f| theta[f] = self.weights[f * d + j]);
            theta[k] = self.offset[j];
            num::dots(&theta, statistics.a_of(j), s, &mut products);
            let pull = |f: usize| theta[f] * (products[f] - 2.0 * statistics.b[f * d + j]);
            statistics.q[j] + (0..s).map(pull).sum::<f64>()
        };
        (0..d).map(of_column).collect()
    }

    /// Forgets the features that are not marked.
    pub fn retain(&mut self, keep: &[bool]) {
        let kept: Vec<usize> = (0..self.k).filter(|&k| keep[k]).collect();
        self.weights = kept.iter().flat_map(|&k| self.feature(k).iter().copied()).collect();
        self.shares = kept.iter().map(|&k| self.shares[k]).collect();
        self.k = kept.len();
    }
}

/// η(π), the log-odds of a share.
pub fn log_odds(share: f64) -> f64 {
    ln_share(share) - ln_rest(share)
}

/// log π, kept finite.
pub fn ln_share(share: f64) -> f64 {
    share.max(LEAST_SHARE).ln()
}

/// log(1 − π), kept finite.
pub fn ln_rest(share: f64) -> f64 {
    (1.0 - share).max(LEAST_REST).ln()
}

/// The factor of A with its ridge, which is raised until there is one.
fn factorise(a: &[f64], s: usize, factor: &mut Vec<f64>) {
    let mut ridge = RIDGE * a[s * s - 1].max(f64::MIN_POSITIVE);
    for _ in 0..20 {
        factor.clear();
        factor.extend_from_slice(a);
        (0..s).for_each(|i| factor[i * s + i] += ridge);
        if num::cholesky(factor, s).is_ok() {
            return;
        }
        ridge *= 100.0;
    }
    factor.fill(0.0);
    (0..s).for_each(|i| factor[i * s + i] = 1.0);
}
