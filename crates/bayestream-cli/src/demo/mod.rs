//! The demonstration: a stream is made up, learnt row by row, and told about in a report.

mod plant;
mod report;
pub mod topics;

use crate::error::Failure;
use crate::model_file;
use crate::progress::Progress;
use crate::scores::UNUSUAL;
use crate::terminal::{self, short, thousands};
use bayestream::data::Batch;
use bayestream::model::{Config, Kind, Model};
use bayestream::outlier::{DriftAlarm, Verdict};
use bayestream::structure::{Event, Reason, Snapshot};
use bayestream_io::{Cell, CellKind, OutColumn, TableWriter, write_atomic};
use plant::{N_ROWS, NEW_REGIME_AT, OLD_REGIME_ENDS_AT, OUTLIER_SHARE, Plant};
use std::fs;
use std::path::PathBuf;
use std::time::Instant;

/// Rows scored, then learnt, together.
const BATCH: usize = 100;
/// Batches between snapshots.
const SNAPSHOT_EVERY: usize = 5;

/// What was seen while the stream went by.
struct Course {
    verdicts: Vec<Verdict>,
    /// Why a row was surprising, for those that were.
    reasons: Vec<(usize, Vec<Reason>)>,
    /// Rows seen, components in the snapshot, components held.
    sizes: Vec<(f64, f64, f64)>,
    /// Rows seen, the batch's median log-score, and the best possible.
    log_scores: Vec<(f64, f64, f64)>,
    events: Vec<Event>,
    drift_alarms: Vec<DriftAlarm>,
    seconds: f64,
}

/// Rows that raised an alarm, and how many of them were planted.
struct Alarms {
    /// The rows, the most surprising first.
    rows: Vec<usize>,
    n_planted: usize,
    n_found: usize,
    /// Alarms that are rows of the new regime, soon after it began.
    n_new_regime: usize,
}

impl Alarms {
    fn recall(&self) -> f64 {
        self.n_found as f64 / self.n_planted.max(1) as f64
    }

    fn precision(&self) -> f64 {
        self.n_found as f64 / self.rows.len().max(1) as f64
    }
}

/// Makes the folder of a demonstration and names the files in it.
fn files_in(folder: &str) -> Result<impl Fn(&str) -> String, Failure> {
    let path = PathBuf::from(folder);
    fs::create_dir_all(&path).map_err(|error| {
        Failure::Failed(format!("{folder}: the folder cannot be made: {error}; choose another with --out"))
    })?;
    Ok(move |name: &str| path.join(name).display().to_string())
}

/// Runs the demonstration and writes its files into a folder.
pub fn run(folder: &str, seed: u64) -> Result<(), Failure> {
    let file = files_in(folder)?;
    let plant = Plant::new(seed);
    write_stream(&file("stream.csv"), &plant)?;
    write_labels(&file("labels.csv"), &plant)?;
    let mut model = Model::new(Config { seed, ..Config::new(Kind::GmmOfab, plant::sensors()) })?;
    let course = learn(&mut model, &plant)?;
    let snapshot = model.snapshot();
    let alarms = alarms(&course.verdicts, &plant);
    model_file::save(&file("model.bay"), &model)?;
    let page = report::page(&plant, &course, &snapshot, &alarms);
    write_atomic(file("report.html"), page.to_html().as_bytes())?;
    terminal::print(&closing_words(folder, &course, &snapshot, &alarms, &plant))
}

