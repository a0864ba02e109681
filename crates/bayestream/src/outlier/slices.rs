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
/// How rare places are on average is computed anew when this share of the rows is new.
const REFRESH: f64 = 0.1;
/// Factors multiplied before a logarithm is taken: at least 0.5 and at most 1e5 each, they stay far from the limits.
const FACTORS: usize = 16;
const CHAINS: usize = 4;
/// Sets the lines apart from other random numbers.
const LINE_STREAM: u64 = 1 << 34;

/// Marks a line of which a row has nothing to tell because a cell is missing.
const NOWHERE: u8 = u8::MAX;

/// Histograms of rows along random lines, their columns in units of standard deviations.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Slices {
    n_columns: usize,
    ranges: Vec<Range>,
    /// `PLACES` for each line.
    counts: Vec<f64>,
    totals: Vec<f64>,
    /// For each line, the mean of −log of the place's share, and the rows since that was computed.
    rarity: Vec<f64>,
    stale: f64,
    /// The columns of each line and their coefficients, `per_line` at a time; made anew from the number of columns.
    #[serde(skip)]
    terms: Vec<(u32, f64)>,
    /// Sum over the lines of the log of all that their places count.
    #[serde(skip)]
    log_totals: f64,
}

/// Where a line's bins lie.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Range {
    low: f64,
    per_width: f64,
}

impl Range {
    fn place(self, at: f64) -> usize {
        const LAST: f64 = (PLACES - 1) as f64;
        let x = (at - self.low) * self.per_width + 0.5;
        let x = if x > 0.0 { x } else { 0.0 };
        let x = if x < LAST { x } else { LAST };
        // Beyond 2⁵² numbers are whole, and their last bits count them: cheaper than a cast, which minds its range.
        (x + 4_503_599_627_370_496.0).to_bits() as u8 as usize
    }
}

