//! What an update and a look may and may not change.

use super::stream::{documents, name, planted};
use super::subject::{BATCH, DocumentSubject, feed, update};
use crate::model::DocumentModel;
use crate::text::RawDocument;

/// Ages at which the state is looked at: before a model, while it is being made, and after.
const AGES: [usize; 4] = [0, 7, 60, 300];

pub(super) fn no_documents(subject: &DocumentSubject) -> Result<(), String> {
    let all = documents(&planted(0), 0, 300);
    for age in AGES {
        let mut model = subject.model(1)?;
        feed(&mut model, &all[..age], BATCH)?;
        let before = model.save();
        update(&mut model, &[])?;
        subject.ensure(model.save() == before, || format!("after {age} documents none at all change the file"))?;
    }
    Ok(())
}

pub(super) fn failed_update(subject: &DocumentSubject) -> Result<(), String> {
    let listed: Vec<String> = (0..300).map(name).collect();
    let all = documents(&planted(1), 0, 300);
    let uneven = RawDocument::Counts { terms: vec![3, 4, 5], counts: vec![1, 2] };
    let beyond = RawDocument::Counts { terms: vec![3, 300], counts: vec![1, 2] };
    for age in AGES {
        let config = || subject.config(2, |_| ());
        let free = DocumentModel::new(config()).map_err(|e| e.to_string())?;
        let given = DocumentModel::with_words(config(), listed.clone()).map_err(|e| e.to_string())?;
        for (mut model, spoilt) in [(free, &uneven), (given.clone(), &uneven), (given, &beyond)] {
            feed(&mut model, &all[..age], BATCH)?;
            let before = model.save();
            let batch = [all[0].clone(), spoilt.clone(), all[1].clone()];
            subject.ensure(model.update(&batch).is_err(), || format!("{spoilt:?} is accepted"))?;
            subject.ensure(model.score(&batch).is_err(), || format!("{spoilt:?} is scored"))?;
            subject.ensure(model.save() == before, || format!("after {age} documents {spoilt:?} changes the file"))?;
        }
    }
    Ok(())
}

pub(super) fn same_seed(subject: &DocumentSubject) -> Result<(), String> {
    let all = documents(&planted(2), 0, 400);
    let first = subject.fitted(&all, 3)?.save();
    subject.ensure(first == subject.fitted(&all, 3)?.save(), || "two runs with one seed differ".into())
}

pub(super) fn looks_are_pure(subject: &DocumentSubject) -> Result<(), String> {
    let all = documents(&planted(3), 0, 300);
    let (mut looked_at, mut left_alone) = (subject.model(4)?, subject.model(4)?);
    let mut from = 0;
    for age in AGES {
        feed(&mut looked_at, &all[from..age], BATCH)?;
        feed(&mut left_alone, &all[from..age], BATCH)?;
        from = age;
        looked_at.snapshot();
        looked_at.score(&all[..20]).map_err(|e| e.to_string())?;
        subject.ensure(looked_at.save() == left_alone.save(), || format!("a look after {age} documents changes it"))?;
    }
    Ok(())
}

pub(super) fn cut_of_batches(subject: &DocumentSubject) -> Result<(), String> {
    let all = documents(&planted(4), 0, 400);
    // A vocabulary that grows remembers which words were in the latest batch; a given one does not.
    let whole = of_list(subject, &all, all.len())?;
    for n in [1, 33, 250] {
        subject.ensure(of_list(subject, &all, n)? == whole, || format!("in batches of {n} documents it differs"))?;
    }
    Ok(())
}

/// The file of a model with a given list of words after these documents, in batches of `n`.
fn of_list(subject: &DocumentSubject, documents: &[RawDocument], n: usize) -> Result<Vec<u8>, String> {
    let listed = (0..300).map(name).collect();
    let mut model = DocumentModel::with_words(subject.config(6, |_| ()), listed).map_err(|e| e.to_string())?;
    feed(&mut model, documents, n)?;
    model.finish();
    Ok(model.save())
}

pub(super) fn order_of_words(subject: &DocumentSubject) -> Result<(), String> {
    let all = documents(&planted(5), 0, 200);
    let turned: Vec<RawDocument> = all
        .iter()
        .map(|document| match document {
            RawDocument::Tokens(words) => RawDocument::Tokens(words.iter().rev().cloned().collect()),
            other => other.clone(),
        })
        .collect();
    let same = of_list(subject, &all, BATCH)? == of_list(subject, &turned, BATCH)?;
    subject.ensure(same, || "documents read backwards make another model".into())
}

pub(super) fn counts_are_repeats(subject: &DocumentSubject) -> Result<(), String> {
    let planted = planted(6);
    let buffer = planted.documents(0, 200);
    let counted: Vec<RawDocument> = buffer
        .documents()
        .iter()
        .map(|(words, counts)| RawDocument::Counts { terms: words.to_vec(), counts: counts.to_vec() })
        .collect();
    let same = of_list(subject, &documents(&planted, 0, 200), BATCH)? == of_list(subject, &counted, BATCH)?;
    subject.ensure(same, || "counts of words and the words make different models".into())
}
