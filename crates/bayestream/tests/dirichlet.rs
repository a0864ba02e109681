//! Dirichlet-process mixtures on data whose answer is known, and on data meant to break them.

use bayestream::data::Batch;
use bayestream::metrics::{adjusted_rand_index, kl_divergence};
use bayestream::model::{Config, Kind, Model, PruneMerge, Settings};
use bayestream::num;
use bayestream::structure::Snapshot;
use bayestream::synthetic::{AbruptDrift, Covariance, grid_truth, ofab_truth};

const KINDS: [Kind; 4] = [Kind::GmmSugs, Kind::GmmAsugs, Kind::GmmSva, Kind::GmmDp];

fn model(kind: Kind, d: usize, settings: Settings) -> Model {
    let columns = (1..=d).map(|j| format!("x{j}")).collect();
    Model::new(Config { settings, seed: 20_300, ..Config::new(kind, columns) }).unwrap()
}

fn feed(model: &mut Model, rows: &[f64]) {
    let d = model.columns().len();
    for batch in rows.chunks(50 * d) {
        model.update(&Batch::new(batch, d).unwrap()).unwrap();
    }
}

fn learnt(kind: Kind, d: usize, rows: &[f64], settings: Settings) -> Snapshot {
    let mut model = model(kind, d, settings);
    feed(&mut model, rows);
    model.snapshot()
}

fn agreement(snapshot: &Snapshot, rows: &[f64], labels: &[u32]) -> f64 {
    let mut scores = Vec::new();
    snapshot.scorer().score(rows, &mut scores);
    let found: Vec<u32> = scores.iter().map(|s| s.component.unwrap().serial).collect();
    adjusted_rand_index(&found, labels)
}

fn with(change: impl FnOnce(&mut Settings)) -> Settings {
    let mut settings = Settings::default();
    change(&mut settings);
    settings
}

#[test]
fn asugs_with_a_fixed_concentration_is_sugs() {
    let (rows, _) = grid_truth(4, 1.0, 0.025).sample(900, 20_301);
    let settings = with(|s| (s.dirichlet.alpha, s.dirichlet.prior_scale) = (Some(1.3), Some(0.02)));
    let [sugs, asugs] = [Kind::GmmSugs, Kind::GmmAsugs].map(|kind| learnt(kind, 2, &rows, settings.clone()));
    assert_eq!(sugs.components, asugs.components);
    assert!(sugs.k_realized() >= 10);
    let free = learnt(Kind::GmmAsugs, 2, &rows, with(|s| s.dirichlet.prior_scale = Some(0.02)));
    assert_ne!(free.components, asugs.components);
}

#[test]
fn sixteen_classes_are_found_on_most_seeds() {
    let truth = grid_truth(4, 1.0, 0.025);
    let (test, _) = truth.sample(1000, 20_302);
    let best = truth.log_density(&test).iter().sum::<f64>() / 1000.0;
    let (mut n_right, mut loss) = (0, 0.0);
    for seed in 20_310..20_320 {
        let snapshot = learnt(Kind::GmmDp, 2, &truth.sample(500, seed).0, Settings::default());
        n_right += usize::from(snapshot.k_realized() == 16);
        loss += (best - snapshot.scorer().mean_log_density(&test)) / 10.0;
    }
    // Nine in ten are right; six or fewer of ten then happen once in eighty.
    assert!(n_right >= 7, "{n_right} of 10");
    // Sixteen means and shares from 500 rows cost 47/1000 nats, separate covariances up to as much again.
    assert!(loss < 0.08, "{loss}");
}

#[test]
fn the_density_of_a_mixture_is_learnt_to_twice_the_estimation_error() {
    let truth = ofab_truth(30, 10, Covariance::Aat, 20_303);
    let snapshot = learnt(Kind::GmmDp, 10, &truth.sample(20_000, 20_303).0, Settings::default());
    assert_eq!(snapshot.k_realized(), 30);
    let divergence = kl_divergence(&truth, &snapshot, 16_384, 20_304).mean;
    let floor = truth.n_free() / 40_000.0;
    assert!(divergence < 1.25 * floor, "{divergence}, estimation error {floor}");
}

