//! Accuracy and edge cases of the scalar and slice functions.

use bayestream::num::{self, portable, stream};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

const BOUND: f64 = 4e-16;

fn one(function: fn(&mut [f64]), x: f64) -> f64 {
    let mut slice = [x];
    function(&mut slice);
    slice[0]
}

/// Both paths, on slices long enough for whole vectors and a rest.
fn compare(paths: [fn(&mut [f64]); 2], reference: fn(f64) -> f64, inputs: &[f64]) {
    for path in paths {
        let mut outputs = inputs.to_vec();
        path(&mut outputs);
        for (&x, &y) in inputs.iter().zip(&outputs) {
            let expected = reference(x);
            let close = (y - expected).abs() <= BOUND * expected.abs();
            assert!(close || y == expected, "f({x:e}) = {y:e}, expected {expected:e}");
        }
    }
}

#[test]
fn exp_agrees_with_std_over_its_range() {
    let mut rng = stream(5, 6, 7);
    let paths = [num::exp_slice as fn(&mut [f64]), portable::exp_slice];
    for scale in [1e-300, 1e-17, 1e-8, 1e-3, 0.5, 1.0, 40.0, 708.0] {
        let inputs: Vec<f64> = (0..20_003).map(|_| (2.0 * rng.uniform() - 1.0) * scale).collect();
        compare(paths, f64::exp, &inputs);
    }
    // Near the rounding boundaries of x / ln 2, where the reduced argument is largest.
    let edges: Vec<f64> = (-1000..1000)
        .map(|k| (f64::from(k) + 0.5) * std::f64::consts::LN_2 * (1.0 + 1e-15 * f64::from(k % 7)))
        .collect();
    compare(paths, f64::exp, &edges);
}

#[test]
fn exp_keeps_its_limits() {
    for exp in [num::exp_slice as fn(&mut [f64]), portable::exp_slice] {
        assert_eq!(one(exp, f64::NEG_INFINITY), 0.0);
        assert_eq!(one(exp, f64::INFINITY), f64::INFINITY);
        assert!(one(exp, f64::NAN).is_nan());
        assert_eq!(one(exp, 0.0), 1.0);
        assert_eq!(one(exp, -0.0), 1.0);
        assert_eq!(one(exp, -746.0), 0.0);
        assert_eq!(one(exp, -1e300), 0.0);
        assert_eq!(one(exp, 709.79), f64::INFINITY);
        assert_eq!(one(exp, 1e300), f64::INFINITY);
        // Down to the edge of the normal numbers, then zero; up to the largest number, then ∞.
        for x in [-708.04, 709.78, 709.782_712_893_383_9] {
            assert!((one(exp, x) - x.exp()).abs() <= BOUND * x.exp(), "{x}");
        }
        assert_eq!(one(exp, -708.1), 0.0);
        assert_eq!(one(exp, 709.782_712_893_384_2), f64::INFINITY);
    }
    num::exp_slice(&mut []);
}

#[test]
fn ln_agrees_with_std_over_its_range() {
    let mut rng = stream(8, 9, 10);
    let paths = [num::ln_slice as fn(&mut [f64]), portable::ln_slice];
    let wide: Vec<f64> =
        (0..100_003).map(|_| f64::from_bits((rng.uniform() * f64::INFINITY.to_bits() as f64) as u64)).collect();
    compare(paths, f64::ln, &wide);
    for spread in [1e-15, 1e-9, 1e-3, 0.3, 0.9] {
        let near_one: Vec<f64> = (0..20_003).map(|_| 1.0 + (2.0 * rng.uniform() - 1.0) * spread).collect();
        compare(paths, f64::ln, &near_one);
    }
    let edges = [5e-324, 1e-310, f64::MIN_POSITIVE, 0.5f64.sqrt(), 2f64.sqrt(), 1.0, 2.0, f64::MAX];
    compare(paths, f64::ln, &edges);
}

#[test]
fn ln_keeps_its_limits() {
    for ln in [num::ln_slice as fn(&mut [f64]), portable::ln_slice] {
        assert_eq!(one(ln, 0.0), f64::NEG_INFINITY);
        assert_eq!(one(ln, -0.0), f64::NEG_INFINITY);
        assert_eq!(one(ln, f64::INFINITY), f64::INFINITY);
        assert_eq!(one(ln, 1.0), 0.0);
        for x in [-1.0, -5e-324, f64::NEG_INFINITY, f64::NAN] {
            assert!(one(ln, x).is_nan());
        }
    }
}

