//! Documents that a batch kind keeps.

use crate::data::Documents;
use serde::{Deserialize, Serialize};

/// Word counts of documents, one after the other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Corpus {
    starts: Vec<usize>,
    words: Vec<u32>,
    counts: Vec<u32>,
}

impl Default for Corpus {
    fn default() -> Self {
        Corpus { starts: vec![0], words: Vec::new(), counts: Vec::new() }
    }
}

impl Corpus {
    pub fn extend(&mut self, documents: &Documents<'_>) {
        for (words, counts) in documents.iter() {
            self.words.extend_from_slice(words);
            self.counts.extend_from_slice(counts);
            self.starts.push(self.words.len());
        }
    }

    /// The documents; none when they do not hold together, as after a file was tampered with.
    pub fn documents(&self) -> Option<Documents<'_>> {
        Documents::new(&self.starts, &self.words, &self.counts).ok()
    }

    pub fn is_empty(&self) -> bool {
        self.starts.len() <= 1
    }

    /// Leaves out words that now stand for others.
    pub fn forget_words(&mut self, gone: &[u32]) {
        let mut kept = Corpus::default();
        for pair in self.starts.windows(2) {
            for at in pair[0]..pair[1] {
                if !gone.contains(&self.words[at]) {
                    kept.words.push(self.words[at]);
                    kept.counts.push(self.counts[at]);
                }
            }
            kept.starts.push(kept.words.len());
        }
        *self = kept;
    }
}
