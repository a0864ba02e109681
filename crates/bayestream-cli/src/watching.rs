//! A stream being watched: rows are judged and learned, scores and state are kept, in this order.
//!
//! A state that is saved never knows more rows than there are scores on the disk, where the scores are in a file: after any
//! end the two go together. A full disk does not end a stream. Scores wait in memory, the state is kept elsewhere, and
//! both go where they belong as soon as there is room.

use crate::checkpoint::Checkpoint;
use crate::error::Failure;
use crate::feed::Portion;
use crate::score_record::{Noted, ScoreRecord};
use crate::scores::ScoreTable;
use crate::terminal::{self, counted};
use crate::training::Training;
use bayestream::model::Model;
use bayestream::outlier::Verdict;

/// Bytes of scores that may wait for room before the run ends.
const MOST_WAITING: usize = 16 << 20;

/// A model that watches, and where scores and state go.
pub struct Watching {
    training: Training,
    table: ScoreTable,
    /// The scores' path, for messages.
    output: String,
    record: Option<ScoreRecord>,
    verdicts: Vec<Verdict>,
    /// The disk was full when scores were written last.
    is_full: bool,
}

impl Watching {
    /// A stream of which no row has come.
    pub fn new(training: Training, table: ScoreTable, output: &str, continued: Option<Noted>) -> Watching {
        let checkpoint = training.checkpoint.as_ref().filter(|checkpoint| checkpoint.is_file());
        let record = checkpoint.map(|checkpoint| ScoreRecord::new(checkpoint.path(), output, continued));
        Watching { training, table, output: output.to_string(), record, verdicts: Vec::new(), is_full: false }
    }

    /// The model as it is.
    pub fn model(&self) -> &Model {
        &self.training.model
    }

    /// The scores so far.
    pub fn table(&self) -> &ScoreTable {
        &self.table
    }

    /// Rows left out because the model refused them.
    pub fn n_refused(&self) -> u64 {
        self.training.n_refused
    }

    /// Judges some rows and learns from them; then their scores are written and, when it is time, the state.
    pub fn take_in(&mut self, portion: &mut Portion) -> Result<(), Failure> {
        // Reasons come from the model that judged: a row that was learnt may have a component of its own. A scorer kept for
        // some batches would save a fifth of the time, but a resumed run would then give other reasons than one that never
        // stopped.
        let scorer = self.training.model.scorer();
        let report = self.training.watch(portion, &mut self.verdicts)?;
        if report.is_interrupted {
            return Ok(());
        }
        self.table.add(&portion.batch, self.verdicts.iter().map(Into::into), |row| scorer.reasons(row))?;
        self.hand_on()?;
        let is_due = self.training.checkpoint.as_mut().is_some_and(|checkpoint| checkpoint.is_due(report.n_rows));
        if is_due && let Err(failure) = self.save() {
            let failure = rescue(&mut self.training, failure);
            terminal::complain(format!("warning: the checkpoint was not saved, learning continues: {failure}"));
        }
        Ok(())
    }

    /// Writes the scores so far, or has them wait while the disk is full.
    fn hand_on(&mut self) -> Result<(), Failure> {
        match self.table.flush() {
            Ok(()) => {
                if std::mem::take(&mut self.is_full) {
                    terminal::note(format!("{}: scores are written again, none is missing", self.output));
                }
                Ok(())
            }
            Err(error) if error.is_full() && self.table.n_waiting() <= MOST_WAITING => {
                if !std::mem::replace(&mut self.is_full, true) {
                    terminal::complain(format!("warning: {error}; scores wait in memory, learning continues"));
                }
                Ok(())
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Saves the state, with the scores before it.
    fn save(&mut self) -> Result<(), Failure> {
        match self.table.sync() {
            Err(error) if self.table.is_in_file() => Err(error.into()),
            synced => save_behind(&mut self.training, &mut self.record, synced.ok().flatten()),
        }
    }

    /// Ends the run. Rows of a live stream come once: what was learned and scored is kept, whatever ended it.
    pub fn end(
        self,
        outcome: Result<Option<i32>, Failure>,
        stopped: impl FnOnce(&Training, i32) -> Failure,
    ) -> Result<(), Failure> {
        let Watching { mut training, mut table, mut record, .. } = self;
        let (mut length, mut may_save) = (None, true);
        let written = match (&outcome, table.sync()) {
            (Err(Failure::ClosedPipe), _) => Ok(()),
            (_, Ok(synced)) => {
                length = synced;
                table.finish()
            }
            (_, Err(error)) => {
                may_save = !table.is_in_file();
                Err(error.into())
            }
        };
        let saved = match may_save && training.n_learnt > 0 {
            true => save_behind(&mut training, &mut record, length).map_err(|failure| rescue(&mut training, failure)),
            false => Ok(()),
        };
        let written = match may_save {
            true => written,
            false => written.map_err(|failure| rescue(&mut training, failure)),
        };
        match (outcome, saved.and(written)) {
            (Err(failure), Ok(())) => Err(failure.and(kept(&training))),
            (Err(failure), Err(unkept)) => {
                // What ended the run may be what the scores still suffer from.
                let is_same = unkept.to_string().starts_with(&failure.to_string());
                Err(if is_same { unkept } else { failure.and(unkept) }.and(kept(&training)))
            }
            (Ok(_), Err(unkept)) => Err(unkept.and(kept(&training))),
            (Ok(Some(signal)), Ok(())) => Err(stopped(&training, signal)),
            (Ok(None), Ok(())) => Ok(()),
        }
    }
}

/// Saves the state behind scores that are on the disk up to this length, where they are in a file that grows.
fn save_behind(training: &mut Training, record: &mut Option<ScoreRecord>, length: Option<u64>) -> Result<(), Failure> {
    let Some(checkpoint) = &mut training.checkpoint else { return Ok(()) };
    let (Some(record), Some(length)) = (record, length) else { return checkpoint.save(&training.model) };
    let mut noted = None;
    checkpoint.save_after(&training.model, |bytes| {
        noted = Some(record.note(bytes, length)?);
        Ok(())
    })?;
    if let Some(noted) = noted {
        record.confirm(noted);
    }
    Ok(())
}

/// Keeps a state elsewhere that was to be kept, and says where.
fn rescue(training: &mut Training, failure: Failure) -> Failure {
    let Training { model, checkpoint, .. } = training;
    match checkpoint {
        Some(checkpoint) => checkpoint.rescue(model, failure),
        None => failure,
    }
}

fn kept(training: &Training) -> String {
    let n = counted(training.n_learnt, "row");
    match training.checkpoint.as_ref().filter(|checkpoint| checkpoint.was_saved()).map(Checkpoint::path) {
        Some(path) => format!("{n} learned; the last state saved is in {path} (continue with --model)"),
        None => format!("{n} learned"),
    }
}
