//! Where a table's bytes go: standard output, or a file that appears only when it is whole.

use std::io::{self, BufWriter, Write};
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::growing::Growing;
use crate::OutputError;
use crate::atomic::PendingFile;

/// A byte sink with a name for messages.
pub(crate) struct Target {
    pub(crate) name: String,
    bytes: Bytes,
}

enum Bytes {
    Stdout(BufWriter<io::Stdout>),
    File(BufWriter<PendingFile>),
    Gzip(Box<GzEncoder<BufWriter<PendingFile>>>),
    Growing(Growing),
}

const BUFFER: usize = 64 * 1024;

impl Target {
    /// `-` is standard output; a name that ends in `.gz` is packed.
    pub(crate) fn create(target: &str) -> Result<Target, OutputError> {
        if target == "-" {
            let bytes = Bytes::Stdout(BufWriter::with_capacity(BUFFER, io::stdout()));
            return Ok(Target { name: "standard output".to_string(), bytes });
        }
        let path = Path::new(target);
        let file = BufWriter::with_capacity(BUFFER, PendingFile::create(path)?);
        let bytes = match is_packed(path) {
            true => Bytes::Gzip(Box::new(GzEncoder::new(file, Compression::default()))),
            false => Bytes::File(file),
        };
        Ok(Target { name: target.to_string(), bytes })
    }

    /// A target under its final name, of which the first `from` bytes are kept; `-` is standard output.
    pub(crate) fn growing(target: &str, from: u64) -> Result<Target, OutputError> {
        let name = if target == "-" { "standard output" } else { target }.to_string();
        let growing = Growing::open(target, from).map_err(|source| OutputError::from_io(&name, source))?;
        Ok(Target { name, bytes: Bytes::Growing(growing) })
    }

    /// The target as one that grows, if it does.
    pub(crate) fn growth(&self) -> Option<&Growing> {
        match &self.bytes {
            Bytes::Growing(growing) => Some(growing),
            _ => None,
        }
    }

    /// Has the disk keep a file that grows, whose length it returns; all others are only handed on.
    pub(crate) fn sync(&mut self) -> io::Result<Option<u64>> {
        match &mut self.bytes {
            Bytes::Growing(growing) => growing.sync(),
            _ => self.flush().map(|()| None),
        }
    }

    /// Writes out what is buffered and gives the file its name.
    pub(crate) fn commit(self) -> Result<(), OutputError> {
        let fail = |source| OutputError::from_io(&self.name, source);
        let file = match self.bytes {
            Bytes::Stdout(mut stdout) => return stdout.flush().map_err(fail),
            Bytes::File(file) => file,
            Bytes::Gzip(packed) => packed.finish().map_err(fail)?,
            Bytes::Growing(mut growing) => return growing.flush().map_err(fail),
        };
        file.into_inner().map_err(|error| fail(error.into_error()))?.commit(false)
    }
}

impl Write for Target {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.bytes {
            Bytes::Stdout(stdout) => stdout.write(bytes),
            Bytes::File(file) => file.write(bytes),
            Bytes::Gzip(packed) => packed.write(bytes),
            Bytes::Growing(growing) => growing.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.bytes {
            Bytes::Stdout(stdout) => stdout.flush(),
            Bytes::File(file) => file.flush(),
            Bytes::Gzip(packed) => packed.flush(),
            Bytes::Growing(growing) => growing.flush(),
        }
    }
}

/// Whether the name promises a packed file.
pub(crate) fn is_packed(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("gz"))
}
