//! `inspect`: what a model has learnt, for people or as JSON.

use crate::changes;
use crate::documents;
use crate::error::Failure;
use crate::features;
use crate::linear;
use crate::model_file::{self, AnyModel};
use crate::terminal::{self, aligned, counted, short, thousands};
use bayestream::model::{FORMAT_VERSION, Model};
use bayestream::outlier::DriftAlarm;
use bayestream::structure::{Cluster, Clustering, Component, Event, EventLog, LogScore, Snapshot};
use clap::Args;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Columns of a mean shown in the table for people.
const MEANS_SHOWN: usize = 6;
/// Components shown there.
const COMPONENTS_SHOWN: usize = 30;
/// Events shown there.
const EVENTS_SHOWN: usize = 8;
/// Drift alarms shown there.
const ALARMS_SHOWN: usize = 12;

/// Arguments of `inspect`.
#[derive(Args)]
pub struct InspectArgs {
    /// The model file.
    #[arg(value_name = "MODEL")]
    model: String,
    /// Print everything as one JSON document.
    #[arg(long)]
    json: bool,
    /// Leave out components with a smaller share of the rows than this, instead of the model's own setting.
    #[arg(long, value_name = "SHARE", value_parser = parse_share)]
    delta: Option<f64>,
}

fn parse_share(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(share) if (0.0..1.0).contains(&share) => Ok(share),
        _ => Err("expected a share in [0, 1)".to_string()),
    }
}

#[derive(Serialize)]
struct Document<'a> {
    format: u32,
    kind: &'static str,
    n_seen: u64,
    columns: &'a [String],
    k_realized: usize,
    k_implemented: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    full_at: Option<u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    counting: Vec<&'a str>,
    components: Vec<ComponentEntry<'a>>,
    clusters: Vec<ClusterEntry>,
    settings: BTreeMap<&'static str, Value>,
    log_score: LogScoreEntry,
    events: Vec<EventEntry>,
    drift_alarms: Vec<AlarmEntry<'a>>,
}

#[derive(Serialize)]
struct ClusterEntry {
    id: String,
    weight: f64,
    components: Vec<String>,
}

#[derive(Serialize)]
struct ComponentEntry<'a> {
    id: String,
    cluster: String,
    weight: f64,
    count: f64,
    mean: &'a [f64],
    covariance: Vec<&'a [f64]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    latent_dim: Option<usize>,
}

/// Log-scores of rows before they were learnt, in JSON.
#[derive(Serialize)]
pub struct LogScoreEntry {
    prequential_mean: f64,
    n_scored: u64,
}

impl From<&LogScore> for LogScoreEntry {
    fn from(score: &LogScore) -> LogScoreEntry {
        LogScoreEntry { prequential_mean: score.prequential_mean, n_scored: score.n_scored }
    }
}

/// An event in JSON.
#[derive(Serialize)]
pub struct EventEntry {
    row: u64,
    component: String,
    event: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    other: Option<String>,
}

#[derive(Serialize)]
struct AlarmEntry<'a> {
    row: u64,
    first_row: u64,
    change: &'static str,
    columns: Vec<&'a str>,
    strength: f64,
}

/// Shows a model.
pub fn run(args: InspectArgs) -> Result<(), Failure> {
    let model = match model_file::load_any(&args.model)? {
        AnyModel::Documents(model) => return documents::inspect::run(&args.model, &model, args.json),
        AnyModel::Linear(model) => return linear::inspect::run(&args.model, &model, args.json),
        AnyModel::Features(model) => return features::inspect::run(&args.model, &model, args.json),
        AnyModel::Rows(model) => model,
    };
    let snapshot = args.delta.map_or_else(|| model.snapshot(), |delta| model.snapshot_at(delta));
    match args.json {
        true => terminal::print_json(&document(&model, &snapshot)),
        false => terminal::print(&for_people(&args.model, &model, &snapshot)),
    }
}

