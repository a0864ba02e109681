//! Rows of a batch, turned so that one vector register holds the same column of several rows.

/// Rows per block.
pub const LANES: usize = 16;

/// Rows per cache line, and rows in the last block when no more than that many are left: a batch of
/// ten rows then pays for no more than sixteen, and a batch of eight or seventeen is not padded twofold.
pub(crate) const HALF: usize = 8;

/// Eight rows of one column: one cache line, aligned so that no vector load straddles two.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(64))]
pub(crate) struct Line(pub(crate) [f64; HALF]);

/// A batch in blocks of 16 rows, each block column by column.
///
/// The rows past the end that fill the last block are zero. The last block has 8 rows when that is
/// enough, so [`Lanes::n_padded`] is a multiple of 8.
///
/// ```
/// use bayestream::num::Lanes;
/// let mut lanes = Lanes::new();
/// lanes.load(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], 2);
/// assert_eq!((lanes.n_rows(), lanes.n_columns(), lanes.n_padded()), (3, 2, 8));
/// ```
#[derive(Clone, Debug, Default)]
pub struct Lanes {
    /// Two lines per column and block of 16, one per column for a last block of 8.
    lines: Vec<Line>,
    n_rows: usize,
    n_columns: usize,
}

impl Lanes {
    /// An empty batch.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes over `rows` (row-major, `d` columns each), forgetting what was there and reusing its memory.
    pub fn load(&mut self, rows: &[f64], d: usize) {
        let n_rows = rows.len().checked_div(d).unwrap_or(0);
        assert_eq!(n_rows * d, rows.len(), "rows must be whole: a multiple of d values");
        self.fill(n_rows, d, |row_ix| &rows[row_ix * d..(row_ix + 1) * d]);
    }

    /// Takes over the rows numbered in `index`, in that order.
    pub fn load_indexed(&mut self, rows: &[f64], d: usize, index: &[u32]) {
        let n_rows = if d == 0 { 0 } else { index.len() };
        self.fill(n_rows, d, |row_ix| {
            let start = index[row_ix] as usize * d;
            &rows[start..start + d]
        });
    }

    /// Rows loaded.
    pub fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// Columns of each row.
    pub fn n_columns(&self) -> usize {
        self.n_columns
    }

    /// Rows including those that fill the last block: the length kernels need for an output. The
    /// next multiple of 8, as a last block of at most 8 rows is half as wide.
    pub fn n_padded(&self) -> usize {
        self.n_rows.next_multiple_of(HALF)
    }

    /// The blocks of 16 rows (two lines per column), and the last block of 8 (one line per column, or empty).
    #[inline(always)]
    pub(crate) fn blocks(&self) -> (impl Iterator<Item = &[[Line; 2]]>, &[Line]) {
        let n_whole = self.n_padded() / LANES;
        let (whole, tail) = self.lines.split_at(n_whole * 2 * self.n_columns);
        let (pairs, _) = whole.as_chunks::<2>();
        (pairs.chunks_exact(self.n_columns.max(1)), tail)
    }

    fn fill<'a>(&mut self, n_rows: usize, d: usize, row: impl Fn(usize) -> &'a [f64]) {
        self.n_rows = n_rows;
        self.n_columns = d;
        self.lines.clear();
        self.lines.resize(n_rows.next_multiple_of(HALF) / HALF * d, Line::default());
        let n_whole = self.n_padded() / LANES;
        for row_ix in 0..n_rows {
            let block_ix = row_ix / LANES;
            let (lines_per_column, half) = if block_ix < n_whole { (2, row_ix % LANES / HALF) } else { (1, 0) };
            let start = block_ix * 2 * d + half;
            for (j, &value) in row(row_ix).iter().enumerate() {
                self.lines[start + j * lines_per_column].0[row_ix % HALF] = value;
            }
        }
    }
}
