//! Parameters in the data's own units.

use super::parameters::Parameters;
use crate::data::Frame;
use crate::structure::{ComponentId, Feature, FeatureSet};

/// The features as others see them, by decreasing salience; `unseen` is the noise of missing cells, and `ids` names the
/// features in the parameters' order.
pub fn export(p: &Parameters, unseen: &[f64], frame: &Frame, ids: &[ComponentId]) -> FeatureSet {
    let mut order: Vec<usize> = (0..p.k).collect();
    let salience: Vec<f64> = order.iter().map(|&k| p.salience(k)).collect();
    order.sort_by(|a, b| salience[*b].total_cmp(&salience[*a]).then(ids[*a].cmp(&ids[*b])));
    let feature = |&k: &usize| Feature {
        id: ids[k],
        share: p.shares[k],
        weights: p.feature(k).iter().enumerate().map(|(j, w)| w * frame.scale(j)).collect(),
    };
    FeatureSet {
        offset: frame.mean_out(&p.offset),
        noise: p.precision.iter().enumerate().map(|(j, l)| frame.scale(j).powi(2) / l).collect(),
        unseen: unseen.iter().enumerate().map(|(j, v)| frame.scale(j).powi(2) * v).collect(),
        features: order.iter().map(feature).collect(),
    }
}

/// What is wrong with a set of features of `n_columns` columns, if anything.
pub fn check(set: &FeatureSet, n_columns: usize) -> Result<(), String> {
    let all_finite = |values: &[f64]| values.len() == n_columns && values.iter().all(|v| v.is_finite());
    if !all_finite(&set.offset) || !all_finite(&set.noise) || !all_finite(&set.unseen) {
        return Err("its offset or its noise does not fit the columns".into());
    }
    if let Some(at) = set.noise.iter().zip(&set.unseen).position(|(noise, unseen)| *noise <= 0.0 || *unseen <= 0.0) {
        return Err(format!("the noise of column {} is not positive", at + 1));
    }
    for feature in &set.features {
        if !all_finite(&feature.weights) {
            return Err(format!("the weights of feature {} do not fit the columns", feature.id));
        }
        if !(0.0..=1.0).contains(&feature.share) {
            return Err(format!("the share {} of feature {} is not between 0 and 1", feature.share, feature.id));
        }
    }
    Ok(())
}
