//! Kullback-Leibler divergence of a model from a known truth, by Monte Carlo.
//!
//! With points x drawn from the truth p and r = q(x)/p(x), the plain estimator averages `−ln r`, whose spread does not
//! shrink with the divergence as fast as its mean does. As `E[r] = 1`, the mean of `r − 1 − ln r` is the same; near
//! r = 1 it is `(r − 1)²/2`, never negative and of the size of the divergence itself.

use crate::structure::Snapshot;
use crate::synthetic::{Draws, Truth};
use serde::{Deserialize, Serialize};

/// A Monte Carlo estimate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The estimate, in nats.
    pub mean: f64,
    /// Its standard error.
    pub standard_error: f64,
}

/// Above this divergence r has tails too heavy for its sample mean to be trusted, and the plain estimator is used.
const PLAIN_ABOVE: f64 = 0.5;

/// Points drawn at a time.
const BLOCK: usize = 4096;

/// The divergence of a snapshot from the truth, `E_truth[ln truth − ln snapshot]`, from `n_points` fresh rows.
///
/// Infinite for a snapshot without components; NaN when `n_points` is 0.
pub fn kl_divergence(truth: &Truth, snapshot: &Snapshot, n_points: usize, seed: u64) -> Estimate {
    let mut sums = Sums::new(truth, snapshot, seed);
    sums.extend(n_points);
    sums.estimate()
}

/// The same with as many points as it takes to bring the standard error below `relative_error` times the estimate,
/// from 16,384 up to `max_points`.
pub fn kl_divergence_within(
    truth: &Truth,
    snapshot: &Snapshot,
    relative_error: f64,
    max_points: usize,
    seed: u64,
) -> Estimate {
    let mut sums = Sums::new(truth, snapshot, seed);
    sums.extend(max_points.min(16_384));
    loop {
        let estimate = sums.estimate();
        let n_left = max_points.saturating_sub(sums.n_points);
        if estimate.standard_error <= relative_error * estimate.mean || n_left == 0 {
            return estimate;
        }
        sums.extend(sums.n_points.min(n_left));
    }
}

struct Sums<'a> {
    truth: &'a Truth,
    draws: Draws<'a>,
    scorer: crate::structure::Scorer,
    n_points: usize,
    plain: Spread,
    controlled: Spread,
}

impl<'a> Sums<'a> {
    fn new(truth: &'a Truth, snapshot: &Snapshot, seed: u64) -> Sums<'a> {
        Sums {
            truth,
            draws: truth.draws(seed),
            scorer: snapshot.scorer(),
            n_points: 0,
            plain: Spread::default(),
            controlled: Spread::default(),
        }
    }

    fn extend(&mut self, n: usize) {
        let (mut rows, mut labels, mut log_q) = (Vec::new(), Vec::new(), Vec::new());
        let mut n_left = n;
        while n_left > 0 {
            let n_block = n_left.min(BLOCK);
            rows.clear();
            labels.clear();
            self.draws.extend(n_block, &mut rows, &mut labels);
            self.scorer.log_densities(&rows, &mut log_q);
            for (log_p, log_q) in self.truth.log_density(&rows).iter().zip(&log_q) {
                // A scorer without components answers NaN: such a model gives every row density zero.
                let log_ratio = if log_q.is_nan() { f64::NEG_INFINITY } else { log_q - log_p };
                self.plain.add(-log_ratio);
                self.controlled.add(log_ratio.exp_m1() - log_ratio);
            }
            n_left -= n_block;
        }
        self.n_points += n;
    }

    fn estimate(&self) -> Estimate {
        let (plain, controlled) = (self.plain.estimate(), self.controlled.estimate());
        if plain.mean > PLAIN_ABOVE || plain.standard_error < controlled.standard_error { plain } else { controlled }
    }
}

/// Running mean and sum of squared deviations (Welford).
#[derive(Default)]
struct Spread {
    n: f64,
    mean: f64,
    squares: f64,
}

impl Spread {
    fn add(&mut self, value: f64) {
        self.n += 1.0;
        let from_old = value - self.mean;
        // An infinite value makes the mean infinite and keeps it so.
        self.mean = if value.is_finite() { self.mean + from_old / self.n } else { value };
        self.squares += from_old * (value - self.mean);
    }

