//! One batch: rows are predicted, then learned.

use super::core::Rule;
use super::{DirichletMixture, Work};
use crate::engine::StepReport;

impl DirichletMixture {
    /// Learns from rows with at least one cell each.
    pub(super) fn step(&mut self, rows: &[f64], weights: Option<&[f64]>, report: &mut StepReport) {
        let (Some(frame), Some(_)) = (&self.frame, &self.core) else { return };
        let framed = &mut self.work.framed;
        framed.clear();
        frame.push_rows(rows, framed);
        // One NaN makes the sum one: a pass without branches over whole rows.
        let whole = !framed.iter().sum::<f64>().is_nan();
        match self.rule {
            Rule::Lazy => self.step_in_batches(weights, whole, report),
            _ => self.step_row_by_row(weights),
        }
        let (Some(frame), Work { framed, log_densities, .. }) = (&self.frame, &self.work) else { return };
        let jacobian = frame.log_jacobian();
        for (log_density, row) in log_densities.iter().zip(framed.chunks_exact(self.n_columns)) {
            let log_density = log_density + if whole { jacobian } else { frame.log_jacobian_of(row) };
            self.scores.push(log_density);
            report.log_score += log_density;
            report.n_scored += 1;
        }
    }

    fn step_row_by_row(&mut self, weights: Option<&[f64]>) {
        let Some(core) = &mut self.core else { return };
        let Work { framed, log_densities, .. } = &mut self.work;
        log_densities.clear();
        for (i, row) in framed.chunks_exact(self.n_columns).enumerate() {
            if core.work.interrupt.is_raised() {
                return;
            }
            log_densities.push(core.learn_row(row, weights.map_or(1.0, |w| w[i])));
        }
    }

    fn step_in_batches(&mut self, weights: Option<&[f64]>, whole: bool, report: &mut StepReport) {
        let Some(core) = &mut self.core else { return };
        let Work { framed, log_densities, lazy, .. } = &mut self.work;
        let n = framed.len() / self.n_columns;
        self.tempo.push(framed, self.n_columns);
        lazy.foresight.block.load(framed, self.n_columns);
        let Some(one_for_all) = self.pooling.whole() else { return };
        lazy.foresight.run(core, one_for_all);
        match whole {
            true => report.n_repairs += core.learn_batch(framed, weights, lazy),
            false => core.learn_holed(framed, weights),
        }
        let predictions = &lazy.foresight.predictions;
        self.pooling.predict(predictions, self.tempo.counts(), log_densities);
        self.pooling.learn(&predictions.logs, &predictions.logs, weights, self.n_seen - n as u64);
        if let Some(memory) = self.settings.memory {
            let mass = weights.map_or(n as f64, |w| w.iter().sum());
            self.pooling.fade((-mass / memory).exp());
        }
        if let Some(grown) = core.look() {
            // Rows that were predicted by a model that lacked components say little of how good it is now.
            self.pooling.fade(grown * grown);
            core.renew_whole(&mut self.pooling);
        }
    }
}
