//! The master model: topics as rows of word probabilities, and how a document moves them.

use super::settings::TopicSettings;
use crate::num::{self, TOPIC_LANES, TopicRows, WordWork};
use crate::structure::ComponentId;
use serde::{Deserialize, Serialize};

/// A count that each topic has before its first document, so that none is ever out of reach.
const HEAD_START: f64 = 0.1;

/// A column whose scale falls below this is multiplied out: `f32` would run out of small numbers.
const LEAST_SCALE: f32 = 1e-6;

/// No word is less likely than this in a topic, so that every word always has an explanation.
const LEAST_ENTRY: f32 = 1e-15;

/// Words between two looks at the scales: even if all went to one topic, its scale stays within `f32`.
const SCALE_LOOK: f32 = 256.0;

/// Steps that the repeats of one word in one document are spread over, at most: a word said a million times costs no more
/// than a word said this often.
const MOST_STEPS: u32 = 256;

/// Repeats learnt in one step, at most, over the precision of a new topic: a step never leaves less of a topic than `f32`
/// can tell. What is said more often than these steps allow is learnt as if said that often.
const LARGEST_STEP: f64 = 64.0;

/// Documents between two corrections of the columns' sums, which rounding moves: `f32` cannot tell 1 − r from 1 when r is
/// small, but adds r to the word all the same.
const RESUM_EVERY: u64 = 4096;

/// Topics and what is known of them. The first `k` are topics, the next one is open if there is room: whatever the others
/// do not explain gathers there. Probability of word w in topic z: `rows[w * stride + z] * scale[z]`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Master {
    /// Words that a new topic thinks there are.
    pub prior_words: f64,
    /// Documents learnt.
    pub n_learnt: u64,
    /// Of these, documents that the history has not been told.
    pub n_untold: u64,
    pub k: usize,
    pub stride: usize,
    pub rows: Vec<f32>,
    /// How often each word has occurred.
    pub frequency: Vec<f64>,
    pub scale: Vec<f32>,
    pub precision: Vec<f32>,
    /// The entry of a word never seen.
    pub unseen: Vec<f32>,
    /// Documents that use each topic.
    pub documents: Vec<f64>,
    /// Words explained by each topic.
    pub words: Vec<f64>,
    /// Of these, words that the history has not been told.
    pub untold: Vec<f64>,
    /// Documents before the topic's slot was opened.
    pub opened: Vec<u64>,
    pub ids: Vec<ComponentId>,
}

/// Buffers that only save allocations.
#[derive(Clone, Debug, Default)]
pub(super) struct Scratch {
    tokens: Vec<(u32, f32)>,
    prior: Vec<f32>,
    weights: Vec<f32>,
    gains: Vec<f64>,
    work: WordWork,
}

/// What a document was worth before it was learnt.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct DocumentWorth {
    pub log_probability: f64,
    pub n_words: u64,
}

impl Master {
    pub fn new(settings: &TopicSettings, prior_words: f64) -> Master {
        let stride = settings.max_topics.next_multiple_of(TOPIC_LANES);
        let mut master = Master {
            prior_words,
            n_learnt: 0,
            n_untold: 0,
            k: 0,
            stride,
            rows: Vec::new(),
            frequency: Vec::new(),
            scale: vec![1.0; stride],
            precision: vec![settings.s0 as f32; stride],
            unseen: vec![0.0; stride],
            documents: vec![0.0; stride],
            words: vec![0.0; stride],
            untold: vec![0.0; stride],
            opened: vec![0; stride],
            ids: Vec::new(),
        };
        master.open(settings);
        master
    }

    /// Words that have a row.
    pub fn n_rows(&self) -> usize {
        self.rows.len() / self.stride
    }

    /// Topics and the open one, if there is room for it.
    pub fn n_slots(&self, settings: &TopicSettings) -> usize {
        (self.k + 1).min(settings.max_topics)
    }

    /// Probability of a word in a topic; numbers without a row are words never seen.
    pub fn phi(&self, word: usize, topic: usize) -> f32 {
        let entry = self.rows.get(word * self.stride + topic).copied().unwrap_or(self.unseen[topic]);
        entry * self.scale[topic]
    }

