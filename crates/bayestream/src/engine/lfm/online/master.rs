//! The model of a stream: averages over all rows so far, moved by each mini-batch.

use super::drift::DriftWatch;
use crate::data::Frame;
use crate::engine::lfm::direction::Directions;
use crate::engine::lfm::drive::Fitted;
use crate::engine::lfm::field::{Field, Follow, mean};
use crate::engine::lfm::fit::is_used;
use crate::engine::lfm::parameters::{Maximising, Parameters};
use crate::engine::lfm::rows::Rows;
use crate::engine::lfm::statistics::{Gathering, Statistics};
use crate::engine::lfm::unseen::noise_of_unseen;
use crate::structure::ComponentId;
use serde::{Deserialize, Serialize};

/// Rounds of E- and M-steps on a mini-batch.
const ROUNDS: usize = 5;
/// Sweeps of the E-step in each round.
const SWEEPS: usize = 3;
/// Sweeps of the E-step when rows are first seen.
pub(super) const FIRST_SWEEPS: usize = 10;
/// ρ = b^−κ on a stream that does not change, and on one that did.
const CALM: f64 = 0.9;
const RESTLESS: f64 = 0.6;
/// ρ of the mini-batch in which the stream changed.
const SHOCK: f64 = 0.7;
/// Births in one mini-batch: usually, and when the stream changed.
const BIRTHS: usize = 1;
const BIRTHS_AFTER_DRIFT: usize = 8;
/// A direction is worth trying when its variance is this many times that of pure noise.
const MARGIN: f64 = 1.2;
/// Rows of a mini-batch that a new feature must have: fewer are outliers, whose cells a feature of their own would explain at no
/// cost.
const LEAST_ROWS: f64 = 3.0;
/// Guesses among which one is looked for that so many rows have.
const GUESSES: usize = 8;

/// The master model, in the frame.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Master {
    pub frame: Frame,
    /// Averages per row.
    pub statistics: Statistics,
    /// A cache: the M-step of the statistics.
    #[serde(skip)]
    pub parameters: Parameters,
    pub ids: Vec<ComponentId>,
    shard: u32,
    pub next_serial: u32,
    /// N: mass of the rows that the criterion counts.
    pub mass: f64,
    /// b: mini-batches that the averages stand for.
    pub batches: f64,
    pub is_restless: bool,
    pub drift: DriftWatch,
    #[serde(skip)]
    work: Work,
}

/// Buffers of a step.
#[derive(Clone, Debug, Default)]
struct Work {
    field: Field,
    batch: Statistics,
    gathering: Gathering,
    maximising: Maximising,
    directions: Directions,
    residuals: Vec<f64>,
    bounds: Vec<f64>,
}

/// What came and went in a step.
#[derive(Clone, Debug, Default)]
pub(super) struct News {
    pub born: Vec<ComponentId>,
    pub died: Vec<ComponentId>,
    pub has_drifted: bool,
}

/// How a mini-batch is learnt.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step {
    /// Rows of a whole mini-batch.
    pub whole: usize,
    /// T of accelerateShrinkage.
    pub shrink_steps: usize,
    /// Features, at most.
    pub max_features: usize,
    /// Whether drift is looked for.
    pub watches_drift: bool,
}

impl Master {
    /// The model that a fit of the first rows gives.
    pub fn new(frame: Frame, fitted: &Fitted, shard: u32, whole: usize) -> Master {
        let fit = &fitted.fit;
        let mut statistics = fit.gathered(&fitted.rows);
        let mass = statistics.mass();
        statistics.average();
        let k = fit.k() as u32;
        let mut master = Master {
            frame,
            statistics,
            parameters: Parameters::default(),
            ids: (0..k).map(|serial| ComponentId { shard, serial }).collect(),
            shard,
            next_serial: k,
            mass,
            batches: (mass / whole.max(1) as f64).max(1.0),
            is_restless: false,
            drift: DriftWatch::default(),
            work: Work::default(),
        };
        master.rebuild();
        master
    }

    /// Makes the cache anew.
    pub fn rebuild(&mut self) {
        self.parameters.maximise(&self.statistics, &mut self.work.maximising);
    }

    /// Forgets the features that are not marked.
    pub fn retain(&mut self, keep: &[bool]) {
        let mut marks = keep.iter();
        self.ids.retain(|_| *marks.next().unwrap_or(&true));
        self.statistics.retain(keep);
        self.rebuild();
    }

