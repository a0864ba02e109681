//! One batch: E-step, births, M-step, probation and deaths.

use super::Ofab;
use super::component::Comp;
use super::watch::MeanWatch;
use crate::engine::StepReport;
use crate::engine::parts::{Gather, Sums, accumulate};
use crate::family::{Family, Gauss, GaussScratch, Moments, Prior, VARIANCE_FLOOR};
use crate::interrupt::Interrupt;
use crate::structure::{Happening, Posterior, Predictions, RowBlock};

/// A density is refreshed when this share of its count is new.
const REFRESH: f64 = 0.02;
/// Mass a newborn component starts with, and the count of its statistics.
const BIRTH_MASS: f64 = 5.0;
const BIRTH_COUNT: f64 = 1e-3;
/// Standard deviations beyond which a row is unexplained.
const NOVEL_SD: f64 = 4.5;
const MOST_ON_PROBATION: usize = 12;
/// How much faster than pure accumulation overlapping components forget, in the fast and the slow statistics.
const FORGET_FAST: f64 = 4.0;
const FORGET_SLOW: f64 = 1.25;
/// Overlap at which forgetting is at full strength.
pub(super) const FULL_OVERLAP: f64 = 0.05;
/// Mass below which a batch does not touch a component.
const UNTOUCHED: f64 = 1e-7;

/// Buffers of a step; not part of the state.
#[derive(Clone, Debug, Default)]
pub(super) struct Work {
    block: RowBlock,
    posterior: Posterior,
    gather: Gather,
    best: Vec<(f64, u32)>,
    least: Vec<f64>,
    sum: Vec<f64>,
    scatter: Vec<f64>,
    whitened: Vec<f64>,
    gauss: GaussScratch,
    predictions: Predictions,
    predicted: Vec<f64>,
    /// Σ w log(1 − q) per component, for the vanishing test.
    pub(super) log_others: Vec<f64>,
    /// What long work asks whether to stop.
    pub(super) interrupt: Interrupt,
}

/// The distance whose Wilson–Hilferty normal score is `NOVEL_SD`.
fn novelty_threshold(n_observed: usize) -> f64 {
    let d = n_observed as f64;
    let v = 2.0 / (9.0 * d);
    d * (1.0 - v + NOVEL_SD * v.sqrt()).powi(3)
}

/// A young component's covariance is uncertain: its distances are shrunk towards those of the predictive density.
fn caution(comp: &Comp, d: usize) -> f64 {
    (comp.fast.count - d as f64 - 2.0).max(1.0) / (comp.fast.count + 1.0)
}

impl<F: Family> Ofab<F> {
    /// Learns from rows that are already in the ring and counted.
    pub(super) fn step(&mut self, rows: &[f64], weights: Option<&[f64]>, report: &mut StepReport) {
        let mut work = std::mem::take(&mut self.work);
        if let Some(frame) = &self.frame {
            work.block.load_with(self.n_columns, |into| frame.push_rows(rows, into));
        }
        self.tempo.push(work.block.rows(), self.n_columns);
        let batch_mass = weights.map_or(work.block.n_rows() as f64, |w| w.iter().sum());
        self.e_step(&mut work);
        self.score(&mut work, weights, report);
        if self.births(&mut work) {
            self.e_step(&mut work);
        }
        work.posterior.normalise(self.comps.len(), work.block.n_rows());
        self.forget(batch_mass);
        self.m_step(&mut work, weights, report);
        if self.settings.drift {
            self.vanish(&work.log_others, batch_mass);
        }
        self.life_and_death();
        self.work = work;
    }

    /// Log-joints under the tilted weights, not yet normalised.
    fn e_step(&self, work: &mut Work) {
        let log_total = self.total_mass().ln();
        let parts = self.comps.iter().map(|c| (c.log_tilted_mass() - log_total, &c.gauss)); // [OFAB] (16)
        work.posterior.log_joint(&mut work.block, parts);
    }

    /// Scores rows by the model that has not seen them.
    fn score(&mut self, work: &mut Work, weights: Option<&[f64]>, report: &mut StepReport) {
        let Work { block, posterior, predictions, predicted, .. } = work;
        predicted.clear();
        self.predict(block, posterior, weights, predictions, predicted);
        let Some(frame) = &self.frame else { return };
        let jacobian = frame.log_jacobian();
        let whole = block.is_whole();
        for (i, log_density) in predicted.iter().enumerate() {
            let jacobian = if whole { jacobian } else { frame.log_jacobian_of(block.row(i)) };
            self.scores.push(log_density + jacobian);
            report.log_score += log_density + jacobian;
            report.n_scored += 1;
        }
    }

