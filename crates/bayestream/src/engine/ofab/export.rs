//! The snapshot's components: a copy of the slow statistics, shrunk by the full criterion.

use super::component::Comp;
use super::shrink::shrink;
use super::{Learner, Ofab};
use crate::data::Frame;
use crate::family::{Family, GaussScratch, model_covariance};
use crate::structure::{Component, PooledSnapshot};

impl<F: Family> Ofab<F> {
    pub(super) fn export(&self, delta: f64) -> Vec<Component> {
        if self.n_seen == 0 {
            return Vec::new();
        }
        if self.comps.is_empty() {
            return self.provisional().map_or_else(Vec::new, |learner| learner.export(delta));
        }
        let heaviest = |comps: &[Comp]| comps.iter().map(|c| c.mass).fold(0.0, f64::max);
        let spared = heaviest(&self.comps);
        let trace = delta.min(self.settings.least_share(self.comps.len())) * self.total_mass();
        let counts = |c: &&Comp| (c.graduated && c.mass >= trace) || c.mass >= spared;
        let mut copy: Vec<Comp> = self.comps.iter().filter(counts).cloned().collect();
        let mut scratch = GaussScratch::default();
        for comp in &mut copy {
            comp.fast = comp.slow.clone();
            comp.refresh(self.family, &mut scratch);
        }
        // A model made from every row is not redundant: the fit has chosen its size by rows that were left out.
        let is_fitted = self.regime_start == 0 && self.n_seen as usize <= self.ring.len();
        if let Some(mut view) = self.view().filter(|_| !is_fitted && !self.rests_on_priors()) {
            self.recall(&copy, &mut view);
            view.evaluate(&copy);
            shrink(self.family, &mut copy, &mut view, 1.0);
        }
        // A larger threshold only now: rows left without a component would speak for merging others into a wide one.
        let least = (delta * copy.iter().map(|c| c.mass).sum::<f64>()).min(heaviest(&copy));
        copy.retain(|c| c.mass >= least); // [OFAB] (13)
        self.components(&copy)
    }

    /// What a model of the rows so far would be, before there is one.
    fn provisional(&self) -> Option<Ofab<F>> {
        let mut learner = self.clone();
        learner.begin_early();
        (!learner.comps.is_empty() && learner.n_seen() > 0).then_some(learner)
    }

    /// The pool in the data's own units.
    pub(super) fn export_pool(&self) -> Option<PooledSnapshot> {
        if self.comps.is_empty() {
            return self.provisional()?.export_pool();
        }
        self.pooling.export(self.tempo.counts(), self.frame.as_ref()?, self.shard)
    }

    fn components(&self, comps: &[Comp]) -> Vec<Component> {
        let identity = Frame::identity(self.n_columns);
        let frame = self.frame.as_ref().unwrap_or(&identity);
        let total: f64 = comps.iter().map(|c| c.mass).sum();
        let mut components: Vec<Component> = comps
            .iter()
            .map(|c| {
                let mut covariance = Vec::new();
                let latent = model_covariance(self.family, &c.slow, &c.prior, &mut covariance);
                Component {
                    id: c.id,
                    weight: c.mass / total,
                    count: c.slow.count,
                    mean: frame.mean_out(&c.slow.mean),
                    covariance: frame.covariance_out(&covariance),
                    latent_dim: self.family.reported_dim(latent),
                    basis: c.prior.worth.map(|_| c.prior.basis(c.slow.count)),
                }
            })
            .collect();
        components.sort_by(|a, b| b.weight.total_cmp(&a.weight).then(a.id.cmp(&b.id)));
        components
    }
}
