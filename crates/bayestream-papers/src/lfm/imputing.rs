//! Missing cells filled: how far off they are, and whether their intervals hold what they promise.

use super::trial::{Method, foretell, shuffled, standardised};
use crate::data::DataFolder;
use crate::error::ReproduceError;
use crate::experiment::Setting;
use crate::npy;
use crate::outcome::Outcome;
use crate::parallel::run_all;
use crate::summary::mean_sd_text;
use crate::table::Table;
use bayestream::engine::lfm::RivalSettings;
use bayestream::synthetic::with_holes;

const HIDDEN: f64 = 0.2;
/// The seed of the rows' order.
const ORDER: u64 = 9700;
const METHODS: [Method; 2] = [Method::Births, Method::Online];

/// Name, file, columns that are not numbers to learn.
const SETS: [(&str, &str, &[&str]); 4] = [
    ("sonar", "sonar/sonar.csv.gz", &["class"]),
    ("libras", "libras/libras.csv.gz", &["class"]),
    ("cardio", "anomaly/cardio.csv.gz", &["anomaly"]),
    ("satimage", "anomaly/satimage-2.csv.gz", &["anomaly"]),
];

struct Set {
    name: &'static str,
    rows: Vec<f64>,
    d: usize,
}

fn load(data: &DataFolder) -> Result<Vec<Set>, ReproduceError> {
    let one = |&(name, file, apart): &(&'static str, &str, &[&str])| {
        let table = data.csv(file)?;
        let columns: Vec<&str> =
            table.columns().iter().map(String::as_str).filter(|column| !apart.contains(column)).collect();
        let (rows, d) = standardised(&table.numbers(&columns)?, columns.len());
        // The files are sorted by what a row is, and a stream is not.
        Ok(Set { name, rows: shuffled(&rows, d, ORDER, usize::MAX), d })
    };
    SETS.iter().map(one).collect()
}

pub fn run(setting: &mut Setting<'_>) -> Result<Outcome, ReproduceError> {
    let seeds = setting.seeds(9700..9705);
    let sets = load(&setting.data)?;
    let mut files = Vec::new();
    if setting.export {
        for set in &sets {
            let path = setting.out_dir.join(format!("impute-{}.npy", set.name));
            npy::write(&path, &set.rows, set.d)?;
            files.push(path);
            for seed in &seeds {
                let path = setting.out_dir.join(format!("impute-{}-{seed}.npy", set.name));
                npy::write(&path, &with_holes(&set.rows, HIDDEN, *seed), set.d)?;
                files.push(path);
            }
        }
    }
    let mut jobs = Vec::new();
    for at in 0..sets.len() {
        for method in METHODS {
            jobs.extend(seeds.iter().map(|&seed| (at, method, seed)));
        }
    }
    let learn = |&(at, method, seed): &(usize, Method, u64)| {
        let set = &sets[at];
        let seen = with_holes(&set.rows, HIDDEN, seed);
        let (features, seconds) = method.fit(&seen, set.d, seed, &RivalSettings::default());
        Ok((features.features.len(), foretell(&features, &seen, &set.rows), seconds))
    };
    let describe = |&(at, method, seed): &(usize, Method, u64), run: &(usize, super::trial::Foretold, f64)| {
        let (name, (k, told, seconds)) = (sets[at].name, run);
        format!(
            "imputing {name} {} seed {seed}: K {k}, RMSE {:.3}, coverage {:.3}, {seconds:.1} s",
            method.name(),
            told.rmse,
            told.coverage
        )
    };
    let runs = run_all(&jobs, setting.n_threads, setting.progress, describe, learn)?;
    let columns = ["data", "method", "K", "RMSE", "within the 90 % interval", "CPU seconds"];
    let mut table = Table::new("", "Hidden cells filled", columns);
    for (at, set) in sets.iter().enumerate() {
        for method in METHODS {
            let of: Vec<_> =
                jobs.iter().zip(&runs).filter(|(job, _)| job.0 == at && job.1 == method).map(|(_, run)| run).collect();
            let text = |values: Vec<f64>| mean_sd_text(&values);
            table.row([
                format!("{} {} × {}", set.name, set.rows.len() / set.d, set.d),
                method.name().to_string(),
                text(of.iter().map(|run| run.0 as f64).collect()),
                text(of.iter().map(|run| run.1.rmse).collect()),
                text(of.iter().map(|run| run.1.coverage).collect()),
                text(of.iter().map(|run| run.2).collect()),
            ]);
        }
    }
    let notes = vec![format!(
        "Columns have mean 0 and variance 1, and rows come in a random order (seed {ORDER}); each cell is hidden with a probability of {HIDDEN} (seeds {} to {}), and filled by a model of the rest. \
         `bench/run impute` fills the same cells by other programs, from the rows that `--export` writes.",
        seeds[0],
        seeds[seeds.len() - 1]
    )];
    Ok(Outcome { notes, tables: vec![table], figures: Vec::new(), files })
}
