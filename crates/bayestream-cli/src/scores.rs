//! The table of verdicts that `score` and `watch` write: one row per input row, in its order.

use crate::args::{AlarmArgs, TableArgs};
use crate::error::Failure;
use crate::named_numbers::NamedNumbers;
use crate::terminal::{self, counted, short};
use bayestream::outlier::Verdict;
use bayestream::structure::{ComponentId, Reason};
use bayestream_io::{Cell, CellKind, Format, OutColumn, OutputError, RowBatch, TableWriter};
use std::collections::VecDeque;

/// Rows at least this unusual are given reasons, alarm or not.
pub const UNUSUAL: f64 = 0.01;
/// Most columns named as a reason.
const MOST_REASONS: usize = 3;
/// Where nothing is blamed, a further column is named when it is at least this share as surprising as the first.
const REASON_SHARE: f64 = 0.5;

/// Features less likely than this are not listed.
const LEAST_ACTIVATION: f64 = 1e-3;

/// Rows with reasons that are remembered, to say what a change of the stream is about.
const REASONS_REMEMBERED: usize = 64;
/// Rows as surprising as this are remembered too, whatever their rank: after a change, many rows share the last place.
const FAR: f64 = 12.0;
/// Fewest of them that say so.
const LEAST_TELLING: usize = 3;

/// What there is to say of one row.
pub struct RowVerdict {
    pub log_density: f64,
    pub surprise: f64,
    pub p_value: f64,
    pub belongs: Belongs,
}

/// What a row belongs to.
pub enum Belongs {
    /// The component most responsible, its responsibility, and the cluster that is most responsible.
    Component { component: Option<ComponentId>, responsibility: f64, cluster: Option<ComponentId> },
    /// The probability that it has each feature.
    Features(Vec<f64>),
}

impl From<&Verdict> for RowVerdict {
    fn from(verdict: &Verdict) -> RowVerdict {
        RowVerdict {
            log_density: verdict.log_density,
            surprise: verdict.surprise,
            p_value: verdict.p_value,
            belongs: Belongs::Component {
                component: verdict.component,
                responsibility: verdict.responsibility,
                cluster: verdict.cluster,
            },
        }
    }
}

/// A table of verdicts being written.
pub struct ScoreTable {
    writer: TableWriter,
    columns: Vec<String>,
    /// Names of the model's features, when it has features in place of components.
    features: Option<Vec<String>>,
    has_ids: bool,
    /// Reasons with all their numbers, where the format has objects.
    has_records: bool,
    alarm_rate: f64,
    n_rows: u64,
    n_alarms: u64,
    /// Rows without a log-density, and why there may be some.
    n_unscored: u64,
    why_unscored: String,
    /// The columns to blame in the latest rows that have reasons, with the rows' places in the table.
    blamed: VecDeque<(u64, Vec<usize>)>,
}

impl ScoreTable {
    /// Starts a table by `begin`; `columns` are the model's.
    pub fn begin(
        to: &TableArgs,
        alarms: &AlarmArgs,
        columns: &[String],
        features: Option<Vec<String>>,
        has_ids: bool,
        begin: impl FnOnce(Vec<OutColumn>) -> Result<TableWriter, OutputError>,
    ) -> Result<ScoreTable, Failure> {
        let mut fields = vec![OutColumn::new("row", CellKind::Int)];
        if has_ids {
            fields.push(OutColumn::new("id", CellKind::Text));
        }
        fields.extend([
            OutColumn::new("log_density", CellKind::Float),
            OutColumn::new("surprise", CellKind::Float),
            OutColumn::new("p_value", CellKind::Float),
            OutColumn::new("alarm", CellKind::Bool),
        ]);
        let has_records = TableWriter::format_of(&to.output, to.to)? == Format::Ndjson;
        match &features {
            None => fields.extend([
                OutColumn::new("component", CellKind::Text),
                OutColumn::new("responsibility", CellKind::Float),
                OutColumn::new("cluster", CellKind::Text),
            ]),
            Some(_) if has_records => fields.push(OutColumn::new("features", CellKind::Records)),
            Some(_) => fields.push(OutColumn::new("features", CellKind::TextList)),
        }
        fields.push(OutColumn::new("reason", CellKind::TextList));
        if has_records {
            fields.push(OutColumn::new("reasons", CellKind::Records));
        }
        let writer = begin(fields)?;
        let alarm_rate = alarms.alarm_rate;
        Ok(ScoreTable {
            writer,
            columns: columns.to_vec(),
            features,
            has_ids,
            has_records,
            alarm_rate,
            n_rows: 0,
            n_alarms: 0,
            n_unscored: 0,
            why_unscored: String::new(),
            blamed: VecDeque::new(),
        })
    }

