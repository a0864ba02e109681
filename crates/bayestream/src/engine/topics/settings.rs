//! What can be set of a topic model.

use serde::{Deserialize, Serialize};

/// Settings of [`MmHdp`](super::MmHdp).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TopicSettings {
    /// Most topics in the master model: what a word costs grows with it.
    pub max_topics: usize,
    /// Concentration of a document's shares about those of the stream: small for documents of few topics.
    pub a0: f64,
    /// Concentration of the stream's shares: the weight of a topic not met yet.
    pub gamma: f64,
    /// Least weight of the open topic in each document, so that new themes are noticed in a long stream too.
    pub a_new: f64,
    /// Dirichlet precision of a new topic: how many words it takes to move it.
    pub s0: f64,
    /// Words that a new topic thinks there are: few make many narrow topics. By the first documents if not given.
    pub prior_words: Option<f64>,
    /// How far a new topic expects words as often as the whole stream has them; for the rest each word is as likely as any
    /// other. With 0 topics compete for the words that all of them use, and fewer of many topics are told apart.
    pub common: f64,
    /// Words that the open topic must explain to become a topic.
    pub birth: f64,
    /// Topics given up for new ones, every [`RECYCLE_EVERY`] documents, when all are in use.
    pub recycle: usize,
    /// Documents that a topic lives at least.
    pub protect: u64,
    /// Most words a topic remembers, as a cap of its precision; none to remember all.
    pub memory: Option<f64>,
    /// Topics that overlap more than this (Bhattacharyya coefficient) are one in a snapshot.
    pub merge_above: f64,
    /// Topics with a smaller share of the words are left out of a snapshot.
    pub show_above: f64,
}

/// Documents between two looks at which topics to give up.
pub const RECYCLE_EVERY: u64 = 250;

/// Documents held back at first, to tell how many words there are.
pub const HELD: usize = 250;

impl Default for TopicSettings {
    fn default() -> Self {
        TopicSettings {
            max_topics: 300,
            a0: 3.0,
            gamma: 1.0,
            a_new: 0.5,
            s0: 100.0,
            prior_words: None,
            common: 0.4,
            birth: 5.0,
            recycle: 2,
            protect: 1000,
            memory: None,
            merge_above: 0.7,
            show_above: 0.002,
        }
    }
}

impl TopicSettings {
    /// What is wrong with these settings, if anything is.
    pub fn fault(&self) -> Option<String> {
        let positive = |value: f64| value.is_finite() && value > 0.0;
        let share = |value: f64| (0.0..=1.0).contains(&value);
        if !(1..=MOST_TOPICS).contains(&self.max_topics) {
            return Some(format!("max_topics is {}, must be from 1 to {MOST_TOPICS}", self.max_topics));
        }
        for (name, value) in [("a0", self.a0), ("gamma", self.gamma), ("a_new", self.a_new), ("birth", self.birth)] {
            if !(positive(value) && (1e-6..=1e6).contains(&value)) {
                return Some(format!("{name} is {value}, must be from 1e-6 to 1e6"));
            }
        }
        if !(1.0..=1e6).contains(&self.s0) {
            return Some(format!("s0 is {}, must be from 1 to 1e6", self.s0));
        }
        if let Some(words) = self.prior_words.filter(|words| !(2.0..=1e9).contains(words)) {
            return Some(format!("prior_words is {words}, must be from 2 to 1e9"));
        }
        if let Some(memory) = self.memory.filter(|memory| !(positive(*memory) && *memory >= self.s0)) {
            return Some(format!("memory is {memory}, must be at least s0, which is {}", self.s0));
        }
        if !(0.0..=0.99).contains(&self.common) {
            return Some(format!("common is {}, must be from 0 to 0.99", self.common));
        }
        for (name, value) in [("merge_above", self.merge_above), ("show_above", self.show_above)] {
            if !share(value) {
                return Some(format!("{name} is {value}, must be from 0 to 1"));
            }
        }
        None
    }
}

/// A bound for what a damaged file may ask for.
const MOST_TOPICS: usize = 10_000;
