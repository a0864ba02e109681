//! How independent successive rows are.
//!
//! Drift tests count rows as evidence, as if each were a fresh draw. Sensor rows are not: a machine stays in one regime
//! for a while, and a component that is silent for a hundred rows may only be waiting. The lag-one autocorrelation ρ of
//! the columns tells how much a row is worth: (1 − ρ)/(1 + ρ) of a fresh one.

use serde::{Deserialize, Serialize};

/// Rows per estimate.
const BLOCK: u32 = 500;
/// Estimates kept; the median of them is used, so that the block in which a change happens does not count.
const KEPT: usize = 3;
/// The largest of several columns' autocorrelations exceeds zero by chance.
const BY_CHANCE: f64 = 0.15;
const MOST_BY_CHANCE: f64 = 0.95;

/// Running lag-one autocorrelation of the stream.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(in crate::engine) struct Tempo {
    n: u32,
    /// Per column: Σx, Σx², Σx·previous, previous.
    sums: Vec<[f64; 4]>,
    worth: Vec<f64>,
}

impl Tempo {
    /// Takes rows in the learner's frame; missing cells count as the frame's centre.
    pub fn push(&mut self, rows: &[f64], n_columns: usize) {
        self.sums.resize(n_columns, [0.0; 4]);
        for row in rows.chunks_exact(n_columns) {
            for (sums, &cell) in self.sums.iter_mut().zip(row) {
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
        if self.worth.len() == KEPT {
            self.worth.remove(0);
        }
        self.worth.push(self.worth_in_block());
        self.n = 0;
        self.sums.iter_mut().for_each(|s| (s[0], s[1], s[2]) = (0.0, 0.0, 0.0));
    }

    fn worth_in_block(&self) -> f64 {
        let n = f64::from(self.n);
        let correlation = self.sums.iter().map(|[sum, squares, products, _]| {
            let mean = sum / n;
            let variance = squares / n - mean * mean;
            if variance > 1e-12 { (products / n - mean * mean) / variance } else { 0.0 }
        });
        // The largest of D standard normals over √n, where the rows are few.
        let by_chance = (2.0 * (2.0 * self.sums.len() as f64).ln() / n).sqrt().clamp(BY_CHANCE, MOST_BY_CHANCE);
        let rho = ((correlation.fold(0.0, f64::max) - by_chance) / (1.0 - by_chance)).clamp(0.0, 0.999);
        (1.0 - rho) / (1.0 + rho)
    }

    /// What each of these rows, in one frame, is worth: a guess where few rows tell, for what no alarm depends on.
    pub fn worth_of(rows: &[f64], n_columns: usize) -> f64 {
        let mut tempo = Tempo::default();
        tempo.push(rows, n_columns);
        match tempo.worth[..] {
            [] => tempo.worth_in_block(),
            [one] => one,
            _ => tempo.row_worth(),
        }
    }

    /// True when enough rows have told what a row is worth.
    pub fn is_known(&self) -> bool {
        self.worth.len() > 1
    }

    /// How many fresh draws a row is worth, at most one; none while too few rows have told.
    pub fn row_worth(&self) -> f64 {
        match self.worth[..] {
            [a, b] => a.min(b),
            [a, b, c] => a.min(b).max(a.max(b).min(c)),
            _ => 0.0,
        }
    }

    pub fn is_sound(&self) -> bool {
        self.worth.len() <= KEPT
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

    #[test]
    fn few_rows_are_taken_for_fresh_draws_unless_they_trend() {
        let mut rng = num::stream(12, 0, 0);
        let fresh: Vec<f64> = (0..20 * 10).map(|_| rng.normal()).collect();
        assert!(Tempo::worth_of(&fresh, 10) > 0.8, "{}", Tempo::worth_of(&fresh, 10));
        let trend: Vec<f64> = (0..40).flat_map(|i| [f64::from(i) / 10.0, rng.normal()]).collect();
        assert!(Tempo::worth_of(&trend, 2) < 0.3, "{}", Tempo::worth_of(&trend, 2));
    }
}
