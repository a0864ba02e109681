//! A stream whose features change at once: two of five are replaced and two come anew.

use super::trial::foretell;
use crate::error::ReproduceError;
use crate::experiment::Setting;
use crate::outcome::Outcome;
use crate::parallel::run_all;
use crate::summary::mean_sd;
use crate::table::Table;
use bayestream::data::Batch;
use bayestream::engine::FeatureLearner;
use bayestream::engine::lfm::{OnlineFab, OnlineSettings};
use bayestream::structure::Happening;
use bayestream::synthetic::{PlantedFeatures, with_holes};
use bayestream_plot::Chart;

const COLUMNS: usize = 30;
const BEFORE: usize = 3000;
const AFTER: usize = 3000;
const BATCH: usize = 100;
/// Batches after the change at which rows that are not learnt are judged.
const JUDGED: [usize; 4] = [1, 6, 15, 30];
const HELD_OUT: usize = 500;
const HIDDEN: f64 = 0.3;

struct Run {
    /// PLL just before the change, and at each of `JUDGED`.
    path: Vec<f64>,
    k: usize,
    /// Changes told before and after there was one.
    n_false: usize,
    is_told: bool,
}

fn learn(&(watches, seed): &(bool, u64)) -> Result<Run, ReproduceError> {
    let before = PlantedFeatures::gaussian(COLUMNS, 5, seed);
    let mut after = PlantedFeatures::gaussian(COLUMNS, 7, seed + 1_000_000);
    after.weights[..3].clone_from_slice(&before.weights[..3]);
    let settings = OnlineSettings { watches_drift: watches, ..OnlineSettings::default() };
    let mut learner = OnlineFab::new(settings, COLUMNS, seed, 0);
    let judge = |learner: &OnlineFab, stream: &PlantedFeatures| {
        let test = stream.rows(1_000_000, HELD_OUT);
        foretell(&learner.features(), &with_holes(&test, HIDDEN, seed), &test).hidden
    };
    let feed = |learner: &mut OnlineFab, rows: &[f64]| {
        if let Ok(batch) = Batch::new(rows, COLUMNS) {
            learner.update(&batch);
        }
    };
    let rows = before.rows(0, BEFORE);
    rows.chunks(BATCH * COLUMNS).for_each(|part| feed(&mut learner, part));
    let mut path = vec![judge(&learner, &before)];
    let rows = after.rows(0, AFTER);
    for (at, part) in rows.chunks(BATCH * COLUMNS).enumerate() {
        feed(&mut learner, part);
        if JUDGED.contains(&(at + 1)) {
            path.push(judge(&learner, &after));
        }
    }
    let told: Vec<u64> = learner.events().iter().filter(|e| e.what == Happening::Drift).map(|e| e.row).collect();
    Ok(Run {
        path,
        k: learner.features().features.len(),
        n_false: told.iter().filter(|row| **row <= BEFORE as u64).count(),
        is_told: told.iter().any(|row| *row > BEFORE as u64),
    })
}

pub fn run(setting: &mut Setting<'_>) -> Result<Outcome, ReproduceError> {
    let seeds = setting.seeds(9700..9710);
    let jobs: Vec<(bool, u64)> = [true, false].iter().flat_map(|&w| seeds.iter().map(move |&s| (w, s))).collect();
    let describe = |(watches, seed): &(bool, u64), run: &Run| {
        format!("drift {}, seed {seed}: K {}", if *watches { "watched" } else { "not watched" }, run.k)
    };
    let runs = run_all(&jobs, setting.n_threads, setting.progress, describe, learn)?;
    let mut columns = vec!["changes".to_string(), "PLL before".to_string()];
    columns.extend(JUDGED.iter().map(|n| format!("{n} batches after")));
    columns.extend(["K at the end (true 7)", "changes told", "false alarms"].map(String::from));
    let mut table = Table::new("", "Features that change at once", columns);
    let mut chart =
        Chart::new("PLL after the change").size(520.0, 320.0).x_label("batches of 100 rows after the change");
    for watches in [true, false] {
        let of: Vec<&Run> = jobs.iter().zip(&runs).filter(|(job, _)| job.0 == watches).map(|(_, run)| run).collect();
        let mean = |at: usize| mean_sd(&of.iter().map(|run| run.path[at]).collect::<Vec<_>>()).0;
        let name = if watches { "watched (the default)" } else { "not watched" };
        let mut cells = vec![name.to_string()];
        cells.extend((0..=JUDGED.len()).map(|at| format!("{:.3}", mean(at))));
        cells.push(of.iter().map(|run| run.k.to_string()).collect::<Vec<_>>().join(" "));
        cells.push(format!("{} of {}", of.iter().filter(|run| run.is_told).count(), of.len()));
        cells.push(of.iter().map(|run| run.n_false).sum::<usize>().to_string());
        table.row(cells);
        let points: Vec<(f64, f64)> = JUDGED.iter().enumerate().map(|(at, n)| (*n as f64, mean(at + 1))).collect();
        chart = chart.line(name, &points);
    }
    let notes = vec![format!(
        "{BEFORE} rows of {COLUMNS} columns with five features, then {AFTER} rows with three of them and four new ones; {} draws (seeds {} to {}). PLL is of \
         the hidden {:.0} % of the cells of {HELD_OUT} rows that are not learnt, in the columns' own units.",
        seeds.len(),
        seeds[0],
        seeds[seeds.len() - 1],
        100.0 * HIDDEN
    )];
    let caption = "Predictive log-likelihood after the change".to_string();
    let figure = bayestream_plot::grid(&[chart], 1);
    Ok(Outcome { notes, tables: vec![table], figures: vec![("course", caption, figure)], files: Vec::new() })
}
