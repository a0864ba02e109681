//! What is learnt is what was planted.

use super::stream::{documents, name, planted};
use super::subject::{DocumentSubject, per_word};
use crate::text::RawDocument;
use std::collections::BTreeMap;

/// Bhattacharyya overlap of a planted topic with the topic that found it.
const FOUND: f64 = 0.85;

fn overlaps(subject: &DocumentSubject, seed: u64) -> Result<Vec<f64>, String> {
    let planted = planted(seed);
    let model = subject.fitted(&documents(&planted, 0, 1200), seed)?;
    let (snapshot, vocabulary) = (model.snapshot(), model.vocabulary());
    let overlap = |truth: &[f32], found: &[f32]| -> f64 {
        let of = |(word, p): (usize, &f32)| {
            let at = vocabulary.number(&name(word as u32))?;
            Some(f64::from(p * found[at as usize]).sqrt())
        };
        truth.iter().enumerate().filter_map(of).sum()
    };
    let best = |truth: &Vec<f32>| snapshot.topics.iter().map(|t| overlap(truth, &t.words)).fold(0.0, f64::max);
    Ok(planted.topics.iter().map(best).collect())
}

pub(super) fn found(subject: &DocumentSubject) -> Result<(), String> {
    for seed in [30, 31] {
        let overlaps = overlaps(subject, seed)?;
        let all = overlaps.iter().all(|overlap| *overlap > FOUND);
        subject.ensure(all, || format!("overlaps with the planted topics: {overlaps:.3?}"))?;
    }
    Ok(())
}

/// Mean log-probability of a word by the frequencies of words in other documents, each counted once more.
fn by_frequencies(learnt: &[RawDocument], fresh: &[RawDocument]) -> f64 {
    let words = |documents: &[RawDocument]| -> Vec<String> {
        let tokens = documents.iter().filter_map(|document| match document {
            RawDocument::Tokens(words) => Some(words.clone()),
            _ => None,
        });
        tokens.flatten().collect()
    };
    let (learnt, fresh) = (words(learnt), words(fresh));
    let mut counts: BTreeMap<&str, f64> = BTreeMap::new();
    learnt.iter().for_each(|word| *counts.entry(word).or_insert(1.0) += 1.0);
    let total = learnt.len() as f64 + counts.len() as f64;
    let known: Vec<f64> = fresh.iter().filter_map(|word| counts.get(word.as_str()).map(|n| (n / total).ln())).collect();
    known.iter().sum::<f64>() / known.len() as f64
}

pub(super) fn foretold(subject: &DocumentSubject) -> Result<(), String> {
    let planted = planted(32);
    let (all, fresh) = (documents(&planted, 0, 600), documents(&planted, 5000, 200));
    let found = per_word(&subject.fitted(&all, 32)?, &fresh)?;
    let plain = by_frequencies(&all, &fresh);
    subject.ensure(found > plain + 0.3, || format!("{found} per word, {plain} by the frequencies of words alone"))
}

pub(super) fn adds_up(subject: &DocumentSubject) -> Result<(), String> {
    for n in [1, 30, 400] {
        let snapshot = subject.fitted(&documents(&planted(33), 0, n), 33)?.snapshot();
        let total: f64 = snapshot.topics.iter().map(|topic| topic.weight).sum();
        subject.ensure((total - 1.0).abs() < 1e-6, || format!("after {n} documents weights add up to {total}"))?;
        for topic in &snapshot.topics {
            let words: f64 = topic.words.iter().map(|p| f64::from(*p)).sum();
            subject.ensure((words - 1.0).abs() < 1e-3, || format!("after {n} documents words add up to {words}"))?;
        }
    }
    Ok(())
}
