//! Labelled rows and documents on their way to a model.

use crate::ahead::{self, Ahead};
use crate::documents::reading::{self, Amiss};
use crate::error::Failure;
use crate::feed::{self, Feed, remove_row};
use crate::training;
use bayestream::data::Batch;
use bayestream::engine::linear::TargetChoice;
use bayestream::model::{LinearError, LinearModel, LinearStep};

/// What puts several labels in one cell apart.
const BETWEEN_LABELS: char = ';';

/// Where portions come from.
pub enum Source {
    /// Rows.
    Rows(Feed),
    /// Documents.
    Documents(Ahead<reading::Portion, Amiss>),
}

/// Rows or documents read together.
pub enum Portion {
    /// Rows.
    Rows(feed::Portion),
    /// Documents.
    Documents(reading::Portion),
}

/// What comes next.
pub enum Next {
    /// Some rows.
    Some(Portion),
    /// The end, and rows that were not read as they are.
    End(Amiss),
    /// A signal asks to stop.
    Stop(i32),
}

impl Source {
    /// Waits for what comes next.
    pub fn next(&mut self) -> Result<Next, Failure> {
        Ok(match self {
            Source::Rows(feed) => match feed.next()? {
                feed::Next::Rows(portion) => Next::Some(Portion::Rows(portion)),
                feed::Next::End { n_skipped, n_unfinished } => {
                    Next::End(Amiss { n_skipped, n_unfinished, n_mended: 0 })
                }
                feed::Next::Stop(signal) => Next::Stop(signal),
            },
            Source::Documents(documents) => match documents.next()? {
                ahead::Next::One(portion) => Next::Some(Portion::Documents(portion)),
                ahead::Next::End(amiss) => Next::End(amiss),
                ahead::Next::Stop(signal) => Next::Stop(signal),
            },
        })
    }
}

impl Portion {
    /// Bytes of all inputs read so far.
    pub fn bytes_read(&self) -> u64 {
        match self {
            Portion::Rows(portion) => portion.bytes_read,
            Portion::Documents(portion) => portion.bytes_read,
        }
    }

    /// How many rows.
    pub fn len(&self) -> usize {
        match self {
            Portion::Rows(portion) => portion.batch.n_rows,
            Portion::Documents(portion) => portion.batch.len(),
        }
    }

    /// A row's number in the input.
    pub fn row(&self, at: usize) -> u64 {
        match self {
            Portion::Rows(portion) => portion.batch.row_number(at),
            Portion::Documents(portion) => portion.batch.rows[at],
        }
    }

    /// A row's name, where it has one.
    pub fn id(&self, at: usize) -> Option<&str> {
        let ids = match self {
            Portion::Rows(portion) => &portion.batch.ids,
            Portion::Documents(portion) => &portion.batch.ids,
        };
        ids.get(at).map(String::as_str)
    }

    /// Takes one row out.
    pub fn remove(&mut self, at: usize, n_columns: usize) {
        match self {
            Portion::Rows(portion) => remove_row(&mut portion.batch, at, n_columns),
            Portion::Documents(portion) => reading::remove(&mut portion.batch, at),
        }
    }

    /// Learns from the rows.
    pub fn learn(&self, model: &mut LinearModel) -> Result<LinearStep, LinearError> {
        let is_several = model.config().settings.target == TargetChoice::Labels;
        match self {
            Portion::Rows(portion) => {
                let labels: Vec<Vec<String>> =
                    portion.batch.labels.iter().map(|cell| apart(cell, is_several)).collect();
                model.update_rows(&self.batch(portion, model)?, &labels)
            }
            Portion::Documents(portion) => {
                let mut labels = portion.batch.labels.clone();
                for list in labels.iter_mut().filter(|list| is_several && list.len() == 1) {
                    *list = apart(&list[0], true);
                }
                model.update_documents(&portion.batch.documents, &labels)
            }
        }
    }

    fn batch<'a>(&self, portion: &'a feed::Portion, model: &LinearModel) -> Result<Batch<'a>, LinearError> {
        Ok(training::batch_of(portion, model.config().columns.len())?)
    }

    /// What the model says of the rows, and of documents how many words each has that it does not know.
    pub fn score(
        &self,
        model: &LinearModel,
    ) -> Result<(Vec<bayestream::engine::linear::Judgement>, Vec<u64>), LinearError> {
        match self {
            Portion::Rows(portion) => Ok((model.score_rows(&self.batch(portion, model)?)?, Vec::new())),
            Portion::Documents(portion) => {
                let (judged, encoded) = model.score_documents(&portion.batch.documents)?;
                Ok((judged, encoded.unknown))
            }
        }
    }

    /// A fault, told in terms of the input.
    pub fn located(&self, error: &LinearError, columns: &[String], can_drop: bool) -> Failure {
        let remedy = "fix the row, or pass --on-error skip to count and skip such rows";
        match (self, error) {
            (Portion::Rows(portion), LinearError::Data(error)) => {
                Failure::Failed(training::located(error, portion, columns, can_drop))
            }
            (Portion::Documents(portion), LinearError::Text(error)) => reading::located(error, portion),
            _ => {
                let file = match self {
                    Portion::Rows(portion) => &portion.file,
                    Portion::Documents(portion) => &portion.file,
                };
                match error.row().filter(|at| *at < self.len()) {
                    Some(at) => Failure::Failed(format!("{file}: row {}: {error}\n  {remedy}", self.row(at))),
                    None => Failure::Failed(format!("{file}: {error}")),
                }
            }
        }
    }
}

/// The labels in a cell.
fn apart(cell: &str, is_several: bool) -> Vec<String> {
    match is_several {
        true => cell.split(BETWEEN_LABELS).map(str::to_string).collect(),
        false => vec![cell.to_string()],
    }
}
