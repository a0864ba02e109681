//! Streaming variational Bayes for a finite mixture (Broderick et al. 2013): the posterior becomes the prior.
//!
//! The model: x | z=k ~ N(μ_k, T_k⁻¹), (μ_k, T_k) normal-Wishart with a mean of its own for each k, π ~ Dirichlet(α/K).
//! The loop, per batch: at most `inner` rounds of E-step and M-step, all from the statistics before the batch.
//!
//! Key: n_k count of component k · α/K Dirichlet parameter · ψ digamma.

use super::expect::Blend;
use super::rule::Rule;
use crate::model::Settings;
use crate::num::digamma;
use serde::{Deserialize, Serialize};

/// The rule of `gmm/svb`: statistics add.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Svb;

impl Rule for Svb {
    const GROWS: bool = false;
    const RESETS: bool = false;

    fn blend(&self, _settings: &Settings, _step: u64, _seen: f64, _batch: f64) -> Blend {
        Blend { keep: 1.0, gain: 1.0 }
    }

    fn log_weights(&self, alpha: f64, counts: &[f64], out: &mut Vec<f64>) {
        dirichlet(alpha, counts, out);
    }
}

/// E ln π_k = ψ(α/K + n_k) − ψ(α + n).
pub(super) fn dirichlet(alpha: f64, counts: &[f64], out: &mut Vec<f64>) {
    let own = alpha / counts.len() as f64;
    let all = digamma(alpha + counts.iter().sum::<f64>());
    out.clear();
    out.extend(counts.iter().map(|n| digamma(own + n) - all));
}
