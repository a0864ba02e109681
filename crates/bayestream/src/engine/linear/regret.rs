//! The regret bound of BayesPA with Gibbs classifiers (Theorem 6), on streams small enough to be followed exactly.
//!
//! The theorem is about the exact update q′ ∝ q exp(−ℓ) with ℓ(w) = 2c(ε − y w·x)₊, here on a grid of weights. Printed, it
//! reads (1 − β) Σ E_q ℓ ≤ log(1/β) Σ E_p ℓ + KL(p‖q₀) for every β in (0, 1) and any losses. The proof it leans on
//! (Banerjee 2006) needs losses of at most 1 and the update q′ ∝ q β^ℓ: from β^ℓ ≤ 1 − (1 − β)ℓ for ℓ in [0, 1] follows
//! −log E_q β^ℓ ≥ (1 − β) E_q ℓ, and the sum of the left sides telescopes. With losses of at most M, exp(−ℓ) is β^(ℓ/M)
//! for β = exp(−M), so that (1 − exp(−M)) Σ E_q ℓ ≤ M (Σ E_p ℓ + KL(p‖q₀)). These are checked; and that the printed
//! generality does not hold.

use super::*;
use crate::num::{Rng, stream};

/// Weights on a grid, of one or two dimensions.
pub(super) struct Grid {
    pub points: Vec<[f64; 2]>,
}

impl Grid {
    pub fn line(reach: f64) -> Grid {
        let n = 2001;
        let at = |i: usize| reach * (2.0 * i as f64 / (n - 1) as f64 - 1.0);
        Grid { points: (0..n).map(|i| [at(i), 0.0]).collect() }
    }

    pub fn plane(reach: f64) -> Grid {
        let n = 141;
        let at = |i: usize| reach * (2.0 * i as f64 / (n - 1) as f64 - 1.0);
        Grid { points: (0..n * n).map(|i| [at(i / n), at(i % n)]).collect() }
    }

    /// A distribution with these log-weights.
    pub fn normal(&self, mean: [f64; 2], deviation: f64) -> Vec<f64> {
        let log = |w: &[f64; 2]| -((w[0] - mean[0]).powi(2) + (w[1] - mean[1]).powi(2)) / (2.0 * deviation * deviation);
        normalised(self.points.iter().map(log).collect())
    }

    pub fn losses(&self, row: &Row, c: f64) -> Vec<f64> {
        self.points.iter().map(|w| 2.0 * c * row.hinge(w)).collect()
    }

    fn moments(&self, q: &[f64]) -> ([f64; 2], [f64; 2]) {
        let mean = [0, 1].map(|j| self.points.iter().zip(q).map(|(w, q)| q * w[j]).sum::<f64>());
        let square = |j: usize| self.points.iter().zip(q).map(|(w, q)| q * (w[j] - mean[j]).powi(2)).sum::<f64>();
        (mean, [square(0), square(1)])
    }
}

pub(super) fn normalised(log: Vec<f64>) -> Vec<f64> {
    let top = log.iter().copied().fold(f64::MIN, f64::max);
    let total: f64 = log.iter().map(|l| (l - top).exp()).sum();
    log.into_iter().map(|l| (l - top).exp() / total).collect()
}

pub(super) fn mean_of(q: &[f64], values: &[f64]) -> f64 {
    q.iter().zip(values).map(|(q, v)| q * v).sum()
}

pub(super) fn divergence(p: &[f64], q: &[f64]) -> f64 {
    p.iter().zip(q).filter(|(p, _)| **p > 0.0).map(|(p, q)| p * (p / q).ln()).sum()
}

#[derive(Clone, Copy)]
pub(super) struct Row {
    pub x: [f64; 2],
    pub y: f64,
    pub epsilon: f64,
}

impl Row {
    pub fn hinge(&self, w: &[f64; 2]) -> f64 {
        (self.epsilon - self.y * (w[0] * self.x[0] + w[1] * self.x[1])).max(0.0)
    }
}

/// The stream's losses under the learner that multiplies by `exp(−rate ℓ)`, and what it believes at the end.
fn follow(grid: &Grid, rows: &[Row], c: f64, rate: f64) -> (Vec<f64>, Vec<f64>) {
    let mut q = grid.normal([0.0; 2], 1.0);
    let mut expected = Vec::new();
    for row in rows {
        let losses = grid.losses(row, c);
        expected.push(mean_of(&q, &losses));
        q = normalised(q.iter().zip(&losses).map(|(q, l)| q.ln() - rate * l).collect());
    }
    (expected, q)
}

