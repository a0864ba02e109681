//! The E-step that all engines of this folder share, and the statistics of a batch under it.
//!
//! Rows with missing cells enter through the expected statistics of the cells that are there and the conditional
//! moments of those that are not, under the Gaussian of the expected precision: that is the exact variational step,
//! with a factor q(missing cells | component) of its own.

use super::component::{Caches, Comp};
use crate::engine::parts::{Gather, accumulate};
use crate::family::{Family, Moments};
use crate::structure::{Posterior, RowBlock};

/// How a batch changes the statistics: `s ← keep·s + gain·ŝ`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Blend {
    /// What is kept of the statistics before the batch.
    pub keep: f64,
    /// How often a row of the batch counts.
    pub gain: f64,
}

/// Buffers of the inner loop.
#[derive(Clone, Debug, Default)]
pub(super) struct Work {
    pub posterior: Posterior,
    pub gather: Gather,
    pub caches: Caches,
    /// Rows of the batch that each component took in the last M-step.
    pub taken: Vec<f64>,
}

/// Responsibilities from expected log-densities and expected log-weights.
pub(super) fn expect(block: &mut RowBlock, comps: &[Comp], log_weights: &[f64], posterior: &mut Posterior) {
    let parts = comps.iter().zip(log_weights).map(|(c, log_weight)| (log_weight + c.shift, &c.belief));
    let k = posterior.log_joint(block, parts);
    posterior.normalise(k, block.n_rows());
}

/// Every row equally under every component.
pub(super) fn uniform(block: &RowBlock, n_components: usize, posterior: &mut Posterior) {
    posterior.stride = block.stride();
    posterior.q.clear();
    posterior.q.resize(n_components * posterior.stride, 1.0 / n_components as f64);
}

/// Statistics and beliefs from responsibilities; `base` are the statistics before the batch. Returns the largest
/// change of what a component takes from the batch, and how many scatters had to be repaired.
pub(super) fn maximise<F: Family>(
    family: F,
    block: &mut RowBlock,
    weights: Option<&[f64]>,
    base: &[Moments],
    blend: Blend,
    comps: &mut [Comp],
    work: &mut Work,
) -> (f64, u32) {
    let n = block.n_rows();
    let (mut largest_change, mut n_repairs) = (0.0_f64, 0);
    work.taken.resize(comps.len(), 0.0);
    for (k, comp) in comps.iter_mut().enumerate() {
        let q = &work.posterior.q[k * work.posterior.stride..][..n];
        let got = accumulate(&mut work.gather, block, q, weights, &comp.belief, &base[k].mean, false);
        largest_change = largest_change.max((got.mass - work.taken[k]).abs());
        let untouched = got.mass <= 0.0 && work.taken[k] <= 0.0 && blend.keep == 1.0;
        work.taken[k] = got.mass;
        if untouched {
            continue;
        }
        comp.moments.clone_from(&base[k]);
        // keep·s + gain·ŝ, as gain·(keep/gain·s + ŝ): means and covariances do not see the common factor.
        if got.mass > 0.0 {
            comp.moments.absorb(blend.keep / blend.gain, got.mass, got.sum, got.scatter);
            comp.moments.count *= blend.gain;
        } else {
            comp.moments.count *= blend.keep;
        }
        n_repairs += comp.believe(family, &mut work.caches);
    }
    (largest_change, n_repairs)
}
