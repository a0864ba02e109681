//! SDA-DP: streaming, distributed, asynchronous variational inference for Dirichlet-process mixtures (Campbell et al.
//! 2015).
//!
//! The model: x | z=k ~ N(μ_k, T_k⁻¹), normal-Wishart components, weights by sticks v_k ~ Beta(1, α).
//! The loop, per batch: new components at k-means++ seeds away from the present ones; at most `inner` rounds of E-step
//! and M-step; new components with less than a row are dropped and their rows given to the others. Models of several
//! workers are put together by matching their components (`merge`).
//!
//! Key: v_k | a_k, b_k ~ Beta(1 + n_k, α + Σ_{j>k} n_j) · n_k count of component k.

use super::expect::Blend;
use super::rule::Rule;
use crate::model::Settings;
use crate::num::digamma;
use serde::{Deserialize, Serialize};

/// The rule of `gmm/sda-dp` and `mppca/sda-dp`: statistics add, components are born.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SdaDp;

impl Rule for SdaDp {
    const GROWS: bool = true;
    const RESETS: bool = false;

    fn blend(&self, _settings: &Settings, _step: u64, _seen: f64, _batch: f64) -> Blend {
        Blend { keep: 1.0, gain: 1.0 }
    }

    fn log_weights(&self, alpha: f64, counts: &[f64], out: &mut Vec<f64>) {
        let mut later: f64 = counts.iter().sum();
        let mut log_left = 0.0;
        out.clear();
        for n in counts {
            later = (later - n).max(0.0);
            let (a, b) = (1.0 + n, alpha + later);
            let both = digamma(a + b);
            out.push(log_left + digamma(a) - both);
            log_left += digamma(b) - both;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::num;

    /// E ln π_k by drawing sticks.
    #[test]
    fn expected_log_weights_are_those_of_drawn_sticks() {
        let (alpha, counts) = (0.7, [3.0, 12.5, 0.25]);
        let mut found = Vec::new();
        SdaDp.log_weights(alpha, &counts, &mut found);
        let mut rng = num::stream(71, 0, 0);
        let n = 20_000;
        let (mut sum, mut squares) = ([0.0; 3], [0.0; 3]);
        for _ in 0..n {
            let mut left = 0.0;
            for k in 0..3 {
                let (a, b) = (rng.gamma(1.0 + counts[k]), rng.gamma(alpha + counts[k + 1..].iter().sum::<f64>()));
                let log = left + (a / (a + b)).ln();
                left += (b / (a + b)).ln();
                sum[k] += log;
                squares[k] += log * log;
            }
        }
        for k in 0..3 {
            let mean = sum[k] / f64::from(n);
            let error = ((squares[k] / f64::from(n) - mean * mean) / f64::from(n)).sqrt();
            assert!((found[k] - mean).abs() < 5.0 * error, "{k}: {} {mean} ± {error}", found[k]);
        }
    }
}
