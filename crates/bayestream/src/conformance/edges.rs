//! Data at the edge of what there is: whatever comes, what a model says stays finite and makes sense.

use super::Subject;
use super::rows::BATCH;
use super::stream::{SEED, three_clusters};
use super::subject::{feed, mean_log_density};
use crate::data::{Batch, LARGEST_CELL};
use crate::model::Model;
use crate::num;
use crate::outlier::Verdict;
use crate::structure::BROAD_DOF;

pub(super) fn far_outliers(subject: &Subject) -> Result<(), String> {
    // Among the first rows, and later.
    for (first, seed) in [(3, SEED + 30), (1200, SEED + 31)] {
        let mut stream = three_clusters(2500, seed);
        let d = stream.n_columns;
        for (n, row) in (first..2500).step_by(97).enumerate() {
            let sign = [1.0, -1.0][n % 2];
            (0..d).for_each(|j| stream.rows[row * d + j] = sign * 1e6 * (1.0 + 0.1 * (n + j) as f64));
        }
        let model = subject.fitted(&stream.rows, d, seed)?;
        subject.ensure_sound(&model, &stream.rows, &format!("outliers from row {first} on"))?;
        subject.ensure_sound(&model, &stream.held_out, &format!("after outliers from row {first} on"))?;
    }
    Ok(())
}

/// Where densities are pooled, that of a row falls with its distance as a power and no faster: the broadest of them, around
/// one Gaussian for all rows, has at least a quarter of a row's weight.
pub(super) fn any_distance(subject: &Subject) -> Result<(), String> {
    let stream = three_clusters(1500, SEED + 43);
    let d = stream.n_columns;
    for n in [3, 40, 1500] {
        let model = subject.fitted(&stream.rows[..n * d], d, SEED + 43)?;
        let snapshot = model.snapshot();
        let mut logs = Vec::new();
        let far: Vec<f64> = (0..30).flat_map(|e| vec![10f64.powi(e); d]).collect();
        snapshot.scorer().log_densities(&far, &mut logs);
        subject.ensure(logs.iter().all(|log| log.is_finite()), || format!("of {n} rows: {logs:?}"))?;
        let Some(pool) = &snapshot.pool else { continue };
        let least = 0.25 / (n as f64 + 1.0);
        let weights = pool.weights;
        subject.ensure(weights.iter().all(|w| *w >= least - 1e-12), || format!("of {n} rows: weights {weights:?}"))?;
        let steepest = (BROAD_DOF + d as f64) * 10f64.ln() + 0.01;
        let falls = logs.windows(2).skip(3).all(|pair| pair[0] - pair[1] <= steepest);
        subject.ensure(falls, || format!("of {n} rows: {logs:?} fall faster than {steepest} for a factor of ten"))?;
    }
    Ok(())
}

pub(super) fn largest_cell(subject: &Subject) -> Result<(), String> {
    // In the unit of the first rows its square is beyond all numbers.
    let mut stream = three_clusters(1300, SEED + 41);
    stream.rows.iter_mut().chain(&mut stream.held_out).for_each(|cell| *cell *= 1e-100);
    stream.rows[1250 * 3 + 1] = LARGEST_CELL;
    stream.rows[1270 * 3 + 2] = -LARGEST_CELL;
    let model = subject.fitted(&stream.rows, 3, SEED + 41)?;
    subject.ensure_sound(&model, &stream.held_out, "after the largest cells there can be")
}