    /// Has a reason at hand for rows without a log-density.
    pub fn explaining(self, why_unscored: String) -> ScoreTable {
        ScoreTable { why_unscored, ..self }
    }

    /// Adds the rows of a batch. Whoever gives the reasons knows as much as the judge of the rows did.
    pub fn add(
        &mut self,
        batch: &RowBatch,
        verdicts: impl Iterator<Item = RowVerdict>,
        mut reasons_of: impl FnMut(&[f64]) -> Vec<Reason>,
    ) -> Result<(), Failure> {
        let n_columns = self.columns.len();
        for (row_ix, verdict) in verdicts.enumerate() {
            let is_unusual = verdict.p_value <= UNUSUAL.max(self.alarm_rate);
            let mut reasons = match is_unusual || verdict.surprise > FAR {
                true => leading(&reasons_of(&batch.rows[row_ix * n_columns..][..n_columns])),
                false => Vec::new(),
            };
            self.remember(&reasons);
            if !is_unusual {
                reasons.clear();
            }
            let reason: Vec<String> = reasons.iter().map(|reason| told(reason, &self.columns)).collect();
            let records: Vec<_> = reasons.iter().map(|reason| record(reason, &self.columns)).collect();
            let alarm = verdict.p_value <= self.alarm_rate;
            let names = self.features.as_deref().unwrap_or_default();
            let (component, cluster, listed) = match &verdict.belongs {
                Belongs::Component { component, cluster, .. } => {
                    (component.map(|id| id.to_string()), cluster.map(|id| id.to_string()), Vec::new())
                }
                Belongs::Features(activations) => (None, None, there(names, activations)),
            };
            let features = NamedNumbers::of("id", "activation", listed.into_iter());
            let mut cells = vec![Cell::Int(i64::try_from(batch.row_number(row_ix)).unwrap_or(i64::MAX))];
            if self.has_ids {
                cells.push(batch.ids.get(row_ix).map_or(Cell::Null, |id| Cell::Text(id)));
            }
            cells.extend([
                Cell::Float(verdict.log_density),
                Cell::Float(verdict.surprise),
                Cell::Float(verdict.p_value),
                Cell::Bool(alarm),
            ]);
            match verdict.belongs {
                Belongs::Component { responsibility, .. } => cells.extend([
                    component.as_deref().map_or(Cell::Null, Cell::Text),
                    Cell::Float(responsibility),
                    cluster.as_deref().map_or(Cell::Null, Cell::Text),
                ]),
                Belongs::Features(_) => cells.push(features.cell(self.has_records)),
            }
            cells.push(Cell::TextList(&reason));
            if self.has_records {
                cells.push(Cell::Records(&records));
            }
            self.writer.write_row(&cells)?;
            self.n_rows += 1;
            self.n_alarms += u64::from(alarm);
            self.n_unscored += u64::from(verdict.log_density.is_nan());
        }
        Ok(())
    }

    /// Keeps the columns to blame in the row that comes next.
    fn remember(&mut self, reasons: &[Reason]) {
        if reasons.is_empty() {
            return;
        }
        if self.blamed.len() == REASONS_REMEMBERED {
            self.blamed.pop_front();
        }
        self.blamed.push_back((self.n_rows + 1, reasons.iter().map(|reason| reason.column).collect()));
    }

    /// The column that most of the unusual rows among the last `n_rows` have as a reason, if there is one.
    pub fn blamed_lately(&self, n_rows: u64) -> Option<&str> {
        let from = self.n_rows.saturating_sub(n_rows);
        let lately: Vec<&Vec<usize>> = self.blamed.iter().filter(|(at, _)| *at > from).map(|(_, why)| why).collect();
        let n_blamed = |column: usize| lately.iter().filter(|why| why.contains(&column)).count();
        let column = (0..self.columns.len()).max_by_key(|column| (n_blamed(*column), std::cmp::Reverse(*column)))?;
        let n = n_blamed(column);
        (n >= LEAST_TELLING && 2 * n > lately.len()).then(|| self.columns[column].as_str())
    }