    /// Checks everything a file may have got wrong and rebuilds the cache.
    pub fn restore(&mut self, n_columns: usize) -> Result<(), String> {
        if !self.frame.is_sound(n_columns) {
            return Err("its frame does not match the columns".into());
        }
        if !self.statistics.is_sound(n_columns) || self.statistics.k != self.ids.len() {
            return Err("its averages are inconsistent".into());
        }
        if self.ids.iter().any(|id| id.serial >= self.next_serial) {
            return Err("a feature has a number that was not given yet".into());
        }
        let is_positive = |v: f64| v.is_finite() && v > 0.0;
        if !is_positive(self.mass) || !is_positive(self.batches) || !self.drift.is_sound() {
            return Err("its counts of rows are inconsistent".into());
        }
        self.rebuild();
        let p = &self.parameters;
        let are_finite =
            [&p.weights, &p.offset, &p.precision].iter().all(|values| values.iter().all(|v| v.is_finite()));
        if !are_finite {
            return Err("its averages give no finite parameters".into());
        }
        Ok(())
    }

    /// Bounds of the rows' log-densities before they are learnt from, in the frame.
    pub fn look(&mut self, rows: &Rows) -> &[f64] {
        let Work { field, residuals, bounds, .. } = &mut self.work;
        field.reset(rows.n, &self.parameters.shares);
        field.prepare(rows, &self.parameters);
        (0..FIRST_SWEEPS).for_each(|_| field.sweep(rows, &self.parameters, 0.0));
        field.row_bounds(rows, &self.parameters, residuals, bounds);
        bounds
    }

    /// The noise of cells that are missing, by column, as the latest rows tell it, which are in the data's own units.
    pub fn noise_of_missing(&self, cells: &[f64], weights: &[f64]) -> Vec<f64> {
        let mut framed = Vec::with_capacity(cells.len());
        self.frame.push_rows(cells, &mut framed);
        let rows = Rows::new(&framed, self.frame.n_columns(), Some(weights));
        noise_of_unseen(&rows, &self.parameters, self.mass)
    }

    /// Learns from rows that were just looked at.
    pub fn learn(&mut self, rows: &Rows, cell_scores: &[f64], step: &Step) -> News {
        let mut news = News::default();
        if rows.mass <= 0.0 {
            return news;
        }
        let is_whole = rows.n >= step.whole;
        let part = (rows.n as f64 / step.whole as f64).min(1.0);
        news.has_drifted = is_whole && step.watches_drift && self.drift.sees_drift(cell_scores);
        let rho = if news.has_drifted {
            self.is_restless = true;
            self.batches = 1.0;
            self.mass = 2.0 * rows.mass;
            SHOCK
        } else {
            self.batches += part;
            self.mass += rows.mass;
            part * self.batches.powf(if self.is_restless { -RESTLESS } else { -CALM })
        };
        let mut old = self.statistics.clone();
        self.blend(rows, &mut old, rho, step, ROUNDS, &mut news);
        if is_whole {
            let most = if news.has_drifted { BIRTHS_AFTER_DRIFT } else { BIRTHS };
            for _ in 0..most {
                if self.ids.len() >= step.max_features || !self.try_birth(rows, &mut old, rho, step, &mut news) {
                    break;
                }
            }
        }
        news
    }

    /// Moves the statistics towards those of the rows, whose features are found along the way.
    pub fn blend(&mut self, rows: &Rows, old: &mut Statistics, rho: f64, step: &Step, rounds: usize, news: &mut News) {
        let penalty = 0.5 * rows.d as f64 / self.mass;
        for _ in 0..rounds {
            let shares: Vec<f64> = (0..old.k).map(|k| old.share(k)).collect();
            let Work { field, batch, gathering, maximising, .. } = &mut self.work;
            field.prepare(rows, &self.parameters);
            let follow = Follow { old: &shares, rho };
            field.accelerate(rows, &mut self.parameters, penalty, step.shrink_steps, follow);
            (0..SWEEPS).for_each(|_| field.sweep(rows, &self.parameters, penalty));
            batch.gather(rows, &field.mu, field.k, gathering);
            batch.average();
            self.statistics.blend(old, batch, rho);
            let count = |k: usize| self.mass * self.statistics.share(k);
            let keep: Vec<bool> = (0..field.k).map(|k| is_used(count(k), self.mass)).collect();
            if keep.contains(&false) {
                let is_gone = |(id, kept): (&ComponentId, &bool)| (!kept).then_some(*id);
                news.died.extend(self.ids.iter().zip(&keep).filter_map(is_gone));
                let mut marks = keep.iter();
                self.ids.retain(|_| *marks.next().unwrap_or(&true));
                field.retain(&keep);
                old.retain(&keep);
                self.statistics.retain(&keep);
            }
            self.parameters.maximise(&self.statistics, maximising);
        }
    }

    /// Prepares to blend rows that were not looked at.
    pub fn begin(&mut self, rows: &Rows) {
        let field = &mut self.work.field;
        field.reset(rows.n, &self.parameters.shares);
    }

    /// Begins with given probabilities of features.
    #[cfg(test)]
    pub fn set_field(&mut self, mu: &[f64]) {
        self.work.field.mu.copy_from_slice(mu);
    }

