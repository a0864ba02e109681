//! What models of rows ask of their columns and batches, whatever they learn.

use super::ConfigError;
use crate::data::{Batch, DataError, DataFault, LARGEST_CELL};

/// Refuses no columns at all, with `nothing` as the reason, and two of one name.
pub(super) fn check_columns(columns: &[String], nothing: &str) -> Result<(), ConfigError> {
    let refuse = |reason: String| Err(ConfigError::BadColumns { reason });
    if columns.is_empty() {
        return refuse(nothing.into());
    }
    let mut names: Vec<&String> = columns.iter().collect();
    names.sort();
    match names.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => refuse(format!("the column `{}` is there twice; rename one", pair[0])),
        None => Ok(()),
    }
}

/// Refuses batches of another number of columns, and cells so large that sums of squares would overflow.
pub(super) fn check_batch(expected: usize, batch: &Batch<'_>) -> Result<(), DataError> {
    let found = batch.n_columns();
    if expected != found {
        let fault = DataFault::WrongColumns { expected, found };
        return Err(DataError { row: 0, column: None, fault });
    }
    match batch.rows().iter().position(|v| v.abs() > LARGEST_CELL) {
        None => Ok(()),
        Some(at) => Err(DataError {
            row: at / found,
            column: Some(at % found),
            fault: DataFault::TooLarge { value: batch.rows()[at] },
        }),
    }
}

/// Hands on the rows that count. A row of weight 0 counts as none: it must not shape the frame, make room for a component
/// or be counted.
pub(super) fn with_rows_that_count<T>(batch: &Batch<'_>, learn: impl FnOnce(&Batch<'_>) -> T) -> Result<T, DataError> {
    let Some(weights) = batch.weights().filter(|w| w.contains(&0.0)) else {
        return Ok(learn(batch));
    };
    let counts = |i: &usize| weights[*i] > 0.0;
    let d = batch.n_columns();
    let kept: Vec<f64> =
        (0..batch.n_rows()).filter(counts).flat_map(|i| batch.rows()[i * d..(i + 1) * d].iter().copied()).collect();
    let kept_weights: Vec<f64> = weights.iter().copied().filter(|w| *w > 0.0).collect();
    Ok(learn(&Batch::new(&kept, d)?.with_weights(&kept_weights)?))
}
