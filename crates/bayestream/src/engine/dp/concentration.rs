//! The concentration α of the Dirichlet process: how readily new components come.

use crate::num::{digamma, log_sum_exp};
use serde::{Deserialize, Serialize};

/// Steps of the fixed point; three digits are there after three.
const FIXED_POINT_STEPS: usize = 6;

/// How α is known.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) enum Concentration {
    /// Given.
    Fixed { alpha: f64 },
    /// Averaged over a grid with posterior weights (SUGS).
    Grid { alphas: Vec<f64>, log_weights: Vec<f64> },
    /// k/(λ + ln n), the mean of the approximate posterior (ASUGS).
    Logarithmic { lambda: f64 },
    /// The mode-like solution of α = k/(λ + ψ(α + n) − ψ(α + 1)).
    /// Deviates: ln n stands for the difference of digammas in \[ASUGS\] (a) of Algorithm 1, which is biased low.
    FixedPoint { lambda: f64 },
}

/// Log prior weights of a row's choices, normalised: joining a component of mass m has `log_old + ln m`, a new one
/// `log_new`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Choice {
    pub log_old: f64,
    pub log_new: f64,
}

impl Concentration {
    pub fn grid(alphas: &[f64]) -> Concentration {
        let even = -(alphas.len() as f64).ln();
        Concentration::Grid { alphas: alphas.to_vec(), log_weights: vec![even; alphas.len()] }
    }

    /// α given the number of components and the mass of rows so far.
    pub fn alpha(&self, k: usize, n: f64) -> f64 {
        match self {
            Concentration::Fixed { alpha } => *alpha,
            Concentration::Grid { alphas, log_weights } => {
                alphas.iter().zip(log_weights).map(|(a, w)| a * w.exp()).sum()
            }
            Concentration::Logarithmic { lambda } => k.max(1) as f64 / (lambda + n.max(1.0).ln()),
            Concentration::FixedPoint { lambda } => {
                let k = k.max(1) as f64;
                let mut alpha = k / (lambda + n.max(1.0).ln());
                for _ in 0..FIXED_POINT_STEPS {
                    alpha = k / (lambda + (digamma(alpha + n) - digamma(alpha + 1.0)).max(0.0));
                }
                alpha
            }
        }
    }

    /// The prior weights of the next row's choices.
    pub fn choice(&self, k: usize, n: f64) -> Choice {
        if let Concentration::Grid { alphas, log_weights } = self {
            let terms = || alphas.iter().zip(log_weights);
            let old: Vec<f64> = terms().map(|(a, w)| w - (n + a).ln()).collect();
            let new: Vec<f64> = terms().map(|(a, w)| w + a.ln() - (n + a).ln()).collect();
            return Choice { log_old: log_sum_exp(&old), log_new: log_sum_exp(&new) };
        }
        let alpha = self.alpha(k, n);
        let log_total = (n + alpha).ln();
        Choice { log_old: -log_total, log_new: alpha.ln() - log_total }
    }

    /// Learns from a choice made when the mass of rows was `n`.
    pub fn learn(&mut self, is_new: bool, n: f64) {
        if let Concentration::Grid { alphas, log_weights } = self {
            for (a, w) in alphas.iter().zip(log_weights.iter_mut()) {
                *w += if is_new { a.ln() } else { 0.0 } - (n + a).ln();
            }
            let total = log_sum_exp(log_weights);
            log_weights.iter_mut().for_each(|w| *w -= total);
        }
    }

    pub fn is_sound(&self) -> bool {
        let positive = |v: f64| v > 0.0 && v.is_finite();
        match self {
            Concentration::Fixed { alpha } => positive(*alpha),
            Concentration::Grid { alphas, log_weights } => {
                !alphas.is_empty()
                    && alphas.len() == log_weights.len()
                    && alphas.iter().all(|a| positive(*a))
                    && log_weights.iter().all(|w| !w.is_nan() && *w <= 1e-9)
            }
            Concentration::Logarithmic { lambda } | Concentration::FixedPoint { lambda } => positive(*lambda),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fixed_point_is_one_and_the_logarithm_is_below_it() {
        // Antoniak: the expected number of components is α(ψ(α + n) − ψ(α)).
        for (k, n, printed, solved) in [(16, 500.0, 2.22, 2.64), (50, 1000.0, 6.32, 8.79)] {
            let approximate = Concentration::Logarithmic { lambda: 1.0 }.alpha(k, n);
            let exact = Concentration::FixedPoint { lambda: 1.0 }.alpha(k, n);
            assert!((approximate - printed).abs() < 0.01, "{approximate}");
            assert!((exact - solved).abs() < 0.03, "{exact}");
            let again = k as f64 / (1.0 + digamma(exact + n) - digamma(exact + 1.0));
            assert!((exact - again).abs() < 1e-2 * exact, "{exact} {again}");
        }
    }

    #[test]
    fn choices_are_probabilities_and_the_grid_learns() {
        let mut grid = Concentration::grid(&[0.2, 1.0, 5.0]);
        for (n, k) in [(0.0, 0), (3.0, 1), (700.0, 12)] {
            for concentration in [grid.clone(), Concentration::Fixed { alpha: 0.7 }] {
                let choice = concentration.choice(k, n);
                let total = n * choice.log_old.exp() + choice.log_new.exp();
                assert!((total - 1.0).abs() < 1e-12, "{total}");
            }
        }
        let before = grid.alpha(1, 1.0);
        (1..60).for_each(|n| grid.learn(false, f64::from(n)));
        assert!(grid.alpha(1, 1.0) < 0.5 * before && grid.is_sound());
    }
}