fn document<'a>(model: &'a Model, snapshot: &'a Snapshot) -> Document<'a> {
    let kind = model.config().kind;
    let settings = model.config().settings.list(kind);
    let clusters = snapshot.clusters();
    let clustering = clustering(snapshot, &clusters);
    Document {
        format: FORMAT_VERSION,
        kind: kind.name(),
        n_seen: snapshot.n_seen,
        columns: &snapshot.columns,
        k_realized: snapshot.k_realized(),
        k_implemented: snapshot.k_implemented,
        full_at: model.full_at(),
        counting: model.counting_columns(),
        components: snapshot.components.iter().map(|component| component_entry(component, &clustering)).collect(),
        clusters: clusters.iter().map(cluster_entry).collect(),
        settings: settings.into_iter().map(|(name, value)| (name, setting_value(&value))).collect(),
        log_score: LogScoreEntry::from(&snapshot.log_score),
        events: snapshot.events.iter().map(event_entry).collect(),
        drift_alarms: model.drift_alarms().iter().map(|alarm| alarm_entry(alarm, model.columns())).collect(),
    }
}

fn clustering(snapshot: &Snapshot, clusters: &[Cluster]) -> Clustering {
    Clustering::new(clusters, snapshot.n_seen, snapshot.events.n_total())
}

fn cluster_entry(cluster: &Cluster) -> ClusterEntry {
    ClusterEntry {
        id: cluster.id.to_string(),
        weight: cluster.weight,
        components: cluster.components.iter().map(ToString::to_string).collect(),
    }
}

fn component_entry<'a>(component: &'a Component, clustering: &Clustering) -> ComponentEntry<'a> {
    ComponentEntry {
        id: component.id.to_string(),
        cluster: clustering.cluster_of(component.id).to_string(),
        weight: component.weight,
        count: component.count,
        mean: &component.mean,
        covariance: component.covariance.chunks_exact(component.mean.len().max(1)).collect(),
        latent_dim: component.latent_dim,
    }
}

/// An event as JSON has it.
pub fn event_entry(event: &Event) -> EventEntry {
    EventEntry {
        row: event.row,
        component: event.component.to_string(),
        event: event.what.name(),
        other: event.what.other().map(|id| id.to_string()),
    }
}

fn alarm_entry<'a>(alarm: &DriftAlarm, columns: &'a [String]) -> AlarmEntry<'a> {
    AlarmEntry {
        row: alarm.row,
        first_row: changes::first_row(alarm),
        change: changes::word(alarm.what),
        columns: changes::names(alarm.what, columns),
        strength: alarm.strength,
    }
}

/// A setting's value as JSON: a number where it is one, else a word.
pub fn setting_value(text: &str) -> Value {
    match text.parse::<u64>() {
        Ok(whole) => Value::from(whole),
        Err(_) => text.parse::<f64>().map_or_else(|_| Value::from(text), Value::from),
    }
}

fn for_people(path: &str, model: &Model, snapshot: &Snapshot) -> String {
    let mut out = String::new();
    let score = &snapshot.log_score;
    // Writing to a String cannot fail.
    let _ = writeln!(out, "{path}: {}", model.config().kind.info().summary);
    let _ = writeln!(out, "  kind        {}", model.config().kind);
    let _ = writeln!(out, "  rows seen   {}", thousands(snapshot.n_seen));
    let _ = writeln!(out, "  columns     {}: {}", snapshot.columns.len(), listed(&snapshot.columns, 12));
    let counting = model.counting_columns();
    if !counting.is_empty() {
        let _ = writeln!(out, "  counting    {}", terminal::told_counting(&counting));
    }
    let held = thousands(snapshot.k_implemented as u64);
    let most = model.config().settings.max_components;
    let full = model.full_at().map(|_| terminal::told_full(most)).unwrap_or_default();
    let clusters = snapshot.clusters();
    let components = counted(snapshot.k_realized() as u64, "component");
    let _ = writeln!(
        out,
        "  clusters    {} of {components} ({held} held while learning{full})",
        thousands(clusters.len() as u64)
    );
    let _ = writeln!(out, "  log-score   {}\n", told_log_score(score));
    out += &component_table(snapshot, &clustering(snapshot, &clusters));
    out += &alarm_lines(model);
    out += &event_lines(&snapshot.events);
    out += &setting_lines(model.config().settings.list(model.config().kind));
    out
}

