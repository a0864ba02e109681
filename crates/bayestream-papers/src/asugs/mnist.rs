//! Section 6.2: handwritten digits in 50 principal components, 1,000 of them to learn from; and all 60,000.

use super::methods::{ABOUT_PRIOR, ABOUT_PRUNING, ASUGS_EXACT, ASUGS_PM, DPMM, Method, SVA_EXACT, SVA_PM};
use super::{assigned, foretold, learnt};
use crate::error::ReproduceError;
use crate::experiment::Setting;
use crate::outcome::Outcome;
use crate::parallel::run_all;
use crate::pca::Pca;
use crate::summary::{list, mean_sd, mean_sd_text, three};
use crate::table::Table;
use bayestream::metrics::normalised_mutual_information;
use bayestream::num;
use bayestream::structure::ComponentId;
use bayestream_plot::{Chart, SvgFigure, grid};

const N_AXES: usize = 50;
const FEW: usize = 1000;
const BATCH: usize = 100;
/// Test pictures whose density is asked for one by one, each of a copy of the learner.
const N_FORETOLD: usize = 500;
/// Side of a picture, and pictures in a line of the figure.
const SIDE: usize = 28;
const PER_LINE: usize = 14;

/// A method, a prior that is asked for (scale, degrees of freedom), and clusters in print.
struct Case {
    method: Method,
    asked: Option<(&'static str, &'static str)>,
    printed: &'static str,
}

const CASES: [Case; 13] = [
    Case { method: ASUGS_PM, asked: None, printed: "23" },
    Case { method: SVA_PM, asked: None, printed: "56" },
    Case { method: ASUGS_EXACT, asked: None, printed: "" },
    Case { method: SVA_EXACT, asked: None, printed: "" },
    Case { method: DPMM, asked: None, printed: "" },
    Case { method: ASUGS_PM, asked: Some(("0.8", "100")), printed: "23" },
    Case { method: SVA_PM, asked: Some(("0.8", "100")), printed: "56" },
    Case { method: ASUGS_PM, asked: Some(("0.6", "100")), printed: "23" },
    Case { method: SVA_PM, asked: Some(("0.6", "100")), printed: "56" },
    Case { method: ASUGS_PM, asked: Some(("0.4", "100")), printed: "23" },
    Case { method: SVA_PM, asked: Some(("0.4", "100")), printed: "56" },
    Case { method: ASUGS_PM, asked: Some(("0.8", "53")), printed: "23" },
    Case { method: SVA_PM, asked: Some(("0.8", "53")), printed: "56" },
];

struct Digits {
    pca: Pca,
    train: Vec<f64>,
    test: Vec<f64>,
    labels: Vec<u8>,
}

struct Run {
    k: usize,
    /// Mean log-density of the first [`N_FORETOLD`] test pictures, and of all of them under the snapshot.
    foretold: f64,
    of_snapshot: f64,
    nmi: f64,
    purity: f64,
    /// Digits that are the most frequent one of some cluster.
    n_digits: usize,
    means: Vec<Vec<f64>>,
}

struct Job {
    method: Method,
    asked: Option<(&'static str, &'static str)>,
    n_rows: usize,
    seed: u64,
}

