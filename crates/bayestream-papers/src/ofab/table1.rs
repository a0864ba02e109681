//! Table I: eight cells of (components, columns, rows per batch), 5,000 batches each.

use super::printed::{METHODS, Printed, TABLE_1};
use super::{Pass, divergence, exact_count, one_pass, worst_error};
use crate::error::ReproduceError;
use crate::experiment::Setting;
use crate::learn::{checkpoints, feed, new_model};
use crate::outcome::Outcome;
use crate::parallel::run_all;
use crate::summary::{list, mean_sd, mean_sd_text, three};
use crate::table::Table;
use bayestream::model::{Kind, Settings};
use bayestream::synthetic::{Covariance, Truth, ofab_truth};
use bayestream_plot::{Chart, grid};

const N_BATCHES: usize = 5000;
/// Rows given to our batch engine, which revisits them many times.
const BATCH_ROWS: usize = 10_000;
/// Cells up to this many means' coordinates run the batch engine without being asked to.
const BATCH_UP_TO: usize = 100;

struct Job {
    cell: usize,
    seed: u64,
    revisits: bool,
}

pub fn run(setting: &mut Setting<'_>) -> Result<Outcome, ReproduceError> {
    let seeds = setting.seeds(1000..1005);
    let with_batch = setting.with_batch;
    let mut jobs = Vec::new();
    for (cell, printed) in TABLE_1.iter().enumerate() {
        jobs.extend(seeds.iter().map(|&seed| Job { cell, seed, revisits: false }));
        // Batch FAB does not know batches: the two batch sizes share their first rows, and so its result.
        if printed.batch == 10 && (with_batch || printed.k * printed.d <= BATCH_UP_TO) {
            jobs.extend(seeds.iter().take(2).map(|&seed| Job { cell, seed, revisits: true }));
        }
    }
    let describe = |job: &Job, pass: &Pass| {
        let Printed { k, d, batch, .. } = TABLE_1[job.cell];
        let who = if job.revisits { "batch FAB" } else { "one pass" };
        format!("table1 K={k} D={d} T={batch} seed {} {who}: K {} KL {}", job.seed, pass.k, three(pass.kl.mean))
    };
    let passes = run_all(&jobs, setting.n_threads, setting.progress, describe, run_job)?;
    let of = |cell: usize, revisits: bool| -> Vec<&Pass> {
        let wanted = jobs.iter().zip(&passes).filter(|(job, _)| job.cell == cell && job.revisits == revisits);
        wanted.map(|(_, pass)| pass).collect()
    };
    Ok(Outcome {
        notes: notes(&seeds),
        tables: vec![divergences(&of), sizes(&of)],
        figures: vec![(
            "stream",
            "Divergence and number of components along the stream, K=10, D=3, T=10".into(),
            along_the_stream(&of(0, false)),
        )],
        files: Vec::new(),
    })
}

fn run_job(job: &Job) -> Result<Pass, ReproduceError> {
    let Printed { k, d, batch, .. } = TABLE_1[job.cell];
    let truth = truth_of(job.cell, job.seed);
    if !job.revisits {
        let look_at = if (k, d, batch) == (10, 3, 10) { checkpoints(N_BATCHES, 12) } else { Vec::new() };
        return one_pass(&truth, N_BATCHES, batch, job.seed, Settings::default(), &look_at);
    }
    let mut model = new_model(Kind::GmmFab, d, job.seed, Settings::default())?;
    let (rows, _) = truth.sample(BATCH_ROWS, job.seed);
    feed(&mut model, &rows, 1000, |_, _, _| {})?;
    model.finish();
    let snapshot = model.snapshot();
    Ok(Pass { k: snapshot.k_realized(), kl: divergence(&truth, &snapshot, job.seed), path: Vec::new() })
}

fn truth_of(cell: usize, seed: u64) -> Truth {
    ofab_truth(TABLE_1[cell].k, TABLE_1[cell].d, Covariance::Aat, seed)
}

fn limit(cell: usize, n_rows: usize) -> f64 {
    truth_of(cell, 0).n_free() / (2.0 * n_rows as f64)
}

fn notes(seeds: &[u64]) -> Vec<String> {
    vec![
        format!(
            "Ours: `gmm/ofab` with default settings, one pass over 5,000 batches of T rows, seeds {}. The limit is \
             P/2N, the divergence that maximum likelihood with the right number of components has on average, with P \
             free parameters and N rows; `ratio` is ours over it. `KL error` is the largest standard error of a \
             run's Monte Carlo estimate, relative to it.",
            list(seeds)
        ),
        "**The paper's columns are not like for like.** They are as printed. The paper's covariances, \"in \
         [0,1]^(D×D)\", are not a distribution of covariances; ours are A Aᵀ/D + 0.01 I with A from U[0,1], on which \
         components hardly overlap. The paper's own batch FAB stays far from the limit, so its data were harder or \
         its optimum was not reached."
            .into(),
        format!("`FAB, ours` is `gmm/fab` on the first {BATCH_ROWS} rows, whose own limit stands in parentheses."),
    ]
}