    /// Makes the slot after the last topic an empty topic, if there is room.
    pub fn open(&mut self, settings: &TopicSettings) {
        let z = self.k;
        if z >= settings.max_topics {
            return;
        }
        let n_met: f64 = self.frequency.iter().sum();
        let common = if n_met > 0.0 { settings.common } else { 0.0 };
        let even = ((1.0 - common) / self.prior_words) as f32;
        let per_met = common / n_met.max(1.0);
        for (row, frequency) in self.rows.chunks_exact_mut(self.stride).zip(&self.frequency) {
            row[z] = even + (per_met * frequency) as f32;
        }
        self.unseen[z] = even;
        self.scale[z] = 1.0;
        self.precision[z] = settings.s0 as f32;
        (self.documents[z], self.words[z], self.untold[z]) = (0.0, 0.0, 0.0);
        self.opened[z] = self.n_learnt;
    }

    /// Gives every word below `n_words` a row.
    pub fn grow(&mut self, n_words: usize) {
        for _ in self.n_rows()..n_words {
            self.rows.extend_from_slice(&self.unseen);
        }
        self.frequency.resize(self.n_rows(), 0.0);
    }

    /// Weights of the slots in a document of which nothing is known.
    pub fn prior(&self, settings: &TopicSettings, into: &mut Vec<f32>) {
        let counts = self.documents[..self.k].iter().map(|c| c + HEAD_START);
        let total = settings.gamma + counts.clone().sum::<f64>();
        into.clear();
        into.extend(counts.map(|c| (settings.a0 * c / total) as f32));
        if self.k < settings.max_topics {
            into.push((settings.a0 * settings.gamma / total).max(settings.a_new) as f32);
        }
        into.resize(into.len().next_multiple_of(TOPIC_LANES), 0.0);
    }

    /// Learns a document. True if the open topic became a topic, which then still needs an id.
    pub fn learn(
        &mut self,
        settings: &TopicSettings,
        (words, counts): (&[u32], &[u32]),
        rng: &mut num::Rng,
        scratch: &mut Scratch,
    ) -> (DocumentWorth, bool) {
        if let Some(last) = words.last() {
            self.grow(*last as usize + 1);
        }
        for (word, count) in words.iter().zip(counts) {
            self.frequency[*word as usize] += f64::from(*count);
        }
        spread(words, counts, settings.s0, &mut scratch.tokens);
        rng.shuffle(&mut scratch.tokens);
        let n_slots = self.n_slots(settings);
        self.prior(settings, &mut scratch.prior);
        scratch.weights.clone_from(&scratch.prior);
        scratch.work.worth.clear();
        let more_words = self.n_rows() as f64 > self.prior_words;
        let mut left = scratch.tokens.as_slice();
        while !left.is_empty() {
            let some = &left[..until_look(left)];
            left = &left[some.len()..];
            let topics = TopicRows {
                rows: &mut self.rows,
                stride: self.stride,
                scale: &mut self.scale,
                precision: &mut self.precision,
                unseen: &self.unseen,
            };
            num::learn_words(topics, some, &mut scratch.weights, more_words, &mut scratch.work);
            for z in (0..n_slots).filter(|z| self.scale[*z] < LEAST_SCALE).collect::<Vec<_>>() {
                self.multiply_out(z);
            }
        }
        let worth = self.worth(scratch);
        self.count(settings, n_slots, scratch);
        self.n_learnt += 1;
        self.n_untold += 1;
        let born = self.k < settings.max_topics && self.words[self.k] > settings.birth;
        if self.n_learnt.is_multiple_of(RESUM_EVERY) {
            self.resum(n_slots);
        }
        (worth, born)
    }

    /// The probability of each word just before it was learnt, normalised over all words that there are by now.
    fn worth(&self, scratch: &Scratch) -> DocumentWorth {
        // A topic thinks of `prior_words` words. If there are more, the rows add up to more than one.
        let excess = (self.n_rows() as f64 - self.prior_words).max(0.0);
        let mut total: f64 = scratch.prior.iter().map(|weight| f64::from(*weight)).sum();
        let mut worth = DocumentWorth::default();
        for ((_, repeats), weight) in scratch.tokens.iter().zip(&scratch.work.worth) {
            let repeats = f64::from(*repeats);
            let p = f64::from(weight.word) / (total + excess * f64::from(weight.unseen));
            worth.log_probability += repeats * p.ln();
            worth.n_words += repeats as u64;
            total += repeats;
        }
        worth
    }

    /// Adds a document to the topics' counts of documents and words.
    fn count(&mut self, settings: &TopicSettings, n_slots: usize, scratch: &mut Scratch) {
        let Scratch { prior, weights, gains, .. } = scratch;
        gains.clear();
        gains.extend((0..n_slots).map(|z| f64::from(weights[z]) - f64::from(prior[z])));
        for z in 0..n_slots {
            self.words[z] += gains[z];
            self.untold[z] += gains[z];
            gains[z] = -gains[z];
        }
        num::exp_slice(gains);
        for z in 0..n_slots {
            self.documents[z] += 1.0 - gains[z];
        }
        if let Some(memory) = settings.memory {
            self.precision[..n_slots].iter_mut().for_each(|s| *s = s.min(memory as f32));
        }
    }

