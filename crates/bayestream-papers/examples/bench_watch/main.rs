//! Our side of the outlier benchmark: watches rows (each batch is scored, then learnt from), writes a score per row, and
//! prints what it cost as one line of JSON.
//!
//! ```text
//! bench_watch ROWS.npy [--batch 50] [--kind gmm] [--seed 0] [--scores OUT.npy] [--by surprise|p] [--views OUT.npy]
//!             [--set NAME=VALUE]...
//! ```
//!
//! The score is the surprise of [`Verdict`]: larger is more outlying, 0 while too few rows were seen to judge; or the
//! p-value's negative. `--views` writes what each view says of a row, −log p in nats. Costs are
//! seconds of processor time of this process; reading and writing files is not counted.
//! `settled_seconds_per_row` leaves out the first 5,000 rows, in which the model is made.

use bayestream::data::Batch;
use bayestream::model::{Config, Kind, Model, Settings};
use bayestream::outlier::{N_VIEWS, Verdict};
use bayestream_papers::npy;
use cpu_time::ProcessTime;
use serde_json::json;
use std::error::Error;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Rows after which a model has settled.
const SETTLED: usize = 5000;

struct Options {
    rows: PathBuf,
    batch: usize,
    kind: Kind,
    seed: u64,
    scores: Option<PathBuf>,
    by_p_value: bool,
    views: Option<PathBuf>,
    settings: Vec<(String, String)>,
}

impl Options {
    fn parse(args: impl Iterator<Item = String>) -> Result<Options, Box<dyn Error>> {
        let mut options = Options {
            rows: PathBuf::new(),
            batch: 50,
            kind: Kind::GmmOfab,
            seed: 0,
            scores: None,
            by_p_value: false,
            views: None,
            settings: vec![],
        };
        let mut args = args.peekable();
        while let Some(arg) = args.next() {
            let mut value = || args.next().ok_or_else(|| format!("{arg} needs a value"));
            match arg.as_str() {
                "--batch" => options.batch = value()?.parse::<usize>()?.max(1),
                "--kind" => options.kind = value()?.parse()?,
                "--seed" => options.seed = value()?.parse()?,
                "--by" => options.by_p_value = value()? == "p",
                "--views" => options.views = Some(value()?.into()),
                "--scores" => options.scores = Some(value()?.into()),
                "--set" => {
                    let pair = value()?;
                    let (name, value) = pair.split_once('=').ok_or("--set takes NAME=VALUE")?;
                    options.settings.push((name.into(), value.into()));
                }
                _ => options.rows = arg.into(),
            }
        }
        Ok(options)
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let options = Options::parse(std::env::args().skip(1))?;
    let (rows, n_columns) = npy::read(&options.rows)?;
    let columns = (1..=n_columns).map(|j| format!("x{j}")).collect();
    let settings = Settings::for_watching();
    let mut config = Config { seed: options.seed, settings, ..Config::new(options.kind, columns) };
    for (name, value) in &options.settings {
        config.settings.set(config.kind, name, value)?;
    }
    let mut model = Model::new(config)?;
    let (mut scores, mut verdicts): (Vec<f64>, Vec<Verdict>) = (Vec::new(), Vec::new());
    let mut views: Vec<f64> = Vec::new();
    let start = ProcessTime::now();
    let mut settled = None;
    for batch in rows.chunks(options.batch * n_columns) {
        if scores.len() >= SETTLED && settled.is_none() {
            settled = Some((start.elapsed(), scores.len()));
        }
        model.watch_into(&Batch::new(batch, n_columns)?, &mut verdicts)?;
        scores.extend(verdicts.iter().map(|v| if options.by_p_value { -v.p_value } else { v.surprise }));
        if options.views.is_some() {
            views.extend(verdicts.iter().flat_map(|v| v.views.map(|p| -p.ln())));
        }
    }
    let spent = start.elapsed();
    let n_rows = scores.len();
    if let Some(path) = &options.scores {
        npy::write(Path::new(path), &scores, 1)?;
    }
    if let Some(path) = &options.views {
        npy::write(Path::new(path), &views, N_VIEWS)?;
    }
    let settled = settled.filter(|(_, n)| *n < n_rows);
    let seconds_per_row = settled.map(|(at, n)| (spent - at).as_secs_f64() / (n_rows - n) as f64);
    let printed = json!({
        "n_rows": n_rows,
        "n_columns": n_columns,
        "cpu_seconds": spent.as_secs_f64(),
        "rows_per_cpu_second": n_rows as f64 / spent.as_secs_f64(),
        "settled_seconds_per_row": seconds_per_row,
        "k_implemented": model.k_implemented(),
    });
    Ok(writeln!(std::io::stdout(), "{printed}")?)
}
