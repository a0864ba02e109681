//! Rows out of Parquet and Arrow: columns of integers and floats, nulls (and NaN) missing. 64-bit integers beyond
//! 2⁵³ are rounded to the nearest float.

use std::fs::File;
use std::io::{BufReader, Cursor, Read, Seek};
use std::ops::Range;

use arrow_array::RecordBatch;
use arrow_ipc::reader::{FileReader, StreamReader};
use arrow_schema::{ArrowError, Schema};
use bytes::Bytes;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::file::reader::ChunkReader;

use super::arrays::{copy_numbers, is_number_type, is_text_type, take_text};
use super::input::{Gauge, Input};
use super::plan::{Plan, Role, is_weight};
use crate::{
    CellProblem, Format, InputError, OnError, Place, Progress, ReadOptions, RowBatch, RowSource,
};

/// Rows decoded at a time; independent of the batches handed out.
const DECODED_ROWS: usize = 8192;

type Blocks = Box<dyn Iterator<Item = Result<RecordBatch, ArrowError>> + Send>;

pub(crate) struct ColumnarSource {
    plan: Plan,
    format: Format,
    blocks: Blocks,
    block: Option<RecordBatch>,
    /// How many rows of the block have been handed out.
    taken: usize,
    /// The columns of a block: their place in the plan.
    projected: Vec<usize>,
    /// Which rows of the stretch being copied cannot be used.
    is_bad: Vec<bool>,
    weights: Vec<f64>,
    meter: Meter,
    row: u64,
    n_skipped: u64,
    ended: bool,
}

/// Progress by rows or blocks done, for readers that jump around in the file.
struct Meter {
    gauge: Gauge,
    /// What the file holds, in rows or blocks; none where the gauge counts by itself.
    total: Option<u64>,
    done: u64,
    counts_rows: bool,
}

impl Meter {
    fn block_taken(&mut self, n_rows: usize) {
        self.done += if self.counts_rows { n_rows as u64 } else { 1 };
        if let (Some(total), Some(bytes)) = (self.total, self.gauge.progress().total_bytes) {
            let share = self.done.min(total) as f64 / total.max(1) as f64;
            self.gauge.set((share * bytes as f64) as u64);
        }
    }
}

impl ColumnarSource {
    pub(crate) fn open_parquet(
        mut input: Input,
        options: &ReadOptions,
    ) -> Result<ColumnarSource, InputError> {
        let (name, gauge) = (input.name.clone(), input.gauge.clone());
        match input.plain_file.take() {
            Some(file) => ColumnarSource::from_parquet(file, name, gauge, true, options),
            None => ColumnarSource::from_parquet(
                Bytes::from(input.slurp()?),
                name,
                gauge,
                false,
                options,
            ),
        }
    }

