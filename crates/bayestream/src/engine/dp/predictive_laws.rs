//! Predictions of `gmm/dp`: shards add, densities are densities, and nothing is absurd.

use super::{DirichletMixture, Rule};
use crate::data::Batch;
use crate::engine::Learner;
use crate::engine::parts::Pooling;
use crate::family::VARIANCE_FLOOR;
use crate::model::{Config, Kind};
use crate::num;
use crate::structure::Scorer;
use crate::synthetic::grid_truth;

fn learned(d: usize, rows: &[f64], shard: u32) -> DirichletMixture {
    let columns = (0..d).map(|j| format!("x{j}")).collect();
    let mut learner = DirichletMixture::new(&Config { shard, ..Config::new(Kind::GmmDp, columns) }, Rule::Lazy);
    rows.chunks(100 * d).for_each(|rows| {
        learner.update(&Batch::new(rows, d).unwrap());
    });
    learner
}

fn log_density(scorer: &mut Scorer, row: &[f64]) -> f64 {
    let mut out = Vec::new();
    scorer.log_densities(row, &mut out);
    out[0]
}

fn two_groups(n: usize, seed: u64) -> Vec<f64> {
    let mut rng = num::stream(20_221, seed, 0);
    (0..n).map(|i| if i % 3 == 0 { 4.0 + 0.3 * rng.normal() } else { rng.normal() }).collect()
}

#[test]
fn tables_of_shards_add_up() {
    let truth = grid_truth(3, 1.2, 0.02);
    let shards = [0, 1].map(|shard| learned(2, &truth.sample(1500, 20_220 + u64::from(shard)).0, shard));
    let merged = DirichletMixture::merged(shards.iter(), 2);
    let mut tables = Pooling::default();
    shards.iter().for_each(|shard| tables.add(&shard.pooling));
    tables.renew_whole(merged.comps().iter().map(|c| (c.rows(), c.told())), &[VARIANCE_FLOOR; 2]);
    for counts in [false, true] {
        let weights = [&tables, &merged.pooling].map(|pooling| pooling.pool(counts).unwrap().weights);
        assert_eq!(weights[0], weights[1]);
    }
}

#[test]
fn the_third_row_is_the_first_that_is_scored() {
    let rows = grid_truth(3, 1.2, 0.02).sample(40, 20_222).0;
    let mut learner = learned(2, &[], 0);
    for (i, row) in rows.chunks(2).enumerate() {
        let report = learner.update(&Batch::new(row, 2).unwrap());
        assert_eq!(report.n_scored, usize::from(i >= 2), "row {i}");
        assert!(report.log_score.is_finite());
    }
    assert_eq!(learner.scores_after(), Some(2));
}

#[test]
fn densities_integrate_to_one() {
    for n in [2, 7, 60, 1200] {
        let mut scorer = learned(1, &two_groups(n, 1), 0).scorer();
        // Points spread by sinh reach where next to nothing is left.
        let (step, reach) = (0.01, 2500);
        let mass: f64 = (-reach..=reach)
            .map(|i| {
                let t = f64::from(i) * step;
                log_density(&mut scorer, &[1.0 + 0.1 * t.sinh()]).exp() * 0.1 * t.cosh() * step
            })
            .sum();
        assert!((mass - 1.0).abs() < 1e-3, "{n} rows: {mass}");
    }
}

#[test]
fn rows_at_any_distance_are_above_a_bound() {
    let truth = grid_truth(3, 1.2, 0.02);
    for n in [3, 30, 900, 3000] {
        let learner = learned(2, &truth.sample(n, 20_223).0, 0);
        let mut scorer = learner.scorer();
        let pool = learner.pool().unwrap();
        assert!(pool.weights.iter().all(|w| *w >= 0.25 / (n as f64 + 1.0)), "{:?}", pool.weights);
        let logs: Vec<f64> = (1..9).map(|e| log_density(&mut scorer, &[10f64.powi(e), -3.0])).collect();
        // The background falls as a power of the distance: 2.5 degrees of freedom and 2 columns.
        let fastest = 4.5 * 10f64.ln() + 0.1;
        assert!(logs.windows(2).skip(2).all(|pair| pair[0] - pair[1] < fastest), "{n} rows: {logs:?}");
        assert!(logs[0] > -60.0, "{n} rows: {logs:?}");
    }
}

#[test]
fn a_constant_column_is_known_to_its_step() {
    let mut rng = num::stream(20_224, 0, 0);
    let rows: Vec<f64> = (0..1500).flat_map(|_| [rng.normal(), 5.0]).collect();
    let alone: Vec<f64> = rows.iter().copied().step_by(2).collect();
    let (mut both, mut one) = (learned(2, &rows, 0).scorer(), learned(1, &alone, 0).scorer());
    let gain = log_density(&mut both, &[0.3, 5.0]) - log_density(&mut one, &[0.3]);
    // A normal of standard deviation 1/√12 at its middle; the densities it is pooled with, which rows that never leave
    // the middle prefer, are up to five times as high there.
    assert!(gain > 0.324 - 0.1 && gain < 0.324 + 5f64.ln() + 0.1, "{gain}");
    let scale = 5.0;
    for (_, gauss) in both.parts() {
        let variance = scale * scale * gauss.covariance()[3];
        assert!((variance - 1.0 / 12.0).abs() < 1e-3, "{variance}");
    }
}

#[test]
fn scores_do_not_depend_on_units() {
    let rows = grid_truth(3, 1.2, 0.02).sample(1500, 20_225).0;
    let scaled: Vec<f64> =
        rows.iter().enumerate().map(|(i, v)| if i % 2 == 0 { 1024.0 * v } else { v / 64.0 }).collect();
    let scores = [&rows, &scaled].map(|rows| learned(2, rows, 0).log_score());
    let shift = (1024.0f64 / 64.0).ln();
    assert!(
        (scores[0].prequential_mean - scores[1].prequential_mean - shift).abs() < 1e-3,
        "{} {}",
        scores[0].prequential_mean,
        scores[1].prequential_mean
    );
}
