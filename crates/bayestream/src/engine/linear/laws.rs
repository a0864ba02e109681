//! What the rules must satisfy: the papers' theorems, their defining problems, and what follows from conjugacy.

use super::belief::Belief;
use super::*;
use crate::num::{Rng, cholesky, stream, symmetric_eigen};
use proptest::prelude::*;

fn settings(rule: Rule, n: usize, c: f64) -> LinearSettings {
    LinearSettings {
        rule,
        target: TargetChoice::Label,
        inputs: Inputs::Columns { n, scale: false },
        c,
        epsilon: 1.0,
        sigma2: 1.0,
        full: rule == Rule::Gibbs,
        inference: Inference::Augmented,
        rounds: 3,
        bias: 0.0,
        positive: 1.0,
    }
}

/// Rows with a noisy linear truth; a share of the cells is exactly zero.
fn rows(rng: &mut Rng, n: usize, d: usize, zeros: f64) -> Vec<(Vec<f64>, f64)> {
    let truth: Vec<f64> = (0..d).map(|_| rng.normal()).collect();
    (0..n)
        .map(|_| {
            let x: Vec<f64> = (0..d).map(|_| if rng.uniform() < zeros { 0.0 } else { rng.normal() }).collect();
            let f: f64 = x.iter().zip(&truth).map(|(a, b)| a * b).sum();
            (x, if f + 0.5 * rng.normal() > 0.0 { 1.0 } else { -1.0 })
        })
        .collect()
}

fn sparse(x: &[f64]) -> (Vec<u32>, Vec<f64>) {
    let kept = || x.iter().enumerate().filter(|(_, v)| **v != 0.0);
    (kept().map(|(at, _)| at as u32).collect(), kept().map(|(_, v)| *v).collect())
}

fn learn(task: &mut Task, settings: &LinearSettings, x: &[f64], aim: Aim) {
    let (places, values) = sparse(x);
    let x = Features { places: &places, values: &values };
    let score = task.score(x);
    task.learn(settings, x, score, aim, settings.c);
}

#[test]
fn averaging_with_unit_variance_is_pa_one_with_twice_c_to_the_bit() {
    for (seed, d, zeros) in [(1, 3, 0.0), (2, 20, 0.0), (3, 200, 0.95), (4, 50, 0.5)] {
        let mut rng = stream(seed, 0, 0);
        for c in [0.004, 0.07, 0.5, 3.0] {
            for epsilon in [1.0, 2.5] {
                let ave = LinearSettings { epsilon, ..settings(Rule::Average, d, c) };
                let pa = LinearSettings { epsilon, ..settings(Rule::PaOne, d, 2.0 * c) };
                let (mut one, mut other) = (Task::new(&ave, d), Task::new(&pa, d));
                for (x, y) in rows(&mut rng, 300, d, zeros) {
                    learn(&mut one, &ave, &x, Aim::Side(y));
                    learn(&mut other, &pa, &x, Aim::Side(y));
                    let bits = |task: &Task| task.weights().iter().map(|w| w.to_bits()).collect::<Vec<u64>>();
                    assert_eq!(bits(&one), bits(&other));
                }
                assert!(one.weights().iter().any(|w| *w != 0.0));
            }
        }
    }
}

/// The largest value of a concave function on an interval, by cutting it into thirds.
fn largest(mut low: f64, mut high: f64, of: impl Fn(f64) -> f64) -> f64 {
    for _ in 0..200 {
        let third = (high - low) / 3.0;
        if of(low + third) < of(high - third) { low += third } else { high -= third }
    }
    of(0.5 * (low + high))
}

