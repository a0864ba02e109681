//! What rows leave of a normal-Wishart prior: predictions of the next row, and expectations for variational engines.

use super::Moments;
use super::normal_wishart::{IllegalPrior, NormalWishart, WishartScratch, factor_repaired};
use crate::num::{self, LN_PI, Whitener, digamma, ln_gamma};
use serde::{Deserialize, Serialize};
use std::f64::consts::{LN_2, PI};

/// A normal-Wishart posterior, ready for predictions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WishartPosterior {
    pub(super) c: f64,
    pub(super) nu: f64,
    pub(super) mean: Vec<f64>,
    /// L, lower triangular, row-major; zeros above the diagonal.
    pub(super) factor: Vec<f64>,
    /// ½ ln |S|.
    pub(super) half_log_det: f64,
    /// All of the log predictive density that does not depend on the row.
    pub(super) log_norm: f64,
}

impl WishartPosterior {
    /// Makes it anew from statistics; returns how often the scatter's diagonal had to be raised.
    pub fn rebuild(&mut self, prior: &NormalWishart, moments: &Moments, scratch: &mut WishartScratch) -> u32 {
        let (d, n) = (prior.n_columns(), moments.count);
        self.c = prior.c() + n;
        self.nu = prior.nu() + n;
        self.mean.clear();
        self.mean.extend((0..d).map(|j| {
            if n > 0.0 { prior.mean()[j] + n / self.c * (moments.mean[j] - prior.mean()[j]) } else { prior.mean()[j] }
        }));
        prior.posterior_scatter(moments, &mut self.factor);
        let (log_det, n_repairs) = factor_repaired(&mut self.factor, &mut scratch.matrix, d);
        self.clear_above();
        self.half_log_det = 0.5 * log_det;
        self.set_norm();
        n_repairs
    }

    pub(super) fn set_norm(&mut self) {
        let d = self.mean.len() as f64;
        self.log_norm = ln_gamma(0.5 * (self.nu + 1.0)) - ln_gamma(0.5 * (self.nu + 1.0 - d))
            + 0.5 * d * (self.c / (self.c + 1.0)).ln()
            - 0.5 * d * LN_PI
            - self.half_log_det;
    }

    /// A posterior with given parameters; S is row-major and its lower triangle is read.
    pub fn from_parts(
        c: f64,
        nu: f64,
        mean: Vec<f64>,
        mut scatter: Vec<f64>,
    ) -> Result<WishartPosterior, IllegalPrior> {
        let d = mean.len();
        NormalWishart::check(d, c, nu)?;
        if scatter.len() != d * d {
            return Err(IllegalPrior::Scatter);
        }
        let (log_det, _) = factor_repaired(&mut scatter, &mut Vec::new(), d);
        let mut posterior =
            WishartPosterior { c, nu, mean, factor: scatter, half_log_det: 0.5 * log_det, log_norm: 0.0 };
        posterior.clear_above();
        posterior.set_norm();
        Ok(posterior)
    }

    fn clear_above(&mut self) {
        let d = self.mean.len();
        for i in 0..d {
            self.factor[i * d + i + 1..(i + 1) * d].fill(0.0);
        }
    }

    /// Adds one whole row with a weight, by a rank-one update of L.
    pub fn add(&mut self, row: &[f64], weight: f64, scratch: &mut WishartScratch) {
        let d = self.mean.len();
        if weight <= 0.0 {
            return;
        }
        let share = weight / (self.c + weight);
        let length = (self.c * share).sqrt();
        scratch.vector.clear();
        scratch.vector.extend(row.iter().zip(&self.mean).map(|(x, m)| length * (x - m)));
        for (m, x) in self.mean.iter_mut().zip(row) {
            *m += share * (x - *m);
        }
        num::rank_one_update(&mut self.factor, d, &mut scratch.vector);
        self.c += weight;
        self.nu += weight;
        self.half_log_det = (0..d).map(|j| self.factor[j * d + j].ln()).sum();
        self.set_norm();
    }

    /// |L⁻¹(x − m)|².
    pub fn distance(&self, row: &[f64], scratch: &mut WishartScratch) -> f64 {
        scratch.vector.clear();
        scratch.vector.extend(row.iter().zip(&self.mean).map(|(x, m)| x - m));
        num::solve_lower(&self.factor, self.mean.len(), &mut scratch.vector);
        scratch.vector.iter().map(|z| z * z).sum()
    }