    /// The criterion on these rows alone.
    fn criterion(&mut self, rows: &Rows) -> f64 {
        let Work { field, residuals, bounds, .. } = &mut self.work;
        field.row_bounds(rows, &self.parameters, residuals, bounds);
        let total: f64 = bounds.iter().zip(&rows.weights).map(|(e, w)| e * w).sum();
        // A feature that none of these rows has costs nothing here, and gains nothing.
        let cost = |k: usize| 0.5 * rows.d as f64 * (rows.mass * mean(field.of(k), rows)).max(1.0).ln();
        total - (0..field.k).map(cost).sum::<f64>() - 0.5 * field.k as f64 * rows.mass.max(1.0).ln()
    }

    /// Adds a feature where the residuals stand on two sides, and keeps it when the criterion rises.
    fn try_birth(&mut self, rows: &Rows, old: &mut Statistics, rho: f64, step: &Step, news: &mut News) -> bool {
        let Work { field, directions, .. } = &mut self.work;
        directions.find(rows, field, &self.parameters);
        // The largest eigenvalue of the covariance of n rows of noise: Marchenko and Pastur.
        let noise = directions.mean_spread() * (1.0 + (rows.d as f64 / rows.mass).sqrt()).powi(2);
        let stands_out = |which: &usize| directions.spreads.get(which / 2).is_some_and(|s| *s > MARGIN * noise);
        let mut guesses = (0..GUESSES).take_while(stands_out).filter_map(|which| directions.guess(which, rows));
        let Some(mu) = guesses.find(|mu| rows.mass * mean(&sides(mu), rows) >= LEAST_ROWS) else { return false };
        let before = (old.clone(), self.statistics.clone(), self.parameters.clone(), self.ids.clone());
        let (mu_before, tags) = (self.work.field.mu.clone(), self.work.field.tags.clone());
        let criterion = self.criterion(rows);
        self.extend(rows, &mu, old);
        let mut births = News::default();
        self.blend(rows, old, rho, step, ROUNDS, &mut births);
        let newborn = self.ids.last().copied().filter(|id| id.serial == self.next_serial - 1);
        let has_rows = |master: &Master| {
            let field = &master.work.field;
            field.k > 0 && rows.mass * mean(field.of(field.k - 1), rows) >= LEAST_ROWS
        };
        if let Some(id) = newborn
            && has_rows(self)
            && self.criterion(rows) > criterion
        {
            news.born.push(id);
            news.died.extend(births.died);
            return true;
        }
        (*old, self.statistics, self.parameters, self.ids) = before;
        self.next_serial -= 1;
        let field = &mut self.work.field;
        (field.mu, field.tags, field.k) = (mu_before, tags, self.ids.len());
        false
    }

    /// Adds a feature to the field, to the averages so far (`old`), and to the parameters.
    fn extend(&mut self, rows: &Rows, mu: &[f64], old: &mut Statistics) {
        let (n, d) = (rows.n, rows.d);
        // A guess leaves each row in some doubt; of all rows so far that doubt would say that many more had the feature than
        // these rows do.
        let sides = sides(mu);
        let share = mean(&sides, rows);
        let Work { field, batch, gathering, residuals, .. } = &mut self.work;
        field.residuals(rows, &self.parameters, residuals);
        // w: the residuals' regression on the guess.
        let variance = sides.iter().zip(&rows.weights).map(|(m, w)| w * (m - share).powi(2)).sum::<f64>();
        let along = |j: usize| {
            let each = residuals[j * n..][..n].iter().zip(&sides).zip(&rows.weights);
            each.map(|((r, m), w)| w * r * (m - share)).sum::<f64>() / variance.max(f64::MIN_POSITIVE)
        };
        let weights: Vec<f64> = (0..d).map(along).collect();
        old.extend(share, &weights, &self.parameters);
        field.push(mu);
        let p = &mut self.parameters;
        p.k += 1;
        p.shares.push(share);
        p.offset.iter_mut().zip(&weights).for_each(|(b, w)| *b -= share * w);
        p.weights.extend_from_slice(&weights);
        // What the averages leave unexplained must not be less than what these rows do, or the noise could end below zero.
        batch.gather(rows, &field.mu, field.k, gathering);
        batch.average();
        let (before, now) = (p.misfit(old), p.misfit(batch));
        for j in 0..d {
            if old.counts[j] > 0.0 && batch.counts[j] > 0.0 {
                let lack = now[j] / batch.counts[j] - before[j] / old.counts[j];
                old.q[j] += old.counts[j] * lack.max(0.0);
            }
        }
        self.ids.push(ComponentId { shard: self.shard, serial: self.next_serial });
        self.next_serial += 1;
    }
}

/// The side that a guess puts each row on.
fn sides(mu: &[f64]) -> Vec<f64> {
    mu.iter().map(|m| f64::from(u8::from(*m > 0.5))).collect()
}
