//! Rows on their way into a model: the only place that validates them.
//!
//! Rows are dense, row-major `f64`. NaN is a missing value; an infinity is an error. Documents are sparse word counts.

mod documents;
mod frame;
mod labels;
mod resolution;

pub use documents::{DocumentBuffer, Documents, DocumentsError, DocumentsFault};
pub use frame::{Frame, Scaling};
pub use labels::LabelNames;
pub use resolution::resolution;

use std::fmt;

/// The largest magnitude that a model takes, 2⁵⁰⁰, about 3.27e150. Covariances are told in the columns' own units, and of
/// cells up to M they are at most (2M)² = 2¹⁰⁰²: what is left below the largest number, 2¹⁰²⁴, is room for a factor of four
/// million, for priors that are wider than the data and for sums over columns.
pub const LARGEST_CELL: f64 = f64::from_bits((1023 + 500) << 52);

/// The largest magnitude within a frame, where columns have unit spread: products of four cells must stay finite.
pub(crate) const LARGEST_FRAMED: f64 = 1e75;

/// A batch of rows, checked: finite or missing cells, finite non-negative weights.
#[derive(Clone, Copy, Debug)]
pub struct Batch<'a> {
    rows: &'a [f64],
    weights: Option<&'a [f64]>,
    n_columns: usize,
}

impl<'a> Batch<'a> {
    /// Checks `rows` (row-major, `n_columns` cells each) and wraps them without copying.
    pub fn new(rows: &'a [f64], n_columns: usize) -> Result<Self, DataError> {
        if n_columns == 0 {
            return Err(DataError { row: 0, column: None, fault: DataFault::NoColumns });
        }
        if !rows.len().is_multiple_of(n_columns) {
            let fault = DataFault::Ragged { n_cells: rows.len(), n_columns };
            return Err(DataError { row: rows.len() / n_columns, column: None, fault });
        }
        if let Some(at) = rows.iter().position(|v| v.is_infinite()) {
            let fault = DataFault::Infinite { value: rows[at] };
            return Err(DataError { row: at / n_columns, column: Some(at % n_columns), fault });
        }
        Ok(Batch { rows, weights: None, n_columns })
    }

    /// Adds one weight per row: a row of weight 2 counts as two equal rows, of weight 0 as none.
    pub fn with_weights(self, weights: &'a [f64]) -> Result<Self, DataError> {
        if weights.len() != self.n_rows() {
            let fault = DataFault::WeightCount { n_weights: weights.len(), n_rows: self.n_rows() };
            return Err(DataError { row: 0, column: None, fault });
        }
        if let Some(row) = weights.iter().position(|w| !(w.is_finite() && *w >= 0.0)) {
            let fault = DataFault::BadWeight { value: weights[row] };
            return Err(DataError { row, column: None, fault });
        }
        Ok(Batch { weights: Some(weights), ..self })
    }

    /// The cells, row by row.
    pub fn rows(&self) -> &'a [f64] {
        self.rows
    }

    /// One weight per row, when given.
    pub fn weights(&self) -> Option<&'a [f64]> {
        self.weights
    }

    /// How many rows.
    pub fn n_rows(&self) -> usize {
        self.rows.len() / self.n_columns
    }

    /// How many cells a row has.
    pub fn n_columns(&self) -> usize {
        self.n_columns
    }
}

/// What is wrong with a batch, and where: `row` and `column` count from zero within the batch.
#[derive(Clone, Debug, PartialEq)]
pub struct DataError {
    /// Row within the batch, from zero.
    pub row: usize,
    /// Column, from zero, when one cell is to blame.
    pub column: Option<usize>,
    /// What is wrong.
    pub fault: DataFault,
}

/// The ways in which a batch can be wrong.
#[derive(Clone, Debug, PartialEq)]
pub enum DataFault {
    /// A row has no cells.
    NoColumns,
    /// The cells do not fill whole rows.
    Ragged {
        /// Cells given.
        n_cells: usize,
        /// Cells a row has.
        n_columns: usize,
    },
    /// The batch has another number of columns than the model.
    WrongColumns {
        /// Columns of the model.
        expected: usize,
        /// Columns of the batch.
        found: usize,
    },
    /// A cell is infinite.
    Infinite {
        /// Its value.
        value: f64,
    },
    /// A cell is beyond [`LARGEST_CELL`], where sums of squares overflow.
    TooLarge {
        /// Its value.
        value: f64,
    },
    /// There must be one weight per row.
    WeightCount {
        /// Weights given.
        n_weights: usize,
        /// Rows given.
        n_rows: usize,
    },
    /// A weight is negative or not finite.
    BadWeight {
        /// Its value.
        value: f64,
    },
}

impl DataError {
    /// A stable name for programs.
    pub fn code(&self) -> &'static str {
        match self.fault {
            DataFault::NoColumns => "no-columns",
            DataFault::Ragged { .. } => "ragged-batch",
            DataFault::WrongColumns { .. } => "wrong-columns",
            DataFault::Infinite { .. } => "infinite-cell",
            DataFault::TooLarge { .. } => "too-large",
            DataFault::WeightCount { .. } => "weight-count",
            DataFault::BadWeight { .. } => "bad-weight",
        }
    }
}

impl fmt::Display for DataError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let row = self.row + 1;
        match (&self.fault, self.column) {
            (DataFault::NoColumns, _) => write!(f, "the rows have no columns"),
            (DataFault::Ragged { n_cells, n_columns }, _) => {
                write!(f, "{n_cells} cells do not fill whole rows of {n_columns}")
            }
            (DataFault::WrongColumns { expected, found }, _) => {
                write!(f, "the model has {expected} columns, the batch has {found}")
            }
            (DataFault::Infinite { value }, column) => write!(
                f,
                "row {row} of the batch, column {}: {value} is not finite; remove it or leave the cell empty (missing)",
                column.map_or(0, |c| c + 1)
            ),
            (DataFault::TooLarge { value }, column) => write!(
                f,
                "row {row} of the batch, column {}: {value:e} is too large (beyond {LARGEST_CELL:.2e} sums of squares overflow); rescale the column",
                column.map_or(0, |c| c + 1)
            ),
            (DataFault::WeightCount { n_weights, n_rows }, _) => {
                write!(f, "{n_weights} weights for {n_rows} rows; give one weight per row")
            }
            (DataFault::BadWeight { value }, _) => {
                write!(f, "row {row} of the batch: weight {value} must be finite and not negative")
            }
        }
    }
}

impl std::error::Error for DataError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bad_cells_are_named_by_row_and_column() {
        let err = Batch::new(&[1.0, 2.0, 3.0, f64::INFINITY], 2).unwrap_err();
        assert_eq!((err.row, err.column, err.code()), (1, Some(1), "infinite-cell"));
        assert!(err.to_string().contains("row 2 of the batch, column 2"));
        assert_eq!(Batch::new(&[1.0; 5], 3).unwrap_err().code(), "ragged-batch");
        assert_eq!(Batch::new(&[], 0).unwrap_err().code(), "no-columns");
    }

    #[test]
    fn missing_cells_are_fine_and_weights_are_checked() {
        let rows = [f64::NAN, 2.0, 3.0, 4.0];
        let batch = Batch::new(&rows, 2).unwrap();
        assert_eq!(batch.n_rows(), 2);
        assert_eq!(batch.with_weights(&[1.0]).unwrap_err().code(), "weight-count");
        assert_eq!(batch.with_weights(&[1.0, -0.5]).unwrap_err().row, 1);
        assert!(batch.with_weights(&[0.0, 2.5]).is_ok());
    }
}
