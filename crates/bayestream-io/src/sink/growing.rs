//! Tables of lines that grow under their final name, for runs without an end: what has been written is there whatever
//! ends the run, and a disk that is full for a while costs no row.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use super::target::{Target, is_packed};
use super::{Encoder, OutColumn, TableWriter, text};
use crate::{Format, OutputError};

/// Bytes on their way to a file, a device or standard output. What cannot be written waits.
pub(crate) struct Growing {
    bytes: Bytes,
    /// Bytes of the file so far; none where there is no file to measure.
    length: Option<u64>,
    waiting: Vec<u8>,
}

enum Bytes {
    File(File),
    #[cfg(not(unix))]
    Stdout(io::Stdout),
}

impl Growing {
    /// Opens a path, or standard output for `-`. A file is cut to its first `from` bytes.
    pub(crate) fn open(target: &str, from: u64) -> io::Result<Growing> {
        if target == "-" {
            return Ok(Growing { bytes: stdout()?, length: None, waiting: Vec::new() });
        }
        let path = Path::new(target);
        let is_file = fs::metadata(path).map_or(true, |metadata| metadata.is_file() || metadata.is_dir());
        if !is_file {
            let file = OpenOptions::new().write(true).open(path)?;
            return Ok(Growing { bytes: Bytes::File(file), length: None, waiting: Vec::new() });
        }
        let mut file = OpenOptions::new().write(true).create(true).truncate(false).open(path)?;
        file.set_len(from)?;
        file.seek(SeekFrom::End(0))?;
        Ok(Growing { bytes: Bytes::File(file), length: Some(from), waiting: Vec::new() })
    }

    /// Writes what waits and has the disk keep it; the file's length, where there is a file.
    pub(crate) fn sync(&mut self) -> io::Result<Option<u64>> {
        self.flush()?;
        match &self.bytes {
            Bytes::File(file) if self.length.is_some() => file.sync_data()?,
            _ => {}
        }
        Ok(self.length)
    }
}

impl Write for Growing {
    /// Takes all the bytes; they are written by [`Growing::flush`].
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.waiting.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let mut n_written = 0;
        let outcome = loop {
            if n_written == self.waiting.len() {
                break Ok(());
            }
            match self.bytes.write(&self.waiting[n_written..]) {
                Ok(0) => break Err(io::ErrorKind::WriteZero.into()),
                Ok(n) => n_written += n,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => break Err(error),
            }
        };
        // A line may be on the disk in part: the rest of it comes first when there is room again.
        self.waiting.drain(..n_written);
        self.length = self.length.map(|length| length + n_written as u64);
        outcome.and_then(|()| self.bytes.flush())
    }
}

impl Write for Bytes {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Bytes::File(file) => file.write(bytes),
            #[cfg(not(unix))]
            Bytes::Stdout(stdout) => stdout.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Bytes::File(file) => file.flush(),
            #[cfg(not(unix))]
            Bytes::Stdout(stdout) => stdout.flush(),
        }
    }
}

/// Standard output without the buffer of the standard library, which would not say how much of it was written.
#[cfg(unix)]
fn stdout() -> io::Result<Bytes> {
    use std::os::fd::AsFd;
    Ok(Bytes::File(File::from(io::stdout().as_fd().try_clone_to_owned()?)))
}

#[cfg(not(unix))]
fn stdout() -> io::Result<Bytes> {
    Ok(Bytes::Stdout(io::stdout()))
}

impl TableWriter {
    /// Whether [`TableWriter::grow`] can write such a table: lines that are not packed.
    pub fn can_grow(target: &str, format: Option<Format>) -> Result<bool, OutputError> {
        let is_lines = matches!(TableWriter::format_of(target, format)?, Format::Csv | Format::Ndjson);
        Ok(is_lines && (target == "-" || !is_packed(Path::new(target))))
    }

    /// As [`TableWriter::create`], but a table of lines grows under its final name: each [`TableWriter::flush`] adds to the
    /// file, and what could not be written is tried again by the next. With `from` the table in the file is continued
    /// behind that many bytes, and what follows them is cut off. Tables that cannot grow are begun by
    /// [`TableWriter::create`].
    pub fn grow(
        target: &str,
        format: Option<Format>,
        columns: Vec<OutColumn>,
        from: Option<u64>,
    ) -> Result<TableWriter, OutputError> {
        if !TableWriter::can_grow(target, format)? {
            return TableWriter::create(target, format, columns);
        }
        let format = TableWriter::format_of(target, format)?;
        let fail = |source| OutputError::from_io(target, source);
        if from.is_some() && !begins_alike(target, &first_bytes(target, format, &columns)).map_err(fail)? {
            return Err(OutputError::OtherTable { file: target.to_string() });
        }
        let opened = Target::growing(target, from.unwrap_or(0))?;
        let mut table = TableWriter::of_lines(opened, target, format, columns);
        if let (Some(_), Encoder::Csv { line, .. }) = (from, &mut table.encoder) {
            // The names of the columns are there already.
            line.clear();
        }
        Ok(table)
    }

    /// Hands on what is buffered and has the disk keep it. The length of a file that grows; none for all others.
    pub fn sync(&mut self) -> Result<Option<u64>, OutputError> {
        self.flush()?;
        match &mut self.encoder {
            Encoder::Csv { target, .. } | Encoder::Ndjson { target, .. } => {
                target.sync().map_err(|source| OutputError::from_io(&target.name, source))
            }
            Encoder::Columnar(_) => Ok(None),
        }
    }

    /// Bytes written so far to a file that grows; none for all others.
    pub fn length(&self) -> Option<u64> {
        self.growth().and_then(|growing| growing.length)
    }

    /// Bytes of a table that grows which could not be written yet.
    pub fn n_waiting(&self) -> usize {
        self.growth().map_or(0, |growing| growing.waiting.len())
    }

    fn growth(&self) -> Option<&Growing> {
        match &self.encoder {
            Encoder::Csv { target, .. } | Encoder::Ndjson { target, .. } => target.growth(),
            Encoder::Columnar(_) => None,
        }
    }
}

/// What a table of these columns begins with.
fn first_bytes(target: &str, format: Format, columns: &[OutColumn]) -> Vec<u8> {
    let mut first = Vec::new();
    match format {
        Format::Csv => text::csv_header(&mut first, columns, super::delimiter_of(target)),
        _ => {
            first.push(b'{');
            first.extend(text::json_keys(columns).first().into_iter().flatten());
        }
    }
    first
}

fn begins_alike(target: &str, first: &[u8]) -> io::Result<bool> {
    let mut found = Vec::new();
    File::open(target)?.take(first.len() as u64).read_to_end(&mut found)?;
    Ok(found == first)
}
