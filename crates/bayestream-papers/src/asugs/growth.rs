//! Theorem 2: how the number of classes grows with the number of rows, and the concentration with it.

use super::adaptive::{fixed_point, posterior_mean, printed};
use super::classes;
use super::methods::{ASUGS, DPMM, Method, SUGS, SVA};
use super::sampled::{Labels, Sampled};
use crate::error::ReproduceError;
use crate::experiment::Setting;
use crate::learn::new_model;
use crate::outcome::Outcome;
use crate::parallel::run_all;
use crate::summary::{list, mean_sd, three};
use crate::table::Table;
use bayestream::data::Batch;
use bayestream::model::Model;
use bayestream_plot::{Chart, SvgFigure, grid};

const N_ROWS: usize = 1_000_000;
const FIRST_LOOK: usize = 100;
/// Looks for each factor of ten.
const PER_DECADE: u32 = 4;
const BATCH: usize = 500;
/// Of a column: the engine's frame divides by its root, and so must whoever has no frame.
pub const COLUMN_VARIANCE: f64 = 1.275;
const LAMBDA: f64 = 1.0;

/// A prior that fits the classes (whose scale is 0.02), one that expects them too narrow, and the learner's own.
struct Prior {
    name: &'static str,
    asked: Option<(&'static str, &'static str)>,
}

const FITS: Prior = Prior { name: "scale 0.02, nu0 12", asked: Some(("0.02", "12")) };
const NARROW: Prior = Prior { name: "scale 0.005, nu0 5", asked: Some(("0.005", "5")) };
const OWN: Prior = Prior { name: "its own", asked: None };

/// `None` draws labels, as Algorithm 1 is printed.
struct Case {
    method: Option<Method>,
    prior: &'static Prior,
}

const CASES: [Case; 10] = [
    Case { method: Some(SUGS), prior: &FITS },
    Case { method: Some(ASUGS), prior: &FITS },
    Case { method: None, prior: &FITS },
    Case { method: Some(SVA), prior: &FITS },
    Case { method: Some(SUGS), prior: &NARROW },
    Case { method: Some(ASUGS), prior: &NARROW },
    Case { method: None, prior: &NARROW },
    Case { method: Some(SVA), prior: &NARROW },
    Case { method: Some(DPMM), prior: &NARROW },
    Case { method: Some(DPMM), prior: &OWN },
];

impl Case {
    fn name(&self) -> &'static str {
        self.method.map_or("ASUGS, labels drawn", |m| m.name)
    }
}

enum Learner {
    Engine(Box<Model>),
    Drawn(Box<Sampled>),
}

impl Learner {
    fn new(case: &Case, seed: u64) -> Result<Learner, ReproduceError> {
        let asked = case.prior.asked;
        match (case.method, asked) {
            (Some(method), _) => {
                let mut set: Vec<(&str, &str)> = vec![("max-components", "2000")];
                set.extend(asked.iter().flat_map(|(scale, nu0)| [("prior-scale", *scale), ("nu0", *nu0)]));
                Ok(Learner::Engine(Box::new(new_model(method.kind, 2, seed, method.settings(&set)?)?)))
            }
            (None, asked) => {
                let number = |text: &str| text.parse::<f64>().unwrap_or(f64::NAN);
                let (scale, nu0) = asked.map_or((0.02, 12.0), |(scale, nu0)| (number(scale), number(nu0)));
                let sampled = Sampled::new(Labels::Drawn, 2, scale, nu0, seed).map_err(|_| bad_prior(nu0))?;
                Ok(Learner::Drawn(Box::new(sampled)))
            }
        }
    }

    fn learn(&mut self, rows: &[f64]) -> Result<(), ReproduceError> {
        match self {
            Learner::Engine(model) => {
                for rows in rows.chunks(2 * BATCH) {
                    model.update(&Batch::new(rows, 2)?)?;
                }
            }
            Learner::Drawn(sampled) => {
                let sd = COLUMN_VARIANCE.sqrt();
                rows.chunks(2).for_each(|row| sampled.learn(&[row[0] / sd, row[1] / sd]));
            }
        }
        Ok(())
    }

