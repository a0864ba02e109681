//! A batch of documents, and what every source of documents can do.

use bayestream::text::RawDocument;

use crate::{InputError, Progress};

/// Documents read together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DocumentBatch {
    /// The documents. An empty one is a document too.
    pub documents: Vec<RawDocument>,
    /// The labels of each document, none where they are missing; empty when no label column was named.
    pub labels: Vec<Vec<String>>,
    /// One id a document; empty when no id column was named.
    pub ids: Vec<String>,
    /// Each document's 1-based row in the input.
    pub rows: Vec<u64>,
}

impl DocumentBatch {
    /// An empty batch, to be filled by [`DocumentSource::next_batch`].
    pub fn new() -> Self {
        DocumentBatch::default()
    }

    /// How many documents.
    pub fn len(&self) -> usize {
        self.documents.len()
    }

    /// True without any document.
    pub fn is_empty(&self) -> bool {
        self.documents.is_empty()
    }

    /// Empties the batch.
    pub fn clear(&mut self) {
        self.documents.clear();
        self.labels.clear();
        self.ids.clear();
        self.rows.clear();
    }
}

/// A stream of documents: a file or pipe being read.
pub trait DocumentSource {
    /// The input's name for messages: its path, or `standard input`.
    fn name(&self) -> &str;

    /// The columns that make up a document, in order; none for plain text.
    fn text_columns(&self) -> &[String];

    /// Empties `into` and fills it with the next documents: `batch_documents` of them, fewer at the end of the input and
    /// where documents are huge. `Ok(false)` means that the input has ended and `into` is empty. After an error `into`
    /// holds the good documents before the fault, and the source counts as ended.
    fn next_batch(&mut self, into: &mut DocumentBatch) -> Result<bool, InputError>;

    /// How far the source has come.
    fn progress(&self) -> Progress;

    /// How many rows were left out under [`crate::OnError::Skip`].
    fn n_skipped(&self) -> u64;

    /// How many rows were left out because the input ended within them: one or none.
    fn n_unfinished(&self) -> u64 {
        0
    }

    /// How many documents had bytes or escapes replaced under [`crate::DocumentOptions::lossy`].
    fn n_mended(&self) -> u64;

    /// The error to raise when an input turned out to have no documents and the caller needs some.
    fn no_documents_error(&self) -> InputError {
        InputError::NoDocuments { file: self.name().to_string(), n_skipped: self.n_skipped() }
    }
}
