//! Mixtures of rows: every kind of [`bayestream::model::Model`].

use crate::cells::Cells;
use crate::errors::Outcome;
use crate::one_by_one::Waiting;
use crate::signals::Signals;
use crate::verdicts::{self, Verdicts};
use crate::{stored, told};
use bayestream::data::{Batch, DataError};
use bayestream::interrupt::Interrupt;
use bayestream::model::{Config, Kind, Model, Settings};
use bayestream::outlier::Verdict;
use bayestream::structure::{Cluster, Clustering, RowScore, Scorer, Snapshot};
use numpy::{PyArray1, PyArray2, PyReadonlyArray1};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyTuple, PyType};
use std::sync::Mutex;

/// Rows scored together: enough for the kernels, little in memory.
const SCORED_TOGETHER: usize = 1024;

/// A mixture of any kind.
#[pyclass(frozen, module = "bayestream._bayestream")]
pub struct Mixture {
    held: Mutex<Held>,
}

struct Held {
    model: Model,
    waiting: Waiting,
    /// Rows that came one by one are judged before they are learnt.
    watches: bool,
    /// The snapshot and its scorer, for as long as nothing more is learnt.
    seen: Option<(Snapshot, Scorer)>,
    /// The scorer of the learner's own model, likewise: quicker to make than a snapshot, for rows that come one by one.
    now: Option<Scorer>,
    /// Clusters of the snapshot, likewise.
    clusters: Option<Vec<Cluster>>,
    /// Clusters of the learner's own model, as they were lately.
    clustering: Clustering,
}

impl Held {
    fn new(py: Python<'_>, model: Model) -> Held {
        let waiting = Waiting::new(py, model.columns(), 1);
        let clustering = Clustering::default();
        Held { model, waiting, watches: false, seen: None, now: None, clusters: None, clustering }
    }

    /// Learns the rows that wait.
    fn settle(&mut self) -> Result<&mut Held, DataError> {
        let (model, watches) = (&mut self.model, self.watches);
        let (seen, now, clusters) = (&mut self.seen, &mut self.now, &mut self.clusters);
        self.waiting.drain(|batch| {
            (*seen, *now, *clusters) = (None, None, None);
            match watches {
                true => model.watch(batch).map(drop),
                false => model.update(batch).map(drop),
            }
        })?;
        Ok(self)
    }

    /// Learns the rows that wait, and gives the model to learn more.
    fn learning(&mut self) -> Result<&mut Model, DataError> {
        self.settle()?;
        (self.seen, self.now, self.clusters) = (None, None, None);
        Ok(&mut self.model)
    }

    fn seen(&mut self) -> Result<&mut (Snapshot, Scorer), DataError> {
        self.settle()?;
        Ok(self.seen.get_or_insert_with(|| {
            let snapshot = self.model.snapshot();
            let scorer = snapshot.scorer();
            (snapshot, scorer)
        }))
    }
}

