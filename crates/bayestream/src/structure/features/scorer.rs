//! Scores of rows against a feature set that stays as it is.

use super::FeatureSet;
use super::reader::FeatureReader;
use crate::structure::reasons::Reason;
use crate::structure::recent::RecentScores;
use crate::structure::snapshot::LogScore;

/// What a feature set says of one row of a stream.
#[derive(Clone, Debug, PartialEq)]
pub struct FeatureScore {
    /// Log-density of the observed cells, in nats and the data's own units; NaN when there is no model yet.
    pub log_density: f64,
    /// Nats by which the row is less likely than the median of the recent stream; NaN when nothing was scored yet.
    pub surprise: f64,
    /// Share of the recent stream that was at least as surprising; NaN when nothing was scored yet.
    pub p_value: f64,
    /// The probability that the row has each feature, in the order of the set.
    pub activations: Vec<f64>,
}

/// A feature set ready to score rows of its stream.
#[derive(Clone, Debug)]
pub struct FeatureScorer {
    reader: FeatureReader,
    recent: RecentScores,
}

impl FeatureScorer {
    /// A scorer by this set, among these scores.
    pub fn new(set: FeatureSet, log_score: &LogScore) -> FeatureScorer {
        FeatureScorer { reader: FeatureReader::new(set), recent: RecentScores::of(log_score) }
    }

    /// The set.
    pub fn set(&self) -> &FeatureSet {
        self.reader.set()
    }

    /// Scores one row; NaN is a missing cell.
    pub fn score(&mut self, row: &[f64]) -> FeatureScore {
        if self.set().offset.is_empty() {
            let unknown = f64::NAN;
            return FeatureScore { log_density: unknown, surprise: unknown, p_value: unknown, activations: Vec::new() };
        }
        let reading = self.reader.read(row);
        FeatureScore {
            log_density: reading.log_density,
            surprise: self.recent.surprise(reading.log_density),
            p_value: self.recent.p_value(reading.log_density),
            activations: reading.activations,
        }
    }

    /// The observed cells of one row: the blamed ones first, then the others, each by falling surprise.
    pub fn reasons(&mut self, row: &[f64]) -> Vec<Reason> {
        self.reader.reasons(row)
    }

    /// Fills the missing cells of rows, row-major. `sd` gets the standard deviation of each cell that was filled, NaN
    /// elsewhere.
    pub fn fill(&mut self, rows: &mut [f64], sd: &mut Vec<f64>) {
        let d = self.reader.n_columns();
        sd.clear();
        sd.resize(rows.len(), f64::NAN);
        if d > 0 {
            rows.chunks_exact_mut(d).zip(sd.chunks_exact_mut(d)).for_each(|(row, sd)| self.reader.fill(row, sd));
        }
    }
}
