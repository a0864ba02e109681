//! What became of words, found again by the word as written.
//!
//! A look at this for every word of a stream is a walk through memory at random, and waiting for memory is what it costs:
//! so short words, nearly all there are, lie in the table itself.

use hashbrown::HashMap;

/// Distinct words remembered; then all are forgotten.
pub(super) const KEPT_WORDS: usize = 1 << 17;

/// Words and what became of them: none for those left out.
#[derive(Clone, Default)]
pub(super) struct Memory {
    short: HashMap<Short, Fate>,
    long: HashMap<String, Fate>,
}

#[derive(Clone)]
enum Fate {
    Out,
    Short(Short),
    Long(Box<str>),
}

/// A word of at most 23 bytes, padded with zeros, and its length. Kept as numbers, which are quick to hash and compare.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Short([u64; 3]);

const SHORT_BYTES: usize = 23;

impl Short {
    fn new(word: &str) -> Option<Short> {
        let mut bytes = [0; SHORT_BYTES + 1];
        bytes.get_mut(..word.len()).filter(|_| word.len() <= SHORT_BYTES)?.copy_from_slice(word.as_bytes());
        bytes[SHORT_BYTES] = word.len() as u8;
        let (parts, _) = bytes.as_chunks::<8>();
        Some(Short([0, 1, 2].map(|ix| u64::from_le_bytes(parts[ix]))))
    }

    fn unpack<'b>(&self, bytes: &'b mut [u8; SHORT_BYTES + 1]) -> &'b str {
        for (part, packed) in bytes.chunks_exact_mut(8).zip(self.0) {
            part.copy_from_slice(&packed.to_le_bytes());
        }
        let length = usize::from(bytes[SHORT_BYTES]);
        std::str::from_utf8(&bytes[..length]).expect("it was packed from a word")
    }
}

impl Memory {
    /// How many words are remembered.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.short.len() + self.long.len()
    }

    /// Hands what became of the word to `take`, asking `judge` when it is not known.
    pub(super) fn recall<R>(
        &mut self,
        word: &str,
        judge: impl FnOnce(&str) -> Option<String>,
        take: impl FnOnce(Option<&str>) -> R,
    ) -> R {
        if self.short.len() + self.long.len() >= KEPT_WORDS {
            self.short.clear();
            self.long.clear();
        }
        let fate = match Short::new(word) {
            Some(short) => self.short.entry(short).or_insert_with(|| Fate::of(judge(word))),
            None => self.long.entry_ref(word).or_insert_with(|| Fate::of(judge(word))),
        };
        match fate {
            Fate::Out => take(None),
            Fate::Short(short) => take(Some(short.unpack(&mut [0; SHORT_BYTES + 1]))),
            Fate::Long(word) => take(Some(word)),
        }
    }
}

impl Fate {
    fn of(word: Option<String>) -> Fate {
        match word {
            None => Fate::Out,
            Some(word) => Short::new(&word).map_or_else(|| Fate::Long(word.into()), Fate::Short),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_every_length_come_back() {
        let mut memory = Memory::default();
        for length in 0..60 {
            for word in ["x".repeat(length), "ä".repeat(length), "x\0".repeat(length)] {
                let first = memory.recall(&word, |word| Some(format!("{word}é")), |word| word.map(str::to_string));
                assert_eq!(first, Some(format!("{word}é")));
                let again = memory.recall(&word, |_| panic!("{word} is known"), |word| word.map(str::to_string));
                assert_eq!(again, first);
            }
        }
        assert!(memory.recall("out", |_| None, |word| word.is_none()));
    }
}
