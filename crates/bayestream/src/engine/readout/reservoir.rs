//! A uniform sample of the documents of a stream, of bounded size.
//!
//! Every document draws a number by its place in the stream, and those with the smallest numbers are kept. So the sample does
//! not depend on how the stream is cut, and the samples of two streams make that of both.

use crate::data::{DocumentBuffer, Documents};
use crate::num;
use rand_core::Rng as _;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The streams of random numbers of samples lie beside those of learners.
const STREAM: u64 = 2 << 32;

/// A uniform sample of documents with labels.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reservoir {
    keep: usize,
    seed: u64,
    shard: u32,
    n_seen: u64,
    kept: BTreeMap<Lot, Kept>,
}

/// What decides whether a document is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Lot {
    drawn: u64,
    shard: u32,
    number: u64,
    /// Shards that were given one number draw alike; their documents are told apart by this.
    copy: u32,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Kept {
    words: Vec<u32>,
    counts: Vec<u32>,
    labels: Vec<u32>,
}

impl Reservoir {
    /// Keeps at most `keep` documents.
    pub fn new(keep: usize, seed: u64, shard: u32) -> Reservoir {
        Reservoir { keep, seed, shard, n_seen: 0, kept: BTreeMap::new() }
    }

    /// Documents kept.
    pub fn len(&self) -> usize {
        self.kept.len()
    }

    /// True without any.
    pub fn is_empty(&self) -> bool {
        self.kept.is_empty()
    }

    /// Takes note of a document.
    pub fn see(&mut self, documents: &Documents<'_>, document: usize) {
        let drawn = num::stream(self.seed, STREAM + u64::from(self.shard), self.n_seen).next_u64();
        let lot = Lot { drawn, shard: self.shard, number: self.n_seen, copy: 0 };
        self.n_seen += 1;
        if self.kept.len() >= self.keep && self.kept.last_key_value().is_none_or(|(last, _)| *last < lot) {
            return;
        }
        let (words, counts) = documents.get(document);
        let labels = documents.labels(document).to_vec();
        self.kept.insert(lot, Kept { words: words.to_vec(), counts: counts.to_vec(), labels });
        self.shrink();
    }

    fn shrink(&mut self) {
        while self.kept.len() > self.keep {
            self.kept.pop_last();
        }
    }

    /// The documents kept, in an order that says nothing.
    pub fn documents(&self) -> DocumentBuffer {
        let mut buffer = DocumentBuffer::new();
        for (document, kept) in self.kept.values().enumerate() {
            buffer.push_counts(kept.words.iter().copied().zip(kept.counts.iter().copied()).collect());
            buffer.label(document, kept.labels.iter().copied());
        }
        buffer
    }

    /// Words under other numbers; a word without a number is let go.
    pub fn renumber(&mut self, number: impl Fn(u32) -> Option<u32>) {
        for kept in self.kept.values_mut() {
            let pairs = kept.words.iter().zip(&kept.counts).filter_map(|(word, n)| Some((number(*word)?, *n)));
            let mut pairs: Vec<(u32, u32)> = pairs.collect();
            pairs.sort_unstable();
            (kept.words, kept.counts) = pairs.into_iter().unzip();
        }
    }

    /// Labels under other numbers.
    pub fn relabel(&mut self, numbers: &[u32]) {
        for kept in self.kept.values_mut() {
            kept.labels.iter_mut().for_each(|label| *label = numbers[*label as usize]);
            kept.labels.sort_unstable();
        }
    }

    /// The sample of all documents that two have seen, as large as the smaller one may be: a document that one of them let go
    /// for want of room must not be missed.
    pub fn merged(&self, other: &Reservoir) -> Reservoir {
        let mut merged =
            Reservoir { keep: self.keep.min(other.keep), n_seen: self.n_seen + other.n_seen, ..self.clone() };
        for (lot, kept) in &other.kept {
            let mut lot = *lot;
            while merged.kept.contains_key(&lot) {
                lot.copy += 1;
            }
            merged.kept.insert(lot, kept.clone());
        }
        merged.shrink();
        merged
    }

