//! Rows seen along many random lines: how rare their place is on each, by a histogram.
//!
//! A line joins a few columns chosen at random, as in LODA (Pevný 2016). Histograms know gaps, steps and repeated values
//! that no distance from a centre can know.

use crate::num;
use serde::{Deserialize, Serialize};

/// How many lines, and bins of each besides one beyond either end.
const LINES: usize = 100;
const BINS: usize = 20;
const PLACES: usize = BINS + 2;
/// The bins reach this share of the first rows' range beyond it.
const MARGIN: f64 = 0.1;
/// What every bin counts in advance.
const ADVANCE: f64 = 0.5;
/// Rows that the histograms remember.
const MEMORY: f64 = 50_000.0;
/// Factors multiplied before a logarithm is taken: at least 0.5 and at most 1e5 each, they stay far from the limits.
const FACTORS: usize = 16;
/// Sets the lines apart from other random numbers.
const LINE_STREAM: u64 = 1 << 34;

/// Histograms of transformed rows along random lines.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Slices {
    n_columns: usize,
    histograms: Vec<Histogram>,
    /// The columns of each line and their coefficients, `per_line` at a time; made anew from the number of columns.
    #[serde(skip)]
    terms: Vec<(u32, f64)>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Histogram {
    low: f64,
    per_width: f64,
    counts: Vec<f64>,
    total: f64,
}

impl Histogram {
    fn place(&self, at: f64) -> usize {
        // Casts saturate: what is below goes to the first place, and what is far beyond to the last.
        (((at - self.low) * self.per_width + 1.0).max(0.0) as usize).min(PLACES - 1)
    }

    fn add(&mut self, at: f64, weight: f64) {
        let place = self.place(at);
        self.counts[place] += weight;
        self.total += weight;
        if self.total > 2.0 * MEMORY {
            self.counts.iter_mut().for_each(|c| *c *= 0.5);
            self.total *= 0.5;
        }
    }
}

fn per_line(n_columns: usize) -> usize {
    ((n_columns as f64).sqrt().round() as usize).max(1)
}

fn lines(n_columns: usize) -> Vec<(u32, f64)> {
    let mut rng = num::stream(0, LINE_STREAM, n_columns as u64);
    let mut columns: Vec<u32> = (0..n_columns as u32).collect();
    let mut terms = Vec::with_capacity(LINES * per_line(n_columns));
    for _ in 0..LINES {
        rng.shuffle(&mut columns);
        terms.extend(columns.iter().take(per_line(n_columns)).map(|&j| (j, rng.normal())));
    }
    terms
}

impl Slices {
    /// Histograms that have seen nothing.
    pub fn new(n_columns: usize) -> Slices {
        let blank = Histogram { low: 0.0, per_width: 1.0, counts: vec![0.0; PLACES], total: 0.0 };
        Slices { n_columns, histograms: vec![blank; LINES], terms: lines(n_columns) }
    }

    /// Where a row lies on each line; NaN where a cell is missing.
    fn positions<'a>(&'a self, row: &'a [f64]) -> impl Iterator<Item = f64> + 'a {
        self.terms
            .chunks_exact(per_line(self.n_columns))
            .map(|terms| terms.iter().map(|&(j, c)| c * row[j as usize]).sum())
    }

    /// Mean over the lines of −log of the row's place's share; `None` when every line has a missing cell.
    pub fn score(&self, row: &[f64]) -> Option<f64> {
        let (mut sum, mut n) = (0.0, 0);
        let (mut shares, mut totals) = (1.0, 1.0);
        for (at, histogram) in self.positions(row).zip(&self.histograms) {
            if at.is_nan() {
                continue;
            }
            shares *= histogram.counts[histogram.place(at)] + ADVANCE;
            totals *= histogram.total + ADVANCE * PLACES as f64;
            n += 1;
            if n % FACTORS == 0 {
                sum += (totals / shares).ln();
                (shares, totals) = (1.0, 1.0);
            }
        }
        sum += (totals / shares).ln();
        (n > 0).then(|| sum / n as f64)
    }

    /// Takes transformed rows with weights.
    pub fn learn(&mut self, rows: &[f64], weights: &[f64]) {
        for (row, &weight) in rows.chunks_exact(self.n_columns).zip(weights) {
            for (terms, histogram) in self.terms.chunks_exact(per_line(self.n_columns)).zip(&mut self.histograms) {
                let at: f64 = terms.iter().map(|&(j, c)| c * row[j as usize]).sum();
                if !at.is_nan() && weight > 0.0 {
                    histogram.add(at, if std::env::var("UT").is_ok() { 1.0 } else { weight });
                }
            }
        }
    }

