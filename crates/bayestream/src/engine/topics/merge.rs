//! Learners of disjoint shards of one stream, combined: topics that overlap are one, and their statistics add.

use super::master::Master;
use super::{MmHdp, TopicSettings};
use crate::engine::DocumentLearner;
use crate::engine::parts::{ScoreTrack, twins};
use crate::num;
use crate::structure::{ComponentId, Event, EventLog, Happening, TopicHistory};
use std::collections::BTreeMap;

impl MmHdp {
    /// One learner of all documents that the parts have seen; `parts` is not empty and its order is canonical. Words of
    /// all parts must have the same numbers.
    pub fn merged<'a>(parts: impl Iterator<Item = &'a Self>, shard: u32) -> Self {
        let parts: Vec<&Self> = parts.collect();
        let (ready, young): (Vec<&Self>, Vec<&Self>) = parts.iter().partition(|part| part.master.is_some());
        let mut merged = MmHdp::new(&parts[0].settings, parts[0].seed, shard);
        merged.next_serial = parts.iter().map(|part| part.next_serial).max().unwrap_or(0);
        merged.events = EventLog::joined(ready.iter().map(|part| &part.events));
        merged.scores = ScoreTrack::joined(ready.iter().map(|part| &part.scores));
        merged.history = TopicHistory::default();
        let mut histories = Vec::new();
        for part in &ready {
            merged.n_seen += part.n_seen;
            histories.push(merged.absorb(part));
        }
        if !histories.is_empty() {
            merged.history = TopicHistory::joined(histories.iter());
            merged.make_room();
        }
        // A shard without a model still has all its documents.
        for part in young {
            let documents = part.held.documents();
            merged.update(&documents, documents.largest_word().map_or(0, |word| word as usize + 1));
        }
        merged
    }

    /// Takes a shard's topics in and gives back its history under the names they have here.
    fn absorb(&mut self, part: &MmHdp) -> TopicHistory {
        let mut history = part.history.clone();
        let Some(theirs) = &part.master else { return history };
        let Some(mut ours) = self.master.take() else {
            self.master = Some(theirs.clone());
            return history;
        };
        let n_words = ours.n_rows().max(theirs.n_rows());
        let twins = twins(&roots(&ours, n_words), &roots(theirs, n_words), self.settings.merge_above);
        let row = self.n_seen;
        ours.grow(n_words);
        ours.frequency.iter_mut().zip(&theirs.frequency).for_each(|(n, more)| *n += more);
        let slots = ours.k + theirs.k + 1;
        ours.widen(slots, &self.settings);
        let mut names = BTreeMap::new();
        for z in 0..theirs.k {
            let old = theirs.ids[z];
            let id = match twins[z] {
                Some(twin) => {
                    ours.add_to(twin, theirs, z, &self.settings);
                    let into = ours.ids[twin];
                    if into != old {
                        self.events.push(Event { row, component: old, what: Happening::Merged { into } });
                    }
                    into
                }
                None => {
                    let id = if ours.ids.contains(&old) { self.new_id() } else { old };
                    ours.append(theirs, z, id);
                    id
                }
            };
            names.insert(old, id);
        }
        ours.n_learnt += theirs.n_learnt;
        ours.n_untold += theirs.n_untold;
        // Names of topics that died there mean nothing here, but may be taken here.
        history.retain(|id| names.contains_key(&id));
        history.rename(|id| names.get(&id).copied().unwrap_or(id));
        self.master = Some(ours);
        history
    }

    /// Keeps the heaviest topics, as many as there may be, and opens a slot if there is room.
    fn make_room(&mut self) {
        let Some(master) = &mut self.master else { return };
        let mut order: Vec<usize> = (0..master.k).collect();
        order.sort_by(|a, b| master.words[*b].total_cmp(&master.words[*a]).then(a.cmp(b)));
        let most = self.settings.max_topics;
        let mut gone: Vec<usize> = order.split_off(order.len().min(most));
        gone.sort_unstable_by(|a, b| b.cmp(a));
        let row = self.n_seen;
        let mut dead = Vec::new();
        for z in gone {
            master.swap(z, master.k - 1);
            master.k -= 1;
            dead.extend(master.ids.pop());
        }
        dead.iter().for_each(|id| self.events.push(Event { row, component: *id, what: Happening::Died }));
        self.history.retain(|id| !dead.contains(&id));
        master.narrow(&self.settings);
        master.open(&self.settings);
    }
}