/// Every cell as large as cells can be, in one column or in all: clusters at both ends of all numbers.
pub(super) fn largest_cells(subject: &Subject) -> Result<(), String> {
    let stream = three_clusters(700, SEED + 42);
    let d = stream.n_columns;
    for columns in [1, d] {
        let stretched = |rows: &[f64]| -> Vec<f64> {
            let largest = stream.rows.iter().chain(&stream.held_out).fold(0.0_f64, |m, v| m.max(v.abs()));
            let factor = |at: usize| if at % d < columns { LARGEST_CELL / largest } else { 1.0 };
            rows.iter().enumerate().map(|(at, v)| (v * factor(at)).clamp(-LARGEST_CELL, LARGEST_CELL)).collect()
        };
        let when = format!("with {columns} columns up to {LARGEST_CELL:e}");
        let (rows, held_out) = (stretched(&stream.rows), stretched(&stream.held_out));
        let mut model = subject.fitted(&rows, d, SEED + 42)?;
        subject.ensure_sound(&model, &held_out, &when)?;
        let ends = [LARGEST_CELL, -LARGEST_CELL].map(|v| [v; 8]).concat();
        subject.ensure_sound(&model, &ends[8 - d..8 + d], &when)?;
        let batch = Batch::new(&held_out[..50 * d], d).map_err(|e| e.to_string())?;
        let (verdicts, _) = model.watch(&batch).map_err(|e| e.to_string())?;
        let sound = |v: &Verdict| v.log_density.is_finite() && v.surprise.is_finite() && v.p_value > 0.0;
        let odd = verdicts.iter().find(|v| !v.log_density.is_nan() && !sound(v));
        subject.ensure(odd.is_none(), || format!("{when}: {odd:?}"))?;
        let scorer = model.scorer();
        let reasons = scorer.reasons(&held_out[..d]);
        let finite = reasons.iter().all(|r| r.surprise.is_finite() && r.expected.is_finite());
        subject.ensure(finite, || format!("{when}: {reasons:?}"))?;
        if !subject.kind().info().streaming {
            continue;
        }
        subject.ensure(model.log_score().prequential_mean.is_finite(), || format!("{when}: its log-score is not"))?;
    }
    Ok(())
}

pub(super) fn missing_cells(subject: &Subject) -> Result<(), String> {
    let mut stream = three_clusters(2500, SEED + 32);
    let d = stream.n_columns;
    let mut rng = num::stream(SEED + 32, 0, 0);
    for cell in &mut stream.rows {
        if rng.uniform() < 0.2 {
            *cell = f64::NAN;
        }
    }
    let model = subject.fitted(&stream.rows, d, SEED + 32)?;
    subject.ensure_sound(&model, &stream.rows, "with a fifth of the cells missing")?;
    subject.ensure_sound(&model, &stream.held_out, "with a fifth of the cells missing")
}

pub(super) fn missing_rows(subject: &Subject) -> Result<(), String> {
    let nothing = [f64::NAN; 3];
    let stream = three_clusters(1200, SEED + 33);
    for at in [0, 60, 1199] {
        let mut rows = stream.rows.clone();
        rows[at * 3..at * 3 + 3].copy_from_slice(&nothing);
        let model = subject.fitted(&rows, 3, SEED + 33)?;
        subject.ensure_sound(&model, &stream.held_out, &format!("with row {at} missing"))?;
        let score = mean_log_density(&model, &nothing);
        subject.ensure(score.abs() < 1e-9, || format!("a row without cells has log-density {score}, not 0"))?;
    }
    // Nothing but nothing: there may be no model, but there must be no harm.
    let mut model = subject.fitted(&nothing.repeat(150), 3, SEED + 33)?;
    feed(&mut model, &stream.rows, BATCH)?;
    model.finish();
    subject.ensure_sound(&model, &stream.held_out, "after 150 rows without cells")
}

pub(super) fn missing_column(subject: &Subject) -> Result<(), String> {
    let mut stream = three_clusters(1500, SEED + 34);
    stream.rows.iter_mut().skip(1).step_by(3).for_each(|cell| *cell = f64::NAN);
    let model = subject.fitted(&stream.rows, 3, SEED + 34)?;
    subject.ensure_sound(&model, &stream.rows, "with a column missing")?;
    subject.ensure_sound(&model, &stream.held_out, "with a column that was missing")
}

