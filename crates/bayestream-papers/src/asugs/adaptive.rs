//! The concentration α of ASUGS: as printed, as a fixed point, and as the mean of the posterior that both stand for.
//!
//! The posterior after n rows in k classes, with the prior λ e^(−λα), is α^(k−1) ∏_{j<n} (1 + α/j)⁻¹ e^(−λα), and the
//! product is Γ(n) Γ(1+α)/Γ(n+α).

use bayestream::num::{digamma, ln_gamma, log_sum_exp};

/// Points of the integral, evenly spaced in ln α.
const N_POINTS: usize = 4000;
const LN_RANGE: (f64, f64) = (-9.0, 9.0);

/// \[ASUGS\] Algorithm 1 (a): ln n stands for the sum of logarithms, by Theorem 1.
pub fn printed(k: f64, n: f64, lambda: f64) -> f64 {
    k / (lambda + n.ln())
}

/// The solution of α = k/(λ + ψ(α+n) − ψ(α+1)).
pub fn fixed_point(k: f64, n: f64, lambda: f64) -> f64 {
    let step = |alpha: f64| k / (lambda + digamma(alpha + n) - digamma(alpha + 1.0));
    (0..50).fold(printed(k, n, lambda), |alpha, _| step(alpha))
}

/// The mean of the posterior, by quadrature.
pub fn posterior_mean(k: f64, n: f64, lambda: f64) -> f64 {
    let width = (LN_RANGE.1 - LN_RANGE.0) / N_POINTS as f64;
    let points = (0..N_POINTS).map(|ix| LN_RANGE.0 + width * (ix as f64 + 0.5));
    // One power of α more than the density has: the points are even in ln α.
    let (mass, first): (Vec<f64>, Vec<f64>) = points
        .map(|ln_alpha| {
            let alpha = ln_alpha.exp();
            let log_mass = k * ln_alpha - lambda * alpha + ln_gamma(1.0 + alpha) - (ln_gamma(n + alpha) - ln_gamma(n));
            (log_mass, log_mass + ln_alpha)
        })
        .unzip();
    (log_sum_exp(&first) - log_sum_exp(&mass)).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_printed_concentration_is_below_the_posterior_mean_and_the_fixed_point_is_near_it() {
        for (k, n) in [(16.0, 500.0), (50.0, 1000.0), (16.0, 1e6)] {
            let exact = posterior_mean(k, n, 1.0);
            assert!(printed(k, n, 1.0) < 0.97 * exact, "{k} {n}");
            assert!((fixed_point(k, n, 1.0) / exact - 1.0).abs() < 0.02, "{k} {n}");
        }
        assert!((posterior_mean(16.0, 500.0, 1.0) - 2.65).abs() < 0.01);
    }

    #[test]
    fn without_rows_the_posterior_is_the_prior() {
        // One row in one class says nothing of α, whose prior mean is 1/λ.
        assert!((posterior_mean(1.0, 1.0, 2.5) - 0.4).abs() < 1e-3);
    }

    /// Theorem 1 of the paper holds, and slowly: the ratio is off by α-dependent terms over ln n.
    #[test]
    fn the_limit_of_theorem_1_is_slow() {
        let ratio = |alpha: f64, n: f64| (ln_gamma(n + alpha) - ln_gamma(n) - ln_gamma(1.0 + alpha)) / (alpha * n.ln());
        assert!(ratio(3.0, 1e3) < 0.92 && ratio(3.0, 1e6) < 0.96 && ratio(3.0, 1e12) > 0.975);
    }

    /// Section 5 of the paper prints the limit of ρ_d(a)/(e^(−d/2) (a−½)^(d/2)) as 1; it is e^(d/2).
    #[test]
    fn the_printed_limit_of_a_ratio_of_gammas_lacks_a_factor() {
        for d in [1.0, 2.0, 5.0] {
            let a: f64 = 1e7;
            let log_rho = ln_gamma(a + 0.5) - ln_gamma(a + 0.5 * (1.0 - d));
            let log_ratio = log_rho - (-0.5 * d + 0.5 * d * (a - 0.5).ln());
            assert!((log_ratio - 0.5 * d).abs() < 1e-6, "{d} {log_ratio}");
        }
    }
}
