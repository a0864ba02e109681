//! `inspect` of features: how many rows have each, and what it adds to which columns.

use crate::commands::{
    EventEntry, LogScoreEntry, event_entry, event_lines, listed, setting_lines, setting_value, told_log_score,
};
use crate::error::Failure;
use crate::terminal::{self, aligned, short, thousands};
use bayestream::model::{FORMAT_VERSION, FeatureModel, FeatureSnapshot};
use bayestream::structure::Feature;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Features and columns of each in the table for people.
const FEATURES_SHOWN: usize = 30;
const COLUMNS_SHOWN: usize = 5;
/// Columns whose noise is shown there.
const NOISES_SHOWN: usize = 12;

#[derive(Serialize)]
struct Document<'a> {
    format: u32,
    kind: &'static str,
    n_seen: u64,
    columns: &'a [String],
    k_realized: usize,
    k_implemented: usize,
    offset: &'a [f64],
    noise: &'a [f64],
    features: Vec<FeatureEntry<'a>>,
    settings: BTreeMap<&'static str, Value>,
    log_score: LogScoreEntry,
    events: Vec<EventEntry>,
}

#[derive(Serialize)]
struct FeatureEntry<'a> {
    id: String,
    share: f64,
    weights: &'a [f64],
}

/// Shows a model of features.
pub fn run(path: &str, model: &FeatureModel, json: bool) -> Result<(), Failure> {
    let snapshot = model.snapshot();
    match json {
        true => terminal::print_json(&document(model, &snapshot)),
        false => terminal::print(&for_people(path, model, &snapshot)),
    }
}

fn document<'a>(model: &'a FeatureModel, snapshot: &'a FeatureSnapshot) -> Document<'a> {
    let kind = model.config().kind;
    let feature = |f: &'a Feature| FeatureEntry { id: f.id.to_string(), share: f.share, weights: &f.weights };
    let settings = model.config().settings.list(kind);
    Document {
        format: FORMAT_VERSION,
        kind: kind.name(),
        n_seen: snapshot.n_seen,
        columns: &snapshot.columns,
        k_realized: snapshot.k_realized(),
        k_implemented: snapshot.k_implemented,
        offset: &snapshot.set.offset,
        noise: &snapshot.set.noise,
        features: snapshot.set.features.iter().map(feature).collect(),
        settings: settings.into_iter().map(|(name, value)| (name, setting_value(&value))).collect(),
        log_score: LogScoreEntry::from(&snapshot.log_score),
        events: snapshot.events.iter().map(event_entry).collect(),
    }
}

fn for_people(path: &str, model: &FeatureModel, snapshot: &FeatureSnapshot) -> String {
    let kind = model.config().kind;
    let mut out = String::new();
    // Writing to a String cannot fail.
    let _ = writeln!(out, "{path}: {}", kind.info().summary);
    let _ = writeln!(out, "  kind        {kind}");
    let _ = writeln!(out, "  rows seen   {}", thousands(snapshot.n_seen));
    let _ = writeln!(out, "  columns     {}: {}", snapshot.columns.len(), listed(&snapshot.columns, 12));
    let held = thousands(snapshot.k_implemented as u64);
    let _ = writeln!(out, "  features    {} ({held} held while learning)", snapshot.k_realized());
    let _ = writeln!(out, "  log-score   {}", told_log_score(&snapshot.log_score));
    let _ = writeln!(out, "  noise       {}\n", noise(snapshot));
    out += &feature_table(snapshot);
    out += &event_lines(&snapshot.events);
    out += &setting_lines(model.config().settings.list(kind));
    out
}

/// The standard deviation of the noise in each column.
fn noise(snapshot: &FeatureSnapshot) -> String {
    let columns = snapshot.columns.iter().zip(&snapshot.set.noise);
    let told: Vec<String> = columns.map(|(name, variance)| format!("{name} ±{}", short(variance.sqrt()))).collect();
    listed(&told, NOISES_SHOWN)
}

fn feature_table(snapshot: &FeatureSnapshot) -> String {
    let features = &snapshot.set.features;
    if features.is_empty() {
        return match snapshot.has_model() {
            true => "no features: columns vary independently of each other, as far as these rows tell\n".to_string(),
            false => "no features yet: the model needs more rows\n".to_string(),
        };
    }
    let mut rows = vec![["id", "share", "adds most to"].map(String::from).to_vec()];
    for feature in features.iter().take(FEATURES_SHOWN) {
        let strongest = snapshot.strongest(feature, COLUMNS_SHOWN);
        let adds: Vec<String> =
            strongest.iter().map(|(column, weight)| format!("{column} {}", signed(*weight))).collect();
        rows.push(vec![feature.id.to_string(), format!("{:.4}", feature.share), adds.join(", ")]);
    }
    let mut out = aligned(&rows);
    let n_more = features.len().saturating_sub(FEATURES_SHOWN);
    if n_more > 0 {
        let _ = writeln!(out, "  and {n_more} more: see --json");
    }
    out
}

fn signed(weight: f64) -> String {
    let sign = if weight > 0.0 { "+" } else { "" };
    format!("{sign}{}", short(weight))
}
