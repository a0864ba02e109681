//! Table 1: naive Bayes on Reuters and NIPS, ten folds.

use crate::corpus::Corpus;
use crate::error::ReproduceError;
use crate::experiment::Setting;
use crate::outcome::Outcome;
use crate::parallel::run_all;
use crate::summary::mean_sd;
use crate::table::Table;
use bayestream::data::Documents;
use bayestream::engine::DocumentLearner;
use bayestream::engine::bmm::{BatchSettings, BmmSettings, NaiveBayesBatch, NaiveBayesBmm};
use bayestream::model::Variant;
use bayestream::num;

const N_FOLDS: usize = 10;
/// Topics with more than this share of the training words are counted.
const COUNTED: f64 = 1e-3;

/// A way to learn.
#[derive(Clone, Copy)]
enum Method {
    Bmm,
    Printed,
    VbDp,
    Em { n_topics: usize, smoothing: f64 },
}

const METHODS: [Method; 9] = [
    Method::Bmm,
    Method::Printed,
    Method::VbDp,
    Method::Em { n_topics: 10, smoothing: 1.0 },
    Method::Em { n_topics: 50, smoothing: 1.0 },
    Method::Em { n_topics: 100, smoothing: 1.0 },
    Method::Em { n_topics: 10, smoothing: 1e-10 },
    Method::Em { n_topics: 50, smoothing: 1e-10 },
    Method::Em { n_topics: 100, smoothing: 1e-10 },
];

impl Method {
    fn name(self) -> String {
        match self {
            Method::Bmm => "online BMM, default".into(),
            Method::Printed => "online BMM, as printed (M = 1000, β = 1/√V)".into(),
            Method::VbDp => "batch VB-DP, T = 100".into(),
            Method::Em { n_topics, smoothing } => format!("batch EM, K = {n_topics}, {smoothing} added"),
        }
    }

    /// What the paper prints, on Reuters and on NIPS.
    fn printed(self) -> [&'static str; 2] {
        match self {
            Method::Bmm => ["", ""],
            Method::Printed => ["-6.54 (0.09)", "-6.89 (0.05)"],
            Method::VbDp => ["-6.59 (0.08)", "-6.89 (0.04)"],
            Method::Em { n_topics: 10, .. } => ["-8.44 (0.02)", "-7.50 (0.06)"],
            Method::Em { n_topics: 50, .. } => ["-8.38 (0.02)", "-7.44 (0.06)"],
            Method::Em { .. } => ["-8.36 (0.02)", "-7.43 (0.06)"],
        }
    }
}

struct Run {
    plug_in: f64,
    predictive: f64,
    n_topics: usize,
    lambda: f64,
}

/// One fold: the documents to learn from, in random order, and those to test on.
fn fold(n: usize, fold: usize, seed: u64) -> (Vec<usize>, Vec<usize>) {
    let mut order: Vec<usize> = (0..n).collect();
    num::stream(seed, 0, 0).shuffle(&mut order);
    let is_test = |at: usize| at % N_FOLDS == fold;
    let part = |test: bool| (0..n).filter(|&at| is_test(at) == test).map(|at| order[at]).collect();
    (part(false), part(true))
}

fn judge(
    learner: &mut dyn DocumentLearner,
    train: &Documents<'_>,
    test: &Documents<'_>,
    n_words: usize,
) -> (f64, usize) {
    learner.update(train, n_words);
    learner.finish();
    let predictive: f64 = learner.score(test).log_likelihood.iter().sum();
    let n_topics = learner.topics().iter().filter(|t| t.weight > COUNTED).count();
    (predictive / test.n_tokens() as f64, n_topics)
}

fn learn(method: Method, corpus: &Corpus, fold_ix: usize, seed: u64) -> Run {
    let (train, test) = fold(corpus.documents.documents().len(), fold_ix, seed);
    let (train, test) = (corpus.chosen(&train), corpus.chosen(&test));
    let (train, test) = (train.documents(), test.documents());
    let n_words = corpus.vocabulary.len();
    let per_word = |each: Vec<f64>| each.iter().sum::<f64>() / test.n_tokens() as f64;
    let printed_beta = 1.0 / (n_words as f64).sqrt();
    match method {
        Method::Bmm | Method::Printed => {
            let settings = match method {
                Method::Bmm => BmmSettings::default(),
                _ => BmmSettings { variant: Variant::Paper, beta0: Some(printed_beta), ..BmmSettings::default() },
            };
            let mut learner = NaiveBayesBmm::new(&settings, seed, 0);
            let (predictive, n_topics) = judge(&mut learner, &train, &test, n_words);
            Run { plug_in: per_word(learner.plug_in(&test)), predictive, n_topics, lambda: learner.lambda() }
        }
        Method::VbDp | Method::Em { .. } => {
            let mut learner = match method {
                Method::Em { n_topics, smoothing } => {
                    NaiveBayesBatch::em(&BatchSettings { n_topics, smoothing, ..BatchSettings::default() }, seed, 0)
                }
                _ => {
                    let asked = BatchSettings::for_dirichlet_process();
                    NaiveBayesBatch::vb_dp(&BatchSettings { smoothing: printed_beta, ..asked }, seed, 0)
                }
            };
            let (predictive, n_topics) = judge(&mut learner, &train, &test, n_words);
            let predictive = if matches!(method, Method::VbDp) { predictive } else { f64::NAN };
            Run { plug_in: per_word(learner.plug_in(&test)), predictive, n_topics, lambda: f64::NAN }
        }
    }
}