    /// Hands on the rows so far.
    pub fn flush(&mut self) -> Result<(), OutputError> {
        self.writer.flush()
    }

    /// Hands on the rows so far and has the disk keep them; the length of a file that grows.
    pub fn sync(&mut self) -> Result<Option<u64>, OutputError> {
        self.writer.sync()
    }

    /// Whether the table is a file that grows.
    pub fn is_in_file(&self) -> bool {
        self.writer.length().is_some()
    }

    /// Bytes that could not be written yet.
    pub fn n_waiting(&self) -> usize {
        self.writer.n_waiting()
    }

    /// Ends the table and says what is in it.
    pub fn finish(self) -> Result<(), Failure> {
        let told = format!("{}, {}", counted(self.n_rows, "row"), counted(self.n_alarms, "alarm"));
        self.writer.finish()?;
        terminal::note(told);
        if self.n_unscored > 0 && !self.why_unscored.is_empty() {
            terminal::note(format!("{} without a log-density: {}", counted(self.n_unscored, "row"), self.why_unscored));
        }
        Ok(())
    }
}

/// The features that a row may have, the surest first.
fn there<'a>(names: &'a [String], activations: &[f64]) -> Vec<(&'a str, f64)> {
    let mut listed: Vec<(&str, f64)> = names
        .iter()
        .map(String::as_str)
        .zip(activations.iter().copied())
        .filter(|(_, q)| *q >= LEAST_ACTIVATION)
        .collect();
    listed.sort_by(|a, b| b.1.total_cmp(&a.1));
    listed
}

/// The few cells that make a row unusual: the blamed ones, or those that stand out.
pub fn leading(reasons: &[Reason]) -> Vec<Reason> {
    let least = reasons.first().map_or(0.0, |first| REASON_SHARE * first.surprise.max(0.0));
    let any_blamed = reasons.first().is_some_and(|first| first.blamed);
    let tells = |(rank, reason): &(usize, &Reason)| match any_blamed {
        true => reason.blamed,
        false => *rank == 0 || reason.surprise >= least,
    };
    reasons.iter().enumerate().filter(tells).map(|(_, reason)| *reason).take(MOST_REASONS).collect()
}

/// A reason in words.
fn told(reason: &Reason, columns: &[String]) -> String {
    let name = name_of(reason, columns);
    format!("{name} {}, expected {}", short(reason.observed), short(reason.expected))
}

/// A reason in numbers.
fn record<'a>(reason: &Reason, columns: &'a [String]) -> Vec<(&'static str, Cell<'a>)> {
    vec![
        ("column", Cell::Text(name_of(reason, columns))),
        ("observed", Cell::Float(reason.observed)),
        ("expected", Cell::Float(reason.expected)),
        ("surprise", Cell::Float(reason.surprise)),
        ("probability", Cell::Float(reason.probability)),
    ]
}

fn name_of<'a>(reason: &Reason, columns: &'a [String]) -> &'a str {
    columns.get(reason.column).map_or("", String::as_str)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reason(column: usize, blamed: bool, surprise: f64) -> Reason {
        Reason { column, blamed, surprise, probability: 0.5, observed: 71.25, expected: -20.0 }
    }

    fn named(reasons: &[Reason]) -> Vec<usize> {
        leading(reasons).iter().map(|r| r.column).collect()
    }

    #[test]
    fn blamed_cells_are_named_alone_and_others_when_nothing_is_blamed() {
        assert_eq!(named(&[reason(4, true, 9.0), reason(2, true, 3.0), reason(0, false, 8.0)]), [4, 2]);
        assert_eq!(named(&[reason(4, false, 9.0), reason(2, false, 5.0), reason(0, false, 4.0)]), [4, 2]);
        assert_eq!(named(&[1, 2, 3, 5].map(|j| reason(j, true, 7.0))), [1, 2, 3]);
        assert_eq!(named(&[]), [0_usize; 0]);
    }

    #[test]
    fn a_reason_has_a_name_and_two_values() {
        let columns = ["flow", "temp"].map(String::from);
        assert_eq!(told(&reason(1, true, 9.0), &columns), "temp 71.25, expected -20");
    }
}
