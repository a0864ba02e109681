//! The step of `gmm/dp`: rows in batches, each to its likeliest component.
//!
//! Deviates: settled components are scored as they were when a few percent of their rows were fewer, and a whole
//! batch at a time; young ones, and rows that may found new ones, row by row and exactly.

use super::component::Comp;
use super::core::Core;
use super::halves::{Gathered, HalvesScratch};
use super::predictive::Foresight;
use crate::family::WishartPosterior;
use crate::num::{self, Lanes, Whitener};

/// Standard deviations beyond which a row is far from a component.
const FAR_SD: f64 = 4.0;

/// Buffers of a step; not part of the state.
#[derive(Clone, Debug, Default)]
pub(super) struct LazyWork {
    lanes: Lanes,
    scores: Vec<f64>,
    log_new: Vec<f64>,
    /// Components that are scored row by row once a row of this batch has changed them, with their scores before.
    young: Vec<usize>,
    changed: Vec<bool>,
    young_scores: Vec<f64>,
    best: Vec<(f64, usize)>,
    index: Vec<Vec<u32>>,
    mass: Vec<Vec<f64>>,
    empty: Whitener,
    halves: HalvesScratch,
    gathered: Gathered,
    /// Young components that changed in this batch: their log masses plus log-densities of a row, and the numbers of
    /// those that were there before.
    late: Vec<f64>,
    outdated: Vec<usize>,
    /// Scores of rows at the distance from which they are far.
    least: Vec<f64>,
    pub foresight: Foresight,
}

/// Squared distance, in its component's own measure, beyond which a row is far: that of `FAR_SD` by the normal score of
/// Wilson and Hilferty.
fn far(n_columns: usize) -> f64 {
    let d = n_columns as f64;
    let v = 2.0 / (9.0 * d);
    d * (1.0 - v + FAR_SD * v.sqrt()).powi(3)
}

/// `shift` plus the log predictive density of every row.
fn log_predictive(posterior: &WishartPosterior, whitener: &Whitener, lanes: &Lanes, shift: f64, out: &mut [f64]) {
    num::mahalanobis(lanes, whitener, out);
    let out = &mut out[..lanes.n_padded()];
    let (a, b, s) = posterior.predictive_terms();
    // Small distances lose digits of ln(1 + x) that are far below the noise of an assignment.
    out.iter_mut().for_each(|v| *v = 1.0 + s * *v);
    num::ln_slice(out);
    out.iter_mut().for_each(|v| *v = shift + a - b * *v);
}

impl Core {
    /// Learns from whole rows, which have been foreseen.
    pub fn learn_batch(&mut self, rows: &[f64], weights: Option<&[f64]>, work: &mut LazyWork) -> u32 {
        let d = self.prior.clustering.n_columns();
        let n = rows.len() / d;
        let weight_of = |i: usize| weights.map_or(1.0, |w| w[i]);
        let batch_mass = weights.map_or(n as f64, |w| w.iter().sum());
        work.lanes.load(rows, d);
        let stride = num::column_stride(n);
        let choice = self.concentration.choice(self.comps.len(), self.mass);
        let k_before = self.comps.len();
        work.young.clear();
        work.young.extend((0..k_before).filter(|&k| self.comps[k].is_young()));
        work.changed.clear();
        work.changed.resize(work.young.len(), false);
        let shares = |k: &usize| self.comps[*k].shared.is_some() && !self.comps[*k].is_young();
        work.foresight.begin((0..k_before).filter(shares));
        let mut grown = 0.0;
        work.scores.resize((k_before + 1) * stride, 0.0);
        for (comp, scores) in self.comps.iter().zip(work.scores.chunks_exact_mut(stride)) {
            let shift = choice.log_old + comp.moments.count.ln();
            log_predictive(&comp.posterior, &comp.whitener, &work.lanes, shift, scores);
        }
        let far = far(d);
        let least = |c: &Comp| {
            let log_predictive = c.posterior.log_predictive_at(far / (c.posterior.nu() - d as f64 - 1.0).max(1.0));
            choice.log_old + c.moments.count.ln() + log_predictive
        };
        work.least.clear();
        work.least.extend(self.comps.iter().map(least));
        self.empty.whitener(&mut self.work.comp.wishart, &mut work.empty);
        let last = k_before * stride;
        log_predictive(&self.empty, &work.empty, &work.lanes, choice.log_new, &mut work.scores[last..]);
        work.log_new.clear();
        work.log_new.extend_from_slice(&work.scores[last..last + n]);
        work.best.clear();
        work.best.resize(n, (f64::NEG_INFINITY, usize::MAX));
        work.young_scores.clear();
        for (k, scores) in work.scores.chunks_exact(stride).enumerate().take(k_before) {
            if self.comps[k].is_young() {
                work.young_scores.extend_from_slice(scores);
                continue;
            }
            for (best, &score) in work.best.iter_mut().zip(scores) {
                if score > best.0 {
                    *best = (score, k);
                }
            }
        }
        work.index.iter_mut().for_each(Vec::clear);
        work.mass.iter_mut().for_each(Vec::clear);
        while work.index.len() < self.comps.len() {
            work.index.push(Vec::new());
            work.mass.push(Vec::new());
        }
        for i in 0..n {
            let row = &rows[i * d..(i + 1) * d];
            let weight = weight_of(i);
            let (mut best, mut winner) = work.best[i];
            work.late.clear();
            work.outdated.clear();
            for (at, &k) in work.young.iter().enumerate() {
                let score = match work.changed[at] {
                    false => work.young_scores[at * stride + i],
                    true => {
                        let comp = &self.comps[k];
                        let log_predictive = comp.posterior.log_predictive(row, &mut self.work.comp.wishart);
                        work.late.push(comp.moments.count.ln() + log_predictive);
                        if k < k_before {
                            work.outdated.push(k);
                        }
                        choice.log_old + comp.moments.count.ln() + log_predictive
                    }
                };
                if score > best {
                    (best, winner) = (score, k);
                }
            }
            if !work.late.is_empty() {
                work.foresight.amend(i, &work.outdated, &work.late, grown);
            }
            self.n_learnt += 1;
            if work.log_new[i] > best || winner == usize::MAX {
                if self.comps.len() >= self.settings.max_components {
                    // Making room renumbers components: what is left of the batch is learnt row by row.
                    self.add_assigned(rows, work, batch_mass);
                    self.n_learnt -= 1;
                    for (at, row) in rows.chunks_exact(d).enumerate().skip(i) {
                        self.learn_row_and_refresh(row, weight_of(at));
                    }
                    return 0;
                }
                self.birth(row, weight);
                grown += weight;
                work.young.push(self.comps.len() - 1);
                work.changed.push(true);
                work.index.push(Vec::new());
                work.mass.push(Vec::new());
            } else if let Some(at) = work.young.iter().position(|&k| k == winner) {
                work.changed[at] = true;
                grown += weight;
                let comp = &mut self.comps[winner];
                comp.claimed += weight;
                comp.add_row(row, weight, &self.prior, &mut self.work.comp);
            } else {
                work.index[winner].push(i as u32);
                work.mass[winner].push(weight);
                if self.comps[winner].shared.is_some() {
                    work.foresight.take(i, weight, winner, best < work.least[winner]);
                }
            }
            self.mass += weight;
        }
        self.add_assigned(rows, work, batch_mass)
    }

