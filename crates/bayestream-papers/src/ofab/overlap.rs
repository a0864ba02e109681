//! Streams harder than the paper's: components that overlap, nearly singular covariances, rows sorted by cluster.

use super::{Pass, divergence, exact_count, one_pass, worst_error};
use crate::error::ReproduceError;
use crate::experiment::Setting;
use crate::learn::{feed, new_model};
use crate::outcome::Outcome;
use crate::parallel::run_all;
use crate::summary::{list, mean_sd, mean_sd_text, three};
use crate::table::Table;
use bayestream::model::{Kind, Settings};
use bayestream::synthetic::{Covariance, ofab_truth};

const BATCH: usize = 10;

struct Cell {
    what: &'static str,
    covariance: Covariance,
    k: usize,
    d: usize,
    n_rows: usize,
    sorted: bool,
}

const CELLS: [Cell; 4] = [
    Cell { what: "spd", covariance: Covariance::Spd, k: 10, d: 3, n_rows: 25_000, sorted: false },
    Cell { what: "spd", covariance: Covariance::Spd, k: 30, d: 10, n_rows: 25_000, sorted: false },
    Cell { what: "aat-raw", covariance: Covariance::AatRaw, k: 30, d: 10, n_rows: 25_000, sorted: false },
    Cell {
        what: "aat, sorted by cluster, drift=off",
        covariance: Covariance::Aat,
        k: 10,
        d: 10,
        n_rows: 50_000,
        sorted: true,
    },
];

pub fn run(setting: &mut Setting<'_>) -> Result<Outcome, ReproduceError> {
    let seeds = setting.seeds(2000..2005);
    let jobs: Vec<(usize, u64)> =
        (0..CELLS.len()).flat_map(|cell| seeds.iter().map(move |&seed| (cell, seed))).collect();
    let describe = |&(cell, seed): &(usize, u64), pass: &Pass| {
        let Cell { what, k, d, .. } = CELLS[cell];
        format!("overlap {what} K={k} D={d} seed {seed}: K {} KL {}", pass.k, three(pass.kl.mean))
    };
    let run_job = |&(cell, seed): &(usize, u64)| run_cell(&CELLS[cell], seed);
    let passes = run_all(&jobs, setting.n_threads, setting.progress, describe, run_job)?;
    let mut table = Table::new(
        "",
        "Divergence from the truth on harder streams, nats",
        ["stream", "K*", "D", "N", "limit", "ours", "worst", "ratio", "KL error", "K exact", "K, each seed"],
    );
    for (ix, cell) in CELLS.iter().enumerate() {
        let of_cell: Vec<&Pass> = jobs.iter().zip(&passes).filter(|(job, _)| job.0 == ix).map(|(_, p)| p).collect();
        let kl: Vec<f64> = of_cell.iter().map(|p| p.kl.mean).collect();
        let limit = ofab_truth(cell.k, cell.d, cell.covariance, 0).n_free() / (2.0 * cell.n_rows as f64);
        table.row([
            cell.what.to_string(),
            cell.k.to_string(),
            cell.d.to_string(),
            cell.n_rows.to_string(),
            three(limit),
            mean_sd_text(&kl),
            three(kl.iter().copied().fold(f64::NEG_INFINITY, f64::max)),
            format!("{:.2}", mean_sd(&kl).0 / limit),
            format!("{:.1} %", 100.0 * worst_error(&of_cell)),
            exact_count(&of_cell, cell.k),
            list(of_cell.iter().map(|p| p.k)),
        ]);
    }
    let note = format!(
        "`gmm/ofab`, one pass in batches of {BATCH}, seeds {}. `spd` covariances are nearly round and overlap strongly \
         in three columns; `aat-raw` covariances are A Aᵀ, elongated and nearly singular. The limit is P/2N.",
        list(&seeds)
    );
    Ok(Outcome { notes: vec![note], tables: vec![table], ..Outcome::default() })
}

fn run_cell(cell: &Cell, seed: u64) -> Result<Pass, ReproduceError> {
    let truth = ofab_truth(cell.k, cell.d, cell.covariance, seed);
    if !cell.sorted {
        return one_pass(&truth, cell.n_rows / BATCH, BATCH, seed, Settings::default(), &[]);
    }
    let settings = Settings { drift: false, ..Settings::default() };
    let mut model = new_model(Kind::GmmOfab, cell.d, seed, settings)?;
    let (rows, _) = truth.sample_sorted(cell.n_rows, seed);
    feed(&mut model, &rows, BATCH, |_, _, _| {})?;
    let snapshot = model.snapshot();
    Ok(Pass { k: snapshot.k_realized(), kl: divergence(&truth, &snapshot, seed), path: Vec::new() })
}
