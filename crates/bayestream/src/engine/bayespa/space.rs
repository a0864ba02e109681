//! Topics and the labels that share them.

use super::settings::{Classifier, MedSettings, Mode, Size};
use super::sticks::Sticks;
use super::task::{Task, constant_feature};
use crate::num::{self, Rng, SWEEP_LANES};
use serde::{Deserialize, Serialize};
use std::sync::{Arc, OnceLock};

/// One set of topics with the labels that share it. Word counts are whole numbers, summed over the sweeps that count, so
/// that it does not matter in which order they are added.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Space {
    /// Topics, the open one included.
    pub k: usize,
    /// Length of a row of `sums`: topics and padding.
    pub stride: usize,
    /// For each word one row of counts.
    pub sums: Vec<i32>,
    /// Sums over the words.
    pub totals: Vec<i64>,
    /// The label that a topic began with.
    pub tags: Vec<Option<u32>>,
    /// The shares of topics in the stream, where their number is open.
    pub sticks: Option<Sticks>,
    pub tasks: Vec<Task>,
    /// Its number among the spaces.
    pub number: u32,
    /// What `totals` were when the history was last told.
    pub told: Vec<i64>,
    /// exp ψ of small counts, which settings alone say: mini-batches of one document must not wait for it.
    #[serde(skip)]
    small: OnceLock<Arc<[f32]>>,
}

/// What sampling and reading need of a space: it follows from the statistics.
#[derive(Clone, Debug)]
pub(super) struct Cache {
    /// Wγ + N_k.
    totals: Vec<f64>,
    /// One over them; 0 for padding.
    pub inverse_totals: Vec<f32>,
    /// Dirichlet weights of the topics of a document; 0 for padding.
    pub prior: Vec<f32>,
    /// What a kept sweep's count is worth.
    pub scale: f32,
    pub gamma: f32,
    /// What to multiply with instead of γ + N for small counts; empty to take it as it is.
    small: Arc<[f32]>,
}

/// Counts for which exp ψ is tabled; beyond it three terms of its expansion do.
const TABLED: usize = 64;

impl Cache {
    /// The weight of a word with this count in a topic, before the topic's total.
    #[inline(always)]
    fn weight(&self, count: i32) -> f32 {
        let x = self.gamma + self.scale * count as f32;
        match self.small.get(count as usize) {
            Some(weight) => *weight,
            None if self.small.is_empty() => x,
            None => x - 0.5 + 1.0 / (24.0 * x),
        }
    }

    /// Appends the weights of a word with these counts in the topics.
    #[inline(always)]
    fn weigh(&self, counts: impl Iterator<Item = i32>, inverse_totals: &[f32], rows: &mut Vec<f32>) {
        let each = counts.zip(inverse_totals);
        if self.small.is_empty() {
            // What `weight` says, without its choice for every count: vector instructions have none.
            let (gamma, scale) = (self.gamma, self.scale);
            rows.extend(each.map(|(n, inverse)| (gamma + scale * n as f32) * inverse));
        } else {
            rows.extend(each.map(|(n, inverse)| self.weight(n) * inverse));
        }
    }

    /// Probability of a word with this count in a topic.
    pub fn probability(&self, count: i32, topic: usize) -> f32 {
        (self.gamma + self.scale * count as f32) * self.inverse_totals[topic]
    }
}

impl Space {
    pub fn new(settings: &MedSettings, number: u32) -> Space {
        let mut space = Space {
            k: 0,
            stride: 0,
            sums: Vec::new(),
            totals: Vec::new(),
            tags: Vec::new(),
            sticks: (settings.size == Size::Open).then(Sticks::default),
            tasks: Vec::new(),
            number,
            told: Vec::new(),
            small: OnceLock::new(),
        };
        (0..settings.n_free()).for_each(|_| space.add_topic(None, settings));
        space
    }

    /// Words that have a row.
    pub fn n_words(&self) -> usize {
        self.sums.len().checked_div(self.stride).unwrap_or(0)
    }

