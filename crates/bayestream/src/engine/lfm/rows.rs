//! Rows as the engines see them: framed, column by column, with a note of what is missing where.

use super::parameters::LEAST_NOISE;
use crate::interrupt::Interrupt;

/// A column with missing cells.
#[derive(Clone, Debug)]
pub struct Holes {
    /// Which column.
    pub column: usize,
    /// The rows of whichever are fewer, those that are missing or those that are there.
    pub listed: Vec<u32>,
    /// True when `listed` has the missing ones.
    pub lists_missing: bool,
}

/// Rows column by column: whatever is summed over rows is contiguous. Missing cells are 0, so that sums pass over them.
#[derive(Clone, Debug, Default)]
pub struct Rows {
    /// Rows.
    pub n: usize,
    /// Columns.
    pub d: usize,
    /// Cell of row n and column d at `d * self.n + n`.
    pub cells: Vec<f64>,
    /// A weight per row.
    pub weights: Vec<f64>,
    /// Sum of the weights.
    pub mass: f64,
    /// Mass of the rows in which a column is there.
    pub counts: Vec<f64>,
    /// Weighted sum of squares of each column.
    pub squares: Vec<f64>,
    /// The columns with missing cells.
    pub holes: Vec<Holes>,
    /// 1 where a cell is there, 0 where it is missing: a row for each of `holes`.
    pub mask: Vec<f64>,
    /// Cells that are there.
    pub n_cells: usize,
    /// The least variance of the noise by column, where it was asked for.
    pub least_noise: Vec<f64>,
    /// Whether whoever works on the rows is to stop: what comes of it then is thrown away.
    pub interrupt: Interrupt,
}

/// The least variance of the noise is at most this part of a column's.
const MOST_OF_LEAST: f64 = 0.5;

impl Rows {
    /// Takes framed rows, row by row, NaN where missing. Without weights each row counts as one.
    pub fn new(framed: &[f64], d: usize, weights: Option<&[f64]>) -> Rows {
        Rows::heeding(&Interrupt::default(), framed, d, weights)
    }

    /// The same for work that may be interrupted.
    pub fn heeding(interrupt: &Interrupt, framed: &[f64], d: usize, weights: Option<&[f64]>) -> Rows {
        let n = framed.len() / d.max(1);
        let weights = weights.map_or_else(|| vec![1.0; n], <[f64]>::to_vec);
        let mut rows = Rows { n, d, mass: weights.iter().sum(), weights, ..Rows::default() };
        rows.interrupt = interrupt.clone();
        rows.cells.reserve(n * d);
        for j in 0..d {
            let column = || framed.iter().skip(j).step_by(d);
            rows.cells.extend(column().map(|v| if v.is_nan() { 0.0 } else { *v }));
            let n_missing = column().filter(|v| v.is_nan()).count();
            if n_missing > 0 {
                let lists_missing = 2 * n_missing <= n;
                rows.mask.extend(column().map(|v| if v.is_nan() { 0.0 } else { 1.0 }));
                let is_listed = |(i, v): (usize, &f64)| (v.is_nan() == lists_missing).then_some(i as u32);
                rows.holes.push(Holes {
                    column: j,
                    listed: column().enumerate().filter_map(is_listed).collect(),
                    lists_missing,
                });
            }
            rows.n_cells += n - n_missing;
            rows.counts.push(column().zip(&rows.weights).filter(|(v, _)| !v.is_nan()).map(|(_, w)| w).sum());
            let weighted_square = |(v, w): (&f64, &f64)| v * v * w;
            rows.squares.push(rows.column(j).iter().zip(&rows.weights).map(weighted_square).sum());
        }
        rows
    }

    /// Finds how near to each other the values of columns lie: a cell that was rounded is known no better than to the width of a
    /// step, whose variance is a twelfth of its square. Without this, features that take the few values of a column one by
    /// one leave no noise, and densities that have no bound outweigh all other cells.
    pub fn find_least_noise(&mut self) {
        let complete = self.is_complete();
        let mut masks = self.mask.chunks_exact(self.n.max(1));
        let of_column = |j: usize| {
            let mut values = self.cells[j * self.n..][..self.n].to_vec();
            if !complete[j] {
                let mut there = masks.next().into_iter().flatten();
                values.retain(|_| there.next().is_some_and(|o| *o > 0.0));
            }
            values.sort_unstable_by(f64::total_cmp);
            values.dedup();
            let mut steps: Vec<f64> = values.windows(2).map(|pair| pair[1] - pair[0]).collect();
            let middle = steps.len() / 2;
            match steps.is_empty() {
                true => LEAST_NOISE,
                false => {
                    let step = *steps.select_nth_unstable_by(middle, f64::total_cmp).1;
                    (step * step / 12.0).clamp(LEAST_NOISE, MOST_OF_LEAST)
                }
            }
        };
        self.least_noise = (0..self.d).map(of_column).collect();
    }

    /// The rows as they came: row by row, NaN where missing.
    pub fn framed(&self) -> Vec<f64> {
        let mut framed = vec![0.0; self.n * self.d];
        for (i, row) in framed.chunks_exact_mut(self.d.max(1)).enumerate() {
            row.iter_mut().enumerate().for_each(|(j, cell)| *cell = self.cells[j * self.n + i]);
        }
        for (h, holes) in self.holes.iter().enumerate() {
            let missing = self.observed(h).iter().enumerate().filter(|(_, o)| **o == 0.0);
            missing.for_each(|(i, _)| framed[i * self.d + holes.column] = f64::NAN);
        }
        framed
    }

    /// The cells of one column.
    pub fn column(&self, d: usize) -> &[f64] {
        &self.cells[d * self.n..][..self.n]
    }

    /// Where the cells of a column with holes, `holes[h]`, are there.
    pub fn observed(&self, h: usize) -> &[f64] {
        &self.mask[h * self.n..][..self.n]
    }

    /// The columns with missing cells, as marks.
    pub fn is_complete(&self) -> Vec<bool> {
        let mut complete = vec![true; self.d];
        self.holes.iter().for_each(|h| complete[h.column] = false);
        complete
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_is_at_least_that_of_rounding() {
        // Steps of 0.5; a column with a value for each row; one value; rows that miss cells; values far apart.
        let cells: Vec<f64> = (0..400)
            .flat_map(|i| {
                let missing = if i % 3 == 0 { f64::NAN } else { 0.25 * f64::from(i % 5) };
                [0.5 * f64::from(i % 7), 1e-3 * f64::from(i), 2.0, missing, 9.0 * f64::from(i % 2)]
            })
            .collect();
        let mut rows = Rows::new(&cells, 5, None);
        rows.find_least_noise();
        let expected = [0.25 / 12.0, 1e-6 / 12.0, LEAST_NOISE, 0.0625 / 12.0, MOST_OF_LEAST];
        for (found, expected) in rows.least_noise.iter().zip(expected) {
            assert!((found - expected).abs() <= 1e-6 * expected, "{found} {expected}");
        }
    }
}
