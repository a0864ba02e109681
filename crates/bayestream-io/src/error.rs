//! The one error of the reading side.

use std::fmt;
use std::io;

use crate::source::LineTooLong;

/// Where in an input a row stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The input's name: its path, or `standard input`.
    pub file: String,
    /// The 1-based number of the data row; 0 for the line of column names.
    pub row: u64,
    /// The 1-based line of the file, for text formats.
    pub line: Option<u64>,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.row, self.line) {
            (0, Some(line)) => write!(f, "{}: line {line}", self.file),
            (row, Some(line)) => write!(f, "{}: row {row} (line {line})", self.file),
            (row, None) => write!(f, "{}: row {row}", self.file),
        }
    }
}

/// What is wrong with a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellProblem {
    /// Text where a number should be.
    NotANumber,
    /// An infinity, or a number too large for a 64-bit float.
    Infinite,
    /// A truth value where a number should be.
    Boolean,
    /// A list or an object where a number should be.
    Nested,
    /// A weight that is missing, negative or infinite.
    BadWeight,
    /// Bytes that are not UTF-8 text.
    NotUtf8,
}

/// Why an input could not be read. The message says what, where and what to do; `code` is stable.
#[derive(Debug)]
#[non_exhaustive]
pub enum InputError {
    /// There is no such file.
    NotFound {
        /// The path as given.
        file: String,
    },
    /// The file is there but reading it failed.
    Unreadable {
        /// The path as given.
        file: String,
        /// What the system said.
        source: io::Error,
    },
    /// The input has no bytes, or nothing but blank lines.
    Empty {
        /// The input's name.
        file: String,
    },
    /// The input has columns but no rows that can be used.
    NoRows {
        /// The input's name.
        file: String,
        /// How many rows were left out as unreadable.
        n_skipped: u64,
    },
    /// The bytes are not in the expected format.
    WrongFormat {
        /// The input's name.
        file: String,
        /// What was expected or found.
        detail: String,
    },
    /// Two columns have the same name.
    DuplicateColumn {
        /// The input's name.
        file: String,
        /// The name.
        column: String,
    },
    /// A column has no name and was not left out.
    UnnamedColumn {
        /// The input's name.
        file: String,
        /// Its 1-based position.
        position: usize,
    },
    /// An option names a column that the input does not have.
    UnknownColumn {
        /// The input's name.
        file: String,
        /// The option: `--columns`, `--drop`, ….
        option: &'static str,
        /// The name asked for.
        column: String,
        /// The most similar name there is, and else the names there are.
        hint: String,
    },
    /// Two options claim the same column.
    ColumnClaimedTwice {
        /// The column.
        column: String,
        /// The option that came first.
        first: &'static str,
        /// The option that came second.
        second: &'static str,
    },
    /// No numeric column is left to learn from.
    NoColumns {
        /// The input's name.
        file: String,
    },
    /// A column of a type that is not a number.
    UnsupportedType {
        /// The input's name.
        file: String,
        /// The column.
        column: String,
        /// Its type in the file.
        data_type: String,
        /// The roles that the column can have: a number, or a text (label, id).
        as_text: bool,
    },
    /// A cell that cannot be used.
    BadCell {
        /// Where.
        place: Place,
        /// The column.
        column: String,
        /// The value, as written (shortened when long).
        value: String,
        /// What is wrong with it.
        problem: CellProblem,
    },
    /// A row with too few or too many cells.
    WrongCellCount {
        /// Where.
        place: Place,
        /// Cells in this row.
        found: usize,
        /// Columns of the input.
        expected: usize,
    },
    /// A row that is not of the format's grammar.
    MalformedRow {
        /// Where.
        place: Place,
        /// What is wrong.
        detail: String,
    },
    /// A quote that is opened and never closed.
    OpenQuote {
        /// Where it is opened; row 0 is the line of column names.
        place: Place,
    },
    /// Bytes that are not UTF-8 text, in a document or beside it.
    NotUtf8 {
        /// Where.
        place: Place,
        /// The column, as far as there are columns.
        column: Option<String>,
        /// How many bytes come before the first wrong one: in the unpacked input for formats of lines, in the cell for
        /// others.
        offset: u64,
        /// The first wrong byte.
        byte: u8,
    },
    /// A cell that is no document, no part of one, or no label.
    BadDocument {
        /// Where.
        place: Place,
        /// The column.
        column: String,
        /// What is wrong with it.
        detail: String,
    },
    /// A line with more bytes than a line may have.
    LineTooLong {
        /// The input's name.
        file: String,
        /// The 1-based line of the file.
        line: u64,
        /// Bytes that a line may have.
        longest: usize,
    },
    /// No column's name looks like text.
    NoTextColumn {
        /// The input's name.
        file: String,
        /// The names there are.
        columns: String,
    },
    /// A column of a type that cannot be a document.
    NotText {
        /// The input's name.
        file: String,
        /// The column.
        column: String,
        /// Its type in the file.
        data_type: String,
    },
    /// The input has no document that can be used.
    NoDocuments {
        /// The input's name.
        file: String,
        /// How many were left out as unreadable.
        n_skipped: u64,
    },
    /// A JSON object with a key that the first one did not have.
    UnknownKey {
        /// Where.
        place: Place,
        /// The key.
        key: String,
        /// The most similar key there is, or an empty string.
        hint: String,
    },
}

