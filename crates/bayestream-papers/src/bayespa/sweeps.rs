//! Many topics in one pass: what they need.

use super::trial::{MODELS, runs_of, text};
use crate::corpus::Labelled;
use crate::error::ReproduceError;
use crate::experiment::Setting;
use crate::outcome::Outcome;
use crate::summary::list;
use crate::table::Table;
use bayestream::engine::bayespa::MedSettings;

const K: usize = 80;

/// One thing that is not as in the paper's figure 3, or several.
struct Way {
    what: &'static str,
    change: fn(MedSettings) -> MedSettings,
}

/// The code that the authors have published: three rounds of one sweep, α = 0.5 for each topic, E[φ], λ drawn.
fn published(paper: MedSettings) -> MedSettings {
    MedSettings { rounds: Some(3), sweeps: 1, alpha: Some(0.5), expected_log: false, drawn: true, ..paper }
}

const WAYS: [Way; 15] = [
    Way { what: "figure 3: I = 1, J = 2", change: |paper| paper },
    Way { what: "E[φ]", change: |paper| MedSettings { expected_log: false, ..paper } },
    Way { what: "J = 5", change: |paper| MedSettings { sweeps: 5, ..paper } },
    Way { what: "J = 5, E[φ]", change: |paper| MedSettings { sweeps: 5, expected_log: false, ..paper } },
    Way { what: "J = 5, β = 3", change: |paper| MedSettings { sweeps: 5, burn_in: 3, ..paper } },
    Way { what: "I = 2", change: |paper| MedSettings { rounds: Some(2), ..paper } },
    Way { what: "mini-batches of 64", change: |paper| MedSettings { minibatch: 64, ..paper } },
    Way { what: "α = 0.5", change: |paper| MedSettings { alpha: Some(0.5), ..paper } },
    Way { what: "γ = 0.1", change: |paper| MedSettings { gamma: 0.1, ..paper } },
    Way { what: "γ = 0.02", change: |paper| MedSettings { gamma: 0.02, ..paper } },
    Way { what: "L = 4", change: |paper| MedSettings { ghosts: 4, ..paper } },
    Way { what: "the authors' code: I = 3, J = 1, α = 0.5, E[φ], λ drawn", change: published },
    Way { what: "the same, mini-batches of 64", change: |paper| MedSettings { minibatch: 64, ..published(paper) } },
    Way { what: "each word once", change: |paper| MedSettings { once: true, ..paper } },
    Way { what: "γ = 0.02, L = 4", change: |paper| MedSettings { gamma: 0.02, ghosts: 4, ..paper } },
];

pub fn run(setting: &mut Setting<'_>) -> Result<Outcome, ReproduceError> {
    let seeds = setting.seeds(9600..9605);
    let corpus = Labelled::newsgroups_of(&setting.data)?;
    let describe = |way: &Way| format!("sweeps {}", way.what);
    let learnt = |way: &Way| (way.change)(MODELS[0].with_topics(K));
    let runs = runs_of(setting, &corpus, (&WAYS, &seeds), describe, learnt)?;
    let columns = ["settings", "accuracy", "CPU seconds of training"];
    let mut table = Table::new("", format!("paMedLDA-gibbs, K = {K}, one pass"), columns);
    for (way, runs) in WAYS.iter().zip(&runs) {
        table.row([way.what.to_string(), text(runs, |run| run.accuracy), text(runs, |run| run.seconds)]);
    }
    let notes = vec![format!(
        "20 Newsgroups, separate models, the settings of the paper but for what a line names; seeds {}, mean and standard deviation.",
        list(&seeds),
    )];
    Ok(Outcome { notes, tables: vec![table], figures: Vec::new(), files: Vec::new() })
}
