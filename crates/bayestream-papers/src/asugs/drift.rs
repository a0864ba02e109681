//! Components replaced twice, 3 → 3 → 4: with a memory of everything, and with one that fades.

use super::methods::{ASUGS, DPMM, Method};
use super::share_of;
use crate::error::ReproduceError;
use crate::experiment::Setting;
use crate::learn::{feed, new_model};
use crate::ofab::divergence;
use crate::outcome::Outcome;
use crate::parallel::run_all;
use crate::summary::{list, mean_sd, mean_sd_text, median, three};
use crate::table::Table;
use bayestream::structure::Snapshot;
use bayestream::synthetic::{AbruptDrift, Covariance};
use bayestream_plot::{Chart, MarkStyle, SvgFigure};

const ENDS: [usize; 3] = [3, 3, 4];
/// Rows of the stream that does not change: as many as the other has.
const STATIONARY: usize = 5000;
/// Batches between two looks.
const EVERY: usize = 5;
/// (method, memory in rows)
const CASES: [(Method, &str); 5] = [(ASUGS, "all"), (DPMM, "all"), (DPMM, "500"), (DPMM, "250"), (DPMM, "140")];

struct Run {
    k_at_end: Vec<usize>,
    kl_at_end: Vec<f64>,
    /// Divergence after a stream of all ten components that does not change.
    stationary: f64,
    /// Components after every [`EVERY`] batches.
    k: Vec<f64>,
}

pub fn run(setting: &mut Setting<'_>) -> Result<Outcome, ReproduceError> {
    let seeds = setting.seeds(9300..9305);
    let jobs: Vec<(usize, u64)> = (0..CASES.len()).flat_map(|c| seeds.iter().map(move |&seed| (c, seed))).collect();
    let describe = |&(case, seed): &(usize, u64), run: &Run| {
        format!("drift {} memory {} seed {seed}: K {}", CASES[case].0.name, CASES[case].1, list(&run.k_at_end))
    };
    let runs =
        run_all(&jobs, setting.n_threads, setting.progress, describe, |&(case, seed)| one_run(&CASES[case], seed))?;
    let by_case: Vec<&[Run]> = runs.chunks(seeds.len()).collect();
    let note = format!(
        "The stream of `ofab/drift`: 500 batches of 10 rows in 3 columns, components 1–3, then 4–6, then 7–10, seeds {}. \
         `--set memory=N` lets rows fade with a time constant of N rows; the sequential kinds of the papers have no such \
         setting. KL at the ends is the median over the seeds. What forgetting costs is in the last column: the \
         divergence after {STATIONARY} rows of all ten components together, which do not change.",
        list(&seeds)
    );
    let figures = vec![("stream", "Components along the stream, mean over the seeds".to_string(), figure(&by_case))];
    Ok(Outcome { notes: vec![note], tables: vec![table(&by_case)], figures, files: Vec::new() })
}

fn one_run((method, memory): &(Method, &str), seed: u64) -> Result<Run, ReproduceError> {
    let asked = [("memory", *memory)];
    let settings = method.settings(if *memory == "all" { &[] } else { &asked })?;
    let drift = AbruptDrift::new(Covariance::Aat, seed);
    let (rows, _) = drift.sample(seed);
    let mut model = new_model(method.kind, 3, seed, settings.clone())?;
    let mut snapshots: Vec<Snapshot> = Vec::new();
    let mut k = Vec::new();
    feed(&mut model, &rows, drift.batch, |n_done, model, _| {
        if n_done % EVERY == 0 {
            k.push(model.snapshot().k_realized() as f64);
        }
        if drift.segments.iter().any(|segment| segment.batches.end == n_done) {
            snapshots.push(model.snapshot());
        }
    })?;
    let truths = drift.segments.iter().map(|segment| drift.truth_of(segment));
    let mut still = new_model(method.kind, 3, seed, settings)?;
    feed(&mut still, &drift.truth.sample(STATIONARY, seed).0, drift.batch, |_, _, _| {})?;
    Ok(Run {
        k_at_end: snapshots.iter().map(Snapshot::k_realized).collect(),
        kl_at_end: truths.zip(&snapshots).map(|(truth, s)| divergence(&truth, s, seed).mean).collect(),
        stationary: divergence(&drift.truth, &still.snapshot(), seed).mean,
        k,
    })
}

fn table(by_case: &[&[Run]]) -> Table {
    let columns = ["method", "memory", "K at the ends (truth 3 3 4)", "right", "KL at the ends", "KL without change"];
    let mut table = Table::new("", "Components found after components were replaced", columns);
    for ((method, memory), runs) in CASES.iter().zip(by_case) {
        let k_at = |end: usize| mean_sd(&runs.iter().map(|r| r.k_at_end[end] as f64).collect::<Vec<_>>()).0;
        let kl_at = |end: usize| three(median(&runs.iter().map(|r| r.kl_at_end[end]).collect::<Vec<_>>()));
        table.row([
            method.name.to_string(),
            memory.to_string(),
            list((0..ENDS.len()).map(|end| format!("{:.1}", k_at(end)))),
            share_of(runs.iter().filter(|r| r.k_at_end == ENDS).count(), runs.len()),
            list((0..ENDS.len()).map(kl_at)),
            mean_sd_text(&runs.iter().map(|r| r.stationary).collect::<Vec<_>>()),
        ]);
    }
    table
}

fn figure(by_case: &[&[Run]]) -> SvgFigure {
    let mut chart = Chart::new("Components").size(640.0, 360.0).x_label("batch").y_label("K");
    for (color, ((method, memory), runs)) in CASES.iter().zip(by_case).enumerate() {
        let n_looks = runs.iter().map(|r| r.k.len()).min().unwrap_or(0);
        let mean = |look: usize| mean_sd(&runs.iter().map(|r| r.k[look]).collect::<Vec<_>>()).0;
        let points: Vec<(f64, f64)> = (0..n_looks).map(|look| (((look + 1) * EVERY) as f64, mean(look))).collect();
        chart = chart.line(format!("{}, memory {memory}", method.name), &points).color(color);
    }
    let truth = [(1.0, 3.0), (296.0, 4.0), (500.0, 4.0)];
    let switches = [(150.5, "4-6"), (295.5, "7-10")];
    (&chart.step("truth", &truth).color(7).dashed().marks(&switches, MarkStyle::default())).into()
}
