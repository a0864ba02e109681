//! Rows out of delimited text.
//!
//! The first line names the columns. A first line of nothing but numbers (or missing values) is a row instead, and
//! the columns are then called `x1`, `x2`, ….

use super::input::{Gauge, Input};
use super::lines::Lines;
use super::number::{is_missing, parse_float};
use super::plan::{Fault, Plan};
use super::quotes::QuotedRecord;
use super::records::{Record, Records};
use crate::{InputError, OnError, Progress, ReadOptions, RowBatch, RowSource};

pub(crate) struct CsvSource {
    records: Records,
    plan: Plan,
    gauge: Gauge,
    /// The current record is a row that has not been handed out: the first one of an input without a header.
    holds_row: bool,
    row: u64,
    n_skipped: u64,
    n_unfinished: u64,
    ended: bool,
}

impl CsvSource {
    pub(crate) fn open(input: Input, options: &ReadOptions) -> Result<CsvSource, InputError> {
        let Input { name, reader, gauge, .. } = input;
        let records = Records::open(&name, Lines::new(reader), options.on_unfinished)?;
        let is_row = is_row_of_numbers(&records.quoted);
        let names = match is_row {
            true => (1..=records.quoted.cells().count()).map(|position| format!("x{position}")).collect(),
            false => records.header_names(&name)?,
        };
        let plan = Plan::new(&name, names, options)?;
        Ok(CsvSource { records, plan, gauge, holds_row: is_row, row: 0, n_skipped: 0, n_unfinished: 0, ended: false })
    }

    fn fill(&mut self, into: &mut RowBatch) -> Result<bool, InputError> {
        while into.n_rows < self.plan.batch_rows {
            let record = match std::mem::take(&mut self.holds_row) {
                true => Record::Quoted,
                false => self.records.advance(&self.plan.file, self.row + 1)?,
            };
            let start = into.begin_row(self.plan.values.len());
            let taken = match record {
                Record::End | Record::Unfinished => {
                    into.abort_row(start);
                    self.n_unfinished += u64::from(matches!(record, Record::Unfinished));
                    self.ended = true;
                    break;
                }
                Record::Plain => take_cells(&self.plan, self.records.plain_cells(), into, start),
                Record::Quoted => take_cells(&self.plan, self.records.quoted.cells(), into, start),
            };
            self.row += 1;
            match taken {
                Ok(()) => into.commit_row(self.row),
                Err(fault) => {
                    into.abort_row(start);
                    let (found, bad_column) = match fault {
                        Fault::CellCount { found } => (found, None),
                        Fault::Cell { column_ix, .. } => (self.plan.roles.len(), Some(column_ix)),
                        Fault::Malformed { .. } | Fault::UnknownKey { .. } => (self.plan.roles.len(), None),
                    };
                    if self.records.is_unfinished(found, self.plan.roles.len(), bad_column) {
                        self.n_unfinished += 1;
                        continue;
                    }
                    if self.plan.on_error == OnError::Fail {
                        return Err(fault.into_error(&self.plan, self.row, self.records.lines.number()));
                    }
                    self.n_skipped += 1;
                }
            }
        }
        Ok(into.n_rows > 0)
    }
}

impl RowSource for CsvSource {
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
        self.gauge.progress()
    }

    fn n_skipped(&self) -> u64 {
        self.n_skipped
    }

    fn n_unfinished(&self) -> u64 {
        self.n_unfinished
    }
}

#[inline]
fn take_cells<'a>(
    plan: &Plan,
    cells: impl Iterator<Item = &'a [u8]>,
    batch: &mut RowBatch,
    start: usize,
) -> Result<(), Fault<'a>> {
    let n_columns = plan.roles.len();
    let mut fault = None;
    let mut found = 0;
    for cell in cells {
        // A wrong number of cells is the better message of the two, so that a bad cell is kept until all are counted.
        if found < n_columns && fault.is_none() {
            fault = plan.take_text(batch, start, found, cell).err();
        }
        found += 1;
    }
    match fault {
        _ if found != n_columns => Err(Fault::CellCount { found }),
        Some(fault) => Err(fault),
        None => Ok(()),
    }
}

fn is_row_of_numbers(record: &QuotedRecord) -> bool {
    let is_number = |cell: &[u8]| parse_float(cell.trim_ascii()).is_some();
    record.cells().all(|cell| is_missing(cell.trim_ascii()) || is_number(cell))
        && record.cells().any(|cell| !is_missing(cell.trim_ascii()))
}
