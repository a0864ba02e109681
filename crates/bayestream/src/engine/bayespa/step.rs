//! The global step: what a mini-batch changes in the topics and in the weights of the labels.

use super::course::Leg;
use super::dual::{Example, solve};
use super::lot::Lot;
use super::sample::{Drawn, Round};
use super::settings::{Classifier, MedSettings};
use super::space::{Pulls, Space};
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
    /// One round over a mini-batch: its topics are sampled, and what they say replaces what the round before it added; in the
    /// first round nothing was drawn yet. Gives the number of precisions that had to be repaired.
    /// [BayesPA] Algorithms 1 and 2
    pub fn visit(
        &mut self,
        settings: &MedSettings,
        leg: &Leg<'_>,
        (round, drawn): (usize, &mut Drawn),
        draws: Draws,
    ) -> u32 {
        let lot = &leg.lot;
        let mut rng = num::stream(draws.seed, draws.shard, lot.first << 8 | 1 << 63 | round.min(255) as u64);
        let cache = self.cache(settings, settings.draws().then_some(&mut rng));
        let pulls = Pulls::new(self, settings);
        let means = self.means();
        let earlier = (round > 0).then(|| drawn.clone());
        Round {
            settings,
            space: self,
            cache: &cache,
            pulls: pulls.as_ref(),
            leg,
            earlier: earlier.as_ref(),
            means: &means,
            seed: draws.seed,
            shard: draws.shard,
            round: round as u64,
        }
        .run(drawn, draws.n_threads);
        if let Some(earlier) = &earlier {
            self.add(settings, leg, earlier, -1);
        }
        if settings.classifier == Classifier::Averaging && settings.cost > 0.0 {
            drawn.features = mean_features(settings, &leg.lot, drawn, self.k);
            drawn.tau = self.passive_aggressive(settings, leg, &drawn.features);
        }
        self.add(settings, leg, drawn, 1);
        pulls.map_or(0, |pulls| pulls.n_repairs)
    }

    /// Adds what a round gave, or takes it away again.
    fn add(&mut self, settings: &MedSettings, leg: &Leg<'_>, drawn: &Drawn, by: i32) {
        self.add_words(settings, &leg.lot, drawn, by);
        self.add_tables(settings, drawn, f64::from(by));
        match settings.classifier {
            // Nothing is asked of the labels.
            _ if settings.cost == 0.0 => {}
            Classifier::Gibbs => self.add_margins(settings, leg, drawn, f64::from(by)),
            Classifier::Averaging => self.add_steps(settings, &leg.lot, drawn, f64::from(by)),
        }
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

    /// The words of every sweep that counts. [BayesPA] (22)
    fn add_words(&mut self, settings: &MedSettings, lot: &Lot<'_>, drawn: &Drawn, by: i32) {
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

    fn add_tables(&mut self, settings: &MedSettings, drawn: &Drawn, by: f64) {
        let Some(sticks) = &mut self.sticks else { return };
        let scale = by * settings.count_scale();
        for tables in drawn.tables.chunks_exact(drawn.stride) {
            // Rounding must not leave less than nothing.
            sticks.tables.iter_mut().zip(tables).for_each(|(sum, n)| *sum = (*sum + scale * n).max(0.0));
        }
    }

    /// Natural parameters add up. [BayesPA] (31)
    fn add_margins(&mut self, settings: &MedSettings, leg: &Leg<'_>, drawn: &Drawn, by: f64) {
        let (lot, kept, n_tasks) = (&leg.lot, settings.n_kept(), self.tasks.len());
        let (scale, feature) = (by * settings.count_scale(), constant_feature(settings));
        let mut features: Vec<(usize, f64)> = Vec::new();
        for document in 0..lot.len() {
            let n = lot.n_tokens(document);
            if n == 0 || lot.labels(document).is_empty() {
                continue;
            }
            for j in 0..kept {
                let counts = &drawn.counts[(document * kept + j) * drawn.stride..][..drawn.stride];
                features.clear();
                if feature > 0.0 {
                    features.push((0, feature));
                }
                let present = counts.iter().enumerate().filter(|(_, count)| **count > 0.0);
                features.extend(present.map(|(k, count)| (1 + k, f64::from(*count) / n as f64)));
                for (q, task) in self.tasks.iter_mut().enumerate() {
                    let side = lot.side(document, task.label);
                    let c = leg.cost(settings, side);
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

    /// The dual variables of the passive-aggressive problem of a mini-batch, label by label. [BayesPA] (24), (25)
    fn passive_aggressive(&self, settings: &MedSettings, leg: &Leg<'_>, features: &[f64]) -> Vec<f64> {
        let (lot, n_tasks) = (&leg.lot, self.tasks.len());
        let mut tau = vec![0.0; lot.len() * n_tasks];
        let variances = self.variances(settings);
        for (q, task) in self.tasks.iter().enumerate() {
            let Weights::Averaging { mean, .. } = &task.weights else { continue };
            let (documents, examples): (Vec<usize>, Vec<Example<'_>>) = (0..lot.len())
                .filter(|document| lot.n_tokens(*document) > 0)
                .filter_map(|document| {
                    let side = lot.side(document, task.label);
                    let cap = 2.0 * leg.cost(settings, side) * f64::from(settings.ghosts);
                    let features = &features[document * (self.k + 1)..][..self.k + 1];
                    (side != 0).then_some((document, Example { features, side: f64::from(side), cap }))
                })
                .unzip();
            let solution = solve(&examples, settings.epsilon, &variances, &mut mean.clone());
            documents.iter().zip(solution).for_each(|(document, t)| tau[document * n_tasks + q] = t);
        }
        tau
    }

    /// μ moves by V Σ τ y x. [BayesPA] (24)
    fn add_steps(&mut self, settings: &MedSettings, lot: &Lot<'_>, drawn: &Drawn, by: f64) {
        let (d, n_tasks) = (drawn.features.len() / lot.len().max(1), self.tasks.len());
        let variances = self.variances(settings);
        for (q, task) in self.tasks.iter_mut().enumerate() {
            let Weights::Averaging { mean, .. } = &mut task.weights else { continue };
            for (document, features) in drawn.features.chunks_exact(d.max(1)).enumerate() {
                let step = by * drawn.tau[document * n_tasks + q] * f64::from(lot.side(document, task.label));
                if step != 0.0 {
                    mean.iter_mut().zip(features).zip(&variances).for_each(|((m, x), v)| *m += step * v * x);
                }
            }
        }
    }

    /// The variances of a label's constant and of its weights.
    fn variances(&self, settings: &MedSettings) -> Vec<f64> {
        let mut variances = vec![settings.variance; self.k + 1];
        variances[0] = constant_variance(settings);
        variances
    }

    /// Ends the rounds over a mini-batch: adds the shares of its documents to those of their labels, and the weights to
    /// those along the stream.
    pub fn settle(&mut self, settings: &MedSettings, lot: &Lot<'_>, drawn: &Drawn) {
        for task in &mut self.tasks {
            if let Weights::Averaging { mean, sum, n } = &mut task.weights {
                sum.iter_mut().zip(mean.iter()).for_each(|(s, m)| *s += m);
                *n += 1;
            }
        }
        let kept = settings.n_kept();
        for document in 0..lot.len() {
            let n = lot.n_tokens(document);
            if n == 0 {
                continue;
            }
            for label in lot.labels(document) {
                let Some(task) = self.tasks.iter_mut().find(|task| task.label == *label) else { continue };
                task.n_documents += 1;
                for counts in drawn.counts[document * kept * drawn.stride..].chunks_exact(drawn.stride).take(kept) {
                    let each = task.shares.iter_mut().zip(counts);
                    each.for_each(|(s, count)| *s += f64::from(*count) / (n * kept) as f64);
                }
            }
        }
    }
}

/// The features of each document in rows: the constant, and its shares of the topics, in the mean of the sweeps that count.
fn mean_features(settings: &MedSettings, lot: &Lot<'_>, drawn: &Drawn, k: usize) -> Vec<f64> {
    let (kept, d) = (settings.n_kept(), k + 1);
    let mut features = vec![0.0; lot.len() * d];
    for (document, features) in features.chunks_exact_mut(d).enumerate() {
        let n = lot.n_tokens(document).max(1) as f64;
        features[0] = constant_feature(settings);
        for counts in drawn.counts[document * kept * drawn.stride..].chunks_exact(drawn.stride).take(kept) {
            let each = features[1..].iter_mut().zip(counts);
            each.for_each(|(x, count)| *x += f64::from(*count) / (n * kept as f64));
        }
    }
    features
}