const SKIP: &str = "pass --on-error skip to count and skip such rows";

impl InputError {
    /// A short name that does not change between versions, for programs.
    pub fn code(&self) -> &'static str {
        match self {
            InputError::NotFound { .. } => "input/not-found",
            InputError::Unreadable { .. } => "input/unreadable",
            InputError::Empty { .. } => "input/empty",
            InputError::NoRows { .. } => "input/no-rows",
            InputError::WrongFormat { .. } => "input/wrong-format",
            InputError::DuplicateColumn { .. } => "input/duplicate-column",
            InputError::UnnamedColumn { .. } => "input/unnamed-column",
            InputError::UnknownColumn { .. } => "input/unknown-column",
            InputError::ColumnClaimedTwice { .. } => "input/column-claimed-twice",
            InputError::NoColumns { .. } => "input/no-columns",
            InputError::UnsupportedType { .. } => "input/unsupported-type",
            InputError::BadCell { problem, .. } => match problem {
                CellProblem::NotANumber => "input/not-a-number",
                CellProblem::Infinite => "input/infinite",
                CellProblem::Boolean => "input/boolean",
                CellProblem::Nested => "input/nested",
                CellProblem::BadWeight => "input/bad-weight",
                CellProblem::NotUtf8 => "input/not-utf8",
            },
            InputError::WrongCellCount { .. } => "input/wrong-cell-count",
            InputError::MalformedRow { .. } => "input/malformed-row",
            InputError::OpenQuote { .. } => "input/open-quote",
            InputError::NotUtf8 { .. } => "input/not-utf8",
            InputError::BadDocument { .. } => "input/bad-document",
            InputError::LineTooLong { .. } => "input/line-too-long",
            InputError::NoTextColumn { .. } => "input/no-text-column",
            InputError::NotText { .. } => "input/not-text",
            InputError::NoDocuments { .. } => "input/no-documents",
            InputError::UnknownKey { .. } => "input/unknown-key",
        }
    }

    /// Where the fault is, when it is in a row.
    pub fn place(&self) -> Option<&Place> {
        match self {
            InputError::BadCell { place, .. }
            | InputError::WrongCellCount { place, .. }
            | InputError::MalformedRow { place, .. }
            | InputError::OpenQuote { place }
            | InputError::NotUtf8 { place, .. }
            | InputError::BadDocument { place, .. }
            | InputError::UnknownKey { place, .. } => Some(place),
            _ => None,
        }
    }

    pub(crate) fn from_io(file: &str, source: io::Error) -> Self {
        if let Some(LineTooLong { line, longest }) = source.get_ref().and_then(|inner| inner.downcast_ref()) {
            return InputError::LineTooLong { file: file.to_string(), line: *line, longest: *longest };
        }
        match source.kind() {
            io::ErrorKind::NotFound => InputError::NotFound { file: file.to_string() },
            _ => InputError::Unreadable { file: file.to_string(), source },
        }
    }
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            InputError::NotFound { file } => {
                write!(f, "{file}: no such file: check the path, or use - for standard input")
            }
            InputError::Unreadable { file, source } => match source.kind() {
                io::ErrorKind::IsADirectory => write!(f, "{file}: is a folder: name a file in it"),
                io::ErrorKind::PermissionDenied => {
                    write!(f, "{file}: may not be read: check the file's permissions")
                }
                _ => write!(f, "{file}: cannot be read ({source}): check that the file is whole and the disk is well"),
            },
            InputError::Empty { file } => {
                write!(f, "{file}: is empty: expected a first line with the names of the columns, then rows")
            }
            InputError::NoRows { file, n_skipped: 0 } => {
                write!(f, "{file}: no rows: there are columns, but nothing below them")
            }
            InputError::NoRows { file, n_skipped } => {
                write!(f, "{file}: no rows: all {n_skipped} were skipped; run without --on-error skip to see why")
            }
            InputError::WrongFormat { file, detail } => {
                write!(f, "{file}: {detail}; check the file, or name its format with --format csv|ndjson|parquet|arrow")
            }
            InputError::DuplicateColumn { file, column } => {
                write!(f, "{file}: two columns are named `{column}`: rename one of them")
            }
            InputError::UnnamedColumn { file, position } => write!(
                f,
                "{file}: column {position} has no name (an exported row index?): name it in the header, or leave it \
                 out with --drop column{position}"
            ),
            InputError::UnknownColumn { file, option, column, hint } => {
                write!(f, "{file}: there is no column `{column}` (asked for by {option}): {hint}")
            }
            InputError::ColumnClaimedTwice { column, first, second } if first == second => {
                write!(f, "column `{column}` is named twice in {first}: name it once")
            }
            InputError::ColumnClaimedTwice { column, first, second } => {
                write!(f, "column `{column}` is named by both {first} and {second}: leave it in one of them")
            }
            InputError::NoColumns { file } => {
                write!(
                    f,
                    "{file}: no numeric column is left: name at least one that is not label, id, weight or dropped"
                )
            }
            InputError::UnsupportedType { file, column, data_type, as_text: false } => write!(
                f,
                "{file}: column `{column}` is of type {data_type}, not a number: convert it to one, leave it out with \
                 --drop {column}, or name it as --label-column or --id-column"
            ),
            InputError::UnsupportedType { file, column, data_type, as_text: true } => write!(
                f,
                "{file}: column `{column}` is of type {data_type}, which cannot be a label or an id: convert it to \
                 text or to a number"
            ),
            InputError::BadCell { place, column, value, problem } => {
                write!(f, "{place}, column `{column}`: ")?;
                match problem {
                    CellProblem::NotANumber => write!(f, "`{value}` is not a number"),
                    CellProblem::Infinite => write!(f, "`{value}` is infinite"),
                    CellProblem::Boolean => write!(f, "`{value}` is a truth value, not a number"),
                    CellProblem::Nested => write!(f, "`{value}` is not a single number"),
                    CellProblem::BadWeight => {
                        return write!(
                            f,
                            "`{value}` is not a weight: weights are finite numbers of at least 0; fix the cell, or {SKIP}"
                        );
                    }
                    CellProblem::NotUtf8 => {
                        return write!(
                            f,
                            "`{value}` is not UTF-8 text: save the file as UTF-8, leave the column out with --drop \
                             {column}, or {SKIP}"
                        );
                    }
                }?;
                write!(f, ": fix the cell, leave the column out with --drop {column}, or {SKIP}")
            }
            InputError::WrongCellCount { place, found, expected } => {
                let cells = if *found == 1 { "cell" } else { "cells" };
                write!(
                    f,
                    "{place}: {found} {cells} where the first line has {expected}: fix the row (a missing value is an \
                     empty cell), or {SKIP}"
                )
            }
            InputError::MalformedRow { place, detail } => {
                write!(f, "{place}: {detail}: fix the row, or {SKIP}")
            }
            InputError::OpenQuote { place } => write!(
                f,
                "{place}: a quote is opened and never closed: close it, or put the whole cell in quotes and double \
                 the quote if it is part of the text"
            ),
            InputError::NotUtf8 { place, column, offset, byte } => {
                write!(f, "{place}")?;
                if let Some(column) = column {
                    write!(f, ", column `{column}`")?;
                }
                let of = if place.line.is_some() { "input" } else { "cell" };
                write!(
                    f,
                    ": byte 0x{byte:02x} behind the first {offset} bytes of the {of} is not UTF-8 text: save the file as \
                     UTF-8, pass --lossy to read such bytes as \u{fffd}, or {SKIP}"
                )
            }
            InputError::BadDocument { place, column, detail } => {
                write!(f, "{place}, column `{column}`: {detail}: fix the row, or {SKIP}")
            }
            InputError::LineTooLong { file, line, longest } => write!(
                f,
                "{file}: line {line} has more than {longest} bytes: check that this is a text file with line feeds, or \
                 break the line up; for documents, --longest-line allows longer ones"
            ),
            InputError::NoTextColumn { file, columns } => write!(
                f,
                "{file}: no column is named like text (the columns are {columns}): name the one to read with \
                 --text-column, several with commas between them"
            ),
            InputError::NotText { file, column, data_type } => write!(
                f,
                "{file}: column `{column}` is of type {data_type}, which is neither text nor a list of words or of \
                 term numbers: convert it, or name another with --text-column"
            ),
            InputError::NoDocuments { file, n_skipped: 0 } => write!(f, "{file}: has no documents: it is empty"),
            InputError::NoDocuments { file, n_skipped } => {
                write!(
                    f,
                    "{file}: has no documents: all {n_skipped} were skipped; run without --on-error skip to see why"
                )
            }
            InputError::UnknownKey { place, key, hint } => write!(
                f,
                "{place}: key `{key}` is not in the first object, whose keys are the columns{hint}: fix the row, add \
                 the key to the first object (null for missing), name the columns to use with --columns, or {SKIP}"
            ),
        }
    }
}

impl std::error::Error for InputError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            InputError::Unreadable { source, .. } => Some(source),
            _ => None,
        }
    }
}
