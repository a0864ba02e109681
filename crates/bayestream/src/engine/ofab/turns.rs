//! Whether a component's rows come strewn or in runs.
//!
//! A component that has been silent for long is gone, if its rows used to come one here, one there; if they came in
//! runs, or in a single one because the file is sorted, silence says next to nothing. So silence is counted in runs:
//! where rows are independent, a share 1 − α of a component's rows begin a run, and fewer do where they stick together.
//! Pieces of one cluster take turns within its run; so a silence counts only up to the time over which a component's
//! rows were strewn.

use serde::{Deserialize, Serialize};

/// Worth of a component's rows below which they come in runs: another run may follow however long the silence.
const STREWN: f64 = 0.5;
/// Rows strewn evenly over a time are a quarter of it from their mean, on average.
const SPAN: f64 = 4.0;
/// Shares below this are a neighbour's rows.
const OWN: f64 = 1e-3;

/// Rows of a component, how many of them began a run, and when they came.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(in crate::engine) struct Turns {
    rows: f64,
    runs: f64,
    /// Its share of the row before.
    last: f64,
    /// Mean row number, and the sum of distances from it: one row far off does not make a long time.
    mean: f64,
    apart: f64,
}

impl Turns {
    /// From the shares of some rows, all others zero; they came as they are numbered, the first of all at `first`.
    pub fn of(rows: &[u32], shares: &[f64], first: u64) -> Turns {
        let mut turns = Turns::default();
        let mut before = None;
        for (&row, &share) in rows.iter().zip(shares).filter(|(_, share)| **share > OWN) {
            if before.is_some_and(|before| before + 1 != row) {
                turns.last = 0.0;
            }
            turns.take_row(share, (first + u64::from(row)) as f64);
            before = Some(row);
        }
        turns.last = 0.0;
        turns
    }

    /// Takes the next rows' shares, the first of them row number `first`.
    pub fn take(&mut self, shares: &[f64], first: u64) {
        for (at, &share) in shares.iter().enumerate() {
            if share > OWN {
                self.take_row(share, (first + at as u64) as f64);
            } else {
                self.last = 0.0;
            }
        }
    }

    fn take_row(&mut self, share: f64, at: f64) {
        self.rows += share;
        self.runs += share * (1.0 - self.last);
        self.last = share;
        self.mean += share / self.rows * (at - self.mean);
        self.apart += share * (at - self.mean).abs();
    }

    /// The component has none of the next rows.
    pub fn pass(&mut self) {
        self.last = 0.0;
    }

    /// Takes over another component's.
    pub fn add(&mut self, other: &Turns) {
        let rows = self.rows + other.rows;
        let between = if rows > 0.0 { 2.0 * self.rows * other.rows / (rows * rows) } else { 0.0 };
        self.apart += other.apart + between * rows / 2.0 * (self.mean - other.mean).abs();
        self.mean += if rows > 0.0 { other.rows / rows * (other.mean - self.mean) } else { 0.0 };
        self.rows = rows;
        self.runs += other.runs;
    }

    /// What a row of this component, whose share of all is `alpha`, is worth as one of independent draws. The few rows
    /// of a young one say nothing yet.
    pub fn worth(&self, alpha: f64) -> f64 {
        (self.runs / (self.rows * (1.0 - alpha) + 1.0)).clamp(0.0, 1.0)
    }

    /// True when rows came in runs.
    pub fn are_in_runs(&self, alpha: f64) -> bool {
        self.rows > 0.0 && self.worth(alpha) < STREWN
    }

    /// True when rows came one here, one there, over a time as long as they have been missing.
    pub fn are_strewn(&self, alpha: f64, silence: u64) -> bool {
        self.worth(alpha) >= STREWN && SPAN * self.apart >= self.rows * silence as f64
    }

    pub fn is_sound(&self) -> bool {
        [self.rows, self.runs, self.last, self.mean, self.apart].iter().all(|v| v.is_finite())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::num;

    fn turns_of(shares: &[f64], batch: usize) -> Turns {
        let mut turns = Turns::default();
        for (at, part) in shares.chunks(batch).enumerate() {
            turns.take(part, (at * batch) as u64);
        }
        turns
    }

    #[test]
    fn strewn_rows_count_in_full_and_a_run_counts_once() {
        let mut rng = num::stream(5, 1, 0);
        let strewn: Vec<f64> = (0..4000).map(|_| if rng.uniform() < 0.3 { 1.0 } else { 0.0 }).collect();
        assert!((turns_of(&strewn, 100).worth(0.3) - 1.0).abs() < 0.05);
        let run: Vec<f64> = (0..4000).map(|i| if (1000..1200).contains(&i) { 1.0 } else { 0.0 }).collect();
        assert!(turns_of(&run, 100).worth(0.05) < 0.01);
    }

    #[test]
    fn batches_and_lists_of_rows_do_not_matter() {
        let shares: Vec<f64> = (0..60).map(|i| f64::from(i * 7 % 5) / 5.0).collect();
        let (one, many) = (turns_of(&shares, 60), turns_of(&shares, 7));
        assert!((one.worth(0.1) - many.worth(0.1)).abs() < 1e-12);
        let rows: Vec<u32> = (0..60).filter(|i| shares[*i as usize] > 0.0).collect();
        let some: Vec<f64> = rows.iter().map(|&i| shares[i as usize]).collect();
        assert!((Turns::of(&rows, &some, 0).worth(0.1) - one.worth(0.1)).abs() < 1e-12);
    }
}
