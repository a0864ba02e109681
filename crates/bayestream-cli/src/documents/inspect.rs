//! `inspect` of documents: topics with their words, weights and trends.

use super::labels::{LabelEntry, Labels, LabelsEntry, TopicLabelEntry};
use crate::commands::{EventEntry, event_entry, setting_lines, setting_value};
use crate::error::Failure;
use crate::terminal::{self, aligned, short, thousands};
use bayestream::model::{DocumentModel, FORMAT_VERSION, TopicSnapshot};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Words that describe a topic in the table for people, and in JSON.
const WORDS_SHOWN: usize = 8;
const WORDS_LISTED: usize = 20;
/// Topics shown in the table for people.
const TOPICS_SHOWN: usize = 40;
/// A trend beyond this factor is worth an arrow.
const TREND: f64 = 1.5;

#[derive(Serialize)]
struct Document<'a> {
    format: u32,
    kind: &'static str,
    n_seen: u64,
    n_words: usize,
    k_realized: usize,
    k_implemented: usize,
    topics: Vec<TopicEntry<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    labels: Vec<LabelEntry<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    label_score: Option<LabelsEntry>,
    history: History,
    settings: BTreeMap<&'static str, Value>,
    log_score: LogScoreEntry,
    events: Vec<EventEntry>,
}

#[derive(Serialize)]
struct TopicEntry<'a> {
    id: String,
    weight: f64,
    trend: f64,
    born: u64,
    top_words: Vec<WordEntry<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    labels: Vec<TopicLabelEntry<'a>>,
    shares_over_time: Vec<f64>,
}

#[derive(Serialize)]
struct WordEntry<'a> {
    word: &'a str,
    probability: f64,
    relevance: f64,
}

#[derive(Serialize)]
struct History {
    /// Documents seen at the end of each stretch of `shares_over_time`.
    documents: Vec<u64>,
}

#[derive(Serialize)]
struct LogScoreEntry {
    prequential_mean_per_word: f64,
    n_words_scored: u64,
}

/// Shows a model of documents.
pub fn run(path: &str, model: &DocumentModel, json: bool) -> Result<(), Failure> {
    let snapshot = model.snapshot();
    match json {
        true => terminal::print_json(&document(model, &snapshot)),
        false => terminal::print(&for_people(path, model, &snapshot)),
    }
}

fn document<'a>(model: &'a DocumentModel, snapshot: &'a TopicSnapshot) -> Document<'a> {
    let labels = Labels::of(model);
    let kind = model.config().kind;
    let word = |w: bayestream::model::TopWord<'a>| WordEntry {
        word: w.word,
        probability: w.probability,
        relevance: w.relevance,
    };
    let topics = snapshot.topics.iter().map(|topic| TopicEntry {
        id: topic.id.to_string(),
        weight: topic.weight,
        trend: topic.trend,
        born: topic.born,
        top_words: snapshot.top_words(topic, WORDS_LISTED).into_iter().map(word).collect(),
        labels: labels.as_ref().map_or(Vec::new(), |labels| labels.entries_of_topic(topic.id)),
        shares_over_time: snapshot.shares_over_time(topic),
    });
    let settings = model.config().settings.list(kind);
    Document {
        format: FORMAT_VERSION,
        kind: kind.name(),
        n_seen: snapshot.n_seen,
        n_words: snapshot.n_words,
        k_realized: snapshot.k_realized(),
        k_implemented: snapshot.k_implemented,
        topics: topics.collect(),
        labels: labels.as_ref().map_or(Vec::new(), Labels::entries),
        label_score: LabelsEntry::of(model),
        history: History { documents: snapshot.history.documents() },
        settings: settings.into_iter().map(|(name, value)| (name, setting_value(&value))).collect(),
        log_score: LogScoreEntry {
            prequential_mean_per_word: snapshot.log_score.prequential_mean,
            n_words_scored: snapshot.log_score.n_scored,
        },
        events: snapshot.events.iter().map(event_entry).collect(),
    }
}

fn for_people(path: &str, model: &DocumentModel, snapshot: &TopicSnapshot) -> String {
    let mut out = String::new();
    let score = &snapshot.log_score;
    // Writing to a String cannot fail.
    let _ = writeln!(out, "{path}: {}", model.config().kind.info().summary);
    let _ = writeln!(out, "  kind        {}", model.config().kind);
    let _ = writeln!(out, "  documents   {}", thousands(snapshot.n_seen));
    let _ = writeln!(out, "  vocabulary  {} words", thousands(snapshot.n_words as u64));
    let held = thousands(snapshot.k_implemented as u64);
    let _ = writeln!(out, "  topics      {} ({held} held while learning)", snapshot.k_realized());
    let (mean, n) = (short(score.prequential_mean), thousands(score.n_scored));
    let _ = writeln!(out, "  log-score   {mean} nats a word, over {n} words scored before learnt\n");
    let labels = Labels::of(model);
    if let (Some(labels), Some(score)) = (&labels, LabelsEntry::of(model)) {
        let _ = writeln!(out, "{}\n", score.told());
        out += &labels.table(snapshot);
        out.push('\n');
    }
    out += &topic_table(snapshot, labels.as_ref());
    out += &setting_lines(model.config().settings.list(model.config().kind));
    out
}

/// The topics for people, the heaviest first.
pub fn topic_table(snapshot: &TopicSnapshot, labels: Option<&Labels<'_>>) -> String {
    if snapshot.topics.is_empty() {
        return "no topics yet: the model needs more documents\n".to_string();
    }
    let mut rows = vec![["id", "weight", "trend", "since", "words"].map(String::from).to_vec()];
    if labels.is_some() {
        rows[0].insert(4, "speaks for".to_string());
    }
    for topic in snapshot.topics.iter().take(TOPICS_SHOWN) {
        let words: Vec<&str> = snapshot.top_words(topic, WORDS_SHOWN).into_iter().map(|w| w.word).collect();
        rows.push(vec![
            topic.id.to_string(),
            format!("{:.4}", topic.weight),
            arrow(topic.trend),
            thousands(topic.born),
            words.join(" "),
        ]);
        if let (Some(labels), Some(row)) = (labels, rows.last_mut()) {
            row.insert(4, labels.told_of_topic(topic.id));
        }
    }
    let mut out = aligned(&rows);
    let n_more = snapshot.topics.len().saturating_sub(TOPICS_SHOWN);
    if n_more > 0 {
        let _ = writeln!(out, "  and {n_more} more: see --json");
    }
    out
}

/// Whether a topic's share grows or falls, and by what factor.
fn arrow(trend: f64) -> String {
    let sign = match trend {
        t if t >= TREND => "↑ ",
        t if t <= 1.0 / TREND => "↓ ",
        _ => "",
    };
    format!("{sign}{trend:.2}")
}
