//! Labels of documents: how well they were told, which topics speak for each, and what one document says of them.

use crate::terminal::{aligned, counted, percent, short, thousands};
use bayestream::model::{DocumentModel, TopicSnapshot};
use bayestream::structure::{LabelSummary, LabelTopic};
use serde::Serialize;

/// Topics of a label, and labels of a topic, in tables for people.
const SHOWN: usize = 3;
/// Words of a label's topics in tables for people.
const WORDS_SHOWN: usize = 6;
/// Labels shown in the table for people.
const LABELS_SHOWN: usize = 60;

/// How well labels were told before documents were learnt.
#[derive(Serialize)]
pub struct LabelsEntry {
    n_labels: usize,
    several: bool,
    n_judged: u64,
    accuracy: Option<f64>,
    micro_f1: Option<f64>,
}

impl LabelsEntry {
    /// None for models without labels.
    pub fn of(model: &DocumentModel) -> Option<LabelsEntry> {
        let judgement = model.judgement()?;
        Some(LabelsEntry {
            n_labels: model.labels().len(),
            several: model.tells_several(),
            n_judged: judgement.n_documents,
            accuracy: judgement.accuracy(),
            micro_f1: judgement.micro_f1(),
        })
    }

    /// In words.
    pub fn told(&self) -> String {
        let n_labels = counted(self.n_labels as u64, "label");
        let how = match (self.accuracy, self.micro_f1) {
            (Some(accuracy), Some(f1)) if self.several => {
                format!("F1 {}, all labels right for {}", short(f1), percent(accuracy))
            }
            (Some(accuracy), _) => format!("{} right", percent(accuracy)),
            _ => return format!("{n_labels}; no document was judged before it was learnt"),
        };
        format!("{n_labels}: {how}, of {} judged before they were learnt", counted(self.n_judged, "document"))
    }
}

/// A label in `inspect --json`.
#[derive(Serialize)]
pub struct LabelEntry<'a> {
    label: &'a str,
    n_documents: u64,
    constant: f64,
    topics: Vec<LabelTopicEntry>,
    course: Vec<MomentEntry>,
}

#[derive(Serialize)]
struct LabelTopicEntry {
    id: String,
    weight: f64,
    share: f64,
}

/// The documents of a label in one stretch of the stream.
#[derive(Serialize)]
struct MomentEntry {
    n_seen: u64,
    n_documents: u64,
    effective_topics: f64,
}

/// A label that a topic speaks for, in `inspect --json`.
#[derive(Serialize)]
pub struct TopicLabelEntry<'a> {
    label: &'a str,
    weight: f64,
}

/// The labels of a model, by number.
pub struct Labels<'a> {
    names: &'a [String],
    summaries: Vec<LabelSummary>,
}

impl<'a> Labels<'a> {
    /// The labels of a model; none for models without.
    pub fn of(model: &'a DocumentModel) -> Option<Labels<'a>> {
        let summaries = model.label_summaries();
        (!summaries.is_empty()).then_some(Labels { names: model.labels().names(), summaries })
    }

    /// The labels with how the topics of their documents looked along the stream.
    pub fn summaries(&self) -> impl Iterator<Item = (&'a str, &LabelSummary)> {
        self.summaries.iter().map(|summary| (self.names[summary.label as usize].as_str(), summary))
    }

    /// For `inspect --json`.
    pub fn entries(&self) -> Vec<LabelEntry<'a>> {
        let topic = |t: &LabelTopic| LabelTopicEntry { id: t.id.to_string(), weight: t.weight, share: t.share };
        self.summaries()
            .map(|(label, summary)| LabelEntry {
                label,
                n_documents: summary.n_documents,
                constant: summary.constant,
                topics: by_share(summary).iter().map(|t| topic(t)).collect(),
                course: summary
                    .course
                    .iter()
                    .map(|moment| MomentEntry {
                        n_seen: moment.n_seen,
                        n_documents: moment.n_documents,
                        effective_topics: moment.effective_topics(),
                    })
                    .collect(),
            })
            .collect()
    }

    /// The labels that a topic speaks for, the loudest first.
    fn of_topic(&self, id: bayestream::structure::ComponentId) -> Vec<(&'a str, f64)> {
        let weight = |summary: &LabelSummary| {
            let topic = summary.topics.iter().find(|topic| topic.id == id)?;
            (topic.weight > 0.0).then_some((self.names[summary.label as usize].as_str(), topic.weight))
        };
        let mut labels: Vec<(&str, f64)> = self.summaries.iter().filter_map(weight).collect();
        labels.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(b.0)));
        labels
    }

    /// The same for `inspect --json`.
    pub fn entries_of_topic(&self, id: bayestream::structure::ComponentId) -> Vec<TopicLabelEntry<'a>> {
        self.of_topic(id).into_iter().map(|(label, weight)| TopicLabelEntry { label, weight }).collect()
    }

    /// The labels that a topic speaks for, for people.
    pub fn told_of_topic(&self, id: bayestream::structure::ComponentId) -> String {
        let named: Vec<&str> = self.of_topic(id).into_iter().take(SHOWN).map(|(label, _)| label).collect();
        named.join(", ")
    }

    /// For people: each label with its topics and their words, and how many topics its documents had at first and have now.
    pub fn table(&self, snapshot: &TopicSnapshot) -> String {
        let header = ["label", "documents", "topics at first", "now", "its topics", "words"];
        let mut rows = vec![header.map(String::from).to_vec()];
        for (label, summary) in self.summaries().take(LABELS_SHOWN) {
            let topics = by_share(summary);
            let told = topics.iter().take(SHOWN).filter(|t| t.share >= 0.01);
            let told: Vec<String> = told.map(|t| format!("{} {}", t.id, percent(t.share))).collect();
            let effective = |at: Option<&bayestream::structure::LabelMoment>| {
                at.map_or(String::new(), |moment| format!("{:.1}", moment.effective_topics()))
            };
            let words = topics.first().and_then(|t| snapshot.topics.iter().find(|topic| topic.id == t.id));
            let words = words.map_or(Vec::new(), |topic| snapshot.top_words(topic, WORDS_SHOWN));
            rows.push(vec![
                label.to_string(),
                thousands(summary.n_documents),
                effective(summary.course.first()),
                effective(summary.course.last()),
                told.join(", "),
                words.iter().map(|w| w.word).collect::<Vec<_>>().join(" "),
            ]);
        }
        let mut out = aligned(&rows);
        let n_more = self.summaries.len().saturating_sub(LABELS_SHOWN);
        if n_more > 0 {
            out += &format!("  and {n_more} more: see --json\n");
        }
        out
    }
}

/// The topics of a label, those that its documents have most of first.
fn by_share(summary: &LabelSummary) -> Vec<&LabelTopic> {
    let mut topics: Vec<&LabelTopic> = summary.topics.iter().collect();
    topics.sort_by(|a, b| b.share.total_cmp(&a.share).then(a.id.cmp(&b.id)));
    topics
}
