//! Languages, and what is known of each: a stop list, a Snowball stemmer, or both.

use super::error::{TextError, nearest};
use rust_stemmers::Algorithm;
use serde::{Deserialize, Serialize};
use std::fmt;

/// A language with a stop list or a stemmer, chosen by its English name or its ISO 639-1 code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "&'static str", try_from = "String")]
pub struct Language {
    row: &'static Row,
}

#[derive(Debug, PartialEq, Eq)]
struct Row {
    name: &'static str,
    code: &'static str,
    stemmer: Option<Algorithm>,
}

const fn row(name: &'static str, code: &'static str, stemmer: Option<Algorithm>) -> Row {
    Row { name, code, stemmer }
}

static LANGUAGES: [Row; 48] = [
    row("arabic", "ar", Some(Algorithm::Arabic)),
    row("armenian", "hy", None),
    row("azerbaijani", "az", None),
    row("basque", "eu", None),
    row("belarusian", "be", None),
    row("bengali", "bn", None),
    row("bulgarian", "bg", None),
    row("catalan", "ca", None),
    row("chinese", "zh", None),
    row("croatian", "hr", None),
    row("czech", "cs", None),
    row("danish", "da", Some(Algorithm::Danish)),
    row("dutch", "nl", Some(Algorithm::Dutch)),
    row("english", "en", Some(Algorithm::English)),
    row("estonian", "et", None),
    row("finnish", "fi", Some(Algorithm::Finnish)),
    row("french", "fr", Some(Algorithm::French)),
    row("galician", "gl", None),
    row("german", "de", Some(Algorithm::German)),
    row("greek", "el", Some(Algorithm::Greek)),
    row("hebrew", "he", None),
    row("hindi", "hi", None),
    row("hungarian", "hu", Some(Algorithm::Hungarian)),
    row("indonesian", "id", None),
    row("irish", "ga", None),
    row("italian", "it", Some(Algorithm::Italian)),
    row("japanese", "ja", None),
    row("korean", "ko", None),
    row("latin", "la", None),
    row("latvian", "lv", None),
    row("lithuanian", "lt", None),
    row("malay", "ms", None),
    row("norwegian", "no", Some(Algorithm::Norwegian)),
    row("persian", "fa", None),
    row("polish", "pl", None),
    row("portuguese", "pt", Some(Algorithm::Portuguese)),
    row("romanian", "ro", Some(Algorithm::Romanian)),
    row("russian", "ru", Some(Algorithm::Russian)),
    row("slovak", "sk", None),
    row("slovenian", "sl", None),
    row("spanish", "es", Some(Algorithm::Spanish)),
    row("swahili", "sw", None),
    row("swedish", "sv", Some(Algorithm::Swedish)),
    row("tamil", "ta", Some(Algorithm::Tamil)),
    row("turkish", "tr", Some(Algorithm::Turkish)),
    row("ukrainian", "uk", None),
    row("urdu", "ur", None),
    row("vietnamese", "vi", None),
];

impl Language {
    /// Every language, by name.
    pub fn all() -> impl Iterator<Item = Language> {
        LANGUAGES.iter().map(|row| Language { row })
    }

    /// The language of an English name or an ISO 639-1 code, in any case.
    pub fn find(name: &str) -> Option<Language> {
        let is_named = |language: &Language| {
            language.name().eq_ignore_ascii_case(name) || language.row.code.eq_ignore_ascii_case(name)
        };
        Language::all().find(is_named)
    }

    /// Its English name, in lower case.
    pub fn name(self) -> &'static str {
        self.row.name
    }

    /// Its stop words: NLTK's list, and that of Stopwords ISO for languages that NLTK has none for.
    pub fn stop_words(self) -> Option<&'static [&'static str]> {
        stop_words::lookup(self.row.code)
    }

    /// Whether there is a stemmer for it.
    pub fn has_stemmer(self) -> bool {
        self.row.stemmer.is_some()
    }

    pub(super) fn stemmer(self) -> Option<Algorithm> {
        self.row.stemmer
    }

    /// The language of a `stop` or `stem` setting; none for `none`.
    pub(super) fn for_setting(setting: &'static str, value: &str) -> Result<Option<Language>, TextError> {
        if value.eq_ignore_ascii_case("none") {
            return Ok(None);
        }
        match Language::find(value).filter(|language| language.serves(setting)) {
            Some(language) => Ok(Some(language)),
            None => Err(Language::unknown(setting, value)),
        }
    }

    /// Whether the language can be the value of the setting.
    pub(super) fn serves(self, setting: &str) -> bool {
        if setting == "stem" { self.has_stemmer() } else { self.stop_words().is_some() }
    }

    pub(super) fn unknown(setting: &'static str, asked: &str) -> TextError {
        let known: Vec<&str> =
            Language::all().filter(|language| language.serves(setting)).map(Language::name).collect();
        let nearest = nearest(&asked.to_lowercase(), known.iter().copied());
        TextError::UnknownLanguage { setting, asked: asked.to_string(), nearest, known }
    }
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl From<Language> for &'static str {
    fn from(language: Language) -> &'static str {
        language.name()
    }
}

impl TryFrom<String> for Language {
    type Error = String;

    fn try_from(name: String) -> Result<Language, String> {
        Language::find(&name).ok_or_else(|| format!("there is no language `{name}`"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_language_has_a_stop_list_and_is_found_by_name_and_code() {
        for language in Language::all() {
            assert!(language.stop_words().is_some_and(|words| words.len() > 20), "{language}");
            assert_eq!(Language::find(&language.name().to_uppercase()), Some(language));
            assert_eq!(Language::find(language.row.code), Some(language));
        }
        assert!(LANGUAGES.windows(2).all(|pair| pair[0].name < pair[1].name), "in the order of the alphabet");
        assert_eq!(Language::all().filter(|language| language.has_stemmer()).count(), 18);
    }

    #[test]
    fn an_unknown_language_is_answered_with_those_there_are() {
        let error = Language::for_setting("stem", "englsh").unwrap_err();
        assert_eq!(error.code(), "unknown-language");
        let message = error.to_string();
        assert!(message.contains("there is no stemmer for `englsh`; did you mean `english`?"), "{message}");
        assert!(message.contains("(stem takes none, arabic, danish, dutch, english,"), "{message}");
        // Polish has a stop list and no stemmer.
        assert!(Language::for_setting("stop", "polish").unwrap().is_some());
        assert!(Language::for_setting("stem", "polish").unwrap_err().to_string().contains("no stemmer for `polish`"));
        assert_eq!(Language::for_setting("stop", "None"), Ok(None));
        assert!(
            Language::for_setting("stop", "Klingon").unwrap_err().to_string().contains("no stop list for `Klingon`")
        );
    }
}
