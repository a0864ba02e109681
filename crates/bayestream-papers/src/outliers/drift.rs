//! Streams that change at once, and streams that do not: is the change noticed, and nothing else?

use crate::error::ReproduceError;
use crate::experiment::Setting;
use crate::learn::new_model;
use crate::outcome::Outcome;
use crate::parallel::run_all;
use crate::summary::{list, median};
use crate::table::Table;
use bayestream::data::Batch;
use bayestream::model::{Kind, Settings};
use bayestream::num;
use bayestream::outlier::{DriftAlarm, DriftKind, DriftWatch};
use bayestream::synthetic::{Covariance, StudentTruth, Truth, ofab_truth};

/// Rows before the change, and after it.
const BEFORE: usize = 5000;
const AFTER: usize = 3000;
/// A change is found when it is announced within so many rows.
const SOON: u64 = 500;
const COLUMNS: usize = 5;
const BATCH: usize = 10;
/// Rows of each stream that does not change.
const STATIONARY: usize = 100_000;

/// What happens to a stream.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Change {
    Mean,
    Variance,
    Correlation,
    Component,
}

const CHANGES: [(Change, &str); 4] = [
    (Change::Mean, "a column moves by its sd"),
    (Change::Variance, "a column's variance within components doubles"),
    (Change::Correlation, "a column's correlations change sign"),
    (Change::Component, "a component is replaced"),
];

/// Streams that do not change.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Steady {
    Mixture,
    Ten,
    Student,
    Skewed,
    Autocorrelated,
}

const STEADY: [(Steady, &str); 5] = [
    (Steady::Mixture, "Gaussian mixture, D=5 K=3"),
    (Steady::Ten, "overlapping Gaussian mixture, D=10 K=10"),
    (Steady::Student, "mixture of t, 3 degrees of freedom, D=5 K=3"),
    (Steady::Skewed, "log-normal, D=5"),
    (Steady::Autocorrelated, "Gaussian, lag-one autocorrelation 0.3, D=5"),
];

pub fn run(setting: &mut Setting<'_>) -> Result<Outcome, ReproduceError> {
    let seeds = setting.seeds(5000..5100);
    let found = changes(setting, &seeds)?;
    let few = &seeds[..seeds.len().min(5)];
    Ok(Outcome { tables: vec![found, stationary(setting, few)?], ..Outcome::default() })
}

fn changes(setting: &mut Setting<'_>, seeds: &[u64]) -> Result<Table, ReproduceError> {
    let jobs: Vec<(usize, Change, u64)> = [1, 3]
        .into_iter()
        .flat_map(|k| CHANGES.iter().flat_map(move |(change, _)| seeds.iter().map(move |&seed| (k, *change, seed))))
        .collect();
    let describe =
        |job: &(usize, Change, u64), alarms: &Vec<DriftAlarm>| format!("drift {job:?}: {} alarms", alarms.len());
    let alarms = run_all(&jobs, setting.n_threads, setting.progress, describe, |&(k, change, seed)| {
        alarms_of(&changing_rows(k, change, seed), COLUMNS, seed)
    })?;
    let title = format!(
        "A change after {BEFORE} rows (D={COLUMNS}, batches of {BATCH}, {} runs of each, seeds {}–{})",
        seeds.len(),
        seeds[0],
        seeds[seeds.len() - 1]
    );
    let heads = [
        "stream",
        "change",
        "found within 500 rows",
        "median delay, rows",
        "95 % of delays",
        "alarms before",
        "further alarms",
        "called mean / spread / dependence / occupancy",
    ];
    let mut table = Table::new("", title, heads);
    for k in [1, 3] {
        for (change, name) in CHANGES {
            let of_sort: Vec<&Vec<DriftAlarm>> =
                jobs.iter().zip(&alarms).filter(|(j, _)| (j.0, j.1) == (k, change)).map(|(_, a)| a).collect();
            let first_after = |run: &&&Vec<DriftAlarm>| run.iter().find(|a| a.row > BEFORE as u64).copied();
            let firsts: Vec<DriftAlarm> = of_sort.iter().filter_map(|run| first_after(&run)).collect();
            let mut delays: Vec<f64> = firsts.iter().map(|a| (a.row - BEFORE as u64) as f64).collect();
            delays.resize(of_sort.len(), f64::INFINITY);
            delays.sort_by(f64::total_cmp);
            let n_soon = delays.iter().filter(|delay| **delay <= SOON as f64).count();
            let early: usize = of_sort.iter().map(|run| run.iter().filter(|a| a.row <= BEFORE as u64).count()).sum();
            let total: usize = of_sort.iter().map(|run| run.len()).sum();
            let named = |is: fn(DriftKind) -> bool| firsts.iter().filter(|a| is(a.what)).count();
            table.row([
                if k == 1 { "one Gaussian".to_string() } else { format!("mixture, K={k}") },
                name.to_string(),
                format!("{n_soon} of {}", of_sort.len()),
                format!("{:.0}", median(&delays)),
                format!("{:.0}", delays[(delays.len() * 95).div_ceil(100) - 1]),
                early.to_string(),
                (total - early - firsts.len()).to_string(),
                format!(
                    "{} / {} / {} / {}",
                    named(|w| matches!(w, DriftKind::Mean { .. })),
                    named(|w| matches!(w, DriftKind::Spread { .. })),
                    named(|w| w == DriftKind::Dependence),
                    named(|w| w == DriftKind::Occupancy)
                ),
            ]);
        }
    }
    Ok(table)
}

