//! One error type per boundary, each with a stable code.

use super::memory::{begins_with_components, told_bytes};
use crate::data::DataError;
use crate::text::TextError;
use std::fmt;

/// A model cannot be made as asked.
#[derive(Clone, Debug, PartialEq)]
pub enum ConfigError {
    /// No such kind.
    UnknownKind {
        /// What was asked for.
        name: String,
        /// The kind most like it.
        nearest: Option<String>,
    },
    /// No such setting for this kind.
    UnknownSetting {
        /// What was asked for.
        name: String,
        /// The setting most like it.
        nearest: Option<String>,
        /// The kind.
        kind: String,
    },
    /// A setting's value is not of the right form or out of its range.
    BadValue {
        /// The setting.
        name: String,
        /// The value given.
        value: String,
        /// What it takes.
        expected: String,
    },
    /// Something about text.
    Text {
        /// What.
        error: TextError,
    },
    /// The rows have no columns, or the same name twice.
    BadColumns {
        /// What is wrong.
        reason: String,
    },
    /// The columns are more than the memory that a model may take allows.
    NoMemory {
        /// The kind.
        kind: String,
        /// Columns asked for.
        n_columns: usize,
        /// Components that the estimate is for, of mixtures.
        n_components: Option<usize>,
        /// Bytes that it would need, about.
        needed: u64,
        /// Bytes that it may take.
        limit: u64,
        /// Columns that fit.
        fits: usize,
        /// A kind whose memory does not grow with the square of the columns, and the bytes that it would need.
        alternative: Option<(&'static str, u64)>,
    },
}

impl ConfigError {
    /// A stable name for programs.
    pub fn code(&self) -> &'static str {
        match self {
            ConfigError::UnknownKind { .. } => "unknown-kind",
            ConfigError::UnknownSetting { .. } => "unknown-setting",
            ConfigError::BadValue { .. } => "bad-value",
            ConfigError::Text { error } => error.code(),
            ConfigError::BadColumns { .. } => "bad-columns",
            ConfigError::NoMemory { .. } => "no-memory",
        }
    }
}

fn did_you_mean(f: &mut fmt::Formatter<'_>, nearest: &Option<String>) -> fmt::Result {
    match nearest {
        Some(name) => write!(f, "; did you mean `{name}`?"),
        None => Ok(()),
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ConfigError::UnknownKind { name, nearest } => {
                write!(f, "there is no kind `{name}`")?;
                did_you_mean(f, nearest)?;
                write!(f, " (`bayestream models` lists them)")
            }
            ConfigError::UnknownSetting { name, nearest, kind } => {
                write!(f, "{kind} has no setting `{name}`")?;
                did_you_mean(f, nearest)
            }
            ConfigError::BadValue { name, value, expected } => {
                write!(f, "setting {name}={value}: expected {expected}")
            }
            ConfigError::Text { error } => write!(f, "{error}"),
            ConfigError::BadColumns { reason } => write!(f, "{reason}"),
            ConfigError::NoMemory { kind, n_columns, n_components, needed, limit, fits, alternative } => {
                let (needed, limit) = (told_bytes(*needed), told_bytes(*limit));
                write!(f, "{kind} with {n_columns} columns would need about {needed}")?;
                if let Some(n) = n_components {
                    write!(f, " for {n} components")?;
                }
                write!(f, ", and it may take {limit}, which is enough for {fits} columns: allow it more ")?;
                write!(
                    f,
                    "(--memory {}; memory_limit in Python and Rust), leave columns out",
                    needed.replace(' ', "")
                )?;
                let begins_with_some = kind.parse().is_ok_and(begins_with_components);
                if begins_with_some {
                    write!(f, ", begin with fewer components (start-components)")?;
                }
                match alternative {
                    Some((other, needs)) => {
                        write!(f, ", or learn {other} (about {}), which keeps no covariances", told_bytes(*needs))
                    }
                    None => Ok(()),
                }
            }
        }
    }
}

impl std::error::Error for ConfigError {}

/// Models that cannot be combined.
#[derive(Clone, Debug, PartialEq)]
pub enum MergeError {
    /// Fewer than one model was given.
    Nothing,
    /// Two models differ in something that must agree.
    Differ {
        /// What must agree: the kind, the columns, a setting.
        what: String,
        /// The first model's.
        first: String,
        /// The other's.
        other: String,
    },
    /// This kind cannot be merged.
    Unsupported {
        /// Why.
        reason: String,
    },
}

impl MergeError {
    /// A stable name for programs.
    pub fn code(&self) -> &'static str {
        match self {
            MergeError::Nothing => "nothing-to-merge",
            MergeError::Differ { .. } => "models-differ",
            MergeError::Unsupported { .. } => "merge-unsupported",
        }
    }
}

impl fmt::Display for MergeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MergeError::Nothing => write!(f, "there is no model to merge"),
            MergeError::Differ { what, first, other } => {
                write!(
                    f,
                    "the models differ in {what}: `{first}` and `{other}`; only models of one stream can be merged"
                )
            }
            MergeError::Unsupported { reason } => write!(f, "{reason}"),
        }
    }
}

impl std::error::Error for MergeError {}

/// A model file that cannot be read.
#[derive(Clone, Debug, PartialEq)]
pub enum FormatError {
    /// It does not begin as a model file does.
    NotAModel,
    /// It was written by a newer version.
    TooNew {
        /// The file's format.
        found: u32,
        /// The newest this version reads.
        newest: u32,
    },
    /// It is shorter than it says.
    CutShort {
        /// Bytes it should have.
        expected: u64,
        /// Bytes it has.
        found: u64,
    },
    /// It is a model of documents where one of rows is wanted, or the other way round.
    OtherInput {
        /// Its kind.
        kind: String,
        /// What that learns from.
        reads: &'static str,
    },
    /// Its checksum does not match.
    Damaged,
    /// The bytes are sound but what they say is not a valid model.
    Invalid {
        /// What is wrong.
        reason: String,
    },
}

impl FormatError {
    /// A stable name for programs.
    pub fn code(&self) -> &'static str {
        match self {
            FormatError::NotAModel => "not-a-model",
            FormatError::TooNew { .. } => "too-new",
            FormatError::CutShort { .. } => "cut-short",
            FormatError::OtherInput { .. } => "other-input",
            FormatError::Damaged => "damaged",
            FormatError::Invalid { .. } => "invalid-model",
        }
    }
}

impl fmt::Display for FormatError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FormatError::NotAModel => write!(f, "this is not a bayestream model file"),
            FormatError::TooNew { found, newest } => {
                write!(f, "the file has format {found}, this version reads up to {newest}; update bayestream")
            }
            FormatError::CutShort { expected, found } => {
                write!(f, "the file is cut short: {found} bytes of {expected}; use an earlier checkpoint or fit again")
            }
            FormatError::OtherInput { kind, reads } => {
                write!(f, "this is a model of kind {kind}, which learns from {reads}; this command cannot use it")
            }
            FormatError::Damaged => {
                write!(f, "the file is damaged (its checksum does not match); use an earlier checkpoint or fit again")
            }
            FormatError::Invalid { reason } => write!(f, "the file does not hold a valid model: {reason}"),
        }
    }
}

impl std::error::Error for FormatError {}

/// An update that was refused; the model is as it was.
pub type UpdateError = DataError;
