//! Many topics in one pass: how many sweeps they need.

use super::trial::{self, MODELS, Run, text};
use crate::corpus::Labelled;
use crate::error::ReproduceError;
use crate::experiment::Setting;
use crate::outcome::Outcome;
use crate::parallel::run_all;
use crate::table::Table;
use bayestream::engine::bayespa::MedSettings;

const K: usize = 80;

/// J, β and whether a word weighs exp E[log φ].
const CELLS: [(usize, usize, bool); 6] =
    [(10, 8, true), (2, 0, true), (2, 0, false), (5, 0, true), (5, 0, false), (5, 3, true)];

pub fn run(setting: &mut Setting<'_>) -> Result<Outcome, ReproduceError> {
    let seed = setting.seeds(9600..9601)[0];
    let corpus = Labelled::newsgroups_of(&setting.data)?;
    let describe = |cell: &(usize, usize, bool), run: &Run| format!("sweeps {cell:?}: {:.4}", run.accuracy);
    let learn = |&(sweeps, burn_in, expected_log): &(usize, usize, bool)| {
        let settings = MedSettings { sweeps, burn_in, expected_log, ..MODELS[0].with_topics(K) };
        Ok(trial::run(&corpus, &settings, 1, seed))
    };
    let runs = run_all(&CELLS, setting.n_threads, setting.progress, describe, learn)?;
    let columns = ["J", "β", "weight of a word", "accuracy", "CPU seconds of training"];
    let mut table = Table::new("", format!("paMedLDA-gibbs, K = {K}, one pass"), columns);
    for ((sweeps, burn_in, expected_log), run) in CELLS.iter().zip(runs.chunks(1)) {
        table.row([
            sweeps.to_string(),
            burn_in.to_string(),
            if *expected_log { "exp E[log φ], as printed" } else { "E[φ]" }.to_string(),
            text(run, |run| run.accuracy),
            text(run, |run| run.seconds),
        ]);
    }
    let notes = vec![format!(
        "20 Newsgroups, separate models, the settings of the paper but for J, β and the weight of a word; seed {seed} alone, \
         so that differences below 0.01 mean little. J = 2, β = 0 is the setting of figure 3."
    )];
    Ok(Outcome { notes, tables: vec![table], figures: Vec::new(), files: Vec::new() })
}
