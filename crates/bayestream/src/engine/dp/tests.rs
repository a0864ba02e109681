//! Limits in which one rule must equal another, and greedy steps against enumeration.

use super::core::{Core, Rule};
use super::prior::Prior;
use crate::family::{Moments, WishartScratch};
use crate::model::{DirichletSettings, PruneMerge, Settings};
use crate::num::{self, ln_gamma};
use crate::synthetic::grid_truth;

pub(super) fn core(rule: Rule, d: usize, change: impl FnOnce(&mut DirichletSettings)) -> Core {
    let mut settings = Settings::default();
    settings.dirichlet = DirichletSettings { prior_scale: Some(0.05), nu0: Some(d as f64 + 4.0), ..settings.dirichlet };
    change(&mut settings.dirichlet);
    let prior = Prior::new(d, 0.05, 3.0, &settings.dirichlet).unwrap();
    Core::new(rule, &settings, 3, prior)
}

/// Rows of a grid with unit variance in each column, as in a frame.
pub(super) fn rows(n: usize, seed: u64) -> Vec<f64> {
    grid_truth(3, 1.2, 0.02).sample(n, seed).0
}

fn same(a: &Core, b: &Core) {
    assert_eq!(a.comps.len(), b.comps.len());
    for (a, b) in a.comps.iter().zip(&b.comps) {
        assert_eq!((a.id, &a.moments, &a.posterior), (b.id, &b.moments, &b.posterior));
    }
}

#[test]
fn sva_that_takes_the_likeliest_is_sugs() {
    let [mut sugs, mut sva] = [Rule::Sugs, Rule::Sva].map(|rule| core(rule, 2, |s| s.alpha = Some(0.8)));
    for row in rows(400, 20_201).chunks(2) {
        let densities = (sugs.assign(row, 1.0, true), sva.assign(row, 1.0, true));
        assert_eq!(densities.0, densities.1);
    }
    same(&sugs, &sva);
    assert!(sugs.comps.len() > 5);
}

#[test]
fn a_grid_of_one_concentration_is_that_concentration() {
    let mut fixed = core(Rule::Asugs, 2, |s| s.alpha = Some(0.8));
    let mut grid = core(Rule::Sugs, 2, |s| s.alpha_grid = vec![0.8]);
    for row in rows(400, 20_202).chunks(2) {
        fixed.learn_row(row, 1.0);
        grid.learn_row(row, 1.0);
    }
    same(&fixed, &grid);
}

/// p(rows, partition) = α^K Γ(α)/Γ(α + n) ∏ Γ(n_k) ML_k, every block from its rows alone.
fn log_joint(core: &Core, rows: &[f64], labels: &[usize], alpha: f64) -> f64 {
    let d = core.prior.clustering.n_columns();
    let k = labels.iter().max().map_or(0, |l| l + 1);
    let mut total = k as f64 * alpha.ln() + ln_gamma(alpha) - ln_gamma(alpha + labels.len() as f64);
    for block in 0..k {
        let mut moments = Moments::empty_at(&vec![0.0; d]);
        for (row, _) in rows.chunks(d).zip(labels).filter(|(_, l)| **l == block) {
            moments.add_scaled(1.0, &Moments { count: 1.0, mean: row.to_vec(), covariance: vec![0.0; d * d] });
        }
        let log_marginal = core.prior.clustering.log_marginal(&moments, &mut WishartScratch::default());
        total += ln_gamma(moments.count) + log_marginal;
    }
    total
}

/// All partitions of n rows as labels, each new label one more than the largest before.
fn partitions(n: usize) -> Vec<Vec<usize>> {
    (0..n).fold(vec![Vec::new()], |all, _| {
        all.into_iter()
            .flat_map(|labels| {
                let k = labels.iter().max().map_or(0, |l| l + 1);
                (0..=k).map(move |next| labels.iter().copied().chain([next]).collect())
            })
            .collect()
    })
}

#[test]
fn every_greedy_step_is_the_likeliest_extension_of_the_partition() {
    assert_eq!([1, 2, 5, 15, 52, 203].map(|n| n), [1, 2, 3, 4, 5, 6].map(|n| partitions(n).len()));
    let alpha = 0.8;
    let (mut n_new, mut n_old) = (0, 0);
    for seed in 0..12 {
        let rows: Vec<f64> = {
            let mut rng = num::stream(20_203, seed, 0);
            (0..12).map(|_| 0.6 * rng.normal()).collect()
        };
        let mut core = core(Rule::Sugs, 2, |s| s.alpha = Some(alpha));
        let mut labels: Vec<usize> = Vec::new();
        for n in 1..=6 {
            let counts: Vec<f64> = core.comps.iter().map(|c| c.moments.count).collect();
            let before = log_joint(&core, &rows, &labels, alpha);
            let log_density = core.assign(&rows[(n - 1) * 2..n * 2], 1.0, true);
            let chosen = (0..counts.len()).find(|&k| core.comps[k].moments.count > counts[k]).unwrap_or(counts.len());
            let extensions = partitions(n).into_iter().filter(|p| p[..n - 1] == labels[..]);
            let joint: Vec<(f64, usize)> =
                extensions.map(|p| (log_joint(&core, &rows[..n * 2], &p, alpha), p[n - 1])).collect();
            let best = joint.iter().copied().max_by(|a, b| a.0.total_cmp(&b.0)).unwrap();
            assert_eq!(chosen, best.1, "seed {seed}, row {n}");
            // What was foretold is the ratio of sums over partitions.
            let total = num::log_sum_exp(&joint.iter().map(|j| j.0).collect::<Vec<_>>());
            assert!((log_density - (total - before)).abs() < 1e-9, "{log_density} {}", total - before);
            if chosen == counts.len() {
                n_new += 1
            } else {
                n_old += 1
            };
            labels.push(chosen);
        }
    }
    assert!(n_new > 15 && n_old > 15, "{n_new} {n_old}");
}

