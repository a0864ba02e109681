//! Topics at one moment, with their words.

use crate::engine::DocumentLearner;
use crate::structure::{EventLog, LogScore, Topic, TopicHistory};
use crate::text::{Language, Vocabulary};

/// How much a word's own probability counts beside how much more likely the topic makes it, when words are chosen to
/// describe a topic (Sievert and Shirley 2014 found 0.6 by asking people).
const RELEVANCE: f64 = 0.6;
/// Words of a topic by which its language is told.
const LIKELIEST: usize = 10;

/// Topics of decreasing weight, and the words that describe them.
#[derive(Clone, Debug)]
pub struct TopicSnapshot {
    /// Documents the learner had seen.
    pub n_seen: u64,
    /// Words in the vocabulary.
    pub n_words: usize,
    /// Topics in the learner's master model.
    pub k_implemented: usize,
    /// The topics; `k_realized` is their number.
    pub topics: Vec<Topic>,
    /// Shares of the topics along the stream.
    pub history: TopicHistory,
    /// Log-scores along the stream, per word.
    pub log_score: LogScore,
    /// The last events.
    pub events: EventLog,
    /// Words by their number.
    words: Vec<String>,
    /// Probability of each word in the stream, as the topics shown have it.
    overall: Vec<f64>,
}

/// A word that describes a topic.
#[derive(Clone, Debug, PartialEq)]
pub struct TopWord<'a> {
    /// The word.
    pub word: &'a str,
    /// Its probability in the topic.
    pub probability: f64,
    /// `λ log p(w|topic) + (1 − λ) log p(w|topic)/p(w)`, by which words are ordered.
    pub relevance: f64,
}

impl TopicSnapshot {
    pub(super) fn new(learner: &dyn DocumentLearner, vocabulary: &Vocabulary) -> TopicSnapshot {
        let topics = learner.topics();
        let n_words = vocabulary.len();
        let name = |number: usize| vocabulary.word(number as u32).unwrap_or_default().to_string();
        let mut overall = vec![0.0; n_words];
        let total: f64 = topics.iter().map(|topic| topic.weight).sum();
        for topic in &topics {
            for (sum, p) in overall.iter_mut().zip(&topic.words) {
                *sum += topic.weight / total * f64::from(*p);
            }
        }
        TopicSnapshot {
            n_seen: learner.n_seen(),
            n_words: vocabulary.n_words(),
            k_implemented: learner.k_implemented(),
            topics,
            history: learner.history().clone(),
            log_score: learner.log_score(),
            events: learner.events().clone(),
            words: (0..n_words).map(name).collect(),
            overall,
        }
    }

    /// How many topics the snapshot has.
    pub fn k_realized(&self) -> usize {
        self.topics.len()
    }

    /// The words that describe a topic best, by relevance rather than by frequency.
    pub fn top_words(&self, topic: &Topic, n: usize) -> Vec<TopWord<'_>> {
        let mut found: Vec<(f64, usize)> = topic
            .words
            .iter()
            .enumerate()
            .filter(|(number, p)| **p > 0.0 && !self.words[*number].is_empty())
            .map(|(number, p)| {
                let log_p = f64::from(*p).ln();
                let lift = log_p - self.overall[number].max(f64::MIN_POSITIVE).ln();
                (RELEVANCE * log_p + (1.0 - RELEVANCE) * lift, number)
            })
            .collect();
        let n = n.min(found.len());
        if n == 0 {
            return Vec::new();
        }
        let order = |a: &(f64, usize), b: &(f64, usize)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
        found.select_nth_unstable_by(n - 1, order);
        found.truncate(n);
        found.sort_by(order);
        let word = |(relevance, number): (f64, usize)| TopWord {
            word: &self.words[number],
            probability: f64::from(topic.words[number]),
            relevance,
        };
        found.into_iter().map(word).collect()
    }

    /// The language whose stop words most of the likeliest words of the topics are, each topic by its weight; none where
    /// topics are made of other words.
    pub fn stop_language(&self) -> Option<Language> {
        let likeliest: Vec<(f64, Vec<&str>)> =
            self.topics.iter().map(|topic| (topic.weight, self.likeliest(topic))).collect();
        let share = |language: Language| -> f64 {
            let list = language.stop_words().unwrap_or_default();
            let of_topic = |(weight, words): &(f64, Vec<&str>)| {
                let n_stop = words.iter().filter(|word| list.contains(word)).count();
                weight * n_stop as f64 / words.len().max(1) as f64
            };
            likeliest.iter().map(of_topic).sum()
        };
        let best = Language::all().map(|language| (share(language), language)).max_by(|a, b| a.0.total_cmp(&b.0));
        best.filter(|(share, _)| *share > 0.5).map(|(_, language)| language)
    }

    /// The words that a topic has most often.
    fn likeliest(&self, topic: &Topic) -> Vec<&str> {
        let likelier = |a: &usize, b: &usize| topic.words[*b].total_cmp(&topic.words[*a]).then(a.cmp(b));
        let mut order: Vec<usize> = (0..topic.words.len()).collect();
        if order.len() > LIKELIEST {
            order.select_nth_unstable_by(LIKELIEST - 1, likelier);
            order.truncate(LIKELIEST);
        }
        order.into_iter().map(|number| self.words[number].as_str()).collect()
    }

    /// The share of a topic among the words of each stretch of the stream.
    pub fn shares_over_time(&self, topic: &Topic) -> Vec<f64> {
        self.history.shares(&topic.members)
    }
}
