//! Section 5.1: 1,000 rows of two Gaussians, then 40 of two others.

use crate::error::ReproduceError;
use crate::experiment::Setting;
use crate::outcome::Outcome;
use crate::parallel::run_all;
use crate::summary::{mean_sd, mean_sd_text};
use crate::table::Table;
use bayestream::data::Batch;
use bayestream::engine::Learner;
use bayestream::engine::bmm::{KnownVariance, MomentMatcher};
use bayestream::model::{Config, Kind, Settings, Variant};
use bayestream::num;
use bayestream::structure::Component;
use bayestream_plot::{Chart, SvgFigure, grid};

const N_FIRST: usize = 1000;
const N_SECOND: usize = 40;
const FIRST: [f64; 2] = [-5.0, 5.0];
const SECOND: [f64; 2] = [0.0, 10.0];
/// A mean is found when a component of at least this weight lies within this distance.
const NEAR: f64 = 1.0;
const LEAST_WEIGHT: f64 = 0.008;

/// A way to learn.
struct Way {
    name: &'static str,
    change: fn(&mut Settings),
}

const WAYS: [Way; 5] = [
    Way { name: "default", change: |_| () },
    Way { name: "default, γ = 0.1", change: |s| s.moments.gamma = 0.1 },
    Way { name: "as printed, M = 1000", change: |s| (s.variant, s.moments.draws) = (Variant::Paper, 1000) },
    Way { name: "as printed, M = 100", change: |s| (s.variant, s.moments.draws) = (Variant::Paper, 100) },
    Way { name: "as printed, M = 10", change: |s| (s.variant, s.moments.draws) = (Variant::Paper, 10) },
];

struct Run {
    found_first: usize,
    found_all: usize,
    k: [usize; 2],
    new_weight: f64,
    lambda: [f64; 2],
    log_score: f64,
    components: [Vec<Component>; 2],
}

fn rows(seed: u64) -> Vec<f64> {
    let mut rng = num::stream(seed, 0, 0);
    let mut draw = |means: [f64; 2]| means[rng.below(2)] + rng.normal();
    let mut out: Vec<f64> = (0..N_FIRST).map(|_| draw(FIRST)).collect();
    out.extend((0..N_SECOND).map(|_| draw(SECOND)));
    out
}

/// How many of the means are found, and the weight of those.
fn found(components: &[Component], means: &[f64]) -> (usize, f64) {
    let near = |mean: f64| components.iter().filter(move |c| (c.mean[0] - mean).abs() <= NEAR);
    let n = means.iter().filter(|&&mean| near(mean).any(|c| c.weight > LEAST_WEIGHT)).count();
    (n, means.iter().map(|&mean| near(mean).map(|c| c.weight).sum::<f64>()).sum())
}

fn learn(way: &Way, seed: u64) -> Result<Run, ReproduceError> {
    let mut settings = Settings::default();
    // As printed: known variance 1, λ = 1.1, means N(0, 1000) at first.
    (settings.moments.tau2, settings.moments.prior_variance, settings.moments.lambda0) = (Some(1.0), Some(1000.0), 1.1);
    (way.change)(&mut settings);
    let config = Config { settings, seed, ..Config::new(Kind::Gaussian1dBmm, vec!["x".into()]) };
    let mut learner = MomentMatcher::<KnownVariance>::new(&config);
    let rows = rows(seed);
    let mut looks = Vec::new();
    for part in [&rows[..N_FIRST], &rows[N_FIRST..]] {
        learner.update(&Batch::new(part, 1)?);
        looks.push((learner.realize(0.0), learner.lambda().unwrap_or(f64::NAN)));
    }
    let (second, lambda_after) = looks.pop().unwrap_or_default();
    let (first, lambda_before) = looks.pop().unwrap_or_default();
    let count = |components: &[Component]| components.iter().filter(|c| c.weight > LEAST_WEIGHT).count();
    let all = [FIRST, SECOND].concat();
    Ok(Run {
        found_first: found(&first, &FIRST).0,
        found_all: found(&second, &all).0,
        k: [count(&first), count(&second)],
        new_weight: found(&second, &SECOND).1,
        lambda: [lambda_before, lambda_after],
        log_score: learner.log_score().prequential_mean,
        components: [first, second],
    })
}

