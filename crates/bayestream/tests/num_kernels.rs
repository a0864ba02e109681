//! The batch kernels against plain loops, and their vector path against the portable one.

use bayestream::num::{self, Lanes, Whitener, portable, stream};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

fn values(n: usize, key: u64) -> Vec<f64> {
    let mut rng = stream(11, 3, key);
    (0..n).map(|_| rng.normal()).collect()
}

/// A lower factor with a dominant diagonal, and NaN above it to prove that nothing reads there.
fn factor(d: usize, key: u64) -> Vec<f64> {
    let mut w = values(d * d, key);
    for i in 0..d {
        w[i * d + i] = 2.0 + w[i * d + i].abs();
        w[i * d + i + 1..(i + 1) * d].fill(f64::NAN);
    }
    w
}

fn lanes(rows: &[f64], d: usize) -> Lanes {
    let mut lanes = Lanes::new();
    lanes.load(rows, d);
    lanes
}

/// The squared distance, and the sum of the magnitudes that rounding errors scale with.
fn naive_distance(row: &[f64], mean: &[f64], w: &[f64]) -> (f64, f64) {
    let d = mean.len();
    let (mut square, mut magnitude) = (0.0, 0.0);
    for i in 0..d {
        let (mut y, mut size) = (0.0, 0.0);
        for j in 0..=i {
            y += w[i * d + j] * (row[j] - mean[j]);
            size += (w[i * d + j] * (row[j] - mean[j])).abs();
        }
        square += y * y;
        magnitude += size * size;
    }
    (square, magnitude)
}

fn check_distances(n: usize, d: usize, key: u64) {
    let rows = values(n * d, key);
    let mean = values(d, key + 1);
    let w = factor(d, key + 2);
    let x = lanes(&rows, d);
    assert_eq!((x.n_rows(), x.n_columns()), (n, d));
    let mut whitener = Whitener::default();
    whitener.set(&mean, &w);
    assert_eq!(whitener.n_columns(), d);
    let mut fast = vec![-1.0; x.n_padded() + 1];
    let mut plain = fast.clone();
    let mut log = fast.clone();
    num::mahalanobis(&x, &whitener, &mut fast);
    portable::mahalanobis(&x, &whitener, &mut plain);
    num::log_density(&x, &whitener, 0.75, &mut log);
    // Each y is a sum of at most d products: an error of d roundings of its magnitude, twice in the
    // square, once more for the sum of squares.
    let tolerance = 4.0 * (d + 2) as f64 * f64::EPSILON;
    for (row_ix, row) in rows.chunks_exact(d).enumerate() {
        let (expected, magnitude) = naive_distance(row, &mean, &w);
        let bound = tolerance * magnitude;
        assert!((fast[row_ix] - expected).abs() <= bound, "n={n} d={d} row={row_ix}");
        assert!((plain[row_ix] - expected).abs() <= bound, "portable n={n} d={d} row={row_ix}");
        assert!((fast[row_ix] - plain[row_ix]).abs() <= 1e-12 * magnitude);
        let log_expected = 0.75 - 0.5 * fast[row_ix];
        assert!((log[row_ix] - log_expected).abs() <= 2.0 * f64::EPSILON * log_expected.abs().max(1.0));
    }
    assert_eq!(fast[x.n_padded()], -1.0, "wrote past the padded rows");
}

fn check_moments(n: usize, d: usize, key: u64) {
    let rows = values(n * d, key);
    let weights = values(n, key + 1);
    let center = values(d, key + 2);
    let x = lanes(&rows, d);
    let start_sum = values(d, key + 3);
    let start_scatter = values(d * d, key + 4);
    let (mut sum, mut scatter) = (start_sum.clone(), start_scatter.clone());
    let (mut plain_sum, mut plain_scatter) = (start_sum.clone(), start_scatter.clone());
    num::weighted_moments(&x, &weights, &center, &mut sum, &mut scatter);
    portable::weighted_moments(&x, &weights, &center, &mut plain_sum, &mut plain_scatter);
    let tolerance = 2.0 * (n + 3) as f64 * f64::EPSILON;
    for i in 0..d {
        let terms = |j: Option<usize>| {
            let start = match j {
                None => start_sum[i],
                Some(j) => start_scatter[i * d + j],
            };
            let mut total = (start, start.abs());
            for (row, w) in rows.chunks_exact(d).zip(&weights) {
                let term = w * (row[i] - center[i]) * j.map_or(1.0, |j| row[j] - center[j]);
                total = (total.0 + term, total.1 + term.abs());
            }
            total
        };
        let (expected, size) = terms(None);
        assert!((sum[i] - expected).abs() <= tolerance * size, "sum n={n} d={d} i={i}");
        assert!((plain_sum[i] - expected).abs() <= tolerance * size);
        for j in 0..d {
            let ix = i * d + j;
            if j > i {
                assert_eq!(scatter[ix].to_bits(), start_scatter[ix].to_bits(), "touched the upper triangle");
                continue;
            }
            let (expected, size) = terms(Some(j));
            assert!((scatter[ix] - expected).abs() <= tolerance * size, "n={n} d={d} ({i},{j})");
            assert!((plain_scatter[ix] - expected).abs() <= tolerance * size);
            assert!((scatter[ix] - plain_scatter[ix]).abs() <= 1e-12 * size);
        }
    }
}

