//! What models tell, as Python's own values.

use bayestream::model::parse_bytes;
use bayestream::structure::{Event, EventLog, LogScore, Reason};
use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

/// Bytes as people write them; none where nobody says.
pub fn bytes(text: Option<&str>) -> PyResult<Option<u64>> {
    let parsed = |text: &str| {
        let wrong =
            || PyValueError::new_err(format!("memory_limit={text}: expected a size, as in \"8GB\" or \"500MB\""));
        parse_bytes(text).ok_or_else(wrong)
    };
    text.map(parsed).transpose()
}

/// A matrix of so many columns.
pub fn matrix<'py, T: numpy::Element>(
    py: Python<'py>,
    cells: Vec<T>,
    n_rows: usize,
    n_columns: usize,
) -> PyResult<Bound<'py, PyArray2<T>>> {
    cells.into_pyarray(py).reshape([n_rows, n_columns])
}

/// A vector.
pub fn vector<T: numpy::Element>(py: Python<'_>, cells: Vec<T>) -> Bound<'_, PyArray1<T>> {
    cells.into_pyarray(py)
}

/// The events kept, oldest first.
pub fn events<'py>(py: Python<'py>, log: &EventLog) -> PyResult<Bound<'py, PyList>> {
    let event = |event: &Event| -> PyResult<Bound<'py, PyDict>> {
        let told = PyDict::new(py);
        told.set_item("row", event.row)?;
        told.set_item("what", event.what.name())?;
        told.set_item("component", event.component.to_string())?;
        told.set_item("other", event.what.other().map(|id| id.to_string()))?;
        Ok(told)
    };
    PyList::new(py, log.iter().map(event).collect::<PyResult<Vec<_>>>()?)
}

/// Mean of the log-scores along the stream, and how many rows it is over.
pub fn log_score(score: &LogScore) -> (f64, u64) {
    (score.prequential_mean, score.n_scored)
}

/// Why a row is surprising: for each observed cell, the blamed ones first, its column, whether it is blamed, what was seen,
/// what was expected, and how surprising that is.
pub fn reasons<'py>(py: Python<'py>, reasons: &[Reason], columns: &[String]) -> PyResult<Bound<'py, PyList>> {
    let reason = |reason: &Reason| -> PyResult<Bound<'py, PyDict>> {
        let told = PyDict::new(py);
        told.set_item("column", &columns[reason.column])?;
        told.set_item("blamed", reason.blamed)?;
        told.set_item("observed", reason.observed)?;
        told.set_item("expected", reason.expected)?;
        told.set_item("surprise", reason.surprise)?;
        told.set_item("probability", reason.probability)?;
        Ok(told)
    };
    PyList::new(py, reasons.iter().map(reason).collect::<PyResult<Vec<_>>>()?)
}
