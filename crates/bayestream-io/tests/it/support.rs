//! What the tests share: reading from memory, and readers that misbehave in a chosen way.

use std::io::{self, Cursor, Read, Write};

use bayestream_io::{Format, InputError, OnError, ReadOptions, RowBatch, RowSource, open_reader, read_all};

/// What an input holds once read to its end.
#[derive(Debug)]
pub struct Table {
    pub columns: Vec<String>,
    pub batch: RowBatch,
    pub n_skipped: u64,
}

impl Table {
    /// The cells' bits, so that NaN equals NaN and -0 differs from 0.
    pub fn bits(&self) -> Vec<u64> {
        self.batch.rows.iter().map(|cell| canonical_bits(*cell)).collect()
    }

    pub fn row_numbers(&self) -> Vec<u64> {
        (0..self.batch.n_rows).map(|row_ix| self.batch.row_number(row_ix)).collect()
    }
}

/// The bits of a number, with one pattern for every NaN.
pub fn canonical_bits(value: f64) -> u64 {
    if value.is_nan() { f64::NAN.to_bits() } else { value.to_bits() }
}

pub fn options(format: Format) -> ReadOptions {
    ReadOptions { format: Some(format), ..ReadOptions::default() }
}

pub fn skipping(format: Format) -> ReadOptions {
    ReadOptions { on_error: OnError::Skip, ..options(format) }
}

pub fn open_bytes(bytes: &[u8], options: &ReadOptions) -> Result<Box<dyn RowSource + Send>, InputError> {
    open_reader(Box::new(Cursor::new(bytes.to_vec())), "data.csv", options)
}

pub fn read_bytes(bytes: impl AsRef<[u8]>, options: &ReadOptions) -> Result<Table, InputError> {
    read_from(open_bytes(bytes.as_ref(), options)?)
}

pub fn read_from(mut source: Box<dyn RowSource + Send>) -> Result<Table, InputError> {
    let batch = read_all(source.as_mut())?;
    Ok(Table { columns: source.columns().to_vec(), batch, n_skipped: source.n_skipped() })
}

pub fn read_csv(text: impl AsRef<[u8]>) -> Table {
    read_bytes(text, &options(Format::Csv)).expect("the table is sound")
}

/// The message that reading gives, and that it has the code.
pub fn fault(bytes: impl AsRef<[u8]>, options: &ReadOptions, code: &str) -> String {
    let error = read_bytes(bytes, options).expect_err("the input is faulty");
    assert_eq!(error.code(), code, "{error}");
    error.to_string()
}

/// A reader that gives at most so many bytes at a time, cycling through the sizes.
pub struct Chunked {
    bytes: Cursor<Vec<u8>>,
    sizes: Vec<usize>,
    turn: usize,
}

impl Chunked {
    pub fn new(bytes: &[u8], sizes: &[usize]) -> Chunked {
        Chunked { bytes: Cursor::new(bytes.to_vec()), sizes: sizes.to_vec(), turn: 0 }
    }
}

impl Read for Chunked {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let size = self.sizes[self.turn % self.sizes.len()].min(buffer.len());
        self.turn += 1;
        self.bytes.read(&mut buffer[..size])
    }
}

/// The bytes as one gzip member for each piece.
pub fn gzip(pieces: &[&[u8]]) -> Vec<u8> {
    let mut packed = Vec::new();
    for piece in pieces {
        let mut encoder = flate2::write::GzEncoder::new(&mut packed, flate2::Compression::default());
        encoder.write_all(piece).expect("memory takes all bytes");
        encoder.finish().expect("memory takes all bytes");
    }
    packed
}
