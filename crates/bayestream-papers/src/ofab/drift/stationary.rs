//! Streams that do not change: how often is a change reported all the same?

use super::super::divergence;
use crate::error::ReproduceError;
use crate::experiment::Setting;
use crate::learn::{feed_truth, new_model};
use crate::parallel::run_all;
use crate::summary::{list, mean_sd_text};
use crate::table::Table;
use bayestream::model::{Kind, Settings};
use bayestream::structure::Happening;
use bayestream::synthetic::{Covariance, ofab_truth};

struct Run {
    n_drift_events: usize,
    n_deaths: usize,
    k: usize,
    kl: f64,
}

pub fn run(setting: &mut Setting<'_>, seeds: &[u64]) -> Result<Table, ReproduceError> {
    let describe =
        |seed: &u64, run: &Run| format!("drift: stationary seed {seed}: {} drift events", run.n_drift_events);
    let runs = run_all(seeds, setting.n_threads, setting.progress, describe, |seed| one_run(*seed))?;
    let title =
        format!("False alarms on streams that do not change (K=10, D=3, 5,000 batches of 10, seeds {})", list(seeds));
    let mut table = Table::new("stationary", title, ["drift events", "deaths", "K, each seed", "KL"]);
    table.row([
        list(runs.iter().map(|r| r.n_drift_events)),
        list(runs.iter().map(|r| r.n_deaths)),
        list(runs.iter().map(|r| r.k)),
        mean_sd_text(&runs.iter().map(|r| r.kl).collect::<Vec<_>>()),
    ]);
    Ok(table)
}

fn one_run(seed: u64) -> Result<Run, ReproduceError> {
    let truth = ofab_truth(10, 3, Covariance::Aat, seed);
    let mut model = new_model(Kind::GmmOfab, 3, seed, Settings::default())?;
    feed_truth(&mut model, &truth, 5000, 10, seed, |_, _| {})?;
    let count = |what: Happening| model.events().iter().filter(|event| event.what == what).count();
    let snapshot = model.snapshot();
    Ok(Run {
        n_drift_events: count(Happening::Drift),
        n_deaths: count(Happening::Died),
        k: snapshot.k_realized(),
        kl: divergence(&truth, &snapshot, seed).mean,
    })
}
