//! Words ↔ numbers.

mod growing;
mod hashing;
mod index;
#[cfg(test)]
mod tests;

use super::error::TextError;
use growing::Growing;
use hashing::Hashing;
use index::WordIndex;
use serde::{Deserialize, Serialize};

/// The words that a model knows, each with its number.
///
/// Three kinds: one that grows within a bound and forgets rare words, one of fixed size that hashes words, and a given
/// list. See [`Vocabulary::growing`] for who enters and who leaves.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Saved")]
pub struct Vocabulary {
    kind: Kind,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Kind {
    Growing(Growing),
    Hashing(Hashing),
    Listed(Listed),
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Listed {
    words: Vec<String>,
    #[serde(skip)]
    index: WordIndex,
}

/// A vocabulary as a file has it, not yet checked.
#[derive(Deserialize)]
struct Saved {
    kind: Kind,
}

/// Old numbers to new ones, one list for each vocabulary merged; none where a word found no room.
pub type Renumbering = Vec<Vec<Option<u32>>>;

impl Vocabulary {
    /// An empty vocabulary of at most `max-words` words, each of which enters when it has been seen `min-count` times.
    ///
    /// The occurrences before that are dropped. Words that wait are counted in a table of at most `max-words` words; when
    /// it is full all its counts are lowered by one, and words whose count becomes zero are dropped, until it is half
    /// empty.
    ///
    /// When a word enters a full vocabulary, the rarest eighth of the words is forgotten and their numbers are used again:
    /// those with the smallest counts, among equals those not seen for the longest time, then the smallest numbers. Then
    /// all counts are halved, so that a word must go on occurring to stay. Words of the batch being read are never
    /// forgotten; a batch with more distinct words than `max-words` has the last of them left out.
    pub fn growing(max_words: usize, min_count: u32) -> Vocabulary {
        Vocabulary { kind: Kind::Growing(Growing::new(max_words, min_count)) }
    }

    /// A vocabulary of `n_numbers` numbers that words are hashed to. A number is known when words with this number have
    /// been seen `min-count` times. Its name is that of the word seen most among them.
    pub fn hashing(n_numbers: usize, min_count: u32) -> Vocabulary {
        Vocabulary { kind: Kind::Hashing(Hashing::new(n_numbers, min_count)) }
    }

    /// A vocabulary that is given and stays: a word's number is its place in the list, from zero. Of equal words the
    /// first counts; empty ones only keep their place.
    pub fn from_list(words: Vec<String>) -> Vocabulary {
        let (index, _) = WordIndex::of(&words);
        Vocabulary { kind: Kind::Listed(Listed { words, index }) }
    }

    /// Numbers in use so far: every word's number is smaller. What a learner of documents takes as `n_words`.
    pub fn len(&self) -> usize {
        match &self.kind {
            Kind::Growing(growing) => growing.words.len(),
            Kind::Hashing(hashing) => hashing.len(),
            Kind::Listed(listed) => listed.words.len(),
        }
    }

    /// True before there is a number.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Words known now: forgotten ones are not among them.
    pub fn n_words(&self) -> usize {
        match &self.kind {
            Kind::Growing(growing) => growing.n_words(),
            Kind::Hashing(hashing) => hashing.n_words(),
            Kind::Listed(listed) => listed.words.len(),
        }
    }

    /// The word of a number, if it has one.
    pub fn word(&self, number: u32) -> Option<&str> {
        let word = match &self.kind {
            Kind::Growing(growing) => growing.words.get(number as usize).map(String::as_str),
            Kind::Hashing(hashing) => hashing.name(number),
            Kind::Listed(listed) => listed.words.get(number as usize).map(String::as_str),
        };
        word.filter(|word| !word.is_empty())
    }

    /// The number of a word, if it is known.
    pub fn number(&self, word: &str) -> Option<u32> {
        match &self.kind {
            Kind::Growing(growing) => growing.find(word),
            Kind::Hashing(hashing) => hashing.find(word),
            Kind::Listed(listed) => listed.index.find(&listed.words, word),
        }
    }

    /// How often the word of a number has been seen, as far as it is remembered; 0 for given lists, which do not count.
    pub fn count(&self, number: u32) -> u64 {
        match &self.kind {
            Kind::Growing(growing) => growing.counts.get(number as usize).copied().unwrap_or(0),
            Kind::Hashing(hashing) => hashing.count(number),
            Kind::Listed(_) => 0,
        }
    }

    /// The given list, if it is one.
    pub(super) fn list(&self) -> Option<&[String]> {
        match &self.kind {
            Kind::Listed(listed) => Some(&listed.words),
            _ => None,
        }
    }

    /// Begins a batch: words seen from now on keep their numbers until the next one.
    pub fn begin_batch(&mut self) {
        if let Kind::Growing(growing) = &mut self.kind {
            growing.begin_batch();
        }
    }

    /// Takes note of so many occurrences of a word: its number, and how many of them count; none when none does.
    pub fn learn(&mut self, word: &str, times: u32) -> Option<(u32, u32)> {
        if word.is_empty() || times == 0 {
            return None;
        }
        match &mut self.kind {
            Kind::Growing(growing) => growing.learn(word, times),
            Kind::Hashing(hashing) => hashing.learn(word, times),
            Kind::Listed(listed) => listed.index.find(&listed.words, word).map(|number| (number, times)),
        }
    }

    /// Ends a batch: the numbers, in order, whose words were forgotten in it. They may stand for other words already.
    pub fn end_batch(&mut self) -> Vec<u32> {
        match &mut self.kind {
            Kind::Growing(growing) => growing.end_batch(),
            _ => Vec::new(),
        }
    }

    /// Puts several vocabularies of one kind together, and says how their numbers change. The order in which they are
    /// given does not matter. The words of growing ones are numbered anew, the most frequent first, then by time since
    /// they were seen last, then by the alphabet; beyond the bound they are left out. Hashed words keep their numbers,
    /// and given lists must be equal.
    pub fn merge(parts: &[&Vocabulary]) -> Result<(Vocabulary, Renumbering), TextError> {
        let Some(first) = parts.first() else {
            return Err(TextError::Differ { what: "numbers of parts (there is none)" });
        };
        let (kind, renumbering) = match &first.kind {
            Kind::Growing(_) => {
                let (merged, renumbering) = Growing::merge(&same_kind(parts, |kind| match kind {
                    Kind::Growing(growing) => Some(growing),
                    _ => None,
                })?)?;
                (Kind::Growing(merged), renumbering)
            }
            Kind::Hashing(_) => {
                let (merged, renumbering) = Hashing::merge(&same_kind(parts, |kind| match kind {
                    Kind::Hashing(hashing) => Some(hashing),
                    _ => None,
                })?)?;
                (Kind::Hashing(merged), renumbering)
            }
            Kind::Listed(listed) => {
                if parts.iter().any(|part| part.kind != first.kind) {
                    return Err(TextError::Differ { what: "words" });
                }
                let same = (0..listed.words.len() as u32).map(Some).collect();
                (first.kind.clone(), vec![same; parts.len()])
            }
        };
        Ok((Vocabulary { kind }, renumbering))
    }
}

fn same_kind<'a, T>(parts: &[&'a Vocabulary], of: impl Fn(&'a Kind) -> Option<&'a T>) -> Result<Vec<&'a T>, TextError> {
    parts.iter().map(|part| of(&part.kind)).collect::<Option<_>>().ok_or(TextError::Differ { what: "kinds" })
}

impl TryFrom<Saved> for Vocabulary {
    type Error = TextError;

    fn try_from(saved: Saved) -> Result<Vocabulary, TextError> {
        let mut kind = saved.kind;
        match &mut kind {
            Kind::Growing(growing) => growing.restore()?,
            Kind::Hashing(hashing) => hashing.restore()?,
            Kind::Listed(listed) => listed.index = WordIndex::of(&listed.words).0,
        }
        Ok(Vocabulary { kind })
    }
}
