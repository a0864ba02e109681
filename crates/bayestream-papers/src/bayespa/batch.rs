//! Batch learning: how many rounds it needs, and what they cost beside one pass.

use super::trial::{MODELS, Model, mean, runs_of, text};
use crate::corpus::Labelled;
use crate::error::ReproduceError;
use crate::experiment::Setting;
use crate::outcome::Outcome;
use crate::summary::list;
use crate::table::Table;
use bayestream::engine::bayespa::{MedSettings, Mode};

/// Topics of each label's model, at first where their number is open.
const K: usize = 20;
/// Rounds over all documents.
const ROUNDS: [usize; 3] = [1, 3, 10];

/// A model, and its rounds over all documents at once; none for one pass online.
type Way = (Model, Option<usize>);

fn ways() -> Vec<Way> {
    let each = |model: Model| [None].into_iter().chain(ROUNDS.map(Some)).map(move |rounds| (model, rounds));
    MODELS.into_iter().flat_map(each).collect()
}

fn settings((model, rounds): &Way) -> MedSettings {
    let settings = model.with_topics(K);
    match rounds {
        Some(_) => MedSettings { mode: Mode::Batch, rounds: *rounds, ..settings },
        None => settings,
    }
}

fn how(rounds: Option<usize>) -> String {
    rounds.map_or("online, one pass".into(), |rounds| format!("batch, rounds: {rounds}"))
}

pub fn run(setting: &mut Setting<'_>) -> Result<Outcome, ReproduceError> {
    let seeds = setting.seeds(9600..9605);
    let corpus = Labelled::newsgroups_of(&setting.data)?;
    let ways = ways();
    let describe = |(model, rounds): &Way| format!("batch {} {}", model.name, how(*rounds));
    let runs = runs_of(setting, &corpus, (&ways, &seeds), describe, settings)?;
    let columns = [
        "model",
        "learnt",
        "accuracy",
        "topics with words, of each model",
        "CPU seconds of training",
        "times one pass",
    ];
    let mut table = Table::new("", "Batch learning beside one pass", columns);
    for (ways, runs) in ways.chunks(1 + ROUNDS.len()).zip(runs.chunks(1 + ROUNDS.len())) {
        let one_pass = mean(&runs[0], |run| run.seconds);
        for ((model, rounds), runs) in ways.iter().zip(runs) {
            table.row([
                model.name.to_string(),
                how(*rounds),
                text(runs, |run| run.accuracy),
                text(runs, |run| run.n_topics),
                text(runs, |run| run.seconds),
                format!("{:.1}", mean(runs, |run| run.seconds) / one_pass),
            ]);
        }
    }
    let notes = vec![format!(
        "20 Newsgroups, separate models of {K} topics (at first where their number is open) with the settings of the paper; seeds {}, \
         mean and standard deviation. A round of batch learning is two sweeps over all documents; what it says of each mini-batch \
         replaces what the round before it said, and it goes on from the topics that words had. The paper's batch models go on until \
         their objective changes by less than 1e-4, which takes more than ten times as long as one pass; its figure 4 has the same accuracy for both.",
        list(&seeds),
    )];
    Ok(Outcome { notes, tables: vec![table], figures: Vec::new(), files: Vec::new() })
}
