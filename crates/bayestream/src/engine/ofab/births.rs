//! Births: rows that no component explains get components of their own.
//!
//! Many such rows at once are fitted together as the ring is (`ring_fit`), so that a new cluster arrives with its shape
//! and not in pieces. Few of them, or those that are left over, get a component at one row each, on probation.

use super::Ofab;
use super::component::Comp;
use super::shrink::are_one;
use super::step::{LearnedRow, Work};
use super::turns::Turns;
use super::view::distinct_rows;
use super::watch::MeanWatch;
use crate::engine::ring_fit::{FitSize, Fitted, price, ring_fit};
use crate::family::{Family, Gauss, Moments, Prior, VARIANCE_FLOOR};
use crate::num;
use crate::structure::{Happening, RowBlock};

/// Unexplained rows that are fitted together, at least, and those that a component of such a fit must have.
const TOGETHER: usize = 16;
const LEAST_FITTED: f64 = 8.0;
const ROWS_PER_START: usize = 8;
/// Rows of runs that make the fit begin with more components: few runs are in one batch.
const MOST_OF_RUNS: usize = 64;
/// Mass a newborn component starts with, and the count of its statistics.
const BIRTH_MASS: f64 = 5.0;
const BIRTH_COUNT: f64 = 1e-3;
/// Standard deviations beyond which a lone row is unexplained, and those beyond which rows are that explain one another.
const NOVEL_SD: f64 = 4.5;
const ODD_SD: f64 = 3.0;
/// Components on probation at a time, at most: so many, or a quarter of all.
const ON_PROBATION: usize = 12;
const SHARE_ON_PROBATION: usize = 4;

/// The distance whose Wilson–Hilferty normal score is `sd`.
fn distance_of(sd: f64, n_observed: usize) -> f64 {
    let d = n_observed as f64;
    let v = 2.0 / (9.0 * d);
    d * (1.0 - v + sd * v.sqrt()).powi(3)
}

fn novelty_threshold(n_observed: usize) -> f64 {
    distance_of(NOVEL_SD, n_observed)
}

/// A young component's covariance is uncertain: its distances are shrunk towards those of the predictive density.
fn caution(comp: &Comp, d: usize) -> f64 {
    (comp.fast.count - d as f64 - 2.0).max(1.0) / (comp.fast.count + 1.0)
}

impl<F: Family> Ofab<F> {
    /// Gives rows that no component explains components of their own, before the M-step can smear others over them.
    /// The log-joints must not be normalised yet.
    pub(super) fn births(&mut self, work: &mut Work, weights: Option<&[f64]>) -> bool {
        let d = self.n_columns;
        let (n, stride) = (work.block.n_rows(), work.posterior.stride);
        work.best.clear();
        work.best.resize(n, (f64::NEG_INFINITY, 0));
        for k in 0..self.comps.len() {
            let joint = &work.posterior.q[k * stride..][..n];
            for (best, &value) in work.best.iter_mut().zip(joint) {
                if value > best.0 {
                    *best = (value, k as u32);
                }
            }
        }
        // In terms of the winner's log-joint: 2 (constant − joint) · caution > threshold.
        let threshold = distance_of(ODD_SD, d);
        let log_total = self.total_mass().ln();
        work.least.clear();
        work.least.extend(
            self.comps
                .iter()
                .map(|c| c.log_tilted_mass() - log_total + c.gauss.log_norm() - 0.5 * threshold / caution(c, d)),
        );
        let suspects: Vec<usize> = (0..n)
            .filter(|&i| work.best[i].0.is_nan() || work.best[i].0 < work.least[work.best[i].1 as usize])
            .collect();
        let mut odd: Vec<(f64, usize, usize)> = suspects
            .into_iter()
            .filter_map(|i| {
                let (distance, n_observed) = self.least_distance(&mut work.block, i);
                (n_observed > 0 && distance > distance_of(ODD_SD, n_observed)).then_some((distance, n_observed, i))
            })
            .collect();
        let mut born = self.births_together(work, weights, &mut odd);
        odd.retain(|&(distance, n_observed, _)| distance > novelty_threshold(n_observed));
        let mut novel: Vec<(f64, usize)> = odd.into_iter().map(|(distance, _, i)| (distance, i)).collect();
        novel.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let most_young = ON_PROBATION.max(self.comps.len() / SHARE_ON_PROBATION);
        let mut young = self.comps.iter().filter(|c| !c.graduated).count();
        while let Some(&(_, at)) = novel.first() {
            if young >= most_young || !self.make_room() {
                break;
            }
            let comp = self.newborn(&mut work.block, at);
            novel.retain(|&(_, i)| {
                let (distance, n_observed) = work.block.distance(&comp.gauss, i);
                i != at && distance > 2.0 * novelty_threshold(n_observed)
            });
            self.comps.push(comp);
            young += 1;
            born = true;
        }
        born
    }