    fn estimate(&self) -> Estimate {
        if self.n == 0.0 {
            return Estimate { mean: f64::NAN, standard_error: f64::NAN };
        }
        let variance = self.squares / (self.n - 1.0);
        Estimate { mean: self.mean, standard_error: (variance / self.n).sqrt() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::structure::{Component, ComponentId, EventLog, LogScore};
    use crate::synthetic::{Covariance, ofab_truth};
    use proptest::prelude::*;

    fn as_snapshot(truth: &Truth) -> Snapshot {
        let components = (0..truth.n_components())
            .map(|k| Component {
                id: ComponentId { shard: 0, serial: k as u32 },
                weight: truth.weights[k],
                count: 1.0,
                mean: truth.means[k].clone(),
                covariance: truth.covariances[k].clone(),
                latent_dim: None,
                basis: None,
            })
            .collect();
        Snapshot {
            n_seen: 1,
            columns: (0..truth.n_columns()).map(|j| format!("x{j}")).collect(),
            k_implemented: truth.n_components(),
            components,
            pool: None,
            log_score: LogScore::default(),
            events: EventLog::default(),
        }
    }

    fn normal(mean: f64, variance: f64) -> Truth {
        Truth { weights: vec![1.0], means: vec![vec![mean]], covariances: vec![vec![variance]] }
    }

    /// KL(N(m, v) ‖ N(n, w)).
    fn between_normals(m: f64, v: f64, n: f64, w: f64) -> f64 {
        0.5 * ((w / v).ln() + (v + (m - n).powi(2)) / w - 1.0)
    }

    #[test]
    fn the_truth_is_at_no_distance_from_itself() {
        let truth = ofab_truth(6, 4, Covariance::Spd, 17);
        let estimate = kl_divergence(&truth, &as_snapshot(&truth), 2000, 3);
        // Both densities are computed in different units: only rounding is left.
        assert!(estimate.mean.abs() < 1e-12 && estimate.standard_error < 1e-12, "{estimate:?}");
    }

    #[test]
    fn both_estimators_agree_with_the_formula() {
        // A small divergence goes to the control variate, a large one to the plain mean.
        for (n, w) in [(0.3, 1.9), (0.25, 2.2), (5.0, 0.7)] {
            let expected = between_normals(0.2, 2.0, n, w);
            let estimate = kl_divergence(&normal(0.2, 2.0), &as_snapshot(&normal(n, w)), 100_000, 8);
            assert!((estimate.mean - expected).abs() < 5.0 * estimate.standard_error, "{estimate:?} {expected}");
            assert!(estimate.standard_error < 0.02 * expected);
        }
    }

    #[test]
    fn points_are_added_until_the_error_is_small_or_the_limit_is_reached() {
        let (truth, model) = (normal(0.0, 1.0), as_snapshot(&normal(0.01, 1.0)));
        let rough = kl_divergence_within(&truth, &model, 1.0, 1 << 20, 4);
        let fine = kl_divergence_within(&truth, &model, 0.004, 1 << 20, 4);
        assert!(fine.standard_error < rough.standard_error);
        assert!(fine.standard_error <= 0.004 * fine.mean);
        assert_eq!(kl_divergence_within(&truth, &model, 0.0, 100, 4), kl_divergence(&truth, &model, 100, 4));
    }

    proptest! {
        #[test]
        fn divergences_are_never_negative(seed in 0u64..1000, other in 0u64..1000, k in 1usize..5) {
            let truth = ofab_truth(k, 2, Covariance::Spd, seed);
            let model = as_snapshot(&ofab_truth(3, 2, Covariance::Spd, other));
            let estimate = kl_divergence(&truth, &model, 500, seed + 1);
            prop_assert!(estimate.mean >= -5.0 * estimate.standard_error);
        }
    }

    #[test]
    fn a_model_of_nothing_is_infinitely_far() {
        let empty = Snapshot { components: Vec::new(), ..as_snapshot(&normal(0.0, 1.0)) };
        assert_eq!(kl_divergence(&normal(0.0, 1.0), &empty, 10, 1).mean, f64::INFINITY);
        assert!(kl_divergence(&normal(0.0, 1.0), &empty, 0, 1).mean.is_nan());
    }
}