    /// Log predictive density of a whole row: a Student-t with ν − d + 1 degrees of freedom, normalised.
    pub fn log_predictive(&self, row: &[f64], scratch: &mut WishartScratch) -> f64 {
        self.log_predictive_at(self.distance(row, scratch))
    }

    /// The same from a row's [`WishartPosterior::distance`].
    pub fn log_predictive_at(&self, distance: f64) -> f64 {
        self.log_norm - 0.5 * (self.nu + 1.0) * (self.c / (self.c + 1.0) * distance).ln_1p()
    }

    /// The constants a, b, s of the log predictive density a − b·ln(1 + s·distance), for whole batches at once.
    pub fn predictive_terms(&self) -> (f64, f64, f64) {
        (self.log_norm, 0.5 * (self.nu + 1.0), self.c / (self.c + 1.0))
    }

    /// E ln |T|.
    pub fn expected_log_det(&self) -> f64 {
        let d = self.mean.len();
        (0..d).map(|j| digamma(0.5 * (self.nu - j as f64))).sum::<f64>() + d as f64 * LN_2 - 2.0 * self.half_log_det
    }

    /// E (x − μ)ᵀT(x − μ) of a row at a [`WishartPosterior::distance`].
    pub fn expected_mahalanobis(&self, distance: f64) -> f64 {
        self.mean.len() as f64 / self.c + self.nu * distance
    }

    /// E ln N(x | μ, T⁻¹) of a row at a [`WishartPosterior::distance`].
    pub fn expected_log_density(&self, distance: f64) -> f64 {
        let d = self.mean.len() as f64;
        0.5 * (self.expected_log_det() - d * (2.0 * PI).ln() - self.expected_mahalanobis(distance))
    }

    /// Packs m and L⁻¹ for [`num::mahalanobis`], whose distances are then [`WishartPosterior::distance`].
    pub fn whitener(&self, scratch: &mut WishartScratch, into: &mut Whitener) {
        let d = self.mean.len();
        scratch.matrix.resize(d * d, 0.0);
        num::invert_lower(&self.factor, d, &mut scratch.matrix);
        into.set(&self.mean, &scratch.matrix);
    }

    /// S, row-major, both triangles.
    pub fn scatter_into(&self, out: &mut Vec<f64>) {
        let d = self.mean.len();
        out.clear();
        out.resize(d * d, 0.0);
        for i in 0..d {
            for j in 0..=i {
                let value = (0..=j).map(|r| self.factor[i * d + r] * self.factor[j * d + r]).sum::<f64>();
                out[i * d + j] = value;
                out[j * d + i] = value;
            }
        }
    }

    /// E Σ = S/(ν − d − 1), row-major; below d + 1 degrees of freedom, where it does not exist, S/ν.
    pub fn expected_covariance(&self) -> Vec<f64> {
        let d = self.mean.len();
        let rows = self.nu - d as f64 - 1.0;
        let divisor = if rows > 0.0 { rows } else { self.nu };
        let mut out = Vec::new();
        self.scatter_into(&mut out);
        out.iter_mut().for_each(|v| *v /= divisor);
        out
    }

    /// The weight c of the mean, in rows.
    pub fn c(&self) -> f64 {
        self.c
    }

    /// The degrees of freedom ν.
    pub fn nu(&self) -> f64 {
        self.nu
    }

    /// The mean m.
    pub fn mean(&self) -> &[f64] {
        &self.mean
    }

    /// L, lower triangular, row-major.
    pub fn factor(&self) -> &[f64] {
        &self.factor
    }

    /// ln |S|.
    pub fn log_det(&self) -> f64 {
        2.0 * self.half_log_det
    }

    /// True when sizes agree and numbers make sense: what a file must satisfy.
    pub fn is_sound(&self, n_columns: usize) -> bool {
        let d = n_columns;
        self.mean.len() == d
            && self.factor.len() == d * d
            && NormalWishart::check(d, self.c, self.nu).is_ok()
            && self.mean.iter().chain(&self.factor).all(|v| v.is_finite())
            && (0..d).all(|j| self.factor[j * d + j] > 0.0)
            && self.half_log_det.is_finite()
            && self.log_norm.is_finite()
    }
}
