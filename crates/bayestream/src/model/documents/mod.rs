//! Models of documents: text in, topics out.

mod file;
mod kind;
mod merge;
mod settings;
mod snapshot;
mod supervised;

pub use kind::{DOCUMENT_KINDS, DocumentKind};
pub use settings::DocumentSettings;
pub use snapshot::{TopWord, TopicSnapshot};

use super::ConfigError;
use crate::data::{DocumentBuffer, LabelNames};
use crate::engine::bayespa::{Judgement, MedTopics, told_labels};
use crate::engine::bmm::{LdaBmm, NaiveBayesBatch, NaiveBayesBmm};
use crate::engine::svi::{Method, SviTopics};
use crate::engine::topics::MmHdp;
use crate::engine::{DocumentLearner, StepReport};
use crate::interrupt::{Interrupt, Interrupted};
use crate::structure::{DocumentScores, EventLog, LabelSummary, LogScore};
use crate::text::{Encoded, RawDocument, TextError, TextPipeline, Vocabulary};
use serde::{Deserialize, Serialize};

/// Everything a new model of documents needs to know.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DocumentConfig {
    /// What to learn, and how.
    pub kind: DocumentKind,
    /// All settings.
    pub settings: DocumentSettings,
    /// Seed of every random choice.
    pub seed: u64,
    /// Number of this learner among those of one stream; part of its topics' names.
    pub shard: u32,
    /// The columns that text comes from; none where the reader finds them.
    pub columns: Vec<String>,
}

impl DocumentConfig {
    /// A configuration with the kind's default settings.
    pub fn new(kind: DocumentKind) -> DocumentConfig {
        DocumentConfig { kind, settings: DocumentSettings::of(kind), seed: 0, shard: 0, columns: Vec::new() }
    }
}

/// A model of documents of any kind: the way from text to words, and the learner.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct DocumentModel {
    config: DocumentConfig,
    pipeline: TextPipeline,
    labels: LabelNames,
    body: Body,
    #[serde(skip)]
    buffer: DocumentBuffer,
}

/// The learners. The compiler makes files, merging and scoring handle each new one.
#[derive(Clone, Debug, Serialize, Deserialize)]
enum Body {
    TopicsMmHdp(Box<MmHdp>),
    NaiveBayesBmm(Box<NaiveBayesBmm>),
    LdaBmm(Box<LdaBmm>),
    NaiveBayesEm(Box<NaiveBayesBatch>),
    NaiveBayesVbDp(Box<NaiveBayesBatch>),
    Svi(Box<SviTopics>),
    Med(Box<MedTopics>),
}

/// How the kinds of one engine differ; none for other kinds.
fn svi_method(kind: DocumentKind) -> Option<Method> {
    match kind {
        DocumentKind::TopicsSviLda => Some(Method::Variational),
        DocumentKind::TopicsSpLda => Some(Method::Gibbs),
        DocumentKind::TopicsTfHdp => Some(Method::Growing),
        _ => None,
    }
}

/// What an update did with text and model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DocumentStep {
    /// What the learner did; its rows are documents.
    pub learnt: StepReport,
    /// What became of the words.
    pub encoded: Encoded,
}

impl Body {
    fn learner(&self) -> &dyn DocumentLearner {
        match self {
            Body::TopicsMmHdp(learner) => learner.as_ref(),
            Body::NaiveBayesBmm(learner) => learner.as_ref(),
            Body::LdaBmm(learner) => learner.as_ref(),
            Body::NaiveBayesEm(learner) | Body::NaiveBayesVbDp(learner) => learner.as_ref(),
            Body::Svi(learner) => learner.as_ref(),
            Body::Med(learner) => learner.as_ref(),
        }
    }

    fn learner_mut(&mut self) -> &mut dyn DocumentLearner {
        match self {
            Body::TopicsMmHdp(learner) => learner.as_mut(),
            Body::NaiveBayesBmm(learner) => learner.as_mut(),
            Body::LdaBmm(learner) => learner.as_mut(),
            Body::NaiveBayesEm(learner) | Body::NaiveBayesVbDp(learner) => learner.as_mut(),
            Body::Svi(learner) => learner.as_mut(),
            Body::Med(learner) => learner.as_mut(),
        }
    }
}

impl DocumentModel {
    /// A model that has seen nothing, and finds its words itself.
    pub fn new(config: DocumentConfig) -> Result<DocumentModel, ConfigError> {
        config.settings.check(config.kind)?;
        let pipeline = TextPipeline::new(config.settings.text.clone()).map_err(|error| ConfigError::Text { error })?;
        Self::with_pipeline(config, pipeline)
    }

