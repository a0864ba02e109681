//! What watching says of rows and of their stream, as Python's own values.

use crate::errors::Outcome;
use bayestream::outlier::{DriftAlarm, DriftKind, Verdict};
use bayestream::structure::ComponentId;
use numpy::PyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};

/// Verdicts on rows: log-density, surprise, p-value, component, responsibility, cluster.
pub type Verdicts<'py> = (
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyList>,
    Bound<'py, PyArray1<f64>>,
    Bound<'py, PyList>,
);

fn drift_name(what: DriftKind) -> &'static str {
    match what {
        DriftKind::Mean { .. } => "mean",
        DriftKind::Spread { .. } => "spread",
        DriftKind::Dependence => "dependence",
        DriftKind::Occupancy => "occupancy",
    }
}

/// Verdicts as arrays.
pub fn told<'py>(py: Python<'py>, verdicts: &[Verdict]) -> Outcome<Verdicts<'py>> {
    let column = |of: fn(&Verdict) -> f64| crate::told::vector(py, verdicts.iter().map(of).collect());
    let names = |of: fn(&Verdict) -> Option<ComponentId>| {
        PyList::new(py, verdicts.iter().map(|verdict| of(verdict).map(|id| id.to_string())))
    };
    Ok((
        column(|verdict| verdict.log_density),
        column(|verdict| verdict.surprise),
        column(|verdict| verdict.p_value),
        names(|verdict| verdict.component)?,
        column(|verdict| verdict.responsibility),
        names(|verdict| verdict.cluster)?,
    ))
}

/// Changes of the stream that were noticed, oldest first.
pub fn drift_alarms<'py>(py: Python<'py>, alarms: &[DriftAlarm], columns: &[String]) -> PyResult<Bound<'py, PyList>> {
    let alarm = |alarm: &DriftAlarm| -> PyResult<Bound<'py, PyDict>> {
        let told = PyDict::new(py);
        told.set_item("row", alarm.row)?;
        told.set_item("since", alarm.since)?;
        told.set_item("what", drift_name(alarm.what))?;
        told.set_item("column", alarm.what.column().map(|column| columns[column].as_str()))?;
        told.set_item("strength", alarm.strength)?;
        Ok(told)
    };
    PyList::new(py, alarms.iter().map(alarm).collect::<PyResult<Vec<_>>>()?)
}