    /// What is wrong with a sample that was read from a file.
    pub(super) fn check(&self, n_words: usize, n_labels: u32) -> Result<(), String> {
        if self.kept.len() > self.keep || self.kept.len() as u64 > self.n_seen {
            return Err(format!("{} documents are kept of {} seen", self.kept.len(), self.n_seen));
        }
        let rises = |numbers: &[u32]| numbers.windows(2).all(|pair| pair[0] < pair[1]);
        let sound = |kept: &Kept| {
            kept.words.len() == kept.counts.len()
                && rises(&kept.words)
                && rises(&kept.labels)
                && kept.words.last().is_none_or(|word| (*word as usize) < n_words)
                && kept.labels.last().is_some_and(|label| *label < n_labels)
                && !kept.counts.contains(&0)
        };
        if self.kept.values().all(sound) { Ok(()) } else { Err("a document kept for its labels is not sound".into()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Documents of one word, their number.
    fn stream(range: std::ops::Range<u32>) -> DocumentBuffer {
        let mut buffer = DocumentBuffer::new();
        for (at, word) in range.enumerate() {
            buffer.push_tokens([word]);
            buffer.label(at, [word % 4]);
        }
        buffer
    }

    fn sampled(keep: usize, seed: u64, shard: u32, range: std::ops::Range<u32>) -> Reservoir {
        let (mut reservoir, buffer) = (Reservoir::new(keep, seed, shard), stream(range));
        (0..buffer.len()).for_each(|document| reservoir.see(&buffer.documents(), document));
        reservoir
    }

    fn words(reservoir: &Reservoir) -> Vec<u32> {
        let mut words: Vec<u32> = reservoir.documents().documents().iter().map(|(words, _)| words[0]).collect();
        words.sort_unstable();
        words
    }

    #[test]
    fn every_document_is_as_likely_as_any_other() {
        let (n, keep, seeds) = (30u32, 10, 6000);
        let mut seen = vec![0.0; n as usize];
        for seed in 0..seeds {
            let reservoir = sampled(keep, seed, 0, 0..n);
            assert_eq!(reservoir.len(), keep);
            words(&reservoir).iter().for_each(|word| seen[*word as usize] += 1.0 / seeds as f64);
        }
        let p = keep as f64 / f64::from(n);
        let error = (p * (1.0 - p) / seeds as f64).sqrt();
        assert!(seen.iter().all(|share| (share - p).abs() < 5.0 * error), "{seen:?}");
    }

    #[test]
    fn samples_of_shards_are_a_sample_of_both() {
        let (seeds, keep) = (6000, 10);
        let mut first = 0.0;
        for seed in 0..seeds {
            let (a, b) = (sampled(keep, seed, 0, 0..40), sampled(keep, seed, 1, 40..60));
            let both = a.merged(&b);
            assert_eq!(words(&both), words(&b.merged(&a)));
            assert_eq!(both.len(), keep);
            first += words(&both).iter().filter(|word| **word < 40).count() as f64 / (keep * seeds as usize) as f64;
        }
        // Forty of sixty documents, drawn without putting back: the variance is below that of independent draws.
        let error = (2.0 / 9.0 / (keep as f64 * seeds as f64)).sqrt();
        assert!((first - 2.0 / 3.0).abs() < 5.0 * error, "{first}");
        // Shards of one number lose nothing.
        let same = sampled(50, 3, 0, 0..20).merged(&sampled(50, 3, 0, 20..40));
        assert_eq!(words(&same), (0..40).collect::<Vec<u32>>());
    }

    #[test]
    fn labels_stay_with_documents_and_words_can_go() {
        let mut reservoir = sampled(8, 2, 0, 0..100);
        let kept = reservoir.documents();
        let documents = kept.documents();
        assert!((0..8).all(|at| documents.labels(at) == [documents.get(at).0[0] % 4]));
        reservoir.check(100, 4).unwrap();
        assert!(reservoir.check(100, 3).is_err() && reservoir.check(50, 4).is_err());
        reservoir.renumber(|word| (word % 2 == 0).then_some(word / 2));
        let odd = documents.iter().filter(|(words, _)| words[0] % 2 == 1).count();
        let empty = reservoir.documents().documents().iter().filter(|(words, _)| words.is_empty()).count();
        assert!(odd == empty && reservoir.check(50, 4).is_ok());
    }
}
