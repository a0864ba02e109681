//! What an update and a look may and may not change.

use super::Subject;
use super::stream::{SEED, mixture, three_clusters};
use super::subject::{BATCH, feed, update};
use crate::data::Batch;

/// Ages at which the state is looked at: before a model, while it is being made, and after.
const AGES: [usize; 5] = [0, 57, 130, 600, 2600];

pub(super) fn empty_batch(subject: &Subject) -> Result<(), String> {
    let stream = three_clusters(2600, SEED);
    for age in AGES {
        let mut model = subject.model(stream.n_columns, SEED)?;
        feed(&mut model, &stream.rows[..age * stream.n_columns], BATCH)?;
        let before = model.save();
        update(&mut model, &[])?;
        subject.ensure(model.save() == before, || format!("after {age} rows an empty batch changes the file"))?;
    }
    Ok(())
}

pub(super) fn failed_update(subject: &Subject) -> Result<(), String> {
    let stream = three_clusters(2600, SEED + 1);
    let d = stream.n_columns;
    let good = &stream.rows[..20 * d];
    let spoilt = |value: f64| {
        let mut rows = good.to_vec();
        rows[20 * d - 1] = value;
        rows
    };
    let (infinite, too_large) = (spoilt(f64::NEG_INFINITY), spoilt(1e90));
    for age in AGES {
        let mut model = subject.model(d, SEED)?;
        feed(&mut model, &stream.rows[..age * d], BATCH)?;
        let before = model.save();
        let mut refused = |rows: &[f64], n_columns: usize, weights: Option<&[f64]>| {
            let batch = Batch::new(rows, n_columns).and_then(|b| match weights {
                Some(weights) => b.with_weights(weights),
                None => Ok(b),
            });
            batch.and_then(|b| model.update(&b)).is_err()
        };
        let mut bad_weights = [1.5; 20];
        bad_weights[19] = -0.5;
        let attempts = [
            ("an infinite cell", refused(&infinite, d, None)),
            ("a cell too large", refused(&too_large, d, None)),
            ("a wrong number of columns", refused(&good[..20 * (d - 1)], d - 1, None)),
            ("a negative weight", refused(good, d, Some(&bad_weights))),
            ("too few weights", refused(good, d, Some(&[1.0; 3]))),
        ];
        for (what, refused) in attempts {
            subject.ensure(refused, || format!("after {age} rows {what} is accepted"))?;
        }
        subject.ensure(model.save() == before, || format!("after {age} rows a refused batch changes the file"))?;
    }
    Ok(())
}

pub(super) fn same_seed(subject: &Subject) -> Result<(), String> {
    let stream = mixture(5, 3, 3000, SEED + 2);
    let first = subject.fitted(&stream.rows, stream.n_columns, SEED + 3)?.save();
    let second = subject.fitted(&stream.rows, stream.n_columns, SEED + 3)?.save();
    subject.ensure(first == second, || "two runs with one seed differ".into())
}

pub(super) fn snapshot_is_pure(subject: &Subject) -> Result<(), String> {
    let stream = mixture(4, 2, 2600, SEED + 4);
    let d = stream.n_columns;
    let (mut looked_at, mut left_alone) = (subject.model(d, SEED)?, subject.model(d, SEED)?);
    let mut from = 0;
    for age in AGES {
        let rows = &stream.rows[from * d..age * d];
        feed(&mut looked_at, rows, BATCH)?;
        feed(&mut left_alone, rows, BATCH)?;
        from = age;
        let before = looked_at.save();
        for delta in [0.0, 0.01, 0.3] {
            let snapshot = looked_at.snapshot_at(delta);
            if snapshot.k_realized() > 0 {
                snapshot.sample(5, SEED);
                snapshot.scorer().mean_log_density(&stream.held_out[..5 * d]);
            }
        }
        looked_at.scorer().mean_log_density(&stream.held_out[..5 * d]);
        subject.ensure(looked_at.save() == before, || format!("after {age} rows a snapshot changes the file"))?;
    }
    subject.ensure(looked_at.save() == left_alone.save(), || "snapshots changed what was learnt later".into())
}

pub(super) fn threshold(subject: &Subject) -> Result<(), String> {
    for (k, d, seed) in [(3, 2, SEED + 5), (5, 5, SEED + 6), (10, 3, SEED + 7)] {
        let stream = mixture(k, d, 3000, seed);
        let model = subject.fitted(&stream.rows, d, seed)?;
        let deltas = [0.0, 1e-4, 1e-3, 0.01, 0.03, 0.06, 0.08, 0.1, 0.15, 0.2, 0.3, 0.5, 0.9];
        let found: Vec<usize> = deltas.iter().map(|delta| model.snapshot_at(*delta).k_realized()).collect();
        subject.ensure(found.is_sorted_by(|a, b| a >= b), || format!("({k}, {d}): {found:?} at {deltas:?}"))?;
        let last = found[found.len() - 1];
        subject.ensure(last >= 1, || format!("({k}, {d}): nothing is left at the largest threshold"))?;
    }
    Ok(())
}
