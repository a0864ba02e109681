//! Documents out of delimited text. The first line names the columns. Cells of `tokens` and `words` are words with
//! blanks between them, those of `terms` and `counts` numbers with blanks or commas between them; or lists of JSON.

use super::line::check_utf8;
use super::parts::{BadCell, List, Parts, read_count, read_list};
use super::plan::{DocumentPlan, Role};
use super::{Document, DocumentReader, Failure};
use crate::source::input::{Gauge, Input};
use crate::source::lines::Lines;
use crate::source::object::Items;
use crate::source::quotes::QuotedRecord;
use crate::source::records::{Record, Records};
use crate::{DocumentOptions, InputError, Progress};

pub(super) struct CsvDocuments {
    records: Records,
    plan: DocumentPlan,
    gauge: Gauge,
    shape: Shape,
}

/// What the cells of the text column hold.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    Text,
    Words,
    Terms,
}

/// What is wrong with a row.
enum Fault {
    CellCount { found: usize },
    Cell(BadCell),
}

impl CsvDocuments {
    pub(super) fn open(input: Input, options: &DocumentOptions) -> Result<CsvDocuments, InputError> {
        let Input { name, reader, gauge, .. } = input;
        let records = Records::open(&name, Lines::with_longest(reader, options.longest_line), options.on_unfinished)?;
        let plan = DocumentPlan::new(&name, records.header_names(&name)?, options)?;
        let shape = match plan.text_columns.as_slice() {
            [only] if ["tokens", "words"].iter().any(|name| only.eq_ignore_ascii_case(name)) => Shape::Words,
            [only] if only.eq_ignore_ascii_case("terms") => Shape::Terms,
            _ => Shape::Text,
        };
        Ok(CsvDocuments { records, plan, gauge, shape })
    }

    fn take_record(&self, record: &Record, is_mended: bool) -> Result<Document, Fault> {
        let mut parts = Parts::new(&self.plan);
        parts.is_mended = is_mended;
        let mut fault = None;
        let mut found = 0;
        let mut take = |cell: &[u8]| {
            // A wrong number of cells is the better message of the two, so that a bad cell is kept until all are counted.
            if found < self.plan.roles.len() && fault.is_none() {
                let taken = self.take_cell(&mut parts, found, &String::from_utf8_lossy(cell));
                fault = taken.err().map(|detail| BadCell { column_ix: found, detail });
            }
            found += 1;
        };
        match record {
            Record::Plain => self.records.plain_cells().for_each(&mut take),
            Record::Quoted | Record::Unfinished | Record::End => self.records.quoted.cells().for_each(&mut take),
        }
        match fault {
            _ if found != self.plan.roles.len() => Err(Fault::CellCount { found }),
            Some(cell) => Err(Fault::Cell(cell)),
            None => parts.finish(&self.plan, self.records.lines.current().len()).map_err(Fault::Cell),
        }
    }

    fn take_cell(&self, parts: &mut Parts, column_ix: usize, cell: &str) -> Result<(), String> {
        match self.plan.roles[column_ix] {
            Role::Content(position) => match self.shape {
                Shape::Text => parts.text(position).push_str(cell),
                Shape::Words => parts.set_list(self.read_words(cell)?)?,
                Shape::Terms => parts.set_list(self.read_numbers(cell)?)?,
            },
            Role::Counts => parts.set_counts(self.read_numbers(cell)?)?,
            Role::Label if cell.is_empty() => {}
            Role::Label => parts.labels.push(cell.to_string()),
            Role::Id => parts.id.push_str(cell),
            Role::Ignored => {}
        }
        Ok(())
    }

    fn read_words(&self, cell: &str) -> Result<List, String> {
        match Items::of(cell.as_bytes()) {
            // Numbers among words are words.
            Some(items) => match read_list(items, self.plan.lossy)?.0 {
                List::Numbers(numbers) => Ok(List::Words(numbers.iter().map(u32::to_string).collect())),
                words => Ok(words),
            },
            None => Ok(List::Words(cell.split_whitespace().map(str::to_string).collect())),
        }
    }

    fn read_numbers(&self, cell: &str) -> Result<List, String> {
        match Items::of(cell.as_bytes()) {
            Some(items) => Ok(read_list(items, self.plan.lossy)?.0),
            None => {
                let is_between = |letter: char| letter.is_whitespace() || matches!(letter, ',' | ';');
                let tokens = cell.split(is_between).filter(|token| !token.is_empty());
                let numbers: Result<_, _> = tokens.map(|token| read_count(token.as_bytes())).collect();
                Ok(List::Numbers(numbers?))
            }
        }
    }
}

impl DocumentReader for CsvDocuments {
    fn plan(&self) -> &DocumentPlan {
        &self.plan
    }

    fn progress(&self) -> Progress {
        self.gauge.progress()
    }

    fn read(&mut self, row: u64) -> Result<Option<Document>, Failure> {
        // A record that is too long may have been cut inside of quotes, so that what follows cannot be read.
        let record = self.records.advance(&self.plan.file, row)?;
        match record {
            Record::End => return Ok(None),
            Record::Unfinished => return Err(Failure::Unfinished),
            Record::Plain | Record::Quoted => {}
        }
        let (names, delimiter) = (&self.plan.names, self.records.delimiter);
        let column_at = |line: &[u8], at: usize| names.get(cells_before(&line[..at], delimiter)).cloned();
        let is_mended = !check_utf8(&self.records.lines, &self.plan, row, column_at)?;
        let line = Some(self.records.lines.number());
        let fault = match self.take_record(&record, is_mended) {
            Ok(document) => return Ok(Some(document)),
            Err(fault) => fault,
        };
        let expected = self.plan.names.len();
        let (found, bad_column) = match &fault {
            Fault::CellCount { found } => (*found, None),
            Fault::Cell(cell) => (expected, Some(cell.column_ix)),
        };
        if self.records.is_unfinished(found, expected, bad_column) {
            return Err(Failure::Unfinished);
        }
        let error = match fault {
            Fault::Cell(cell) => cell.into_error(&self.plan, row, line),
            Fault::CellCount { found } => {
                InputError::WrongCellCount { place: self.plan.place(row, line), found, expected }
            }
        };
        Err(Failure::Row(error))
    }
}

/// How many whole cells a record has before a place in the middle of a cell.
fn cells_before(record: &[u8], delimiter: u8) -> usize {
    let mut cells = QuotedRecord::new();
    let is_outside_quotes = cells.scan(record, delimiter);
    cells.cells().count() - usize::from(is_outside_quotes)
}
