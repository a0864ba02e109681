//! Pictures of topics: their shares along the stream, and the words of each.

use super::labels::Labels;
use crate::error::Failure;
use crate::picture_file::PictureFile;
use crate::pictures::color_of;
use crate::terminal::{self, counted, short};
use bayestream::model::{DocumentModel, TopicSnapshot};
use bayestream::structure::Topic;
use bayestream_plot::{Chart, Page, SvgFigure, grid};

/// Topics drawn with their words, and lines in the picture of shares.
const TOPICS_DRAWN: usize = 12;
const WORDS_DRAWN: usize = 10;
/// Lines in the picture of labels.
const LABELS_DRAWN: usize = 20;

/// Draws the topics of a model.
pub fn run(path: &str, model: &DocumentModel, output: &str) -> Result<(), Failure> {
    let (kind, snapshot) = (model.config().kind.name(), &model.snapshot());
    let picture = PictureFile::at(output)?;
    let mut panels = vec![sizes_over_time(snapshot, &[]).size(820.0, 420.0)];
    let sparsity = Labels::of(model).map(|labels| topics_per_label(&labels));
    panels.extend(sparsity.clone().map(|chart| chart.size(820.0, 420.0)));
    panels.extend(snapshot.topics.iter().take(TOPICS_DRAWN).map(|topic| words(snapshot, topic).size(400.0, 320.0)));
    picture.write(grid(&panels, 3), |_| page(path, kind, snapshot, sparsity))?;
    terminal::note(format!("{output}: {}", counted(snapshot.k_realized() as u64, "topic")));
    Ok(())
}

/// The heaviest topics' shares of the words, stretch by stretch; marks name documents worth noticing.
pub fn sizes_over_time(snapshot: &TopicSnapshot, also: &[&Topic]) -> Chart {
    let ends = snapshot.history.documents();
    let mut chart = Chart::new("Topic sizes over time").x_label("documents").y_label("share of the words");
    let mut drawn: Vec<&Topic> = snapshot.topics.iter().take(TOPICS_DRAWN / 2).collect();
    drawn.extend(
        also.iter().filter(|topic| !drawn.iter().any(|other| other.id == topic.id)).copied().collect::<Vec<_>>(),
    );
    for topic in drawn {
        let shares = snapshot.shares_over_time(topic);
        let points: Vec<(f64, f64)> = ends.iter().zip(shares).map(|(n, share)| (*n as f64, share)).collect();
        chart = chart.line(title(snapshot, topic, 3), &points).color(color_of(topic.id));
    }
    chart.size(900.0, 360.0)
}

/// How many topics the documents of each label have, stretch by stretch: labels whose topics have become their own have
/// few.
fn topics_per_label(labels: &Labels<'_>) -> Chart {
    let mut chart =
        Chart::new("Topics of each label").x_label("documents").y_label("effective number of topics").log_x();
    for (label, summary) in labels.summaries().take(LABELS_DRAWN) {
        let points: Vec<(f64, f64)> =
            summary.course.iter().map(|moment| (moment.n_seen as f64, moment.effective_topics())).collect();
        chart = chart.line(label, &points);
    }
    chart.size(900.0, 360.0)
}

/// The words that describe a topic, as bars of their probability.
pub fn words(snapshot: &TopicSnapshot, topic: &Topic) -> Chart {
    let found = snapshot.top_words(topic, WORDS_DRAWN);
    let bars: Vec<(&str, f64)> = found.iter().map(|w| (w.word, w.probability)).collect();
    Chart::new(format!("{}: {:.1} % of the words", topic.id, 100.0 * topic.weight))
        .x_label("probability in the topic")
        .bars("", &bars)
        .color(color_of(topic.id))
}

fn title(snapshot: &TopicSnapshot, topic: &Topic, n: usize) -> String {
    let words: Vec<&str> = snapshot.top_words(topic, n).into_iter().map(|w| w.word).collect();
    format!("{} {}", topic.id, words.join(" "))
}

fn page(path: &str, kind: &str, snapshot: &TopicSnapshot, sparsity: Option<Chart>) -> Page {
    let headers = ["topic", "share", "trend", "since document", "words"].map(String::from);
    let rows: Vec<Vec<String>> = snapshot
        .topics
        .iter()
        .map(|topic| {
            let words: Vec<&str> = snapshot.top_words(topic, WORDS_DRAWN).into_iter().map(|w| w.word).collect();
            vec![
                topic.id.to_string(),
                format!("{:.4}", topic.weight),
                short(topic.trend),
                topic.born.to_string(),
                words.join(" "),
            ]
        })
        .collect();
    let bars: Vec<Chart> =
        snapshot.topics.iter().take(TOPICS_DRAWN).map(|topic| words(snapshot, topic).size(400.0, 320.0)).collect();
    let bars: SvgFigure = grid(&bars, 3);
    let page = Page::new(format!("{path} – {kind}"))
        .lead(format!(
            "{} after {}; log-score {} nats a word.",
            counted(snapshot.k_realized() as u64, "topic"),
            counted(snapshot.n_seen, "document"),
            short(snapshot.log_score.prequential_mean)
        ))
        .chart(sizes_over_time(snapshot, &[]), "Shares of the heaviest topics among the words, along the stream.");
    let page = match sparsity {
        Some(chart) => {
            page.chart(chart, "How many topics the documents of each label have, as if all were of one size.")
        }
        None => page,
    };
    page.chart(bars, "Words that describe the heaviest topics, by relevance; bars are their probability in the topic.")
        .section("Topics", "")
        .table(&headers, &rows)
}
