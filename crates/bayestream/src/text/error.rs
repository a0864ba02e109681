//! What can be wrong with settings of text, documents and saved vocabularies.

use std::fmt;

/// Why a text pipeline could not be made, or documents not be taken. Nothing has changed when one is returned.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TextError {
    /// No such language for this setting.
    UnknownLanguage {
        /// The setting: `stop` or `stem`.
        setting: &'static str,
        /// What was asked for.
        asked: String,
        /// The language most like it.
        nearest: Option<&'static str>,
        /// Every language that the setting knows.
        known: Vec<&'static str>,
    },
    /// No such setting.
    UnknownSetting {
        /// What was asked for.
        name: String,
        /// The setting most like it.
        nearest: Option<&'static str>,
    },
    /// A setting's value is not of the right form or out of its range.
    BadValue {
        /// The setting.
        name: &'static str,
        /// The value given.
        value: String,
        /// What it takes.
        expected: &'static str,
    },
    /// A document has another number of terms than of counts.
    UnevenCounts {
        /// Document within the batch, from zero.
        document: usize,
        /// Its terms.
        n_terms: usize,
        /// Its counts.
        n_counts: usize,
    },
    /// A document has a term beyond the end of the given list of words.
    UnknownTerm {
        /// Document within the batch, from zero.
        document: usize,
        /// The term.
        term: u32,
        /// Words in the list.
        n_words: usize,
    },
    /// Labels were given for another number of documents than there are.
    UnevenLabels {
        /// Documents of the batch.
        n_documents: usize,
        /// How many of them labels were given for.
        n_labels: usize,
    },
    /// A document has a label beyond the number of labels that there may be.
    TooManyLabels {
        /// Document within the batch, from zero.
        document: usize,
        /// The label.
        label: String,
        /// Labels that there may be.
        most: usize,
    },
    /// Vocabularies that cannot be merged.
    Differ {
        /// What must agree.
        what: &'static str,
    },
    /// A saved vocabulary that contradicts itself.
    Damaged {
        /// What is wrong.
        reason: &'static str,
    },
}

impl TextError {
    /// A stable name for programs.
    pub fn code(&self) -> &'static str {
        match self {
            TextError::UnknownLanguage { .. } => "unknown-language",
            TextError::UnknownSetting { .. } => "unknown-setting",
            TextError::BadValue { .. } => "bad-value",
            TextError::UnevenCounts { .. } => "uneven-counts",
            TextError::UnknownTerm { .. } => "unknown-term",
            TextError::UnevenLabels { .. } => "uneven-labels",
            TextError::TooManyLabels { .. } => "too-many-labels",
            TextError::Differ { .. } => "vocabularies-differ",
            TextError::Damaged { .. } => "damaged-vocabulary",
        }
    }

    /// The document at fault, from zero within the batch, when it is one.
    pub fn document(&self) -> Option<usize> {
        match self {
            TextError::UnevenCounts { document, .. }
            | TextError::UnknownTerm { document, .. }
            | TextError::TooManyLabels { document, .. } => Some(*document),
            _ => None,
        }
    }
}

impl fmt::Display for TextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TextError::UnknownLanguage { setting, asked, nearest, known } => {
                let what = if *setting == "stem" { "stemmer" } else { "stop list" };
                write!(f, "setting {setting}={asked}: there is no {what} for `{asked}`")?;
                if let Some(name) = nearest {
                    write!(f, "; did you mean `{name}`?")?;
                }
                write!(f, " ({setting} takes none, {})", known.join(", "))
            }
            TextError::UnknownSetting { name, nearest } => {
                write!(f, "text has no setting `{name}`")?;
                match nearest {
                    Some(name) => write!(f, "; did you mean `{name}`?"),
                    None => Ok(()),
                }
            }
            TextError::BadValue { name, value, expected } => write!(f, "setting {name}={value}: expected {expected}"),
            TextError::UnevenCounts { document, n_terms, n_counts } => write!(
                f,
                "document {document} of the batch has {n_terms} terms and {n_counts} counts: give one count for each term"
            ),
            TextError::UnknownTerm { document, term, n_words } => write!(
                f,
                "document {document} of the batch has term {term}, but the vocabulary has {n_words} words, numbered \
                 from 0: give the vocabulary that belongs to these documents"
            ),
            TextError::UnevenLabels { n_documents, n_labels } => {
                write!(
                    f,
                    "the batch has {n_documents} documents and labels for {n_labels}: give one list for each document"
                )
            }
            TextError::TooManyLabels { document, label, most } => write!(
                f,
                "document {document} of the batch has the label `{label}`, but there are {most} other labels already: give \
                 the column that has the labels, or allow more with --set max-labels"
            ),
            TextError::Differ { what } => write!(f, "vocabularies with different {what} cannot be merged"),
            TextError::Damaged { reason } => write!(f, "the saved vocabulary is damaged: {reason}"),
        }
    }
}

impl std::error::Error for TextError {}

/// The candidate most like `asked`, when one is like it at all.
pub(super) fn nearest(asked: &str, candidates: impl Iterator<Item = &'static str>) -> Option<&'static str> {
    const LIKE: f64 = 0.7;
    candidates
        .map(|candidate| (strsim::jaro_winkler(asked, candidate), candidate))
        .filter(|(likeness, _)| *likeness > LIKE)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, candidate)| candidate)
}
