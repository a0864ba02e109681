//! Lists of words, one a line: vocabularies and stop lists.

use super::input::Input;
use super::lines::Lines;
use crate::{InputError, Place};

/// Reads a list of words, one a line: a path, or `-` for standard input. Gzip is unpacked. A word's place in the list is
/// its line, so that empty lines stay; blanks around words do not.
pub fn read_words(input: &str) -> Result<Vec<String>, InputError> {
    const LONGEST_WORD: usize = 1 << 20;
    let Input { name, reader, .. } = Input::open(input)?;
    let mut lines = Lines::with_longest(reader, LONGEST_WORD);
    let mut words = Vec::new();
    while lines.advance().map_err(|source| InputError::from_io(&name, source))? {
        if words.is_empty() {
            lines.skip_byte_order_mark();
        }
        match std::str::from_utf8(lines.current()) {
            Ok(word) => words.push(word.trim().to_string()),
            Err(error) => {
                let line = lines.number();
                let place = Place { file: name, row: line, line: Some(line) };
                let offset = lines.offset() + error.valid_up_to() as u64;
                let byte = lines.current()[error.valid_up_to()];
                return Err(InputError::NotUtf8 { place, column: None, offset, byte });
            }
        }
    }
    match words.is_empty() {
        true => Err(InputError::NoDocuments { file: name, n_skipped: 0 }),
        false => Ok(words),
    }
}
