//! Binary latent features: every kind of [`bayestream::model::FeatureModel`].

use crate::cells::Cells;
use crate::errors::Outcome;
use crate::one_by_one::Waiting;
use crate::signals::Signals;
use crate::{stored, told};
use bayestream::data::DataError;
use bayestream::model::{FeatureConfig, FeatureKind, FeatureModel};
use bayestream::structure::FeatureScorer;
use numpy::{PyArray1, PyArray2, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyTuple, PyType};
use std::sync::Mutex;

/// Rows read together.
const READ_TOGETHER: usize = 256;

/// A model of binary latent features of any kind.
#[pyclass(frozen, module = "bayestream._bayestream")]
pub struct Features {
    held: Mutex<Held>,
}

struct Held {
    model: FeatureModel,
    waiting: Waiting,
    /// For as long as nothing more is learnt.
    scorer: Option<FeatureScorer>,
}

impl Held {
    fn new(py: Python<'_>, model: FeatureModel) -> Held {
        let waiting = Waiting::new(py, model.columns(), 1);
        Held { model, waiting, scorer: None }
    }

    /// Learns the rows that wait.
    fn settle(&mut self) -> Result<&mut Held, DataError> {
        let (model, scorer) = (&mut self.model, &mut self.scorer);
        self.waiting.drain(|batch| {
            *scorer = None;
            model.update(batch).map(drop)
        })?;
        Ok(self)
    }

    fn scorer(&mut self) -> Result<&mut FeatureScorer, DataError> {
        self.settle()?;
        Ok(self.scorer.get_or_insert_with(|| self.model.scorer()))
    }
}

#[pymethods]
impl Features {
    #[new]
    #[pyo3(signature = (kind, columns, settings, seed = 0, shard = 0, memory_limit = None))]
    fn new(
        py: Python<'_>,
        kind: &str,
        columns: Vec<String>,
        settings: Vec<(String, String)>,
        seed: u64,
        shard: u32,
        memory_limit: Option<&str>,
    ) -> Outcome<Features> {
        let mut config = FeatureConfig::new(kind.parse::<FeatureKind>()?, columns);
        for (name, value) in &settings {
            config.settings.set(config.kind, name, value)?;
        }
        (config.seed, config.shard) = (seed, shard);
        config.memory_limit = told::bytes(memory_limit)?.unwrap_or(config.memory_limit);
        Ok(Features { held: Mutex::new(Held::new(py, FeatureModel::new(config)?)) })
    }

    /// Learns rows, so many at a time. Either all rows of an array are sound or none is learnt.
    #[pyo3(signature = (cells, batch_rows, weights = None))]
    fn learn(
        &self,
        py: Python<'_>,
        cells: Cells<'_>,
        batch_rows: usize,
        weights: Option<PyReadonlyArray1<'_, f64>>,
    ) -> Outcome<()> {
        let mut held = stored::locked(py, &self.held);
        let held = &mut *held;
        let view = cells.view();
        let weights = weights.as_ref().map(|weights| weights.as_slice()).transpose().map_err(PyErr::from)?;
        let signals = Signals::listen();
        py.detach(|| {
            held.settle()?.scorer = None;
            let model = &mut held.model;
            let d = model.columns().len();
            // After an interrupt the batches that are left are not learnt.
            view.batches(d, batch_rows, weights, |batch| match signals.interrupt().is_raised() {
                true => Ok(()),
                false => model.update(batch).map(drop),
            })
        })?;
        signals.raise()
    }

    /// Ends a pass: batch kinds fit here. Whoever looks at the model does this first, so that Ctrl-C can stop the fit.
    fn finish(&self, py: Python<'_>) -> Outcome<()> {
        let mut held = stored::locked(py, &self.held);
        let held = &mut *held;
        let signals = Signals::listen();
        let finished = py.detach(|| Ok::<_, DataError>(held.settle()?.model.finish_unless(signals.interrupt())))?;
        signals.raise()?;
        Ok(finished?)
    }

    /// Log-density of each row.
    fn log_densities<'py>(&self, py: Python<'py>, cells: Cells<'py>) -> Outcome<Bound<'py, PyArray1<f64>>> {
        let mut all = Vec::with_capacity(cells.view().n_rows());
        self.read(py, &cells, |scorer, row| all.push(scorer.score(row).log_density))?;
        Ok(told::vector(py, all))
    }

