//! Linear classifiers and regressors of rows or documents: every kind of [`bayestream::model::LinearModel`].

use crate::cells::Cells;
use crate::errors::Outcome;
use crate::labels::Labels;
use crate::one_by_one::Waiting;
use crate::raw_documents::RawDocuments;
use crate::{stored, told};
use bayestream::data::Batch;
use bayestream::engine::linear::Judgement;
use bayestream::model::{LinearConfig, LinearError, LinearKind, LinearModel};
use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple, PyType};
use std::sync::Mutex;

/// A linear model of any kind.
#[pyclass(frozen, module = "bayestream._bayestream")]
pub struct Linear {
    held: Mutex<LinearModel>,
    /// The columns as keys of dictionaries; none of words.
    keys: Waiting,
}

impl Linear {
    fn of(py: Python<'_>, model: LinearModel) -> Linear {
        let keys = Waiting::new(py, &model.config().columns, 1);
        Linear { held: Mutex::new(model), keys }
    }
}

/// What rows are told: labels, or a number each.
#[derive(FromPyObject)]
enum Target<'py> {
    Numbers(PyReadonlyArray1<'py, f64>),
    Labels(Labels),
}

impl Target<'_> {
    fn told(self) -> PyResult<Vec<Vec<String>>> {
        match self {
            Target::Labels(labels) => Ok(labels.0),
            Target::Numbers(numbers) => Ok(numbers.as_array().iter().map(|number| vec![number.to_string()]).collect()),
        }
    }
}

#[pymethods]
impl Linear {
    /// A model of these columns; of words, those given only, or with `features=words` those it finds.
    #[new]
    #[pyo3(signature = (kind, columns, settings, seed = 0, shard = 0, words = None))]
    fn new(
        py: Python<'_>,
        kind: &str,
        columns: Vec<String>,
        settings: Vec<(String, String)>,
        seed: u64,
        shard: u32,
        words: Option<Vec<String>>,
    ) -> Outcome<Linear> {
        let mut config = LinearConfig::new(kind.parse::<LinearKind>()?, columns);
        for (name, value) in &settings {
            config.settings.set(config.kind, name, value)?;
        }
        (config.seed, config.shard) = (seed, shard);
        let model = match words {
            Some(words) => LinearModel::with_words(config, words)?,
            None => LinearModel::new(config)?,
        };
        Ok(Linear::of(py, model))
    }

    /// Learns rows with what they are told.
    #[pyo3(signature = (rows, target, weights = None))]
    fn learn_rows(
        &self,
        py: Python<'_>,
        rows: Cells<'_>,
        target: Target<'_>,
        weights: Option<PyReadonlyArray1<'_, f64>>,
    ) -> Outcome<()> {
        let mut model = stored::locked(py, &self.held);
        let model = &mut *model;
        let (view, told) = (rows.view(), target.told()?);
        let weights = weights.as_ref().map(|weights| weights.as_slice()).transpose().map_err(PyErr::from)?;
        Ok(py.detach(|| {
            let d = model.config().columns.len();
            if told.len() != view.n_rows() {
                return Err(LinearError::LabelCount { n_labels: told.len(), n_rows: view.n_rows() });
            }
            // Rows are learnt one by one, so that batches may be cut anywhere: these only bound the buffer.
            let (mut first, mut refused) = (0, None);
            view.batches(d, PORTION, weights, |batch| {
                if refused.is_none() {
                    refused = model.update_rows(batch, &told[first..first + batch.n_rows()]).err();
                }
                first += batch.n_rows();
                Ok(())
            })?;
            refused.map_or(Ok(()), Err)
        })?)
    }

    /// Learns documents with what they are told, so many at a time.
    fn learn_documents(
        &self,
        py: Python<'_>,
        documents: RawDocuments,
        batch_documents: usize,
        target: Target<'_>,
    ) -> Outcome<()> {
        let mut model = stored::locked(py, &self.held);
        let model = &mut *model;
        let (documents, told, size) = (documents.0, target.told()?, batch_documents.max(1));
        if told.len() != documents.len() {
            return Err(LinearError::LabelCount { n_labels: told.len(), n_rows: documents.len() }.into());
        }
        Ok(py.detach(|| {
            let mut parts = documents.chunks(size).zip(told.chunks(size));
            parts.try_for_each(|(some, told)| model.update_documents(some, told).map(drop))
        })?)
    }

    /// Learns one row and its label, or its number as a text; true when it has keys that are no column.
    fn learn_one(&self, py: Python<'_>, row: &Bound<'_, PyDict>, told: String) -> Outcome<bool> {
        let (cells, has_others) = self.keys.row(row)?;
        let mut model = stored::locked(py, &self.held);
        model.update_rows(&Batch::new(&cells, cells.len())?, &[vec![told]])?;
        Ok(has_others)
    }

    /// The number told of one row, and the score of each label.
    fn score_one(&self, py: Python<'_>, row: &Bound<'_, PyDict>) -> Outcome<(f64, Vec<f64>)> {
        let (cells, _) = self.keys.row(row)?;
        let judged = stored::locked(py, &self.held).score_rows(&Batch::new(&cells, cells.len())?)?;
        Ok(judged.into_iter().next().map_or((f64::NAN, Vec::new()), |judged| (judged.number, judged.scores)))
    }

