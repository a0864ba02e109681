//! Latent Dirichlet allocation: every word of a document has a topic of its own, \[BMM\] section 4.3.
//!
//! The model: T − 1 ~ Poisson(λ − 1) for the stream; per document θ ~ Dirichlet(ν₀, T); per word z ~ θ, word ~ φ_z.
//! The loop, per word: b_z = E φ_z of the word, no logarithms; shares, λ and ν by the exact sum over T; moment matching of
//! every topic with a share that matters. ν starts anew with every document, λ and the topics go on.
//!
//! Deviates: T is summed over and not drawn; ν adds up shares, where ν = α remembers the last twenty words or so; λ does
//! not fall below its first value, from where it could not rise again. Words come in random order: a document is counts.

use super::ledger::Ledger;
use super::merge::{self, Shard};
use super::naive_bayes::{push_shares, restored, tokens};
use super::topics::WordTopics;
use crate::data::Documents;
use crate::engine::bmm::{BmmSettings, Mixing, MixingWork, Rule};
use crate::engine::{DocumentLearner, StepReport};
use crate::model::Variant;
use crate::num;
use crate::structure::{DocumentScores, EventLog, LogScore, Topic, TopicHistory};
use serde::{Deserialize, Serialize};

/// Chance of more topics than are looked at.
const LEFT: f64 = 1e-4;
/// Shares below this do not move a topic.
const NEGLIGIBLE: f64 = 1e-6;
/// β₀ unless given.
const BETA0: f64 = 0.006;

/// The learner of `lda/bmm`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LdaBmm {
    settings: BmmSettings,
    seed: u64,
    shard: u32,
    mixing: Mixing,
    topics: WordTopics,
    ledger: Ledger,
    #[serde(skip)]
    work: Work,
}

#[derive(Clone, Debug, Default)]
struct Work {
    b: Vec<f64>,
    mixing: MixingWork,
    /// The document, word by word.
    tokens: Vec<u32>,
    /// Words of the document that each topic explained.
    words: Vec<f64>,
}

impl Work {
    /// Lays a document out word by word in an order that does not hang on how words are numbered: repeats of a word one
    /// after the other would count for more than they say.
    fn lay_out(&mut self, words: &[u32], counts: &[u32], rng: &mut num::Rng) {
        self.tokens.clear();
        for (&word, &count) in words.iter().zip(counts) {
            self.tokens.extend(std::iter::repeat_n(word, count as usize));
        }
        rng.shuffle(&mut self.tokens);
    }
}

impl LdaBmm {
    /// The settings it was made with.
    pub fn settings(&self) -> &BmmSettings {
        &self.settings
    }

    /// A learner that has seen nothing; [`BmmSettings::for_lda`] has the settings that suit it.
    pub fn new(settings: &BmmSettings, seed: u64, shard: u32) -> LdaBmm {
        LdaBmm {
            mixing: match settings.variant {
                Variant::Default => Mixing::new(settings.lambda0, settings.gamma).with_floor(),
                Variant::Paper => Mixing::new(settings.lambda0, settings.gamma),
            },
            topics: WordTopics::new(settings.beta0.unwrap_or(BETA0)),
            ledger: Ledger::new(shard),
            settings: settings.clone(),
            seed,
            shard,
            work: Work::default(),
        }
    }

    /// λ, the expected number of topics; it is not a count of those that were seen.
    pub fn lambda(&self) -> f64 {
        self.mixing.lambda()
    }

    /// One learner of all documents that the parts have seen; there is at least one, and their order is canonical. With
    /// each part come the numbers that its words have among all `n_words`.
    pub fn merged(parts: &[(&LdaBmm, &[Option<u32>])], n_words: usize, shard: u32) -> LdaBmm {
        let first = parts[0].0;
        let shards: Vec<Shard<'_>> = parts
            .iter()
            .map(|(part, numbers)| Shard::renumbered((&part.mixing, &part.topics, &part.ledger), numbers, n_words))
            .collect();
        let (mixing, topics, ledger) = merge::merged(&shards, &first.settings, shard, false);
        let (settings, work) = (first.settings.clone(), Work::default());
        LdaBmm { settings, seed: first.seed, shard, mixing, topics, ledger, work }
    }

    /// α_d: the Dirichlet parameters of the topics in the document learnt last.
    pub fn document_topics(&self) -> &[f64] {
        self.mixing.nu()
    }

