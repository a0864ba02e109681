//! Documents as Python has them: texts, lists of tokens, or counts of terms in compressed rows.

use bayestream::text::RawDocument;
use numpy::PyReadonlyArray1;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString, PyTuple};

/// A list of strings, a list of lists of strings, or `(starts, terms, counts)`.
pub struct RawDocuments(pub Vec<RawDocument>);

impl<'a, 'py> FromPyObject<'a, 'py> for RawDocuments {
    type Error = PyErr;

    fn extract(given: Borrowed<'a, 'py, PyAny>) -> PyResult<RawDocuments> {
        if let Ok(counts) = given.cast::<PyTuple>() {
            return counted(&counts).map(RawDocuments);
        }
        let listed = given.cast::<PyList>().map_err(|_| PyTypeError::new_err("expected a list of documents"))?;
        listed.iter().map(|document| one(&document)).collect::<PyResult<_>>().map(RawDocuments)
    }
}

fn one(document: &Bound<'_, PyAny>) -> PyResult<RawDocument> {
    if let Ok(text) = document.cast::<PyString>() {
        return Ok(RawDocument::Text(text.to_str()?.to_string()));
    }
    document.extract::<Vec<String>>().map(RawDocument::Tokens).map_err(|_| {
        let of = document.get_type().name().map_or_else(|_| "object".to_string(), |name| name.to_string());
        PyTypeError::new_err(format!("a document is a text or a list of tokens, not {of}"))
    })
}

fn counted(counts: &Bound<'_, PyTuple>) -> PyResult<Vec<RawDocument>> {
    type Arrays<'py> = (PyReadonlyArray1<'py, i64>, PyReadonlyArray1<'py, u32>, PyReadonlyArray1<'py, u32>);
    let (starts, terms, counts): Arrays<'_> = counts.extract()?;
    let (starts, terms, counts) = (starts.as_slice()?, terms.as_slice()?, counts.as_slice()?);
    let document = |pair: &[i64]| {
        let span = usize::try_from(pair[0]).ok()?..usize::try_from(pair[1]).ok()?;
        Some(RawDocument::Counts { terms: terms.get(span.clone())?.to_vec(), counts: counts.get(span)?.to_vec() })
    };
    let documents: Option<Vec<RawDocument>> = starts.windows(2).map(document).collect();
    documents.ok_or_else(|| PyValueError::new_err("the starts of the documents lie outside their terms"))
}
