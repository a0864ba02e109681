//! `inspect` of labelled rows and documents: labels, and the features that speak for and against each.

use super::{ForetoldEntry, fit::told};
use crate::commands::{setting_lines, setting_value};
use crate::error::Failure;
use crate::terminal::{self, aligned, counted, short, thousands};
use bayestream::engine::linear::TargetChoice;
use bayestream::model::{FORMAT_VERSION, FeatureWeight, LinearModel, LinearSnapshot};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Features of a label in the table for people, and in JSON.
const FEATURES_SHOWN: usize = 5;
const FEATURES_LISTED: usize = 20;
/// Labels shown in the table for people.
const LABELS_SHOWN: usize = 40;

#[derive(Serialize)]
struct Document<'a> {
    format: u32,
    kind: &'static str,
    n_seen: u64,
    n_unlabelled: u64,
    n_features: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    columns: Option<&'a [String]>,
    label_column: Option<&'a str>,
    labels: Vec<LabelEntry<'a>>,
    score: ForetoldEntry,
    settings: BTreeMap<&'static str, Value>,
}

#[derive(Serialize)]
struct LabelEntry<'a> {
    /// None where a number is told.
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<&'a str>,
    n_rows: u64,
    bias: f64,
    speaking_for: Vec<WeightEntry<'a>>,
    speaking_against: Vec<WeightEntry<'a>>,
}

#[derive(Serialize)]
struct WeightEntry<'a> {
    feature: &'a str,
    weight: f64,
}

/// Shows a model of labelled rows.
pub fn run(path: &str, model: &LinearModel, json: bool) -> Result<(), Failure> {
    let snapshot = model.snapshot();
    match json {
        true => terminal::print_json(&document(model, &snapshot)),
        false => terminal::print(&for_people(path, model, &snapshot)),
    }
}

fn document<'a>(model: &'a LinearModel, snapshot: &'a LinearSnapshot) -> Document<'a> {
    let config = model.config();
    let entries = |weights: Vec<FeatureWeight<'a>>| -> Vec<WeightEntry<'a>> {
        weights.into_iter().map(|w| WeightEntry { feature: w.feature, weight: w.weight }).collect()
    };
    let label = |label: &'a bayestream::model::LabelSummary| LabelEntry {
        label: (config.settings.target != TargetChoice::Number).then_some(label.name.as_str()),
        n_rows: label.n_rows,
        bias: label.bias,
        speaking_for: entries(snapshot.speaking_for(label, FEATURES_LISTED)),
        speaking_against: entries(snapshot.speaking_against(label, FEATURES_LISTED)),
    };
    let settings = config.settings.list(config.kind);
    Document {
        format: FORMAT_VERSION,
        kind: config.kind.name(),
        n_seen: snapshot.n_seen,
        n_unlabelled: snapshot.n_unlabelled,
        n_features: snapshot.n_features,
        columns: (!model.reads_documents()).then_some(config.columns.as_slice()),
        label_column: config.label_column.as_deref(),
        labels: snapshot.labels.iter().map(label).collect(),
        score: ForetoldEntry::of(model),
        settings: settings.into_iter().map(|(name, value)| (name, setting_value(&value))).collect(),
    }
}

fn for_people(path: &str, model: &LinearModel, snapshot: &LinearSnapshot) -> String {
    let mut out = String::new();
    let config = model.config();
    let unit = if model.reads_documents() { "word" } else { "column" };
    // Writing to a String cannot fail.
    let _ = writeln!(out, "{path}: {}", config.kind.info().summary);
    let _ = writeln!(out, "  kind        {}", config.kind);
    let unlabelled = match snapshot.n_unlabelled {
        0 => String::new(),
        n => format!(" ({} without a label)", thousands(n)),
    };
    let _ = writeln!(out, "  rows seen   {}{unlabelled}", thousands(snapshot.n_seen));
    let _ = writeln!(out, "  features    {}", counted(snapshot.n_features as u64, unit));
    match config.settings.target {
        TargetChoice::Number => {
            let (mean, deviation) = (short(snapshot.mean), short(snapshot.deviation));
            let _ = writeln!(out, "  numbers     mean {mean}, deviation {deviation}");
        }
        _ => {
            let _ = writeln!(out, "  labels      {}", thousands(snapshot.labels.len() as u64));
        }
    }
    let n = thousands(snapshot.foretold.n);
    let _ = writeln!(out, "  foretold    {}, over {n} rows before they were learnt\n", told(model, snapshot));
    out += &label_table(model, snapshot);
    out += &setting_lines(config.settings.list(config.kind));
    out
}

fn label_table(model: &LinearModel, snapshot: &LinearSnapshot) -> String {
    if snapshot.labels.is_empty() {
        return "no labels yet: the model needs labelled rows\n".to_string();
    }
    let is_number = model.config().settings.target == TargetChoice::Number;
    let listed = |weights: Vec<FeatureWeight<'_>>| -> String {
        let one = |w: &FeatureWeight<'_>| format!("{} {}", w.feature, short(w.weight));
        weights.iter().map(one).collect::<Vec<_>>().join(", ")
    };
    let mut rows = vec![["label", "rows", "bias", "for", "against"].map(String::from).to_vec()];
    for label in snapshot.labels.iter().take(LABELS_SHOWN) {
        rows.push(vec![
            if is_number { "(number)".to_string() } else { label.name.clone() },
            thousands(label.n_rows),
            short(label.bias),
            listed(snapshot.speaking_for(label, FEATURES_SHOWN)),
            listed(snapshot.speaking_against(label, FEATURES_SHOWN)),
        ]);
    }
    let mut out = aligned(&rows);
    let n_more = snapshot.labels.len().saturating_sub(LABELS_SHOWN);
    if n_more > 0 {
        let _ = writeln!(out, "  and {n_more} more: see --json");
    }
    out
}
