//! The one error of the writing side.

use std::fmt;
use std::io;

use crate::Format;

/// Why an output could not be written. The message says what, where and what to do; `code` is stable.
#[derive(Debug)]
#[non_exhaustive]
pub enum OutputError {
    /// Whoever read the output has gone (`| head`): not a failure, end quietly.
    ClosedPipe,
    /// The file or the stream could not be written.
    Unwritable {
        /// The path as given, or `standard output`.
        file: String,
        /// What the system said.
        source: io::Error,
    },
    /// Neither the extension nor the caller tells the format.
    UnknownFormat {
        /// The path as given.
        file: String,
    },
    /// The format has no place for columns.
    NotATable {
        /// The format asked for.
        format: Format,
    },
    /// The cells of a row do not fit the columns of the table: a mistake of the calling program.
    WrongCells {
        /// What does not fit.
        detail: String,
    },
    /// The file to be continued holds another table, or none.
    OtherTable {
        /// The path as given.
        file: String,
    },
    /// The table could not be encoded.
    Encoding {
        /// The path as given, or `standard output`.
        file: String,
        /// What the encoder said.
        detail: String,
    },
}

impl OutputError {
    /// A short name that does not change between versions, for programs.
    pub fn code(&self) -> &'static str {
        match self {
            OutputError::ClosedPipe => "output/closed-pipe",
            OutputError::Unwritable { .. } => "output/unwritable",
            OutputError::UnknownFormat { .. } => "output/unknown-format",
            OutputError::NotATable { .. } => "output/not-a-table",
            OutputError::WrongCells { .. } => "output/wrong-cells",
            OutputError::OtherTable { .. } => "output/other-table",
            OutputError::Encoding { .. } => "output/encoding",
        }
    }

    /// Whether there was no room for the bytes: a fault that may pass.
    pub fn is_full(&self) -> bool {
        match self {
            OutputError::Unwritable { source, .. } => matches!(
                source.kind(),
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge
            ),
            _ => false,
        }
    }

    pub(crate) fn from_io(file: &str, source: io::Error) -> Self {
        match source.kind() {
            io::ErrorKind::BrokenPipe => OutputError::ClosedPipe,
            _ => OutputError::Unwritable { file: file.to_string(), source },
        }
    }
}

impl fmt::Display for OutputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            OutputError::ClosedPipe => f.write_str("the reader of the output has closed it"),
            OutputError::Unwritable { file, source } => {
                write!(f, "{file}: cannot be written: ")?;
                match source.kind() {
                    io::ErrorKind::NotFound => f.write_str("the folder does not exist; create it first"),
                    io::ErrorKind::PermissionDenied => {
                        f.write_str("no permission; choose another folder, or change its permissions")
                    }
                    io::ErrorKind::ReadOnlyFilesystem => f.write_str("the disk is read-only; choose another folder"),
                    io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                        f.write_str("the disk is full; free some space, or choose another folder")
                    }
                    io::ErrorKind::FileTooLarge => {
                        f.write_str("it may not grow further; raise the limit (ulimit -f), or choose another folder")
                    }
                    io::ErrorKind::IsADirectory => f.write_str("it is a folder; name a file in it"),
                    io::ErrorKind::NotADirectory => {
                        f.write_str("a part of the path is a file, not a folder; correct the path")
                    }
                    _ => write!(f, "{source}; check the path and the disk"),
                }
            }
            OutputError::UnknownFormat { file } => write!(
                f,
                "{file}: the extension does not tell the format; end the name in .csv, .ndjson, .parquet or .arrow, \
                 or pass --to csv|ndjson|parquet|arrow"
            ),
            OutputError::NotATable { format } => {
                write!(f, "a table cannot be written as {format}: pass --to csv|ndjson|parquet|arrow")
            }
            OutputError::WrongCells { detail } => {
                write!(f, "the row does not fit the table: {detail}")
            }
            OutputError::OtherTable { file } => {
                write!(f, "{file}: does not begin as the table to be continued: name another file, or the same columns")
            }
            OutputError::Encoding { file, detail } => {
                write!(f, "{file}: cannot be encoded: {detail}")
            }
        }
    }
}

impl std::error::Error for OutputError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            OutputError::Unwritable { source, .. } => Some(source),
            _ => None,
        }
    }
}
