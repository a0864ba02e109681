//! Splits: a component's rows since the last look against those before, and the halves that are kept beside it.
//!
//! When rows come in any order, the rows since the last look are like those before them, and the halves are a fair sample
//! of all. When a class comes that an old component takes for its own, neither is true: then the rows since the last look
//! are moved as one, to a component of their own or to another one that suits them, and the halves say nothing of the
//! rest.

use super::component::Comp;
use super::core::Core;
use crate::family::Moments;
use crate::num::ln_gamma;
use crate::structure::Happening;

/// What becomes of a component.
enum Division {
    Whole,
    /// The halves stand for all rows, and grow to their number.
    Halves([Moments; 2]),
    /// The rows since the last look leave, for a component that there is or for a new one.
    Leave {
        latest: Moments,
        to: Option<usize>,
    },
}

fn joined(a: &Moments, b: &Moments) -> Moments {
    let mut both = a.clone();
    both.add_scaled(1.0, b);
    both
}

impl Core {
    /// Divides components whose parts are worth more.
    pub fn split_all(&mut self) {
        for at in 0..self.comps.len() {
            if self.work.interrupt.is_raised() {
                break;
            }
            match self.division(at) {
                Division::Whole => {}
                Division::Halves(_) | Division::Leave { to: None, .. } if self.is_full() => {
                    self.news.push((self.comps[at].id, Happening::Full));
                    break;
                }
                Division::Halves(halves) => self.split(at, halves),
                Division::Leave { latest, to } => self.leave(at, &latest, to),
            }
        }
    }

    fn log_marginal(&mut self, part: &Moments) -> f64 {
        self.prior.clustering.log_marginal(part, &mut self.work.comp.wishart)
    }

    /// A part's factor of the joint probability of the rows and of how they are divided, as a logarithm.
    fn worth(&mut self, part: &Moments) -> f64 {
        self.log_marginal(part) + ln_gamma(part.count) + self.log_alpha()
    }

    fn now_and_before(&self, at: usize) -> (Moments, Moments) {
        (self.comps[at].moments.clone(), self.comps[at].before.clone())
    }

    fn division(&mut self, at: usize) -> Division {
        if let Some(latest) = self.unlike_before(at) {
            return self.way_out(at, latest);
        }
        let Some(halves) = &self.comps[at].halves else { return Division::Whole };
        let halves = [0, 1].map(|side| halves.sides[side].moments.clone());
        let both = joined(&halves[0], &halves[1]);
        let enough = both.n_columns() as f64 + 2.0;
        let known = halves.iter().all(|half| half.count >= enough);
        match known && self.worth(&halves[0]) + self.worth(&halves[1]) > self.worth(&both) {
            true => Division::Halves(halves),
            false => Division::Whole,
        }
    }

    /// The rows since the last look, if they are of another distribution than those before.
    ///
    /// Labels cost nothing here: which rows are the latest was not chosen to suit them.
    fn unlike_before(&mut self, at: usize) -> Option<Moments> {
        let (moments, before) = self.now_and_before(at);
        let enough = moments.n_columns() as f64 + 2.0;
        let latest = moments.without(&before).filter(|latest| latest.count.min(before.count) >= enough)?;
        let apart = self.log_marginal(&before) + self.log_marginal(&latest);
        (apart > self.log_marginal(&moments)).then_some(latest)
    }

    /// Where rows that are unlike the others of their component are worth most.
    fn way_out(&mut self, at: usize, latest: Moments) -> Division {
        let (moments, before) = self.now_and_before(at);
        let leaving = self.worth(&before) - self.worth(&moments);
        let mut best = (leaving + self.worth(&latest), None);
        for other in self.nearest(at) {
            let there = self.comps[other].moments.clone();
            let gain = leaving + self.worth(&joined(&there, &latest)) - self.worth(&there);
            if gain > best.0 {
                best = (gain, Some(other));
            }
        }
        match best.0 > 0.0 {
            true => Division::Leave { latest, to: best.1 },
            false => Division::Whole,
        }
    }

    fn leave(&mut self, at: usize, latest: &Moments, to: Option<usize>) {
        let comp = &mut self.comps[at];
        let claimed = comp.claimed * latest.count / comp.moments.count;
        let from = comp.id;
        comp.claimed -= claimed;
        comp.replace_rows(comp.before.clone());
        comp.halves = None;
        comp.refresh(&self.prior, &mut self.work.comp);
        let Some(to) = to else {
            let id = self.new_id();
            // It came since the last look, so it is as young as a newborn.
            let mut other = Comp::new(id, latest.clone(), &self.prior, self.n_learnt, &mut self.work.comp);
            other.claimed = claimed;
            self.comps.push(other);
            self.news.push((from, Happening::Split { new: id }));
            return;
        };
        let other = &mut self.comps[to];
        other.claimed += claimed;
        other.take_rows(latest);
        other.halves = None;
        other.refresh(&self.prior, &mut self.work.comp);
    }

    /// The halves of the latest rows stand for all of them.
    fn split(&mut self, at: usize, halves: [Moments; 2]) {
        let id = self.new_id();
        let comp = &mut self.comps[at];
        let grown = comp.moments.count / (halves[0].count + halves[1].count);
        let [first, second] = halves.map(|half| Moments { count: half.count * grown, ..half });
        let share = second.count / comp.moments.count;
        let mut other = Comp::new(id, second, &self.prior, comp.born, &mut self.work.comp);
        other.claimed = comp.claimed * share;
        comp.claimed -= other.claimed;
        comp.replace_rows(first);
        comp.halves = None;
        comp.refresh(&self.prior, &mut self.work.comp);
        self.news.push((comp.id, Happening::Split { new: id }));
        self.comps.push(other);
    }
}
