//! Watching streams: whether p-values mean what they say, how well outliers are put first, why a row is one,
//! and when the stream itself has changed.

pub mod calibration;
pub mod drift;
mod generators;
pub mod ranking;
pub mod reasons;
mod sets;
pub mod skab;

use crate::error::ReproduceError;
use crate::learn::new_model;
use bayestream::data::Batch;
use bayestream::model::{Kind, Settings};
use bayestream::outlier::Verdict;

/// Scores each batch, then learns from it; `each` sees the verdicts in the order of the rows.
fn watch(
    rows: &[f64],
    n_columns: usize,
    batch: usize,
    seed: u64,
    mut each: impl FnMut(&[Verdict]),
) -> Result<(), ReproduceError> {
    let mut model = new_model(Kind::GmmOfab, n_columns, seed, Settings::for_watching())?;
    let mut verdicts = Vec::new();
    for rows in rows.chunks(batch * n_columns) {
        model.watch_into(&Batch::new(rows, n_columns)?, &mut verdicts)?;
        each(&verdicts);
    }
    Ok(())
}