    /// Gives rows that no component explains components of their own, before the M-step can smear others over them.
    /// The log-joints must not be normalised yet.
    fn births(&mut self, work: &mut Work) -> bool {
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
        let threshold = novelty_threshold(d);
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
        let mut novel: Vec<(f64, usize)> = suspects
            .into_iter()
            .filter_map(|i| {
                let (distance, n_observed) = self.least_distance(&mut work.block, i);
                (n_observed > 0 && distance > novelty_threshold(n_observed)).then_some((distance, i))
            })
            .collect();
        novel.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let mut born = false;
        let mut young = self.comps.iter().filter(|c| !c.graduated).count();
        while let Some(&(_, at)) = novel.first() {
            if young >= MOST_ON_PROBATION || !self.make_room() {
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
        let established = |c: &&Comp| c.graduated && c.mass / total >= self.settings.delta;
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

    /// Fades everything, when a finite memory was asked for.
    fn forget(&mut self, batch_mass: f64) {
        let Some(memory) = self.settings.memory else { return };
        let keep = (-batch_mass / memory).exp();
        for comp in &mut self.comps {
            comp.mass *= keep;
            comp.fast.count *= keep;
            comp.slow.count *= keep;
        }
        self.pooling.fade(keep);
    }

    fn m_step(&mut self, work: &mut Work, weights: Option<&[f64]>, report: &mut StepReport) {
        let n = work.block.n_rows();
        let age = (self.n_seen - self.regime_start).max(1) as f64;
        let step = (n as f64 / age).min(0.2);
        // A CUSUM of evidence times a worth crosses where one of evidence crosses the threshold over that worth.
        let threshold = self.alarm_threshold() / self.tempo.row_worth();
        work.log_others.clear();
        let mut moved = Vec::new();
        for (k, comp) in self.comps.iter_mut().enumerate() {
            let q = &work.posterior.q[k * work.posterior.stride..][..n];
            let centre = &comp.fast.mean;
            let got =
                accumulate(&mut work.gather, &mut work.block, q, weights, &comp.gauss, centre, self.settings.drift);
            work.log_others.push(got.log_others);
            let mass = got.mass;
            if mass < UNTOUCHED {
                continue;
            }
            comp.mass += mass;
            comp.hits += mass;
            let overlapping = (comp.overlap / FULL_OVERLAP).min(1.0);
            comp.overlap += (0.02 * mass).min(0.2) * (got.shared / mass - comp.overlap);
            if self.settings.drift && comp.graduated {
                let alarm = comp.watch.notice(
                    &comp.gauss,
                    &comp.fast.mean,
                    comp.fast.count,
                    mass,
                    got.sum,
                    threshold,
                    &mut work.whitened,
                );
                if alarm {
                    moved.push(k);
                }
            }
            let keep = |speed: f64| 1.0 - (speed - 1.0) * overlapping * step;
            absorb_shifted(
                &mut comp.slow,
                keep(FORGET_SLOW),
                mass,
                &got,
                &comp.fast.mean,
                &mut work.sum,
                &mut work.scatter,
            );
            comp.fast.absorb(keep(FORGET_FAST), mass, got.sum, got.scatter);
            comp.fast.count = comp.fast.count.min(comp.watch.memory);
            comp.slow.count = comp.slow.count.min(comp.watch.memory);
            comp.watch.relax();
            comp.stale += mass;
            if comp.stale > REFRESH * comp.fast.count {
                report.n_repairs += comp.refresh(self.family, &mut work.gauss).n_jittered;
            }
        }
        for k in moved {
            self.follow(k);
        }
    }

    /// Ends probations and lives.
    fn life_and_death(&mut self) {
        let now = self.n_seen;
        let probation = self.probation();
        let total = self.total_mass();
        let least = total * self.settings.delta / 2.0;
        let mut news = Vec::new();
        for comp in self.comps.iter_mut().filter(|c| !c.graduated) {
            let aged = now - comp.born >= probation;
            if comp.hits >= 8.0 || (comp.hits >= 3.0 && aged) {
                comp.graduated = true;
                comp.since = now;
                news.push((comp.id, Happening::Born));
            }
        }
        let n_before = self.comps.len();
        if n_before > 1 {
            let heaviest = self.comps.iter().map(|c| c.mass).fold(0.0, f64::max);
            self.comps.retain(|c| {
                let aged = now - c.born >= probation;
                let dies = aged && c.mass < heaviest && (!c.graduated || c.mass < least);
                if dies && c.graduated {
                    news.push((c.id, Happening::Died));
                }
                !dies
            });
        }
        let graduated = news.iter().any(|(_, what)| *what == Happening::Born);
        for (id, what) in news {
            self.log(id, what);
        }
        if graduated {
            self.after_birth();
        }
    }
}

/// Adds sums taken about `centre` to statistics with a mean of their own.
fn absorb_shifted(
    moments: &mut Moments,
    keep: f64,
    mass: f64,
    got: &Sums<'_>,
    centre: &[f64],
    sum: &mut Vec<f64>,
    scatter: &mut Vec<f64>,
) {
    let d = centre.len();
    sum.clear();
    scatter.clear();
    scatter.extend_from_slice(got.scatter);
    sum.extend((0..d).map(|j| got.sum[j] + mass * (centre[j] - moments.mean[j])));
    for i in 0..d {
        let di = centre[i] - moments.mean[i];
        for j in 0..=i {
            let dj = centre[j] - moments.mean[j];
            scatter[i * d + j] += got.sum[i] * dj + di * got.sum[j] + mass * di * dj;
        }
    }
    moments.absorb(keep, mass, sum, scatter);
}
