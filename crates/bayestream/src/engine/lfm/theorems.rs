//! What the paper states without an experiment: Lemma 1 and Theorem 4, on rows small enough to be followed exactly.
//!
//! Lemma 1: log det F of a column's parameters (w, b, λ) is Σ_k log(Σ_n z_nk/N) + O(1), which makes the criterion charge a
//! feature by the rows that have it and not by all rows. It holds for F/N; F itself has (K + 2) log N besides. What is left
//! over is bounded only as long as features stay apart: `features_that_nearly_coincide_are_beyond_lemma_1`.
//!
//! Theorem 4: at a stationary point of L, features with the same w have the same share. It does not hold. With w_k = w_l = w
//! and s = wᵀΛw, (11) asks that logit μ_nk − s μ_nk − (logit μ_nl − s μ_nl) be the same number for every row, which rows that are
//! pulled differently allow with different shares, and the M-step asks three things more of many rows. A solution with
//! twelve rows and two columns is below. It is no maximum: a little off it, L rises and the two part.

use super::*;
use crate::num;

/// Binary features of one column's rows, and that column.
struct Column {
    z: Vec<Vec<f64>>,
    rows: Rows,
}

/// One column of `n` rows with noise `sd`; feature k is in a share of the rows.
fn column(n: usize, shares: &[f64], sd: f64, seed: u64) -> Column {
    let mut rng = num::stream(seed, 0, 0);
    let z: Vec<Vec<f64>> =
        shares.iter().map(|share| (0..n).map(|_| f64::from(u8::from(rng.uniform() < *share))).collect()).collect();
    column_of(z, sd, seed)
}

fn column_of(z: Vec<Vec<f64>>, sd: f64, seed: u64) -> Column {
    let mut rng = num::stream(seed, 1, 0);
    let n = z[0].len();
    let cell = |i: usize| 0.7 + z.iter().enumerate().map(|(k, z)| (1.5 - 0.8 * k as f64) * z[i]).sum::<f64>();
    let cells: Vec<f64> = (0..n).map(|i| cell(i) + sd * rng.normal()).collect();
    Column { z, rows: Rows::new(&cells, 1, None) }
}

impl Column {
    /// The maximum-likelihood parameters given Z.
    fn fit(&self) -> Fit {
        let mut fit = Fit::new(&self.rows);
        self.z.iter().for_each(|z| fit.field.push(z));
        fit.maximise(&self.rows);
        fit
    }

    /// log p(x | Z, θ) with θ = (w, b, λ).
    fn log_likelihood(&self, theta: &[f64]) -> f64 {
        let (k, lambda) = (self.z.len(), theta[self.z.len() + 1]);
        let term = |(i, x): (usize, &f64)| {
            let mean = (0..k).fold(theta[k], |mean, f| mean + self.z[f][i] * theta[f]);
            0.5 * (lambda.ln() - num::LN_2PI - lambda * (x - mean).powi(2))
        };
        self.rows.column(0).iter().enumerate().map(term).sum()
    }

    /// log det(F/N): at the maximum, w and b have λA and λ has N/2λ², and nothing is between them.
    fn log_det(&self) -> f64 {
        let fit = self.fit();
        let (s, n, lambda) = (self.z.len() + 1, self.rows.mass, fit.parameters.precision[0]);
        let mut factor: Vec<f64> = fit.statistics.a.iter().map(|a| lambda * a / n).collect();
        num::cholesky(&mut factor, s).expect("features stay apart");
        2.0 * (0..s).map(|i| factor[i * s + i].ln()).sum::<f64>() - (2.0 * lambda * lambda).ln()
    }

    /// Σ_k log(Σ_n z_nk/N), the right side of Lemma 1.
    fn log_shares(&self) -> f64 {
        self.shares().map(f64::ln).sum()
    }

    fn shares(&self) -> impl Iterator<Item = f64> {
        self.z.iter().map(|z| z.iter().sum::<f64>() / z.len() as f64)
    }
}

