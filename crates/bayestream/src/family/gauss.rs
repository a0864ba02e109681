//! A Gaussian ready for the kernels: mean, inverse Cholesky factor, log-determinant.

use super::{Family, Moments, Prior, model_covariance};
use crate::num::{self, LN_2PI, Lanes, Rng, Whitener};
use serde::{Deserialize, Serialize};

/// Variances are cut here when a covariance has to be repaired: an infinite one could not be factored at all.
const LARGEST_VARIANCE: f64 = 1e300;

/// Rows behind a density that is given, not estimated.
const CERTAIN: f64 = 1e18;

/// What had to be repaired to get a positive definite covariance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Repair {
    /// Times the diagonal had to be raised.
    pub n_jittered: u32,
}

/// Parameters of one component. It lags behind the statistics on purpose (it is refreshed when enough has changed), so
/// it is saved with them.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Gauss {
    mean: Vec<f64>,
    /// Lower triangular, row-major: `W' W` is the precision.
    whiten: Vec<f64>,
    log_det: f64,
    n_free: f64,
    latent_dim: usize,
    /// Rows behind the mean, and rows that the covariance rests on: how sure the density is of both.
    rows: f64,
    basis: f64,
    #[serde(skip)]
    packed: Whitener,
}

impl PartialEq for Gauss {
    fn eq(&self, other: &Gauss) -> bool {
        // `packed` is the same numbers in another order.
        (&self.mean, &self.whiten, self.log_det, self.n_free, self.latent_dim, self.rows, self.basis)
            == (&other.mean, &other.whiten, other.log_det, other.n_free, other.latent_dim, other.rows, other.basis)
    }
}

/// Buffers for making a density, reused so that a refresh allocates nothing.
#[derive(Clone, Debug, Default)]
pub struct GaussScratch {
    covariance: Vec<f64>,
    factor: Vec<f64>,
}

impl GaussScratch {
    /// The covariance that [`Gauss::reshape`] takes, to be written.
    pub fn covariance_mut(&mut self) -> &mut Vec<f64> {
        &mut self.covariance
    }
}

impl Gauss {
    /// A density without parameters, to be given some.
    fn blank(mean: &[f64]) -> Gauss {
        Gauss {
            mean: mean.to_vec(),
            whiten: Vec::new(),
            log_det: 0.0,
            n_free: 0.0,
            latent_dim: mean.len(),
            rows: CERTAIN,
            basis: CERTAIN,
            packed: Whitener::default(),
        }
    }

    /// The density of these statistics under a family and a prior.
    pub fn of<F: Family>(family: F, moments: &Moments, prior: &Prior) -> Gauss {
        let mut gauss = Gauss::blank(&moments.mean);
        gauss.refresh(family, moments, prior, &mut GaussScratch::default());
        gauss
    }

    /// Catches up with the statistics.
    pub fn refresh<F: Family>(
        &mut self,
        family: F,
        moments: &Moments,
        prior: &Prior,
        scratch: &mut GaussScratch,
    ) -> Repair {
        let d = moments.n_columns();
        (self.rows, self.basis) = (moments.count, prior.basis(moments.count));
        self.latent_dim = model_covariance(family, moments, prior, &mut scratch.covariance);
        self.n_free = family.n_free(d, self.latent_dim);
        self.mean.clone_from(&moments.mean);
        self.set_covariance(scratch)
    }

    /// Takes another mean and the covariance in `scratch`, shaped by the family for `count` rows behind it.
    pub fn reshape<F: Family>(&mut self, family: F, mean: &[f64], count: f64, scratch: &mut GaussScratch) -> Repair {
        let d = mean.len();
        (self.rows, self.basis) = (count, count);
        self.latent_dim = family.shape(&mut scratch.covariance, d, count);
        self.n_free = family.n_free(d, self.latent_dim);
        self.mean.clear();
        self.mean.extend_from_slice(mean);
        self.set_covariance(scratch)
    }

    /// A density with a given covariance.
    pub fn with_covariance(mean: &[f64], covariance: &[f64]) -> Gauss {
        let mut gauss = Gauss::blank(mean);
        gauss.set_covariance(&mut GaussScratch { covariance: covariance.to_vec(), factor: Vec::new() });
        gauss
    }

    /// The same density, known from so many rows, its covariance from `basis`.
    pub fn known_from(self, rows: f64, basis: f64) -> Gauss {
        Gauss { rows, basis, ..self }
    }

    /// Rows behind the mean, and rows that the covariance rests on.
    pub fn known(&self) -> (f64, f64) {
        (self.rows, self.basis)
    }

    /// The Student t that predicts a row: its degrees of freedom, and what its distances are divided by.
    pub fn tail(&self) -> (f64, f64) {
        (self.basis + 2.0, self.basis * (1.0 + 1.0 / self.rows.max(1.0)))
    }

    /// Factors `scratch.covariance`, raising its diagonal until it is positive definite.
    fn set_covariance(&mut self, scratch: &mut GaussScratch) -> Repair {
        let d = self.mean.len();
        let GaussScratch { covariance, factor } = scratch;
        let mut repair = Repair::default();
        factor.clone_from(covariance);
        let mut jitter = 1e-12;
        self.log_det = loop {
            if let Ok(log_det) = num::cholesky(factor, d) {
                break log_det;
            }
            repair.n_jittered += 1;
            factor.clone_from(covariance);
            for j in 0..d {
                // Past full strength only the diagonal is left, which is positive and finite.
                if jitter > 1.0 {
                    factor[j * d..j * d + j].fill(0.0);
                }
                // `max` first: it also puts a number in the place of NaN.
                let variance = covariance[j * d + j].max(f64::MIN_POSITIVE) * (1.0 + jitter);
                factor[j * d + j] = variance.min(LARGEST_VARIANCE);
            }
            jitter *= 10.0;
        };
        self.whiten.resize(d * d, 0.0);
        num::invert_lower(factor, d, &mut self.whiten);
        self.pack();
        repair
    }

