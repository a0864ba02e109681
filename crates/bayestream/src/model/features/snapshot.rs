//! Features at one moment, for people and for scoring.

use crate::structure::{EventLog, Feature, FeatureScorer, FeatureSet, LogScore};
use serde::{Deserialize, Serialize};

/// A share of what a feature adds to the column it adds most to.
const NEXT_TO_NOTHING: f64 = 0.02;

/// What a model of binary latent features has learnt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FeatureSnapshot {
    /// Rows the learner had seen.
    pub n_seen: u64,
    /// Names of the columns.
    pub columns: Vec<String>,
    /// Features in the learner's master model.
    pub k_implemented: usize,
    /// The features, with the offset and the noise of every column; without columns before the first row.
    pub set: FeatureSet,
    /// Log-scores along the stream.
    pub log_score: LogScore,
    /// The last events.
    pub events: EventLog,
}

impl FeatureSnapshot {
    /// How many features the snapshot has.
    pub fn k_realized(&self) -> usize {
        self.set.features.len()
    }

    /// False before anything was learnt. A model without features is one: columns with a mean and a spread.
    pub fn has_model(&self) -> bool {
        !self.set.offset.is_empty()
    }

    /// A scorer by this snapshot, which ranks rows among the scores along the stream.
    pub fn scorer(&self) -> FeatureScorer {
        FeatureScorer::new(self.set.clone(), &self.log_score)
    }

    /// Draws `n` rows, row-major. The same seed gives the same rows.
    pub fn sample(&self, n: usize, seed: u64) -> Vec<f64> {
        self.set.sample(n, seed)
    }

    /// The columns to which a feature adds most, in units of their noise, with its weights in the columns' own. Those to
    /// which it adds next to nothing are left out.
    pub fn strongest<'a>(&'a self, feature: &'a Feature, n: usize) -> Vec<(&'a str, f64)> {
        let strength = |j: &usize| feature.weights[*j].abs() / self.set.noise[*j].sqrt();
        let mut found: Vec<usize> = (0..feature.weights.len()).filter(|j| feature.weights[*j] != 0.0).collect();
        found.sort_by(|a, b| strength(b).total_cmp(&strength(a)).then(a.cmp(b)));
        let least = found.first().map_or(0.0, |first| NEXT_TO_NOTHING * strength(first));
        found.retain(|j| strength(j) >= least);
        found.truncate(n);
        found.into_iter().map(|j| (self.columns[j].as_str(), feature.weights[j])).collect()
    }
}
