//! What the caller wants from an input.

use crate::Format;

/// What to do with a row that cannot be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnError {
    /// Stop with an error that names the cell.
    #[default]
    Fail,
    /// Leave the whole row out and count it.
    Skip,
}

/// How to read an input. `ReadOptions::default()` takes every column as a number, 500 rows a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadOptions {
    /// The format; without it the extension decides, and after that the first bytes.
    pub format: Option<Format>,
    /// The numeric columns to hand out, in this order; all that have no other role when `None`.
    pub columns: Option<Vec<String>>,
    /// Columns to leave out.
    pub drop: Vec<String>,
    /// The column handed out as [`crate::RowBatch::labels`].
    pub label_column: Option<String>,
    /// The column handed out as [`crate::RowBatch::ids`].
    pub id_column: Option<String>,
    /// The column handed out as [`crate::RowBatch::weights`].
    pub weight_column: Option<String>,
    /// What to do with a row that cannot be read.
    pub on_error: OnError,
    /// What to do with a last line that was cut: without its line feed, and ending before the row does. Skipped, it is
    /// counted by [`crate::RowSource::n_unfinished`].
    pub on_unfinished: OnError,
    /// Rows in a full batch (0 counts as 1). A batch is handed out as soon as it is full, so that 1 gives each row of
    /// a pipe when it arrives.
    pub batch_rows: usize,
}

impl Default for ReadOptions {
    fn default() -> Self {
        ReadOptions {
            format: None,
            columns: None,
            drop: Vec::new(),
            label_column: None,
            id_column: None,
            weight_column: None,
            on_error: OnError::Fail,
            on_unfinished: OnError::Fail,
            batch_rows: 500,
        }
    }
}

/// How to read documents. `DocumentOptions::default()` looks for a column whose name says text, 500 documents a batch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentOptions {
    /// The format; without it the extension decides, and after that the first bytes.
    pub format: Option<Format>,
    /// The columns that make up a document, several joined in this order. When empty, the first of `text`, `body`,
    /// `content`, `message`, `document`, `tokens`, `words`, `terms`, `abstract`, `description`, `comment`, `review`,
    /// `tweet`, `post`, `question`, `title`, `headline`, `subject` and `summary` that there is, or the only column.
    pub text_columns: Vec<String>,
    /// The column handed out as [`crate::DocumentBatch::labels`].
    pub label_column: Option<String>,
    /// The column handed out as [`crate::DocumentBatch::ids`].
    pub id_column: Option<String>,
    /// What to do with a document that cannot be read.
    pub on_error: OnError,
    /// What to do with a last line that was cut: without its line feed, and ending before the row does. Skipped, it is
    /// counted by [`crate::DocumentSource::n_unfinished`]. Plain text that was cut is a document all the same.
    pub on_unfinished: OnError,
    /// Read bytes that are not UTF-8, and escapes that stand for no character, as U+FFFD instead of as errors.
    pub lossy: bool,
    /// Bytes that a line may have. A batch ends early when its lines together have more, so that memory stays bounded.
    pub longest_line: usize,
    /// Documents in a full batch (0 counts as 1).
    pub batch_documents: usize,
}

impl Default for DocumentOptions {
    fn default() -> Self {
        DocumentOptions {
            format: None,
            text_columns: Vec::new(),
            label_column: None,
            id_column: None,
            on_error: OnError::Fail,
            on_unfinished: OnError::Fail,
            lossy: false,
            longest_line: 64 << 20,
            batch_documents: 500,
        }
    }
}
