//! Records of delimited text, one line each unless quotes hold line feeds.

use super::lines::Lines;
use super::quotes::QuotedRecord;
use crate::{InputError, OnError, Place};

/// A reader's records, one at a time.
pub(crate) struct Records {
    pub(crate) lines: Lines,
    pub(crate) delimiter: u8,
    /// The cells of the current record, if it is a quoted one; those of the first line at the beginning.
    pub(crate) quoted: QuotedRecord,
    /// A last line that was cut is left out.
    leaves_unfinished: bool,
}

/// How the next record of the input is to be read.
pub(crate) enum Record {
    /// No quotes: straight from the line.
    Plain,
    /// Unquoted into [`Records::quoted`].
    Quoted,
    /// The input ends within the quotes of its last line.
    Unfinished,
    End,
}

impl Records {
    /// Reads the first line that is not blank, and finds the delimiter in it.
    pub(crate) fn open(file: &str, mut lines: Lines, on_unfinished: OnError) -> Result<Records, InputError> {
        let fail = |source| InputError::from_io(file, source);
        let empty = || InputError::Empty { file: file.to_string() };
        if !lines.advance().map_err(fail)? {
            return Err(empty());
        }
        lines.skip_byte_order_mark();
        while lines.current().trim_ascii().is_empty() {
            if !lines.advance().map_err(fail)? {
                return Err(empty());
            }
        }
        let delimiter = find_delimiter(lines.current());
        let mut quoted = QuotedRecord::new();
        while !quoted.scan(lines.current(), delimiter) {
            if !lines.extend().map_err(fail)? {
                return Err(open_quote(file, 0, lines.number()));
            }
        }
        Ok(Records { lines, delimiter, quoted, leaves_unfinished: on_unfinished == OnError::Skip })
    }

    /// The cells of the first line as names of columns.
    pub(crate) fn header_names(&self, file: &str) -> Result<Vec<String>, InputError> {
        let as_name = |cell: &[u8]| match std::str::from_utf8(cell) {
            Ok(name) => Ok(name.trim().to_string()),
            Err(_) => Err(InputError::WrongFormat {
                file: file.to_string(),
                detail: "the first line is not UTF-8 text, so this is no CSV file or one in another encoding"
                    .to_string(),
            }),
        };
        self.quoted.cells().map(as_name).collect()
    }

    /// Moves to the next record that is not a blank line; `row` is its number, for the message.
    pub(crate) fn advance(&mut self, file: &str, row: u64) -> Result<Record, InputError> {
        let fail = |source| InputError::from_io(file, source);
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
            self.quoted.clear();
            while !self.quoted.scan(self.lines.current(), self.delimiter) {
                if !self.lines.extend().map_err(fail)? {
                    if self.leaves_unfinished && self.lines.is_last_without_feed() {
                        return Ok(Record::Unfinished);
                    }
                    // How many rows the open quote has swallowed is unknown, so it is never skipped.
                    return Err(open_quote(file, row, self.lines.number()));
                }
            }
            return Ok(Record::Quoted);
        }
    }

    /// Whether the current record, at fault in this way, is the last line of the input, cut, and to be left out: it has too
    /// few cells, or its last one, which may be a part of a longer one, cannot be read.
    pub(crate) fn is_unfinished(&self, found: usize, expected: usize, bad_column: Option<usize>) -> bool {
        let is_cut = found < expected || (found == expected && bad_column.is_some_and(|column| column + 1 == expected));
        self.leaves_unfinished && is_cut && self.lines.is_last_without_feed()
    }

    /// A line of tabs is a row of missing values when tabs delimit.
    fn is_tabbed(&self) -> bool {
        self.delimiter == b'\t' && self.lines.current().contains(&b'\t')
    }

    /// The cells of a record without quotes.
    #[inline]
    pub(crate) fn plain_cells(&self) -> impl Iterator<Item = &[u8]> {
        let line = self.lines.current();
        let mut cell_start = 0;
        let ends = memchr::memchr_iter(self.delimiter, line).chain(std::iter::once(line.len()));
        ends.map(move |end| {
            let cell = &line[cell_start..end];
            cell_start = end + 1;
            cell
        })
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