    /// Fits many odd rows together, or, where rows come in runs, all: what follows a run may lie within a component that is
    /// wide. Components that predict their rows better, each by the others, than the model does, by more than chance would,
    /// are installed, and their rows leave `odd`: they are learned.
    fn births_together(
        &mut self,
        work: &mut Work,
        weights: Option<&[f64]>,
        odd: &mut Vec<(f64, usize, usize)>,
    ) -> bool {
        work.learned.clear();
        let room = self.settings.max_components.saturating_sub(self.comps.len());
        let in_runs = self.comes_in_runs();
        let at: Vec<usize> = match in_runs {
            true => (0..work.block.n_rows()).filter(|&i| work.block.row(i).iter().any(|v| !v.is_nan())).collect(),
            false => odd.iter().map(|(_, _, i)| *i).collect(),
        };
        if at.len() < TOGETHER || room == 0 {
            return false;
        }
        let cells: Vec<f64> = at.iter().flat_map(|&i| self.filled_row(&mut work.block, i)).collect();
        let of_row: Vec<f64> = at.iter().map(|&i| weights.map_or(1.0, |w| w[i])).collect();
        let (rows, of_row, which) = distinct_rows(&cells, self.n_columns, &of_row);
        let (seed, shard, step) = self.key();
        let mut rng = num::stream(seed, shard ^ BIRTH_STREAM, step);
        let n_free = self.family.most_free(self.n_columns);
        let new: f64 = of_row.iter().sum();
        let starts = (odd.len() + MOST_OF_RUNS).min(of_row.len()) / ROWS_PER_START;
        let starts = starts.max(1);
        let size = FitSize { starts, most: room, price: price(n_free, of_row.len(), new) };
        let fit = ring_fit(self.family, &rows, &of_row, &self.floor, size, &mut rng, &work.interrupt);
        // Their share of all rows, had they been expected.
        let total = new + self.total_mass();
        let log_share = (new / total).ln();
        let mut gain = vec![0.0; of_row.len()];
        for (&i, &row) in at.iter().zip(&which) {
            gain[row as usize] = fit.logs[0][row as usize] + log_share - work.predictions.logs[0][i];
        }
        let least = price(n_free, total as usize, total);
        let mut held = vec![0.0; of_row.len()];
        for Fitted { moments, worth, rows, shares } in fit.components {
            let gained: f64 = rows.iter().zip(&shares).map(|(&i, q)| q * of_row[i as usize] * gain[i as usize]).sum();
            if moments.count < LEAST_FITTED || gained < least {
                continue;
            }
            let prior = Prior { target: fit.target.clone(), floor: self.floor.clone(), worth: Some(worth) };
            let mut comp = Comp::settled(self.family, self.new_id(), moments.count, moments, prior, self.n_seen);
            // One that is still learning its shape is overtaken by a fit of a whole batch, which may be no news for all that.
            if in_runs && self.comps.iter().any(|other| other.graduated && are_one(self.family, other, &comp)) {
                continue;
            }
            rows.iter().zip(&shares).for_each(|(&i, share)| held[i as usize] += share);
            comp.hits = comp.mass;
            comp.turns = Turns::of(&rows, &shares, self.n_seen - work.block.n_rows() as u64);
            self.log(comp.id, Happening::Born);
            self.comps.push(comp);
        }
        let learned =
            at.iter().zip(&which).map(|(at, which)| (*at, *which as usize)).filter(|(_, row)| held[*row] > 0.5);
        work.learned.extend(learned.map(|(at, row)| LearnedRow {
            at,
            student: fit.logs[0][row] + log_share,
            heavy: fit.logs[1][row] + log_share,
        }));
        odd.retain(|(_, _, i)| !work.learned.iter().any(|row| row.at == *i));
        if !work.learned.is_empty() {
            self.after_birth();
        }
        !work.learned.is_empty()
    }

