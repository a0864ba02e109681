//! How far off cells would be foretold that a fit did see.

use super::export::export;
use super::parameters::Parameters;
use super::rows::Rows;
use crate::data::Frame;
use crate::num::{self, Grid, Rng};
use crate::structure::{ComponentId, FeatureReader};

/// The share of a row's cells that is hidden.
const SHARE: f64 = 0.1;
/// Rows that are read at most, and how often a row is at most, where they are few.
const ROWS_READ: usize = 1000;
const TURNS: usize = 10;
/// The part of the noise that a cell is off by at least.
const LEAST_OF_NOISE: f64 = 0.25;
/// Steps in which the noise is found.
const HALVINGS: usize = 40;
/// A row decides its own fit at most so far.
const MOST_LEVERAGE: f64 = 0.5;
/// Added to the diagonal of A, as a part of it.
const RIDGE: f64 = 1e-6;
/// The key of the random numbers that say which cells are hidden.
const HIDING: u64 = 0x5ee;

/// The variance of a cell that is not seen, beyond the doubt about the features of its row, by column; at least a part of the
/// noise, which is averaged over a stream and may be more than what the latest rows are off by. The features that a row has
/// are found by its cells, so that what is left over of these is less than what a missing cell is off by, and next to
/// nothing where features are as many as columns. So cells are hidden, and filled as those of other rows are; W, which is of
/// `mass` rows and has seen them, is drawn to them by the leverage of their row.
pub fn noise_of_unseen(rows: &Rows, p: &Parameters, mass: f64) -> Vec<f64> {
    let told = Hidden::cells(rows, p);
    let leverages = told.leverages(p.k + 1);
    let of_column = |j: usize| {
        // Rows that W of this column was learnt from.
        let there = mass * rows.counts[j] / rows.mass.max(f64::MIN_POSITIVE);
        told.noise(j, &leverages, there.max(1.0), 1.0 / p.precision[j])
    };
    (0..p.d).map(of_column).collect()
}

/// A cell that was hidden.
struct Cell {
    weight: f64,
    /// Its squared error, and the variance that the doubt about features gives it.
    square: f64,
    doubt: f64,
    /// Which reading it is of.
    reading: usize,
}

/// Cells that were hidden, by column, and the readings that they were filled by.
struct Hidden {
    cells: Vec<Vec<Cell>>,
    /// The activations of each reading, and a constant.
    designs: Vec<f64>,
}

impl Hidden {
    /// Hides cells of some rows, spread evenly, and fills them.
    fn cells(rows: &Rows, p: &Parameters) -> Hidden {
        let mut rng = num::stream(HIDING, 0, 0);
        let mut hidden = Hidden { cells: (0..p.d).map(|_| Vec::new()).collect(), designs: Vec::new() };
        let ids: Vec<ComponentId> = (0..p.k as u32).map(|serial| ComponentId { shard: 0, serial }).collect();
        let mut reader = FeatureReader::new(export(p, &vec![0.0; p.d], &Frame::identity(p.d), &ids));
        let framed = rows.framed();
        let step = rows.n.div_ceil(ROWS_READ).max(1);
        for _ in 0..(ROWS_READ / rows.n.max(1)).clamp(1, TURNS) {
            for i in (0..rows.n).step_by(step) {
                hidden.fill(&framed[i * p.d..][..p.d], rows.weights[i], &mut reader, &mut rng);
            }
        }
        hidden
    }

    fn fill(&mut self, row: &[f64], weight: f64, reader: &mut FeatureReader, rng: &mut Rng) {
        let mut seen = row.to_vec();
        for cell in &mut seen {
            if rng.uniform() < SHARE {
                *cell = f64::NAN;
            }
        }
        let taken: Vec<usize> = (0..row.len()).filter(|&j| seen[j].is_nan() && !row[j].is_nan()).collect();
        if taken.is_empty() {
            return;
        }
        let reading = reader.read(&seen);
        let at = self.designs.len() / (reading.activations.len() + 1);
        self.designs.extend_from_slice(&reading.activations);
        self.designs.push(1.0);
        for j in taken {
            let (mean, doubt) = reader.missing_cell(&reading, j);
            self.cells[j].push(Cell { weight, square: (row[j] - mean).powi(2), doubt, reading: at });
        }
    }

    /// How much each reading's row, if it were one of a single row's worth of such rows, would decide its own fit: x'A⁻¹x with A
    /// the mean of E\[z̃z̃ᵀ\] over the readings. Its mean is the number of features and one.
    fn leverages(&self, s: usize) -> Vec<f64> {
        let n = self.designs.len() / s;
        if n == 0 {
            return Vec::new();
        }
        let design = Grid::new(&self.designs, n, s);
        let mut a = vec![0.0; s * s];
        num::multiply(design.transposed(), design, 1.0 / n as f64, 0.0, &mut a);
        for f in 0..s {
            let mean = self.designs.iter().skip(f).step_by(s).sum::<f64>() / n as f64;
            // z² = z; a feature that no reading has must not leave A singular.
            a[f * s + f] = mean.max(1.0 / n as f64) * (1.0 + RIDGE);
        }
        if num::cholesky(&mut a, s).is_err() {
            return vec![s as f64; n];
        }
        let of_reading = |design: &[f64]| {
            let mut solved = design.to_vec();
            num::solve_lower(&a, s, &mut solved);
            solved.iter().map(|v| v * v).sum()
        };
        self.designs.chunks_exact(s).map(of_reading).collect()
    }

    /// The noise by which squared errors are, on average, what they are said to be; that of cells that are there where a column
    /// had no cell among those hidden. W of the column is of `there` rows.
    fn noise(&self, column: usize, leverages: &[f64], there: f64, noise: f64) -> f64 {
        let cells = &self.cells[column];
        let mass: f64 = cells.iter().map(|cell| cell.weight).sum();
        if mass <= 0.0 {
            return noise;
        }
        let square = |cell: &Cell| cell.square / (1.0 - (leverages[cell.reading] / there).min(MOST_LEVERAGE)).powi(2);
        let excess = |u: f64| {
            let ratio = |cell: &Cell| cell.weight * square(cell) / (u + cell.doubt);
            cells.iter().map(ratio).sum::<f64>() - mass
        };
        let mut low = LEAST_OF_NOISE * noise;
        // So much that no doubt is needed to explain the errors.
        let mut high = low + cells.iter().map(|cell| cell.weight * square(cell)).sum::<f64>() / mass;
        for _ in 0..HALVINGS {
            let middle = 0.5 * (low + high);
            if excess(middle) > 0.0 { low = middle } else { high = middle }
        }
        low
    }
}
