//! Block images (figure 3): the patterns that each method finds, early and at the end.

use super::trial::{Method, told_noise};
use crate::error::ReproduceError;
use crate::experiment::Setting;
use crate::outcome::Outcome;
use crate::parallel::run_all;
use crate::summary::mean_sd_text;
use crate::table::Table;
use bayestream::data::Batch;
use bayestream::engine::FeatureLearner;
use bayestream::engine::lfm::BatchFeatures;
use bayestream::structure::FeatureSet;
use bayestream::synthetic::PlantedFeatures;
use bayestream_plot::{Chart, grid};

const ROWS: usize = 2000;
const SIDE: usize = 6;
/// The iteration that is shown beside the end, as in the paper.
const EARLY: usize = 5;
const METHODS: [Method; 4] = [Method::Births, Method::Printed, Method::Em, Method::Ibp];
/// Pictures of a method in a row of the figure, at most.
const SHOWN: usize = 8;

#[derive(Default)]
struct Found {
    early: FeatureSet,
    end: FeatureSet,
}

fn learn(&(method, seed): &(Method, u64)) -> Result<Found, ReproduceError> {
    let planted = PlantedFeatures::blocks(seed);
    let rows = planted.rows(0, ROWS);
    let rivals = told_noise(planted.noise, &rows, planted.n_columns());
    let Some(way) = method.way(&rivals) else { return Ok(Found::default()) };
    let mut learner = BatchFeatures::new(way, planted.n_columns(), seed, 0);
    if let Ok(batch) = Batch::new(&rows, planted.n_columns()) {
        learner.update(&batch);
    }
    let mut early = FeatureSet::default();
    let end = learner.fit_traced(&mut |iteration| {
        if iteration.index < EARLY {
            early = iteration.features();
        }
    });
    Ok(Found { early, end })
}

/// For each true pattern the largest |cosine| with a feature.
fn cosines(set: &FeatureSet, planted: &PlantedFeatures) -> Vec<f64> {
    let cosine = |a: &[f64], b: &[f64]| {
        let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
        (dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()).abs()
    };
    let best = |pattern: &Vec<f64>| set.features.iter().map(|f| cosine(&f.weights, pattern)).fold(0.0, f64::max);
    planted.weights.iter().map(best).collect()
}

pub fn run(setting: &mut Setting<'_>) -> Result<Outcome, ReproduceError> {
    let seeds = setting.seeds(9700..9710);
    let jobs: Vec<(Method, u64)> = METHODS.iter().flat_map(|&m| seeds.iter().map(move |&seed| (m, seed))).collect();
    let describe = |(method, seed): &(Method, u64), found: &Found| {
        format!("blocks {}, seed {seed}: {} features", method.name(), found.end.features.len())
    };
    let found = run_all(&jobs, setting.n_threads, setting.progress, describe, learn)?;
    let columns = ["method", "K", "all four patterns, and nothing else", "all four patterns", "least cosine"];
    let mut table = Table::new("", "Patterns found", columns);
    let mut figures = Vec::new();
    for method in METHODS {
        let of: Vec<(u64, &Found)> =
            jobs.iter().zip(&found).filter(|(job, _)| job.0 == method).map(|(job, f)| (job.1, f)).collect();
        let least = |&(seed, found): &(u64, &Found)| {
            cosines(&found.end, &PlantedFeatures::blocks(seed)).into_iter().fold(1.0, f64::min)
        };
        let n_all = of.iter().filter(|one| least(one) >= 0.99).count();
        let n_only = of.iter().filter(|one| least(one) >= 0.99 && one.1.end.features.len() == 4).count();
        table.row([
            method.name().to_string(),
            mean_sd_text(&of.iter().map(|(_, f)| f.end.features.len() as f64).collect::<Vec<_>>()),
            format!("{n_only} of {}", of.len()),
            format!("{n_all} of {}", of.len()),
            mean_sd_text(&of.iter().map(least).collect::<Vec<_>>()),
        ]);
        if let Some((_, first)) = of.first() {
            figures.push(picture(method, first));
        }
    }
    let notes = vec![format!(
        "{ROWS} images of {SIDE} × {SIDE} pixels, sums of some of four patterns with noise of standard deviation 0.3; {} draws (seeds {} to \
         {}). A pattern is found when a feature has a cosine of at least 0.99 with it. The pictures are of the first draw: after iteration \
         {EARLY} (FAB: after birth {EARLY}, or at the end if there are fewer; IBP: sweep {EARLY}) and at the end, the {SHOWN} most salient features at most, \
         each from its least to its largest pixel. MEIBP is left out as in the paper.",
        seeds.len(),
        seeds[0],
        seeds[seeds.len() - 1]
    )];
    Ok(Outcome { notes, tables: vec![table], figures, files: Vec::new() })
}

fn picture(method: Method, found: &Found) -> (&'static str, String, bayestream_plot::SvgFigure) {
    let mut charts = Vec::new();
    for (set, when) in [(&found.early, "early"), (&found.end, "at the end")] {
        for at in 0..SHOWN {
            let title = set.features.get(at).map_or(String::new(), |f| format!("{when}, {:.0} %", 100.0 * f.share));
            let mut chart = Chart::new(title).size(140.0, 150.0).equal_aspect();
            if let Some(feature) = set.features.get(at) {
                let range = feature
                    .weights
                    .iter()
                    .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), w| (f64::min(low, *w), f64::max(high, *w)));
                let gray: Vec<f64> = feature.weights.iter().map(|w| (w - range.0) / (range.1 - range.0)).collect();
                chart = chart.image(SIDE, SIDE, &gray);
            }
            charts.push(chart);
        }
    }
    let slug = match method {
        Method::Births => "fab",
        Method::Printed => "printed",
        Method::Em => "em",
        _ => "ibp",
    };
    (slug, format!("Figure 3: features by {}, early and at the end", method.name()), grid(&charts, SHOWN))
}
