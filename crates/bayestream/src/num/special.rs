//! Special functions of probability.

use super::explog::ln;
use super::simd::{self, Arithmetic, Kernel};
use std::f64::consts::PI;

/// ln π.
pub const LN_PI: f64 = 1.144_729_885_849_400_2;

/// ln 2π.
pub const LN_2PI: f64 = 1.837_877_066_409_345_3;

/// Natural logarithm of |Γ(x)|; infinite at zero and the negative integers.
pub fn ln_gamma(x: f64) -> f64 {
    libm::lgamma(x)
}

/// Derivative of [`ln_gamma`]; NaN at zero and the negative integers.
///
/// Shifts the argument up by ψ(x) = ψ(x+1) − 1/x until the asymptotic series is exact to rounding.
pub fn digamma(x: f64) -> f64 {
    if x <= 0.0 {
        if x == x.floor() {
            return f64::NAN;
        }
        // tan has period π, so the fraction alone enters and large arguments lose nothing.
        return digamma(1.0 - x) - PI / (PI * (x - x.floor())).tan();
    }
    let mut shifted = x;
    let mut shift = 0.0;
    while shifted < 10.0 {
        shift += 1.0 / shifted;
        shifted += 1.0;
    }
    // Σ B_2k / (2k x^2k), k = 1..7, with B_2k the Bernoulli numbers.
    let u = 1.0 / (shifted * shifted);
    let series = u
        * (1.0 / 12.0
            - u * (1.0 / 120.0
                - u * (1.0 / 252.0 - u * (1.0 / 240.0 - u * (1.0 / 132.0 - u * (691.0 / 32760.0 - u / 12.0))))));
    shifted.ln() - 0.5 / shifted - series - shift
}

/// Replaces every x by ψ(x), for x from 1e-50 to 1e50, to within 1e-11 of the larger of 1 and |ψ|.
pub fn digamma_slice(x: &mut [f64]) {
    simd::fastest(DigammaSlice(x));
}

#[allow(missing_docs)]
pub(crate) mod portable {
    use super::{DigammaSlice, simd};

    pub fn digamma_slice(x: &mut [f64]) {
        simd::portable(DigammaSlice(x));
    }
}

struct DigammaSlice<'a>(&'a mut [f64]);

impl Kernel for DigammaSlice<'_> {
    type Output = ();

    /// ψ(x) = ψ(x + 6) − Σ 1/(x + i) for i below 6, whose terms are joined in pairs over p = x (x + 5), so that there are two
    /// divisions and no loop.
    #[inline(always)]
    fn run<A: Arithmetic>(self) {
        for x in self.0 {
            let (shifted, p) = (*x + 6.0, *x * (*x + 5.0));
            let shift = (2.0 * *x + 5.0) * (3.0 * p * p + 20.0 * p + 24.0) / (p * (p + 4.0) * (p + 6.0));
            let over = 1.0 / shifted;
            let u = over * over;
            let series = u
                * (1.0 / 12.0
                    - u * (1.0 / 120.0
                        - u * (1.0 / 252.0 - u * (1.0 / 240.0 - u * (1.0 / 132.0 - u * (691.0 / 32760.0))))));
            *x = ln::<A>(shifted) - 0.5 * over - series - shift;
        }
    }
}

/// Derivative of [`digamma`], for x > 0; NaN elsewhere.
pub fn trigamma(x: f64) -> f64 {
    if x.is_nan() || x <= 0.0 {
        return f64::NAN;
    }
    let (mut shifted, mut shift) = (x, 0.0);
    while shifted < 10.0 {
        shift += 1.0 / (shifted * shifted);
        shifted += 1.0;
    }
    // 1/x + 1/2x² + Σ B_2k / x^(2k+1), k = 1..7.
    let u = 1.0 / (shifted * shifted);
    let series = 1.0 / 6.0
        - u * (1.0 / 30.0
            - u * (1.0 / 42.0 - u * (1.0 / 30.0 - u * (5.0 / 66.0 - u * (691.0 / 2730.0 - u * 7.0 / 6.0)))));
    shift + (1.0 + 0.5 / shifted + u * series) / shifted
}

/// P(X > x) for X chi-square with `dof` degrees of freedom; NaN unless dof > 0.
pub fn chi_square_survival(x: f64, dof: f64) -> f64 {
    if x.is_nan() || !(dof > 0.0 && dof.is_finite()) {
        return f64::NAN;
    }
    if x <= 0.0 {
        return 1.0;
    }
    if x == f64::INFINITY {
        return 0.0;
    }
    upper_gamma(0.5 * dof, 0.5 * x)
}

