//! Section 6.1: 16 classes in two columns, 500 rows to learn from and 1,000 to test on.

use super::methods::{ABOUT_PRIOR, ABOUT_PRUNING, ASUGS, ASUGS_PM, DPMM, METHODS, Method, SVA, SVA_PM};
use super::{assigned, learnt, share_of};
use crate::error::ReproduceError;
use crate::experiment::Setting;
use crate::learn::{evaluation_seed, feed, new_model};
use crate::outcome::Outcome;
use crate::parallel::run_all;
use crate::summary::{mean_sd, mean_sd_text, three};
use crate::table::Table;
use bayestream::metrics::adjusted_rand_index;
use bayestream::synthetic::{Truth, grid_truth};
use bayestream_plot::{Chart, SvgFigure, grid};

const TRUE_K: usize = 16;
const N_TRAIN: usize = 500;
const N_TEST: usize = 1000;
/// Rows between two looks.
const EVERY: usize = 20;
/// Trials of the table of priors.
const FEW: usize = 20;
/// What the figure shows, as the paper's does, and ours.
const SHOWN: [Method; 5] = [ASUGS, ASUGS_PM, SVA, SVA_PM, DPMM];
/// Priors that are asked for: share of the variance expected within a class, degrees of freedom.
const SCALES: [&str; 4] = ["0.003", "0.01", "0.03", "0.1"];
const DEGREES: [&str; 3] = ["5", "12", "32"];
const UNDER_PRIORS: [Method; 3] = [ASUGS, ASUGS_PM, SVA_PM];

/// Equal variances of 0.025, as printed, a unit apart.
pub fn truth() -> Truth {
    grid_truth(4, 1.0, 0.025)
}

/// Components, and the log-likelihood lost to the truth.
#[derive(Clone, Copy)]
struct Look {
    k: f64,
    lost: f64,
}

struct Trial {
    /// One after every [`EVERY`] rows.
    looks: Vec<Look>,
    k: usize,
    log_likelihood: f64,
    truth: f64,
    ari: f64,
}

pub fn run(setting: &mut Setting<'_>) -> Result<Outcome, ReproduceError> {
    let seeds = setting.seeds(9300..9350);
    let jobs: Vec<(usize, u64)> = (0..METHODS.len()).flat_map(|m| seeds.iter().map(move |&seed| (m, seed))).collect();
    let describe = |&(m, seed): &(usize, u64), trial: &Trial| {
        format!("classes {} seed {seed}: K {} log-likelihood {}", METHODS[m].name, trial.k, three(trial.log_likelihood))
    };
    let run_job = |&(m, seed): &(usize, u64)| one_trial(&METHODS[m], seed);
    let trials = run_all(&jobs, setting.n_threads, setting.progress, describe, run_job)?;
    let by_method: Vec<&[Trial]> = trials.chunks(seeds.len()).collect();
    let notes = vec![
        format!(
            "16 equal classes of variance 0.025 on a grid of spacing 1, {N_TRAIN} rows to learn from, {N_TEST} to test \
             on, {} trials (seeds {} to {}). `test` is the mean log-density of the test rows in nats, `lost` what the \
             truth has more; the adjusted Rand index is of the test rows. {ABOUT_PRIOR} {ABOUT_PRUNING}",
            seeds.len(),
            seeds[0],
            seeds[seeds.len() - 1]
        ),
        "The paper says that ASUGS-PM \"identifies the correct number of clusters\" and prints no table. Figure 1 (b) of the \
         paper is the figure here."
            .into(),
    ];
    let tables = vec![results(&by_method), under_priors(setting, &seeds[..seeds.len().min(FEW)])?];
    let figure = (
        "stream",
        "Classes along the stream: mean and variance over the trials, and the log-likelihood that is \
                   lost to the truth"
            .to_string(),
        figure(&by_method),
    );
    Ok(Outcome { notes, tables, figures: vec![figure], files: Vec::new() })
}

fn one_trial(method: &Method, seed: u64) -> Result<Trial, ReproduceError> {
    let truth = truth();
    let (rows, _) = truth.sample(N_TRAIN, seed);
    let (test, labels) = truth.sample(N_TEST, evaluation_seed(seed));
    let best = truth.log_density(&test).iter().sum::<f64>() / N_TEST as f64;
    let mut model = new_model(method.kind, 2, seed, method.settings(&[])?)?;
    let mut looks = Vec::new();
    feed(&mut model, &rows, EVERY, |_, model, _| {
        let snapshot = model.snapshot();
        let lost = best - snapshot.scorer().mean_log_density(&test);
        looks.push(Look { k: snapshot.k_realized() as f64, lost });
    })?;
    let snapshot = model.snapshot();
    Ok(Trial {
        looks,
        k: snapshot.k_realized(),
        log_likelihood: snapshot.scorer().mean_log_density(&test),
        truth: best,
        ari: adjusted_rand_index(&assigned(&snapshot, &test), &labels),
    })
}

