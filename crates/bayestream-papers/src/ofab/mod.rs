//! Online FAB inference for mixtures: the experiments of its section V, and some it does not have.

mod cross_validation;
pub mod drift;
pub mod kdd;
pub mod large;
pub mod letters;
pub mod mppca;
mod outliers;
pub mod overlap;
pub mod printed;
pub mod real;
pub mod rivals;
pub mod shuttle;
mod spread;
pub mod table1;
pub mod variant;

use crate::error::ReproduceError;
use crate::learn::{evaluation_seed, feed_truth, new_model};
use bayestream::metrics::{Estimate, kl_divergence_within};
use bayestream::model::{Kind, Settings};
use bayestream::structure::Snapshot;
use bayestream::synthetic::Truth;

/// Standard error wanted of a divergence, relative to it, and the most points to spend on it.
const KL_ERROR: f64 = 0.05;
const KL_POINTS: usize = 1 << 20;

/// What one pass over a known stream came to.
#[derive(Clone, Debug)]
struct Pass {
    k: usize,
    kl: Estimate,
    /// (rows seen, divergence, components) along the stream.
    path: Vec<(f64, f64, f64)>,
}

/// Divergence of a snapshot from the truth.
pub fn divergence(truth: &Truth, snapshot: &Snapshot, seed: u64) -> Estimate {
    kl_divergence_within(truth, snapshot, KL_ERROR, KL_POINTS, evaluation_seed(seed))
}

/// One pass of `gmm/ofab` over fresh rows; `look_at` lists batches after which to record the path.
fn one_pass(
    truth: &Truth,
    n_batches: usize,
    batch: usize,
    seed: u64,
    settings: Settings,
    look_at: &[usize],
) -> Result<Pass, ReproduceError> {
    let mut model = new_model(Kind::GmmOfab, truth.n_columns(), seed, settings)?;
    let mut path = Vec::new();
    feed_truth(&mut model, truth, n_batches, batch, seed, |n_done, model| {
        if look_at.contains(&n_done) {
            let snapshot = model.snapshot();
            let kl = divergence(truth, &snapshot, seed).mean;
            path.push(((n_done * batch) as f64, kl, snapshot.k_realized() as f64));
        }
    })?;
    let snapshot = model.snapshot();
    Ok(Pass { k: snapshot.k_realized(), kl: divergence(truth, &snapshot, seed), path })
}

/// The largest standard error of the divergences, relative to its divergence.
fn worst_error(passes: &[&Pass]) -> f64 {
    passes.iter().map(|p| p.kl.standard_error / p.kl.mean).fold(0.0, f64::max)
}

/// `exact of all`.
fn exact_count(passes: &[&Pass], k: usize) -> String {
    format!("{} of {}", passes.iter().filter(|p| p.k == k).count(), passes.len())
}
