//! The settings of the way from text to word counts: all defaults, and the one table that names, documents, parses and
//! prints them.

use super::error::{TextError, nearest};
use super::language::Language;
use serde::{Deserialize, Serialize};

/// How words get their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum VocabularyChoice {
    /// Each word has a number of its own; new words are taken up while there is room, and then in place of rare ones.
    Grow,
    /// A word's number is a hash of its letters: fixed size, and words may share a number.
    Hash,
}

/// From text to words, and from words to numbers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextSettings {
    /// Words are put into lower case.
    pub lowercase: bool,
    /// The language whose stop words are left out.
    pub stop: Option<Language>,
    /// Further words to leave out.
    pub stop_words: Vec<String>,
    /// The language by whose rules words are cut to their stems.
    pub stem: Option<Language>,
    /// Letters that a word has at least (see [`Tokenizer`](super::Tokenizer)).
    pub min_length: usize,
    /// Letters that a word has at most: longer ones are rarely words.
    pub max_length: usize,
    /// Words without any letter are kept.
    pub numbers: bool,
    /// How often a word must have been seen to enter the model. Earlier occurrences are dropped.
    pub min_count: u32,
    /// How words get their numbers.
    pub vocabulary: VocabularyChoice,
    /// Words in the vocabulary at most, or the numbers that words are hashed to.
    pub max_words: usize,
}

impl Default for TextSettings {
    /// No language is assumed: no stop list, no stemming.
    fn default() -> Self {
        TextSettings {
            lowercase: true,
            stop: None,
            stop_words: Vec::new(),
            stem: None,
            min_length: 2,
            max_length: 40,
            numbers: false,
            min_count: 1,
            vocabulary: VocabularyChoice::Grow,
            max_words: 100_000,
        }
    }
}

/// A setting of text, for help and for parsing.
#[derive(Clone, Copy, Debug)]
pub struct TextSetting {
    /// Its name.
    pub name: &'static str,
    /// The values it takes.
    pub takes: &'static str,
    /// What it does.
    pub help: &'static str,
    get: fn(&TextSettings) -> String,
    set: fn(&mut TextSettings, &str) -> Option<()>,
}

const LARGEST_LENGTH: usize = 1000;
const LARGEST_VOCABULARY: usize = 1 << 26;

static TABLE: [TextSetting; 10] = [
    TextSetting {
        name: "lowercase",
        takes: "true or false",
        help: "put words into lower case",
        get: |s| s.lowercase.to_string(),
        set: |s, value| value.parse().ok().map(|value| s.lowercase = value),
    },
    TextSetting {
        name: "stop",
        takes: "none or a language",
        help: "leave out the stop words of a language",
        get: |s| s.stop.map_or("none", Language::name).to_string(),
        set: |s, value| Language::for_setting("stop", value).ok().map(|value| s.stop = value),
    },
    TextSetting {
        name: "stop-words",
        takes: "words with commas between them",
        help: "further words to leave out",
        get: |s| s.stop_words.join(","),
        set: |s, value| {
            s.stop_words =
                value.split(',').map(|word| word.trim().to_string()).filter(|word| !word.is_empty()).collect();
            Some(())
        },
    },
    TextSetting {
        name: "stem",
        takes: "none or a language",
        help: "cut words to their stems by the rules of a language",
        get: |s| s.stem.map_or("none", Language::name).to_string(),
        set: |s, value| Language::for_setting("stem", value).ok().map(|value| s.stem = value),
    },
    TextSetting {
        name: "min-length",
        takes: "a whole number from 1 to 1000",
        help: "letters that a word has at least",
        get: |s| s.min_length.to_string(),
        set: |s, value| within(value, 1, LARGEST_LENGTH).map(|value| s.min_length = value),
    },
    TextSetting {
        name: "max-length",
        takes: "a whole number from 1 to 1000",
        help: "letters that a word has at most",
        get: |s| s.max_length.to_string(),
        set: |s, value| within(value, 1, LARGEST_LENGTH).map(|value| s.max_length = value),
    },
    TextSetting {
        name: "numbers",
        takes: "true or false",
        help: "keep words without any letter",
        get: |s| s.numbers.to_string(),
        set: |s, value| value.parse().ok().map(|value| s.numbers = value),
    },
    TextSetting {
        name: "min-count",
        takes: "a whole number from 1 to 1000000",
        help: "how often a word must have been seen to enter the model; earlier occurrences are dropped",
        get: |s| s.min_count.to_string(),
        set: |s, value| within(value, 1, 1_000_000).map(|value| s.min_count = value as u32),
    },
    TextSetting {
        name: "vocabulary",
        takes: "grow or hash",
        help: "a number for each word, rare words forgotten beyond max_words, or a hash of the word",
        get: |s| match s.vocabulary {
            VocabularyChoice::Grow => "grow".to_string(),
            VocabularyChoice::Hash => "hash".to_string(),
        },
        set: |s, value| {
            s.vocabulary = match value {
                "grow" => VocabularyChoice::Grow,
                "hash" => VocabularyChoice::Hash,
                _ => return None,
            };
            Some(())
        },
    },
    TextSetting {
        name: "max-words",
        takes: "a whole number from 1 to 67108864",
        help: "words in the vocabulary at most, or the numbers that words are hashed to",
        get: |s| s.max_words.to_string(),
        set: |s, value| within(value, 1, LARGEST_VOCABULARY).map(|value| s.max_words = value),
    },
];

