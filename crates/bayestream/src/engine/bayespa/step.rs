//! The global step: what a mini-batch changes in the topics and in the weights of the labels.

use super::dual::{Example, solve};
use super::lot::Lot;
use super::sample::{Drawn, Round};
use super::settings::{Classifier, MedSettings};
use super::space::{Pulls, Space};
use super::sticks::Sticks;
use super::task::{Weights, constant_feature, constant_variance};
use crate::num;

/// Where random numbers come from, and on how many threads.
#[derive(Clone, Copy)]
pub(super) struct Draws {
    pub seed: u64,
    pub shard: u64,
    pub n_threads: usize,
}

impl Space {
    /// Learns a mini-batch: rounds of sampling and of updates, each of which replaces what the one before it added.
    /// Gives the number of precisions that had to be repaired. [BayesPA] Algorithms 1 and 2
    pub fn learn(&mut self, settings: &MedSettings, lot: &Lot<'_>, positive_cost: f64, draws: Draws) -> u32 {
        let mut n_repairs = 0;
        let is_repeated = settings.n_rounds() > 1;
        let before: Vec<Weights> = self.tasks.iter().filter(|_| is_repeated).map(|task| task.weights.clone()).collect();
        let sticks_before = self.sticks.clone();
        let (mut drawn, mut tau) = (Drawn::default(), Vec::new());
        for round in 0..settings.n_rounds() {
            let mut rng = num::stream(draws.seed, draws.shard, lot.first << 8 | 1 << 63 | round.min(255) as u64);
            let cache = self.cache(settings, settings.drawn.then_some(&mut rng));
            let pulls = Pulls::new(self, settings);
            n_repairs += pulls.as_ref().map_or(0, |pulls| pulls.n_repairs);
            let means = self.means();
            if round > 0 {
                self.count_words(lot, &drawn, settings, -1);
            }
            Round {
                settings,
                space: self,
                cache: &cache,
                pulls: pulls.as_ref(),
                lot,
                positive_cost,
                tau: &tau,
                means: &means,
                begins: round == 0,
                seed: draws.seed,
                shard: draws.shard,
                round: round as u64,
            }
            .run(&mut drawn, draws.n_threads);
            self.count_words(lot, &drawn, settings, 1);
            self.update_sticks(settings, sticks_before.as_ref(), lot, &drawn);
            if round > 0 {
                self.tasks.iter_mut().zip(&before).for_each(|(task, weights)| task.weights.clone_from(weights));
            }
            match settings.classifier {
                // Nothing is asked of the labels.
                _ if settings.cost == 0.0 => {}
                Classifier::Gibbs => self.update_gibbs(settings, lot, &drawn, positive_cost),
                Classifier::Averaging => tau = self.update_averaging(settings, lot, &drawn, positive_cost),
            }
        }
        self.tally_shares(settings, lot, &drawn);
        n_repairs
    }

    /// Mean weights of the topics in rows, for averaging classifiers.
    fn means(&self) -> Vec<f32> {
        let mut means = vec![0.0; self.tasks.len() * self.stride];
        for (row, task) in means.chunks_exact_mut(self.stride.max(1)).zip(&self.tasks) {
            if let Weights::Averaging { mean, .. } = &task.weights {
                row.iter_mut().zip(&mean[1..]).for_each(|(to, from)| *to = *from as f32);
            }
        }
        means
    }

    /// Adds the words of every sweep that counts, or takes them away again. [BayesPA] (22)
    fn count_words(&mut self, lot: &Lot<'_>, drawn: &Drawn, settings: &MedSettings, by: i32) {
        let kept = settings.n_kept();
        for document in 0..lot.len() {
            let span = lot.span(document..document + 1);
            let n = span.len();
            for j in 0..kept {
                let topics = &drawn.kept[span.start * kept + j * n..][..n];
                self.count(lot.words(document), &lot.tokens[span.clone()], topics, by);
            }
        }
    }

    fn update_sticks(&mut self, settings: &MedSettings, before: Option<&Sticks>, lot: &Lot<'_>, drawn: &Drawn) {
        let (Some(sticks), Some(before)) = (&mut self.sticks, before) else { return };
        sticks.tables.clone_from(&before.tables);
        let scale = settings.count_scale();
        for document in 0..lot.len() {
            let tables = &drawn.tables[document * self.stride..][..self.k];
            sticks.tables.iter_mut().zip(tables).for_each(|(sum, n)| *sum += scale * n);
        }
    }

