//! Many clusters: what the paper's box of 10 to 30 leaves open.

use super::{Pass, divergence};
use crate::error::ReproduceError;
use crate::experiment::Setting;
use crate::learn::{feed, new_model};
use crate::outcome::Outcome;
use crate::parallel::run_all;
use crate::summary::{list, mean_sd, mean_sd_text, three};
use crate::table::Table;
use bayestream::model::{Kind, Settings};
use bayestream::num;
use bayestream::synthetic::{Covariance, Truth, ofab_truth};
use cpu_time::ThreadTime;

const BATCH: usize = 500;
/// Rows for each cluster, and rows at least.
const ROWS_PER_CLUSTER: usize = 200;
const FEWEST_ROWS: usize = 20_000;
/// Clusters in the box of the paper; with few columns it grows with their number, so that they stay apart.
const IN_THE_BOX: f64 = 10.0;
const FEW_COLUMNS: usize = 3;

#[derive(Clone, Copy, PartialEq)]
enum Order {
    Mixed,
    /// Clusters come in one after the other, over the first half of the rows.
    Gradual,
    Sorted,
    SortedDriftOff,
}

impl Order {
    fn name(self) -> &'static str {
        match self {
            Order::Mixed => "mixed",
            Order::Gradual => "gradual",
            Order::Sorted => "sorted",
            Order::SortedDriftOff => "sorted, drift=off",
        }
    }
}

struct Cell {
    k: usize,
    d: usize,
    order: Order,
}

fn cells() -> Vec<Cell> {
    let sizes = |counts: &'static [usize]| counts.iter().flat_map(|&k| [2, 3, 10, 20].map(|d| (k, d)));
    let mixed = sizes(&[60, 100, 200, 500, 1000]).map(|(k, d)| Cell { k, d, order: Order::Mixed });
    let others = [Order::Gradual, Order::Sorted, Order::SortedDriftOff];
    let others = others.into_iter().flat_map(|order| sizes(&[60, 200]).map(move |(k, d)| Cell { k, d, order }));
    mixed.chain(others).collect()
}

/// Well separated clusters.
fn truth_of(cell: &Cell, seed: u64) -> Truth {
    let mut truth = ofab_truth(cell.k, cell.d, Covariance::Aat, seed);
    if cell.d <= FEW_COLUMNS {
        let wider = (cell.k as f64 / IN_THE_BOX).powf(1.0 / cell.d as f64);
        truth.means.iter_mut().flatten().for_each(|v| *v *= wider);
    }
    truth
}

fn n_rows(cell: &Cell) -> usize {
    (ROWS_PER_CLUSTER * cell.k).max(FEWEST_ROWS)
}

/// Clusters that have come in by row `i` of `n`.
fn open_at(k: usize, i: usize, n: usize) -> usize {
    ((k as f64 * (0.1 + 1.8 * i as f64 / n as f64)) as usize).clamp(1, k)
}

/// The mixture that all rows together are draws of: clusters that come in late have fewer.
fn truth_of_all_rows(cell: &Cell, mut truth: Truth) -> Truth {
    if cell.order == Order::Gradual {
        let n = n_rows(cell);
        truth.weights.fill(0.0);
        for i in 0..n {
            let open = open_at(cell.k, i, n);
            truth.weights[..open].iter_mut().for_each(|w| *w += 1.0 / (open * n) as f64);
        }
    }
    truth
}

fn rows_of(cell: &Cell, truth: &Truth, seed: u64) -> Vec<f64> {
    let n = n_rows(cell);
    match cell.order {
        Order::Mixed => truth.sample(n, seed).0,
        Order::Sorted | Order::SortedDriftOff => truth.sample_sorted(n, seed).0,
        Order::Gradual => {
            let (mut draws, mut rng, mut rows) = (truth.draws(seed), num::stream(seed, 1, 0), Vec::new());
            for i in 0..n {
                draws.push_row_of(rng.below(open_at(cell.k, i, n)), &mut rows);
            }
            rows
        }
    }
}

