//! Files: what is written can be read, goes on as if nothing had happened, and cannot be mistaken when damaged.

use super::stream::sample;
use super::subject::{BATCH, LinearSubject};
use crate::conformance::forged::forge;
use crate::model::{DocumentModel, LinearModel, Model, read_header};

/// Rows after which a stream is interrupted.
const INTERRUPTIONS: [usize; 5] = [0, 1, 40, 99, 201];

fn reloaded(model: &LinearModel) -> Result<LinearModel, String> {
    LinearModel::load(&model.save()).map_err(|e| e.to_string())
}

pub(super) fn round_trip(subject: &LinearSubject) -> Result<(), String> {
    let all = sample(subject.setup(), 10, 0, 201);
    let (mut model, mut from) = (subject.model()?, 0);
    for age in INTERRUPTIONS {
        subject.feed(&mut model, &all.part(from, age), BATCH)?;
        from = age;
        let saved = model.save();
        subject
            .ensure(reloaded(&model)?.save() == saved, || format!("after {age} rows the file changes when loaded"))?;
        let header = read_header(&saved).map_err(|e| e.to_string())?;
        let said = (header.kind.as_str(), header.n_seen);
        subject.ensure(said == (subject.kind().name(), age as u64), || format!("{header:?}"))?;
        // Nobody else takes it for theirs.
        let taken = Model::load(&saved).is_ok() || DocumentModel::load(&saved).is_ok();
        subject.ensure(!taken, || "it is taken for a model of rows or documents without labels".into())?;
    }
    Ok(())
}

pub(super) fn resume(subject: &LinearSubject) -> Result<(), String> {
    let all = sample(subject.setup(), 11, 0, 280);
    let mut ends: Vec<usize> = (BATCH..=280).step_by(BATCH).chain(INTERRUPTIONS).collect();
    ends.sort_unstable();
    ends.dedup();
    let run = |interrupted: &dyn Fn(usize) -> bool| {
        let (mut model, mut from) = (subject.model()?, 0);
        for &end in &ends {
            subject.update(&mut model, &all.part(from, end)).map_err(|e| e.to_string())?;
            from = end;
            if interrupted(end) {
                model = reloaded(&model)?;
            }
        }
        Ok::<_, String>(model.save())
    };
    let uninterrupted = run(&|_| false)?;
    for at in INTERRUPTIONS {
        subject
            .ensure(run(&|end| end == at)? == uninterrupted, || format!("interrupted after {at} rows it differs"))?;
    }
    subject.ensure(run(&|_| true)? == uninterrupted, || "interrupted after every batch it differs".into())
}

pub(super) fn scores_after_load(subject: &LinearSubject) -> Result<(), String> {
    let model = subject.fitted(&sample(subject.setup(), 12, 0, 200))?;
    let fresh = sample(subject.setup(), 12, 5000, 50);
    // Compared as text: a number that is not told is NaN, which equals nothing.
    let said = |model: &LinearModel| subject.judged(model, &fresh).map(|judged| format!("{judged:?}"));
    subject.ensure(said(&model)? == said(&reloaded(&model)?)?, || "scores differ after loading".into())
}

pub(super) fn damaged(subject: &LinearSubject) -> Result<(), String> {
    let mut bytes = subject.fitted(&sample(subject.setup(), 13, 0, 40))?.save();
    let n = bytes.len();
    let places = || (0..100).chain((100..n - 100).step_by(497)).chain(n - 100..n);
    for length in places() {
        let refused = LinearModel::load(&bytes[..length]).is_err();
        subject.ensure(refused, || format!("a file cut from {n} to {length} bytes loads"))?;
    }
    for at in places() {
        bytes[at] ^= 1 << (at % 8);
        let refused = LinearModel::load(&bytes).is_err();
        subject.ensure(refused, || format!("a file with a bit flipped in byte {at} loads"))?;
        bytes[at] ^= 1 << (at % 8);
    }
    subject.ensure(LinearModel::load(&bytes).is_ok(), || "the mended file does not load".into())
}

/// A file whose checksum is right and whose body is not: it must be refused or be harmless, and never panic.
pub(super) fn contradictory(subject: &LinearSubject) -> Result<(), String> {
    let all = sample(subject.setup(), 14, 0, 60);
    let bytes = subject.fitted(&all)?.save();
    let n_header = u32::from_le_bytes(bytes[12..16].try_into().map_err(|_| "four bytes")?) as usize;
    let body = 24 + n_header..bytes.len() - 4;
    let step = (body.len() / 400).max(1);
    for at in body.step_by(step) {
        for change in [0x01u8, 0x80, 0xff] {
            let mut changed = bytes.clone();
            changed[at] ^= change;
            let end = changed.len() - 4;
            let crc = crc32fast::hash(&changed[..end]);
            changed[end..].copy_from_slice(&crc.to_le_bytes());
            let survived = match LinearModel::load(&changed) {
                Err(_) => true,
                Ok(mut model) => subject.update(&mut model, &all.part(0, 5)).is_ok() || model.n_seen() > 0,
            };
            subject.ensure(survived, || format!("byte {at}"))?;
        }
    }
    Ok(())
}

pub(super) fn forged(subject: &LinearSubject) -> Result<(), String> {
    let all = sample(subject.setup(), 15, 0, 80);
    let model = subject.fitted(&all.part(0, 60))?;
    let fresh = all.part(60, 80);
    let harmless = |bytes: &[u8]| {
        let Ok(mut model) = LinearModel::load(bytes) else { return Ok(()) };
        subject.ensure_sound(&model, &fresh, "loaded")?;
        subject.update(&mut model, &fresh).map_err(|e| e.to_string())?;
        subject.ensure_sound(&model, &fresh, "after another batch")
    };
    harmless(&model.save()).map_err(|why| format!("before anything is forged: {why}"))?;
    forge(&model, &model.save(), harmless, || ())
}
