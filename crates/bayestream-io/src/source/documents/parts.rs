//! A document being put together from the cells of its row.

use bayestream::text::RawDocument;

use super::Document;
use super::plan::{DocumentPlan, Role};
use crate::InputError;
use crate::source::number::parse_float;
use crate::source::object::{Items, Value, unescape_into};
use crate::source::plan::shown;

/// What is wrong with a row, before it is worth a message: a column and what is wrong with its cell.
pub(super) struct BadCell {
    pub(super) column_ix: usize,
    pub(super) detail: String,
}

impl BadCell {
    pub(super) fn into_error(self, plan: &DocumentPlan, row: u64, line: Option<u64>) -> InputError {
        let column = plan.names[self.column_ix].clone();
        InputError::BadDocument { place: plan.place(row, line), column, detail: self.detail }
    }
}

/// A list of words or of numbers.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum List {
    Words(Vec<String>),
    Numbers(Vec<u32>),
}

/// The cells of one row that count.
pub(super) struct Parts {
    /// The texts by position.
    texts: Vec<String>,
    list: Option<List>,
    counts: Option<Vec<u32>>,
    pub(super) labels: Vec<String>,
    pub(super) id: String,
    pub(super) is_mended: bool,
}

impl Parts {
    pub(super) fn new(plan: &DocumentPlan) -> Parts {
        Parts {
            texts: vec![String::new(); plan.text_columns.len()],
            list: None,
            counts: None,
            labels: Vec::new(),
            id: String::new(),
            is_mended: false,
        }
    }

    /// The text at this position, to be filled.
    pub(super) fn text(&mut self, position: usize) -> &mut String {
        &mut self.texts[position]
    }

    /// Words or terms instead of text; only where they are the whole document.
    pub(super) fn set_list(&mut self, list: List) -> Result<(), String> {
        if self.texts.len() > 1 {
            return Err("a list cannot be joined with other columns; only texts can".to_string());
        }
        self.list = Some(list);
        Ok(())
    }

    /// How often each term occurs.
    pub(super) fn set_counts(&mut self, list: List) -> Result<(), String> {
        self.counts = Some(match list {
            List::Numbers(counts) => counts,
            List::Words(words) if words.is_empty() => Vec::new(),
            List::Words(words) => return Err(not_a_count(words[0].as_bytes())),
        });
        Ok(())
    }

    /// The document of these parts.
    pub(super) fn finish(self, plan: &DocumentPlan, n_bytes: usize) -> Result<Document, BadCell> {
        let bad = |detail| {
            let column_ix = plan.roles.iter().position(|role| matches!(role, Role::Content(_)));
            BadCell { column_ix: column_ix.unwrap_or(0), detail }
        };
        let (list, counts) = match (self.list, plan.has_counts()) {
            // Without terms there is nothing that counts could count.
            (None, true) => (Some(List::Numbers(Vec::new())), self.counts.or(Some(Vec::new()))),
            (Some(List::Words(words)), true) if words.is_empty() => {
                (Some(List::Numbers(Vec::new())), self.counts.or(Some(Vec::new())))
            }
            (list, true) => (list, self.counts.or(Some(Vec::new()))),
            (list, false) => (list, None),
        };
        let raw = match (list, counts) {
            (None, _) => RawDocument::Text(join(self.texts)),
            (Some(List::Words(words)), None) => RawDocument::Tokens(words),
            (Some(List::Words(words)), Some(_)) => {
                return Err(bad(format!(
                    "`{}` is not a term number; terms with counts are whole numbers from 0 to {}",
                    shown(words[0].as_bytes()),
                    u32::MAX
                )));
            }
            (Some(List::Numbers(terms)), counts) => {
                let counts = counts.unwrap_or_else(|| vec![1; terms.len()]);
                if terms.len() != counts.len() {
                    let (n_terms, n_counts) = (terms.len(), counts.len());
                    let of = plan.column_of(|role| role == Role::Counts);
                    return Err(bad(format!("{n_terms} terms, but {n_counts} counts in column `{of}`")));
                }
                RawDocument::Counts { terms, counts }
            }
        };
        Ok(Document { raw, labels: self.labels, id: self.id, n_bytes, is_mended: self.is_mended })
    }
}

/// The texts, each on a line of its own.
fn join(texts: Vec<String>) -> String {
    let mut texts = texts.into_iter().filter(|text| !text.is_empty());
    let mut joined = texts.next().unwrap_or_default();
    for text in texts {
        joined.push('\n');
        joined.push_str(&text);
    }
    joined
}

/// Adds what a JSON string stands for; also says whether something had to be mended.
pub(super) fn take_escaped(written: &[u8], into: &mut String, lossy: bool) -> Result<bool, String> {
    let written = std::str::from_utf8(written).map_err(|_| "not UTF-8 text".to_string())?;
    unescape_into(written, into, lossy).map_err(|at| {
        let escape: String = written[at..].chars().take(6).collect();
        format!("the escape `{escape}` stands for no character; pass --lossy to read such escapes as \u{fffd}")
    })
}

/// The items of a list of JSON: words if one of them is a text, and else numbers. Nulls are no items.
pub(super) fn read_list(mut items: Items<'_>, lossy: bool) -> Result<(List, bool), String> {
    let mut words: Vec<String> = Vec::new();
    let mut numbers = Vec::new();
    let (mut is_words, mut is_mended) = (false, false);
    while let Some(item) = items.next_item().map_err(str::to_string)? {
        let mut word = String::new();
        match item {
            Value::Null => continue,
            Value::Text(written) => {
                is_mended |= take_escaped(written, &mut word, lossy)?;
                is_words = true;
            }
            Value::Boolean(token) | Value::Number(token) => {
                word.push_str(&String::from_utf8_lossy(token));
                numbers.push(item);
            }
            Value::Nested(written) => {
                return Err(format!("`{}` in a list is neither a word nor a number", shown(written)));
            }
        }
        words.push(word);
    }
    if is_words || numbers.is_empty() {
        return Ok((List::Words(words), is_mended));
    }
    let numbers: Result<Vec<u32>, String> = words.iter().map(|word| read_count(word.as_bytes())).collect();
    Ok((List::Numbers(numbers?), is_mended))
}

/// A term or a count.
pub(super) fn read_count(token: &[u8]) -> Result<u32, String> {
    parse_float(token.trim_ascii()).and_then(as_count).ok_or_else(|| not_a_count(token))
}

/// The whole number, if it is one that a term or a count can be.
pub(super) fn as_count(number: f64) -> Option<u32> {
    (number.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(&number)).then_some(number as u32)
}

fn not_a_count(token: &[u8]) -> String {
    format!("`{}` is not a term or a count, which are whole numbers from 0 to {}", shown(token), u32::MAX)
}
