//! Features of many cells: born in blocks, on some of the rows and then on all of them.
//!
//! To try features one by one would take longer than all of a fit, so blocks are tried: as long as the criterion rises and
//! held-out cells become more probable another of the same size follows, and one that is refused is tried again at a
//! quarter of its size. So the size of blocks does not say how many features there are.

use super::drive::{Framed, SHARE_OF_MANY};
use super::fit::{Fit, Pace};
use super::held_out::HeldOut;
use super::rows::Rows;
use super::settings::FabSettings;
use crate::num::Rng;

/// Features of a large block, and of the first one of all rows where a large one was born on some of them.
const LARGE_BLOCK: usize = 64;
const BLOCK_ON_ALL: usize = 32;
/// A refused block is tried again with this part of its features.
const PART_OF_REFUSED: usize = 4;
/// Iterations before a large block is judged, for each of those before a single birth is: much is still to be found.
const LONGER_TRIAL: usize = 3;
/// Where there are twice as many rows, the first block is born on so many for each column, at random, and on so many at least;
/// then all rows take part, whose features are found in so many sweeps.
const ROWS_FOR_BIRTHS: usize = 16;
const LEAST_ROWS_FOR_BIRTHS: usize = 2000;
const SWEEPS_FOR_ALL: usize = 10;

/// A fit of rows of which some cells may be held out.
struct Growth {
    seen: Rows,
    held_out: HeldOut,
    fit: Fit,
    /// Log-likelihood of the held-out cells.
    told: f64,
}

impl Growth {
    /// Begins without features, or with those of another fit.
    fn new(framed: Framed<'_>, share: f64, from: Option<&Fit>, pace: &Pace, rng: &mut Rng) -> Growth {
        let (seen, held_out) = framed.hold_out(share, rng);
        let mut fit = match from {
            Some(from) => Fit::from_parameters(&seen, &from.parameters, SWEEPS_FOR_ALL),
            None => Fit::new(&seen),
        };
        if from.is_some() {
            // Or blocks would be judged by what more iterations do.
            let few = Pace { max_iterations: pace.trial_iterations, ..*pace };
            fit.converge(&seen, &few, &mut |_| ());
        }
        let mut growth = Growth { seen, held_out, fit, told: 0.0 };
        growth.told = growth.tell();
        growth
    }

    /// More in blocks, until there are `most` or a single one is refused.
    fn go_on(&mut self, first: usize, most: usize, pace: &Pace, rng: &mut Rng, watch: &mut dyn FnMut(&Fit)) {
        let mut block = first;
        while block > 0 && self.fit.k() < most && !self.seen.interrupt.is_raised() {
            let n_refused = self.try_block(block.min(most - self.fit.k()), pace, rng, watch);
            block = n_refused.map_or(block, |n| n / PART_OF_REFUSED);
        }
    }

    /// Adds a block, unless the bound falls by it or held-out cells become less probable: then it is as before, and how many there
    /// would have been is returned.
    fn try_block(&mut self, n: usize, pace: &Pace, rng: &mut Rng, watch: &mut dyn FnMut(&Fit)) -> Option<usize> {
        let before = self.fit.save();
        let longer = if n == LARGE_BLOCK { LONGER_TRIAL } else { 1 };
        let n_tried = self.fit.add_many(n, &self.seen, pace, longer, rng);
        let told = self.tell();
        let is_told = told > self.told || self.held_out.is_empty();
        if n_tried > 0 && self.fit.bound > before.bound && is_told {
            self.told = told;
            watch(&self.fit);
            return None;
        }
        self.fit.restore(&before);
        Some(n_tried)
    }

    /// Log-likelihood of the held-out cells.
    fn tell(&self) -> f64 {
        self.held_out.log_likelihood(&self.seen, &self.fit.parameters, &self.fit.field)
    }
}