/// Regularised upper incomplete gamma function Q(a, x), for a > 0 and finite x > 0.
fn upper_gamma(a: f64, x: f64) -> f64 {
    // Both expansions need a few times √a terms around x = a, fewer elsewhere.
    let max_terms = 300 + (20.0 * a.sqrt()).min(1e7) as usize;
    if x < a + 1.0 {
        // P = xᵃe⁻ˣ/Γ(a+1) · Σ xⁿ/((a+1)…(a+n))
        let mut term = 1.0;
        let mut sum = 1.0;
        for n in 1..max_terms {
            term *= x / (a + n as f64);
            sum += term;
            if term < sum * 1e-17 {
                break;
            }
        }
        (1.0 - gamma_kernel(a, x) * sum).clamp(0.0, 1.0)
    } else {
        // Q = xᵃe⁻ˣ/Γ(a) · 1/(x+1−a− 1(1−a)/(x+3−a− …)), evaluated forwards.
        let mut b = x + 1.0 - a;
        let mut c = f64::MAX;
        let mut d = 1.0 / b;
        let mut fraction = d;
        for n in 1..max_terms {
            let n = n as f64;
            let numerator = n * (a - n);
            b += 2.0;
            d = 1.0 / nonzero(numerator * d + b);
            c = nonzero(b + numerator / c);
            let factor = c * d;
            fraction *= factor;
            if (factor - 1.0).abs() < 1e-16 {
                break;
            }
        }
        (gamma_kernel(a, x) * a * fraction).clamp(0.0, 1.0)
    }
}

fn nonzero(x: f64) -> f64 {
    if x.abs() < 1e-300 { 1e-300 } else { x }
}

/// xᵃe⁻ˣ/Γ(a+1), without the cancellation of a·ln x − x − lnΓ(a+1) when a is large.
fn gamma_kernel(a: f64, x: f64) -> f64 {
    if a < 10.0 {
        return (a * x.ln() - x - ln_gamma(a + 1.0)).exp();
    }
    // Stirling: Γ(a+1) = √(2πa)·(a/e)ᵃ·exp(1/12a − 1/360a³ + …)
    let u = 1.0 / (a * a);
    let correction = (1.0 / 12.0
        - u * (1.0 / 360.0 - u * (1.0 / 1260.0 - u * (1.0 / 1680.0 - u * (1.0 / 1188.0 - u * 691.0 / 360360.0)))))
        / a;
    let deviation = (x - a) / a;
    (a * log1p_minus(deviation) - correction).exp() / (2.0 * PI * a).sqrt()
}

/// ln(1+t) − t without cancellation near zero.
fn log1p_minus(t: f64) -> f64 {
    if t.abs() > 0.2 {
        return t.ln_1p() - t;
    }
    // With s = t/(2+t): ln(1+t) = 2·(s + s³/3 + s⁵/5 + …) and 2s − t = −t·s.
    let s = t / (2.0 + t);
    let square = s * s;
    let mut power = s * square;
    let mut sum = 0.0;
    for k in 1..12 {
        sum += power / (2 * k + 1) as f64;
        power *= square;
    }
    2.0 * sum - t * s
}

/// The x with P(Z ≤ x) = p for a standard normal Z; ∓∞ at 0 and 1, NaN outside.
pub fn normal_quantile(p: f64) -> f64 {
    if !(0.0..=1.0).contains(&p) {
        return f64::NAN;
    }
    if p > 0.5 {
        return -normal_quantile(1.0 - p);
    }
    if p == 0.0 {
        return f64::NEG_INFINITY;
    }
    // Start from the tail's leading order, then Newton on ln Φ, which is concave: from the left of
    // the root the steps climb to it without overshooting, and converge quadratically.
    let log_p = p.ln();
    let mut x = -(-2.0 * log_p).sqrt();
    for _ in 0..50 {
        let tail = 0.5 * libm::erfc(-x / std::f64::consts::SQRT_2);
        let log_density = -0.5 * (x * x + LN_2PI);
        let log_tail = if tail > f64::MIN_POSITIVE {
            tail.ln()
        } else {
            // The asymptotic series φ(x)/|x| · (1 − 1/x² + 3/x⁴ − 15/x⁶ + …), exact to rounding this far out.
            let u = 1.0 / (x * x);
            let terms = 1.0 - u * (3.0 - u * (15.0 - u * (105.0 - u * (945.0 - u * 10395.0))));
            log_density - (-x).ln() + (-u * terms).ln_1p()
        };
        // For tails that can be resolved, the difference of tails keeps digits that logs lose.
        let relative_gap = if (log_tail - log_p).abs() < 1e-3 && tail > f64::MIN_POSITIVE {
            (tail - p) / tail
        } else {
            log_tail - log_p
        };
        let step = relative_gap * (log_tail - log_density).exp();
        x -= step;
        if step.abs() <= 1e-16 * x.abs() {
            break;
        }
    }
    x.min(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_slices_have_the_digamma_of_each() {
        let x: Vec<f64> = (-160..=160).map(|i| (f64::from(i) / 7.0).exp2()).chain([1e-50, 1e50]).collect();
        let (mut fast, mut plain) = (x.clone(), x.clone());
        digamma_slice(&mut fast);
        portable::digamma_slice(&mut plain);
        for (x, found) in x.iter().zip(fast).chain(x.iter().zip(plain)) {
            let expected = digamma(*x);
            assert!((found - expected).abs() <= 1e-11 * expected.abs().max(1.0), "{x}: {found} {expected}");
        }
    }
}