    fn n_classes(&self) -> usize {
        match self {
            Learner::Engine(model) => model.k_implemented(),
            Learner::Drawn(sampled) => sampled.n_classes(),
        }
    }
}

pub fn bad_prior(nu0: f64) -> ReproduceError {
    ReproduceError::Config(bayestream::model::ConfigError::BadValue {
        name: "nu0".into(),
        value: nu0.to_string(),
        expected: "a number larger than the columns less one".into(),
    })
}

/// Rows after which classes are counted.
fn looks() -> Vec<usize> {
    let n_looks = PER_DECADE * (N_ROWS / FIRST_LOOK).ilog10();
    (0..=n_looks)
        .map(|ix| (FIRST_LOOK as f64 * 10f64.powf(f64::from(ix) / f64::from(PER_DECADE))).round() as usize)
        .collect()
}

pub fn run(setting: &mut Setting<'_>) -> Result<Outcome, ReproduceError> {
    let seeds = setting.seeds(9300..9305);
    let looks = looks();
    let jobs: Vec<(usize, u64)> = (0..CASES.len()).flat_map(|c| seeds.iter().map(move |&seed| (c, seed))).collect();
    let describe = |&(case, seed): &(usize, u64), k: &Vec<f64>| {
        format!("growth {} ({}) seed {seed}: K {}", CASES[case].name(), CASES[case].prior.name, k[k.len() - 1])
    };
    let run_job = |&(case, seed): &(usize, u64)| -> Result<Vec<f64>, ReproduceError> {
        let truth = classes::truth();
        let mut learner = Learner::new(&CASES[case], seed)?;
        let mut draws = truth.draws(seed);
        let (mut seen, mut k) = (0, Vec::new());
        let (mut rows, mut labels) = (Vec::new(), Vec::new());
        for &look in &looks {
            rows.clear();
            labels.clear();
            draws.extend(look - seen, &mut rows, &mut labels);
            learner.learn(&rows)?;
            seen = look;
            k.push(learner.n_classes() as f64);
        }
        Ok(k)
    };
    let runs = run_all(&jobs, setting.n_threads, setting.progress, describe, run_job)?;
    let paths: Vec<Vec<f64>> = runs
        .chunks(seeds.len())
        .map(|runs| (0..looks.len()).map(|at| mean_sd(&runs.iter().map(|k| k[at]).collect::<Vec<_>>()).0).collect())
        .collect();
    let notes = vec![
        format!(
            "A million rows of the 16 classes of `asugs/classes`, seeds {}, mean over the seeds; K is what the learner holds. \
             The exponent p is that of K ~ (1 + ln n)^p between 10,000 rows and a million; Theorem 2 has it at most a little \
             above 1, for labels that are drawn. `labels drawn` is Algorithm 1 to the letter, outside of the engine, on rows in \
             the same units; all others give a row to its likeliest class, or shares of it (SVA).",
            list(&seeds)
        ),
        "α as printed is k/(λ + ln n) with λ = 1. It stands for the mean of the posterior of α, and is below it: ln n is put \
         for the sum of 1/(α + j) over rows, which is smaller the larger α is. The fixed point of α = k/(λ + ψ(α+n) − ψ(α+1)), \
         which `gmm/dp` uses, is not."
            .into(),
    ];
    let tables = vec![growth_table(&looks, &paths), alpha_table(&looks, &paths)];
    let figures =
        vec![("stream", "Classes and concentration against the number of rows".to_string(), figure(&looks, &paths))];
    Ok(Outcome { notes, tables, figures, files: Vec::new() })
}

fn at(looks: &[usize], path: &[f64], n: usize) -> f64 {
    looks.iter().position(|look| *look == n).map_or(f64::NAN, |ix| path[ix])
}

