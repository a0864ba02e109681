//! Rows the ring no longer holds, drawn again from what components remember of them.
//!
//! Moves are judged on the ring, which is fair while it looks like the whole stream. When rows arrive sorted it holds
//! one cluster, and any move that is good for that one looks good. What a component's statistics hold beyond its rows
//! in the ring, a difference of moments, then stands for the rest: rows drawn from it, weighted to its count.

use super::Ofab;
use super::component::Comp;
use super::view::View;
use crate::engine::parts::Gather;
use crate::family::{Family, Gauss, prior_free_count};
use crate::num;

/// Rows drawn for one component, at most.
const MOST_DRAWN: usize = 500;
/// A component of which a smaller share of its due rows is in the ring is missing there.
const MISSING: f64 = 0.25;
/// Squared distance, in the component's own measure, between its rows in the ring and its others: the ring misleads.
const ELSEWHERE: f64 = 1.0;

impl<F: Family> Ofab<F> {
    /// True when most rows belong to components whose rows stick together, as in sorted files.
    pub(super) fn comes_in_runs(&self) -> bool {
        let total = self.total_mass();
        let in_runs = |c: &&Comp| c.turns.are_in_runs(c.mass / total);
        2.0 * self.comps.iter().filter(in_runs).map(|c| c.mass).sum::<f64>() > total
    }

    /// Adds drawn rows to a view of the ring that does not look like what was seen before. The view must be evaluated
    /// afterwards.
    pub(super) fn recall(&self, comps: &[Comp], view: &mut View) {
        // A learner that follows drift forgets on purpose: to it the ring is all that counts, unless rows come in runs.
        if (self.settings.drift && !self.comes_in_runs()) || self.n_seen as usize <= self.ring.len() {
            return;
        }
        view.evaluate(comps);
        let total: f64 = comps.iter().map(|c| c.mass).sum();
        let mut gather = Gather::default();
        let mut misleads = false;
        let mut beyond = Vec::with_capacity(comps.len());
        for (k, comp) in comps.iter().enumerate() {
            let q = view.posterior.of(k, view.weights.len());
            let here = gather.moments(&mut view.block, q, &view.weights, &comp.gauss);
            let Some(elsewhere) = comp.slow.without(&here) else { continue };
            let mut z = vec![0.0; self.n_columns];
            let shift: Vec<f64> =
                (0..self.n_columns).map(|j| comp.gauss.mean()[j] + here.mean[j] - elsewhere.mean[j]).collect();
            comp.gauss.whitened(&shift, &mut z);
            let is_missing = here.count < MISSING * comp.mass / total * view.total;
            let is_elsewhere = here.count.min(elsewhere.count) > prior_free_count(self.n_columns)
                && z.iter().map(|v| v * v).sum::<f64>() > ELSEWHERE;
            misleads |= comp.graduated && (is_missing || is_elsewhere);
            beyond.push((comp, elsewhere));
        }
        if misleads {
            let (seed, shard, step) = self.key();
            let mut rng = num::stream(seed, shard ^ RECALL_STREAM, step);
            let mut rows = view.block.rows().to_vec();
            let mut weights = view.weights.clone();
            for (comp, elsewhere) in beyond {
                let n = (elsewhere.count.ceil() as usize).min(MOST_DRAWN);
                Gauss::of(self.family, &elsewhere, &comp.prior).draw(n, &mut rng, &mut rows);
                weights.resize(weights.len() + n, elsewhere.count / n as f64);
            }
            view.extend(&rows, weights);
        }
    }
}

/// Sets the random numbers of drawn rows apart from others'.
const RECALL_STREAM: u64 = 1 << 33;
