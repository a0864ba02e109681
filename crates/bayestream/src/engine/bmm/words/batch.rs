//! Batch naive Bayes, to hold the streaming kind against: expectation-maximisation with smoothing, and variational Bayes
//! for a Dirichlet-process mixture cut off at so many topics (Blei & Jordan 2006).
//!
//! The loop: documents start in the topic of the most alike of a few of them, drawn at random; then weights and words of
//! topics from the documents' shares, and shares from these, until the bound gains next to nothing.
//!
//! Key: r_dz share of topic z in document d · n_z = Σ_d r_dz · n_zv words v in topic z · η smoothing, or prior of words ·
//! α concentration · ψ digamma.

use super::corpus::Corpus;
use super::ledger::Ledger;
use super::naive_bayes::{push_shares, tokens};
use super::topics::{PolyaWork, WordTopics};
use crate::data::Documents;
use crate::engine::{DocumentLearner, StepReport};
use crate::interrupt::{Interrupt, Interrupted};
use crate::num::{self, digamma, log_sum_exp};
use crate::structure::{DocumentScores, EventLog, LogScore, Topic, TopicHistory};
use serde::{Deserialize, Serialize};

/// Settings of batch naive Bayes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BatchSettings {
    /// Topics; with a Dirichlet process, the most there may be.
    pub n_topics: usize,
    /// Added to every word of every topic; with a Dirichlet process, the parameter of its prior of words.
    pub smoothing: f64,
    /// Concentration of the Dirichlet process.
    pub alpha: f64,
    /// Most rounds.
    pub iterations: usize,
    /// Topics with a smaller share of the words are left out of snapshots.
    pub delta: f64,
}

impl Default for BatchSettings {
    fn default() -> Self {
        BatchSettings { n_topics: 100, smoothing: 1.0, alpha: 1.0, iterations: 40, delta: 1e-3 }
    }
}

impl BatchSettings {
    /// What suits the Dirichlet process: a prior of few words per topic.
    pub fn for_dirichlet_process() -> BatchSettings {
        BatchSettings { smoothing: 0.012, ..BatchSettings::default() }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Method {
    Em,
    VbDp,
}

/// The gain per word below which rounds end.
const SETTLED: f64 = 1e-5;

/// The learner of `naive-bayes/em` and `naive-bayes/vb-dp`: keeps all documents and fits them when a pass ends.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct NaiveBayesBatch {
    method: Method,
    settings: BatchSettings,
    seed: u64,
    shard: u32,
    n_words: usize,
    n_seen: u64,
    corpus: Corpus,
    fit: Option<Fit>,
    none: Ledger,
}

/// What was fitted.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Fit {
    log_weights: Vec<f64>,
    topics: WordTopics,
    ledger: Ledger,
}

/// Weights and log-probabilities of words from the documents' shares.
struct Round {
    log_weights: Vec<f64>,
    /// Word by word, the topics side by side.
    log_words: Vec<f64>,
}

impl NaiveBayesBatch {
    /// The settings it was made with.
    pub fn settings(&self) -> &BatchSettings {
        &self.settings
    }

    /// Expectation-maximisation.
    pub fn em(settings: &BatchSettings, seed: u64, shard: u32) -> NaiveBayesBatch {
        NaiveBayesBatch::of(Method::Em, settings, seed, shard)
    }

    /// Variational Bayes for a Dirichlet-process mixture.
    pub fn vb_dp(settings: &BatchSettings, seed: u64, shard: u32) -> NaiveBayesBatch {
        NaiveBayesBatch::of(Method::VbDp, settings, seed, shard)
    }

    fn of(method: Method, settings: &BatchSettings, seed: u64, shard: u32) -> NaiveBayesBatch {
        NaiveBayesBatch {
            method,
            settings: settings.clone(),
            seed,
            shard,
            n_words: 0,
            n_seen: 0,
            corpus: Corpus::default(),
            fit: None,
            none: Ledger::new(shard),
        }
    }

