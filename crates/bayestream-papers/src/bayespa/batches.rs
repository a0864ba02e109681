//! Documents learnt together (figures 6 and 7).

use super::trial::{MODELS, Model, Run, mean, runs_of};
use crate::corpus::Labelled;
use crate::error::ReproduceError;
use crate::experiment::Setting;
use crate::outcome::Outcome;
use crate::summary::{list, mean_sd};
use crate::table::Table;
use bayestream::engine::bayespa::{MedSettings, Size};
use bayestream_plot::{Chart, Style, grid};

const K: usize = 40;
const SIZES: [usize; 5] = [1, 16, 64, 256, 1024];

/// A model, and the documents that it learns together.
type Cell = (Model, usize);

fn settings((model, minibatch): &Cell) -> MedSettings {
    let k = if model.size == Size::Given { K } else { 20 };
    MedSettings { minibatch: *minibatch, ..model.with_topics(k) }
}

pub fn run(setting: &mut Setting<'_>) -> Result<Outcome, ReproduceError> {
    let seeds = setting.seeds(9600..9605);
    let corpus = Labelled::newsgroups_of(&setting.data)?;
    let cells: Vec<Cell> = MODELS.into_iter().flat_map(|model| SIZES.map(|size| (model, size))).collect();
    let describe = |(model, size): &Cell| format!("batches {} |B| = {size}", model.name);
    let runs = runs_of(setting, &corpus, (&cells, &seeds), describe, settings)?;
    let columns = SIZES.iter().map(|size| size.to_string());
    let mut table = Table::new(
        "",
        "Accuracy, its standard deviation and CPU seconds of training against |B|",
        ["model".to_string()].into_iter().chain(columns),
    );
    let mut charts = Vec::new();
    for (model, runs) in MODELS.iter().zip(runs.chunks(SIZES.len())) {
        table.row([model.name.to_string()].into_iter().chain(runs.iter().map(|runs| accuracy_and_time(runs))));
        let chart = Chart::new(model.name).size(360.0, 300.0).x_label("CPU seconds").y_label("test error").log_x();
        charts.push(SIZES.iter().zip(runs).fold(chart.y_range(0.15, 0.3), |chart, (size, runs)| {
            let point = (mean(runs, |run| run.seconds), 1.0 - mean(runs, |run| run.accuracy));
            chart.points(size.to_string(), &[point], Style::default())
        }));
    }
    let notes = vec![format!(
        "20 Newsgroups, separate models with the settings of the paper and K = {K} (20 at first where it is open), one pass; seeds {}, \
         means in the figure. Batch learning is in the table after this one. Processor time is of the machine at hand, which had other work.",
        list(&seeds),
    )];
    let caption = "Figures 6 and 7: test error and time of one pass by the documents learnt together".to_string();
    Ok(Outcome { notes, tables: vec![table], figures: vec![("size", caption, grid(&charts, 2))], files: Vec::new() })
}

/// Mean and spread of the accuracy, and mean seconds of training.
pub fn accuracy_and_time(runs: &[Run]) -> String {
    let (accuracy, sd) = mean_sd(&runs.iter().map(|run| run.accuracy).collect::<Vec<f64>>());
    format!("{accuracy:.3} ({sd:.3}), {:.1} s", mean(runs, |run| run.seconds))
}
