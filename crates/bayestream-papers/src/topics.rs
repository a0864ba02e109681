//! What learnt topics are worth, whoever learnt them: one scorer for our own and for those of other programs.

pub use crate::corpus::Split;

use bayestream::data::{DocumentBuffer, Documents};
use bayestream::metrics;

/// Topics with more than this share of the words of documents are alive in them, and are judged by their words. Foretelling
/// uses all.
pub const LIVE: f64 = 0.002;
/// Words of a topic that are judged.
const TOP: usize = 10;
/// Decides which half of a test document is known.
const HALVES_SEED: u64 = 12345;

/// Judges topics by documents that were not learnt.
pub struct Judge<'a> {
    train: Documents<'a>,
    test: Documents<'a>,
    known: DocumentBuffer,
    held_back: DocumentBuffer,
    n_words: usize,
}

/// What topics are worth.
#[derive(Clone, Debug, PartialEq)]
pub struct Judged {
    /// Of the second half of the words of each test document, given the first.
    pub perplexity: f64,
    /// The topics that are alive in the training documents.
    pub learnt: Live,
    /// The topics that are alive in the test documents.
    pub tested: Live,
}

/// The topics with more than [`LIVE`] of the words of some documents.
#[derive(Clone, Debug, PartialEq)]
pub struct Live {
    /// Their places among all topics.
    pub places: Vec<usize>,
    /// Coherence of their ten likeliest words by the training documents, mean over topics.
    pub npmi: f64,
}

impl<'a> Judge<'a> {
    /// A judge by these test documents; `train` is what was learnt from.
    pub fn new(train: Documents<'a>, test: Documents<'a>, n_words: usize) -> Judge<'a> {
        let (known, held_back) = metrics::halves(&test, HALVES_SEED);
        Judge { train, test, known, held_back, n_words }
    }

    /// Judges probabilities of words, topic by topic, and the weights of topics in a document of which nothing is known.
    pub fn judge(&self, topics: &[Vec<f32>], alpha: &[f64]) -> Judged {
        Judged {
            perplexity: self.perplexity(topics, alpha),
            learnt: self.live(topics, alpha, &self.train),
            tested: self.live(topics, alpha, &self.test),
        }
    }

    fn live(&self, topics: &[Vec<f32>], alpha: &[f64], documents: &Documents<'_>) -> Live {
        let shares = metrics::topic_shares(topics, alpha, documents);
        let places: Vec<usize> = (0..topics.len()).filter(|z| shares[*z] > LIVE).collect();
        let lists: Vec<Vec<u32>> = places.iter().map(|z| metrics::top_words(&topics[*z], TOP)).collect();
        let coherence = metrics::npmi(&lists, &self.train);
        Live { places, npmi: coherence.iter().sum::<f64>() / coherence.len() as f64 }
    }

    /// Perplexity alone.
    pub fn perplexity(&self, topics: &[Vec<f32>], alpha: &[f64]) -> f64 {
        metrics::completion_perplexity(topics, alpha, &self.known.documents(), &self.held_back.documents())
    }

    /// Perplexity when every document has the words of all training documents, each with 0.01 added to its count.
    pub fn unigram(&self) -> f64 {
        let mut counts = vec![0.01; self.n_words];
        for (words, n) in self.train.iter() {
            words.iter().zip(n).for_each(|(word, n)| counts[*word as usize] += f64::from(*n));
        }
        let total: f64 = counts.iter().sum();
        self.perplexity(&[counts.iter().map(|n| (n / total) as f32).collect()], &[1.0])
    }
}

