//! A vocabulary of fixed size: a word's number is a hash of its letters. Nothing is ever forgotten, and words that meet
//! in a number are one word to the model.

use super::super::error::TextError;
use super::Renumbering;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Hashing {
    min_count: u32,
    /// The word to show for a number: the one that holds the majority among those that met there, by Boyer and Moore's
    /// vote.
    names: Vec<String>,
    votes: Vec<u64>,
    counts: Vec<u64>,
}

impl Hashing {
    pub(super) fn new(n_numbers: usize, min_count: u32) -> Hashing {
        let n_numbers = n_numbers.max(1);
        Hashing {
            min_count: min_count.max(1),
            names: vec![String::new(); n_numbers],
            votes: vec![0; n_numbers],
            counts: vec![0; n_numbers],
        }
    }

    pub(super) fn restore(&self) -> Result<(), TextError> {
        let n_numbers = self.names.len();
        let is_whole = n_numbers > 0 && self.votes.len() == n_numbers && self.counts.len() == n_numbers;
        match is_whole && n_numbers <= u32::MAX as usize && self.min_count > 0 {
            true => Ok(()),
            false => Err(TextError::Damaged { reason: "names and counts do not belong together" }),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.names.len()
    }

    pub(super) fn n_words(&self) -> usize {
        self.names.iter().filter(|name| !name.is_empty()).count()
    }

    pub(super) fn name(&self, number: u32) -> Option<&str> {
        self.names.get(number as usize).map(String::as_str)
    }

    pub(super) fn count(&self, number: u32) -> u64 {
        self.counts.get(number as usize).copied().unwrap_or(0)
    }

    /// The number of a word, if something with this number has been seen often enough.
    pub(super) fn find(&self, word: &str) -> Option<u32> {
        let number = self.number(word);
        (self.count(number) >= u64::from(self.min_count)).then_some(number)
    }

    pub(super) fn learn(&mut self, word: &str, times: u32) -> Option<(u32, u32)> {
        let number = self.number(word);
        let at = number as usize;
        let missing = u64::from(self.min_count - 1).saturating_sub(self.counts[at]);
        let times_long = u64::from(times);
        self.counts[at] = self.counts[at].saturating_add(times_long);
        if self.names[at] == word {
            self.votes[at] = self.votes[at].saturating_add(times_long);
        } else if self.votes[at] < times_long {
            self.votes[at] = times_long - self.votes[at];
            self.names[at].clear();
            self.names[at].push_str(word);
        } else {
            self.votes[at] -= times_long;
        }
        (times_long > missing).then(|| (number, (times_long - missing) as u32))
    }

    fn number(&self, word: &str) -> u32 {
        (hash(word) % self.names.len() as u64) as u32
    }

    pub(super) fn merge(parts: &[&Hashing]) -> Result<(Hashing, Renumbering), TextError> {
        let mut merged = Hashing::new(parts[0].len(), parts[0].min_count);
        if parts.iter().any(|part| part.len() != merged.len()) {
            return Err(TextError::Differ { what: "sizes (max_words)" });
        }
        if parts.iter().any(|part| part.min_count != merged.min_count) {
            return Err(TextError::Differ { what: "least counts (min_count)" });
        }
        for at in 0..merged.len() {
            let mut named: Vec<(&str, u64)> =
                parts.iter().map(|part| (part.names[at].as_str(), part.votes[at])).collect();
            named.sort_unstable();
            let votes = |run: &[(&str, u64)]| run.iter().fold(0u64, |sum, part| sum.saturating_add(part.1));
            let mut best = ("", 0);
            let mut all = 0u64;
            for run in named.chunk_by(|a, b| a.0 == b.0) {
                let votes = votes(run);
                all = all.saturating_add(votes);
                if votes > best.1 || best.0.is_empty() {
                    best = (run[0].0, votes);
                }
            }
            merged.names[at] = best.0.to_string();
            // What the others hold speaks against it, as it would have in one stream.
            merged.votes[at] = best.1.saturating_sub(all - best.1);
            merged.counts[at] = parts.iter().fold(0u64, |sum, part| sum.saturating_add(part.counts[at]));
        }
        let same: Vec<Option<u32>> = (0..merged.len() as u32).map(Some).collect();
        Ok((merged, vec![same; parts.len()]))
    }
}

/// FNV-1a with a last mix, so that all bits of the letters reach the low ones. Saved models depend on every bit of it.
fn hash(word: &str) -> u64 {
    const OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
    const PRIME: u64 = 0x0100_0000_01b3;
    let mut hash = word.bytes().fold(OFFSET, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(PRIME));
    hash ^= hash >> 32;
    hash = hash.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    hash ^ (hash >> 29)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_never_changes() {
        let pinned = [0x8570_e250_fe4c_2473, 0xbe3b_f625_5f5b_d2a2, 0x8093_104c_9471_e450];
        assert_eq!(["", "word", "größe"].map(hash), pinned);
    }

    #[test]
    fn words_spread_evenly() {
        let mut counts = [0u32; 64];
        for number in 0..64_000 {
            counts[(hash(&format!("word{number}")) % 64) as usize] += 1;
        }
        // 1000 expected each: six standard deviations are 190.
        assert!(counts.iter().all(|count| count.abs_diff(1000) < 190), "{counts:?}");
    }

    #[test]
    fn the_name_shown_is_the_one_that_is_seen_most() {
        let mut one = Hashing::new(1, 1);
        for word in ["rare", "often", "often", "odd", "often"] {
            assert_eq!(one.learn(word, 1), Some((0, 1)));
        }
        assert_eq!((one.name(0), one.count(0)), (Some("often"), 5));
    }
}
