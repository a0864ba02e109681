//! Says when a stream has left its model.
//!
//! The learner follows a change while it goes on, so its own scores soon look ordinary again. Rows are therefore judged
//! by a copy of the mixture frozen some thousand rows ago: what it says of them (residuals of every column, with and
//! without the columns before, their squares and products, responsibilities) has a fixed distribution while the stream
//! stays as it is, whether or not the mixture fits well. A copy is calibrated on the rows that follow it, then watches
//! until the next copy is ready.

use super::channel::Channel;
use super::features::Frozen;
use crate::num::{self, Cusums};
use crate::structure::Scorer;
use serde::{Deserialize, Serialize};

/// Rows before the first copy, and after an alarm before the next: the learner finds its feet.
const SETTLING: u64 = 500;
/// Rows that calibrate the first copy, and the most that later ones get: half of those since the first.
const FIRST_CALIBRATION: u64 = 500;
const CALIBRATION: u64 = 4000;
/// A copy is not replaced while its evidence has come this share of the way to an alarm.
const SUSPICION: f64 = 0.3;
/// A change that has not shown after so many rows is no change but a bet calibrated a little off: it starts over.
const PATIENCE: f64 = 1000.0;
/// Share of the strongest evidence with which a column is named rather than what follows from its change.
const TELLING: f64 = 0.35;
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

impl DriftKind {
    /// The column it is about, if it is about one.
    pub fn column(self) -> Option<usize> {
        match self {
            DriftKind::Mean { column } | DriftKind::Spread { column } => Some(column),
            DriftKind::Dependence | DriftKind::Occupancy => None,
        }
    }
}

/// A stream that no longer follows its model.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
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
    /// Evidence for a change in nats, once it watches: first for each feature's one bet, then for its other.
    bets: Cusums,
    /// Rows it has been calibrated on.
    age: u64,
    /// The row after which it began to watch; 0 before.
    started: u64,
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
    #[serde(skip)]
    tilted: Vec<f64>,
}

impl DriftWatch {
    /// A watch that has seen nothing.
    pub fn new(n_columns: usize) -> DriftWatch {
        DriftWatch {
            n_columns,
            n_seen: 0,
            rest_until: SETTLING,
            watching: None,
            next: None,
            features: Vec::new(),
            tilted: Vec::new(),
        }
    }

