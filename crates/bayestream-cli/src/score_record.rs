//! What ties a file of scores to a checkpoint: how long the file was when the state was saved.
//!
//! It is kept in a small file beside the checkpoint. The scores are on the disk first, then this record, then the
//! checkpoint. A run may be killed in between, so that the record names the state before, too: whichever of the two the
//! checkpoint holds, the scores that belong to it are known.

use crate::error::Failure;
use crate::terminal;
use bayestream_io::{read_file, write_atomic};
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

/// How much of the end of the scores is looked at to know them again.
const LONGEST_TAIL: u64 = 4096;

/// The record of one checkpoint and one file of scores.
pub struct ScoreRecord {
    path: String,
    scores: String,
    /// The state that the checkpoint holds.
    last: Option<Entry>,
}

/// A saved state and the scores of the rows that it has learned.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Entry {
    /// Checksum and length of the checkpoint.
    state: String,
    /// Length of the scores.
    bytes: u64,
    /// Checksum of their last few thousand bytes.
    tail: String,
}

#[derive(Serialize, Deserialize)]
struct Document {
    states: Vec<Entry>,
}

impl ScoreRecord {
    /// Where the record of a checkpoint is.
    pub fn beside(checkpoint: &str) -> String {
        format!("{checkpoint}.scores")
    }

    /// The record of a checkpoint and the scores that it will be tied to. The scores of the state that is continued, if
    /// there are any, stay noted until a new state is on the disk.
    pub fn new(checkpoint: &str, scores: &str, continued: Option<Noted>) -> ScoreRecord {
        let last = continued.map(|noted| noted.0);
        ScoreRecord { path: ScoreRecord::beside(checkpoint), scores: scores.to_string(), last }
    }

    /// Notes how long the scores are, before a checkpoint of these bytes is written.
    pub fn note(&mut self, checkpoint: &[u8], length: u64) -> Result<Noted, Failure> {
        let tail = tail_of(Path::new(&self.scores), length)
            .map_err(|error| Failure::Failed(format!("{}: cannot be read back: {error}", self.scores)))?;
        let entry = Entry { state: fingerprint(checkpoint), bytes: length, tail };
        let document = Document { states: self.last.iter().cloned().chain([entry.clone()]).collect() };
        let text = serde_json::to_string(&document)
            .map_err(|error| Failure::Failed(format!("{}: cannot be written as JSON: {error}", self.path)))?;
        write_atomic(&self.path, (text + "\n").as_bytes())?;
        Ok(Noted(entry))
    }

    /// The checkpoint that was noted is on the disk.
    pub fn confirm(&mut self, noted: Noted) {
        self.last = Some(noted.0);
    }

    /// What is noted of a saved state whose scores are in this file and are to be continued. Nothing where there is no such
    /// file, or an empty one: it begins anew. A file that holds something else than the scores of this state, or more than
    /// is known to be, is refused, or begins anew by `force`.
    pub fn of_state(state: &str, scores: &str, force: bool) -> Result<Option<Noted>, Failure> {
        let entry = ScoreRecord::read(state)?;
        let is_there = fs::metadata(scores).is_ok_and(|metadata| metadata.is_file() && metadata.len() > 0);
        let is_same = |entry: &Entry| tail_of(Path::new(scores), entry.bytes).is_ok_and(|tail| tail == entry.tail);
        match entry {
            Some(entry) if is_there && is_same(&entry) => Ok(Some(Noted(entry))),
            Some(_) if !is_there => {
                terminal::note(format!("note: {scores} begins anew: the scores up to {state} are no longer in it"));
                Ok(None)
            }
            _ if !is_there || force => Ok(None),
            entry => {
                let what = match entry {
                    Some(entry) => {
                        format!("does not begin with the {} bytes of scores", terminal::thousands(entry.bytes))
                    }
                    None => "is not known to hold the scores".to_string(),
                };
                Err(Failure::Failed(format!(
                    "{scores}: {what} that {state} was saved with: name another file with -o, or pass --force to replace it"
                )))
            }
        }
    }

    /// What is noted of a saved state.
    fn read(state: &str) -> Result<Option<Entry>, Failure> {
        let path = ScoreRecord::beside(state);
        if state == "-" || !Path::new(&path).is_file() {
            return Ok(None);
        }
        let document: Document = serde_json::from_slice(&read_file(&path)?)
            .map_err(|error| Failure::Failed(format!("{path}: is damaged ({error}): remove it")))?;
        let now = fingerprint(&read_file(state)?);
        Ok(document.states.into_iter().find(|entry| entry.state == now))
    }
}

/// How long the scores of a state are.
pub struct Noted(Entry);

impl Noted {
    /// The length.
    pub fn length(&self) -> u64 {
        self.0.bytes
    }
}

fn fingerprint(bytes: &[u8]) -> String {
    format!("{:08x}-{}", crc32fast::hash(bytes), bytes.len())
}

/// The checksum of the bytes before an end; an error for a file that is shorter.
fn tail_of(path: &Path, end: u64) -> io::Result<String> {
    let n_bytes = end.min(LONGEST_TAIL);
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(end - n_bytes))?;
    let mut tail = vec![0; n_bytes as usize];
    file.read_exact(&mut tail)?;
    Ok(format!("{:08x}", crc32fast::hash(&tail)))
}