pub fn run(setting: &mut Setting<'_>) -> Result<Outcome, ReproduceError> {
    let seeds = setting.seeds(9300..9305);
    let cells = cells();
    let kinds = [Kind::GmmOfab, Kind::MppcaOfab, Kind::GmmDp];
    let jobs: Vec<(usize, Kind, u64)> = (0..cells.len())
        .flat_map(|cell| kinds.iter().flat_map(move |&kind| [(cell, kind)]))
        .flat_map(|(cell, kind)| seeds.iter().map(move |&seed| (cell, kind, seed)))
        // A Dirichlet-process mixture does not follow drift: the order is one and the same.
        .filter(|(cell, kind, _)| *kind != Kind::GmmDp || cells[*cell].order != Order::SortedDriftOff)
        .filter(|(cell, kind, _)| *kind != Kind::MppcaOfab || cells[*cell].d > FEW_COLUMNS)
        .collect();
    let describe = |&(cell, kind, seed): &(usize, Kind, u64), Run { pass, .. }: &Run| {
        let Cell { k, d, order } = &cells[cell];
        let order = order.name();
        format!("large {kind} K={k} D={d} {order} seed {seed}: K {} KL {}", pass.k, three(pass.kl.mean))
    };
    let run_job = |&(cell, kind, seed): &(usize, Kind, u64)| run_cell(&cells[cell], kind, seed);
    let passes = run_all(&jobs, setting.n_threads, setting.progress, describe, run_job)?;
    let mut table = Table::new(
        "",
        "Many clusters: their number found, and divergence from the truth in nats",
        [
            "K*",
            "D",
            "N",
            "rows",
            "limit",
            "gmm: K",
            "gmm: KL",
            "ratio",
            "CPU s",
            "structure",
            "mppca: K",
            "mppca: KL",
            "dpmm: K",
            "dpmm: KL",
            "CPU s",
        ],
    );
    for (ix, cell) in cells.iter().enumerate() {
        let of = |kind: Kind| {
            let found: Vec<&Run> =
                jobs.iter().zip(&passes).filter(|(job, _)| job.0 == ix && job.1 == kind).map(|(_, run)| run).collect();
            let kl: Vec<f64> = found.iter().map(|run| run.pass.kl.mean).collect();
            let cpu: Vec<f64> = found.iter().map(|run| run.cpu_seconds).collect();
            let text = |values: &[f64]| if values.is_empty() { String::new() } else { mean_sd_text(values) };
            let seconds = if cpu.is_empty() { String::new() } else { format!("{:.2}", mean_sd(&cpu).0) };
            let structure: Vec<f64> = found.iter().map(|run| run.structure).collect();
            (list(found.iter().map(|run| run.pass.k)), text(&kl), mean_sd(&kl).0, seconds, mean_sd(&structure).0)
        };
        let limit = truth_of(cell, 0).n_free() / (2.0 * n_rows(cell) as f64);
        let (gmm, mppca, dp) = (of(Kind::GmmOfab), of(Kind::MppcaOfab), of(Kind::GmmDp));
        table.row([
            cell.k.to_string(),
            cell.d.to_string(),
            n_rows(cell).to_string(),
            cell.order.name().to_string(),
            three(limit),
            gmm.0,
            gmm.1,
            format!("{:.2}", gmm.2 / limit),
            gmm.3,
            format!("{:.0} %", 100.0 * gmm.4),
            mppca.0,
            mppca.1,
            dp.0,
            dp.1,
            dp.3,
        ]);
    }
    let note = format!(
        "`gmm/ofab`, `mppca/ofab` and `gmm/dp` with default settings, one pass in batches of {BATCH}, seeds {}. Covariances `aat`; with \
         {FEW_COLUMNS} columns or fewer the box of the means grows with K, so that clusters are as far apart as {IN_THE_BOX} \
         of them in the paper's. Gradual: clusters come in one after the other over the first half of the rows, and divergence is that from \
         what all rows together are drawn from. The limit is P/2N; processor time is of one thread, with other work on the \
         machine. Structure: the share of it beyond what the rows would take if every batch took as long as the median one of the \
         second half: fits of the ring, divisions, deletions and merges.",
        list(&seeds)
    );
    Ok(Outcome { notes: vec![note], tables: vec![table], ..Outcome::default() })
}

struct Run {
    pass: Pass,
    cpu_seconds: f64,
    /// Share of it beyond the steady cost of rows.
    structure: f64,
}

fn run_cell(cell: &Cell, kind: Kind, seed: u64) -> Result<Run, ReproduceError> {
    let truth = truth_of(cell, seed);
    let settings = Settings { drift: cell.order != Order::SortedDriftOff, ..Settings::default() };
    let mut model = new_model(kind, cell.d, seed, settings)?;
    let rows = rows_of(cell, &truth, seed);
    let (start, mut ends) = (ThreadTime::now(), Vec::new());
    feed(&mut model, &rows, BATCH, |_, _, _| ends.push(start.elapsed().as_secs_f64()))?;
    let cpu_seconds = start.elapsed().as_secs_f64();
    let mut late: Vec<f64> = ends[ends.len() / 2..].windows(2).map(|pair| pair[1] - pair[0]).collect();
    late.sort_by(f64::total_cmp);
    let steady = late[late.len() / 2] * ends.len() as f64;
    let snapshot = model.snapshot();
    let kl = divergence(&truth_of_all_rows(cell, truth), &snapshot, seed);
    let pass = Pass { k: snapshot.k_realized(), kl, path: Vec::new() };
    Ok(Run { pass, cpu_seconds, structure: 1.0 - (steady / cpu_seconds).min(1.0) })
}