fn growth_table(looks: &[usize], paths: &[Vec<f64>]) -> Table {
    let shown = [100, 1000, 10_000, 100_000, N_ROWS];
    let head = ["method", "prior"].into_iter().map(String::from);
    let columns = shown.iter().map(|n| format!("K at {n}")).chain(["p".to_string()]);
    let mut table = Table::new("", "Classes against rows (truth 16)", head.chain(columns));
    let log = |n: f64| (LAMBDA + n.ln()).ln();
    for (case, path) in CASES.iter().zip(paths) {
        let mut row = vec![case.name().to_string(), case.prior.name.to_string()];
        row.extend(shown.iter().map(|&n| format!("{:.1}", at(looks, path, n))));
        let grown = (at(looks, path, N_ROWS) / at(looks, path, 10_000)).ln();
        row.push(format!("{:.2}", grown / (log(N_ROWS as f64) - log(1e4))));
        table.row(row);
    }
    table
}

fn alpha_table(looks: &[usize], paths: &[Vec<f64>]) -> Table {
    let title = "Concentration: as printed, fixed point, and the posterior mean that both stand for (λ = 1)";
    let mut table = Table::new("alpha", title, ["k", "n", "as printed", "fixed point", "posterior mean"]);
    let narrow = CASES.iter().position(|c| c.name() == ASUGS.name && c.prior.name == NARROW.name);
    let found = narrow.map(|ix| (at(looks, &paths[ix], N_ROWS), N_ROWS as f64));
    for (k, n) in [(16.0, 500.0), (50.0, 1000.0), (16.0, 1e6)].into_iter().chain(found) {
        table.row([
            format!("{k:.0}"),
            format!("{n:.0}"),
            three(printed(k, n, LAMBDA)),
            three(fixed_point(k, n, LAMBDA)),
            three(posterior_mean(k, n, LAMBDA)),
        ]);
    }
    table
}

fn figure(looks: &[usize], paths: &[Vec<f64>]) -> SvgFigure {
    let chart =
        |title: String, label: &str| Chart::new(title).size(420.0, 340.0).x_label("rows seen").y_label(label).log_x();
    let of = |value: &dyn Fn(f64, f64) -> f64, path: &[f64]| -> Vec<(f64, f64)> {
        looks.iter().zip(path).map(|(&n, &k)| (n as f64, value(k, n as f64))).collect()
    };
    let mut charts = Vec::new();
    for prior in [&FITS, &NARROW] {
        let mut classes = chart(format!("Classes, prior {}", prior.name), "K").log_y();
        let shown = |case: &Case| case.prior.name == prior.name || case.prior.asked.is_none();
        for (color, (case, path)) in CASES.iter().zip(paths).filter(|(case, _)| shown(case)).enumerate() {
            let name = if case.prior.asked.is_none() { "dpmm, its own prior" } else { case.name() };
            classes = classes.line(name, &of(&|k, _| k, path)).color(color);
        }
        charts.push(classes);
    }
    let mut alpha = chart(format!("Concentration of ASUGS, prior {}", NARROW.name), "α");
    if let Some(ix) = CASES.iter().position(|c| c.name() == ASUGS.name && c.prior.name == NARROW.name) {
        alpha = alpha
            .line("as printed", &of(&|k, n| printed(k, n, LAMBDA), &paths[ix]))
            .color(0)
            .line("fixed point", &of(&|k, n| fixed_point(k, n, LAMBDA), &paths[ix]))
            .color(1)
            .line("posterior mean", &of(&|k, n| posterior_mean(k, n, LAMBDA), &paths[ix]))
            .color(2)
            .dashed();
    }
    charts.push(alpha);
    grid(&charts, 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_rise_from_a_hundred_to_a_million() {
        let looks = looks();
        assert_eq!((looks[0], looks[looks.len() - 1], looks.len()), (FIRST_LOOK, N_ROWS, 17));
        assert!(looks.windows(2).all(|pair| pair[0] < pair[1]) && looks.contains(&10_000));
    }

    #[test]
    fn the_columns_have_the_variance_that_rows_are_divided_by() {
        let truth = classes::truth();
        for j in 0..2 {
            let between: f64 = truth.means.iter().zip(&truth.weights).map(|(m, w)| w * m[j] * m[j]).sum();
            assert!((between + truth.covariances[0][3 * j] - COLUMN_VARIANCE).abs() < 1e-12);
        }
    }
}