pub(super) fn single_row(subject: &Subject) -> Result<(), String> {
    let row = [3.5, -200.0, 0.125, 0.0];
    let model = subject.fitted(&row, 4, SEED + 35)?;
    subject.ensure_sound(&model, &row, "after one row")?;
    let snapshot = model.snapshot();
    subject.ensure(snapshot.k_realized() == 1, || format!("one row makes {} components", snapshot.k_realized()))?;
    let mean = &snapshot.components[0].mean;
    let off = mean.iter().zip(&row).map(|(m, v)| (m - v).abs() / (1.0 + v.abs())).fold(0.0, f64::max);
    subject.ensure(off < 1e-12, || format!("the mean of {row:?} is {mean:?}"))
}

pub(super) fn few_rows(subject: &Subject) -> Result<(), String> {
    let d = 12;
    let mut rng = num::stream(SEED + 36, 0, 0);
    for n in [1, 2, 3, 7] {
        let rows: Vec<f64> = (0..n * d).map(|_| rng.normal()).collect();
        let model = subject.fitted(&rows, d, SEED + 36)?;
        subject.ensure_sound(&model, &rows, &format!("{n} rows of {d} cells"))?;
        let most = model.snapshot().k_realized();
        subject.ensure(most <= n, || format!("{n} rows make {most} components"))?;
    }
    Ok(())
}

pub(super) fn constant_columns(subject: &Subject) -> Result<(), String> {
    let stream = three_clusters(1500, SEED + 37);
    let constants = [0.0, 1.0, -7e5];
    for constant in constants {
        let widened: Vec<f64> = stream.rows.chunks(3).flat_map(|r| [r[0], constant, r[1], r[2]]).collect();
        let model = subject.fitted(&widened, 4, SEED + 37)?;
        subject.ensure_sound(&model, &widened, &format!("with a column of {constant}"))?;
        for c in &model.snapshot().components {
            let off = (c.mean[1] - constant).abs();
            subject.ensure(off <= 1e-9 * (1.0 + constant.abs()), || {
                format!("the mean of a column of {constant} is {}", c.mean[1])
            })?;
        }
    }
    Ok(())
}

pub(super) fn one_row_repeated(subject: &Subject) -> Result<(), String> {
    let same = [0.5, -3.0].repeat(600);
    let model = subject.fitted(&same, 2, SEED + 37)?;
    subject.ensure_sound(&model, &same, "with columns that never vary")?;
    let k = model.snapshot().k_realized();
    subject.ensure(k == 1, || format!("rows that never vary make {k} components"))
}

pub(super) fn duplicates(subject: &Subject) -> Result<(), String> {
    let points = [[0.0, 0.0], [5.0, 1.0], [-2.0, 8.0], [7.0, -7.0]];
    let rows: Vec<f64> = (0..2400).flat_map(|i| points[i * 7 % 4]).collect();
    let model = subject.fitted(&rows, 2, SEED + 38)?;
    subject.ensure_sound(&model, &rows[..80], "with four rows repeated")?;
    let k = model.snapshot().k_realized();
    subject.ensure(k <= 4, || format!("four rows, repeated, make {k} components"))
}

pub(super) fn extreme_units(subject: &Subject) -> Result<(), String> {
    let stream = three_clusters(2500, SEED + 39);
    for factors in [[1e12; 3], [1e-12; 3], [1e12, 1.0, 1e-12]] {
        let scaled = |rows: &[f64]| -> Vec<f64> { rows.iter().enumerate().map(|(i, v)| v * factors[i % 3]).collect() };
        let model = subject.fitted(&scaled(&stream.rows), 3, SEED + 39)?;
        subject.ensure_sound(&model, &scaled(&stream.held_out), &format!("in units of {factors:?}"))?;
    }
    Ok(())
}

pub(super) fn sorted(subject: &Subject) -> Result<(), String> {
    let stream = three_clusters(3000, SEED + 40);
    let d = stream.n_columns;
    let (rows, _) = stream.truth.sample_sorted(3000, SEED + 40);
    for drift in [false, true] {
        let mut model: Model = subject.model_with(d, SEED + 40, |s| s.drift = drift)?;
        feed(&mut model, &rows, BATCH)?;
        model.finish();
        subject.ensure_sound(&model, &stream.held_out, &format!("rows sorted by cluster, drift={drift}"))?;
    }
    Ok(())
}
