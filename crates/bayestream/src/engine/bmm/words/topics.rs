//! Dirichlet distributions over words, one per topic: \[BMM\] section 4.2.
//!
//! β_v of a topic is `scale · raw_v`, so that moment matching, which stretches every β and adds to those of the words
//! that occurred, costs as much as there are different words in the document. Words lie one after the other, the topics
//! of a word side by side.

use super::prior::WordPrior;
use crate::engine::bmm::LARGEST_MASS;
use crate::num::{ln_gamma, ln_slice};
use serde::{Deserialize, Serialize};

/// A scale outside of this range is multiplied into the words.
const SCALES: std::ops::Range<f64> = 1e-60..1e60;
/// Factors that are multiplied before the logarithm is taken: it costs more than all of them.
const FACTORS: usize = 12;
/// Smaller parameters are taken for this in products, which then cannot underflow.
const LEAST_FACTOR: f64 = 1e-20;

/// The Dirichlet parameters β of every word in every topic.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WordTopics {
    prior: WordPrior,
    n_words: usize,
    /// Places per word: at least the number of topics.
    stride: usize,
    raw: Vec<f64>,
    scale: Vec<f64>,
    /// `raw` of a word that the topic has not seen.
    unseen: Vec<f64>,
    /// S = Σ β.
    sum: Vec<f64>,
    /// Q = Σ β².
    squares: Vec<f64>,
}

impl WordTopics {
    /// No topic yet; a new one has β₀ for every word.
    pub fn new(beta0: f64) -> WordTopics {
        WordTopics {
            prior: WordPrior::new(beta0, 0.0),
            n_words: 0,
            stride: 0,
            raw: Vec::new(),
            scale: Vec::new(),
            unseen: Vec::new(),
            sum: Vec::new(),
            squares: Vec::new(),
        }
    }

    /// The same, but of a new topic's parameters the share `common` is as frequent as the words counted so far.
    pub fn with_common(beta0: f64, common: f64) -> WordTopics {
        WordTopics { prior: WordPrior::new(beta0, common), ..WordTopics::new(beta0) }
    }

    /// Topics with these counts, word by word and the `n_topics` of a word side by side, each word β₀ above its count.
    pub fn of_counts(counts: &[f64], n_topics: usize, beta0: f64) -> WordTopics {
        let mut topics = WordTopics::new(beta0);
        topics.n_words = counts.len() / n_topics;
        topics.stride = n_topics;
        topics.raw = counts.iter().map(|n| n + beta0).collect();
        topics.scale = vec![1.0; n_topics];
        topics.unseen = vec![beta0; n_topics];
        (topics.sum, topics.squares) = (vec![0.0; n_topics], vec![0.0; n_topics]);
        for row in topics.raw.chunks_exact(n_topics) {
            for (z, beta) in row.iter().enumerate() {
                topics.sum[z] += beta;
                topics.squares[z] += beta * beta;
            }
        }
        topics
    }

    /// How many topics.
    pub fn len(&self) -> usize {
        self.scale.len()
    }

    /// True without any topic.
    pub fn is_empty(&self) -> bool {
        self.scale.is_empty()
    }

    /// How many words there are.
    pub fn n_words(&self) -> usize {
        self.n_words
    }

    /// β₀.
    pub fn beta0(&self) -> f64 {
        self.prior.beta0
    }

    /// Topics that are made from now on have this β₀.
    pub fn set_beta0(&mut self, beta0: f64) {
        self.prior.beta0 = beta0;
    }

    /// Takes a document into the frequencies of words that new topics expect.
    pub fn count(&mut self, words: &[u32], counts: &[u32]) {
        self.prior.count(words, counts);
    }

    /// S of a topic: how many words it stands for, the prior's included.
    pub fn sum(&self, topic: usize) -> f64 {
        self.sum[topic]
    }

    /// From now on there are so many words, if there were fewer. What a topic expects of a new one is what it expects
    /// of any that it has not seen.
    pub fn reach_words(&mut self, n_words: usize) {
        if n_words <= self.n_words {
            return;
        }
        let added = (n_words - self.n_words) as f64;
        self.raw.resize(n_words * self.stride, 0.0);
        for row in self.raw[self.n_words * self.stride..].chunks_exact_mut(self.stride.max(1)) {
            row[..self.unseen.len()].copy_from_slice(&self.unseen);
        }
        for z in 0..self.len() {
            let beta = self.scale[z] * self.unseen[z];
            self.sum[z] += added * beta;
            self.squares[z] += added * beta * beta;
        }
        self.n_words = n_words;
    }