#[test]
fn log_sum_exp_agrees_with_its_definition() {
    let mut rng = stream(1, 1, 1);
    for path in [num::log_sum_exp as fn(&[f64]) -> f64, portable::log_sum_exp] {
        assert_eq!(path(&[]), f64::NEG_INFINITY);
        assert_eq!(path(&[f64::NEG_INFINITY; 9]), f64::NEG_INFINITY);
        assert_eq!(path(&[f64::INFINITY, 1.0]), f64::INFINITY);
        assert!(path(&[f64::NAN, 1.0]).is_nan());
        assert_eq!(path(&[-1e300]), -1e300);
        for n in 1..=40 {
            let x: Vec<f64> = (0..n).map(|_| 3.0 * rng.normal()).collect();
            let expected = x.iter().map(|v| v.exp()).sum::<f64>().ln();
            assert!((path(&x) - expected).abs() <= (n + 3) as f64 * f64::EPSILON * (1.0 + expected.abs()));
            let shifted: Vec<f64> = x.iter().map(|v| v - 5000.0).collect();
            // Shifting rounds each value at the size of 5000.
            assert!((path(&shifted) - (path(&x) - 5000.0)).abs() <= 4.0 * 5000.0 * f64::EPSILON);
        }
    }
}

type Normalise = fn(&mut [f64], usize, usize, usize, &mut [f64]);

fn check_normalise(normalise: Normalise, k: usize, n: usize, key: u64) {
    let mut rng = stream(2, 2, key);
    let stride = n.next_multiple_of(16) + 16 * (key as usize % 2);
    let mut joint = vec![f64::NAN; k * stride];
    for component in joint.chunks_exact_mut(stride.max(1)) {
        for value in &mut component[..n] {
            *value = -50.0 + 20.0 * rng.normal();
        }
    }
    let given = joint.clone();
    let mut total = vec![0.0; n];
    normalise(&mut joint, k, stride, n, &mut total);
    for i in 0..n {
        let column: Vec<f64> = (0..k).map(|c| given[c * stride + i]).collect();
        let expected = num::log_sum_exp(&column);
        let tolerance = (k + 4) as f64 * f64::EPSILON;
        assert!((total[i] - expected).abs() <= tolerance * (1.0 + expected.abs()));
        let sum: f64 = (0..k).map(|c| joint[c * stride + i]).sum();
        assert!((sum - 1.0).abs() <= tolerance);
        for c in 0..k {
            let share = (column[c] - expected).exp();
            // The exponent is a difference of numbers of this size.
            let rounding = 4.0 * (column[c].abs() + 4.0) * f64::EPSILON + tolerance;
            assert!((joint[c * stride + i] - share).abs() <= rounding * share);
        }
    }
}

#[test]
fn responsibilities_sum_to_one_for_every_size() {
    for normalise in [num::normalise_columns as Normalise, portable::normalise_columns] {
        for k in [1, 2, 3, 10, 41] {
            for n in [0, 1, 8, 15, 16, 17, 32, 63, 64, 65, 70, 129] {
                check_normalise(normalise, k, n, (k * 1000 + n) as u64);
            }
        }
    }
}

#[test]
fn impossible_rows_share_equally_and_broken_rows_stay_broken() {
    for normalise in [num::normalise_columns as Normalise, portable::normalise_columns] {
        let (k, stride, n) = (4, 16, 4);
        let mut joint = vec![0.0; k * stride];
        for c in 0..k {
            joint[c * stride] = f64::NEG_INFINITY;
            joint[c * stride + 1] = if c == 2 { -3e5 } else { f64::NEG_INFINITY };
            joint[c * stride + 2] = if c == 1 { f64::NAN } else { -1.0 };
            joint[c * stride + 3] = -1e308;
        }
        let mut total = [0.0; 4];
        normalise(&mut joint, k, stride, n, &mut total);
        for c in 0..k {
            assert_eq!(joint[c * stride], 0.25);
            assert_eq!(joint[c * stride + 1], if c == 2 { 1.0 } else { 0.0 });
            assert!(joint[c * stride + 2].is_nan());
            assert_eq!(joint[c * stride + 3], 0.25);
        }
        assert_eq!((total[0], total[1], total[3]), (f64::NEG_INFINITY, -3e5, -1e308));
        assert!(total[2].is_nan());
    }
}

#[test]
fn strides_hold_all_rows_and_avoid_the_cache_period() {
    assert_eq!((num::column_stride(0), num::column_stride(1)), (0, 16));
    for n in 1..3000 {
        let stride = num::column_stride(n);
        assert!(stride >= n && stride < n + 32);
        assert!(stride.is_multiple_of(16) && !stride.is_multiple_of(512));
    }
}