fn learn(model: &mut Model, plant: &Plant) -> Result<Course, Failure> {
    let d = plant::sensors().len();
    let begun = Instant::now();
    let mut progress = Progress::over(Some(N_ROWS as u64));
    let mut course = Course {
        verdicts: Vec::with_capacity(N_ROWS),
        reasons: Vec::new(),
        sizes: Vec::new(),
        log_scores: Vec::new(),
        events: Vec::new(),
        drift_alarms: Vec::new(),
        seconds: 0.0,
    };
    let (mut verdicts, mut n_events) = (Vec::new(), 0);
    for (batch_ix, rows) in plant.rows.chunks(BATCH * d).enumerate() {
        let first = batch_ix * BATCH;
        let scorer = model.scorer();
        let batch = Batch::new(rows, d).map_err(|error| Failure::Failed(error.to_string()))?;
        let report = model.watch_into(&batch, &mut verdicts).map_err(|error| Failure::Failed(error.to_string()))?;
        for (ix, _) in verdicts.iter().enumerate().filter(|(_, verdict)| verdict.p_value <= UNUSUAL) {
            course.reasons.push((first + ix, scorer.reasons(&rows[ix * d..(ix + 1) * d])));
        }
        let seen = first + verdicts.len();
        let known: Vec<f64> = verdicts.iter().map(|verdict| verdict.log_density).filter(|v| v.is_finite()).collect();
        course.log_scores.push((seen as f64, median(known), median(plant.log_density(first..seen))));
        course.verdicts.append(&mut verdicts);
        // The log is bounded: events are collected as they come.
        let n_new = (model.events().n_total() - n_events) as usize;
        let kept = model.events().iter();
        let n_old = kept.len().saturating_sub(n_new);
        course.events.extend(kept.skip(n_old));
        n_events = model.events().n_total();
        if (batch_ix + 1).is_multiple_of(SNAPSHOT_EVERY) {
            let snapshot = model.snapshot();
            course.sizes.push((seen as f64, snapshot.k_realized() as f64, snapshot.k_implemented as f64));
        }
        progress.update(seen as u64, &report);
    }
    progress.clear();
    course.drift_alarms = model.drift_alarms().to_vec();
    course.seconds = begun.elapsed().as_secs_f64();
    Ok(course)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// The rows with a p-value of at most the share of wrong ones.
fn alarms(verdicts: &[Verdict], plant: &Plant) -> Alarms {
    let mut rows: Vec<usize> = (0..verdicts.len()).filter(|ix| verdicts[*ix].p_value <= OUTLIER_SHARE).collect();
    rows.sort_by(|a, b| verdicts[*b].surprise.total_cmp(&verdicts[*a].surprise).then(a.cmp(b)));
    let is_planted = |row: &&usize| plant.planted.binary_search_by_key(*row, |p| p.row).is_ok();
    let n_found = rows.iter().filter(is_planted).count();
    let n_new_regime = rows.iter().filter(|row| !is_planted(row) && plant.is_new_regime(**row)).count();
    Alarms { rows, n_planted: plant.planted.len(), n_found, n_new_regime }
}

fn write_stream(path: &str, plant: &Plant) -> Result<(), Failure> {
    let columns: Vec<OutColumn> = plant::sensors().iter().map(|name| OutColumn::new(name, CellKind::Float)).collect();
    let d = columns.len();
    let mut table = TableWriter::create(path, None, columns)?;
    let mut cells = Vec::with_capacity(d);
    for row in plant.rows.chunks_exact(d) {
        cells.clear();
        cells.extend(row.iter().map(|value| Cell::Float(*value)));
        table.write_row(&cells)?;
    }
    Ok(table.finish()?)
}

fn write_labels(path: &str, plant: &Plant) -> Result<(), Failure> {
    let columns = vec![
        OutColumn::new("row", CellKind::Int),
        OutColumn::new("regime", CellKind::Text),
        OutColumn::new("wrong", CellKind::TextList),
    ];
    let names = plant::sensors();
    let mut table = TableWriter::create(path, None, columns)?;
    for (row, regime) in plant.regimes.iter().enumerate() {
        let planted = plant.planted.binary_search_by_key(&row, |p| p.row).ok();
        let wrong: Vec<String> =
            planted.iter().flat_map(|ix| &plant.planted[*ix].sensors).map(|sensor| names[*sensor].clone()).collect();
        let number = Cell::Int(i64::try_from(row + 1).unwrap_or(i64::MAX));
        table.write_row(&[number, Cell::Text(plant::regime_name(*regime)), Cell::TextList(&wrong)])?;
    }
    Ok(table.finish()?)
}

fn closing_words(folder: &str, course: &Course, snapshot: &Snapshot, alarms: &Alarms, plant: &Plant) -> String {
    let regimes: Vec<&str> =
        snapshot.components.iter().map(|c| plant::regime_name(plant.nearest_regime(&c.mean))).collect();
    format!(
        "A made-up plant with 8 sensors, {rows} rows, learnt in one pass in {seconds} s ({rate} rows/s).\n\
         \n  \
           A regime began at row {new}, another ended at row {old}, one sensor drifted all the time.\n  \
           The model ended with {k} components, for the regimes: {regimes}.\n  \
           {planted} rows with wrong readings were planted. Each row was judged before it was learnt; an alarm\n  \
           rate of {rate_percent} % gave {alarms} alarms and found {found} of them (recall {recall:.0} %, precision \
           {precision:.0} %).\n  \
           {new_rows} other alarms are rows of the new regime.\n\
         \nLook at\n  \
           {folder}/report.html   components over time, log-score, outliers and why\n\
         \nTry next\n  \
           bayestream inspect {folder}/model.bay\n  \
           bayestream score {folder}/model.bay {folder}/stream.csv -o {folder}/scores.csv\n  \
           bayestream plot {folder}/model.bay {folder}/stream.csv --row {top_row} -o {folder}/row.png\n",
        rows = thousands(N_ROWS as u64),
        seconds = short(course.seconds),
        rate = thousands((N_ROWS as f64 / course.seconds.max(1e-9)) as u64),
        new = thousands(NEW_REGIME_AT as u64),
        old = thousands(OLD_REGIME_ENDS_AT as u64),
        k = snapshot.k_realized(),
        regimes = regimes.join(", "),
        planted = alarms.n_planted,
        found = alarms.n_found,
        recall = 100.0 * alarms.recall(),
        precision = 100.0 * alarms.precision(),
        rate_percent = 100.0 * OUTLIER_SHARE,
        alarms = alarms.rows.len(),
        new_rows = alarms.n_new_regime,
        // A late one, which the model as it is now still finds surprising.
        top_row = alarms.rows.iter().find(|row| **row >= N_ROWS * 5 / 6).map_or(1, |row| row + 1),
    )
}
