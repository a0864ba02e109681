//! Learners of disjoint shards of one stream, combined: components that are one by the odds are joined.

use super::learner::MomentMatcher;
use super::part::Part;
use super::slots::{Slot, Slots};
use crate::engine::parts::{Ring, ScoreTrack, learn_again};
use crate::structure::EventLog;

impl<P: Part> MomentMatcher<P> {
    /// One learner of all rows that the parts have seen; `parts` is not empty and its order is canonical.
    pub fn merged<'a>(parts: impl Iterator<Item = &'a Self>, shard: u32) -> Self
    where
        P: 'a,
    {
        let parts: Vec<&Self> = parts.collect();
        // A shard that is still warming up has all its rows: they are learnt again by the others' model.
        let (ready, young): (Vec<&Self>, Vec<&Self>) = parts.iter().partition(|p| p.settled);
        let mut merged = match ready.first() {
            Some(_) => Self::union(&ready, shard),
            None => MomentMatcher { shard, ..parts[0].blank() },
        };
        for part in young {
            let (rows, weights) = part.ring.recent(part.ring.len());
            learn_again(&mut merged, part.n_columns, &rows, &weights);
            merged.n_seen += part.n_seen - part.n_told;
        }
        merged
    }

    /// A learner of the same configuration that has seen nothing.
    fn blank(&self) -> Self {
        MomentMatcher {
            n_seen: 0,
            n_told: 0,
            frame: None,
            slots: None,
            ring: Ring::new(self.n_columns, self.ring.capacity()),
            settled: false,
            events: EventLog::default(),
            scores: ScoreTrack::default(),
            ..self.clone()
        }
    }

    fn union(parts: &[&Self], shard: u32) -> Self {
        let mut merged = parts[0].blank();
        merged.shard = shard;
        merged.settled = true;
        merged.frame.clone_from(&parts[0].frame);
        merged.n_seen = parts.iter().map(|p| p.n_seen).sum();
        merged.n_told = parts.iter().map(|p| p.n_told).sum();
        merged.events = EventLog::joined(parts.iter().map(|p| &p.events));
        merged.scores = ScoreTrack::joined(parts.iter().map(|p| &p.scores));
        let share = (merged.ring.capacity() / parts.len()).max(1);
        for part in parts {
            let (rows, weights) = part.ring.recent(share);
            merged.ring.push(&rows, Some(&weights));
        }
        let Some(mut slots) = parts[0].slots.clone() else { return merged };
        slots.shard = shard;
        slots.n_learnt = parts.iter().filter_map(|p| p.slots.as_ref()).map(|s| s.n_learnt).sum();
        slots.next_serial = parts.iter().filter_map(|p| p.slots.as_ref()).map(|s| s.next_serial).max().unwrap_or(0);
        for part in &parts[1..] {
            if let (Some(theirs), Some(from), Some(to)) = (&part.slots, &part.frame, &merged.frame) {
                let (factor, offset) = from.map_to(to);
                slots.adopt(theirs, &factor, &offset);
            }
        }
        let lambdas = parts.iter().filter_map(|p| p.lambda());
        slots.settle_after_merge(lambdas.fold(0.0, f64::max));
        merged.slots = Some(slots);
        merged
    }
}

impl<P: Part> Slots<P> {
    /// Takes in another shard's components: each joins the one it is likeliest to be one with, or stands for itself.
    fn adopt(&mut self, theirs: &Slots<P>, factor: &[f64], offset: &[f64]) {
        let n_own = self.slots.len();
        for slot in theirs.slots.iter().filter(|s| s.mass > 0.0) {
            let part = slot.part.mapped(&self.prior, factor, offset);
            let evidence = part.evidence(&self.prior, slot.mass);
            let best = (0..n_own)
                .filter(|&z| self.slots[z].mass > 0.0)
                .map(|z| {
                    let own = self.slots[z].part.evidence(&self.prior, self.slots[z].mass);
                    (P::merge_gain(&self.prior, &own, &evidence), z)
                })
                .max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)));
            match best {
                Some((gain, z)) if gain > 0.0 => {
                    let (own, prior) = (&mut self.slots[z], &self.prior);
                    own.part.join(prior, own.mass, &part, slot.mass);
                    own.mass += slot.mass;
                    own.born |= slot.born;
                }
                _ => {
                    let taken = self.slots.iter().any(|s| s.id == slot.id);
                    let id = if taken { self.new_id() } else { slot.id };
                    let mut adopted = Slot::new(id, part, &self.prior, slot.mass);
                    adopted.born = slot.born;
                    self.slots.push(adopted);
                }
            }
        }
    }

    /// Heavy components come first, as in one pass; beyond the most that there may be, the lightest go.
    fn settle_after_merge(&mut self, lambda: f64) {
        self.slots.sort_by(|a, b| b.mass.total_cmp(&a.mass).then(a.id.cmp(&b.id)));
        self.slots.truncate(self.settings.max_components);
        let gamma = self.settings.gamma;
        self.mixing.reset_nu(gamma);
        for z in 0..self.slots.len() {
            self.mixing.set_nu(z, gamma + self.slots[z].mass);
            let slot = &self.slots[z];
            let born = slot.born;
            self.slots[z] = Slot::new(slot.id, slot.part.clone(), &self.prior, slot.mass);
            self.slots[z].born = born;
        }
        let n_living = self.living().count();
        self.mixing.set_lambda(lambda.max(n_living as f64));
    }
}