/// Share of topics that have a twin in another list: one that overlaps by more than 0.7 (Bhattacharyya coefficient). Means
/// over the pairs of lists, in both directions.
pub fn twins(lists: &[Vec<Vec<f32>>]) -> f64 {
    let (mut n_twins, mut n_topics) = (0, 0);
    for (i, list) in lists.iter().enumerate() {
        for (_, other) in lists.iter().enumerate().filter(|(j, _)| *j != i) {
            let closest = metrics::closest_topics(list, other);
            n_twins += closest.iter().flatten().filter(|(_, overlap)| *overlap > 0.7).count();
            n_topics += list.len();
        }
    }
    n_twins as f64 / n_topics as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn buffer(documents: &[&[u32]]) -> DocumentBuffer {
        let mut buffer = DocumentBuffer::new();
        documents.iter().for_each(|tokens| buffer.push_tokens(tokens.iter().copied()));
        buffer
    }

    /// θ ← (α + Σ n p) / (Σ α + Σ n) in doubles, fifty rounds, as a reader of the page would write it.
    fn by_hand(topics: &[Vec<f32>], alpha: &[f64], known: &[(u32, u32)], held_back: &[(u32, u32)]) -> (f64, f64) {
        let phi = |z: usize, word: u32| f64::from(topics[z][word as usize]);
        let n_topics = topics.len();
        let total: f64 = alpha.iter().sum();
        let n_known: f64 = known.iter().map(|(_, n)| f64::from(*n)).sum();
        let mut theta: Vec<f64> = alpha.iter().map(|a| a / total).collect();
        let mix = |theta: &[f64], word: u32| (0..n_topics).map(|z| theta[z] * phi(z, word)).sum::<f64>();
        for _ in 0..50 {
            let gain = |z: usize| {
                known.iter().map(|(word, n)| f64::from(*n) * theta[z] * phi(z, *word) / mix(&theta, *word)).sum::<f64>()
            };
            theta = (0..n_topics).map(|z| (alpha[z] + gain(z)) / (total + n_known)).collect();
        }
        let log = held_back.iter().map(|(word, n)| f64::from(*n) * mix(&theta, *word).ln()).sum();
        (log, held_back.iter().map(|(_, n)| f64::from(*n)).sum())
    }

    #[test]
    fn a_document_is_completed_as_by_hand() {
        let topics = vec![vec![0.6, 0.2, 0.15, 0.05], vec![0.1, 0.1, 0.3, 0.5], vec![0.25, 0.25, 0.25, 0.25]];
        let alpha = [0.4, 1.3, 0.05];
        let test = buffer(&[&[0, 0, 0, 1, 2], &[3, 3, 2, 2, 2, 1, 0], &[1]]);
        let train = buffer(&[&[0, 1], &[2, 3]]);
        let judge = Judge::new(train.documents(), test.documents(), 4);
        let (mut log, mut n) = (0.0, 0.0);
        let pairs = |(words, counts): (&[u32], &[u32])| -> Vec<(u32, u32)> {
            words.iter().copied().zip(counts.iter().copied()).collect()
        };
        for at in 0..3 {
            let (known, held_back) = (judge.known.documents().get(at), judge.held_back.documents().get(at));
            let (more_log, more) = by_hand(&topics, &alpha, &pairs(known), &pairs(held_back));
            (log, n) = (log + more_log, n + more);
        }
        let expected = (-log / n).exp();
        let judged = judge.judge(&topics, &alpha);
        // Fifty rounds in single precision.
        assert!((judged.perplexity / expected - 1.0).abs() < 1e-5, "{} {expected}", judged.perplexity);
        assert_eq!(judged.learnt.places, [0, 1, 2]);
    }

    #[test]
    fn topics_without_words_are_neither_alive_nor_judged() {
        // Words 0 and 1 always go together, 2 and 3 never, and 4 does not occur.
        let topics = vec![vec![0.5, 0.5], vec![0.0, 0.0, 0.5, 0.5], vec![0.0, 0.0, 0.0, 0.0, 1.0]];
        let train = buffer(&[&[0, 1], &[2], &[3], &[0, 1, 2]]);
        let test = buffer(&[&[0, 1, 0, 1]]);
        let judge = Judge::new(train.documents(), test.documents(), 5);
        let judged = judge.judge(&topics, &[1.0, 1.0, 1.0]);
        assert_eq!((judged.learnt.places, judged.tested.places), (vec![0, 1], vec![0]));
        assert!((judged.tested.npmi - 1.0).abs() < 1e-12, "{}", judged.tested.npmi);
    }

    #[test]
    fn frequencies_alone_foretell_frequencies() {
        let train = buffer(&[&[0, 0, 0], &[1]]);
        let test = buffer(&[&[0, 0]]);
        let judge = Judge::new(train.documents(), test.documents(), 2);
        assert!((judge.unigram() - 4.02 / 3.01).abs() < 1e-5);
    }

    #[test]
    fn a_twin_is_a_topic_with_nearly_the_same_words() {
        let lists = [vec![vec![1.0, 0.0], vec![0.0, 1.0]], vec![vec![0.9, 0.1]]];
        // The first topic and the only one of the other list are each other's; √0.1 < 0.7.
        assert!((twins(&lists) - 2.0 / 3.0).abs() < 1e-12);
        assert_eq!(twins(&[lists[0].clone(), lists[0].clone(), lists[0].clone()]), 1.0);
    }
}
