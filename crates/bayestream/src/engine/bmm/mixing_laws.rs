//! What must hold of the part that all kinds share.

use super::*;
use crate::num;

/// A state and an observation with distinct values throughout.
fn case() -> (Mixing, Vec<f64>) {
    let mut mixing = Mixing::new(3.4, 0.7);
    for (z, nu) in [2.5, 0.4, 1.9, 3.1, 0.2].into_iter().enumerate() {
        mixing.set_nu(z, nu);
    }
    (mixing, [0.8, 2.3, 0.1, 1.4, 0.6, 0.9, 0.35, 1.1, 0.5, 0.75, 0.65, 0.55].repeat(4))
}

/// E\[θ_z\], E\[θ_z²\], p_z, E\[T\] and the predictive density, by drawing T, θ and z from the model itself.
#[test]
fn moments_and_shares_are_those_of_draws_from_the_model() {
    let (mut mixing, b) = case();
    let mut work = MixingWork::default();
    let k = mixing.attend(1e-12, 40, &mut work);
    let density = mixing.weigh(&b, &mut work);
    let theta = mixing.theta(&b, &mut work).clone();
    let n = 400_000;
    let mut rng = num::stream(9480, 0, 0);
    let (mut total, mut t_sum, mut squares) = (0.0, 0.0, 0.0);
    let (mut first, mut second, mut shares) = (vec![0.0; k], vec![0.0; k], vec![0.0; k]);
    let mut drawn = vec![0.0; k];
    for _ in 0..n {
        let t = 1 + rng.categorical(&work.chances);
        drawn[..t].iter_mut().zip(&mixing.nu).for_each(|(g, nu)| *g = rng.gamma(*nu));
        let sum: f64 = drawn[..t].iter().sum();
        // The weight of a draw is the density of the observation, the sum over z done exactly.
        let weight: f64 = (0..t).map(|z| drawn[z] / sum * b[z]).sum();
        total += weight;
        squares += weight * weight;
        t_sum += weight * t as f64;
        for z in 0..t {
            let share = drawn[z] / sum;
            first[z] += weight * share;
            second[z] += weight * share * share;
            shares[z] += share * b[z];
        }
    }
    // Five standard errors of a mean of n weighted draws of a number between 0 and 1.
    let error = 5.0 * (squares / (total * total)).sqrt();
    for z in 0..k {
        assert!((first[z] / total - theta.first[z]).abs() < error, "E[θ_{z}]");
        assert!((second[z] / total - theta.second[z]).abs() < error, "E[θ_{z}²]");
        assert!((shares[z] / total - work.shares[z]).abs() < error, "p_{z}");
    }
    assert!((t_sum / total - work.expected_t).abs() < 20.0 * error);
    assert!((total / f64::from(n) - density).abs() < 3.0 * error);
    assert!((work.shares.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    assert!((theta.first.iter().sum::<f64>() - 1.0).abs() < 1e-12);
}

#[test]
fn one_component_alone_counts_observations() {
    for rule in [Rule::Soft, Rule::Matched] {
        let mut mixing = Mixing::new(1.0, 0.6);
        let mut work = MixingWork::default();
        for n in 1..=7 {
            assert_eq!(mixing.attend(1e-3, 1, &mut work), 1);
            assert!((mixing.weigh(&[2.5], &mut work) - 2.5).abs() < 1e-12);
            mixing.learn(rule, &[2.5], 1.0, &mut work);
            assert!((mixing.nu()[0] - 0.6 - f64::from(n)).abs() < 1e-9, "{rule:?}: {:?}", mixing.nu());
        }
    }
}

/// With the number of components known and z told by the observation, both rules are the conjugate update.
#[test]
fn an_observation_that_tells_its_component_is_counted_there() {
    let mut mixing = Mixing::new(3.0, 1.0);
    let mut work = MixingWork::default();
    mixing.attend(1e-9, 3, &mut work);
    // T = 3 for certain.
    work.chances = vec![0.0, 0.0, 1.0];
    [0.5, 1.5, 2.5].into_iter().enumerate().for_each(|(z, nu)| mixing.set_nu(z, nu));
    let b = [0.0, 3.0, 0.0];
    mixing.weigh(&b, &mut work);
    for rule in [Rule::Soft, Rule::Matched] {
        let mut after = mixing.clone();
        after.learn(rule, &b, 1.0, &mut work);
        let expected = [0.5, 2.5, 2.5];
        assert!(after.nu().iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-9), "{rule:?}: {:?}", after.nu());
    }
}

/// As printed any one second moment gives the precision; different ones give different precisions.
#[test]
fn single_second_moments_disagree_and_the_pooled_one_lies_between() {
    let (mut mixing, b) = case();
    let mut work = MixingWork::default();
    let k = mixing.attend(1e-6, 5, &mut work);
    mixing.weigh(&b, &mut work);
    let theta = mixing.theta(&b, &mut work).clone();
    let single = |j: usize| (theta.first[j] - theta.second[j]) / (theta.second[j] - theta.first[j].powi(2));
    let all: Vec<f64> = (0..k).map(single).collect();
    let (low, high) = all.iter().fold((f64::INFINITY, 0.0f64), |(l, h), s| (l.min(*s), h.max(*s)));
    let pooled = pooled_precision(&theta).unwrap();
    assert!(high > 1.3 * low && low <= pooled && pooled <= high, "{all:?} {pooled}");
}

/// ν = α keeps P(T ≥ z) in α and multiplies by it again: the weight of an idle component falls at every observation.
#[test]
fn the_printed_rule_starves_idle_components_and_the_soft_one_does_not() {
    let idle = |rule: Rule| {
        let mut mixing = Mixing::new(3.0, 1.0);
        let mut work = MixingWork::default();
        for _ in 0..100 {
            let k = mixing.attend(1e-6, 50, &mut work);
            // The first component explains everything.
            let b: Vec<f64> = (0..k).map(|z| if z == 0 { 1.0 } else { 1e-12 }).collect();
            mixing.weigh(&b, &mut work);
            mixing.learn(rule, &b, 1.0, &mut work);
        }
        mixing.nu()[1]
    };
    assert!(idle(Rule::Matched) < 1e-6, "{}", idle(Rule::Matched));
    assert!((idle(Rule::Soft) - 1.0).abs() < 1e-6, "{}", idle(Rule::Soft));
}

#[test]
fn impossible_observations_change_nothing() {
    let (mut mixing, _) = case();
    let mut work = MixingWork::default();
    let k = mixing.attend(1e-6, 50, &mut work);
    let before = mixing.clone();
    assert_eq!(mixing.weigh(&vec![0.0; k], &mut work), 0.0);
    mixing.learn(Rule::Matched, &vec![0.0; k], 1.0, &mut work);
    assert_eq!(mixing, before);
}

#[test]
fn the_shares_of_the_blank_go_to_one_of_them() {
    let mut work = MixingWork { shares: vec![0.4, 0.1, 0.25, 0.05, 0.2], ..MixingWork::default() };
    work.gather(|z| z == 1 || z >= 3);
    assert_eq!(work.shares(), [0.4, 0.0, 0.25, 0.0, 0.1 + 0.05 + 0.2]);
    // Of equal ones the first; with none that is blank nothing happens.
    let mut work = MixingWork { shares: vec![0.5, 0.25, 0.25], ..MixingWork::default() };
    work.gather(|z| z > 0);
    assert_eq!(work.shares(), [0.5, 0.5, 0.0]);
    work.gather(|_| false);
    assert_eq!(work.shares(), [0.5, 0.5, 0.0]);
}
