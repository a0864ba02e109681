//! The prior of components, and how it is learnt from them.
//!
//! In the frame every column has unit variance, so a scale s says how much of it is expected within a component:
//! E Σ = s·I, and c₀ = s/(1 − s) leaves the rest for the spread of the means.

use super::component::Comp;
use crate::family::{self, IllegalPrior, Moments, NormalWishart, WishartScratch};
use crate::model::DirichletSettings;
use crate::num;
use serde::{Deserialize, Serialize};

/// Scales among which the first rows choose.
pub(super) const SCALES: [f64; 5] = [0.3, 0.1, 0.03, 0.01, 0.003];

/// Rows that the expected covariance is worth at least when rows are assigned: a quarter of the entries a covariance
/// has. With many columns a component that knows no more than its first rows would take none but their like.
fn least_strength(n_columns: usize) -> f64 {
    let d = n_columns as f64;
    d * (d + 1.0) / 8.0
}

/// Rows that the expected covariance may be worth to begin with.
pub(super) fn first_strengths(n_columns: usize) -> [f64; 3] {
    let d = n_columns as f64;
    [30.0 + 2.0 * d, 10.0 + 0.5 * d, 2.0].map(|rows| rows.max(least_strength(n_columns)))
}

/// Rows that the expected covariance may be worth when it is learnt.
const STRENGTHS: [f64; 7] = [2.0, 5.0, 12.0, 30.0, 80.0, 200.0, 500.0];
/// A component with this many times the median spread is of outliers, and not asked.
const WIDE: f64 = 10.0;
/// Components that the first guess counts for when the prior is learnt.
const FIRST_GUESS: f64 = 2.0;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Prior {
    /// What assignments, merges and splits are judged under.
    pub clustering: NormalWishart,
    /// Covariance expected within a component, row-major, and the rows it is worth when densities are made.
    pub expected: Vec<f64>,
    pub strength: f64,
    /// What covariances of predictions are expected to be, and what that is worth to a newborn; only in `gmm/dp`, and
    /// not before there is a model.
    pub density: Option<family::Prior>,
    /// What that is worth usually to one that is no longer young.
    pub usual_worth: f64,
    /// The scale that the first rows chose.
    scale: f64,
    first_c: f64,
    /// False when any of it was asked for: then it stays.
    learns: bool,
}

impl Prior {
    /// A prior of this scale, whose expected covariance is worth `strength` rows unless ν₀ was asked for.
    pub fn new(n_columns: usize, scale: f64, strength: f64, asked: &DirichletSettings) -> Result<Prior, IllegalPrior> {
        let d = n_columns;
        let nu = asked.nu0.unwrap_or(d as f64 + 1.0 + strength);
        let c = asked.c0.unwrap_or(scale / (1.0 - scale));
        let clustering = NormalWishart::with_variances(c, nu, vec![0.0; d], &vec![scale; d])?;
        let mut expected = vec![0.0; d * d];
        (0..d).for_each(|j| expected[j * d + j] = scale);
        let learns = asked.nu0.is_none() && asked.c0.is_none() && asked.prior_scale.is_none();
        Ok(Prior {
            clustering,
            expected,
            strength: 1.0,
            density: None,
            usual_worth: d as f64 + 2.0,
            scale,
            first_c: c,
            learns,
        })
    }

    /// Empirical Bayes: of a few ways to expect a covariance, and of a few strengths, the ones under which the components
    /// are most likely. False when it stays as it is.
    pub fn learn(&mut self, comps: &[Comp]) -> bool {
        let d = self.clustering.n_columns();
        let columns = d as f64;
        let told: Vec<&Comp> = comps.iter().filter(|c| c.moments.count >= columns + 2.0).collect();
        if !self.learns || told.is_empty() {
            return false;
        }
        let k = told.len() as f64;
        // Medians, because one component of outliers would move a mean anywhere.
        let mean: Vec<f64> =
            (0..d).map(|j| k / (k + FIRST_GUESS) * median(told.iter().map(|c| c.moments.mean[j]))).collect();
        let mut scratch = WishartScratch::default();
        let spread = median(told.iter().map(|c| {
            let distance = c.posterior.distance(&mean, &mut scratch);
            c.posterior.expected_mahalanobis(distance) / columns
        }));
        let c = (FIRST_GUESS + k) / (FIRST_GUESS / self.first_c + k * spread);
        let ways = [Some(self.expected.clone()), self.pooled(&told), self.pooled_precision(&told)];
        let mut best: Option<(f64, f64, usize)> = None;
        for (way, expected) in ways.iter().enumerate() {
            let Some(expected) = expected else { continue };
            for strength in STRENGTHS {
                let Some(prior) = of_expected(c, strength, &mean, expected) else { continue };
                let evidence: f64 = told.iter().map(|c| prior.log_marginal(&c.moments, &mut scratch)).sum();
                if best.is_none_or(|(most, ..)| evidence > most) {
                    best = Some((evidence, strength, way));
                }
            }
        }
        let Some((_, strength, way)) = best else { return false };
        let Some(expected) = ways.into_iter().nth(way).flatten() else { return false };
        let Some(prior) = of_expected(c, strength.max(least_strength(d)), &mean, &expected) else { return false };
        (self.clustering, self.expected, self.strength) = (prior, expected, strength);
        true
    }

