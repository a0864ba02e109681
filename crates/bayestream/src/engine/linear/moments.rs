//! A Gaussian score times the factors `exp(−2c (edge − side · f)₊)` of its hinges: its mean and variance in closed form.
//!
//! With Z the integral and m, s² the score's mean and variance, d log Z/dm = 2c Σ side · r, r being the share of the result
//! on the losing side of a hinge, and d² log Z/dm² is the variance of that slope less 2c times the density at the edges.

use super::step::{Evidence, Hinge};
use crate::num::LN_2PI;

/// Of the score's precision, the most that one row may multiply it by: beyond lies rounding.
const LARGEST_GAIN: f64 = 1e12;
/// Below this, `erfc` has no digits left.
const FAR: f64 = -36.0;

/// log Φ(x) + x²/2 for x ≤ 0, which does not underflow.
fn scaled_log_tail(x: f64) -> f64 {
    if x > FAR {
        return (0.5 * libm::erfc(-x / std::f64::consts::SQRT_2)).ln() + 0.5 * x * x;
    }
    let inverse = 1.0 / (x * x);
    -(-x).ln() - 0.5 * LN_2PI + (-inverse * (1.0 - 3.0 * inverse * (1.0 - 5.0 * inverse))).ln_1p()
}

/// log Φ(x).
fn log_tail(x: f64) -> f64 {
    if x <= 0.0 { scaled_log_tail(x) - 0.5 * x * x } else { (-0.5 * libm::erfc(x / std::f64::consts::SQRT_2)).ln_1p() }
}

/// log (Φ(to) − Φ(from)).
fn log_between(from: f64, to: f64) -> f64 {
    // In the tail where differences keep their digits.
    let (from, to) = if from > 0.0 { (-to, -from) } else { (from, to) };
    let (low, high) = (log_tail(from), log_tail(to));
    if high == f64::NEG_INFINITY { high } else { high + (-(low - high).exp()).ln_1p() }
}

/// What a row says of a score, so that its mean and variance afterwards are those of the exact product.
pub fn matched(hinges: &[Hinge], c: f64, mean: f64, variance: f64) -> Evidence {
    let nothing = Evidence { precision: 0.0, pull: 0.0 };
    let deviation = variance.sqrt();
    if !(deviation > 0.0 && deviation.is_finite()) {
        return nothing;
    }
    // Where each loss begins, in deviations from the mean, counted against the side.
    let edges: Vec<f64> = hinges.iter().map(|hinge| (hinge.edge - hinge.side * mean) / deviation).collect();
    let slope = 2.0 * c * deviation;
    let losing: Vec<f64> = edges
        .iter()
        .map(|edge| match edge - slope {
            x if x <= 0.0 => scaled_log_tail(x) - 0.5 * edge * edge,
            x => log_tail(x) - slope * (edge - 0.5 * slope),
        })
        .collect();
    let winning = match edges.as_slice() {
        [edge] => log_tail(-edge),
        [low, high] => log_between(*low, -high),
        _ => return nothing,
    };
    let top = losing.iter().copied().fold(winning, f64::max);
    let total = top + (losing.iter().map(|log| (log - top).exp()).sum::<f64>() + (winning - top).exp()).ln();
    if !total.is_finite() {
        return nothing;
    }
    let shares = || losing.iter().map(|log| (log - total).exp());
    let lean: f64 = shares().zip(hinges).map(|(share, hinge)| hinge.side * share).sum();
    let at_edges: f64 = edges.iter().map(|edge| (-0.5 * (edge * edge + LN_2PI) - total).exp()).sum();
    // Both derivatives in units of the deviation.
    let first = slope * lean;
    let second = slope * slope * (shares().sum::<f64>() - lean * lean) - slope * at_edges;
    let second = second.clamp(-1.0 + 1.0 / LARGEST_GAIN, 0.0);
    let precision = -second / (1.0 + second) / variance;
    let pull = first / deviation * (1.0 + precision * variance) + precision * mean;
    if precision.is_finite() && pull.is_finite() { Evidence { precision, pull } } else { nothing }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::linear::moved;

    /// Mean and variance of the product by summing it up.
    fn summed(hinges: &[Hinge], c: f64, mean: f64, variance: f64) -> (f64, f64) {
        let (n, reach) = (200_000, 14.0 * variance.sqrt() + 2.0 * c * variance);
        let at = |i: usize| mean + reach * (2.0 * (i as f64 + 0.5) / n as f64 - 1.0);
        let log = |f: f64| {
            -0.5 * (f - mean) * (f - mean) / variance - hinges.iter().map(|h| 2.0 * c * h.loss(f)).sum::<f64>()
        };
        let top = (0..n).map(|i| log(at(i))).fold(f64::MIN, f64::max);
        let (mut z, mut first, mut second) = (0.0, 0.0, 0.0);
        for f in (0..n).map(at) {
            let weight = (log(f) - top).exp();
            (z, first, second) = (z + weight, first + weight * (f - mean), second + weight * (f - mean) * (f - mean));
        }
        (mean + first / z, second / z - (first / z) * (first / z))
    }

    #[test]
    fn mean_and_variance_are_those_of_the_product() {
        let mut cases = Vec::new();
        for (c, variance, mean) in [(1.0, 1.0, 0.3), (0.05, 4.0, -2.0), (3.0, 0.2, 1.4), (10.0, 2.0, -0.7)] {
            cases.push((Hinge::of_label(1.0, 1.0).to_vec(), c, mean, variance));
            cases.push((Hinge::of_label(-1.0, 0.4).to_vec(), c, mean, variance));
            cases.push((Hinge::of_number(0.9, 0.1).to_vec(), c, mean, variance));
            cases.push((Hinge::of_number(-1.5, 0.0).to_vec(), c, mean, variance));
        }
        for (hinges, c, mean, variance) in cases {
            let said = matched(&hinges, c, mean, variance);
            let found = mean + moved(&said, mean, variance) * variance;
            let after = variance / (1.0 + said.precision * variance);
            let (expected, expected_after) = summed(&hinges, c, mean, variance);
            // The sum has steps of about 1e-4 deviations, and a kink in one of them.
            assert!((found - expected).abs() < 1e-6 * (1.0 + expected.abs()), "{hinges:?} c {c}: {found} {expected}");
            assert!((after / expected_after - 1.0).abs() < 1e-5, "{hinges:?} c {c}: {after} {expected_after}");
        }
    }

    #[test]
    fn nothing_overflows_at_the_edges_of_what_numbers_can_say() {
        for c in [1e-9, 1.0, 1e9] {
            for variance in [1e-300, 1e-12, 1.0, 1e12, 1e150] {
                for mean in [-1e150, -1e5, 0.0, 1.0, 1e150] {
                    for hinges in [Hinge::of_label(1.0, 1.0).to_vec(), Hinge::of_number(-3e4, 0.0).to_vec()] {
                        let said = matched(&hinges, c, mean, variance);
                        let sound = said.precision.is_finite() && said.precision >= 0.0 && said.pull.is_finite();
                        assert!(sound, "c {c}, mean {mean}, variance {variance}: {said:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_row_far_beyond_its_margin_says_nothing() {
        let said = matched(&Hinge::of_label(1.0, 1.0), 1.0, 20.0, 1.0);
        assert!(said.precision < 1e-12 && moved(&said, 20.0, 1.0).abs() < 1e-12, "{said:?}");
    }
}