/// Log-probability per word when all documents have the same words.
fn unigram(corpus: &Corpus) -> f64 {
    let mut counts = vec![0.0; corpus.vocabulary.len()];
    for (words, repeats) in corpus.documents.documents().iter() {
        words.iter().zip(repeats).for_each(|(&w, &c)| counts[w as usize] += f64::from(c));
    }
    let total: f64 = counts.iter().sum();
    counts.iter().filter(|c| **c > 0.0).map(|c| c / total * (c / total).ln()).sum()
}

pub fn run(setting: &mut Setting<'_>) -> Result<Outcome, ReproduceError> {
    let seeds = setting.seeds(9400..9401);
    let corpora = [("Reuters", Corpus::reuters(&setting.data)?), ("NIPS", Corpus::nips(&setting.data)?)];
    let mut notes = vec![format!(
        "Ten folds of the documents in random order (seed {}), mean and standard deviation over the folds, in nats per word \
         of the test documents. `plug-in` has the words of a document independent given its topic, by expected words and \
         weights of topics; `Pólya` is the predictive density proper, in which a word that occurred is likelier to occur \
         again. The paper does not say which it prints. `topics` have more than {COUNTED} of the training words.",
        seeds[0]
    )];
    let mut tables = Vec::new();
    for (which, (name, corpus)) in corpora.iter().enumerate() {
        let all = corpus.documents.documents();
        notes.push(format!(
            "{name}: {} documents, {} words of a vocabulary of {}; by the frequencies of words alone {:.3}.",
            all.len(),
            all.n_tokens(),
            corpus.vocabulary.len(),
            unigram(corpus)
        ));
        let jobs: Vec<(usize, usize)> = (0..METHODS.len()).flat_map(|m| (0..N_FOLDS).map(move |f| (m, f))).collect();
        let describe = |&(m, f): &(usize, usize), run: &Run| {
            format!(
                "table1 {name} {} fold {f}: {:.3} {:.3} {}",
                METHODS[m].name(),
                run.plug_in,
                run.predictive,
                run.n_topics
            )
        };
        let run_job = |&(m, f): &(usize, usize)| Ok(learn(METHODS[m], corpus, f, seeds[0]));
        let runs = run_all(&jobs, setting.n_threads, setting.progress, describe, run_job)?;
        let columns = ["method", "paper", "plug-in", "Pólya", "topics", "λ"];
        let slug = if which == 0 { "" } else { "nips" };
        let mut table = Table::new(slug, format!("{name}: log-likelihood per word"), columns);
        for (method, runs) in METHODS.iter().zip(runs.chunks(N_FOLDS)) {
            let text = |value: &dyn Fn(&Run) -> f64, digits: usize| {
                let (mean, sd) = mean_sd(&runs.iter().map(value).collect::<Vec<f64>>());
                if mean.is_nan() { String::new() } else { format!("{mean:.digits$} ({sd:.digits$})") }
            };
            table.row([
                method.name(),
                method.printed()[which].to_string(),
                text(&|r| r.plug_in, 3),
                text(&|r| r.predictive, 3),
                text(&|r| r.n_topics as f64, 0),
                text(&|r| r.lambda, 0),
            ]);
        }
        tables.push(table);
    }
    Ok(Outcome { notes, tables, figures: Vec::new(), files: Vec::new() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folds_cover_every_document_once() {
        let mut tested: Vec<usize> = (0..N_FOLDS).flat_map(|f| fold(103, f, 5).1).collect();
        tested.sort_unstable();
        assert_eq!(tested, (0..103).collect::<Vec<_>>());
        let (train, test) = fold(103, 4, 5);
        assert!(train.len() + test.len() == 103 && train.iter().all(|d| !test.contains(d)));
    }
}
