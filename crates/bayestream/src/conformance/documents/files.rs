//! Files: what is written can be read, goes on as if nothing had happened, and cannot be mistaken when damaged.

use super::stream::{documents, planted};
use super::subject::{BATCH, DocumentSubject, feed, update};
use crate::conformance::forged::forge;
use crate::model::{DocumentModel, read_header};
use crate::text::RawDocument;

/// Documents after which a stream is interrupted.
const INTERRUPTIONS: [usize; 6] = [0, 1, 40, 99, 100, 301];

fn reloaded(model: &DocumentModel) -> Result<DocumentModel, String> {
    DocumentModel::load(&model.save()).map_err(|e| e.to_string())
}

pub(super) fn round_trip(subject: &DocumentSubject) -> Result<(), String> {
    let all = documents(&planted(10), 0, 301);
    let (mut model, mut from) = (subject.model(10)?, 0);
    for age in INTERRUPTIONS {
        feed(&mut model, &all[from..age], BATCH)?;
        from = age;
        let saved = model.save();
        subject.ensure(reloaded(&model)?.save() == saved, || {
            format!("after {age} documents the file changes when loaded")
        })?;
        let header = read_header(&saved).map_err(|e| e.to_string())?;
        let said = (header.kind.as_str(), header.n_seen);
        subject.ensure(said == (subject.kind().name(), age as u64), || format!("{header:?}"))?;
    }
    model.finish();
    subject.ensure(reloaded(&model)?.save() == model.save(), || "the file of a fit changes when loaded".into())
}

pub(super) fn resume(subject: &DocumentSubject) -> Result<(), String> {
    let all = documents(&planted(11), 0, 400);
    let mut ends: Vec<usize> = (BATCH..=400).step_by(BATCH).chain(INTERRUPTIONS).collect();
    ends.sort_unstable();
    ends.dedup();
    let run = |interrupted: &dyn Fn(usize) -> bool| {
        let (mut model, mut from) = (subject.model(11)?, 0);
        for &end in &ends {
            update(&mut model, &all[from..end])?;
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
        let same = run(&|end| end == at)? == uninterrupted;
        subject.ensure(same, || format!("interrupted after {at} documents it differs"))?;
    }
    subject.ensure(run(&|_| true)? == uninterrupted, || "interrupted after every batch it differs".into())
}

pub(super) fn scores_after_load(subject: &DocumentSubject) -> Result<(), String> {
    let planted = planted(12);
    let model = subject.fitted(&documents(&planted, 0, 300), 12)?;
    let fresh = documents(&planted, 5000, 100);
    let score = |model: &DocumentModel| model.score(&fresh).map_err(|e| e.to_string());
    let (before, after) = (score(&model)?, score(&reloaded(&model)?)?);
    subject.ensure(before == after, || "scores differ after loading".into())
}

pub(super) fn damaged(subject: &DocumentSubject) -> Result<(), String> {
    let mut bytes = subject.fitted(&documents(&planted(13), 0, 60), 13)?.save();
    let n = bytes.len();
    let places = || (0..100).chain((100..n - 100).step_by(997)).chain(n - 100..n);
    for length in places() {
        let refused = DocumentModel::load(&bytes[..length]).is_err();
        subject.ensure(refused, || format!("a file cut from {n} to {length} bytes loads"))?;
    }
    for at in places() {
        bytes[at] ^= 1 << (at % 8);
        let refused = DocumentModel::load(&bytes).is_err();
        subject.ensure(refused, || format!("a file with a bit flipped in byte {at} loads"))?;
        bytes[at] ^= 1 << (at % 8);
    }
    subject.ensure(DocumentModel::load(&bytes).is_ok(), || "the mended file does not load".into())
}

/// What is wrong with what a model says of documents, if anything.
fn told_of(model: &DocumentModel, documents: &[RawDocument]) -> Result<(), String> {
    let snapshot = model.snapshot();
    if let Some(topic) = snapshot.topics.iter().find(|t| !(t.weight.is_finite() && t.words.iter().all(|p| *p >= 0.0))) {
        return Err(format!("topic {:?} has weight {}", topic.id, topic.weight));
    }
    let (scores, _) = model.score(documents).map_err(|e| e.to_string())?;
    let finite = scores.log_likelihood.iter().all(|v| v.is_finite())
        && scores.shares.iter().chain(&scores.margins).all(|v| v.is_finite());
    match finite {
        true => Ok(()),
        false => Err(format!("it says {scores:?}").chars().take(300).collect()),
    }
}

pub(super) fn forged(subject: &DocumentSubject) -> Result<(), String> {
    let planted = planted(14);
    let all = documents(&planted, 0, 160);
    let labels: Vec<Vec<String>> = (0..all.len()).map(|at| vec![["wet", "dry"][at % 2].to_string()]).collect();
    let fresh = documents(&planted, 5000, 5);
    for age in [20, 150] {
        let mut model = subject.model(14)?;
        for (documents, labels) in all[..age].chunks(BATCH).zip(labels[..age].chunks(BATCH)) {
            model.update_labelled(documents, labels).map_err(|e| e.to_string())?;
        }
        model.finish();
        let harmless = |bytes: &[u8]| {
            let Ok(mut model) = DocumentModel::load(bytes) else { return Ok(()) };
            told_of(&model, &fresh)?;
            update(&mut model, &fresh)?;
            model.finish();
            told_of(&model, &fresh).map_err(|why| format!("after another batch {why}"))
        };
        harmless(&model.save()).map_err(|why| format!("before anything is forged: {why}"))?;
        forge(&model, &model.save(), harmless, || {
            let _ = subject.ensure(true, String::new);
        })?;
    }
    Ok(())
}