    /// Distance of a row to the component that explains it best, and over how many cells.
    fn least_distance(&self, block: &mut RowBlock, row: usize) -> (f64, usize) {
        let mut least = (f64::INFINITY, 0);
        for comp in &self.comps {
            let (distance, n_observed) = block.distance(&comp.gauss, row);
            let distance = distance * caution(comp, self.n_columns);
            if distance < least.0 || n_observed == 0 {
                least = (distance, n_observed);
            }
        }
        least
    }

    /// A component at one row, as large as the established ones are on average.
    fn newborn(&mut self, block: &mut RowBlock, row: usize) -> Comp {
        let d = self.n_columns;
        let total = self.total_mass();
        let least = total * self.settings.least_share(self.comps.len());
        let established = |c: &&Comp| c.graduated && c.mass >= least;
        let chosen: Vec<&Comp> = match self.comps.iter().filter(established).collect::<Vec<_>>() {
            none if none.is_empty() => self.comps.iter().collect(),
            some => some,
        };
        let weight: f64 = chosen.iter().map(|c| c.mass).sum();
        let pooled: Vec<f64> = (0..d)
            .map(|j| {
                chosen.iter().map(|c| c.mass * c.fast.covariance[j * d + j].max(VARIANCE_FLOOR)).sum::<f64>() / weight
            })
            .collect();
        let log_det: f64 = chosen.iter().map(|c| c.mass * c.gauss.log_det()).sum::<f64>() / weight;
        let shrink = ((log_det - pooled.iter().map(|p| p.ln()).sum::<f64>()) / d as f64).exp();
        let target = pooled.iter().map(|p| (p * shrink).max(VARIANCE_FLOOR)).collect();
        // As a component needs at first; what it is worth is judged when priors are renewed.
        let prior = Prior { target, floor: self.floor.clone(), worth: Some(d as f64 + 2.0) };
        let mean = self.filled_row(block, row);
        let moments = Moments { count: BIRTH_COUNT, ..Moments::empty_at(&mean) };
        let gauss = Gauss::of(self.family, &moments, &prior);
        Comp {
            id: self.new_id(),
            mass: BIRTH_MASS,
            slow: moments.clone(),
            fast: moments,
            prior,
            gauss,
            stale: 0.0,
            overlap: 0.0,
            hits: 0.0,
            born: self.n_seen,
            graduated: false,
            absence: 0.0,
            claimed: 0.0,
            absent_mass: 0.0,
            since: self.n_seen,
            turns: Turns::default(),
            split_tried: 0.0,
            watch: MeanWatch::at(&mean),
        }
    }

    /// The row, with missing cells filled in by the component that explains it best.
    fn filled_row(&self, block: &mut RowBlock, row: usize) -> Vec<f64> {
        let cells = block.row(row).to_vec();
        if !cells.iter().any(|v| v.is_nan()) {
            return cells;
        }
        let nearest = self
            .comps
            .iter()
            .map(|c| (block.distance(&c.gauss, row).0, c))
            .min_by(|a, b| a.0.total_cmp(&b.0))
            .map(|(_, c)| c);
        let mut filled = cells;
        if let Some(comp) = nearest {
            block.fill_holes(&comp.gauss, |r| r == row, |_, full, _, _| filled = full.to_vec());
        }
        filled
    }
}

/// Sets the random numbers of fits of unexplained rows apart from others'.
const BIRTH_STREAM: u64 = 1 << 34;