    /// What there is to say of rows.
    fn score_rows<'py>(&self, py: Python<'py>, rows: Cells<'py>) -> Outcome<Bound<'py, PyDict>> {
        let model = stored::locked(py, &self.held);
        let (model, view) = (&*model, rows.view());
        let judged = py.detach(|| {
            let (d, mut all, mut refused) = (model.config().columns.len(), Vec::new(), None);
            view.batches(d, PORTION, None, |batch| {
                match model.score_rows(batch) {
                    Ok(mut some) => all.append(&mut some),
                    Err(error) => refused = Some(error),
                }
                Ok(())
            })?;
            refused.map_or(Ok(all), Err)
        })?;
        judgements(py, model, judged)
    }

    /// What there is to say of documents.
    fn score_documents<'py>(&self, py: Python<'py>, documents: RawDocuments) -> Outcome<Bound<'py, PyDict>> {
        let model = stored::locked(py, &self.held);
        let model = &*model;
        let (judged, _) = py.detach(|| model.score_documents(&documents.0))?;
        judgements(py, model, judged)
    }

    /// The labels met so far, in the order of scores.
    fn labels(&self, py: Python<'_>) -> Vec<String> {
        stored::locked(py, &self.held).labels().to_vec()
    }

    /// True for a model of words.
    fn reads_documents(&self, py: Python<'_>) -> bool {
        stored::locked(py, &self.held).reads_documents()
    }

    /// The names of the columns.
    fn columns(&self, py: Python<'_>) -> Vec<String> {
        stored::locked(py, &self.held).config().columns.clone()
    }

    /// Weights of each label (or of the number): their constants and those of the features.
    fn weights<'py>(&self, py: Python<'py>) -> Outcome<Bound<'py, PyDict>> {
        let snapshot = stored::locked(py, &self.held).snapshot();
        let labels = &snapshot.labels;
        let d = labels.iter().map(|label| label.weights().len()).max().unwrap_or(0);
        let mut cells = Vec::with_capacity(labels.len() * d);
        for label in labels {
            let first = cells.len();
            cells.extend_from_slice(label.weights());
            cells.resize(first + d, 0.0);
        }
        let told = PyDict::new(py);
        told.set_item("labels", labels.iter().map(|label| label.name.as_str()).collect::<Vec<_>>())?;
        told.set_item("intercepts", told::vector(py, labels.iter().map(|label| label.bias).collect()))?;
        told.set_item("coefficients", told::matrix(py, cells, labels.len(), d)?)?;
        Ok(told)
    }

    /// Rows foretold before they were learnt, and how many of them right; or the mean distance of numbers.
    fn foretold(&self, py: Python<'_>) -> (u64, u64, f64) {
        let model = stored::locked(py, &self.held);
        let foretold = model.foretold();
        (foretold.n, foretold.right, foretold.absolute_error / foretold.n as f64)
    }

    /// Rows seen.
    fn n_seen(&self, py: Python<'_>) -> u64 {
        stored::locked(py, &self.held).n_seen()
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
    fn load(py: Python<'_>, bytes: &[u8]) -> Outcome<Linear> {
        Ok(Linear::of(py, stored::loaded(py, bytes)?))
    }

    /// Models of disjoint shards of one stream as one.
    #[staticmethod]
    fn merge(py: Python<'_>, models: Vec<Py<Linear>>) -> Outcome<Linear> {
        let models: Vec<LinearModel> =
            models.iter().map(|model| stored::locked(py, &model.get().held).clone()).collect();
        Ok(Linear::of(py, stored::merged(py, &models)?))
    }

    /// Pickles and copies go through the same bytes as files.
    fn __reduce__<'py>(&self, py: Python<'py>) -> Outcome<Bound<'py, PyTuple>> {
        let load = PyType::new::<Linear>(py).getattr("load")?;
        let arguments = PyTuple::new(py, [self.save(py)])?;
        Ok(PyTuple::new(py, [load, arguments.into_any()])?)
    }
}

/// Rows converted together.
const PORTION: usize = 1024;

fn judgements<'py>(py: Python<'py>, model: &LinearModel, judged: Vec<Judgement>) -> Outcome<Bound<'py, PyDict>> {
    let (n, n_labels) = (judged.len(), model.labels().len());
    let told = PyDict::new(py);
    told.set_item("numbers", told::vector(py, judged.iter().map(|row| row.number).collect()))?;
    let deviations = judged.iter().map(|row| row.deviation.unwrap_or(f64::NAN)).collect();
    told.set_item("deviations", told::vector(py, deviations))?;
    let mut scores = Vec::with_capacity(n * n_labels);
    for row in &judged {
        let first = scores.len();
        scores.extend(row.scores.iter().copied().take(n_labels));
        scores.resize(first + n_labels, 0.0);
    }
    told.set_item("scores", told::matrix(py, scores, n, n_labels)?)?;
    Ok(told)
}