    /// Adds a topic without words.
    pub fn push_topic(&mut self) {
        let z = self.len();
        if z == self.stride {
            self.widen();
        }
        let (mut sum, mut squares) = (0.0, 0.0);
        for word in 0..self.n_words {
            let beta = self.prior.beta(word as u32, self.n_words);
            self.raw[word * self.stride + z] = beta;
            sum += beta;
            squares += beta * beta;
        }
        self.scale.push(1.0);
        self.unseen.push(self.prior.unseen(self.n_words));
        self.sum.push(sum);
        self.squares.push(squares);
    }

    fn widen(&mut self) {
        let (old, stride) = (self.stride, (2 * self.stride).max(8));
        let mut raw = vec![0.0; self.n_words * stride];
        if old > 0 {
            for (to, from) in raw.chunks_exact_mut(stride).zip(self.raw.chunks_exact(old)) {
                to[..old].copy_from_slice(from);
            }
        }
        (self.raw, self.stride) = (raw, stride);
    }

    /// β of a word in a topic.
    pub fn beta(&self, topic: usize, word: u32) -> f64 {
        let at = word as usize * self.stride + topic;
        self.scale[topic] * if (word as usize) < self.n_words { self.raw[at] } else { self.unseen[topic] }
    }

    /// E φ of a word in every topic, and 1/V in those that are yet to come, up to the length of `out`.
    pub fn probabilities(&self, word: u32, out: &mut [f64]) {
        let (known, new) = out.split_at_mut(self.len().min(out.len()));
        let row = self.row(word);
        for z in 0..known.len() {
            known[z] = self.scale[z] * row[z] / self.sum[z];
        }
        new.fill(1.0 / self.n_words.max(1) as f64);
    }

    fn row(&self, word: u32) -> &[f64] {
        match (word as usize) < self.n_words {
            true => &self.raw[word as usize * self.stride..][..self.len()],
            // Scored as any word that a topic has not seen.
            false => &self.unseen,
        }
    }

    /// ln b_z of a document under every topic (Pólya: words that occurred are likelier to occur again), and last under
    /// a topic without words.
    pub fn log_predictive(&self, words: &[u32], counts: &[u32], work: &mut PolyaWork, out: &mut Vec<f64>) {
        let k = self.len();
        let n: f64 = counts.iter().map(|c| f64::from(*c)).sum();
        out.clear();
        out.resize(k + 1, 0.0);
        work.product.clear();
        work.product.resize(k + 1, 1.0);
        let mut n_factors = 0;
        for (&word, &count) in words.iter().zip(counts) {
            let (row, new) = (self.row(word), self.prior.beta(word, self.n_words));
            for repeat in 0..count {
                let more = f64::from(repeat);
                for z in 0..k {
                    work.product[z] *= (self.scale[z] * row[z] + more).max(LEAST_FACTOR);
                }
                work.product[k] *= new + more;
                n_factors += 1;
                if n_factors == FACTORS {
                    take_logs(work, out);
                    n_factors = 0;
                }
            }
        }
        take_logs(work, out);
        for z in 0..k {
            out[z] += ln_gamma(self.sum[z]) - ln_gamma(self.sum[z] + n);
        }
        let prior = self.prior.sum(self.n_words);
        out[k] += ln_gamma(prior) - ln_gamma(prior + n);
    }

    /// Log-probability of a document's words under E φ of every topic, and last under a topic without words.
    pub fn log_plug_in(&self, words: &[u32], counts: &[u32], out: &mut Vec<f64>) {
        let k = self.len();
        out.clear();
        out.resize(k + 1, 0.0);
        for (&word, &count) in words.iter().zip(counts) {
            let (row, count) = (self.row(word), f64::from(count));
            for z in 0..k {
                out[z] += count * (self.scale[z] * row[z] / self.sum[z]).ln();
            }
            out[k] += count * (self.prior.beta(word, self.n_words) / self.prior.sum(self.n_words)).ln();
        }
    }

