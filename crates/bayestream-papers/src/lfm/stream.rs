//! One pass against all rows at once: planted features, and USPS and MNIST along the rows seen.

use super::sets;
use super::trial::{Method, foretell, foretell_some, shuffled, standardised};
use crate::error::ReproduceError;
use crate::experiment::Setting;
use crate::outcome::Outcome;
use crate::parallel::run_all;
use crate::summary::{mean_sd, mean_sd_text};
use crate::table::Table;
use bayestream::data::Batch;
use bayestream::engine::FeatureLearner;
use bayestream::engine::lfm::{OnlineFab, OnlineSettings, RivalSettings};
use bayestream::synthetic::{PlantedFeatures, with_holes};
use bayestream_plot::{Chart, grid};
use cpu_time::ThreadTime;

/// Columns, features and rows.
const CASES: [(usize, usize, usize); 3] = [(30, 5, 2000), (30, 10, 2000), (60, 20, 4000)];
const METHODS: [Method; 2] = [Method::Births, Method::Online];
/// Rows that are not learnt, and the share of their cells that is hidden.
const HELD_OUT: usize = 1000;
const HIDDEN: f64 = 0.3;
/// Real rows that are not learnt.
const REAL_HELD_OUT: usize = 500;
/// Pixels that at least this part of the images have ink in are told apart from the rest.
const COMMON: f64 = 0.05;

type Job = ((usize, usize, usize), Method, u64);

struct Run {
    k: usize,
    pll: f64,
    seconds: f64,
}

fn learn(&((d, k, n), method, seed): &Job) -> Result<Run, ReproduceError> {
    let planted = PlantedFeatures::gaussian(d, k, seed);
    // Units in which columns vary by one, by rows that are not used otherwise.
    let (rows, _) = standardised(&planted.rows(0, n + HELD_OUT), d);
    let (train, test) = rows.split_at(n * d);
    let (set, seconds) = method.fit(train, d, seed, &RivalSettings::default());
    let told = foretell(&set, &with_holes(test, HIDDEN, seed), test);
    Ok(Run { k: set.features.len(), pll: told.hidden, seconds })
}

/// A look at the learner along the rows.
#[derive(Clone, Copy, Default)]
struct Point {
    seen: usize,
    k: usize,
    /// PLL of rows that are not learnt: of all their pixels, and of those that are common.
    all: f64,
    common: f64,
    seconds: f64,
}

/// The columns that at least a part `COMMON` of the rows have more in than the least.
fn common(rows: &[f64], d: usize) -> Vec<bool> {
    let column = |j: usize| rows.iter().skip(j).step_by(d);
    let is_common = |j: usize| {
        let least = column(j).copied().fold(f64::INFINITY, f64::min);
        column(j).filter(|v| **v > least).count() as f64 >= COMMON * (rows.len() / d) as f64
    };
    (0..d).map(is_common).collect()
}

fn along(rows: &[f64], d: usize, seed: u64, portion: usize) -> Vec<Point> {
    let n = rows.len() / d - REAL_HELD_OUT;
    let (train, test) = rows.split_at(n * d);
    let hidden = with_holes(test, HIDDEN, seed);
    let is_common = common(rows, d);
    let mut learner = OnlineFab::new(OnlineSettings::default(), d, seed, 0);
    let (mut points, mut seconds) = (Vec::new(), 0.0);
    for (at, part) in train.chunks(portion * d).enumerate() {
        let clock = ThreadTime::now();
        if let Ok(batch) = Batch::new(part, d) {
            learner.update(&batch);
        }
        seconds += clock.elapsed().as_secs_f64();
        let set = learner.features();
        points.push(Point {
            seen: at * portion + part.len() / d,
            k: set.features.len(),
            all: foretell(&set, &hidden, test).hidden,
            common: foretell_some(&set, &hidden, test, |j| is_common[j]).hidden,
            seconds,
        });
    }
    points
}