/// A fit of `rows`, those of `framed`, whose features were born in blocks, judged by held-out cells where `is_judged`.
pub fn grow_many(
    framed: Framed<'_>,
    rows: &Rows,
    settings: &FabSettings,
    is_judged: bool,
    rng: &mut Rng,
    watch: &mut dyn FnMut(&Fit),
) -> Fit {
    let (pace, most) = (settings.pace(), settings.max_features);
    let share = if is_judged { SHARE_OF_MANY } else { 0.0 };
    let enough = (ROWS_FOR_BIRTHS * rows.d).max(LEAST_ROWS_FOR_BIRTHS);
    let mut growth = if rows.n > 2 * enough {
        let (cells, weights) = framed.part(enough, rng);
        let part = Framed { cells: &cells, weights: Some(&weights), ..framed };
        let mut born = Growth::new(part, share, None, &pace, rng);
        born.try_block(LARGE_BLOCK.min(most), &pace, rng, watch);
        let mut growth = Growth::new(framed, share, Some(&born.fit), &pace, rng);
        growth.go_on(BLOCK_ON_ALL, most, &pace, rng, watch);
        growth
    } else {
        let mut growth = Growth::new(framed, share, None, &pace, rng);
        growth.go_on(LARGE_BLOCK, most, &pace, rng, watch);
        growth
    };
    growth.fit.maximise(rows);
    growth.fit
}

#[cfg(test)]
mod tests {
    use super::super::drive::fit_rows;
    use super::super::grow::MANY_CELLS;
    use super::*;
    use crate::interrupt::Interrupt;
    use crate::num;

    const D: usize = 130;

    /// Rows that vary by degrees, along ever shorter directions: no number of features is the true one.
    fn by_degrees(n: usize, seed: u64) -> Vec<f64> {
        let mut rng = num::stream(seed, 0, 0);
        let n_directions = 24;
        let directions: Vec<f64> =
            (0..n_directions * D).map(|at| rng.normal() * 0.85_f64.powi((at / D) as i32)).collect();
        let mut rows = vec![0.0; n * D];
        for row in rows.chunks_exact_mut(D) {
            row.iter_mut().for_each(|cell| *cell = 0.5 * rng.normal());
            for direction in directions.chunks_exact(D) {
                let along = rng.normal();
                row.iter_mut().zip(direction).for_each(|(cell, w)| *cell += along * w);
            }
        }
        rows
    }

    fn fitted(rows: &[f64], settings: &FabSettings) -> Fit {
        fit_rows(rows, D, None, settings, num::stream(81, 0, 0), &Interrupt::default(), &mut |_| ()).fit
    }

    #[test]
    fn the_number_of_features_is_not_that_of_whole_blocks() {
        let rows = by_degrees(MANY_CELLS / D + 100, 82);
        let settings = FabSettings::default();
        let fit = fitted(&rows, &settings);
        let whole = fit.k() / LARGE_BLOCK * LARGE_BLOCK;
        assert!(fit.k() > whole && fit.k() > BLOCK_ON_ALL, "{}", fit.k());
        // What is more than whole blocks is there because the criterion is larger with it.
        let cut = fitted(&rows, &FabSettings { max_features: whole, ..settings });
        assert!(cut.k() <= whole && fit.bound > cut.bound, "{} {} {}", fit.k(), fit.bound, cut.bound);
    }

    #[test]
    fn a_part_of_the_rows_counts_as_much_as_all_of_them() {
        let rows = by_degrees(60, 83);
        let framed = Framed { cells: &rows, d: D, weights: None, interrupt: &Interrupt::default() };
        let (cells, weights) = framed.part(24, &mut num::stream(84, 0, 0));
        assert_eq!((cells.len(), weights.len()), (24 * D, 24));
        assert!((weights.iter().sum::<f64>() - 60.0).abs() < 1e-9);
        let heavy: Vec<f64> = (0..60).map(|i| 1.0 + f64::from(i % 3)).collect();
        let (cells, weights) = Framed { weights: Some(&heavy), ..framed }.part(24, &mut num::stream(84, 0, 0));
        for (row, weight) in cells.chunks_exact(D).zip(&weights) {
            let at = rows.chunks_exact(D).position(|other| other == row).expect("one of the rows");
            assert!((weight - 2.5 * heavy[at]).abs() < 1e-12);
        }
    }
}
