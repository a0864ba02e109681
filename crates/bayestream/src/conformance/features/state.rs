//! What an update, a look and a file may and may not change.

use super::subject::{FeatureSubject, estimation_error, mean_log_density, planted};
use crate::conformance::forged::forge;
use crate::conformance::rows::{AGES, BATCH, RowSubject};
use crate::conformance::stream::SEED;
use crate::data::Batch;
use crate::model::{DocumentModel, FeatureModel, LinearModel, Model};

pub(super) fn cut_of_batches(subject: &FeatureSubject) -> Result<(), String> {
    let (rows, d) = subject.stream(1234, SEED + 100);
    let file = |n: usize| {
        let mut model = subject.begin(d, SEED)?;
        subject.feed(&mut model, &rows, d, n)?;
        subject.finish(&mut model);
        Ok::<_, String>(model.save())
    };
    let whole = file(1234)?;
    for n in [1, 33, 250] {
        subject.holds(file(n)? == whole, || format!("in batches of {n} rows it differs"))?;
    }
    Ok(())
}

pub(super) fn looks_are_pure(subject: &FeatureSubject) -> Result<(), String> {
    let (rows, d) = subject.stream(2600, SEED + 101);
    let (mut looked_at, mut left_alone) = (subject.begin(d, SEED)?, subject.begin(d, SEED)?);
    let mut from = 0;
    for age in AGES {
        let part = &rows[from * d..age * d];
        subject.feed(&mut looked_at, part, d, BATCH)?;
        subject.feed(&mut left_alone, part, d, BATCH)?;
        from = age;
        looked_at.snapshot().sample(5, SEED);
        let mut scorer = looked_at.scorer();
        scorer.score(&rows[..d]);
        scorer.reasons(&rows[..d]);
        let same = looked_at.save() == left_alone.save();
        subject.holds(same, || format!("after {age} rows a look changes the file"))?;
    }
    Ok(())
}

pub(super) fn snapshots_stay(subject: &FeatureSubject) -> Result<(), String> {
    let (rows, d) = subject.stream(1500, SEED + 102);
    let mut model = subject.begin(d, SEED)?;
    subject.feed(&mut model, &rows[..700 * d], d, BATCH)?;
    // As text: a mean over no scores is NaN, which equals nothing.
    let snapshot = model.snapshot();
    let before = format!("{snapshot:?}");
    subject.feed(&mut model, &rows[700 * d..], d, BATCH)?;
    subject.finish(&mut model);
    subject.holds(format!("{snapshot:?}") == before && snapshot.n_seen == 700, || "a snapshot changes".into())?;
    subject.holds(model.snapshot().n_seen == 1500, || "a later snapshot does not".into())
}

pub(super) fn scores_after_load(subject: &FeatureSubject) -> Result<(), String> {
    let (rows, d) = subject.stream(1500, SEED + 103);
    let model = subject.fit(&rows, d, SEED)?;
    let saved = model.save();
    let again = FeatureModel::load(&saved).map_err(|e| e.to_string())?;
    let (mut before, mut after) = (model.scorer(), again.scorer());
    for (at, row) in rows.chunks(d).take(60).enumerate() {
        let mut row = row.to_vec();
        if at % 3 == 0 {
            row[at % d] = f64::NAN;
        }
        let same = before.score(&row) == after.score(&row) && before.reasons(&row) == after.reasons(&row);
        subject.holds(same, || format!("scores of row {at} differ after loading"))?;
    }
    // Nobody else takes it for theirs.
    let taken = Model::load(&saved).is_ok() || DocumentModel::load(&saved).is_ok() || LinearModel::load(&saved).is_ok();
    subject.holds(!taken, || "it is taken for a model of another sort".into())
}

/// A file whose checksum is right and whose body is not: it must be refused or be harmless, and never panic.
pub(super) fn contradictory(subject: &FeatureSubject) -> Result<(), String> {
    let (rows, d) = subject.stream(620, SEED + 104);
    let mut model = subject.begin(d, SEED)?;
    subject.feed(&mut model, &rows, d, BATCH)?;
    let bytes = model.save();
    let n_header = u32::from_le_bytes(bytes[12..16].try_into().map_err(|_| "four bytes")?) as usize;
    let body = 24 + n_header..bytes.len() - 4;
    // The beginning holds the settings and the sizes; numbers follow, which are alike.
    let places = body.clone().take(300).chain(body.clone().step_by((body.len() / 200).max(1)));
    for at in places {
        let mut changed = bytes.clone();
        changed[at] ^= 0x81;
        let end = changed.len() - 4;
        let crc = crc32fast::hash(&changed[..end]);
        changed[end..].copy_from_slice(&crc.to_le_bytes());
        let survived = match FeatureModel::load(&changed) {
            Err(_) => true,
            Ok(mut model) => subject.feed(&mut model, &rows[..5 * d], d, 5).is_ok() || model.n_seen() > 0,
        };
        subject.holds(survived, || format!("byte {at}"))?;
    }
    Ok(())
}