    /// Log-probability of each document by the expected words and weights of topics alone.
    pub fn plug_in(&self, documents: &Documents<'_>) -> Vec<f64> {
        self.fitted().map_or_else(|| vec![0.0; documents.len()], |fit| fit.scored(documents, true, |_| ()))
    }

    /// The fit, made now when it has not been.
    fn fitted(&self) -> Option<Fit> {
        self.fit.clone().or_else(|| self.fit_now(&Interrupt::default()))
    }

    /// A fit of all documents; what is left of it after an interrupt is of no use.
    fn fit_now(&self, interrupt: &Interrupt) -> Option<Fit> {
        let documents = self.corpus.documents()?;
        let told: Vec<usize> = (0..documents.len()).filter(|&d| !documents.get(d).0.is_empty()).collect();
        if told.is_empty() {
            return None;
        }
        let k = self.settings.n_topics.min(told.len());
        let mut round = self.first_round(&documents, &told, k);
        let n_tokens = documents.n_tokens() as f64;
        let (mut shares, mut before) = (Vec::new(), f64::NEG_INFINITY);
        for _ in 0..self.settings.iterations.max(1) {
            let bound = expect(&documents, &round, k, &mut shares, interrupt);
            if interrupt.is_raised() {
                return None;
            }
            round = self.round(&documents, &shares, k);
            if bound - before < SETTLED * n_tokens {
                break;
            }
            before = bound;
        }
        Some(self.settled(&documents, &shares, k))
    }

    /// Topics that are a document each, the rest of them like all words.
    fn first_round(&self, documents: &Documents<'_>, told: &[usize], k: usize) -> Round {
        let mut order = told.to_vec();
        num::stream(self.seed, u64::from(self.shard), 0).shuffle(&mut order);
        let v = self.n_words;
        let mut all = vec![1.0; v];
        for (words, counts) in documents.iter() {
            words.iter().zip(counts).for_each(|(&w, &c)| all[w as usize] += f64::from(c));
        }
        let total: f64 = all.iter().sum();
        let mut log_words = vec![0.0; v * k];
        for (word, row) in log_words.chunks_exact_mut(k).enumerate() {
            row.fill(0.5 * all[word] / total);
        }
        for (z, &document) in order[..k].iter().enumerate() {
            let (words, counts) = documents.get(document);
            let n: f64 = counts.iter().map(|c| f64::from(*c)).sum();
            words.iter().zip(counts).for_each(|(&w, &c)| log_words[w as usize * k + z] += 0.5 * f64::from(c) / n);
        }
        num::ln_slice(&mut log_words);
        Round { log_weights: vec![-(k as f64).ln(); k], log_words }
    }

    /// Σ_d r_dz, and Σ_d r_dz x_dv word by word.
    fn sums(&self, documents: &Documents<'_>, shares: &[f64], k: usize) -> (Vec<f64>, Vec<f64>) {
        let (mut counts_of, mut words_of) = (vec![0.0; k], vec![0.0; self.n_words * k]);
        for ((words, counts), shares) in documents.iter().zip(shares.chunks_exact(k)) {
            if words.is_empty() {
                continue;
            }
            let some: Vec<(usize, f64)> =
                shares.iter().copied().enumerate().filter(|(_, share)| *share > 1e-12).collect();
            some.iter().for_each(|&(z, share)| counts_of[z] += share);
            for (&word, &count) in words.iter().zip(counts) {
                let row = &mut words_of[word as usize * k..][..k];
                some.iter().for_each(|&(z, share)| row[z] += share * f64::from(count));
            }
        }
        (counts_of, words_of)
    }

    fn round(&self, documents: &Documents<'_>, shares: &[f64], k: usize) -> Round {
        let (counts_of, mut log_words) = self.sums(documents, shares, k);
        let eta = self.settings.smoothing;
        let mut totals = vec![self.n_words as f64 * eta; k];
        for row in log_words.chunks_exact_mut(k) {
            for (total, n) in totals.iter_mut().zip(row) {
                *total += *n;
                *n += eta;
            }
        }
        match self.method {
            Method::Em => {
                num::ln_slice(&mut log_words);
                num::ln_slice(&mut totals);
            }
            Method::VbDp => {
                log_words.iter_mut().for_each(|n| *n = digamma(*n));
                totals.iter_mut().for_each(|n| *n = digamma(*n));
            }
        }
        for row in log_words.chunks_exact_mut(k) {
            row.iter_mut().zip(&totals).for_each(|(log, total)| *log -= total);
        }
        Round { log_weights: self.log_weights(&counts_of), log_words }
    }