pub fn run(setting: &mut Setting<'_>) -> Result<Outcome, ReproduceError> {
    let seeds = setting.seeds(9700..9720);
    let mut jobs: Vec<Job> = Vec::new();
    for case in CASES {
        for method in METHODS {
            jobs.extend(seeds.iter().map(|&seed| (case, method, seed)));
        }
    }
    let describe = |((d, k, n), method, seed): &Job, run: &Run| {
        format!(
            "{d} × {n}, {k} features, {}, seed {seed}: K {}, PLL {:.4}, {:.2} s",
            method.name(),
            run.k,
            run.pll,
            run.seconds
        )
    };
    let runs = run_all(&jobs, setting.n_threads, setting.progress, describe, learn)?;
    let columns = ["D, K, N", "method", "K found", "within one", "PLL", "below batch by", "CPU seconds"];
    let mut table = Table::new("", "One pass against all rows at once", columns);
    for (d, k, n) in CASES {
        let of = |method: Method| -> Vec<&Run> {
            jobs.iter()
                .zip(&runs)
                .filter(|(job, _)| job.0 == (d, k, n) && job.1 == method)
                .map(|(_, run)| run)
                .collect()
        };
        let batch = of(Method::Births);
        for method in METHODS {
            let of = of(method);
            let within = of.iter().filter(|run| run.k.abs_diff(k) <= 1).count();
            let below: Vec<f64> = of.iter().zip(&batch).map(|(run, batch)| batch.pll - run.pll).collect();
            table.row([
                format!("{d}, {k}, {n}"),
                method.name().to_string(),
                mean_sd_text(&of.iter().map(|run| run.k as f64).collect::<Vec<_>>()),
                format!("{within} of {}", of.len()),
                format!("{:.4}", mean_sd(&of.iter().map(|run| run.pll).collect::<Vec<_>>()).0),
                if method == Method::Online { format!("{:.4}", mean_sd(&below).0) } else { String::new() },
                mean_sd_text(&of.iter().map(|run| run.seconds).collect::<Vec<_>>()),
            ]);
        }
    }
    let notes = vec![format!(
        "Planted features: weights from N(0, 1), each in half of the rows, noise 1, columns in units in which they vary by one; {} draws of each \
         (seeds {} to {}). PLL is the mean log-density of the hidden 30 % of the cells of {HELD_OUT} rows that were not learnt.",
        seeds.len(),
        seeds[0],
        seeds[seeds.len() - 1]
    )];
    Ok(Outcome { notes, tables: vec![table], figures: Vec::new(), files: Vec::new() })
}

/// USPS and MNIST in one pass.
pub fn run_real(setting: &mut Setting<'_>) -> Result<Outcome, ReproduceError> {
    let seed = setting.seeds(9700..9701)[0];
    let usps = sets::load(&setting.data, "USPS")?;
    let images = setting.data.images("mnist/train-images-idx3-ubyte.gz")?;
    let pixels: Vec<f64> = images.pixels.iter().map(|p| f64::from(*p)).collect();
    let mnist = shuffled(&pixels, images.n_pixels, seed, 20_000 + REAL_HELD_OUT);
    let (mnist, mnist_d) = standardised(&mnist, images.n_pixels);
    let sets =
        [("USPS", shuffled(&usps.rows, usps.d, seed, usize::MAX), usps.d, 1000), ("MNIST", mnist, mnist_d, 2000)];
    let describe = |set: &(&str, Vec<f64>, usize, usize), points: &Vec<Point>| {
        let last = points.last().copied().unwrap_or_default();
        format!("{}: {} rows, K {}, PLL {:.3}, {:.0} s", set.0, last.seen, last.k, last.common, last.seconds)
    };
    let learn = |set: &(&str, Vec<f64>, usize, usize)| Ok(along(&set.1, set.2, seed, set.3));
    let paths = run_all(&sets, setting.n_threads, setting.progress, describe, learn)?;
    let columns = ["data", "rows seen", "K", "PLL of common pixels", "PLL of all pixels", "CPU seconds so far"];
    let mut table = Table::new("", "One pass over images", columns);
    let mut charts = Vec::new();
    let mut counts = Vec::new();
    for ((name, rows, d, _), path) in sets.iter().zip(&paths) {
        for point in path {
            let cells = [
                format!("{name}, {d} columns"),
                point.seen.to_string(),
                point.k.to_string(),
                format!("{:.3}", point.common),
                format!("{:.3}", point.all),
                format!("{:.1}", point.seconds),
            ];
            table.row(cells);
        }
        counts.push(format!("{} of {name}", common(rows, *d).iter().filter(|is_common| **is_common).count()));
        let chart = Chart::new(format!("{name}: PLL of rows not learnt")).size(440.0, 320.0).x_label("rows seen");
        let line = |value: fn(&Point) -> f64| path.iter().map(|p| (p.seen as f64, value(p))).collect::<Vec<_>>();
        charts.push(chart.line("common pixels", &line(|p| p.common)).line("all pixels", &line(|p| p.all)));
    }
    let notes = vec![format!(
        "Images in a random order (seed {seed}), learnt in one pass; MNIST: 20,000 of the training images, without the pixels that are the same \
         in all. PLL is the mean log-density of the hidden 30 % of the cells of {REAL_HELD_OUT} images that were not learnt, in units in which columns vary \
         by one. Common pixels are those that at least one image in twenty has ink in: {}. The others are empty in nearly all images; while a pixel has \
         had no ink yet, its noise is next to none and the density of an empty one has no bound, and the first ink, up to a hundred standard \
         deviations, ends that. So the mean over all pixels falls the more of them have been inked. The time is of learning alone.",
        counts.join(", ")
    )];
    let caption = "Predictive log-likelihood along the rows seen".to_string();
    Ok(Outcome { notes, tables: vec![table], figures: vec![("course", caption, grid(&charts, 2))], files: Vec::new() })
}
