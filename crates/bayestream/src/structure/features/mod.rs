//! Binary latent features: rows as sums of features that are there or not.

mod reader;
mod reasons;
mod scorer;
#[cfg(test)]
mod tests;

pub use reader::{FeatureReader, Reading};
pub use scorer::{FeatureScore, FeatureScorer};

use super::event::ComponentId;
use crate::num;
use serde::{Deserialize, Serialize};

/// One feature, in the data's own units.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Feature {
    /// Its name for life.
    pub id: ComponentId,
    /// π: the share of rows that have it.
    pub share: f64,
    /// w: what it adds to each column of a row that has it.
    pub weights: Vec<f64>,
}

/// A model of rows at one moment: x = b + Σ z_k w_k + noise, with z_k one or zero, and noise independent in each column. The
/// features come by decreasing salience, the part of the variance in units of the noise that they explain.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FeatureSet {
    /// b: a row without features.
    pub offset: Vec<f64>,
    /// The variance of the noise in each column, about what the features of a row add up to when all its cells are known.
    pub noise: Vec<f64>,
    /// The variance of a missing cell in each column beyond the doubt about the features of its row: at least that of the
    /// noise, and more where features follow the cells that they are found by.
    pub unseen: Vec<f64>,
    /// The features.
    pub features: Vec<Feature>,
}

impl FeatureSet {
    /// Draws `n` rows, row-major. The same seed gives the same rows.
    pub fn sample(&self, n: usize, seed: u64) -> Vec<f64> {
        let mut rng = num::stream(seed, 0, n as u64);
        let deviations: Vec<f64> = self.noise.iter().map(|variance| variance.max(0.0).sqrt()).collect();
        let mut rows = Vec::with_capacity(n * self.offset.len());
        for _ in 0..n {
            let first = rows.len();
            rows.extend_from_slice(&self.offset);
            let row = &mut rows[first..];
            for feature in &self.features {
                if rng.uniform() < feature.share {
                    row.iter_mut().zip(&feature.weights).for_each(|(cell, weight)| *cell += weight);
                }
            }
            row.iter_mut().zip(&deviations).for_each(|(cell, deviation)| *cell += deviation * rng.normal());
        }
        rows
    }
}
