//! Watching a stream: p-values that mean what they say, and outliers that stand out.

use bayestream::data::Batch;
use bayestream::metrics::roc_auc;
use bayestream::model::{Config, Kind, Model};
use bayestream::num::{self, Rng};
use bayestream::outlier::{DriftKind, Verdict};

fn model(d: usize, seed: u64) -> Model {
    let columns = (1..=d).map(|j| format!("x{j}")).collect();
    Model::new(Config { seed, ..Config::new(Kind::GmmOfab, columns) }).unwrap()
}

fn watch(model: &mut Model, rows: &[f64], batch: usize) -> Vec<Verdict> {
    let d = model.columns().len();
    rows.chunks(batch * d).flat_map(|rows| model.watch(&Batch::new(rows, d).unwrap()).unwrap().0).collect()
}

fn draw(n: usize, seed: u64, mut row: impl FnMut(&mut Rng, &mut Vec<f64>)) -> Vec<f64> {
    let mut rng = num::stream(seed, 0, 0);
    let mut rows = Vec::new();
    (0..n).for_each(|_| row(&mut rng, &mut rows));
    rows
}

/// Student's t: normals over a common chi.
fn student(rng: &mut Rng, dof: f64, d: usize, rows: &mut Vec<f64>) {
    let scale = (2.0 * rng.gamma(dof / 2.0) / dof).sqrt();
    (0..d).for_each(|_| rows.push(rng.normal() / scale));
}

/// The share of p-values at most `a` among stationary rows. Each row is ranked among ten thousand before it, so that
/// both the row and the quantile it is held against vary: twice the variance of a binomial count, and four of its
/// standard deviations are allowed.
fn ensure_calibrated(name: &str, rows: &[f64], d: usize, seed: u64) {
    let verdicts = watch(&mut model(d, seed), rows, 100);
    let after = &verdicts[20_000..];
    for a in [0.1, 0.01, 0.001] {
        let share = after.iter().filter(|v| v.p_value <= a).count() as f64 / after.len() as f64;
        let allowed = 4.0 * (2.0 * a * (1.0 - a) / after.len() as f64).sqrt();
        assert!((share - a).abs() < allowed, "{name}: {share} at most {a}, where ±{allowed:.5} is allowed");
    }
}

#[test]
fn normal_clusters_are_calibrated() {
    let rows = draw(100_000, 20_320, |rng, rows| {
        let centre = [0.0, 6.0, -5.0][rng.categorical(&[0.5, 0.3, 0.2])];
        let shared = rng.normal();
        rows.extend([centre + shared, centre * 0.5 + 0.8 * shared + 0.6 * rng.normal(), rng.normal()]);
    });
    ensure_calibrated("clusters", &rows, 3, 20_320);
}

#[test]
fn long_tails_and_skew_are_calibrated() {
    let rows = draw(100_000, 20_321, |rng, rows| student(rng, 1.5, 4, rows));
    ensure_calibrated("t", &rows, 4, 20_321);
    let rows = draw(100_000, 20_322, |rng, rows| {
        let shared = rng.normal();
        rows.extend([(0.6 * shared + 0.8 * rng.normal()).exp(), shared.exp(), (2.0 * rng.normal()).exp()]);
    });
    ensure_calibrated("log-normal", &rows, 3, 20_322);
}

/// Two wide clusters, and a dense one of outliers six standard deviations away that holds a share of the stream.
fn contaminated(n: usize, d: usize, share: f64, seed: u64) -> (Vec<f64>, Vec<bool>) {
    let mut is_outlier = Vec::new();
    let rows = draw(n, seed, |rng, rows| {
        let outlier = rng.uniform() < share;
        is_outlier.push(outlier);
        let side = [-1.5, 1.5][rng.below(2)];
        (0..d).for_each(|j| {
            rows.push(match outlier {
                true => 6.0 * [1.0, -1.0][j % 2] / (d as f64).sqrt() * 2.0 + 0.1 * rng.normal(),
                false => side + rng.normal(),
            });
        });
    });
    (rows, is_outlier)
}

