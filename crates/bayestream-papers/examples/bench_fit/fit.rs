//! One pass over rows in memory.

use bayestream::data::Batch;
use bayestream::model::{Config, Kind, Model};
use bayestream::structure::Scorer;
use bayestream_papers::npy;
use cpu_time::ProcessTime;
use serde_json::{Value, json};
use std::error::Error;
use std::path::Path;

/// A model as a user gets it who sets nothing.
pub fn default_model(n_columns: usize) -> Result<Model, Box<dyn Error>> {
    default_model_of(Kind::GmmOfab, n_columns, None)
}

/// The same of any kind; `k` is how many components the kinds get that must be given a number.
pub fn default_model_of(kind: Kind, n_columns: usize, k: Option<&str>) -> Result<Model, Box<dyn Error>> {
    let columns = (1..=n_columns).map(|j| format!("x{j}")).collect();
    let mut config = Config::new(kind, columns);
    if let Some(k) = k {
        config.settings.set(kind, "start-components", k)?;
    }
    Ok(Model::new(config)?)
}

/// Feeds all rows; gives the seconds of processor time it took.
pub fn feed(model: &mut Model, rows: &[f64], batch: usize) -> Result<f64, Box<dyn Error>> {
    let n_columns = model.columns().len();
    let start = ProcessTime::now();
    for rows in rows.chunks(batch * n_columns) {
        model.update(&Batch::new(rows, n_columns)?)?;
    }
    Ok(start.elapsed().as_secs_f64())
}

pub fn run(train: &Path, test: &Path, batch: usize, kind: Kind, k: Option<&str>) -> Result<Value, Box<dyn Error>> {
    let (train, n_columns) = npy::read(train)?;
    let (test, _) = npy::read(test)?;
    let mut model = default_model_of(kind, n_columns, k)?;
    let cpu_seconds = feed(&mut model, &train, batch.max(1))?;
    let start = ProcessTime::now();
    let snapshot = model.snapshot();
    let snapshot_cpu_seconds = start.elapsed().as_secs_f64();
    let (held_out_snapshot, median_snapshot) = mean_and_median(&mut snapshot.scorer(), &test);
    let (held_out_master, median_master) = mean_and_median(&mut model.scorer(), &test);
    Ok(json!({
        "n_rows": train.len() / n_columns,
        "cpu_seconds": cpu_seconds,
        "snapshot_cpu_seconds": snapshot_cpu_seconds,
        "k_realized": snapshot.k_realized(),
        "k_implemented": snapshot.k_implemented,
        "held_out_snapshot": held_out_snapshot,
        "held_out_master": held_out_master,
        "median_snapshot": median_snapshot,
        "median_master": median_master,
    }))
}

/// Of the rows' log-densities. A few far rows can carry the mean.
fn mean_and_median(scorer: &mut Scorer, rows: &[f64]) -> (f64, f64) {
    let mut log_densities = Vec::new();
    scorer.log_densities(rows, &mut log_densities);
    log_densities.sort_by(f64::total_cmp);
    let n = log_densities.len();
    if n == 0 {
        return (f64::NAN, f64::NAN);
    }
    let median = 0.5 * (log_densities[(n - 1) / 2] + log_densities[n / 2]);
    (log_densities.iter().sum::<f64>() / n as f64, median)
}