    pub fn grow_words(&mut self, n_words: usize) {
        if n_words > self.n_words() {
            self.sums.resize(n_words * self.stride, 0);
        }
    }

    pub fn add_topic(&mut self, tag: Option<u32>, settings: &MedSettings) {
        if self.k == self.stride {
            let (old, new) = (self.stride, self.stride + SWEEP_LANES);
            let mut sums = vec![0; self.n_words() * new];
            if old > 0 {
                for (to, from) in sums.chunks_exact_mut(new).zip(self.sums.chunks_exact(old)) {
                    to[..old].copy_from_slice(from);
                }
            }
            (self.sums, self.stride) = (sums, new);
            self.totals.resize(new, 0);
        }
        self.k += 1;
        self.tags.push(tag);
        if let Some(sticks) = &mut self.sticks {
            sticks.tables.push(0.0);
        }
        for task in &mut self.tasks {
            task.add_topic(prior_mean(tag, task.label, settings), settings);
        }
    }

    pub fn add_task(&mut self, label: u32, settings: &MedSettings) {
        let mut task = Task::new(label, settings);
        self.tags.iter().for_each(|tag| task.add_topic(prior_mean(*tag, label, settings), settings));
        self.tasks.push(task);
    }

    /// The statistics in the form that sampling wants them.
    pub fn cache(&self, settings: &MedSettings, rng: Option<&mut Rng>) -> Cache {
        let scale = settings.count_scale();
        let smooth = settings.gamma * self.n_words() as f64;
        let pad = |mut v: Vec<f32>| {
            v.resize(self.stride, 0.0);
            v
        };
        let totals: Vec<f64> = (0..self.k).map(|k| smooth + scale * self.totals[k] as f64).collect();
        let inverse_totals = totals.iter().map(|total| (1.0 / total) as f32).collect();
        let prior = match &self.sticks {
            None => vec![settings.alpha.unwrap_or(1.0 / self.k as f64) as f32; self.k],
            Some(sticks) => {
                let alpha = settings.alpha.unwrap_or(5.0);
                sticks.shares(settings.eta, rng).iter().map(|share| (alpha * share) as f32).collect()
            }
        };
        let expected = |n: usize| num::digamma(settings.gamma + scale * n as f64).exp() as f32;
        let is_expected = settings.expected_log && settings.mode == Mode::Online;
        let small = self.small.get_or_init(|| (0..if is_expected { TABLED } else { 0 }).map(expected).collect());
        Cache {
            totals,
            inverse_totals: pad(inverse_totals),
            prior: pad(prior),
            scale: scale as f32,
            gamma: settings.gamma as f32,
            small: small.clone(),
        }
    }

    /// The same for documents that are read and not learnt: by the means of all that is uncertain.
    pub fn reading(&self, settings: &MedSettings) -> Cache {
        Cache { small: Arc::default(), ..self.cache(settings, None) }
    }

    /// Appends the weights of these words in the topics, one row each; a word without a row is a word never met.
    pub fn gather(&self, cache: &Cache, words: &[u32], rows: &mut Vec<f32>) {
        for word in words {
            match self.sums.get(*word as usize * self.stride..(*word as usize + 1) * self.stride) {
                Some(counts) => cache.weigh(counts.iter().copied(), &cache.inverse_totals, rows),
                None => rows.extend(cache.inverse_totals.iter().map(|inverse| cache.weight(0) * inverse)),
            }
        }
    }

    /// The same as if these counts were not there: one row for each of the words, and one of their sums.
    pub fn gather_without(&self, cache: &Cache, words: &[u32], own: (&[i32], &[i32]), rows: &mut Vec<f32>) {
        let (own, own_totals) = own;
        let scale = f64::from(cache.scale);
        let others =
            cache.totals.iter().zip(own_totals).map(|(all, own)| (1.0 / (all - scale * f64::from(*own))) as f32);
        let padding = std::iter::repeat_n(0.0, self.stride - self.k);
        let inverse_totals: Vec<f32> = others.chain(padding).collect();
        for (word, own) in words.iter().zip(own.chunks_exact(self.stride)) {
            let counts = &self.sums[*word as usize * self.stride..][..self.stride];
            cache.weigh(counts.iter().zip(own).map(|(all, own)| all - own), &inverse_totals, rows);
        }
    }

