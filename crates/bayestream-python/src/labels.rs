//! Labels of rows and documents as Python has them: places in a list of names, some for each row.

use numpy::PyReadonlyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// `(starts, places, names)`: row `i` has the names at the places from `starts[i]` up to `starts[i + 1]`.
pub struct Labels(pub Vec<Vec<String>>);

impl<'a, 'py> FromPyObject<'a, 'py> for Labels {
    type Error = PyErr;

    fn extract(given: Borrowed<'a, 'py, PyAny>) -> PyResult<Labels> {
        type Parts<'py> = (PyReadonlyArray1<'py, i64>, PyReadonlyArray1<'py, i64>, Vec<String>);
        let (starts, places, names): Parts<'_> = given.extract()?;
        let (starts, places) = (starts.as_slice()?, places.as_slice()?);
        let name = |place: &i64| names.get(usize::try_from(*place).ok()?).cloned();
        let row = |pair: &[i64]| {
            let span = usize::try_from(pair[0]).ok()?..usize::try_from(pair[1]).ok()?;
            places.get(span)?.iter().map(name).collect::<Option<Vec<String>>>()
        };
        let rows: Option<Vec<Vec<String>>> = starts.windows(2).map(row).collect();
        rows.map(Labels).ok_or_else(|| PyValueError::new_err("labels lie outside the list of their names"))
    }
}
