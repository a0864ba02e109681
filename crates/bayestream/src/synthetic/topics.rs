//! Documents from planted topics.

use super::purpose;
use crate::data::DocumentBuffer;
use crate::num::{self, Rng};

/// Latent Dirichlet allocation with known topics.
#[derive(Clone, Debug, PartialEq)]
pub struct PlantedTopics {
    /// Probability of each word, topic by topic.
    pub topics: Vec<Vec<f32>>,
    /// Concentration of a document's shares on few topics, per topic.
    pub alpha: f64,
    /// Mean of a document's number of words, which is geometric beyond a quarter of it.
    pub mean_words: f64,
    /// The document, counted from 0, from which on the last topic occurs; 0 for a stream that does not change.
    pub last_appears: u64,
    seed: u64,
    /// Each topic's probabilities added up, to draw from.
    steps: Vec<Vec<f64>>,
}

/// What planted topics look like.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlantedShape {
    /// Number of topics.
    pub n_topics: usize,
    /// Number of words.
    pub n_words: usize,
    /// Dirichlet precision of a topic over its number of words: small makes topics of few words.
    pub eta: f64,
    /// Words are as frequent as this power of their rank, for all topics alike: 0 for words that are all alike, about 1 for
    /// a language.
    pub zipf: f64,
    /// Concentration of a document's shares, per topic.
    pub alpha: f64,
    /// Mean of a document's number of words.
    pub mean_words: f64,
    /// The document from which on the last topic occurs.
    pub last_appears: u64,
}

impl Default for PlantedShape {
    fn default() -> Self {
        PlantedShape {
            n_topics: 10,
            n_words: 2000,
            eta: 0.05,
            zipf: 0.0,
            alpha: 0.1,
            mean_words: 80.0,
            last_appears: 0,
        }
    }
}

impl PlantedTopics {
    /// Draws topics of this shape.
    pub fn new(shape: &PlantedShape, seed: u64) -> PlantedTopics {
        let mut rng = num::stream(seed, purpose::PARAMETERS, 0);
        let mut base: Vec<f64> = (0..shape.n_words).map(|rank| ((rank + 1) as f64).powf(-shape.zipf)).collect();
        let total: f64 = base.iter().sum();
        base.iter_mut().for_each(|p| *p *= shape.eta * shape.n_words as f64 / total);
        let topics: Vec<Vec<f64>> = (0..shape.n_topics).map(|_| dirichlet(&base, &mut rng)).collect();
        let steps = |topic: &Vec<f64>| {
            let mut sum = 0.0;
            let add = |p: &f64| {
                sum += p;
                sum
            };
            topic.iter().map(add).collect()
        };
        PlantedTopics {
            steps: topics.iter().map(steps).collect(),
            topics: topics.iter().map(|topic| topic.iter().map(|p| *p as f32).collect()).collect(),
            alpha: shape.alpha,
            mean_words: shape.mean_words,
            last_appears: shape.last_appears,
            seed,
        }
    }

    /// The documents of the stream from number `first` on.
    pub fn documents(&self, first: u64, n: usize) -> DocumentBuffer {
        let mut documents = DocumentBuffer::new();
        let mut tokens = Vec::new();
        for at in first..first + n as u64 {
            let k = self.topics.len() - usize::from(at < self.last_appears && self.topics.len() > 1);
            self.draw(at, k, &mut tokens);
            documents.push_tokens(tokens.iter().copied());
        }
        documents
    }

    /// The words of document `at` from the first `k` topics, in place of what `tokens` holds; returns the topics' shares.
    pub(super) fn draw(&self, at: u64, k: usize, tokens: &mut Vec<u32>) -> Vec<f64> {
        let mut rng = num::stream(self.seed, purpose::ROWS, at);
        let shares = dirichlet(&vec![self.alpha; k], &mut rng);
        let least = 0.25 * self.mean_words;
        let n = least - (1.0 - rng.uniform()).ln() * (self.mean_words - least);
        tokens.clear();
        for _ in 0..n.round().clamp(1.0, 1e6) as usize {
            let steps = &self.steps[rng.categorical(&shares)];
            let all = steps.last().copied().unwrap_or(1.0);
            let at = rng.uniform() * all;
            tokens.push(steps.partition_point(|step| *step <= at).min(steps.len().saturating_sub(1)) as u32);
        }
        shares
    }
}

/// A draw from a Dirichlet distribution. Gamma variables of tiny shapes underflow, so that one of them is set to 1 when all
/// do.
fn dirichlet(alpha: &[f64], rng: &mut Rng) -> Vec<f64> {
    let mut draw: Vec<f64> = alpha.iter().map(|a| rng.gamma(*a)).collect();
    let total: f64 = draw.iter().sum();
    if total > 0.0 {
        draw.iter_mut().for_each(|p| *p /= total);
    } else {
        let lucky = rng.categorical(alpha);
        draw[lucky] = 1.0;
    }
    draw
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_have_the_words_of_their_topics() {
        let shape =
            PlantedShape { n_topics: 3, n_words: 40, mean_words: 60.0, last_appears: 500, ..Default::default() };
        let planted = PlantedTopics::new(&shape, 5);
        let n = 4000;
        let documents = planted.documents(500, n);
        let mut counts = vec![0.0; 40];
        for (words, n) in documents.documents().iter() {
            words.iter().zip(n).for_each(|(word, n)| counts[*word as usize] += f64::from(*n));
        }
        let total: f64 = counts.iter().sum();
        // A document's length has a standard deviation of three quarters of its mean.
        assert!((total / n as f64 - 60.0).abs() < 5.0 * 45.0 / (n as f64).sqrt() + 0.5);
        for word in 0..40 {
            let expected: f64 = planted.topics.iter().map(|topic| f64::from(topic[word]) / 3.0).sum();
            // Shares of a topic in documents vary by less than a half; three topics add up.
            assert!((counts[word] / total - expected).abs() < 5.0 * 0.5 * 3.0 * expected / (n as f64).sqrt() + 1e-3);
        }
    }

    #[test]
    fn the_last_topic_appears_midway_and_a_longer_stream_begins_with_the_shorter() {
        let shape = PlantedShape { n_topics: 2, n_words: 30, eta: 0.03, last_appears: 50, ..Default::default() };
        let mut planted = PlantedTopics::new(&shape, 2);
        let before = planted.documents(0, 50);
        planted.topics.truncate(1);
        assert_eq!(planted.documents(0, 50).documents().n_tokens(), before.documents().n_tokens());
        let planted = PlantedTopics::new(&shape, 2);
        let (all, tail) = (planted.documents(0, 80), planted.documents(60, 20));
        assert_eq!(all.documents().get(75), tail.documents().get(15));
        let absent = planted.topics[0].iter().position(|p| *p < 1e-9).unwrap() as u32;
        assert!(before.documents().iter().all(|(words, _)| !words.contains(&absent)));
    }
}
