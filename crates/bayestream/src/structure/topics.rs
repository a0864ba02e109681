//! Topics as others see them: a snapshot's list, their shares along the stream, and documents scored by them.

use super::event::ComponentId;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A topic of a snapshot.
#[derive(Clone, Debug, PartialEq)]
pub struct Topic {
    /// Its name for life: that of the heaviest of its members.
    pub id: ComponentId,
    /// The topics of the master model that it stands for, the heaviest first.
    pub members: Vec<ComponentId>,
    /// Its share of the words of the stream.
    pub weight: f64,
    /// Its share of the recent stream over that of the stream before: 1 for a topic that keeps its share.
    pub trend: f64,
    /// The document from which on it was there, counted from 1: see [`TopicHistory::began`].
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
    /// How far each document lies on the side of each label, by the labels' numbers, document by document; empty without
    /// labels. Comparable between the labels of one model.
    pub margins: Vec<f32>,
    /// Labels that margins are for.
    pub n_labels: usize,
}

impl DocumentScores {
    /// The shares of a document, in the order of the topics.
    pub fn shares_of(&self, document: usize) -> &[f32] {
        let k = self.topics.len();
        &self.shares[document * k..(document + 1) * k]
    }

    /// The margins of a document, in the order of the labels; empty without labels.
    pub fn margins_of(&self, document: usize) -> &[f32] {
        &self.margins[document * self.n_labels..(document + 1) * self.n_labels]
    }

    /// Log-probability per word; none for a document without words.
    pub fn per_word(&self, document: usize) -> Option<f64> {
        let n = self.n_tokens[document];
        (n > 0).then(|| self.log_likelihood[document] / n as f64)
    }
}

/// Part of its largest share with which a topic has begun.
const FAIR_PART: f64 = 0.25;

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
    /// Words of all topics, those forgotten too.
    n_words: f64,
    words: BTreeMap<ComponentId, f64>,
}

impl Default for TopicHistory {
    fn default() -> Self {
        TopicHistory { stretch: Self::TOLD_EVERY, stretches: Vec::new() }
    }
}

impl TopicHistory {
    /// Documents after which a learner should tell a history what it learnt.
    pub const TOLD_EVERY: u64 = 50;

    /// Adds a few documents: how many, and the words that each topic explains in them.
    pub fn add(&mut self, n_documents: u64, words: impl Iterator<Item = (ComponentId, f64)>) {
        if self.stretches.last().is_none_or(|last| last.n_documents >= self.stretch) {
            if self.stretches.len() == STRETCHES {
                self.halve();
            }
            self.stretches.push(Stretch::default());
        }
        if let Some(last) = self.stretches.last_mut() {
            last.n_documents += n_documents;
            for (id, n) in words {
                last.n_words += n;
                *last.words.entry(id).or_insert(0.0) += n;
            }
        }
    }

    /// The share of topics in the latest tenth of the documents over their share before; 1 if there is nothing to compare.
    pub fn trend(&self, ids: &[ComponentId]) -> f64 {
        let n: u64 = self.stretches.iter().map(|stretch| stretch.n_documents).sum();
        let (mut recent, mut before, mut n_recent) = ((0.0, 0.0), (0.0, 0.0), 0);
        for stretch in self.stretches.iter().rev() {
            let side = if n_recent * 10 < n { &mut recent } else { &mut before };
            side.0 += stretch.of(ids);
            side.1 += stretch.n_words;
            n_recent += stretch.n_documents;
        }
        // One word more on both sides keeps a topic without words from being infinitely new.
        let share = |side: (f64, f64), other: (f64, f64)| (side.0 + side.1 / (side.1 + other.1)) / side.1;
        if recent.1 > 0.0 && before.1 > 0.0 { share(recent, before) / share(before, recent) } else { 1.0 }
    }

    /// The first document of the stretch in which these topics first had a fair part of the largest share they ever had,
    /// counted from 1; none if they never had a word. Slots are filled long before there is anything to fill them with, so
    /// when a topic began is not when its slot was opened.
    pub fn began(&self, ids: &[ComponentId]) -> Option<u64> {
        let shares = self.shares(ids);
        let largest = shares.iter().copied().fold(0.0, f64::max);
        let at = shares.iter().position(|share| *share > 0.0 && *share >= FAIR_PART * largest)?;
        Some(1 + self.stretches[..at].iter().map(|stretch| stretch.n_documents).sum::<u64>())
    }

    /// True when everything is a number: what a file must satisfy.
    pub fn is_sound(&self) -> bool {
        let number = |n: &f64| n.is_finite() && *n >= 0.0;
        self.stretch >= 1
            && self.stretch <= u64::MAX / 4
            && self.stretches.len() <= STRETCHES
            && self.stretches.iter().all(|s| {
                s.n_documents <= u64::MAX / (4 * STRETCHES as u64) && number(&s.n_words) && s.words.values().all(number)
            })
    }

