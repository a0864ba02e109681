//! One pass over rows in memory.

use crate::npy;
use bayestream::data::Batch;
use bayestream::model::{Config, Kind, Model};
use cpu_time::ProcessTime;
use serde_json::{Value, json};
use std::error::Error;
use std::path::Path;

/// A model as a user gets it who sets nothing.
pub fn default_model(n_columns: usize) -> Result<Model, Box<dyn Error>> {
    let columns = (1..=n_columns).map(|j| format!("x{j}")).collect();
    Ok(Model::new(Config::new(Kind::GmmOfab, columns))?)
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

pub fn run(train: &Path, test: &Path, batch: usize) -> Result<Value, Box<dyn Error>> {
    let (train, n_columns) = npy::read(train)?;
    let (test, _) = npy::read(test)?;
    let mut model = default_model(n_columns)?;
    let cpu_seconds = feed(&mut model, &train, batch.max(1))?;
    let start = ProcessTime::now();
    let snapshot = model.snapshot();
    let snapshot_cpu_seconds = start.elapsed().as_secs_f64();
    Ok(json!({
        "n_rows": train.len() / n_columns,
        "cpu_seconds": cpu_seconds,
        "snapshot_cpu_seconds": snapshot_cpu_seconds,
        "k_realized": snapshot.k_realized(),
        "k_implemented": snapshot.k_implemented,
        "held_out_snapshot": snapshot.scorer().mean_log_density(&test),
        "held_out_master": model.scorer().mean_log_density(&test),
    }))
}
