//! Text → words.
//!
//! Words are what Unicode's rules for word boundaries (UAX 29) say: `don't`, `U.S.A`, `naïve` and `3.14` are words,
//! `e-mail` is two, and anything else, control characters included, lies between words. Of each word
//!
//! 1. forms that look the same are made the same (NFKC; curly apostrophes straight), invisible characters and outer
//!    underscores are removed,
//! 2. letters are made lower case,
//! 3. words that are too short, too long, without any letter, or on the stop list are left out,
//! 4. what remains is cut to its stem.
//!
//! Chinese and Japanese are split into single characters by these rules, each a word whatever the least length is. Thai,
//! Lao, Khmer and Burmese, which are written without spaces too, are better given as lists of words.
//!
//! All this happens once for each distinct word: what became of it is kept, and found again by the word as written.

use super::error::TextError;
use super::memory::Memory;
use super::settings::TextSettings;
use super::split::words;
use hashbrown::HashSet;
use rust_stemmers::Stemmer;
use std::sync::Arc;
use unicode_normalization::UnicodeNormalization;

/// Splits text into the words that count. What it remembers makes it faster and does not change what it says.
#[derive(Clone)]
pub struct Tokenizer {
    rules: Arc<Rules>,
    from_text: Memory,
    from_tokens: Memory,
}

struct Rules {
    lowercase: bool,
    min_length: usize,
    max_length: usize,
    numbers: bool,
    stop_words: HashSet<Box<str>>,
    stemmer: Option<Stemmer>,
}

impl Tokenizer {
    /// A tokenizer by these settings.
    pub fn new(settings: &TextSettings) -> Result<Tokenizer, TextError> {
        settings.check()?;
        let listed = settings.stop.and_then(|language| language.stop_words()).unwrap_or_default();
        let further = settings.stop_words.iter().map(String::as_str);
        let stop_words = listed.iter().copied().chain(further).map(|word| plain(word).to_lowercase().into());
        let rules = Rules {
            lowercase: settings.lowercase,
            min_length: settings.min_length,
            max_length: settings.max_length,
            numbers: settings.numbers,
            stop_words: stop_words.collect(),
            stemmer: settings.stem.and_then(|language| language.stemmer()).map(Stemmer::create),
        };
        Ok(Tokenizer { rules: Arc::new(rules), from_text: Memory::default(), from_tokens: Memory::default() })
    }

    /// Another one by the same settings that remembers nothing yet.
    pub fn fresh(&self) -> Tokenizer {
        Tokenizer { rules: Arc::clone(&self.rules), from_text: Memory::default(), from_tokens: Memory::default() }
    }

    /// Hands the words of a text to `take`, in order; returns how many were left out.
    pub fn split(&mut self, text: &str, mut take: impl FnMut(&str)) -> u64 {
        let mut n_left_out = 0;
        let (rules, memory) = (&self.rules, &mut self.from_text);
        words(text, |word| match rules.is_far_too_long(word) {
            true => n_left_out += 1,
            false => memory.recall(
                word,
                |word| rules.word(word),
                |word| match word {
                    Some(word) => take(word),
                    None => n_left_out += 1,
                },
            ),
        });
        n_left_out
    }

    /// Hands to `take` what becomes of a word that was split by others: none when it is empty, too long or a stop word,
    /// its stem where that is asked for, and otherwise the word as it is.
    pub fn token<R>(&mut self, token: &str, take: impl FnOnce(Option<&str>) -> R) -> R {
        let rules = &self.rules;
        if rules.is_far_too_long(token) {
            return take(None);
        }
        if rules.leaves_tokens_alone() {
            // What is quicker said than remembered.
            return take(Some(token).filter(|token| !token.is_empty() && rules.is_short_enough(token)));
        }
        self.from_tokens.recall(token, |token| rules.token(token), take)
    }

    /// Whether the word is one to leave out.
    pub fn is_stop_word(&self, word: &str) -> bool {
        self.rules.is_stop_word(word)
    }
}

impl Rules {
    /// No character has more than four bytes: such a word is too long, and no memory is spent on it.
    fn is_far_too_long(&self, word: &str) -> bool {
        word.len() > 4 * self.max_length
    }

