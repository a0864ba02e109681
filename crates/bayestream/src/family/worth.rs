//! How many rows a component's prior is worth, judged by the component's own scatter.
//!
//! A covariance is estimated as (S + κΨ) / (n − 1 + κ): S the scatter, Ψ a diagonal target that all components share,
//! κ the rows that the target is worth. The marginal likelihood of S under an inverse-Wishart prior with scale κΨ and
//! κ + D + 1 degrees of freedom says which κ fits; the components' values are drawn towards a common one.

use super::{Moments, ln_multivariate_gamma};
use crate::num::Tridiagonal;

/// Values of κ that are tried, evenly spaced in their logarithm. The lower end matters: thin directions of a
/// component ask for next to no prior.
const N_VALUES: usize = 42;
const LEAST: f64 = 1e-8;
const MOST: f64 = 2e4;

/// Chooses κ for the components of a mixture; keeps what does not change from call to call.
#[derive(Clone, Debug)]
pub struct PriorWorth {
    d: usize,
    values: Vec<f64>,
    /// ln Γ_D(ν/2) of the prior, for each value.
    ln_gamma: Vec<f64>,
    /// Log marginal likelihoods, component-major.
    fits: Vec<f64>,
    scatter: Vec<f64>,
}

impl PriorWorth {
    /// For components of `d` columns.
    pub fn new(d: usize) -> PriorWorth {
        let step = (MOST / LEAST).ln() / (N_VALUES - 1) as f64;
        let values: Vec<f64> = (0..N_VALUES).map(|v| (LEAST.ln() + step * v as f64).exp()).collect();
        let ln_gamma = values.iter().map(|k| ln_multivariate_gamma(d, (k + d as f64 + 1.0) / 2.0)).collect();
        PriorWorth { d, values, ln_gamma, fits: Vec::new(), scatter: vec![0.0; d * d] }
    }

    /// The rows that the target is worth to each component, in the order given.
    pub fn choose<'a>(&mut self, components: impl Iterator<Item = &'a Moments>, target: &[f64]) -> Vec<f64> {
        self.fits.clear();
        let mut common = vec![0.0; N_VALUES];
        for moments in components {
            self.push_fits(moments, target);
            let of_this = &self.fits[self.fits.len() - N_VALUES..];
            common.iter_mut().zip(of_this).for_each(|(sum, fit)| *sum += fit);
        }
        let common = self.values[largest(&common)].ln();
        // A standard normal about the common logarithm.
        let drawn = |v: usize| -(self.values[v].ln() - common).powi(2) / 2.0;
        let pull: Vec<f64> = (0..N_VALUES).map(drawn).collect();
        self.fits
            .chunks_exact(N_VALUES)
            .map(|fits| {
                let pulled: Vec<f64> = fits.iter().zip(&pull).map(|(fit, pull)| fit + pull).collect();
                self.values[largest(&pulled)]
            })
            .collect()
    }

    fn push_fits(&mut self, moments: &Moments, target: &[f64]) {
        let d = self.d;
        for i in 0..d {
            for j in 0..=i {
                let unit = (target[i] * target[j]).sqrt();
                self.scatter[i * d + j] = moments.count * moments.covariance[i * d + j] / unit;
            }
        }
        let scatter = Tridiagonal::of(&self.scatter, d);
        let rows = (moments.count - 1.0).max(0.0);
        for (value, ln_gamma) in self.values.iter().zip(&self.ln_gamma) {
            let nu = value + d as f64 + 1.0;
            let fit = ln_multivariate_gamma(d, (nu + rows) / 2.0) - ln_gamma + nu / 2.0 * d as f64 * value.ln()
                - (nu + rows) / 2.0 * scatter.ln_det_shifted(*value);
            self.fits.push(fit);
        }
    }
}

/// The first of the largest.
fn largest(values: &[f64]) -> usize {
    (0..values.len()).fold(0, |best, at| if values[at] > values[best] { at } else { best })
}
