//! Rows out of delimited text.
//!
//! The first line names the columns. A first line of nothing but numbers (or missing values) is a row instead, and
//! the columns are then called `x1`, `x2`, ….

use super::input::{Gauge, Input};
use super::lines::Lines;
use super::number::{is_missing, parse_float};
use super::plan::{Fault, Plan};
use super::quotes::QuotedRecord;
use crate::{InputError, OnError, Place, Progress, ReadOptions, RowBatch, RowSource};

pub(crate) struct CsvSource {
    lines: Lines,
    plan: Plan,
    delimiter: u8,
    record: QuotedRecord,
    gauge: Gauge,
    /// The current line is a row that has not been handed out: the first one of an input without a header.
    holds_row: bool,
    row: u64,
    n_skipped: u64,
    ended: bool,
}

/// How the next record of the input is to be read.
enum Record {
    /// No quotes: straight from the line.
    Plain,
    /// Unquoted into `record`.
    Quoted,
    End,
}

impl CsvSource {
    pub(crate) fn open(input: Input, options: &ReadOptions) -> Result<CsvSource, InputError> {
        let Input { name, reader, gauge, .. } = input;
        let mut lines = Lines::new(reader);
        let fail = |source| InputError::from_io(&name, source);
        if !lines.advance().map_err(fail)? {
            return Err(InputError::Empty { file: name });
        }
        lines.skip_byte_order_mark();
        while lines.current().trim_ascii().is_empty() {
            if !lines.advance().map_err(fail)? {
                return Err(InputError::Empty { file: name });
            }
        }
        let delimiter = find_delimiter(lines.current());
        let mut record = QuotedRecord::new();
        while !record.scan(lines.current(), delimiter) {
            if !lines.extend().map_err(fail)? {
                return Err(open_quote(&name, 0, lines.number()));
            }
        }
        let is_row = is_row_of_numbers(&record);
        let names = match is_row {
            true => (1..=record.cells().count()).map(|position| format!("x{position}")).collect(),
            false => header_names(&name, &record)?,
        };
        let plan = Plan::new(&name, names, options)?;
        Ok(CsvSource { lines, plan, delimiter, record, gauge, holds_row: is_row, row: 0, n_skipped: 0, ended: false })
    }

    /// Moves to the next record that is not a blank line.
    fn next_record(&mut self) -> Result<Record, InputError> {
        if std::mem::take(&mut self.holds_row) {
            return Ok(Record::Quoted);
        }
        let fail = |source| InputError::from_io(&self.plan.file, source);
        loop {
            if !self.lines.advance().map_err(fail)? {
                return Ok(Record::End);
            }
            let line = self.lines.current();
            if line.first().is_none_or(u8::is_ascii_whitespace) && line.trim_ascii().is_empty() && !self.is_tabbed() {
                continue;
            }
            if memchr::memchr(b'"', line).is_none() {
                return Ok(Record::Plain);
            }
            self.record.clear();
            while !self.record.scan(self.lines.current(), self.delimiter) {
                if !self.lines.extend().map_err(fail)? {
                    // How many rows the open quote has swallowed is unknown, so it is never skipped.
                    return Err(open_quote(&self.plan.file, self.row + 1, self.lines.number()));
                }
            }
            return Ok(Record::Quoted);
        }
    }

    /// A line of tabs is a row of missing values when tabs delimit.
    fn is_tabbed(&self) -> bool {
        self.delimiter == b'\t' && self.lines.current().contains(&b'\t')
    }

    fn fill(&mut self, into: &mut RowBatch) -> Result<bool, InputError> {
        while into.n_rows < self.plan.batch_rows {
            let record = self.next_record()?;
            let start = into.begin_row(self.plan.values.len());
            let taken = match record {
                Record::End => {
                    into.abort_row(start);
                    self.ended = true;
                    break;
                }
                Record::Plain => take_plain(&self.plan, self.lines.current(), self.delimiter, into, start),
                Record::Quoted => take_cells(&self.plan, self.record.cells(), into, start),
            };
            self.row += 1;
            match taken {
                Ok(()) => into.commit_row(self.row),
                Err(fault) => {
                    into.abort_row(start);
                    if self.plan.on_error == OnError::Fail {
                        return Err(fault.into_error(&self.plan, self.row, self.lines.number()));
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
}

fn take_plain<'a>(
    plan: &Plan,
    line: &'a [u8],
    delimiter: u8,
    batch: &mut RowBatch,
    start: usize,
) -> Result<(), Fault<'a>> {
    let mut cell_start = 0;
    let ends = memchr::memchr_iter(delimiter, line).chain(std::iter::once(line.len()));
    let cells = ends.map(|end| {
        let cell = &line[cell_start..end];
        cell_start = end + 1;
        cell
    });
    take_cells(plan, cells, batch, start)
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

fn open_quote(file: &str, row: u64, line: u64) -> InputError {
    InputError::OpenQuote { place: Place { file: file.to_string(), row, line: Some(line) } }
}

/// Comma, unless the first line has none outside of quotes and has tabs or semicolons.
fn find_delimiter(line: &[u8]) -> u8 {
    let is_outside = |delimiter: &u8| line.split(|&byte| byte == b'"').step_by(2).any(|part| part.contains(delimiter));
    [b',', b'\t', b';'].into_iter().find(is_outside).unwrap_or(b',')
}

fn is_row_of_numbers(record: &QuotedRecord) -> bool {
    let is_number = |cell: &[u8]| parse_float(cell.trim_ascii()).is_some();
    record.cells().all(|cell| is_missing(cell.trim_ascii()) || is_number(cell))
        && record.cells().any(|cell| !is_missing(cell.trim_ascii()))
}

fn header_names(file: &str, record: &QuotedRecord) -> Result<Vec<String>, InputError> {
    let as_name = |cell: &[u8]| match std::str::from_utf8(cell) {
        Ok(name) => Ok(name.trim().to_string()),
        Err(_) => Err(InputError::WrongFormat {
            file: file.to_string(),
            detail: "the first line is not UTF-8 text, so this is no CSV file or one in another encoding".to_string(),
        }),
    };
    record.cells().map(as_name).collect()
}
