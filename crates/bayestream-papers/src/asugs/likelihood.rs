//! Figure 2: what Theorem 2 supposes. The likelihood ratio of a new class against the classes there are, and how far the
//! density of the latter is from the truth.

use super::classes;
use super::growth::{COLUMN_VARIANCE, bad_prior};
use super::sampled::{Labels, Sampled};
use crate::error::ReproduceError;
use crate::experiment::Setting;
use crate::outcome::Outcome;
use crate::parallel::run_all;
use crate::summary::{list, mean_sd, median, three};
use crate::table::Table;
use bayestream_plot::{Chart, SvgFigure, grid};

/// Rows after which there is a look: the density is compared with the truth, and the ratios since the last look are
/// summed up.
const LOOKS: [usize; 14] = [10, 20, 50, 100, 200, 350, 500, 750, 1000, 1500, 2000, 3500, 5000, 10_000];
const SHOWN: [usize; 4] = [50, 500, 2000, 10_000];
/// The square on which densities are integrated: seven standard deviations beyond the outermost classes, in steps of a
/// third of one, at which sums of Gaussian densities are integrals to eight digits.
const REACH: f64 = 2.6;
const STEP: f64 = 0.05;

struct Case {
    name: &'static str,
    labels: Labels,
    scale: f64,
    nu0: f64,
}

const CASES: [Case; 4] = [
    Case { name: "likeliest, scale 0.02, nu0 12", labels: Labels::Likeliest, scale: 0.02, nu0: 12.0 },
    Case { name: "drawn, scale 0.02, nu0 12", labels: Labels::Drawn, scale: 0.02, nu0: 12.0 },
    Case { name: "likeliest, scale 0.005, nu0 5", labels: Labels::Likeliest, scale: 0.005, nu0: 5.0 },
    Case { name: "drawn, scale 0.005, nu0 5", labels: Labels::Drawn, scale: 0.005, nu0: 5.0 },
];

/// What is seen at a look.
struct Look {
    /// Of the ratios since the last look.
    median: f64,
    largest: f64,
    /// The L₂ distance of the density from the truth, and the divergence of the truth from it.
    distance: f64,
    divergence: f64,
    k: f64,
}

/// Places on a grid with the true density there.
struct Places {
    rows: Vec<[f64; 2]>,
    truth: Vec<f64>,
}

impl Places {
    fn new() -> Places {
        let n = (REACH / STEP).round() as i32;
        let rows: Vec<[f64; 2]> =
            (-n..=n).flat_map(|i| (-n..=n).map(move |j| [f64::from(i) * STEP, f64::from(j) * STEP])).collect();
        let log_truth = classes::truth().log_density(rows.as_flattened());
        Places { rows, truth: log_truth.into_iter().map(f64::exp).collect() }
    }

    /// The L₂ distance between a density and the truth, and the divergence of the truth from it.
    fn compare(&self, mut log_density: impl FnMut(&[f64; 2]) -> f64) -> (f64, f64) {
        let (mut squares, mut divergence) = (0.0, 0.0);
        for (row, &truth) in self.rows.iter().zip(&self.truth) {
            let log_density = log_density(row);
            squares += (log_density.exp() - truth).powi(2);
            if truth > 0.0 {
                divergence += truth * (truth.ln() - log_density);
            }
        }
        ((squares * STEP * STEP).sqrt(), divergence * STEP * STEP)
    }
}

/// A row as the learner has it: with unit variance in each column.
fn framed(row: &[f64]) -> [f64; 2] {
    [row[0] / COLUMN_VARIANCE.sqrt(), row[1] / COLUMN_VARIANCE.sqrt()]
}

fn one_run(case: &Case, places: &Places, seed: u64) -> Result<Vec<Look>, ReproduceError> {
    let mut learner = Sampled::new(case.labels, 2, case.scale, case.nu0, seed).map_err(|_| bad_prior(case.nu0))?;
    let (rows, _) = classes::truth().sample(LOOKS[LOOKS.len() - 1], seed);
    let (mut looks, mut ratios) = (Vec::new(), Vec::new());
    for (ix, row) in rows.chunks(2).enumerate() {
        let row = framed(row);
        if ix > 0 {
            ratios.push((learner.log_new(&row) - learner.log_known(&row)).exp()); // [ASUGS] (12)
        }
        learner.learn(&row);
        if LOOKS.contains(&(ix + 1)) {
            let (distance, divergence) =
                places.compare(|place| learner.log_known(&framed(place)) - COLUMN_VARIANCE.ln());
            let largest = ratios.iter().copied().fold(0.0, f64::max);
            let k = learner.n_classes() as f64;
            looks.push(Look { median: median(&ratios), largest, distance, divergence, k });
            ratios.clear();
        }
    }
    Ok(looks)
}

