//! Adaptive sequential updating and greedy search (ASUGS) and its kin: the experiments of its section 6, and some that
//! it does not have.

mod adaptive;
pub mod classes;
pub mod drift;
pub mod growth;
pub mod likelihood;
mod methods;
pub mod mnist;
pub mod orders;
mod sampled;
pub mod table;

use crate::error::ReproduceError;
use crate::learn::{feed, new_model};
use bayestream::data::Batch;
use bayestream::model::{Kind, Model, Settings};
use bayestream::structure::{ComponentId, Snapshot};

/// The component of each row; none when there is no model.
fn assigned(snapshot: &Snapshot, rows: &[f64]) -> Vec<Option<ComponentId>> {
    let mut scores = Vec::new();
    snapshot.scorer().score(rows, &mut scores);
    scores.iter().map(|s| s.component).collect()
}

/// The model after one pass.
fn learnt(
    kind: Kind,
    n_columns: usize,
    rows: &[f64],
    batch: usize,
    seed: u64,
    settings: Settings,
) -> Result<Model, ReproduceError> {
    let mut model = new_model(kind, n_columns, seed, settings)?;
    feed(&mut model, rows, batch, |_, _, _| {})?;
    Ok(model)
}

/// Mean log-density that a model foretells of rows, each by a copy that has not learnt from the others: for the
/// sequential kinds the mixture of Student distributions \[ASUGS\] (10), new classes included, where a snapshot has
/// Gaussians.
fn foretold(model: &Model, rows: &[f64]) -> Result<f64, ReproduceError> {
    let n_columns = model.columns().len();
    let mut total = 0.0;
    for row in rows.chunks(n_columns) {
        total += model.clone().update(&Batch::new(row, n_columns)?)?.log_score;
    }
    Ok(total / (rows.len() / n_columns) as f64)
}

/// `32 of 50`.
fn share_of(n: usize, all: usize) -> String {
    format!("{n} of {all}")
}
