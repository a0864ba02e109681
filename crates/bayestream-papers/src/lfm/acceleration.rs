//! Shrinkage acceleration on and off (figure 1): bound and features along the iterations, and the time they take.

use crate::error::ReproduceError;
use crate::experiment::Setting;
use crate::outcome::Outcome;
use crate::parallel::run_all;
use crate::summary::mean_sd_text;
use crate::table::Table;
use bayestream::data::Batch;
use bayestream::engine::FeatureLearner;
use bayestream::engine::lfm::{BatchFeatures, FabSettings, Way};
use bayestream::synthetic::PlantedFeatures;
use bayestream_plot::{Chart, grid};
use cpu_time::ThreadTime;

const COLUMNS: usize = 30;
const FEATURES: usize = 5;
const ROWS: usize = 1000;
const STEPS: [usize; 4] = [0, 1, 10, 100];

struct Course {
    /// Seconds, features and bound for a row after each iteration.
    path: Vec<(f64, usize, f64)>,
}

fn learn(&(steps, seed): &(usize, u64)) -> Result<Course, ReproduceError> {
    let rows = PlantedFeatures::gaussian(COLUMNS, FEATURES, seed).rows(0, ROWS);
    let settings = FabSettings { shrink_steps: steps, ..FabSettings::paper() };
    let mut learner = BatchFeatures::new(Way::Fab(settings), COLUMNS, seed, 0);
    if let Ok(batch) = Batch::new(&rows, COLUMNS) {
        learner.update(&batch);
    }
    let clock = ThreadTime::now();
    let mut path = Vec::new();
    learner.fit_traced(&mut |iteration| {
        path.push((clock.elapsed().as_secs_f64(), iteration.k(), iteration.bound / ROWS as f64));
    });
    Ok(Course { path })
}

pub fn run(setting: &mut Setting<'_>) -> Result<Outcome, ReproduceError> {
    let seeds = setting.seeds(9700..9710);
    let jobs: Vec<(usize, u64)> = STEPS.iter().flat_map(|&t| seeds.iter().map(move |&seed| (t, seed))).collect();
    let describe = |(steps, seed): &(usize, u64), course: &Course| {
        format!("acceleration T = {steps}, seed {seed}: {} iterations", course.path.len())
    };
    let courses = run_all(&jobs, setting.n_threads, setting.progress, describe, learn)?;
    let columns = ["T", "iterations", "K at the end", "bound for a row at the end", "CPU seconds"];
    let mut table = Table::new("", "With and without acceleration", columns);
    let (mut bound, mut number) = (
        Chart::new("Bound for a row").size(440.0, 320.0).x_label("iterations").log_x(),
        Chart::new("Features").size(440.0, 320.0).x_label("iterations").log_x(),
    );
    for steps in STEPS {
        let of: Vec<&Course> = jobs.iter().zip(&courses).filter(|(job, _)| job.0 == steps).map(|(_, c)| c).collect();
        let last = |value: &dyn Fn(&(f64, usize, f64)) -> f64| -> Vec<f64> {
            of.iter().filter_map(|course| course.path.last()).map(value).collect()
        };
        table.row([
            steps.to_string(),
            mean_sd_text(&of.iter().map(|course| course.path.len() as f64).collect::<Vec<_>>()),
            mean_sd_text(&last(&|at| at.1 as f64)),
            mean_sd_text(&last(&|at| at.2)),
            mean_sd_text(&last(&|at| at.0)),
        ]);
        let line = |value: &dyn Fn(&(f64, usize, f64)) -> f64| -> Vec<(f64, f64)> {
            let path = of.first().map_or(&[][..], |course| &course.path[..]);
            path.iter().enumerate().map(|(at, point)| (at as f64 + 1.0, value(point))).collect()
        };
        let name = if steps == 0 { "off".to_string() } else { format!("T = {steps}") };
        bound = bound.line(name.clone(), &line(&|at| at.2));
        number = number.line(name, &line(&|at| at.1 as f64));
    }
    let notes = vec![format!(
        "{ROWS} rows of {COLUMNS} columns with {FEATURES} features; FAB as printed, from {COLUMNS} random features, {} draws (seeds \
         {} to {}). T is the number of steps by which a feature's share and activations follow each other in each iteration; \
         0 switches acceleration off. The pictures show the first draw.",
        seeds.len(),
        seeds[0],
        seeds[seeds.len() - 1]
    )];
    let caption = "Figure 1: bound and features along the iterations".to_string();
    Ok(Outcome {
        notes,
        tables: vec![table],
        figures: vec![("course", caption, grid(&[bound, number], 2))],
        files: Vec::new(),
    })
}
