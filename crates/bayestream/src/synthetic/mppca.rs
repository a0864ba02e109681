//! Mixtures of probabilistic PCA with known dimensions.

use super::ofab::between;
use super::{Truth, purpose};
use crate::num::{self, Rng};
use serde::{Deserialize, Serialize};

/// A mixture whose covariances are `W Wᵀ + σ² I`, with `W` of the given number of columns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MppcaTruth {
    /// The mixture.
    pub truth: Truth,
    /// The dimension of each component's principal subspace.
    pub latent_dims: Vec<usize>,
}

/// Largest and smallest principal variance beyond the noise. The smallest is at least ten times the noise variance,
/// so a dimension is a matter of fact and not of taste.
const PRINCIPAL: (f64, f64) = (6.0, 1.5);
const NOISE: (f64, f64) = (0.05, 0.15);

impl MppcaTruth {
    /// One component for each entry of `latent_dims`, in `d` columns: weights from U\[0.4, 0.6\] made to add up to one,
    /// means from U\[−5, 5\], principal variances in a falling geometric series, axes at random.
    ///
    /// Dimensions of `d` or more are taken as `d − 1`, the most that leaves room for noise.
    pub fn new(d: usize, latent_dims: &[usize], seed: u64) -> MppcaTruth {
        let mut rng = num::stream(seed, purpose::PARAMETERS, 1);
        let latent_dims: Vec<usize> = latent_dims.iter().map(|dim| (*dim).min(d.saturating_sub(1))).collect();
        let raw: Vec<f64> = latent_dims.iter().map(|_| between(&mut rng, 0.4, 0.6)).collect();
        let total: f64 = raw.iter().sum();
        let means = latent_dims.iter().map(|_| (0..d).map(|_| between(&mut rng, -5.0, 5.0)).collect()).collect();
        let covariances = latent_dims.iter().map(|dim| covariance(&mut rng, d, *dim)).collect();
        let weights = raw.iter().map(|w| w / total).collect();
        MppcaTruth { truth: Truth { weights, means, covariances }, latent_dims }
    }

    /// Free parameters: per component a mean, a noise variance and `dim` axes with their variances; and the weights.
    pub fn n_free(&self) -> f64 {
        let d = self.truth.n_columns() as f64;
        let of_components: f64 =
            self.latent_dims.iter().map(|&q| d + 1.0 + d * q as f64 - q as f64 * (q as f64 - 1.0) / 2.0).sum();
        of_components + (self.latent_dims.len() as f64 - 1.0).max(0.0)
    }
}

fn covariance(rng: &mut Rng, d: usize, dim: usize) -> Vec<f64> {
    // Eigenvectors of a symmetric matrix of normal numbers are a rotation that prefers no direction.
    let mut symmetric = vec![0.0; d * d];
    for i in 0..d {
        for j in 0..=i {
            symmetric[i * d + j] = rng.normal() * if i == j { std::f64::consts::SQRT_2 } else { 1.0 };
        }
    }
    let (mut values, mut axes) = (vec![0.0; d], vec![0.0; d * d]);
    num::symmetric_eigen(&symmetric, d, &mut values, &mut axes);
    let noise = between(rng, NOISE.0, NOISE.1);
    let ratio = if dim > 1 { (PRINCIPAL.1 / PRINCIPAL.0).powf(1.0 / (dim - 1) as f64) } else { 1.0 };
    let mut out = vec![0.0; d * d];
    for i in 0..d {
        for j in 0..d {
            let principal: f64 =
                (0..dim).map(|r| PRINCIPAL.0 * ratio.powi(r as i32) * (axes[r * d + i] * axes[r * d + j])).sum();
            out[i * d + j] = principal + if i == j { noise } else { 0.0 };
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eigenvalues_show_each_dimension() {
        let (d, dims) = (10, [1, 2, 3, 5, 7]);
        let mppca = MppcaTruth::new(d, &dims, 30);
        for (cov, dim) in mppca.truth.covariances.iter().zip(dims) {
            let (mut values, mut axes) = (vec![0.0; d], vec![0.0; d * d]);
            num::symmetric_eigen(cov, d, &mut values, &mut axes);
            assert!(values[dim - 1] / values[dim] > 10.0);
            assert!((values[dim] - values[d - 1]).abs() < 1e-12);
            assert!((values[0] - values[d - 1] - PRINCIPAL.0).abs() < 1e-12);
        }
        // 5 × 11 for means and noise, 10·18 − (0 + 1 + 3 + 10 + 21) for axes, 4 for weights.
        assert_eq!(mppca.n_free(), 55.0 + 180.0 - 35.0 + 4.0);
        assert_eq!(MppcaTruth::new(3, &[9], 30).latent_dims, [2]);
    }
}
