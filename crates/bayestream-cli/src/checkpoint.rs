//! A file that keeps the state along the way, and what becomes of the state when that file cannot be written.

use crate::args::CheckpointArgs;
use crate::error::Failure;
use crate::model_file::{Stored, rescue, write};
use crate::terminal;
use std::fs;
use std::path::PathBuf;

/// Where and how often the state is kept.
pub struct Checkpoint {
    path: String,
    every: u64,
    rows_since: u64,
    was_saved: bool,
    /// Where the state was kept when its file could not be written.
    rescued: Option<PathBuf>,
}

impl Checkpoint {
    /// The checkpoint that the command line asks for, which has not been written yet.
    pub fn of(args: &CheckpointArgs) -> Option<Checkpoint> {
        let path = args.checkpoint.clone()?;
        Some(Checkpoint { path, every: args.every, rows_since: 0, was_saved: false, rescued: None })
    }

    /// What is left of a run that failed: where the last checkpoint is, after what was learned.
    pub fn left_after(checkpoint: Option<&Checkpoint>, learnt: String) -> String {
        match checkpoint.filter(|checkpoint| checkpoint.was_saved) {
            Some(Checkpoint { path, .. }) => {
                format!("{learnt}; the last checkpoint is in {path} (continue with --resume --skip-seen)")
            }
            None => learnt,
        }
    }

    /// The file's path.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Whether it is a file or will be one, and no device or pipe.
    pub fn is_file(&self) -> bool {
        self.path != "-" && fs::metadata(&self.path).map_or(true, |metadata| metadata.is_file())
    }

    /// Whether this run has saved the state.
    pub fn was_saved(&self) -> bool {
        self.was_saved
    }

    /// Counts rows learned and saves when it is time. A full disk must not end a live stream: the old checkpoint stays,
    /// and the next attempt comes after as many rows again.
    pub fn advance(&mut self, n_rows: usize, model: &impl Stored) {
        if self.is_due(n_rows)
            && let Err(failure) = self.save(model)
        {
            terminal::complain(format!("warning: the checkpoint was not saved, learning goes on: {failure}"));
        }
    }

    /// Counts rows learned; whether it is time to save. The count then begins anew, whether or not saving goes well.
    pub fn is_due(&mut self, n_rows: usize) -> bool {
        self.rows_since += n_rows as u64;
        let is_due = self.rows_since >= self.every;
        if is_due {
            self.rows_since = 0;
        }
        is_due
    }

    /// Saves now.
    pub fn save(&mut self, model: &impl Stored) -> Result<(), Failure> {
        self.save_after(model, |_| Ok(()))
    }

    /// Saves now, after something has been done that must be on the disk before these bytes are.
    pub fn save_after(
        &mut self,
        model: &impl Stored,
        before: impl FnOnce(&[u8]) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let bytes = model.bytes();
        before(&bytes)?;
        write(&self.path, &bytes)?;
        self.was_saved = true;
        if let Some(rescued) = self.rescued.take() {
            terminal::note(format!("{}: the checkpoint is saved again", self.path));
            // Of no use now; where it cannot be removed it does no harm.
            let _ = fs::remove_file(rescued);
        }
        Ok(())
    }

    /// Keeps the state in a folder that can be written, since its own file cannot; the failure then says where.
    pub fn rescue(&mut self, model: &impl Stored, failure: Failure) -> Failure {
        let (path, failure) = rescue(model, "state", failure);
        self.rescued = path;
        failure
    }
}
