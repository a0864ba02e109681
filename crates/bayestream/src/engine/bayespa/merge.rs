//! Learners of disjoint shards of one stream, combined: the topics of a label are the same ones in all of them, counts add,
//! and so do the natural parameters of weights, of which the prior is counted once.

use super::MedTopics;
use super::settings::MedSettings;
use super::space::Space;
use super::task::Weights;
use crate::engine::DocumentLearner;
use crate::engine::parts::ScoreTrack;
use crate::structure::{EventLog, TopicHistory};

impl MedTopics {
    /// One learner of all documents that the parts have seen; the order of the parts is canonical. Each comes with the new
    /// numbers of its words, and `label_numbers` are the new numbers of its labels. The settings must have nothing
    /// [against it](MedSettings::why_not_merged).
    pub fn merged(
        parts: &[(&MedTopics, &[Option<u32>])],
        label_numbers: &[Vec<u32>],
        n_words: usize,
        shard: u32,
    ) -> MedTopics {
        let first = parts[0].0;
        let settings = &first.settings;
        let mut merged = MedTopics::new(settings, first.seed, shard);
        merged.n_words = n_words;
        let mut space = Space::new(settings, 0);
        space.grow_words(n_words);
        for ((part, numbers), labels) in parts.iter().zip(label_numbers) {
            merged.n_seen += part.n_seen - part.held.len() as u64;
            merged.labels.add(&part.labels, labels);
            merged.judgement.add(&part.judgement);
            if let Some(theirs) = part.spaces.first() {
                space.absorb(settings, theirs, numbers, labels);
            }
        }
        space.grow_words(n_words);
        if space.k > 0 {
            merged.spaces.push(space);
        }
        merged.scores = ScoreTrack::joined(parts.iter().map(|(part, _)| &part.scores));
        merged.events = EventLog::joined(parts.iter().map(|(part, _)| &part.events));
        merged.history = TopicHistory::joined(parts.iter().map(|(part, _)| &part.history));
        if let Some(readout) = &mut merged.readout {
            for (((part, numbers), labels), at) in parts.iter().zip(label_numbers).zip(0..) {
                let Some(theirs) = &part.readout else { continue };
                let theirs = theirs.relabelled(|word| numbers.get(word as usize).copied().flatten(), labels);
                *readout = if at == 0 { theirs } else { readout.merged(&theirs) };
            }
        }
        for ((part, numbers), labels) in parts.iter().zip(label_numbers) {
            let mut held = part.held.renumbered(|word| numbers.get(word as usize).copied().flatten());
            held.relabel(|label| labels[label as usize]);
            // The readout has seen them.
            let readout = merged.readout.take();
            merged.update(&held.documents(), n_words);
            merged.readout = readout;
        }
        merged
    }
}

impl Space {
    /// Adds another's statistics under the numbers that words and labels have here.
    fn absorb(&mut self, settings: &MedSettings, theirs: &Space, numbers: &[Option<u32>], labels: &[u32]) {
        let mut used = vec![false; self.k];
        let mut places = Vec::with_capacity(theirs.k);
        for tag in &theirs.tags {
            let tag = tag.map(|label| labels[label as usize]);
            let place = (0..self.k).find(|k| !used[*k] && self.tags[*k] == tag).unwrap_or_else(|| {
                self.add_topic(tag, settings);
                used.push(false);
                self.k - 1
            });
            used[place] = true;
            places.push(place);
        }
        self.grow_words(numbers.iter().flatten().map(|number| *number as usize + 1).max().unwrap_or(0));
        for (row, number) in theirs.sums.chunks_exact(theirs.stride.max(1)).zip(numbers) {
            let Some(number) = number else { continue };
            for (place, n) in places.iter().zip(row) {
                let at = *number as usize * self.stride + place;
                self.sums[at] = self.sums[at].saturating_add(*n);
                self.totals[*place] += i64::from(*n);
            }
        }
        self.told.clone_from(&self.totals);
        for task in &theirs.tasks {
            let label = labels[task.label as usize];
            if !self.tasks.iter().any(|own| own.label == label) {
                self.add_task(label, settings);
            }
        }
        let fresh = Space::like(settings, self);
        for task in &theirs.tasks {
            let label = labels[task.label as usize];
            let same = |other: &&mut super::task::Task| other.label == label;
            let prior = fresh.tasks.iter().find(|other| other.label == label);
            let (Some(own), Some(prior)) = (self.tasks.iter_mut().find(same), prior) else { continue };
            own.n_documents += task.n_documents;
            places.iter().zip(&task.shares).for_each(|(place, share)| own.shares[*place] += share);
            own.weights.add(&task.weights, &prior.weights, &places);
        }
    }

    /// A space with the same topics and labels that has learnt nothing.
    fn like(settings: &MedSettings, other: &Space) -> Space {
        let mut space = Space::new(settings, other.number);
        other.tags.iter().for_each(|tag| space.add_topic(*tag, settings));
        other.tasks.iter().for_each(|task| space.add_task(task.label, settings));
        space
    }
}

impl Weights {
    /// Adds what another has learnt beyond the prior; `places` are the places that its topics have here.
    fn add(&mut self, other: &Weights, prior: &Weights, places: &[usize]) {
        // The constant comes first in all of them.
        let place = |i: usize| if i == 0 { 0 } else { 1 + places[i - 1] };
        match (self, other, prior) {
            (
                Weights::Gibbs { precision, shift },
                Weights::Gibbs { precision: more, shift: pulled },
                Weights::Gibbs { precision: before, shift: pulled_before },
            ) => {
                let (d, theirs) = (shift.len(), pulled.len());
                for i in 0..theirs {
                    let to = place(i);
                    shift[to] += pulled[i] - pulled_before[to];
                    for j in 0..theirs {
                        let at = to * d + place(j);
                        precision[at] += more[i * theirs + j] - before[at];
                    }
                }
            }
            (
                Weights::Averaging { mean, sum, n },
                Weights::Averaging { mean: their_mean, sum: their_sum, n: their_n },
                Weights::Averaging { .. },
            ) => {
                let share = *their_n as f64 / (*n + their_n).max(1) as f64;
                for i in 0..their_mean.len() {
                    let to = place(i);
                    mean[to] += share * (their_mean[i] - mean[to]);
                    sum[to] += their_sum[i];
                }
                *n += their_n;
            }
            _ => {}
        }
    }
}