    /// Natural parameters add up. [BayesPA] (31)
    fn update_gibbs(&mut self, settings: &MedSettings, lot: &Lot<'_>, drawn: &Drawn, positive_cost: f64) {
        let (kept, stride, n_tasks) = (settings.n_kept(), self.stride, self.tasks.len());
        let (scale, feature) = (settings.count_scale(), constant_feature(settings));
        let mut features: Vec<(usize, f64)> = Vec::new();
        for document in 0..lot.len() {
            let n = lot.n_tokens(document);
            if n == 0 || lot.labels(document).is_empty() {
                continue;
            }
            for j in 0..kept {
                let counts = &drawn.counts[(document * kept + j) * stride..][..self.k];
                features.clear();
                if feature > 0.0 {
                    features.push((0, feature));
                }
                let present = counts.iter().enumerate().filter(|(_, count)| **count > 0.0);
                features.extend(present.map(|(k, count)| (1 + k, f64::from(*count) / n as f64)));
                for (q, task) in self.tasks.iter_mut().enumerate() {
                    let side = lot.side(document, task.label);
                    let c = if side > 0 { positive_cost } else { settings.cost };
                    let rho = f64::from(drawn.rho[(document * kept + j) * n_tasks + q]);
                    let Weights::Gibbs { precision, shift } = &mut task.weights else { continue };
                    let d = shift.len();
                    let (squared, pulled) =
                        (scale * c * c * rho, scale * c * f64::from(side) * (1.0 + c * settings.epsilon * rho));
                    for (i, x) in &features {
                        shift[*i] += pulled * x;
                        let row = &mut precision[i * d..][..d];
                        features.iter().for_each(|(j, y)| row[*j] += squared * x * y);
                    }
                }
            }
        }
    }

    /// Solves the passive-aggressive problem of the mini-batch for each label, and gives the dual variables.
    /// [BayesPA] (24), (25)
    fn update_averaging(
        &mut self,
        settings: &MedSettings,
        lot: &Lot<'_>,
        drawn: &Drawn,
        positive_cost: f64,
    ) -> Vec<f64> {
        let (kept, stride, n_tasks) = (settings.n_kept(), self.stride, self.tasks.len());
        let mut tau = vec![0.0; lot.len() * n_tasks];
        let mut variances = vec![settings.variance; self.k + 1];
        variances[0] = constant_variance(settings);
        let features: Vec<Vec<f64>> = (0..lot.len())
            .map(|document| {
                let n = lot.n_tokens(document).max(1) as f64;
                let mut features = vec![0.0; self.k + 1];
                features[0] = constant_feature(settings);
                for j in 0..kept {
                    let counts = &drawn.counts[(document * kept + j) * stride..][..self.k];
                    let each = features[1..].iter_mut().zip(counts);
                    each.for_each(|(x, count)| *x += f64::from(*count) / (n * kept as f64));
                }
                features
            })
            .collect();
        for (q, task) in self.tasks.iter_mut().enumerate() {
            let Weights::Averaging { mean, sum, n } = &mut task.weights else { continue };
            let examples: Vec<(usize, Example<'_>)> = (0..lot.len())
                .filter(|document| lot.n_tokens(*document) > 0)
                .filter_map(|document| {
                    let side = lot.side(document, task.label);
                    let c = if side > 0 { positive_cost } else { settings.cost };
                    let cap = 2.0 * c * f64::from(settings.ghosts);
                    let example = Example { features: &features[document], side: f64::from(side), cap };
                    (side != 0).then_some((document, example))
                })
                .collect();
            let only: Vec<Example<'_>> = examples.iter().map(|(_, example)| *example).collect();
            let solution = solve(&only, settings.epsilon, &variances, mean);
            examples.iter().zip(solution).for_each(|((document, _), t)| tau[document * n_tasks + q] = t);
            sum.iter_mut().zip(mean.iter()).for_each(|(s, m)| *s += m);
            *n += 1;
        }
        tau
    }

    /// Adds the shares of the documents to those of their labels.
    fn tally_shares(&mut self, settings: &MedSettings, lot: &Lot<'_>, drawn: &Drawn) {
        let (kept, stride, k) = (settings.n_kept(), self.stride, self.k);
        for document in 0..lot.len() {
            let n = lot.n_tokens(document);
            if n == 0 {
                continue;
            }
            for label in lot.labels(document) {
                let Some(task) = self.tasks.iter_mut().find(|task| task.label == *label) else { continue };
                task.n_documents += 1;
                for j in 0..kept {
                    let counts = &drawn.counts[(document * kept + j) * stride..][..k];
                    let each = task.shares.iter_mut().zip(counts);
                    each.for_each(|(s, count)| *s += f64::from(*count) / (n * kept) as f64);
                }
            }
        }
    }
}
