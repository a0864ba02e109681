//! What the engines of this folder must be, where it can be said exactly.

use super::expect::Work;
use super::*;
use crate::data::Batch;
use crate::engine::Learner;
use crate::family::{FullGaussian, Ppca, WishartScratch};
use crate::model::Kind;
use crate::num::{digamma, ln_gamma};
use crate::synthetic::{Covariance, MppcaTruth, ofab_truth};
use std::f64::consts::LN_2;

fn learner<F: Family, R: Rule>(kind: Kind, d: usize, change: impl FnOnce(&mut Settings)) -> Vb<F, R> {
    let mut config = Config { seed: 20_300, ..Config::new(kind, (0..d).map(|j| format!("x{j}")).collect()) };
    change(&mut config.settings);
    Vb::new(&config)
}

fn svb(d: usize, change: impl FnOnce(&mut Settings)) -> Vb<FullGaussian, Svb> {
    learner(Kind::GmmSvb, d, change)
}

fn sda(d: usize, change: impl FnOnce(&mut Settings)) -> Vb<FullGaussian, SdaDp> {
    learner(Kind::GmmSdaDp, d, change)
}

fn feed<F: Family, R: Rule>(learner: &mut Vb<F, R>, rows: &[f64], n_rows: usize) {
    let d = learner.n_columns;
    rows.chunks(n_rows * d).for_each(|rows| {
        learner.update(&Batch::new(rows, d).unwrap());
    });
}

/// Statistics of one component, written out.
struct Plain {
    n: f64,
    mean: Vec<f64>,
    scatter: Vec<f64>,
}

/// Variational Bayes of a whole batch from given prior means, in plain loops and without any of the library's algebra
/// but its special functions; two columns, S⁻¹ and |S| by hand.
fn batch_vb(
    rows: &[f64],
    centres: &[Vec<f64>],
    (c0, nu0, s0, alpha): (f64, f64, f64, f64),
    rounds: usize,
) -> Vec<Plain> {
    let k = centres.len();
    let zero = |c: &Vec<f64>| Plain { n: 0.0, mean: c.clone(), scatter: vec![0.0; 4] };
    let mut stats: Vec<Plain> = centres.iter().map(zero).collect();
    for _ in 0..rounds {
        let total: f64 = stats.iter().map(|s| s.n).sum();
        let mut q: Vec<Vec<f64>> = Vec::new();
        for row in rows.chunks(2) {
            let log_joint: Vec<f64> = stats
                .iter()
                .zip(centres)
                .map(|(s, m0)| {
                    let (c, nu) = (c0 + s.n, nu0 + s.n);
                    let between = c0 * s.n / c;
                    let m: Vec<f64> = (0..2).map(|j| (c0 * m0[j] + s.n * s.mean[j]) / c).collect();
                    let off = [s.mean[0] - m0[0], s.mean[1] - m0[1]];
                    let a = s0 + s.scatter[0] + between * off[0] * off[0];
                    let b = s.scatter[1] + between * off[0] * off[1];
                    let e = s0 + s.scatter[3] + between * off[1] * off[1];
                    let det = a * e - b * b;
                    let y = [row[0] - m[0], row[1] - m[1]];
                    let distance = (e * y[0] * y[0] - 2.0 * b * y[0] * y[1] + a * y[1] * y[1]) / det;
                    let log_det = digamma(nu / 2.0) + digamma((nu - 1.0) / 2.0) + 2.0 * LN_2 - det.ln();
                    let log_weight = digamma(alpha / k as f64 + s.n) - digamma(alpha + total);
                    log_weight + 0.5 * (log_det - 2.0 / c - nu * distance)
                })
                .collect();
            let largest = log_joint.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let sum: f64 = log_joint.iter().map(|l| (l - largest).exp()).sum();
            q.push(log_joint.iter().map(|l| (l - largest).exp() / sum).collect());
        }
        for (at, stats) in stats.iter_mut().enumerate() {
            // Responsibilities below 1e-7 add nothing, as in the engines.
            let taken: Vec<(f64, &[f64])> =
                q.iter().zip(rows.chunks(2)).map(|(q, row)| (q[at], row)).filter(|(q, _)| *q > 1e-7).collect();
            stats.n = taken.iter().map(|(q, _)| q).sum();
            stats.mean = (0..2).map(|j| taken.iter().map(|(q, row)| q * row[j]).sum::<f64>() / stats.n).collect();
            for (ij, value) in stats.scatter.iter_mut().enumerate() {
                let off = |row: &[f64], j: usize| row[j] - stats.mean[j];
                *value = taken.iter().map(|(q, row)| q * off(row, ij / 2) * off(row, ij % 2)).sum();
            }
        }
    }
    stats
}