fn within(value: &str, smallest: usize, largest: usize) -> Option<usize> {
    value.parse().ok().filter(|number| (smallest..=largest).contains(number))
}

impl TextSetting {
    /// Every setting, in the order of help pages.
    pub fn all() -> &'static [TextSetting] {
        &TABLE
    }

    fn refusal(&self, value: &str) -> TextError {
        match self.name {
            "stop" | "stem" => Language::unknown(self.name, value),
            name => TextError::BadValue { name, value: value.to_string(), expected: self.takes },
        }
    }
}

impl TextSettings {
    /// Sets one setting from its text, as in `stem=english`.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), TextError> {
        let Some(setting) = TABLE.iter().find(|setting| setting.name == name) else {
            let nearest = nearest(name, TABLE.iter().map(|setting| setting.name));
            return Err(TextError::UnknownSetting { name: name.to_string(), nearest });
        };
        (setting.set)(self, value).ok_or_else(|| setting.refusal(value))
    }

    /// A setting as text, fit for [`TextSettings::set`].
    pub fn get(&self, name: &str) -> Option<String> {
        TABLE.iter().find(|setting| setting.name == name).map(|setting| (setting.get)(self))
    }

    /// Checks values that did not come through [`TextSettings::set`].
    pub fn check(&self) -> Result<(), TextError> {
        for setting in &TABLE {
            // Words with commas in them, given by a program, are fine words.
            if setting.name != "stop-words" {
                self.clone().set(setting.name, &(setting.get)(self))?;
            }
        }
        if self.min_length > self.max_length {
            return Err(TextError::BadValue {
                name: "min-length",
                value: self.min_length.to_string(),
                expected: "a number that is not larger than max-length",
            });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_is_read_as_it_is_written() {
        let mut settings = TextSettings::default();
        let values = [
            ("lowercase", "false"),
            ("stop", "german"),
            ("stop-words", "foo,bar"),
            ("stem", "french"),
            ("min-length", "3"),
            ("max-length", "29"),
            ("numbers", "true"),
            ("min-count", "5"),
            ("vocabulary", "hash"),
            ("max-words", "4096"),
        ];
        assert_eq!(values.len(), TextSetting::all().len());
        for (name, value) in values {
            assert_ne!(settings.get(name).unwrap(), value, "{name}: the test changes the default");
            settings.set(name, value).unwrap();
            assert_eq!(settings.get(name).unwrap(), value);
        }
        settings.check().unwrap();
        let bytes = postcard::to_stdvec(&settings).unwrap();
        assert_eq!(postcard::from_bytes::<TextSettings>(&bytes).unwrap(), settings);
        settings.set("stop", "none").unwrap();
        assert_eq!(settings.stop, None);
    }

    #[test]
    fn what_a_setting_does_not_take_is_refused_and_changes_nothing() {
        let mut settings = TextSettings::default();
        let cases = [
            ("min-count", "0", "setting min-count=0: expected a whole number from 1 to 1000000"),
            ("max-words", "99999999999999999999", "expected a whole number from 1 to 67108864"),
            ("vocabulary", "fixed", "setting vocabulary=fixed: expected grow or hash"),
            ("min-lenght", "3", "text has no setting `min-lenght`; did you mean `min-length`?"),
            ("stem", "klingon", "there is no stemmer for `klingon`"),
        ];
        for (name, value, message) in cases {
            let error = settings.set(name, value).unwrap_err().to_string();
            assert!(error.contains(message), "{error}");
        }
        assert_eq!(settings, TextSettings::default());
        let crossed = TextSettings { min_length: 7, max_length: 6, ..TextSettings::default() };
        assert_eq!(crossed.check().unwrap_err().code(), "bad-value");
        let huge = TextSettings { max_words: usize::MAX, ..TextSettings::default() };
        assert!(huge.check().is_err());
        let unstemmed = TextSettings { stem: Language::find("polish"), ..TextSettings::default() };
        assert_eq!(unstemmed.check().unwrap_err().code(), "unknown-language");
    }
}
