//! What batch learning minimises, by which it knows when to end. [BayesPA] (34)
//!
//! F, which is never negative, is
//!
//! −log p(words, topics of words) + KL(q(w) ‖ prior) + 2c Σ E(ε − y f)₊
//!
//! Topics and shares of documents are integrated out of the first term; it and the last are means over the sweeps that count.

use super::course::Leg;
use super::sample::Drawn;
use super::settings::MedSettings;
use super::space::{Space, prior_mean};
use super::task::{Moments, Weights, constant_feature, constant_variance};
use crate::num::{self, ln_gamma};

impl Space {
    /// F for what the latest round over each mini-batch gave.
    pub fn objective(&self, settings: &MedSettings, legs: &[Leg<'_>], drawn: &[Drawn]) -> f64 {
        let moments: Vec<Moments> = self.tasks.iter().map(|task| task.moments().0).collect();
        let prior: Vec<f64> = self.cache(settings, None).prior.iter().map(|a| f64::from(*a)).collect();
        let each = legs.iter().zip(drawn);
        let local: f64 = each.map(|(leg, drawn)| self.local(settings, leg, drawn, (&prior, &moments))).sum();
        local * f64::from(settings.ghosts) - self.log_words(settings) + self.divergence(settings, &moments)
    }

    /// log p(words | topics of words).
    fn log_words(&self, settings: &MedSettings) -> f64 {
        let (gamma, scale, smooth) = (settings.gamma, settings.count_scale(), settings.gamma * self.n_words() as f64);
        let rise = |from: f64, n: f64| ln_gamma(from + n) - ln_gamma(from);
        let counted = self.sums.iter().filter(|n| **n > 0).map(|n| rise(gamma, scale * f64::from(*n))).sum::<f64>();
        counted - self.totals.iter().filter(|n| **n > 0).map(|n| rise(smooth, scale * *n as f64)).sum::<f64>()
    }

    /// −log p(topics of words) and what margins cost, over the documents of a mini-batch.
    fn local(
        &self,
        settings: &MedSettings,
        leg: &Leg<'_>,
        drawn: &Drawn,
        (prior, moments): (&[f64], &[Moments]),
    ) -> f64 {
        let (lot, kept) = (&leg.lot, settings.n_kept());
        let all: f64 = prior.iter().sum();
        let mut features = vec![constant_feature(settings); self.k + 1];
        let mut sum = 0.0;
        for document in (0..lot.len()).filter(|document| lot.n_tokens(*document) > 0) {
            let n = lot.n_tokens(document) as f64;
            for counts in drawn.counts[document * kept * drawn.stride..].chunks_exact(drawn.stride).take(kept) {
                let present = counts.iter().zip(prior).filter(|(count, _)| **count > 0.0);
                sum -= present.map(|(count, a)| ln_gamma(a + f64::from(*count)) - ln_gamma(*a)).sum::<f64>();
                sum += ln_gamma(all + n) - ln_gamma(all);
                features[1..].iter_mut().zip(counts).for_each(|(x, count)| *x = f64::from(*count) / n);
                for (task, moments) in self.tasks.iter().zip(moments) {
                    let side = lot.side(document, task.label);
                    if side != 0 {
                        let (mean, variance) = moments.of(&features);
                        let lack = settings.epsilon - f64::from(side) * mean;
                        sum += 2.0 * leg.cost(settings, side) * expected_hinge(lack, variance);
                    }
                }
            }
        }
        sum / kept as f64
    }

    /// KL(q(w) ‖ prior), label by label.
    fn divergence(&self, settings: &MedSettings, moments: &[Moments]) -> f64 {
        let d = self.k + 1;
        let variance = |i: usize| if i == 0 { constant_variance(settings) } else { settings.variance };
        let of_task = |(task, moments): (&super::task::Task, &Moments)| {
            let tagged = self.tags.iter().map(|tag| prior_mean(*tag, task.label, settings));
            let means = std::iter::once(0.0).chain(tagged);
            let off = moments.mean.iter().zip(means).enumerate();
            let mut twice: f64 = off.map(|(i, (mean, prior))| (mean - prior).powi(2) / variance(i)).sum();
            if let Weights::Gibbs { precision, .. } = &task.weights {
                let spread = |i: usize| moments.covariance[i * d + i] / variance(i) - 1.0 + variance(i).ln();
                twice += (0..d).map(spread).sum::<f64>() + log_determinant(precision, d);
            }
            0.5 * twice
        };
        self.tasks.iter().zip(moments).map(of_task).sum()
    }
}

impl Moments {
    /// Mean and variance of what features say of the label; the variance is 0 for averaging classifiers.
    fn of(&self, features: &[f64]) -> (f64, f64) {
        let dot = |row: &[f64]| row.iter().zip(features).map(|(a, x)| a * x).sum::<f64>();
        let rows = self.covariance.chunks_exact(features.len());
        (dot(&self.mean), rows.zip(features).map(|(row, x)| x * dot(row)).sum::<f64>().max(0.0))
    }
}

/// E(ζ)₊ of a Gaussian ζ.
fn expected_hinge(mean: f64, variance: f64) -> f64 {
    if variance <= 0.0 {
        return mean.max(0.0);
    }
    let sd = variance.sqrt();
    let z = mean / sd;
    let density = (-0.5 * (z * z + num::LN_2PI)).exp();
    mean * 0.5 * libm::erfc(-z / std::f64::consts::SQRT_2) + sd * density
}

fn log_determinant(matrix: &[f64], d: usize) -> f64 {
    let mut factor = matrix.to_vec();
    match num::cholesky(&mut factor, d) {
        Ok(_) => 2.0 * (0..d).map(|i| factor[i * d + i].ln()).sum::<f64>(),
        // Rounding alone can make it so; the diagonal is what is left to go by.
        Err(_) => (0..d).map(|i| matrix[i * d + i].ln()).sum(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::lot::Lot;
    use super::super::settings::{Classifier, LabelsEach, Size};
    use super::*;
    use crate::data::DocumentBuffer;

    #[test]
    fn the_expected_hinge_is_its_integral() {
        for (mean, variance) in [(1.3, 0.5), (-0.7, 2.0), (-3.0, 0.4), (0.0, 1.0)] {
            let sd = f64::sqrt(variance);
            let step = 1e-3;
            let integral: f64 = (-10_000..10_000)
                .map(|i| step * (f64::from(i) + 0.5))
                .map(|z| (mean + sd * z).max(0.0) * (-0.5 * (z * z + num::LN_2PI)).exp() * step)
                .sum();
            assert!((expected_hinge(mean, variance) - integral).abs() < 1e-6);
        }
        assert_eq!((expected_hinge(2.5, 0.0), expected_hinge(-2.5, 0.0)), (2.5, 0.0));
    }

    /// The words and their topics one after the other, each foretold by those before it, have the same probability together;
    /// weights at their prior cost nothing, and then margins are what is left.
    #[test]
    fn it_is_the_product_of_what_each_word_was_foretold_by() {
        let settings = MedSettings {
            n_topics: Some(3),
            topics_per_label: 0,
            tag: 0.0,
            sweeps: 1,
            alpha: Some(0.6),
            gamma: 0.4,
            epsilon: 2.5,
            cost: 0.7,
            constant: 0.0,
            once: false,
            labels_each: LabelsEach::Several,
            ..MedSettings::new(Classifier::Averaging, Size::Given)
        };
        let mut space = Space::new(&settings, 0);
        space.grow_words(5);
        space.add_task(1, &settings);
        let mut buffer = DocumentBuffer::new();
        buffer.push_tokens([0, 1, 1, 4]);
        buffer.push_tokens([2, 4]);
        buffer.label(0, [1]);
        let topics = [0u32, 2, 2, 1, 1, 2];
        let leg = Leg { lot: Lot::new(buffer.documents(), 0..2, 0, false), new_labels: Vec::new(), positive_cost: 1.1 };
        let stride = space.stride;
        let mut drawn = Drawn { stride, counts: vec![0.0; 2 * stride], ..Drawn::default() };
        let (mut expected, mut at) = (0.0, 0);
        for document in 0..2 {
            let words = leg.lot.words(document);
            for token in leg.lot.tokens[leg.lot.span(document..document + 1)].iter().copied() {
                let (k, word) = (topics[at] as usize, words[token as usize] as usize);
                let before = drawn.counts[document * stride..][..3].iter().sum::<f32>();
                let count = &mut drawn.counts[document * stride + k];
                expected -= ((0.6 + f64::from(*count)) / (3.0 * 0.6 + f64::from(before))).ln();
                let (of_word, of_topic) = (space.sums[word * stride + k], space.totals[k]);
                expected -= ((0.4 + f64::from(of_word)) / (5.0 * 0.4 + of_topic as f64)).ln();
                *count += 1.0;
                space.count(words, &[token], &[k as u32], 1);
                at += 1;
            }
        }
        // The second document has no labels, and says nothing of them.
        expected += 2.0 * 1.1 * 2.5;
        let found = space.objective(&settings, &[leg], &[drawn]);
        assert!((found - expected).abs() < 1e-5, "{found} {expected}");
    }

    /// A Gaussian's divergence from its prior, against the closed form in one dimension.
    #[test]
    fn weights_that_left_their_prior_cost_their_divergence() {
        let settings = MedSettings {
            n_topics: Some(1),
            topics_per_label: 0,
            constant: 0.0,
            variance: 2.0,
            ..MedSettings::new(Classifier::Gibbs, Size::Given)
        };
        let mut space = Space::new(&settings, 0);
        space.add_task(0, &settings);
        let moments = |space: &Space| vec![space.tasks[0].moments().0];
        assert!(space.divergence(&settings, &moments(&space)).abs() < 1e-12);
        let Weights::Gibbs { precision, shift } = &mut space.tasks[0].weights else { unreachable!() };
        (precision[3], shift[1]) = (5.0, 4.0);
        let expected = 0.5 * (0.2 / 2.0 + 0.64 / 2.0 - 1.0 + f64::ln(2.0 / 0.2));
        assert!((space.divergence(&settings, &moments(&space)) - expected).abs() < 1e-12);
    }
}
