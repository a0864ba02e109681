//! Laws that hold whatever the numbers: densities integrate to one, responsibilities add up, missing cells are
//! integrated over, divergences are not negative.

use bayestream::data::Batch;
use bayestream::engine::parts::{Gather, accumulate};
use bayestream::family::Gauss;
use bayestream::metrics::kl_divergence;
use bayestream::model::{Config, KINDS, Kind, Model, Variant};
use bayestream::num;
use bayestream::structure::{Component, ComponentId, EventLog, LogScore, Posterior, RowBlock, Snapshot};
use bayestream::synthetic::{Covariance, Truth, ofab_truth};
use proptest::prelude::*;

fn columns(d: usize) -> Vec<String> {
    (1..=d).map(|j| format!("x{j}")).collect()
}

/// A snapshot with these components.
fn snapshot_of(truth: &Truth) -> Snapshot {
    let component = |k: usize| Component {
        id: ComponentId { shard: 0, serial: k as u32 },
        weight: truth.weights[k],
        count: 1000.0 * truth.weights[k],
        mean: truth.means[k].clone(),
        covariance: truth.covariances[k].clone(),
        latent_dim: None,
        basis: None,
    };
    Snapshot {
        n_seen: 1000,
        columns: columns(truth.n_columns()),
        k_implemented: truth.n_components(),
        components: (0..truth.n_components()).map(component).collect(),
        pool: None,
        log_score: LogScore::default(),
        events: EventLog::default(),
    }
}

fn learnt(kind: Kind, variant: Variant, truth: &Truth, n: usize, seed: u64) -> Snapshot {
    let mut config = Config { seed, ..Config::new(kind, columns(truth.n_columns())) };
    config.settings.variant = variant;
    let mut model = Model::new(config).unwrap();
    let (rows, _) = truth.sample(n, seed);
    for batch in rows.chunks(50 * truth.n_columns()) {
        model.update(&Batch::new(batch, truth.n_columns()).unwrap()).unwrap();
    }
    model.finish();
    model.snapshot()
}

/// Points and weights of the trapezoid rule along a column. On Gaussians it covers every component by ten standard
/// deviations and errs by 2 exp(−2π²/h²) with the step in standard deviations: below 1e-12 at a half of one. Where
/// heavy tails are pooled, points are spread by sinh, out to where they hold less than 1e-10.
fn axis(snapshot: &Snapshot, column: usize, smallest_sd: f64) -> Vec<(f64, f64)> {
    let d = snapshot.columns.len();
    let sd = |c: &Component| c.covariance[column * d + column].sqrt();
    let low = snapshot.components.iter().map(|c| c.mean[column] - 10.0 * sd(c)).fold(f64::INFINITY, f64::min);
    let high = snapshot.components.iter().map(|c| c.mean[column] + 10.0 * sd(c)).fold(f64::NEG_INFINITY, f64::max);
    if snapshot.pool.is_none() {
        let step = 0.5 * smallest_sd;
        return (0..=((high - low) / step).ceil() as usize).map(|i| (low + step * i as f64, step)).collect();
    }
    let (centre, reach) = ((low + high) / 2.0, (high - low) / 2.0);
    // At the farthest component neighbours are reach · step · cosh(1) apart.
    let step = 0.3 * smallest_sd / (reach * 1.6);
    let n = (12.0 / step).ceil() as i64;
    (-n..=n)
        .map(|i| {
            let t = i as f64 * step;
            (centre + reach * t.sinh(), reach * t.cosh() * step)
        })
        .collect()
}

/// The smallest standard deviation of any component in any direction.
fn smallest_sd(snapshot: &Snapshot) -> f64 {
    let d = snapshot.columns.len();
    let of = |c: &Component| {
        let (mut values, mut vectors) = (vec![0.0; d], vec![0.0; d * d]);
        num::symmetric_eigen(&c.covariance, d, &mut values, &mut vectors);
        values[d - 1].sqrt()
    };
    snapshot.components.iter().map(of).fold(f64::INFINITY, f64::min)
}

fn densities(snapshot: &Snapshot, rows: &[f64]) -> Vec<f64> {
    let mut log_densities = Vec::new();
    snapshot.scorer().log_densities(rows, &mut log_densities);
    log_densities.iter().map(|l| l.exp()).collect()
}