/// Rows of a noisy truth, within a unit ball, some labels turned round.
pub(super) fn rows(rng: &mut Rng, n: usize, d: usize, flipped: f64, epsilon: f64) -> Vec<Row> {
    let truth = [rng.normal(), rng.normal()];
    let row = |_| {
        let mut x = [2.0 * rng.uniform() - 1.0, if d == 2 { 2.0 * rng.uniform() - 1.0 } else { 0.0 }];
        let length = (x[0] * x[0] + x[1] * x[1]).sqrt().max(1.0);
        x = x.map(|v| v / length);
        let side = if x[0] * truth[0] + x[1] * truth[1] > 0.0 { 1.0 } else { -1.0 };
        Row { x, y: if rng.uniform() < flipped { -side } else { side }, epsilon }
    };
    (0..n).map(row).collect()
}

/// Fixed distributions to compare with.
pub(super) fn rivals(grid: &Grid, rng: &mut Rng, n: usize) -> Vec<Vec<f64>> {
    let one = |_| grid.normal([1.5 * rng.normal(), 1.5 * rng.normal()], (0.8 * rng.normal() - 0.7).exp().max(0.1));
    (0..n).map(one).collect()
}

pub(super) const ROUNDING: f64 = 1e-9;

#[test]
fn what_was_paid_is_at_most_what_any_rival_pays_and_its_distance_from_the_prior() {
    // −Σ log E_q exp(−ℓ) ≤ Σ E_p ℓ + KL(p‖q₀): no condition on losses.
    for (seed, grid, d) in [(1, Grid::line(8.0), 1), (2, Grid::plane(6.0), 2)] {
        let mut rng = stream(seed, 0, 0);
        for (c, flipped) in [(0.3, 0.0), (1.0, 0.2), (4.0, 0.5)] {
            let rows = rows(&mut rng, 40, d, flipped, 1.0);
            let prior = grid.normal([0.0; 2], 1.0);
            let mut q = prior.clone();
            let mut paid = 0.0;
            for row in &rows {
                let losses = grid.losses(row, c);
                paid -= q.iter().zip(&losses).map(|(q, l)| q * (-l).exp()).sum::<f64>().ln();
                q = normalised(q.iter().zip(&losses).map(|(q, l)| q.ln() - l).collect());
            }
            for p in rivals(&grid, &mut rng, 20) {
                let theirs: f64 = rows.iter().map(|row| mean_of(&p, &grid.losses(row, c))).sum();
                assert!(paid <= theirs + divergence(&p, &prior) + ROUNDING, "{paid} above {theirs}");
            }
        }
    }
}

#[test]
fn the_bound_holds_for_losses_of_at_most_one_and_the_update_of_its_beta() {
    for (seed, reach, d) in [(3, 8.0, 1), (4, 6.0, 2)] {
        let grid = if d == 1 { Grid::line(reach) } else { Grid::plane(reach) };
        let mut rng = stream(seed, 0, 0);
        let epsilon = 1.0;
        // No weight of the grid can pay more than 1 for a row within the unit ball.
        let c = 0.5 / (epsilon + reach * (d as f64).sqrt());
        let prior = grid.normal([0.0; 2], 1.0);
        for flipped in [0.0, 0.3, 0.5] {
            let rows = rows(&mut rng, 60, d, flipped, epsilon);
            let rivals = rivals(&grid, &mut rng, 12);
            for beta in [0.02f64, 0.2, (-1.0f64).exp(), 0.6, 0.9, 0.99] {
                let (paid, _) = follow(&grid, &rows, c, -beta.ln());
                let paid: f64 = paid.iter().sum();
                for p in &rivals {
                    let theirs: f64 = rows.iter().map(|row| mean_of(p, &grid.losses(row, c))).sum();
                    let bound = -beta.ln() * theirs + divergence(p, &prior);
                    assert!((1.0 - beta) * paid <= bound + ROUNDING, "β {beta}: {paid} above {bound}");
                }
            }
        }
    }
}

#[test]
fn the_bound_with_the_largest_loss_holds_for_the_update_of_the_paper() {
    for (seed, reach, d) in [(5, 8.0, 1), (6, 6.0, 2)] {
        let grid = if d == 1 { Grid::line(reach) } else { Grid::plane(reach) };
        let mut rng = stream(seed, 0, 0);
        let prior = grid.normal([0.0; 2], 1.0);
        for (c, epsilon) in [(0.02, 1.0), (0.3, 1.0), (1.0, 0.5), (3.0, 2.0)] {
            let most = 2.0 * c * (epsilon + reach * (d as f64).sqrt());
            let rows = rows(&mut rng, 60, d, 0.2, epsilon);
            let (paid, _) = follow(&grid, &rows, c, 1.0);
            let paid: f64 = paid.iter().sum();
            for p in rivals(&grid, &mut rng, 12) {
                let theirs: f64 = rows.iter().map(|row| mean_of(&p, &grid.losses(row, c))).sum();
                let bound = most * (theirs + divergence(&p, &prior));
                assert!((1.0 - (-most).exp()) * paid <= bound + ROUNDING, "{paid} above {bound}");
            }
        }
    }
}

