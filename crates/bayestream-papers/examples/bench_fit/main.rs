//! Our side of `bench/run`: makes rows, learns from them, and prints what it cost as one line of JSON.
//!
//! ```text
//! bench_fit rows TRAIN.npy TEST.npy K D N_TRAIN N_TEST SEED   rows of a random mixture, for other programs too
//! bench_fit fit TRAIN.npy TEST.npy BATCH [KIND [K]]           one pass of a kind (gmm/ofab) with default settings,
//!                                                             K components given where that is possible
//! bench_fit growth FIGURE.svg                                 cost along a stream and against the model's size
//! bench_fit real DATA_DIR OUT_DIR                             writes the rows of the experiment ofab/real
//! ```
//!
//! Costs are seconds of processor time of this process, which other programs on the machine disturb less than they
//! disturb the clock. Reading and making rows is not counted.

mod fit;
mod growth;

use bayestream::model::Kind;
use bayestream::synthetic::{Covariance, ofab_truth};
use bayestream_papers::{Options, npy, reproduce};
use serde_json::{Value, json};
use std::error::Error;
use std::io::Write;
use std::path::Path;
use std::str::FromStr;

/// Keeps the rows to score apart from the rows to learn from, whatever the seed.
const TEST_ROWS: u64 = 0x7465_7374 << 32;

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let printed = match words[..] {
        ["rows", train, test, k, d, n_train, n_test, seed] => {
            let truth = ofab_truth(number(k)?, number(d)?, Covariance::Aat, number(seed)?);
            let seed: u64 = number(seed)?;
            let (rows, _) = truth.sample(number(n_train)?, seed);
            npy::write(Path::new(train), &rows, truth.n_columns())?;
            let (rows, _) = truth.sample(number(n_test)?, seed ^ TEST_ROWS);
            npy::write(Path::new(test), &rows, truth.n_columns())?;
            let log_density = truth.log_density(&rows);
            json!({ "held_out_truth": log_density.iter().sum::<f64>() / log_density.len() as f64 })
        }
        ["fit", train, test, batch, ref more @ ..] if more.len() <= 2 => {
            let kind = more.first().map_or(Ok(Kind::GmmOfab), |kind| kind.parse())?;
            fit::run(Path::new(train), Path::new(test), number(batch)?, kind, more.get(1).copied())?
        }
        ["growth", figure] => growth::run(Path::new(figure))?,
        ["real", data, out] => export(Path::new(data), Path::new(out))?,
        _ => return Err("unknown arguments; the head of this example's source lists its commands".into()),
    };
    Ok(writeln!(std::io::stdout(), "{printed}")?)
}

fn number<T: FromStr>(word: &str) -> Result<T, String> {
    word.parse().map_err(|_| format!("`{word}` is not a number that fits here"))
}

fn export(data: &Path, out: &Path) -> Result<Value, Box<dyn Error>> {
    let mut options = Options {
        data_dir: Some(data.to_path_buf()),
        out_dir: out.to_path_buf(),
        seeds: None,
        n_threads: 1,
        with_batch: false,
        export: true,
        progress: &mut |line| eprintln!("{line}"),
    };
    let report = reproduce("ofab/real", &mut options)?;
    Ok(json!({ "files": report.experiments.iter().flat_map(|e| &e.files).collect::<Vec<_>>() }))
}
