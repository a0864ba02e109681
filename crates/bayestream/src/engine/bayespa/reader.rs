//! Documents that are not learnt: their topics, without looking at labels, and what these say of the labels.

use super::settings::MedSettings;
use super::space::{Cache, Space};
use super::task::constant_feature;
use crate::num;

/// Rounds of a fold-in. More sharpen the shares of the topics, and labels are told no better.
const ROUNDS: usize = 10;

/// What reading needs of a space.
#[derive(Clone, Debug)]
pub(super) struct Lens {
    cache: Cache,
    once: bool,
    /// Weights of the topics, label by label in rows of the stride, and constants.
    weights: Vec<f32>,
    constants: Vec<f64>,
}

/// A space made ready to read documents.
#[derive(Clone, Copy)]
pub(super) struct Reader<'a> {
    space: &'a Space,
    lens: &'a Lens,
}

/// What a document says.
pub(super) struct Read {
    /// Shares of the topics in its words, without the prior.
    pub shares: Vec<f32>,
    /// Of each label of the space.
    pub margins: Vec<f32>,
    /// Log-probability of its words under the shares.
    pub log_likelihood: f64,
}

impl Lens {
    pub fn new(space: &Space, settings: &MedSettings) -> Lens {
        let feature = constant_feature(settings);
        let mut weights = vec![0.0; space.tasks.len() * space.stride];
        let mut constants = Vec::with_capacity(space.tasks.len());
        for (row, task) in weights.chunks_exact_mut(space.stride.max(1)).zip(&space.tasks) {
            let judging = task.judging(settings);
            constants.push(feature * judging[0]);
            row.iter_mut().zip(&judging[1..]).for_each(|(to, from)| *to = *from as f32);
        }
        Lens { cache: space.reading(settings), once: settings.once, weights, constants }
    }
}

impl<'a> Reader<'a> {
    pub fn new(space: &'a Space, lens: &'a Lens) -> Reader<'a> {
        Reader { space, lens }
    }

    /// The rows of the words, and how much each word counts.
    fn gather(&self, words: &[u32], counts: &[u32]) -> (Vec<f32>, Vec<f32>) {
        let mut rows = Vec::with_capacity(words.len() * self.space.stride);
        self.space.gather(&self.lens.cache, words, &mut rows);
        let counts = counts.iter().map(|count| if self.lens.once { 1.0 } else { *count as f32 }).collect();
        (rows, counts)
    }

    /// θ, the shares of topics in a document with these words.
    fn fold_in(&self, rows: &[f32], counts: &[f32]) -> Vec<f32> {
        let mut theta = vec![0.0; self.space.stride];
        num::fold_in(rows, counts, &self.lens.cache.prior, ROUNDS, &mut theta);
        theta
    }

    pub fn read(&self, words: &[u32], counts: &[u32]) -> Read {
        let k = self.space.k;
        let (rows, weighted) = self.gather(words, counts);
        let theta = self.fold_in(&rows, &weighted);
        let n: f32 = weighted.iter().sum();
        let prior: f32 = self.lens.cache.prior.iter().sum();
        let mut shares = vec![0.0; self.space.stride];
        if n > 0.0 {
            for z in 0..k {
                shares[z] = ((theta[z] * (prior + n) - self.lens.cache.prior[z]) / n).max(0.0);
            }
        }
        let margins = self.margins(&shares);
        let log_likelihood = self.log_likelihood(&rows, counts, &theta);
        shares.truncate(k);
        Read { shares, margins, log_likelihood }
    }

    fn margins(&self, shares: &[f32]) -> Vec<f32> {
        let rows = self.lens.weights.chunks_exact(self.space.stride.max(1));
        rows.zip(&self.lens.constants).map(|(row, constant)| num::dot_f32(row, shares) + *constant as f32).collect()
    }

    fn log_likelihood(&self, rows: &[f32], counts: &[u32], theta: &[f32]) -> f64 {
        rows.chunks_exact(self.space.stride.max(1))
            .zip(counts)
            .map(|(row, count)| f64::from(*count) * f64::from(num::dot_f32(row, theta).max(f32::MIN_POSITIVE)).ln())
            .sum()
    }

    /// Log-probability of every second word of a document given the others, and how many these are.
    pub fn foretell(&self, words: &[u32], counts: &[u32]) -> (f64, u64) {
        let half = |first: usize| -> (Vec<u32>, Vec<u32>) {
            (
                words.iter().skip(first).step_by(2).copied().collect(),
                counts.iter().skip(first).step_by(2).copied().collect(),
            )
        };
        let ((known, known_counts), (hidden, hidden_counts)) = (half(0), half(1));
        let (rows, weighted) = self.gather(&known, &known_counts);
        let theta = self.fold_in(&rows, &weighted);
        let (rows, _) = self.gather(&hidden, &hidden_counts);
        (self.log_likelihood(&rows, &hidden_counts, &theta), hidden_counts.iter().map(|n| u64::from(*n)).sum())
    }

    /// How much each word of a document speaks for one of the space's labels; with the constant they add up to about the
    /// margin.
    pub fn votes(&self, words: &[u32], counts: &[u32], task: usize) -> Vec<f32> {
        let (rows, weighted) = self.gather(words, counts);
        let theta = self.fold_in(&rows, &weighted);
        let n: f32 = weighted.iter().sum();
        let weights = &self.lens.weights[task * self.space.stride..][..self.space.stride];
        let vote = |(row, count): (&[f32], &f32)| {
            let (mut sum, mut total) = (0.0, 0.0);
            for z in 0..self.space.k {
                let p = theta[z] * row[z];
                total += p;
                sum += p * weights[z];
            }
            if total > 0.0 { count / n * sum / total } else { 0.0 }
        };
        rows.chunks_exact(self.space.stride.max(1)).zip(&weighted).map(vote).collect()
    }
}
