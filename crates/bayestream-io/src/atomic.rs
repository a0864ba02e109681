//! Files that are either the old one or the whole new one, never half of it.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::OutputError;
use crate::temporary;

/// Writes a file whole or not at all: to a temporary name in the same folder, flushed to the disk, renamed, and the
/// folder flushed too. On failure the old file is untouched. A device or a pipe is written to directly.
pub fn write_atomic(path: impl AsRef<Path>, bytes: &[u8]) -> Result<(), OutputError> {
    let path = path.as_ref();
    let mut file = PendingFile::create(path)?;
    file.write_all(bytes).map_err(|source| OutputError::from_io(&path.display().to_string(), source))?;
    file.commit(true)
}

/// Finds out before the work, not after it, that a file cannot be written. A device or a pipe is not touched before there
/// is something to write.
pub fn check_writable(path: impl AsRef<Path>) -> Result<(), OutputError> {
    let path = path.as_ref();
    let probe = match fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
        Ok(metadata) if !metadata.is_file() => Ok(()),
        Ok(_) => OpenOptions::new().append(true).open(path).map(drop),
        Err(_) => PendingFile::try_create(path, "").map(drop),
    };
    probe.map_err(|source| OutputError::from_io(&path.display().to_string(), source))
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
            None => through_links(path)?,
        };
        if target.file_name().is_none() {
            return Err(io::ErrorKind::IsADirectory.into());
        }
        let (file, temporary) = temporary::create(folder_of(&target))?;
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

pub(crate) fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Where a path without a file leads: a link to nothing names the file that is to be made.
pub fn through_links(path: &Path) -> io::Result<PathBuf> {
    const MOST_LINKS: u32 = 40;
    let mut path = path.to_path_buf();
    for _ in 0..MOST_LINKS {
        match fs::read_link(&path) {
            Ok(target) => path = folder_of(&path).join(target),
            Err(_) => return Ok(path),
        }
    }
    Err(io::Error::other("links lead on from it without an end"))
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
