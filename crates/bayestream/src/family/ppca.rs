//! Probabilistic PCA: a covariance `W W' + σ² I` whose rank is chosen by the penalised likelihood.

use super::Family;
use crate::num::{self, Grid};
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
        let principal = (d > WIDE).then(|| Principal::leading(covariance, d, count)).flatten();
        let Principal { values, vectors, chosen, noise } =
            principal.unwrap_or_else(|| Principal::all(covariance, d, count));
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

/// Columns beyond which the leading eigenvectors are found without the others, and how many are tried first.
const WIDE: usize = 40;
const FIRST_TRIED: usize = 16;
/// Leading values that must lie beyond the dimension chosen: else more have to be looked at.
const SPARE: usize = 3;

/// The principal subspace of a covariance.
struct Principal {
    /// Eigenvalues, descending, and eigenvectors in rows; the leading ones at least.
    values: Vec<f64>,
    vectors: Vec<f64>,
    /// The dimension of the subspace, and the variance beyond it.
    chosen: usize,
    noise: f64,
}

impl Principal {
    fn all(covariance: &[f64], d: usize, count: f64) -> Principal {
        let (mut values, mut vectors) = (vec![0.0; d], vec![0.0; d * d]);
        num::symmetric_eigen(covariance, d, &mut values, &mut vectors); // [OFAB] (24)
        let floor = values[0].max(f64::MIN_POSITIVE) * 1e-12;
        values.iter_mut().for_each(|v| *v = v.max(floor));
        let trace = values.iter().sum();
        let chosen = choose_dim(&values, d, trace, count);
        Principal { noise: tail_mean(&values, d, trace, chosen), values, vectors, chosen } // [OFAB] (26)
    }

    /// From the leading eigenvectors alone; none when there are too many of them for that to pay.
    fn leading(covariance: &[f64], d: usize, count: f64) -> Option<Principal> {
        let trace: f64 = (0..d).map(|j| covariance[j * d + j]).sum();
        let whole: Vec<f64> =
            (0..d * d).map(|at| covariance[(at / d).max(at % d) * d + (at / d).min(at % d)]).collect();
        let mut n = FIRST_TRIED;
        while 3 * n <= d {
            let axes = num::leading_axes(&whole, d, n);
            let (mut turned, mut within) = (vec![0.0; n * d], vec![0.0; n * n]);
            num::multiply(Grid::new(&axes, n, d), Grid::new(&whole, d, d), 1.0, 0.0, &mut turned);
            num::multiply(Grid::new(&turned, n, d), Grid::new(&axes, n, d).transposed(), 1.0, 0.0, &mut within);
            let (mut values, mut rotation, mut vectors) = (vec![0.0; n], vec![0.0; n * n], vec![0.0; n * d]);
            num::symmetric_eigen(&within, n, &mut values, &mut rotation);
            num::multiply(Grid::new(&rotation, n, n), Grid::new(&axes, n, d), 1.0, 0.0, &mut vectors);
            let floor = values[0].max(f64::MIN_POSITIVE) * 1e-12;
            values.iter_mut().for_each(|v| *v = v.max(floor));
            let chosen = choose_dim(&values, d, trace, count);
            if chosen + SPARE <= n {
                let noise = tail_mean(&values, d, trace, chosen).max(floor);
                return Some(Principal { values, vectors, chosen, noise });
            }
            n *= 2;
        }
        None
    }
}

/// Mean of the eigenvalues beyond the first `q`, of `d` that sum to `trace`.
fn tail_mean(values: &[f64], d: usize, trace: f64, q: usize) -> f64 {
    if values.len() == d {
        return values[q..].iter().sum::<f64>() / (d - q) as f64;
    }
    (trace - values[..q].iter().sum::<f64>()) / (d - q) as f64
}

/// The dimension with the best penalised likelihood, from 1 to D−1 as far as eigenvalues are given; they descend.
/// Deviates: [OFAB] (25) weighs the likelihood by N(1+ε)α and the penalty by a batch's count; both are the component's
/// own count here. With the printed weights every dimension comes out as D−1 (`tests/ppca.rs`).
fn choose_dim(values: &[f64], d: usize, trace: f64, count: f64) -> usize {
    let penalty_scale = count.max(1.0).ln() / 4.0;
    let score = |q: usize| {
        let fit: f64 = values[..q].iter().map(|v| v.ln()).sum::<f64>()
            + (d - q) as f64 * tail_mean(values, d, trace, q).max(f64::MIN_POSITIVE).ln();
        let (d, q) = (d as f64, q as f64);
        -count / 2.0 * fit - (2.0 * d * q - q * q + q) * penalty_scale // [OFAB] (25)
    };
    (1..d.min(values.len() + 1)).max_by(|&a, &b| score(a).total_cmp(&score(b)).then(b.cmp(&a))).unwrap_or(1)
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
    fn leading_eigenvectors_alone_give_the_same_covariance() {
        let (d, mut rng) = (60, num::stream(4, 2, 0));
        let factors: Vec<f64> = (0..4 * d).map(|_| 2.0 * rng.normal()).collect();
        let mut covariance = vec![0.0; d * d];
        for i in 0..d {
            covariance[i * d + i] = 1.0 + 0.05 * rng.uniform();
            for j in 0..d {
                covariance[i * d + j] += (0..4).map(|k| factors[k * d + i] * factors[k * d + j]).sum::<f64>();
            }
        }
        let all = Principal::all(&covariance, d, 2000.0);
        let leading = Principal::leading(&covariance, d, 2000.0).expect("four of sixty are few");
        assert_eq!((all.chosen, leading.chosen), (4, 4));
        assert!((all.noise - leading.noise).abs() < 1e-9);
        for (a, b) in all.values.iter().zip(&leading.values).take(4) {
            assert!((a - b).abs() < 1e-6 * a, "{a} {b}");
        }
        // A full covariance has no few leading directions.
        (0..d).for_each(|j| covariance[j * d + j] += 100.0 * (1.0 + j as f64).powi(3));
        assert!(Principal::leading(&covariance, d, 1e6).is_none());
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