    /// The average covariance, each component by what it knows.
    fn pooled(&self, told: &[&Comp]) -> Option<Vec<f64>> {
        let d = self.clustering.n_columns();
        let trace = |c: &Comp| (0..d).map(|j| c.moments.covariance[j * d + j]).sum::<f64>();
        let usual = median(told.iter().map(|c| trace(c)));
        let mut out = vec![0.0; d * d];
        (0..d).for_each(|j| out[j * d + j] = FIRST_GUESS * self.scale);
        let mut total = FIRST_GUESS;
        for comp in told.iter().filter(|c| trace(c) <= WIDE * usual) {
            let weight = trust(comp.moments.count, d);
            out.iter_mut().zip(&comp.moments.covariance).for_each(|(o, v)| *o += weight * v);
            total += weight;
        }
        out.iter_mut().for_each(|v| *v /= total);
        Some(out)
    }

    /// The inverse of the average precision: the step of expectation-maximisation for S₀.
    fn pooled_precision(&self, told: &[&Comp]) -> Option<Vec<f64>> {
        let d = self.clustering.n_columns();
        let mut precision = vec![0.0; d * d];
        (0..d).for_each(|j| precision[j * d + j] = FIRST_GUESS / self.scale);
        let mut total = FIRST_GUESS;
        let mut inverse = vec![0.0; d * d];
        for comp in told {
            let weight = trust(comp.moments.count, d);
            num::invert_lower(comp.posterior.factor(), d, &mut inverse);
            let rows = (comp.posterior.nu() - d as f64 - 1.0).max(1.0);
            for r in 0..d {
                for i in 0..=r {
                    let scaled = weight * rows * inverse[r * d + i];
                    (0..=i).for_each(|j| precision[i * d + j] += scaled * inverse[r * d + j]);
                }
            }
            total += weight;
        }
        precision.iter_mut().for_each(|v| *v /= total);
        inverted(&mut precision, d)
    }

    /// Writes the covariance of a component's density: its own, blended with the expected one.
    pub fn blended(&self, moments: &Moments, out: &mut Vec<f64>) {
        let (n, rows) = (moments.count, moments.count + self.strength);
        let (own, prior) = (n / rows, self.strength / rows);
        out.clear();
        out.extend(moments.covariance.iter().zip(&self.expected).map(|(v, e)| own * v + prior * e));
    }

    pub fn is_sound(&self, n_columns: usize) -> bool {
        self.clustering.is_sound(n_columns)
            && self.expected.len() == n_columns * n_columns
            && self.expected.iter().all(|v| v.is_finite())
            && self.density.as_ref().is_none_or(|p| p.is_sound(n_columns) && p.worth.is_some())
            && [self.strength, self.scale, self.first_c, self.usual_worth].iter().all(|v| v.is_finite() && *v > 0.0)
    }
}

/// How far a component of n rows is to be believed.
fn trust(n: f64, d: usize) -> f64 {
    n / (n + d as f64 + 2.0)
}

/// The prior with this expected covariance, worth so many rows.
fn of_expected(c: f64, strength: f64, mean: &[f64], expected: &[f64]) -> Option<NormalWishart> {
    let nu = mean.len() as f64 + 1.0 + strength;
    NormalWishart::new(c, nu, mean.to_vec(), expected.iter().map(|v| strength * v).collect()).ok()
}

/// The inverse of a positive definite matrix of which the lower triangle is given.
fn inverted(matrix: &mut [f64], d: usize) -> Option<Vec<f64>> {
    num::cholesky(matrix, d).ok()?;
    let mut inverse = vec![0.0; d * d];
    num::invert_lower(matrix, d, &mut inverse);
    let mut out = vec![0.0; d * d];
    for r in 0..d {
        for i in 0..=r {
            (0..=i).for_each(|j| out[i * d + j] += inverse[r * d + i] * inverse[r * d + j]);
        }
    }
    for i in 0..d {
        (0..i).for_each(|j| out[j * d + i] = out[i * d + j]);
    }
    Some(out)
}

pub(super) fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    let n = values.len();
    if n == 0 { 0.0 } else { 0.5 * (values[(n - 1) / 2] + values[n / 2]) }
}