#[test]
fn no_component_means_no_mass() {
    let mut total = [1.0; 3];
    num::normalise_columns(&mut [], 0, 16, 3, &mut total);
    assert_eq!(total, [f64::NEG_INFINITY; 3]);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, rng_seed: RngSeed::Fixed(20), ..ProptestConfig::with_cases(64) })]

    #[test]
    fn responsibilities_sum_to_one(k in 1usize..=30, n in 0usize..=80, key in any::<u32>()) {
        check_normalise(num::normalise_columns, k, n, key.into());
        check_normalise(portable::normalise_columns, k, n, key.into());
    }

    #[test]
    fn exp_and_ln_invert(x in -700.0f64..700.0) {
        let back = one(num::ln_slice, one(num::exp_slice, x));
        // exp has relative error BOUND, which ln turns into an absolute one.
        prop_assert!((back - x).abs() <= BOUND * (1.0 + x.abs()));
    }

    #[test]
    fn digamma_and_ln_gamma_obey_their_recurrences(x in 1e-3f64..1e4) {
        let step = num::digamma(x + 1.0) - num::digamma(x) - 1.0 / x;
        prop_assert!(step.abs() <= 8.0 * f64::EPSILON * (1.0 + 1.0 / x + num::digamma(x).abs()));
        let step = num::ln_gamma(x + 1.0) - num::ln_gamma(x) - x.ln();
        prop_assert!(step.abs() <= 4.0 * f64::EPSILON * (1.0 + num::ln_gamma(x).abs() + x.ln().abs()));
    }

    #[test]
    fn chi_square_survival_falls(x in 0.0f64..500.0, gap in 1e-6f64..50.0, dof in 0.1f64..300.0) {
        let (near, far) = (num::chi_square_survival(x, dof), num::chi_square_survival(x + gap, dof));
        prop_assert!((0.0..=1.0).contains(&far) && far <= near + 1e-14, "{near} {far}");
    }

    /// Q(a+1, x) = Q(a, x) + xᵃe⁻ˣ/Γ(a+1), across the switch between the two expansions.
    #[test]
    fn chi_square_survival_obeys_its_recurrence(x in 0.01f64..200.0, a in 0.1f64..80.0) {
        let step = num::chi_square_survival(2.0 * x, 2.0 * a + 2.0) - num::chi_square_survival(2.0 * x, 2.0 * a);
        let log_kernel = a * x.ln() - x - num::ln_gamma(a + 1.0);
        let size = (a * x.ln()).abs() + x + num::ln_gamma(a + 1.0).abs() + 1.0;
        prop_assert!((step - log_kernel.exp()).abs() <= 8.0 * f64::EPSILON * (1.0 + size * log_kernel.exp()) + 4e-15);
    }
}

#[test]
fn normal_quantile_inverts_the_distribution() {
    for step in 0..45_000 {
        let x = -37.0 + f64::from(step) * 1e-3;
        let p = 0.5 * libm::erfc(-x / std::f64::consts::SQRT_2);
        let back = num::normal_quantile(p);
        // erfc is off by an ulp or two of p, more in the tail as its argument is rounded; the
        // inverse amplifies that by p / density.
        let density = (-0.5 * (x * x + num::LN_2PI)).exp();
        let bound = 2.0 * f64::EPSILON * ((1.0 + x * x) * p / density + x.abs());
        assert!((back - x).abs() <= bound, "x={x}: {back}");
    }
}

#[test]
fn digamma_has_its_known_values() {
    const EULER: f64 = 0.577_215_664_901_532_9;
    let known = [
        (1.0, -EULER),
        (2.0, 1.0 - EULER),
        (0.5, -EULER - 2.0 * std::f64::consts::LN_2),
        (0.25, -EULER - std::f64::consts::FRAC_PI_2 - 3.0 * std::f64::consts::LN_2),
        (10.0, 2.251_752_589_066_721),
        (-0.5, 2.0 - EULER - 2.0 * std::f64::consts::LN_2),
        (1e10, 1e10f64.ln() - 5e-11),
    ];
    for (x, expected) in known {
        let error = (num::digamma(x) - expected).abs();
        assert!(error <= 4.0 * f64::EPSILON * (1.0 + expected.abs()), "digamma({x})");
    }
    assert!(num::digamma(0.0).is_nan() && num::digamma(-3.0).is_nan() && num::digamma(f64::NAN).is_nan());
    assert_eq!(num::digamma(f64::INFINITY), f64::INFINITY);
}

