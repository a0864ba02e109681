//! A mini-batch made ready to be sampled: the tokens of each document, and the sides that it is on.

use crate::data::Documents;
use std::ops::Range;

/// Repeats of one word in a document that are sampled, at most: a word a million times says no more.
const MOST_REPEATS: u32 = 1000;

/// Documents learnt together.
pub(super) struct Lot<'a> {
    documents: Documents<'a>,
    /// Which of the documents.
    range: Range<usize>,
    /// Where the tokens of each document begin.
    token_starts: Vec<usize>,
    /// For each token the place of its word among the words of its document.
    pub tokens: Vec<u32>,
    /// The number in the stream of the first document.
    pub first: u64,
}

impl<'a> Lot<'a> {
    pub fn new(documents: Documents<'a>, range: Range<usize>, first: u64, once: bool) -> Lot<'a> {
        let mut lot = Lot { documents, range, token_starts: vec![0], tokens: Vec::new(), first };
        for document in lot.range.clone() {
            for (place, count) in documents.get(document).1.iter().enumerate() {
                let n = if once { 1 } else { (*count).min(MOST_REPEATS) };
                lot.tokens.extend(std::iter::repeat_n(place as u32, n as usize));
            }
            lot.token_starts.push(lot.tokens.len());
        }
        lot
    }

    pub fn len(&self) -> usize {
        self.range.len()
    }

    /// The different words of a document.
    pub fn words(&self, document: usize) -> &'a [u32] {
        self.counts(document).0
    }

    /// The different words of a document, and how often each occurs.
    pub fn counts(&self, document: usize) -> (&'a [u32], &'a [u32]) {
        self.documents.get(self.range.start + document)
    }

    pub fn labels(&self, document: usize) -> &'a [u32] {
        self.documents.labels(self.range.start + document)
    }

    /// The tokens of documents.
    pub fn span(&self, documents: Range<usize>) -> Range<usize> {
        self.token_starts[documents.start]..self.token_starts[documents.end]
    }

    pub fn n_tokens(&self, document: usize) -> usize {
        self.span(document..document + 1).len()
    }

    /// 1 for a document with the label, −1 for one with others only, 0 for one without labels, of which nothing is known.
    pub fn side(&self, document: usize, label: u32) -> i8 {
        match self.labels(document) {
            [] => 0,
            labels if labels.contains(&label) => 1,
            _ => -1,
        }
    }
}