#[pymethods]
impl Mixture {
    #[new]
    #[pyo3(signature = (kind, columns, settings, seed = 0, shard = 0, for_watching = false, memory_limit = None))]
    fn new(
        py: Python<'_>,
        kind: &str,
        columns: Vec<String>,
        settings: Vec<(String, String)>,
        seed: u64,
        shard: u32,
        for_watching: bool,
        memory_limit: Option<&str>,
    ) -> Outcome<Mixture> {
        let mut config = Config::new(kind.parse::<Kind>()?, columns);
        if for_watching {
            config.settings = Settings::for_watching();
        }
        for (name, value) in &settings {
            config.settings.set(config.kind, name, value)?;
        }
        (config.seed, config.shard) = (seed, shard);
        config.memory_limit = told::bytes(memory_limit)?.unwrap_or(config.memory_limit);
        Ok(Mixture { held: Mutex::new(Held::new(py, Model::new(config)?)) })
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
            let model = held.learning()?;
            let d = model.columns().len();
            model.heed(signals.interrupt());
            // After an interrupt the batches that are left are not learnt.
            let learned = view.batches(d, batch_rows, weights, |batch| match signals.interrupt().is_raised() {
                true => Ok(()),
                false => model.update(batch).map(drop),
            });
            model.heed(&Interrupt::default());
            learned
        })?;
        signals.raise()
    }

    /// Judges rows, then learns them, so many at a time.
    fn watch<'py>(&self, py: Python<'py>, cells: Cells<'py>, batch_rows: usize) -> Outcome<Verdicts<'py>> {
        let mut held = stored::locked(py, &self.held);
        let held = &mut *held;
        let view = cells.view();
        let signals = Signals::listen();
        let verdicts = py.detach(|| {
            let model = held.learning()?;
            let (mut all, mut some) = (Vec::with_capacity(view.n_rows()), Vec::new());
            let d = model.columns().len();
            model.heed(signals.interrupt());
            let watched = view.batches(d, batch_rows, None, |batch| {
                if signals.interrupt().is_raised() {
                    return Ok(());
                }
                model.watch_into(batch, &mut some)?;
                all.append(&mut some);
                Ok(())
            });
            model.heed(&Interrupt::default());
            watched.map(|()| all)
        })?;
        signals.raise()?;
        verdicts::told(py, &verdicts)
    }

    /// Judges rows by the model as it is.
    fn judge<'py>(&self, py: Python<'py>, cells: Cells<'py>) -> Outcome<Verdicts<'py>> {
        self.finish(py)?;
        let mut held = stored::locked(py, &self.held);
        let held = &mut *held;
        let view = cells.view();
        let verdicts = py.detach(|| {
            let model = &held.settle()?.model;
            let (mut all, mut some) = (Vec::with_capacity(view.n_rows()), Vec::new());
            let (mut judge, d) = (model.judge(), model.columns().len());
            view.batches(d, SCORED_TOGETHER, None, |batch| {
                judge.judge(batch, &mut some)?;
                all.append(&mut some);
                Ok(())
            })?;
            Ok::<_, DataError>(all)
        })?;
        verdicts::told(py, &verdicts)
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

    /// Log-density of each row by the snapshot.
    fn log_densities<'py>(&self, py: Python<'py>, cells: Cells<'py>) -> Outcome<Bound<'py, PyArray1<f64>>> {
        let mut all = Vec::with_capacity(cells.view().n_rows());
        self.scored(py, &cells, |scorer, rows| {
            let mut some: Vec<RowScore> = Vec::new();
            scorer.score(rows, &mut some);
            all.extend(some.iter().map(|score| score.log_density));
        })?;
        Ok(told::vector(py, all))
    }

    /// Responsibility of each component of the snapshot for each row.
    fn responsibilities<'py>(&self, py: Python<'py>, cells: Cells<'py>) -> Outcome<Bound<'py, PyArray2<f64>>> {
        let (mut all, mut k) = (Vec::new(), 0);
        self.scored(py, &cells, |scorer, rows| {
            let mut some = Vec::new();
            scorer.responsibilities(rows, &mut some);
            all.append(&mut some);
            k = scorer.ids().len();
        })?;
        Ok(told::matrix(py, all, cells.view().n_rows(), k)?)
    }

    /// Why rows are surprising.
    fn reasons<'py>(&self, py: Python<'py>, cells: Cells<'py>) -> Outcome<Bound<'py, PyList>> {
        let mut found = Vec::new();
        let d = cells.view().n_columns();
        self.scored(py, &cells, |scorer, rows| {
            found.extend(rows.chunks_exact(d).map(|row| scorer.reasons(row)));
        })?;
        let held = stored::locked(py, &self.held);
        let rows = found.iter().map(|reasons| told::reasons(py, reasons, held.model.columns()));
        Ok(PyList::new(py, rows.collect::<PyResult<Vec<_>>>()?)?)
    }

    /// Draws rows, with the place of each row's component.
    fn sample<'py>(&self, py: Python<'py>, n: usize, seed: u64) -> Outcome<Bound<'py, PyTuple>> {
        self.finish(py)?;
        let mut held = stored::locked(py, &self.held);
        let held = &mut *held;
        let snapshot = &py.detach(|| held.seen())?.0;
        let (rows, places) = match snapshot.k_realized() {
            0 => (Vec::new(), Vec::new()),
            _ => py.detach(|| snapshot.sample_with_components(n, seed)),
        };
        let places: Vec<i64> = places.into_iter().map(|place| place as i64).collect();
        let rows = told::matrix(py, rows, places.len(), snapshot.columns.len())?;
        Ok(PyTuple::new(py, [rows.into_any(), told::vector(py, places).into_any()])?)
    }

    /// The components of the snapshot, as arrays.
    fn components<'py>(&self, py: Python<'py>) -> Outcome<Bound<'py, PyDict>> {
        self.finish(py)?;
        let mut held = stored::locked(py, &self.held);
        let held = &mut *held;
        let snapshot = &py.detach(|| held.seen())?.0;
        let (k, d) = (snapshot.k_realized(), snapshot.columns.len());
        let parts = &snapshot.components;
        let told = PyDict::new(py);
        told.set_item("ids", parts.iter().map(|part| part.id.to_string()).collect::<Vec<_>>())?;
        told.set_item("weights", told::vector(py, parts.iter().map(|part| part.weight).collect()))?;
        told.set_item("counts", told::vector(py, parts.iter().map(|part| part.count).collect()))?;
        let cells = |of: fn(&bayestream::structure::Component) -> &[f64]| -> Vec<f64> {
            parts.iter().flat_map(|part| of(part).iter().copied()).collect()
        };
        told.set_item("means", told::matrix(py, cells(|part| &part.mean), k, d)?)?;
        told.set_item("covariances", told::matrix(py, cells(|part| &part.covariance), k, d * d)?)?;
        told.set_item("latent_dims", parts.iter().map(|part| part.latent_dim).collect::<Vec<_>>())?;
        Ok(told)
    }

    /// The clusters of the snapshot: names, weights, and their components, by name and by place in the snapshot.
    fn clusters<'py>(&self, py: Python<'py>) -> Outcome<Bound<'py, PyDict>> {
        let mut held = stored::locked(py, &self.held);
        let held = &mut *held;
        py.detach(|| held.seen().map(drop))?;
        let Held { seen: Some((snapshot, scorer)), clusters, .. } = held else {
            return Ok(PyDict::new(py));
        };
        let clusters = clusters.get_or_insert_with(|| py.detach(|| scorer.clusters()));
        let place_of = |cluster: &Cluster| -> Vec<usize> {
            let parts = snapshot.components.iter().enumerate();
            parts.filter(|(_, part)| cluster.components.contains(&part.id)).map(|(place, _)| place).collect()
        };
        let told = PyDict::new(py);
        told.set_item("ids", clusters.iter().map(|cluster| cluster.id.to_string()).collect::<Vec<_>>())?;
        told.set_item("weights", told::vector(py, clusters.iter().map(|cluster| cluster.weight).collect()))?;
        let names_of = |cluster: &Cluster| cluster.components.iter().map(|id| id.to_string()).collect::<Vec<_>>();
        told.set_item("components", clusters.iter().map(names_of).collect::<Vec<_>>())?;
        told.set_item("places", clusters.iter().map(place_of).collect::<Vec<_>>())?;
        Ok(told)
    }

    /// What happened to the components.
    fn events<'py>(&self, py: Python<'py>) -> Outcome<Bound<'py, PyList>> {
        let mut held = stored::locked(py, &self.held);
        Ok(told::events(py, held.settle()?.model.events())?)
    }

    /// Changes of the stream that were noticed while watching it.
    fn drift_alarms<'py>(&self, py: Python<'py>) -> Outcome<Bound<'py, PyList>> {
        let mut held = stored::locked(py, &self.held);
        let model = &held.settle()?.model;
        Ok(verdicts::drift_alarms(py, model.drift_alarms(), model.columns())?)
    }

    /// Mean log-score along the stream, and rows scored.
    fn log_score(&self, py: Python<'_>) -> Outcome<(f64, u64)> {
        Ok(told::log_score(&stored::locked(py, &self.held).settle()?.model.log_score()))
    }

    /// Rows seen, those that wait among them.
    fn n_seen(&self, py: Python<'_>) -> Outcome<u64> {
        Ok(stored::locked(py, &self.held).settle()?.model.n_seen())
    }

    /// Components that the learner holds.
    fn k_implemented(&self, py: Python<'_>) -> Outcome<usize> {
        Ok(stored::locked(py, &self.held).settle()?.model.k_implemented())
    }

    /// Columns that go one way along the stream.
    fn counting(&self, py: Python<'_>) -> Outcome<Vec<String>> {
        Ok(stored::locked(py, &self.held).settle()?.model.counting_columns().into_iter().map(String::from).collect())
    }

    /// The names of the columns.
    fn columns(&self, py: Python<'_>) -> Vec<String> {
        stored::locked(py, &self.held).model.columns().to_vec()
    }

    /// The number of this learner among those of one stream.
    fn shard(&self, py: Python<'_>) -> u32 {
        stored::locked(py, &self.held).model.config().shard
    }

    /// Rows that come one by one are learnt in batches of so many, and judged first if asked for.
    fn gather(&self, py: Python<'_>, batch_rows: usize, watches: bool) {
        let mut held = stored::locked(py, &self.held);
        held.waiting.set_batch_rows(batch_rows);
        held.watches = watches;
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

    /// Log-density and most responsible cluster of one row, by the learner's own model as it is now.
    fn score_one(&self, py: Python<'_>, row: &Bound<'_, PyDict>) -> Outcome<(f64, Option<String>)> {
        self.finish(py)?;
        let mut held = stored::locked(py, &self.held);
        let held = &mut *held;
        let (cells, _) = held.waiting.row(row)?;
        let scores = py.detach(|| {
            let mut scores = Vec::new();
            let Held { model, now, clustering, .. } = held.settle()?;
            let scorer = now.get_or_insert_with(|| {
                model.renew_clusters(clustering);
                model.scorer().labelled_by(clustering)
            });
            scorer.score(&cells, &mut scores);
            Ok::<_, DataError>(scores)
        })?;
        let score = scores.first();
        Ok((score.map_or(f64::NAN, |s| s.log_density), score.and_then(|s| s.cluster).map(|id| id.to_string())))
    }

    /// Surprise and p-value of one row, judged by the model as it is.
    fn judge_one(&self, py: Python<'_>, row: &Bound<'_, PyDict>) -> Outcome<(f64, f64)> {
        self.finish(py)?;
        let mut held = stored::locked(py, &self.held);
        let held = &mut *held;
        let (cells, _) = held.waiting.row(row)?;
        let verdicts = py.detach(|| {
            let model = &held.settle()?.model;
            let mut verdicts: Vec<Verdict> = Vec::new();
            model.judge_as_is().judge(&Batch::new(&cells, model.columns().len())?, &mut verdicts)?;
            Ok::<_, DataError>(verdicts)
        })?;
        Ok(verdicts.first().map_or((0.0, 1.0), |verdict| (verdict.surprise, verdict.p_value)))
    }

    /// The bytes of a model file.
    fn save<'py>(&self, py: Python<'py>) -> Outcome<Bound<'py, PyBytes>> {
        let mut held = stored::locked(py, &self.held);
        Ok(stored::saved(py, &held.settle()?.model))
    }

    /// The model in the bytes of a file; rows that come one by one are gathered as [`Mixture::gather`] says.
    #[staticmethod]
    #[pyo3(signature = (bytes, batch_rows = 1, watches = false))]
    fn load(py: Python<'_>, bytes: &[u8], batch_rows: usize, watches: bool) -> Outcome<Mixture> {
        let loaded = Mixture { held: Mutex::new(Held::new(py, stored::loaded(py, bytes)?)) };
        loaded.gather(py, batch_rows, watches);
        Ok(loaded)
    }

    /// Models of disjoint shards of one stream as one.
    #[staticmethod]
    fn merge(py: Python<'_>, models: Vec<Py<Mixture>>) -> Outcome<Mixture> {
        let model = |model: &Py<Mixture>| Ok(stored::locked(py, &model.get().held).settle()?.model.clone());
        let models = models.iter().map(model).collect::<Outcome<Vec<Model>>>()?;
        Ok(Mixture { held: Mutex::new(Held::new(py, stored::merged(py, &models)?)) })
    }

    /// Pickles and copies go through the same bytes as files.
    fn __reduce__<'py>(&self, py: Python<'py>) -> Outcome<Bound<'py, PyTuple>> {
        let load = PyType::new::<Mixture>(py).getattr("load")?;
        let bytes = self.save(py)?;
        let held = stored::locked(py, &self.held);
        let arguments = (bytes, held.waiting.batch_rows(), held.watches).into_pyobject(py)?;
        Ok(PyTuple::new(py, [load, arguments.into_any()])?)
    }
}

impl Mixture {
    /// Hands rows, some at a time, to the snapshot's scorer.
    fn scored(
        &self,
        py: Python<'_>,
        cells: &Cells<'_>,
        mut score: impl FnMut(&mut Scorer, &[f64]) + Send,
    ) -> Outcome<()> {
        self.finish(py)?;
        let mut held = stored::locked(py, &self.held);
        let held = &mut *held;
        let view = cells.view();
        Ok(py.detach(|| {
            crate::cells::check(&view, held.model.columns().len(), None)?;
            let scorer = &mut held.seen()?.1;
            view.portions(SCORED_TOGETHER, |rows| {
                score(scorer, rows);
                Ok(())
            })
        })?)
    }
}