#[test]
fn averaging_with_any_variance_solves_its_dual() {
    let mut rng = stream(5, 0, 0);
    let (mut n_cut, mut n_free) = (0, 0);
    for _ in 0..2000 {
        let d = 1 + rng.below(5);
        let (sigma2, c, epsilon) = ((3.0 * rng.normal()).exp(), rng.normal().exp(), rng.uniform() * 3.0);
        let x: Vec<f64> = (0..d).map(|_| rng.normal()).collect();
        let mu: Vec<f64> = (0..d).map(|_| rng.normal()).collect();
        let (f, square): (f64, f64) = (x.iter().zip(&mu).map(|(a, b)| a * b).sum(), x.iter().map(|v| v * v).sum());
        // log of the normalisation of N(μ, σ²I) tilted by τ y x: τ y μ·x + σ² τ² |x|²/2.
        let dual = |tau: f64| epsilon * tau - (tau * f + 0.5 * sigma2 * tau * tau * square);
        let loss = (epsilon - f).max(0.0);
        let tau = averaging(loss, square, sigma2, c);
        if tau == 2.0 * c {
            n_cut += 1
        } else {
            n_free += usize::from(tau > 0.0)
        }
        let best = largest(0.0, 2.0 * c, dual);
        // The objective is a few terms of this size, each rounded.
        let terms = (epsilon + f.abs()) * 2.0 * c + 2.0 * sigma2 * c * c * square;
        assert!(dual(tau) >= best - 8.0 * f64::EPSILON * terms, "τ {tau}: {} against {best}", dual(tau));
        // The mean of the tilted Gaussian is what the learner keeps.
        let mut task = Task::new(&LinearSettings { sigma2, epsilon, ..settings(Rule::Average, d, c) }, d);
        let plan = LinearSettings { sigma2, epsilon, ..settings(Rule::Average, d, c) };
        learn(&mut task, &plan, &x, Aim::Side(1.0));
        let first = averaging(epsilon, square, sigma2, c);
        task.weights().iter().zip(&x).for_each(|(w, v)| assert_eq!(*w, sigma2 * first * v));
    }
    assert!(n_cut > 100 && n_free > 100, "{n_cut} {n_free}");
}

/// The problem that a passive-aggressive step solves.
fn objective(rule: Rule, c: f64, from: &[f64], to: &[f64], loss: f64) -> f64 {
    let far: f64 = from.iter().zip(to).map(|(a, b)| (a - b) * (a - b)).sum();
    0.5 * far + if rule == Rule::PaTwo { c * loss * loss } else { c * loss }
}

#[test]
fn passive_aggressive_steps_minimise_their_problems() {
    let mut rng = stream(6, 0, 0);
    for round in 0..600 {
        let rule = if round % 2 == 0 { Rule::PaOne } else { Rule::PaTwo };
        let (d, c) = (1 + rng.below(4), rng.normal().exp());
        let plan = LinearSettings { epsilon: 0.3 + rng.uniform(), ..settings(rule, d, c) };
        let mut task = Task::new(&plan, d);
        // Somewhere to start from.
        for (x, y) in rows(&mut rng, 5, d, 0.0) {
            learn(&mut task, &plan, &x, Aim::Side(y));
        }
        let x: Vec<f64> = (0..d).map(|_| rng.normal()).collect();
        let aim = match round % 3 {
            0 => Aim::Number(3.0 * rng.normal()),
            _ => Aim::Side(if rng.uniform() < 0.5 { 1.0 } else { -1.0 }),
        };
        let loss = |w: &[f64]| {
            let f: f64 = w.iter().zip(&x).map(|(a, b)| a * b).sum();
            match aim {
                Aim::Side(y) => (plan.epsilon - y * f).max(0.0),
                Aim::Number(number) => ((number - f).abs() - plan.epsilon).max(0.0),
            }
        };
        let before = task.weights().to_vec();
        learn(&mut task, &plan, &x, aim);
        let after = task.weights().to_vec();
        let found = objective(rule, c, &before, &after, loss(&after));
        // The problem is convex: who is not beaten nearby, in any direction and on the way, is not beaten at all.
        for scale in [1.0, 0.1, 1e-2, 1e-4] {
            for _ in 0..40 {
                let near: Vec<f64> = after.iter().map(|w| w + scale * rng.normal()).collect();
                let other = objective(rule, c, &before, &near, loss(&near));
                assert!(other >= found - 1e-14 * (1.0 + found), "{rule:?} {aim:?}: {other} below {found}");
            }
        }
        for part in 0..50 {
            let t = f64::from(part) / 40.0;
            let way: Vec<f64> = before.iter().zip(&after).map(|(a, b)| a + t * (b - a)).collect();
            assert!(objective(rule, c, &before, &way, loss(&way)) >= found - 1e-14 * (1.0 + found));
        }
    }
}