fn per_line(n_columns: usize) -> usize {
    n_columns.isqrt().max(1)
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

fn position(terms: &[(u32, f64)], row: &[f64]) -> f64 {
    terms.iter().map(|&(j, c)| c * row[j as usize]).sum()
}

/// Log of the product of factors that are neither tiny nor huge: few logarithms, and no long chain of products.
fn log_of_product(factors: impl Iterator<Item = f64>) -> f64 {
    let (mut products, mut sum) = ([1.0; CHAINS], 0.0);
    for (at, factor) in factors.enumerate() {
        products[at % CHAINS] *= factor;
        if at % (CHAINS * FACTORS) == CHAINS * FACTORS - 1 {
            sum += products.iter().map(|p: &f64| p.ln()).sum::<f64>();
            products = [1.0; CHAINS];
        }
    }
    sum + products.iter().map(|p| p.ln()).sum::<f64>()
}

impl Slices {
    /// Histograms that have seen nothing.
    pub fn new(n_columns: usize) -> Slices {
        Slices {
            n_columns,
            ranges: vec![Range { low: 0.0, per_width: 1.0 }; LINES],
            counts: vec![0.0; LINES * PLACES],
            totals: vec![0.0; LINES],
            rarity: vec![0.0; LINES],
            stale: 0.0,
            terms: lines(n_columns),
            log_totals: 0.0,
        }
    }

    /// Mean over the lines of −log of the row's place's share. The missing cells of a row that has some are as in
    /// `filled`, which is nearer to the middle than the cells would be: such a place counts as no less rare than the line's
    /// places are on average. The places are added to `places`, for [`Slices::learn`].
    pub fn score(&self, row: &[f64], filled: Option<&[f64]>, places: &mut Vec<u8>) -> f64 {
        let lines = self.terms.chunks_exact(per_line(self.n_columns)).zip(&self.ranges);
        let sum = if let Some(filled) = filled {
            let places_of = self.counts.chunks_exact(PLACES).zip(&self.totals);
            let mut sum = 0.0;
            for (((terms, range), (counts, total)), rarity) in lines.zip(places_of).zip(&self.rarity) {
                let at = position(terms, row);
                let place = range.place(if at.is_nan() { position(terms, filled) } else { at });
                let surprise = ((total + ADVANCE * PLACES as f64) / (counts[place] + ADVANCE)).ln();
                places.push(if at.is_nan() { NOWHERE } else { place as u8 });
                sum += if at.is_nan() { surprise.max(*rarity) } else { surprise };
            }
            sum
        } else {
            let of_line = |((terms, range), counts): ((_, &Range), &[f64])| {
                let place = range.place(position(terms, row));
                places.push(place as u8);
                counts[place] + ADVANCE
            };
            self.log_totals - log_of_product(lines.zip(self.counts.chunks_exact(PLACES)).map(of_line))
        };
        sum / LINES as f64
    }

    /// Takes rows by their places, with weights.
    pub fn learn(&mut self, places: &[u8], weights: &[f64]) {
        for (places, &weight) in places.chunks_exact(LINES).zip(weights) {
            for (line, &place) in places.iter().enumerate().filter(|(_, place)| **place != NOWHERE) {
                self.counts[line * PLACES + place as usize] += weight;
                self.totals[line] += weight;
            }
        }
        self.stale += weights.iter().sum::<f64>();
        if self.stale > REFRESH * self.totals.iter().sum::<f64>() / LINES as f64 {
            self.refresh();
        }
        for (line, total) in self.totals.iter_mut().enumerate().filter(|(_, total)| **total > MEMORY) {
            let keep = MEMORY / *total;
            self.counts[line * PLACES..(line + 1) * PLACES].iter_mut().for_each(|c| *c *= keep);
            *total = MEMORY;
        }
        self.sum_totals();
    }

    fn sum_totals(&mut self) {
        self.log_totals = log_of_product(self.totals.iter().map(|total| total + ADVANCE * PLACES as f64));
    }

    fn refresh(&mut self) {
        for ((rarity, counts), total) in self.rarity.iter_mut().zip(self.counts.chunks_exact(PLACES)).zip(&self.totals)
        {
            let share = |count: &f64| (count + ADVANCE) / (total + ADVANCE * PLACES as f64);
            *rarity = counts.iter().map(share).map(|p| -p * p.ln()).sum();
        }
        self.stale = 0.0;
    }

    /// Begins the lines anew that join one of the `changed` columns: these rows tell their range and are their first.
    pub fn begin(&mut self, rows: &[f64], changed: &[usize]) {
        for (line, terms) in self.terms.chunks_exact(per_line(self.n_columns)).enumerate() {
            if !terms.iter().any(|&(j, _)| changed.contains(&(j as usize))) {
                continue;
            }
            let at: Vec<f64> =
                rows.chunks_exact(self.n_columns).map(|row| position(terms, row)).filter(|v| !v.is_nan()).collect();
            let (low, high) = at.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), v| (l.min(*v), h.max(*v)));
            let width = if high > low { high - low } else { 1.0 };
            let low = if low.is_finite() { low - MARGIN * width } else { 0.0 };
            self.ranges[line] = Range { low, per_width: BINS as f64 / ((1.0 + 2.0 * MARGIN) * width) };
            let counts = &mut self.counts[line * PLACES..(line + 1) * PLACES];
            counts.fill(0.0);
            at.iter().for_each(|v| counts[self.ranges[line].place(*v)] += 1.0);
            self.totals[line] = at.len() as f64;
        }
        self.sum_totals();
        self.refresh();
    }

    /// Those of the shard that has seen most: bins of different shards do not match.
    pub fn joined(parts: &[&Slices]) -> Slices {
        let seen = |s: &Slices| s.totals.iter().sum::<f64>();
        let most = parts.iter().map(|s| seen(s)).fold(f64::NEG_INFINITY, f64::max);
        parts.iter().find(|s| seen(s) >= most).map_or_else(|| parts[0].clone(), |s| (*s).clone())
    }

    /// True when it could have come from rows: what a file must satisfy.
    pub fn is_sound(&self, n_columns: usize) -> bool {
        let counts = |values: &[f64], n: usize| values.len() == n && values.iter().all(|c| c.is_finite() && *c >= 0.0);
        self.n_columns == n_columns
            && self.ranges.len() == LINES
            && self.ranges.iter().all(|r| r.low.is_finite() && r.per_width.is_finite() && r.per_width > 0.0)
            && counts(&self.counts, LINES * PLACES)
            && counts(&self.totals, LINES)
            && counts(&self.rarity, LINES)
            && counts(&[self.stale], 1)
    }

    /// Rebuilds what is not saved.
    pub fn restore(&mut self) {
        self.terms = lines(self.n_columns);
        self.sum_totals();
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
        let range = Range { low: -1.0, per_width: 10.0 };
        assert_eq!(range.place(-1e300), 0);
        assert_eq!(range.place(-1.01), 0);
        assert_eq!(range.place(-0.99), 1);
        assert_eq!(range.place(0.99), BINS);
        assert_eq!(range.place(1.01), PLACES - 1);
        assert_eq!(range.place(1e300), PLACES - 1);
    }

    #[test]
    fn rows_beyond_all_others_score_highest_and_missing_cells_leave_lines_out() {
        let rows = ring(3000);
        let mut slices = Slices::new(3);
        slices.begin(&rows[..750], &[0, 1, 2]);
        let mut places = Vec::new();
        rows[750..].chunks(3).for_each(|row| {
            slices.score(row, None, &mut places);
        });
        slices.learn(&places, &vec![1.0; 2750]);
        let score = |row: &[f64]| {
            let filled: Vec<f64> = row.iter().map(|v| if v.is_nan() { 0.0 } else { *v }).collect();
            slices.score(row, row.iter().any(|v| v.is_nan()).then_some(&filled[..]), &mut Vec::new())
        };
        let usual: Vec<f64> = rows.chunks(3).map(score).collect();
        let far = score(&[9.0, -9.0, 9.0]);
        assert!(usual.iter().all(|s| far > *s), "{far}");
        let holed = score(&[9.0, f64::NAN, 9.0]);
        assert!(holed > 3.0 && holed < far, "{holed} and {far}");
        // In the middle of what is known, a row with holes is an average row, not the most ordinary of all.
        let mean = usual.iter().sum::<f64>() / usual.len() as f64;
        for row in [[0.9, f64::NAN, f64::NAN], [f64::NAN; 3]] {
            let middle = score(&row);
            assert!((0.6 * mean..1.5 * mean).contains(&middle), "{middle} and {mean}");
        }
    }

    #[test]
    fn only_lines_of_a_changed_column_begin_anew() {
        let rows = ring(1000);
        let mut slices = Slices::new(3);
        slices.begin(&rows, &[0, 1, 2]);
        let before = slices.clone();
        slices.begin(&rows[..300], &[1]);
        let kept = before.totals.iter().zip(&slices.totals).filter(|(a, b)| a == b).count();
        assert!(kept > 0 && kept < LINES, "{kept} lines kept");
    }
}
