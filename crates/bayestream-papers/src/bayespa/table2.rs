//! The topics of a label's documents along the stream (table 2).

use super::trial::{MODELS, Model, Timed, stream};
use crate::corpus::Labelled;
use crate::error::ReproduceError;
use crate::experiment::Setting;
use crate::outcome::Outcome;
use crate::parallel::run_all;
use crate::summary::{list, mean_sd, mean_sd_text};
use crate::table::Table;
use bayestream::engine::DocumentLearner;
use bayestream::metrics::top_words;
use bayestream::structure::{LabelMoment, LabelSummary, Topic};
use bayestream_plot::{Chart, grid};

/// The labels that the paper shows.
const SHOWN: [&str; 3] = ["alt.atheism", "comp.graphics", "misc.forsale"];
/// Ends of the stretches that are shown, beside the end of the stream.
const ENDS: [u64; 3] = [64, 512, 4096];
const HEAVIEST: usize = 2;
const WORDS: usize = 8;

struct Run {
    topics: Vec<Topic>,
    /// Stretches of the stream, label by label.
    courses: Vec<Vec<LabelMoment>>,
}

/// The stretches of a label's course, the last of which ends with the stream.
fn stretches(summary: &LabelSummary, n_seen: u64) -> Vec<LabelMoment> {
    let mut course = summary.course.clone();
    let before: u64 = course.iter().map(|moment| moment.n_documents).sum();
    let n_documents = summary.n_documents.saturating_sub(before);
    if n_documents > 0 {
        let share = |topic: &bayestream::structure::LabelTopic| {
            let of = |moment: &LabelMoment| {
                let share = moment.shares.iter().find(|(id, _)| *id == topic.id).map_or(0.0, |(_, share)| *share);
                share * moment.n_documents as f64
            };
            let rest = topic.share * summary.n_documents as f64 - course.iter().map(of).sum::<f64>();
            (topic.id, rest.max(0.0) / n_documents as f64)
        };
        let shares = summary.topics.iter().map(share).collect();
        course.push(LabelMoment { n_seen, n_documents, shares });
    }
    course
}

fn learn(model: &Model, corpus: &Labelled, seed: u64) -> Run {
    let mut timed = Timed::new(&model.paper(), seed);
    timed.learn(&stream(corpus, seed).documents(), corpus.vocabulary.len());
    let learner = &timed.learner;
    let courses = learner.labels().iter().map(|summary| stretches(summary, learner.n_seen())).collect();
    Run { topics: learner.topics(), courses }
}

/// The shares of the heaviest topics of a stretch, in decreasing order.
fn heaviest(moment: &LabelMoment) -> Vec<(bayestream::structure::ComponentId, f64)> {
    let mut shares = moment.shares.clone();
    shares.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    shares
}

/// Effective topics in the stretch that ends so, or in the last one: mean over labels that have documents in it.
fn effective_topics(run: &Run, end: Option<u64>) -> f64 {
    let is_it = |moment: &&LabelMoment| end.is_none_or(|end| moment.n_seen == end) && moment.n_documents > 0;
    let of_label = |course: &Vec<LabelMoment>| course.iter().rev().find(is_it).map(LabelMoment::effective_topics);
    mean_sd(&run.courses.iter().filter_map(of_label).collect::<Vec<f64>>()).0
}

