//! How far off cells would be foretold that a fit did see.

use super::export::export;
use super::parameters::Parameters;
use super::rows::Rows;
use crate::data::Frame;
use crate::num::{self, Rng};
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
/// The key of the random numbers that say which cells are hidden.
const HIDING: u64 = 0x5ee;

/// The variance of a cell that is not seen, beyond the doubt about the features of its row, by column; at least a part of the
/// noise, which is averaged over a stream and may be more than what the latest rows are off by. The features that a row has are found by its cells, so that what is left over of these is less than what a missing
/// cell is off by, and next to nothing where features are as many as columns. So cells are hidden, and filled as those of
/// other rows are; W, which is of `mass` rows and has seen them, is drawn to them by a row's leverage.
pub fn noise_of_unseen(rows: &Rows, p: &Parameters, mass: f64) -> Vec<f64> {
    let told = Hidden::cells(rows, p);
    let leverage = ((p.k + 1) as f64 / mass.max(1.0)).min(MOST_LEVERAGE);
    let inflated = 1.0 / (1.0 - leverage).powi(2);
    (0..p.d).map(|j| told.noise(j, inflated, 1.0 / p.precision[j])).collect()
}

/// Cells that were hidden, by column: weight, squared error, and the doubt about features.
struct Hidden(Vec<Vec<(f64, f64, f64)>>);

impl Hidden {
    /// Hides cells of some rows, spread evenly, and fills them.
    fn cells(rows: &Rows, p: &Parameters) -> Hidden {
        let mut rng = num::stream(HIDING, 0, 0);
        let mut hidden = Hidden(vec![Vec::new(); p.d]);
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
        for j in taken {
            let (mean, doubt) = reader.missing_cell(&reading, j);
            self.0[j].push((weight, (row[j] - mean).powi(2), doubt));
        }
    }

    /// The noise by which squared errors are, on average, what they are said to be; that of cells that are there where a column
    /// had no cell among those hidden.
    fn noise(&self, column: usize, inflated: f64, noise: f64) -> f64 {
        let cells = &self.0[column];
        let mass: f64 = cells.iter().map(|(weight, ..)| weight).sum();
        if mass <= 0.0 {
            return noise;
        }
        let excess = |u: f64| {
            let ratio = |(weight, square, doubt): &(f64, f64, f64)| weight * inflated * square / (u + doubt);
            cells.iter().map(ratio).sum::<f64>() - mass
        };
        let mut low = LEAST_OF_NOISE * noise;
        // So much that no doubt is needed to explain the errors.
        let mut high = low + inflated * cells.iter().map(|(weight, square, _)| weight * square).sum::<f64>() / mass;
        for _ in 0..HALVINGS {
            let middle = 0.5 * (low + high);
            if excess(middle) > 0.0 { low = middle } else { high = middle }
        }
        low
    }
}