    /// ln π_z, or its expectation under the sticks of the Dirichlet process.
    fn log_weights(&self, counts: &[f64]) -> Vec<f64> {
        match self.method {
            Method::Em => {
                let total: f64 = counts.iter().sum();
                counts.iter().map(|n| (n / total).max(f64::MIN_POSITIVE).ln()).collect()
            }
            Method::VbDp => {
                // Sticks in the order of size: the bound is higher, and the order of topics means nothing.
                let mut order: Vec<usize> = (0..counts.len()).collect();
                order.sort_by(|&a, &b| counts[b].total_cmp(&counts[a]).then(a.cmp(&b)));
                let mut beyond: f64 = counts.iter().sum();
                let (mut out, mut left) = (vec![0.0; counts.len()], 0.0);
                for &z in &order {
                    beyond -= counts[z];
                    let (taken, rest) = (1.0 + counts[z], self.settings.alpha + beyond.max(0.0));
                    let all = digamma(taken + rest);
                    out[z] = left + digamma(taken) - all;
                    left += digamma(rest) - all;
                }
                out
            }
        }
    }

    fn settled(&self, documents: &Documents<'_>, shares: &[f64], k: usize) -> Fit {
        let (counts_of, words_of) = self.sums(documents, shares, k);
        let total: f64 = counts_of.iter().sum();
        // Expected weights: of topics without documents next to nothing is left.
        let least = 1e-12;
        let log_weights = counts_of.iter().map(|n| (n / total).max(least).ln()).collect();
        let topics = WordTopics::of_counts(&words_of, k, self.settings.smoothing);
        let mut ledger = Ledger::new(self.shard);
        ledger.reach(k);
        let mut words = vec![0.0; k];
        for ((_, counts), shares) in documents.iter().zip(shares.chunks_exact(k)) {
            ledger.n_seen += 1;
            let n: f64 = counts.iter().map(|c| f64::from(*c)).sum();
            words.iter_mut().zip(shares).for_each(|(words, share)| *words = n * share);
            ledger.book(&words);
        }
        Fit { log_weights, topics, ledger }
    }
}

/// Shares of topics in every document; returns the log-probability of all.
fn expect(documents: &Documents<'_>, round: &Round, k: usize, shares: &mut Vec<f64>, interrupt: &Interrupt) -> f64 {
    shares.clear();
    let mut bound = 0.0;
    for (words, counts) in documents.iter() {
        if interrupt.is_raised() {
            break;
        }
        let first = shares.len();
        shares.extend_from_slice(&round.log_weights);
        let joint = &mut shares[first..];
        for (&word, &count) in words.iter().zip(counts) {
            let (row, count) = (&round.log_words[word as usize * k..][..k], f64::from(count));
            joint.iter_mut().zip(row).for_each(|(joint, log)| *joint += count * log);
        }
        let total = log_sum_exp(joint);
        joint.iter_mut().for_each(|joint| *joint -= total);
        num::exp_slice(joint);
        bound += total;
    }
    bound
}

impl Fit {
    fn scored(&self, documents: &Documents<'_>, plug_in: bool, mut each: impl FnMut(&[f64])) -> Vec<f64> {
        let (mut polya, mut log_b) = (PolyaWork::default(), Vec::new());
        let mut out = Vec::with_capacity(documents.len());
        for (words, counts) in documents.iter() {
            match plug_in {
                true => self.topics.log_plug_in(words, counts, &mut log_b),
                false => self.topics.log_predictive(words, counts, &mut polya, &mut log_b),
            }
            log_b.pop();
            log_b.iter_mut().zip(&self.log_weights).for_each(|(log_b, weight)| *log_b += weight);
            let total = if words.is_empty() { 0.0 } else { log_sum_exp(&log_b) };
            log_b.iter_mut().for_each(|log_b| *log_b = (*log_b - total).exp());
            each(&log_b);
            out.push(total);
        }
        out
    }
}

