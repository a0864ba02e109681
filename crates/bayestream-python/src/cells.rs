//! Rows of numbers in numpy arrays, handed on in portions.
//!
//! Contiguous float64 is lent as it is. Other layouts, and float32, are converted portion by portion into one small buffer:
//! an array is never copied whole.

use bayestream::data::{Batch, DataError, DataFault, LARGEST_CELL};
use numpy::ndarray::ArrayView2;
use numpy::{Element, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

/// A matrix of numbers of either precision, lent by numpy.
pub enum Cells<'py> {
    Double(PyReadonlyArray2<'py, f64>),
    Single(PyReadonlyArray2<'py, f32>),
}

/// The same without Python: what may be read while other Python threads run.
#[derive(Clone, Copy)]
pub enum View<'a> {
    Double(ArrayView2<'a, f64>),
    Single(ArrayView2<'a, f32>),
}

impl<'a, 'py> FromPyObject<'a, 'py> for Cells<'py> {
    type Error = PyErr;

    fn extract(given: Borrowed<'a, 'py, PyAny>) -> PyResult<Cells<'py>> {
        if let Ok(array) = given.extract::<PyReadonlyArray2<'py, f64>>() {
            return whole_steps(&array).map(|()| Cells::Double(array));
        }
        match given.extract::<PyReadonlyArray2<'py, f32>>() {
            Ok(array) => whole_steps(&array).map(|()| Cells::Single(array)),
            Err(_) => Err(PyTypeError::new_err("expected a matrix of float64 or float32")),
        }
    }
}

/// A field of a structured array may lie between the steps of its type.
fn whole_steps<T: Element>(array: &PyReadonlyArray2<'_, T>) -> PyResult<()> {
    let size = size_of::<T>() as isize;
    match array.strides().iter().all(|step| step % size == 0) {
        true => Ok(()),
        false => Err(PyTypeError::new_err("expected an array whose strides are whole cells; make a copy of it")),
    }
}

impl Cells<'_> {
    /// The cells, for as long as Python lends them.
    pub fn view(&self) -> View<'_> {
        match self {
            Cells::Double(array) => View::Double(array.as_array()),
            Cells::Single(array) => View::Single(array.as_array()),
        }
    }
}

impl View<'_> {
    /// How many rows.
    pub fn n_rows(&self) -> usize {
        match self {
            View::Double(view) => view.nrows(),
            View::Single(view) => view.nrows(),
        }
    }

    /// How many cells a row has.
    pub fn n_columns(&self) -> usize {
        match self {
            View::Double(view) => view.ncols(),
            View::Single(view) => view.ncols(),
        }
    }

    /// Hands on so many rows at a time, row-major, until one portion is refused; the refusal names the row of the whole.
    pub fn portions(
        &self,
        n_rows: usize,
        mut take: impl FnMut(&[f64]) -> Result<(), DataError>,
    ) -> Result<(), DataError> {
        let n_rows = n_rows.max(1);
        let mut first = 0;
        let mut located = |rows: &[f64]| {
            let taken = take(rows).map_err(|error| DataError { row: error.row + first, ..error });
            first += n_rows;
            taken
        };
        match self {
            View::Double(view) => match view.as_slice() {
                Some(cells) => cells.chunks((n_rows * view.ncols()).max(1)).try_for_each(located),
                None => converted(view, n_rows, &mut located),
            },
            View::Single(view) => converted(view, n_rows, &mut located),
        }
    }
}

impl View<'_> {
    /// Hands on so many rows at a time as batches of the library, with their weights if there are any. Everything is checked
    /// before the first is handed on: all rows are sound, or none is learnt.
    pub fn batches(
        &self,
        n_columns: usize,
        n_rows: usize,
        weights: Option<&[f64]>,
        mut take: impl FnMut(&Batch<'_>) -> Result<(), DataError>,
    ) -> Result<(), DataError> {
        check(self, n_columns, weights)?;
        let mut first = 0;
        self.portions(n_rows, |rows| {
            let batch = Batch::new(rows, n_columns)?;
            let span = first..first + batch.n_rows();
            first = span.end;
            match weights {
                Some(weights) => take(&batch.with_weights(&weights[span])?),
                None => take(&batch),
            }
        })
    }
}

fn converted<T: Copy + Into<f64>>(
    view: &ArrayView2<'_, T>,
    n_rows: usize,
    take: &mut impl FnMut(&[f64]) -> Result<(), DataError>,
) -> Result<(), DataError> {
    let mut buffer = Vec::with_capacity(n_rows.min(view.nrows()) * view.ncols());
    for portion in view.axis_chunks_iter(numpy::ndarray::Axis(0), n_rows) {
        buffer.clear();
        buffer.extend(portion.iter().map(|cell| (*cell).into()));
        take(&buffer)?;
    }
    Ok(())
}

/// Refuses rows that the library would refuse on the way.
pub fn check(view: &View<'_>, n_columns: usize, weights: Option<&[f64]>) -> Result<(), DataError> {
    if view.n_columns() != n_columns {
        let fault = DataFault::WrongColumns { expected: n_columns, found: view.n_columns() };
        return Err(DataError { row: 0, column: None, fault });
    }
    let out_of_range = match view {
        View::Double(cells) => cells.iter().position(|cell| cell.abs() > LARGEST_CELL),
        // Its largest number is far smaller.
        View::Single(cells) => cells.iter().position(|cell| cell.is_infinite()),
    };
    if let Some(at) = out_of_range {
        let value = match view {
            View::Double(cells) => cells[[at / n_columns, at % n_columns]],
            View::Single(cells) => f64::from(cells[[at / n_columns, at % n_columns]]),
        };
        let fault = if value.is_infinite() { DataFault::Infinite { value } } else { DataFault::TooLarge { value } };
        return Err(DataError { row: at / n_columns, column: Some(at % n_columns), fault });
    }
    match weights {
        Some(weights) if weights.len() != view.n_rows() => {
            let fault = DataFault::WeightCount { n_weights: weights.len(), n_rows: view.n_rows() };
            Err(DataError { row: 0, column: None, fault })
        }
        Some(weights) => match weights.iter().position(|weight| !weight.is_finite() || *weight < 0.0) {
            Some(row) => Err(DataError { row, column: None, fault: DataFault::BadWeight { value: weights[row] } }),
            None => Ok(()),
        },
        None => Ok(()),
    }
}