#[test]
fn rows_sorted_by_class_are_told_apart() {
    let truth = ofab_truth(6, 3, Covariance::Aat, 20_305);
    let (rows, labels) = truth.sample_sorted(6000, 20_305);
    let snapshot = learnt(Kind::GmmDp, 3, &rows, Settings::default());
    let found = agreement(&snapshot, &rows, &labels);
    assert!(found > 0.97, "{found} with {} components", snapshot.k_realized());
}

#[test]
fn with_a_finite_memory_the_components_are_those_of_the_present() {
    let drift = AbruptDrift::new(Covariance::Aat, 20_306);
    let (rows, _) = drift.sample(20_306);
    let mut forgetful = model(Kind::GmmDp, 3, with(|s| s.memory = Some(140.0)));
    let mut faithful = model(Kind::GmmDp, 3, Settings::default());
    let mut found = Vec::new();
    for segment in &drift.segments {
        let part = &rows[segment.batches.start * 30..segment.batches.end * 30];
        feed(&mut forgetful, part);
        feed(&mut faithful, part);
        found.push((forgetful.snapshot().k_realized(), faithful.snapshot().k_realized()));
    }
    assert_eq!(found, [(3, 3), (3, 6), (4, 10)]);
}

#[test]
fn spoilt_rows_leave_every_kind_finite() {
    let mut rng = num::stream(20_307, 0, 0);
    let mut nearly_equal: Vec<f64> = (0..1800).map(|i| [5.0, -3.0, 1e4][i % 3] + 1e-12 * rng.normal()).collect();
    nearly_equal[3 * 580] = 1e8;
    let mut outlier: Vec<f64> = (0..1800).map(|_| rng.normal()).collect();
    outlier[3 * 300..3 * 301].fill(1e8);
    outlier[3 * 590 + 1] = -1e8;
    let wide: Vec<f64> = (0..25 * 40).map(|_| rng.normal()).collect();
    for kind in KINDS {
        for (d, rows) in [(3, &nearly_equal), (3, &outlier), (40, &wide)] {
            for prune_merge in [PruneMerge::Off, PruneMerge::Paper, PruneMerge::Exact] {
                let settings = with(|s| {
                    s.dirichlet.prune_merge = prune_merge;
                    s.max_components = 20;
                });
                let snapshot = learnt(kind, d, rows, settings);
                assert!((1..=20).contains(&snapshot.k_realized()), "{kind}: {}", snapshot.k_realized());
                let score = snapshot.scorer().mean_log_density(rows);
                assert!(score.is_finite(), "{kind}, {d} columns: {score}");
            }
        }
    }
}

/// Rows with missing cells are learnt one by one, whole batches at once: both must leave what a file holds.
#[test]
fn resuming_between_whole_and_holed_batches_changes_nothing() {
    let truth = ofab_truth(5, 3, Covariance::Aat, 20_308);
    let (mut rows, _) = truth.sample(3000, 20_308);
    // Every third batch of fifty has holes.
    for batch in (0..60).step_by(3) {
        (0..15).for_each(|i| rows[(batch * 50 + 3 * i) * 3 + i % 3] = f64::NAN);
    }
    for (kind, memory) in [(Kind::GmmDp, None), (Kind::GmmDp, Some(300.0)), (Kind::GmmAsugs, None)] {
        let mut straight = model(kind, 3, with(|s| s.memory = memory));
        let mut resumed = straight.clone();
        for batch in rows.chunks(150) {
            feed(&mut straight, batch);
            feed(&mut resumed, batch);
            resumed = Model::load(&resumed.save()).unwrap();
        }
        assert!(straight.save() == resumed.save(), "{kind}, memory {memory:?}");
    }
}

#[test]
fn priors_that_do_not_exist_are_refused_with_the_smallest_legal_value() {
    let columns: Vec<String> = (1..=50).map(|j| format!("x{j}")).collect();
    for kind in KINDS {
        let mut config = Config::new(kind, columns.clone());
        config.settings.set(kind, "nu0", "20").unwrap();
        let error = Model::new(config.clone()).unwrap_err();
        assert_eq!(error.code(), "bad-value");
        assert!(error.to_string().contains("larger than 49"), "{error}");
        config.settings.set(kind, "nu0", "49.5").unwrap();
        assert!(Model::new(config).is_ok());
    }
}