pub fn run(setting: &mut Setting<'_>) -> Result<Outcome, ReproduceError> {
    let seeds = setting.seeds(9600..9605);
    let corpus = Labelled::newsgroups_of(&setting.data)?;
    let models = [MODELS[1], MODELS[0]];
    let jobs: Vec<(Model, u64)> = models.iter().flat_map(|model| seeds.iter().map(|&seed| (*model, seed))).collect();
    let describe = |(model, seed): &(Model, u64), run: &Run| {
        format!("table2 {} seed {seed}: {} topics", model.name, run.topics.len())
    };
    let runs = run_all(&jobs, setting.n_threads, setting.progress, describe, |(model, seed)| {
        Ok(learn(model, &corpus, *seed))
    })?;
    let seed = seeds[0];
    let all_seeds: Vec<&[Run]> = runs.chunks(seeds.len()).collect();
    let runs: Vec<&Run> = all_seeds.iter().map(|runs| &runs[0]).collect();
    let mut shares = Table::new(
        "",
        "Topics of the documents of a label",
        ["label", "model", "documents so far", "with the label, in the stretch", "effective topics", "largest shares"],
    );
    let mut words = Table::new(
        "words",
        "The heaviest topics of a label's documents at the end of the stream",
        ["label", "model", "share", "words"],
    );
    let shown = SHOWN.iter().filter_map(|name| corpus.label_names.iter().position(|label| label == name));
    for label in shown {
        for (model, run) in models.iter().zip(&runs) {
            let course = &run.courses[label];
            let last = course.len() - 1;
            let is_shown = |at: usize| at == last || ENDS.contains(&course[at].n_seen);
            for moment in (0..course.len()).filter(|at| is_shown(*at)).map(|at| &course[at]) {
                let largest: Vec<String> =
                    heaviest(moment).iter().take(3).map(|(_, share)| format!("{share:.3}")).collect();
                shares.row([
                    corpus.label_names[label].clone(),
                    model.name.to_string(),
                    moment.n_seen.to_string(),
                    moment.n_documents.to_string(),
                    format!("{:.1}", moment.effective_topics()),
                    largest.join(" "),
                ]);
            }
            for (id, share) in heaviest(&course[last]).into_iter().take(HEAVIEST) {
                let Some(topic) = run.topics.iter().find(|topic| topic.id == id) else { continue };
                let best = top_words(&topic.words, WORDS);
                let best: Vec<&str> = best.iter().map(|word| corpus.vocabulary[*word as usize].as_str()).collect();
                words.row([
                    corpus.label_names[label].clone(),
                    model.name.to_string(),
                    format!("{share:.3}"),
                    best.join(" "),
                ]);
            }
        }
    }
    let mut effective = Table::new(
        "effective",
        "Effective topics of a label's documents, mean over the twenty labels",
        ["model".to_string()].into_iter().chain(ENDS.iter().map(u64::to_string)).chain(["the rest".into()]),
    );
    for (model, runs) in models.iter().zip(&all_seeds) {
        let at =
            |end: Option<u64>| mean_sd_text(&runs.iter().map(|run| effective_topics(run, end)).collect::<Vec<f64>>());
        let ends = ENDS.iter().copied().map(Some).chain([None]);
        effective.row([model.name.to_string()].into_iter().chain(ends.map(at)));
    }
    let charts: Vec<Chart> = models
        .iter()
        .zip(&runs)
        .map(|(model, run)| {
            let chart =
                Chart::new(model.name).size(440.0, 320.0).x_label("documents").y_label("effective topics").log_x();
            run.courses.iter().fold(chart.y_range(0.0, 20.0), |chart, course| {
                let points: Vec<(f64, f64)> =
                    course.iter().map(|moment| (moment.n_seen as f64, moment.effective_topics())).collect();
                chart.line("", &points).color(0)
            })
        })
        .collect();
    let notes = vec![format!(
        "20 Newsgroups in one pass, separate models of 20 topics with the settings of the paper. The first table has mean and standard deviation over seeds {}, the \
         others and the figure seed {seed}. Shares are means over \
         the label's documents as they were learnt, of the stretch of the stream that ends with the line's documents and began with the \
         one before it (stretches double; some are left out). Effective topics: exponential of the entropy of the mean shares. The paper's distributions end with one or two \
         topics.",
        list(&seeds),
    )];
    let caption = "Table 2: effective number of topics of the documents of each of the twenty labels".to_string();
    let figures = vec![("course", caption, grid(&charts, 2))];
    Ok(Outcome { notes, tables: vec![effective, shares, words], figures, files: Vec::new() })
}

#[cfg(test)]
mod tests {
    use super::super::trial::tests::planted;
    use super::*;

    #[test]
    fn stretches_cover_the_stream_and_their_shares_add_up() {
        let corpus = planted();
        for model in [MODELS[0], MODELS[1]] {
            let run = learn(&model, &corpus, 2);
            assert_eq!(run.courses.len(), 3);
            let n: u64 = run.courses.iter().flatten().map(|moment| moment.n_documents).sum();
            assert_eq!(n, 400);
            for moment in run.courses.iter().flatten() {
                let total: f64 = moment.shares.iter().map(|(_, share)| share).sum();
                // Milestones keep sums of shares in single precision.
                assert!((total - 1.0).abs() < 1e-3, "{total}");
                assert!(heaviest(moment).windows(2).all(|pair| pair[0].1 >= pair[1].1));
            }
        }
    }
}
