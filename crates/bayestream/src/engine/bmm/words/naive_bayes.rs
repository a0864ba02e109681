//! Mixture of multinomials: every document has one topic, \[BMM\] section 4.2.
//!
//! The model: T − 1 ~ Poisson(λ − 1), θ ~ Dirichlet(ν), φ_z ~ Dirichlet(β_z), z ~ θ, words ~ φ_z.
//! The loop, per document: Pólya predictive b_z of all its words under every topic, shares p_z by the exact sum over T,
//! and moment matching of every topic with a share that matters.
//!
//! Deviates: a topic without words expects words as often as the stream has them, and is worth as many words as some
//! documents have, where \[BMM\] has 1/√V for every word; topics that nothing is known of share no document among them;
//! λ does not fall below its first value. See `papers/bmm.md`.

use super::ledger::Ledger;
use super::merge::{self, Shard};
use super::topics::{PolyaWork, WordTopics};
use crate::data::Documents;
use crate::engine::bmm::LARGEST_MASS;
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
/// Documents whose words a topic without words is worth in the end, unless β₀ is given.
const PRIOR_DOCUMENTS: f64 = 8.0;
/// Documents seen per further document that it is worth, from one on.
const RISE: f64 = 20.0;
/// Documents by which their length is judged.
const FIRST: u64 = 100;

/// The learner of `naive-bayes/bmm`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct NaiveBayesBmm {
    settings: BmmSettings,
    seed: u64,
    shard: u32,
    mixing: Mixing,
    topics: WordTopics,
    ledger: Ledger,
    lengths: Lengths,
    #[serde(skip)]
    work: Work,
}

/// How long documents are, by the first of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Lengths {
    n_documents: u64,
    n_words: f64,
}

impl Lengths {
    fn tell(&mut self, n_words: f64) {
        if self.n_documents < FIRST {
            self.n_documents += 1;
            self.n_words += n_words;
        }
    }

    fn mean(&self) -> f64 {
        self.n_words / self.n_documents.max(1) as f64
    }

    fn is_sound(&self) -> bool {
        self.n_words >= self.n_documents as f64 && self.n_words <= LARGEST_MASS
    }
}

/// Documents whose words a topic without words is worth, when so many were seen: worth more than these have together, the
/// first topic would take in all that come.
fn prior_documents(n_seen: u64) -> f64 {
    (1.0 + n_seen as f64 / RISE).min(PRIOR_DOCUMENTS)
}

#[derive(Clone, Debug, Default)]
struct Work {
    polya: PolyaWork,
    log_b: Vec<f64>,
    b: Vec<f64>,
    mixing: MixingWork,
    words: Vec<f64>,
}

impl Work {
    /// Weighs what is in `log_b`, whose last entry is a topic without words, for `k` topics; returns the log-density.
    fn weigh(&mut self, mixing: &Mixing, k: usize) -> f64 {
        let new = self.log_b.pop().unwrap_or(0.0);
        self.log_b.resize(k, new);
        let joint = self.log_b.iter().zip(mixing.nu()).map(|(log_b, nu)| log_b + nu.ln());
        let top = joint.fold(f64::NEG_INFINITY, f64::max);
        self.b.clear();
        self.b.extend(self.log_b.iter().map(|log_b| (log_b - top).min(700.0).exp()));
        mixing.weigh(&self.b, &mut self.mixing).ln() + top
    }
}

impl NaiveBayesBmm {
    /// The settings it was made with.
    pub fn settings(&self) -> &BmmSettings {
        &self.settings
    }

