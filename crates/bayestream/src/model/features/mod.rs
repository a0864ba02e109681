//! Models of binary latent features: rows as sums of features that are there or not.

mod file;
mod kind;
mod settings;
mod snapshot;

pub use kind::{FEATURE_KINDS, FeatureKind};
pub use settings::{FEATURE_SETTINGS, FeatureSettings};
pub use snapshot::FeatureSnapshot;

use super::memory::{DEFAULT_MEMORY, default_memory};
use super::parse::check_values;
use super::rows::{check_batch, check_columns, with_rows_that_count};
use super::{ConfigError, MergeError, UpdateError};
use crate::data::Batch;
use crate::engine::lfm::{BatchFeatures, OnlineFab, Rival, RivalSettings, Way};
use crate::engine::{FeatureLearner, StepReport};
use crate::interrupt::{Interrupt, Interrupted};
use crate::structure::{EventLog, FeatureReader, FeatureScorer, FeatureSet, LogScore};
use serde::{Deserialize, Serialize};

/// Rows of the learner among which others are ranked, at most.
const RANKED_AMONG: usize = 1000;

/// Everything a new model of binary latent features needs to know.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FeatureConfig {
    /// How to learn.
    pub kind: FeatureKind,
    /// All settings.
    pub settings: FeatureSettings,
    /// Seed of every random choice.
    pub seed: u64,
    /// Number of this learner among those of one stream; part of its features' names.
    pub shard: u32,
    /// Names of the columns.
    pub columns: Vec<String>,
    /// Bytes that a new model may need ([`FeatureConfig::memory_needed`]). No part of the model or of its file.
    #[serde(skip, default = "default_memory")]
    pub memory_limit: u64,
}

impl FeatureConfig {
    /// A configuration with default settings.
    pub fn new(kind: FeatureKind, columns: Vec<String>) -> FeatureConfig {
        let memory_limit = DEFAULT_MEMORY;
        FeatureConfig { kind, settings: FeatureSettings::default(), seed: 0, shard: 0, columns, memory_limit }
    }

    fn check(&self) -> Result<(), ConfigError> {
        check_columns(&self.columns, "a model needs at least one column")?;
        check_values(&self.settings, FeatureSettings::of_kind(self.kind))
    }
}

/// A model of binary latent features of any kind, with the names of its columns.
///
/// ```
/// use bayestream::data::Batch;
/// use bayestream::model::{FeatureConfig, FeatureKind, FeatureModel};
/// use bayestream::synthetic::PlantedFeatures;
///
/// // Images of 6 × 6 pixels, each a sum of some of four patterns, with noise.
/// let rows = PlantedFeatures::blocks(1).rows(0, 1000);
/// let columns = (0..36).map(|pixel| format!("p{pixel}")).collect();
/// let mut model = FeatureModel::new(FeatureConfig::new(FeatureKind::Fab, columns)).unwrap();
/// model.update(&Batch::new(&rows, 36).unwrap()).unwrap();
/// model.finish();
/// assert_eq!(model.snapshot().k_realized(), 4);
/// // An image without its second pixel: the others tell which patterns are there, and so what it was, but for the noise.
/// let (mut image, mut sd) = (rows[..36].to_vec(), Vec::new());
/// image[1] = f64::NAN;
/// model.scorer().fill(&mut image, &mut sd);
/// assert!((image[1] - rows[1]).abs() < 4.0 * sd[1] && sd[1] < 0.5);
/// ```
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FeatureModel {
    config: FeatureConfig,
    body: FeatureBody,
}

/// The learners. The compiler makes files handle each new one.
#[derive(Clone, Debug, Serialize, Deserialize)]
enum FeatureBody {
    Batch(Box<BatchFeatures>),
    OnlineFab(Box<OnlineFab>),
}

impl FeatureBody {
    fn new(config: &FeatureConfig) -> FeatureBody {
        let FeatureConfig { kind, settings, seed, shard, columns, .. } = config;
        let (online, n_columns) = (settings.online, columns.len());
        let rival = |rival: Rival| {
            let max_features = Some(online.fab.max_features);
            let tolerance = online.fab.tolerance;
            Way::Rival(rival, RivalSettings { max_features, tolerance, ..settings.rivals.clone() })
        };
        let way = match kind {
            FeatureKind::OnlineFab => {
                return FeatureBody::OnlineFab(Box::new(OnlineFab::new(online, n_columns, *seed, *shard)));
            }
            FeatureKind::Fab => Way::Fab(online.fab),
            FeatureKind::Em => rival(Rival::Em),
            FeatureKind::Ibp => rival(Rival::Ibp),
            FeatureKind::Vb => rival(Rival::Vb),
            FeatureKind::Meibp => rival(Rival::Meibp),
        };
        FeatureBody::Batch(Box::new(BatchFeatures::new(way, n_columns, *seed, *shard)))
    }