#[test]
fn one_batch_of_svb_is_batch_variational_bayes() {
    let (rows, _) = ofab_truth(4, 2, Covariance::Spd, 20_301).sample(700, 20_302);
    let rounds = 7;
    let mut online = svb(2, |s| {
        (s.start_components, s.inner) = (5, rounds);
        s.dirichlet.prior_scale = Some(0.15);
        s.dirichlet.c0 = Some(0.4);
        s.dirichlet.nu0 = Some(5.5);
        s.dirichlet.alpha = Some(2.5);
    });
    feed(&mut online, &rows, 700);
    let mut framed = Vec::new();
    online.frame.as_ref().unwrap().push_rows(&rows, &mut framed);
    let centres: Vec<Vec<f64>> = online.comps.iter().map(|c| c.prior.mean().to_vec()).collect();
    assert_eq!(centres.len(), 5);
    // S₀ = 0.15 (ν₀ − d − 1).
    let plain = batch_vb(&framed, &centres, (0.4, 5.5, 0.15 * 2.5, 2.5), rounds);
    let near = |a: f64, b: f64| (a - b).abs() < 1e-9 * (1.0 + a.abs());
    for (comp, plain) in online.comps.iter().zip(&plain) {
        let Moments { count, mean, covariance } = &comp.moments;
        assert!(near(*count, plain.n), "{count} {}", plain.n);
        assert!(mean.iter().zip(&plain.mean).all(|(a, b)| near(*a, *b)));
        assert!(covariance.iter().zip(&plain.scatter).all(|(a, b)| near(a * count, *b)));
    }
    // The last round must still have moved something.
    let before = batch_vb(&framed, &centres, (0.4, 5.5, 0.15 * 2.5, 2.5), rounds - 1);
    assert!(before.iter().zip(&plain).any(|(a, b)| (a.n - b.n).abs() > 1e-3));
}

/// The variational bound of a batch when beliefs are at their best for the responsibilities: log marginal likelihoods
/// beyond those before the batch, and the entropy of the responsibilities.
fn bound<F: Family, R: Rule>(
    learner: &Vb<F, R>,
    base: &[Moments],
    n: usize,
    log_prior_of_counts: impl Fn(&[f64]) -> f64,
) -> f64 {
    let mut scratch = WishartScratch::default();
    let Work { posterior, .. } = &learner.work;
    let mut total = 0.0;
    for (k, comp) in learner.comps.iter().enumerate() {
        total += comp.prior.log_marginal(&comp.moments, &mut scratch) - comp.prior.log_marginal(&base[k], &mut scratch);
        total -= posterior.of(k, n).iter().filter(|q| **q > 0.0).map(|q| q * q.ln()).sum::<f64>();
    }
    let counts = |moments: &mut dyn Iterator<Item = f64>| moments.collect::<Vec<f64>>();
    let after = counts(&mut learner.comps.iter().map(|c| c.moments.count));
    let before = counts(&mut base.iter().map(|m| m.count));
    total + log_prior_of_counts(&after) - log_prior_of_counts(&before)
}

