//! Models from a ring that holds every row: the first ones, and later a few that are right where components overlap.
//!
//! Which component a row belongs to is settled when it comes, and where components overlap the first assignments are
//! wrong and never mended. So while the ring can hold every row, now and then the components of a ring fit take the place
//! of those there are, when they predict rows better, each judged by the others.

use super::DirichletMixture;
use super::component::Comp;
use super::core::Core;
use super::predictive::Shared;
use super::prior::{Prior, SCALES, first_strengths};
use crate::data::Frame;
use crate::engine::ofab::{View, distinct_rows};
use crate::engine::parts::floors;
use crate::engine::ring_fit::{FitSize, Fitted, RingFit, price, refine, ring_fit};
use crate::family::{Family, FullGaussian, Moments};
use crate::num;
use crate::structure::{ComponentId, Happening};

/// Rows of which the first model is made; until the warm-up begins it is made anew whenever they have doubled.
const FIRST_FIT: u64 = 2;
/// Growth of the rows between two revisions: so much where the ring can hold that many, or less, but no less than double.
const MOST_GROWTH: u64 = 4;
const LEAST_GROWTH: u64 = 2;
/// Share of their rows that components share on average for another revision.
const OVERLAPPING: f64 = 0.005;
/// Rows the ring holds at most for a revision: so many, or more when there are many components.
const LARGEST_RING: usize = 16_000;
const ROWS_PER_COMPONENT: usize = 64;
const MOST_BUFFERED: usize = 64_000;
/// Components that a fit begins with: for each that was there, besides, and at most one for so many rows.
const STARTS_PER_COMPONENT: usize = 4;
const SPARE_STARTS: usize = 16;
const ROWS_PER_START: usize = 8;
/// A chance to match two components: squared distance per column between old and new mean.
const SAME_COMPONENT: f64 = 4.0;
/// Sets the random numbers of fits apart from others'.
const FIT_STREAM: u64 = 1 << 34;

/// Rows of the ring in the frame, without holes; equal ones are one row of their weight.
struct Distinct {
    rows: Vec<f64>,
    weights: Vec<f64>,
    floor: Vec<f64>,
}

impl Distinct {
    /// What a component must gain by its rows.
    fn price(&self) -> f64 {
        price(FullGaussian.most_free(self.floor.len()), self.weights.len(), self.weights.iter().sum())
    }
}

impl DirichletMixture {
    /// Rows after which the first model is made.
    pub(super) fn first_model(&self) -> u64 {
        match self.pools() {
            true => FIRST_FIT.min(self.milestones()[0]),
            false => self.milestones()[0],
        }
    }

    /// Rows until the model is made anew or revised; none when that is over.
    pub(super) fn next_model_in(&self) -> Option<u64> {
        let [early, warm] = self.milestones();
        let mut fit = self.first_model();
        while fit <= self.n_told {
            fit *= 2;
        }
        let all = [fit.min(early), early, warm, self.next_revision];
        all.into_iter().filter_map(|m| m.checked_sub(self.n_told)).filter(|left| *left > 0).min()
    }

    /// Makes the model anew, or revises it, when it is time.
    pub(super) fn renew_model(&mut self) {
        let [early, warm] = self.milestones();
        if self.n_told == early || self.n_told == warm {
            self.start_over();
        } else if self.n_told < early && self.n_told.is_power_of_two() && self.n_told >= self.first_model() {
            self.begin_with_fit();
        } else if self.n_told == self.next_revision
            && let (Some(mut core), Some(frame)) = (self.core.take(), self.frame.clone())
        {
            let (rows, weights) = self.ring.recent(self.ring.len());
            self.revise(&mut core, &frame, &rows, weights);
            self.core = Some(core);
        }
    }

    fn distinct(&self, frame: &Frame, rows: &[f64], weights: Vec<f64>) -> Distinct {
        let key = (self.seed, u64::from(self.shard), self.n_told);
        let view = View::heeding(&self.work.interrupt, frame, rows, weights, &[], key);
        let (framed, weights, _) = distinct_rows(view.block.rows(), self.n_columns, &view.weights);
        Distinct { rows: framed, weights, floor: floors(rows, frame) }
    }

    fn fitted(&self, distinct: &Distinct, n_before: usize) -> RingFit {
        let starts = STARTS_PER_COMPONENT * n_before + SPARE_STARTS;
        let size = FitSize {
            starts: starts.min(distinct.weights.len() / ROWS_PER_START).max(1),
            most: self.settings.max_components,
            price: distinct.price(),
        };
        let mut rng = num::stream(self.seed, u64::from(self.shard) ^ FIT_STREAM, self.n_told);
        ring_fit(FullGaussian, &distinct.rows, &distinct.weights, &distinct.floor, size, &mut rng, &self.work.interrupt)
    }

