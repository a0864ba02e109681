//! Documents on their way into a model: how often each word occurs in each of them, and their labels.

use serde::{Deserialize, Serialize};
use std::fmt;

/// A batch of documents as word counts, checked: a document is a run of words in increasing order, each with how often
/// it occurs. An empty document is a document. Labels are numbers too; a document without one is unlabelled.
#[derive(Clone, Copy, Debug)]
pub struct Documents<'a> {
    starts: &'a [usize],
    words: &'a [u32],
    counts: &'a [u32],
    /// Where the labels of each document begin; it may end early, when the rest have none.
    label_starts: &'a [usize],
    labels: &'a [u32],
}

impl<'a> Documents<'a> {
    /// Checks counts in compressed rows and wraps them without copying: document i has the words from `starts[i]` up to
    /// `starts[i + 1]`.
    pub fn new(starts: &'a [usize], words: &'a [u32], counts: &'a [u32]) -> Result<Self, DocumentsError> {
        let whole = starts.first() == Some(&0) && starts.last() == Some(&words.len()) && words.len() == counts.len();
        if !whole || starts.windows(2).any(|pair| pair[0] > pair[1]) {
            return Err(DocumentsError { document: 0, fault: DocumentsFault::Ragged });
        }
        let batch = Documents { starts, words, counts, label_starts: &[], labels: &[] };
        for document in 0..batch.len() {
            let (words, counts) = batch.get(document);
            if let Some(pair) = words.windows(2).find(|pair| pair[0] >= pair[1]) {
                return Err(DocumentsError { document, fault: DocumentsFault::Order { word: pair[1] } });
            }
            if let Some(at) = counts.iter().position(|count| *count == 0) {
                return Err(DocumentsError { document, fault: DocumentsFault::Nothing { word: words[at] } });
            }
        }
        Ok(batch)
    }

    /// How many documents.
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// True without any document.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The words of a document, in increasing order, and how often each occurs.
    pub fn get(&self, document: usize) -> (&'a [u32], &'a [u32]) {
        let span = self.starts[document]..self.starts[document + 1];
        (&self.words[span.clone()], &self.counts[span])
    }

    /// The labels of a document, in increasing order; none for an unlabelled one.
    pub fn labels(&self, document: usize) -> &'a [u32] {
        match self.label_starts.get(document..=document + 1) {
            Some(&[from, to]) => &self.labels[from..to],
            _ => &[],
        }
    }

    /// The documents, one after the other.
    pub fn iter(&self) -> impl Iterator<Item = (&'a [u32], &'a [u32])> + use<'a> {
        let batch = *self;
        (0..batch.len()).map(move |document| batch.get(document))
    }

    /// Words of all documents, repeats included.
    pub fn n_tokens(&self) -> u64 {
        self.counts.iter().map(|count| u64::from(*count)).sum()
    }

    /// The largest word number, if there is a word.
    pub fn largest_word(&self) -> Option<u32> {
        self.words.iter().copied().max()
    }
}

/// Documents gathered one by one, to be looked at as [`Documents`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DocumentBuffer {
    starts: Vec<usize>,
    words: Vec<u32>,
    counts: Vec<u32>,
    /// Empty before the first label.
    label_starts: Vec<usize>,
    labels: Vec<u32>,
    #[serde(skip)]
    tokens: Vec<u32>,
}

impl Default for DocumentBuffer {
    fn default() -> Self {
        DocumentBuffer {
            starts: vec![0],
            words: Vec::new(),
            counts: Vec::new(),
            label_starts: Vec::new(),
            labels: Vec::new(),
            tokens: Vec::new(),
        }
    }
}

impl DocumentBuffer {
    /// Without any document.
    pub fn new() -> DocumentBuffer {
        DocumentBuffer::default()
    }

    /// Forgets the documents and keeps the memory.
    pub fn clear(&mut self) {
        self.starts.truncate(1);
        self.words.clear();
        self.counts.clear();
        self.label_starts.clear();
        self.labels.clear();
    }

