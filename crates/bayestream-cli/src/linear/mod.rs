//! Commands on labelled rows and documents: the same verbs as for others.

pub mod fit;
pub mod inspect;
pub mod reading;
pub mod score;

use bayestream::engine::linear::TargetChoice;
use bayestream::model::LinearModel;
use serde::Serialize;

/// How well rows were foretold before they were learnt, in JSON.
#[derive(Serialize)]
pub struct ForetoldEntry {
    n_scored: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    accuracy: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    accuracy_of_commonest: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    f1: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mean_absolute_error: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mean_absolute_error_of_mean: Option<f64>,
}

impl ForetoldEntry {
    /// The entry of a model.
    pub fn of(model: &LinearModel) -> ForetoldEntry {
        let (foretold, target) = (model.foretold(), model.config().settings.target);
        let is_number = target == TargetChoice::Number;
        let of_labels = |value: f64| (!is_number).then_some(value);
        ForetoldEntry {
            n_scored: foretold.n,
            accuracy: of_labels(foretold.accuracy()),
            accuracy_of_commonest: of_labels(foretold.accuracy_of_commonest()),
            f1: (target == TargetChoice::Labels).then(|| foretold.f1()),
            mean_absolute_error: is_number.then(|| foretold.mean_absolute_error()),
            mean_absolute_error_of_mean: is_number.then(|| foretold.mean_absolute_error_of_mean()),
        }
    }
}