#[test]
fn ln_gamma_has_its_known_values() {
    assert_eq!((num::ln_gamma(1.0), num::ln_gamma(2.0)), (0.0, 0.0));
    assert!((num::ln_gamma(0.5) - 0.5 * std::f64::consts::PI.ln()).abs() <= f64::EPSILON);
    let factorial: f64 = (1..=20).map(|k| f64::from(k).ln()).sum();
    assert!((num::ln_gamma(21.0) - factorial).abs() <= 20.0 * f64::EPSILON * factorial);
    assert_eq!(num::ln_gamma(0.0), f64::INFINITY);
    assert_eq!(num::LN_2PI, (2.0 * std::f64::consts::PI).ln());
}

#[test]
fn chi_square_survival_has_its_known_values() {
    // Quantiles of printed tables, to the digits of a double.
    for (x, dof, p) in [
        (3.841_458_820_694_124, 1.0, 0.05),
        (6.634_896_601_021_214, 1.0, 0.01),
        (5.991_464_547_107_98, 2.0, 0.05),
        (18.307_038_053_275_146, 10.0, 0.05),
        (124.342_113_404_004_07, 100.0, 0.05),
    ] {
        let error = (num::chi_square_survival(x, dof) - p).abs();
        assert!(error <= 1e-14, "x={x} dof={dof}: off by {error:e}");
    }
    // Two degrees: the exponential. One: the normal.
    for x in [1e-12, 0.1, 1.0, 7.0, 60.0, 1400.0] {
        let exact = (-0.5f64 * x).exp();
        assert!((num::chi_square_survival(x, 2.0) - exact).abs() <= 1e-13 * exact);
        let normal = libm::erfc((0.5 * x).sqrt());
        assert!((num::chi_square_survival(x, 1.0) - normal).abs() <= 1e-12 * normal.max(1e-3));
    }
    assert_eq!(num::chi_square_survival(0.0, 3.0), 1.0);
    assert_eq!(num::chi_square_survival(-2.0, 3.0), 1.0);
    assert_eq!(num::chi_square_survival(f64::INFINITY, 3.0), 0.0);
    assert_eq!(num::chi_square_survival(1e9, 3.0), 0.0);
    assert!(num::chi_square_survival(1.0, 0.0).is_nan());
    assert!(num::chi_square_survival(f64::NAN, 2.0).is_nan());
    // For many degrees the median nears the mean minus two thirds.
    for dof in [1e3, 1e5, 1e7] {
        let middle = num::chi_square_survival(dof - 2.0 / 3.0, dof);
        assert!((middle - 0.5).abs() <= 1.0 / dof, "dof={dof}: {middle}");
    }
}

#[test]
fn normal_quantile_has_its_known_values() {
    for (p, expected) in [
        (0.5, 0.0),
        (0.975, 1.959_963_984_540_054),
        (0.05, -1.644_853_626_951_472_6),
        (0.999, 3.090_232_306_167_813_5),
        (1e-10, -6.361_340_902_404_056),
    ] {
        let error = (num::normal_quantile(p) - expected).abs();
        assert!(error <= 4.0 * f64::EPSILON * (1.0 + f64::abs(expected)), "p={p}: off by {error:e}");
    }
    assert_eq!(num::normal_quantile(0.0), f64::NEG_INFINITY);
    assert_eq!(num::normal_quantile(1.0), f64::INFINITY);
    for p in [-0.1, 1.1, f64::NAN] {
        assert!(num::normal_quantile(p).is_nan());
    }
    assert!(num::normal_quantile(5e-324) < -38.0 && num::normal_quantile(5e-324) > -39.0);
}

#[test]
fn trigamma_has_its_known_values_and_obeys_its_recurrence() {
    let pi2 = std::f64::consts::PI.powi(2);
    for (x, expected) in [(0.5, pi2 / 2.0), (1.0, pi2 / 6.0), (2.0, pi2 / 6.0 - 1.0)] {
        assert!((num::trigamma(x) - expected).abs() <= 8.0 * f64::EPSILON * (1.0 + expected), "trigamma({x})");
    }
    for x in [0.003, 0.7, 4.2, 9.99, 31.0, 5e4] {
        let step: f64 = num::trigamma(x) - num::trigamma(x + 1.0) - 1.0 / (x * x);
        assert!(step.abs() <= 16.0 * f64::EPSILON * (1.0 + 1.0 / (x * x)), "trigamma({x}): {step}");
    }
    assert!(num::trigamma(0.0).is_nan() && num::trigamma(-1.5).is_nan() && num::trigamma(f64::NAN).is_nan());
}
