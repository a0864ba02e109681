//! Shards of one stream, learnt apart and put together.

use super::stream::{documents, planted};
use super::subject::{BATCH, DocumentSubject, feed, per_word};
use crate::model::{DocumentConfig, DocumentModel};
use crate::text::RawDocument;

pub(super) fn identity(subject: &DocumentSubject) -> Result<(), String> {
    let model = subject.fitted(&documents(&planted(40), 0, 200), 40)?;
    let merged = DocumentModel::merge(std::slice::from_ref(&model)).map_err(|e| e.to_string())?;
    subject.ensure(merged.save() == model.save(), || "a model merged with nothing is another".into())?;
    subject.ensure(DocumentModel::merge(&[]).is_err(), || "nothing at all can be merged".into())
}

/// A model for each shard: document i goes to shard i modulo their number.
fn shards(subject: &DocumentSubject, all: &[RawDocument], n_shards: usize) -> Result<Vec<DocumentModel>, String> {
    (0..n_shards)
        .map(|shard| {
            let own: Vec<RawDocument> = all.iter().skip(shard).step_by(n_shards).cloned().collect();
            let config = DocumentConfig { shard: shard as u32, ..subject.config(41, |_| ()) };
            let mut model = DocumentModel::new(config).map_err(|e| e.to_string())?;
            feed(&mut model, &own, BATCH)?;
            model.finish();
            Ok(model)
        })
        .collect()
}

pub(super) fn commutes(subject: &DocumentSubject) -> Result<(), String> {
    let planted = planted(42);
    // Shards with a model, and shards too young to have one; the third has seen nothing.
    for n in [600, 12, 2] {
        let models = shards(subject, &documents(&planted, 0, n), 3)?;
        let merge = |order: [usize; 3]| {
            let chosen: Vec<DocumentModel> = order.iter().map(|at| models[*at].clone()).collect();
            DocumentModel::merge(&chosen).map_err(|e| e.to_string())
        };
        let first = merge([0, 1, 2])?;
        subject.ensure(first.n_seen() == n as u64, || format!("{} documents are left of {n}", first.n_seen()))?;
        subject.ensure_sound(&first, &documents(&planted, 5000, 20), &format!("{n} documents in three shards"))?;
        for order in [[0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]] {
            let same = merge(order)?.save() == first.save();
            subject.ensure(same, || format!("{n} documents merged in the order {order:?} differ"))?;
        }
    }
    Ok(())
}

/// Nats per word that merged shards may lose: each has seen a part of the documents only.
const LOSS: f64 = 0.08;

pub(super) fn as_good(subject: &DocumentSubject) -> Result<(), String> {
    let planted = planted(43);
    let (all, fresh) = (documents(&planted, 0, 2400), documents(&planted, 50_000, 300));
    // Kinds that cannot be merged say so before anything is learnt.
    DocumentModel::merge(&[subject.model(1)?, subject.model(1)?]).map_err(|e| e.to_string())?;
    let one_pass = per_word(&shards(subject, &all, 1)?[0], &fresh)?;
    for n_shards in [2, 4] {
        let mut merged = DocumentModel::merge(&shards(subject, &all, n_shards)?).map_err(|e| e.to_string())?;
        let found = per_word(&merged, &fresh)?;
        subject.ensure(found > one_pass - LOSS, || {
            format!("{n_shards} shards have {found} per word, one pass {one_pass}")
        })?;
        // It goes on learning.
        feed(&mut merged, &documents(&planted, 10_000, 200), BATCH)?;
        let later = per_word(&merged, &fresh)?;
        subject.ensure(later > one_pass - LOSS, || format!("{n_shards} shards and more documents have {later}"))?;
        subject.ensure(merged.n_seen() == 2600, || format!("{} documents are left", merged.n_seen()))?;
    }
    Ok(())
}
