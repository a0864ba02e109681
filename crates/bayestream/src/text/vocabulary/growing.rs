//! A vocabulary that takes up words while they stream by, within a bound.
//!
//! **Who enters.** A word enters when it has been seen `min-count` times; the occurrences before that are dropped. Words
//! that wait are counted in a table of at most `max-words` words. When that is full all its counts are lowered by one and
//! words whose count becomes zero are dropped, as often as it takes to make it half empty (Misra and Gries: a word that
//! makes up more than 2/`max-words` of the occurrences of waiting words gets in).
//!
//! **Who leaves.** When a word enters a full vocabulary, the rarest eighth of the words is forgotten: those with the
//! smallest counts, among equals those not seen for the longest time, and among these the smallest numbers. Then the
//! counts of all words are halved, so that a word must go on occurring to stay. Words of the batch being read are never
//! forgotten: the numbers in its documents keep their meaning. A batch with more distinct words than there is room for
//! has the last of them left out.

use super::super::error::TextError;
use super::Renumbering;
use super::index::WordIndex;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The share of the words that is forgotten at once: one in so many.
const FORGOTTEN_SHARE: usize = 8;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Growing {
    pub(super) max_words: usize,
    pub(super) min_count: u32,
    /// By number; an empty word is a number without one.
    pub(super) words: Vec<String>,
    /// Occurrences, halved each time that words are forgotten.
    pub(super) counts: Vec<u64>,
    /// The batch in which each word was seen last.
    pub(super) last_seen: Vec<u64>,
    /// Batches so far.
    pub(super) n_batches: u64,
    /// Words seen, but not often enough, and how often.
    pub(super) waiting: BTreeMap<String, u32>,
    /// Numbers without a word, the smallest last.
    #[serde(skip)]
    free: Vec<u32>,
    #[serde(skip)]
    index: WordIndex,
    /// Every word is one of the current batch.
    #[serde(skip)]
    is_crowded: bool,
    /// Numbers whose words were forgotten in the current batch.
    #[serde(skip)]
    recycled: Vec<u32>,
}

impl Growing {
    pub(super) fn new(max_words: usize, min_count: u32) -> Growing {
        Growing {
            max_words: max_words.max(1),
            min_count: min_count.max(1),
            words: Vec::new(),
            counts: Vec::new(),
            last_seen: Vec::new(),
            n_batches: 0,
            waiting: BTreeMap::new(),
            free: Vec::new(),
            index: WordIndex::default(),
            is_crowded: false,
            recycled: Vec::new(),
        }
    }

    pub(super) fn restore(&mut self) -> Result<(), TextError> {
        let damaged = |reason| Err(TextError::Damaged { reason });
        let n_words = self.words.len();
        if self.max_words == 0 || self.min_count == 0 || n_words > self.max_words.min(u32::MAX as usize) {
            return damaged("it has more words than its bound");
        }
        if self.counts.len() != n_words || self.last_seen.len() != n_words {
            return damaged("words and counts do not belong together");
        }
        if self.last_seen.iter().any(|batch| *batch > self.n_batches) {
            return damaged("a word was seen in a batch to come");
        }
        let (index, has_equals) = WordIndex::of(&self.words);
        if has_equals {
            return damaged("a word has two numbers");
        }
        let is_waiting = |(word, count): (&String, &u32)| {
            !word.is_empty() && (1..self.min_count).contains(count) && index.find(&self.words, word).is_none()
        };
        if self.waiting.len() > self.max_words || !self.waiting.iter().all(is_waiting) {
            return damaged("the words that wait do not belong to it");
        }
        self.index = index;
        self.free = (0..n_words as u32).rev().filter(|number| self.words[*number as usize].is_empty()).collect();
        Ok(())
    }

    pub(super) fn n_words(&self) -> usize {
        self.words.len() - self.free.len()
    }

    pub(super) fn find(&self, word: &str) -> Option<u32> {
        self.index.find(&self.words, word)
    }

    pub(super) fn begin_batch(&mut self) {
        self.n_batches += 1;
    }

    pub(super) fn end_batch(&mut self) -> Vec<u32> {
        self.is_crowded = false;
        let mut recycled = std::mem::take(&mut self.recycled);
        recycled.sort_unstable();
        recycled.dedup();
        recycled
    }

    /// Takes note of so many occurrences of a word: its number, and how many of them count.
    pub(super) fn learn(&mut self, word: &str, times: u32) -> Option<(u32, u32)> {
        if let Some(number) = self.find(word) {
            self.see(number, times);
            return Some((number, times));
        }
        let earlier = match self.min_count {
            1 => 0,
            _ => self.waiting.get(word).copied().unwrap_or(0),
        };
        // Occurrences that are still missing, the one that lets the word in not counted.
        let missing = self.min_count - 1 - earlier;
        if times <= missing {
            self.wait(word, earlier + times);
            return None;
        }
        let number = self.new_number()?;
        self.waiting.remove(word);
        self.words[number as usize].push_str(word);
        self.index.insert(&self.words, number);
        self.see(number, times);
        self.counts[number as usize] += u64::from(earlier);
        Some((number, times - missing))
    }