#[test]
fn soft_shares_keep_the_mass_and_hold_back_new_components() {
    let mut eager = core(Rule::Sva, 2, |s| s.epsilon = 1e-6);
    let mut slow = core(Rule::Sva, 2, |s| s.epsilon = 0.5);
    for row in rows(300, 20_204).chunks(2) {
        eager.learn_row(row, 1.5);
        slow.learn_row(row, 1.5);
    }
    for core in [&eager, &slow] {
        let mass: f64 = core.comps.iter().map(|c| c.moments.count).sum();
        // Shares below 1e-7 are left out.
        assert!((mass - 450.0).abs() < 1e-3 && (core.mass - 450.0).abs() < 1e-9, "{mass}");
    }
    assert!(eager.comps.len() > slow.comps.len());
}

#[test]
fn pruning_and_merging_reduce_and_exact_merging_keeps_every_row() {
    let rows = rows(600, 20_205);
    let run = |prune_merge| {
        let mut core = core(Rule::Asugs, 2, |s| {
            (s.prune_merge, s.prune_every, s.prune_below, s.merge_below) = (prune_merge, 40, 0.01, 0.03);
            s.prior_scale = Some(0.05);
        });
        rows.chunks(2).for_each(|row| {
            core.learn_row(row, 1.0);
        });
        core
    };
    let [off, paper, exact] = [PruneMerge::Off, PruneMerge::Paper, PruneMerge::Exact].map(run);
    assert!(paper.comps.len() <= off.comps.len() && exact.comps.len() <= off.comps.len());
    assert!(exact.comps.len() >= 7, "{}", exact.comps.len());
    let mut merged = off.clone();
    merged.merge_all();
    let mass: f64 = merged.comps.iter().map(|c| c.moments.count).sum();
    assert!((mass - 600.0).abs() < 1e-9);
    let mean = |core: &Core, j: usize| core.comps.iter().map(|c| c.moments.count * c.moments.mean[j]).sum::<f64>();
    for j in 0..2 {
        let sum: f64 = rows.iter().skip(j).step_by(2).sum();
        assert!((mean(&merged, j) - sum).abs() < 1e-9 && (mean(&off, j) - sum).abs() < 1e-9);
    }
}

#[test]
fn no_more_components_than_asked_for() {
    for most in [1, 3] {
        let mut core = core(Rule::Asugs, 2, |_| ());
        core.settings.max_components = most;
        for row in rows(300, 20_206).chunks(2) {
            core.learn_row(row, 1.0);
            assert!(core.comps.len() <= most);
        }
        let mass: f64 = core.comps.iter().map(|c| c.moments.count).sum();
        assert!((mass - 300.0).abs() < 1e-9);
    }
}

/// Adds n round rows about (x, 0) to a component, whoever would have taken them, and looks at the structure.
fn take(core: &mut Core, at: usize, x: f64, n: usize, step: u64) {
    let mut rng = num::stream(20_207, 0, step);
    for _ in 0..n {
        let row = [x + 0.2 * rng.normal(), 0.2 * rng.normal()];
        let Core { comps, prior, work, .. } = core;
        comps[at].add_row(&row, 1.0, prior, &mut work.comp);
    }
    core.mass += n as f64;
    core.n_learnt += n as u64;
    core.next_structure = 0;
    core.look();
}

fn counts(core: &Core) -> Vec<(u32, f64)> {
    core.comps.iter().map(|c| (c.id.serial, c.moments.count.round())).collect()
}

#[test]
fn rows_that_are_unlike_those_before_leave_as_one() {
    let mut core = core(Rule::Lazy, 2, |_| {});
    core.birth(&[0.0, 0.0], 1.0);
    take(&mut core, 0, 0.0, 299, 0);
    take(&mut core, 0, 0.0, 100, 1);
    assert_eq!(counts(&core), [(0, 400.0)]);
    // Another class: it is found, and the rows before it stay as they were.
    take(&mut core, 0, 1.2, 250, 2);
    assert_eq!(counts(&core), [(0, 400.0), (1, 250.0)]);
    assert!(core.comps[0].moments.mean[0].abs() < 0.05 && (core.comps[1].moments.mean[0] - 1.2).abs() < 0.06);
    // More of it, by the same mistake: to the component that it has by now.
    take(&mut core, 0, 1.2, 50, 3);
    assert_eq!(counts(&core), [(0, 400.0), (1, 300.0)]);
    // Rows like those before are no reason for anything.
    take(&mut core, 0, 0.0, 200, 4);
    assert_eq!(counts(&core), [(0, 600.0), (1, 300.0)]);
}
