//! Ten components in three segments of 3, 3 and 4: how soon is each number found?

use super::super::divergence;
use crate::error::ReproduceError;
use crate::experiment::Setting;
use crate::learn::{feed, new_model};
use crate::outcome::Outcome;
use crate::parallel::run_all;
use crate::summary::{list, median, three};
use crate::table::Table;
use bayestream::model::{Kind, Settings};
use bayestream::synthetic::{AbruptDrift, Covariance};

/// Batches between two looks at the number of components.
pub const EVERY: usize = 5;
/// Share of the later looks of a segment that must be right for a number to count as found.
const STAYS: f64 = 0.8;

pub struct Run {
    /// Components after every [`EVERY`] batches.
    pub k: Vec<usize>,
    /// Mean log-density of each batch before it was learned from (not a number for the first), and under the truth.
    pub log_score: Vec<f64>,
    pub log_truth: Vec<f64>,
    /// One value per segment.
    pub lags: Vec<f64>,
    pub k_at_end: Vec<usize>,
    pub kl_at_end: Vec<f64>,
}

pub fn run(setting: &mut Setting<'_>, seeds: &[u64]) -> Result<Outcome, ReproduceError> {
    let describe = |seed: &u64, run: &Run| {
        let lags: Vec<String> = run.lags.iter().map(|lag| three(*lag)).collect();
        format!("drift seed {seed}: K {} lags {}", list(&run.k_at_end), list(lags))
    };
    let runs = run_all(seeds, setting.n_threads, setting.progress, describe, |seed| {
        one_run(Kind::GmmOfab, Settings::default(), *seed)
    })?;
    let note = format!(
        "`gmm/ofab`, 500 batches of 10 rows in 3 columns, truth 3, 3, 4 components from batches 1, 151, 296. The \
         number of components is looked at every {EVERY} batches; the lag is the number of batches from a segment's \
         start until it is right and right in at least {:.0} % of the looks from there to the segment's end (∞ when \
         that never happens). The prequential log-score of a batch is taken before it is learned from.",
        100.0 * STAYS
    );
    Ok(Outcome { notes: vec![note], tables: vec![table(seeds, &runs)], ..Outcome::default() })
}

/// One pass of a kind over the stream of this seed.
pub fn one_run(kind: Kind, settings: Settings, seed: u64) -> Result<Run, ReproduceError> {
    let drift = AbruptDrift::new(Covariance::Aat, seed);
    let truths: Vec<_> = drift.segments.iter().map(|segment| drift.truth_of(segment)).collect();
    let (rows, _) = drift.sample(seed);
    let d = drift.truth.n_columns();
    let mut model = new_model(kind, d, seed, settings)?;
    let (mut k, mut log_score, mut snapshots) = (Vec::new(), Vec::new(), Vec::new());
    feed(&mut model, &rows, drift.batch, |n_done, model, report| {
        log_score.push(report.log_score / report.n_scored as f64);
        if n_done % EVERY == 0 {
            k.push(model.snapshot().k_realized());
        }
        if drift.segments.iter().any(|segment| segment.batches.end == n_done) {
            snapshots.push(model.snapshot());
        }
    })?;
    let log_truth = drift
        .segments
        .iter()
        .zip(&truths)
        .flat_map(|(segment, truth)| {
            let cells = segment.batches.start * drift.batch * d..segment.batches.end * drift.batch * d;
            let scores = truth.log_density(&rows[cells]);
            scores.chunks(drift.batch).map(|batch| batch.iter().sum::<f64>() / batch.len() as f64).collect::<Vec<_>>()
        })
        .collect();
    let lags = drift
        .segments
        .iter()
        .map(|s| lag(&k[s.batches.start / EVERY..s.batches.end / EVERY], s.components.len()))
        .collect();
    let k_at_end = snapshots.iter().map(|s| s.k_realized()).collect();
    let kl_at_end = truths.iter().zip(&snapshots).map(|(truth, s)| divergence(truth, s, seed).mean).collect();
    Ok(Run { k, log_score, log_truth, lags, k_at_end, kl_at_end })
}

/// Batches until the number is right to stay, from the looks of one segment.
fn lag(looks: &[usize], truth: usize) -> f64 {
    let stays = |from: usize| {
        let rest = &looks[from..];
        let right = rest.iter().filter(|k| **k == truth).count();
        looks[from] == truth && right as f64 >= STAYS * rest.len() as f64
    };
    (0..looks.len()).find(|from| stays(*from)).map_or(f64::INFINITY, |from| ((from + 1) * EVERY) as f64)
}

fn table(seeds: &[u64], runs: &[Run]) -> Table {
    let mut table = Table::new(
        "",
        "Components found after components were replaced",
        ["seed", "K at the ends (truth 3 3 4)", "lag 1", "lag 2", "lag 3", "KL at the ends"],
    );
    for (seed, run) in seeds.iter().zip(runs) {
        let mut row = vec![seed.to_string(), list(&run.k_at_end)];
        row.extend(run.lags.iter().map(|lag| lag.to_string().replace("inf", "∞")));
        row.push(list(run.kl_at_end.iter().map(|kl| three(*kl))));
        table.row(row);
    }
    let right = runs.iter().filter(|run| run.k_at_end == [3, 3, 4]).count();
    let of_segment = |ix: usize| median(&runs.iter().map(|run| run.lags[ix]).collect::<Vec<_>>());
    let kl = |ix: usize| three(median(&runs.iter().map(|run| run.kl_at_end[ix]).collect::<Vec<_>>()));
    let mut row = vec!["median".to_string(), format!("right in {right} of {}", runs.len())];
    row.extend((0..3).map(|ix| of_segment(ix).to_string().replace("inf", "∞")));
    row.push(list((0..3).map(kl)));
    table.row(row);
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_must_be_right_and_stay_right() {
        assert_eq!(lag(&[1, 3, 3, 3, 3], 3), 10.0);
        // Right at the second look, but only in three of the four from there.
        assert_eq!(lag(&[1, 3, 2, 3, 3], 3), 20.0);
        assert_eq!(lag(&[3, 2, 3, 3, 3], 3), 5.0);
        assert_eq!(lag(&[3, 3, 2], 3), f64::INFINITY);
        assert_eq!(lag(&[], 3), f64::INFINITY);
    }
}
