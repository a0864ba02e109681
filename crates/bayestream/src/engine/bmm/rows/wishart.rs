//! Gaussians whose mean and covariance are not known: q(β) is normal-Wishart.
//! Extends: \[BMM\] has Gaussians of known variance only; the projection is the one that its section 3 asks for.

use super::part::Part;
use crate::data::Frame;
use crate::family::{FilledRow, IllegalPrior, MergeScratch, Moments, NormalWishart, WishartPosterior, WishartScratch};
use crate::model::Settings;
use serde::{Deserialize, Serialize};

/// Shares of a column's variance that are tried for the inside of a component, unless one is given.
const SCALES: [f64; 4] = [0.3, 0.1, 0.03, 0.01];
/// Rows that the prior mean is worth, unless given.
const MEAN_WEIGHT: f64 = 0.01;

/// What is known of one Gaussian.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WishartPart {
    posterior: WishartPosterior,
}

/// Buffers.
#[derive(Clone, Debug, Default)]
pub struct WishartPartScratch {
    wishart: WishartScratch,
    filled: FilledRow,
}

impl Part for WishartPart {
    type Prior = NormalWishart;
    type Scratch = WishartPartScratch;

    fn priors(settings: &Settings, frame: &Frame) -> Result<Vec<NormalWishart>, IllegalPrior> {
        let (d, asked) = (frame.n_columns(), &settings.dirichlet);
        let nu = asked.nu0.unwrap_or(d as f64 + 2.0);
        let c = asked.c0.unwrap_or(MEAN_WEIGHT);
        let scales = asked.prior_scale.as_ref().map_or(&SCALES[..], std::slice::from_ref);
        scales.iter().map(|&scale| NormalWishart::with_variances(c, nu, vec![0.0; d], &vec![scale; d])).collect()
    }

    fn new(prior: &NormalWishart) -> Self {
        WishartPart { posterior: prior.empty_posterior() }
    }

    fn log_predictive(&self, _prior: &NormalWishart, row: &[f64], scratch: &mut WishartPartScratch) -> f64 {
        match row.iter().any(|v| v.is_nan()) {
            true => self.posterior.fill(row, &mut scratch.filled),
            false => self.posterior.log_predictive(row, &mut scratch.wishart),
        }
    }

    fn learn(
        &mut self,
        _prior: &NormalWishart,
        row: &[f64],
        share: f64,
        weight: f64,
        scratch: &mut WishartPartScratch,
    ) {
        if !row.iter().any(|v| v.is_nan()) {
            self.posterior.blend_row(row, share, weight, &mut scratch.wishart);
            return;
        }
        // The missing cells are expected, and what is not known of them adds to the scatter.
        self.posterior.fill(row, &mut scratch.filled);
        let filled = &scratch.filled;
        let mut after = self.posterior.clone();
        after.add(&filled.row, weight, &mut scratch.wishart);
        let (d, m) = (row.len(), filled.missing.len());
        let mut scatter = Vec::new();
        after.scatter_into(&mut scatter);
        for (a, &i) in filled.missing.iter().enumerate() {
            for (b, &j) in filled.missing.iter().enumerate() {
                scatter[i * d + j] += weight * filled.covariance[a * m + b];
            }
        }
        let (c, nu, mean) = (after.c(), after.nu(), after.mean().to_vec());
        if let Ok(after) = WishartPosterior::from_parts(c, nu, mean, scatter)
            && after.is_sound(d)
        {
            self.posterior.blend(&after, share);
        }
    }