/// Determinant by elimination.
fn determinant(mut a: Vec<f64>, s: usize) -> f64 {
    let mut det = 1.0;
    for i in 0..s {
        det *= a[i * s + i];
        for r in i + 1..s {
            let factor = a[r * s + i] / a[i * s + i];
            (i..s).for_each(|c| a[r * s + c] -= factor * a[i * s + c]);
        }
    }
    det
}

#[test]
fn the_hessian_of_lemma_1_is_that_of_the_likelihood() {
    let column = column(60, &[0.5, 0.3], 0.9, 71);
    let fit = column.fit();
    let p = &fit.parameters;
    let theta: Vec<f64> = p.weights.iter().chain(&p.offset).chain(&p.precision).copied().collect();
    let (s, h) = (theta.len(), 1e-3);
    let at = |i: usize, di: f64, j: usize, dj: f64| {
        let mut theta = theta.clone();
        theta[i] += di;
        theta[j] += dj;
        -column.log_likelihood(&theta) / 60.0
    };
    let mut hessian = vec![0.0; s * s];
    for i in 0..s {
        for j in 0..s {
            hessian[i * s + j] =
                (at(i, h, j, h) - at(i, h, j, -h) - at(i, -h, j, h) + at(i, -h, j, -h)) / (4.0 * h * h);
        }
    }
    // Differences are off by h² times fourth derivatives, of which that of log λ, 6/λ⁴, is the largest.
    let (found, expected) = (determinant(hessian, s).ln(), column.log_det());
    assert!((found - expected).abs() < 1e-4, "{found} {expected}");
}

#[test]
fn lemma_1_charges_features_by_the_rows_that_have_them() {
    let sd: f64 = 0.8;
    let lambda = sd.powi(-2);
    for (seed, power) in [(72, 8), (73, 11), (74, 14), (75, 17)] {
        let n = 1_usize << power;
        let size = n as f64;
        // One feature in half of the rows, two that become ever rarer.
        let column = column(n, &[0.5, size.powf(-0.25), size.powf(-0.5)], sd, seed);
        let left_over = column.log_det() - column.log_shares();
        // Independent features: A has the determinant Π(1 − π_k) once its diagonal is taken out.
        let apart: f64 = column.shares().map(|share| (1.0 - share).ln()).sum();
        let limit = 4.0 * lambda.ln() - (2.0 * lambda * lambda).ln() + apart;
        // Each of six pairs is off by a normal of deviation 1/√N about, and 2 log λ by 2 √(2/N).
        assert!((left_over - limit).abs() < 40.0 / size.sqrt(), "{n}: {left_over} {limit}");
        // By the rows in all, as in BIC, it would be off by (1/4 + 1/2) log N.
        assert!((column.log_det() - limit).abs() > 0.6 * size.ln(), "{n}");
    }
}

#[test]
fn features_that_nearly_coincide_are_beyond_lemma_1() {
    let left_over = |n: usize| {
        let one: Vec<f64> = (0..n).map(|i| f64::from(u8::from(i % 2 == 0))).collect();
        let mut other = one.clone();
        other[0] = 0.0;
        let column = column_of(vec![one, other], 0.8, 76);
        column.log_det() - column.log_shares()
    };
    // One row tells them apart, so that the determinant falls as 1/N.
    let fall = left_over(1 << 8) - left_over(1 << 16);
    assert!((fall - 256_f64.ln()).abs() < 0.5, "{fall}");
}

/// Rows of each kind, and the log-odds of both features in them, at a stationary point with w = (1, 1) of both.
const KINDS: [(usize, f64, f64); 3] = [
    (6, -4.809_342_694_415_54, -5.760_171_838_817_544),
    (3, 3.245_501_933_886_294, 1.363_386_485_958_297_4),
    (3, -0.194_961_610_441_628_9, -3.565_377_046_476_835),
];
/// log of wᵀΛw there.
const LOG_STRENGTH: f64 = 1.753_579_786_488_809_9;