pub fn run(setting: &mut Setting<'_>) -> Result<Outcome, ReproduceError> {
    let seeds = setting.seeds(9500..9540);
    let jobs: Vec<(usize, u64)> = (0..WAYS.len()).flat_map(|w| seeds.iter().map(move |&seed| (w, seed))).collect();
    let describe = |&(w, seed): &(usize, u64), run: &Run| {
        format!("gaussians {} seed {seed}: {} of 4", WAYS[w].name, run.found_all)
    };
    let runs = run_all(&jobs, setting.n_threads, setting.progress, describe, |&(w, seed)| learn(&WAYS[w], seed))?;
    let columns = [
        "rule",
        "2 of 2 at 1,000",
        "4 of 4 at 1,040",
        "3 of 4",
        "fewer",
        "K at 1,000",
        "K at 1,040",
        "weight of the new",
        "λ at 1,000",
        "λ at 1,040",
        "log-score",
    ];
    let mut table = Table::new("", format!("Means found, of {} runs", seeds.len()), columns);
    for (way, runs) in WAYS.iter().zip(runs.chunks(seeds.len())) {
        let of = |value: &dyn Fn(&Run) -> f64| runs.iter().map(value).collect::<Vec<f64>>();
        let count = |holds: &dyn Fn(&Run) -> bool| runs.iter().filter(|r| holds(r)).count().to_string();
        table.row([
            way.name.to_string(),
            count(&|r| r.found_first == 2),
            count(&|r| r.found_all == 4),
            count(&|r| r.found_all == 3),
            count(&|r| r.found_all < 3),
            mean_sd_text(&of(&|r| r.k[0] as f64)),
            mean_sd_text(&of(&|r| r.k[1] as f64)),
            mean_sd_text(&of(&|r| r.new_weight)),
            mean_sd_text(&of(&|r| r.lambda[0])),
            mean_sd_text(&of(&|r| r.lambda[1])),
            format!("{:.3}", mean_sd(&of(&|r| r.log_score)).0),
        ]);
    }
    let notes = vec![
        format!(
            "{N_FIRST} rows of N(−5, 1) and N(5, 1), then {N_SECOND} of N(0, 1) and N(10, 1), seeds {} to {}. Known variance 1, \
             λ = 1.1 and means of variance 1,000 at first, as printed. A mean is found when a component of weight above \
             {LEAST_WEIGHT} lies within {NEAR}. K counts components of such weight in the snapshot, λ is what the model holds, \
             log-score the mean log-density in nats of rows 101 to 1,040 before they were learnt. The share of the new rows is {:.3}.",
            seeds[0],
            seeds[seeds.len() - 1],
            N_SECOND as f64 / (N_FIRST + N_SECOND) as f64
        ),
        "The paper shows one run in which all four are found, the new ones with nearly the weights of the old. It prints \
         neither M nor ν₀."
            .into(),
    ];
    let figures = vec![(
        "densities",
        format!("Figure 4: densities after {N_FIRST} and after {} rows, seed {}", N_FIRST + N_SECOND, seeds[0]),
        figure(&[&runs[0], &runs[2 * seeds.len()]]),
    )];
    Ok(Outcome { notes, tables: vec![table], figures, files: Vec::new() })
}

fn density(parts: &[(f64, f64, f64)], x: f64) -> f64 {
    let normal = |mean: f64, variance: f64| {
        (-0.5 * (x - mean).powi(2) / variance).exp() / (2.0 * std::f64::consts::PI * variance).sqrt()
    };
    parts.iter().map(|&(weight, mean, variance)| weight * normal(mean, variance)).sum()
}

fn figure(runs: &[&Run; 2]) -> SvgFigure {
    let share = N_SECOND as f64 / (N_FIRST + N_SECOND) as f64;
    let of = |means: [f64; 2], weight: f64| means.map(|mean| (weight / 2.0, mean, 1.0));
    let truths = [of(FIRST, 1.0).to_vec(), [of(FIRST, 1.0 - share), of(SECOND, share)].concat()];
    let points = |parts: &[(f64, f64, f64)]| -> Vec<(f64, f64)> {
        (-200..=300).map(|i| f64::from(i) * 0.05).map(|x| (x, density(parts, x))).collect()
    };
    let charts: Vec<Chart> = ["after 1,000 rows", "after 1,040 rows"]
        .iter()
        .enumerate()
        .map(|(look, title)| {
            let learnt = |run: &Run| {
                let parts = run.components[look].iter().map(|c| (c.weight, c.mean[0], c.covariance[0]));
                points(&parts.collect::<Vec<_>>())
            };
            Chart::new(*title)
                .size(460.0, 320.0)
                .x_label("x")
                .y_label("density")
                .line("truth", &points(&truths[look]))
                .color(0)
                .dashed()
                .line("default", &learnt(runs[0]))
                .color(1)
                .line("as printed", &learnt(runs[1]))
                .color(2)
        })
        .collect();
    grid(&charts, 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_are_found_by_components_of_some_weight_nearby() {
        let component = |mean: f64, weight: f64| Component {
            id: bayestream::structure::ComponentId { shard: 0, serial: 0 },
            weight,
            count: 1.0,
            mean: vec![mean],
            covariance: vec![1.0],
            latent_dim: None,
            basis: None,
        };
        let all = [component(-5.3, 0.6), component(0.9, 0.001), component(10.5, 0.3)];
        assert_eq!(found(&all, &[-5.0, 0.0, 10.0]).0, 2);
        assert!((found(&all, &SECOND).1 - 0.301).abs() < 1e-12);
    }
}
