//! Accuracy and time against the number of topics (figure 4), and batch learning.

use super::trial::{self, MODELS, Model, Run};
use crate::corpus::Labelled;
use crate::error::ReproduceError;
use crate::experiment::Setting;
use crate::outcome::Outcome;
use crate::parallel::run_all;
use crate::table::Table;
use bayestream::engine::bayespa::{MedSettings, Mode, Size};
use bayestream_plot::{Chart, grid};

pub const TOPICS: [usize; 5] = [20, 40, 60, 80, 100];
/// Rounds of batch learning, and the topics it is done with.
const ROUNDS: [usize; 2] = [3, 10];
const BATCH_TOPICS: usize = 20;

struct Way {
    model: Model,
    k: usize,
    /// Rounds over all documents at once; none for one pass online.
    rounds: Option<usize>,
}

impl Way {
    fn settings(&self) -> MedSettings {
        let settings = self.model.with_topics(self.k);
        match self.rounds {
            Some(_) => MedSettings { mode: Mode::Batch, rounds: self.rounds, ..settings },
            None => settings,
        }
    }

    fn how(&self) -> String {
        self.rounds.map_or("online, one pass".into(), |rounds| format!("batch, {rounds} rounds"))
    }
}

fn ways() -> Vec<Way> {
    let mut ways = Vec::new();
    for model in MODELS {
        let topics = if model.size == Size::Open { &TOPICS[..1] } else { &TOPICS[..] };
        ways.extend(topics.iter().map(|&k| Way { model, k, rounds: None }));
        ways.extend(ROUNDS.map(|rounds| Way { model, k: BATCH_TOPICS, rounds: Some(rounds) }));
    }
    ways
}

pub fn run(setting: &mut Setting<'_>) -> Result<Outcome, ReproduceError> {
    let seed = setting.seeds(9600..9601)[0];
    let corpus = Labelled::newsgroups_of(&setting.data)?;
    let ways = ways();
    let describe = |way: &Way, run: &Run| {
        format!("topics {} K = {} {}: {:.4}, {:.1} s", way.model.name, way.k, way.how(), run.accuracy, run.seconds)
    };
    let learn = |way: &Way| Ok(trial::run(&corpus, &way.settings(), 1, seed));
    let runs = run_all(&ways, setting.n_threads, setting.progress, describe, learn)?;
    let columns = ["model", "K", "learnt", "accuracy", "topics with words, of each model", "CPU seconds of training"];
    let mut table = Table::new("", "Accuracy and time against the number of topics", columns);
    for (way, run) in ways.iter().zip(&runs) {
        table.row([
            way.model.name.to_string(),
            way.k.to_string(),
            way.how(),
            format!("{:.3}", run.accuracy),
            format!("{:.1}", run.n_topics),
            format!("{:.1}", run.seconds),
        ]);
    }
    let chart = |title: &str, value: &dyn Fn(&Run) -> f64| {
        let chart = Chart::new(title).size(440.0, 320.0).x_label("K");
        let online = |model: &Model| -> Vec<(f64, f64)> {
            let of_model = |way: &Way| way.model.name == model.name && way.rounds.is_none();
            ways.iter().zip(&runs).filter(|(way, _)| of_model(way)).map(|(w, r)| (w.k as f64, value(r))).collect()
        };
        MODELS[..2].iter().fold(chart, |chart, model| chart.line(model.name, &online(model)))
    };
    let charts = [
        chart("Accuracy", &|run| run.accuracy).y_range(0.7, 0.85),
        chart("CPU seconds of training", &|run| run.seconds),
    ];
    let notes = vec![format!(
        "20 Newsgroups, separate models with the settings of the paper, seed {seed} alone. The paper has about 0.80 for all of \
         them, and batch learning more than ten times slower than one pass. A round of batch learning is two sweeps over all documents; \
         what it says of each mini-batch replaces what the round before it said, and it goes on from the topics that words had. K is the number at first where it is open."
    )];
    let caption = "Figure 4: accuracy and time of one pass against the number of topics".to_string();
    Ok(Outcome { notes, tables: vec![table], figures: vec![("size", caption, grid(&charts, 2))], files: Vec::new() })
}