#[test]
fn the_bound_as_printed_is_broken_by_one_large_row_and_by_a_beta_of_another_update() {
    // One row far out: the prior pays for half of its weights, a rival on the right side pays nothing.
    let grid = Grid::line(8.0);
    let prior = grid.normal([0.0; 2], 1.0);
    let far = [Row { x: [1000.0, 0.0], y: 1.0, epsilon: 1.0 }];
    let p = grid.normal([3.0, 0.0], 0.4);
    let (paid, _) = follow(&grid, &far, 1.0, 1.0);
    let bound = 2f64.ln() * mean_of(&p, &grid.losses(&far[0], 1.0)) + divergence(&p, &prior);
    assert!(0.5 * paid[0] > 10.0 * bound, "{} is within {bound}", paid[0]);
    // Two rows that contradict each other, small losses, β near 1: the learner does worse than the prior it came from.
    let rows = [1.0, -1.0].map(|y| Row { x: [1.0, 0.0], y, epsilon: 1.0 });
    let c = 0.5 / 9.0;
    let (paid, _) = follow(&grid, &rows, c, 1.0);
    let theirs: f64 = rows.iter().map(|row| mean_of(&prior, &grid.losses(row, c))).sum();
    let beta: f64 = 0.999;
    assert!((1.0 - beta) * paid.iter().sum::<f64>() > -beta.ln() * theirs, "{paid:?} against {theirs}");
}

/// E (m + s z)₊ for standard normal z.
pub(super) fn expected_hinge(m: f64, s: f64) -> f64 {
    let t = m / s;
    let density = (-0.5 * t * t).exp() / (2.0 * std::f64::consts::PI).sqrt();
    m * 0.5 * libm::erfc(-t / std::f64::consts::SQRT_2) + s * density
}

/// How far the learner's Gaussian ended from the exact belief, and what it paid on the way.
struct Closeness {
    mean_off: f64,
    deviation_ratio: [f64; 2],
    paid: f64,
    paid_exactly: f64,
}

fn closeness(grid: &Grid, rows: &[Row], c: f64, inference: Inference) -> Closeness {
    let plan = LinearSettings {
        rule: Rule::Gibbs,
        target: TargetChoice::Label,
        inputs: Inputs::Columns { n: 2, scale: false },
        c,
        epsilon: rows[0].epsilon,
        sigma2: 1.0,
        full: true,
        inference,
        rounds: 3,
        bias: 0.0,
        positive: 1.0,
    };
    let mut task = Task::new(&plan, 2);
    let mut paid = 0.0;
    for row in rows {
        let x = Features { places: &[0, 1], values: &row.x };
        let (score, variance) = (task.score(x), task.variance(x, 1.0).unwrap());
        paid += 2.0 * c * expected_hinge(row.epsilon - row.y * score, variance.sqrt());
        task.learn(&plan, x, score, Aim::Side(row.y), c);
    }
    let (exactly, q) = follow(grid, rows, c, 1.0);
    let (mean, square) = grid.moments(&q);
    let dims = if rows.iter().all(|row| row.x[1] == 0.0) { 1 } else { 2 };
    let deviation = |j: usize| {
        let mut axis = [0.0; 2];
        axis[j] = 1.0;
        task.variance(Features { places: &[0, 1], values: &axis }, 1.0).unwrap().sqrt() / square[j].sqrt()
    };
    let ratios: Vec<f64> = (0..dims).map(deviation).collect();
    let off = |j: usize| (task.weights()[j] - mean[j]).abs() / square[j].sqrt();
    Closeness {
        mean_off: (0..dims).map(off).fold(0.0, f64::max),
        deviation_ratio: [ratios.iter().copied().fold(f64::MAX, f64::min), ratios.iter().copied().fold(0.0, f64::max)],
        paid,
        paid_exactly: exactly.iter().sum(),
    }
}

/// How far apart the two may be: the mean in deviations, the ratio of deviations, the share of the losses.
struct Limits {
    mean_off: f64,
    deviations: (f64, f64),
    dearer: f64,
}