    /// A learner that has seen nothing.
    pub fn new(settings: &BmmSettings, seed: u64, shard: u32) -> NaiveBayesBmm {
        // λ has no way below its first value, so that this must be one it could come to.
        let lambda = settings.lambda0.min(settings.max_components as f64);
        let mixing = Mixing::new(lambda, settings.gamma);
        // Until the first document says more.
        let beta0 = settings.beta0.unwrap_or(1.0);
        let (mixing, topics) = match settings.variant {
            Variant::Default => (mixing.with_floor(), WordTopics::with_common(beta0, settings.common)),
            Variant::Paper => (mixing, WordTopics::new(beta0)),
        };
        NaiveBayesBmm {
            mixing,
            topics,
            ledger: Ledger::new(shard),
            lengths: Lengths::default(),
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
    pub fn merged(parts: &[(&NaiveBayesBmm, &[Option<u32>])], n_words: usize, shard: u32) -> NaiveBayesBmm {
        let first = parts[0].0;
        let shards: Vec<Shard<'_>> = parts
            .iter()
            .map(|(part, numbers)| Shard::renumbered((&part.mixing, &part.topics, &part.ledger), numbers, n_words))
            .collect();
        let (mixing, topics, ledger) = merge::merged(&shards, &first.settings, shard, true);
        let lengths = Lengths {
            n_documents: parts.iter().map(|(part, _)| part.lengths.n_documents).sum(),
            n_words: parts.iter().map(|(part, _)| part.lengths.n_words).sum(),
        };
        let (settings, work) = (first.settings.clone(), Work::default());
        NaiveBayesBmm { settings, seed: first.seed, shard, mixing, topics, ledger, lengths, work }
    }

    /// Log-probability of each document by E φ and E θ alone, the words of a document independent of each other: what
    /// the paper's table seems to show. The proper predictive density is in [`DocumentLearner::score`].
    pub fn plug_in(&self, documents: &Documents<'_>) -> Vec<f64> {
        self.scored(documents, true, |_| ())
    }

    /// Weighs documents one by one without learning; `each` sees the shares.
    fn scored(&self, documents: &Documents<'_>, plug_in: bool, mut each: impl FnMut(&[f64])) -> Vec<f64> {
        let mut work = Work::default();
        let mut mixing = self.mixing.clone();
        let mut out = Vec::with_capacity(documents.len());
        for (words, counts) in documents.iter() {
            if words.is_empty() || self.topics.n_words() == 0 {
                each(&[]);
                out.push(0.0);
                continue;
            }
            let k = mixing.attend(LEFT, self.settings.max_components, &mut work.mixing);
            match plug_in {
                true => self.topics.log_plug_in(words, counts, &mut work.log_b),
                false => self.topics.log_predictive(words, counts, &mut work.polya, &mut work.log_b),
            }
            out.push(work.weigh(&mixing, k));
            each(work.mixing.shares());
        }
        out
    }

    /// β₀ of topics to come, when `n` words follow.
    fn expect(&mut self, n: f64) {
        self.lengths.tell(n);
        if self.settings.beta0.is_none() {
            let n_words = self.topics.n_words() as f64;
            self.topics.set_beta0(match self.settings.variant {
                Variant::Default => prior_documents(self.ledger.n_seen) * self.lengths.mean() / n_words,
                Variant::Paper => 1.0 / n_words.sqrt(),
            });
        }
    }

    fn learn(&mut self, words: &[u32], counts: &[u32]) -> f64 {
        let n: f64 = counts.iter().map(|c| f64::from(*c)).sum();
        self.expect(n);
        let Self { settings, mixing, topics, ledger, work, .. } = self;
        let (rule, most) = (settings.rule(), settings.max_components);
        let k = match rule {
            Rule::Sampled { draws } => {
                let mut rng = num::stream(self.seed, u64::from(self.shard), ledger.n_seen);
                mixing.attend_drawn(draws, most, &mut rng, &mut work.mixing)
            }
            _ => mixing.attend(LEFT, most, &mut work.mixing),
        };
        topics.log_predictive(words, counts, &mut work.polya, &mut work.log_b);
        let log_density = work.weigh(mixing, k);
        if rule == Rule::Soft {
            work.mixing.gather(|z| !ledger.is_born(z));
        }
        mixing.learn(rule, &work.b, 1.0, &mut work.mixing);
        topics.count(words, counts);
        work.words.clear();
        for (z, &share) in work.mixing.shares().iter().enumerate() {
            work.words.push(n * share);
            if share > NEGLIGIBLE {
                while topics.len() <= z {
                    topics.push_topic();
                }
                topics.blend(z, words, counts, share.min(1.0));
            }
        }
        ledger.reach(k);
        ledger.book(&work.words);
        if let Some(memory) = settings.memory {
            let keep = 1.0 - 1.0 / memory;
            if rule == Rule::Soft {
                mixing.forget(settings.gamma, keep);
            }
            ledger.forget(keep);
            topics.forget_common(keep);
            (0..topics.len()).for_each(|z| topics.forget(z, keep));
        }
        log_density
    }
}

impl DocumentLearner for NaiveBayesBmm {
    fn update(&mut self, documents: &Documents<'_>, n_words: usize) -> StepReport {
        let mut report = StepReport { n_rows: documents.len(), ..StepReport::default() };
        let known = documents.largest_word().map_or(0, |word| word as usize + 1);
        self.topics.reach_words(n_words.max(known));
        for (words, counts) in documents.iter() {
            self.ledger.n_seen += 1;
            if words.is_empty() {
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
        let shares = &mut scores.shares;
        scores.log_likelihood = self.scored(documents, false, |by_topic| push_shares(&groups, by_topic, shares));
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
        if !self.lengths.is_sound() {
            return Err("its lengths of documents are inconsistent".into());
        }
        restored(&self.settings, &self.mixing, &self.topics, &self.ledger, n_words)
    }
}

/// What a file must satisfy.
pub(super) fn restored(
    settings: &BmmSettings,
    mixing: &Mixing,
    topics: &WordTopics,
    ledger: &Ledger,
    n_words: usize,
) -> Result<(), String> {
    settings.check()?;
    if !mixing.is_sound() || mixing.nu().len() > settings.max_components {
        return Err("what it knows of the number of topics is inconsistent".into());
    }
    if !topics.is_sound() || topics.n_words() > n_words || topics.len() > settings.max_components {
        return Err("its topics are inconsistent".into());
    }
    if !ledger.is_sound(topics.len()) {
        return Err("its records of topics are inconsistent".into());
    }
    Ok(())
}

/// Adds a document's shares of the groups, which add up to one; equal ones when none of them has a part in it.
pub(super) fn push_shares(groups: &[Vec<usize>], by_topic: &[f64], out: &mut Vec<f32>) {
    let share = |group: &Vec<usize>| group.iter().filter_map(|&z| by_topic.get(z)).sum::<f64>();
    let total: f64 = groups.iter().map(share).sum();
    let equal = 1.0 / groups.len().max(1) as f64;
    out.extend(groups.iter().map(|g| if total > 0.0 { share(g) / total } else { equal } as f32));
}

/// Words of each document, repeats included.
pub(super) fn tokens(documents: &Documents<'_>) -> Vec<u64> {
    documents.iter().map(|(_, counts)| counts.iter().map(|c| u64::from(*c)).sum()).collect()
}