pub fn run(setting: &mut Setting<'_>) -> Result<Outcome, ReproduceError> {
    let seeds = setting.seeds(9300..9305);
    let digits = read(setting)?;
    let n_all = digits.train.len() / N_AXES;
    let mut jobs: Vec<Job> = Vec::new();
    for case in &CASES {
        jobs.extend(seeds.iter().map(|&seed| Job { method: case.method, asked: case.asked, n_rows: FEW, seed }));
    }
    jobs.extend(seeds.iter().map(|&seed| Job { method: DPMM, asked: None, n_rows: n_all, seed }));
    let describe = |job: &Job, run: &Run| {
        format!("mnist {} {} rows seed {}: K {} NMI {:.3}", job.method.name, job.n_rows, job.seed, run.k, run.nmi)
    };
    let runs = run_all(&jobs, setting.n_threads, setting.progress, describe, |job| one_run(&digits, job))?;
    let (few, all) = runs.split_at(CASES.len() * seeds.len());
    let by_case: Vec<&[Run]> = few.chunks(seeds.len()).collect();
    let notes = vec![
        format!(
            "MNIST in its first {N_AXES} principal components, found on the {n_all} training pictures (pixels from 0 to 1). \
             {FEW} of them at random, seeds {}. `foretold` is the mean log-density, \
             in nats and these coordinates, that the learner's predictive distribution (10) has for the first {N_FORETOLD} test \
             pictures, `snapshot` what the Gaussians of its snapshot have for all 10,000: many classes here have fewer rows than \
             columns, and a Gaussian with their covariance is far too sure. NMI (normalised mutual information) and purity are of their digits, \
             `digits` is how many of the ten are the most frequent in some cluster. {ABOUT_PRIOR} {ABOUT_PRUNING}",
            list(&seeds),
        ),
        "The paper prints 23 clusters for ASUGS-PM, which \"finds all digits\", 56 for SVA-PM, and the higher likelihood for \
         ASUGS-PM, with priors that it does not print."
            .into(),
    ];
    let shown = [0, 1, 4];
    let pictures = figure(&digits.pca, &shown.map(|ix| (&CASES[ix].method, &by_case[ix][0])));
    let caption =
        format!("Figure 3: mean pictures of the clusters after {FEW} pictures, heaviest first, seed {}", seeds[0]);
    Ok(Outcome {
        notes,
        tables: vec![few_table(&by_case), all_table(n_all, all)],
        figures: vec![("means", caption, pictures)],
        files: Vec::new(),
    })
}

fn read(setting: &mut Setting<'_>) -> Result<Digits, ReproduceError> {
    let train = setting.data.images("mnist/train-images-idx3-ubyte.gz")?;
    let test = setting.data.images("mnist/t10k-images-idx3-ubyte.gz")?;
    let labels = setting.data.labels("mnist/t10k-labels-idx1-ubyte.gz")?;
    let wrong = |reason: String| ReproduceError::BadData { file: "mnist/t10k-images-idx3-ubyte.gz".into(), reason };
    if train.n_pixels != SIDE * SIDE || test.n_pixels != SIDE * SIDE {
        return Err(wrong(format!("its pictures or those to learn from do not have {SIDE} × {SIDE} pixels")));
    }
    if labels.len() * test.n_pixels != test.pixels.len() {
        return Err(wrong(format!("there are {} labels for its pictures", labels.len())));
    }
    (setting.progress)("mnist: principal components");
    let pca = Pca::of(&train, N_AXES);
    let (train, test) = (pca.coordinates(&train), pca.coordinates(&test));
    Ok(Digits { pca, train, test, labels })
}

fn one_run(digits: &Digits, job: &Job) -> Result<Run, ReproduceError> {
    let mut order: Vec<usize> = (0..digits.train.len() / N_AXES).collect();
    num::stream(job.seed, 0, 0).shuffle(&mut order);
    order.truncate(job.n_rows);
    let rows: Vec<f64> =
        order.iter().flat_map(|i| digits.train[i * N_AXES..(i + 1) * N_AXES].iter().copied()).collect();
    let asked: Vec<(&str, &str)> =
        job.asked.iter().flat_map(|(scale, nu0)| [("prior-scale", *scale), ("nu0", *nu0)]).collect();
    let model = learnt(job.method.kind, N_AXES, &rows, BATCH, job.seed, job.method.settings(&asked)?)?;
    let snapshot = model.snapshot();
    let found = assigned(&snapshot, &digits.test);
    let (purity, n_digits) = majorities(&found, &digits.labels);
    Ok(Run {
        k: snapshot.k_realized(),
        foretold: foretold(&model, &digits.test[..digits.test.len().min(N_FORETOLD * N_AXES)])?,
        of_snapshot: snapshot.scorer().mean_log_density(&digits.test),
        nmi: normalised_mutual_information(&found, &digits.labels),
        purity,
        n_digits,
        means: snapshot.components.iter().map(|c| c.mean.clone()).collect(),
    })
}

