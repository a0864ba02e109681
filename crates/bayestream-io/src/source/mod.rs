//! Sources: bytes of any format in, rows or documents out.

mod arrays;
mod columnar;
mod csv;
mod decoder;
mod documents;
mod guard;
mod input;
mod lines;
mod ndjson;
mod number;
mod object;
mod plan;
mod quotes;
mod records;
mod text_bytes;
mod words;

use std::fs;
use std::io::Read;
use std::path::Path;

use crate::{Format, InputError, ReadOptions, RowSource};
use columnar::ColumnarSource;
use decoder::Decoder;
use input::Input;

pub use documents::{open_documents, open_documents_reader};
pub(crate) use lines::LineTooLong;
pub use words::read_words;

/// Opens an input, a path or `-` for standard input, and reads as far as its columns. Gzip is unpacked wherever the
/// bytes are gzip. Without [`ReadOptions::format`] the extension decides, and where it says nothing, the first bytes.
pub fn open(input: &str, options: &ReadOptions) -> Result<Box<dyn RowSource + Send>, InputError> {
    let format = options.format.or_else(|| if input == "-" { None } else { Format::from_path(input) });
    start(Input::open(input)?, format, options)
}

/// Reads rows from any reader; `name` is what messages call it. Without [`ReadOptions::format`] the first bytes decide.
pub fn open_reader(
    reader: Box<dyn Read + Send>,
    name: &str,
    options: &ReadOptions,
) -> Result<Box<dyn RowSource + Send>, InputError> {
    start(Input::from_reader(name, reader, None, None)?, options.format, options)
}

fn start(input: Input, format: Option<Format>, options: &ReadOptions) -> Result<Box<dyn RowSource + Send>, InputError> {
    if input.head.is_empty() {
        return Err(InputError::Empty { file: input.name });
    }
    let format = format.unwrap_or_else(|| input.sniff_format());
    Ok(match format {
        Format::Csv => Box::new(csv::CsvSource::open(input, options)?),
        Format::Ndjson => Box::new(ndjson::NdjsonSource::open(input, options)?),
        Format::Parquet => Box::new(ColumnarSource::new(Decoder::open_parquet(input, options)?)),
        Format::Arrow => Box::new(ColumnarSource::new(Decoder::open_arrow(input, options)?)),
        Format::Text => {
            let detail = "plain text has no columns of numbers".to_string();
            return Err(InputError::WrongFormat { file: input.name, detail });
        }
    })
}

/// The bytes of a whole file.
pub fn read_file(path: impl AsRef<Path>) -> Result<Vec<u8>, InputError> {
    let path = path.as_ref();
    fs::read(path).map_err(|source| InputError::from_io(&path.display().to_string(), source))
}
