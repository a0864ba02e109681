//! A million documents with labels, to the end: how labels are told along the stream, and what it costs.

use super::trial::{MODELS, told, with_labels};
use crate::error::ReproduceError;
use crate::experiment::Setting;
use crate::memory::resident;
use crate::outcome::Outcome;
use crate::table::Table;
use bayestream::data::{DocumentBuffer, Documents};
use bayestream::engine::DocumentLearner;
use bayestream::engine::bayespa::MedTopics;
use bayestream::metrics::accuracy;
use bayestream::synthetic::{LabelledShape, LabelledTopics, Labelling, PlantedShape};
use bayestream_plot::{Chart, grid};
use cpu_time::ProcessTime;

const N_DOCUMENTS: u64 = 1_000_000;
const BATCH: u64 = 10_000;
const LOOK: u64 = 100_000;
/// Held back before the stream, when the last label has not occurred yet, and after it.
const HELD_BACK: u64 = 2000;
/// The last label appears midway.
const LAST_APPEARS: u64 = HELD_BACK + N_DOCUMENTS / 2;
const NOISE: f64 = 0.1;
/// Rounds of the fold-in by the true topics.
const ROUNDS: usize = 50;

fn shape(noise: f64) -> LabelledShape {
    LabelledShape {
        n_labels: 20,
        topics_per_label: 2,
        n_common: 5,
        labelling: Labelling::Largest,
        noise,
        last_appears: LAST_APPEARS,
        topics: PlantedShape {
            n_words: 5000,
            eta: 0.02,
            zipf: 1.0,
            alpha: 0.06,
            mean_words: 60.0,
            ..PlantedShape::default()
        },
    }
}

/// What is seen of the stream after some of its documents.
struct Look {
    n: u64,
    n_labels: usize,
    accuracy: f64,
    /// Of the label that appears midway: the share of its documents that are given it.
    recall_of_last: Option<f64>,
    of_truth: f64,
    k: usize,
    /// Since the look before.
    rate: f64,
    resident: Option<f64>,
}

/// Documents that are not learnt, with labels that are all right.
struct HeldBack {
    documents: DocumentBuffer,
    labels: Vec<Vec<u32>>,
    of_truth: f64,
}

impl HeldBack {
    fn new(seed: u64, first: u64) -> HeldBack {
        let truth = LabelledTopics::new(&shape(0.0), seed);
        let (documents, labels) = truth.documents(first, HELD_BACK as usize);
        let of_truth = accuracy(&labels, &by_true_topics(&truth, &documents.documents(), first >= LAST_APPEARS));
        HeldBack { documents, labels, of_truth }
    }

    fn n_labels(&self) -> usize {
        self.labels.iter().flatten().max().map_or(0, |label| *label as usize + 1)
    }

    /// The share of documents that are given their label: all, and those with the last label of all.
    fn judge(&self, learner: &MedTopics) -> (f64, Option<f64>) {
        let given = told(learner, &self.documents.documents());
        let last = shape(0.0).n_labels as u32 - 1;
        let of_last: Vec<bool> = self
            .labels
            .iter()
            .zip(&given)
            .filter(|(own, _)| own.contains(&last))
            .map(|(own, given)| own == given)
            .collect();
        let recall = of_last.iter().filter(|right| **right).count() as f64 / of_last.len() as f64;
        (accuracy(&self.labels, &given), (!of_last.is_empty()).then_some(recall))
    }
}

/// Labels by shares of the true topics, folded in.
fn by_true_topics(truth: &LabelledTopics, documents: &Documents<'_>, with_last: bool) -> Vec<Vec<u32>> {
    let LabelledShape { n_labels, topics_per_label, n_common, topics: PlantedShape { alpha, .. }, .. } = shape(0.0);
    let n_labels = n_labels - usize::from(!with_last);
    let n_topics = n_common + n_labels * topics_per_label;
    let topics = &truth.planted.topics[..n_topics];
    let label = |(words, counts): (&[u32], &[u32])| {
        let mut theta = vec![1.0 / n_topics as f64; n_topics];
        for _ in 0..ROUNDS {
            let mut next = vec![alpha; n_topics];
            for (word, count) in words.iter().zip(counts) {
                let joint: Vec<f64> =
                    theta.iter().zip(topics).map(|(share, topic)| share * f64::from(topic[*word as usize])).collect();
                let total: f64 = joint.iter().sum();
                next.iter_mut()
                    .zip(&joint)
                    .for_each(|(n, p)| *n += f64::from(*count) * p / total.max(f64::MIN_POSITIVE));
            }
            let total: f64 = next.iter().sum();
            theta = next.into_iter().map(|n| n / total).collect();
        }
        let sums = theta[n_common..].chunks(topics_per_label).map(|own| own.iter().sum::<f64>());
        let best = sums.enumerate().max_by(|a, b| a.1.total_cmp(&b.1));
        best.map(|(label, _)| label as u32).into_iter().collect()
    };
    documents.iter().map(label).collect()
}

