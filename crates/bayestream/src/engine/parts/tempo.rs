//! How independent successive rows are.
//!
//! Drift tests count rows as evidence, as if each were a fresh draw. Sensor rows are not: a machine stays in one regime
//! for a while, and a component that is silent for a hundred rows may only be waiting. The lag-one autocorrelation ρ of
//! the columns tells how much a row is worth: (1 − ρ)/(1 + ρ) of a fresh one.

use serde::{Deserialize, Serialize};
use std::cmp::Ordering;

/// Rows per estimate.
const BLOCK: u32 = 500;
/// Estimates kept; the median of them is used, so that the block in which a change happens does not count.
const KEPT: usize = 3;
/// The largest of several columns' autocorrelations exceeds zero by chance.
const BY_CHANCE: f64 = 0.15;

/// Running lag-one autocorrelation of the stream.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Tempo {
    n: u32,
    /// Per column: Σx, Σx², Σx·previous, previous.
    sums: Vec<[f64; 4]>,
    worth: Vec<f64>,
    /// Per column: the last cell seen, and how often the next one was larger or smaller.
    steps: Vec<Steps>,
}

/// Which way a column goes from row to row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Steps {
    last: Option<f64>,
    up: f64,
    down: f64,
}

/// Changes after which the direction of a column can be told, and the share of them that must go one way: a counter
/// that now and then starts over is one, too.
const FEWEST_STEPS: f64 = 16.0;
const ONE_WAY: f64 = 0.95;

impl Steps {
    fn push(&mut self, cell: f64) {
        if cell.is_nan() {
            return;
        }
        match self.last.map(|last| cell.total_cmp(&last)) {
            Some(Ordering::Greater) => self.up += 1.0,
            Some(Ordering::Less) => self.down += 1.0,
            _ => {}
        }
        self.last = Some(cell);
    }

    fn is_counting(&self) -> bool {
        self.up + self.down >= FEWEST_STEPS && self.up.max(self.down) >= ONE_WAY * (self.up + self.down)
    }
}

impl Tempo {
    /// Takes rows in the learner's frame; missing cells count as the frame's centre.
    pub fn push(&mut self, rows: &[f64], n_columns: usize) {
        self.sums.resize(n_columns, [0.0; 4]);
        self.steps.resize(n_columns, Steps::default());
        for row in rows.chunks_exact(n_columns) {
            for ((sums, steps), &cell) in self.sums.iter_mut().zip(&mut self.steps).zip(row) {
                steps.push(cell);
                let x = if cell.is_nan() { 0.0 } else { cell.clamp(-1e3, 1e3) };
                sums[0] += x;
                sums[1] += x * x;
                sums[2] += x * sums[3];
                sums[3] = x;
            }
            self.n += 1;
            if self.n == BLOCK {
                self.close_block();
            }
        }
    }

    fn close_block(&mut self) {
        let n = f64::from(self.n);
        let correlation = self.sums.iter().map(|[sum, squares, products, _]| {
            let mean = sum / n;
            let variance = squares / n - mean * mean;
            if variance > 1e-12 { (products / n - mean * mean) / variance } else { 0.0 }
        });
        let rho = ((correlation.fold(0.0, f64::max) - BY_CHANCE) / (1.0 - BY_CHANCE)).clamp(0.0, 0.999);
        if self.worth.len() == KEPT {
            self.worth.remove(0);
        }
        self.worth.push((1.0 - rho) / (1.0 + rho));
        self.n = 0;
        self.sums.iter_mut().for_each(|s| (s[0], s[1], s[2]) = (0.0, 0.0, 0.0));
    }

    /// How many fresh draws a row is worth, at most one; none while too few rows have told.
    pub fn row_worth(&self) -> f64 {
        match self.worth[..] {
            [a, b] => a.min(b),
            [a, b, c] => a.min(b).max(a.max(b).min(c)),
            _ => 0.0,
        }
    }

    /// Rows to come are in another frame: the last ones cannot be compared with them.
    pub fn change_frame(&mut self) {
        self.steps.iter_mut().for_each(|steps| steps.last = None);
    }

    /// Columns that count: they go one way, as row numbers, times and sorted columns do, so that rows to come lie
    /// where none has been.
    pub fn counting(&self) -> impl Iterator<Item = usize> + '_ {
        self.steps.iter().enumerate().filter(|(_, steps)| steps.is_counting()).map(|(j, _)| j)
    }

    /// True when some column counts.
    pub fn counts(&self) -> bool {
        self.counting().next().is_some()
    }

    /// Adds what another shard saw.
    pub fn add(&mut self, other: &Tempo) {
        self.steps.resize(self.steps.len().max(other.steps.len()), Steps::default());
        for (mine, other) in self.steps.iter_mut().zip(&other.steps) {
            (mine.up, mine.down) = (mine.up + other.up, mine.down + other.down);
        }
    }

    /// True when sizes agree: what a file must satisfy.
    pub fn is_sound(&self) -> bool {
        let steps = |s: &Steps| {
            [s.up, s.down].iter().all(|v| v.is_finite() && *v >= 0.0) && s.last.is_none_or(|v| v.is_finite())
        };
        self.steps.iter().all(steps)
            && self.worth.len() <= KEPT
            && self.worth.iter().all(|w| (0.0..=1.0).contains(w))
            && self.n < BLOCK
            && self.sums.iter().flatten().all(|v| v.is_finite())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::num;

    fn worth_of_runs(run_length: usize) -> f64 {
        let mut rng = num::stream(11, 0, run_length as u64);
        let mut tempo = Tempo::default();
        let mut level = 0.0;
        for i in 0..3000 {
            if i % run_length == 0 {
                level = 2.0 * rng.normal();
            }
            tempo.push(&[level + 0.5 * rng.normal(), rng.normal()], 2);
        }
        tempo.row_worth()
    }

    #[test]
    fn independent_rows_count_in_full_and_runs_count_little() {
        assert!(worth_of_runs(1) > 0.95);
        let twenty = worth_of_runs(20);
        assert!(twenty < 0.25, "{twenty}");
        assert!(worth_of_runs(5) > twenty);
    }
}
