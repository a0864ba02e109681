//! Files: what is written can be read, goes on as if nothing had happened, and cannot be mistaken when damaged.

use super::Subject;
use super::stream::{SEED, mixture, three_clusters};
use super::subject::{BATCH, feed, update};
use crate::model::{Model, read_header};

/// Rows after which a stream is interrupted: around every age at which a learner is known to change its ways.
const INTERRUPTIONS: [usize; 8] = [0, 57, 100, 499, 500, 1000, 2000, 2500];

fn reloaded(model: &Model) -> Result<Model, String> {
    Model::load(&model.save()).map_err(|e| e.to_string())
}

pub(super) fn round_trip(subject: &Subject) -> Result<(), String> {
    let stream = mixture(4, 3, 2500, SEED + 10);
    let mut model = subject.model(stream.n_columns, SEED)?;
    let mut from = 0;
    for age in INTERRUPTIONS {
        feed(&mut model, &stream.rows[from * stream.n_columns..age * stream.n_columns], BATCH)?;
        from = age;
        let saved = model.save();
        let again = reloaded(&model)?;
        subject.ensure(again.save() == saved, || format!("after {age} rows the file changes when loaded"))?;
        let header = read_header(&saved).map_err(|e| e.to_string())?;
        let said = (header.kind.as_str(), header.n_seen, header.columns.len());
        subject.ensure(said == (subject.kind().name(), age as u64, stream.n_columns), || format!("{header:?}"))?;
    }
    model.finish();
    subject.ensure(reloaded(&model)?.save() == model.save(), || "the file of a fit changes when loaded".into())
}

pub(super) fn resume(subject: &Subject) -> Result<(), String> {
    let stream = mixture(5, 3, 3000, SEED + 11);
    let d = stream.n_columns;
    let mut ends: Vec<usize> = (BATCH..=3000).step_by(BATCH).chain(INTERRUPTIONS).collect();
    ends.sort_unstable();
    ends.dedup();
    let run = |interrupted: &dyn Fn(usize) -> bool| {
        let (mut model, mut from) = (subject.model(d, SEED + 12)?, 0);
        for &end in &ends {
            update(&mut model, &stream.rows[from * d..end * d])?;
            from = end;
            if interrupted(end) {
                model = reloaded(&model)?;
            }
        }
        model.finish();
        Ok::<_, String>(model.save())
    };
    let uninterrupted = run(&|_| false)?;
    for at in INTERRUPTIONS {
        subject
            .ensure(run(&|end| end == at)? == uninterrupted, || format!("interrupted after {at} rows it differs"))?;
    }
    subject.ensure(run(&|_| true)? == uninterrupted, || "interrupted after every batch it differs".into())
}

pub(super) fn scores_after_load(subject: &Subject) -> Result<(), String> {
    let stream = mixture(4, 3, 1500, SEED + 13);
    let d = stream.n_columns;
    let model = subject.fitted(&stream.rows, d, SEED + 14)?;
    let again = reloaded(&model)?;
    let mut rows = stream.held_out[..200 * d].to_vec();
    (0..40).for_each(|i| rows[i * 7] = f64::NAN);
    let scorers = [
        ("snapshot", model.snapshot().scorer(), again.snapshot().scorer()),
        ("master", model.scorer(), again.scorer()),
    ];
    for (name, mut before, mut after) in scorers {
        let (mut expected, mut found) = (Vec::new(), Vec::new());
        before.score(&rows, &mut expected);
        after.score(&rows, &mut found);
        // As text, because two missing values are equal here.
        let same = format!("{expected:?}") == format!("{found:?}");
        subject.ensure(same && found.len() == 200, || format!("scores of the {name} differ after loading"))?;
        for row in rows.chunks(d).take(20) {
            let same = before.reasons(row) == after.reasons(row);
            subject.ensure(same, || format!("reasons of the {name} differ after loading"))?;
        }
    }
    Ok(())
}

/// A file of some size to damage.
fn file(subject: &Subject) -> Result<Vec<u8>, String> {
    let stream = three_clusters(700, SEED + 15);
    Ok(subject.fitted(&stream.rows, stream.n_columns, SEED + 16)?.save())
}

fn ensure_refused(subject: &Subject, bytes: &[u8], what: impl Fn() -> String) -> Result<(), String> {
    subject.ensure(Model::load(bytes).is_err(), || format!("{} loads", what()))?;
    subject.ensure(read_header(bytes).is_err(), || format!("the header of {} is read", what()))
}

pub(super) fn truncated(subject: &Subject) -> Result<(), String> {
    let saved = file(subject)?;
    let n = saved.len();
    // Every length near both ends, and a sample in between.
    for length in (0..200).chain((200..n - 200).step_by(131)).chain(n - 200..n) {
        ensure_refused(subject, &saved[..length], || format!("a file cut from {n} to {length} bytes"))?;
    }
    let longer = [saved.as_slice(), &[0]].concat();
    ensure_refused(subject, &longer, || "a file with a byte too many".into())
}

pub(super) fn flipped(subject: &Subject) -> Result<(), String> {
    let mut bytes = file(subject)?;
    let n = bytes.len();
    for at in (0..200).chain((200..n - 200).step_by(131)).chain(n - 200..n) {
        let bit = 1 << (at % 8);
        bytes[at] ^= bit;
        ensure_refused(subject, &bytes, || format!("a file with a bit flipped in byte {at}"))?;
        bytes[at] ^= bit;
    }
    subject.ensure(Model::load(&bytes).is_ok(), || "the mended file does not load".into())
}
