//! Topics of documents, with labels or without: every kind of [`bayestream::model::DocumentModel`].

use crate::errors::Outcome;
use crate::labels::Labels;
use crate::raw_documents::RawDocuments;
use crate::signals::Signals;
use crate::{stored, told};
use bayestream::model::{DocumentConfig, DocumentKind, DocumentModel};
use bayestream::text::{RawDocument, TextError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyTuple, PyType};
use std::sync::Mutex;

/// A model of documents of any kind.
#[pyclass(frozen, module = "bayestream._bayestream")]
pub struct Documents {
    held: Mutex<DocumentModel>,
}

#[pymethods]
impl Documents {
    /// A model that finds its words, or knows those given only.
    #[new]
    #[pyo3(signature = (kind, settings, seed = 0, shard = 0, words = None))]
    fn new(
        kind: &str,
        settings: Vec<(String, String)>,
        seed: u64,
        shard: u32,
        words: Option<Vec<String>>,
    ) -> Outcome<Documents> {
        let mut config = DocumentConfig::new(kind.parse::<DocumentKind>()?);
        for (name, value) in &settings {
            config.settings.set(config.kind, name, value)?;
        }
        (config.seed, config.shard) = (seed, shard);
        let model = match words {
            Some(words) => DocumentModel::with_words(config, words)?,
            None => DocumentModel::new(config)?,
        };
        Ok(Documents { held: Mutex::new(model) })
    }

    /// Learns documents, so many at a time, with their labels if they have any.
    #[pyo3(signature = (documents, batch_documents, labels = None, n_threads = 1))]
    fn learn(
        &self,
        py: Python<'_>,
        documents: RawDocuments,
        batch_documents: usize,
        labels: Option<Labels>,
        n_threads: usize,
    ) -> Outcome<()> {
        let mut model = stored::locked(py, &self.held);
        let model = &mut *model;
        let (documents, size) = (documents.0, batch_documents.max(1));
        let labels = labels.map_or_else(Vec::new, |labels| labels.0);
        if !labels.is_empty() && labels.len() != documents.len() {
            return Err(TextError::UnevenLabels { n_documents: documents.len(), n_labels: labels.len() }.into());
        }
        let signals = Signals::listen();
        py.detach(|| {
            model.set_threads(n_threads.max(1));
            documents.chunks(size).enumerate().try_for_each(|(at, some)| {
                // After an interrupt the batches that are left are not learnt.
                if signals.interrupt().is_raised() {
                    return Ok(());
                }
                let of_these = labels.get(at * size..at * size + some.len()).unwrap_or_default();
                model.update_labelled(some, of_these).map(drop)
            })
        })?;
        signals.raise()
    }

    /// Ends a pass: batch kinds fit here. Whoever looks at the model does this first, so that Ctrl-C can stop the fit.
    fn finish(&self, py: Python<'_>) -> Outcome<()> {
        let mut model = stored::locked(py, &self.held);
        let model = &mut *model;
        let signals = Signals::listen();
        let finished = py.detach(|| model.finish_unless(signals.interrupt()));
        signals.raise()?;
        Ok(finished?)
    }