#[test]
fn the_hinge_is_the_mixture_that_augments_it() {
    for (c, zeta) in [(1.0, 0.7), (1.0, -0.4), (0.3, 2.0), (2.0, -1.5)] {
        // λ = u², so that the integrand is smooth at zero.
        let (n, end) = (400_000, 40.0);
        let step = end / f64::from(n);
        let at = |u: f64| {
            let lambda = u * u;
            2.0 / (2.0 * std::f64::consts::PI).sqrt() * (-(lambda + c * zeta).powi(2) / (2.0 * lambda)).exp()
        };
        let sum: f64 = (0..n).map(|i| at((f64::from(i) + 0.5) * step) * step).sum();
        let expected = (-2.0 * c * f64::max(zeta, 0.0)).exp();
        assert!((sum - expected).abs() < 1e-6, "c {c}, ζ {zeta}: {sum} for {expected}");
    }
}

#[test]
fn full_covariances_are_those_of_the_sums_of_the_paper() {
    let (d, c, epsilon, sigma2) = (4, 0.8, 1.3, 0.6);
    let plan = LinearSettings { epsilon, sigma2, ..settings(Rule::Gibbs, d, c) };
    let mut task = Task::new(&plan, d);
    let (mut precision, mut natural) = (vec![0.0; d * d], vec![0.0; d]);
    (0..d).for_each(|i| precision[i * d + i] = 1.0 / sigma2);
    let invert = |matrix: &[f64]| -> Vec<f64> {
        let m = nalgebra::DMatrix::from_row_slice(d, d, matrix);
        m.try_inverse().unwrap().transpose().as_slice().to_vec()
    };
    for (x, y) in rows(&mut stream(7, 0, 0), 150, d, 0.2) {
        let (before, h_before) = (precision.clone(), natural.clone());
        for _ in 0..plan.rounds {
            let sigma = invert(&precision);
            let at = |i: usize| (0..d).map(|j| sigma[i * d + j] * natural[j]).sum::<f64>();
            let f: f64 = (0..d).map(|i| x[i] * at(i)).sum();
            let spread: f64 = (0..d * d).map(|ij| x[ij / d] * sigma[ij] * x[ij % d]).sum();
            let rho = 1.0 / (c * ((epsilon - y * f).powi(2) + spread).max(1e-6).sqrt());
            (0..d * d).for_each(|ij| precision[ij] = before[ij] + c * c * rho * x[ij / d] * x[ij % d]);
            (0..d).for_each(|i| natural[i] = h_before[i] + c * y * (1.0 + c * epsilon * rho) * x[i]);
        }
        learn(&mut task, &plan, &x, Aim::Side(y));
        let sigma = invert(&precision);
        for i in 0..d {
            let expected: f64 = (0..d).map(|j| sigma[i * d + j] * natural[j]).sum();
            assert!((task.weights()[i] - expected).abs() < 1e-10, "{} for {expected}", task.weights()[i]);
        }
    }
}

#[test]
fn independent_weights_are_exact_where_features_never_meet() {
    let d = 3;
    let full = LinearSettings { sigma2: 0.7, ..settings(Rule::Gibbs, d, 1.2) };
    let diagonal = LinearSettings { full: false, ..full };
    let (mut one, mut other) = (Task::new(&full, d), Task::new(&diagonal, d));
    let mut rng = stream(8, 0, 0);
    for row in 0..120 {
        let mut x = vec![0.0; d];
        x[row % d] = rng.normal();
        let y = if x[row % d] + 0.3 * rng.normal() > 0.0 { 1.0 } else { -1.0 };
        learn(&mut one, &full, &x, Aim::Side(y));
        learn(&mut other, &diagonal, &x, Aim::Side(y));
    }
    one.weights().iter().zip(other.weights()).for_each(|(a, b)| assert!((a - b).abs() < 1e-12, "{a} {b}"));
    let probe = Features { places: &[0, 2], values: &[1.5, -2.0] };
    let (a, b) = (one.variance(probe, 0.7).unwrap(), other.variance(probe, 0.7).unwrap());
    assert!((a / b - 1.0).abs() < 1e-12, "{a} {b}");
}