    /// Moment matching: the topic becomes the Dirichlet distribution with the moments of
    /// (1 − share) Dir(β) + share Dir(β + x), the second moment taken over all words.
    pub fn blend(&mut self, topic: usize, words: &[u32], counts: &[u32], share: f64) {
        let (mut n, mut xx, mut bx) = (0.0, 0.0, 0.0);
        for (&word, &count) in words.iter().zip(counts) {
            let x = f64::from(count);
            n += x;
            xx += x * x;
            bx += x * self.scale[topic] * self.raw[word as usize * self.stride + topic];
        }
        let Some(added) = self.stretch(topic, share, n, xx, bx) else { return };
        for (&word, &count) in words.iter().zip(counts) {
            self.raw[word as usize * self.stride + topic] += added * f64::from(count);
        }
        self.rescale(topic);
    }

    /// The same for a document of one word.
    pub fn blend_word(&mut self, topic: usize, word: u32, share: f64) {
        let at = word as usize * self.stride + topic;
        let beta = self.scale[topic] * self.raw[at];
        if let Some(added) = self.stretch(topic, share, 1.0, 1.0, beta) {
            self.raw[at] += added;
            self.rescale(topic);
        }
    }

    /// Changes scale and sums; returns what must be added to `raw` of each word per time it occurred.
    fn stretch(&mut self, topic: usize, share: f64, n: f64, xx: f64, bx: f64) -> Option<f64> {
        let (s, q) = (self.sum[topic], self.squares[topic]);
        let (keep, more) = (1.0 - share, s + n);
        let (a, c) = (keep / s + share / more, share / more);
        let first = a * a * q + 2.0 * a * c * bx + c * c * xx;
        let second = keep * (q + s) / (s * (s + 1.0)) + share * (q + 2.0 * bx + xx + more) / (more * (more + 1.0));
        let matched = (1.0 - second) / (second - first);
        // A topic that is all but certain of one word has moments that rounding can spoil.
        let sum = if matched.is_finite() && matched > 0.0 { matched } else { s + share * n };
        let scale = self.scale[topic] * sum * a;
        if !(scale > 0.0 && scale.is_finite()) {
            return None;
        }
        self.scale[topic] = scale;
        self.sum[topic] = sum;
        self.squares[topic] = sum * sum * first;
        Some(sum * c / scale)
    }

    fn rescale(&mut self, topic: usize) {
        let scale = self.scale[topic];
        if !SCALES.contains(&scale) {
            self.raw.iter_mut().skip(topic).step_by(self.stride).for_each(|raw| *raw *= scale);
            self.unseen[topic] *= scale;
            self.scale[topic] = 1.0;
        }
    }

    /// Forgets: `keep` of what the topic is sure of stays, but it is never less sure than without words.
    pub fn forget(&mut self, topic: usize, keep: f64) {
        let least = self.prior.sum(self.n_words) / self.sum[topic];
        let keep = keep.max(least).min(1.0);
        self.scale[topic] *= keep;
        self.sum[topic] *= keep;
        self.squares[topic] *= keep * keep;
        self.rescale(topic);
    }

    /// Forgets: `keep` of the frequencies that new topics expect stays.
    pub fn forget_common(&mut self, keep: f64) {
        self.prior.forget(keep);
    }

    /// The number stands for another word from now on: every topic expects of it what it expects of a new one.
    pub fn forget_word(&mut self, word: u32) {
        if word as usize >= self.n_words {
            return;
        }
        self.prior.forget_word(word);
        for z in 0..self.len() {
            let at = word as usize * self.stride + z;
            let (old, new) = (self.scale[z] * self.raw[at], self.scale[z] * self.unseen[z]);
            self.raw[at] = self.unseen[z];
            self.sum[z] += new - old;
            self.squares[z] = (self.squares[z] + new * new - old * old).max(new * new);
        }
    }

    /// The same prior and words, and no topic.
    pub(super) fn without_topics(&self) -> WordTopics {
        WordTopics { prior: self.prior.clone(), n_words: self.n_words, ..WordTopics::new(self.prior.beta0) }
    }

