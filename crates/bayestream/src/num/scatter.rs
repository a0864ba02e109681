//! Weighted first and second moments of a batch about a given centre.
//!
//! Up to five columns, all entries of the triangle are summed in one pass, four rows of the batch at a
//! time. Beyond, a tile of four rows by eight columns of the scatter matrix is kept in registers and
//! every row of the batch adds an outer product to it. Rows go in chunks that stay in the first-level
//! cache while all tiles pass over them.

use super::lanes::{HALF, Lanes, Line};
use super::simd::{self, Arithmetic, Kernel};

/// Adds Σ w(x − c) to `sum` and Σ w(x − c)(x − c)ᵀ to the lower triangle of `scatter` (row-major
/// d×d; the strict upper triangle is left alone). `weights` has one entry per row.
///
/// A centre near the data keeps the sums free of cancellation.
pub fn weighted_moments(x: &Lanes, weights: &[f64], center: &[f64], sum: &mut [f64], scatter: &mut [f64]) {
    simd::fastest(Moments::new(x, weights, center, sum, scatter));
}

#[allow(missing_docs)]
pub(crate) mod portable {
    use super::{Lanes, Moments, simd};

    pub fn weighted_moments(x: &Lanes, weights: &[f64], center: &[f64], sum: &mut [f64], scatter: &mut [f64]) {
        simd::portable(Moments::new(x, weights, center, sum, scatter));
    }
}

struct Moments<'a> {
    x: &'a Lanes,
    weights: &'a [f64],
    center: &'a [f64],
    sum: &'a mut [f64],
    scatter: &'a mut [f64],
}

impl<'a> Moments<'a> {
    fn new(x: &'a Lanes, weights: &'a [f64], center: &'a [f64], sum: &'a mut [f64], scatter: &'a mut [f64]) -> Self {
        let d = x.n_columns();
        assert_eq!(weights.len(), x.n_rows(), "one weight per row");
        assert_eq!(center.len(), d, "the centre has one entry per column");
        assert_eq!(sum.len(), d, "the sum has one entry per column");
        assert_eq!(scatter.len(), d * d, "the scatter matrix must be d by d");
        Self { x, weights, center, sum, scatter }
    }

    /// All entries in one pass, for D columns known to the compiler.
    #[inline(always)]
    fn run_small<A: Arithmetic, const D: usize>(self) {
        let mut center = [0.0; D];
        center.copy_from_slice(self.center);
        let mut sums = [[0.0; QUAD]; D];
        let mut squares = [[[0.0; QUAD]; D]; D];
        for half_ix in 0..self.x.n_padded() / HALF {
            let (lines, step) = self.x.half(half_ix);
            let weights = line_of(self.weights, half_ix);
            for quad in 0..HALF / QUAD {
                let mut centred = [[0.0; QUAD]; D];
                for i in 0..D {
                    for l in 0..QUAD {
                        centred[i][l] = lines[i * step].0[quad * QUAD + l] - center[i];
                    }
                }
                for i in 0..D {
                    let mut weighted = [0.0; QUAD];
                    for l in 0..QUAD {
                        weighted[l] = centred[i][l] * weights.0[quad * QUAD + l];
                        sums[i][l] += weighted[l];
                    }
                    for j in 0..=i {
                        for l in 0..QUAD {
                            squares[i][j][l] = A::mul_add(weighted[l], centred[j][l], squares[i][j][l]);
                        }
                    }
                }
            }
        }
        let (sums, squares) = (through_memory(&sums), through_memory(&squares));
        for i in 0..D {
            self.sum[i] += total(&sums[i]);
            for j in 0..=i {
                self.scatter[i * D + j] += total(&squares[i][j]);
            }
        }
    }

