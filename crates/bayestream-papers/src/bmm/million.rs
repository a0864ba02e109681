//! A million documents of planted topics, to the end: what is found along the stream, and what it costs.

use super::planted::{FOUND_ABOVE, Found};
use crate::error::ReproduceError;
use crate::experiment::Setting;
use crate::memory::resident;
use crate::outcome::Outcome;
use crate::table::Table;
use crate::topics::Judge;
use bayestream::data::DocumentBuffer;
use bayestream::engine::DocumentLearner;
use bayestream::engine::topics::{MmHdp, TopicSettings};
use bayestream::synthetic::{PlantedShape, PlantedTopics};
use bayestream_plot::{Chart, grid};
use cpu_time::ProcessTime;

const N_DOCUMENTS: u64 = 1_000_000;
const BATCH: u64 = 10_000;
const LOOK: u64 = 100_000;
const N_TOPICS: usize = 50;
/// Held back before the stream, when the last topic has not occurred yet, and after it.
const HELD_BACK: u64 = 2000;
/// The last topic appears midway.
const LAST_APPEARS: u64 = HELD_BACK + N_DOCUMENTS / 2;

/// What is seen of the stream after some of its documents.
struct Look {
    n: u64,
    n_present: usize,
    found: Found,
    /// Places of the master model.
    k: usize,
    perplexity: f64,
    of_truth: f64,
    /// Since the look before.
    rate: f64,
    /// Of the whole program, in MB, where the system tells.
    resident: Option<f64>,
}

fn shape() -> PlantedShape {
    PlantedShape {
        n_topics: N_TOPICS,
        n_words: 5000,
        eta: 0.02,
        zipf: 1.0,
        alpha: 0.06,
        mean_words: 60.0,
        last_appears: LAST_APPEARS,
    }
}

/// Documents that are not learnt, and which of the topics occur in them.
struct HeldBack {
    documents: DocumentBuffer,
    n_present: usize,
    of_truth: f64,
}

impl HeldBack {
    fn new(truth: &PlantedTopics, first: u64) -> HeldBack {
        let n_present = if first < truth.last_appears { N_TOPICS - 1 } else { N_TOPICS };
        let documents = truth.documents(first, HELD_BACK as usize);
        let mut held_back = HeldBack { documents, n_present, of_truth: f64::NAN };
        held_back.of_truth = held_back.perplexity(&truth.topics[..n_present], &vec![truth.alpha; n_present]);
        held_back
    }

    fn perplexity(&self, topics: &[Vec<f32>], alpha: &[f64]) -> f64 {
        let documents = self.documents.documents();
        Judge::new(documents, documents, shape().n_words).perplexity(topics, alpha)
    }
}

pub fn run(setting: &mut Setting<'_>) -> Result<Outcome, ReproduceError> {
    let seed = setting.seeds(9490..9491)[0];
    let truth = PlantedTopics::new(&shape(), seed);
    let [before, after] = [0, HELD_BACK + N_DOCUMENTS].map(|first| HeldBack::new(&truth, first));
    let mut learner = MmHdp::new(&TopicSettings::default(), seed, 0);
    let (mut looks, mut seconds, mut n_since) = (Vec::<Look>::new(), 0.0, 0);
    for n in (BATCH..=N_DOCUMENTS).step_by(BATCH as usize) {
        let documents = truth.documents(HELD_BACK + n - BATCH, BATCH as usize);
        let clock = ProcessTime::now();
        learner.update(&documents.documents(), shape().n_words);
        seconds += clock.elapsed().as_secs_f64();
        n_since += BATCH;
        if n == BATCH || n % LOOK == 0 {
            let held_back = if HELD_BACK + n <= LAST_APPEARS { &before } else { &after };
            let all = learner.all_topics(shape().n_words);
            let look = Look {
                n,
                n_present: held_back.n_present,
                found: Found::of(&learner, &truth, held_back.n_present),
                k: learner.k_implemented(),
                perplexity: held_back.perplexity(&all.words, &all.alpha),
                of_truth: held_back.of_truth,
                rate: n_since as f64 / seconds,
                resident: resident(),
            };
            (setting.progress)(&format!(
                "million, {n} documents: {} of {} topics found, perplexity {:.1}",
                look.found.n_found, look.n_present, look.perplexity
            ));
            looks.push(look);
            (seconds, n_since) = (0.0, 0);
        }
    }
    Ok(Outcome { notes: notes(seed), tables: vec![table(&looks)], figures: vec![figure(&looks)], files: Vec::new() })
}

fn notes(seed: u64) -> Vec<String> {
    let PlantedShape { n_words, mean_words, .. } = shape();
    vec![format!(
        "A stream of a million documents of {mean_words} words on average (seed {seed}), from {N_TOPICS} topics over {n_words} words whose \
         frequencies fall as a language's do; the last topic occurs in the second half only. `topics/mm-hdp` with default \
         settings, in batches of {BATCH}. A planted topic is found when one that is shown overlaps it by more than {FOUND_ABOVE} (Bhattacharyya \
         coefficient). Perplexity is of half the words of each of {HELD_BACK} documents that are not learnt, given the other half; beside it \
         that of the true topics. The last two columns are of the machine at hand: documents learnt per second of processor \
         time since the line before, drawing them not counted, and memory of the whole program, a batch of documents included."
    )]
}

fn table(looks: &[Look]) -> Table {
    let mut table = Table::new(
        "",
        "Along the stream",
        [
            "documents",
            "topics so far",
            "found",
            "mean overlap",
            "shown",
            "places",
            "perplexity",
            "of the truth",
            "documents per CPU second",
            "resident MB",
        ],
    );
    for look in looks {
        table.row([
            look.n.to_string(),
            look.n_present.to_string(),
            look.found.n_found.to_string(),
            format!("{:.3}", look.found.overlap),
            look.found.n_shown.to_string(),
            look.k.to_string(),
            format!("{:.1}", look.perplexity),
            format!("{:.1}", look.of_truth),
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
    let found = chart("Topics")
        .y_range(0.0, 1.25 * N_TOPICS as f64)
        .line("occurred so far", &line(&|look| look.n_present as f64))
        .line("shown", &line(&|look| look.found.n_shown as f64))
        .line("found", &line(&|look| look.found.n_found as f64));
    let perplexities = chart("Perplexity of held-back words")
        .line("learnt", &line(&|look| look.perplexity))
        .line("true topics", &line(&|look| look.of_truth));
    let rates = line(&|look| look.rate);
    let costs = chart("Documents per CPU second").y_range(0.0, top(&rates)).line("", &rates);
    let caption = "Topics found, perplexity and speed along a million documents".to_string();
    ("stream", caption, grid(&[found, perplexities, costs], 3))
}