    fn learner(&self) -> &dyn FeatureLearner {
        match self {
            FeatureBody::Batch(learner) => learner.as_ref(),
            FeatureBody::OnlineFab(learner) => learner.as_ref(),
        }
    }

    fn learner_mut(&mut self) -> &mut dyn FeatureLearner {
        match self {
            FeatureBody::Batch(learner) => learner.as_mut(),
            FeatureBody::OnlineFab(learner) => learner.as_mut(),
        }
    }
}

impl FeatureModel {
    /// A model that has seen nothing.
    pub fn new(config: FeatureConfig) -> Result<FeatureModel, ConfigError> {
        config.check()?;
        config.check_memory()?;
        let body = FeatureBody::new(&config);
        Ok(FeatureModel { config, body })
    }

    /// The configuration.
    pub fn config(&self) -> &FeatureConfig {
        &self.config
    }

    /// The names of the columns.
    pub fn columns(&self) -> &[String] {
        &self.config.columns
    }

    /// Learns from a batch. All or nothing: after an error the model is as it was.
    pub fn update(&mut self, batch: &Batch<'_>) -> Result<StepReport, UpdateError> {
        self.check(batch)?;
        with_rows_that_count(batch, |batch| self.body.learner_mut().update(batch))
    }

    /// Says what is wrong with a batch, if anything, without learning from it.
    pub fn check(&self, batch: &Batch<'_>) -> Result<(), UpdateError> {
        check_batch(self.config.columns.len(), batch)
    }

    /// Ends a pass. Batch kinds fit here; without it they fit whenever a snapshot is asked for.
    pub fn finish(&mut self) {
        self.body.learner_mut().finish();
    }

    /// The same, but for an interrupt, after which the model is as it was before: a batch kind has what it saw and no fit.
    pub fn finish_unless(&mut self, interrupt: &Interrupt) -> Result<(), Interrupted> {
        self.body.learner_mut().finish_unless(interrupt)
    }

    /// Rows after which rows are scored before they are learnt: the first model is made of so many. None for batch kinds,
    /// which fit at the end.
    pub fn scores_after(&self) -> Option<u64> {
        self.body.learner().scores_after()
    }

    fn features(&self) -> FeatureSet {
        match self.n_seen() {
            0 => FeatureSet::default(),
            _ => self.body.learner().features(),
        }
    }

    /// The small model of what was seen.
    pub fn snapshot(&self) -> FeatureSnapshot {
        let learner = self.body.learner();
        FeatureSnapshot {
            n_seen: learner.n_seen(),
            columns: self.config.columns.clone(),
            k_implemented: learner.k_implemented(),
            set: self.features(),
            log_score: learner.log_score(),
            events: learner.events().clone(),
        }
    }

    /// A scorer of rows by the model as it is. As for mixtures, rows are ranked among those that the learner still holds:
    /// those are scored by this model and in the same way, while the scores along the stream came from earlier models, and
    /// from bounds of the density. Where the learner holds none, they are ranked among the scores along the stream.
    pub fn scorer(&self) -> FeatureScorer {
        let learner = self.body.learner();
        let (set, mut log_score) = (self.features(), learner.log_score());
        let held = learner.recent_rows(RANKED_AMONG);
        if !held.is_empty() {
            let mut reader = FeatureReader::new(set.clone());
            let rows = held.chunks_exact(self.config.columns.len());
            log_score.recent = rows.map(|row| reader.read(row).log_density).collect();
            log_score.recent.sort_by(f64::total_cmp);
        }
        FeatureScorer::new(set, &log_score)
    }

    /// Rows seen.
    pub fn n_seen(&self) -> u64 {
        self.body.learner().n_seen()
    }

    /// Features in the master model.
    pub fn k_implemented(&self) -> usize {
        self.body.learner().k_implemented()
    }

    /// What happened so far.
    pub fn events(&self) -> &EventLog {
        self.body.learner().events()
    }

    /// Log-scores along the stream.
    pub fn log_score(&self) -> LogScore {
        self.body.learner().log_score()
    }

    /// Combines models of disjoint parts of one stream, which cannot be done: the reason says why.
    pub fn merge(models: &[FeatureModel]) -> Result<FeatureModel, MergeError> {
        match models {
            [] => Err(MergeError::Nothing),
            [one] => Ok(one.clone()),
            [first, ..] => Err(MergeError::Unsupported { reason: unmergeable(first.config.kind) }),
        }
    }
}

fn unmergeable(kind: FeatureKind) -> String {
    match kind.info().streaming {
        false => format!("{kind} is a batch kind: fit it once on all rows instead"),
        true => format!(
            "models of {kind} cannot be merged: which features a row has depends on all features together, so that those of \
             one shard say nothing of the rows of another; continue one model with --resume instead"
        ),
    }
}
