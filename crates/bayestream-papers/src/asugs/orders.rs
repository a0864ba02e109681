//! Orders of rows: one class after the other, and many random orders of the same rows.

use super::methods::{ABOUT_PRIOR, ABOUT_PRUNING, ASUGS_PM, METHODS, Method};
use super::{assigned, classes, learnt};
use crate::error::ReproduceError;
use crate::experiment::Setting;
use crate::learn::evaluation_seed;
use crate::outcome::Outcome;
use crate::parallel::run_all;
use crate::summary::{list, mean_sd, mean_sd_text};
use crate::table::Table;
use bayestream::metrics::adjusted_rand_index;
use bayestream::num;
use bayestream::synthetic::{Covariance, Truth, ofab_truth};

const BATCH: usize = 50;
const N_PERMUTATIONS: u64 = 30;
const N_PERMUTED: usize = 500;
const N_TEST: usize = 1000;

/// Pruning at every row, as printed.
const AT_EVERY_ROW: Method = Method {
    name: "ASUGS-PM, as printed, at every row",
    kind: ASUGS_PM.kind,
    set: &[("prune-merge", "paper"), ("prune-every", "1")],
};

/// A stream that comes class by class.
struct Sorted {
    name: &'static str,
    k: usize,
    n_rows: usize,
    truth: fn(u64) -> Truth,
}

const SORTED: [Sorted; 2] = [
    Sorted { name: "grid", k: 16, n_rows: 4000, truth: |_| classes::truth() },
    Sorted { name: "aat (10, 3)", k: 10, n_rows: 10_000, truth: |seed| ofab_truth(10, 3, Covariance::Aat, seed) },
];

struct Run {
    k: usize,
    ari: f64,
    log_likelihood: f64,
}

fn judged(
    method: &Method,
    rows: &[f64],
    (test, labels): (&[f64], &[u32]),
    d: usize,
    seed: u64,
) -> Result<Run, ReproduceError> {
    let snapshot = learnt(method.kind, d, rows, BATCH, seed, method.settings(&[])?)?.snapshot();
    Ok(Run {
        k: snapshot.k_realized(),
        ari: adjusted_rand_index(&assigned(&snapshot, test), labels),
        log_likelihood: snapshot.scorer().mean_log_density(test),
    })
}

pub fn run(setting: &mut Setting<'_>) -> Result<Outcome, ReproduceError> {
    let seeds = setting.seeds(9300..9305);
    let tables = vec![sorted(setting, &seeds)?, permuted(setting, seeds[0])?];
    let notes = vec![
        format!(
            "**Class by class.** All rows of a class, then all of the next: `grid` is the stream of `asugs/classes` with {} \
             rows, `aat (10, 3)` a random mixture of the online FAB paper with {} rows, seeds {}. The adjusted Rand index is \
             of the rows learnt from, as the last model has them.",
            SORTED[0].n_rows,
            SORTED[1].n_rows,
            list(&seeds)
        ),
        format!(
            "**Random orders.** {N_PERMUTED} rows of 16 classes (seed {}) in {N_PERMUTATIONS} orders; the spread is what the \
             order alone does. {ABOUT_PRIOR} {ABOUT_PRUNING}",
            seeds[0]
        ),
    ];
    Ok(Outcome { notes, tables, figures: Vec::new(), files: Vec::new() })
}

fn sorted(setting: &mut Setting<'_>, seeds: &[u64]) -> Result<Table, ReproduceError> {
    let methods: Vec<Method> = METHODS.into_iter().chain([AT_EVERY_ROW]).collect();
    let mut jobs: Vec<(usize, usize, u64)> = Vec::new();
    for m in 0..methods.len() {
        for s in 0..SORTED.len() {
            jobs.extend(seeds.iter().map(|&seed| (m, s, seed)));
        }
    }
    let describe = |&(m, s, seed): &(usize, usize, u64), run: &Run| {
        format!("orders {} {} seed {seed}: K {} ARI {:.3}", SORTED[s].name, methods[m].name, run.k, run.ari)
    };
    let run_job = |&(m, s, seed): &(usize, usize, u64)| {
        let truth = (SORTED[s].truth)(seed);
        let (rows, labels) = truth.sample_sorted(SORTED[s].n_rows, seed);
        judged(&methods[m], &rows, (&rows, &labels), truth.n_columns(), seed)
    };
    let runs = run_all(&jobs, setting.n_threads, setting.progress, describe, run_job)?;
    let head = ["method".to_string()].into_iter();
    let columns = SORTED.iter().flat_map(|s| [format!("{}: K ({})", s.name, s.k), "ARI".into(), "worst ARI".into()]);
    let mut table = Table::new("", "Rows that come class by class", head.chain(columns));
    for (method, runs) in methods.iter().zip(runs.chunks(SORTED.len() * seeds.len())) {
        let mut row = vec![method.name.to_string()];
        for runs in runs.chunks(seeds.len()) {
            let ari: Vec<f64> = runs.iter().map(|r| r.ari).collect();
            row.push(list(runs.iter().map(|r| r.k)));
            row.push(format!("{:.3}", mean_sd(&ari).0));
            row.push(format!("{:.3}", ari.iter().copied().fold(f64::INFINITY, f64::min)));
        }
        table.row(row);
    }
    Ok(table)
}

fn permuted(setting: &mut Setting<'_>, seed: u64) -> Result<Table, ReproduceError> {
    let truth = classes::truth();
    let (rows, _) = truth.sample(N_PERMUTED, seed);
    let (test, labels) = truth.sample(N_TEST, evaluation_seed(seed));
    let best = truth.log_density(&test).iter().sum::<f64>() / N_TEST as f64;
    let jobs: Vec<(usize, u64)> = (0..METHODS.len()).flat_map(|m| (0..N_PERMUTATIONS).map(move |p| (m, p))).collect();
    let describe = |&(m, p): &(usize, u64), run: &Run| format!("orders {} order {p}: K {}", METHODS[m].name, run.k);
    let run_job = |&(m, p): &(usize, u64)| {
        let mut order: Vec<usize> = (0..N_PERMUTED).collect();
        num::stream(seed, 1, p).shuffle(&mut order);
        let rows: Vec<f64> = order.iter().flat_map(|i| rows[2 * i..2 * i + 2].iter().copied()).collect();
        judged(&METHODS[m], &rows, (&test, &labels), 2, seed)
    };
    let runs = run_all(&jobs, setting.n_threads, setting.progress, describe, run_job)?;
    let title = format!("The same {N_PERMUTED} rows in {N_PERMUTATIONS} orders: mean and standard deviation");
    let mut table = Table::new("permutations", title, ["method", "K", "test", "lost", "ARI"]);
    for (method, runs) in METHODS.iter().zip(runs.chunks(N_PERMUTATIONS as usize)) {
        let of = |value: fn(&Run) -> f64| runs.iter().map(value).collect::<Vec<f64>>();
        let test = of(|r| r.log_likelihood);
        table.row([
            method.name.to_string(),
            mean_sd_text(&of(|r| r.k as f64)),
            mean_sd_text(&test),
            format!("{:.3}", best - mean_sd(&test).0),
            mean_sd_text(&of(|r| r.ari)),
        ]);
    }
    Ok(table)
}