fn results(by_method: &[&[Trial]]) -> Table {
    let columns = ["method", "kind", "K", "K = 16", "test", "lost", "ARI"];
    let mut table = Table::new("", "16 classes: what 500 rows come to", columns);
    for (method, trials) in METHODS.iter().zip(by_method) {
        let of = |value: fn(&Trial) -> f64| trials.iter().map(value).collect::<Vec<f64>>();
        let right = trials.iter().filter(|t| t.k == TRUE_K).count();
        table.row([
            method.name.to_string(),
            method.command(),
            mean_sd_text(&of(|t| t.k as f64)),
            format!("{:.0} %", 100.0 * right as f64 / trials.len() as f64),
            mean_sd_text(&of(|t| t.log_likelihood)),
            mean_sd_text(&of(|t| t.truth - t.log_likelihood)),
            mean_sd_text(&of(|t| t.ari)),
        ]);
    }
    table
}

/// How much hangs on a prior that is not in print.
fn under_priors(setting: &mut Setting<'_>, seeds: &[u64]) -> Result<Table, ReproduceError> {
    let mut cells: Vec<(&str, &str, usize)> = Vec::new();
    for scale in SCALES {
        for nu0 in DEGREES {
            cells.extend((0..UNDER_PRIORS.len()).map(|m| (scale, nu0, m)));
        }
    }
    let describe = |&(scale, nu0, m): &(&str, &str, usize), found: &Vec<usize>| {
        let right = found.iter().filter(|k| **k == TRUE_K).count();
        format!("classes prior-scale={scale} nu0={nu0} {}: right {right}", UNDER_PRIORS[m].name)
    };
    let run_job = |&(scale, nu0, m): &(&str, &str, usize)| {
        let method = UNDER_PRIORS[m];
        let asked = [("prior-scale", scale), ("nu0", nu0)];
        let k = |seed: &u64| -> Result<usize, ReproduceError> {
            let (rows, _) = truth().sample(N_TRAIN, *seed);
            Ok(learnt(method.kind, 2, &rows, EVERY, *seed, method.settings(&asked)?)?.snapshot().k_realized())
        };
        seeds.iter().map(k).collect()
    };
    let found = run_all(&cells, setting.n_threads, setting.progress, describe, run_job)?;
    let head = ["prior-scale", "nu0"].into_iter().map(String::from);
    let columns = UNDER_PRIORS.iter().flat_map(|m| [format!("{}: K", m.name), "K = 16".to_string()]);
    let title = format!("The same under priors that are asked for, {} trials each (true scale 0.02)", seeds.len());
    let mut table = Table::new("priors", title, head.chain(columns));
    for (cells, found) in cells.chunks(UNDER_PRIORS.len()).zip(found.chunks(UNDER_PRIORS.len())) {
        let mut row = vec![cells[0].0.to_string(), cells[0].1.to_string()];
        for k in found {
            row.push(format!("{:.1}", mean_sd(&k.iter().map(|k| *k as f64).collect::<Vec<_>>()).0));
            row.push(share_of(k.iter().filter(|k| **k == TRUE_K).count(), k.len()));
        }
        table.row(row);
    }
    Ok(table)
}

fn figure(by_method: &[&[Trial]]) -> SvgFigure {
    let chart = |title: &str, label: &str| Chart::new(title).size(400.0, 330.0).x_label("rows seen").y_label(label);
    let mut mean = chart("Classes, mean over the trials", "K");
    let mut variance = chart("Classes, variance over the trials", "variance of K");
    let mut lost = chart("Log-likelihood lost to the truth", "nats a row").log_y();
    for (color, shown) in SHOWN.iter().enumerate() {
        let Some(at) = METHODS.iter().position(|m| m.name == shown.name) else { continue };
        let trials = by_method[at];
        let n_looks = trials.iter().map(|t| t.looks.len()).min().unwrap_or(0);
        let along = |value: fn(&Look) -> f64, of: fn(&[f64]) -> f64| -> Vec<(f64, f64)> {
            let at = |look: usize| of(&trials.iter().map(|t| value(&t.looks[look])).collect::<Vec<_>>());
            (0..n_looks).map(|look| (((look + 1) * EVERY) as f64, at(look))).collect()
        };
        mean = mean.line(shown.name, &along(|l| l.k, |k| mean_sd(k).0)).color(color);
        variance = variance.line(shown.name, &along(|l| l.k, |k| mean_sd(k).1.powi(2))).color(color);
        lost = lost.line(shown.name, &along(|l| l.lost, |lost| mean_sd(lost).0)).color(color);
    }
    let truth = [(EVERY as f64, TRUE_K as f64), (N_TRAIN as f64, TRUE_K as f64)];
    grid(&[mean.line("truth", &truth).color(7).dashed(), variance, lost], 3)
}
