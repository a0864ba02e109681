//! Rows of a batch, turned so that one vector register holds the same column of several rows.

use std::array::from_fn;

/// Rows per block.
pub const LANES: usize = 16;

/// Rows per cache line, and rows in the last block when no more than that many are left: a batch of
/// ten rows then pays for no more than sixteen, and a batch of eight or seventeen is not padded twofold.
pub(crate) const HALF: usize = 8;

/// Up to so many columns, sums over rows work on the lanes, and rows are not kept row by row.
pub(crate) const FEW_COLUMNS: usize = 5;

/// Eight rows of one column: one cache line, aligned so that no vector load straddles two.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(64))]
pub(crate) struct Line(pub(crate) [f64; HALF]);

// By value, so that the compiler sees whole registers and no overlap of input and output.
impl Line {
    #[inline(always)]
    fn zip(mut self, other: Self, combine: impl Fn(f64, f64) -> f64) -> Self {
        for l in 0..HALF {
            self.0[l] = combine(self.0[l], other.0[l]);
        }
        self
    }

    #[inline(always)]
    pub(crate) fn minus(self, other: Self) -> Self {
        self.zip(other, |a, b| a - b)
    }

    #[inline(always)]
    pub(crate) fn plus(self, other: Self) -> Self {
        self.zip(other, |a, b| a + b)
    }

    #[inline(always)]
    pub(crate) fn scaled(self, factor: f64) -> Self {
        self.zip(self, |a, _| a * factor)
    }
}

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
    /// The same row by row if there are more than a few columns, each filled up to whole lines: sums over rows want whole rows at a time.
    rows: Vec<Line>,
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

    /// Lines of one row in [`Lanes::rows`].
    #[inline(always)]
    pub(crate) fn row_lines(&self) -> usize {
        self.n_columns.div_ceil(HALF)
    }

    /// All rows, one after the other.
    #[inline(always)]
    pub(crate) fn rows(&self) -> &[Line] {
        &self.rows
    }

    /// The blocks of 16 rows (two lines per column), and the last block of 8 (one line per column, or empty).
    #[inline(always)]
    pub(crate) fn blocks(&self) -> (impl Iterator<Item = &[[Line; 2]]>, &[Line]) {
        let n_whole = self.n_padded() / LANES;
        let (whole, tail) = self.lines.split_at(n_whole * 2 * self.n_columns);
        let (pairs, _) = whole.as_chunks::<2>();
        (pairs.chunks_exact(self.n_columns.max(1)), tail)
    }

    /// The lines of the `half_ix`-th eight rows: where column 0 is, and how far on the next column is.
    #[inline(always)]
    pub(crate) fn half(&self, half_ix: usize) -> (&[Line], usize) {
        let n_whole = self.n_padded() / LANES;
        let block_start = half_ix / 2 * 2 * self.n_columns;
        if half_ix / 2 < n_whole {
            (&self.lines[block_start + half_ix % 2..], 2)
        } else {
            (&self.lines[block_start..], 1)
        }
    }

    fn fill<'a>(&mut self, n_rows: usize, d: usize, row: impl Fn(usize) -> &'a [f64]) {
        self.n_rows = n_rows;
        self.n_columns = d;
        self.lines.clear();
        self.lines.reserve(n_rows.div_ceil(HALF) * d);
        for start in (0..n_rows).step_by(LANES) {
            let n = LANES.min(n_rows - start);
            if n == LANES {
                let block: [&[f64]; LANES] = from_fn(|l| &row(start + l)[..d]);
                self.turn(block, d, 2, |row, j| row[j]);
            } else {
                let empty: &[f64] = &[];
                let block = from_fn(|l| if l < n { row(start + l) } else { empty });
                let halves = n.div_ceil(HALF);
                self.turn(block, d, halves, |row, j| row.get(j).copied().unwrap_or(0.0));
            }
        }
        self.rows.clear();
        if d > FEW_COLUMNS {
            self.rows.reserve(n_rows * self.row_lines());
            for row_ix in 0..n_rows {
                let (whole, rest) = row(row_ix).as_chunks::<HALF>();
                self.rows.extend(whole.iter().map(|&line| Line(line)));
                if !rest.is_empty() {
                    let line = from_fn(|l| rest.get(l).copied().unwrap_or(0.0));
                    self.rows.push(Line(line));
                }
            }
        }
    }

    /// Appends a block of so many halves, column by column.
    #[inline(always)]
    fn turn<'a>(
        &mut self,
        block: [&'a [f64]; LANES],
        d: usize,
        n_halves: usize,
        value: impl Fn(&'a [f64], usize) -> f64,
    ) {
        let (halves, _) = block.as_chunks::<HALF>();
        for j in 0..d {
            for half in &halves[..n_halves] {
                self.lines.push(Line(from_fn(|l| value(half[l], j))));
            }
        }
    }
}