fn the_bound_rises<R: Rule>(mut learner: Vb<FullGaussian, R>, log_prior: impl Fn(&[f64]) -> f64) {
    let (rows, _) = ofab_truth(4, 3, Covariance::Spd, 20_303).sample(900, 20_304);
    feed(&mut learner, &rows[..600 * 3], 600);
    let mut block = RowBlock::default();
    block.load_with(3, |into| learner.frame.as_ref().unwrap().push_rows(&rows[600 * 3..], into));
    learner.n_updates += 1;
    if R::GROWS {
        learner.add_at_seeds(4, &block, None);
    }
    let base: Vec<Moments> = learner.comps.iter().map(|c| c.moments.clone()).collect();
    learner.work.taken.clear();
    let mut bounds = Vec::new();
    for _ in 0..25 {
        learner.round(&mut block, None, &base, Blend { keep: 1.0, gain: 1.0 }, false);
        bounds.push(bound(&learner, &base, 300, &log_prior));
    }
    // Responsibilities below 1e-7 are left out of the statistics: up to 300 K of them, at some tens of nats each.
    assert!(bounds.windows(2).all(|pair| pair[1] > pair[0] - 1e-3), "{bounds:?}");
    assert!(bounds[24] > bounds[0] + 0.1, "{bounds:?}");
}

#[test]
fn the_bound_never_falls() {
    let alpha = 1.7;
    the_bound_rises(
        svb(3, |s| {
            s.start_components = 6;
            s.dirichlet.alpha = Some(alpha);
        }),
        |counts| {
            let own = alpha / counts.len() as f64;
            counts.iter().map(|n| ln_gamma(own + n)).sum::<f64>() - ln_gamma(alpha + counts.iter().sum::<f64>())
        },
    );
    the_bound_rises(
        sda(3, |s| {
            s.start_components = 3;
            s.dirichlet.alpha = Some(alpha);
        }),
        |counts| {
            let stick = |k: usize| {
                let (a, b) = (1.0 + counts[k], alpha + counts[k + 1..].iter().sum::<f64>());
                ln_gamma(a) + ln_gamma(b) - ln_gamma(a + b)
            };
            (0..counts.len()).map(stick).sum()
        },
    );
}

#[test]
fn a_trust_region_step_is_taken_in_natural_parameters() {
    // One component takes every row, so that the step can be written down: raw moments about the origin.
    let (rows, _) = ofab_truth(2, 2, Covariance::Aat, 20_305).sample(350, 20_306);
    let mut online: Vb<FullGaussian, Strust> =
        learner(Kind::GmmStrust, 2, |s| (s.start_components, s.warm_up, s.tau, s.kappa) = (1, 100, 3.0, 0.6));
    feed(&mut online, &rows[..200], 100);
    feed(&mut online, &rows[200..], 50);
    let mut framed = Vec::new();
    online.frame.as_ref().unwrap().push_rows(&rows, &mut framed);
    let (mut eta, mut seen) = ([0.0; 3], 0.0);
    let pieces =
        [&framed[..200], &framed[200..300], &framed[300..400], &framed[400..500], &framed[500..600], &framed[600..]];
    for (t, piece) in pieces.iter().enumerate() {
        let n = (piece.len() / 2) as f64;
        seen += n;
        let rho = (4.0 + t as f64).powf(-0.6);
        let sums = piece.chunks(2).fold([0.0; 3], |s, r| [s[0] + 1.0, s[1] + r[0], s[2] + r[0] * r[1]]);
        (0..3).for_each(|i| eta[i] = (1.0 - rho) * eta[i] + rho * seen / n * sums[i]);
    }
    let Moments { count, mean, covariance } = &online.comps[0].moments;
    let found = [*count, count * mean[0], count * (covariance[1] + mean[0] * mean[1])];
    assert!((0..3).all(|i| (found[i] - eta[i]).abs() < 1e-9 * (1.0 + eta[0])), "{found:?} {eta:?}");
}

