//! Laws of the matrix factorisations.

use bayestream::num::{self, NotPositive, portable, stream};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

fn values(n: usize, key: u64) -> Vec<f64> {
    let mut rng = stream(23, 5, key);
    (0..n).map(|_| rng.normal()).collect()
}

/// XᵀX + ½I for 2d random rows: condition number at most a few hundred.
fn positive(d: usize, key: u64) -> Vec<f64> {
    let x = values(2 * d * d, key);
    let mut a = vec![0.0; d * d];
    for i in 0..d {
        for j in 0..d {
            a[i * d + j] = (0..2 * d).map(|k| x[k * d + i] * x[k * d + j]).sum();
        }
        a[i * d + i] += 0.5;
    }
    a
}

fn largest(a: &[f64]) -> f64 {
    a.iter().fold(0.0, |m, v| v.abs().max(m))
}

/// Entry (i, j) of LLᵀ.
fn product(l: &[f64], d: usize, i: usize, j: usize) -> f64 {
    (0..=i.min(j)).map(|k| l[i * d + k] * l[j * d + k]).sum()
}

fn check_factor(d: usize, key: u64) {
    let mut a = positive(d, key);
    let full = a.clone();
    for i in 0..d {
        a[i * d + i + 1..(i + 1) * d].fill(-7.25);
    }
    let mut l = a.clone();
    let mut plain = a.clone();
    let log_det = num::cholesky(&mut l, d).unwrap();
    let plain_log_det = portable::cholesky(&mut plain, d).unwrap();
    // Backward error of Cholesky: (d + 1) roundings of √(a_ii a_jj).
    let tolerance = 2.0 * (d + 2) as f64 * f64::EPSILON * largest(&full);
    for i in 0..d {
        for j in 0..d {
            if j > i {
                assert_eq!(l[i * d + j], -7.25, "touched the upper triangle");
            } else {
                assert!((product(&l, d, i, j) - full[i * d + j]).abs() <= tolerance);
                assert!((product(&plain, d, i, j) - full[i * d + j]).abs() <= tolerance);
            }
        }
    }
    let expected: f64 = (0..d).map(|i| 2.0 * l[i * d + i].ln()).sum();
    let log_tolerance = 1e-14 * (d + 1) as f64;
    assert!((log_det - expected).abs() <= log_tolerance * (1.0 + expected.abs()));
    assert!((log_det - plain_log_det).abs() <= 1e-12 * (1.0 + expected.abs()));

    let (mut inverse, mut plain_inverse) = (vec![9.0; d * d], vec![9.0; d * d]);
    num::invert_lower(&l, d, &mut inverse);
    portable::invert_lower(&l, d, &mut plain_inverse);
    for i in 0..d {
        for j in 0..d {
            if j > i {
                assert_eq!(inverse[i * d + j], 0.0);
                continue;
            }
            let (mut entry, mut size) = (0.0, 0.0);
            for k in j..=i {
                entry += l[i * d + k] * inverse[k * d + j];
                size += (l[i * d + k] * inverse[k * d + j]).abs();
            }
            let identity = if i == j { 1.0 } else { 0.0 };
            assert!((entry - identity).abs() <= 4.0 * (d + 1) as f64 * f64::EPSILON * (1.0 + size));
            let gap = (inverse[i * d + j] - plain_inverse[i * d + j]).abs();
            assert!(gap <= 1e-12 * largest(&inverse));
        }
    }

    let b = values(d, key + 1);
    let mut y = b.clone();
    num::solve_lower(&l, d, &mut y);
    let mut z = b.clone();
    num::solve_lower_transposed(&l, d, &mut z);
    for i in 0..d {
        let forward: f64 = (0..=i).map(|k| l[i * d + k] * y[k]).sum();
        let size: f64 = (0..=i).map(|k| (l[i * d + k] * y[k]).abs()).sum();
        assert!((forward - b[i]).abs() <= 2.0 * (d + 1) as f64 * f64::EPSILON * (size + b[i].abs()));
        let back: f64 = (i..d).map(|k| l[k * d + i] * z[k]).sum();
        let size: f64 = (i..d).map(|k| (l[k * d + i] * z[k]).abs()).sum();
        assert!((back - b[i]).abs() <= 2.0 * (d + 1) as f64 * f64::EPSILON * (size + b[i].abs()));
    }

    let x = values(d, key + 2);
    let mut updated = l.clone();
    num::rank_one_update(&mut updated, d, &mut x.clone());
    let mut refactored = full.clone();
    for i in 0..d {
        for j in 0..d {
            refactored[i * d + j] += x[i] * x[j];
        }
    }
    let sum = refactored.clone();
    num::cholesky(&mut refactored, d).unwrap();
    for i in 0..d {
        assert!(updated[i * d + i] > 0.0);
        for j in 0..=i {
            let tolerance = 8.0 * (d + 2) as f64 * f64::EPSILON * largest(&sum);
            assert!((product(&updated, d, i, j) - sum[i * d + j]).abs() <= tolerance);
            // Factors differ by the backward error times the condition number (a few hundred).
            assert!((updated[i * d + j] - refactored[i * d + j]).abs() <= 1e3 * tolerance);
        }
        for j in i + 1..d {
            assert_eq!(updated[i * d + j], -7.25, "touched the upper triangle");
        }
    }
}

#[test]
fn factors_multiply_back_for_every_size() {
    for d in 0..=70 {
        check_factor(d, 10 * d as u64);
    }
}