/// The rows and q(Z) of the stationary point.
fn twins_of_unequal_share() -> (Rows, [Vec<f64>; 2]) {
    let n: usize = KINDS.iter().map(|kind| kind.0).sum();
    let strength = LOG_STRENGTH.exp();
    let logistic = |odds: f64| 1.0 / (1.0 + (-odds).exp());
    let each = || KINDS.iter().flat_map(|&(count, one, other)| std::iter::repeat_n((one, other), count));
    let mu: [Vec<f64>; 2] =
        [each().map(|odds| logistic(odds.0)).collect(), each().map(|odds| logistic(odds.1)).collect()];
    let share = mu[0].iter().sum::<f64>() / n as f64;
    let shift = (share / (1.0 - share)).ln() - 1.0 / (n as f64 * share);
    // x along w that makes (11) true of the first feature, and what it leaves over.
    let along: Vec<f64> =
        each().zip(&mu[1]).map(|((odds, _), other)| 0.5 + (odds - shift) / strength + other).collect();
    let left: f64 = (0..n)
        .map(|i| (along[i] - mu[0][i] - mu[1][i]).powi(2) + (0..2).map(|f| mu[f][i] * (1.0 - mu[f][i])).sum::<f64>())
        .sum();
    // What λ needs besides, against each other in the two columns and in turn in rows of one kind: no other equation sees it.
    let besides = ((2.0 * n as f64 / strength - left) / KINDS[0].0 as f64).sqrt();
    let cells: Vec<f64> = (0..n)
        .flat_map(|i| {
            let e = if i < KINDS[0].0 { besides * (1.0 - 2.0 * (i % 2) as f64) } else { 0.0 };
            [along[i] + e, along[i] - e]
        })
        .collect();
    (Rows::new(&cells, 2, None), mu)
}

#[test]
fn features_with_the_same_weights_may_have_different_shares_where_the_bound_is_flat() {
    let (rows, mu) = twins_of_unequal_share();
    let mut fit = Fit::new(&rows);
    mu.iter().for_each(|mu| fit.field.push(mu));
    fit.maximise(&rows);
    // The ridge of the M-step is 1e-9 of the rows.
    let near = |a: f64, b: f64| (a - b).abs() < 1e-7;
    let p = fit.parameters.clone();
    assert!(p.weights.iter().all(|w| near(*w, 1.0)) && p.offset.iter().all(|b| near(*b, 0.0)), "{p:?}");
    assert!(p.precision.iter().all(|l| near(*l, 0.5 * LOG_STRENGTH.exp())), "{p:?}");
    fit.field.prepare(&rows, &p);
    fit.field.sweep(&rows, &p, penalty(&rows));
    let moved = fit.field.mu.iter().zip(mu.iter().flatten()).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    assert!(moved < 1e-7, "the E-step moves μ by {moved}");
    assert!(near(p.shares[0] - p.shares[1], 0.15), "{:?}", p.shares);
}

#[test]
fn twins_of_unequal_share_part_a_little_off_the_stationary_point() {
    let (rows, mu) = twins_of_unequal_share();
    let mut fit = Fit::new(&rows);
    mu.iter().for_each(|mu| fit.field.push(mu));
    fit.maximise(&rows);
    let flat = fit.bound;
    fit.field.mu.iter_mut().enumerate().for_each(|(at, mu)| *mu += 1e-4 * (1.0 - *mu) * *mu * (at % 5) as f64);
    fit.maximise(&rows);
    for _ in 0..400 {
        fit.iterate(&rows, 0);
    }
    let p = &fit.parameters;
    let apart = if p.k == 2 { (p.weights[0] - p.weights[2]).hypot(p.weights[1] - p.weights[3]) } else { f64::INFINITY };
    assert!(fit.bound > flat + 0.1 && apart > 0.1, "{flat} {} {p:?}", fit.bound);
}
