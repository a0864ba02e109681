//! The random mixtures of the online FAB paper's section V-A.
//!
//! The paper draws weights, means and a scale as below, and covariances "in `[0,1]^(D×D)`", which is not a
//! distribution of covariances. Three readings are offered.

use super::{Truth, purpose};
use crate::num::{self, Rng};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// How a random covariance is drawn, before a scale from U\[0.5, 1.5\] multiplies it. `A` has entries from U\[0, 1\].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Covariance {
    /// `A Aᵀ/D + 0.01 I`: its entries lie in \[0, 1\] as in the paper, and the components hardly overlap.
    Aat,
    /// `A Aᵀ`: elongated and nearly singular.
    AatRaw,
    /// `U (I + diag(U[0,1])) V` with `U S V` the singular value decomposition of `Aᵀ A`: nearly round, and with few
    /// columns strongly overlapping.
    Spd,
}

const WORDS: [(&str, Covariance); 3] =
    [("aat", Covariance::Aat), ("aat-raw", Covariance::AatRaw), ("spd", Covariance::Spd)];

impl fmt::Display for Covariance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(WORDS[*self as usize].0)
    }
}

/// A word that names no [`Covariance`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownCovariance(pub String);

impl fmt::Display for UnknownCovariance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "there is no covariance generator `{}`; use aat, aat-raw or spd", self.0)
    }
}

impl std::error::Error for UnknownCovariance {}

impl FromStr for Covariance {
    type Err = UnknownCovariance;

    fn from_str(text: &str) -> Result<Covariance, UnknownCovariance> {
        let found = WORDS.iter().find(|(word, _)| *word == text);
        found.map(|(_, value)| *value).ok_or_else(|| UnknownCovariance(text.to_string()))
    }
}

/// A random mixture of `k` Gaussians in `d` columns: weights from U\[0.4, 0.6\] made to add up to one, means from
/// U\[−5, 5\], covariances as asked.
pub fn ofab_truth(k: usize, d: usize, covariance: Covariance, seed: u64) -> Truth {
    let mut rng = num::stream(seed, purpose::PARAMETERS, 0);
    let raw: Vec<f64> = (0..k).map(|_| between(&mut rng, 0.4, 0.6)).collect();
    let total: f64 = raw.iter().sum();
    let weights = raw.iter().map(|w| w / total).collect();
    let means = (0..k).map(|_| (0..d).map(|_| between(&mut rng, -5.0, 5.0)).collect()).collect();
    let covariances = (0..k)
        .map(|_| {
            let scale = between(&mut rng, 0.5, 1.5);
            let mut drawn = match covariance {
                Covariance::Aat => aat(&mut rng, d, 1.0 / d as f64, 0.01),
                Covariance::AatRaw => positive(aat(&mut rng, d, 1.0, 0.0), d),
                Covariance::Spd => spd(&mut rng, d),
            };
            drawn.iter_mut().for_each(|v| *v *= scale);
            drawn
        })
        .collect();
    Truth { weights, means, covariances }
}

pub(super) fn between(rng: &mut Rng, low: f64, high: f64) -> f64 {
    low + (high - low) * rng.uniform()
}

/// `factor · A Aᵀ + ridge · I`.
fn aat(rng: &mut Rng, d: usize, factor: f64, ridge: f64) -> Vec<f64> {
    let a: Vec<f64> = (0..d * d).map(|_| rng.uniform()).collect();
    let mut out = vec![0.0; d * d];
    for i in 0..d {
        for j in 0..d {
            let dot: f64 = (0..d).map(|r| a[i * d + r] * a[j * d + r]).sum();
            out[i * d + j] = factor * dot + if i == j { ridge } else { 0.0 };
        }
    }
    out
}

/// The matrix itself when it can be factored, else with 1e-9 on its diagonal.
fn positive(mut matrix: Vec<f64>, d: usize) -> Vec<f64> {
    if num::cholesky(&mut matrix.clone(), d).is_err() {
        (0..d).for_each(|j| matrix[j * d + j] += 1e-9);
    }
    matrix
}

/// The singular vectors of the symmetric `Aᵀ A` are its eigenvectors, on both sides.
fn spd(rng: &mut Rng, d: usize) -> Vec<f64> {
    let symmetric = aat(rng, d, 1.0, 0.0);
    let (mut values, mut vectors) = (vec![0.0; d], vec![0.0; d * d]);
    num::symmetric_eigen(&symmetric, d, &mut values, &mut vectors);
    let stretch: Vec<f64> = (0..d).map(|_| 1.0 + rng.uniform()).collect();
    let mut out = vec![0.0; d * d];
    for i in 0..d {
        for j in 0..d {
            out[i * d + j] = (0..d).map(|r| stretch[r] * (vectors[r * d + i] * vectors[r * d + j])).sum();
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_lie_where_the_paper_draws_them() {
        for covariance in [Covariance::Aat, Covariance::AatRaw, Covariance::Spd] {
            assert_eq!(covariance.to_string().parse(), Ok(covariance));
            for seed in 0..20 {
                let (k, d) = (7, 10);
                let truth = ofab_truth(k, d, covariance, seed);
                assert_eq!(truth, ofab_truth(k, d, covariance, seed));
                assert!((truth.weights.iter().sum::<f64>() - 1.0).abs() < 1e-12);
                // The largest share is 0.6 against six of 0.4, the smallest the reverse.
                assert!(truth.weights.iter().all(|w| (0.4 / 4.0..=0.6 / 3.0).contains(w)));
                assert!(truth.means.iter().flatten().all(|m| (-5.0..5.0).contains(m)));
                for cov in &truth.covariances {
                    assert!(num::cholesky(&mut cov.clone(), d).is_ok());
                    for i in 0..d {
                        for j in 0..i {
                            assert_eq!(cov[i * d + j], cov[j * d + i]);
                        }
                    }
                }
            }
            assert_ne!(ofab_truth(2, 3, covariance, 1), ofab_truth(2, 3, covariance, 2));
        }
    }

    #[test]
    fn spd_eigenvalues_lie_between_one_and_two_times_the_scale() {
        let truth = ofab_truth(9, 4, Covariance::Spd, 3);
        for cov in &truth.covariances {
            let (mut values, mut vectors) = ([0.0; 4], [0.0; 16]);
            num::symmetric_eigen(cov, 4, &mut values, &mut vectors);
            assert!(values[0] / values[3] <= 2.0 + 1e-12 && values[3] >= 0.5 - 1e-12 && values[0] <= 3.0 + 1e-12);
        }
    }

    #[test]
    fn an_unknown_word_is_refused_with_the_known_ones() {
        let error = "aaat".parse::<Covariance>().unwrap_err().to_string();
        assert!(error.contains("aaat") && error.contains("aat-raw"));
    }
}
