//! Held-out log-likelihood on real data after one pass.

use super::shuttle::{COLUMNS, Shuttle};
use crate::error::ReproduceError;
use crate::experiment::Setting;
use crate::learn::{feed, new_model};
use crate::npy;
use crate::outcome::Outcome;
use crate::parallel::run_all;
use crate::pca::Pca;
use crate::summary::{list, three};
use crate::table::Table;
use bayestream::model::{Kind, Settings};
use bayestream::num;
use std::path::Path;

/// Components kept of the digits.
const N_AXES: usize = 20;
/// Ordinary Shuttle rows to learn from.
const SHUTTLE_TRAIN: usize = 35_000;
/// Rows whose mean and spread set the units, so that log-likelihoods can be compared between programs.
const SETS_UNITS: usize = 500;
const BATCH: usize = 50;

struct Set {
    name: &'static str,
    slug: &'static str,
    n_columns: usize,
    train: Vec<f64>,
    test: Vec<f64>,
}

struct Run {
    snapshot: f64,
    master: f64,
    prequential: f64,
    k: usize,
    k_implemented: usize,
}

pub fn run(setting: &mut Setting<'_>) -> Result<Outcome, ReproduceError> {
    let seed = setting.seeds(8000..8001)[0];
    let sets = [mnist(setting, seed)?, shuttle(setting, seed)?];
    let mut files = Vec::new();
    if setting.export {
        for set in &sets {
            for (part, rows) in [("train", &set.train), ("test", &set.test)] {
                let path = setting.out_dir.join(format!("ofab-real-{}-{part}.npy", set.slug));
                npy::write(Path::new(&path), rows, set.n_columns)?;
                files.push(path);
            }
        }
    }
    let jobs: Vec<(usize, Kind)> =
        (0..sets.len()).flat_map(|ix| [(ix, Kind::GmmOfab), (ix, Kind::MppcaOfab)]).collect();
    let describe = |&(ix, kind): &(usize, Kind), run: &Run| {
        format!("real {} {kind}: K {} held-out {}", sets[ix].name, run.k, three(run.snapshot))
    };
    let run_job = |&(ix, kind): &(usize, Kind)| one_run(&sets[ix], kind, seed);
    let runs = run_all(&jobs, setting.n_threads, setting.progress, describe, run_job)?;
    let mut table = Table::new(
        "",
        "Log-likelihood after one pass, nats a row",
        ["data", "kind", "train", "test", "D", "K", "held out", "held out, master model", "K of it", "prequential"],
    );
    for (&(ix, kind), run) in jobs.iter().zip(&runs) {
        let set = &sets[ix];
        table.row([
            set.name.to_string(),
            kind.to_string(),
            (set.train.len() / set.n_columns).to_string(),
            (set.test.len() / set.n_columns).to_string(),
            set.n_columns.to_string(),
            run.k.to_string(),
            format!("{:.3}", run.snapshot),
            format!("{:.3}", run.master),
            run.k_implemented.to_string(),
            format!("{:.3}", run.prequential),
        ]);
    }
    let note = format!(
        "One pass in batches of {BATCH}, seed {seed}. MNIST: the first {N_AXES} principal components of the training \
         pictures, in random order, tested on the 10,000 test pictures. Shuttle: ordinary rows of {}, made continuous \
         by U(-0.5, 0.5), {SHUTTLE_TRAIN} at random to learn from. Both are standardised on the first {SETS_UNITS} \
         training rows. The master model is what the learner scores its stream with; the snapshot has fewer \
         components. With `--export` the same rows are written for other programs.",
        list(COLUMNS)
    );
    Ok(Outcome { notes: vec![note], tables: vec![table], figures: Vec::new(), files })
}

fn one_run(set: &Set, kind: Kind, seed: u64) -> Result<Run, ReproduceError> {
    let mut model = new_model(kind, set.n_columns, seed, Settings::default())?;
    feed(&mut model, &set.train, BATCH, |_, _, _| {})?;
    let snapshot = model.snapshot();
    Ok(Run {
        snapshot: snapshot.scorer().mean_log_density(&set.test),
        master: model.scorer().mean_log_density(&set.test),
        prequential: snapshot.log_score.prequential_mean,
        k: snapshot.k_realized(),
        k_implemented: snapshot.k_implemented,
    })
}

fn mnist(setting: &mut Setting<'_>, seed: u64) -> Result<Set, ReproduceError> {
    let train = setting.data.images("mnist/train-images-idx3-ubyte.gz")?;
    let test = setting.data.images("mnist/t10k-images-idx3-ubyte.gz")?;
    if train.n_pixels != test.n_pixels {
        let reason = format!("its pictures have {} pixels, those to learn from {}", test.n_pixels, train.n_pixels);
        return Err(ReproduceError::BadData { file: "mnist/t10k-images-idx3-ubyte.gz".into(), reason });
    }
    (setting.progress)("real: principal components of MNIST");
    let pca = Pca::of(&train, N_AXES);
    let train = shuffled(&pca.coordinates(&train), N_AXES, seed);
    Ok(standardised("MNIST, PCA", "mnist", N_AXES, train, pca.coordinates(&test)))
}

fn shuttle(setting: &Setting<'_>, seed: u64) -> Result<Set, ReproduceError> {
    let shuttle = Shuttle::read(&setting.data)?;
    let d = COLUMNS.len();
    let mut rng = num::stream(seed, 0, 1);
    let continuous: Vec<f64> = shuttle.ordinary.iter().map(|v| v + rng.uniform() - 0.5).collect();
    let mut train = shuffled(&continuous, d, seed);
    let test = train.split_off((SHUTTLE_TRAIN * d).min(train.len()));
    Ok(standardised("Shuttle, ordinary", "shuttle", d, train, test))
}

fn shuffled(rows: &[f64], d: usize, seed: u64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..rows.len() / d).collect();
    num::stream(seed, 0, 0).shuffle(&mut order);
    order.iter().flat_map(|row| rows[row * d..(row + 1) * d].iter().copied()).collect()
}

/// In units of the first rows' spread; a column that does not vary keeps its own.
fn standardised(name: &'static str, slug: &'static str, d: usize, mut train: Vec<f64>, mut test: Vec<f64>) -> Set {
    let n = SETS_UNITS.min(train.len() / d) as f64;
    for j in 0..d {
        let first = || train.iter().skip(j).step_by(d).take(SETS_UNITS);
        let mean = first().sum::<f64>() / n;
        let sd = (first().map(|v| (v - mean).powi(2)).sum::<f64>() / n).sqrt();
        let scale = if sd > 0.0 { sd } else { 1.0 };
        for rows in [&mut train, &mut test] {
            rows.iter_mut().skip(j).step_by(d).for_each(|v| *v = (*v - mean) / scale);
        }
    }
    Set { name, slug, n_columns: d, train, test }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_come_from_the_first_training_rows() {
        let train: Vec<f64> = (0..600).flat_map(|i| [f64::from(i % 2), 7.0]).collect();
        let set = standardised("", "", 2, train, vec![2.5, 8.0]);
        // Mean and spread of 0, 1, 0, 1, … are both one half; the second column does not vary.
        assert_eq!(set.train[..4], [-1.0, 0.0, 1.0, 0.0]);
        assert_eq!(set.test, [4.0, 1.0]);
    }
}