    /// Adds tokens of words, or takes them away again.
    pub fn count(&mut self, words: &[u32], tokens: &[u32], topics: &[u32], by: i32) {
        for (token, topic) in tokens.iter().zip(topics) {
            let at = words[*token as usize] as usize * self.stride + *topic as usize;
            self.sums[at] = self.sums[at].saturating_add(by);
            self.totals[*topic as usize] += i64::from(by);
        }
    }

    /// These numbers stand for other words from now on.
    pub fn forget_words(&mut self, words: &[u32]) {
        for word in words {
            if (*word as usize) < self.n_words() {
                let row = &mut self.sums[*word as usize * self.stride..][..self.stride];
                self.totals.iter_mut().zip(row.iter()).for_each(|(total, n)| *total -= i64::from(*n));
                row.fill(0);
            }
        }
    }
}

/// The mean of a topic's weight for a label before any document.
pub(super) fn prior_mean(tag: Option<u32>, label: u32, settings: &MedSettings) -> f64 {
    let own = settings.tag * settings.epsilon;
    match tag {
        Some(tag) if tag == label => own,
        Some(_) => -settings.tag_against * own,
        None => 0.0,
    }
}

/// How labels pull on the topics of a document's words, for Gibbs classifiers; all in rows of the space's stride.
pub(super) struct Pulls {
    pub stride: usize,
    /// Mean of the constant of each label, times its feature.
    pub constants: Vec<f64>,
    /// Mean of the topics' weights, label by label.
    pub means: Vec<f32>,
    /// E[w w'] and the covariance, label by label.
    pub seconds: Vec<f32>,
    pub covariances: Vec<f32>,
    /// The rows of the constant in both.
    pub second_constants: Vec<f32>,
    pub covariance_constants: Vec<f32>,
    /// Variance of the constant.
    pub constant_variances: Vec<f64>,
    pub n_repairs: u32,
}

impl Pulls {
    pub fn new(space: &Space, settings: &MedSettings) -> Option<Pulls> {
        if settings.classifier != Classifier::Gibbs || settings.cost == 0.0 {
            return None;
        }
        let (stride, k, feature) = (space.stride, space.k, constant_feature(settings));
        let n = space.tasks.len();
        let mut pulls = Pulls {
            stride,
            constants: Vec::with_capacity(n),
            means: vec![0.0; n * stride],
            seconds: vec![0.0; n * stride * stride],
            covariances: vec![0.0; n * stride * stride],
            second_constants: vec![0.0; n * stride],
            covariance_constants: vec![0.0; n * stride],
            constant_variances: Vec::with_capacity(n),
            n_repairs: 0,
        };
        for (q, task) in space.tasks.iter().enumerate() {
            let (moments, n_repairs) = task.moments();
            let (mean, covariance, d) = (&moments.mean, &moments.covariance, k + 1);
            pulls.n_repairs += n_repairs;
            pulls.constants.push(feature * mean[0]);
            pulls.constant_variances.push(feature * covariance[0]);
            for i in 0..k {
                let at = q * stride + i;
                pulls.means[at] = mean[1 + i] as f32;
                pulls.covariance_constants[at] = (feature * covariance[1 + i]) as f32;
                pulls.second_constants[at] = (feature * (covariance[1 + i] + mean[0] * mean[1 + i])) as f32;
                for j in 0..k {
                    let s = covariance[(1 + i) * d + 1 + j];
                    pulls.covariances[at * stride + j] = s as f32;
                    pulls.seconds[at * stride + j] = (s + mean[1 + i] * mean[1 + j]) as f32;
                }
            }
        }
        Some(pulls)
    }
}