fn check_closeness(inference: Inference, limits: &[(f64, Limits)]) {
    for (c, limit) in limits {
        let (mut mean_off, mut low, mut high, mut dearer) = (0.0f64, f64::MAX, 0.0f64, 0.0f64);
        for (seed, d) in [(7, 1), (8, 2)] {
            let grid = if d == 1 { Grid::line(8.0) } else { Grid::plane(6.0) };
            let mut rng = stream(seed, 0, 0);
            for flipped in [0.0, 0.1, 0.3] {
                let found = closeness(&grid, &rows(&mut rng, 60, d, flipped, 1.0), *c, inference);
                mean_off = mean_off.max(found.mean_off);
                (low, high) = (low.min(found.deviation_ratio[0]), high.max(found.deviation_ratio[1]));
                dearer = dearer.max((found.paid / found.paid_exactly - 1.0).abs());
            }
        }
        let told = format!("c {c}: mean off by {mean_off:.3}, deviations {low:.3} to {high:.3}, losses by {dearer:.4}");
        let within = low > limit.deviations.0 && high < limit.deviations.1 && dearer < limit.dearer;
        assert!(within && mean_off < limit.mean_off, "{inference:?} {told}");
    }
}

#[test]
fn the_gaussian_updates_keep_the_bounds_of_the_exact_one() {
    keeps_the_bounds(Inference::Moments);
    keeps_the_bounds(Inference::Augmented);
}

fn keeps_the_bounds(inference: Inference) {
    for (seed, reach, d) in [(9, 8.0, 1), (10, 6.0, 2)] {
        let grid = if d == 1 { Grid::line(reach) } else { Grid::plane(reach) };
        let prior = grid.normal([0.0; 2], 1.0);
        let mut rng = stream(seed, 0, 0);
        let span = 1.0 + reach * (d as f64).sqrt();
        for flipped in [0.0, 0.2, 0.5] {
            let rows = rows(&mut rng, 60, d, flipped, 1.0);
            let rivals = rivals(&grid, &mut rng, 12);
            // Losses ℓ of at most 1 on the grid, and the learner whose update is β^ℓ: its c is log(1/β) times that of ℓ.
            let unit = 0.5 / span;
            for beta in [0.02f64, 0.2, (-1.0f64).exp(), 0.6, 0.9, 0.99] {
                let rate = -beta.ln();
                let paid = closeness(&grid, &rows, rate * unit, inference).paid / rate;
                for p in &rivals {
                    let theirs: f64 = rows.iter().map(|row| mean_of(p, &grid.losses(row, unit))).sum();
                    let bound = rate * theirs + divergence(p, &prior);
                    assert!((1.0 - beta) * paid <= bound, "β {beta}: {paid} above {bound}");
                }
            }
            // Larger losses, with the largest one in the bound.
            for c in [0.3, 1.0, 3.0] {
                let (paid, most) = (closeness(&grid, &rows, c, inference).paid, 2.0 * c * span);
                for p in &rivals {
                    let theirs: f64 = rows.iter().map(|row| mean_of(p, &grid.losses(row, c))).sum();
                    assert!((1.0 - (-most).exp()) * paid <= most * (theirs + divergence(p, &prior)), "c {c}: {paid}");
                }
            }
        }
    }
}

/// Measured: mean off by 0.17, 0.84 and 2.98 deviations, deviations 0.99–1.13, 0.68–1.21 and 0.41–1.34 of the exact ones,
/// losses by 1, 4 and 26 %. The limits leave half as much again. Rows are taken up one by one and never looked at again:
/// what the first ones were taken for under the broad prior stays, and weighs more the larger c is.
#[test]
fn the_update_by_moments_stays_close_to_the_exact_one() {
    let limits = |mean_off, low, high, dearer| Limits { mean_off, deviations: (low, high), dearer };
    let measured = [
        (0.1, limits(0.26, 0.95, 1.2, 0.015)),
        (0.5, limits(1.26, 0.52, 1.32, 0.06)),
        (2.0, limits(4.5, 0.28, 1.5, 0.39)),
    ];
    check_closeness(Inference::Moments, &measured);
}

/// Measured: mean off by 0.20, 1.60 and 5.80 deviations, deviations 0.82–0.95, 0.43–0.92 and 0.20–0.84 of the exact ones,
/// losses by 1, 12 and 51 %. Every row adds precision, those far beyond their margin too: never wider, and too sure.
#[test]
fn the_update_by_augmentation_is_farther_off_and_never_wider() {
    let limits = |mean_off, low, high, dearer| Limits { mean_off, deviations: (low, high), dearer };
    let measured = [
        (0.1, limits(0.31, 0.72, 1.0, 0.017)),
        (0.5, limits(2.4, 0.28, 1.0, 0.18)),
        (2.0, limits(8.7, 0.1, 1.0, 0.76)),
    ];
    check_closeness(Inference::Augmented, &measured);
}
