//! Streaming trust-region stochastic variational inference (Theis & Hoffman 2015), as the OFAB paper uses it.
//!
//! The model: that of [`super::Svb`]; with PPCA components the expected covariance S/ν is truncated as the family does
//! it, and everything else stays. The loop, per batch: responsibilities 1/K; then `inner` rounds of
//! η = (1−ρ)η_t + ρ(η₀ + N_t/T Σ r f(x)) and E-step, anchored at η_t. As η = η₀ + statistics, the same step holds for
//! raw statistics.
//!
//! Key: η natural parameters · ρ = (τ + t)^−κ step · N_t rows seen · T rows of the batch · t batches seen.

use super::expect::Blend;
use super::rule::Rule;
use super::svb::dirichlet;
use crate::model::Settings;
use serde::{Deserialize, Serialize};

/// The rule of `gmm/strust-svi` and `mppca/strust-svi`: statistics move towards the batch's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Strust;

impl Rule for Strust {
    const GROWS: bool = false;
    const RESETS: bool = true;

    fn blend(&self, settings: &Settings, step: u64, seen: f64, batch: f64) -> Blend {
        let rho = (settings.tau + step as f64).powf(-settings.kappa).min(1.0);
        Blend { keep: 1.0 - rho, gain: rho * seen / batch }
    }

    fn log_weights(&self, alpha: f64, counts: &[f64], out: &mut Vec<f64>) {
        dirichlet(alpha, counts, out);
    }
}
