//! What can be wrong with labelled rows.

use crate::data::DataError;
use crate::text::TextError;
use std::fmt;

/// Why labelled rows were refused. Nothing has changed when one is returned.
#[derive(Clone, Debug, PartialEq)]
pub enum LinearError {
    /// Something about the cells.
    Data(DataError),
    /// Something about the text.
    Text(TextError),
    /// There must be a list of labels for each row; it may be empty.
    LabelCount {
        /// Lists given.
        n_labels: usize,
        /// Rows given.
        n_rows: usize,
    },
    /// A row has several labels where each has one.
    SeveralLabels {
        /// Row within the batch, from zero.
        row: usize,
        /// Its labels.
        n: usize,
    },
    /// More labels than may be.
    TooManyLabels {
        /// Row within the batch, from zero, with the first that is too many.
        row: usize,
        /// The label.
        label: String,
        /// Labels that may be.
        most: usize,
    },
    /// A number to be told is not one.
    NotANumber {
        /// Row within the batch, from zero.
        row: usize,
        /// What is there.
        value: String,
    },
    /// Rows for a model of words, or documents for one of columns.
    OtherFeatures {
        /// What the model learns from.
        reads: &'static str,
    },
}

impl LinearError {
    /// A stable name for programs.
    pub fn code(&self) -> &'static str {
        match self {
            LinearError::Data(error) => error.code(),
            LinearError::Text(error) => error.code(),
            LinearError::LabelCount { .. } => "label-count",
            LinearError::SeveralLabels { .. } => "several-labels",
            LinearError::TooManyLabels { .. } => "too-many-labels",
            LinearError::NotANumber { .. } => "not-a-number",
            LinearError::OtherFeatures { .. } => "other-features",
        }
    }

    /// The row at fault, from zero within the batch, when it is one.
    pub fn row(&self) -> Option<usize> {
        match self {
            LinearError::Data(error) => Some(error.row),
            LinearError::Text(error) => error.document(),
            LinearError::SeveralLabels { row, .. }
            | LinearError::TooManyLabels { row, .. }
            | LinearError::NotANumber { row, .. } => Some(*row),
            LinearError::LabelCount { .. } | LinearError::OtherFeatures { .. } => None,
        }
    }
}

impl fmt::Display for LinearError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LinearError::Data(error) => write!(f, "{error}"),
            LinearError::Text(error) => write!(f, "{error}"),
            LinearError::LabelCount { n_labels, n_rows } => {
                write!(f, "{n_labels} lists of labels for {n_rows} rows; give one for each row, empty where unknown")
            }
            LinearError::SeveralLabels { n, .. } => {
                write!(
                    f,
                    "there are {n} labels where one is expected; to learn several, begin with --set target=labels"
                )
            }
            LinearError::TooManyLabels { label, most, .. } => write!(
                f,
                "`{label}` would be one more than {most} labels; if it is a label and not a name or a number, begin with \
                 a larger --set max-labels (or with --set target=number for numbers)"
            ),
            LinearError::NotANumber { value, .. } => {
                write!(f, "`{value}` is not a finite number to be told; leave it empty where it is unknown")
            }
            LinearError::OtherFeatures { reads } => write!(f, "this model learns from {reads}"),
        }
    }
}

impl std::error::Error for LinearError {}

impl From<DataError> for LinearError {
    fn from(error: DataError) -> LinearError {
        LinearError::Data(error)
    }
}

impl From<TextError> for LinearError {
    fn from(error: TextError) -> LinearError {
        LinearError::Text(error)
    }
}