/// How likely rows were before they were learnt, for people.
pub fn told_log_score(score: &LogScore) -> String {
    let mean = short(score.prequential_mean);
    format!("{mean} nats a row, over {} rows scored before learnt", thousands(score.n_scored))
}

/// The last events, for people.
pub fn event_lines(events: &EventLog) -> String {
    let mut out = String::new();
    if events.n_total() > 0 {
        let _ = writeln!(out, "\nlast of {} events", thousands(events.n_total()));
        let kept = events.iter();
        let n_hidden = kept.len().saturating_sub(EVENTS_SHOWN);
        for event in kept.skip(n_hidden) {
            let other = event.what.other().map(|id| format!(" {id}")).unwrap_or_default();
            let _ = writeln!(
                out,
                "  row {:>12}  {:8} {}{other}",
                thousands(event.row),
                event.component.to_string(),
                event.what.name()
            );
        }
    }
    out
}

/// The settings, for people.
pub fn setting_lines(settings: Vec<(&'static str, String)>) -> String {
    let mut out = "\nsettings\n".to_string();
    for (name, value) in settings {
        let _ = writeln!(out, "  {name}={value}");
    }
    out
}

/// When the watched stream changed, and how.
fn alarm_lines(model: &Model) -> String {
    let alarms = model.drift_alarms();
    let mut out = String::new();
    if !alarms.is_empty() {
        let _ = writeln!(out, "\ndrift noticed while watching");
    }
    let n_hidden = alarms.len().saturating_sub(ALARMS_SHOWN);
    if n_hidden > 0 {
        let _ = writeln!(out, "  {n_hidden} earlier: see --json");
    }
    for alarm in &alarms[n_hidden..] {
        let (row, first) = (thousands(alarm.row), thousands(changes::first_row(alarm)));
        let what = changes::told(alarm.what, model.columns());
        let _ = writeln!(out, "  row {row:>12}  {what}, since about row {first}");
    }
    out
}

fn component_table(snapshot: &Snapshot, clustering: &Clustering) -> String {
    if snapshot.components.is_empty() {
        return "no components yet: the model needs more rows\n".to_string();
    }
    let has_dims = snapshot.components.iter().any(|c| c.latent_dim.is_some());
    let n_means = snapshot.columns.len().min(MEANS_SHOWN);
    let mut header: Vec<String> = ["id", "cluster", "weight", "rows"].map(String::from).to_vec();
    if has_dims {
        header.push("dim".to_string());
    }
    header.extend(snapshot.columns[..n_means].iter().map(|name| shortened(name, 14)));
    let mut rows = vec![header];
    for component in snapshot.components.iter().take(COMPONENTS_SHOWN) {
        let mut row = vec![
            component.id.to_string(),
            clustering.cluster_of(component.id).to_string(),
            format!("{:.4}", component.weight),
            thousands(component.count.round().max(0.0) as u64),
        ];
        if has_dims {
            row.push(component.latent_dim.map_or("–".to_string(), |dim| dim.to_string()));
        }
        row.extend(component.mean[..n_means].iter().map(|m| short(*m)));
        rows.push(row);
    }
    let mut out = aligned(&rows);
    let n_more = snapshot.components.len().saturating_sub(COMPONENTS_SHOWN);
    if n_more > 0 {
        let _ = writeln!(out, "  and {n_more} more: see --json");
    }
    if n_means < snapshot.columns.len() {
        let _ = writeln!(out, "  (means of the first {n_means} of {} columns: see --json)", snapshot.columns.len());
    }
    out
}

fn shortened(text: &str, longest: usize) -> String {
    match text.chars().count() <= longest {
        true => text.to_string(),
        false => text.chars().take(longest - 1).chain(['…']).collect(),
    }
}

/// The first names of a list.
pub fn listed(names: &[String], most: usize) -> String {
    let shown = names[..names.len().min(most)].join(", ");
    match names.len() > most {
        true => format!("{shown}, …"),
        false => shown,
    }
}
