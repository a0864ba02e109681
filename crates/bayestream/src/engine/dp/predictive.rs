//! What `gmm/dp` predicts rows by: the Student t of each component, pooled with other densities.
//!
//! Rows are assigned as wholes, for that is what the marginal likelihood of a partition asks for. Where components
//! overlap, the rows that each wins are cut off at the border and say too little of its spread: the densities of those
//! that a ring fit found rest on statistics of their own, to which rows add by their shares. What the densities' priors are
//! worth is judged by marginal likelihood whenever the structure is looked at.

use super::component::Comp;
use super::core::Core;
use super::prior::median;
use crate::engine::parts::{Gather, Pooling, accumulate, diagonal_within};
use crate::family::{self, FullGaussian, Gauss, Moments, PriorWorth, model_covariance};
use crate::num;
use crate::structure::{Posterior, Predictions, RowBlock};
use serde::{Deserialize, Serialize};

/// What rows add to a component of a ring fit by their shares.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Shared {
    /// The fit that told it from others, by its shard and its rows: assignments of single rows do not overrule that.
    pub found_by: (u32, u64),
    /// Nothing of the prior is inside.
    pub moments: Moments,
}

impl Shared {
    pub fn is_sound(&self, n_columns: usize) -> bool {
        self.moments.is_sound(n_columns) && self.moments.count > 0.0
    }
}

/// Rows before they are learned: their densities, and to whom they belong by which share. Buffers are reused.
#[derive(Clone, Debug, Default)]
pub(super) struct Foresight {
    pub block: RowBlock,
    pub predictions: Predictions,
    /// Rows behind all components when the block was evaluated.
    mass: f64,
    shares: Posterior,
    gather: Gather,
    /// Weights of the rows that sharers took, 0 for others.
    taken: Vec<f64>,
    /// Components that share rows, and who took each row.
    sharers: Vec<usize>,
    taker: Vec<usize>,
    /// Rows so far from every component that shares say nothing: their takers have them alone.
    alone: Vec<usize>,
    /// What the sharers together have of a row.
    together: Vec<f64>,
}

impl Foresight {
    /// Evaluates the block's rows.
    pub fn run(&mut self, core: &Core, whole: &Gauss) {
        self.mass = core.comps.iter().map(Comp::rows).sum();
        let parts = core.comps.iter().map(|c| (c.rows() / self.mass, &c.gauss));
        self.predictions.run(&mut self.block, parts, whole);
    }

    /// Components changed by rows before this one in the block, numbered in `outdated` or newly born, are those by which it
    /// is predicted: `late` are their log masses plus log-densities, and they have `grown` by as many rows.
    pub fn amend(&mut self, row: usize, outdated: &[usize], late: &[f64], grown: f64) {
        let log_late = num::log_sum_exp(late);
        self.predictions.amend(row, outdated, self.mass.ln(), log_late, (self.mass + grown).ln());
    }

    /// Nobody took a row of this batch yet.
    pub fn begin(&mut self, sharers: impl Iterator<Item = usize>) {
        let n = self.block.n_rows();
        self.taken.clear();
        self.taken.resize(n, 0.0);
        self.taker.clear();
        self.taker.resize(n, usize::MAX);
        self.alone.clear();
        self.sharers.clear();
        self.sharers.extend(sharers);
    }

    /// A row of this weight is taken by a component that shares; nobody else has a part in it when it is `far`.
    pub fn take(&mut self, row: usize, weight: f64, taker: usize, far: bool) {
        (self.taken[row], self.taker[row]) = (weight, taker);
        if far {
            self.alone.push(row);
        }
    }

    /// Adds the rows that sharers took to the statistics of each of them, by shares; what others would have of
    /// a row goes to its taker.
    pub fn share_out(&mut self, comps: &mut [Comp]) {
        let n = self.block.n_rows();
        let of_block = self.predictions.shares();
        self.shares.stride = of_block.stride;
        self.shares.q.clone_from(&of_block.q);
        let stride = self.shares.stride;
        for &i in &self.alone {
            self.shares.q.iter_mut().skip(i).step_by(stride).for_each(|q| *q = 0.0);
        }
        self.together.clear();
        self.together.resize(n, 0.0);
        for &k in &self.sharers {
            let q = &self.shares.q[k * stride..][..n];
            self.together.iter_mut().zip(q).for_each(|(sum, q)| *sum += q);
        }
        for (i, (&taker, together)) in self.taker.iter().zip(&self.together).enumerate() {
            if taker != usize::MAX {
                self.shares.q[taker * stride + i] += (1.0 - together).max(0.0);
            }
        }
        for &k in &self.sharers {
            let comp = &mut comps[k];
            let Some(shared) = &mut comp.shared else { continue };
            let (q, centre) = (&self.shares.q[k * stride..][..n], &shared.moments.mean);
            let taken = Some(self.taken.as_slice());
            let got = accumulate(&mut self.gather, &mut self.block, q, taken, &comp.gauss, centre, false);
            shared.moments.absorb(1.0, got.mass, got.sum, got.scatter);
        }
    }
}

impl Core {
    /// From now on densities are predictive.
    pub fn begin_predicting(&mut self, floor: Vec<f64>) {
        let newborn = Some(floor.len() as f64 + 2.0);
        self.prior.density = Some(family::Prior { target: floor.clone(), floor, worth: newborn });
    }

    /// The component that a whole row belongs to most likely.
    pub fn likeliest(&mut self, row: &[f64]) -> usize {
        let scratch = &mut self.work.comp.wishart;
        let scores = self.comps.iter().map(|c| c.moments.count.ln() + c.posterior.log_predictive(row, scratch));
        scores.enumerate().fold((0, f64::NEG_INFINITY), |best, (k, s)| if s > best.1 { (k, s) } else { best }).0
    }

    /// Judges anew what priors of densities expect and are worth, where densities have such priors.
    pub fn renew_predictions(&mut self) {
        let Some(common) = &mut self.prior.density else { return };
        let told = || self.comps.iter().map(Comp::told);
        let target = diagonal_within(told(), &common.floor);
        let worths = PriorWorth::new(target.len()).choose(told(), &target);
        common.target = target;
        let known = self.comps.iter().zip(&worths).filter(|(comp, _)| !comp.is_young()).map(|(_, worth)| *worth);
        let known: Vec<f64> = known.collect();
        if !known.is_empty() {
            self.prior.usual_worth = median(known.into_iter());
        }
        for (comp, worth) in self.comps.iter_mut().zip(worths) {
            comp.worth = Some(worth);
            comp.refresh_density(&self.prior, &mut self.work.comp);
        }
    }

    /// All rows as one Gaussian, beside the mixture.
    pub fn renew_whole(&self, pooling: &mut Pooling) {
        if let Some(common) = &self.prior.density {
            pooling.renew_whole(self.comps.iter().map(|c| (c.rows(), c.told())), &common.floor);
        }
    }

    /// Writes the covariance of a component's density; returns the rows it rests on where that is known.
    pub fn covariance_of(&self, comp: &Comp, out: &mut Vec<f64>) -> Option<f64> {
        match &self.prior.density {
            Some(common) => {
                let prior = family::Prior { worth: comp.density_worth(&self.prior), ..common.clone() };
                model_covariance(FullGaussian, comp.told(), &prior, out);
                Some(prior.basis(comp.rows()))
            }
            None => {
                let d = comp.moments.n_columns();
                self.prior.blended(&comp.moments, out);
                (0..d).for_each(|j| out[j * d + j] = out[j * d + j].max(family::VARIANCE_FLOOR));
                None
            }
        }
    }
}