    fn forget(&mut self, prior: &NormalWishart, keep: f64) {
        let d = prior.n_columns();
        let fade = |own: f64, first: f64| first + keep * (own - first);
        let (c, nu) = (fade(self.posterior.c(), prior.c()), fade(self.posterior.nu(), prior.nu()));
        let mut scatter = Vec::new();
        self.posterior.scatter_into(&mut scatter);
        // The expected precision stays between what it was and the prior's, each by its degrees of freedom.
        let (own, first) = (keep * self.posterior.nu() / nu, (1.0 - keep) * prior.nu() / nu);
        let expected = |s: f64, first_s: f64| nu * (own * s / self.posterior.nu() + first * first_s / prior.nu());
        for (s, first_s) in scatter.iter_mut().zip(prior.scatter()) {
            *s = expected(*s, *first_s);
        }
        let share = keep * self.posterior.c() / c;
        let mean: Vec<f64> =
            self.posterior.mean().iter().zip(prior.mean()).map(|(m, first)| first + share * (m - first)).collect();
        if let Ok(faded) = WishartPosterior::from_parts(c, nu, mean, scatter)
            && faded.is_sound(d)
        {
            self.posterior = faded;
        }
    }

    fn as_rows(&self, _prior: &NormalWishart, count: f64) -> Moments {
        Moments { count, mean: self.posterior.mean().to_vec(), covariance: self.posterior.expected_covariance() }
    }

    fn known_rows(&self, prior: &NormalWishart) -> f64 {
        self.posterior.nu() - prior.nu()
    }

    fn evidence(&self, prior: &NormalWishart, _mass: f64) -> Moments {
        let d = prior.n_columns();
        let count = self.known_rows(prior).max(1.0);
        let mut covariance = Vec::new();
        self.posterior.scatter_into(&mut covariance);
        for (at, (s, first)) in covariance.iter_mut().zip(prior.scatter()).enumerate() {
            let own = (*s - first) / count;
            *s = if at / d == at % d { own.max(0.0) } else { own };
        }
        Moments { count, mean: self.posterior.mean().to_vec(), covariance }
    }

    fn join(&mut self, prior: &NormalWishart, own: f64, other: &Self, others: f64) {
        let d = prior.n_columns();
        let mut both = self.as_rows(prior, own);
        both.add_scaled(1.0, &other.as_rows(prior, others));
        let sum = |a: f64, b: f64, first: f64| (a + b - first).max(a).max(b);
        let c = sum(self.posterior.c(), other.posterior.c(), prior.c());
        let nu = sum(self.posterior.nu(), other.posterior.nu(), prior.nu());
        let rows = nu - d as f64 - 1.0;
        let divisor = if rows > 0.0 { rows } else { nu };
        both.covariance.iter_mut().for_each(|v| *v *= divisor);
        if let Ok(joined) = WishartPosterior::from_parts(c, nu, both.mean, both.covariance)
            && joined.is_sound(d)
        {
            self.posterior = joined;
        }
    }

    fn merge_gain(prior: &NormalWishart, first: &Moments, second: &Moments) -> f64 {
        let mut scratch = MergeScratch::default();
        let mut wishart = WishartScratch::default();
        let apart = [first, second].map(|rows| prior.log_marginal(rows, &mut wishart));
        prior.merge_gain((first, apart[0]), (second, apart[1]), 0.0, &mut scratch)
    }

    fn mapped(&self, prior: &NormalWishart, factor: &[f64], offset: &[f64]) -> Self {
        let d = factor.len();
        let rows = self.as_rows(prior, 1.0).mapped(factor, offset);
        let mut scatter = Vec::new();
        self.posterior.scatter_into(&mut scatter);
        scatter.iter_mut().enumerate().for_each(|(at, v)| *v *= factor[at / d] * factor[at % d]);
        let moved = WishartPosterior::from_parts(self.posterior.c(), self.posterior.nu(), rows.mean, scatter);
        moved.map_or_else(|_| self.clone(), |posterior| WishartPart { posterior })
    }

    fn is_prior_sound(prior: &NormalWishart, n_columns: usize) -> bool {
        prior.is_sound(n_columns)
    }

    fn is_sound(&self, n_columns: usize) -> bool {
        self.posterior.is_sound(n_columns)
    }
}
