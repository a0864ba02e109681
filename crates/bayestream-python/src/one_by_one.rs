//! Rows that come one by one, as dictionaries, gathered into batches.
//!
//! A batch costs little more than a row, so rows wait until there are enough of them, or until somebody looks at the model.

use crate::errors::Outcome;
use bayestream::data::{Batch, DataError};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

/// Rows that wait to be learnt.
pub struct Waiting {
    /// The columns' names, as keys of dictionaries.
    keys: Vec<Py<PyString>>,
    rows: Vec<f64>,
    n_rows: usize,
}

impl Waiting {
    /// None yet; so many make a batch.
    pub fn new(py: Python<'_>, columns: &[String], n_rows: usize) -> Waiting {
        let keys = columns.iter().map(|name| PyString::intern(py, name).unbind()).collect();
        Waiting { keys, rows: Vec::new(), n_rows: n_rows.max(1) }
    }

    /// How many make a batch.
    pub fn batch_rows(&self) -> usize {
        self.n_rows
    }

    /// So many make a batch from now on.
    pub fn set_batch_rows(&mut self, n_rows: usize) {
        self.n_rows = n_rows.max(1);
    }

    /// Appends a row to `cells`: a column without a key, or whose value is None, is missing. True when the dictionary has
    /// keys that are no column.
    fn append(&self, row: &Bound<'_, PyDict>, cells: &mut Vec<f64>) -> PyResult<bool> {
        let py = row.py();
        let mut n_found = 0;
        for key in &self.keys {
            let cell = match row.get_item(key.bind(py))? {
                None => f64::NAN,
                Some(value) => {
                    n_found += 1;
                    match value.extract::<f64>() {
                        Ok(cell) => cell,
                        Err(_) if value.is_none() => f64::NAN,
                        Err(_) => return Err(not_a_number(key.bind(py), &value)),
                    }
                }
            };
            cells.push(cell);
        }
        Ok(n_found < row.len())
    }

    /// One row to be looked at, and whether the dictionary has keys that are no column.
    pub fn row(&self, row: &Bound<'_, PyDict>) -> Outcome<(Vec<f64>, bool)> {
        let mut cells = Vec::with_capacity(self.keys.len());
        let has_others = self.append(row, &mut cells)?;
        Batch::new(&cells, self.keys.len())?;
        Ok((cells, has_others))
    }

    /// Takes a row in; true when the dictionary has keys that are no column. A refused row leaves nothing behind.
    pub fn push(&mut self, row: &Bound<'_, PyDict>) -> Outcome<bool> {
        let first = self.rows.len();
        let mut rows = std::mem::take(&mut self.rows);
        let taken = self.append(row, &mut rows).map_err(Into::into).and_then(|has_others| {
            Batch::new(&rows[first..], self.keys.len())?;
            Ok(has_others)
        });
        if taken.is_err() {
            rows.truncate(first);
        }
        self.rows = rows;
        taken
    }

    /// True when enough rows wait to be learnt.
    pub fn is_full(&self) -> bool {
        self.rows.len() >= self.n_rows * self.keys.len()
    }

    /// Hands all waiting rows to `learn`, if there are any.
    pub fn drain(&mut self, learn: impl FnOnce(&Batch<'_>) -> Result<(), DataError>) -> Result<(), DataError> {
        if self.rows.is_empty() {
            return Ok(());
        }
        let learnt = Batch::new(&self.rows, self.keys.len()).and_then(|batch| learn(&batch));
        self.rows.clear();
        learnt
    }
}

fn not_a_number(key: &Bound<'_, PyString>, value: &Bound<'_, PyAny>) -> PyErr {
    let told = value.repr().map_or_else(|_| "a value".to_string(), |text| text.to_string());
    PyTypeError::new_err(format!("column `{key}`: {told} is not a number"))
}