#[test]
fn a_label_that_comes_late_ends_where_it_would_have_ended() {
    for rule in [Rule::PaOne, Rule::PaTwo, Rule::Average, Rule::Gibbs] {
        let plan = LinearSettings { inputs: Inputs::Columns { n: 3, scale: false }, ..settings(rule, 3, 0.6) };
        let mut learner = LinearLearner::new(plan).unwrap();
        let mut known_from_the_start = Task::new(&plan, 4);
        for (row, (x, y)) in rows(&mut stream(9, 0, 0), 200, 3, 0.0).into_iter().enumerate() {
            let label = match (row > 120 && row % 3 == 0, y > 0.0) {
                (true, _) => "late",
                (_, true) => "up",
                _ => "down",
            };
            learner.learn(Example::Cells(&x), Truth::Labels(&[label]), 1.0);
            let shifted: Vec<f64> = std::iter::once(0.0).chain(x).collect();
            let side = if label == "late" { 1.0 } else { -1.0 };
            learn(&mut known_from_the_start, &plan, &shifted, Aim::Side(side));
        }
        assert_eq!(learner.labels(), ["down", "late", "up"]);
        assert_eq!(learner.tasks()[1].weights(), known_from_the_start.weights(), "{rule:?}");
    }
}

#[test]
fn two_labels_are_mirror_images() {
    for rule in [Rule::PaOne, Rule::PaTwo, Rule::Average, Rule::Gibbs] {
        let plan =
            LinearSettings { inputs: Inputs::Columns { n: 3, scale: true }, bias: 1.0, ..settings(rule, 3, 0.6) };
        let mut learner = LinearLearner::new(plan).unwrap();
        for (x, y) in rows(&mut stream(10, 0, 0), 100, 3, 0.0) {
            learner.learn(Example::Cells(&x), Truth::Labels(&[if y > 0.0 { "yes" } else { "no" }]), 1.0);
        }
        let [no, yes] = learner.tasks() else { panic!("two labels") };
        no.weights().iter().zip(yes.weights()).for_each(|(a, b)| assert_eq!(*a, -*b, "{rule:?}"));
    }
}

#[test]
fn evidence_moves_to_common_scales_without_changing_what_it_says() {
    // With all but no prior, what is said of a row does not depend on the units of its columns.
    for target in [TargetChoice::Label, TargetChoice::Number] {
        let plan = LinearSettings {
            target,
            inputs: Inputs::Columns { n: 2, scale: true },
            bias: 0.7,
            sigma2: 1e9,
            ..settings(Rule::Gibbs, 2, 1.0)
        };
        let (mut learnt, mut silent) = (LinearLearner::new(plan).unwrap(), LinearLearner::new(plan).unwrap());
        let mut rng = stream(11, 0, 0);
        for (x, y) in rows(&mut rng, 300, 2, 0.0) {
            let number = 40.0 + 9.0 * x[0] - 2.0 * x[1] + rng.normal();
            let truth = match target {
                TargetChoice::Number => Truth::Number(number),
                _ => Truth::Labels(if y > 0.0 { &["a"] } else { &["b"] }),
            };
            learnt.learn(Example::Cells(&[5.0 + x[0], 100.0 * x[1]]), truth, 1.0);
        }
        for (x, _) in rows(&mut rng, 100, 2, 0.0) {
            silent.learn(Example::Cells(&[30.0 + 4.0 * x[0], 7.0 + x[1]]), Truth::Unknown, 1.0);
        }
        let merged = LinearLearner::merged(&[(&learnt, None), (&silent, None)], 0).unwrap();
        assert_eq!((merged.n_seen(), merged.n_unlabelled()), (400, 100));
        for probe in [[5.5, 20.0], [4.0, -150.0]] {
            let (a, b) = (learnt.judge(Example::Cells(&probe)), merged.judge(Example::Cells(&probe)));
            assert_eq!(a.labels, b.labels);
            for (a, b) in a.scores.iter().zip(&b.scores).filter(|_| target == TargetChoice::Label) {
                assert!((a - b).abs() < 1e-5 * (1.0 + a.abs()), "{a} {b}");
            }
            assert!(a.number.is_nan() && b.number.is_nan() || (a.number - b.number).abs() < 1e-4, "{a:?} {b:?}");
            let (a, b) = (a.deviation.unwrap(), b.deviation.unwrap());
            assert!((a / b - 1.0).abs() < 1e-4, "{a} {b}");
        }
    }
}

