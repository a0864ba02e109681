//! Accuracy and time against the number of topics (figure 4).

use super::trial::{MODELS, Model, mean, runs_of, text};
use crate::corpus::Labelled;
use crate::error::ReproduceError;
use crate::experiment::Setting;
use crate::outcome::Outcome;
use crate::summary::list;
use crate::table::Table;
use bayestream::engine::bayespa::Size;
use bayestream_plot::{Chart, grid};

const TOPICS: [usize; 5] = [20, 40, 60, 80, 100];

/// A model, and its topics: at first where their number is open.
type Way = (Model, usize);

fn ways() -> Vec<Way> {
    let topics = |model: Model| if model.size == Size::Open { &TOPICS[..1] } else { &TOPICS[..] };
    MODELS.into_iter().flat_map(|model| topics(model).iter().map(move |&k| (model, k))).collect()
}

pub fn run(setting: &mut Setting<'_>) -> Result<Outcome, ReproduceError> {
    let seeds = setting.seeds(9600..9605);
    let corpus = Labelled::newsgroups_of(&setting.data)?;
    let ways = ways();
    let describe = |(model, k): &Way| format!("topics {} K = {k}", model.name);
    let runs = runs_of(setting, &corpus, (&ways, &seeds), describe, |(model, k)| model.with_topics(*k))?;
    let columns = ["model", "K", "accuracy", "topics with words, of each model", "CPU seconds of training"];
    let mut table = Table::new("", "Accuracy and time of one pass against the number of topics", columns);
    for ((model, k), runs) in ways.iter().zip(&runs) {
        table.row([
            model.name.to_string(),
            k.to_string(),
            text(runs, |run| run.accuracy),
            text(runs, |run| run.n_topics),
            text(runs, |run| run.seconds),
        ]);
    }
    let lines = |value: &dyn Fn(usize) -> f64, chart: Chart| {
        let points = |model: &Model| -> Vec<(f64, f64)> {
            let of_model = ways.iter().enumerate().filter(|(_, way)| way.0.name == model.name);
            of_model.map(|(at, (_, k))| (*k as f64, value(at))).collect()
        };
        MODELS[..2].iter().fold(chart, |chart, model| chart.line(model.name, &points(model)))
    };
    let chart = |title: &str| Chart::new(title).size(440.0, 320.0).x_label("K");
    let charts = [
        lines(&|at| mean(&runs[at], |run| run.accuracy), chart("Accuracy").y_range(0.7, 0.85)),
        lines(&|at| mean(&runs[at], |run| run.seconds), chart("CPU seconds of training")),
    ];
    let notes = vec![format!(
        "20 Newsgroups, separate models with the settings of the paper, one pass; seeds {}, mean and standard deviation, means in the \
         figure. The paper has about 0.80 for all of them, learnt until their objective settles. K is the number at first where it is \
         open. Processor time is of the machine at hand, which had other work: compare lines of one table only.",
        list(&seeds),
    )];
    let caption = "Figure 4: accuracy and time of one pass against the number of topics".to_string();
    Ok(Outcome { notes, tables: vec![table], figures: vec![("size", caption, grid(&charts, 2))], files: Vec::new() })
}
