//! Rounds, sweeps and sweeps that are not counted (figure 8 and table 3).

use super::batches::accuracy_and_time;
use super::trial::{MODELS, Model, Run, mean, runs_of, text as text_of};
use crate::corpus::Labelled;
use crate::error::ReproduceError;
use crate::experiment::Setting;
use crate::outcome::Outcome;
use crate::summary::list;
use crate::table::Table;
use bayestream::engine::bayespa::{Classifier, MedSettings, Size};
use bayestream_plot::{Chart, SvgFigure, grid as grid_of};

const K: usize = 40;
/// Topics at first where their number is open.
const K_OPEN: usize = 20;
const ROUNDS: [usize; 2] = [1, 2];
const SWEEPS: [usize; 3] = [1, 3, 5];
/// J, β and what table 3 has for averaging and Gibbs classifiers.
const PRINTED: [(usize, usize, f64, f64); 6] = [
    (1, 0, 0.802, 0.783),
    (3, 0, 0.803, 0.803),
    (3, 2, 0.803, 0.799),
    (5, 0, 0.805, 0.808),
    (5, 2, 0.805, 0.803),
    (5, 4, 0.803, 0.792),
];

/// A model of which I, J and β are set.
#[derive(Clone, Copy)]
struct Cell {
    model: Model,
    rounds: usize,
    sweeps: usize,
    burn_in: usize,
}

impl Cell {
    fn settings(&self) -> MedSettings {
        let Cell { rounds, sweeps, burn_in, .. } = *self;
        let k = if self.model.size == Size::Given { K } else { K_OPEN };
        MedSettings { rounds: Some(rounds), sweeps, burn_in, ..self.model.with_topics(k) }
    }

    fn is(&self, other: &Cell) -> bool {
        let key = |cell: &Cell| (cell.model.name, cell.rounds, cell.sweeps, cell.burn_in);
        key(self) == key(other)
    }
}

fn grid() -> Vec<Cell> {
    let each = |model: Model| {
        ROUNDS.into_iter().flat_map(move |rounds| SWEEPS.map(|sweeps| Cell { model, rounds, sweeps, burn_in: 0 }))
    };
    MODELS.into_iter().flat_map(each).collect()
}

/// The cells of table 3 for one model.
fn printed(model: Model) -> Vec<Cell> {
    let rounds = if model.paper().classifier == Classifier::Gibbs { 1 } else { 2 };
    PRINTED.iter().map(|&(sweeps, burn_in, ..)| Cell { model, rounds, sweeps, burn_in }).collect()
}

pub fn run(setting: &mut Setting<'_>) -> Result<Outcome, ReproduceError> {
    let seeds = setting.seeds(9600..9605);
    let corpus = Labelled::newsgroups_of(&setting.data)?;
    let mut cells = grid();
    for cell in printed(MODELS[0]).into_iter().chain(printed(MODELS[1])) {
        if !cells.iter().any(|other| other.is(&cell)) {
            cells.push(cell);
        }
    }
    let describe = |cell: &Cell| {
        let Cell { model, rounds, sweeps, burn_in } = cell;
        format!("samples {} ({rounds}, {sweeps}, {burn_in})", model.name)
    };
    let runs = runs_of(setting, &corpus, (&cells, &seeds), describe, Cell::settings)?;
    let found = |cell: &Cell| cells.iter().zip(&runs).find(|(other, _)| other.is(cell)).map(|(_, runs)| runs);
    let columns = SWEEPS.iter().map(|sweeps| format!("J = {sweeps}"));
    let mut samples = Table::new(
        "",
        "Figure 8: accuracy, its standard deviation and CPU seconds of training, β = 0",
        ["model".to_string(), "I".into()].into_iter().chain(columns),
    );
    for row in grid().chunks(SWEEPS.len()) {
        let text = |cell: &Cell| found(cell).map_or(String::new(), |runs| accuracy_and_time(runs));
        let head = [row[0].model.name.to_string(), row[0].rounds.to_string()];
        samples.row(head.into_iter().chain(row.iter().map(text)));
    }
    let columns = ["J", "β", "paMedLDA-ave, paper", "paMedLDA-ave", "paMedLDA-gibbs, paper", "paMedLDA-gibbs"];
    let mut burn_in = Table::new("burn-in", "Table 3: accuracy", columns);
    for ((averaging, gibbs), (sweeps, skipped, paper_averaging, paper_gibbs)) in
        printed(MODELS[1]).iter().zip(printed(MODELS[0])).zip(PRINTED)
    {
        let text = |cell: &Cell| found(cell).map_or(String::new(), |runs| text_of(runs, |run| run.accuracy));
        burn_in.row([
            sweeps.to_string(),
            skipped.to_string(),
            format!("{paper_averaging:.3}"),
            text(averaging),
            format!("{paper_gibbs:.3}"),
            text(&gibbs),
        ]);
    }
    let notes = vec![format!(
        "20 Newsgroups, separate models with the settings of the paper, one pass; seeds {}, mean and standard deviation. {K} topics as in the paper, \
         {K_OPEN} at first where their number is open. Table 3 has I = 2 for averaging classifiers and 1 for Gibbs classifiers.",
        list(&seeds),
    )];
    let caption = "Figure 8: accuracy and time of training against J".to_string();
    let figure = figure(|cell: &Cell, value| found(cell).map(|runs| mean(runs, value)));
    Ok(Outcome { notes, tables: vec![samples, burn_in], figures: vec![("size", caption, figure)], files: Vec::new() })
}

/// Accuracy and time of each model against J, with a line for each I.
fn figure(of: impl Fn(&Cell, fn(&Run) -> f64) -> Option<f64>) -> SvgFigure {
    let chart = |model: Model, what: &str, value: fn(&Run) -> f64| {
        let chart = Chart::new(model.name).size(300.0, 260.0).x_label("J").y_label(what);
        grid().chunks(SWEEPS.len()).filter(|row| row[0].model.name == model.name).fold(chart, |chart, row| {
            let points: Vec<(f64, f64)> =
                row.iter().filter_map(|cell| Some((cell.sweeps as f64, of(cell, value)?))).collect();
            chart.line(format!("I = {}", row[0].rounds), &points)
        })
    };
    let accuracies = MODELS.map(|model| chart(model, "accuracy", |run| run.accuracy).y_range(0.0, 1.0));
    let times = MODELS.map(|model| chart(model, "CPU seconds", |run| run.seconds));
    grid_of(&accuracies.into_iter().chain(times).collect::<Vec<_>>(), MODELS.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_can_be_learnt() {
        let cells: Vec<Cell> = grid().into_iter().chain(printed(MODELS[0])).chain(printed(MODELS[1])).collect();
        assert!(cells.iter().all(|cell| cell.settings().fault().is_none()));
        assert!(cells[0].is(&cells[0]) && !cells[0].is(&cells[1]));
    }
}
