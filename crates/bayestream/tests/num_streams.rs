//! Random streams and step schedules.

use bayestream::num::{Schedule, stream};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use rand_distr::{Distribution, Exp1};

#[test]
fn keys_select_unrelated_streams() {
    let first = |seed, shard, step| stream(seed, shard, step).uniform().to_bits();
    let mut seen = std::collections::BTreeSet::new();
    for seed in 0..12 {
        for shard in 0..12 {
            for step in 0..12 {
                assert_eq!(first(seed, shard, step), first(seed, shard, step));
                assert!(seen.insert(first(seed, shard, step)), "({seed},{shard},{step}) repeats");
            }
        }
    }
    // Neighbouring steps are uncorrelated: the mean product of n centred uniforms has deviation 1/(12√n).
    let n = 100_000;
    let draws: Vec<f64> = (0..=n).map(|step| stream(3, 1, step).uniform() - 0.5).collect();
    let product: f64 = draws.windows(2).map(|w| w[0] * w[1]).sum::<f64>() / n as f64;
    assert!(product.abs() < 5.0 / (12.0 * (n as f64).sqrt()), "{product}");
}

#[test]
fn streams_do_not_change_between_versions() {
    // Models are resumed from (seed, shard, step) alone, so these words are part of the file format.
    let mut rng = stream(42, 7, 1000);
    let words: Vec<u64> = (0..3).map(|_| (rng.uniform() * (1u64 << 53) as f64) as u64).collect();
    assert_eq!(words, GOLDEN_WORDS);
}

/// Worked out independently from the published definitions of splitmix64 and xoshiro256++.
const GOLDEN_WORDS: [u64; 3] = [3_037_127_427_183_223, 2_180_281_387_924_311, 876_653_833_624_373];

/// Mean and variance of n draws.
fn moments(n: usize, mut draw: impl FnMut() -> f64) -> (f64, f64) {
    let draws: Vec<f64> = (0..n).map(|_| draw()).collect();
    let mean = draws.iter().sum::<f64>() / n as f64;
    let variance = draws.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n as f64;
    (mean, variance)
}

#[test]
fn draws_have_their_moments() {
    let n = 200_000;
    let root = (n as f64).sqrt();
    let mut rng = stream(9, 8, 7);
    // Five standard errors: √(variance/n) for means, √((kurtosis − 1)/n)·variance for variances.
    let (mean, variance) = moments(n, || rng.uniform());
    assert!((mean - 0.5).abs() < 5.0 * (1.0f64 / 12.0).sqrt() / root);
    assert!((variance - 1.0 / 12.0).abs() < 5.0 * 0.8f64.sqrt() / 12.0 / root);
    let (mean, variance) = moments(n, || rng.normal());
    assert!(mean.abs() < 5.0 / root && (variance - 1.0).abs() < 5.0 * 2f64.sqrt() / root);
    for shape in [0.3, 1.0, 7.5] {
        let (mean, variance) = moments(n, || rng.gamma(shape));
        let kurtosis: f64 = 3.0 + 6.0 / shape;
        assert!((mean - shape).abs() < 5.0 * shape.sqrt() / root, "shape {shape}");
        assert!((variance - shape).abs() < 5.0 * (kurtosis - 1.0).sqrt() * shape / root);
    }
    let (mean, _) = moments(n, || Exp1.sample(&mut rng));
    assert!((mean - 1.0f64).abs() < 5.0 / root);
    assert_eq!(rng.gamma(0.0), 0.0);
    assert!(rng.gamma(-1.0).is_nan() && rng.gamma(f64::NAN).is_nan() && rng.gamma(f64::INFINITY).is_nan());
}

#[test]
fn categorical_follows_the_weights() {
    let mut rng = stream(4, 4, 4);
    let weights = [0.0, 2.0, -1.0, 1.0, 5.0, f64::NAN];
    let n = 80_000;
    let mut counts = [0; 6];
    for _ in 0..n {
        counts[rng.categorical(&weights)] += 1;
    }
    for (count, share) in counts.iter().zip([0.0, 0.25, 0.0, 0.125, 0.625, 0.0]) {
        let deviation = (n as f64 * share * (1.0 - share)).sqrt();
        assert!((f64::from(*count) - n as f64 * share).abs() <= 5.0 * deviation);
    }
    assert_eq!(rng.categorical(&[]), 0);
    assert!(rng.categorical(&[0.0; 3]) < 3);
    assert!(rng.categorical(&[f64::INFINITY, 1.0]) < 2);
}

#[test]
fn below_is_uniform_and_bounded() {
    let mut rng = stream(6, 5, 4);
    let n = 70_000;
    let mut counts = [0; 7];
    for _ in 0..n {
        counts[rng.below(7)] += 1;
    }
    let deviation = (n as f64 * 6.0 / 49.0).sqrt();
    assert!(counts.iter().all(|&c: &i32| (f64::from(c) - 1e4).abs() < 5.0 * deviation), "{counts:?}");
    assert_eq!((rng.below(0), rng.below(1)), (0, 0));
    assert!(rng.below(usize::MAX) < usize::MAX);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, rng_seed: RngSeed::Fixed(20), ..ProptestConfig::with_cases(64) })]

    #[test]
    fn shuffling_keeps_every_item(n in 0usize..200, key in any::<u64>()) {
        let mut items: Vec<usize> = (0..n).collect();
        stream(key, 1, 2).shuffle(&mut items);
        items.sort_unstable();
        prop_assert!(items.iter().copied().eq(0..n));
    }

    #[test]
    fn rates_start_at_one_and_fall(tau in 0.1f64..1e4, kappa in 0.0f64..2.0, step in 1u64..1_000_000) {
        for schedule in [Schedule::Power { tau, kappa }, Schedule::Accumulate, Schedule::Constant(0.25)] {
            prop_assert!(schedule.is_valid());
            prop_assert_eq!(schedule.rate(1), 1.0);
            prop_assert_eq!(schedule.rate(0), 1.0);
            let (now, next) = (schedule.rate(step), schedule.rate(step + 1));
            prop_assert!(0.0 < next && next <= now && now <= 1.0);
        }
        let expected = ((tau + step as f64 - 1.0) / tau).powf(-kappa);
        let rate = Schedule::Power { tau, kappa }.rate(step);
        // The exponent κ·ln(…) is at most 40, so its rounding costs that many ulps.
        prop_assert!((rate - expected).abs() <= 100.0 * f64::EPSILON * expected);
    }
}

#[test]
fn averaging_with_one_over_b_counts_every_batch_the_same() {
    let mut mean = 0.0;
    for (step, value) in [(1, 4.0), (2, 8.0), (3, 3.0)] {
        let rate = Schedule::Accumulate.rate(step);
        mean = (1.0 - rate) * mean + rate * value;
    }
    assert!((mean - 5.0f64).abs() < 4.0 * f64::EPSILON * 5.0);
}

#[test]
fn schedules_survive_saving() {
    for schedule in [Schedule::Constant(0.1), Schedule::Power { tau: 3.5, kappa: 0.7 }, Schedule::Accumulate] {
        let json = serde_json::to_string(&schedule).unwrap();
        assert_eq!(serde_json::from_str::<Schedule>(&json).unwrap(), schedule);
        let bytes = postcard::to_stdvec(&schedule).unwrap();
        assert_eq!(postcard::from_bytes::<Schedule>(&bytes).unwrap(), schedule);
    }
    let invalid = [Schedule::Constant(0.0), Schedule::Constant(f64::NAN), Schedule::Power { tau: 0.0, kappa: 0.6 }];
    assert!(invalid.iter().all(|s| !s.is_valid()));
}