    /// Takes rows (row-major, in the data's own units, NaN = missing) before they are learnt. `model` is asked for a
    /// scorer of the learner as it is, when a new copy is due. At most one alarm is given for a change.
    pub fn observe(&mut self, rows: &[f64], model: impl FnOnce() -> Scorer) -> Option<DriftAlarm> {
        // Calibrating is dear: a copy watches alone for twice as long as it was calibrated.
        let relief_due = self.watching.as_ref().is_none_or(|copy| self.n_seen >= copy.started + 2 * copy.age);
        if self.next.is_none() && self.n_seen >= self.rest_until && relief_due {
            self.next = Frozen::of(&model()).map(|frozen| Sentry {
                channels: frozen.channels(),
                bets: Cusums::idle(2 * frozen.n_features(), 0.0),
                frozen,
                age: 0,
                started: 0,
            });
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
                if copy.bets.step(features, row as f64, PATIENCE) > threshold {
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
            next.calibrate(features, &mut self.tilted);
        }
        let last = self.n_seen + (rows.len() / self.n_columns) as u64;
        let due = (last.saturating_sub(self.rest_until) / 2).clamp(FIRST_CALIBRATION, CALIBRATION);
        if next.age >= due && !self.watching.as_ref().is_some_and(Sentry::is_suspicious) {
            next.start(last);
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
    fn calibrate(&mut self, features: &[f64], tilted: &mut Vec<f64>) {
        self.age += 1;
        tilted.clear();
        tilted.extend(self.channels.iter().map(|channel| channel.tilted(features[channel.feature])));
        num::exp_slice(tilted);
        for (channel, s) in self.channels.iter_mut().zip(tilted.iter()).filter(|(_, s)| !s.is_nan()) {
            channel.calibrate(*s);
        }
    }

    fn start(&mut self, row: u64) {
        self.started = row;
        let n = self.frozen.n_features();
        self.bets = Cusums::idle(2 * n, row as f64);
        let mut is_taken = vec![false; n];
        for channel in &self.channels {
            let place = channel.feature + if is_taken[channel.feature] { n } else { 0 };
            is_taken[channel.feature] = true;
            (self.bets.slope[place], self.bets.base[place]) = channel.terms();
        }
    }

    fn is_suspicious(&self) -> bool {
        let threshold = (ROWS_PER_FALSE_ALARM * self.channels.len() as f64).ln();
        self.bets.sum.iter().any(|evidence| *evidence > SUSPICION * threshold)
    }

    /// A column that moved or spread also changes what is expected of others, so it is named when its own residuals
    /// show it; rows in a new place differ in most columns. Given the columns before, the first to move is the one.
    fn alarm(&self, row: u64) -> DriftAlarm {
        let n = self.frozen.n_features();
        let evidence = |place: &usize| self.bets.sum[*place];
        let kind = |place: usize| self.frozen.kind_of(place % n);
        let strongest = |a: &usize, b: &usize| evidence(a).total_cmp(&evidence(b));
        let Some(first_sight) = (0..2 * n).max_by(strongest) else {
            return DriftAlarm { row, since: row, what: DriftKind::Occupancy, strength: 0.0 };
        };
        let telling = || (0..2 * n).filter(|place| evidence(place) >= TELLING * evidence(&first_sight));
        let own = || telling().filter(|place| self.frozen.is_of_column_alone(place % n));
        let mut columns: Vec<usize> = own().filter_map(|place| kind(place).column()).collect();
        columns.sort_unstable();
        columns.dedup();
        let moved = || telling().map(kind).filter(|k| matches!(k, DriftKind::Mean { .. })).min_by_key(|k| k.column());
        let what = match (columns.len(), kind(first_sight)) {
            (n, _) if n > 2 && 2 * n > self.frozen.n_columns() => DriftKind::Occupancy,
            (0, DriftKind::Mean { .. }) => moved().unwrap_or(DriftKind::Occupancy),
            (0, other) => other,
            _ => own().max_by(strongest).map_or(DriftKind::Occupancy, kind),
        };
        DriftAlarm { row, since: self.bets.since[first_sight] as u64, what, strength: evidence(&first_sight) }
    }

    fn restore(&mut self, n_columns: usize) -> bool {
        let n = self.frozen.n_features();
        let numbers = |values: &[f64]| values.len() == 2 * n && values.iter().all(|v| v.is_finite());
        let Cusums { slope, base, sum, since } = &self.bets;
        self.frozen.restore(n_columns)
            && self.channels.iter().all(|channel| channel.is_sound(n))
            && [slope, base, sum, since].iter().all(|values| numbers(values))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic::{Covariance, Truth, ofab_truth};

    fn alarms(rows: &[f64], truth: &Truth, batch: usize) -> Vec<DriftAlarm> {
        let mut watch = DriftWatch::new(truth.n_columns());
        rows.chunks(batch * truth.n_columns())
            .filter_map(|rows| watch.observe(rows, || Scorer::of_truth(truth)))
            .collect()
    }

    #[test]
    fn each_sort_of_change_is_announced_once_by_its_name() {
        let round = Truth {
            weights: vec![0.5, 0.5],
            means: vec![vec![0.0, 0.0, 0.0], vec![9.0, 0.0, 5.0]],
            covariances: vec![vec![1.0, 0.5, 0.0, 0.5, 1.0, 0.0, 0.0, 0.0, 1.0]; 2],
        };
        let (rows, labels) = round.sample(7000, 3);
        type Edit = fn(&mut [f64], &[f64]);
        let changes: [(Edit, DriftKind); 4] = [
            (|row, _| row[2] += 1.0, DriftKind::Mean { column: 2 }),
            (|row, mean| row[2] = mean[2] + 1.6 * (row[2] - mean[2]), DriftKind::Spread { column: 2 }),
            (|row, mean| row[1] = 2.0 * mean[1] - row[1], DriftKind::Dependence),
            (|row, mean| row.iter_mut().zip(mean).for_each(|(x, m)| *x += 20.0 - 2.0 * m), DriftKind::Occupancy),
        ];
        for (edit, what) in changes {
            let mut rows = rows.clone();
            for (row, label) in rows.chunks_mut(3).zip(&labels).skip(4000) {
                edit(row, &round.means[*label as usize]);
            }
            let found = alarms(&rows, &round, 7);
            assert_eq!(found.len(), 1, "{what:?}: {found:?}");
            assert_eq!(found[0].what, what, "{found:?}");
            assert!((4001..4400).contains(&found[0].row) && found[0].since < found[0].row, "{found:?}");
            assert!(found[0].since > 3900, "{found:?}");
        }
    }

    #[test]
    fn a_steady_stream_raises_no_alarm_even_where_the_model_is_wrong() {
        let truth = ofab_truth(3, 4, Covariance::Spd, 5);
        let mut wrong = truth.clone();
        wrong.means.iter_mut().flatten().for_each(|m| *m += 0.7);
        wrong.covariances.iter_mut().flatten().for_each(|c| *c *= 0.4);
        let (rows, _) = truth.sample(30_000, 6);
        assert_eq!(alarms(&rows, &wrong, 50), []);
        // Nor where rows follow from the rows before.
        let mut rng = num::stream(8, 0, 0);
        let mut levels = [0.0; 4];
        let sticky: Vec<f64> = (0..120_000)
            .map(|at| {
                levels[at % 4] = 0.9 * levels[at % 4] + rng.normal();
                levels[at % 4]
            })
            .collect();
        assert_eq!(alarms(&sticky, &wrong, 50), []);
    }

    #[test]
    fn batches_of_any_size_missing_cells_and_absurd_values_are_taken() {
        let truth = ofab_truth(2, 3, Covariance::Aat, 9);
        let (mut rows, _) = truth.sample(6000, 10);
        for at in (0..rows.len()).step_by(11) {
            rows[at] = f64::NAN;
        }
        rows[300..303].fill(f64::NAN);
        rows[9000] = 1e75;
        assert_eq!(alarms(&rows, &truth, 50), []);
        rows.chunks_mut(3).skip(4500).for_each(|row| row[1] += 3.0);
        // The model is the same at all times here, so that only the end of the calibration depends on the batches.
        let (one, many) = (alarms(&rows, &truth, 1), alarms(&rows, &truth, 500));
        assert_eq!((one.len(), many.len()), (1, 1));
        assert!(one[0].row < 4600 && many[0].row < 4600);
    }

    #[test]
    fn a_watch_goes_on_from_a_file_as_if_it_had_not_stopped() {
        let truth = ofab_truth(2, 3, Covariance::Aat, 9);
        let (mut rows, _) = truth.sample(6000, 11);
        rows.chunks_mut(3).skip(5000).for_each(|row| row[0] += 2.0);
        let mut watch = DriftWatch::new(3);
        for rows in rows[..3 * 4980].chunks(30) {
            assert_eq!(watch.observe(rows, || Scorer::of_truth(&truth)), None);
        }
        let text = serde_json::to_string(&watch).unwrap();
        assert!(text.contains("\"feature\":1,"));
        let damaged = text.replacen("\"feature\":1,", "\"feature\":99999,", 1);
        assert!(serde_json::from_str::<DriftWatch>(&damaged).unwrap().restore(3).is_err());
        let mut again: DriftWatch = serde_json::from_str(&text).unwrap();
        again.restore(3).unwrap();
        let mut n_alarms = 0;
        for rows in rows[3 * 4980..].chunks(30) {
            let alarm = watch.observe(rows, || Scorer::of_truth(&truth));
            assert_eq!(alarm, again.observe(rows, || Scorer::of_truth(&truth)));
            n_alarms += usize::from(alarm.is_some());
        }
        assert_eq!(n_alarms, 1);
        assert!(again.restore(4).is_err());
    }
}