    /// Panels of LINES times eight rows of the scatter matrix, chunks of ROWS rows of the batch.
    #[inline(always)]
    fn run_tiles<A: Arithmetic, const LINES: usize, const ROWS: usize>(self) {
        let d = self.x.n_columns();
        let row_lines = self.x.row_lines();
        let mut weighted = [[Line::default(); LINES]; ROWS];
        let chunks = self.x.rows().chunks(ROWS * row_lines);
        for (lines, weights) in chunks.zip(self.weights.chunks(ROWS)) {
            for panel_start in (0..row_lines).step_by(LINES) {
                let panel_end = (panel_start + LINES).min(row_lines);
                for line_ix in panel_start..panel_end {
                    let center = line_of(self.center, line_ix);
                    let mut sum = Line::default();
                    let column = lines.chunks_exact(row_lines).map(|row| &row[line_ix]);
                    for ((into, line), &weight) in weighted.iter_mut().zip(column).zip(weights) {
                        let product = line.minus(center).scaled(weight);
                        into[line_ix - panel_start] = product;
                        sum = sum.plus(product);
                    }
                    add_to(&mut self.sum[line_ix * HALF..], sum, HALF);
                }
                let weighted = &weighted[..weights.len()];
                for line_ix in 0..panel_end {
                    let center = line_of(self.center, line_ix);
                    let first_row = panel_start.max(line_ix) * HALF;
                    let end_row = d.min(panel_end * HALF);
                    for row in (first_row..end_row).step_by(TILE_ROWS) {
                        let quad_ix = row / TILE_ROWS - panel_start * (HALF / TILE_ROWS);
                        let column = lines.chunks_exact(row_lines).map(|row| &row[line_ix]);
                        let tile = tile::<A, LINES>(weighted, quad_ix, column, center);
                        for (row, sums) in (row..end_row).zip(tile) {
                            let entries = &mut self.scatter[row * d + line_ix * HALF..(row + 1) * d];
                            add_to(entries, sums, row + 1 - line_ix * HALF);
                        }
                    }
                }
            }
        }
    }
}

/// Lanes of one accumulator: a vector register.
const QUAD: usize = 4;

/// Rows of a tile; its columns are the lanes of a line. Eight accumulators hide the latency of
/// multiply-add, and with their operands fit the sixteen registers.
const TILE_ROWS: usize = 4;

impl Kernel for Moments<'_> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic>(self) {
        // Small chunks for small batches, because the panel is cleared at every call.
        let few_rows = self.x.n_rows() <= 2 * HALF;
        match self.x.n_columns() {
            0 => {}
            1 => self.run_small::<A, 1>(),
            2 => self.run_small::<A, 2>(),
            3 => self.run_small::<A, 3>(),
            4 => self.run_small::<A, 4>(),
            5 => self.run_small::<A, 5>(),
            6..=16 if few_rows => self.run_tiles::<A, 2, 16>(),
            6..=16 => self.run_tiles::<A, 2, 64>(),
            _ if few_rows => self.run_tiles::<A, 4, 16>(),
            _ => self.run_tiles::<A, 4, 64>(),
        }
    }
}

/// Σ over rows of (four entries of w(x − c)) ⊗ (eight entries of x − c).
#[inline(always)]
fn tile<'a, A: Arithmetic, const LINES: usize>(
    weighted: &[[Line; LINES]],
    quad_ix: usize,
    lines: impl Iterator<Item = &'a Line>,
    center: Line,
) -> [Line; TILE_ROWS] {
    let (line_ix, offset) = (quad_ix / 2 % LINES, quad_ix % 2 * TILE_ROWS);
    let mut sums = [Line::default(); TILE_ROWS];
    for (weighted, line) in weighted.iter().zip(lines) {
        let centred = line.minus(center);
        let four = &weighted[line_ix].0[offset..offset + TILE_ROWS];
        for i in 0..TILE_ROWS {
            for l in 0..HALF {
                sums[i].0[l] = A::mul_add(four[i], centred.0[l], sums[i].0[l]);
            }
        }
    }
    sums
}

/// Adds the first `n` lanes to the entries, or as many as there are.
#[inline(always)]
fn add_to(entries: &mut [f64], line: Line, n: usize) {
    match entries.first_chunk_mut::<HALF>() {
        Some(eight) if n >= HALF => *eight = Line(*eight).plus(line).0,
        _ => {
            for (entry, value) in entries.iter_mut().zip(line.0).take(n) {
                *entry += value;
            }
        }
    }
}

/// The `line_ix`-th eight values, zero past the end.
#[inline(always)]
fn line_of(values: &[f64], line_ix: usize) -> Line {
    let values = &values[line_ix * HALF..];
    match values.first_chunk::<HALF>() {
        Some(eight) => Line(*eight),
        None => padded(values),
    }
}

/// Out of line, so that the copy of unknown length stays out of the loops.
#[cold]
#[inline(never)]
fn padded(values: &[f64]) -> Line {
    let mut line = Line::default();
    line.0[..values.len()].copy_from_slice(values);
    line
}

/// Keeps the horizontal sums after a loop out of the compiler's sight: seeing them, it would choose
/// vectors across entries instead of across rows for the loop itself, and spend it shuffling.
#[inline(always)]
fn through_memory<T>(sums: &T) -> &T {
    std::hint::black_box(sums)
}

#[inline(always)]
fn total(quad: &[f64; QUAD]) -> f64 {
    (quad[0] + quad[2]) + (quad[1] + quad[3])
}
