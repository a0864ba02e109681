//! Step sizes of stochastic updates, as pure functions of the step.

use serde::{Deserialize, Serialize};

/// How much weight ρ(b) the b-th batch gets against everything before it. The first step always has
/// weight one, since there is nothing before it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Schedule {
    /// The same rate at every step after the first: forgets the past exponentially.
    Constant(f64),
    /// (τ + b − 1)^−κ, scaled so that ρ(1) = 1. Converges for ½ < κ ≤ 1; a larger τ keeps early rates high longer.
    Power {
        /// Delay τ > 0.
        tau: f64,
        /// Decay κ ≥ 0.
        kappa: f64,
    },
    /// 1/b: every batch counts the same, the plain average.
    Accumulate,
}

impl Schedule {
    /// ρ(step), for steps from 1 (0 is taken as 1), between 0 and 1.
    pub fn rate(&self, step: u64) -> f64 {
        if step <= 1 {
            return 1.0;
        }
        let rate = match *self {
            Self::Constant(rate) => rate,
            Self::Power { tau, kappa } => (-kappa * ((step - 1) as f64 / tau).ln_1p()).exp(),
            Self::Accumulate => 1.0 / step as f64,
        };
        rate.clamp(0.0, 1.0)
    }

    /// Whether the parameters make sense: rates in (0, 1], τ > 0, κ ≥ 0.
    pub fn is_valid(&self) -> bool {
        match *self {
            Self::Constant(rate) => rate > 0.0 && rate <= 1.0,
            Self::Power { tau, kappa } => tau > 0.0 && tau.is_finite() && kappa >= 0.0 && kappa.is_finite(),
            Self::Accumulate => true,
        }
    }
}
