//! What is being checked: a kind of features, and the few things that checks do with it.

use crate::conformance::rows::RowSubject;
use crate::conformance::tally::{Tallied, Tally};
use crate::data::{Batch, DataError};
use crate::model::{FEATURE_KINDS, FeatureConfig, FeatureKind, FeatureModel};
use crate::structure::FeatureReader;
use crate::synthetic::PlantedFeatures;

/// A kind of features.
#[derive(Clone, Debug)]
pub struct FeatureSubject {
    kind: FeatureKind,
    tally: Tally,
}

/// Every kind of features.
pub fn feature_subjects() -> Vec<FeatureSubject> {
    FEATURE_KINDS.iter().map(|info| FeatureSubject::new(info.kind)).collect()
}

impl Tallied for FeatureSubject {
    fn tally(&self) -> &Tally {
        &self.tally
    }
}

/// Features that nobody can take for fewer or more: what must be found does not hang on rounding.
pub(super) fn planted(seed: u64) -> PlantedFeatures {
    let mut planted = PlantedFeatures::gaussian(4, 0, seed);
    planted.weights = vec![vec![8.0, 6.0, 0.0, 0.0], vec![0.0, -7.0, 5.0, 0.0], vec![0.0, 0.0, 4.0, 9.0]];
    planted.offset = vec![3.0, -20.0, 0.0, 100.0];
    planted.share = 0.4;
    planted
}

impl RowSubject for FeatureSubject {
    type Model = FeatureModel;

    fn kind_name(&self) -> &'static str {
        self.kind.name()
    }

    fn begin(&self, n_columns: usize, seed: u64) -> Result<FeatureModel, String> {
        let columns = (1..=n_columns).map(|j| format!("x{j}")).collect();
        FeatureModel::new(FeatureConfig { seed, ..FeatureConfig::new(self.kind, columns) }).map_err(|e| e.to_string())
    }

    fn learn(&self, model: &mut FeatureModel, batch: &Batch<'_>) -> Result<(), DataError> {
        model.update(batch).map(|_| ())
    }

    fn finish(&self, model: &mut FeatureModel) {
        model.finish();
    }

    fn file(&self, model: &FeatureModel) -> Vec<u8> {
        model.save()
    }

    fn load(&self, bytes: &[u8]) -> Result<FeatureModel, String> {
        FeatureModel::load(bytes).map_err(|e| e.to_string())
    }

    fn stream(&self, n: usize, seed: u64) -> (Vec<f64>, usize) {
        (planted(seed).rows(0, n), 4)
    }
}

impl FeatureSubject {
    /// This kind.
    pub fn new(kind: FeatureKind) -> FeatureSubject {
        FeatureSubject { kind, tally: Tally::default() }
    }

    /// The kind.
    pub fn kind(&self) -> FeatureKind {
        self.kind
    }

    /// Everything a model says of itself and of rows must be finite and make sense, and its file must hold it.
    pub(super) fn ensure_sound(&self, model: &FeatureModel, rows: &[f64], when: &str) -> Result<(), String> {
        let d = model.columns().len();
        let set = model.snapshot().set;
        let finite = |values: &[f64]| values.len() == d && values.iter().all(|v| v.is_finite());
        let noise = finite(&set.offset) && finite(&set.noise) && set.noise.iter().all(|v| *v > 0.0);
        self.holds(noise, || format!("{when}: offset {:?}, noise {:?}", set.offset, set.noise))?;
        for feature in &set.features {
            let sound = finite(&feature.weights) && (0.0..=1.0).contains(&feature.share);
            self.holds(sound, || format!("{when}: {feature:?}"))?;
        }
        let mut scorer = model.scorer();
        for (at, row) in rows.chunks_exact(d).enumerate() {
            let score = scorer.score(row);
            let probable = score.activations.iter().all(|q| (0.0..=1.0).contains(q));
            let sound = score.log_density.is_finite() && probable && (0.0..=1.0).contains(&score.p_value);
            self.holds(sound && score.activations.len() == set.features.len(), || {
                format!("{when}: row {at} scores {score:?}")
            })?;
            let (mut filled, mut sd) = (row.to_vec(), Vec::new());
            scorer.fill(&mut filled, &mut sd);
            let sound = (0..d).all(|j| match row[j].is_nan() {
                true => filled[j].is_finite() && sd[j] > 0.0 && sd[j].is_finite(),
                false => filled[j] == row[j] && sd[j].is_nan(),
            });
            self.holds(sound, || format!("{when}: row {at} is filled as {filled:?} ± {sd:?}"))?;
        }
        for row in rows.chunks_exact(d).take(10) {
            let reasons = scorer.reasons(row);
            let sound = reasons.iter().all(|r| r.surprise.is_finite() && r.expected.is_finite());
            let n_there = row.iter().filter(|v| !v.is_nan()).count();
            self.holds(sound && reasons.len() == n_there, || format!("{when}: {reasons:?}"))?;
        }
        let saved = model.save();
        let again = FeatureModel::load(&saved).map_err(|e| format!("{when}: its file is refused: {e}"))?;
        self.holds(again.save() == saved, || format!("{when}: its file changes when loaded"))
    }
}

/// Mean log-density of rows under the model's snapshot.
pub(super) fn mean_log_density(model: &FeatureModel, rows: &[f64]) -> f64 {
    let mut reader = FeatureReader::new(model.snapshot().set);
    let d = reader.n_columns();
    rows.chunks_exact(d).map(|row| reader.read(row).log_density).sum::<f64>() / (rows.len() / d) as f64
}

/// What is left to chance in a fit of N rows: the estimation error of P parameters, P/2N nats.
pub(super) fn estimation_error(planted: &PlantedFeatures, n: usize) -> f64 {
    let (k, d) = (planted.n_features(), planted.n_columns());
    (d * (k + 2) + k) as f64 / (2 * n) as f64
}
