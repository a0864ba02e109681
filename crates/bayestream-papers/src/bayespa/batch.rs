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

/// How documents are learnt.
#[derive(Clone, Copy, PartialEq, Eq)]
enum How {
    OnePass,
    /// All documents at once, in so many rounds, or until the objective settles.
    Batch(Option<usize>),
}

const HOWS: [How; 4] = [How::OnePass, How::Batch(Some(1)), How::Batch(Some(3)), How::Batch(None)];

type Way = (Model, How);

fn settings((model, how): &Way) -> MedSettings {
    let settings = model.with_topics(K);
    match *how {
        How::Batch(rounds) => MedSettings { mode: Mode::Batch, rounds, ..settings },
        How::OnePass => settings,
    }
}

impl How {
    fn name(self) -> String {
        match self {
            How::OnePass => "online, one pass".into(),
            How::Batch(Some(rounds)) => format!("batch, {rounds} rounds"),
            How::Batch(None) => "batch, until its objective settles".into(),
        }
    }
}

pub fn run(setting: &mut Setting<'_>) -> Result<Outcome, ReproduceError> {
    let seeds = setting.seeds(9600..9605);
    let corpus = Labelled::newsgroups_of(&setting.data)?;
    let ways: Vec<Way> = MODELS.into_iter().flat_map(|model| HOWS.map(|how| (model, how))).collect();
    let describe = |(model, how): &Way| format!("batch {} {}", model.name, how.name());
    let runs = runs_of(setting, &corpus, (&ways, &seeds), describe, settings)?;
    let columns = [
        "model",
        "learnt",
        "rounds of a model",
        "accuracy",
        "topics with words, of each model",
        "CPU seconds of training",
        "times one pass",
    ];
    let mut table = Table::new("", "Batch learning beside one pass", columns);
    for (ways, runs) in ways.chunks(HOWS.len()).zip(runs.chunks(HOWS.len())) {
        let one_pass = mean(&runs[0], |run| run.seconds);
        for ((model, how), runs) in ways.iter().zip(runs) {
            let rounds = if *how == How::OnePass { String::new() } else { text(runs, |run| run.n_rounds) };
            table.row([
                model.name.to_string(),
                how.name(),
                rounds,
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
         replaces what the round before it said, and it goes on from the topics that words had. The objective has settled when three rounds \
         have not lowered it by more than 1e-4 of itself, each label's model on its own; the time includes finding it. The paper's batch models go on until \
         it changes by less than 1e-4, which takes more than ten times as long as online learning; its figure 4 has the same accuracy for both.",
        list(&seeds),
    )];
    Ok(Outcome { notes, tables: vec![table], figures: Vec::new(), files: Vec::new() })
}