    fn word(&self, written: &str) -> Option<String> {
        let mut word = plain(written);
        if self.lowercase {
            word = word.to_lowercase();
        }
        let length = word.chars().count();
        let is_long_enough = length >= self.min_length || word.chars().all(is_word_by_itself);
        let is_kept = is_long_enough
            && length > 0
            && length <= self.max_length
            && (self.numbers || word.chars().any(char::is_alphabetic))
            && !self.is_stop_word(&word);
        is_kept.then(|| self.stem(&word)).flatten()
    }

    /// Nothing can become of a word that was split by others but itself.
    fn leaves_tokens_alone(&self) -> bool {
        self.stemmer.is_none() && self.stop_words.is_empty()
    }

    fn is_short_enough(&self, token: &str) -> bool {
        token.len() <= self.max_length || token.chars().count() <= self.max_length
    }

    fn token(&self, token: &str) -> Option<String> {
        let is_kept = self.is_short_enough(token) && !self.is_stop_word(token);
        is_kept.then(|| self.stem(token)).flatten()
    }

    fn stem(&self, word: &str) -> Option<String> {
        let stem = match &self.stemmer {
            Some(stemmer) => stemmer.stem(word).into_owned(),
            None => word.to_string(),
        };
        (!stem.is_empty()).then_some(stem)
    }

    fn is_stop_word(&self, word: &str) -> bool {
        if self.stop_words.is_empty() {
            return false;
        }
        self.stop_words.contains(word) || self.stop_words.contains(word.to_lowercase().as_str())
    }
}

/// The word as it is meant: one form for all that look the same.
fn plain(written: &str) -> String {
    if written.is_ascii() {
        return written.trim_matches('_').to_string();
    }
    let visible = written.nfkc().filter(|letter| !is_invisible(*letter));
    let straight: String = visible.map(|letter| if letter == '\u{2019}' { '\'' } else { letter }).collect();
    straight.trim_matches('_').to_string()
}

/// Soft hyphens, joiners and marks of direction: format characters that word boundaries look through.
fn is_invisible(letter: char) -> bool {
    matches!(letter, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2064}' | '\u{feff}')
}

