//! Learners of disjoint shards of one stream, combined: components that are one by the marginal likelihood are matched
//! one to one (Campbell et al. 2015, section 3.2), and their statistics add.

use super::assign::best_assignment;
use super::component::Comp;
use super::{Rule, Vb, Work, Young};
use crate::data::Frame;
use crate::engine::parts::{Ring, ScoreTrack, learn_again};
use crate::family::{Family, MergeScratch, NormalWishart, WishartScratch};
use crate::structure::{Event, EventLog, Happening};

impl<F: Family, R: Rule> Vb<F, R> {
    /// One learner of all rows that the parts have seen; `parts` is not empty and its order is canonical.
    pub fn merged<'a>(parts: impl Iterator<Item = &'a Self>, shard: u32) -> Self {
        let parts: Vec<&Self> = parts.collect();
        let (grown, young): (Vec<&Self>, Vec<&Self>) = parts.iter().partition(|p| p.young.is_none());
        let mut merged = match grown.first() {
            Some(first) => first.union(&grown),
            None => parts[0].blank(),
        };
        merged.shard = shard;
        // A shard that is still young has all its rows.
        for kept in young.iter().filter_map(|p| p.young.as_ref()) {
            learn_again(&mut merged, parts[0].n_columns, &kept.rows, &kept.weights);
        }
        merged
    }

    /// A learner of the same configuration that has seen nothing.
    fn blank(&self) -> Self {
        Vb {
            n_seen: 0,
            seen: 0.0,
            n_updates: 0,
            n_steps: 0,
            next_serial: 0,
            frame: None,
            comps: Vec::new(),
            young: Some(Young::default()),
            ring: Ring::new(self.n_columns, self.ring.capacity()),
            events: EventLog::default(),
            scores: ScoreTrack::default(),
            work: Work::default(),
            ..self.clone()
        }
    }

    fn union(&self, parts: &[&Self]) -> Self {
        let mut merged = self.blank();
        merged.young = None;
        merged.frame.clone_from(&self.frame);
        merged.n_seen = parts.iter().map(|p| p.n_seen).sum();
        merged.seen = parts.iter().map(|p| p.seen).sum();
        merged.n_updates = parts.iter().map(|p| p.n_updates).max().unwrap_or(0);
        // The step size goes on from where the longest shard is.
        merged.n_steps = parts.iter().map(|p| p.n_steps).max().unwrap_or(0);
        merged.next_serial = parts.iter().map(|p| p.next_serial).max().unwrap_or(0);
        merged.events = EventLog::joined(parts.iter().map(|p| &p.events));
        merged.scores = ScoreTrack::joined(parts.iter().map(|p| &p.scores));
        let share = (merged.ring.capacity() / parts.len()).max(1);
        for part in parts {
            let (rows, weights) = part.ring.recent(share);
            merged.ring.push(&rows, Some(&weights));
            let adopted = part.comps.iter().map(|c| merged.adopted(c, part.frame.as_ref())).collect();
            merged.match_in(adopted);
        }
        if parts.len() > 1 {
            merged.fit_in();
        }
        merged
    }

    /// A shard's component in this learner's frame.
    fn adopted(&self, comp: &Comp, from: Option<&Frame>) -> Comp {
        let mut comp = comp.clone();
        let (Some(from), Some(to)) = (from, &self.frame) else { return comp };
        if from == to {
            return comp;
        }
        let (factor, offset) = from.map_to(to);
        comp.moments = comp.moments.mapped(&factor, &offset);
        let mean = comp.prior.mean().iter().zip(&factor).zip(&offset).map(|((m, f), o)| m * f + o).collect();
        comp.prior = self.prior_at(mean);
        comp
    }

    /// Takes components in: each is added to the one it is matched with, or stands for itself.
    fn match_in(&mut self, adopted: Vec<Comp>) {
        let odds = Odds::new(self);
        let gain: Vec<f64> =
            adopted.iter().flat_map(|a| self.comps.iter().map(|b| odds.of_one(a, b)).collect::<Vec<f64>>()).collect();
        let matched = best_assignment(&gain, adopted.len(), self.comps.len());
        for (mut comp, partner) in adopted.into_iter().zip(matched) {
            match partner {
                Some(k) => self.join(k, &comp),
                None => {
                    if self.comps.iter().any(|c| c.id == comp.id) {
                        comp.id = self.new_id();
                    }
                    self.comps.push(comp);
                }
            }
        }
        for comp in &mut self.comps {
            comp.believe(self.family, &mut self.work.caches);
            comp.settle(self.family, &mut self.work.caches);
        }
    }

    fn join(&mut self, k: usize, other: &Comp) {
        self.comps[k].moments.add_scaled(1.0, &other.moments);
        let into = self.comps[k].id;
        if other.id != into {
            self.events.push(Event { row: self.n_seen, component: other.id, what: Happening::Merged { into } });
        }
    }

    /// While there are more components than allowed, or some with less than a row, the lightest joins the one it is
    /// likeliest to be one with.
    fn fit_in(&mut self) {
        let odds = Odds::new(self);
        while self.comps.len() > 1 {
            let count = |k: usize| self.comps[k].moments.count;
            let lightest = (0..self.comps.len()).min_by(|&a, &b| count(a).total_cmp(&count(b))).unwrap_or(0);
            if self.comps.len() <= self.settings.max_components && count(lightest) >= 1.0 {
                break;
            }
            let gone = self.comps.remove(lightest);
            let gain: Vec<f64> = self.comps.iter().map(|c| odds.of_one(c, &gone)).collect();
            let best = (0..gain.len()).max_by(|&a, &b| gain[a].total_cmp(&gain[b]).then(b.cmp(&a))).unwrap_or(0);
            self.join(best, &gone);
            self.comps[best].believe(self.family, &mut self.work.caches);
            self.comps[best].settle(self.family, &mut self.work.caches);
        }
    }
}

/// Odds of two components being one, under a prior that is the same for all.
struct Odds {
    prior: NormalWishart,
    log_alpha: f64,
}

impl Odds {
    fn new<F: Family, R: Rule>(learner: &Vb<F, R>) -> Odds {
        Odds { prior: learner.prior_at(vec![0.0; learner.n_columns]), log_alpha: learner.alpha().ln() }
    }

    fn of_one(&self, a: &Comp, b: &Comp) -> f64 {
        // Components without rows are one with whatever there is.
        if a.moments.count <= 0.0 || b.moments.count <= 0.0 {
            return f64::MIN_POSITIVE;
        }
        let mut scratch = WishartScratch::default();
        let apart = [a, b].map(|c| self.prior.log_marginal(&c.moments, &mut scratch));
        let (a, b) = ((&a.moments, apart[0]), (&b.moments, apart[1]));
        self.prior.merge_gain(a, b, self.log_alpha, &mut MergeScratch::default())
    }
}