pub fn run(setting: &mut Setting<'_>) -> Result<Outcome, ReproduceError> {
    let seeds = setting.seeds(9300..9305);
    let places = Places::new();
    let jobs: Vec<(usize, u64)> = (0..CASES.len()).flat_map(|c| seeds.iter().map(move |&seed| (c, seed))).collect();
    let describe = |&(case, seed): &(usize, u64), looks: &Vec<Look>| {
        let distance = looks.last().map_or(f64::NAN, |look| look.distance);
        format!("likelihood {} seed {seed}: L2 {distance:.4}", CASES[case].name)
    };
    let run_job = |&(case, seed): &(usize, u64)| one_run(&CASES[case], &places, seed);
    let runs = run_all(&jobs, setting.n_threads, setting.progress, describe, run_job)?;
    let by_case: Vec<&[Vec<Look>]> = runs.chunks(seeds.len()).collect();
    let note = format!(
        "ASUGS without pruning on the 16 classes of `asugs/classes`, up to {} rows where the paper has 500, seeds {}. l is \
         the likelihood ratio (12) of a row, of a new class against those there are, before the row is learnt from; its \
         median and its largest value are of the rows since the look before (looks are after {} rows), the largest of all \
         seeds. L₂ is the distance between the density of the classes (10) and the true one, D the divergence of the truth \
         from it, by sums over a grid, means over the seeds. Theorem 2 supposes that l and D are bounded from some row on. \
         Labels are the likeliest, as in `gmm/asugs`, or drawn, as printed.",
        LOOKS[LOOKS.len() - 1],
        list(&seeds),
        list(LOOKS),
    );
    let caption = "Figure 2: largest likelihood ratio of a new class, distance of the predictive density from the truth, and divergence";
    let figures = vec![("stream", caption.to_string(), figure(&by_case))];
    Ok(Outcome { notes: vec![note], tables: vec![table(&by_case)], figures, files: Vec::new() })
}

/// A number per run at a look.
fn at(runs: &[Vec<Look>], look: usize, value: fn(&Look) -> f64) -> Vec<f64> {
    runs.iter().map(|looks| value(&looks[look])).collect()
}

fn largest(runs: &[Vec<Look>], look: usize) -> f64 {
    at(runs, look, |l| l.largest).into_iter().fold(0.0, f64::max)
}

fn table(by_case: &[&[Vec<Look>]]) -> Table {
    let columns = ["labels, prior", "rows", "K", "median l", "largest l", "L₂", "D"];
    let mut table = Table::new("", "Likelihood ratio of a new class, and the density of those there are", columns);
    for (case, runs) in CASES.iter().zip(by_case) {
        for (look, rows) in LOOKS.iter().enumerate().filter(|(_, rows)| SHOWN.contains(rows)) {
            let mean = |value: fn(&Look) -> f64| mean_sd(&at(runs, look, value)).0;
            table.row([
                case.name.to_string(),
                rows.to_string(),
                format!("{:.1}", mean(|l| l.k)),
                three(median(&at(runs, look, |l| l.median))),
                three(largest(runs, look)),
                three(mean(|l| l.distance)),
                three(mean(|l| l.divergence)),
            ]);
        }
    }
    table
}

fn figure(by_case: &[&[Vec<Look>]]) -> SvgFigure {
    let chart = |title: &str, label: &str| {
        Chart::new(title).size(420.0, 340.0).x_label("rows seen").y_label(label).log_x().log_y()
    };
    let mut ratio = chart("Largest likelihood ratio since the last look", "l");
    let mut distance = chart("Distance from the truth", "L₂");
    let mut divergence = chart("Divergence of the truth", "D, nats");
    for (color, (case, runs)) in CASES.iter().zip(by_case).enumerate() {
        let line = |value: &dyn Fn(usize) -> f64| -> Vec<(f64, f64)> {
            LOOKS.iter().enumerate().map(|(look, &rows)| (rows as f64, value(look))).collect()
        };
        ratio = ratio.line(case.name, &line(&|look| largest(runs, look))).color(color);
        distance = distance.line(case.name, &line(&|look| mean_sd(&at(runs, look, |l| l.distance)).0)).color(color);
        divergence =
            divergence.line(case.name, &line(&|look| mean_sd(&at(runs, look, |l| l.divergence)).0)).color(color);
    }
    grid(&[ratio, distance, divergence], 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_truth_is_at_no_distance_and_wider_densities_are() {
        let places = Places::new();
        let truth = classes::truth();
        let (distance, divergence) = places.compare(|row| truth.log_density(row)[0]);
        assert!(distance < 1e-12 && divergence.abs() < 1e-12, "{distance} {divergence}");
        let total: f64 = places.truth.iter().sum::<f64>() * STEP * STEP;
        assert!((total - 1.0).abs() < 1e-8, "{total}");
        // Half the density everywhere: the divergence is ln 2, the distance half the norm of the truth, which for classes
        // that do not overlap is 1/(16·4π·0.025).
        let (distance, divergence) = places.compare(|row| truth.log_density(row)[0] - 2_f64.ln());
        let norm = (1.0 / (16.0 * 4.0 * std::f64::consts::PI * 0.025)).sqrt();
        // Neighbours at 6.3 standard deviations overlap by e^(−10) in the norm, twice for each of 24 pairs.
        assert!((divergence - 2_f64.ln()).abs() < 1e-8 && (distance / norm - 0.5).abs() < 1e-4, "{distance} {norm}");
    }

    #[test]
    fn the_density_comes_near_the_truth() {
        let looks = one_run(&CASES[0], &Places::new(), 9300).unwrap();
        assert_eq!(looks.len(), LOOKS.len());
        // Ten rows leave six classes of 16 unknown at least, each of which has a sixteenth of the squared norm.
        let [first, last] = [&looks[0], &looks[LOOKS.len() - 1]];
        assert!(first.distance > last.distance && last.divergence < 0.1, "{} {}", last.distance, last.divergence);
        assert!(SHOWN.iter().all(|shown| LOOKS.contains(shown)));
    }
}