    /// How many documents.
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// True without any document.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Gives labels, in any order, to a document that has none yet and none after it has.
    pub fn label(&mut self, document: usize, labels: impl IntoIterator<Item = u32>) {
        let from = self.labels.len();
        self.labels.extend(labels);
        self.labels[from..].sort_unstable();
        let mut kept = from;
        for at in from..self.labels.len() {
            if at == from || self.labels[at] != self.labels[kept - 1] {
                self.labels[kept] = self.labels[at];
                kept += 1;
            }
        }
        self.labels.truncate(kept);
        if kept > from {
            self.label_starts.resize(document + 1, from);
            self.label_starts.push(kept);
        }
    }

    /// Adds a document with its labels as another batch has it.
    pub fn push_from(&mut self, documents: &Documents<'_>, document: usize) {
        let (words, counts) = documents.get(document);
        self.words.extend_from_slice(words);
        self.counts.extend_from_slice(counts);
        self.starts.push(self.words.len());
        self.label(self.len() - 1, documents.labels(document).iter().copied());
    }

    /// Adds a document by its words in any order, repeats included.
    pub fn push_tokens(&mut self, tokens: impl IntoIterator<Item = u32>) {
        self.tokens.clear();
        self.tokens.extend(tokens);
        self.tokens.sort_unstable();
        for run in self.tokens.chunk_by(|a, b| a == b) {
            self.words.push(run[0]);
            self.counts.push(u32::try_from(run.len()).unwrap_or(u32::MAX));
        }
        self.starts.push(self.words.len());
    }

    /// Adds a document by words, in any order, and how often each occurs; counts of the same word add up, counts of
    /// zero say nothing.
    pub fn push_counts(&mut self, mut pairs: Vec<(u32, u32)>) {
        pairs.sort_unstable();
        for run in pairs.chunk_by(|a, b| a.0 == b.0) {
            let count = run.iter().fold(0u32, |sum, pair| sum.saturating_add(pair.1));
            if count > 0 {
                self.words.push(run[0].0);
                self.counts.push(count);
            }
        }
        self.starts.push(self.words.len());
    }

    /// The same documents with other numbers for their words; a word without a number is let go.
    pub fn renumbered(&self, number: impl Fn(u32) -> Option<u32>) -> DocumentBuffer {
        let mut renumbered = DocumentBuffer::new();
        let documents = self.documents();
        for (document, (words, counts)) in documents.iter().enumerate() {
            let pair = |(word, count): (&u32, &u32)| Some((number(*word)?, *count));
            renumbered.push_counts(words.iter().zip(counts).filter_map(pair).collect());
            renumbered.label(document, documents.labels(document).iter().copied());
        }
        renumbered
    }

    /// The same documents with other numbers for their labels.
    pub fn relabel(&mut self, number: impl Fn(u32) -> u32) {
        let labels: Vec<Vec<u32>> = (0..self.len())
            .map(|document| self.documents().labels(document).iter().map(|label| number(*label)).collect())
            .collect();
        self.labels.clear();
        self.label_starts.clear();
        labels.into_iter().enumerate().for_each(|(document, labels)| self.label(document, labels));
    }

    /// What is wrong with documents that were read from a file.
    pub fn check(&self) -> Result<(), DocumentsError> {
        Documents::new(&self.starts, &self.words, &self.counts)?;
        let starts = &self.label_starts;
        let whole = starts.first().is_none_or(|first| *first == 0) && starts.last().unwrap_or(&0) == &self.labels.len();
        let ragged = DocumentsError { document: 0, fault: DocumentsFault::Ragged };
        if !whole || starts.len() > self.starts.len() || starts.windows(2).any(|pair| pair[0] > pair[1]) {
            return Err(ragged);
        }
        let in_order = |document: usize| self.documents().labels(document).windows(2).all(|pair| pair[0] < pair[1]);
        if (0..self.len()).all(in_order) { Ok(()) } else { Err(ragged) }
    }