    /// The probability that each row has each feature.
    fn activations<'py>(&self, py: Python<'py>, cells: Cells<'py>) -> Outcome<Bound<'py, PyArray2<f64>>> {
        let (mut all, mut k) = (Vec::new(), 0);
        self.read(py, &cells, |scorer, row| {
            k = scorer.set().features.len();
            all.append(&mut scorer.score(row).activations);
        })?;
        Ok(told::matrix(py, all, cells.view().n_rows(), k)?)
    }

    /// The rows with their missing cells filled, and the standard deviation of each cell that was filled, NaN elsewhere.
    #[allow(clippy::type_complexity)]
    fn fill<'py>(
        &self,
        py: Python<'py>,
        cells: Cells<'py>,
    ) -> Outcome<(Bound<'py, PyArray2<f64>>, Bound<'py, PyArray2<f64>>)> {
        let (mut filled, mut deviations) = (Vec::new(), Vec::new());
        let mut sd = Vec::new();
        self.read(py, &cells, |scorer, row| {
            let first = filled.len();
            filled.extend_from_slice(row);
            scorer.fill(&mut filled[first..], &mut sd);
            deviations.extend_from_slice(&sd);
        })?;
        let (n, d) = (cells.view().n_rows(), cells.view().n_columns());
        Ok((told::matrix(py, filled, n, d)?, told::matrix(py, deviations, n, d)?))
    }

    /// Why rows are surprising.
    fn reasons<'py>(&self, py: Python<'py>, cells: Cells<'py>) -> Outcome<Bound<'py, PyList>> {
        let mut found = Vec::new();
        self.read(py, &cells, |scorer, row| found.push(scorer.reasons(row)))?;
        let held = stored::locked(py, &self.held);
        let rows = found.iter().map(|reasons| told::reasons(py, reasons, held.model.columns()));
        Ok(PyList::new(py, rows.collect::<PyResult<Vec<_>>>()?)?)
    }

    /// Draws rows.
    fn sample<'py>(&self, py: Python<'py>, n: usize, seed: u64) -> Outcome<Bound<'py, PyArray2<f64>>> {
        self.finish(py)?;
        let mut held = stored::locked(py, &self.held);
        let held = held.settle()?;
        let rows = py.detach(|| held.model.snapshot().sample(n, seed));
        Ok(told::matrix(py, rows, n, held.model.columns().len())?)
    }

    /// The features of the snapshot, with the offset and the noise of every column, as arrays.
    fn features<'py>(&self, py: Python<'py>) -> Outcome<Bound<'py, PyDict>> {
        self.finish(py)?;
        let mut held = stored::locked(py, &self.held);
        let held = held.settle()?;
        let set = py.detach(|| held.model.snapshot().set);
        let (k, d) = (set.features.len(), set.offset.len());
        let told = PyDict::new(py);
        told.set_item("ids", set.features.iter().map(|feature| feature.id.to_string()).collect::<Vec<_>>())?;
        told.set_item("shares", told::vector(py, set.features.iter().map(|feature| feature.share).collect()))?;
        let weights = set.features.iter().flat_map(|feature| feature.weights.iter().copied()).collect();
        told.set_item("weights", told::matrix(py, weights, k, d)?)?;
        told.set_item("offset", told::vector(py, set.offset))?;
        told.set_item("noise", told::vector(py, set.noise))?;
        Ok(told)
    }

    /// What happened to the features.
    fn events<'py>(&self, py: Python<'py>) -> Outcome<Bound<'py, PyList>> {
        let mut held = stored::locked(py, &self.held);
        Ok(told::events(py, held.settle()?.model.events())?)
    }

    /// Mean log-score along the stream, and rows scored.
    fn log_score(&self, py: Python<'_>) -> Outcome<(f64, u64)> {
        Ok(told::log_score(&stored::locked(py, &self.held).settle()?.model.log_score()))
    }

    /// Rows seen, those that wait among them.
    fn n_seen(&self, py: Python<'_>) -> Outcome<u64> {
        Ok(stored::locked(py, &self.held).settle()?.model.n_seen())
    }

    /// Features that the learner holds.
    fn k_implemented(&self, py: Python<'_>) -> Outcome<usize> {
        Ok(stored::locked(py, &self.held).settle()?.model.k_implemented())
    }

    /// The names of the columns.
    fn columns(&self, py: Python<'_>) -> Vec<String> {
        stored::locked(py, &self.held).model.columns().to_vec()
    }

    /// The number of this learner among those of one stream.
    fn shard(&self, py: Python<'_>) -> u32 {
        stored::locked(py, &self.held).model.config().shard
    }

    /// Rows that come one by one are learnt in batches of so many.
    fn gather(&self, py: Python<'_>, batch_rows: usize) {
        stored::locked(py, &self.held).waiting.set_batch_rows(batch_rows);
    }

    /// Takes in one row; true when it has keys that are no column.
    fn push(&self, py: Python<'_>, row: &Bound<'_, PyDict>) -> Outcome<bool> {
        let mut held = stored::locked(py, &self.held);
        let held = &mut *held;
        let has_others = held.waiting.push(row)?;
        if held.waiting.is_full() {
            py.detach(|| held.settle().map(drop))?;
        }
        Ok(has_others)
    }

    /// Log-density of one row, and the probability that it has each feature, by the features' names.
    #[allow(clippy::type_complexity)]
    fn score_one(&self, py: Python<'_>, row: &Bound<'_, PyDict>) -> Outcome<(f64, Vec<(String, f64)>)> {
        self.finish(py)?;
        let mut held = stored::locked(py, &self.held);
        let held = &mut *held;
        let (cells, _) = held.waiting.row(row)?;
        let scorer = held.scorer()?;
        let score = py.detach(|| scorer.score(&cells));
        let names = scorer.set().features.iter().map(|feature| feature.id.to_string());
        Ok((score.log_density, names.zip(score.activations).collect()))
    }

    /// The bytes of a model file.
    fn save<'py>(&self, py: Python<'py>) -> Outcome<Bound<'py, PyBytes>> {
        let mut held = stored::locked(py, &self.held);
        Ok(stored::saved(py, &held.settle()?.model))
    }

    /// The model in the bytes of a file; rows that come one by one are gathered as [`Features::gather`] says.
    #[staticmethod]
    #[pyo3(signature = (bytes, batch_rows = 1))]
    fn load(py: Python<'_>, bytes: &[u8], batch_rows: usize) -> Outcome<Features> {
        let loaded = Features { held: Mutex::new(Held::new(py, stored::loaded(py, bytes)?)) };
        loaded.gather(py, batch_rows);
        Ok(loaded)
    }

    /// Says why several cannot be merged.
    #[staticmethod]
    fn merge(py: Python<'_>, models: Vec<Py<Features>>) -> Outcome<Features> {
        let model = |model: &Py<Features>| Ok(stored::locked(py, &model.get().held).settle()?.model.clone());
        let models = models.iter().map(model).collect::<Outcome<Vec<FeatureModel>>>()?;
        Ok(Features { held: Mutex::new(Held::new(py, stored::merged(py, &models)?)) })
    }

    /// Pickles and copies go through the same bytes as files.
    fn __reduce__<'py>(&self, py: Python<'py>) -> Outcome<Bound<'py, PyTuple>> {
        let load = PyType::new::<Features>(py).getattr("load")?;
        let bytes = self.save(py)?;
        let held = stored::locked(py, &self.held);
        let arguments = (bytes, held.waiting.batch_rows()).into_pyobject(py)?;
        Ok(PyTuple::new(py, [load, arguments.into_any()])?)
    }
}

impl Features {
    /// Hands rows, one by one, to the scorer.
    fn read(
        &self,
        py: Python<'_>,
        cells: &Cells<'_>,
        mut read: impl FnMut(&mut FeatureScorer, &[f64]) + Send,
    ) -> Outcome<()> {
        self.finish(py)?;
        let mut held = stored::locked(py, &self.held);
        let held = &mut *held;
        let view = cells.view();
        let d = view.n_columns().max(1);
        Ok(py.detach(|| {
            crate::cells::check(&view, held.model.columns().len(), None)?;
            let scorer = held.scorer()?;
            view.portions(READ_TOGETHER, |rows| {
                rows.chunks_exact(d).for_each(|row| read(scorer, row));
                Ok(())
            })
        })?)
    }
}