    /// Documents as the topics explain them: topics' names, shares, log-likelihoods, words, unknown words, margins.
    fn score<'py>(&self, py: Python<'py>, documents: RawDocuments) -> Outcome<Bound<'py, PyDict>> {
        self.finish(py)?;
        let model = stored::locked(py, &self.held);
        let model = &*model;
        let (scores, encoded) = py.detach(|| model.score(&documents.0))?;
        let (n, k) = (documents.0.len(), scores.topics.len());
        let told = PyDict::new(py);
        told.set_item("ids", scores.topics.iter().map(ToString::to_string).collect::<Vec<_>>())?;
        told.set_item("shares", told::matrix(py, scores.shares, n, k)?)?;
        told.set_item("log_likelihood", told::vector(py, scores.log_likelihood))?;
        told.set_item("n_words", told::vector(py, scores.n_tokens))?;
        told.set_item("n_unknown", told::vector(py, encoded.unknown))?;
        told.set_item("margins", told::matrix(py, scores.margins, n, scores.n_labels)?)?;
        Ok(told)
    }

    /// The words of a document that speak loudest for a label.
    fn speaking_words(
        &self,
        py: Python<'_>,
        document: RawDocuments,
        label: u32,
        n: usize,
    ) -> Outcome<Vec<(String, f32)>> {
        self.finish(py)?;
        let model = stored::locked(py, &self.held);
        let mut found = Vec::new();
        if let [one] = document.0.as_slice() {
            found = model.speaking_words(one, label, n)?;
        }
        Ok(found.into_iter().map(|(word, vote)| (word.to_string(), vote)).collect())
    }

    /// The labels met so far, in the order of margins.
    fn labels(&self, py: Python<'_>) -> Vec<String> {
        stored::locked(py, &self.held).labels().names().to_vec()
    }

    /// True when a document may have several labels.
    fn tells_several(&self, py: Python<'_>) -> bool {
        stored::locked(py, &self.held).tells_several()
    }

    /// The words known, by number; an empty text where a number has none.
    fn words(&self, py: Python<'_>) -> Vec<String> {
        let model = stored::locked(py, &self.held);
        let vocabulary = model.vocabulary();
        (0..vocabulary.len() as u32).map(|number| vocabulary.word(number).unwrap_or_default().to_string()).collect()
    }

    /// True when the words were given in a list, so that terms of counts are places in it: only then is a term beyond the
    /// words an error.
    fn has_given_words(&self, py: Python<'_>) -> bool {
        let model = stored::locked(py, &self.held);
        let beyond = RawDocument::Counts { terms: vec![model.vocabulary().len() as u32], counts: vec![1] };
        matches!(model.score(&[beyond]), Err(TextError::UnknownTerm { .. }))
    }

    /// The topics of the snapshot as arrays, with the words that describe each.
    #[pyo3(signature = (n_top_words = 10))]
    fn topics<'py>(&self, py: Python<'py>, n_top_words: usize) -> Outcome<Bound<'py, PyDict>> {
        self.finish(py)?;
        let model = stored::locked(py, &self.held);
        let model = &*model;
        let snapshot = py.detach(|| model.snapshot());
        let (topics, n_words) = (&snapshot.topics, model.vocabulary().len());
        let told = PyDict::new(py);
        told.set_item("ids", topics.iter().map(|topic| topic.id.to_string()).collect::<Vec<_>>())?;
        told.set_item("weights", told::vector(py, topics.iter().map(|topic| topic.weight).collect()))?;
        told.set_item("trends", told::vector(py, topics.iter().map(|topic| topic.trend).collect()))?;
        told.set_item("born", told::vector(py, topics.iter().map(|topic| topic.born).collect()))?;
        let mut cells = Vec::with_capacity(topics.len() * n_words);
        for topic in topics {
            let first = cells.len();
            cells.extend(topic.words.iter().map(|p| f64::from(*p)).take(n_words));
            cells.resize(first + n_words, 0.0);
        }
        told.set_item("words", told::matrix(py, cells, topics.len(), n_words)?)?;
        let top = topics.iter().map(|topic| {
            let words = snapshot.top_words(topic, n_top_words);
            words.into_iter().map(|word| (word.word.to_string(), word.probability)).collect::<Vec<_>>()
        });
        told.set_item("top_words", top.collect::<Vec<_>>())?;
        let shares = topics.iter().map(|topic| told::vector(py, snapshot.shares_over_time(topic)));
        told.set_item("shares_over_time", shares.collect::<Vec<_>>())?;
        Ok(told)
    }

    /// What happened to the topics.
    fn events<'py>(&self, py: Python<'py>) -> Outcome<Bound<'py, PyList>> {
        Ok(told::events(py, stored::locked(py, &self.held).events())?)
    }

    /// Mean log-score of a word along the stream, and words scored.
    fn log_score(&self, py: Python<'_>) -> (f64, u64) {
        told::log_score(&stored::locked(py, &self.held).log_score())
    }

    /// How many documents were judged before they were learnt, and how many of them exactly right; none without labels.
    fn judged(&self, py: Python<'_>) -> Option<(u64, u64)> {
        stored::locked(py, &self.held).judgement().map(|judged| (judged.n_documents, judged.n_exact))
    }

    /// Documents seen.
    fn n_seen(&self, py: Python<'_>) -> u64 {
        stored::locked(py, &self.held).n_seen()
    }

    /// Topics that the learner holds.
    fn k_implemented(&self, py: Python<'_>) -> usize {
        stored::locked(py, &self.held).k_implemented()
    }

    /// The number of this learner among those of one stream.
    fn shard(&self, py: Python<'_>) -> u32 {
        stored::locked(py, &self.held).config().shard
    }

    /// The bytes of a model file.
    fn save<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        stored::saved(py, &*stored::locked(py, &self.held))
    }

    /// The model in the bytes of a file.
    #[staticmethod]
    fn load(py: Python<'_>, bytes: &[u8]) -> Outcome<Documents> {
        Ok(Documents { held: Mutex::new(stored::loaded(py, bytes)?) })
    }

    /// Models of disjoint shards of one stream as one.
    #[staticmethod]
    fn merge(py: Python<'_>, models: Vec<Py<Documents>>) -> Outcome<Documents> {
        let models: Vec<DocumentModel> =
            models.iter().map(|model| stored::locked(py, &model.get().held).clone()).collect();
        Ok(Documents { held: Mutex::new(stored::merged(py, &models)?) })
    }

    /// Pickles and copies go through the same bytes as files.
    fn __reduce__<'py>(&self, py: Python<'py>) -> Outcome<Bound<'py, PyTuple>> {
        let load = PyType::new::<Documents>(py).getattr("load")?;
        let arguments = PyTuple::new(py, [self.save(py)])?;
        Ok(PyTuple::new(py, [load, arguments.into_any()])?)
    }
}
