//! Section 5.3: LDA in one pass over Reuters.

use super::words::heaviest;
use crate::corpus::Corpus;
use crate::error::ReproduceError;
use crate::experiment::Setting;
use crate::outcome::Outcome;
use crate::parallel::run_all;
use crate::table::Table;
use bayestream::data::DocumentBuffer;
use bayestream::engine::DocumentLearner;
use bayestream::engine::bmm::{BmmSettings, LdaBmm};
use bayestream::engine::readout::{LinearMachine, SvmSettings};
use bayestream::metrics::roc_auc;
use bayestream::model::Variant;
use bayestream::structure::Topic;
use bayestream_plot::Chart;

const CLASSES: [&str; 6] = ["earn", "acq", "money-fx", "crude", "grain", "trade"];
const PRINTED_WORDS: [f64; 6] = [0.953, 0.951, 0.932, 0.953, 0.943, 0.898];
const PRINTED_TOPICS: [f64; 6] = [0.975, 0.921, 0.919, 0.966, 0.984, 0.967];
/// The first part of the documents that classifiers learn from.
const TRAINED: f64 = 0.7;
/// Documents between two looks at λ.
const LOOK: usize = 100;
const COST: f64 = 1.0;

/// A row of features: places and values.
type Row = Vec<(u32, f64)>;

/// A way to learn.
struct Way {
    name: &'static str,
    /// The settings, given 1/√V.
    settings: fn(f64) -> BmmSettings,
}

/// The last has too few draws: it is told in a note and is in no table.
const WAYS: [Way; 4] = [
    Way { name: "default", settings: |_| BmmSettings::for_lda() },
    Way {
        name: "default, β = 1/√V, ν₀ = 0.1",
        settings: |printed| BmmSettings { gamma: 0.1, beta0: Some(printed), ..BmmSettings::for_lda() },
    },
    Way { name: "as printed, M = 1000, β = 1/√V, ν₀ = 0.1", settings: |v| as_printed(1000, v) },
    Way { name: "as printed, M = 100, β = 1/√V, ν₀ = 0.1", settings: |v| as_printed(100, v) },
];

const IN_TABLES: usize = WAYS.len() - 1;

fn as_printed(draws: usize, beta0: f64) -> BmmSettings {
    BmmSettings { variant: Variant::Paper, draws, gamma: 0.1, beta0: Some(beta0), ..BmmSettings::for_lda() }
}

struct Run {
    per_word: f64,
    lambda: Vec<(f64, f64)>,
    topics: Vec<Topic>,
    auc: Vec<f64>,
}

fn learn(way: &Way, corpus: &Corpus, seed: u64) -> Run {
    let n_words = corpus.vocabulary.len();
    let settings = (way.settings)(1.0 / (n_words as f64).sqrt());
    let mut learner = LdaBmm::new(&settings, seed, 0);
    let (mut log_score, mut n_scored) = (0.0, 0);
    let (mut lambda, mut features) = (Vec::new(), Vec::new());
    let mut one = DocumentBuffer::new();
    for (document, (words, counts)) in corpus.documents.documents().iter().enumerate() {
        one.clear();
        one.push_counts(words.iter().copied().zip(counts.iter().copied()).collect());
        let report = learner.update(&one.documents(), n_words);
        log_score += report.log_score;
        n_scored += report.n_scored;
        // α_d, as shares: documents are of many lengths.
        let alpha = learner.document_topics();
        let total: f64 = alpha.iter().sum();
        features
            .push(alpha.iter().enumerate().map(|(z, a)| (z as u32, a / total)).filter(|(_, a)| *a > 1e-6).collect());
        if document % LOOK == LOOK - 1 {
            lambda.push(((document + 1) as f64, learner.lambda()));
        }
    }
    Run {
        per_word: log_score / n_scored as f64,
        lambda,
        topics: learner.topics(),
        auc: areas(&features, settings.max_components, corpus, seed),
    }
}

/// Area under the curve for each class, on the last documents.
fn areas(features: &[Row], n_features: usize, corpus: &Corpus, seed: u64) -> Vec<f64> {
    let n_train = (TRAINED * features.len() as f64) as usize;
    let rows: Vec<&[(u32, f64)]> = features.iter().map(Vec::as_slice).collect();
    let settings = SvmSettings { cost: COST, balanced: true, seed };
    CLASSES
        .iter()
        .map(|class| {
            let is_in: Vec<bool> = corpus.labels.iter().map(|labels| labels.iter().any(|l| l == class)).collect();
            let machine = LinearMachine::learn(&rows[..n_train], &is_in[..n_train], n_features, &settings);
            let scores: Vec<f64> = rows[n_train..].iter().map(|row| machine.decide(*row)).collect();
            roc_auc(&scores, &is_in[n_train..])
        })
        .collect()
}