#[test]
fn learnt_densities_integrate_to_one_in_one_column() {
    let truth = Truth {
        weights: vec![0.35, 0.65],
        means: vec![vec![-3.0], vec![4.0]],
        covariances: vec![vec![0.5], vec![2.0]],
    };
    for info in &KINDS {
        for variant in [Variant::Default, Variant::Paper] {
            let snapshot = learnt(info.kind, variant, &truth, 900, 20_001);
            let axis = axis(&snapshot, 0, smallest_sd(&snapshot));
            let grid: Vec<f64> = axis.iter().map(|(x, _)| *x).collect();
            let total: f64 = densities(&snapshot, &grid).iter().zip(&axis).map(|(p, (_, w))| p * w).sum();
            assert!((total - 1.0).abs() < 1e-9, "{} {variant:?}: {total}", info.name);
        }
    }
}

#[test]
fn learnt_densities_integrate_to_one_in_two_columns_and_missing_cells_are_integrated_over() {
    let truth = ofab_truth(3, 2, Covariance::Spd, 20_002);
    for info in &KINDS {
        let snapshot = learnt(info.kind, Variant::Default, &truth, 900, 20_003);
        let smallest = smallest_sd(&snapshot);
        let (axis_x, axis_y) = (axis(&snapshot, 0, smallest), axis(&snapshot, 1, smallest));
        let holed: Vec<f64> = axis_x.iter().flat_map(|(x, _)| [*x, f64::NAN]).collect();
        let marginals = densities(&snapshot, &holed);
        let total: f64 = marginals.iter().zip(&axis_x).map(|(p, (_, w))| p * w).sum();
        assert!((total - 1.0).abs() < 1e-9, "{}: {total}", info.name);
        for ((x, _), marginal) in axis_x.iter().zip(&marginals).step_by(1 + axis_x.len() / 60) {
            let line: Vec<f64> = axis_y.iter().flat_map(|(y, _)| [*x, *y]).collect();
            let integral: f64 = densities(&snapshot, &line).iter().zip(&axis_y).map(|(p, (_, w))| p * w).sum();
            let close = (marginal - integral).abs() <= 1e-9 * marginal.max(1e-9);
            assert!(close, "{}: at {x} the marginal is {marginal}, the integral {integral}", info.name);
        }
    }
}

#[test]
fn the_mean_log_density_is_the_mean_of_log_densities_with_and_without_missing_cells() {
    let truth = ofab_truth(4, 3, Covariance::Aat, 20_004);
    let mut scorer = snapshot_of(&truth).scorer();
    let (mut rows, _) = truth.sample(101, 20_004);
    let mut each = Vec::new();
    for _ in 0..2 {
        scorer.log_densities(&rows, &mut each);
        let mean = each.iter().sum::<f64>() / 101.0;
        assert!((scorer.mean_log_density(&rows) - mean).abs() < 1e-12 * mean.abs());
        // The second time with a third of the cells missing, one row whole.
        rows.iter_mut().step_by(3).for_each(|cell| *cell = f64::NAN);
        rows[3..6].fill(f64::NAN);
    }
    scorer.log_densities(&rows[3..6], &mut each);
    assert!(each[0].abs() < 1e-9, "a row without cells is certain, its log-density is {}", each[0]);
}

#[test]
fn conditional_statistics_of_missing_cells_are_those_of_monte_carlo() {
    let mean = [0.5, -1.0, 2.0];
    let covariance = [1.5, 0.7, -0.4, 0.7, 1.1, 0.3, -0.4, 0.3, 0.8];
    let gauss = Gauss::with_covariance(&mean, &covariance);
    let row = [2.1, f64::NAN, f64::NAN];
    let (q, weight, centre) = (0.6, 2.5, [0.2, 0.1, -0.3]);
    let mut block = RowBlock::default();
    block.load(&row, 3);
    let mut gather = Gather::default();
    let got = accumulate(&mut gather, &mut block, &[q], Some(&[weight]), &gauss, &centre, false);
    assert!((got.mass - q * weight).abs() < 1e-15);

    // Missing cells from their own marginal, weighted by the density of the observed cell given them.
    let n = 200_000;
    let factor_2 = covariance[4].sqrt();
    let across = covariance[7] / factor_2;
    let factor_3 = (covariance[8] - across * across).sqrt();
    let mut rng = num::stream(20_005, 0, 0);
    let (mut total, mut sum, mut squares) = (0.0, vec![0.0; 3 + 9], vec![0.0; 3 + 9]);
    let mut values = Vec::with_capacity(n);
    for _ in 0..n {
        let (z2, z3) = (rng.normal(), rng.normal());
        let full = [row[0], mean[1] + factor_2 * z2, mean[2] + across * z2 + factor_3 * z3];
        let mut whitened = [0.0; 3];
        gauss.whitened(&full, &mut whitened);
        // The joint over the proposal, up to constants.
        let log_ratio = -0.5 * whitened.iter().map(|z| z * z).sum::<f64>() + 0.5 * (z2 * z2 + z3 * z3);
        let off: Vec<f64> = full.iter().zip(&centre).map(|(x, c)| x - c).collect();
        let mut value = off.clone();
        (0..9).for_each(|at| value.push(off[at / 3] * off[at % 3]));
        values.push((log_ratio.exp(), value));
    }
    for (ratio, value) in &values {
        total += ratio;
        (0..12).for_each(|at| sum[at] += ratio * value[at]);
    }
    for (ratio, value) in &values {
        (0..12).for_each(|at| squares[at] += (ratio * (value[at] - sum[at] / total)).powi(2));
    }
    for at in 0..12 {
        let (expected, error) = (sum[at] / total, squares[at].sqrt() / total);
        let found = match at {
            0..3 => got.sum[at],
            // The lower triangle is what is given.
            _ => {
                let (i, j) = ((at - 3) / 3, (at - 3) % 3);
                got.scatter[i.max(j) * 3 + i.min(j)]
            }
        } / (q * weight);
        assert!((found - expected).abs() <= 5.0 * error + 1e-12, "{at}: {found}, by Monte Carlo {expected} ± {error}");
    }
}

