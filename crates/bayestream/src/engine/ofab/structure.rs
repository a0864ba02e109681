//! When and how the model is made anew or reorganised.

use super::component::Comp;
use super::refine::{delete_and_refit, polish};
use super::shrink::{Move, PairCosts, shrink};
use super::split::find_split;
use super::step::FULL_OVERLAP;
use super::view::View;
use super::warm::warm_start;
use super::{BASE_BUFFER, LARGEST_BUFFER, Ofab};
use crate::data::Frame;
use crate::engine::parts::{EmOptions, PENALTY_CAP, Part, em};
use crate::family::Family;
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
/// Most components of a fresh start in a later refit, and the share of the FIC penalty that it must pay for.
const MOST_FRESH: usize = 100;
const FRESH_FRACTION: f64 = 0.5;
/// Share of the rows since its birth that a component must have to be one that takes over.
const HEAVY: f64 = 0.25;
/// Rows the ring should hold per free parameter of the model.
const ROWS_PER_PARAMETER: f64 = 2.0;
/// Components that keep to themselves are never judged on more rows than this.
const MOST_NEEDED: usize = 10_000;
/// Rounds of EM, with a look at the structure between them.
const SETTLING_ROUNDS: usize = 2;
/// Growth of a component after which a split is looked for again in a first regime; after a change haste pays.
const RETRY_SPLIT: f64 = 1.7;
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
            let mut view = View::new(frame, &rows, weights, &self.comps, self.key());
            view.complete = self.regime_start > 0 && n <= self.ring.len() && n < most;
            view
        })
    }

    pub(super) fn key(&self) -> (u64, u64, u64) {
        (self.seed, u64::from(self.shard), self.n_seen)
    }

    /// Makes the model from the ring's rows alone.
    pub(super) fn start_over(&mut self) {
        let (rows, _) = self.ring.recent(self.ring.len());
        self.frame = Some(Frame::of_rows(&rows, self.n_columns, self.scaling));
        // Components of an older frame cannot be compared with rows in the new one.
        self.comps.clear();
        let Some((parts, total)) = self.warm_parts() else { return };
        self.replace_all(parts, total);
        // Until the refit the ring holds every row: there is nothing to win by haste.
        self.next_structure = self.milestones()[2] + self.least_interval();
    }

    /// A warm start on the ring; with missing cells it is repeated once they can be drawn from a model.
    pub(super) fn warm_parts(&self) -> Option<(Vec<Part>, f64)> {
        let mut view = self.view()?;
        let (seed, shard, step) = self.key();
        let mut rng = num::stream(seed, shard ^ WARM_STREAM, step);
        let settings = &self.settings;
        let (parts, _) = warm_start(
            self.family,
            &mut view.block,
            &view.weights,
            settings.start_components.min(settings.max_components),
            settings.delta,
            &mut rng,
        );
        Some((parts, view.total))
    }

    /// Installs freshly fitted components, giving those that continue an old one its name.
    fn replace_all(&mut self, parts: Vec<Part>, total: f64) {
        let mut old: Vec<Comp> = std::mem::take(&mut self.comps);
        let now = self.n_seen;
        for part in parts {
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
            match continued {
                Some(c) => (comp.born, comp.split_tried) = (c.born, c.split_tried),
                None => self.log(id, Happening::Born),
            }
            self.comps.push(comp);
        }
        for gone in old.iter().filter(|c| c.graduated) {
            self.log(gone.id, Happening::Died);
        }
    }

    /// Refits the whole model on the ring, which still holds every row.
    pub(super) fn refit(&mut self) {
        self.refit_from(self.settings.start_components, MASTER_FRACTION, 50);
    }

    /// Refits on twice the rows a model that overlaps, or that had few rows for its many parameters; a fresh start may
    /// have as many components as the rows can tell now.
    pub(super) fn refit_again(&mut self) {
        let affordable = self.n_seen as f64 / self.family.most_free(self.n_columns);
        let start = (affordable as usize).clamp(self.settings.start_components, MOST_FRESH);
        self.refit_from(start, FRESH_FRACTION, 20);
    }

    /// Refits the present model and, unless that settles it, takes a fresh start if it is better; the FIC penalty
    /// counts by `fraction`.
    fn refit_from(&mut self, start_components: usize, fraction: f64, max_iterations: usize) {
        let Some(mut view) = self.view() else { return };
        let kept_fit = self.fit_all(&mut view, 20);
        self.reorganise(&mut view);
        if self.is_settled(&view) {
            return self.settle_on(&mut view, max_iterations, SETTLING_ROUNDS, true);
        }
        // The first refit leaves a dear fresh start to the next one, which has twice the rows to judge it by.
        if self.next_refit == 0 && self.may_refit_again() {
            return self.settle_on(&mut view, 20, 1, false);
        }
        let (seed, shard, step) = self.key();
        let mut rng = num::stream(seed, shard ^ WARM_STREAM, step);
        let start = start_components.min(self.settings.max_components);
        let (fresh, fresh_fit) =
            warm_start(self.family, &mut view.block, &view.weights, start, self.settings.delta, &mut rng);
        let price = |n_free: f64, count: f64| fraction * n_free / 2.0 * count.max(1.0).ln();
        let kept_price: f64 = self.comps.iter().map(|c| price(c.gauss.n_free(), c.fast.count)).sum();
        let fresh_price: f64 = fresh.iter().map(|p| price(p.gauss.n_free(), p.moments.count)).sum();
        let is_better = fresh_fit - fresh_price > kept_fit - kept_price;
        if is_better {
            self.replace_all(fresh, view.total);
            self.reorganise(&mut view);
        }
        self.settle_on(&mut view, max_iterations, SETTLING_ROUNDS, !is_better);
    }

    /// True while the ring can still be made to hold every row of the next refit.
    fn may_refit_again(&self) -> bool {
        let n = self.n_seen as usize;
        self.settings.buffer.is_none() && n <= self.ring.len() && 2 * n <= LARGEST_BUFFER
    }

    /// EM for all components on the view's rows, which then are all they know. Returns the log-likelihood.
    fn fit_all(&mut self, view: &mut View, max_iterations: usize) -> f64 {
        let drop_below = (self.settings.delta * view.total).max(1.5);
        let options = EmOptions { max_iterations, tolerance: 3e-5, penalty_cap: PENALTY_CAP, drop_below };
        let total = self.total_mass();
        let mut parts: Vec<Part> = self.comps.iter().map(|c| c.part(total)).collect();
        let fit = em(self.family, &mut view.block, &view.weights, None, &mut parts, options, None);
        self.replace_all(parts, view.total);
        fit
    }

    /// True when components keep to themselves and have the rows that their parameters need.
    fn is_settled(&self, view: &View) -> bool {
        let n_free: f64 = self.comps.iter().map(|c| c.gauss.n_free()).sum();
        view.overlap() <= OVERLAPPING && view.total >= ROWS_PER_PARAMETER * n_free
    }

    /// Rounds of EM on all rows and of reorganising; then plans the next refit, if one is worth while.
    fn settle_on(&mut self, view: &mut View, max_iterations: usize, rounds: usize, is_best: bool) {
        for round in 0..rounds {
            self.fit_all(view, max_iterations);
            if round + 1 < rounds {
                self.reorganise(view);
            }
        }
        self.comps.iter_mut().for_each(|c| c.overlap = FULL_OVERLAP);
        view.evaluate(&self.comps);
        let twice = 2 * self.n_seen as usize;
        let settled = self.is_settled(view) || (is_best && view.overlap() <= OVERLAPPING);
        if self.may_refit_again() && !settled {
            self.ring.grow(twice);
            self.next_refit = twice as u64;
        } else if self.n_seen >= self.milestones()[2] {
            self.settle();
        }
        self.next_polish = 2 * self.n_seen;
        self.schedule_structure();
    }

    /// Shrinks, refits and splits, judged on the ring.
    pub(super) fn structure(&mut self) {
        if let Some(mut view) = self.view_of(self.rows_needed()) {
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
        self.grow_buffer();
        self.schedule_structure();
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
    /// those of its fragments must be looked at while the ring holds them. A learner that follows drift has other means.
    pub(super) fn newest_heavy(&self) -> Option<u64> {
        if self.settings.drift {
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
            self.ring.grow(wanted.min(LARGEST_BUFFER));
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
        self.split(view);
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

    fn split(&mut self, view: &mut View) {
        let retry = if self.regime_start > 0 { 1.0 } else { RETRY_SPLIT };
        let mut k = 0;
        while k < self.comps.len() {
            let room = self.comps.len() < self.settings.max_components;
            let comp = &mut self.comps[k];
            // The same rows give the same answer: wait until there are many new ones.
            if room && comp.graduated && comp.slow.count >= retry * comp.split_tried {
                comp.split_tried = comp.slow.count;
                if let Some(split) = find_split(self.family, &self.comps, view, k) {
                    self.apply_split(split.k, split.children);
                    view.evaluate(&self.comps);
                }
            }
            k += 1;
        }
    }

    fn apply_split(&mut self, k: usize, children: [Part; 2]) {
        let new = self.new_id();
        let parent = &self.comps[k];
        let (id, mass, born) = (parent.id, parent.mass, parent.born);
        let both: f64 = children.iter().map(|c| c.weight).sum();
        let now = self.n_seen;
        let [first, second] = children.map(|part| {
            let share = part.weight / both;
            let mut comp = Comp::settled(self.family, id, mass * share, part.moments, part.prior, now);
            comp.overlap = FULL_OVERLAP;
            comp
        });
        self.comps[k] = Comp { born, ..first };
        self.comps.push(Comp { id: new, ..second });
        self.log(id, Happening::Split { new });
    }

    /// Frees a place for one more component by merging the two that are most alike. False when there can be none.
    pub(super) fn make_room(&mut self) -> bool {
        if self.comps.len() < self.settings.max_components {
            return true;
        }
        let Some((kept, gone)) = PairCosts::new(self.family, &self.comps).cheapest_pair(&self.comps) else {
            return false;
        };
        let other = self.comps.remove(gone);
        self.comps[kept].absorb(self.family, &other);
        let into = self.comps[kept].id;
        self.log(other.id, Happening::Merged { into });
        true
    }
}

/// Sets the random numbers of warm starts apart from those that fill in missing cells.
const WARM_STREAM: u64 = 1 << 32;
