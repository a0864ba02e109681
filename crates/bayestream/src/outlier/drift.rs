//! Says when a stream has left its model.
//!
//! The learner follows a change while it goes on, so its own scores soon look ordinary again. Rows are therefore judged
//! by a copy of the mixture frozen some thousand rows ago: what it says of them (residuals of every column, with and
//! without the columns before, their squares and products, responsibilities) has a fixed distribution while the stream
//! stays as it is, whether or not the mixture fits well. A copy is calibrated on the rows that follow it, then watches
//! until the next copy is ready.

use super::channel::Channel;
use super::features::Frozen;
use crate::structure::Scorer;
use serde::{Deserialize, Serialize};

/// Rows before the first copy, and after an alarm before the next: the learner finds its feet.
const SETTLING: u64 = 500;
/// Rows that calibrate the first copy, and every later one.
const FIRST_CALIBRATION: u64 = 1500;
const CALIBRATION: u64 = 4000;
/// A copy is not replaced while its evidence has come this share of the way to an alarm.
const SUSPICION: f64 = 0.3;
/// Evidence, in nats, with which a column is named rather than what follows from its change.
const TELLING: f64 = 3.0;
/// Rows laid out at a time.
const CHUNK: usize = 256;
/// Rows of an unchanged stream in which one false alarm is tolerated.
const ROWS_PER_FALSE_ALARM: f64 = 200_000.0;

/// What changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum DriftKind {
    /// Where a column lies.
    Mean {
        /// The column, from zero.
        column: usize,
    },
    /// How far a column scatters.
    Spread {
        /// The column, from zero.
        column: usize,
    },
    /// How columns go together.
    Dependence,
    /// Which components the rows come from, or that they come from none.
    Occupancy,
}

/// A stream that no longer follows its model.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DriftAlarm {
    /// The number of the row that raised the alarm, from one.
    pub row: u64,
    /// The last row before the change, as far as can be told.
    pub since: u64,
    /// What changed most plainly.
    pub what: DriftKind,
    /// Evidence in nats: against no change, as if betting at fair odds.
    pub strength: f64,
}

/// A frozen mixture with its bets.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Sentry {
    frozen: Frozen,
    channels: Vec<Channel>,
    /// Rows it has been calibrated on.
    age: u64,
}

/// Watches a stream for changes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct DriftWatch {
    n_columns: usize,
    n_seen: u64,
    /// No copy is made before this row.
    rest_until: u64,
    watching: Option<Sentry>,
    /// The copy that is being calibrated.
    next: Option<Sentry>,
    #[serde(skip)]
    features: Vec<f64>,
}

impl DriftWatch {
    /// A watch that has seen nothing.
    pub fn new(n_columns: usize) -> DriftWatch {
        DriftWatch { n_columns, n_seen: 0, rest_until: SETTLING, watching: None, next: None, features: Vec::new() }
    }

    /// Takes rows (row-major, in the data's own units, NaN = missing) before they are learnt. `model` is asked for a
    /// scorer of the learner as it is, when a new copy is due. At most one alarm is given for a change.
    pub fn observe(&mut self, rows: &[f64], model: impl FnOnce() -> Scorer) -> Option<DriftAlarm> {
        if self.next.is_none() && self.n_seen >= self.rest_until {
            self.next = Frozen::of(&model()).map(|frozen| Sentry { channels: frozen.channels(), frozen, age: 0 });
        }
        let mut first_alarm = None;
        for rows in rows.chunks(CHUNK * self.n_columns) {
            let alarm = self.watch(rows);
            first_alarm = first_alarm.or(alarm);
            self.n_seen += (rows.len() / self.n_columns) as u64;
        }
        first_alarm
    }

    /// Rows seen.
    pub fn n_seen(&self) -> u64 {
        self.n_seen
    }

    /// True when a copy is watching: before, no change can be noticed.
    pub fn is_watching(&self) -> bool {
        self.watching.is_some()
    }

    fn watch(&mut self, rows: &[f64]) -> Option<DriftAlarm> {
        if let Some(copy) = &mut self.watching {
            copy.frozen.features(rows, &mut self.features);
            let n_features = copy.frozen.n_features();
            let threshold = (ROWS_PER_FALSE_ALARM * copy.channels.len() as f64).ln();
            for (row, features) in (self.n_seen + 1..).zip(self.features.chunks_exact(n_features)) {
                if copy.bet(features, row) > threshold {
                    let alarm = copy.alarm(row);
                    (self.watching, self.next, self.rest_until) = (None, None, row + SETTLING);
                    return Some(alarm);
                }
            }
        }
        let next = self.next.as_mut()?;
        next.frozen.features(rows, &mut self.features);
        let n_features = next.frozen.n_features();
        for features in self.features.chunks_exact(n_features) {
            next.calibrate(features);
        }
        let due = if self.watching.is_some() { CALIBRATION } else { FIRST_CALIBRATION };
        let last = self.n_seen + (rows.len() / self.n_columns) as u64;
        if next.age >= due && !self.watching.as_ref().is_some_and(Sentry::is_suspicious) {
            next.channels.iter_mut().for_each(|channel| channel.start(last));
            self.watching = self.next.take();
        }
        None
    }

    /// Checks what a file may have got wrong and rebuilds what is not saved.
    pub fn restore(&mut self, n_columns: usize) -> Result<(), String> {
        let sound = self.n_columns == n_columns
            && self.watching.iter_mut().chain(&mut self.next).all(|copy| copy.restore(n_columns));
        if sound { Ok(()) } else { Err("its watch for drift is inconsistent".into()) }
    }
}

impl Sentry {
    fn calibrate(&mut self, features: &[f64]) {
        self.age += 1;
        for channel in &mut self.channels {
            let feature = features[channel.feature];
            if !feature.is_nan() {
                channel.calibrate(feature);
            }
        }
    }

    /// The most evidence of any channel after a row.
    fn bet(&mut self, features: &[f64], row: u64) -> f64 {
        self.channels.iter_mut().fold(0.0, |most, channel| {
            let feature = features[channel.feature];
            if feature.is_nan() { most } else { most.max(channel.bet(feature, row)) }
        })
    }

    fn is_suspicious(&self) -> bool {
        let threshold = (ROWS_PER_FALSE_ALARM * self.channels.len() as f64).ln();
        self.channels.iter().any(|channel| channel.evidence > SUSPICION * threshold)
    }

    /// A column that moved or spread also changes what is expected of others: it is named when it shows itself.
    fn alarm(&self, row: u64) -> DriftAlarm {
        let kind = |channel: &Channel| self.frozen.kind_of(channel.feature);
        let is_column = |c: &&Channel| matches!(kind(c), DriftKind::Mean { .. } | DriftKind::Spread { .. });
        let strongest = |a: &&Channel, b: &&Channel| a.evidence.total_cmp(&b.evidence);
        let all = self.channels.iter().max_by(strongest);
        let column = self.channels.iter().filter(is_column).max_by(strongest).filter(|c| c.evidence >= TELLING);
        let what = column.or(all).map_or(DriftKind::Occupancy, kind);
        let (since, strength) = all.map_or((row, 0.0), |c| (c.since, c.evidence));
        DriftAlarm { row, since, what, strength }
    }

    fn restore(&mut self, n_columns: usize) -> bool {
        self.frozen.restore(n_columns) && self.channels.iter().all(|channel| channel.is_sound(self.frozen.n_features()))
    }
}