fn small_mixture() -> impl Strategy<Value = Truth> {
    (1usize..6, 1usize..5, 20_000u64..20_100).prop_map(|(k, d, seed)| ofab_truth(k, d, Covariance::Aat, seed))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn responsibilities_sum_to_one(truth in small_mixture(), cells in prop::collection::vec(-1e6..1e6_f64, 4..80)) {
        let d = truth.n_columns();
        let mut rows = cells[..cells.len() / d * d].to_vec();
        rows.iter_mut().step_by(5).for_each(|cell| *cell = f64::NAN);
        let gaussians: Vec<Gauss> =
            truth.means.iter().zip(&truth.covariances).map(|(m, c)| Gauss::with_covariance(m, c)).collect();
        let (mut block, mut posterior) = (RowBlock::default(), Posterior::default());
        block.load(&rows, d);
        let k = posterior.log_joint(&mut block, truth.weights.iter().map(|w| w.ln()).zip(&gaussians));
        posterior.normalise(k, block.n_rows());
        for i in 0..block.n_rows() {
            let total: f64 = (0..k).map(|c| posterior.of(c, block.n_rows())[i]).sum();
            prop_assert!((total - 1.0).abs() < 1e-12, "row {i}: {total}");
        }
    }

    #[test]
    fn divergences_are_not_negative_and_vanish_at_the_truth(truth in small_mixture(), seed in 20_000u64..20_100) {
        let itself = kl_divergence(&truth, &snapshot_of(&truth), 2000, seed);
        prop_assert!(itself.mean.abs() < 1e-12, "{itself:?}");
        let other = ofab_truth(truth.n_components(), truth.n_columns(), Covariance::Spd, seed ^ 1);
        let apart = kl_divergence(&truth, &snapshot_of(&other), 2000, seed);
        prop_assert!(apart.mean > 0.0, "{apart:?}");
    }
}

/// The scorer's responsibilities add up to one, agree with the component it names, and tell rows drawn from far apart
/// components where they were drawn.
#[test]
fn responsibilities_add_up_and_find_the_component_that_rows_were_drawn_from() {
    let mut truth = ofab_truth(4, 3, Covariance::Aat, 21);
    truth.means.iter_mut().enumerate().for_each(|(k, mean)| mean[k % 3] += 1000.0 * k as f64);
    let snapshot = snapshot_of(&truth);
    let (rows, places) = snapshot.sample_with_components(500, 8);
    assert_eq!(rows, snapshot.sample(500, 8));
    let (mut scorer, mut shares, mut scores) = (snapshot.scorer(), Vec::new(), Vec::new());
    scorer.responsibilities(&rows, &mut shares);
    scorer.score(&rows, &mut scores);
    for ((row, place), score) in shares.chunks_exact(4).zip(&places).zip(&scores) {
        assert!((row.iter().sum::<f64>() - 1.0).abs() < 1e-12, "{row:?}");
        assert!(row[*place] > 0.999, "{row:?} {place}");
        assert_eq!(score.component, Some(scorer.ids()[*place]));
        assert_eq!(score.responsibility, row[*place]);
    }
}
