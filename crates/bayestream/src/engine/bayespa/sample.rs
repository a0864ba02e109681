//! The local step: topics of the words of documents that are independent given the state before the mini-batch.

use super::augment::{draw_inverse_gaussian, expected_rho};
use super::course::Leg;
use super::settings::MedSettings;
use super::space::{Cache, Pulls, Space};
use crate::engine::parts;
use crate::num::{self, DocumentSweep, Pull, Rng};
use std::ops::Range;

/// What a round over a mini-batch gives, document by document.
#[derive(Clone, Default)]
pub(super) struct Drawn {
    /// Length of a row of `counts` and of `tables`: topics may be added between two rounds.
    pub stride: usize,
    /// The topic of each token, at the end of the round.
    pub topics: Vec<u32>,
    /// The topic of each token in each sweep that counts: sweep by sweep within a document.
    pub kept: Vec<u32>,
    /// Tokens of each topic in each sweep that counts.
    pub counts: Vec<f32>,
    /// 1/λ of each label in each sweep that counts; empty for averaging classifiers.
    pub rho: Vec<f32>,
    /// Tables of each topic, summed over the sweeps that count; empty when the number of topics is given.
    pub tables: Vec<f64>,
    /// The features of each document in rows, and τ of each document and label, for averaging classifiers.
    pub features: Vec<f64>,
    pub tau: Vec<f64>,
}

/// What all documents of a round share.
pub(super) struct Round<'a> {
    pub settings: &'a MedSettings,
    pub space: &'a Space,
    pub cache: &'a Cache,
    pub pulls: Option<&'a Pulls>,
    pub leg: &'a Leg<'a>,
    /// What the round before gave; none in the first, when topics begin at random.
    pub earlier: Option<&'a Drawn>,
    /// Mean weights of the topics, label by label, for averaging classifiers.
    pub means: &'a [f32],
    pub seed: u64,
    /// Tells random streams of shards and of spaces apart.
    pub shard: u64,
    /// Tells rounds apart.
    pub round: u64,
}

/// Memory of one thread.
#[derive(Default)]
struct Scratch {
    rows: Vec<f32>,
    own: Vec<i32>,
    counts: Vec<f32>,
    shares: Vec<f32>,
    linear: Vec<f32>,
    quadratic: Vec<f32>,
    /// What each label's E[w w'] is multiplied with in `quadratic`.
    factors: Vec<f32>,
    product: Vec<f32>,
    rho: Vec<f32>,
    work: Vec<f32>,
}