fn auc(verdicts: &[Verdict], is_outlier: &[bool], from: usize) -> f64 {
    let scores: Vec<f64> = verdicts[from..].iter().map(|v| v.surprise).collect();
    roc_auc(&scores, &is_outlier[from..])
}

#[test]
fn a_dense_outlier_cluster_does_not_make_itself_normal() {
    for (d, share, seed) in [(4, 0.05, 20_330), (4, 0.1, 20_331), (12, 0.05, 20_332), (12, 0.1, 20_333)] {
        let (rows, is_outlier) = contaminated(10_000, d, share, seed);
        let found = auc(&watch(&mut model(d, seed), &rows, 50), &is_outlier, 500);
        assert!(found >= 0.95, "{d} columns, {share} of the stream: ROC {found}");
    }
}

#[test]
fn a_fifth_of_the_cells_missing_costs_little() {
    let (d, seed) = (8, 20_340);
    let mut is_outlier = Vec::new();
    let rows = draw(8000, seed, |rng, rows| {
        let outlier = rng.uniform() < 0.02;
        is_outlier.push(outlier);
        let shared = rng.normal();
        let spread = if outlier { 4.0 } else { 1.0 };
        (0..d).for_each(|j| rows.push(3.0 * j as f64 + shared + spread * rng.normal()));
    });
    let mut holed = rows.clone();
    let mut rng = num::stream(seed, 1, 0);
    holed.iter_mut().filter(|_| rng.uniform() < 0.2).for_each(|cell| *cell = f64::NAN);
    let whole = auc(&watch(&mut model(d, seed), &rows, 50), &is_outlier, 500);
    let verdicts = watch(&mut model(d, seed), &holed, 50);
    let found = auc(&verdicts, &is_outlier, 500);
    assert!(whole > 0.97 && whole - found < 0.02, "{whole} whole, {found} with holes");
    // Rows with few cells are no more unusual than rows with many.
    let n_missing = |i: usize| holed[i * d..(i + 1) * d].iter().filter(|v| v.is_nan()).count();
    for few in [true, false] {
        let group: Vec<f64> = (500..8000)
            .filter(|&i| !is_outlier[i] && (n_missing(i) <= 1) == few)
            .map(|i| verdicts[i].p_value)
            .collect();
        let unusual = group.iter().filter(|p| **p <= 0.1).count() as f64 / group.len() as f64;
        // Outliers take a fifth of that tenth.
        assert!((0.04..0.13).contains(&unusual), "{unusual} of the rows with few holes ({few})");
    }
}

#[test]
fn faults_are_survived_without_nan() {
    let normal = |n: usize, seed: u64| draw(n, seed, |rng, rows| rows.extend([rng.normal(), 5.0 + rng.normal(), 1.0]));
    let mut model = model(3, 20_350);
    let mut stages = vec![normal(3000, 1)];
    let faults: [fn(&mut [f64]); 5] = [
        |row| row[0] = 0.25,
        |row| row[1] = f64::NAN,
        |row| row[0] *= 1e6,
        |row| row.copy_from_slice(&[9.0, 9.0, 9.0]),
        |row| row[2] = row[0] * 1e-9,
    ];
    for (ix, fault) in faults.iter().enumerate() {
        let mut rows = normal(1500, 2 + ix as u64);
        rows.chunks_mut(3).for_each(fault);
        stages.extend([rows, normal(500, 20 + ix as u64)]);
    }
    for (ix, rows) in stages.iter().enumerate() {
        if ix == 5 {
            model.announce_change();
        }
        for v in watch(&mut model, rows, 37) {
            let sound = v.p_value > 0.0 && v.p_value <= 1.0 && v.surprise.is_finite() && !v.weight.is_nan();
            assert!(sound && (v.component.is_none() || v.log_density.is_finite()), "stage {ix}: {v:?}");
        }
        let again = Model::load(&model.save()).unwrap();
        assert_eq!(again.save(), model.save());
    }
    let at_once = watch(&mut model, &normal(100_000, 9), 100_000);
    assert!(at_once.iter().all(|v| v.p_value > 0.0 && v.log_density.is_finite()));
}

