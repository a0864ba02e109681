//! What a look may and may not change.

use super::Subject;
use super::rows::{AGES, BATCH};
use super::stream::{SEED, mixture};
use super::subject::feed;

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