impl Round<'_> {
    /// Samples all documents on this many threads. Every document has a random stream of its own and writes to a place of its
    /// own, so that the number of threads does not matter.
    pub fn run(&self, drawn: &mut Drawn, n_threads: usize) {
        let (n, stride, kept) = (self.leg.lot.len(), self.space.stride, self.settings.n_kept());
        let n_tokens = self.leg.lot.tokens.len();
        let n_rho = self.pulls.map_or(0, |_| self.space.tasks.len());
        let n_tables = self.space.sticks.as_ref().map_or(0, |_| stride);
        drawn.stride = stride;
        drawn.topics.resize(n_tokens, 0);
        drawn.kept.resize(n_tokens * kept, 0);
        drawn.counts.resize(n * kept * stride, 0.0);
        drawn.rho.resize(n * kept * n_rho, 0.0);
        drawn.tables.resize(n * n_tables, 0.0);
        let mut rest = Part {
            topics: &mut drawn.topics,
            kept: &mut drawn.kept,
            counts: &mut drawn.counts,
            rho: &mut drawn.rho,
            tables: &mut drawn.tables,
        };
        let per_thread = n.div_ceil(n_threads.max(1)).max(1);
        std::thread::scope(|scope| {
            let mut from = 0;
            while from < n {
                let range = from..(from + per_thread).min(n);
                let tokens = self.leg.lot.span(range.clone()).len();
                let part;
                (part, rest) = rest.split(tokens, kept, range.len(), kept * stride, kept * n_rho, n_tables);
                from = range.end;
                if from < n {
                    scope.spawn(move || self.documents(range, part));
                } else {
                    self.documents(range, part);
                }
            }
        });
    }

    fn documents(&self, range: Range<usize>, mut rest: Part<'_>) {
        let (stride, kept) = (self.space.stride, self.settings.n_kept());
        let n_rho = self.pulls.map_or(0, |_| self.space.tasks.len());
        let n_tables = self.space.sticks.as_ref().map_or(0, |_| stride);
        let mut scratch = Scratch::default();
        for document in range {
            let n_tokens = self.leg.lot.n_tokens(document);
            let one;
            (one, rest) = rest.split(n_tokens, kept, 1, kept * stride, kept * n_rho, n_tables);
            self.document(document, one, &mut scratch);
        }
    }

    fn document(&self, document: usize, part: Part<'_>, scratch: &mut Scratch) {
        let (stride, space, settings) = (self.space.stride, self.space, self.settings);
        let tokens = &self.leg.lot.tokens[self.leg.lot.span(document..document + 1)];
        let n = tokens.len();
        let number = (self.leg.lot.first + document as u64) << 8 | self.round.min(255);
        let mut rng = num::stream(self.seed, self.shard, number);
        part.counts.fill(0.0);
        part.tables.fill(0.0);
        if n == 0 {
            part.rho.fill(0.0);
            return;
        }
        scratch.rows.clear();
        let words = self.leg.lot.words(document);
        if self.earlier.is_some() {
            scratch.own.clear();
            scratch.own.resize((words.len() + 1) * stride, 0);
            let (own, own_totals) = scratch.own.split_at_mut(words.len() * stride);
            for topics in part.kept.chunks_exact(n) {
                for (token, topic) in tokens.iter().zip(topics) {
                    own[*token as usize * stride + *topic as usize] += 1;
                    own_totals[*topic as usize] += 1;
                }
            }
            space.gather_without(self.cache, words, (own, own_totals), &mut scratch.rows);
        } else {
            // The open topic, which comes last, has no words to begin with.
            let k = space.k - usize::from(space.sticks.is_some() && space.k > 1);
            part.topics.iter_mut().for_each(|topic| *topic = rng.below(k) as u32);
            space.gather(self.cache, words, &mut scratch.rows);
        }
        scratch.counts.clear();
        scratch.counts.resize(stride, 0.0);
        part.topics.iter().for_each(|topic| scratch.counts[*topic as usize] += 1.0);
        let is_labelled = !self.leg.lot.labels(document).is_empty();
        if let Some(earlier) = self.earlier.filter(|earlier| is_labelled && !earlier.tau.is_empty()) {
            let n_tasks = space.tasks.len();
            self.tilt(document, &earlier.tau[document * n_tasks..][..n_tasks], n, scratch);
        }
        scratch.rho.resize(space.tasks.len(), 0.0);
        for sweep in 0..settings.sweeps {
            let pull = match self.pulls.filter(|_| is_labelled) {
                None => None,
                Some(pulls) => {
                    if sweep == 0 {
                        self.weigh(pulls, document, n, &mut rng, scratch);
                    }
                    self.pull(pulls, document, n, scratch);
                    Some(Pull { linear: &scratch.linear, quadratic: &scratch.quadratic, product: &mut scratch.product })
                }
            };
            let view = DocumentSweep {
                rows: &scratch.rows,
                tokens,
                topics: part.topics,
                counts: &mut scratch.counts,
                prior: &self.cache.prior,
                pull,
            };
            num::sweep_document(view, &mut rng, &mut scratch.work);
            if let Some(pulls) = self.pulls.filter(|_| is_labelled) {
                self.weigh(pulls, document, n, &mut rng, scratch);
            }
            if let Some(j) = sweep.checked_sub(settings.burn_in) {
                part.kept[j * n..(j + 1) * n].copy_from_slice(part.topics);
                part.counts[j * stride..(j + 1) * stride].copy_from_slice(&scratch.counts);
                if !part.rho.is_empty() {
                    let q = scratch.rho.len();
                    part.rho[j * q..(j + 1) * q].copy_from_slice(&scratch.rho);
                }
                for (k, tables) in part.tables.iter_mut().enumerate() {
                    *tables += parts::tables(scratch.counts[k], f64::from(self.cache.prior[k]), &mut rng); // [BayesPA] (44)
                }
            }
        }
    }

    /// The factor of averaging classifiers, which no count changes, goes into the rows: exp(Σ τ y μ_k / n). [BayesPA] (28),
    /// with the sum over labels of the document alone.
    fn tilt(&self, document: usize, tau: &[f64], n: usize, scratch: &mut Scratch) {
        let stride = self.space.stride;
        scratch.linear.clear();
        scratch.linear.resize(stride, 0.0);
        for (q, (task, tau)) in self.space.tasks.iter().zip(tau).enumerate() {
            let factor = (tau * f64::from(self.leg.lot.side(document, task.label)) / n as f64) as f32;
            let means = &self.means[q * stride..][..stride];
            scratch.linear.iter_mut().zip(means).for_each(|(l, mean)| *l += factor * mean);
        }
        let most = scratch.linear[..self.space.k].iter().copied().fold(f32::NEG_INFINITY, f32::max);
        scratch.linear.iter_mut().for_each(|l| *l = (*l - most).max(-80.0).exp());
        for row in scratch.rows.chunks_exact_mut(stride) {
            row.iter_mut().zip(&scratch.linear).for_each(|(p, factor)| *p *= factor);
        }
    }

    /// 1/λ of every label for the counts as they are. [BayesPA] (33)
    fn weigh(&self, pulls: &Pulls, document: usize, n: usize, rng: &mut Rng, scratch: &mut Scratch) {
        let stride = pulls.stride;
        let Scratch { counts, shares, rho, .. } = scratch;
        shares.clear();
        shares.extend(counts.iter().map(|count| count / n as f32));
        for (q, task) in self.space.tasks.iter().enumerate() {
            let side = self.leg.lot.side(document, task.label);
            let f = pulls.constants[q] + f64::from(num::dot_f32(&pulls.means[q * stride..][..stride], shares));
            let with_constant = pulls.constant_variances[q]
                + 2.0 * f64::from(num::dot_f32(&pulls.covariance_constants[q * stride..][..stride], shares));
            let covariance = &pulls.covariances[q * stride * stride..][..stride * stride];
            let variance = num::add_form_f32(with_constant, covariance, shares);
            let zeta = self.settings.epsilon - f64::from(side) * f;
            let mean = expected_rho(self.leg.cost(self.settings, side), zeta, variance);
            rho[q] = if self.settings.draws() { draw_inverse_gaussian(mean, rng) } else { mean } as f32;
        }
    }

    /// The pull of all labels on the counts, with 1/λ as they are. [BayesPA] (32), (34)
    fn pull(&self, pulls: &Pulls, document: usize, n: usize, scratch: &mut Scratch) {
        let (stride, settings) = (pulls.stride, self.settings);
        let Scratch { linear, quadratic, factors, product, rho, counts, .. } = scratch;
        linear.clear();
        linear.resize(stride, 0.0);
        factors.clear();
        for (q, task) in self.space.tasks.iter().enumerate() {
            let side = self.leg.lot.side(document, task.label);
            let (c, r) = (self.leg.cost(self.settings, side), f64::from(rho[q]));
            let a = (c * f64::from(side) * (1.0 + c * settings.epsilon * r) / n as f64) as f32;
            let with_constant = (c * c * r / n as f64) as f32;
            factors.push((0.5 * c * c * r / (n as f64 * n as f64)) as f32);
            let (means, crossed) =
                (&pulls.means[q * stride..][..stride], &pulls.second_constants[q * stride..][..stride]);
            for k in 0..stride {
                linear[k] += a * means[k] - with_constant * crossed[k];
            }
        }
        quadratic.resize(stride * stride, 0.0);
        num::combine_f32(factors, &pulls.seconds, quadratic);
        // Padding must not be the largest exponent.
        linear[self.space.k..].fill(-1e30);
        product.clear();
        product.extend(quadratic.chunks_exact(stride).map(|row| num::dot_f32(row, counts)));
    }
}

/// The places that some documents write to.
struct Part<'a> {
    topics: &'a mut [u32],
    kept: &'a mut [u32],
    counts: &'a mut [f32],
    rho: &'a mut [f32],
    tables: &'a mut [f64],
}

impl<'a> Part<'a> {
    /// The places of the first documents, and the rest.
    fn split(
        self,
        n_tokens: usize,
        kept: usize,
        n: usize,
        n_counts: usize,
        n_rho: usize,
        n_tables: usize,
    ) -> (Part<'a>, Part<'a>) {
        let (topics, topics_rest) = self.topics.split_at_mut(n_tokens);
        let (kept_now, kept_rest) = self.kept.split_at_mut(n_tokens * kept);
        let (counts, counts_rest) = self.counts.split_at_mut(n * n_counts);
        let (rho, rho_rest) = self.rho.split_at_mut(n * n_rho);
        let (tables, tables_rest) = self.tables.split_at_mut(n * n_tables);
        (
            Part { topics, kept: kept_now, counts, rho, tables },
            Part { topics: topics_rest, kept: kept_rest, counts: counts_rest, rho: rho_rest, tables: tables_rest },
        )
    }
}
