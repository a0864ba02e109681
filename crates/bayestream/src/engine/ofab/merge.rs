//! Learners of disjoint shards of one stream, combined: statistics add, and components that are one by the full
//! criterion are joined.

use super::component::Comp;
use super::shrink::join_alike;
use super::watch::MeanWatch;
use super::{FIRST_FIT, Ofab};
use crate::data::Frame;
use crate::engine::parts::{Pooling, Ring, ScoreTrack, Tempo, learn_again};
use crate::family::{Family, GaussScratch};
use crate::structure::EventLog;

impl<F: Family> Ofab<F> {
    /// One learner of all rows that the parts have seen; `parts` is not empty and its order is canonical.
    pub fn merged<'a>(parts: impl Iterator<Item = &'a Self>, shard: u32) -> Self {
        let parts: Vec<&Self> = parts.collect();
        let (ready, young): (Vec<&Self>, Vec<&Self>) = parts.iter().partition(|p| !p.comps.is_empty());
        let mut merged = match ready.first() {
            Some(_) => Self::union(&ready, shard),
            None => {
                let mut empty = parts[0].blank();
                empty.shard = shard;
                empty
            }
        };
        // A shard that has no model yet still has all its rows.
        for part in young {
            let (rows, weights) = part.ring.recent(part.ring.len());
            learn_again(&mut merged, part.n_columns, &rows, &weights);
        }
        merged
    }

    /// A learner of the same configuration that has seen nothing.
    fn blank(&self) -> Self {
        Ofab {
            n_seen: 0,
            frame: None,
            comps: Vec::new(),
            pooling: Pooling::default(),
            ring: Ring::new(self.n_columns, self.ring.capacity()),
            ring_from: 0,
            regime_start: 0,
            next_serial: 0,
            next_structure: 0,
            next_polish: u64::MAX,
            next_refit: FIRST_FIT,
            settled: false,
            tempo: Tempo::default(),
            events: EventLog::default(),
            scores: ScoreTrack::default(),
            ..self.clone()
        }
    }

    fn union(parts: &[&Self], shard: u32) -> Self {
        let mut merged = parts[0].blank();
        merged.shard = shard;
        merged.frame.clone_from(&parts[0].frame);
        merged.floor.clone_from(&parts[0].floor);
        merged.next_refit = 0;
        parts.iter().for_each(|p| merged.pooling.add(&p.pooling));
        parts.iter().for_each(|p| merged.tempo.add(&p.tempo));
        merged.n_seen = parts.iter().map(|p| p.n_seen).sum();
        merged.next_serial = parts.iter().map(|p| p.next_serial).max().unwrap_or(0);
        merged.settled = parts.iter().any(|p| p.settled);
        merged.events = EventLog::joined(parts.iter().map(|p| &p.events));
        merged.scores = ScoreTrack::joined(parts.iter().map(|p| &p.scores));
        if parts.iter().any(|p| p.regime_start > 0) {
            let ages: u64 = parts.iter().map(|p| p.n_seen - p.regime_start).sum();
            merged.regime_start = merged.n_seen - ages;
        }
        merged.join_rings(parts);
        for part in parts {
            for comp in &part.comps {
                let comp = merged.adopted(comp, part.frame.as_ref());
                merged.comps.push(comp);
            }
        }
        if let Some(mut view) = merged.view() {
            view.evaluate(&merged.comps);
            join_alike(merged.family, &mut merged.comps, &mut view);
        }
        merged.renew_priors();
        merged.schedule_structure();
        merged
    }

    /// Takes an even share of each shard's recent rows, interleaved so that any stretch of the ring is a fair sample.
    fn join_rings(&mut self, parts: &[&Self]) {
        let largest = parts.iter().map(|p| p.ring.capacity()).max().unwrap_or(1);
        self.ring.grow(largest);
        let share = (self.ring.capacity() / parts.len()).max(1);
        let taken: Vec<(Vec<f64>, Vec<f64>)> =
            parts.iter().map(|p| p.ring.recent(share.min((p.n_seen - p.ring_from) as usize))).collect();
        let d = self.n_columns;
        for i in 0..share {
            for (rows, weights) in &taken {
                // Aligned at the recent end.
                if let Some(at) = (weights.len() + i).checked_sub(share) {
                    self.ring.push(&rows[at * d..(at + 1) * d], Some(&weights[at..=at]));
                }
            }
        }
        self.ring_from = self.n_seen - self.ring.len() as u64;
    }

    /// A shard's component in this learner's frame, under a name that is free here.
    fn adopted(&mut self, comp: &Comp, from: Option<&Frame>) -> Comp {
        let mut comp = comp.clone();
        if let (Some(from), Some(to)) = (from, &self.frame) {
            let (factor, offset) = from.map_to(to);
            comp.fast = comp.fast.mapped(&factor, &offset);
            comp.slow = comp.slow.mapped(&factor, &offset);
            comp.prior.rescale(&factor);
        }
        if self.comps.iter().any(|c| c.id == comp.id) {
            comp.id = self.new_id();
        }
        comp.born = comp.born.min(self.n_seen);
        comp.seen(self.n_seen);
        comp.watch = MeanWatch::at(&comp.fast.mean);
        comp.refresh(self.family, &mut GaussScratch::default());
        comp
    }
}
