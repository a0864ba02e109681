//! Artificial rows (figure 2): features found and time taken against the number of rows, for all methods.

use super::trial::{Method, told_noise};
use crate::error::ReproduceError;
use crate::experiment::Setting;
use crate::outcome::Outcome;
use crate::parallel::run_all;
use crate::summary::{mean_sd, mean_sd_text};
use crate::table::Table;
use bayestream::synthetic::PlantedFeatures;
use bayestream_plot::{Chart, grid};

const COLUMNS: usize = 30;
const FEATURES: [usize; 2] = [5, 10];
const ROWS: [usize; 5] = [100, 250, 500, 1000, 2000];
const METHODS: [Method; 6] = [Method::Births, Method::Printed, Method::Em, Method::Ibp, Method::Vb, Method::Meibp];

struct Job {
    features: usize,
    n: usize,
    method: Method,
    seed: u64,
}

struct Found {
    k: usize,
    seconds: f64,
}

fn learn(job: &Job) -> Result<Found, ReproduceError> {
    let rows = PlantedFeatures::gaussian(COLUMNS, job.features, job.seed).rows(0, job.n);
    let (set, seconds) = job.method.fit(&rows, COLUMNS, job.seed, &told_noise(1.0, &rows, COLUMNS));
    Ok(Found { k: set.features.len(), seconds })
}

pub fn run(setting: &mut Setting<'_>) -> Result<Outcome, ReproduceError> {
    let seeds = setting.seeds(9700..9710);
    let mut jobs = Vec::new();
    for features in FEATURES {
        for n in ROWS {
            for method in METHODS {
                jobs.extend(seeds.iter().map(|&seed| Job { features, n, method, seed }));
            }
        }
    }
    let describe = |job: &Job, found: &Found| {
        format!(
            "{} of {} features, {} rows, {}: {:.1} s",
            found.k,
            job.features,
            job.n,
            job.method.name(),
            found.seconds
        )
    };
    let found = run_all(&jobs, setting.n_threads, setting.progress, describe, learn)?;
    let cell = |features: usize, n: usize, method: Method| -> Vec<&Found> {
        let of_cell = |job: &Job| job.features == features && job.n == n && job.method == method;
        jobs.iter().zip(&found).filter(|(job, _)| of_cell(job)).map(|(_, found)| found).collect()
    };
    let counts = |of: &[&Found]| of.iter().map(|f| f.k as f64).collect::<Vec<_>>();
    let seconds = |of: &[&Found]| of.iter().map(|f| f.seconds).collect::<Vec<_>>();

    let columns = ["true K", "method", "N", "K found", "exact", "within one", "CPU seconds"];
    let mut table = Table::new("", "Features found and time against the number of rows", columns);
    let mut totals = Table::new("totals", "Over all sizes", ["method", "runs", "exact", "within one"]);
    for method in METHODS {
        let off = |job: &Job, found: &Found| job.features.abs_diff(found.k);
        let of_method: Vec<usize> =
            jobs.iter().zip(&found).filter(|(job, _)| job.method == method).map(|(job, f)| off(job, f)).collect();
        let share = |most: usize| {
            let n = of_method.iter().filter(|off| **off <= most).count();
            format!("{:.0} %", 100.0 * n as f64 / of_method.len() as f64)
        };
        totals.row([method.name().to_string(), of_method.len().to_string(), share(0), share(1)]);
        for features in FEATURES {
            for n in ROWS {
                let of = cell(features, n, method);
                let within = |most: usize| of.iter().filter(|f| f.k.abs_diff(features) <= most).count();
                table.row([
                    features.to_string(),
                    method.name().to_string(),
                    n.to_string(),
                    mean_sd_text(&counts(&of)),
                    format!("{} of {}", within(0), of.len()),
                    format!("{} of {}", within(1), of.len()),
                    mean_sd_text(&seconds(&of)),
                ]);
            }
        }
    }
    let mut charts = Vec::new();
    for features in FEATURES {
        let time = Chart::new(format!("Seconds, true K = {features}")).size(440.0, 320.0).x_label("N").log_x().log_y();
        let number = Chart::new(format!("K found, true K = {features}")).size(440.0, 320.0).x_label("N").log_x();
        let line = |method: Method, of: &dyn Fn(&[&Found]) -> Vec<f64>| -> Vec<(f64, f64)> {
            ROWS.iter().map(|&n| (n as f64, mean_sd(&of(&cell(features, n, method))).0)).collect()
        };
        charts.push(METHODS.iter().fold(time, |chart, &m| chart.line(m.name(), &line(m, &seconds))));
        charts.push(METHODS.iter().fold(number, |chart, &m| chart.line(m.name(), &line(m, &counts))));
    }
    let notes = vec![format!(
        "Rows of {COLUMNS} columns with weights from N(0, 1), each feature in half of the rows and noise 1; {} draws of each \
         (seeds {} to {}). FAB begins without features, and births are judged by the criterion; with a random start it is as printed. \
         IBP, VB and MEIBP are told the noise, EM and FAB learn it. IBP does 300 sweeps, VB tries every K from 2 to {COLUMNS}, \
         MEIBP counts cells from the least of their column, since its weights are not negative.",
        seeds.len(),
        seeds[0],
        seeds[seeds.len() - 1]
    )];
    let caption = "Figure 2: time and features found against the number of rows".to_string();
    let figures = vec![("size", caption, grid(&charts, 2))];
    Ok(Outcome { notes, tables: vec![totals, table], figures, files: Vec::new() })
}
