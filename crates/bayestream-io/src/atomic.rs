//! Files that are either the old one or the whole new one, never half of it.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process;

use crate::OutputError;

/// Writes a file whole or not at all: to a temporary name in the same folder, flushed to the disk, renamed, and the
/// folder flushed too. On failure the old file is untouched. A device or a pipe is written to directly.
pub fn write_atomic(path: impl AsRef<Path>, bytes: &[u8]) -> Result<(), OutputError> {
    let path = path.as_ref();
    let mut file = PendingFile::create(path)?;
    file.write_all(bytes).map_err(|source| OutputError::from_io(&path.display().to_string(), source))?;
    file.commit(true)
}

/// A file under a temporary name, which [`PendingFile::commit`] makes the real one; dropped before, it is removed.
#[derive(Debug)]
pub(crate) struct PendingFile {
    file: File,
    /// As the caller named it, for messages.
    shown: String,
    /// None for devices and pipes, which cannot be replaced.
    pending: Option<Pending>,
}

#[derive(Debug)]
struct Pending {
    temporary: PathBuf,
    target: PathBuf,
}

impl PendingFile {
    pub(crate) fn create(path: &Path) -> Result<PendingFile, OutputError> {
        let shown = path.display().to_string();
        PendingFile::try_create(path, &shown).map_err(|source| OutputError::from_io(&shown, source))
    }

    fn try_create(path: &Path, shown: &str) -> io::Result<PendingFile> {
        // Through links, so that the file they point to is replaced rather than the link.
        let old = match fs::metadata(path) {
            Ok(metadata) => Some(metadata),
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(error) => return Err(error),
        };
        let shown = shown.to_string();
        let target = match &old {
            Some(metadata) if metadata.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
            Some(metadata) if !metadata.is_file() => {
                let file = OpenOptions::new().write(true).open(path)?;
                return Ok(PendingFile { file, shown, pending: None });
            }
            Some(_) => path.canonicalize()?,
            None => path.to_path_buf(),
        };
        if target.file_name().is_none() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        let (file, temporary) = create_temporary(folder_of(&target))?;
        let created = PendingFile { file, shown, pending: Some(Pending { temporary, target }) };
        if let Some(metadata) = old {
            created.file.set_permissions(metadata.permissions())?;
        }
        Ok(created)
    }

    /// Gives the file its real name; `durably` when it must also outlive a power cut.
    pub(crate) fn commit(mut self, durably: bool) -> Result<(), OutputError> {
        self.try_commit(durably).map_err(|source| OutputError::from_io(&self.shown, source))
    }

    fn try_commit(&mut self, durably: bool) -> io::Result<()> {
        self.file.flush()?;
        let Some(Pending { temporary, target }) = &self.pending else {
            return Ok(());
        };
        if durably {
            self.file.sync_all()?;
        }
        fs::rename(temporary, target)?;
        let folder = folder_of(target).to_path_buf();
        self.pending = None;
        if durably {
            flush_folder(&folder)?;
        }
        Ok(())
    }
}

impl Write for PendingFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for PendingFile {
    fn drop(&mut self) {
        if let Some(Pending { temporary, .. }) = &self.pending {
            // The write has failed already, and that is the error worth telling.
            let _ = fs::remove_file(temporary);
        }
    }
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// A file that nobody else uses: the process number tells writers apart, the count files of one writer.
fn create_temporary(folder: &Path) -> io::Result<(File, PathBuf)> {
    const MOST_TRIES: u32 = 10_000;
    for n in 0..MOST_TRIES {
        let temporary = folder.join(format!(".bayestream-{}-{n}.tmp", process::id()));
        match OpenOptions::new().write(true).create_new(true).open(&temporary) {
            Ok(file) => return Ok((file, temporary)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::new(io::ErrorKind::AlreadyExists, "the folder is full of temporary files of earlier runs"))
}

/// Makes the new name durable; only Unix has a way to ask for it.
#[cfg(unix)]
fn flush_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

#[cfg(not(unix))]
fn flush_folder(_folder: &Path) -> io::Result<()> {
    Ok(())
}
