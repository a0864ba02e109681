//! Values of settings from text, and back.

use super::{ConfigError, SettingInfo};

/// Above zero and finite.
pub(super) fn positive(value: &f64) -> bool {
    *value > 0.0 && value.is_finite()
}

/// Parses into `slot` when `accept` likes the value.
pub(super) fn put<T: std::str::FromStr>(slot: &mut T, text: &str, accept: impl Fn(&T) -> bool) -> bool {
    match text.parse::<T>() {
        Ok(value) if accept(&value) => {
            *slot = value;
            true
        }
        _ => false,
    }
}

/// Like [`put`] for a setting that may be switched off by a word.
pub(super) fn put_option<T: std::str::FromStr>(
    slot: &mut Option<T>,
    text: &str,
    none: &str,
    accept: impl Fn(&T) -> bool,
) -> bool {
    if text == none {
        *slot = None;
        return true;
    }
    match text.parse::<T>() {
        Ok(value) if accept(&value) => {
            *slot = Some(value);
            true
        }
        _ => false,
    }
}

/// Puts a list of positive numbers, separated by commas.
pub(super) fn put_list(slot: &mut Vec<f64>, text: &str) -> bool {
    match text.split(',').map(|v| v.trim().parse::<f64>()).collect::<Result<Vec<f64>, _>>() {
        Ok(values) if !values.is_empty() && values.len() <= 100 && values.iter().all(positive) => {
            *slot = values;
            true
        }
        _ => false,
    }
}

/// Puts the value whose word is `text`.
pub(super) fn put_word<T: Copy>(slot: &mut T, text: &str, words: &[(&str, T)]) -> bool {
    match words.iter().find(|(word, _)| *word == text) {
        Some((_, value)) => {
            *slot = *value;
            true
        }
        None => false,
    }
}

/// The word of a value.
pub(super) fn word<T: PartialEq>(value: &T, words: &[(&'static str, T)]) -> String {
    words.iter().find(|(_, v)| v == value).map_or_else(String::new, |(w, _)| (*w).to_string())
}

/// Refuses settings that were not parsed but put together in code, where the parser would have refused their text, with
/// the words that it would have used.
pub(super) fn check_values<S: Clone + 'static, K: 'static>(
    settings: &S,
    known: impl Iterator<Item = &'static SettingInfo<S, K>>,
) -> Result<(), ConfigError> {
    for info in known {
        let value = (info.get)(settings);
        if !(info.set)(&mut settings.clone(), &value) {
            return Err(ConfigError::BadValue { name: info.name.into(), value, expected: info.takes.into() });
        }
    }
    Ok(())
}
