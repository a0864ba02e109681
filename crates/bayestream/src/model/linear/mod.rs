//! Models of labelled rows: columns or words in, labels or numbers out.

mod error;
mod file;
mod kind;
mod merge;
mod settings;
mod snapshot;

pub use error::LinearError;
pub use kind::{LINEAR_KINDS, LinearKind};
pub use settings::{CovarianceChoice, FULL_UP_TO, FeatureChoice, LINEAR_SETTINGS, LinearChoices};
pub use snapshot::{FeatureWeight, LabelSummary, LinearSnapshot};

use super::ConfigError;
use super::parse::check_values;
use super::rows::{check_batch, check_columns};
use crate::data::{Batch, DocumentBuffer, LARGEST_FRAMED};
use crate::engine::linear::{Example, Foretold, Judgement, LinearLearner, TargetChoice, Truth};
use crate::text::{Encoded, RawDocument, TextPipeline};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Everything a new model of labelled rows needs to know.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LinearConfig {
    /// How to learn.
    pub kind: LinearKind,
    /// All settings.
    pub settings: LinearChoices,
    /// Kept for the file alone: nothing here is left to chance.
    pub seed: u64,
    /// Number of this learner among those of one stream.
    pub shard: u32,
    /// Names of the columns that the features come from; of words, those of the text, or none where the reader finds them.
    pub columns: Vec<String>,
    /// Name of the column with the labels, so that a stream can go on without naming it again.
    pub label_column: Option<String>,
}

impl LinearConfig {
    /// A configuration with the kind's default settings.
    pub fn new(kind: LinearKind, columns: Vec<String>) -> LinearConfig {
        LinearConfig { kind, settings: LinearChoices::new(), seed: 0, shard: 0, columns, label_column: None }
    }

    fn is_words(&self) -> bool {
        self.settings.features == FeatureChoice::Words
    }

    /// What the engine is told, unless something is wrong.
    fn engine(&self) -> Result<crate::engine::linear::LinearSettings, ConfigError> {
        if !self.is_words() {
            check_columns(&self.columns, "a model needs at least one column beside the labels")?;
        }
        check_values(&self.settings, LinearChoices::of_kind(self.kind))?;
        self.settings.engine(self.kind, self.columns.len())
    }
}

/// A classifier or regressor of any kind, with the names of its features.
///
/// ```
/// use bayestream::data::Batch;
/// use bayestream::model::{LinearConfig, LinearKind, LinearModel};
///
/// let config = LinearConfig::new(LinearKind::BayesPaGibbs, vec!["height".into(), "width".into()]);
/// let mut model = LinearModel::new(config).unwrap();
/// let rows: Vec<f64> = (0..200).flat_map(|i| [f64::from(i % 2), f64::from(i % 7)]).collect();
/// let labels: Vec<Vec<String>> = (0..200).map(|i| vec![if i % 2 == 0 { "low" } else { "high" }.to_string()]).collect();
/// model.update_rows(&Batch::new(&rows, 2).unwrap(), &labels).unwrap();
/// let judged = model.score_rows(&Batch::new(&[1.0, 3.0], 2).unwrap()).unwrap();
/// assert_eq!(model.labels()[judged[0].labels[0]], "high");
/// assert!(model.foretold().accuracy() > 0.9);
/// ```
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LinearModel {
    config: LinearConfig,
    /// None for columns.
    pipeline: Option<TextPipeline>,
    learner: LinearLearner,
    #[serde(skip)]
    buffer: DocumentBuffer,
}

/// What an update did.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LinearStep {
    /// Rows seen.
    pub n_rows: usize,
    /// Rows among them that had nothing to be told.
    pub n_unlabelled: usize,
    /// What became of the words, of documents.
    pub encoded: Encoded,
}

/// What rows are told, checked.
enum Told<'a> {
    Labels(Vec<Vec<&'a str>>),
    Numbers(Vec<Option<f64>>),
}

