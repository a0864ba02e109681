//! What rows are predicted by: priors judged anew as rows come in, and the pool beside the mixture.

use super::Ofab;
use crate::engine::parts::diagonal_within;
use crate::family::{Family, GaussScratch, PriorWorth};
use crate::structure::{Pool, Posterior, Predictions, RowBlock};

impl<F: Family> Ofab<F> {
    /// How rows are predicted besides by the mixture; nothing before there is a model.
    pub(super) fn pool(&self) -> Option<Pool> {
        self.pooling.pool(self.tempo.counts())
    }

    /// All rows as one Gaussian.
    pub(super) fn renew_whole(&mut self) {
        self.pooling.renew_whole(self.comps.iter().map(|c| (c.mass, &c.slow)), &self.floor);
    }

    /// Judges anew what the components' priors are worth.
    pub(super) fn renew_priors(&mut self) {
        let target = diagonal_within(self.comps.iter().map(|c| &c.slow), &self.floor);
        let worths = PriorWorth::new(self.n_columns).choose(self.comps.iter().map(|c| &c.slow), &target);
        let mut scratch = GaussScratch::default();
        for (comp, worth) in self.comps.iter_mut().zip(worths) {
            comp.prior.target.clone_from(&target);
            comp.prior.worth = Some(worth);
            comp.refresh(self.family, &mut scratch);
        }
        self.renew_whole();
    }

    /// Log-densities of a block's rows before they are learned. The log-joints must not be normalised yet.
    pub(super) fn predict(
        &self,
        block: &mut RowBlock,
        joints: &Posterior,
        predictions: &mut Predictions,
        out: &mut Vec<f64>,
    ) {
        let Some(whole) = self.pooling.whole() else { return };
        let log_total = self.total_mass().ln();
        predictions.begin(block);
        for (comp, joint) in self.comps.iter().zip(joints.q.chunks_exact(joints.stride)) {
            let log_weight = comp.mass.max(f64::MIN_POSITIVE).ln() - log_total;
            predictions.add(block, log_weight, &comp.gauss, joint, comp.log_tilted_mass() - log_total);
        }
        predictions.finish(block, whole);
        self.pooling.predict(predictions, self.tempo.counts(), out);
    }
}