pub(super) fn weight_zero(subject: &FeatureSubject) -> Result<(), String> {
    let truth = planted(SEED + 105);
    let (n, d) = (1200, truth.n_columns());
    let rows = truth.rows(0, n);
    // Every row is followed by one that is far from all and does not count.
    let haunted: Vec<f64> = rows.chunks(d).flat_map(|row| [row.to_vec(), vec![1e6; d]].concat()).collect();
    let weights: Vec<f64> = (0..2 * n).map(|at| f64::from(u8::from(at % 2 == 0))).collect();
    let mut model = subject.begin(d, SEED)?;
    let batch = Batch::new(&haunted, d).and_then(|b| b.with_weights(&weights)).map_err(|e| e.to_string())?;
    subject.learn(&mut model, &batch).map_err(|e| e.to_string())?;
    subject.finish(&mut model);
    let plain = subject.fit(&rows, d, SEED)?;
    let fresh = truth.rows(90_000, 1000);
    let (expected, found) = (mean_log_density(&plain, &fresh), mean_log_density(&model, &fresh));
    let tolerance = estimation_error(&truth, n);
    subject.holds((expected - found).abs() < tolerance, || format!("{found} instead of {expected} ± {tolerance}"))?;
    subject.holds(model.n_seen() == n as u64, || format!("{} rows are counted, not {n}", model.n_seen()))
}

pub(super) fn merging(subject: &FeatureSubject) -> Result<(), String> {
    let (rows, d) = subject.stream(300, SEED + 106);
    let model = subject.fit(&rows, d, SEED)?;
    let one = FeatureModel::merge(std::slice::from_ref(&model)).map_err(|e| e.to_string())?;
    subject.holds(one.save() == model.save(), || "one model, merged, is another".into())?;
    let two = FeatureModel::merge(&[model.clone(), model]).map_err(|e| (e.code(), e.to_string()));
    let why = two.err().filter(|(code, _)| *code == "merge-unsupported").map(|(_, why)| why).unwrap_or_default();
    subject.holds(why.contains(subject.kind().name()), || format!("it says `{why}`"))?;
    subject.holds(FeatureModel::merge(&[]).is_err(), || "no models make one".into())
}

pub(super) fn bounded(subject: &FeatureSubject) -> Result<(), String> {
    /// Ten times the rows may take this much more space: the last events and scores fill up.
    const GROWTH: f64 = 1.25;
    let (rows, d) = subject.stream(30_000, SEED + 107);
    let mut model = subject.begin(d, SEED)?;
    subject.feed(&mut model, &rows[..3000 * d], d, 500)?;
    let early = model.save().len();
    subject.feed(&mut model, &rows[3000 * d..], d, 500)?;
    let late = model.save().len();
    subject
        .holds(late as f64 <= GROWTH * early as f64, || format!("{early} bytes after 3,000 rows, {late} after 30,000"))
}

/// What is wrong with what a model says of rows, if anything.
fn told_of(model: &FeatureModel, rows: &[f64]) -> Result<(), String> {
    let mut scorer = model.scorer();
    for row in rows.chunks_exact(model.columns().len()) {
        let score = scorer.score(row);
        let sound = score.log_density.is_finite()
            && score.surprise.is_finite()
            && (0.0..=1.0).contains(&score.p_value)
            && score.activations.iter().all(|q| (0.0..=1.0).contains(q));
        if !sound {
            return Err(format!("it says {score:?}"));
        }
    }
    Ok(())
}

pub(super) fn forged(subject: &FeatureSubject) -> Result<(), String> {
    let (rows, d) = subject.stream(400, SEED + 108);
    let (learnt, fresh) = rows.split_at(380 * d);
    let model = subject.fit(learnt, d, SEED)?;
    let harmless = |bytes: &[u8]| {
        let Ok(mut model) = FeatureModel::load(bytes) else { return Ok(()) };
        told_of(&model, fresh)?;
        subject.feed(&mut model, fresh, d, BATCH)?;
        if subject.kind().info().streaming {
            told_of(&model, fresh).map_err(|why| format!("after another batch {why}"))?;
        }
        Ok(())
    };
    harmless(&model.save()).map_err(|why| format!("before anything is forged: {why}"))?;
    forge(&model, &model.save(), harmless, || {
        let _ = subject.holds(true, String::new);
    })
}
