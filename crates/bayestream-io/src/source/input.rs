//! Bytes in: a file, standard input or any reader, unpacked where it is gzip, with a count for the progress bar.

use std::fs::File;
use std::io::{self, Cursor, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::{Format, InputError, Progress};

const GZIP_MAGIC: &[u8] = &[0x1f, 0x8b];
const PARQUET_MAGIC: &[u8] = b"PAR1";
const ARROW_FILE_MAGIC: &[u8] = b"ARROW1";
const ARROW_STREAM_MAGIC: &[u8] = &[0xff, 0xff, 0xff, 0xff];
pub(crate) const UTF8_BOM: &[u8] = &[0xef, 0xbb, 0xbf];

pub(crate) type BoxedReader = Box<dyn Read + Send>;

/// An opened input whose first bytes have been looked at.
pub(crate) struct Input {
    pub(crate) name: String,
    /// The unpacked bytes, from the first on.
    pub(crate) reader: BoxedReader,
    /// The first unpacked bytes, enough to tell the format.
    pub(crate) head: Vec<u8>,
    /// The file itself when it is stored as it is, for formats that seek.
    pub(crate) plain_file: Option<File>,
    pub(crate) gauge: Gauge,
}

/// A shared count of the bytes taken from the input.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gauge {
    bytes_read: Arc<AtomicU64>,
    total_bytes: Option<u64>,
}

impl Gauge {
    pub(crate) fn progress(&self) -> Progress {
        Progress { bytes_read: self.bytes_read.load(Ordering::Relaxed), total_bytes: self.total_bytes }
    }

    pub(crate) fn set(&self, bytes_read: u64) {
        self.bytes_read.store(bytes_read, Ordering::Relaxed);
    }
}

struct Counted<R> {
    inner: R,
    bytes_read: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n = self.inner.read(buffer)?;
        self.bytes_read.fetch_add(n as u64, Ordering::Relaxed);
        Ok(n)
    }
}

impl Input {
    /// Opens a path, or standard input for `-`.
    pub(crate) fn open(path: &str) -> Result<Input, InputError> {
        if path == "-" {
            return Input::from_reader("standard input", Box::new(io::stdin()), None, None);
        }
        let fail = |source| InputError::from_io(path, source);
        let file = File::open(path).map_err(fail)?;
        let metadata = file.metadata().map_err(fail)?;
        if metadata.is_dir() {
            return Err(fail(io::ErrorKind::IsADirectory.into()));
        }
        let (total, seekable) = match metadata.is_file() {
            true => (Some(metadata.len()), Some(File::open(path).map_err(fail)?)),
            false => (None, None),
        };
        Input::from_reader(path, Box::new(file), total, seekable)
    }

    /// Takes any reader; `plain_file` is a second handle on the same bytes where there is one.
    pub(crate) fn from_reader(
        name: &str,
        reader: BoxedReader,
        total_bytes: Option<u64>,
        plain_file: Option<File>,
    ) -> Result<Input, InputError> {
        let fail = |source| InputError::from_io(name, source);
        let gauge = Gauge { total_bytes, ..Gauge::default() };
        let counted = Counted { inner: reader, bytes_read: Arc::clone(&gauge.bytes_read) };
        let (head, reader) = peek(Box::new(counted), &[GZIP_MAGIC]).map_err(fail)?;
        let is_gzip = head.starts_with(GZIP_MAGIC);
        let reader: BoxedReader = match is_gzip {
            true => Box::new(flate2::read::MultiGzDecoder::new(reader)),
            false => reader,
        };
        let magics = [PARQUET_MAGIC, ARROW_FILE_MAGIC, ARROW_STREAM_MAGIC, UTF8_BOM];
        let (head, reader) = peek(reader, &magics).map_err(fail)?;
        Ok(Input { name: name.to_string(), reader, head, plain_file: plain_file.filter(|_| !is_gzip), gauge })
    }

    /// The format that the first bytes betray; text is CSV unless it begins with `{`.
    pub(crate) fn sniff_format(&self) -> Format {
        let text = self.head.strip_prefix(UTF8_BOM).unwrap_or(&self.head).trim_ascii_start();
        if self.head.starts_with(PARQUET_MAGIC) {
            Format::Parquet
        } else if self.is_arrow_file() || self.head.starts_with(ARROW_STREAM_MAGIC) {
            Format::Arrow
        } else if text.first() == Some(&b'{') {
            Format::Ndjson
        } else {
            Format::Csv
        }
    }

    pub(crate) fn is_arrow_file(&self) -> bool {
        self.head.starts_with(ARROW_FILE_MAGIC)
    }

    /// All the bytes, for formats that seek in an input that cannot.
    pub(crate) fn slurp(mut self) -> Result<Vec<u8>, InputError> {
        let mut bytes = Vec::new();
        self.reader.read_to_end(&mut bytes).map_err(|source| InputError::from_io(&self.name, source))?;
        Ok(bytes)
    }
}

/// Reads until it is clear which of the magics, if any, the bytes begin with; a pipe is not waited on for longer.
/// The bytes seen are put back in front of the reader.
fn peek(mut reader: BoxedReader, magics: &[&[u8]]) -> io::Result<(Vec<u8>, BoxedReader)> {
    let mut head = Vec::new();
    let mut chunk = vec![0; 64 * 1024];
    while magics.iter().any(|magic| magic.len() > head.len() && magic.starts_with(&head)) {
        match reader.read(&mut chunk) {
            Ok(0) => break,
            Ok(n) => head.extend_from_slice(&chunk[..n]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    let joined: BoxedReader = Box::new(Cursor::new(head.clone()).chain(reader));
    Ok((head, joined))
}
