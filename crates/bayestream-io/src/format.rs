//! The formats we read and write.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

/// A format, chosen by name (`--format`) or by a file's extension.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// Text with a delimiter: comma, or tab or semicolon where the first line has those and no comma.
    Csv,
    /// One flat JSON object a line.
    Ndjson,
    /// Apache Parquet.
    Parquet,
    /// Apache Arrow IPC, as a file or as a stream.
    Arrow,
    /// Plain text, one document a line: for documents, and only read.
    Text,
}

impl Format {
    /// Every format of tables, in the order of `--help`.
    pub const ALL: [Format; 4] = [Format::Csv, Format::Ndjson, Format::Parquet, Format::Arrow];

    /// The format that a path's extension promises (`.gz` is looked through), or none.
    pub fn from_path(path: impl AsRef<Path>) -> Option<Format> {
        let path = path.as_ref();
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        match extension.as_str() {
            "gz" => Format::from_path(path.file_stem()?),
            "csv" | "tsv" | "tab" | "txt" | "data" => Some(Format::Csv),
            "ndjson" | "jsonl" | "json" => Some(Format::Ndjson),
            "parquet" | "pq" => Some(Format::Parquet),
            "arrow" | "arrows" | "feather" | "ipc" => Some(Format::Arrow),
            _ => None,
        }
    }

    /// As [`Format::from_path`], for documents: `.txt`, `.text` and `.log` are plain text.
    pub fn of_documents(path: impl AsRef<Path>) -> Option<Format> {
        let path = path.as_ref();
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        match extension.as_str() {
            "gz" => Format::of_documents(path.file_stem()?),
            "txt" | "text" | "log" => Some(Format::Text),
            _ => Format::from_path(path),
        }
    }

    /// The name used on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Format::Csv => "csv",
            Format::Ndjson => "ndjson",
            Format::Parquet => "parquet",
            Format::Arrow => "arrow",
            Format::Text => "text",
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The given name is none of the formats.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownFormat(pub String);

impl fmt::Display for UnknownFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown format `{}`: use csv, ndjson, parquet, arrow, or text for documents", self.0)
    }
}

impl std::error::Error for UnknownFormat {}

impl FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Format::ALL
            .into_iter()
            .chain([Format::Text])
            .find(|format| format.name().eq_ignore_ascii_case(name))
            .ok_or_else(|| UnknownFormat(name.to_string()))
    }
}