#[test]
fn indefinite_and_broken_matrices_name_their_pivot() {
    let mut a = [4.0, 0.0, 0.0, 2.0, 1.0, 0.0, 3.0, 1.0, 9.0];
    assert_eq!(num::cholesky(&mut a, 3), Err(NotPositive { pivot: 1 }));
    assert!(NotPositive { pivot: 1 }.to_string().contains("pivot 2"));
    assert_eq!(num::cholesky(&mut [f64::NAN], 1), Err(NotPositive { pivot: 0 }));
    assert_eq!(num::cholesky(&mut [f64::INFINITY], 1), Err(NotPositive { pivot: 0 }));
    assert_eq!(num::cholesky(&mut [1.0, 0.0, f64::NAN, 1.0], 2), Err(NotPositive { pivot: 1 }));
    assert_eq!(num::cholesky(&mut [0.0], 1), Err(NotPositive { pivot: 0 }));
    assert_eq!(num::cholesky(&mut [], 0), Ok(0.0));
}

fn check_eigen(a: &[f64], d: usize) {
    let (mut eigenvalues, mut vectors) = (vec![f64::NAN; d], vec![f64::NAN; d * d]);
    num::symmetric_eigen(a, d, &mut eigenvalues, &mut vectors);
    let symmetric = |i: usize, j: usize| a[i.max(j) * d + i.min(j)];
    let mut norm = 0.0f64;
    for i in 0..d {
        for j in 0..=i {
            norm = norm.max(symmetric(i, j).abs());
        }
    }
    assert!(eigenvalues.windows(2).all(|w| w[0] >= w[1]), "not descending: {eigenvalues:?}");
    // QR and Jacobi are backward stable: d roundings of the norm, which is at most d times the largest entry.
    let tolerance = 20.0 * (d + 1) as f64 * f64::EPSILON;
    for i in 0..d {
        let vector = &vectors[i * d..(i + 1) * d];
        let peak = vector.iter().fold(0.0f64, |m, &v| if v.abs() > m.abs() { v } else { m });
        assert!(peak > 0.0, "sign not fixed");
        for j in 0..d {
            let dot: f64 = vector.iter().zip(&vectors[j * d..]).map(|(a, b)| a * b).sum();
            let identity = if i == j { 1.0 } else { 0.0 };
            assert!((dot - identity).abs() <= tolerance, "d={d} ({i},{j}) {dot}");
            let rebuilt: f64 = (0..d)
                .map(|k| vectors[k * d + i] * vectors[k * d + j] * (eigenvalues[k] / norm.max(f64::MIN_POSITIVE)))
                .sum();
            let expected = symmetric(i, j) / norm.max(f64::MIN_POSITIVE);
            assert!((rebuilt - expected).abs() <= tolerance * d as f64, "d={d} ({i},{j})");
        }
    }
}

#[test]
fn eigenvectors_rebuild_the_matrix_for_every_size() {
    for d in 0..=70 {
        check_eigen(&values(d * d, 1000 + d as u64), d);
        check_eigen(&positive(d, 2000 + d as u64), d);
    }
}

#[test]
fn degenerate_matrices_have_eigenvectors_too() {
    for d in 1..=12 {
        check_eigen(&vec![0.0; d * d], d);
        check_eigen(&vec![1.0; d * d], d);
        let mut identity = vec![0.0; d * d];
        let mut graded = vec![0.0; d * d];
        let mut spread = vec![0.0; d * d];
        let mut joined = vec![0.0; d * d];
        for i in 0..d {
            identity[i * d + i] = 3.0;
            graded[i * d + i] = 10f64.powi(-3 * i as i32);
            joined[i * d + i] = 1.0;
            for j in 0..i {
                spread[i * d + j] = 10f64.powi(-20 * (i + j) as i32);
                joined[i * d + j] = 1e-200;
            }
        }
        for a in [&identity, &graded, &spread, &joined] {
            check_eigen(a, d);
        }
        for scale in [1e-300, 1e300, 5e-324] {
            let scaled: Vec<f64> = values(d * d, d as u64).iter().map(|v| v * scale).collect();
            check_eigen(&scaled, d);
        }
        check_eigen(&vec![f64::MAX / 2.0 / d as f64; d * d], d);
    }
}

#[test]
fn eigenvalues_of_a_broken_matrix_are_not_numbers() {
    let (mut eigenvalues, mut vectors) = ([0.0; 3], [0.0; 9]);
    let mut a = [1.0; 9];
    a[3] = f64::INFINITY;
    num::symmetric_eigen(&a, 3, &mut eigenvalues, &mut vectors);
    assert!(eigenvalues.iter().all(|v| v.is_nan()));
    assert_eq!(vectors, [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0]);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, rng_seed: RngSeed::Fixed(20), ..ProptestConfig::with_cases(48) })]

    #[test]
    fn factors_multiply_back(d in 1usize..=40, key in any::<u32>()) {
        check_factor(d, key.into());
    }

    #[test]
    fn eigenvectors_rebuild_the_matrix(d in 1usize..=40, key in any::<u32>()) {
        check_eigen(&values(d * d, key.into()), d);
    }

    /// Any finite numbers at all: no panic, no endless loop, descending order.
    #[test]
    fn eigen_survives_wild_entries(d in 1usize..=9, entries in prop::collection::vec(prop::num::f64::ANY, 81)) {
        let a: Vec<f64> = entries[..d * d].iter().map(|v| if v.is_finite() { *v } else { 0.0 }).collect();
        let (mut eigenvalues, mut vectors) = (vec![0.0; d], vec![0.0; d * d]);
        num::symmetric_eigen(&a, d, &mut eigenvalues, &mut vectors);
        prop_assert!(eigenvalues.windows(2).all(|w| w[0] >= w[1]));
        prop_assert!(vectors.iter().all(|v| v.abs() <= 1.0 + 1e-12));
    }
}
