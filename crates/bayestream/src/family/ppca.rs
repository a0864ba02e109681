//! Probabilistic PCA: a covariance `W W' + σ² I` whose rank is chosen by the penalised likelihood.

use super::Family;
use crate::num;
use serde::{Deserialize, Serialize};

/// Mixture components with a principal subspace of their own dimension.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Ppca;

impl Family for Ppca {
    fn shape(&self, covariance: &mut [f64], n_columns: usize, count: f64) -> usize {
        let d = n_columns;
        if d == 1 {
            return 0;
        }
        let mut values = vec![0.0; d];
        let mut vectors = vec![0.0; d * d];
        num::symmetric_eigen(covariance, d, &mut values, &mut vectors); // [OFAB] (24)
        let floor = values[0].max(f64::MIN_POSITIVE) * 1e-12;
        values.iter_mut().for_each(|v| *v = v.max(floor));
        let chosen = choose_dim(&values, count);
        let noise = tail_mean(&values, chosen); // [OFAB] (26)
        covariance.fill(0.0);
        for j in 0..d {
            covariance[j * d + j] = noise;
        }
        // [OFAB] (27), as W W' + σ² I.
        for (lambda, v) in values.iter().zip(vectors.chunks_exact(d)).take(chosen) {
            let excess = lambda - noise;
            for i in 0..d {
                for j in 0..d {
                    covariance[i * d + j] += excess * v[i] * v[j];
                }
            }
        }
        chosen
    }

    fn n_free(&self, n_columns: usize, latent_dim: usize) -> f64 {
        let (d, q) = (n_columns as f64, latent_dim.min(n_columns.saturating_sub(1)) as f64);
        d + 1.0 + d * q - q * (q - 1.0) / 2.0
    }

    fn reported_dim(&self, latent_dim: usize) -> Option<usize> {
        Some(latent_dim)
    }
}

/// Mean of the eigenvalues beyond the first `q`.
fn tail_mean(values: &[f64], q: usize) -> f64 {
    values[q..].iter().sum::<f64>() / (values.len() - q) as f64
}

/// The dimension with the best penalised likelihood, from 1 to D−1; eigenvalues descend.
/// Deviates: [OFAB] (25) weighs the likelihood by N(1+ε)α and the penalty by a batch's count; both are the component's
/// own count here. With the printed weights every dimension comes out as D−1 (`tests/ppca.rs`).
fn choose_dim(values: &[f64], count: f64) -> usize {
    let d = values.len();
    let penalty_scale = count.max(1.0).ln() / 4.0;
    let score = |q: usize| {
        let fit: f64 = values[..q].iter().map(|v| v.ln()).sum::<f64>() + (d - q) as f64 * tail_mean(values, q).ln();
        let (d, q) = (d as f64, q as f64);
        -count / 2.0 * fit - (2.0 * d * q - q * q + q) * penalty_scale // [OFAB] (25)
    };
    (1..d).max_by(|&a, &b| score(a).total_cmp(&score(b)).then(b.cmp(&a))).unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn full_rank_keeps_the_covariance() {
        // Eigenvalues 9, 4, 1 with many rows: every dimension is worth its parameters.
        let mut covariance = vec![9.0, 0.0, 0.0, 0.0, 4.0, 0.0, 0.0, 0.0, 1.0];
        let q = Ppca.shape(&mut covariance, 3, 1e5);
        assert_eq!(q, 2);
        assert!((covariance[0] - 9.0).abs() < 1e-9 && (covariance[8] - 1.0).abs() < 1e-9);
    }

    #[test]
    fn equal_tails_are_noise() {
        let mut covariance = vec![0.0; 25];
        for (j, v) in [7.0, 3.0, 0.5, 0.5, 0.5].iter().enumerate() {
            covariance[j * 5 + j] = *v;
        }
        assert_eq!(Ppca.shape(&mut covariance, 5, 500.0), 2);
        assert!((covariance[24] - 0.5).abs() < 1e-12);
    }

    #[test]
    fn free_parameters_count_subspace_mean_and_noise() {
        // D=4, q=2: mean 4, noise 1, a 4x2 factor up to a rotation: 8 - 1.
        assert_eq!(Ppca.n_free(4, 2), 12.0);
        // q = D-1 has as many as a full Gaussian.
        assert_eq!(Ppca.n_free(4, 3), 14.0);
    }
}