    /// A model that has seen nothing, and knows the given words only; numbers in documents are places in this list.
    pub fn with_words(config: DocumentConfig, words: Vec<String>) -> Result<DocumentModel, ConfigError> {
        config.settings.check(config.kind)?;
        let pipeline = TextPipeline::with_words(config.settings.text.clone(), words)
            .map_err(|error| ConfigError::Text { error })?;
        Self::with_pipeline(config, pipeline)
    }

    fn with_pipeline(config: DocumentConfig, pipeline: TextPipeline) -> Result<DocumentModel, ConfigError> {
        let (seed, shard, settings) = (config.seed, config.shard, &config.settings);
        let svi = |method| Body::Svi(Box::new(SviTopics::new(method, &settings.svi, seed, shard)));
        let body = match config.kind {
            DocumentKind::TopicsSviLda => svi(Method::Variational),
            DocumentKind::TopicsSpLda => svi(Method::Gibbs),
            DocumentKind::TopicsTfHdp => svi(Method::Growing),
            DocumentKind::MedLdaAve
            | DocumentKind::MedLdaGibbs
            | DocumentKind::MedHdpAve
            | DocumentKind::MedHdpGibbs => Body::Med(Box::new(MedTopics::new(&settings.supervised, seed, shard))),
            DocumentKind::TopicsMmHdp => Body::TopicsMmHdp(Box::new(MmHdp::new(&settings.topics, seed, shard))),
            DocumentKind::NaiveBayesBmm => {
                Body::NaiveBayesBmm(Box::new(NaiveBayesBmm::new(&settings.moments, seed, shard)))
            }
            DocumentKind::LdaBmm => Body::LdaBmm(Box::new(LdaBmm::new(&settings.moments, seed, shard))),
            DocumentKind::NaiveBayesEm => {
                Body::NaiveBayesEm(Box::new(NaiveBayesBatch::em(&settings.batch, seed, shard)))
            }
            DocumentKind::NaiveBayesVbDp => {
                Body::NaiveBayesVbDp(Box::new(NaiveBayesBatch::vb_dp(&settings.batch, seed, shard)))
            }
        };
        Ok(DocumentModel { config, pipeline, labels: LabelNames::default(), body, buffer: DocumentBuffer::new() })
    }

    /// The configuration.
    pub fn config(&self) -> &DocumentConfig {
        &self.config
    }

    /// The words and their numbers.
    pub fn vocabulary(&self) -> &Vocabulary {
        self.pipeline.vocabulary()
    }

    /// The labels met so far; none for kinds without labels.
    pub fn labels(&self) -> &LabelNames {
        &self.labels
    }

    /// Learns from documents without labels. All or nothing: after an error the model is as it was.
    pub fn update(&mut self, documents: &[RawDocument]) -> Result<DocumentStep, TextError> {
        self.update_labelled(documents, &[])
    }

    /// Learns from documents that each may have labels: one list for each document, or none at all. Blank labels are none,
    /// and kinds without labels do not look at them. All or nothing: after an error the model is as it was.
    pub fn update_labelled(
        &mut self,
        documents: &[RawDocument],
        labels: &[Vec<String>],
    ) -> Result<DocumentStep, TextError> {
        if documents.is_empty() {
            return Ok(DocumentStep::default());
        }
        let known = self.labels_with(documents.len(), labels)?;
        let encoded = self.pipeline.encode(documents, &mut self.buffer)?;
        if let Some((known, numbers)) = known {
            self.labels = known;
            numbers.into_iter().enumerate().for_each(|(document, numbers)| self.buffer.label(document, numbers));
        }
        let n_words = self.pipeline.vocabulary().len();
        let learner = self.body.learner_mut();
        if !encoded.recycled.is_empty() {
            learner.forget_words(&encoded.recycled);
        }
        let learnt = learner.update(&self.buffer.documents(), n_words);
        Ok(DocumentStep { learnt, encoded })
    }

