//! When and how the model is made anew or reorganised.

use super::component::Comp;
use super::divide::{Terms, divide};
use super::refine::{delete_and_refit, polish};
use super::shrink::{Move, PairCosts, shrink};
use super::step::FULL_OVERLAP;
use super::turns::Turns;
use super::view::{View, distinct_rows};
use super::{BASE_BUFFER, LARGEST_BUFFER, Ofab};
use crate::data::Frame;
use crate::engine::parts::{Part, floors};
use crate::engine::ring_fit::{FitSize, Fitted, RingFit, WIDE, price, ring_fit};
use crate::family::{Family, Gauss, Prior};
use crate::num;
use crate::structure::Happening;

/// Share of the FIC penalty that counts in the master: it only loses what is near-degenerate.
const MASTER_FRACTION: f64 = 0.1;
/// Structure is looked at again when the regime has grown by this factor.
const GROWTH: f64 = 1.25;
/// Late in a long regime there is less to find.
const LATE: f64 = 30_000.0;
const LATE_GROWTH: f64 = 1.5;
/// Ring rows per component and free parameter from which refits of few components are trusted.
const POLISH_ROWS: f64 = 2.0;
const DELETE_ROWS: f64 = 10.0;
/// Share of their rows that components must share on average for further refits.
const OVERLAPPING: f64 = 0.02;
/// Components that a fit begins with: for each that was there, besides, and at most one for so many rows.
const STARTS_PER_COMPONENT: usize = 2;
const SPARE_STARTS: usize = 32;
const ROWS_PER_START: usize = 8;
/// Rows for each component from which their number is trusted: a fit of fewer is followed by one of twice the rows. And
/// the most rows that the ring ever holds unless it is asked to.
const ROWS_PER_COMPONENT: usize = 64;
const MOST_BUFFERED: usize = 64_000;
/// Share of the rows since its birth that a component must have to be one that takes over.
const HEAVY: f64 = 0.25;
/// Rows the ring should hold per free parameter of the model.
const ROWS_PER_PARAMETER: f64 = 2.0;
/// Components that keep to themselves are never judged on more rows than this.
const MOST_NEEDED: usize = 10_000;
/// Growth of a component after which parts are looked for again in a first regime; after a change haste pays.
const RETRY_SPLIT: f64 = 1.7;
/// Share of a component's rows that must be at hand to divide it.
const MOST_OF: f64 = 0.5;
/// A chance to match two components: squared distance per column between old and new mean.
const SAME_COMPONENT: f64 = 4.0;

impl<F: Family> Ofab<F> {
    /// Ring rows of the present regime, ready for judging moves.
    pub(super) fn view(&self) -> Option<View> {
        self.view_of(usize::MAX)
    }

    /// The same of no more than the latest `most` rows.
    fn view_of(&self, most: usize) -> Option<View> {
        let frame = self.frame.as_ref()?;
        let n = ((self.n_seen - self.ring_from) as usize).min(most);
        let (rows, weights) = self.ring.recent(n);
        let has_weight = weights.iter().any(|w| *w > 0.0);
        has_weight.then(|| {
            let mut view = View::heeding(&self.work.interrupt, frame, &rows, weights, &self.comps, self.key());
            view.complete = self.regime_start > 0 && n <= self.ring.len() && n < most;
            view
        })
    }

    pub(super) fn key(&self) -> (u64, u64, u64) {
        (self.seed, u64::from(self.shard), self.n_seen)
    }

