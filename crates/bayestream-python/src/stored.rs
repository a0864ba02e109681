//! What every class keeps: a model behind a lock, whose bytes are those of a model file.

use crate::errors::Outcome;
use bayestream::model::{DocumentModel, FeatureModel, FormatError, LinearModel, MergeError, Model};
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::PyBytes;
use std::sync::{Mutex, MutexGuard};

/// A model that can be kept in a file.
pub trait Stored: Clone + Send {
    fn save(&self) -> Vec<u8>;
    fn load(bytes: &[u8]) -> Result<Self, FormatError>;
    fn merge(models: &[Self]) -> Result<Self, MergeError>;
}

macro_rules! stored {
    ($($model:ident),+) => {
        $(impl Stored for $model {
            fn save(&self) -> Vec<u8> {
                $model::save(self)
            }

            fn load(bytes: &[u8]) -> Result<$model, FormatError> {
                $model::load(bytes)
            }

            fn merge(models: &[$model]) -> Result<$model, MergeError> {
                $model::merge(models)
            }
        })+
    };
}

stored!(Model, DocumentModel, LinearModel, FeatureModel);

/// Waits for the lock without keeping other Python threads waiting. A panic of the library while it was held leaves a model
/// that is as the library left it; its checks decide whether it can still be used.
pub fn locked<'a, T>(py: Python<'_>, held: &'a Mutex<T>) -> MutexGuard<'a, T> {
    held.lock_py_attached(py).unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// The bytes of a model file.
pub fn saved<'py, M: Stored + Sync>(py: Python<'py>, model: &M) -> Bound<'py, PyBytes> {
    PyBytes::new(py, &py.detach(|| model.save()))
}

/// The model in the bytes of a file.
pub fn loaded<M: Stored>(py: Python<'_>, bytes: &[u8]) -> Outcome<M> {
    Ok(py.detach(|| M::load(bytes))?)
}

/// Several models as one.
pub fn merged<M: Stored + Sync>(py: Python<'_>, models: &[M]) -> Outcome<M> {
    Ok(py.detach(|| M::merge(models))?)
}
