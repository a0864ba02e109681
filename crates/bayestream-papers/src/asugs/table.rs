//! Two cells of Table I of the online FAB paper, for the Dirichlet-process kinds and the variational ones.

use super::learnt;
use super::methods::{ASUGS, ASUGS_PM, DPMM, Method, SVA_PM};
use crate::error::ReproduceError;
use crate::experiment::Setting;
use crate::ofab::divergence;
use crate::ofab::printed::{Printed, TABLE_1};
use crate::outcome::Outcome;
use crate::parallel::run_all;
use crate::summary::{list, mean_sd_text, three};
use crate::table::Table;
use bayestream::model::Kind;
use bayestream::synthetic::{Covariance, ofab_truth};

const N_ROWS: usize = 20_000;
/// (K*, D, T)
const CELLS: [(usize, usize, usize); 2] = [(10, 3, 10), (30, 10, 50)];

/// A method, how many components it is given as a multiple of the truth's, and its column of Table I.
struct Row {
    method: Method,
    given: Option<usize>,
    printed: Option<usize>,
}

const SVB: Method = Method { name: "SVB", kind: Kind::GmmSvb, set: &[] };
const STRUST: Method = Method { name: "strust-SVI", kind: Kind::GmmStrust, set: &[] };
const SDA_DP: Method = Method { name: "SDA-DP", kind: Kind::GmmSdaDp, set: &[] };
const OFAB: Method = Method { name: "online FAB", kind: Kind::GmmOfab, set: &[] };

const ROWS: [Row; 10] = [
    Row { method: DPMM, given: None, printed: None },
    Row { method: ASUGS, given: None, printed: None },
    Row { method: ASUGS_PM, given: None, printed: None },
    Row { method: SVA_PM, given: None, printed: None },
    Row { method: SVB, given: Some(1), printed: Some(3) },
    Row { method: SVB, given: Some(2), printed: None },
    Row { method: STRUST, given: Some(1), printed: Some(2) },
    Row { method: STRUST, given: Some(2), printed: None },
    Row { method: SDA_DP, given: None, printed: Some(4) },
    Row { method: OFAB, given: None, printed: Some(1) },
];

struct Run {
    k: usize,
    kl: f64,
}

impl Row {
    fn name(&self) -> String {
        match self.given {
            None => self.method.name.to_string(),
            Some(1) => format!("{}, K* given", self.method.name),
            Some(times) => format!("{}, {times}K* given", self.method.name),
        }
    }
}

fn printed_cell(&(k, d, batch): &(usize, usize, usize)) -> Option<&'static Printed> {
    TABLE_1.iter().find(|p| (p.k, p.d, p.batch) == (k, d, batch))
}

pub fn run(setting: &mut Setting<'_>) -> Result<Outcome, ReproduceError> {
    let seeds = setting.seeds(9300..9305);
    let mut jobs: Vec<(usize, usize, u64)> = Vec::new();
    for row in 0..ROWS.len() {
        for cell in 0..CELLS.len() {
            jobs.extend(seeds.iter().map(|&seed| (row, cell, seed)));
        }
    }
    let describe = |&(row, cell, seed): &(usize, usize, u64), run: &Run| {
        let (k, d, _) = CELLS[cell];
        format!("table ({k}, {d}) {} seed {seed}: K {} KL {}", ROWS[row].name(), run.k, three(run.kl))
    };
    let run_job = |&(row, cell, seed): &(usize, usize, u64)| {
        let ((k, d, batch), Row { method, given, .. }) = (CELLS[cell], &ROWS[row]);
        let truth = ofab_truth(k, d, Covariance::Aat, seed);
        let (rows, _) = truth.sample(N_ROWS, seed);
        let n_given = given.map(|times| (times * k).to_string());
        let asked: Vec<(&str, &str)> = n_given.iter().map(|n| ("start-components", n.as_str())).collect();
        let snapshot = learnt(method.kind, d, &rows, batch, seed, method.settings(&asked)?)?.snapshot();
        Ok(Run { k: snapshot.k_realized(), kl: divergence(&truth, &snapshot, seed).mean })
    };
    let runs = run_all(&jobs, setting.n_threads, setting.progress, describe, run_job)?;
    let limits: Vec<String> = CELLS
        .iter()
        .map(|&(k, d, _)| {
            let limit = ofab_truth(k, d, Covariance::Aat, 0).n_free() / (2 * N_ROWS) as f64;
            format!("{} at ({k}, {d})", three(limit))
        })
        .collect();
    let note = format!(
        "Random mixtures of the online FAB paper, covariances `aat`, {N_ROWS} rows in batches of T, seeds {}. The limit \
         P/2N is {}. `paper` is Table I of the online FAB paper, mean and deviation of three runs: after 5,000 batches, that \
         is 50,000 and 250,000 rows, with K chosen by cross-validation for SVB and strust-SVI, and on covariances that are not \
         ours, so not like for like (see the section on SDA-DP below). All else is default, the prior of the Dirichlet-process \
         kinds included.",
        list(&seeds),
        limits.join(" and ")
    );
    let head = ["method", "kind"].into_iter().map(String::from);
    let columns = CELLS.iter().flat_map(|cell| {
        let (k, d, batch) = cell;
        [format!("KL ({k}, {d}), T={batch}"), "K".into(), "KL, paper".into(), "K, paper".into()]
    });
    let mut table = Table::new("", "Divergence from the truth, nats, and components", head.chain(columns));
    for (row, runs) in ROWS.iter().zip(runs.chunks(CELLS.len() * seeds.len())) {
        let mut cells = vec![row.name(), row.method.command()];
        for (cell, runs) in CELLS.iter().zip(runs.chunks(seeds.len())) {
            cells.push(mean_sd_text(&runs.iter().map(|r| r.kl).collect::<Vec<_>>()));
            cells.push(list(runs.iter().map(|r| r.k)));
            let printed = row.printed.and_then(|ix| printed_cell(cell).map(|p| (p.kl[ix], p.n_components[ix])));
            cells.extend(printed.map_or([String::new(), String::new()], |(kl, k)| [kl.to_string(), k.to_string()]));
        }
        table.row(cells);
    }
    Ok(Outcome { notes: vec![note], tables: vec![table], figures: Vec::new(), files: Vec::new() })
}
