//! What must hold of components of known variance, and what does not hold of the printed variance.

use super::known_variance::{KnownVariance, KnownVariancePrior};
use super::part::Part;
use crate::num;

#[test]
fn one_component_alone_learns_as_the_conjugate_update() {
    let prior = KnownVariancePrior::one(3.0, 0.8);
    let mut part = KnownVariance::new(&prior);
    let rows = [1.3, -0.4, 2.2, 0.9];
    rows.iter().for_each(|x| part.learn(&prior, &[*x], 1.0, 1.0, &mut ()));
    let precision = 1.0 / 3.0 + 4.0 / 0.8;
    let (mean, variance) = part.at(0);
    assert!((variance - 1.0 / precision).abs() < 1e-12);
    assert!((mean - rows.iter().sum::<f64>() / 0.8 / precision).abs() < 1e-12);
    // A weight is a number of rows.
    let (mut twice, mut heavy) = (KnownVariance::new(&prior), KnownVariance::new(&prior));
    (0..2).for_each(|_| twice.learn(&prior, &[1.7], 1.0, 1.0, &mut ()));
    heavy.learn(&prior, &[1.7], 1.0, 2.0, &mut ());
    assert!((twice.at(0).0 - heavy.at(0).0).abs() < 1e-12 && (twice.at(0).1 - heavy.at(0).1).abs() < 1e-12);
}

/// Mean and variance of the two-part mixture by drawing from it; the printed variance is another number.
#[test]
fn the_variance_is_that_of_the_mixture_and_not_the_printed_one() {
    let prior = KnownVariancePrior::one(9.0, 0.5);
    let (x, share) = (2.6, 0.3);
    let before = KnownVariance::one(-1.0, 1.7);
    let (mut matched, mut sure) = (before.clone(), before.clone());
    matched.learn(&prior, &[x], share, 1.0, &mut ());
    sure.learn(&prior, &[x], 1.0, 1.0, &mut ());
    let mut rng = num::stream(9481, 0, 0);
    let n = 400_000;
    let (mut sum, mut squares) = (0.0, 0.0);
    for _ in 0..n {
        let (mean, variance) = if rng.uniform() < share { sure.at(0) } else { before.at(0) };
        let draw = mean + variance.sqrt() * rng.normal();
        sum += draw;
        squares += draw * draw;
    }
    let mean = sum / f64::from(n);
    let variance = squares / f64::from(n) - mean * mean;
    // Five standard errors; the fourth moment of the mixture is below five squared variances.
    let (found_mean, found) = matched.at(0);
    assert!((found_mean - mean).abs() < 5.0 * (variance / f64::from(n)).sqrt());
    assert!((found - variance).abs() < 5.0 * (4.0 * variance * variance / f64::from(n)).sqrt(), "{found} {variance}");
    let printed = (1.0 - share).powi(2) * before.at(0).1 + share.powi(2) * sure.at(0).1;
    assert!(printed < 0.5 * variance, "{printed} {variance}");
}

/// Two components two standard deviations apart, rows shared between them: with the printed variance both are soon sure
/// of wrong means.
#[test]
fn the_printed_variance_is_sure_of_wrong_means() {
    let (within, truth) = (1.0, [-1.0, 1.0]);
    let run = |printed: bool, seed: u64| {
        let prior = KnownVariancePrior::one(25.0, within);
        let mut rng = num::stream(seed, 0, 0);
        let mut parts = [KnownVariance::one(-0.5, 25.0), KnownVariance::one(0.5, 25.0)];
        for _ in 0..1000 {
            let x = truth[rng.below(2)] + rng.normal();
            let log_b: Vec<f64> = parts.iter().map(|p| p.log_predictive(&prior, &[x], &mut ())).collect();
            let share = 1.0 / (1.0 + (log_b[1] - log_b[0]).exp());
            for (part, share) in parts.iter_mut().zip([share, 1.0 - share]) {
                let before = part.clone();
                part.learn(&prior, &[x], share, 1.0, &mut ());
                if printed {
                    let mut sure = before.clone();
                    sure.learn(&prior, &[x], 1.0, 1.0, &mut ());
                    let variance = (1.0 - share).powi(2) * before.at(0).1 + share.powi(2) * sure.at(0).1;
                    *part = KnownVariance::one(part.at(0).0, variance);
                }
            }
        }
        let mut means = parts.each_ref().map(|p| p.at(0).0);
        means.sort_by(f64::total_cmp);
        means.iter().zip(truth).map(|(m, t)| (m - t).abs()).sum::<f64>() / 2.0
    };
    let mean_error = |printed: bool| (9400..9440).map(|seed| run(printed, seed)).sum::<f64>() / 40.0;
    let (mixture, printed) = (mean_error(false), mean_error(true));
    assert!(mixture < 0.15 && printed > 3.0 * mixture, "{mixture} {printed}");
}

#[test]
fn forgetting_leads_back_to_the_prior() {
    let prior = KnownVariancePrior::one(4.0, 0.3);
    let mut part = KnownVariance::one(2.0, 0.1);
    part.forget(&prior, 0.5);
    let precision = 0.5 / 0.1 + 0.5 / 4.0;
    assert!((part.at(0).1 - 1.0 / precision).abs() < 1e-12 && (part.at(0).0 - 2.0 * 5.0 / precision).abs() < 1e-12);
    (0..200).for_each(|_| part.forget(&prior, 0.5));
    assert!(part.at(0).0.abs() < 1e-9 && (part.at(0).1 - 4.0).abs() < 1e-9);
}