impl DocumentLearner for NaiveBayesBatch {
    fn update(&mut self, documents: &Documents<'_>, n_words: usize) -> StepReport {
        let known = documents.largest_word().map_or(0, |word| word as usize + 1);
        self.n_words = self.n_words.max(n_words).max(known);
        self.n_seen += documents.len() as u64;
        if !documents.is_empty() {
            self.corpus.extend(documents);
            self.fit = None;
        }
        StepReport { n_rows: documents.len(), ..StepReport::default() }
    }

    fn finish_unless(&mut self, interrupt: &Interrupt) -> Result<(), Interrupted> {
        if self.fit.is_none() {
            self.fit = interrupt.unless_raised(self.fit_now(interrupt))?;
        }
        Ok(())
    }

    fn forget_words(&mut self, words: &[u32]) {
        self.corpus.forget_words(words);
        self.fit = None;
    }

    fn topics(&self) -> Vec<Topic> {
        self.fitted().map_or_else(Vec::new, |fit| fit.ledger.topics(&fit.topics, self.settings.delta))
    }

    fn history(&self) -> &TopicHistory {
        &self.fit.as_ref().map_or(&self.none, |fit| &fit.ledger).history
    }

    fn score(&self, documents: &Documents<'_>) -> DocumentScores {
        let mut scores = DocumentScores { n_tokens: tokens(documents), ..Default::default() };
        let Some(fit) = self.fitted() else {
            scores.log_likelihood = vec![0.0; documents.len()];
            return scores;
        };
        let groups = fit.ledger.groups(&fit.topics, self.settings.delta);
        scores.topics = groups.iter().map(|g| fit.ledger.id(g[0])).collect();
        let shares = &mut scores.shares;
        // Smoothing is no belief: the words of a topic of EM are known, and only variational Bayes averages over them.
        let plug_in = self.method == Method::Em;
        scores.log_likelihood = fit.scored(documents, plug_in, |by_topic| push_shares(&groups, by_topic, shares));
        scores
    }

    fn n_seen(&self) -> u64 {
        self.n_seen
    }

    fn k_implemented(&self) -> usize {
        self.fit.as_ref().map_or(0, |fit| fit.ledger.n_living())
    }

    fn events(&self) -> &EventLog {
        &self.fit.as_ref().map_or(&self.none, |fit| &fit.ledger).events
    }

    fn log_score(&self) -> LogScore {
        self.none.scores.report()
    }

    fn restore(&mut self, n_words: usize) -> Result<(), String> {
        let asked = &self.settings;
        let positive = |value: f64| value > 0.0 && value.is_finite();
        let sound = (1..=10_000).contains(&asked.n_topics)
            && positive(asked.smoothing)
            && positive(asked.alpha)
            && (0.0..1.0).contains(&asked.delta);
        if !sound {
            return Err("its settings are out of range".into());
        }
        let largest = self.corpus.documents().map(|documents| documents.largest_word());
        match largest {
            None => return Err("its documents are inconsistent".into()),
            Some(word) if self.n_words > n_words || word.is_some_and(|w| w as usize >= self.n_words) => {
                return Err("its documents have other words".into());
            }
            Some(_) => {}
        }
        if let Some(fit) = &self.fit {
            let k = fit.topics.len();
            let weighed = fit.log_weights.len() == k && fit.log_weights.iter().all(|w| w.is_finite());
            if !weighed || !fit.topics.is_sound() || fit.topics.n_words() > n_words || !fit.ledger.is_sound(k) {
                return Err("its topics are inconsistent".into());
            }
        }
        if self.fit.is_some() && self.corpus.is_empty() {
            return Err("its topics come from no documents".into());
        }
        Ok(())
    }
}
