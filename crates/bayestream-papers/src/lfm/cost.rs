//! Time and memory of one pass against columns and features.

use crate::error::ReproduceError;
use crate::experiment::Setting;
use crate::outcome::Outcome;
use crate::summary::three;
use crate::table::Table;
use bayestream::data::Batch;
use bayestream::engine::FeatureLearner;
use bayestream::engine::lfm::{OnlineFab, OnlineSettings};
use bayestream::structure::FeatureReader;
use bayestream::synthetic::{PlantedFeatures, with_holes};
use bayestream_plot::{Chart, grid};
use cpu_time::ThreadTime;

/// Columns and features.
const SIZES: [(usize, usize); 9] =
    [(10, 3), (30, 3), (30, 5), (30, 10), (30, 20), (100, 5), (100, 10), (100, 20), (300, 10)];
/// Rows learnt after the first fit.
const ROWS: usize = 3000;
/// Rows read.
const READ: usize = 1000;
const HIDDEN: f64 = 0.1;

struct Run {
    d: usize,
    k: usize,
    found: usize,
    first_fit: f64,
    /// Microseconds of a row: learnt, learnt with holes, read.
    learnt: f64,
    with_holes: f64,
    read: f64,
    /// Kilobytes of the learner, with and without holes.
    state: f64,
    state_with_holes: f64,
}

/// Seconds of the first fit, microseconds of a row after it, and the learner.
fn stream(rows: &[f64], d: usize, first: usize, seed: u64) -> (f64, f64, OnlineFab) {
    let mut learner = OnlineFab::new(OnlineSettings::default(), d, seed, 0);
    let mut timed = |rows: &[f64]| {
        let clock = ThreadTime::now();
        if let Ok(batch) = Batch::new(rows, d) {
            learner.update(&batch);
        }
        clock.elapsed().as_secs_f64()
    };
    let first_fit = timed(&rows[..first * d]);
    let rest = timed(&rows[first * d..]);
    (first_fit, rest * 1e6 / ROWS as f64, learner)
}

fn kilobytes(learner: &OnlineFab) -> f64 {
    serde_json::to_vec(learner).map_or(f64::NAN, |bytes| bytes.len() as f64 / 1024.0)
}

fn learn(d: usize, k: usize, seed: u64) -> Run {
    let planted = PlantedFeatures::gaussian(d, k, seed);
    let first = OnlineSettings::default().first_rows(d);
    let rows = planted.rows(0, first + ROWS);
    let (first_fit, learnt, learner) = stream(&rows, d, first, seed);
    let holes = with_holes(&rows, HIDDEN, seed);
    let (_, with_holes, learner_with_holes) = stream(&holes, d, first, seed);
    let set = learner.features();
    let found = set.features.len();
    let mut reader = FeatureReader::new(set);
    let clock = ThreadTime::now();
    rows.chunks_exact(d).take(READ).for_each(|row| {
        reader.read(row);
    });
    let read = clock.elapsed().as_secs_f64() * 1e6 / READ as f64;
    let (state, state_with_holes) = (kilobytes(&learner), kilobytes(&learner_with_holes));
    Run { d, k, found, first_fit, learnt, with_holes, read, state, state_with_holes }
}

pub fn run(setting: &mut Setting<'_>) -> Result<Outcome, ReproduceError> {
    let seed = setting.seeds(9700..9701)[0];
    let mut runs = Vec::new();
    for (d, k) in SIZES {
        let run = learn(d, k, seed);
        (setting.progress)(&format!("cost D = {d}, K = {k}: {} µs a row", three(run.learnt)));
        runs.push(run);
    }
    let columns = [
        "D",
        "K",
        "K found",
        "first fit, s",
        "µs a row learnt",
        "10 % of cells missing",
        "µs a row read",
        "state, kB as text",
        "10 % of cells missing",
    ];
    let mut table = Table::new("", "Time and memory of one pass", columns);
    for run in &runs {
        let numbers = [run.first_fit, run.learnt, run.with_holes, run.read, run.state, run.state_with_holes].map(three);
        let mut cells = vec![run.d.to_string(), run.k.to_string(), run.found.to_string()];
        cells.extend(numbers);
        table.row(cells);
    }
    let line = |of: &dyn Fn(&Run) -> bool, x: &dyn Fn(&Run) -> f64, y: &dyn Fn(&Run) -> f64| -> Vec<(f64, f64)> {
        runs.iter().filter(|run| of(run)).map(|run| (x(run), y(run))).collect()
    };
    let chart = |title: &str, label: &str| Chart::new(title).size(440.0, 320.0).x_label(label).log_x().log_y();
    let against_d = |y: &dyn Fn(&Run) -> f64| line(&|run| run.k == 10, &|run| run.d as f64, y);
    let against_k = |y: &dyn Fn(&Run) -> f64| line(&|run| run.d == 30, &|run| run.k as f64, y);
    let charts = [
        chart("µs a row, ten features", "columns")
            .line("learnt", &against_d(&|run| run.learnt))
            .line("with holes", &against_d(&|run| run.with_holes))
            .line("read", &against_d(&|run| run.read)),
        chart("µs a row, 30 columns", "features")
            .line("learnt", &against_k(&|run| run.learnt))
            .line("with holes", &against_k(&|run| run.with_holes))
            .line("read", &against_k(&|run| run.read)),
    ];
    let notes = vec![format!(
        "Planted features (seed {seed}); the first fit is of 15 rows for each column, at least 500 and at most 4000; after it {ROWS} rows are learnt in one pass. Times are \
         of this machine, for ratios within the table. The state does not grow with the rows: it holds the waiting and the latest rows, and \
         statistics, of which every column with missing cells has its own."
    )];
    let caption = "Time of a row against columns and features".to_string();
    Ok(Outcome { notes, tables: vec![table], figures: vec![("size", caption, grid(&charts, 2))], files: Vec::new() })
}
