//! Rows out of Parquet and Arrow: columns of integers and floats, nulls (and NaN) missing. 64-bit integers beyond
//! 2⁵³ are rounded to the nearest float.

use std::ops::Range;

use arrow_array::RecordBatch;
use arrow_schema::Schema;

use super::arrays::{copy_numbers, is_number_type, is_text_type, take_text};
use super::decoder::{Decoder, Planner};
use super::plan::{Plan, Role, is_weight};
use crate::{CellProblem, InputError, OnError, Place, Progress, ReadOptions, RowBatch, RowSource};

impl Planner for ReadOptions {
    type Plan = Plan;

    const DECODED_ROWS: usize = 8192;

    /// Refuses columns whose types do not fit their roles.
    fn plan(&self, file: &str, schema: &Schema) -> Result<(Plan, Vec<usize>), InputError> {
        let names = schema.fields().iter().map(|field| field.name().clone()).collect();
        let plan = Plan::new(file, names, self)?;
        let mut projected = Vec::new();
        for (column_ix, (field, role)) in schema.fields().iter().zip(&plan.roles).enumerate() {
            let (fits, as_text) = match role {
                Role::Ignored => continue,
                Role::Value(_) | Role::Weight => (is_number_type(field.data_type()), false),
                Role::Label | Role::Id => (is_text_type(field.data_type()), true),
            };
            if !fits {
                let (file, column) = (file.to_string(), field.name().clone());
                let data_type = field.data_type().to_string();
                return Err(InputError::UnsupportedType { file, column, data_type, as_text });
            }
            projected.push(column_ix);
        }
        Ok((plan, projected))
    }
}

pub(crate) struct ColumnarSource {
    decoder: Decoder<Plan>,
    block: Option<RecordBatch>,
    /// How many rows of the block have been handed out.
    taken: usize,
    /// Which rows of the stretch being copied cannot be used, and its weights.
    is_bad: Vec<bool>,
    weights: Vec<f64>,
    row: u64,
    n_skipped: u64,
    ended: bool,
}

impl ColumnarSource {
    pub(crate) fn new(decoder: Decoder<Plan>) -> ColumnarSource {
        ColumnarSource {
            decoder,
            block: None,
            taken: 0,
            is_bad: Vec::new(),
            weights: Vec::new(),
            row: 0,
            n_skipped: 0,
            ended: false,
        }
    }

    fn fill(&mut self, into: &mut RowBatch) -> Result<bool, InputError> {
        let batch_rows = self.decoder.plan.batch_rows;
        while into.n_rows < batch_rows {
            let block = match self.block.take() {
                Some(block) => block,
                None => match self.decoder.next_block()? {
                    Some(block) => {
                        self.taken = 0;
                        block
                    }
                    None => {
                        self.ended = true;
                        break;
                    }
                },
            };
            let n_rows = (block.num_rows() - self.taken).min(batch_rows - into.n_rows);
            let stretch = self.taken..self.taken + n_rows;
            self.take_rows(&block, stretch, into)?;
            self.taken += n_rows;
            if self.taken < block.num_rows() {
                self.block = Some(block);
            }
        }
        Ok(into.n_rows > 0)
    }

    /// Copies a stretch of the block's rows, column by column, and then leaves out or reports the bad ones.
    fn take_rows(&mut self, block: &RecordBatch, stretch: Range<usize>, into: &mut RowBatch) -> Result<(), InputError> {
        let n_columns = self.decoder.plan.values.len();
        let start = into.begin_row(n_columns * stretch.len());
        self.is_bad.clear();
        self.is_bad.resize(stretch.len(), false);
        self.weights.clear();
        for (array, &column_ix) in block.columns().iter().zip(&self.decoder.projected) {
            match self.decoder.plan.roles[column_ix] {
                Role::Value(position) => {
                    let cells = &mut into.rows[start + position..];
                    copy_numbers(array, stretch.clone(), cells.iter_mut().step_by(n_columns));
                    for (cell, is_bad) in cells.iter().step_by(n_columns).zip(&mut self.is_bad) {
                        *is_bad |= cell.is_infinite();
                    }
                }
                Role::Weight => {
                    self.weights.resize(stretch.len(), f64::NAN);
                    copy_numbers(array, stretch.clone(), self.weights.iter_mut());
                    for (&weight, is_bad) in self.weights.iter().zip(&mut self.is_bad) {
                        *is_bad |= !is_weight(weight);
                    }
                }
                Role::Label | Role::Id | Role::Ignored => {}
            }
        }
        let mut kept = start;
        for offset in 0..stretch.len() {
            let from = start + offset * n_columns;
            self.row += 1;
            if self.is_bad[offset] {
                if self.decoder.plan.on_error == OnError::Fail {
                    let error = self.bad_cell(&into.rows[from..from + n_columns], offset);
                    into.rows.truncate(kept);
                    return Err(error);
                }
                self.n_skipped += 1;
                continue;
            }
            into.rows.copy_within(from..from + n_columns, kept);
            kept += n_columns;
            for (array, &column_ix) in block.columns().iter().zip(&self.decoder.projected) {
                match self.decoder.plan.roles[column_ix] {
                    Role::Label => take_text(array, stretch.start + offset, &mut |text| into.push_label(text)),
                    Role::Id => take_text(array, stretch.start + offset, &mut |text| into.push_id(text)),
                    Role::Weight => into.weights.push(self.weights[offset]),
                    Role::Value(_) | Role::Ignored => {}
                }
            }
            into.commit_row(self.row);
        }
        into.rows.truncate(kept);
        Ok(())
    }

    /// Names the cell that makes a row bad.
    fn bad_cell(&self, cells: &[f64], offset: usize) -> InputError {
        let plan = &self.decoder.plan;
        let (column, value, problem) = match cells.iter().position(|cell| cell.is_infinite()) {
            Some(position) => (plan.values[position].clone(), cells[position], CellProblem::Infinite),
            None => {
                let weight_ix = plan.roles.iter().position(|role| *role == Role::Weight);
                let column = weight_ix.map(|ix| plan.names[ix].clone()).unwrap_or_default();
                (column, self.weights[offset], CellProblem::BadWeight)
            }
        };
        let place = Place { file: plan.file.clone(), row: self.row, line: None };
        InputError::BadCell { place, column, value: value.to_string(), problem }
    }
}

impl RowSource for ColumnarSource {
    fn name(&self) -> &str {
        &self.decoder.plan.file
    }

    fn columns(&self) -> &[String] {
        &self.decoder.plan.values
    }

    fn next_batch(&mut self, into: &mut RowBatch) -> Result<bool, InputError> {
        into.clear();
        if self.ended {
            return Ok(false);
        }
        let filled = self.fill(into);
        self.ended |= filled.is_err();
        filled
    }

    fn progress(&self) -> Progress {
        self.decoder.progress()
    }

    fn n_skipped(&self) -> u64 {
        self.n_skipped
    }
}
