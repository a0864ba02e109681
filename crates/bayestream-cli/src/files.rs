//! Which files a command reads and writes, so that no output is one of its inputs: the file would be destroyed by what is
//! made of it. Links of both sorts and other ways to write a path are seen through.

use crate::error::Failure;
use std::fs::{self, File, Metadata};
use std::io;
use std::path::{Path, PathBuf};

/// The files of one command; `-` is what standard input or standard output is connected to.
#[derive(Default)]
pub struct Files<'a> {
    reads: Vec<Use<'a>>,
    writes: Vec<Use<'a>>,
}

/// A file and what the command does with it.
struct Use<'a> {
    path: &'a str,
    /// How the command line calls it: an option, or the word of its help.
    role: &'static str,
    /// Outputs that may replace it.
    replaced_by: &'static [&'static str],
    file: Option<Identity>,
}

/// What makes two paths the same file.
#[derive(PartialEq, Eq)]
enum Identity {
    #[cfg(unix)]
    Inode { device: u64, inode: u64 },
    /// Of a file that is still to be made, or where files have no number.
    Path(PathBuf),
}

impl<'a> Files<'a> {
    /// Adds inputs.
    pub fn reads(self, role: &'static str, paths: impl IntoIterator<Item = &'a String>) -> Files<'a> {
        self.reads_and_replaces(role, paths, &[])
    }

    /// Adds inputs that these outputs may replace, as a model that is continued is replaced by what it becomes.
    pub fn reads_and_replaces(
        mut self,
        role: &'static str,
        paths: impl IntoIterator<Item = &'a String>,
        replaced_by: &'static [&'static str],
    ) -> Files<'a> {
        let used = |path: &'a String| Use { path, role, replaced_by, file: identity(path, standard_input) };
        self.reads.extend(paths.into_iter().map(used));
        self
    }

    /// Adds outputs.
    pub fn writes(mut self, role: &'static str, paths: impl IntoIterator<Item = &'a String>) -> Files<'a> {
        let used = |path: &'a String| Use { path, role, replaced_by: &[], file: identity(path, standard_output) };
        self.writes.extend(paths.into_iter().map(used));
        self
    }

    /// Refuses outputs that are inputs, or each other.
    pub fn check(&self) -> Result<(), Failure> {
        for (ix, output) in self.writes.iter().enumerate() {
            let is_same = |other: &&Use<'_>| other.file.is_some() && other.file == output.file;
            let is_lost = |input: &&Use<'_>| is_same(input) && !input.replaced_by.contains(&output.role);
            let clash = self.reads.iter().find(is_lost).map(|input| (input, "read"));
            let clash = clash.or_else(|| self.writes[..ix].iter().find(is_same).map(|other| (other, "written too")));
            if let Some((other, done)) = clash {
                return Err(Failure::Usage(format!(
                    "{} ({}) is the same file as {} ({}), which is {done}: name another file; nothing was written",
                    shown(output.path, "standard output"),
                    output.role,
                    shown(other.path, if done == "read" { "standard input" } else { "standard output" }),
                    other.role
                )));
            }
        }
        Ok(())
    }
}

fn shown<'a>(path: &'a str, standard: &'a str) -> &'a str {
    if path == "-" { standard } else { path }
}

/// None for what is no file, such as a pipe or a device, and for inputs that are not there.
fn identity(path: &str, standard: impl FnOnce() -> io::Result<File>) -> Option<Identity> {
    if path == "-" {
        let metadata = standard().and_then(|file| file.metadata()).ok()?;
        return numbered(&metadata, Path::new(path));
    }
    match fs::metadata(path) {
        Ok(metadata) => numbered(&metadata, Path::new(path)),
        Err(_) => to_be_made(Path::new(path)).map(Identity::Path),
    }
}

#[cfg(unix)]
fn numbered(metadata: &Metadata, _path: &Path) -> Option<Identity> {
    use std::os::unix::fs::MetadataExt;
    metadata.is_file().then(|| Identity::Inode { device: metadata.dev(), inode: metadata.ino() })
}

#[cfg(not(unix))]
fn numbered(metadata: &Metadata, path: &Path) -> Option<Identity> {
    metadata.is_file().then(|| path.canonicalize().ok().map(Identity::Path)).flatten()
}

/// The one path of a file that is not there yet, behind links that lead to it.
fn to_be_made(path: &Path) -> Option<PathBuf> {
    let path = bayestream_io::through_links(path).ok()?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    Some(folder.canonicalize().ok()?.join(path.file_name()?))
}

#[cfg(unix)]
fn standard_input() -> io::Result<File> {
    use std::os::fd::AsFd;
    Ok(File::from(io::stdin().as_fd().try_clone_to_owned()?))
}

#[cfg(unix)]
fn standard_output() -> io::Result<File> {
    use std::os::fd::AsFd;
    Ok(File::from(io::stdout().as_fd().try_clone_to_owned()?))
}

#[cfg(not(unix))]
fn standard_input() -> io::Result<File> {
    Err(io::ErrorKind::Unsupported.into())
}

#[cfg(not(unix))]
fn standard_output() -> io::Result<File> {
    Err(io::ErrorKind::Unsupported.into())
}