/// Share of the rows that have their cluster's most frequent label, and how many labels are that of some cluster.
fn majorities(found: &[Option<ComponentId>], labels: &[u8]) -> (f64, usize) {
    let mut clusters: Vec<Option<ComponentId>> = found.to_vec();
    clusters.sort_unstable();
    clusters.dedup();
    let mut counts = vec![[0usize; 256]; clusters.len()];
    for (cluster, label) in found.iter().zip(labels) {
        if let Ok(at) = clusters.binary_search(cluster) {
            counts[at][usize::from(*label)] += 1;
        }
    }
    let (mut right, mut named) = (0, [false; 256]);
    for counts in &counts {
        let (label, most) =
            counts.iter().enumerate().fold((0, 0), |best, (l, &n)| if n > best.1 { (l, n) } else { best });
        right += most;
        named[label] |= most > 0;
    }
    (right as f64 / labels.len() as f64, named.iter().filter(|n| **n).count())
}

fn cells(runs: &[Run]) -> [String; 6] {
    let of = |value: fn(&Run) -> f64| runs.iter().map(value).collect::<Vec<f64>>();
    [
        list(runs.iter().map(|r| r.k)),
        mean_sd_text(&of(|r| r.foretold)),
        mean_sd_text(&of(|r| r.of_snapshot)),
        mean_sd_text(&of(|r| r.nmi)),
        three(mean_sd(&of(|r| r.purity)).0),
        list(runs.iter().map(|r| r.n_digits)),
    ]
}

fn few_table(by_case: &[&[Run]]) -> Table {
    let columns = ["method", "prior-scale", "nu0", "K, paper", "K", "foretold", "snapshot", "NMI", "purity", "digits"];
    let mut table = Table::new("", format!("Clusters of {FEW} digits"), columns);
    for (case, runs) in CASES.iter().zip(by_case) {
        let (scale, nu0) = case.asked.unwrap_or(("auto", "auto"));
        let head = [case.method.name, scale, nu0, case.printed].map(String::from);
        table.row(head.into_iter().chain(cells(runs)));
    }
    table
}

fn all_table(n_all: usize, runs: &[Run]) -> Table {
    let title = format!("One pass over all {n_all} pictures");
    let mut table = Table::new("all", title, ["method", "K", "foretold", "snapshot", "NMI", "purity", "digits"]);
    table.row([DPMM.name.to_string()].into_iter().chain(cells(runs)));
    table
}

/// Means as pictures, in lines.
fn figure(pca: &Pca, shown: &[(&Method, &Run)]) -> SvgFigure {
    let charts: Vec<Chart> = shown
        .iter()
        .map(|(method, run)| {
            let n_lines = run.means.len().div_ceil(PER_LINE).max(1);
            let (width, height) = (PER_LINE * SIDE, n_lines * SIDE);
            let mut gray = vec![0.0; width * height];
            for (ix, mean) in run.means.iter().enumerate() {
                let (left, top) = (ix % PER_LINE * SIDE, ix / PER_LINE * SIDE);
                for (at, value) in pca.picture(mean).into_iter().enumerate() {
                    gray[(top + at / SIDE) * width + left + at % SIDE] = value.clamp(0.0, 1.0);
                }
            }
            Chart::new(format!("{}: {} clusters", method.name, run.means.len()))
                .size(1.5 * width as f64, 1.5 * height as f64 + 40.0)
                .image(width, height, &gray)
        })
        .collect();
    grid(&charts, 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn purity_and_digits_of_known_clusters() {
        let id = |serial| Some(ComponentId { shard: 0, serial });
        let found = [id(4), id(4), id(4), id(2), id(2), id(9)];
        // Cluster 4 is of threes, 2 of sevens or ones (the smaller wins a tie), 9 of threes.
        assert_eq!(majorities(&found, &[3, 3, 5, 7, 1, 3]), (4.0 / 6.0, 2));
    }
}