    /// The histories of shards that were learnt side by side: each stretch of the joined history is as many documents of
    /// one shard as of the others.
    pub fn joined<'a>(histories: impl Iterator<Item = &'a TopicHistory>) -> TopicHistory {
        let mut histories: Vec<TopicHistory> = histories.cloned().collect();
        let longest = histories.iter().map(|history| history.stretch).max().unwrap_or(Self::TOLD_EVERY);
        for history in &mut histories {
            while history.stretch < longest {
                history.halve();
            }
        }
        let mut joined = TopicHistory { stretch: longest, stretches: Vec::new() };
        for history in &histories {
            for (at, stretch) in history.stretches.iter().enumerate() {
                match joined.stretches.get_mut(at) {
                    Some(both) => both.take(stretch),
                    None => joined.stretches.push(stretch.clone()),
                }
            }
        }
        joined.stretch =
            joined.stretches.iter().map(|stretch| stretch.n_documents).max().unwrap_or(longest).max(longest);
        joined
    }

    /// From now on what was said of one topic counts as said of another, for all topics at once.
    pub fn rename(&mut self, name: impl Fn(ComponentId) -> ComponentId) {
        for stretch in &mut self.stretches {
            for (id, n) in std::mem::take(&mut stretch.words) {
                *stretch.words.entry(name(id)).or_insert(0.0) += n;
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

    /// The share of topics, taken together, among the words of each stretch.
    pub fn shares(&self, ids: &[ComponentId]) -> Vec<f64> {
        let share = |stretch: &Stretch| if stretch.n_words > 0.0 { stretch.of(ids) / stretch.n_words } else { 0.0 };
        self.stretches.iter().map(share).collect()
    }

    fn halve(&mut self) {
        self.stretch *= 2;
        let pairs = std::mem::take(&mut self.stretches);
        self.stretches = pairs
            .chunks(2)
            .map(|pair| {
                let mut both = pair[0].clone();
                pair[1..].iter().for_each(|other| both.take(other));
                both
            })
            .collect();
    }
}

impl Stretch {
    /// Words of these topics.
    fn of(&self, ids: &[ComponentId]) -> f64 {
        ids.iter().filter_map(|id| self.words.get(id)).sum()
    }

    fn take(&mut self, other: &Stretch) {
        self.n_documents += other.n_documents;
        self.n_words += other.n_words;
        for (id, n) in &other.words {
            *self.words.entry(*id).or_insert(0.0) += n;
        }
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
            history.add(1, [(id(1), 2.0), (id(2), if document < n / 2 { 2.0 } else { 6.0 })].into_iter());
        }
        let ends = history.documents();
        assert!(ends.len() <= STRETCHES && ends.last() == Some(&(n as u64)));
        let shares = history.shares(&[id(1)]);
        assert!((shares[0] - 0.5).abs() < 1e-12 && (shares[ends.len() - 1] - 0.25).abs() < 1e-12);
    }

    #[test]
    fn a_topic_renamed_takes_its_words_along() {
        let mut history = TopicHistory::default();
        history.add(1, [(id(1), 1.0), (id(2), 3.0), (id(3), 4.0)].into_iter());
        history.rename(|one| if one == id(1) { id(2) } else { one });
        assert_eq!(history.shares(&[id(2)]), [0.5]);
        assert_eq!(history.shares(&[id(1), id(2), id(3)]), [1.0]);
        // Words of a topic that is gone were words all the same.
        history.retain(|one| one == id(3));
        assert_eq!(history.shares(&[id(3)]), [0.5]);
    }

    #[test]
    fn a_trend_compares_the_latest_tenth_with_the_rest() {
        let mut history = TopicHistory::default();
        assert_eq!(history.trend(&[id(1)]), 1.0);
        for piece in 0..20 {
            let fast = if piece < 18 { 100.0 } else { 400.0 };
            history.add(50, [(id(1), fast), (id(2), 1000.0 - fast)].into_iter());
        }
        assert!((history.trend(&[id(1)]) - 4.0).abs() < 0.01, "{}", history.trend(&[id(1)]));
        assert!((history.trend(&[id(1), id(2)]) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn a_topic_begins_when_it_first_has_a_fair_part_of_its_share() {
        let mut history = TopicHistory::default();
        assert_eq!(history.began(&[id(1)]), None);
        for piece in 0..20 {
            let late = if piece < 12 { 1.0 } else { 300.0 };
            history.add(50, [(id(1), late), (id(2), 1000.0)].into_iter());
        }
        assert_eq!(history.began(&[id(1)]), Some(601));
        assert_eq!(history.began(&[id(2)]), Some(1));
        assert_eq!(history.began(&[id(3)]), None);
    }

    #[test]
    fn shards_side_by_side_make_one_history() {
        let mut shards = [TopicHistory::default(), TopicHistory::default()];
        for piece in 0..300 {
            shards[0].add(50, [(id(1), 3.0)].into_iter());
            if piece < 40 {
                shards[1].add(50, [(id(2), 1.0)].into_iter());
            }
        }
        let joined = TopicHistory::joined(shards.iter());
        assert_eq!(joined.documents().last(), Some(&(50 * 340)));
        assert_eq!(joined.shares(&[id(1)])[0], 0.75);
        assert!(joined.is_sound() && joined.shares(&[id(1)]).last() == Some(&1.0));
    }
}
