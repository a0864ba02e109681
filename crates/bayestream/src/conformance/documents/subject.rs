//! What is being checked: a kind of documents with a variant, and the few things that checks do with it.

use crate::conformance::tally::{Tallied, Tally};
use crate::model::{DOCUMENT_KINDS, DocumentConfig, DocumentKind, DocumentModel, DocumentSettings, Variant};
use crate::text::RawDocument;

/// A kind of documents with a variant.
#[derive(Clone, Debug)]
pub struct DocumentSubject {
    kind: DocumentKind,
    variant: Variant,
    tally: Tally,
}

/// Every kind of documents, with both variants where it has them.
pub fn document_subjects() -> Vec<DocumentSubject> {
    let variants = |kind: DocumentKind| match kind.is_moment_matching() {
        true => vec![Variant::Default, Variant::Paper],
        false => vec![Variant::Default],
    };
    DOCUMENT_KINDS.iter().flat_map(|k| variants(k.kind).into_iter().map(|v| DocumentSubject::new(k.kind, v))).collect()
}

/// Documents per batch where a check does not care.
pub(super) const BATCH: usize = 40;

impl Tallied for DocumentSubject {
    fn tally(&self) -> &Tally {
        &self.tally
    }
}

impl DocumentSubject {
    /// This kind with this variant.
    pub fn new(kind: DocumentKind, variant: Variant) -> DocumentSubject {
        DocumentSubject { kind, variant, tally: Tally::default() }
    }

    /// The kind.
    pub fn kind(&self) -> DocumentKind {
        self.kind
    }

    /// The variant.
    pub fn variant(&self) -> Variant {
        self.variant
    }

    /// One comparison of a check: an error with this message unless it holds.
    pub fn ensure(&self, holds: bool, message: impl FnOnce() -> String) -> Result<(), String> {
        self.tally.ensure(holds, message)
    }

    pub(super) fn config(&self, seed: u64, change: impl FnOnce(&mut DocumentSettings)) -> DocumentConfig {
        let mut config = DocumentConfig { seed, ..DocumentConfig::new(self.kind) };
        config.settings.moments.variant = self.variant;
        // Draws cost as much as all else, and few will do here.
        config.settings.moments.draws = 100;
        config.settings.batch.n_topics = 8;
        (config.settings.svi.n_topics, config.settings.svi.batch_size) = (8, 64);
        // Documents of most checks have no labels: topics that no label begins with, and mini-batches of a few documents.
        config.settings.supervised.n_topics = Some(8);
        config.settings.supervised.minibatch = 32;
        config.settings.supervised.sweeps = 4;
        // What a topic's words are is checked by their counts.
        config.settings.supervised.once = false;
        change(&mut config.settings);
        config
    }

    /// A new model that finds its words itself.
    pub(super) fn model(&self, seed: u64) -> Result<DocumentModel, String> {
        self.model_with(seed, |_| ())
    }

    /// The same with settings changed.
    pub(super) fn model_with(
        &self,
        seed: u64,
        change: impl FnOnce(&mut DocumentSettings),
    ) -> Result<DocumentModel, String> {
        DocumentModel::new(self.config(seed, change)).map_err(|e| e.to_string())
    }

    /// A model that has seen these documents, in batches of [`BATCH`], and has fitted them.
    pub(super) fn fitted(&self, documents: &[RawDocument], seed: u64) -> Result<DocumentModel, String> {
        let mut model = self.model(seed)?;
        feed(&mut model, documents, BATCH)?;
        model.finish();
        Ok(model)
    }

    /// Everything a model says must be finite, and what must add up must add up.
    pub(super) fn ensure_sound(
        &self,
        model: &DocumentModel,
        documents: &[RawDocument],
        when: &str,
    ) -> Result<(), String> {
        let snapshot = model.snapshot();
        self.ensure(snapshot.k_realized() > 0, || format!("{when}: there is no topic"))?;
        let total: f64 = snapshot.topics.iter().map(|t| t.weight).sum();
        self.ensure(total > 0.0 && total < 1.0 + 1e-6, || format!("{when}: weights add up to {total}"))?;
        for topic in &snapshot.topics {
            let sum: f64 = topic.words.iter().map(|p| f64::from(*p)).sum();
            let finite = topic.weight.is_finite() && topic.trend.is_finite();
            let positive = topic.words.iter().all(|p| *p >= 0.0 && p.is_finite());
            self.ensure(finite && positive && sum > 0.0 && sum < 1.0 + 1e-3, || {
                format!("{when}: words of topic {:?} add up to {sum}", topic.id)
            })?;
        }
        let (scores, _) = model.score(documents).map_err(|e| e.to_string())?;
        let sizes = (scores.log_likelihood.len(), scores.n_tokens.len(), scores.topics.len());
        self.ensure(sizes == (documents.len(), documents.len(), snapshot.k_realized()), || {
            format!("{when}: {sizes:?} scores, lengths and topics")
        })?;
        for document in 0..documents.len() {
            let log = scores.log_likelihood[document];
            let shares: f32 = scores.shares_of(document).iter().sum();
            self.ensure(log.is_finite() && log <= 1e-9 && (shares - 1.0).abs() < 1e-3, || {
                format!("{when}: document {document} has log-probability {log} and shares of {shares}")
            })?;
        }
        let saved = model.save();
        let again = DocumentModel::load(&saved).map_err(|e| format!("{when}: its file is refused: {e}"))?;
        self.ensure(again.save() == saved, || format!("{when}: its file changes when loaded"))
    }
}

/// Feeds documents in batches.
pub(super) fn feed(model: &mut DocumentModel, documents: &[RawDocument], n: usize) -> Result<(), String> {
    documents.chunks(n).try_for_each(|batch| update(model, batch))
}

/// Feeds one batch.
pub(super) fn update(model: &mut DocumentModel, documents: &[RawDocument]) -> Result<(), String> {
    model.update(documents).map(|_| ()).map_err(|e| e.to_string())
}

/// Mean log-probability of a word of these documents.
pub(super) fn per_word(model: &DocumentModel, documents: &[RawDocument]) -> Result<f64, String> {
    let (scores, _) = model.score(documents).map_err(|e| e.to_string())?;
    Ok(scores.log_likelihood.iter().sum::<f64>() / scores.n_tokens.iter().sum::<u64>() as f64)
}
