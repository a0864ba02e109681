//! What is done to a copy of the master before it is shown: features that the latest rows can do without are let go.

use super::master::{FIRST_SWEEPS, Master, News, Step};
use super::settings::OnlineSettings;
use crate::engine::lfm::drive::FEW_ROWS;
use crate::engine::lfm::fit::Fit;
use crate::engine::lfm::rows::Rows;

/// Iterations on the latest rows before features are judged.
const ITERATIONS: usize = 6;
/// Rounds in which the averages follow the latest rows.
const ROUNDS: usize = 5;

/// Judges the features by the latest rows, in the data's own units.
pub(super) fn polish(master: &mut Master, cells: &[f64], weights: &[f64], settings: &OnlineSettings, step: &Step) {
    let mut framed = Vec::with_capacity(cells.len());
    master.frame.push_rows(cells, &mut framed);
    let rows = Rows::new(&framed, master.frame.n_columns(), Some(weights));
    // The criterion on rows that are few for the columns speaks against features that many rows have told.
    if rows.mass < FEW_ROWS * rows.d as f64 || rows.mass <= 0.0 || master.ids.is_empty() {
        return;
    }
    let pace = settings.fab.pace();
    let mut fit = Fit::from_parameters(&rows, &master.parameters, FIRST_SWEEPS);
    (0..ITERATIONS).for_each(|_| {
        fit.iterate(&rows, pace.shrink_steps);
    });
    while fit.try_removal(&rows, &pace) {}
    let keep: Vec<bool> = (0..master.ids.len() as u32).map(|tag| fit.field.tags.contains(&tag)).collect();
    if !keep.contains(&false) {
        return;
    }
    // The averages are of all rows, the latest are few: these only say how the others take over.
    master.retain(&keep);
    master.begin(&rows);
    let mut old = master.statistics.clone();
    let rho = (rows.mass / master.mass).min(1.0);
    master.blend(&rows, &mut old, rho, step, ROUNDS, &mut News::default());
}
