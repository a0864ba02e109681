//! The tables of kinds and settings, as Python reads them.

use crate::errors::{Outcome, Raised};
use bayestream::model::{
    AnyKind, DOCUMENT_KINDS, DocumentSettings, FEATURE_KINDS, FeatureSettings, KINDS, KindInfo, LINEAR_KINDS,
    LinearChoices, SettingInfo, Settings, read_header,
};
use bayestream::text::TextSetting;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Name, alias, sort, whether it streams, summary.
type KindRow = (&'static str, Option<&'static str>, &'static str, bool, &'static str);

fn rows<K>(table: &'static [KindInfo<K>], sort: &'static str) -> impl Iterator<Item = KindRow> {
    table.iter().map(move |info| (info.name, info.alias, sort, info.streaming, info.summary))
}

/// Every kind: name, alias, sort of model, whether it streams, and what it is.
#[pyfunction]
pub fn kinds() -> Vec<KindRow> {
    rows(&KINDS, "mixture")
        .chain(rows(&DOCUMENT_KINDS, "documents"))
        .chain(rows(&LINEAR_KINDS, "linear"))
        .chain(rows(&FEATURE_KINDS, "features"))
        .collect()
}

fn parsed(kind: &str) -> Outcome<AnyKind> {
    kind.parse().map_err(Raised::from)
}

/// The full name of a kind or alias, and the sort of model that it is.
#[pyfunction]
pub fn sort_of(kind: &str) -> Outcome<(&'static str, &'static str)> {
    Ok(match parsed(kind)? {
        AnyKind::Rows(kind) => (kind.name(), "mixture"),
        AnyKind::Documents(kind) => (kind.name(), "documents"),
        AnyKind::Linear(kind) => (kind.name(), "linear"),
        AnyKind::Features(kind) => (kind.name(), "features"),
    })
}

/// The settings of a kind: name, what it takes, what it does.
#[pyfunction]
pub fn settings_of(kind: &str) -> Outcome<Vec<(&'static str, String, String)>> {
    fn row<S, K>(info: &SettingInfo<S, K>) -> (&'static str, String, String) {
        (info.name, info.takes.to_string(), info.help.to_string())
    }
    let of_text = || TextSetting::all().iter().map(|s| (s.name, s.takes.to_string(), s.help.to_string()));
    Ok(match parsed(kind)? {
        AnyKind::Rows(kind) => Settings::of_kind(kind).map(row).collect(),
        AnyKind::Documents(kind) => DocumentSettings::of_kind(kind).map(row).chain(of_text()).collect(),
        AnyKind::Linear(kind) => LinearChoices::of_kind(kind).map(row).chain(of_text()).collect(),
        AnyKind::Features(kind) => FeatureSettings::of_kind(kind).map(row).collect(),
    })
}

/// What the bytes of a model file say of it: kind, rows seen, columns, seed and settings.
#[pyfunction]
pub fn header<'py>(py: Python<'py>, bytes: &[u8]) -> Outcome<Bound<'py, PyDict>> {
    let header = read_header(bytes)?;
    let told = PyDict::new(py);
    told.set_item("kind", header.kind)?;
    told.set_item("n_seen", header.n_seen)?;
    told.set_item("columns", header.columns)?;
    told.set_item("seed", header.seed)?;
    told.set_item("settings", header.settings)?;
    Ok(told)
}
