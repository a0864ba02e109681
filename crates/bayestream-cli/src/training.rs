//! A model being fed: updates, faults named by file and row, checkpoints.

use crate::checkpoint::Checkpoint;
use crate::error::Failure;
use crate::feed::{Portion, remove_row};
use crate::row_model::RowModel;
use bayestream::data::{Batch, DataError, DataFault, LARGEST_CELL};
use bayestream::engine::StepReport;
use bayestream::model::Model;
use bayestream::outlier::Verdict;

/// A model, what it has learnt in this run, and where its state is kept.
pub struct Training<M = Model> {
    /// The model.
    pub model: M,
    /// Where its state is kept along the way.
    pub checkpoint: Option<Checkpoint>,
    /// Rows learnt in this run.
    pub n_learnt: u64,
    /// Rows left out because the model refused them.
    pub n_refused: u64,
    skip_refused: bool,
}

impl Training<Model> {
    /// Judges some rows, then learns from them as [`Training::learn`] does; one verdict for each row that is left. The
    /// state is not saved here: what was said of the rows must be written first.
    pub fn watch(&mut self, portion: &mut Portion, verdicts: &mut Vec<Verdict>) -> Result<StepReport, Failure> {
        self.take_in(portion, |model, batch| model.watch_into(batch, verdicts))
    }
}

impl<M: RowModel> Training<M> {
    /// A training that has not begun.
    pub fn new(model: M, checkpoint: Option<Checkpoint>, skip_refused: bool) -> Training<M> {
        Training { model, checkpoint, n_learnt: 0, n_refused: 0, skip_refused }
    }

    /// Learns from some rows; under `--on-error skip` those that the model refuses are taken out of them.
    pub fn learn(&mut self, portion: &mut Portion) -> Result<StepReport, Failure> {
        let report = self.take_in(portion, |model, batch| model.update(batch))?;
        if let Some(checkpoint) = &mut self.checkpoint {
            checkpoint.advance(report.n_rows, &self.model);
        }
        Ok(report)
    }

    fn take_in(
        &mut self,
        portion: &mut Portion,
        mut step: impl FnMut(&mut M, &Batch<'_>) -> Result<StepReport, DataError>,
    ) -> Result<StepReport, Failure> {
        let n_columns = self.model.columns().len();
        loop {
            match batch_of(portion, n_columns).and_then(|batch| step(&mut self.model, &batch)) {
                Ok(report) => {
                    self.n_learnt += report.n_rows as u64;
                    return Ok(report);
                }
                Err(error) if self.skip_refused && error.row < portion.batch.n_rows => {
                    remove_row(&mut portion.batch, error.row, n_columns);
                    self.n_refused += 1;
                }
                Err(error) => return Err(Failure::Failed(located(&error, portion, self.model.columns(), true))),
            }
        }
    }
}

/// A portion as the library takes it.
pub fn batch_of(portion: &Portion, n_columns: usize) -> Result<Batch<'_>, DataError> {
    let batch = Batch::new(&portion.batch.rows, n_columns)?;
    match portion.batch.weights.is_empty() {
        true => Ok(batch),
        false => batch.with_weights(&portion.batch.weights),
    }
}

/// A fault of a batch, told in terms of the input; `can_drop` where the command has `--drop`.
pub fn located(error: &DataError, portion: &Portion, columns: &[String], can_drop: bool) -> String {
    let place = format!("{}: row {}", portion.file, portion.batch.row_number(error.row));
    let column = error.column.and_then(|ix| columns.get(ix));
    let problem = match error.fault {
        DataFault::Infinite { value } => format!("`{value}` is infinite"),
        DataFault::TooLarge { value } => {
            format!("`{value:e}` is too large (beyond {LARGEST_CELL:.2e} sums of squares overflow)")
        }
        DataFault::BadWeight { value } => format!("the weight `{value}` is not a finite number of at least 0"),
        _ => return format!("{place}: {error}"),
    };
    match column {
        Some(column) => {
            let drop = if can_drop { format!(", leave the column out with --drop {column},") } else { String::new() };
            format!(
                "{place}, column `{column}`: {problem}: fix or rescale the cell{drop} or pass --on-error skip to count \
                 and skip such rows"
            )
        }
        None => format!("{place}: {problem}: fix the row, or pass --on-error skip to count and skip such rows"),
    }
}