#[test]
fn merged_with_nothing_learnt_is_the_same_to_rounding() {
    let plan = settings(Rule::Gibbs, 3, 1.0);
    let mut learnt = LinearLearner::new(plan).unwrap();
    for (x, y) in rows(&mut stream(12, 0, 0), 200, 3, 0.0) {
        learnt.learn(Example::Cells(&x), Truth::Labels(if y > 0.0 { &["a"] } else { &["b"] }), 1.0);
    }
    let nothing = LinearLearner::new(plan).unwrap();
    let merged = LinearLearner::merged(&[(&learnt, None), (&nothing, None)], 0).unwrap();
    for (one, other) in learnt.tasks().iter().zip(merged.tasks()) {
        one.weights().iter().zip(other.weights()).for_each(|(a, b)| assert!((a - b).abs() < 1e-11, "{a} {b}"));
    }
}

#[test]
fn gibbs_regression_finds_the_line() {
    let plan = LinearSettings {
        target: TargetChoice::Number,
        inputs: Inputs::Columns { n: 2, scale: true },
        epsilon: 0.05,
        bias: 1.0,
        ..settings(Rule::Gibbs, 2, 1.0)
    };
    let mut rng = stream(13, 0, 0);
    for rule in [Rule::Gibbs, Rule::PaOne, Rule::PaTwo, Rule::Average] {
        let plan =
            LinearSettings { rule, full: rule == Rule::Gibbs, c: if rule == Rule::Gibbs { 1.0 } else { 0.02 }, ..plan };
        let mut learner = LinearLearner::new(plan).unwrap();
        let number = |x: &[f64], noise: f64| 1000.0 + 30.0 * x[0] - 50.0 * x[1] + noise;
        for _ in 0..3000 {
            let x = [7.0 + rng.normal(), 0.1 * rng.normal()];
            learner.learn(Example::Cells(&x), Truth::Number(number(&x, rng.normal())), 1.0);
        }
        let probe = [8.0, -0.1];
        let judged = learner.judge(Example::Cells(&probe));
        // The noise of a row has deviation 1; a passive-aggressive learner follows the latest rows.
        assert!((judged.number - number(&probe, 0.0)).abs() < 1.5, "{rule:?}: {} {judged:?}", number(&probe, 0.0));
        assert!(learner.foretold().mean_absolute_error() < 0.25 * learner.foretold().mean_absolute_error_of_mean());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn precisions_stay_positive_definite(
        seed in 0u64..1000, d in 1usize..6, scale in -20.0f64..20.0, c in 1e-3f64..1e3, sigma2 in 1e-3f64..1e3,
    ) {
        let mut rng = stream(seed, 1, 0);
        let plan = LinearSettings { sigma2, ..settings(Rule::Gibbs, d, c) };
        let mut belief = Belief::new(d, sigma2);
        for row in 0..200 {
            // Rows that repeat, that lie on one line, and that are far apart in size.
            let size = 10f64.powf(scale * rng.uniform());
            let x: Vec<f64> = (0..d).map(|j| if row % 3 == 0 { size } else { size * rng.normal() * f64::from(j as u32) }).collect();
            let variance = belief.variance(&x);
            let hinge = Hinge::of_label(if rng.uniform() < 0.5 { 1.0 } else { -1.0 }, plan.epsilon);
            let said = augmented(&hinge, c, 3, size * rng.normal(), variance, |k| variance / (1.0 + k * variance));
            prop_assert!(said.precision > 0.0 && said.precision.is_finite() && said.pull.is_finite());
            belief.take_up(&x, said.precision, said.pull);
            prop_assert!(belief.fault().is_none());
        }
        // Nothing was ever taken away: no eigenvalue is below those of the prior, up to the rounding of the largest.
        let precision = belief.precision();
        let (mut values, mut vectors) = (vec![0.0; d], vec![0.0; d * d]);
        symmetric_eigen(&precision, d, &mut values, &mut vectors);
        let (least, most) = values.iter().fold((f64::MAX, 0.0f64), |(l, m), v| (l.min(*v), m.max(*v)));
        prop_assert!(least >= 1.0 / sigma2 - 200.0 * d as f64 * f64::EPSILON * most, "{least} of {most}");
        let mut copy = precision.clone();
        prop_assert!(most * f64::EPSILON * 100.0 > least || cholesky(&mut copy, d).is_ok());
    }
}