    /// Puts better components in the place of these, if the rows of the ring, which are all there were, show any.
    pub(super) fn revise(&mut self, core: &mut Core, frame: &Frame, rows: &[f64], weights: Vec<f64>) {
        let distinct = self.distinct(frame, rows, weights);
        let Distinct { rows, weights, floor } = &distinct;
        let owners: Vec<usize> = rows.chunks_exact(self.n_columns).map(|row| core.likeliest(row)).collect();
        let refined = refine(rows, weights, floor, &owners, distinct.price(), &self.work.interrupt);
        let fitted = self.fitted(&distinct, core.comps.len());
        core.begin_predicting(floor.clone());
        // Another start of the same rows may differ by chance by as much as a component costs.
        let best = if fitted.value > refined.value + distinct.price() {
            core.replace_all(&fitted, rows, weights, self.found_by());
            fitted
        } else {
            refined
        };
        if best.overlap <= OVERLAPPING {
            // Rows that belong to one component each need not be shared.
            core.comps.iter_mut().for_each(|comp| comp.shared = None);
        }
        self.pooling.begin(&best.logs, weights);
        core.renew_predictions();
        core.renew_whole(&mut self.pooling);
        self.plan_revision(best.overlap, core.comps.len());
    }

    /// How components of a fit made now are marked. What fades is looked at by the rows that are left, and by nothing else.
    fn found_by(&self) -> Option<(u32, u64)> {
        self.settings.memory.is_none().then_some((self.shard, self.n_told))
    }

    fn plan_revision(&mut self, overlap: f64, k: usize) {
        let largest = match self.settings.buffer.is_none() && self.settings.memory.is_none() {
            true => (ROWS_PER_COMPONENT * k).clamp(LARGEST_RING, MOST_BUFFERED),
            false => self.ring.capacity(),
        };
        let next = (MOST_GROWTH * self.n_told).min(largest as u64);
        let is_due =
            next >= LEAST_GROWTH * self.n_told && overlap > OVERLAPPING && self.n_told as usize <= self.ring.len();
        self.next_revision = if is_due { next } else { 0 };
        if is_due {
            self.ring.grow(next as usize);
        }
    }

    /// A model for the first few rows: components that predict each other's rows, under a prior that they suggest.
    fn begin_with_fit(&mut self) {
        let (rows, weights) = self.ring.recent(self.ring.len());
        let d = self.n_columns;
        let frame = Frame::of_rows(&rows, d, self.scaling);
        let distinct = self.distinct(&frame, &rows, weights);
        let fit = self.fitted(&distinct, 0);
        let scale = (fit.target.iter().sum::<f64>() / d as f64).clamp(SCALES[SCALES.len() - 1], SCALES[0]);
        let asked = &self.settings.dirichlet;
        let strength = first_strengths(d)[1];
        let Ok(prior) = Prior::new(d, asked.prior_scale.unwrap_or(scale), strength, asked) else { return };
        let mut core = self.blank_core(prior);
        core.work.comp.puts_off = false;
        core.n_learnt = self.n_told;
        core.begin_predicting(distinct.floor.clone());
        core.replace_all(&fit, &distinct.rows, &distinct.weights, self.found_by());
        self.pooling.begin(&fit.logs, &distinct.weights);
        core.renew_predictions();
        core.renew_whole(&mut self.pooling);
        core.news.clear();
        self.tempo.change_frame();
        (self.core, self.frame) = (Some(core), Some(frame));
    }
}

impl Core {
    /// Takes a fit's components in place of its own; those that continue an old one have its name.
    fn replace_all(&mut self, fit: &RingFit, rows: &[f64], weights: &[f64], found_by: Option<(u32, u64)>) {
        let d = self.prior.clustering.n_columns();
        let mut owned: Vec<Moments> = fit.components.iter().map(|c| Moments::empty_at(&c.moments.mean)).collect();
        for ((row, weight), &owner) in rows.chunks_exact(d).zip(weights).zip(&fit.owners) {
            owned[owner].add_row(row, *weight);
        }
        let mut old = std::mem::take(&mut self.comps);
        for (Fitted { moments, worth, .. }, owned) in fit.components.iter().zip(owned) {
            let (id, born) = self.continued(&mut old, &moments.mean);
            let owned = if owned.count > 0.0 { owned } else { moments.clone() };
            let mut comp = Comp::new(id, owned, &self.prior, born, &mut self.work.comp);
            comp.worth = Some(*worth);
            comp.shared = found_by.map(|found_by| Shared { found_by, moments: moments.clone() });
            self.comps.push(comp);
        }
        self.news.extend(old.iter().map(|gone| (gone.id, Happening::Died)));
        self.mass = self.comps.iter().map(|c| c.moments.count).sum();
        self.schedule();
    }

    /// The name of the component that had its mean here, and when it was born; or those of a newborn.
    fn continued(&mut self, old: &mut Vec<Comp>, mean: &[f64]) -> (ComponentId, u64) {
        let mut z = vec![0.0; mean.len()];
        let mut apart = |comp: &Comp| {
            comp.gauss.whitened(mean, &mut z);
            z.iter().map(|v| v * v).sum::<f64>() / mean.len() as f64
        };
        let distances = (0..old.len()).map(|k| (apart(&old[k]), k)).filter(|(distance, _)| *distance < SAME_COMPONENT);
        match distances.min_by(|a, b| a.0.total_cmp(&b.0)) {
            Some((_, k)) => {
                let comp = old.swap_remove(k);
                (comp.id, comp.born)
            }
            None => {
                let id = self.new_id();
                self.news.push((id, Happening::Born));
                (id, self.n_learnt)
            }
        }
    }
}