    /// Replaces the components by those that predict the view's rows best, each row by the others.
    fn install(&mut self, view: &View, n_before: usize) {
        let d = self.n_columns;
        let (seed, shard, step) = self.key();
        let mut rng = num::stream(seed, shard ^ FIT_STREAM, step);
        // Rows that are few for the components found so far may hide as many again.
        let starts = (STARTS_PER_COMPONENT * n_before + SPARE_STARTS).max(self.settings.start_components);
        // Equal rows confirm one another whatever the model: they count as one row of their weight.
        let (rows, weights, _) = distinct_rows(view.block.rows(), d, &view.weights);
        let starts = starts.min(weights.len() / ROWS_PER_START).max(1);
        let price = price(self.family.most_free(d), weights.len(), view.total);
        let size = FitSize { starts, most: self.settings.max_components, price };
        let fit = ring_fit(self.family, &rows, &weights, &self.floor, size, &mut rng, &self.work.interrupt);
        self.pooling.begin(&fit.logs, &weights);
        let total: f64 = fit.components.iter().map(|c| c.moments.count).sum();
        let parts = fit.components.into_iter().map(|Fitted { moments, worth, rows, shares }| {
            let prior = Prior { target: fit.target.clone(), floor: self.floor.clone(), worth: Some(worth) };
            let gauss = Gauss::of(self.family, &moments, &prior);
            (Part { weight: moments.count / total, gauss, prior, moments }, Turns::of(&rows, &shares, 0))
        });
        let parts = parts.collect();
        self.replace_all(parts, view.total);
        let lightest = self.comps.iter().min_by(|a, b| a.mass.total_cmp(&b.mass));
        self.events.judge_room(self.n_seen, lightest.map(|c| c.id).filter(|_| fit.wants_more));
        self.renew_whole();
    }

    /// Installs freshly fitted components, giving those that continue an old one its name.
    fn replace_all(&mut self, parts: Vec<(Part, Turns)>, total: f64) {
        let mut old: Vec<Comp> = std::mem::take(&mut self.comps);
        let now = self.n_seen;
        for (part, turns) in parts {
            let near = |c: &Comp| {
                let mut z = vec![0.0; self.n_columns];
                c.gauss.whitened(&part.moments.mean, &mut z);
                z.iter().map(|v| v * v).sum::<f64>() / self.n_columns as f64
            };
            let best = (0..old.len())
                .map(|k| (near(&old[k]), k))
                .filter(|(distance, _)| *distance < SAME_COMPONENT)
                .min_by(|a, b| a.0.total_cmp(&b.0));
            let continued = best.map(|(_, k)| old.swap_remove(k));
            let id = continued.as_ref().map_or_else(|| self.new_id(), |c| c.id);
            let mass = part.weight * total;
            let mut comp = Comp::settled(self.family, id, mass, part.moments, part.prior, now);
            comp.turns = turns;
            match continued {
                Some(c) => comp.born = c.born,
                None => self.log(id, Happening::Born),
            }
            self.comps.push(comp);
        }
        for gone in old.iter().filter(|c| c.graduated) {
            self.log(gone.id, Happening::Died);
        }
    }

    /// Makes the model anew from the ring, which still holds every row, and plans when to do so again: a model that
    /// overlaps, or that has few rows for its parameters, is told better by twice the rows.
    pub(super) fn refit(&mut self) {
        let n_before = self.comps.len();
        if self.n_seen <= self.settings.warm_up as u64 {
            let (rows, _) = self.ring.recent(self.ring.len());
            let frame = Frame::of_rows(&rows, self.n_columns, self.scaling);
            self.floor = floors(&rows, &frame);
            self.frame = Some(frame);
            self.tempo.change_frame();
            // Components of an older frame cannot be compared with rows in the new one.
            self.comps.clear();
        }
        self.next_refit = self.next_fit_after(self.n_seen);
        let Some(mut view) = self.view() else { return };
        self.install(&view, n_before);
        self.comps.iter_mut().for_each(|c| c.overlap = FULL_OVERLAP);
        if self.next_refit == 0 {
            view.evaluate(&self.comps);
            let twice = 2 * self.n_seen as usize;
            if self.may_refit_again() && !self.is_settled(&view) {
                self.ring.grow(twice);
                self.next_refit = twice as u64;
            } else {
                self.settle();
            }
        }
        self.next_polish = 2 * self.n_seen;
        self.schedule_structure();
    }

    /// True while the ring can still be made to hold every row of the next refit.
    fn may_refit_again(&self) -> bool {
        let n = self.n_seen as usize;
        self.settings.buffer.is_none() && n <= self.ring.len() && 2 * n <= self.largest_buffer()
    }

    /// Rows that the ring may hold: more for many components, which are judged on few rows each.
    fn largest_buffer(&self) -> usize {
        (2 * ROWS_PER_COMPONENT * self.comps.len()).clamp(LARGEST_BUFFER, MOST_BUFFERED)
    }