impl Told<'_> {
    fn of(&self, row: usize) -> Truth<'_> {
        match self {
            Told::Labels(labels) => Truth::Labels(&labels[row]),
            Told::Numbers(numbers) => numbers[row].map_or(Truth::Unknown, Truth::Number),
        }
    }
}

impl LinearModel {
    /// A model that has seen nothing.
    pub fn new(config: LinearConfig) -> Result<LinearModel, ConfigError> {
        let pipeline = match config.is_words() {
            true => Some(TextPipeline::new(config.settings.text.clone()).map_err(|error| ConfigError::Text { error })?),
            false => None,
        };
        Self::with_pipeline(config, pipeline)
    }

    /// A model of words that has seen nothing, and knows the given words only; numbers in documents are places in this
    /// list.
    pub fn with_words(mut config: LinearConfig, words: Vec<String>) -> Result<LinearModel, ConfigError> {
        config.settings.features = FeatureChoice::Words;
        let pipeline = TextPipeline::with_words(config.settings.text.clone(), words)
            .map_err(|error| ConfigError::Text { error })?;
        Self::with_pipeline(config, Some(pipeline))
    }

    fn with_pipeline(config: LinearConfig, pipeline: Option<TextPipeline>) -> Result<LinearModel, ConfigError> {
        let learner = LinearLearner::new(config.engine()?)
            .map_err(|reason| ConfigError::BadColumns { reason: reason.to_string() })?;
        Ok(LinearModel { config, pipeline, learner, buffer: DocumentBuffer::new() })
    }

    /// The configuration.
    pub fn config(&self) -> &LinearConfig {
        &self.config
    }

    /// The engine: weights, labels and accounts.
    pub fn learner(&self) -> &LinearLearner {
        &self.learner
    }

    /// The labels met so far, in the order of the alphabet.
    pub fn labels(&self) -> &[String] {
        self.learner.labels()
    }

    /// True for a model of words.
    pub fn reads_documents(&self) -> bool {
        self.pipeline.is_some()
    }

    /// Rows seen.
    pub fn n_seen(&self) -> u64 {
        self.learner.n_seen()
    }

    /// How well rows were foretold before they were learnt.
    pub fn foretold(&self) -> &Foretold {
        self.learner.foretold()
    }

    /// The name of a feature: a column or a word.
    pub fn feature_name(&self, feature: usize) -> Option<&str> {
        match &self.pipeline {
            Some(pipeline) => pipeline.vocabulary().word(u32::try_from(feature).ok()?),
            None => self.config.columns.get(feature).map(String::as_str),
        }
    }

    /// Learns from rows and a list of labels for each: empty lists and empty labels where they are unknown, the number as
    /// a text where a number is to be told. All or nothing: after an error the model is as it was.
    ///
    /// Rows are learnt one by one, in their order, so that batches may be cut anywhere.
    pub fn update_rows(&mut self, batch: &Batch<'_>, labels: &[Vec<String>]) -> Result<LinearStep, LinearError> {
        self.check_rows(batch)?;
        let told = self.told(labels, batch.n_rows())?;
        let before = self.learner.n_unlabelled();
        let mut n_rows = 0;
        for (row, cells) in batch.rows().chunks_exact(batch.n_columns()).enumerate() {
            let weight = batch.weights().map_or(1.0, |weights| weights[row]);
            // A row of weight 0 counts as none.
            if weight > 0.0 {
                self.learner.learn(Example::Cells(cells), told.of(row), weight);
                n_rows += 1;
            }
        }
        let n_unlabelled = (self.learner.n_unlabelled() - before) as usize;
        Ok(LinearStep { n_rows, n_unlabelled, encoded: Encoded::default() })
    }

