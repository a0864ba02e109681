//! Binary latent features: rows as sums of features that are there or not.

use super::event::ComponentId;
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
    /// The variance of the noise in each column.
    pub noise: Vec<f64>,
    /// The features.
    pub features: Vec<Feature>,
}
