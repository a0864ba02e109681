//! Word boundaries by UAX 29, with a short way for ASCII.
//!
//! Blanks end words whatever stands beside them, so that text can be taken apart at them and each piece be looked at by
//! itself. Pieces of nothing but ASCII, most of what there is in many languages, need few of the rules.

use unicode_segmentation::UnicodeSegmentation;

/// Hands the words of a text to `take`, in order: pieces between boundaries that have a letter or a digit.
pub(super) fn words<'t>(text: &'t str, mut take: impl FnMut(&'t str)) {
    let bytes = text.as_bytes();
    let mut start = 0;
    while start < bytes.len() {
        if CLASSES[usize::from(bytes[start])] == Class::Blank {
            start += 1;
            continue;
        }
        let mut is_ascii = true;
        let mut end = start;
        while end < bytes.len() && CLASSES[usize::from(bytes[end])] != Class::Blank {
            is_ascii &= bytes[end].is_ascii();
            end += 1;
        }
        let piece = &text[start..end];
        match is_ascii {
            true => ascii_words(piece, &mut take),
            false => piece.unicode_words().for_each(&mut take),
        }
        start = end;
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Letter,
    Digit,
    /// `_`, which holds together but is no word by itself.
    Joiner,
    /// `:`, which holds letters together.
    BetweenLetters,
    /// `,` and `;`, which hold digits together.
    BetweenDigits,
    /// `.` and `'`, which hold letters or digits together.
    Between,
    Blank,
    Other,
}

static CLASSES: [Class; 256] = classes();

const fn classes() -> [Class; 256] {
    let mut classes = [Class::Other; 256];
    let mut byte = 0;
    while byte < 128 {
        classes[byte] = match byte as u8 {
            b'a'..=b'z' | b'A'..=b'Z' => Class::Letter,
            b'0'..=b'9' => Class::Digit,
            b'_' => Class::Joiner,
            b':' => Class::BetweenLetters,
            b',' | b';' => Class::BetweenDigits,
            b'.' | b'\'' => Class::Between,
            b' ' | b'\t' | b'\n' | b'\r' => Class::Blank,
            _ => Class::Other,
        };
        byte += 1;
    }
    classes
}

fn ascii_words<'t>(piece: &'t str, take: &mut impl FnMut(&'t str)) {
    let class = |at: usize| piece.as_bytes().get(at).map_or(Class::Other, |byte| CLASSES[usize::from(*byte)]);
    let mut at = 0;
    while at < piece.len() {
        let start = at;
        let mut is_word = false;
        loop {
            match class(at) {
                Class::Letter | Class::Digit => is_word = true,
                Class::Joiner => {}
                between => {
                    let holds = matches!(
                        (class(at.wrapping_sub(1)), between, class(at + 1)),
                        (Class::Letter, Class::Between | Class::BetweenLetters, Class::Letter)
                            | (Class::Digit, Class::Between | Class::BetweenDigits, Class::Digit)
                    );
                    if at == start || !holds {
                        break;
                    }
                }
            }
            at += 1;
        }
        if is_word {
            take(&piece[start..at]);
        }
        at += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn split(text: &str) -> Vec<&str> {
        let mut found = Vec::new();
        words(text, |word| found.push(word));
        found
    }

    #[test]
    fn every_three_ascii_characters_are_split_by_the_rules() {
        // Between letters, digits, and at the ends.
        let bytes: Vec<char> = (0..128u8).map(char::from).collect();
        for &first in &bytes {
            for &second in &bytes {
                for text in [format!("a{first}{second}b"), format!("1{first}{second}2"), format!("{first}a{second}1")] {
                    assert_eq!(split(&text), text.unicode_words().collect::<Vec<_>>(), "{text:?}");
                }
            }
        }
    }

    proptest! {
        #[test]
        fn pieces_are_split_as_the_whole(text in "[a-c0-2_.,:;'\"\\- \t\r\n\u{e9}\u{301}\u{345}\u{5d0}\u{30a2}\u{ad}\u{200d}\u{1f468}\u{4e2d}\u{0e01}\u{1e08f}]{0,30}|\\PC{0,20}|.{0,20}") {
            // The rules join a mark to the blank before it, and a mark that is a letter makes a word of both. Here
            // blanks are in no word.
            let whole: Vec<&str> = text.unicode_words().map(|word| word.trim_start_matches([' ', '\t', '\n', '\r'])).collect();
            prop_assert_eq!(split(&text), whole);
        }
    }
}