    /// The labels known after these documents, and the labels of each document as numbers; none if there is nothing to
    /// learn of labels.
    #[allow(clippy::type_complexity)]
    fn labels_with(
        &self,
        n_documents: usize,
        labels: &[Vec<String>],
    ) -> Result<Option<(LabelNames, Vec<Vec<u32>>)>, TextError> {
        if labels.is_empty() || !self.config.kind.takes_labels() {
            return Ok(None);
        }
        if labels.len() != n_documents {
            return Err(TextError::UnevenLabels { n_documents, n_labels: labels.len() });
        }
        let mut known = self.labels.clone();
        let most = self.config.settings.max_labels;
        let mut numbers = Vec::with_capacity(n_documents);
        for (document, of_document) in labels.iter().enumerate() {
            let mut named = of_document.iter().map(|label| label.trim()).filter(|label| !label.is_empty());
            numbers.push(named.clone().map(|label| known.number(label)).collect());
            if known.len() > most {
                let label = named.next_back().unwrap_or_default().to_string();
                return Err(TextError::TooManyLabels { document, label, most });
            }
        }
        Ok(Some((known, numbers)))
    }

    /// How many threads an update may use, where the kind can use more than one; the result does not depend on it.
    pub fn set_threads(&mut self, n_threads: usize) {
        self.body.learner_mut().set_threads(n_threads);
    }

    /// True when a document may have several labels: all with a positive margin. Otherwise it has the one with the largest.
    pub fn tells_several(&self) -> bool {
        self.body.learner().tells_several()
    }

    /// What the topics say of each label.
    pub fn label_summaries(&self) -> Vec<LabelSummary> {
        self.body.learner().labels()
    }

    /// How right the labels were of documents judged before they were learnt; none for kinds that do not judge.
    pub fn judgement(&self) -> Option<Judgement> {
        match &self.body {
            Body::Med(learner) => Some(learner.judgement()),
            _ => None,
        }
    }

    /// The labels that margins tell, by their names.
    pub fn told_labels(&self, margins: &[f32]) -> Vec<u32> {
        let margins: Vec<(u32, f32)> = (0..).zip(margins.iter().copied()).collect();
        told_labels(&margins, self.tells_several())
    }

    /// The words of a document that speak loudest for a label, at most `n`, each with how much it adds to the margin.
    pub fn speaking_words(&self, document: &RawDocument, label: u32, n: usize) -> Result<Vec<(&str, f32)>, TextError> {
        let mut buffer = DocumentBuffer::new();
        self.pipeline.encode_frozen(std::slice::from_ref(document), &mut buffer)?;
        let (words, counts) = buffer.documents().get(0);
        let votes = self.body.learner().votes((words, counts), label);
        let mut speaking: Vec<(u32, f32)> = words.iter().copied().zip(votes).filter(|(_, vote)| *vote > 0.0).collect();
        speaking.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        speaking.truncate(n);
        let vocabulary = self.pipeline.vocabulary();
        Ok(speaking.into_iter().filter_map(|(word, vote)| Some((vocabulary.word(word)?, vote))).collect())
    }

    /// Ends a pass. Batch kinds fit here; without it they fit whenever topics are asked for.
    pub fn finish(&mut self) {
        self.body.learner_mut().finish();
    }

    /// The same, but for an interrupt, after which the model is as it was before: a batch kind has what it saw and no fit.
    pub fn finish_unless(&mut self, interrupt: &Interrupt) -> Result<(), Interrupted> {
        self.body.learner_mut().finish_unless(interrupt)
    }

    /// Scores documents without learning from them; what became of their words comes beside.
    pub fn score(&self, documents: &[RawDocument]) -> Result<(DocumentScores, Encoded), TextError> {
        let mut buffer = DocumentBuffer::new();
        let encoded = self.pipeline.encode_frozen(documents, &mut buffer)?;
        let mut scores = self.body.learner().score(&buffer.documents());
        // Labels may be known from documents that taught the learner nothing: nothing speaks for or against them.
        if scores.n_labels == 0 && !self.labels.is_empty() {
            scores.n_labels = self.labels.len();
            scores.margins = vec![0.0; documents.len() * scores.n_labels];
        }
        Ok((scores, encoded))
    }

    /// The topics at this moment.
    pub fn snapshot(&self) -> TopicSnapshot {
        let learner = self.body.learner();
        TopicSnapshot::new(learner, self.pipeline.vocabulary())
    }

    /// Documents seen.
    pub fn n_seen(&self) -> u64 {
        self.body.learner().n_seen()
    }

    /// Topics in the master model.
    pub fn k_implemented(&self) -> usize {
        self.body.learner().k_implemented()
    }

    /// What happened so far.
    pub fn events(&self) -> &EventLog {
        self.body.learner().events()
    }

    /// Log-scores along the stream, per word.
    pub fn log_score(&self) -> LogScore {
        self.body.learner().log_score()
    }
}
