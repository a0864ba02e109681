//! Sinks: tables out, in any format.

mod columnar;
mod error;
mod growing;
mod target;
mod text;

pub use error::OutputError;

use std::io::Write;

use crate::Format;
use columnar::ColumnarTable;
use target::Target;

/// What the cells of an output column are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellKind {
    /// A number; one that is not finite is written as missing.
    Float,
    /// A whole number.
    Int,
    /// A text.
    Text,
    /// A list of texts: joined by `;` in CSV.
    TextList,
    /// A list of numbers: joined by `;` in CSV.
    FloatList,
    /// A truth value.
    Bool,
    /// A list of objects: JSON in a text where the format is not JSON.
    Records,
}

/// A column of an output table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutColumn {
    /// Its name.
    pub name: String,
    /// What its cells are.
    pub kind: CellKind,
}

impl OutColumn {
    /// A column of that name and kind.
    pub fn new(name: impl Into<String>, kind: CellKind) -> Self {
        OutColumn { name: name.into(), kind }
    }
}

/// One cell of an output row. [`Cell::Null`] fits every column; an integer also fits a column of floats.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cell<'a> {
    /// A number; one that is not finite is written as missing.
    Float(f64),
    /// A whole number.
    Int(i64),
    /// A text.
    Text(&'a str),
    /// A list of texts.
    TextList(&'a [String]),
    /// A list of numbers.
    FloatList(&'a [f64]),
    /// A truth value.
    Bool(bool),
    /// A list of objects, each a list of names and values.
    Records(&'a [Vec<(&'a str, Cell<'a>)>]),
    /// A missing value.
    Null,
}

impl Cell<'_> {
    fn fits(&self, kind: CellKind) -> bool {
        match self {
            Cell::Float(_) => kind == CellKind::Float,
            Cell::Int(_) => matches!(kind, CellKind::Int | CellKind::Float),
            Cell::Text(_) => kind == CellKind::Text,
            Cell::TextList(_) => kind == CellKind::TextList,
            Cell::FloatList(_) => kind == CellKind::FloatList,
            Cell::Bool(_) => kind == CellKind::Bool,
            Cell::Records(_) => kind == CellKind::Records,
            Cell::Null => true,
        }
    }
}

/// A table being written, row by row. A file appears under its name only at [`TableWriter::finish`]; dropped before,
/// it leaves nothing behind. Tables begun by [`TableWriter::grow`] are there from the first row on.
pub struct TableWriter {
    columns: Vec<OutColumn>,
    encoder: Encoder,
}

enum Encoder {
    Csv { target: Target, line: Vec<u8>, delimiter: u8 },
    Ndjson { target: Target, line: Vec<u8>, keys: Vec<Vec<u8>> },
    Columnar(Box<ColumnarTable>),
}

impl TableWriter {
    /// Starts a table at a path, or on standard output for `-`. Without a format the extension decides; standard
    /// output is NDJSON. A name that ends in `.gz` is packed, and the cells of a `.tsv` or `.tab` are put apart by tabs.
    pub fn create(target: &str, format: Option<Format>, columns: Vec<OutColumn>) -> Result<TableWriter, OutputError> {
        let format = TableWriter::format_of(target, format)?;
        let is_stream = target == "-";
        let opened = Target::create(target)?;
        let table = match format {
            Format::Csv | Format::Ndjson => return Ok(TableWriter::of_lines(opened, target, format, columns)),
            Format::Parquet => ColumnarTable::parquet(opened, &columns)?,
            // A stream can be read while it is written; a file can be jumped around in.
            Format::Arrow if is_stream => ColumnarTable::arrow_stream(opened, &columns)?,
            Format::Arrow => ColumnarTable::arrow_file(opened, &columns)?,
            Format::Text => return Err(OutputError::NotATable { format }),
        };
        Ok(TableWriter { columns, encoder: Encoder::Columnar(Box::new(table)) })
    }

    /// A table of lines: NDJSON if that is asked for, else CSV, whose delimiter is by the name.
    fn of_lines(target: Target, name: &str, format: Format, columns: Vec<OutColumn>) -> TableWriter {
        let mut line = Vec::new();
        let encoder = match format {
            Format::Ndjson => Encoder::Ndjson { target, line, keys: text::json_keys(&columns) },
            _ => {
                let delimiter = delimiter_of(name);
                text::csv_header(&mut line, &columns, delimiter);
                Encoder::Csv { target, line, delimiter }
            }
        };
        TableWriter { columns, encoder }
    }

    /// The format in which [`TableWriter::create`] would write.
    pub fn format_of(target: &str, format: Option<Format>) -> Result<Format, OutputError> {
        let by_name = || {
            if target == "-" { Some(Format::Ndjson) } else { Format::from_path(target) }
        };
        match format.or_else(by_name) {
            None => Err(OutputError::UnknownFormat { file: target.to_string() }),
            Some(format @ Format::Text) => Err(OutputError::NotATable { format }),
            Some(format) => Ok(format),
        }
    }

    /// The table's columns.
    pub fn columns(&self) -> &[OutColumn] {
        &self.columns
    }

    /// Adds a row: one cell for each column, in order.
    pub fn write_row(&mut self, cells: &[Cell<'_>]) -> Result<(), OutputError> {
        self.check(cells)?;
        match &mut self.encoder {
            Encoder::Csv { target, line, delimiter } => {
                text::csv_row(line, cells, *delimiter);
                write_line(target, line)
            }
            Encoder::Ndjson { target, line, keys } => {
                text::json_row(line, keys, cells);
                write_line(target, line)
            }
            Encoder::Columnar(table) => table.write_row(cells),
        }
    }

    /// Hands on what is buffered, so that a reader of a pipe sees the rows so far. Parquet cannot be read before its
    /// end and keeps its rows.
    pub fn flush(&mut self) -> Result<(), OutputError> {
        match &mut self.encoder {
            Encoder::Csv { target, line, .. } | Encoder::Ndjson { target, line, .. } => {
                write_line(target, line)?;
                target.flush().map_err(|source| OutputError::from_io(&target.name, source))
            }
            Encoder::Columnar(table) => table.flush(),
        }
    }

    /// Ends the table; a file gets its name only now.
    pub fn finish(self) -> Result<(), OutputError> {
        match self.encoder {
            Encoder::Csv { mut target, mut line, .. } | Encoder::Ndjson { mut target, mut line, .. } => {
                write_line(&mut target, &mut line)?;
                target.commit()
            }
            Encoder::Columnar(table) => table.finish(),
        }
    }

    fn check(&self, cells: &[Cell<'_>]) -> Result<(), OutputError> {
        if cells.len() != self.columns.len() {
            let detail = format!("{} cells for {} columns", cells.len(), self.columns.len());
            return Err(OutputError::WrongCells { detail });
        }
        match cells.iter().zip(&self.columns).find(|(cell, column)| !cell.fits(column.kind)) {
            Some((cell, OutColumn { name, kind })) => {
                let detail = format!("{cell:?} in column `{name}` of kind {kind:?}");
                Err(OutputError::WrongCells { detail })
            }
            None => Ok(()),
        }
    }
}

/// What stands between cells: tabs where the name promises them (`.tsv`, `.tab`).
fn delimiter_of(target: &str) -> u8 {
    let name = target.to_ascii_lowercase();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    if name.ends_with(".tsv") || name.ends_with(".tab") { b'\t' } else { b',' }
}

/// Writes the line out and empties it.
fn write_line(target: &mut Target, line: &mut Vec<u8>) -> Result<(), OutputError> {
    let written = target.write_all(line);
    line.clear();
    written.map_err(|source| OutputError::from_io(&target.name, source))
}
