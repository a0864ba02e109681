//! The share of p-values at most a on streams that do not change.

use super::generators::GENERATORS;
use super::sets::{named, shuffled};
use super::watch;
use crate::error::ReproduceError;
use crate::experiment::Setting;
use crate::outcome::Outcome;
use crate::parallel::run_all;
use crate::summary::three;
use crate::table::Table;
use bayestream::num;

const LEVELS: [f64; 3] = [0.1, 0.01, 0.001];
const N_ROWS: usize = 1_000_000;
const BATCH: usize = 100;
/// As `watch` goes when it is not told otherwise.
const REAL_BATCH: usize = 1;
/// Rows that are not counted.
const WARM_UP: usize = 20_000;
const REAL_WARM_UP: usize = 2000;

/// A stream, and the realised share over the nominal one at each level.
struct Calibrated {
    name: String,
    n_rows: usize,
    ratios: [f64; LEVELS.len()],
}

fn calibrate(
    name: String,
    rows: &[f64],
    n_columns: usize,
    batch: usize,
    warm_up: usize,
    seed: u64,
) -> Result<Calibrated, ReproduceError> {
    let (mut n_seen, mut n_at_most) = (0, [0.0; LEVELS.len()]);
    watch(rows, n_columns, batch, seed, |verdicts| {
        for verdict in verdicts {
            n_seen += 1;
            if n_seen > warm_up {
                LEVELS.iter().zip(&mut n_at_most).for_each(|(a, n)| *n += f64::from(u8::from(verdict.p_value <= *a)));
            }
        }
    })?;
    let counted = n_seen.saturating_sub(warm_up);
    let ratios = std::array::from_fn(|i| n_at_most[i] / (LEVELS[i] * counted as f64));
    Ok(Calibrated { name, n_rows: counted, ratios })
}

fn outcome(title: &str, note: String, found: &[Calibrated]) -> Outcome {
    let mut table = Table::new("", title, ["stream", "rows counted", "p <= 0.1", "p <= 0.01", "p <= 0.001"]);
    for c in found {
        let ratios = c.ratios.map(three);
        table.row([c.name.clone(), c.n_rows.to_string(), ratios[0].clone(), ratios[1].clone(), ratios[2].clone()]);
    }
    Outcome { notes: vec![note], tables: vec![table], ..Outcome::default() }
}

/// A million rows of each generator.
pub fn run(setting: &mut Setting<'_>) -> Result<Outcome, ReproduceError> {
    let seed = setting.seeds(8000..8001)[0];
    let describe = |_: &usize, c: &Calibrated| format!("{}: {:?}", c.name, c.ratios.map(three));
    let jobs: Vec<usize> = (0..GENERATORS.len()).collect();
    let found = run_all(&jobs, setting.n_threads, setting.progress, describe, |&ix| {
        let generator = &GENERATORS[ix];
        let mut rng = num::stream(seed, ix as u64, 0);
        let mut rows = Vec::with_capacity(N_ROWS * generator.n_columns);
        (0..N_ROWS).for_each(|_| (generator.row)(&mut rng, &mut rows));
        calibrate(generator.name.into(), &rows, generator.n_columns, BATCH, WARM_UP, seed)
    })?;
    let note = format!(
        "One pass of `watch` in batches of {BATCH} over {N_ROWS} rows, the first {WARM_UP} not counted: the share of \
         rows with p at most a, over a. Chance alone moves the last column by about 0.04."
    );
    Ok(outcome("Realised over nominal rate of p-values", note, &found))
}

/// Real rows without anomalies.
pub fn run_real(setting: &mut Setting<'_>) -> Result<Outcome, ReproduceError> {
    let seed = setting.seeds(8000..8001)[0];
    let shuttle = named(&setting.data, "shuttle")?.normal_only();
    let http = named(&setting.data, "http")?.normal_only();
    let skab = super::sets::skab_without_anomalies(&setting.data)?;
    let streams = [
        ("Shuttle, class 1, shuffled", shuffled(&shuttle, seed), REAL_BATCH),
        ("http, normal, in the order of the file", http.clone(), REAL_BATCH),
        ("http, normal, shuffled", shuffled(&http, seed), REAL_BATCH),
        ("SKAB, anomaly-free, in the order of time", skab.clone(), REAL_BATCH),
        ("SKAB, anomaly-free, in the order of time, in batches", skab.clone(), BATCH),
        ("SKAB, anomaly-free, shuffled", shuffled(&skab, seed), REAL_BATCH),
    ];
    let describe = |_: &usize, c: &Calibrated| format!("{}: {:?}", c.name, c.ratios.map(three));
    let jobs: Vec<usize> = (0..streams.len()).collect();
    let found = run_all(&jobs, setting.n_threads, setting.progress, describe, |&ix| {
        let (name, set, batch) = &streams[ix];
        calibrate((*name).into(), &set.rows, set.n_columns, *batch, REAL_WARM_UP, seed)
    })?;
    let note = format!(
        "One pass of `watch`, row by row as it goes by default (in batches: {BATCH} rows), the first {REAL_WARM_UP} rows not \
         counted: the share of rows with p at most a, over a. Files in their own order are not stationary."
    );
    Ok(outcome("Realised over nominal rate of p-values, real rows", note, &found))
}
