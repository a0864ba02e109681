//! The number of components before an observation: T − 1 ~ Poisson(λ − 1), cut off where next to nothing is left.

use crate::num::{Rng, ln_gamma};
use rand_distr::{Distribution, Poisson};

/// Writes P(T = 1), P(T = 2), … until at most `left` remains or `most` is reached; there is always T = 1.
pub(super) fn chances(lambda: f64, left: f64, most: usize, out: &mut Vec<f64>) {
    let mean = lambda - 1.0;
    // From the mode both ways: P(T = 1) = exp(1 − λ) would underflow for large λ.
    let mode = (mean.floor() as usize).min(most - 1);
    let at = mode as f64;
    out.clear();
    out.resize(mode + 1, 0.0);
    out[mode] = if mean > 0.0 { (at * mean.ln() - mean - ln_gamma(at + 1.0)).exp() } else { 1.0 };
    let mut seen = out[mode];
    for t in (0..mode).rev() {
        out[t] = out[t + 1] * (t + 1) as f64 / mean;
        seen += out[t];
    }
    while out.len() < most && 1.0 - seen > left {
        let t = out.len();
        let next = out[t - 1] * mean / t as f64;
        out.push(next);
        seen += next;
        // What rounding alone leaves over.
        if next == 0.0 {
            break;
        }
    }
}

/// The same by drawing: the shares of `draws` numbers, up to the largest of them; numbers beyond `most` count as it.
pub(super) fn drawn(lambda: f64, draws: usize, most: usize, rng: &mut Rng, out: &mut Vec<f64>) {
    out.clear();
    out.push(0.0);
    let each = 1.0 / draws as f64;
    let poisson = Poisson::new(lambda - 1.0).ok();
    for _ in 0..draws {
        let more: f64 = poisson.as_ref().map_or(0.0, |p| p.sample(rng));
        let at = (more as usize).min(most - 1);
        if out.len() <= at {
            out.resize(at + 1, 0.0);
        }
        out[at] += each;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::num;

    #[test]
    fn chances_are_those_of_a_shifted_poisson_and_end_where_little_is_left() {
        let mut p = Vec::new();
        for lambda in [1.0, 1.000_001, 1.7, 6.0, 150.0, 2000.0] {
            chances(lambda, 1e-9, 10_000, &mut p);
            let (total, mean) = p.iter().enumerate().fold((0.0, 0.0), |(s, m), (t, p)| (s + p, m + p * (t + 1) as f64));
            assert!((total - 1.0).abs() < 2e-9, "{lambda}: {total}");
            assert!((mean - lambda).abs() < 1e-5, "{lambda}: {mean}");
        }
        chances(4.0, 1e-9, 3, &mut p);
        let expected = [1.0, 3.0, 4.5].map(|p: f64| p * (-3.0f64).exp());
        assert!(p.len() == 3 && p.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-15));
    }

    #[test]
    fn draws_have_the_poisson_s_mean_and_stay_below_the_most() {
        let mut p = Vec::new();
        drawn(5.5, 40_000, 100, &mut num::stream(81, 0, 0), &mut p);
        let mean: f64 = p.iter().enumerate().map(|(t, p)| p * (t + 1) as f64).sum();
        // Five standard errors of a mean of 40,000 draws with variance 4.5.
        assert!((mean - 5.5).abs() < 5.0 * (4.5f64 / 40_000.0).sqrt(), "{mean}");
        drawn(1.0, 10, 100, &mut num::stream(81, 0, 1), &mut p);
        assert_eq!(p.len(), 1);
        drawn(50.0, 10, 7, &mut num::stream(81, 0, 2), &mut p);
        assert_eq!(p.len(), 7);
    }
}