#[test]
fn distances_match_plain_loops_for_every_size() {
    for d in 1..=70 {
        for n in [0, 1, 7, 8, 9, 10, 16, 17, 24, 25, 33, 64, 70] {
            check_distances(n, d, (d * 100 + n) as u64);
        }
    }
}

#[test]
fn moments_match_plain_loops_for_every_size() {
    for d in 1..=70 {
        for n in [0, 1, 8, 10, 16, 17, 33, 64, 65, 70] {
            check_moments(n, d, (d * 100 + n) as u64);
        }
    }
    check_moments(300, 7, 1);
    check_moments(200, 131, 2);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, rng_seed: RngSeed::Fixed(20), ..ProptestConfig::with_cases(64) })]

    #[test]
    fn distances_match_plain_loops(n in 0usize..=70, d in 1usize..=70, key in any::<u32>()) {
        check_distances(n, d, key.into());
    }

    #[test]
    fn moments_match_plain_loops(n in 0usize..=70, d in 1usize..=70, key in any::<u32>()) {
        check_moments(n, d, key.into());
    }

    #[test]
    fn a_batch_in_parts_has_the_moments_of_the_whole(n in 0usize..=70, cut in 0usize..=70, d in 1usize..=20) {
        let cut = cut.min(n);
        let rows = values(n * d, 5);
        let weights = values(n, 6);
        let center = values(d, 7);
        let (mut whole_sum, mut whole) = (vec![0.0; d], vec![0.0; d * d]);
        num::weighted_moments(&lanes(&rows, d), &weights, &center, &mut whole_sum, &mut whole);
        let (mut sum, mut parts) = (vec![0.0; d], vec![0.0; d * d]);
        num::weighted_moments(&lanes(&rows[..cut * d], d), &weights[..cut], &center, &mut sum, &mut parts);
        num::weighted_moments(&lanes(&rows[cut * d..], d), &weights[cut..], &center, &mut sum, &mut parts);
        // Weights and values are standard normal: products beyond 500 do not occur among these few.
        let tolerance = (n + 3) as f64 * n as f64 * 500.0 * f64::EPSILON;
        for (a, b) in whole.iter().zip(&parts).chain(whole_sum.iter().zip(&sum)) {
            prop_assert!((a - b).abs() <= tolerance);
        }
    }
}

#[test]
fn lanes_round_up_to_eight() {
    for n in 0..=40 {
        let x = lanes(&values(n * 3, 1), 3);
        assert_eq!(x.n_padded(), n.div_ceil(8) * 8);
    }
    let mut empty = Lanes::new();
    assert_eq!((empty.n_rows(), empty.n_columns(), empty.n_padded()), (0, 0, 0));
    empty.load(&[], 0);
    assert_eq!(empty.n_rows(), 0);
}

#[test]
fn reloading_leaves_nothing_of_the_previous_batch() {
    let (d, n) = (6, 10);
    let rows = values(n * d, 2);
    let mut reused = lanes(&values(70 * 9, 3), 9);
    reused.load(&rows, d);
    let mut whitener = Whitener::default();
    whitener.set(&values(9, 4), &factor(9, 5));
    whitener.set(&values(d, 6), &factor(d, 7));
    let mut fresh_whitener = Whitener::default();
    fresh_whitener.set(&values(d, 6), &factor(d, 7));
    let (mut a, mut b) = (vec![0.0; 16], vec![0.0; 16]);
    num::mahalanobis(&reused, &whitener, &mut a);
    num::mahalanobis(&lanes(&rows, d), &fresh_whitener, &mut b);
    assert_eq!(a, b);
}

#[test]
fn gathering_rows_equals_loading_them() {
    let d = 7;
    let rows = values(30 * d, 8);
    let index: Vec<u32> = vec![29, 0, 3, 3, 17, 5, 11, 28, 1];
    let gathered: Vec<f64> = index.iter().flat_map(|&i| rows[i as usize * d..(i as usize + 1) * d].to_vec()).collect();
    let mut by_index = Lanes::new();
    by_index.load_indexed(&rows, d, &index);
    let direct = lanes(&gathered, d);
    assert_eq!(by_index.n_rows(), index.len());
    let mut whitener = Whitener::default();
    whitener.set(&values(d, 9), &factor(d, 10));
    let (mut a, mut b) = (vec![0.0; 16], vec![0.0; 16]);
    num::mahalanobis(&by_index, &whitener, &mut a);
    num::mahalanobis(&direct, &whitener, &mut b);
    assert_eq!(a, b);
    let weights = values(index.len(), 11);
    let moments = |x: &Lanes| {
        let (mut sum, mut scatter) = (vec![0.0; d], vec![0.0; d * d]);
        num::weighted_moments(x, &weights, &rows[..d], &mut sum, &mut scatter);
        (sum, scatter)
    };
    assert_eq!(moments(&by_index), moments(&direct));
}

#[test]
fn a_far_centre_does_not_cancel() {
    // Rows at 1e8 ± 1: uncentred products would keep no digit of the variance.
    let rows: Vec<f64> = (0..64).map(|i| 1e8 + if i % 2 == 0 { 1.0 } else { -1.0 }).collect();
    let (mut sum, mut scatter) = ([0.0], [0.0]);
    num::weighted_moments(&lanes(&rows, 1), &[0.5; 64], &[1e8], &mut sum, &mut scatter);
    assert_eq!((sum[0], scatter[0]), (0.0, 32.0));
}
