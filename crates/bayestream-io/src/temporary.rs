//! Temporary files that say whose they are, so that what a killed process left behind is removed by the next one.
//!
//! The name carries the machine, the process and a count. A writer holds a lock on its file for as long as it lives, and
//! the system lets go of the lock when the process dies, however it dies: a file that can be locked has no writer. Other
//! machines may write into the same folder over a network, and not every network carries locks: their files are left
//! alone until nobody has written to them for a long time.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::process;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

const PREFIX: &str = ".bayestream-";
const SUFFIX: &str = ".tmp";
/// How long a file of another machine must have rested.
const LONG: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// Folders that this process has looked through.
static SWEPT: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// A new file that nobody else uses; before the first in a folder, those of dead processes are removed there.
pub(crate) fn create(folder: &Path) -> io::Result<(File, PathBuf)> {
    const MOST_TRIES: u32 = 10_000;
    if SWEPT.lock().unwrap_or_else(PoisonError::into_inner).insert(folder.to_path_buf()) {
        sweep(folder);
    }
    for n in 0..MOST_TRIES {
        let path = folder.join(Name { machine: machine(), process: process::id(), n }.written());
        match OpenOptions::new().write(true).create_new(true).open(&path) {
            // Another process that looks through the folder may have been quicker than the lock.
            Ok(file) => match file.try_lock() {
                Err(TryLockError::WouldBlock) => {}
                Ok(()) if !path.exists() => {}
                // Where files cannot be locked nobody removes them.
                Ok(()) | Err(TryLockError::Error(_)) => return Ok((file, path)),
            },
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::new(io::ErrorKind::AlreadyExists, "the folder is full of temporary files of earlier runs"))
}

/// Removes what dead processes left in a folder. What cannot be removed is no obstacle.
fn sweep(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        if let Some(name) = entry.file_name().to_str().and_then(Name::read) {
            let _ = remove_if_dead(&entry.path(), &name);
        }
    }
}

fn remove_if_dead(path: &Path, name: &Name) -> io::Result<()> {
    let metadata = fs::symlink_metadata(path)?;
    let is_from_here = name.machine != UNKNOWN && name.machine == machine();
    let has_rested = || metadata.modified()?.elapsed().map_err(io::Error::other).map(|age| age > LONG);
    if !metadata.is_file() || !(is_from_here && name.process != process::id() || has_rested()?) {
        return Ok(());
    }
    let file = OpenOptions::new().write(true).open(path)?;
    match file.try_lock() {
        Ok(()) => fs::remove_file(path),
        Err(_) => Ok(()),
    }
}

/// What the name of a temporary file says.
#[derive(Debug, PartialEq, Eq)]
struct Name {
    machine: u64,
    process: u32,
    n: u32,
}

impl Name {
    fn written(&self) -> String {
        format!("{PREFIX}{:016x}-{}-{}{SUFFIX}", self.machine, self.process, self.n)
    }

    /// None for every name that [`Name::written`] would not have written.
    fn read(name: &str) -> Option<Name> {
        let mut parts = name.strip_prefix(PREFIX)?.strip_suffix(SUFFIX)?.splitn(3, '-');
        let machine = u64::from_str_radix(parts.next()?, 16).ok()?;
        let read = Name { machine, process: parts.next()?.parse().ok()?, n: parts.next()?.parse().ok()? };
        (read.written() == name).then_some(read)
    }
}

/// Stands for a machine whose name is not known.
const UNKNOWN: u64 = 0;

/// The machine's name as a number.
fn machine() -> u64 {
    const FNV_OFFSET: u64 = 0xcbf2_9ce4_8422_2325;
    const FNV_PRIME: u64 = 0x0000_0100_0000_01b3;
    let read = |path: &str| fs::read_to_string(path).ok().filter(|name| !name.trim().is_empty());
    let Some(host) = read("/proc/sys/kernel/hostname").or_else(|| read("/etc/hostname")) else { return UNKNOWN };
    host.trim().bytes().fold(FNV_OFFSET, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(FNV_PRIME))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::SystemTime;

    #[test]
    fn only_names_of_ours_are_read() {
        let name = Name { machine: 0xbeef, process: 417, n: 12 };
        assert_eq!(name.written(), ".bayestream-000000000000beef-417-12.tmp");
        assert_eq!(Name::read(&name.written()), Some(name));
        for similar in [
            ".bayestream-417-12.tmp",
            ".bayestream-notes.tmp",
            ".bayestream-000000000000beef-417-12.tmp~",
            ".bayestream-000000000000BEEF-417-12.tmp",
            ".bayestream-000000000000beef-0417-12.tmp",
            ".bayestream-000000000000beef-417-12-3.tmp",
            ".bayestream-beef-417-12.tmp",
            "bayestream-000000000000beef-417-12.tmp",
        ] {
            assert_eq!(Name::read(similar), None, "{similar}");
        }
    }

    /// A file as another process would have left it.
    fn left(folder: &Path, machine: u64, n: u32, age: Duration) -> (PathBuf, File) {
        let path = folder.join(Name { machine, process: process::id() + 1, n }.written());
        let file = File::create(&path).unwrap();
        file.set_modified(SystemTime::now() - age).unwrap();
        (path, file)
    }

    #[test]
    fn files_without_a_living_writer_are_removed_and_others_stay() {
        let folder = tempfile::tempdir().unwrap();
        let other = machine() ^ 1;
        let day = Duration::from_secs(24 * 60 * 60);
        let (dead, _) = left(folder.path(), machine(), 0, Duration::ZERO);
        let (living, writer) = left(folder.path(), machine(), 1, 30 * day);
        writer.lock().unwrap();
        let (elsewhere, _) = left(folder.path(), other, 2, 6 * day);
        let (long_ago, _) = left(folder.path(), other, 3, 8 * day);
        let (long_but_locked, slow_writer) = left(folder.path(), other, 4, 8 * day);
        slow_writer.lock().unwrap();
        let (file, ours) = create(folder.path()).unwrap();
        let is_there = [&dead, &living, &elsewhere, &long_ago, &long_but_locked, &ours].map(|path| path.exists());
        assert_eq!(is_there, [machine() == UNKNOWN, true, true, false, true, true]);
        drop(file);
    }
}
