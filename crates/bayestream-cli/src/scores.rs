//! The table of scores that `score` and `watch` write: one row per input row, in its order.

use crate::error::Failure;
use bayestream::structure::{RowScore, Scorer};
use bayestream_io::{Cell, CellKind, Format, OutColumn, RowBatch, TableWriter};

/// Rows at least this unusual are given reasons.
pub const UNUSUAL: f64 = 0.01;
/// Most columns named as a reason.
const MOST_REASONS: usize = 3;
/// A further column is named when it is at least this share as surprising as the first.
const REASON_SHARE: f64 = 0.5;

/// A table of scores being written.
pub struct ScoreTable {
    writer: TableWriter,
    columns: Vec<String>,
    has_ids: bool,
    scores: Vec<RowScore>,
}

impl ScoreTable {
    /// Starts a table; `columns` are the model's.
    pub fn create(
        target: &str,
        format: Option<Format>,
        columns: &[String],
        has_ids: bool,
    ) -> Result<ScoreTable, Failure> {
        let mut fields = vec![OutColumn::new("row", CellKind::Int)];
        if has_ids {
            fields.push(OutColumn::new("id", CellKind::Text));
        }
        fields.extend([
            OutColumn::new("log_density", CellKind::Float),
            OutColumn::new("surprise", CellKind::Float),
            OutColumn::new("p_value", CellKind::Float),
            OutColumn::new("component", CellKind::Text),
            OutColumn::new("responsibility", CellKind::Float),
            OutColumn::new("reason", CellKind::TextList),
        ]);
        let writer = TableWriter::create(target, format, fields)?;
        Ok(ScoreTable { writer, columns: columns.to_vec(), has_ids, scores: Vec::new() })
    }

    /// Scores a batch and adds its rows.
    pub fn add(&mut self, scorer: &mut Scorer, batch: &RowBatch) -> Result<(), Failure> {
        let n_columns = self.columns.len();
        scorer.score(&batch.rows, &mut self.scores);
        for (row_ix, score) in self.scores.iter().enumerate() {
            let reason = match score.p_value <= UNUSUAL {
                true => reason(scorer, &batch.rows[row_ix * n_columns..][..n_columns], &self.columns),
                false => Vec::new(),
            };
            let component = score.component.map(|id| id.to_string());
            let mut cells = vec![Cell::Int(i64::try_from(batch.row_number(row_ix)).unwrap_or(i64::MAX))];
            if self.has_ids {
                cells.push(batch.ids.get(row_ix).map_or(Cell::Null, |id| Cell::Text(id)));
            }
            cells.extend([
                Cell::Float(score.log_density),
                Cell::Float(score.surprise),
                Cell::Float(score.p_value),
                component.as_deref().map_or(Cell::Null, Cell::Text),
                Cell::Float(score.responsibility),
                Cell::TextList(&reason),
            ]);
            self.writer.write_row(&cells)?;
        }
        Ok(())
    }

    /// Hands on the rows so far.
    pub fn flush(&mut self) -> Result<(), Failure> {
        Ok(self.writer.flush()?)
    }

    /// Ends the table.
    pub fn finish(self) -> Result<(), Failure> {
        Ok(self.writer.finish()?)
    }
}

/// The columns that make a row unusual, the most surprising first.
pub fn reason(scorer: &Scorer, row: &[f64], columns: &[String]) -> Vec<String> {
    let reasons = scorer.reasons(row);
    let least = reasons.first().map_or(0.0, |first| REASON_SHARE * first.surprise.max(0.0));
    reasons
        .iter()
        .enumerate()
        .take(MOST_REASONS)
        .filter(|(rank, reason)| *rank == 0 || reason.surprise >= least)
        .filter_map(|(_, reason)| columns.get(reason.column).cloned())
        .collect()
}
