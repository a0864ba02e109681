//! Data augmentation for Gibbs classifiers: the hinge as a mixture of Gaussians over λ.

use crate::num::Rng;

/// The least E[ζ²], so that 1/λ stays finite.
const LEAST: f64 = 1e-6;

/// E[1/λ] given E[ζ²] in two parts: the square of the mean of ζ, and its variance. 1/λ is inverse Gaussian with mean
/// 1/(c √E[ζ²]) and shape 1. [BayesPA] (33)
pub(super) fn expected_rho(cost: f64, mean: f64, variance: f64) -> f64 {
    // The two parts are kept apart: expanded, they cancel.
    1.0 / (cost * (mean * mean + variance.max(0.0)).max(LEAST).sqrt())
}

/// A draw from the inverse Gaussian with this mean and shape 1 (Michael, Schucany and Haas 1976), with the root written so
/// that nothing cancels.
pub(super) fn draw_inverse_gaussian(mean: f64, rng: &mut Rng) -> f64 {
    let normal = rng.normal();
    let half = 0.5 * mean * normal * normal;
    let small = mean / (1.0 + half + (2.0 * half + half * half).sqrt());
    if rng.uniform() * (mean + small) <= mean { small } else { mean * (mean / small) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::num::stream;

    /// The distribution function of the inverse Gaussian with shape 1.
    fn distribution(x: f64, mean: f64) -> f64 {
        let phi = |z: f64| 0.5 * libm::erfc(-z / std::f64::consts::SQRT_2);
        phi((x / mean - 1.0) / x.sqrt()) + (2.0 / mean).exp() * phi(-(x / mean + 1.0) / x.sqrt())
    }

    /// Kolmogorov–Smirnov: the largest gap to the exact distribution function stays below 1.95/√n, a level of 0.001.
    #[test]
    fn draws_follow_the_inverse_gaussian() {
        for (at, mean) in [0.03, 0.5, 1.0, 7.0].into_iter().enumerate() {
            let mut rng = stream(17, 0, at as u64);
            let n = 40_000;
            let mut draws: Vec<f64> = (0..n).map(|_| draw_inverse_gaussian(mean, &mut rng)).collect();
            draws.sort_by(f64::total_cmp);
            let gap = draws
                .iter()
                .enumerate()
                .map(|(i, x)| {
                    let exact = distribution(*x, mean);
                    (exact - i as f64 / f64::from(n)).abs().max((exact - (i as f64 + 1.0) / f64::from(n)).abs())
                })
                .fold(0.0, f64::max);
            assert!(gap < 1.95 / f64::from(n).sqrt(), "mean {mean}: {gap}");
            assert!(draws.iter().all(|x| x.is_finite() && *x > 0.0));
        }
    }

    /// The augmentation is exact: ∫ (2πλ)^−½ exp(−(λ + cζ)²/2λ) dλ = exp(−2c max(0, ζ)).
    #[test]
    fn the_hinge_is_a_mixture_of_gaussians() {
        let c = 0.8;
        for zeta in [-2.0, -0.1, 0.3, 1.7] {
            let integrand = |u: f64| {
                // λ = u²: the singularity at zero goes away.
                let l = u * u;
                (2.0 * std::f64::consts::PI * l).powf(-0.5)
                    * (-(l + c * zeta) * (l + c * zeta) / (2.0 * l)).exp()
                    * 2.0
                    * u
            };
            let (n, top) = (400_000, 12.0);
            let step = top / f64::from(n);
            let sum: f64 = (0..n).map(|i| integrand((f64::from(i) + 0.5) * step) * step).sum();
            assert!((sum - (-2.0 * c * f64::max(0.0, zeta)).exp()).abs() < 1e-6, "{zeta}: {sum}"); // [BayesPA] (29)
        }
    }

    #[test]
    fn the_expectation_never_overflows() {
        assert!((expected_rho(2.0, 3.0, 16.0) - 0.1).abs() < 1e-12);
        assert!(expected_rho(1.0, 0.0, 0.0).is_finite() && expected_rho(1.0, 0.0, -1e-9).is_finite());
    }
}
