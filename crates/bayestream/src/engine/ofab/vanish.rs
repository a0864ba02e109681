//! Drift: components that the stream has left, and components that move.

use super::Ofab;
use crate::family::{Family, GaussScratch};
use crate::structure::Happening;

/// Extra nats of evidence, beyond the log of the number of chances to be wrong.
const EVIDENCE: f64 = 6.0;
/// Rows of probation, in a first regime and after a change.
const PROBATION: u64 = 500;
const PROBATION_AFTER_CHANGE: u64 = 200;
/// Fewest rows a regime is taken to have lasted when masses are scaled down to it.
const LEAST_REGIME: f64 = 20.0;

impl<F: Family> Ofab<F> {
    /// Evidence needed to say that a component is gone or has moved.
    pub(super) fn alarm_threshold(&self) -> f64 {
        (self.comps.len() as f64).ln() + (self.n_seen as f64).ln() + EVIDENCE
    }

    pub(super) fn probation(&self) -> u64 {
        if self.regime_start > 0 { PROBATION_AFTER_CHANGE } else { PROBATION }
    }

    /// Rows between structure checks, at least.
    pub(super) fn least_interval(&self) -> u64 {
        if self.regime_start > 0 { (10 * self.n_columns as u64).max(30) } else { 500 }
    }

    /// A birth is a change too: structure is looked at soon, once the newcomer has rows.
    pub(super) fn after_birth(&mut self) {
        if self.settings.drift && self.regime_start > 0 {
            self.next_structure = self.next_structure.min(self.n_seen + 2 * self.least_interval());
        }
    }

    /// Sums up the evidence that a component's rows have stopped coming: a likelihood ratio of "gone" against
    /// "present" that starts over whenever presence is the better bet.
    pub(super) fn vanish(&mut self, log_others: &[f64], batch_mass: f64) {
        let total = self.total_mass();
        let threshold = self.alarm_threshold();
        let now = self.n_seen;
        let mut n_graduated = 0;
        for (comp, log_others) in self.comps.iter_mut().zip(log_others) {
            let expected = batch_mass * (1.0 - comp.mass / total).max(1e-4).ln();
            comp.absence += log_others - expected;
            if comp.absence <= 0.0 {
                (comp.absence, comp.since) = (0.0, now);
            }
            n_graduated += usize::from(comp.graduated);
        }
        let gone: Vec<_> =
            self.comps.iter().filter(|c| c.graduated && c.absence > threshold).map(|c| (c.id, c.since)).collect();
        if gone.is_empty() || gone.len() == n_graduated {
            return;
        }
        let since = gone.iter().map(|(_, s)| *s).max().unwrap_or(now);
        for (id, _) in &gone {
            self.log(*id, Happening::Drift);
            self.log(*id, Happening::Died);
        }
        self.comps.retain(|c| !gone.iter().any(|(id, _)| *id == c.id));
        self.ring_from = self.ring_from.max(since);
        self.regime_start = now;
        let lasted = ((now - since) as f64).max(LEAST_REGIME);
        let shrink = (lasted / self.total_mass()).min(1.0);
        self.comps.iter_mut().for_each(|c| c.mass *= shrink);
        self.next_structure = now + self.least_interval();
        self.next_polish = u64::MAX;
    }

    /// A component has moved: it starts over from where its recent rows are, with a short memory.
    pub(super) fn follow(&mut self, k: usize) {
        let comp = &mut self.comps[k];
        let mean = comp.watch.shorten().to_vec();
        let memory = comp.watch.memory;
        for moments in [&mut comp.fast, &mut comp.slow] {
            moments.mean.clone_from(&mean);
            moments.count = moments.count.min(memory / 2.0);
        }
        comp.refresh(self.family, &mut GaussScratch::default());
        let id = comp.id;
        self.log(id, Happening::Drift);
    }
}
