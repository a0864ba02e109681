//! One component: raw statistics, the prior they are seen under, and two caches made from both.

use crate::family::{Family, Gauss, GaussScratch, Moments, NormalWishart, Prior, WishartPosterior, WishartScratch};
use crate::num::digamma;
use crate::structure::ComponentId;
use serde::{Deserialize, Serialize};
use std::f64::consts::LN_2;

/// A component of a variational mixture.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Comp {
    pub id: ComponentId,
    /// Rows so far; nothing of the prior is inside.
    pub moments: Moments,
    /// Its own prior: each component has a mean of its own there, or equal components would stay equal.
    pub prior: NormalWishart,
    /// A Gaussian with the expected precision, shaped by the family: what the E-step runs on.
    pub belief: Gauss,
    /// What the expected log-density adds to that of `belief`, mixing weight left out.
    pub shift: f64,
    /// The density to report, from raw statistics as in every other engine: the prior of the E-step is there to keep
    /// components apart while they are young and would cost half the statistical limit later.
    pub density: Gauss,
}

/// Buffers for making the caches.
#[derive(Clone, Debug, Default)]
pub(super) struct Caches {
    posterior: Option<WishartPosterior>,
    wishart: WishartScratch,
    gauss: GaussScratch,
}

impl Comp {
    /// A component without rows, around its prior's mean.
    pub fn empty<F: Family>(family: F, id: ComponentId, prior: NormalWishart, caches: &mut Caches) -> Comp {
        let moments = Moments::empty_at(prior.mean());
        Comp::of_moments(family, id, prior, moments, caches)
    }

    /// A component that has these rows behind it.
    pub fn of_moments<F: Family>(
        family: F,
        id: ComponentId,
        prior: NormalWishart,
        moments: Moments,
        caches: &mut Caches,
    ) -> Comp {
        let density = Gauss::of(family, &moments, &variances(&prior));
        let mut comp = Comp { id, moments, prior, belief: density.clone(), shift: 0.0, density };
        comp.believe(family, caches);
        comp
    }

    /// Catches up with the statistics: what the E-step needs. Returns how often a scatter had to be repaired.
    pub fn believe<F: Family>(&mut self, family: F, caches: &mut Caches) -> u32 {
        let Comp { moments, prior, belief, shift, .. } = self;
        let posterior = caches.posterior.get_or_insert_with(|| prior.empty_posterior());
        let n_repairs = posterior.rebuild(prior, moments, &mut caches.wishart);
        let d = moments.n_columns();
        let (nu, c, columns) = (posterior.nu(), posterior.c(), d as f64);
        let factor = posterior.factor();
        let covariance = caches.gauss.covariance_mut();
        covariance.clear();
        covariance.resize(d * d, 0.0);
        for i in 0..d {
            for j in 0..=i {
                // S/ν, the inverse of the expected precision.
                let value = (0..=j).map(|r| factor[i * d + r] * factor[j * d + r]).sum::<f64>() / nu;
                covariance[i * d + j] = value;
                covariance[j * d + i] = value;
            }
        }
        let repair = belief.reshape(family, posterior.mean(), moments.count, &mut caches.gauss);
        // E ln N(x | μ, T⁻¹) = ln N(x | m, E[T]⁻¹) + ½(E ln |T| − ln |E T|) − d/2c.
        let log_det_gap = (0..d).map(|j| digamma(0.5 * (nu - j as f64))).sum::<f64>() + columns * (LN_2 - nu.ln());
        *shift = 0.5 * (log_det_gap - columns / c);
        n_repairs + repair.n_jittered
    }

    /// Catches up with the statistics: what is reported.
    pub fn settle<F: Family>(&mut self, family: F, caches: &mut Caches) -> u32 {
        self.density.refresh(family, &self.moments, &variances(&self.prior), &mut caches.gauss).n_jittered
    }

    /// Builds the kernels' copies; needed after loading.
    pub fn pack(&mut self) {
        self.belief.pack();
        self.density.pack();
    }

    /// True when sizes agree and numbers make sense: what a file must satisfy.
    pub fn is_sound(&self, n_columns: usize) -> bool {
        let Moments { count, mean, covariance } = &self.moments;
        mean.len() == n_columns
            && covariance.len() == n_columns * n_columns
            && mean.iter().chain(covariance).all(|v| v.is_finite())
            && count.is_finite()
            && *count >= 0.0
            && self.shift.is_finite()
            && self.prior.is_sound(n_columns)
            && self.belief.is_sound(n_columns)
            && self.density.is_sound(n_columns)
    }
}

/// Variances that a prior expects.
pub(super) fn variances(prior: &NormalWishart) -> Prior {
    let d = prior.n_columns();
    let rows = prior.nu() - d as f64 - 1.0;
    let divisor = if rows > 0.0 { rows } else { rows + 2.0 };
    Prior::vanishing((0..d).map(|j| prior.scatter()[j * d + j] / divisor).collect())
}
