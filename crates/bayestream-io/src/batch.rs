//! A block of rows, and what every source of rows can do.

use crate::InputError;

/// Rows read together. The buffers are reused from batch to batch.
#[derive(Clone, Debug, Default)]
pub struct RowBatch {
    /// The cells, row after row; NaN is a missing value. `n_rows × columns` of them, all finite or NaN.
    pub rows: Vec<f64>,
    /// How many rows.
    pub n_rows: usize,
    /// One finite weight ≥ 0 a row; empty when no weight column was named.
    pub weights: Vec<f64>,
    /// One label a row; empty when no label column was named. A missing label is an empty string.
    pub labels: Vec<String>,
    /// One id a row; empty when no id column was named.
    pub ids: Vec<String>,
    /// The 1-based number, in the input, of this batch's first row.
    pub first_row: u64,
    /// Each row's 1-based number in the input, filled only when skipped rows left gaps; see [`RowBatch::row_number`].
    pub row_numbers: Vec<u64>,
    /// Strings of earlier batches, kept for their memory.
    spare_text: Vec<String>,
}

impl RowBatch {
    /// An empty batch, to be filled by [`RowSource::next_batch`].
    pub fn new() -> Self {
        RowBatch::default()
    }

    /// The 1-based number in the input of the row at `row_ix` of this batch.
    pub fn row_number(&self, row_ix: usize) -> u64 {
        self.row_numbers.get(row_ix).copied().unwrap_or(self.first_row + row_ix as u64)
    }

    /// Empties the batch, keeping its memory.
    pub fn clear(&mut self) {
        self.rows.clear();
        self.n_rows = 0;
        self.weights.clear();
        self.spare_text.append(&mut self.labels);
        self.spare_text.append(&mut self.ids);
        self.first_row = 0;
        self.row_numbers.clear();
    }

    /// Adds a row of missing values to be filled in; the slice holds its cells.
    pub(crate) fn begin_row(&mut self, n_columns: usize) -> usize {
        let start = self.rows.len();
        self.rows.resize(start + n_columns, f64::NAN);
        start
    }

    /// The row begun last becomes part of the batch.
    pub(crate) fn commit_row(&mut self, row: u64) {
        if self.n_rows == 0 {
            self.first_row = row;
        } else if self.row_numbers.is_empty() && row != self.first_row + self.n_rows as u64 {
            self.row_numbers.extend((0..self.n_rows as u64).map(|ix| self.first_row + ix));
        }
        if !self.row_numbers.is_empty() {
            self.row_numbers.push(row);
        }
        self.n_rows += 1;
    }

    /// Forgets whatever of the row begun last was filled in.
    pub(crate) fn abort_row(&mut self, start: usize) {
        self.rows.truncate(start);
        self.weights.truncate(self.n_rows);
        self.spare_text.extend(self.labels.drain(self.n_rows.min(self.labels.len())..));
        self.spare_text.extend(self.ids.drain(self.n_rows.min(self.ids.len())..));
    }

    fn fresh_text(&mut self, text: &str) -> String {
        let mut owned = self.spare_text.pop().unwrap_or_default();
        owned.clear();
        owned.push_str(text);
        owned
    }

    pub(crate) fn push_label(&mut self, text: &str) {
        let label = self.fresh_text(text);
        self.labels.push(label);
    }

    pub(crate) fn push_id(&mut self, text: &str) {
        let id = self.fresh_text(text);
        self.ids.push(id);
    }
}

/// How far a source has come, for a progress bar.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Bytes of the input (as stored: compressed bytes of a `.gz`) taken so far.
    pub bytes_read: u64,
    /// The input's size, where it has one (not for pipes).
    pub total_bytes: Option<u64>,
}

/// A stream of rows: a file or pipe being read.
pub trait RowSource {
    /// The input's name for messages: its path, or `standard input`.
    fn name(&self) -> &str;

    /// The names of the numeric columns, in the order of the cells in [`RowBatch::rows`].
    fn columns(&self) -> &[String];

    /// Empties `into` and fills it with the next rows: `batch_rows` of them, fewer only at the end of the input.
    /// `Ok(false)` means that the input has ended and `into` is empty. After an error `into` holds the good rows
    /// before the fault, and the source counts as ended.
    fn next_batch(&mut self, into: &mut RowBatch) -> Result<bool, InputError>;

    /// How far the source has come.
    fn progress(&self) -> Progress;

    /// How many rows were left out under [`crate::OnError::Skip`].
    fn n_skipped(&self) -> u64;

    /// How many rows were left out because the input ended within them: one or none.
    fn n_unfinished(&self) -> u64 {
        0
    }

    /// The error to raise when an input turned out to have no rows and the caller needs some.
    fn no_rows_error(&self) -> InputError {
        InputError::NoRows { file: self.name().to_string(), n_skipped: self.n_skipped() }
    }
}

/// Reads all that is left of a source into one batch.
pub fn read_all(source: &mut dyn RowSource) -> Result<RowBatch, InputError> {
    let mut all = RowBatch::new();
    let mut batch = RowBatch::new();
    while source.next_batch(&mut batch)? {
        for row_ix in 0..batch.n_rows {
            all.commit_row(batch.row_number(row_ix));
        }
        all.rows.append(&mut batch.rows);
        all.weights.append(&mut batch.weights);
        all.labels.append(&mut batch.labels);
        all.ids.append(&mut batch.ids);
    }
    Ok(all)
}