    /// Learns a document; returns the log-probability of its words, each given those before it.
    fn learn(&mut self, words: &[u32], counts: &[u32]) -> f64 {
        let rule = self.settings.rule();
        let Self { settings, mixing, topics, ledger, work, .. } = self;
        let mut rng = num::stream(self.seed, u64::from(self.shard), ledger.n_seen);
        work.lay_out(words, counts, &mut rng);
        work.words.clear();
        mixing.reset_nu(settings.gamma);
        let mut log_density = 0.0;
        for at in 0..work.tokens.len() {
            let word = work.tokens[at];
            let k = match rule {
                Rule::Sampled { draws } => {
                    mixing.attend_drawn(draws, settings.max_components, &mut rng, &mut work.mixing)
                }
                _ => mixing.attend(LEFT, settings.max_components, &mut work.mixing),
            };
            work.b.resize(k, 0.0);
            topics.probabilities(word, &mut work.b[..k]);
            log_density += mixing.weigh(&work.b, &mut work.mixing).ln();
            mixing.learn(rule, &work.b, 1.0, &mut work.mixing);
            if work.words.len() < k {
                work.words.resize(k, 0.0);
            }
            for (z, &share) in work.mixing.shares().iter().enumerate() {
                work.words[z] += share;
                if share > NEGLIGIBLE {
                    while topics.len() <= z {
                        topics.push_topic();
                    }
                    topics.blend_word(z, word, share.min(1.0));
                }
            }
        }
        ledger.reach(work.words.len());
        ledger.book(&work.words);
        if let Some(memory) = settings.memory {
            let keep = 1.0 - 1.0 / memory;
            ledger.forget(keep);
            (0..topics.len()).for_each(|z| topics.forget(z, keep));
        }
        log_density
    }

    /// The log-probability of a document's words, each given those before it, with topics and λ as they are; `into`
    /// takes the words that each topic explains.
    fn weigh(&self, words: &[u32], counts: &[u32], mixing: &mut Mixing, work: &mut Work) -> f64 {
        work.lay_out(words, counts, &mut num::stream(self.seed, u64::from(self.shard), 0));
        work.words.clear();
        mixing.reset_nu(self.settings.gamma);
        let rule = match self.settings.rule() {
            Rule::Soft => Rule::Soft,
            Rule::Matched | Rule::Sampled { .. } => Rule::Matched,
        };
        let (lambda, mut log_density) = (self.mixing.lambda(), 0.0);
        for at in 0..work.tokens.len() {
            let k = mixing.attend(LEFT, self.settings.max_components, &mut work.mixing);
            work.b.resize(k, 0.0);
            self.topics.probabilities(work.tokens[at], &mut work.b[..k]);
            log_density += mixing.weigh(&work.b, &mut work.mixing).ln();
            mixing.learn(rule, &work.b, 1.0, &mut work.mixing);
            mixing.set_lambda(lambda);
            work.words.resize(k.max(work.words.len()), 0.0);
            work.words.iter_mut().zip(work.mixing.shares()).for_each(|(sum, share)| *sum += share);
        }
        log_density
    }
}

impl DocumentLearner for LdaBmm {
    fn update(&mut self, documents: &Documents<'_>, n_words: usize) -> StepReport {
        let mut report = StepReport { n_rows: documents.len(), ..StepReport::default() };
        let known = documents.largest_word().map_or(0, |word| word as usize + 1);
        self.topics.reach_words(n_words.max(known));
        for (words, counts) in documents.iter() {
            self.ledger.n_seen += 1;
            if words.is_empty() {
                self.mixing.reset_nu(self.settings.gamma);
                continue;
            }
            let log_density = self.learn(words, counts);
            let n: u64 = counts.iter().map(|c| u64::from(*c)).sum();
            self.ledger.scores.push_words(log_density, n);
            report.log_score += log_density;
            report.n_scored += n as usize;
        }
        report.k_implemented = self.k_implemented();
        report.n_events = self.ledger.events.n_total();
        report
    }

    fn forget_words(&mut self, words: &[u32]) {
        words.iter().for_each(|word| self.topics.forget_word(*word));
    }

    fn topics(&self) -> Vec<Topic> {
        self.ledger.topics(&self.topics, self.settings.delta)
    }

    fn history(&self) -> &TopicHistory {
        &self.ledger.history
    }

    fn score(&self, documents: &Documents<'_>) -> DocumentScores {
        let groups = self.ledger.groups(&self.topics, self.settings.delta);
        let mut scores =
            DocumentScores { topics: groups.iter().map(|g| self.ledger.id(g[0])).collect(), ..Default::default() };
        let (mut mixing, mut work) = (self.mixing.clone(), Work::default());
        for (words, counts) in documents.iter() {
            let known = self.topics.n_words() > 0;
            let log_density = if known { self.weigh(words, counts, &mut mixing, &mut work) } else { 0.0 };
            scores.log_likelihood.push(log_density);
            push_shares(&groups, &work.words, &mut scores.shares);
        }
        scores.n_tokens = tokens(documents);
        scores
    }

    fn n_seen(&self) -> u64 {
        self.ledger.n_seen
    }

    fn k_implemented(&self) -> usize {
        self.ledger.n_living()
    }

    fn events(&self) -> &EventLog {
        &self.ledger.events
    }

    fn log_score(&self) -> LogScore {
        self.ledger.scores.report()
    }

    fn restore(&mut self, n_words: usize) -> Result<(), String> {
        restored(&self.settings, &self.mixing, &self.topics, &self.ledger, n_words)
    }
}
