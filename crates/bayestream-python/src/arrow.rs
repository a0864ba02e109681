//! Tables of any library that speaks Arrow's C stream interface, without depending on one of them.

// The interface is made of C pointers: `from_raw` takes over the stream that the capsule holds, as the interface asks.
#![allow(unsafe_code)]

use crate::errors::Outcome;
use arrow_array::cast::AsArray;
use arrow_array::ffi_stream::{FFI_ArrowArrayStream, RecordBatchStreamReader};
use arrow_array::types::{
    Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use arrow_array::{Array, RecordBatchReader};
use arrow_schema::{ArrowError, DataType};
use numpy::PyArray2;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyCapsuleMethods};

fn unreadable(error: ArrowError) -> PyErr {
    PyValueError::new_err(format!("the Arrow stream cannot be read: {error}"))
}

/// The columns' names and the cells of a table, from the capsule that `__arrow_c_stream__` returns. Missing values become
/// NaN.
#[pyfunction]
pub fn columns_of_stream<'py>(
    py: Python<'py>,
    capsule: &Bound<'py, PyCapsule>,
) -> Outcome<(Vec<String>, Bound<'py, PyArray2<f64>>)> {
    let stream = capsule.pointer_checked(Some(c"arrow_array_stream"))?.cast::<FFI_ArrowArrayStream>();
    // SAFETY: a capsule of this name holds a valid stream, which is ours to move out; it is marked as released there, and
    // the capsule stays alive during the call.
    let reader = unsafe { RecordBatchStreamReader::from_raw(stream.as_ptr()) }.map_err(unreadable)?;
    let schema = reader.schema();
    let names: Vec<String> = schema.fields().iter().map(|field| field.name().clone()).collect();
    if let Some(field) = schema.fields().iter().find(|field| !is_number(field.data_type())) {
        let (name, of) = (field.name(), field.data_type());
        return Err(PyTypeError::new_err(format!(
            "column `{name}` holds {of}, not numbers; leave it out or encode it"
        ))
        .into());
    }
    let batches = py.detach(|| reader.collect::<Result<Vec<_>, _>>()).map_err(unreadable)?;
    let n_rows: usize = batches.iter().map(|batch| batch.num_rows()).sum();
    let d = names.len();
    let mut cells = vec![f64::NAN; n_rows * d];
    let mut first = 0;
    for batch in &batches {
        let stretch = &mut cells[first * d..(first + batch.num_rows()) * d];
        for (at, column) in batch.columns().iter().enumerate() {
            copy(column.as_ref(), stretch.iter_mut().skip(at).step_by(d));
        }
        first += batch.num_rows();
    }
    Ok((names, crate::told::matrix(py, cells, n_rows, d)?))
}

fn is_number(of: &DataType) -> bool {
    of.is_integer() || of.is_floating() || matches!(of, DataType::Null | DataType::Boolean)
}

/// Copies a column; missing values are left as they are in `cells`.
fn copy<'c>(column: &dyn Array, cells: impl Iterator<Item = &'c mut f64>) {
    macro_rules! of_type {
        ($type:ty, $to_f64:expr) => {
            for (cell, value) in cells.zip(column.as_primitive::<$type>()) {
                if let Some(value) = value {
                    *cell = $to_f64(value);
                }
            }
        };
    }
    match column.data_type() {
        DataType::Float64 => of_type!(Float64Type, f64::from),
        DataType::Float32 => of_type!(Float32Type, f64::from),
        DataType::Float16 => of_type!(Float16Type, f64::from),
        DataType::Int8 => of_type!(Int8Type, f64::from),
        DataType::Int16 => of_type!(Int16Type, f64::from),
        DataType::Int32 => of_type!(Int32Type, f64::from),
        DataType::Int64 => of_type!(Int64Type, |value| value as f64),
        DataType::UInt8 => of_type!(UInt8Type, f64::from),
        DataType::UInt16 => of_type!(UInt16Type, f64::from),
        DataType::UInt32 => of_type!(UInt32Type, f64::from),
        DataType::UInt64 => of_type!(UInt64Type, |value| value as f64),
        DataType::Boolean => {
            for (cell, value) in cells.zip(column.as_boolean()) {
                if let Some(value) = value {
                    *cell = f64::from(u8::from(value));
                }
            }
        }
        _ => {}
    }
}