    /// Builds the kernels' copy; needed after loading.
    pub fn pack(&mut self) {
        self.packed.set(&self.mean, &self.whiten);
    }

    /// True when sizes agree and numbers are finite: what a file must satisfy.
    pub fn is_sound(&self, n_columns: usize) -> bool {
        self.mean.len() == n_columns
            && self.whiten.len() == n_columns * n_columns
            && self.mean.iter().chain(&self.whiten).all(|v| v.is_finite())
            && (0..n_columns).all(|j| self.whiten[j * n_columns + j] > 0.0)
            && self.log_det.is_finite()
            && self.n_free.is_finite()
            && self.rows >= 0.0
            && self.basis >= 0.0
    }

    /// The mean.
    pub fn mean(&self) -> &[f64] {
        &self.mean
    }

    /// The inverse Cholesky factor, lower triangular, row-major.
    pub fn whiten(&self) -> &[f64] {
        &self.whiten
    }

    /// Free parameters, `D_k`.
    pub fn n_free(&self) -> f64 {
        self.n_free
    }

    /// The dimension of the principal subspace.
    pub fn latent_dim(&self) -> usize {
        self.latent_dim
    }

    /// Log-determinant of the covariance.
    pub fn log_det(&self) -> f64 {
        self.log_det
    }

    /// The constant of the log-density.
    pub fn log_norm(&self) -> f64 {
        -0.5 * (self.mean.len() as f64 * LN_2PI + self.log_det)
    }

    /// `shift` plus the log-density of every row.
    pub fn log_density(&self, x: &Lanes, shift: f64, out: &mut [f64]) {
        num::log_density(x, &self.packed, shift + self.log_norm(), out);
    }

    /// Squared Mahalanobis distance of every row.
    pub fn mahalanobis(&self, x: &Lanes, out: &mut [f64]) {
        num::mahalanobis(x, &self.packed, out);
    }

    /// The whitened row, `W (x − mean)`.
    pub fn whitened(&self, row: &[f64], out: &mut [f64]) {
        let d = self.mean.len();
        for i in 0..d {
            out[i] = (0..=i).map(|j| self.whiten[i * d + j] * (row[j] - self.mean[j])).sum();
        }
    }

    /// Draws `n` rows in opposite pairs, so that their mean is right however few they are.
    pub fn draw(&self, n: usize, rng: &mut Rng, rows: &mut Vec<f64>) {
        let d = self.mean.len();
        let mut step = vec![0.0; d];
        for i in 0..n {
            if i % 2 == 0 {
                step.iter_mut().for_each(|z| *z = rng.normal());
                num::solve_lower(self.whiten(), d, &mut step);
            } else {
                step.iter_mut().for_each(|z| *z = -*z);
            }
            rows.extend(self.mean.iter().zip(&step).map(|(m, z)| m + z));
        }
    }

    /// The covariance, row-major.
    pub fn covariance(&self) -> Vec<f64> {
        let d = self.mean.len();
        let mut l = vec![0.0; d * d];
        num::invert_lower(&self.whiten, d, &mut l);
        let mut covariance = vec![0.0; d * d];
        for i in 0..d {
            for j in 0..=i {
                let value: f64 = (0..=j).map(|r| l[i * d + r] * l[j * d + r]).sum();
                covariance[i * d + j] = value;
                covariance[j * d + i] = value;
            }
        }
        covariance
    }

    /// The precision, row-major.
    pub fn precision(&self) -> Vec<f64> {
        let d = self.mean.len();
        let mut p = vec![0.0; d * d];
        for r in 0..d {
            for i in 0..=r {
                for j in 0..=i {
                    p[i * d + j] += self.whiten[r * d + i] * self.whiten[r * d + j];
                }
            }
        }
        for i in 0..d {
            for j in 0..i {
                p[j * d + i] = p[i * d + j];
            }
        }
        p
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn covariances_beyond_repair_still_become_densities() {
        for bad in [f64::INFINITY, f64::NAN, 0.0, -1.0] {
            let gauss = Gauss::with_covariance(&[0.5, -0.5], &[bad, 0.3, 0.3, 2.0]);
            assert!(gauss.is_sound(2), "{bad}: {gauss:?}");
        }
    }

    #[test]
    fn drawn_rows_have_the_mean_and_the_covariance() {
        let (mean, covariance) = ([3.0, -1.0], [2.0, 0.9, 0.9, 0.5]);
        let gauss = Gauss::with_covariance(&mean, &covariance);
        let mut rows = Vec::new();
        let n = 20_000;
        gauss.draw(n, &mut num::stream(5, 6, 7), &mut rows);
        for j in 0..2 {
            let average = rows.iter().skip(j).step_by(2).sum::<f64>() / n as f64;
            assert!((average - mean[j]).abs() < 1e-9, "column {j}: {average}");
            for i in 0..2 {
                let product: f64 = rows.chunks(2).map(|r| (r[i] - mean[i]) * (r[j] - mean[j])).sum::<f64>() / n as f64;
                // Five standard errors of n/2 independent products.
                let error = 5.0 * (2.0 * covariance[3 * i] * covariance[3 * j] / (n as f64 / 2.0)).sqrt();
                assert!((product - covariance[2 * i + j]).abs() < error, "({i}, {j}): {product}");
            }
        }
    }
}