fn stationary(setting: &mut Setting<'_>, seeds: &[u64]) -> Result<Table, ReproduceError> {
    let jobs: Vec<(Steady, u64)> =
        STEADY.iter().flat_map(|(steady, _)| seeds.iter().map(move |&seed| (*steady, seed))).collect();
    let describe = |job: &(Steady, u64), alarms: &Vec<DriftAlarm>| {
        format!("drift {job:?}: {}", list(alarms.iter().map(|a| format!("{}@{} {:?}", a.since, a.row, a.what))))
    };
    let alarms = run_all(&jobs, setting.n_threads, setting.progress, describe, |&(steady, seed)| {
        let (rows, d) = steady_rows(steady, seed);
        alarms_of(&rows, d, seed)
    })?;
    let title = format!("False alarms on streams that do not change ({STATIONARY} rows each, seeds {})", list(seeds));
    let mut table = Table::new("stationary", title, ["stream", "rows", "false alarms"]);
    let mut totals = (0, 0);
    for (steady, name) in STEADY {
        let n: usize = jobs.iter().zip(&alarms).filter(|(j, _)| j.0 == steady).map(|(_, a)| a.len()).sum();
        let rows = seeds.len() * STATIONARY;
        table.row([name.to_string(), rows.to_string(), n.to_string()]);
        totals = (totals.0 + rows, totals.1 + n);
    }
    table.row(["all".to_string(), totals.0.to_string(), totals.1.to_string()]);
    Ok(table)
}

/// Alarms of a stream that `gmm` learns from all the time.
fn alarms_of(rows: &[f64], d: usize, seed: u64) -> Result<Vec<DriftAlarm>, ReproduceError> {
    let mut model = new_model(Kind::GmmOfab, d, seed, Settings::default())?;
    let mut watch = DriftWatch::new(d);
    let mut alarms = Vec::new();
    for rows in rows.chunks(BATCH * d) {
        alarms.extend(watch.observe(rows, || model.scorer()));
        model.update(&Batch::new(rows, d)?)?;
    }
    Ok(alarms)
}

fn changing_rows(k: usize, change: Change, seed: u64) -> Vec<f64> {
    let d = COLUMNS;
    let truth = ofab_truth(k, d, Covariance::Aat, seed);
    let (mut rows, labels) = truth.sample(BEFORE + AFTER, seed);
    let column = seed as usize % d;
    let sd = marginal_sd(&truth, column);
    let replaced = seed as usize % k;
    let stranger = ofab_truth(k, d, Covariance::Aat, seed + 1_000_000);
    let (strange, _) = stranger.only(replaced..replaced + 1).sample(AFTER, seed + 1);
    for i in BEFORE..BEFORE + AFTER {
        let (row, label) = (&mut rows[i * d..(i + 1) * d], labels[i] as usize);
        let deviation = row[column] - truth.means[label][column];
        match change {
            Change::Mean => row[column] += sd,
            Change::Variance => row[column] += (2f64.sqrt() - 1.0) * deviation,
            Change::Correlation => row[column] -= 2.0 * deviation,
            Change::Component if label == replaced => {
                row.copy_from_slice(&strange[(i - BEFORE) * d..(i - BEFORE + 1) * d]);
            }
            Change::Component => {}
        }
    }
    rows
}

fn marginal_sd(truth: &Truth, column: usize) -> f64 {
    let d = truth.n_columns();
    let parts = || truth.weights.iter().zip(truth.means.iter().zip(&truth.covariances));
    let mean: f64 = parts().map(|(w, (m, _))| w * m[column]).sum();
    parts().map(|(w, (m, c))| w * (c[column * d + column] + (m[column] - mean).powi(2))).sum::<f64>().sqrt()
}

fn steady_rows(steady: Steady, seed: u64) -> (Vec<f64>, usize) {
    let n = STATIONARY;
    match steady {
        Steady::Mixture => (ofab_truth(3, 5, Covariance::Aat, seed).sample(n, seed).0, 5),
        Steady::Ten => (ofab_truth(10, 10, Covariance::Spd, seed).sample(n, seed).0, 10),
        Steady::Student => {
            let base = ofab_truth(3, 5, Covariance::Aat, seed);
            (StudentTruth { base, freedom: 3.0 }.sample(n, seed).0, 5)
        }
        Steady::Skewed => {
            let mut rows = ofab_truth(1, 5, Covariance::Aat, seed).sample(n, seed).0;
            rows.iter_mut().for_each(|x| *x = x.exp());
            (rows, 5)
        }
        Steady::Autocorrelated => {
            let mut rng = num::stream(seed, 17, 0);
            let mut rows: Vec<f64> = (0..5).map(|_| rng.normal()).collect();
            let fresh = (1.0 - 0.3f64 * 0.3).sqrt();
            for at in 5..5 * n {
                rows.push(0.3 * rows[at - 5] + fresh * rng.normal());
            }
            (rows, 5)
        }
    }
}