/// Square roots of the probabilities of all words, topic by topic.
fn roots(master: &Master, n_words: usize) -> Vec<Vec<f32>> {
    let root = |z| master.distribution(z, n_words).iter().map(|p| p.sqrt()).collect();
    (0..master.k).map(root).collect()
}

impl Master {
    /// Changes the number of slots.
    fn resize(&mut self, stride: usize, s0: f32) {
        let n_rows = self.n_rows();
        let mut rows = vec![0.0; n_rows * stride];
        let both = stride.min(self.stride);
        for (new, old) in rows.chunks_exact_mut(stride).zip(self.rows.chunks_exact(self.stride)) {
            new[..both].copy_from_slice(&old[..both]);
        }
        (self.rows, self.stride) = (rows, stride);
        self.scale.resize(stride, 1.0);
        self.precision.resize(stride, s0);
        self.unseen.resize(stride, 0.0);
        self.documents.resize(stride, 0.0);
        self.words.resize(stride, 0.0);
        self.untold.resize(stride, 0.0);
        self.opened.resize(stride, 0);
    }

    fn widen(&mut self, slots: usize, settings: &TopicSettings) {
        let stride = slots.next_multiple_of(num::TOPIC_LANES).max(self.stride);
        self.resize(stride, settings.s0 as f32);
    }

    fn narrow(&mut self, settings: &TopicSettings) {
        self.resize(settings.max_topics.next_multiple_of(num::TOPIC_LANES), settings.s0 as f32);
    }

    /// Adds another model's topic to one of ours: means by their precisions, of which the prior's is counted once.
    fn add_to(&mut self, twin: usize, theirs: &Master, z: usize, settings: &TopicSettings) {
        let (s, t) = (f64::from(self.precision[twin]), f64::from(theirs.precision[z]));
        let share = (s / (s + t)) as f32;
        let mean = |ours: f32, other: f32| share * ours + (1.0 - share) * other;
        for word in 0..self.n_rows() {
            self.rows[word * self.stride + twin] = mean(self.phi(word, twin), theirs.phi(word, z));
        }
        self.unseen[twin] = mean(self.unseen[twin] * self.scale[twin], theirs.unseen[z] * theirs.scale[z]);
        self.scale[twin] = 1.0;
        let sum = (s + t - settings.s0).max(settings.s0);
        self.precision[twin] = settings.memory.map_or(sum, |memory| sum.min(memory)) as f32;
        self.documents[twin] += theirs.documents[z];
        self.words[twin] += theirs.words[z];
        self.untold[twin] += theirs.untold[z];
        self.opened[twin] = self.opened[twin].min(theirs.opened[z]);
    }

    /// Takes another model's topic as a further one.
    fn append(&mut self, theirs: &Master, z: usize, id: ComponentId) {
        let at = self.k;
        for word in 0..self.n_rows() {
            self.rows[word * self.stride + at] = theirs.phi(word, z);
        }
        self.unseen[at] = theirs.unseen[z] * theirs.scale[z];
        self.scale[at] = 1.0;
        self.precision[at] = theirs.precision[z];
        self.documents[at] = theirs.documents[z];
        self.words[at] = theirs.words[z];
        self.untold[at] = theirs.untold[z];
        self.opened[at] = theirs.opened[z];
        self.ids.push(id);
        self.k += 1;
    }
}