/// Faults that pass: an alarm while they last, and afterwards rows are as seldom unusual as before.
#[test]
fn a_stream_is_judged_as_before_once_a_fault_has_passed() {
    const BEFORE: usize = 6000;
    const DURING: usize = 1500;
    let plain = draw(BEFORE + DURING + 8000, 20_380, |rng, rows| {
        let centre = [0.0, 8.0][rng.below(2)];
        let shared = rng.normal();
        rows.extend([centre + shared, 0.6 * shared + 0.8 * rng.normal(), 5.0 - centre + 0.5 * rng.normal()]);
    });
    type Fault = fn(&mut [f64]);
    let faults: [(&str, Fault, Option<DriftKind>); 5] = [
        ("constant", |row| row[1] = 0.25, Some(DriftKind::Spread { column: 1 })),
        ("unit", |row| row[2] *= 1000.0, None),
        ("one row", |row| row.copy_from_slice(&[0.5, 0.25, 4.75]), None),
        ("dead", |row| row[0] = f64::NAN, None),
        ("all dead", |row| row.fill(f64::NAN), None),
    ];
    for (ix, (name, fault, named)) in faults.into_iter().enumerate() {
        let mut rows = plain.clone();
        rows[3 * BEFORE..3 * (BEFORE + DURING)].chunks_mut(3).for_each(fault);
        let mut model = model(3, 20_381 + ix as u64);
        let verdicts = watch(&mut model, &rows, 20);
        for v in &verdicts {
            let sound = v.p_value > 0.0 && v.p_value <= 1.0 && v.surprise.is_finite() && v.surprise >= 0.0;
            assert!(sound && (v.component.is_none() || v.log_density.is_finite()), "{name}: {v:?}");
        }
        let alarms = model.drift_alarms();
        let within = |row: u64| (BEFORE as u64 + 1..(BEFORE + DURING) as u64).contains(&row);
        let first = alarms.iter().find(|alarm| within(alarm.row));
        // A silent column leaves no residuals to tell a change by.
        assert!(first.is_some() || name.ends_with("dead"), "{name}: {alarms:?}");
        assert!(named.is_none_or(|what| first.is_some_and(|alarm| alarm.what == what)), "{name}: {alarms:?}");
        let last = &verdicts[verdicts.len() - 4000..];
        let share = last.iter().filter(|v| v.p_value <= 0.01).count() as f64 / 4000.0;
        // The ranks still hold rows from before: three times the share that was asked for is allowed.
        assert!(share <= 0.03, "{name}: {share} of the last rows at most 0.01");
    }
}

#[test]
fn merged_shards_judge_as_one() {
    let row = |rng: &mut Rng, rows: &mut Vec<f64>| rows.extend([rng.normal(), 3.0 * rng.normal()]);
    let shards: Vec<Model> = (0..3)
        .map(|shard| {
            let config = Config { shard, ..Config::new(Kind::GmmOfab, vec!["a".into(), "b".into()]) };
            let mut model = Model::new(config).unwrap();
            watch(&mut model, &draw(4000, 20_360 + u64::from(shard), row), 50);
            model
        })
        .collect();
    let merged = Model::merge(&shards).unwrap();
    let backwards: Vec<Model> = shards.into_iter().rev().collect();
    assert_eq!(Model::merge(&backwards).unwrap().save(), merged.save());
    let mut verdicts = Vec::new();
    let rows = draw(4000, 20_370, row);
    merged.judge().judge(&Batch::new(&rows, 2).unwrap(), &mut verdicts).unwrap();
    for a in [0.5, 0.1] {
        let share = verdicts.iter().filter(|v| v.p_value <= a).count() as f64 / 4000.0;
        assert!((share / a - 1.0).abs() < 0.25, "{share} at most {a}");
    }
    let mut far = Vec::new();
    merged.judge().judge(&Batch::new(&[9.0, -40.0], 2).unwrap(), &mut far).unwrap();
    assert!(far[0].p_value < 1e-3, "{far:?}");
}