    /// The documents gathered so far.
    pub fn documents(&self) -> Documents<'_> {
        Documents {
            starts: &self.starts,
            words: &self.words,
            counts: &self.counts,
            label_starts: &self.label_starts,
            labels: &self.labels,
        }
    }
}

/// What is wrong with a batch of documents, and where: `document` counts from zero within the batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DocumentsError {
    /// Document within the batch, from zero.
    pub document: usize,
    /// What is wrong.
    pub fault: DocumentsFault,
}

/// The ways in which a batch of documents can be wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DocumentsFault {
    /// Starts, words and counts do not belong together.
    Ragged,
    /// A word comes twice in a document, or after a larger one.
    Order {
        /// The word.
        word: u32,
    },
    /// A word that does not occur.
    Nothing {
        /// The word.
        word: u32,
    },
}

impl fmt::Display for DocumentsError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let document = self.document;
        match self.fault {
            DocumentsFault::Ragged => write!(f, "starts, words and counts of the documents do not belong together"),
            DocumentsFault::Order { word } => {
                write!(f, "document {document}: word {word} comes twice or out of order; sort words and add up counts")
            }
            DocumentsFault::Nothing { word } => {
                write!(f, "document {document}: word {word} has a count of 0; leave it out")
            }
        }
    }
}

impl std::error::Error for DocumentsError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_and_counts_make_the_same_document() {
        let (mut tokens, mut counts) = (DocumentBuffer::new(), DocumentBuffer::new());
        tokens.push_tokens([7, 3, 7, 7]);
        tokens.push_tokens([]);
        counts.push_counts(vec![(7, 2), (3, 1), (5, 0), (7, 1)]);
        counts.push_counts(vec![]);
        assert_eq!(tokens.documents().get(0), (&[3, 7][..], &[1, 3][..]));
        assert_eq!(counts.documents().get(0), tokens.documents().get(0));
        assert_eq!((tokens.documents().len(), tokens.documents().n_tokens()), (2, 4));
        assert_eq!(tokens.documents().get(1), (&[][..], &[][..]));
    }

    #[test]
    fn labels_stay_with_their_documents() {
        let mut buffer = DocumentBuffer::new();
        (0..4).for_each(|word| buffer.push_tokens([word]));
        buffer.label(1, [9, 2, 9]);
        buffer.label(2, []);
        let mut copy = DocumentBuffer::new();
        (0..4).for_each(|document| copy.push_from(&buffer.documents(), document));
        for same in [&buffer, &copy] {
            let labels: Vec<&[u32]> = (0..4).map(|document| same.documents().labels(document)).collect();
            assert_eq!(labels, [&[][..], &[2, 9], &[], &[]]);
            same.check().unwrap();
        }
        buffer.label(3, [5]);
        assert_eq!((buffer.documents().labels(2), buffer.documents().labels(3)), (&[][..], &[5][..]));
        buffer.check().unwrap();
        buffer.label_starts.push(0);
        assert!(buffer.check().is_err());
    }

    #[test]
    fn what_does_not_belong_together_is_refused() {
        let fault =
            |starts: &[usize], words: &[u32], counts: &[u32]| Documents::new(starts, words, counts).unwrap_err();
        assert_eq!(fault(&[0, 2], &[1], &[1]).fault, DocumentsFault::Ragged);
        assert_eq!(fault(&[], &[], &[]).fault, DocumentsFault::Ragged);
        assert_eq!(fault(&[0, 3, 1, 4], &[1, 2, 3, 4], &[1; 4]).fault, DocumentsFault::Ragged);
        let order = fault(&[0, 1, 3], &[9, 4, 4], &[1; 3]);
        assert_eq!((order.document, order.fault), (1, DocumentsFault::Order { word: 4 }));
        assert_eq!(fault(&[0, 1], &[6], &[0]).fault, DocumentsFault::Nothing { word: 6 });
        assert!(Documents::new(&[0, 1, 1], &[2], &[5]).is_ok());
    }
}
