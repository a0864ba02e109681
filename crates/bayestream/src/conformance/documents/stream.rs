//! Documents to check with: topics whose truth is known.

use crate::conformance::stream::SEED;
use crate::synthetic::{PlantedShape, PlantedTopics};
use crate::text::RawDocument;

/// Planted topics, each document all but of one of them: kinds with one topic per document and those with many must both
/// find them.
pub(super) fn planted(seed: u64) -> PlantedTopics {
    let shape =
        PlantedShape { n_topics: 5, n_words: 300, eta: 0.05, alpha: 0.01, mean_words: 50.0, ..PlantedShape::default() };
    PlantedTopics::new(&shape, SEED + seed)
}

/// The name of a word by its number in the truth.
pub(super) fn name(word: u32) -> String {
    format!("word{word}")
}

/// Documents of the planted stream from number `first` on, as words.
pub(super) fn documents(planted: &PlantedTopics, first: u64, n: usize) -> Vec<RawDocument> {
    let buffer = planted.documents(first, n);
    let tokens = |(words, counts): (&[u32], &[u32])| {
        words.iter().zip(counts).flat_map(|(&word, &count)| std::iter::repeat_n(name(word), count as usize)).collect()
    };
    buffer.documents().iter().map(|document| RawDocument::Tokens(tokens(document))).collect()
}

/// A document of these words.
pub(super) fn of_words(words: &[&str]) -> RawDocument {
    RawDocument::Tokens(words.iter().map(ToString::to_string).collect())
}