    /// True when components keep to themselves and have the rows that their parameters, and finding them, need.
    fn is_settled(&self, view: &View) -> bool {
        let n_free: f64 = self.comps.iter().map(|c| c.gauss.n_free()).sum();
        // Covariances of wide rows rest on their prior for long; where components are is known by then.
        let n_free = if self.n_columns > WIDE { 0.0 } else { n_free };
        let needed = (ROWS_PER_PARAMETER * n_free).max((ROWS_PER_COMPONENT * self.comps.len()) as f64);
        view.overlap() <= OVERLAPPING && view.total >= needed
    }

    /// Shrinks, refits and divides, judged on the ring.
    pub(super) fn structure(&mut self) {
        if let Some(mut view) = self.view_of(self.rows_needed()).filter(|_| !self.rests_on_priors()) {
            self.recall(&self.comps, &mut view);
            self.reorganise(&mut view);
            let rows_per_parameter = view.total / (self.comps.len() as f64 * self.family.most_free(self.n_columns));
            if self.n_seen >= self.next_polish {
                if rows_per_parameter >= POLISH_ROWS && !view.recalled {
                    polish(self.family, &mut self.comps, &mut view);
                }
                self.next_polish =
                    if self.next_polish < 4 * self.ring.capacity() as u64 { 2 * self.next_polish } else { u64::MAX };
            }
        }
        self.renew_priors();
        self.grow_buffer();
        self.schedule_structure();
    }

    /// True while wide rows say less of the parameters than their priors do: the criterion counts each parameter in full,
    /// and would give up what is plainly there.
    pub(super) fn rests_on_priors(&self) -> bool {
        let n_free: f64 = self.comps.iter().map(|c| c.gauss.n_free()).sum();
        self.n_columns > WIDE && self.total_mass() < ROWS_PER_PARAMETER * n_free
    }

    /// Rows that a look at the structure takes: all there are while components overlap, else what their number asks.
    fn rows_needed(&self) -> usize {
        let shared: f64 = self.comps.iter().map(|c| c.mass * c.overlap).sum();
        if shared > OVERLAPPING * self.total_mass() {
            return usize::MAX;
        }
        let n_free: f64 = self.comps.iter().map(|c| c.gauss.n_free()).sum();
        ((ROWS_PER_PARAMETER * n_free) as usize).clamp(BASE_BUFFER, MOST_NEEDED)
    }

    pub(super) fn schedule_structure(&mut self) {
        let age = (self.n_seen - self.regime_start) as f64;
        let growth = if age > LATE { LATE_GROWTH } else { GROWTH };
        let mut interval = ((growth - 1.0) * age) as u64;
        if let Some(born) = self.newest_heavy() {
            interval = interval.min((self.n_seen - born) / 2);
        }
        self.next_structure = self.n_seen + interval.max(self.least_interval());
    }

    /// When the newest of the components that take much of the stream was born: when rows arrive sorted, its rows and
    /// those of its fragments must be looked at while the ring holds them. A learner that follows drift has other means, and
    /// so has one that knows that rows come in runs.
    pub(super) fn newest_heavy(&self) -> Option<u64> {
        if self.settings.drift || self.comes_in_runs() {
            return None;
        }
        let is_heavy = |c: &&Comp| c.graduated && c.hits >= HEAVY * (self.n_seen - c.born) as f64;
        self.comps.iter().filter(is_heavy).map(|c| c.born).max()
    }

    /// A larger model needs more rows to be judged on.
    fn grow_buffer(&mut self) {
        if self.settings.buffer.is_none() {
            let per_component = (ROWS_PER_PARAMETER * self.family.most_free(self.n_columns)).max(50.0) as usize;
            let wanted = self.comps.len() * per_component;
            self.ring.grow(wanted.min(self.largest_buffer()));
        }
    }

