//! Topics as others see them: a snapshot's list, their shares along the stream, and documents scored by them.

use super::event::ComponentId;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A topic of a snapshot.
#[derive(Clone, Debug, PartialEq)]
pub struct Topic {
    /// Its name for life.
    pub id: ComponentId,
    /// Its share of the words of the stream.
    pub weight: f64,
    /// Its share of the recent stream over that of the stream before: 1 for a topic that keeps its share.
    pub trend: f64,
    /// The document in which it began, counted from 1.
    pub born: u64,
    /// Probability of each word by its number.
    pub words: Vec<f32>,
}

/// Documents as their topics explain them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DocumentScores {
    /// The topics of the snapshot, in its order, that the shares are of.
    pub topics: Vec<ComponentId>,
    /// Share of each topic in each document, document by document.
    pub shares: Vec<f32>,
    /// Log-probability of each document's words under its shares, in nats.
    pub log_likelihood: Vec<f64>,
    /// Words of each document, repeats included.
    pub n_tokens: Vec<u64>,
}

impl DocumentScores {
    /// The shares of a document, in the order of the topics.
    pub fn shares_of(&self, document: usize) -> &[f32] {
        let k = self.topics.len();
        &self.shares[document * k..(document + 1) * k]
    }

    /// Log-probability per word; none for a document without words.
    pub fn per_word(&self, document: usize) -> Option<f64> {
        let n = self.n_tokens[document];
        (n > 0).then(|| self.log_likelihood[document] / n as f64)
    }
}

/// How many stretches of the stream a history tells apart.
const STRETCHES: usize = 128;

/// Words per topic in stretches of the stream. When there are too many stretches, two neighbours become one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TopicHistory {
    /// Documents in a full stretch.
    stretch: u64,
    stretches: Vec<Stretch>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Stretch {
    n_documents: u64,
    words: BTreeMap<ComponentId, f64>,
}

impl Default for TopicHistory {
    fn default() -> Self {
        TopicHistory { stretch: 50, stretches: Vec::new() }
    }
}

impl TopicHistory {
    /// Adds a document: the words that each topic explains in it.
    pub fn add(&mut self, words: impl Iterator<Item = (ComponentId, f64)>) {
        if self.stretches.last().is_none_or(|last| last.n_documents >= self.stretch) {
            if self.stretches.len() == STRETCHES {
                self.halve();
            }
            self.stretches.push(Stretch::default());
        }
        if let Some(last) = self.stretches.last_mut() {
            last.n_documents += 1;
            for (id, n) in words {
                *last.words.entry(id).or_insert(0.0) += n;
            }
        }
    }

    /// From now on what was said of one topic counts as said of another.
    pub fn rename(&mut self, from: ComponentId, to: ComponentId) {
        for stretch in &mut self.stretches {
            if let Some(n) = stretch.words.remove(&from) {
                *stretch.words.entry(to).or_insert(0.0) += n;
            }
        }
    }

    /// Forgets topics that are gone, so that a history stays small.
    pub fn retain(&mut self, lives: impl Fn(ComponentId) -> bool) {
        for stretch in &mut self.stretches {
            stretch.words.retain(|id, _| lives(*id));
        }
    }

    /// Documents at the end of each stretch.
    pub fn documents(&self) -> Vec<u64> {
        let mut n = 0;
        let add = |stretch: &Stretch| {
            n += stretch.n_documents;
            n
        };
        self.stretches.iter().map(add).collect()
    }

    /// The share of a topic among the words of each stretch.
    pub fn shares(&self, id: ComponentId) -> Vec<f64> {
        let share = |stretch: &Stretch| {
            let all: f64 = stretch.words.values().sum();
            if all > 0.0 { stretch.words.get(&id).copied().unwrap_or(0.0) / all } else { 0.0 }
        };
        self.stretches.iter().map(share).collect()
    }

    fn halve(&mut self) {
        self.stretch *= 2;
        let pairs = std::mem::take(&mut self.stretches);
        self.stretches = pairs
            .chunks(2)
            .map(|pair| {
                let mut both = pair[0].clone();
                for other in &pair[1..] {
                    both.n_documents += other.n_documents;
                    for (id, n) in &other.words {
                        *both.words.entry(*id).or_insert(0.0) += n;
                    }
                }
                both
            })
            .collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(serial: u32) -> ComponentId {
        ComponentId { shard: 0, serial }
    }

    #[test]
    fn a_history_stays_small_and_keeps_its_sums() {
        let mut history = TopicHistory::default();
        let n = 50 * STRETCHES * 3 + 17;
        for document in 0..n {
            history.add([(id(1), 2.0), (id(2), if document < n / 2 { 2.0 } else { 6.0 })].into_iter());
        }
        let ends = history.documents();
        assert!(ends.len() <= STRETCHES && ends.last() == Some(&(n as u64)));
        let shares = history.shares(id(1));
        assert!((shares[0] - 0.5).abs() < 1e-12 && (shares[ends.len() - 1] - 0.25).abs() < 1e-12);
    }

    #[test]
    fn a_topic_renamed_takes_its_words_along() {
        let mut history = TopicHistory::default();
        history.add([(id(1), 1.0), (id(2), 3.0), (id(3), 4.0)].into_iter());
        history.rename(id(1), id(2));
        assert_eq!(history.shares(id(2)), [0.5]);
        history.retain(|one| one == id(3));
        assert_eq!(history.shares(id(3)), [1.0]);
    }
}
