//! Data at the edge of what there is: whatever comes, what a model says stays finite and makes sense.

use super::subject::{FeatureSubject, planted};
use crate::conformance::rows::{BATCH, RowSubject};
use crate::conformance::stream::SEED;
use crate::data::LARGEST_CELL;
use crate::synthetic::{PlantedFeatures, with_holes};

pub(super) fn no_rows(subject: &FeatureSubject) -> Result<(), String> {
    let mut model = subject.begin(3, SEED)?;
    subject.finish(&mut model);
    let snapshot = model.snapshot();
    subject.holds(!snapshot.has_model() && snapshot.k_realized() == 0, || format!("{snapshot:?}"))?;
    let score = model.scorer().score(&[1.0, 2.0, 3.0]);
    subject.holds(score.log_density.is_nan() && score.p_value.is_nan(), || format!("{score:?}"))?;
    let (mut rows, mut sd) = (vec![f64::NAN; 3], Vec::new());
    model.scorer().fill(&mut rows, &mut sd);
    subject.holds(rows.iter().chain(&sd).all(|v| v.is_nan()), || format!("{rows:?}"))?;
    subject.holds(subject.load(&model.save()).is_ok(), || "its file is refused".into())
}

pub(super) fn one_row(subject: &FeatureSubject) -> Result<(), String> {
    let row = [3.5, -200.0, 0.125, 0.0];
    let model = subject.fit(&row, 4, SEED + 120)?;
    subject.ensure_sound(&model, &row, "after one row")?;
    subject.ensure_sound(&model, &[f64::NAN, -200.0, 1e6, f64::NAN], "of another row, after one")?;
    let repeated = subject.fit(&row.repeat(700), 4, SEED + 120)?;
    subject.ensure_sound(&repeated, &row, "after one row, repeated")?;
    let k = repeated.snapshot().k_realized();
    subject.holds(k == 0, || format!("one row, repeated, has {k} features"))
}

pub(super) fn one_column(subject: &FeatureSubject) -> Result<(), String> {
    let mut truth = PlantedFeatures::gaussian(1, 0, SEED + 121);
    truth.weights = vec![vec![12.0]];
    let rows = truth.rows(0, 1500);
    let model = subject.fit(&rows, 1, SEED + 121)?;
    subject.ensure_sound(&model, &rows[..200], "of one column")?;
    subject.ensure_sound(&model, &[f64::NAN], "of one column without its cell")
}

pub(super) fn few_rows(subject: &FeatureSubject) -> Result<(), String> {
    let truth = PlantedFeatures::gaussian(30, 3, SEED + 122);
    for n in [2, 7, 20] {
        let rows = truth.rows(0, n);
        let model = subject.fit(&rows, 30, SEED + 122)?;
        subject.ensure_sound(&model, &rows, &format!("after {n} rows of 30 columns"))?;
        subject.ensure_sound(&model, &truth.rows(900, 10), &format!("of others after {n} rows of 30 columns"))?;
    }
    Ok(())
}

pub(super) fn missing_cells(subject: &FeatureSubject) -> Result<(), String> {
    let truth = planted(SEED + 123);
    for share in [0.2, 0.9] {
        let rows = with_holes(&truth.rows(0, 1500), share, SEED + 123);
        let model = subject.fit(&rows, 4, SEED + 123)?;
        subject.ensure_sound(&model, &rows[..800], &format!("with {share} of the cells missing"))?;
    }
    Ok(())
}

pub(super) fn missing_rows(subject: &FeatureSubject) -> Result<(), String> {
    let truth = planted(SEED + 124);
    let (nothing, plain) = ([f64::NAN; 4], truth.rows(0, 900));
    for at in [0, 60, 899] {
        let mut rows = plain.clone();
        rows[at * 4..at * 4 + 4].copy_from_slice(&nothing);
        let model = subject.fit(&rows, 4, SEED + 124)?;
        subject.ensure_sound(&model, &plain[..200], &format!("with row {at} missing"))?;
        let score = model.scorer().score(&nothing);
        let shares: Vec<f64> = model.snapshot().set.features.iter().map(|f| f.share).collect();
        subject
            .holds(score.log_density == 0.0 && score.activations == shares, || format!("{score:?}, not {shares:?}"))?;
    }
    // Nothing but nothing: there must be no harm, and rows that follow are learnt.
    let mut model = subject.begin(4, SEED + 124)?;
    subject.feed(&mut model, &nothing.repeat(150), 4, BATCH)?;
    subject.ensure_sound(&model, &plain[..40], "after rows without cells alone")?;
    subject.feed(&mut model, &plain, 4, BATCH)?;
    subject.finish(&mut model);
    subject.ensure_sound(&model, &plain[..200], "after 150 rows without cells")
}

pub(super) fn missing_column(subject: &FeatureSubject) -> Result<(), String> {
    let truth = planted(SEED + 125);
    let mut rows = truth.rows(0, 1200);
    rows.iter_mut().skip(1).step_by(4).for_each(|cell| *cell = f64::NAN);
    let model = subject.fit(&rows, 4, SEED + 125)?;
    subject.ensure_sound(&model, &rows[..200], "with a column missing")?;
    subject.ensure_sound(&model, &truth.rows(5000, 50), "with a column that was missing")
}

pub(super) fn constant_columns(subject: &FeatureSubject) -> Result<(), String> {
    let truth = planted(SEED + 126);
    let mut rows = truth.rows(0, 1200);
    for (column, value) in [(0, 0.0), (2, -1e6)] {
        rows.iter_mut().skip(column).step_by(4).for_each(|cell| *cell = value);
    }
    let model = subject.fit(&rows, 4, SEED + 126)?;
    subject.ensure_sound(&model, &rows[..200], "with columns that do not vary")?;
    subject.ensure_sound(&model, &truth.rows(5000, 50), "with columns that did not vary")?;
    let all = subject.fit(&[5.0, -2.0].repeat(600), 2, SEED + 126)?;
    subject.ensure_sound(&all, &[5.0, -2.0, 5.0, f64::NAN, 6.0, -2.0], "where no column varies")
}

pub(super) fn far_outliers(subject: &FeatureSubject) -> Result<(), String> {
    let truth = planted(SEED + 127);
    let fresh = truth.rows(5000, 50);
    for value in [1e6, LARGEST_CELL] {
        let mut rows = truth.rows(0, 1400);
        for (n, row) in (3..1400).step_by(97).enumerate() {
            rows[row * 4 + n % 4] = [value, -value][n % 2];
        }
        let model = subject.fit(&rows, 4, SEED + 127)?;
        subject.ensure_sound(&model, &fresh, &format!("after cells of {value:e}"))?;
        subject.ensure_sound(&model, &[value, -value, f64::NAN, 0.0], &format!("of cells of {value:e}"))?;
    }
    // Whole columns as large as cells can be.
    let rows = truth.rows(0, 1200);
    let largest = rows.iter().chain(&fresh).fold(0.0_f64, |m, v| m.max(v.abs()));
    let stretched = |rows: &[f64]| -> Vec<f64> {
        rows.iter().map(|v| (v * (LARGEST_CELL / largest)).clamp(-LARGEST_CELL, LARGEST_CELL)).collect()
    };
    let model = subject.fit(&stretched(&rows), 4, SEED + 127)?;
    subject.ensure_sound(&model, &stretched(&fresh), "with columns of the largest cells")?;
    Ok(())
}