pub fn run(setting: &mut Setting<'_>) -> Result<Outcome, ReproduceError> {
    let seeds = setting.seeds(9401..9402);
    let corpus = Corpus::reuters(&setting.data)?;
    let jobs: Vec<(usize, u64)> = (0..WAYS.len()).flat_map(|w| seeds.iter().map(move |&seed| (w, seed))).collect();
    let describe = |&(w, seed): &(usize, u64), run: &Run| {
        format!("lda {} seed {seed}: {:.3} per word, {} topics", WAYS[w].name, run.per_word, run.topics.len())
    };
    let run_job = |&(w, seed): &(usize, u64)| Ok(learn(&WAYS[w], &corpus, seed));
    let runs = run_all(&jobs, setting.n_threads, setting.progress, describe, run_job)?;
    let all = corpus.documents.documents();
    let words: Vec<Row> = all
        .iter()
        .map(|(words, counts)| words.iter().copied().zip(counts.iter().map(|c| f64::from(*c))).collect())
        .collect();
    let by_words = areas(&words, corpus.vocabulary.len(), &corpus, seeds[0]);
    let (told, noted) = (IN_TABLES * seeds.len(), &runs[IN_TABLES * seeds.len()..]);
    let few_draws: Vec<String> = noted
        .iter()
        .zip(&seeds)
        .map(|(run, seed)| {
            let lambda = run.lambda.last().map_or(f64::NAN, |(_, l)| *l);
            format!(
                "seed {seed}: {:.3} nats a word, topics shown: {}, λ = {lambda:.0} at the end",
                run.per_word,
                run.topics.len()
            )
        })
        .collect();
    let notes = vec![
        format!(
            "Reuters in the order of the distribution, {} documents, {} words of a vocabulary of {}; λ = 5 at first, as \
             printed; the default has β = 0.006 and ν₀ = 0.005. The words of a document come in random order. `per word` is the mean log-probability in nats of a word before it was learnt, given those \
             before it in its document and all documents before.",
            all.len(),
            all.n_tokens(),
            corpus.vocabulary.len()
        ),
        "The areas are of a linear support vector machine (squared hinge loss, C = 1, classes weighted inversely to their \
         frequency; dual coordinate descent, `engine/readout/svm.rs`), learnt on the first 70 % of the documents, on the rest. \
         Features are α_d of the document when it was learnt, as shares, or word counts."
            .into(),
        format!(
            "The paper does not print M. With fewer draws than in the tables ({}) topics are lost for good. {}.",
            WAYS[IN_TABLES].name,
            few_draws.join("; ")
        ),
    ];
    let mut course = Table::new("", "One pass", ["rule", "seed", "per word", "topics shown", "λ at the end"]);
    for (&(w, seed), run) in jobs.iter().zip(&runs).take(told) {
        course.row([
            WAYS[w].name.to_string(),
            seed.to_string(),
            format!("{:.3}", run.per_word),
            run.topics.len().to_string(),
            run.lambda.last().map_or(String::new(), |(_, l)| format!("{l:.0}")),
        ]);
    }
    let mut table = Table::new("auc", "Table 3: areas under the curve", ["features"].into_iter().chain(CLASSES));
    let mut add = |name: String, values: &[f64]| {
        table.row([name].into_iter().chain(values.iter().map(|v| format!("{v:.3}"))));
    };
    add("words, paper".into(), &PRINTED_WORDS);
    add("words".into(), &by_words);
    add("α, paper".into(), &PRINTED_TOPICS);
    for (&(w, seed), run) in jobs.iter().zip(&runs).take(told) {
        add(format!("α, {}, seed {seed}", WAYS[w].name), &run.auc);
    }
    let title = "Table 2: the twelve heaviest topics, by their likeliest words";
    let tables = vec![course, table, heaviest(title, &runs[0].topics, &corpus.vocabulary)];
    let mut chart = Chart::new("Expected number of topics").size(560.0, 340.0).x_label("documents").y_label("λ");
    for (way, runs) in WAYS.iter().zip(runs.chunks(seeds.len())).take(IN_TABLES) {
        chart = chart.line(way.name, &runs[0].lambda);
    }
    let figures = vec![("lambda", "Figure 5: λ along the stream".to_string(), chart.into())];
    Ok(Outcome { notes, tables, figures, files: Vec::new() })
}