    fn from_parquet<R: ChunkReader + 'static>(
        reader: R,
        name: String,
        gauge: Gauge,
        is_file: bool,
        options: &ReadOptions,
    ) -> Result<ColumnarSource, InputError> {
        let fail = |error: &dyn std::fmt::Display| wrong_format(&name, Format::Parquet, error);
        let builder =
            ParquetRecordBatchReaderBuilder::try_new(reader).map_err(|error| fail(&error))?;
        let (plan, projected) = plan_columns(&name, builder.schema(), options)?;
        let n_rows = u64::try_from(builder.metadata().file_metadata().num_rows()).unwrap_or(0);
        let mask = ProjectionMask::roots(builder.parquet_schema(), projected.iter().copied());
        let blocks = builder
            .with_projection(mask)
            .with_batch_size(DECODED_ROWS)
            .build()
            .map_err(|error| fail(&error))?;
        let meter = Meter {
            gauge,
            total: is_file.then_some(n_rows),
            done: 0,
            counts_rows: true,
        };
        Ok(ColumnarSource::new(
            Format::Parquet,
            plan,
            projected,
            Box::new(blocks),
            meter,
        ))
    }

    pub(crate) fn open_arrow(
        mut input: Input,
        options: &ReadOptions,
    ) -> Result<ColumnarSource, InputError> {
        let (name, gauge) = (input.name.clone(), input.gauge.clone());
        if !input.is_arrow_file() {
            return ColumnarSource::from_arrow_stream(input, options);
        }
        match input.plain_file.take() {
            Some(file) => {
                let reopen = |file: &File| file.try_clone().map(BufReader::new);
                let readers = reopen(&file).and_then(|first| Ok((first, reopen(&file)?)));
                let readers = readers.map_err(|source| InputError::from_io(&name, source))?;
                ColumnarSource::from_arrow_file(readers, name, gauge, true, options)
            }
            None => {
                let bytes = Bytes::from(input.slurp()?);
                let readers = (Cursor::new(bytes.clone()), Cursor::new(bytes));
                ColumnarSource::from_arrow_file(readers, name, gauge, false, options)
            }
        }
    }

    /// Takes two readers of the same bytes: the columns must be known before those to read can be chosen.
    fn from_arrow_file<R: Read + Seek + Send + 'static>(
        readers: (R, R),
        name: String,
        gauge: Gauge,
        is_file: bool,
        options: &ReadOptions,
    ) -> Result<ColumnarSource, InputError> {
        let fail = |error: ArrowError| wrong_format(&name, Format::Arrow, &error);
        let schema = FileReader::try_new(readers.0, None).map_err(fail)?.schema();
        let (plan, projected) = plan_columns(&name, &schema, options)?;
        let blocks = FileReader::try_new(readers.1, Some(projected.clone())).map_err(fail)?;
        let total = is_file.then_some(blocks.num_batches() as u64);
        let meter = Meter {
            gauge,
            total,
            done: 0,
            counts_rows: false,
        };
        Ok(ColumnarSource::new(
            Format::Arrow,
            plan,
            projected,
            Box::new(blocks),
            meter,
        ))
    }

    fn from_arrow_stream(
        input: Input,
        options: &ReadOptions,
    ) -> Result<ColumnarSource, InputError> {
        let Input {
            name,
            reader,
            gauge,
            ..
        } = input;
        let blocks = StreamReader::try_new(BufReader::new(reader), None)
            .map_err(|error| wrong_format(&name, Format::Arrow, &error))?;
        let (plan, projected) = plan_columns(&name, &blocks.schema(), options)?;
        let kept = projected.clone();
        let blocks = blocks.map(move |block| block?.project(&kept));
        let meter = Meter {
            gauge,
            total: None,
            done: 0,
            counts_rows: false,
        };
        Ok(ColumnarSource::new(
            Format::Arrow,
            plan,
            projected,
            Box::new(blocks),
            meter,
        ))
    }

    fn new(
        format: Format,
        plan: Plan,
        projected: Vec<usize>,
        blocks: Blocks,
        meter: Meter,
    ) -> ColumnarSource {
        ColumnarSource {
            plan,
            format,
            blocks,
            block: None,
            taken: 0,
            projected,
            is_bad: Vec::new(),
            weights: Vec::new(),
            meter,
            row: 0,
            n_skipped: 0,
            ended: false,
        }
    }

    fn fill(&mut self, into: &mut RowBatch) -> Result<bool, InputError> {
        while into.n_rows < self.plan.batch_rows {
            let block = match self.block.take() {
                Some(block) => block,
                None => match self.blocks.next() {
                    Some(Ok(block)) => {
                        self.taken = 0;
                        self.meter.block_taken(block.num_rows());
                        block
                    }
                    Some(Err(error)) => {
                        return Err(wrong_format(&self.plan.file, self.format, &error));
                    }
                    None => {
                        self.ended = true;
                        break;
                    }
                },
            };
            let n_rows = (block.num_rows() - self.taken).min(self.plan.batch_rows - into.n_rows);
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
    fn take_rows(
        &mut self,
        block: &RecordBatch,
        stretch: Range<usize>,
        into: &mut RowBatch,
    ) -> Result<(), InputError> {
        let n_columns = self.plan.values.len();
        let start = into.begin_row(n_columns * stretch.len());
        self.is_bad.clear();
        self.is_bad.resize(stretch.len(), false);
        self.weights.clear();
        for (array, &column_ix) in block.columns().iter().zip(&self.projected) {
            match self.plan.roles[column_ix] {
                Role::Value(position) => {
                    let cells = into.rows[start + position..].iter_mut().step_by(n_columns);
                    let is_bad = self.is_bad.iter_mut();
                    copy_numbers(array, stretch.clone(), cells);
                    into.rows[start + position..]
                        .iter()
                        .step_by(n_columns)
                        .zip(is_bad)
                        .for_each(|(cell, is_bad)| *is_bad |= cell.is_infinite());
                }
                Role::Weight => {
                    self.weights.resize(stretch.len(), f64::NAN);
                    copy_numbers(array, stretch.clone(), self.weights.iter_mut());
                    let is_bad = self.is_bad.iter_mut();
                    self.weights
                        .iter()
                        .zip(is_bad)
                        .for_each(|(&weight, is_bad)| *is_bad |= !is_weight(weight));
                }
                Role::Label | Role::Id | Role::Ignored => {}
            }
        }
        let mut kept = start;
        for offset in 0..stretch.len() {
            let from = start + offset * n_columns;
            self.row += 1;
            if self.is_bad[offset] {
                if self.plan.on_error == OnError::Fail {
                    let error = self.bad_cell(&into.rows[from..from + n_columns], offset);
                    into.rows.truncate(kept);
                    return Err(error);
                }
                self.n_skipped += 1;
                continue;
            }
            into.rows.copy_within(from..from + n_columns, kept);
            kept += n_columns;
            for (array, &column_ix) in block.columns().iter().zip(&self.projected) {
                match self.plan.roles[column_ix] {
                    Role::Label => take_text(array, stretch.start + offset, &mut |text| {
                        into.push_label(text)
                    }),
                    Role::Id => take_text(array, stretch.start + offset, &mut |text| {
                        into.push_id(text)
                    }),
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
        let place = Place {
            file: self.plan.file.clone(),
            row: self.row,
            line: None,
        };
        let infinite = cells.iter().position(|cell| cell.is_infinite());
        let (column, value, problem) = match infinite {
            Some(position) => (
                self.plan.values[position].clone(),
                cells[position],
                CellProblem::Infinite,
            ),
            None => {
                let weight_ix = self
                    .plan
                    .roles
                    .iter()
                    .position(|role| *role == Role::Weight);
                let column = weight_ix
                    .map(|ix| self.plan.names[ix].clone())
                    .unwrap_or_default();
                (column, self.weights[offset], CellProblem::BadWeight)
            }
        };
        InputError::BadCell {
            place,
            column,
            value: value.to_string(),
            problem,
        }
    }
}

impl RowSource for ColumnarSource {
    fn name(&self) -> &str {
        &self.plan.file
    }

    fn columns(&self) -> &[String] {
        &self.plan.values
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
        self.meter.gauge.progress()
    }

    fn n_skipped(&self) -> u64 {
        self.n_skipped
    }
}

fn wrong_format(file: &str, format: Format, error: &dyn std::fmt::Display) -> InputError {
    let detail = format!("cannot be read as {format} ({error})");
    InputError::WrongFormat {
        file: file.to_string(),
        detail,
    }
}

/// Gives the columns their roles and refuses types that do not fit them; also returns which columns to read.
fn plan_columns(
    file: &str,
    schema: &Schema,
    options: &ReadOptions,
) -> Result<(Plan, Vec<usize>), InputError> {
    let names = schema
        .fields()
        .iter()
        .map(|field| field.name().clone())
        .collect();
    let plan = Plan::new(file, names, options)?;
    let mut projected = Vec::new();
    for (column_ix, (field, role)) in schema.fields().iter().zip(&plan.roles).enumerate() {
        let (fits, as_text) = match role {
            Role::Ignored => continue,
            Role::Value(_) | Role::Weight => (is_number_type(field.data_type()), false),
            Role::Label | Role::Id => (is_text_type(field.data_type()), true),
        };
        if !fits {
            let (file, column) = (file.to_string(), field.name().clone());
            return Err(InputError::UnsupportedType {
                file,
                column,
                data_type: field.data_type().to_string(),
                as_text,
            });
        }
        projected.push(column_ix);
    }
    Ok((plan, projected))
}
