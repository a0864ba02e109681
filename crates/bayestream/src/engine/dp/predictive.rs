//! What `gmm/dp` predicts rows by: the Student t of each component, pooled with other densities.
//!
//! Rows are assigned as wholes, for that is what the marginal likelihood of a partition asks for. Where components
//! overlap, the rows that each wins are cut off at the border and say too little of its spread, so densities rest on
//! statistics of their own, to which a row adds to each component by its share. What their priors are worth is judged by
//! marginal likelihood whenever the structure is looked at.

use super::component::{Comp, moments_sound};
use super::core::Core;
use crate::engine::parts::{Gather, Pooling, accumulate, diagonal_within};
use crate::family::{self, FullGaussian, Moments, PriorWorth, model_covariance};
use crate::structure::{Posterior, Predictions, RowBlock};
use serde::{Deserialize, Serialize};

/// What a component's density is made of.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Predictive {
    /// Statistics of rows by their shares; nothing of the prior is inside.
    pub moments: Moments,
    /// Rows that the prior's target is worth.
    pub worth: f64,
}

impl Predictive {
    /// The prior of its covariance, given what all components share.
    pub fn prior(&self, common: &family::Prior) -> family::Prior {
        family::Prior { worth: Some(self.worth), ..common.clone() }
    }

    /// The same in another frame.
    pub fn mapped(&self, factor: &[f64], offset: &[f64]) -> Predictive {
        Predictive { moments: self.moments.mapped(factor, offset), worth: self.worth }
    }

    pub fn is_sound(&self, n_columns: usize) -> bool {
        moments_sound(&self.moments, n_columns) && self.worth.is_finite() && self.worth > 0.0
    }
}

/// Rows before they are learned: their densities, and to whom they belong by which share. Buffers are reused.
#[derive(Clone, Debug, Default)]
pub(super) struct Foresight {
    pub block: RowBlock,
    predictions: Predictions,
    shares: Posterior,
    gather: Gather,
    /// Weights of the rows that settled components took, 0 for others.
    pub taken: Vec<f64>,
    /// Components that share rows, and who took each row.
    pub settled: Vec<usize>,
    pub taker: Vec<usize>,
    /// Rows so far from every component that shares say nothing: their takers have them alone.
    pub alone: Vec<usize>,
    /// What the settled components together have of a row.
    together: Vec<f64>,
}

impl Foresight {
    /// Writes the pooled log-densities of the block's rows, in the frame; nothing before there is a model.
    pub fn run(
        &mut self,
        core: &Core,
        pooling: &mut Pooling,
        weights: Option<&[f64]>,
        (row_worth, first): (f64, u64),
        out: &mut Vec<f64>,
    ) {
        out.clear();
        let Some(whole) = pooling.whole() else { return };
        let total: f64 = core.comps.iter().map(Comp::rows).sum();
        let parts = core.comps.iter().map(|c| (c.rows() / total, &c.gauss));
        self.predictions.run(&mut self.block, parts, whole);
        pooling.predict(&self.predictions, weights, row_worth, first, out);
    }

    /// Nobody took a row of this batch yet.
    pub fn begin(&mut self, settled: impl Iterator<Item = usize>) {
        let n = self.block.n_rows();
        self.taken.clear();
        self.taken.resize(n, 0.0);
        self.taker.clear();
        self.taker.resize(n, usize::MAX);
        self.alone.clear();
        self.settled.clear();
        self.settled.extend(settled);
    }

    /// Adds the rows that settled components took to the statistics of each of them, by shares; what others would have of
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
        for &k in &self.settled {
            let q = &self.shares.q[k * stride..][..n];
            self.together.iter_mut().zip(q).for_each(|(sum, q)| *sum += q);
        }
        for (i, (&taker, together)) in self.taker.iter().zip(&self.together).enumerate() {
            if taker != usize::MAX {
                self.shares.q[taker * stride + i] += (1.0 - together).max(0.0);
            }
        }
        for &k in &self.settled {
            let comp = &mut comps[k];
            let Some(predictive) = &mut comp.predictive else { continue };
            let (q, centre) = (&self.shares.q[k * stride..][..n], &predictive.moments.mean);
            let taken = Some(self.taken.as_slice());
            let got = accumulate(&mut self.gather, &mut self.block, q, taken, &comp.gauss, centre, false);
            predictive.moments.absorb(1.0, got.mass, got.sum, got.scatter);
        }
    }
}

impl Core {
    /// From now on densities have statistics of their own.
    pub fn begin_predicting(&mut self, floor: Vec<f64>) {
        let worth = Some(floor.len() as f64 + 2.0);
        self.prior.density = Some(family::Prior { target: floor.clone(), floor, worth });
        self.comps.iter_mut().for_each(|comp| comp.predict_by(comp.moments.clone()));
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
        let told = || self.comps.iter().filter_map(|c| c.predictive.as_ref().map(|p| &p.moments));
        let target = diagonal_within(told(), &common.floor);
        let worths = PriorWorth::new(target.len()).choose(told(), &target);
        common.target = target;
        let predictives = self.comps.iter_mut().filter_map(|c| c.predictive.as_mut());
        predictives.zip(worths).for_each(|(predictive, worth)| predictive.worth = worth);
        self.comps.iter_mut().for_each(|comp| comp.refresh_density(&self.prior, &mut self.work.comp));
    }

    /// All rows as one Gaussian, beside the mixture.
    pub fn renew_whole(&self, pooling: &mut Pooling) {
        let Some(common) = &self.prior.density else { return };
        let told = self.comps.iter().filter_map(|c| c.predictive.as_ref().map(|p| (p.moments.count, &p.moments)));
        pooling.renew_whole(told, &common.floor);
    }

    /// Writes the covariance of a component's density; returns the rows it rests on where that is known.
    pub fn covariance_of(&self, comp: &Comp, out: &mut Vec<f64>) -> Option<f64> {
        match (&comp.predictive, &self.prior.density) {
            (Some(predictive), Some(common)) => {
                let prior = predictive.prior(common);
                model_covariance(FullGaussian, &predictive.moments, &prior, out);
                Some(prior.basis(predictive.moments.count))
            }
            _ => {
                let d = comp.moments.n_columns();
                self.prior.blended(&comp.moments, out);
                (0..d).for_each(|j| out[j * d + j] = out[j * d + j].max(family::VARIANCE_FLOOR));
                None
            }
        }
    }
}