    /// Puts the scale of a topic into its column.
    fn multiply_out(&mut self, z: usize) {
        let scale = self.scale[z];
        let times = |entry: f32| (entry * scale).max(LEAST_ENTRY);
        self.rows.iter_mut().skip(z).step_by(self.stride).for_each(|entry| *entry = times(*entry));
        self.unseen[z] = times(self.unseen[z]);
        self.scale[z] = 1.0;
    }

    /// Makes the words that a topic thinks there are add up to one again.
    pub fn resum(&mut self, n_slots: usize) {
        let mut sums = vec![0.0f64; self.stride];
        for row in self.rows.chunks_exact(self.stride) {
            sums.iter_mut().zip(row).for_each(|(sum, entry)| *sum += f64::from(*entry));
        }
        let not_met = self.prior_words - self.n_rows() as f64;
        for z in 0..n_slots {
            let all = sums[z] + not_met * f64::from(self.unseen[z]);
            if all > 0.0 {
                self.scale[z] = (1.0 / all) as f32;
            }
        }
    }

    /// Lets go of what was learnt of a word: it becomes one never seen, and the others take its place.
    pub fn forget(&mut self, settings: &TopicSettings, word: u32) {
        if word as usize >= self.n_rows() {
            return;
        }
        self.frequency[word as usize] = 0.0;
        for z in 0..self.n_slots(settings) {
            let at = word as usize * self.stride + z;
            let gone = (self.rows[at] - self.unseen[z]) * self.scale[z];
            self.rows[at] = self.unseen[z];
            // A topic of little else than this word keeps its other words, but hardly believes in them.
            let left = (1.0 - gone).clamp(0.01, 1.0);
            self.scale[z] /= left;
            self.precision[z] = (self.precision[z] * left).max(settings.s0 as f32);
            self.words[z] *= f64::from(left);
        }
    }

    /// Exchanges two slots.
    pub fn swap(&mut self, a: usize, b: usize) {
        if a == b {
            return;
        }
        self.rows.chunks_exact_mut(self.stride).for_each(|row| row.swap(a, b));
        for slots in [&mut self.scale, &mut self.precision, &mut self.unseen] {
            slots.swap(a, b);
        }
        for slots in [&mut self.documents, &mut self.words, &mut self.untold] {
            slots.swap(a, b);
        }
        self.opened.swap(a, b);
        self.ids.swap(a, b);
    }
}

/// The words of a document one by one, each repeat by itself unless there are very many of them.
fn spread(words: &[u32], counts: &[u32], s0: f64, into: &mut Vec<(u32, f32)>) {
    into.clear();
    let most = (f64::from(MOST_STEPS) * LARGEST_STEP * s0) as u32;
    for (word, count) in words.iter().zip(counts) {
        let count = (*count).min(most);
        let steps = count.min(MOST_STEPS);
        // Sizes that differ by one at most.
        into.extend((0..steps).map(|i| (*word, ((count - i - 1) / steps + 1) as f32)));
    }
}

/// How many of these words to learn before the scales are looked at: at least one.
fn until_look(words: &[(u32, f32)]) -> usize {
    let mut sum = 0.0;
    let within = |(_, repeats): &&(u32, f32)| {
        sum += repeats;
        sum <= SCALE_LOOK
    };
    words.iter().take_while(within).count().max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeats_are_spread_evenly_and_none_is_lost() {
        let mut tokens = Vec::new();
        for count in [1, 2, 255, 256, 257, 1000, 1_000_000] {
            spread(&[5], &[count], 100.0, &mut tokens);
            assert_eq!(tokens.iter().map(|(_, n)| f64::from(*n)).sum::<f64>(), f64::from(count));
            assert_eq!(tokens.len(), count.min(MOST_STEPS) as usize);
            let sizes = tokens.iter().map(|(_, n)| *n);
            assert!(sizes.clone().fold(0.0, f32::max) - sizes.fold(f32::MAX, f32::min) <= 1.0);
        }
        spread(&[5], &[u32::MAX], 2.0, &mut tokens);
        assert!(tokens.len() == 256 && tokens.iter().all(|(_, n)| *n == 128.0));
    }
}
