//! Memory over a long stream.

use super::stream::{documents, planted};
use super::subject::{BATCH, DocumentSubject, update};
use crate::text::RawDocument;

/// Documents with words of their own beside those of the planted stream: names, misprints, numbers of orders.
fn with_strange_words(first: u64, n: usize) -> Vec<RawDocument> {
    let mut all = documents(&planted(50), first, n);
    for (at, document) in all.iter_mut().enumerate() {
        if let RawDocument::Tokens(words) = document {
            words.extend((0..5).map(|i| format!("strange{}x{i}", first as usize + at)));
        }
    }
    all
}

pub(super) fn vocabulary(subject: &DocumentSubject) -> Result<(), String> {
    let mut model = subject.model_with(50, |s| s.text.max_words = 250)?;
    let mut recycled = 0;
    for batch in with_strange_words(0, 400).chunks(BATCH) {
        recycled += model.update(batch).map_err(|e| e.to_string())?.encoded.recycled.len();
        let n = model.vocabulary().len();
        subject.ensure(n <= 250, || format!("{n} words, and 250 may be"))?;
    }
    model.finish();
    subject.ensure(recycled > 0, || "no word was let go".into())?;
    subject.ensure_sound(&model, &documents(&planted(50), 5000, 20), "after words were let go")
}

/// Twice the documents may take this much more space: the last events and scores fill up, topics come and go. The
/// stretches of a history fill up and are then halved: both sizes are taken when about as many are in use.
const GROWTH: f64 = 1.25;

pub(super) fn memory(subject: &DocumentSubject) -> Result<(), String> {
    let mut model = subject.model_with(51, |s| {
        s.text.max_words = 400;
        (s.topics.max_topics, s.moments.max_components, s.svi.max_topics) = (20, 20, 20);
        s.supervised.max_topics = 20;
    })?;
    let mut sizes = Vec::new();
    for (first, n) in [(0, 8200), (8200, 8200)] {
        let all = with_strange_words(first, n);
        all.chunks(200).try_for_each(|batch| update(&mut model, batch))?;
        sizes.push((model.n_seen(), model.save().len()));
    }
    subject.ensure(sizes[1].1 as f64 <= GROWTH * sizes[0].1 as f64, || {
        format!("{} bytes after {} documents, {} after {}", sizes[0].1, sizes[0].0, sizes[1].1, sizes[1].0)
    })
}