    /// The same of documents.
    pub fn update_documents(
        &mut self,
        documents: &[RawDocument],
        labels: &[Vec<String>],
    ) -> Result<LinearStep, LinearError> {
        let told = self.told(labels, documents.len())?;
        let Some(pipeline) = &mut self.pipeline else {
            return Err(LinearError::OtherFeatures { reads: "columns of numbers" });
        };
        if documents.is_empty() {
            return Ok(LinearStep::default());
        }
        let encoded = pipeline.encode(documents, &mut self.buffer)?;
        let before = self.learner.n_unlabelled();
        self.learner.forget_words(&encoded.recycled);
        for (row, (words, counts)) in self.buffer.documents().iter().enumerate() {
            self.learner.learn(Example::Words(words, counts), told.of(row), 1.0);
        }
        let n_unlabelled = (self.learner.n_unlabelled() - before) as usize;
        Ok(LinearStep { n_rows: documents.len(), n_unlabelled, encoded })
    }

    /// What there is to say of rows, without learning from them.
    pub fn score_rows(&self, batch: &Batch<'_>) -> Result<Vec<Judgement>, LinearError> {
        self.check_rows(batch)?;
        let rows = batch.rows().chunks_exact(batch.n_columns());
        Ok(rows.map(|cells| self.learner.judge(Example::Cells(cells))).collect())
    }

    /// The same of documents; what became of their words comes beside.
    pub fn score_documents(&self, documents: &[RawDocument]) -> Result<(Vec<Judgement>, Encoded), LinearError> {
        let Some(pipeline) = &self.pipeline else {
            return Err(LinearError::OtherFeatures { reads: "columns of numbers" });
        };
        let mut buffer = DocumentBuffer::new();
        let encoded = pipeline.encode_frozen(documents, &mut buffer)?;
        let judge = |(words, counts): (&[u32], &[u32])| self.learner.judge(Example::Words(words, counts));
        Ok((buffer.documents().iter().map(judge).collect(), encoded))
    }

    /// What was learnt, for people.
    pub fn snapshot(&self) -> LinearSnapshot {
        LinearSnapshot::new(self)
    }

    fn check_rows(&self, batch: &Batch<'_>) -> Result<(), LinearError> {
        if self.reads_documents() {
            return Err(LinearError::OtherFeatures { reads: "the words of documents" });
        }
        Ok(check_batch(self.config.columns.len(), batch)?)
    }

    /// What rows are told, before anything changes.
    fn told<'a>(&self, labels: &'a [Vec<String>], n_rows: usize) -> Result<Told<'a>, LinearError> {
        if labels.len() != n_rows {
            return Err(LinearError::LabelCount { n_labels: labels.len(), n_rows });
        }
        let present = |list: &'a Vec<String>| -> Vec<&'a str> {
            let named: BTreeSet<&str> = list.iter().map(|label| label.trim()).filter(|l| !l.is_empty()).collect();
            named.into_iter().collect()
        };
        if self.config.settings.target == TargetChoice::Number {
            let number = |(row, list): (usize, &'a Vec<String>)| match present(list).as_slice() {
                [] => Ok(None),
                [text] => match text.parse::<f64>() {
                    Ok(number) if number.is_nan() => Ok(None),
                    Ok(number) if number.abs() <= LARGEST_FRAMED => Ok(Some(number)),
                    _ => Err(LinearError::NotANumber { row, value: (*text).to_string() }),
                },
                several => Err(LinearError::NotANumber { row, value: several.join(", ") }),
            };
            return labels.iter().enumerate().map(number).collect::<Result<_, _>>().map(Told::Numbers);
        }
        let (is_one, most) = (self.config.settings.target == TargetChoice::Label, self.config.settings.max_labels);
        let known = self.learner.labels();
        let mut new: BTreeSet<&str> = BTreeSet::new();
        let mut out = Vec::with_capacity(n_rows);
        for (row, list) in labels.iter().enumerate() {
            let present = present(list);
            if is_one && present.len() > 1 {
                return Err(LinearError::SeveralLabels { row, n: present.len() });
            }
            for label in &present {
                let is_known = known.binary_search_by(|known| known.as_str().cmp(label)).is_ok();
                if !is_known && new.insert(label) && known.len() + new.len() > most {
                    return Err(LinearError::TooManyLabels { row, label: (*label).to_string(), most });
                }
            }
            out.push(present);
        }
        Ok(Told::Labels(out))
    }
}