    fn see(&mut self, number: u32, times: u32) {
        let count = &mut self.counts[number as usize];
        *count = count.saturating_add(u64::from(times));
        self.last_seen[number as usize] = self.n_batches;
    }

    fn wait(&mut self, word: &str, count: u32) {
        if let Some(waiting) = self.waiting.get_mut(word) {
            *waiting = count;
            return;
        }
        if self.waiting.len() >= self.max_words {
            self.thin_waiting(self.max_words / 2);
        }
        self.waiting.insert(word.to_string(), count);
    }

    /// Drops the rarest of the words that wait until there are at most so many.
    fn thin_waiting(&mut self, n_left: usize) {
        while self.waiting.len() > n_left {
            self.waiting.retain(|_, count| {
                *count -= 1;
                *count > 0
            });
        }
    }

    /// A number without a word; none when every word is one of the current batch.
    fn new_number(&mut self) -> Option<u32> {
        if self.free.is_empty() && self.words.len() < self.max_words {
            self.words.push(String::new());
            self.counts.push(0);
            self.last_seen.push(0);
            return Some((self.words.len() - 1) as u32);
        }
        if self.free.is_empty() && !self.is_crowded {
            self.forget_rarest();
        }
        self.free.pop()
    }

    fn forget_rarest(&mut self) {
        let mut old: Vec<u32> =
            (0..self.words.len() as u32).filter(|number| self.last_seen[*number as usize] < self.n_batches).collect();
        let n_forgotten = old.len().min((self.max_words / FORGOTTEN_SHARE).max(1));
        self.is_crowded = n_forgotten == 0;
        if self.is_crowded {
            return;
        }
        let worth = |number: &u32| (self.counts[*number as usize], self.last_seen[*number as usize], *number);
        old.select_nth_unstable_by_key(n_forgotten - 1, worth);
        old.truncate(n_forgotten);
        old.sort_unstable_by(|a, b| b.cmp(a));
        for &number in &old {
            self.index.remove(&self.words, number);
            self.words[number as usize] = String::new();
            self.counts[number as usize] = 0;
        }
        self.counts.iter_mut().for_each(|count| *count /= 2);
        self.recycled.extend_from_slice(&old);
        self.free = old;
    }

    /// Puts together the words of several vocabularies, the most frequent first, and among equals by the alphabet.
    pub(super) fn merge(parts: &[&Growing]) -> Result<(Growing, Renumbering), TextError> {
        let mut merged = Growing::new(parts[0].max_words, parts[0].min_count);
        if parts.iter().any(|part| part.max_words != merged.max_words) {
            return Err(TextError::Differ { what: "bounds (max_words)" });
        }
        if parts.iter().any(|part| part.min_count != merged.min_count) {
            return Err(TextError::Differ { what: "least counts (min_count)" });
        }
        merged.n_batches = parts.iter().map(|part| part.n_batches).max().unwrap_or(0);
        // Occurrences, and batches since the last one.
        let mut known: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
        for part in parts {
            for ((word, count), last_seen) in part.words.iter().zip(&part.counts).zip(&part.last_seen) {
                if !word.is_empty() {
                    let (sum, age) = known.entry(word).or_insert((0, u64::MAX));
                    *sum = sum.saturating_add(*count);
                    *age = (*age).min(part.n_batches - last_seen);
                }
            }
        }
        for (word, count) in parts.iter().flat_map(|part| &part.waiting) {
            match known.get_mut(word.as_str()) {
                Some((sum, _)) => *sum = sum.saturating_add(u64::from(*count)),
                None => {
                    let waiting = merged.waiting.entry(word.clone()).or_insert(0);
                    *waiting = waiting.saturating_add(*count).min(merged.min_count - 1);
                }
            }
        }
        merged.thin_waiting(merged.max_words);
        let mut ranked: Vec<(&str, (u64, u64))> = known.into_iter().collect();
        ranked.sort_by(|a, b| (b.1.0, a.1.1, a.0).cmp(&(a.1.0, b.1.1, b.0)));
        ranked.truncate(merged.max_words);
        for (word, (count, age)) in ranked {
            merged.words.push(word.to_string());
            merged.counts.push(count);
            merged.last_seen.push(merged.n_batches - age);
        }
        merged.restore()?;
        let renumber = |part: &&Growing| part.words.iter().map(|word| merged.find(word)).collect();
        let renumbering = parts.iter().map(renumber).collect();
        Ok((merged, renumbering))
    }
}
