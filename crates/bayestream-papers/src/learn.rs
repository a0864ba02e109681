//! One pass of a model over rows.

use crate::error::ReproduceError;
use bayestream::data::Batch;
use bayestream::engine::StepReport;
use bayestream::model::{Config, Kind, Model, Settings};
use bayestream::synthetic::Truth;

/// A model with columns `x1 … xD`.
pub fn new_model(kind: Kind, n_columns: usize, seed: u64, settings: Settings) -> Result<Model, ReproduceError> {
    let columns = (1..=n_columns).map(|j| format!("x{j}")).collect();
    Ok(Model::new(Config { seed, settings, ..Config::new(kind, columns) })?)
}

/// Feeds rows in batches of `batch`; `after` sees the model after each, with the number of batches so far.
pub fn feed(
    model: &mut Model,
    rows: &[f64],
    batch: usize,
    mut after: impl FnMut(usize, &Model, &StepReport),
) -> Result<(), ReproduceError> {
    let n_columns = model.columns().len();
    for (batch_ix, rows) in rows.chunks(batch * n_columns).enumerate() {
        let report = model.update(&Batch::new(rows, n_columns)?)?;
        after(batch_ix + 1, model, &report);
    }
    Ok(())
}

/// Feeds fresh rows of a truth, drawn as they are needed.
pub fn feed_truth(
    model: &mut Model,
    truth: &Truth,
    n_batches: usize,
    batch: usize,
    seed: u64,
    mut after: impl FnMut(usize, &Model),
) -> Result<(), ReproduceError> {
    let mut draws = truth.draws(seed);
    let (mut rows, mut labels) = (Vec::new(), Vec::new());
    for n_done in 1..=n_batches {
        rows.clear();
        labels.clear();
        draws.extend(batch, &mut rows, &mut labels);
        model.update(&Batch::new(&rows, truth.n_columns())?)?;
        after(n_done, model);
    }
    Ok(())
}

/// The seed of evaluation points: unrelated to the rows that were learnt from.
pub fn evaluation_seed(seed: u64) -> u64 {
    seed ^ 0x6576_616c_0000_0000
}

/// Numbers of batches at which to look: a few for each factor of ten, and the last.
pub fn checkpoints(n_batches: usize, per_decade: usize) -> Vec<usize> {
    let ratio = 10f64.powf(1.0 / per_decade as f64);
    let mut at: Vec<usize> = std::iter::successors(Some(1.0), |x| Some(x * ratio))
        .map(|x| x.round() as usize)
        .take_while(|x| *x < n_batches)
        .collect();
    at.push(n_batches);
    at.dedup();
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checkpoints_rise_to_the_last_batch() {
        assert_eq!(checkpoints(100, 2), [1, 3, 10, 32, 100]);
        assert_eq!(checkpoints(1, 5), [1]);
        assert!(checkpoints(5000, 8).windows(2).all(|pair| pair[0] < pair[1]));
    }
}
