//! From a word to its number, for a list of words that holds the words themselves.

use hashbrown::{DefaultHashBuilder, HashTable};
use std::hash::BuildHasher;

/// Finds the numbers of words. It holds nothing but numbers: the words are given with each call.
#[derive(Clone, Debug, Default)]
pub(super) struct WordIndex {
    table: HashTable<u32>,
    hasher: DefaultHashBuilder,
}

/// An index follows from its words.
impl PartialEq for WordIndex {
    fn eq(&self, _: &WordIndex) -> bool {
        true
    }
}

impl WordIndex {
    /// The index of all words but empty ones; of equal words the first counts. Also says whether there were equal ones.
    pub(super) fn of(words: &[String]) -> (WordIndex, bool) {
        let mut index = WordIndex::default();
        let mut has_equals = false;
        for number in 0..words.len() {
            if words[number].is_empty() {
                continue;
            }
            match index.find(words, &words[number]) {
                Some(_) => has_equals = true,
                None => index.insert(words, number as u32),
            }
        }
        (index, has_equals)
    }

    pub(super) fn find(&self, words: &[String], word: &str) -> Option<u32> {
        let hash = self.hasher.hash_one(word);
        self.table.find(hash, |number| words[*number as usize] == word).copied()
    }

    /// Adds the number of a word that is not there yet.
    pub(super) fn insert(&mut self, words: &[String], number: u32) {
        let hasher = &self.hasher;
        let hash_of = |number: &u32| hasher.hash_one(words[*number as usize].as_str());
        self.table.insert_unique(hash_of(&number), number, hash_of);
    }

    pub(super) fn remove(&mut self, words: &[String], number: u32) {
        let hash = self.hasher.hash_one(words[number as usize].as_str());
        if let Ok(entry) = self.table.find_entry(hash, |other| *other == number) {
            entry.remove();
        }
    }
}
