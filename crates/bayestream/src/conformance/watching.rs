//! Judging rows before they are learnt from.

use super::Subject;
use super::rows::BATCH;
use super::stream::{SEED, three_clusters};
use super::subject::feed;
use crate::data::Batch;
use crate::model::Model;
use crate::num;
use crate::outlier::Verdict;

fn watched(model: &mut Model, rows: &[f64], weights: Option<&[f64]>) -> Result<Vec<Verdict>, String> {
    let batch = Batch::new(rows, model.columns().len()).map_err(|e| e.to_string())?;
    let batch = match weights {
        Some(weights) => batch.with_weights(weights).map_err(|e| e.to_string())?,
        None => batch,
    };
    model.watch(&batch).map(|(verdicts, _)| verdicts).map_err(|e| e.to_string())
}

fn ensure_probabilities(subject: &Subject, verdicts: &[Verdict], when: &str) -> Result<(), String> {
    for (row, v) in verdicts.iter().enumerate() {
        let probable = |p: f64| p > 0.0 && p <= 1.0;
        let sound = probable(v.p_value)
            && v.views.iter().all(|p| probable(*p))
            && probable(v.weight)
            && v.surprise.is_finite()
            && (v.component.is_none() || (v.log_density.is_finite() && (0.0..=1.0).contains(&v.responsibility)));
        subject.ensure(sound, || format!("{when}: row {row}: {v:?}"))?;
    }
    Ok(())
}

/// Three clusters with a fifth of the cells missing, a row of none, and one far away.
fn holed(seed: u64) -> (Vec<f64>, usize) {
    let mut stream = three_clusters(2500, seed);
    let mut rng = num::stream(seed, 0, 0);
    for cell in &mut stream.rows {
        if rng.uniform() < 0.2 {
            *cell = f64::NAN;
        }
    }
    stream.rows[1800 * 3..1801 * 3].fill(f64::NAN);
    stream.rows[2300 * 3..2301 * 3].copy_from_slice(&[1e9, -1e9, 1e9]);
    (stream.rows, stream.n_columns)
}

pub(super) fn probabilities(subject: &Subject) -> Result<(), String> {
    let (rows, d) = holed(SEED + 70);
    for n_rows in [1, BATCH, 5000] {
        let mut model = subject.model(d, SEED + 70)?;
        for rows in rows[..if n_rows == 1 { 700 * d } else { rows.len() }].chunks(n_rows * d) {
            let verdicts = watched(&mut model, rows, None)?;
            subject.ensure(verdicts.len() == rows.len() / d, || "there is not one verdict per row".into())?;
            ensure_probabilities(subject, &verdicts, &format!("in batches of {n_rows}"))?;
        }
    }
    Ok(())
}

pub(super) fn resume(subject: &Subject) -> Result<(), String> {
    let (rows, d) = holed(SEED + 71);
    let run = |interrupted: bool| {
        let mut model = subject.model(d, SEED + 71)?;
        let mut verdicts = Vec::new();
        for rows in rows.chunks(70 * d) {
            if interrupted {
                model = Model::load(&model.save()).map_err(|e| e.to_string())?;
            }
            verdicts.extend(watched(&mut model, rows, None)?);
        }
        // As text, because two missing values are equal here.
        Ok::<_, String>((model.save(), format!("{verdicts:?}")))
    };
    let (whole, pieces) = (run(false)?, run(true)?);
    subject.ensure(whole.1 == pieces.1, || "verdicts differ after loading".into())?;
    subject.ensure(whole.0 == pieces.0, || "the file differs after loading and watching".into())
}

pub(super) fn weights(subject: &Subject) -> Result<(), String> {
    let stream = three_clusters(1500, SEED + 72);
    let d = stream.n_columns;
    let (mut plain, mut weighted) = (subject.model(d, SEED + 72)?, subject.model(d, SEED + 72)?);
    for rows in stream.rows.chunks(BATCH * d) {
        // Every row is followed by one that counts as none.
        let doubled: Vec<f64> = rows.chunks(d).flat_map(|row| row.iter().copied().chain([1e6, -1e6, 3.5])).collect();
        let weights: Vec<f64> = (0..2 * rows.len() / d).map(|i| [1.0, 0.0][i % 2]).collect();
        let expected = watched(&mut plain, rows, Some(&vec![1.0; rows.len() / d]))?;
        let found = watched(&mut weighted, &doubled, Some(&weights))?;
        ensure_probabilities(subject, &found, "with rows of weight zero")?;
        let found: Vec<Verdict> = found.into_iter().step_by(2).collect();
        let same = expected.iter().zip(&found).all(|(a, b)| {
            (a.log_density.is_nan() && b.log_density.is_nan() || (a.log_density - b.log_density).abs() < 1e-6)
                && (a.p_value / b.p_value).ln().abs() < 1e-3
        });
        subject.ensure(same, || "rows of weight zero change what is said of others".into())?;
    }
    subject.ensure(plain.n_seen() == weighted.n_seen(), || "rows of weight zero are counted".into())
}

pub(super) fn frozen(subject: &Subject) -> Result<(), String> {
    let stream = three_clusters(2500, SEED + 73);
    let d = stream.n_columns;
    let (mut fitted, mut seen) = (subject.model(d, SEED + 73)?, subject.model(d, SEED + 73)?);
    feed(&mut fitted, &stream.rows, BATCH)?;
    fitted.finish();
    for rows in stream.rows.chunks(BATCH * d) {
        watched(&mut seen, rows, None)?;
    }
    let mut rows = stream.held_out[..300 * d].to_vec();
    rows[..d].copy_from_slice(&[60.0, 60.0, -60.0]);
    rows[4 * d] = f64::NAN;
    let batch = Batch::new(&rows, d).map_err(|e| e.to_string())?;
    for (name, model) in [("fitted", fitted), ("watched", seen)] {
        let before = model.save();
        let (mut first, mut second) = (Vec::new(), Vec::new());
        model.judge().judge(&batch, &mut first).map_err(|e| e.to_string())?;
        let again = Model::load(&before).map_err(|e| e.to_string())?;
        again.judge().judge(&batch, &mut second).map_err(|e| e.to_string())?;
        ensure_probabilities(subject, &first, name)?;
        subject.ensure(model.save() == before, || format!("judging changes a {name} model"))?;
        subject.ensure(format!("{first:?}") == format!("{second:?}"), || format!("{name}: differs after loading"))?;
    }
    Ok(())
}