fn divergences<'a>(of: &impl Fn(usize, bool) -> Vec<&'a Pass>) -> Table {
    let columns = ["K*", "D", "T"].into_iter().map(String::from);
    let printed = METHODS.iter().map(|m| format!("{m}, paper"));
    let ours = ["limit", "ours", "worst", "ratio", "KL error", "K exact", "FAB, ours"].into_iter().map(String::from);
    let mut table = Table::new("", "Divergence from the truth, nats", columns.chain(printed).chain(ours));
    for (cell, printed) in TABLE_1.iter().enumerate() {
        let passes = of(cell, false);
        let kl: Vec<f64> = passes.iter().map(|p| p.kl.mean).collect();
        let limit = limit(cell, N_BATCHES * printed.batch);
        let mut row = vec![printed.k.to_string(), printed.d.to_string(), printed.batch.to_string()];
        row.extend(printed.kl.map(String::from));
        row.extend([
            three(limit),
            mean_sd_text(&kl),
            three(kl.iter().copied().fold(f64::NEG_INFINITY, f64::max)),
            format!("{:.2}", mean_sd(&kl).0 / limit),
            format!("{:.1} %", 100.0 * worst_error(&passes)),
            exact_count(&passes, printed.k),
            batch_fab(of, cell),
        ]);
        table.row(row);
    }
    table
}

/// What our batch engine came to in the cell with the same K and D.
fn batch_fab<'a>(of: &impl Fn(usize, bool) -> Vec<&'a Pass>, cell: usize) -> String {
    let same = |other: &&Printed| (other.k, other.d, other.batch) == (TABLE_1[cell].k, TABLE_1[cell].d, 10);
    let from = TABLE_1.iter().position(|other| same(&other)).unwrap_or(cell);
    let passes = of(from, true);
    if passes.is_empty() {
        return "not run".into();
    }
    let kl: Vec<f64> = passes.iter().map(|p| p.kl.mean).collect();
    let sizes = list(passes.iter().map(|p| p.k));
    format!("{} ({}), K {sizes}", three(mean_sd(&kl).0), three(limit(cell, BATCH_ROWS)))
}

fn sizes<'a>(of: &impl Fn(usize, bool) -> Vec<&'a Pass>) -> Table {
    let columns = ["K*", "D", "T"].into_iter().map(String::from);
    let printed = METHODS.iter().map(|m| format!("{m}, paper"));
    let ours = ["ours", "ours, each seed"].into_iter().map(String::from);
    let mut table = Table::new("components", "Number of components", columns.chain(printed).chain(ours));
    for (cell, printed) in TABLE_1.iter().enumerate() {
        let k: Vec<usize> = of(cell, false).iter().map(|p| p.k).collect();
        let as_numbers: Vec<f64> = k.iter().map(|&k| k as f64).collect();
        let (mean, sd) = mean_sd(&as_numbers);
        let mut row = vec![printed.k.to_string(), printed.d.to_string(), printed.batch.to_string()];
        row.extend(printed.n_components.map(String::from));
        row.extend([format!("{mean:.1} ({sd:.2})"), list(k)]);
        table.row(row);
    }
    table
}

fn along_the_stream(passes: &[&Pass]) -> bayestream_plot::SvgFigure {
    let mut kl =
        Chart::new("Divergence from the truth").size(520.0, 360.0).x_label("rows seen").y_label("nats").log_x().log_y();
    let mut k = Chart::new("Components").size(520.0, 360.0).x_label("rows seen").y_label("K").log_x();
    for (ix, pass) in passes.iter().enumerate() {
        let name = if ix == 0 { "each seed" } else { "" };
        let divergence: Vec<(f64, f64)> = pass.path.iter().map(|(n, kl, _)| (*n, *kl)).collect();
        let size: Vec<(f64, f64)> = pass.path.iter().map(|(n, _, k)| (*n, *k)).collect();
        kl = kl.line(name, &divergence).color(0).line_width(1.2);
        k = k.step(name, &size).color(0).line_width(1.2);
    }
    let n: Vec<f64> = passes.first().map_or(Vec::new(), |p| p.path.iter().map(|(n, _, _)| *n).collect());
    let limits: Vec<(f64, f64)> = n.iter().map(|n| (*n, limit(0, 1) / n)).collect();
    let truth: Vec<(f64, f64)> = n.iter().map(|n| (*n, TABLE_1[0].k as f64)).collect();
    grid(&[kl.line("limit P/2N", &limits).color(1).dashed(), k.line("truth", &truth).color(1).dashed()], 2)
}
