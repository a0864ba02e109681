//! A model being fed: updates, faults named by file and row, checkpoints.

use crate::error::Failure;
use crate::feed::{Portion, remove_row};
use crate::model_file::Checkpoint;
use bayestream::data::{Batch, DataError, DataFault};
use bayestream::engine::StepReport;
use bayestream::model::Model;

/// A model, what it has learnt in this run, and where its state is kept.
pub struct Training {
    /// The model.
    pub model: Model,
    /// Where its state is kept along the way.
    pub checkpoint: Option<Checkpoint>,
    /// Rows learnt in this run.
    pub n_learnt: u64,
    /// Rows left out because the model refused them.
    pub n_refused: u64,
    skip_refused: bool,
}

impl Training {
    /// A training that has not begun.
    pub fn new(model: Model, checkpoint: Option<Checkpoint>, skip_refused: bool) -> Training {
        Training { model, checkpoint, n_learnt: 0, n_refused: 0, skip_refused }
    }

    /// Learns from some rows; under `--on-error skip` those that the model refuses are taken out of them.
    pub fn learn(&mut self, portion: &mut Portion) -> Result<StepReport, Failure> {
        let n_columns = self.model.columns().len();
        loop {
            match self.update(portion, n_columns) {
                Ok(report) => {
                    self.n_learnt += report.n_rows as u64;
                    if let Some(checkpoint) = &mut self.checkpoint {
                        checkpoint.advance(report.n_rows, &self.model);
                    }
                    return Ok(report);
                }
                Err(error) if self.skip_refused && error.row < portion.batch.n_rows => {
                    remove_row(&mut portion.batch, error.row, n_columns);
                    self.n_refused += 1;
                }
                Err(error) => return Err(Failure::Failed(located(&error, portion, self.model.columns()))),
            }
        }
    }

    fn update(&mut self, portion: &Portion, n_columns: usize) -> Result<StepReport, DataError> {
        let mut batch = Batch::new(&portion.batch.rows, n_columns)?;
        if !portion.batch.weights.is_empty() {
            batch = batch.with_weights(&portion.batch.weights)?;
        }
        self.model.update(&batch)
    }
}

/// A fault of a batch, told in terms of the input.
fn located(error: &DataError, portion: &Portion, columns: &[String]) -> String {
    let place = format!("{}: row {}", portion.file, portion.batch.row_number(error.row));
    let column = error.column.and_then(|ix| columns.get(ix));
    let problem = match error.fault {
        DataFault::Infinite { value } => format!("`{value}` is infinite"),
        DataFault::TooLarge { value } => format!("`{value:e}` is too large (its square overflows)"),
        DataFault::BadWeight { value } => format!("the weight `{value}` is not a finite number of at least 0"),
        _ => return format!("{place}: {error}"),
    };
    match column {
        Some(column) => format!(
            "{place}, column `{column}`: {problem}: fix or rescale the cell, leave the column out with --drop \
             {column}, or pass --on-error skip to count and skip such rows"
        ),
        None => format!("{place}: {problem}: fix the row, or pass --on-error skip to count and skip such rows"),
    }
}
