//! Components with heavier tails than any Gaussian has.

use super::{Truth, purpose};
use crate::family::Gauss;
use crate::num;

/// A mixture of multivariate Student t distributions.
#[derive(Clone, Debug, PartialEq)]
pub struct StudentTruth {
    /// Weights, locations and scale matrices. The covariance of a component is `ν/(ν − 2)` times its scale matrix.
    pub base: Truth,
    /// Degrees of freedom, ν > 0; infinitely many make Gaussians.
    pub freedom: f64,
}

impl StudentTruth {
    /// `n` rows, row-major, and the component each came from.
    pub fn sample(&self, n: usize, seed: u64) -> (Vec<f64>, Vec<u32>) {
        let (mut rows, labels) = self.base.sample(n, seed);
        let mut rng = num::stream(seed, purpose::ROWS, 3);
        for (cells, label) in rows.chunks_mut(self.base.n_columns().max(1)).zip(&labels) {
            // A chi-square with ν degrees of freedom over ν.
            let shrink = (2.0 * rng.gamma(self.freedom / 2.0) / self.freedom).sqrt();
            let mean = &self.base.means[*label as usize];
            cells.iter_mut().zip(mean).for_each(|(cell, mean)| *cell = mean + (*cell - mean) / shrink);
        }
        (rows, labels)
    }

    /// The log-density of each row, in nats.
    pub fn log_density(&self, rows: &[f64]) -> Vec<f64> {
        let (d, nu) = (self.base.n_columns(), self.freedom);
        let gaussians: Vec<Gauss> =
            self.base.means.iter().zip(&self.base.covariances).map(|(m, c)| Gauss::with_covariance(m, c)).collect();
        let half = (nu + d as f64) / 2.0;
        let constant =
            num::ln_gamma(half) - num::ln_gamma(nu / 2.0) - 0.5 * d as f64 * (nu * std::f64::consts::PI).ln();
        let (mut whitened, mut log_joint) = (vec![0.0; d], Vec::new());
        rows.chunks(d.max(1))
            .map(|row| {
                log_joint.clear();
                for (gauss, weight) in gaussians.iter().zip(&self.base.weights) {
                    gauss.whitened(row, &mut whitened);
                    let distance: f64 = whitened.iter().map(|z| z * z).sum();
                    log_joint.push(weight.ln() + constant - 0.5 * gauss.log_det() - half * (distance / nu).ln_1p());
                }
                num::log_sum_exp(&log_joint)
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_density_is_that_of_the_formula() {
        let base = Truth { weights: vec![1.0], means: vec![vec![0.5]], covariances: vec![vec![4.0]] };
        // One degree of freedom: the Cauchy distribution with scale 2.
        let cauchy = StudentTruth { base: base.clone(), freedom: 1.0 };
        let expected = -(std::f64::consts::PI * 2.0 * (1.0 + (2.5f64 / 2.0).powi(2))).ln();
        assert!((cauchy.log_density(&[3.0])[0] - expected).abs() < 1e-12);
    }

    #[test]
    fn rows_have_the_variance_of_their_tails() {
        let (n, freedom) = (200_000, 9.0);
        let base = Truth { weights: vec![1.0], means: vec![vec![-2.0]], covariances: vec![vec![3.0]] };
        let (rows, _) = StudentTruth { base, freedom }.sample(n, 2);
        let variance = rows.iter().map(|x| (x + 2.0).powi(2)).sum::<f64>() / n as f64;
        let expected = 3.0 * freedom / (freedom - 2.0);
        // The kurtosis of t is 3 + 6/(ν − 4).
        let se = expected * ((2.0 + 6.0 / (freedom - 4.0)) / n as f64).sqrt();
        assert!((variance - expected).abs() < 5.0 * se, "{variance} {expected}");
    }
}
