//! The far tail of recent scores, beyond what ranks can tell apart.

/// Scores a tail is fitted to, as a share of all; with fewer than this many nothing is fitted.
const TAIL_SHARE: f64 = 0.05;
const LEAST_IN_TAIL: usize = 10;
/// The shape is kept at or above 0 (no end point: any score is possible) and below this (the mean of heavier tails
/// does not exist, and the fit by moments with it).
const LARGEST_SHAPE: f64 = 1.5;

/// A generalised Pareto distribution of what exceeds a threshold: P(excess > e) = (1 + ξ e/σ)^(−1/ξ).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tail {
    threshold: f64,
    shape: f64,
    scale: f64,
}

impl Tail {
    /// Fits the largest of ascending scores by probability-weighted moments; none when there are too few, or when
    /// they do not vary.
    pub fn of(ascending: &[f32]) -> Option<Tail> {
        let n = ascending.len();
        let n_tail = (TAIL_SHARE * n as f64) as usize;
        if n_tail < LEAST_IN_TAIL {
            return None;
        }
        let threshold = f64::from(ascending[n - n_tail - 1]);
        let k = n_tail as f64;
        let (mut b0, mut b1) = (0.0, 0.0);
        for (i, score) in ascending[n - n_tail..].iter().enumerate() {
            let excess = f64::from(*score) - threshold;
            b0 += excess / k;
            b1 += (1.0 - (i as f64 + 0.65) / k) * excess / k;
        }
        let spread = b0 - 2.0 * b1;
        if b0 <= 0.0 || !b0.is_finite() {
            return None;
        }
        // Without spread the fit would be heavier than any that has a mean.
        let shape = if spread > 0.0 { (2.0 - b0 / spread).clamp(0.0, LARGEST_SHAPE) } else { 0.0 };
        // At a shape that was cut, the scale that keeps the mean (or, where there is none, the median's order).
        let free = spread > 0.0 && (0.0..=LARGEST_SHAPE).contains(&(2.0 - b0 / spread));
        let scale = if free { 2.0 * b0 * b1 / spread } else { b0 * (1.0 - shape).max(0.1) };
        (scale > 0.0 && scale.is_finite()).then_some(Tail { threshold, shape, scale })
    }

    /// Log of the probability that a score beyond the threshold is beyond this one.
    pub fn log_survival(&self, score: f64) -> f64 {
        let excess = (score - self.threshold).max(0.0) / self.scale;
        if self.shape < 1e-6 { -excess } else { -(self.shape * excess).ln_1p() / self.shape }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quantiles(n: usize, quantile: impl Fn(f64) -> f64) -> Vec<f32> {
        (0..n).map(|i| quantile((i as f64 + 0.5) / n as f64) as f32).collect()
    }

    #[test]
    fn exponential_and_pareto_tails_are_recovered() {
        // Beyond any threshold an exponential is itself, and a Pareto of index 1/ξ is generalised Pareto of shape ξ.
        let exponential = Tail::of(&quantiles(20_000, |u| -3.0 * (1.0 - u).ln())).unwrap();
        let pareto = Tail::of(&quantiles(20_000, |u| (1.0 - u).powf(-0.4))).unwrap();
        // Log-probability of 1e-4 of the whole, given the top twentieth.
        let expected = (1e-4_f64 / 0.05).ln();
        let far = exponential.log_survival(-3.0 * 1e-4_f64.ln());
        assert!((far - expected).abs() < 0.25, "{far} for {expected}");
        let far = pareto.log_survival(1e-4_f64.powf(-0.4));
        assert!((far - expected).abs() < 0.25, "{far} for {expected}");
    }

    #[test]
    fn tails_that_cannot_be_fitted_are_none() {
        assert_eq!(Tail::of(&[]), None);
        assert_eq!(Tail::of(&[1.0; 199]), None);
        assert_eq!(Tail::of(&[2.5; 5000]), None);
    }
}