    /// Begins the lines anew that join one of the `changed` columns: these rows tell their range and are their first.
    pub fn begin(&mut self, rows: &[f64], changed: &[usize]) {
        let width = per_line(self.n_columns);
        for (terms, histogram) in self.terms.chunks_exact(width).zip(&mut self.histograms) {
            if !terms.iter().any(|&(j, _)| changed.contains(&(j as usize))) {
                continue;
            }
            let at = |row: &[f64]| terms.iter().map(|&(j, c)| c * row[j as usize]).sum::<f64>();
            let places: Vec<f64> = rows.chunks_exact(self.n_columns).map(at).filter(|v| !v.is_nan()).collect();
            let (low, high) =
                places.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(*v), h.max(*v)));
            let range = if high > low { high - low } else { 1.0 };
            histogram.low = if low.is_finite() { low - MARGIN * range } else { 0.0 };
            histogram.per_width = BINS as f64 / ((1.0 + 2.0 * MARGIN) * range);
            histogram.counts.fill(0.0);
            histogram.total = 0.0;
            places.iter().for_each(|v| histogram.add(*v, 1.0));
        }
    }

    /// Those of the shard that has seen most: bins of different shards do not match.
    pub fn joined(parts: &[&Slices]) -> Slices {
        let seen = |s: &Slices| s.histograms.iter().map(|h| h.total).sum::<f64>();
        let most = parts.iter().map(|s| seen(s)).fold(f64::NEG_INFINITY, f64::max);
        parts.iter().find(|s| seen(s) >= most).map_or_else(|| parts[0].clone(), |s| (*s).clone())
    }

    /// True when it could have come from rows: what a file must satisfy.
    pub fn is_sound(&self, n_columns: usize) -> bool {
        self.n_columns == n_columns
            && self.histograms.len() == LINES
            && self.histograms.iter().all(|h| {
                h.counts.len() == PLACES
                    && h.counts.iter().all(|c| c.is_finite() && *c >= 0.0)
                    && h.low.is_finite()
                    && h.per_width.is_finite()
                    && h.per_width > 0.0
                    && h.total.is_finite()
                    && h.total >= 0.0
            })
    }

    /// Rebuilds what is not saved.
    pub fn restore(&mut self) {
        self.terms = lines(self.n_columns);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ring(n: usize) -> Vec<f64> {
        let mut rng = num::stream(3, 4, 5);
        (0..n)
            .flat_map(|_| {
                let angle = rng.uniform() * std::f64::consts::TAU;
                [angle.cos() + 0.05 * rng.normal(), angle.sin() + 0.05 * rng.normal(), rng.normal()]
            })
            .collect()
    }

    #[test]
    fn places_cover_everything() {
        let histogram = Histogram { low: -1.0, per_width: 10.0, counts: vec![0.0; PLACES], total: 0.0 };
        assert_eq!(histogram.place(-1e300), 0);
        assert_eq!(histogram.place(-1.01), 0);
        assert_eq!(histogram.place(-0.99), 1);
        assert_eq!(histogram.place(0.99), BINS);
        assert_eq!(histogram.place(1.01), PLACES - 1);
        assert_eq!(histogram.place(1e300), PLACES - 1);
    }

    #[test]
    fn rows_beyond_all_others_score_highest_and_missing_cells_leave_lines_out() {
        let rows = ring(3000);
        let mut slices = Slices::new(3);
        slices.begin(&rows[..750], &[0, 1, 2]);
        slices.learn(&rows[750..], &vec![1.0; 2750]);
        let usual: Vec<f64> = rows.chunks(3).map(|r| slices.score(r).expect("whole")).collect();
        let far = slices.score(&[9.0, -9.0, 9.0]).expect("whole");
        assert!(usual.iter().all(|s| far > *s), "{far}");
        assert!(slices.score(&[9.0, f64::NAN, 9.0]).is_some_and(|s| s > 3.0));
        assert_eq!(slices.score(&[f64::NAN; 3]), None);
    }

    #[test]
    fn only_lines_of_a_changed_column_begin_anew() {
        let rows = ring(1000);
        let mut slices = Slices::new(3);
        slices.begin(&rows, &[0, 1, 2]);
        let before = slices.clone();
        slices.begin(&rows[..300], &[1]);
        let kept = before.histograms.iter().zip(&slices.histograms).filter(|(a, b)| a == b).count();
        assert!(kept > 0 && kept < LINES, "{kept} lines kept");
    }
}