#[test]
fn statistics_of_shards_add_exactly() {
    let (rows, _) = ofab_truth(3, 2, Covariance::Aat, 20_307).sample(1800, 20_308);
    let one = |s: &mut Settings| s.start_components = 1;
    let mut whole = svb(2, one);
    feed(&mut whole, &rows, 600);
    let shards: Vec<Vb<FullGaussian, Svb>> = rows
        .chunks(600 * 2)
        .map(|rows| {
            let mut shard = svb(2, one);
            feed(&mut shard, rows, 600);
            shard
        })
        .collect();
    let merged = Vb::merged(shards.iter(), 0);
    assert_eq!((merged.comps.len(), merged.n_seen), (1, 1800));
    let (a, b) = (&merged.realize(0.0)[0], &whole.realize(0.0)[0]);
    let near = |a: f64, b: f64| (a - b).abs() < 1e-10 * (1.0 + a.abs());
    assert!(near(a.count, b.count));
    assert!(a.mean.iter().chain(&a.covariance).zip(b.mean.iter().chain(&b.covariance)).all(|(a, b)| near(*a, *b)));
}

#[test]
fn one_shard_merged_is_itself() {
    let (rows, _) = ofab_truth(5, 3, Covariance::Aat, 20_309).sample(1500, 20_310);
    let mut alone = sda(3, |_| ());
    feed(&mut alone, &rows, 50);
    let merged = Vb::merged(std::iter::once(&alone), 0);
    assert_eq!((merged.n_seen, merged.seen, merged.n_steps), (alone.n_seen, alone.seen, alone.n_steps));
    assert_eq!(merged.comps.len(), alone.comps.len());
    for (a, b) in merged.comps.iter().zip(&alone.comps) {
        assert_eq!((a.id, &a.moments, &a.belief, &a.density), (b.id, &b.moments, &b.belief, &b.density));
    }
}

#[test]
fn workers_that_saw_the_same_clusters_are_matched() {
    let truth = ofab_truth(6, 4, Covariance::Aat, 20_311);
    let shards: Vec<Vb<FullGaussian, SdaDp>> = (0..3)
        .map(|shard| {
            let mut config =
                Config { shard, ..Config::new(Kind::GmmSdaDp, vec!["a".into(), "b".into(), "c".into(), "d".into()]) };
            config.settings.dirichlet.prior_scale = Some(0.1);
            let mut worker = Vb::new(&config);
            feed(&mut worker, &truth.sample(2000, 20_312 + u64::from(shard)).0, 100);
            worker
        })
        .collect();
    let most = shards.iter().map(|s| s.comps.len()).max().unwrap();
    let merged = Vb::merged(shards.iter(), 0);
    // What each worker has is there once; a cluster that one of them has twice is matched once.
    let all: usize = shards.iter().map(|s| s.comps.len()).sum();
    assert!(merged.comps.len() >= 6 && merged.comps.len() < most + (all - most) / 3, "{}", merged.comps.len());
    assert!((merged.mass() - 6000.0).abs() < 1e-3, "{}", merged.mass());
}

#[test]
fn a_dirichlet_process_takes_in_what_is_new_and_stays_in_bounds() {
    let late = |rows: Vec<f64>| rows.iter().map(|v| v + 40.0).collect::<Vec<f64>>();
    let truth = ofab_truth(2, 2, Covariance::Aat, 20_315);
    let run = |max_components: usize| {
        let mut online = sda(2, |s| s.max_components = max_components);
        feed(&mut online, &truth.sample(1000, 20_316).0, 50);
        let before = online.comps.len();
        feed(&mut online, &late(truth.sample(500, 20_317).0), 50);
        (before, online)
    };
    let (before, free) = run(200);
    assert!(free.comps.len() >= before + 2, "{} {before}", free.comps.len());
    assert!((free.mass() - 1500.0).abs() < 1e-3, "no row is lost: {}", free.mass());
    assert_eq!(free.events.iter().filter(|e| e.what == Happening::Born).count(), free.comps.len());
    assert_eq!(run(3).1.comps.len(), 3);
}

#[test]
fn principal_subspaces_are_found() {
    let truth = MppcaTruth::new(6, &[1, 3], 20_318);
    let mut online: Vb<Ppca, Strust> = learner(Kind::MppcaStrust, 6, |s| s.start_components = 2);
    feed(&mut online, &truth.truth.sample(6000, 20_319).0, 100);
    let mut dims: Vec<Option<usize>> = online.realize(0.0).iter().map(|c| c.latent_dim).collect();
    dims.sort();
    assert_eq!(dims, [Some(1), Some(3)]);
}