pub fn run(setting: &mut Setting<'_>) -> Result<Outcome, ReproduceError> {
    let seed = setting.seeds(9600..9601)[0];
    let truth = LabelledTopics::new(&shape(NOISE), seed);
    let [before, after] = [0, HELD_BACK + N_DOCUMENTS].map(|first| HeldBack::new(seed, first));
    let n_words = shape(NOISE).topics.n_words;
    let mut learner = MedTopics::new(&MODELS[0].ours(), seed, 0);
    let (mut looks, mut seconds, mut n_since) = (Vec::<Look>::new(), 0.0, 0);
    for n in (BATCH..=N_DOCUMENTS).step_by(BATCH as usize) {
        let (documents, labels) = truth.documents(HELD_BACK + n - BATCH, BATCH as usize);
        let documents = with_labels(documents, &labels);
        let clock = ProcessTime::now();
        learner.update(&documents.documents(), n_words);
        seconds += clock.elapsed().as_secs_f64();
        n_since += BATCH;
        if n == BATCH || n % LOOK == 0 {
            let held_back = if HELD_BACK + n <= LAST_APPEARS { &before } else { &after };
            let (accuracy, recall_of_last) = held_back.judge(&learner);
            (setting.progress)(&format!("million, {n} documents: accuracy {accuracy:.3}"));
            looks.push(Look {
                n,
                n_labels: held_back.n_labels(),
                accuracy,
                recall_of_last,
                of_truth: held_back.of_truth,
                k: learner.k_implemented(),
                rate: n_since as f64 / seconds,
                resident: resident(),
            });
            (seconds, n_since) = (0.0, 0);
        }
    }
    let told_before = learner.judgement().accuracy().unwrap_or(f64::NAN);
    let notes = notes(seed, told_before);
    Ok(Outcome { notes, tables: vec![table(&looks)], figures: vec![figure(&looks)], files: Vec::new() })
}

fn notes(seed: u64, told_before: f64) -> Vec<String> {
    let LabelledShape { n_labels, topics_per_label, n_common, topics, .. } = shape(NOISE);
    vec![format!(
        "A stream of a million documents of {} words on average (seed {seed}), with one of {n_labels} labels each: the one whose \
         {topics_per_label} topics have the largest share; {n_common} more topics say nothing about labels, and {} % of the labels are wrong. The last label \
         occurs in the second half only. Shared topics and Gibbs classifiers with default settings, on one thread, in batches of {BATCH}. Accuracy is of \
         {HELD_BACK} documents that are not learnt, whose labels are all right; beside it that of the true topics, folded in. \
         Of the documents of the stream that were judged before they were learnt, one in eight, {told_before:.3} were given the label that they came with. The last two \
         columns are of the machine at hand: documents learnt per second of processor time since the line before, drawing them not counted, and \
         memory of the whole program, a batch of documents included.",
        topics.mean_words,
        100.0 * NOISE,
    )]
}

fn table(looks: &[Look]) -> Table {
    let mut table = Table::new(
        "",
        "Along the stream",
        [
            "documents",
            "labels so far",
            "topics",
            "accuracy",
            "by the true topics",
            "documents of the last label, given it",
            "documents per CPU second",
            "resident MB",
        ],
    );
    for look in looks {
        table.row([
            look.n.to_string(),
            look.n_labels.to_string(),
            look.k.to_string(),
            format!("{:.3}", look.accuracy),
            format!("{:.3}", look.of_truth),
            look.recall_of_last.map_or(String::new(), |recall| format!("{recall:.3}")),
            format!("{:.0}", look.rate),
            look.resident.map_or("n/a".into(), |megabytes| format!("{megabytes:.0}")),
        ]);
    }
    table
}

fn figure(looks: &[Look]) -> (&'static str, String, bayestream_plot::SvgFigure) {
    let line = |value: &dyn Fn(&Look) -> f64| -> Vec<(f64, f64)> {
        looks.iter().map(|look| (look.n as f64, value(look))).collect()
    };
    let chart = |title: &str| Chart::new(title).size(400.0, 320.0).x_label("documents");
    let top = |points: &[(f64, f64)]| 1.25 * points.iter().map(|point| point.1).fold(0.0, f64::max);
    let told = chart("Accuracy on held-back documents")
        .y_range(0.5, 1.0)
        .line("learnt", &line(&|look| look.accuracy))
        .line("true topics", &line(&|look| look.of_truth));
    let rates = line(&|look| look.rate);
    let costs = chart("Documents per CPU second").y_range(0.0, top(&rates)).line("", &rates);
    let memory = line(&|look| look.resident.unwrap_or(f64::NAN));
    let memory_chart = chart("Resident memory, MB").y_range(0.0, top(&memory)).line("", &memory);
    let caption = "Accuracy, speed and memory along a million documents with labels".to_string();
    ("stream", caption, grid(&[told, costs, memory_chart], 3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn true_topics_tell_most_labels_and_the_last_label_comes_midway() {
        let [before, after] = [0, LAST_APPEARS + 7].map(|first| HeldBack::new(3, first));
        assert_eq!((before.n_labels(), after.n_labels()), (19, 20));
        assert!(before.of_truth > 0.7 && after.of_truth > 0.7, "{} {}", before.of_truth, after.of_truth);
    }
}
