//! Few documents and many topics (figures 9 and 10).

use super::trial::{self, MODELS, Run, text};
use crate::corpus::Labelled;
use crate::error::ReproduceError;
use crate::experiment::Setting;
use crate::outcome::Outcome;
use crate::parallel::run_all;
use crate::summary::{list, mean_sd};
use crate::table::Table;
use bayestream::engine::bayespa::MedSettings;
use bayestream_plot::Chart;

const TOPICS: [usize; 5] = [5, 10, 20, 40, 80];
const MINIBATCH: usize = 64;
const GHOSTS: u32 = 10;
const PASSES: usize = 5;
/// Name, passes, L.
const WAYS: [(&str, usize, u32); 3] = [("one pass", 1, 1), ("L = 10", 1, GHOSTS), ("five passes", PASSES, 1)];

pub fn run(setting: &mut Setting<'_>) -> Result<Outcome, ReproduceError> {
    let seeds = setting.seeds(9600..9605);
    let corpus = Labelled::two_newsgroups_of(&setting.data)?;
    let cells: Vec<(usize, usize)> = (0..WAYS.len()).flat_map(|way| TOPICS.map(|k| (way, k))).collect();
    let jobs: Vec<(usize, usize, u64)> =
        cells.iter().flat_map(|&(way, k)| seeds.iter().map(move |&seed| (way, k, seed))).collect();
    let describe = |&(way, k, seed): &(usize, usize, u64), run: &Run| {
        format!("small {} K = {k} seed {seed}: {:.3}", WAYS[way].0, run.accuracy)
    };
    let learn = |&(way, k, seed): &(usize, usize, u64)| {
        let (_, passes, ghosts) = WAYS[way];
        let settings = MedSettings { minibatch: MINIBATCH, ghosts, ..MODELS[0].with_topics(k) };
        Ok(trial::run(&corpus, &settings, passes, seed))
    };
    let runs = run_all(&jobs, setting.n_threads, setting.progress, describe, learn)?;
    let columns = TOPICS.iter().map(|k| format!("K = {k}"));
    let mut table = Table::new(
        "",
        "alt.atheism against talk.religion.misc, paMedLDA-gibbs: accuracy",
        ["learnt".to_string()].into_iter().chain(columns),
    );
    let mut chart = Chart::new("Accuracy").size(560.0, 340.0).x_label("K").log_x().y_range(0.5, 0.9);
    for (way, runs) in WAYS.iter().zip(runs.chunks(TOPICS.len() * seeds.len())) {
        let each: Vec<&[Run]> = runs.chunks(seeds.len()).collect();
        let cells = each.iter().map(|runs| text(runs, |run| run.accuracy));
        table.row([way.0.to_string()].into_iter().chain(cells));
        let mean = |runs: &[Run]| mean_sd(&runs.iter().map(|run| run.accuracy).collect::<Vec<_>>()).0;
        let points: Vec<(f64, f64)> = TOPICS.iter().zip(&each).map(|(k, runs)| (*k as f64, mean(runs))).collect();
        chart = chart.line(way.0, &points);
    }
    let notes = vec![format!(
        "{} documents to learn from and {} to be judged by; the paper has 1597 and 401, of a split that is not the one by date. Settings of \
         the paper with |B| = {MINIBATCH}, seeds {}, mean and standard deviation. Each of the two labels has a model of its own, though \
         one would do. L = {GHOSTS}: every document counts as many.",
        corpus.train_labels.len(),
        corpus.test_labels.len(),
        list(&seeds),
    )];
    let caption = "Figures 9 and 10: few documents, and what helps".to_string();
    Ok(Outcome { notes, tables: vec![table], figures: vec![("accuracy", caption, chart.into())], files: Vec::new() })
}
