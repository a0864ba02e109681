//! Learners of disjoint shards of one stream, combined: raw statistics add exactly, and components that are one by the
//! marginal likelihood are joined.

use super::component::{Comp, CompScratch};
use super::predictive::Shared;
use super::{Core, DirichletMixture};
use crate::engine::parts::{Pooling, Ring, ScoreTrack, Tempo, learn_again};
use crate::structure::{ComponentId, EventLog, Happening};

impl DirichletMixture {
    /// One learner of all rows that the parts have seen; `parts` is not empty and its order is canonical.
    pub fn merged<'a>(parts: impl Iterator<Item = &'a Self>, shard: u32) -> Self {
        let parts: Vec<&Self> = parts.collect();
        // A shard that is still warming up has all its rows: they are learnt again by the others' model.
        let (ready, young): (Vec<&Self>, Vec<&Self>) = parts.iter().partition(|p| p.settled);
        let mut merged = match ready.first() {
            Some(_) => Self::union(&ready, shard),
            None => {
                let mut empty = parts[0].blank();
                empty.shard = shard;
                empty
            }
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
        DirichletMixture {
            n_seen: 0,
            frame: None,
            core: None,
            pooling: Pooling::default(),
            tempo: Tempo::default(),
            next_revision: 0,
            ring: Ring::new(self.n_columns, self.ring.capacity()),
            n_told: 0,
            settled: false,
            events: EventLog::default(),
            scores: ScoreTrack::default(),
            ..self.clone()
        }
    }

    fn union(parts: &[&Self], shard: u32) -> Self {
        let mut merged = parts[0].blank();
        merged.shard = shard;
        merged.frame.clone_from(&parts[0].frame);
        merged.n_seen = parts.iter().map(|p| p.n_seen).sum();
        merged.n_told = parts.iter().map(|p| p.n_told).sum();
        merged.settled = true;
        merged.events = EventLog::joined(parts.iter().map(|p| &p.events));
        merged.scores = ScoreTrack::joined(parts.iter().map(|p| &p.scores));
        parts.iter().for_each(|p| merged.pooling.add(&p.pooling));
        parts.iter().for_each(|p| merged.tempo.add(&p.tempo));
        merged.join_rings(parts);
        let Some(mut core) = parts[0].core.clone() else { return merged };
        core.shard = shard;
        core.next_serial = parts.iter().filter_map(|p| p.core.as_ref()).map(|c| c.next_serial).max().unwrap_or(0);
        for part in &parts[1..] {
            merged.adopt_all(&mut core, part);
        }
        core.merge_across();
        core.renew_whole(&mut merged.pooling);
        for (component, what) in core.news.drain(..) {
            if what == Happening::Full {
                merged.events.push_full(merged.n_seen, component);
            }
        }
        merged.core = Some(core);
        merged
    }

    /// Takes an even share of each shard's recent rows, interleaved so that any stretch of the ring is a fair sample.
    fn join_rings(&mut self, parts: &[&Self]) {
        let share = (self.ring.capacity() / parts.len()).max(1);
        let taken: Vec<(Vec<f64>, Vec<f64>)> = parts.iter().map(|p| p.ring.recent(share)).collect();
        let d = self.n_columns;
        for i in 0..share {
            for (rows, weights) in &taken {
                // Aligned at the recent end.
                if let Some(at) = (weights.len() + i).checked_sub(share) {
                    self.ring.push(&rows[at * d..(at + 1) * d], Some(&weights[at..=at]));
                }
            }
        }
    }

    /// A shard's components in this learner's frame, under names that are free here.
    fn adopt_all(&self, core: &mut Core, part: &Self) {
        let (Some(theirs), Some(from), Some(to)) = (&part.core, &part.frame, &self.frame) else { return };
        let (factor, offset) = from.map_to(to);
        let mut scratch = CompScratch::default();
        for comp in &theirs.comps {
            let moments = comp.moments.mapped(&factor, &offset);
            let taken = |id: ComponentId| core.comps.iter().any(|c| c.id == id);
            let id = if taken(comp.id) { core.new_id() } else { comp.id };
            let mut adopted = Comp::new(id, moments, &core.prior, comp.born, &mut scratch);
            adopted.claimed = comp.claimed;
            let mapped = |shared: &Shared| Shared { moments: shared.moments.mapped(&factor, &offset), ..*shared };
            adopted.shared = comp.shared.as_ref().map(mapped);
            core.comps.push(adopted);
        }
        core.mass += theirs.mass;
        core.n_learnt += theirs.n_learnt;
    }
}

impl Core {
    /// Joins what is one component in several shards, and keeps to the most components there may be.
    fn merge_across(&mut self) {
        self.learn_prior();
        self.merge_all();
        while self.comps.len() > self.settings.max_components && self.make_room() {}
        self.renew_predictions();
        self.schedule();
    }
}