    /// A copy whose word i has the number `numbers[i]` among `n_words`; words without a number are let go.
    pub(super) fn renumbered(&self, numbers: &[Option<u32>], n_words: usize) -> WordTopics {
        let mut copy = self.clone();
        copy.prior = self.prior.renumbered(numbers, n_words);
        copy.n_words = n_words;
        copy.raw = vec![0.0; n_words * self.stride];
        copy.raw.chunks_exact_mut(self.stride.max(1)).for_each(|row| row[..self.len()].copy_from_slice(&self.unseen));
        for (row, number) in self.raw.chunks_exact(self.stride.max(1)).zip(numbers) {
            if let Some(number) = number {
                copy.raw[*number as usize * self.stride..][..self.stride].copy_from_slice(row);
            }
        }
        (0..copy.len()).for_each(|z| copy.sum_up(z));
        copy
    }

    /// Adds what another has counted to the frequencies that new topics expect.
    pub(super) fn add_counts(&mut self, other: &WordTopics) {
        self.prior.add(&other.prior);
    }

    /// Adds another's topic to one of ours, of the same words: means by their precisions, of which the prior's is
    /// counted once.
    pub(super) fn add_to(&mut self, topic: usize, other: &WordTopics, theirs: usize) {
        let (s, t) = (self.sum[topic], other.sum[theirs]);
        let prior = self.prior.sum(self.n_words).min(s).min(t);
        let factor = (s + t - prior) / (s + t);
        for word in 0..self.n_words {
            let beta = self.beta(topic, word as u32) + other.beta(theirs, word as u32);
            self.raw[word * self.stride + topic] = factor * beta;
        }
        let unseen = self.scale[topic] * self.unseen[topic] + other.scale[theirs] * other.unseen[theirs];
        self.unseen[topic] = factor * unseen;
        self.scale[topic] = 1.0;
        self.sum_up(topic);
    }

    /// Takes another's topic, of the same words, as a further one.
    pub(super) fn append(&mut self, other: &WordTopics, theirs: usize) {
        self.push_topic();
        let topic = self.len() - 1;
        for word in 0..self.n_words {
            self.raw[word * self.stride + topic] = other.beta(theirs, word as u32);
        }
        self.unseen[topic] = other.scale[theirs] * other.unseen[theirs];
        self.sum_up(topic);
    }

    /// Puts the topics in another order and lets go of those that are not in it.
    pub(super) fn reorder(&mut self, order: &[usize]) {
        let old = std::mem::replace(self, self.without_topics());
        order.iter().for_each(|&z| self.append(&old, z));
    }

    fn sum_up(&mut self, topic: usize) {
        let betas = (0..self.n_words as u32).map(|word| self.beta(topic, word));
        let (sum, squares) = betas.fold((0.0, 0.0), |(sum, squares), beta| (sum + beta, squares + beta * beta));
        (self.sum[topic], self.squares[topic]) = (sum, squares);
    }

    /// E φ of all words in one topic.
    pub fn words(&self, topic: usize) -> Vec<f64> {
        let rate = self.scale[topic] / self.sum[topic];
        self.raw.iter().skip(topic).step_by(self.stride.max(1)).take(self.n_words).map(|raw| rate * raw).collect()
    }

    /// True when sizes agree and numbers make sense: what a file must satisfy.
    pub fn is_sound(&self) -> bool {
        let k = self.len();
        // Products of two must be finite.
        let positive = |v: &f64| *v > 0.0 && *v <= LARGEST_MASS;
        self.stride >= k
            && self.n_words.checked_mul(self.stride) == Some(self.raw.len())
            && [&self.unseen, &self.sum, &self.squares].iter().all(|v| v.len() == k)
            && self.prior.is_sound(self.n_words)
            && (k == 0 || self.n_words > 0)
            && self.scale.iter().chain(&self.unseen).chain(&self.sum).chain(&self.squares).all(positive)
            && self.raw.chunks(self.stride.max(1)).all(|row| row[..k].iter().all(positive))
    }
}

/// Buffers of [`WordTopics::log_predictive`].
#[derive(Clone, Debug, Default)]
pub struct PolyaWork {
    product: Vec<f64>,
}

fn take_logs(work: &mut PolyaWork, out: &mut [f64]) {
    ln_slice(&mut work.product);
    out.iter_mut().zip(&mut work.product).for_each(|(sum, log)| {
        *sum += *log;
        *log = 1.0;
    });
}