/// Ideographs and kana.
fn is_word_by_itself(letter: char) -> bool {
    matches!(letter, '\u{3041}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

#[cfg(test)]
mod tests {
    use super::super::language::Language;
    use super::super::memory::KEPT_WORDS;
    use super::*;

    fn words_of(settings: &TextSettings, text: &str) -> Vec<String> {
        let mut words = Vec::new();
        Tokenizer::new(settings).unwrap().split(text, |word| words.push(word.to_string()));
        words
    }

    fn split(text: &str) -> Vec<String> {
        words_of(&TextSettings::default(), text)
    }

    #[test]
    fn words_are_split_by_unicode_rules() {
        assert_eq!(
            split("Don't e-mail the U.S.A, naïve X 42 3.14 b2b!"),
            ["don't", "mail", "the", "u.s.a", "naïve", "b2b"]
        );
        assert_eq!(split("ΑΘΗΝΑ Straße ПРИВЕТ שלום"), ["αθηνα", "straße", "привет", "שלום"]);
        assert_eq!(split("東京は"), ["東", "京", "は"]);
        assert_eq!(split("_emphasis_ snake_case ____"), ["emphasis", "snake_case"]);
        assert!(split("").is_empty() && split(" \t\n.,!? 1 2 3").is_empty());
    }

    #[test]
    fn forms_that_look_the_same_are_the_same_word() {
        // Composed and decomposed, ligature, full width, curly apostrophe, soft hyphen, joiner.
        assert_eq!(split("caf\u{e9} cafe\u{301}"), ["café", "café"]);
        assert_eq!(split("\u{fb01}nd \u{ff21}\u{ff22} it\u{2019}s co\u{ad}op"), ["find", "ab", "it's", "coop"]);
    }

    #[test]
    fn control_characters_separate_words() {
        assert_eq!(
            split("one\0two\u{1}three\u{b}four\u{c}five\u{7f}six\u{85}seven\u{1b}[0meight"),
            ["one", "two", "three", "four", "five", "six", "seven", "0meight"]
        );
    }

    #[test]
    fn each_setting_does_what_it_says() {
        let with = |change: fn(&mut TextSettings), text: &str| {
            let mut settings = TextSettings::default();
            change(&mut settings);
            words_of(&settings, text)
        };
        assert_eq!(with(|s| s.lowercase = false, "The Cat"), ["The", "Cat"]);
        assert_eq!(with(|s| s.numbers = true, "in 1984 3.14"), ["in", "1984", "3.14"]);
        assert_eq!(with(|s| s.min_length = 4, "one three äöüß äöü"), ["three", "äöüß"]);
        assert_eq!(with(|s| s.max_length = 3, "one three äöü äöüß"), ["one", "äöü"]);
        assert_eq!(with(|s| s.min_length = 1, "a b"), ["a", "b"]);
        assert_eq!(with(|s| s.stop = Language::find("english"), "The cat isn\u{2019}t on The mat"), ["cat", "mat"]);
        assert_eq!(with(|s| s.stop = Language::find("german"), "Der Hund und ich"), ["hund"]);
        assert_eq!(with(|s| s.stop_words = vec!["Cat".into()], "the cat CAT mat"), ["the", "mat"]);
        assert_eq!(
            with(|s| s.stem = Language::find("english"), "Fruitlessly running cats"),
            ["fruitless", "run", "cat"]
        );
        assert_eq!(with(|s| s.stem = Language::find("german"), "Häuser"), ["haus"]);
        // Stop words are known in any case, also where case is kept.
        let kept = TextSettings { lowercase: false, stop: Language::find("en"), ..TextSettings::default() };
        assert_eq!(words_of(&kept, "The Cat"), ["Cat"]);
    }

    #[test]
    fn words_left_out_are_counted() {
        let settings = TextSettings { stop: Language::find("english"), ..TextSettings::default() };
        let mut tokenizer = Tokenizer::new(&settings).unwrap();
        let long = "x".repeat(1000);
        assert_eq!(tokenizer.split(&format!("the cat 12 a {long} mat"), |_| {}), 4);
    }

    #[test]
    fn words_split_by_others_are_left_as_they_are() {
        let token_of = |tokenizer: &mut Tokenizer, token: &str| tokenizer.token(token, |word| word.map(str::to_string));
        let mut plain = Tokenizer::new(&TextSettings::default()).unwrap();
        for token in ["New York", "x", "42", "The", "don\u{2019}t"] {
            assert_eq!(token_of(&mut plain, token).as_deref(), Some(token));
        }
        assert_eq!(token_of(&mut plain, ""), None);
        assert_eq!(token_of(&mut plain, &"y".repeat(41)), None);
        let settings = TextSettings {
            stop: Language::find("english"),
            stem: Language::find("english"),
            ..TextSettings::default()
        };
        let mut strict = Tokenizer::new(&settings).unwrap();
        assert_eq!(token_of(&mut strict, "The"), None);
        assert_eq!(token_of(&mut strict, "running").as_deref(), Some("run"));
    }

    #[test]
    fn a_full_memory_changes_nothing() {
        let mut tokenizer = Tokenizer::new(&TextSettings::default()).unwrap();
        let letters = |mut number: usize| {
            let mut word = String::from("w");
            while number > 0 {
                word.push(char::from(b'a' + (number % 26) as u8));
                number /= 26;
            }
            word
        };
        let text: Vec<String> = (1..KEPT_WORDS + 500).map(letters).collect();
        let mut seen = Vec::new();
        tokenizer.split(&text.join(" "), |word| seen.push(word.to_string()));
        assert_eq!(seen, text);
        assert!(tokenizer.from_text.len() <= KEPT_WORDS);
    }

    #[test]
    fn long_monotonous_texts_take_time_in_proportion() {
        // Each would take hours if the splitting looked back over the whole text again and again.
        for unit in ["a", "a.", "\u{1f1e6}", "\u{200d}", "e\u{301}", "\u{1f468}\u{200d}", "'", "1,", "_", "\0"] {
            let mut n_words = 0u64;
            let mut tokenizer = Tokenizer::new(&TextSettings::default()).unwrap();
            n_words += tokenizer.split(&unit.repeat(2_000_000), |_| {});
            assert!(n_words <= 2_000_000);
        }
    }
}
