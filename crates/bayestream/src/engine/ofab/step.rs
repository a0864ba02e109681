//! One batch: E-step, births, M-step, probation and deaths.

use super::{Comp, Ofab};
use crate::engine::StepReport;
use crate::engine::parts::{Gather, Sums, accumulate};
use crate::family::{Family, GaussScratch, Moments};
use crate::interrupt::Interrupt;
use crate::structure::{Happening, Posterior, Predictions, RowBlock};

/// A density is refreshed when this share of its count is new.
const REFRESH: f64 = 0.02;
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
    pub(super) block: RowBlock,
    pub(super) posterior: Posterior,
    gather: Gather,
    pub(super) best: Vec<(f64, u32)>,
    pub(super) least: Vec<f64>,
    /// Rows that births have learned already.
    pub(super) learned: Vec<LearnedRow>,
    sum: Vec<f64>,
    scatter: Vec<f64>,
    whitened: Vec<f64>,
    gauss: GaussScratch,
    pub(super) predictions: Predictions,
    predicted: Vec<f64>,
    /// Σ w log(1 − q) per component, for the vanishing test.
    pub(super) log_others: Vec<f64>,
    /// What long work asks whether to stop.
    pub(super) interrupt: Interrupt,
}

/// A row of the block that was fitted with others, and its log-densities given them: under the mixture, and with heavy
/// tails.
#[derive(Clone, Copy, Debug)]
pub(super) struct LearnedRow {
    pub at: usize,
    pub student: f64,
    pub heavy: f64,
}

impl Work {
    fn leave_out_learned(&mut self) {
        for row in &self.learned {
            self.posterior.q.iter_mut().skip(row.at).step_by(self.posterior.stride).for_each(|q| *q = 0.0);
        }
    }
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
        self.score(&mut work, report);
        if self.births(&mut work, weights) {
            self.e_step(&mut work);
        }
        self.weigh_pool(&work, weights);
        work.posterior.normalise(self.comps.len(), work.block.n_rows());
        work.leave_out_learned();
        self.forget(batch_mass);
        self.m_step(&mut work, weights, report);
        if self.settings.drift && self.may_vanish() {
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
    fn score(&mut self, work: &mut Work, report: &mut StepReport) {
        let Work { block, posterior, predictions, predicted, .. } = work;
        predicted.clear();
        self.predict(block, posterior, predictions, predicted);
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

    /// Lets the rows say how the pooled densities predicted them; those that births have learned, given one another.
    fn weigh_pool(&mut self, work: &Work, weights: Option<&[f64]>) {
        let first = self.n_seen - work.block.n_rows() as u64;
        let ahead = &work.predictions.logs;
        if work.learned.is_empty() || ahead[0].is_empty() {
            return self.pooling.learn(ahead, ahead, weights, first);
        }
        let mut given_others = ahead.clone();
        for row in &work.learned {
            given_others[0][row.at] = row.student;
            given_others[1][row.at] = row.heavy;
        }
        self.pooling.learn(ahead, &given_others, weights, first);
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
        let first = self.n_seen - n as u64;
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
                comp.turns.pass();
                continue;
            }
            comp.turns.take(q, first);
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
            self.move_on(k);
        }
    }

    /// Ends probations and lives.
    fn life_and_death(&mut self) {
        let now = self.n_seen;
        let probation = self.probation();
        let total = self.total_mass();
        // Its share is that of the rows since it came: late clusters have few of all.
        let least_share = self.settings.least_share(self.comps.len()) / 2.0;
        let is_light = |c: &Comp| c.mass < least_share * total.min((now - c.born) as f64);
        let mut news = Vec::new();
        for comp in self.comps.iter_mut().filter(|c| !c.graduated) {
            let aged = now - comp.born >= probation;
            if comp.hits >= 8.0 || (comp.hits >= 3.0 && aged) {
                comp.graduated = true;
                comp.seen(now);
                news.push((comp.id, Happening::Born));
            }
        }
        let n_before = self.comps.len();
        if n_before > 1 {
            let heaviest = self.comps.iter().map(|c| c.mass).fold(0.0, f64::max);
            self.comps.retain(|c| {
                let aged = now - c.born >= probation;
                let dies = aged && c.mass < heaviest && (!c.graduated || is_light(c));
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