    fn reorganise(&mut self, view: &mut View) {
        view.evaluate(&self.comps);
        self.shrink(view);
        let rows_per_parameter = view.total / (self.comps.len() as f64 * self.family.most_free(self.n_columns));
        if rows_per_parameter >= DELETE_ROWS && !view.recalled {
            for (lost, heir) in delete_and_refit(self.family, &mut self.comps, view, MASTER_FRACTION) {
                let into = self.comps.get(heir).map_or(lost.id, |c| c.id);
                self.log(lost.id, Happening::Merged { into });
            }
        }
        self.divide(view);
    }

    fn shrink(&mut self, view: &mut View) {
        let mut ids: Vec<_> = self.comps.iter().map(|c| c.id).collect();
        for what in shrink(self.family, &mut self.comps, view, MASTER_FRACTION) {
            match what {
                Move::Deleted { k } => {
                    let id = ids.remove(k);
                    self.log(id, Happening::Died);
                }
                Move::Merged { kept, gone } => {
                    let id = ids.remove(gone);
                    self.log(id, Happening::Merged { into: ids[kept] });
                }
            }
        }
    }

    /// Divides components whose rows are several's.
    fn divide(&mut self, view: &mut View) {
        let retry = if self.regime_start > 0 { 1.0 } else { RETRY_SPLIT };
        let (seed, shard, step) = self.key();
        let mut rng = num::stream(seed, shard ^ DIVIDE_STREAM, step);
        let total = self.total_mass();
        let mut is_changed = false;
        for k in 0..self.comps.len() {
            let room = self.settings.max_components.saturating_sub(self.comps.len());
            let comp = &mut self.comps[k];
            // The same rows give the same answer: wait until there are many new ones.
            if !comp.graduated || comp.hits < retry * comp.split_tried {
                continue;
            }
            comp.split_tried = comp.hits;
            // Where the ring misleads, its rows must be most of the component's; else as many as its share.
            let due = if view.recalled { comp.slow.count } else { comp.mass / total * view.total };
            let n_free = self.family.most_free(self.n_columns);
            let terms = Terms { fewest: MOST_OF * due, most: room + 1, n_free };
            let found = divide(self.family, view, k, &self.floor, terms, &mut rng, &self.work.interrupt);
            if let Some(fit) = found {
                self.install_parts(k, fit);
                is_changed = true;
            }
        }
        if is_changed {
            view.evaluate(&self.comps);
        }
    }

    /// Replaces a component by its parts: the heaviest keeps its name.
    fn install_parts(&mut self, k: usize, fit: RingFit) {
        let parent = self.comps[k].clone();
        let total: f64 = fit.components.iter().map(|c| c.moments.count).sum();
        let mut parts = fit.components;
        parts.sort_by(|a, b| b.moments.count.total_cmp(&a.moments.count));
        for (at, Fitted { moments, worth, .. }) in parts.into_iter().enumerate() {
            let prior = Prior { target: fit.target.clone(), floor: self.floor.clone(), worth: Some(worth) };
            let mass = parent.mass * moments.count / total;
            let id = if at == 0 { parent.id } else { self.new_id() };
            let mut comp = Comp::settled(self.family, id, mass, moments, prior, self.n_seen);
            comp.overlap = FULL_OVERLAP;
            comp.turns.clone_from(&parent.turns);
            if at == 0 {
                self.comps[k] = Comp { born: parent.born, ..comp };
            } else {
                self.comps.push(comp);
                self.log(parent.id, Happening::Split { new: id });
            }
        }
    }

    /// Frees a place for one more component by merging the two that are most alike. False when there can be none.
    pub(super) fn make_room(&mut self) -> bool {
        if self.comps.len() < self.settings.max_components {
            return true;
        }
        let Some((kept, gone)) = PairCosts::new(self.family, &self.comps).cheapest_pair() else {
            self.events.push_full(self.n_seen, self.comps[0].id);
            return false;
        };
        let other = self.comps.remove(gone);
        self.events.push_full(self.n_seen, other.id);
        self.comps[kept].absorb(self.family, &other);
        let into = self.comps[kept].id;
        self.log(other.id, Happening::Merged { into });
        true
    }
}

/// Sets the random numbers of fits apart from those that fill in missing cells.
const FIT_STREAM: u64 = 1 << 32;
const DIVIDE_STREAM: u64 = 1 << 35;