    /// Learns from rows of which some have missing cells, one by one.
    pub fn learn_holed(&mut self, rows: &[f64], weights: Option<&[f64]>) {
        let d = self.prior.clustering.n_columns();
        self.fade(weights.map_or((rows.len() / d) as f64, |w| w.iter().sum()));
        for (i, row) in rows.chunks_exact(d).enumerate() {
            self.learn_row_and_refresh(row, weights.map_or(1.0, |w| w[i]));
        }
    }

    /// Learns from one row, and catches the component that took it up for the kernels.
    fn learn_row_and_refresh(&mut self, row: &[f64], weight: f64) {
        let k = self.comps.len();
        self.learn_row(row, weight);
        let taker = self.work.shares.iter().position(|share| *share > 0.0);
        if let Some(taker) = taker.filter(|&taker| taker < k) {
            self.comps[taker].refresh(&self.prior, &mut self.work.comp);
        }
    }

    /// Adds what was assigned to settled components.
    fn add_assigned(&mut self, rows: &[f64], work: &mut LazyWork, batch_mass: f64) -> u32 {
        self.fade(batch_mass);
        work.foresight.share_out(&mut self.comps);
        let mut n_repairs = 0;
        for (k, comp) in self.comps.iter_mut().enumerate() {
            let (index, mass) = (&work.index[k], &work.mass[k]);
            if index.is_empty() {
                continue;
            }
            match &mut comp.halves {
                Some(halves) => {
                    halves.add(&mut comp.moments, rows, index, mass, &self.prior, &mut work.halves);
                }
                None => {
                    work.gathered.rows(rows, index, mass, &comp.moments.mean);
                    comp.moments.add_scaled(1.0, &work.gathered.moments);
                }
            }
            let added: f64 = mass.iter().sum();
            comp.claimed += added;
            comp.stale += added;
            if comp.is_stale() {
                n_repairs += comp.refresh(&self.prior, &mut self.work.comp);
            }
        }
        for (&k, _) in work.young.iter().zip(&work.changed).filter(|(_, changed)| **changed) {
            self.comps[k].pack(&mut self.work.comp.wishart);
        }
        if self.settings.memory.is_some() {
            self.mass = self.comps.iter().map(|c| c.moments.count).sum();
        }
        n_repairs
    }

    /// Older rows fade, when a finite memory was asked for.
    fn fade(&mut self, batch_mass: f64) {
        let Some(memory) = self.settings.memory else { return };
        let keep = (-batch_mass / memory).exp();
        for comp in &mut self.comps {
            comp.fade(keep);
            comp.stale = comp.moments.count;
            if let Some(halves) = &mut comp.halves {
                halves.scale(keep);
            }
        }
        self.mass *= keep;
    }
}
