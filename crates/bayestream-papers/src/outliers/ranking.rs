//! How well outliers are put first, each row scored before it is learnt from.

use super::sets::{CHOOSING, Labelled, REPORTING, named};
use super::watch;
use crate::error::ReproduceError;
use crate::experiment::Setting;
use crate::outcome::Outcome;
use crate::parallel::run_all;
use crate::summary::mean_sd;
use crate::table::Table;
use bayestream::metrics::{average_precision, roc_auc};
use bayestream::num;

const BATCH: usize = 50;
/// Rows of a stream at most, and rows that are learnt from before scores count.
const MOST_ROWS: usize = 50_000;
const WARM_UP: usize = 500;
const MISSING: f64 = 0.2;

/// Areas under the ROC and the precision-recall curve, and the first with a fifth of the cells missing.
struct Ranked {
    roc: f64,
    precision: f64,
    roc_holed: f64,
}

fn rank(set: &Labelled, seed: u64) -> Result<Ranked, ReproduceError> {
    let mut sample = set.sample(MOST_ROWS, seed);
    let (roc, precision) = areas(&sample, seed)?;
    let mut rng = num::stream(seed, 1, 0);
    sample.rows.iter_mut().filter(|_| rng.uniform() < MISSING).for_each(|cell| *cell = f64::NAN);
    let (roc_holed, _) = areas(&sample, seed)?;
    Ok(Ranked { roc, precision, roc_holed })
}

fn areas(stream: &Labelled, seed: u64) -> Result<(f64, f64), ReproduceError> {
    let mut scores = Vec::with_capacity(stream.is_outlier.len());
    watch(&stream.rows, stream.n_columns, BATCH, seed, |verdicts| scores.extend(verdicts.iter().map(|v| v.surprise)))?;
    let from = WARM_UP.min(scores.len());
    let (scores, is_outlier) = (&scores[from..], &stream.is_outlier[from..]);
    Ok((roc_auc(scores, is_outlier), average_precision(scores, is_outlier)))
}

pub fn run(setting: &mut Setting<'_>) -> Result<Outcome, ReproduceError> {
    let seeds = setting.seeds(900..905);
    let names: Vec<&str> = CHOOSING.into_iter().chain(REPORTING).collect();
    let sets = names.iter().map(|name| named(&setting.data, name)).collect::<Result<Vec<_>, _>>()?;
    let jobs: Vec<(usize, u64)> = (0..sets.len()).flat_map(|ix| seeds.iter().map(move |&seed| (ix, seed))).collect();
    let describe = |&(ix, seed): &(usize, u64), r: &Ranked| {
        format!("{} seed {seed}: ROC {:.4}, PR {:.4}, with holes {:.4}", names[ix], r.roc, r.precision, r.roc_holed)
    };
    let found = run_all(&jobs, setting.n_threads, setting.progress, describe, |&(ix, seed)| rank(&sets[ix], seed))?;
    let columns = ["set", "half", "ROC AUC", "average precision", "ROC AUC, a fifth of the cells missing"];
    let mut table = Table::new("", "Outliers put first", columns);
    let mut means: Vec<[f64; 3]> = Vec::new();
    for (ix, name) in names.iter().enumerate() {
        let of_set: Vec<&Ranked> = jobs.iter().zip(&found).filter(|(job, _)| job.0 == ix).map(|(_, r)| r).collect();
        let summary = |value: fn(&Ranked) -> f64| mean_sd(&of_set.iter().map(|r| value(r)).collect::<Vec<_>>());
        let figures = [summary(|r| r.roc), summary(|r| r.precision), summary(|r| r.roc_holed)];
        means.push(figures.map(|f| f.0));
        let half = if ix < CHOOSING.len() { "choosing" } else { "reporting" };
        let [roc, precision, holed] = figures.map(|(mean, sd)| format!("{mean:.4} ± {sd:.4}"));
        table.row([(*name).to_string(), half.to_string(), roc, precision, holed]);
    }
    let halves = [
        ("mean", "choosing", 0..CHOOSING.len()),
        ("mean", "reporting", CHOOSING.len()..names.len()),
        ("mean", "all", 0..names.len()),
    ];
    for (label, half, range) in halves {
        let of = |v: usize| mean_sd(&means[range.clone()].iter().map(|m| m[v]).collect::<Vec<_>>()).0;
        let cells = [0, 1, 2].map(|v| format!("{:.4}", of(v)));
        table.row([label.to_string(), half.to_string()].into_iter().chain(cells));
    }
    let note = format!(
        "`watch` with default settings in batches of {BATCH}, {} shuffles (seeds {} to {}) of at most {MOST_ROWS} rows \
         at each set's share of outliers (at least 30 of them); the first {WARM_UP} rows are not counted. Rows are \
         ranked by their surprise. Settings were chosen on the choosing half.",
        seeds.len(),
        seeds[0],
        seeds[seeds.len() - 1],
    );
    Ok(Outcome { notes: vec![note], tables: vec![table], ..Outcome::default() })
}
