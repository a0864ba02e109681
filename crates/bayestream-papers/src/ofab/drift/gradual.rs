//! Means that move three standard deviations over 20,000 rows: what does following them cost?

use crate::error::ReproduceError;
use crate::experiment::Setting;
use crate::learn::{feed, new_model};
use crate::parallel::run_all;
use crate::summary::{list, mean_sd_text, three};
use crate::table::Table;
use bayestream::model::{Kind, Settings};
use bayestream::structure::Happening;
use bayestream::synthetic::{Covariance, GradualDrift, ofab_truth};

const N_ROWS: usize = 20_000;
const BATCH: usize = 10;
/// Rows before the count begins: the model must first be found.
const SKIPPED: usize = 2000;
const K: usize = 5;
const D: usize = 3;

struct Run {
    /// Mean true log-density minus mean prequential log-score.
    excess: f64,
    k: usize,
    n_drift_events: usize,
}

pub fn run(setting: &mut Setting<'_>, seeds: &[u64]) -> Result<Table, ReproduceError> {
    let jobs: Vec<(bool, bool, u64)> = [(true, true), (true, false), (false, true), (false, false)]
        .into_iter()
        .flat_map(|(moves, detects)| seeds.iter().map(move |&seed| (moves, detects, seed)))
        .collect();
    let describe = |&(moves, detects, seed): &(bool, bool, u64), run: &Run| {
        format!("drift: means move {moves}, drift detected {detects}, seed {seed}: excess {}", three(run.excess))
    };
    let run_job = |&(moves, detects, seed): &(bool, bool, u64)| one_run(moves, detects, seed);
    let runs = run_all(&jobs, setting.n_threads, setting.progress, describe, run_job)?;
    let title = format!(
        "Means that move 3 sd over {N_ROWS} rows (K={K}, D={D}, T={BATCH}, seeds {}): true minus prequential \
         log-density, nats a row, after the first {SKIPPED} rows",
        list(seeds)
    );
    let mut table = Table::new("gradual", title, ["means", "drift", "excess log-loss", "K, each seed", "drift events"]);
    for ix in (0..jobs.len()).step_by(seeds.len().max(1)) {
        let (moves, detects, _) = jobs[ix];
        let of_kind = &runs[ix..ix + seeds.len()];
        table.row([
            if moves { "move" } else { "stay" }.to_string(),
            if detects { "auto" } else { "off" }.to_string(),
            mean_sd_text(&of_kind.iter().map(|r| r.excess).collect::<Vec<_>>()),
            list(of_kind.iter().map(|r| r.k)),
            list(of_kind.iter().map(|r| r.n_drift_events)),
        ]);
    }
    Ok(table)
}

fn one_run(moves: bool, detects: bool, seed: u64) -> Result<Run, ReproduceError> {
    let start = ofab_truth(K, D, Covariance::Aat, seed);
    let drift = GradualDrift::new(start, if moves { 3.0 } else { 0.0 }, N_ROWS, seed);
    let (rows, _) = drift.sample(N_ROWS, seed);
    let log_truth = drift.log_density(&rows);
    let mut model = new_model(Kind::GmmOfab, D, seed, Settings { drift: detects, ..Settings::default() })?;
    let (mut score, mut truth, mut n) = (0.0, 0.0, 0);
    feed(&mut model, &rows, BATCH, |n_done, _, report| {
        let first = (n_done - 1) * BATCH;
        if first >= SKIPPED && report.n_scored == report.n_rows {
            score += report.log_score;
            truth += log_truth[first..first + report.n_rows].iter().sum::<f64>();
            n += report.n_rows;
        }
    })?;
    let n_drift_events = model.events().iter().filter(|event| event.what == Happening::Drift).count();
    Ok(Run { excess: (truth - score) / n as f64, k: model.snapshot().k_realized(), n_drift_events })
}
