//! Documents out of bytes of any format.

mod columnar;
mod csv;
mod line;
mod ndjson;
mod parts;
mod plain;
mod plan;

use std::io::Read;

use bayestream::text::RawDocument;

use super::decoder::Decoder;
use super::input::Input;
use crate::{DocumentBatch, DocumentOptions, DocumentSource, Format, InputError, OnError, Progress};
use columnar::ColumnarDocuments;
use plan::DocumentPlan;

/// Opens an input of documents, a path or `-` for standard input, and reads as far as its columns. Gzip is unpacked
/// wherever the bytes are gzip. Without [`DocumentOptions::format`] the extension decides, and where it says nothing, the
/// first bytes: what is not Parquet, Arrow or an object of JSON is plain text, one document a line.
pub fn open_documents(input: &str, options: &DocumentOptions) -> Result<Box<dyn DocumentSource + Send>, InputError> {
    let format = options.format.or_else(|| if input == "-" { None } else { Format::of_documents(input) });
    start(Input::open(input)?, format, options)
}

/// Reads documents from any reader; `name` is what messages call it. Without [`DocumentOptions::format`] the first bytes
/// decide.
pub fn open_documents_reader(
    reader: Box<dyn Read + Send>,
    name: &str,
    options: &DocumentOptions,
) -> Result<Box<dyn DocumentSource + Send>, InputError> {
    start(Input::from_reader(name, reader, None, None)?, options.format, options)
}

fn start(
    input: Input,
    format: Option<Format>,
    options: &DocumentOptions,
) -> Result<Box<dyn DocumentSource + Send>, InputError> {
    if input.head.is_empty() {
        return Err(InputError::NoDocuments { file: input.name, n_skipped: 0 });
    }
    let format = format.unwrap_or_else(|| match input.sniff_format() {
        Format::Csv => Format::Text,
        known => known,
    });
    Ok(match format {
        Format::Csv => Stream::boxed(csv::CsvDocuments::open(input, options)?),
        Format::Ndjson => Stream::boxed(ndjson::NdjsonDocuments::open(input, options)?),
        Format::Parquet => Stream::boxed(ColumnarDocuments::new(Decoder::open_parquet(input, options)?)),
        Format::Arrow => Stream::boxed(ColumnarDocuments::new(Decoder::open_arrow(input, options)?)),
        Format::Text => Stream::boxed(plain::PlainDocuments::open(input, options)?),
    })
}

/// A document and what came with it.
pub(super) struct Document {
    raw: RawDocument,
    labels: Vec<String>,
    id: String,
    /// Bytes of the input that it was made of.
    n_bytes: usize,
    is_mended: bool,
}

/// Why there is no document.
pub(super) enum Failure {
    /// The row is at fault, and the next one may be better.
    Row(InputError),
    /// The row is the last line, which was cut and is to be left out.
    Unfinished,
    /// Nothing can be read behind it.
    Input(InputError),
}

impl From<InputError> for Failure {
    fn from(error: InputError) -> Failure {
        Failure::Input(error)
    }
}

/// What differs between formats: how the next document is read.
pub(super) trait DocumentReader {
    fn plan(&self) -> &DocumentPlan;

    fn progress(&self) -> Progress;

    /// The document of the next row, which has this number; none at the end.
    fn read(&mut self, row: u64) -> Result<Option<Document>, Failure>;
}

/// What all formats share: batches, and what is counted.
struct Stream<R> {
    reader: R,
    row: u64,
    n_skipped: u64,
    n_unfinished: u64,
    n_mended: u64,
    ended: bool,
}

impl<R: DocumentReader + Send + 'static> Stream<R> {
    fn boxed(reader: R) -> Box<dyn DocumentSource + Send> {
        Box::new(Stream { reader, row: 0, n_skipped: 0, n_unfinished: 0, n_mended: 0, ended: false })
    }

    fn fill(&mut self, into: &mut DocumentBatch) -> Result<bool, InputError> {
        let mut n_bytes = 0;
        while into.len() < self.reader.plan().batch_documents && n_bytes <= self.reader.plan().longest_line {
            let read = self.reader.read(self.row + 1);
            self.row += 1;
            match read {
                Ok(Some(document)) => {
                    n_bytes += document.n_bytes;
                    self.n_mended += u64::from(document.is_mended);
                    self.push(document, into);
                }
                Ok(None) => {
                    self.ended = true;
                    break;
                }
                Err(Failure::Unfinished) => self.n_unfinished += 1,
                Err(Failure::Row(_)) if self.reader.plan().on_error == OnError::Skip => self.n_skipped += 1,
                Err(Failure::Row(error) | Failure::Input(error)) => return Err(error),
            }
        }
        Ok(!into.is_empty())
    }

    fn push(&self, document: Document, into: &mut DocumentBatch) {
        into.documents.push(document.raw);
        into.rows.push(self.row);
        if self.reader.plan().has_labels {
            into.labels.push(document.labels);
        }
        if self.reader.plan().has_ids {
            into.ids.push(document.id);
        }
    }
}

impl<R: DocumentReader + Send + 'static> DocumentSource for Stream<R> {
    fn name(&self) -> &str {
        &self.reader.plan().file
    }

    fn text_columns(&self) -> &[String] {
        &self.reader.plan().text_columns
    }

    fn next_batch(&mut self, into: &mut DocumentBatch) -> Result<bool, InputError> {
        into.clear();
        if self.ended {
            return Ok(false);
        }
        let filled = self.fill(into);
        self.ended |= filled.is_err();
        filled
    }

    fn progress(&self) -> Progress {
        self.reader.progress()
    }

    fn n_skipped(&self) -> u64 {
        self.n_skipped
    }

    fn n_unfinished(&self) -> u64 {
        self.n_unfinished
    }

    fn n_mended(&self) -> u64 {
        self.n_mended
    }
}
