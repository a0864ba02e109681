//! What a topic without words expects of each word.

use crate::engine::bmm::LARGEST_MASS;
use serde::{Deserialize, Serialize};

/// Times, at least, that every word counts as seen before any was.
const BEFORE: f64 = 0.5;

/// The Dirichlet parameters of a topic without words: β₀ of every word on average. A share of them is as frequent as the
/// words of the stream are so far, the rest is the same for all.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct WordPrior {
    pub beta0: f64,
    common: f64,
    /// How often each word was seen; empty where nothing follows the stream.
    seen: Vec<f64>,
    total: f64,
}

impl WordPrior {
    pub fn new(beta0: f64, common: f64) -> WordPrior {
        WordPrior { beta0, common, seen: Vec::new(), total: 0.0 }
    }

    /// β of a word, when there are so many.
    pub fn beta(&self, word: u32, n_words: usize) -> f64 {
        self.of_frequency(self.seen.get(word as usize).copied().unwrap_or(0.0), n_words)
    }

    /// β of a word that the stream has not had.
    pub fn unseen(&self, n_words: usize) -> f64 {
        self.of_frequency(0.0, n_words)
    }

    fn of_frequency(&self, seen: f64, n_words: usize) -> f64 {
        let n = n_words.max(1) as f64;
        // By fewer words than a topic is worth, what is common is a guess.
        let before = self.beta0.max(BEFORE);
        let frequency = (seen + before) / (self.total + n * before);
        self.beta0 * (1.0 - self.common + self.common * n * frequency)
    }

    /// S of a topic without words.
    pub fn sum(&self, n_words: usize) -> f64 {
        n_words.max(1) as f64 * self.beta0
    }

    /// Takes a document into the frequencies of the stream.
    pub fn count(&mut self, words: &[u32], counts: &[u32]) {
        if self.common == 0.0 {
            return;
        }
        for (&word, &count) in words.iter().zip(counts) {
            let at = word as usize;
            if self.seen.len() <= at {
                self.seen.resize(at + 1, 0.0);
            }
            self.seen[at] += f64::from(count);
            self.total += f64::from(count);
        }
    }

    /// The number stands for another word from now on.
    pub fn forget_word(&mut self, word: u32) {
        if let Some(seen) = self.seen.get_mut(word as usize) {
            self.total = (self.total - *seen).max(0.0);
            *seen = 0.0;
        }
    }

    /// Forgets: `keep` of what was counted stays.
    pub fn forget(&mut self, keep: f64) {
        self.seen.iter_mut().for_each(|seen| *seen *= keep);
        self.total *= keep;
    }

    /// The same under other numbers of the words; words without a number are let go.
    pub fn renumbered(&self, numbers: &[Option<u32>], n_words: usize) -> WordPrior {
        let mut copy = WordPrior::new(self.beta0, self.common);
        if !self.seen.is_empty() {
            copy.seen = vec![0.0; n_words];
            for (seen, number) in self.seen.iter().zip(numbers) {
                number.iter().for_each(|&number| copy.seen[number as usize] += seen);
            }
            copy.total = copy.seen.iter().sum();
        }
        copy
    }

    /// Adds what another has counted.
    pub fn add(&mut self, other: &WordPrior) {
        self.seen.resize(self.seen.len().max(other.seen.len()), 0.0);
        self.seen.iter_mut().zip(&other.seen).for_each(|(own, more)| *own += more);
        self.total += other.total;
    }

    pub fn is_sound(&self, n_words: usize) -> bool {
        self.beta0 > 0.0
            && self.beta0 <= LARGEST_MASS
            && (0.0..1.0).contains(&self.common)
            && self.seen.len() <= n_words
            && self.seen.iter().chain([&self.total]).all(|n| *n >= 0.0 && *n <= LARGEST_MASS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_add_up_to_the_same_whatever_was_seen_and_frequent_words_have_more() {
        let mut prior = WordPrior::new(0.3, 0.9);
        let sum = |prior: &WordPrior| (0..7).map(|word| prior.beta(word, 7)).sum::<f64>();
        assert!((0..7).all(|word| (prior.beta(word, 7) - 0.3).abs() < 1e-12));
        prior.count(&[1, 4], &[30, 10]);
        assert!((sum(&prior) - prior.sum(7)).abs() < 1e-12);
        // (40 words, a half of each of seven beside) and a tenth that is the same for all.
        assert!((prior.beta(1, 7) - 0.3 * (0.1 + 0.9 * 7.0 * 30.5 / 43.5)).abs() < 1e-12);
        assert_eq!(prior.beta(6, 7), prior.unseen(7));
        prior.forget_word(1);
        assert_eq!(prior.beta(1, 7), prior.unseen(7));
        assert!((sum(&prior) - prior.sum(7)).abs() < 1e-12 && prior.is_sound(7) && !prior.is_sound(4));
    }

    #[test]
    fn without_a_common_share_nothing_is_counted() {
        let mut prior = WordPrior::new(0.3, 0.0);
        prior.count(&[1, 4], &[30, 10]);
        assert_eq!(prior, WordPrior::new(0.3, 0.0));
    }
}
