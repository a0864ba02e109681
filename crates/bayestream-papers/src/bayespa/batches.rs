//! Documents learnt together (figures 6 and 7).

use super::trial::{self, MODELS, Model, Run};
use crate::corpus::Labelled;
use crate::error::ReproduceError;
use crate::experiment::Setting;
use crate::outcome::Outcome;
use crate::parallel::run_all;
use crate::table::Table;
use bayestream::engine::bayespa::{MedSettings, Mode, Size};
use bayestream_plot::{Chart, Style, grid};

const K: usize = 40;
const SIZES: [usize; 6] = [1, 16, 64, 256, 512, 1024];
/// Those of them that models with an open number of topics are learnt with.
const OPEN_SIZES: [usize; 3] = [1, 64, 512];
/// Rounds over all documents at once.
const ROUNDS: usize = 10;

/// A model, and the documents that it learns together; none for all.
type Cell = (Model, Option<usize>);

fn cells() -> Vec<Cell> {
    let mut cells = Vec::new();
    for model in MODELS {
        if model.size == Size::Open {
            cells.extend(OPEN_SIZES.map(|size| (model, Some(size))));
        } else {
            cells.extend(SIZES.map(|size| (model, Some(size))));
            cells.push((model, None));
        }
    }
    cells
}

fn settings((model, size): &Cell) -> MedSettings {
    let k = if model.size == Size::Given { K } else { 20 };
    let settings = model.with_topics(k);
    match size {
        Some(minibatch) => MedSettings { minibatch: *minibatch, ..settings },
        None => MedSettings { mode: Mode::Batch, rounds: Some(ROUNDS), ..settings },
    }
}

pub fn run(setting: &mut Setting<'_>) -> Result<Outcome, ReproduceError> {
    let seed = setting.seeds(9600..9601)[0];
    let corpus = Labelled::newsgroups_of(&setting.data)?;
    let cells = cells();
    let name = |size: Option<usize>| size.map_or("all".to_string(), |size| size.to_string());
    let describe = |(model, size): &Cell, run: &Run| {
        format!("batches {} |B| = {}: {:.4}, {:.1} s", model.name, name(*size), run.accuracy, run.seconds)
    };
    let learn = |cell: &Cell| Ok(trial::run(&corpus, &settings(cell), 1, seed));
    let runs = run_all(&cells, setting.n_threads, setting.progress, describe, learn)?;
    let columns = SIZES.iter().map(|size| size.to_string()).chain([format!("all, {ROUNDS} rounds")]);
    let mut table = Table::new(
        "",
        "Accuracy (CPU seconds of training) against |B|",
        ["model".to_string()].into_iter().chain(columns),
    );
    let mut charts = Vec::new();
    for model in MODELS {
        let own: Vec<(&Cell, &Run)> = cells.iter().zip(&runs).filter(|(cell, _)| cell.0.name == model.name).collect();
        let cell = |size: Option<usize>| {
            let found = own.iter().find(|((_, other), _)| *other == size);
            found.map_or(String::new(), |(_, run)| format!("{:.3} ({:.1})", run.accuracy, run.seconds))
        };
        let sizes = SIZES.into_iter().map(Some).chain([None]);
        table.row([model.name.to_string()].into_iter().chain(sizes.map(cell)));
        let chart = Chart::new(model.name).size(360.0, 300.0).x_label("CPU seconds").y_label("test error").log_x();
        charts.push(own.iter().fold(chart.y_range(0.15, 0.6), |chart, ((_, size), run)| {
            chart.points(name(*size), &[(run.seconds, 1.0 - run.accuracy)], Style::default())
        }));
    }
    let notes = vec![format!(
        "20 Newsgroups, separate models with the settings of the paper and K = {K} (20 at first where it is open), seed {seed} alone, \
         one pass. `all` is batch learning. Processor time is of the machine at hand, which had other work."
    )];
    let caption = "Figures 6 and 7: test error and time of one pass by the documents learnt together".to_string();
    Ok(Outcome { notes, tables: vec![table], figures: vec![("size", caption, grid(&charts, 2))], files: Vec::new() })
}
