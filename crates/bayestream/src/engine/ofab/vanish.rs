//! Drift: components that the stream has left, and components that move.

use super::Ofab;
use super::component::Comp;
use super::watch::MeanWatch;
use crate::family::{Family, GaussScratch, Moments, prior_free_count};
use crate::num;
use crate::structure::Happening;

/// Extra nats of evidence, beyond the log of the number of chances to be wrong.
const EVIDENCE: f64 = 6.0;
/// Rows of probation, in a first regime and after a change.
const PROBATION: u64 = 500;
const PROBATION_AFTER_CHANGE: u64 = 200;
/// One of many components has few rows in as many: eight of them settle it.
const PROBATION_PER_COMPONENT: u64 = 10;
/// Fewest rows a regime is taken to have lasted when masses are scaled down to it.
const LEAST_REGIME: f64 = 20.0;
/// Share of the mass that must remain for the survivors of a change to be taken at their word.
const OLD_WORLD: f64 = 0.5;
/// Nats that others may lack at a component's centre and still be said to have taken its place.
const OUTCOMPETED: f64 = 6.0;

impl<F: Family> Ofab<F> {
    /// Evidence needed to say that a component is gone or has moved.
    pub(super) fn alarm_threshold(&self) -> f64 {
        (self.comps.len() as f64).ln() + (self.n_seen as f64).ln() + EVIDENCE
    }

    pub(super) fn probation(&self) -> u64 {
        let least = if self.regime_start > 0 { PROBATION_AFTER_CHANGE } else { PROBATION };
        least.max(PROBATION_PER_COMPONENT * self.comps.len() as u64)
    }

    /// Rows between structure checks, at least.
    pub(super) fn least_interval(&self) -> u64 {
        if self.regime_start > 0 { (10 * self.n_columns as u64).max(30) } else { 500 }
    }

    /// A birth is a change too: structure is looked at soon, once the newcomer has rows.
    pub(super) fn after_birth(&mut self) {
        let takes_over = self.newest_heavy().is_some_and(|born| self.n_seen - born <= self.probation());
        if takes_over || (self.settings.drift && self.regime_start > 0) {
            self.next_structure = self.next_structure.min(self.n_seen + 2 * self.least_interval());
        }
    }

    /// False while the first model is made from all rows time and again: what is there then was there.
    pub(super) fn may_vanish(&self) -> bool {
        self.regime_start > 0 || self.n_seen > self.settings.warm_up as u64
    }

    /// Sums up the evidence that components' rows have stopped coming: a likelihood ratio of "gone" against "present"
    /// that starts over whenever presence is the better bet. The master is redundant, so several components of one
    /// cluster vanish together: sets are judged, the longest absent first, at the price of having chosen the set.
    pub(super) fn vanish(&mut self, log_others: &[f64], batch_mass: f64) {
        let total = self.total_mass();
        let threshold = self.alarm_threshold();
        let now = self.n_seen;
        for (comp, log_others) in self.comps.iter_mut().zip(log_others) {
            let worth = comp.turns.worth(comp.mass / total);
            let expected = batch_mass * (1.0 - comp.mass / total).max(1e-4).ln();
            comp.absence += worth * (log_others - expected);
            comp.claimed += worth * log_others;
            comp.absent_mass += worth * batch_mass;
            if comp.absence <= 0.0 {
                comp.seen(now);
            }
        }
        let Some(gone) = self.vanished_set(threshold, now) else { return };
        let since = gone.iter().map(|&k| self.comps[k].since).max().unwrap_or(now);
        let gone: Vec<_> = gone.into_iter().map(|k| self.comps[k].id).collect();
        self.settle();
        for &id in &gone {
            self.log(id, Happening::Drift);
            self.log(id, Happening::Died);
        }
        let before = self.total_mass();
        self.comps.retain(|c| !gone.contains(&c.id));
        self.next_structure = now + self.least_interval();
        // Where kinds of rows come one after the other, those that are not here now are no past that has ended.
        if self.comes_in_runs() {
            return;
        }
        if self.total_mass() < OLD_WORLD * before {
            self.doubt_survivors(since);
        }
        self.ring_from = self.ring_from.max(since);
        self.regime_start = now;
        let lasted = ((now - since) as f64).max(LEAST_REGIME);
        let shrink = (lasted / self.total_mass()).min(1.0);
        self.comps.iter_mut().for_each(|c| c.mass *= shrink);
        self.next_polish = u64::MAX;
    }

    /// The set of components with the most evidence of absence, when that is enough; never all that have graduated.
    fn vanished_set(&self, threshold: f64, now: u64) -> Option<Vec<usize>> {
        let total = self.total_mass();
        let n_comps = self.comps.len();
        let is_absent = |c: &Comp| c.graduated && c.absence > 0.0 && c.turns.are_strewn(c.mass / total, now - c.since);
        if self.comps.iter().filter(|c| is_absent(c)).map(|c| c.absence).sum::<f64>() < threshold {
            return None;
        }
        let mut absent: Vec<usize> = (0..n_comps).filter(|&k| is_absent(&self.comps[k])).collect();
        absent.sort_by(|&a, &b| self.comps[b].absent_mass.total_cmp(&self.comps[a].absent_mass).then(a.cmp(&b)));
        let n_graduated = self.comps.iter().filter(|c| c.graduated).count();
        let (mut share, mut claimed, mut log_choices) = (0.0_f64, 0.0, 0.0);
        let mut best: Option<(f64, usize)> = None;
        for (i, &k) in absent.iter().enumerate() {
            let comp = &self.comps[k];
            share += comp.mass / total;
            claimed += comp.claimed;
            log_choices += ((n_comps - i) as f64 / (i + 1) as f64).ln();
            let evidence = claimed - comp.absent_mass * (1.0 - share).max(1e-4).ln() - log_choices;
            if best.is_none_or(|(e, _)| evidence > e) {
                best = Some((evidence, i + 1));
            }
        }
        let (evidence, n) = best?;
        absent.truncate(n);
        absent.sort_unstable();
        let gone: Vec<usize> = absent.iter().copied().filter(|&k| !self.is_outcompeted(k, &absent)).collect();
        let kept = gone.iter().map(|&k| self.comps[k].absence).sum::<f64>();
        let all = absent.iter().map(|&k| self.comps[k].absence).sum::<f64>();
        // Those that others replaced are no evidence of change.
        let enough = evidence * kept / all.max(f64::MIN_POSITIVE) > threshold;
        (enough && !gone.is_empty() && gone.len() < n_graduated).then_some(gone)
    }

    /// Most of the old world is gone: what is left of it may only look alike, so it must learn its shape again.
    fn doubt_survivors(&mut self, since: u64) {
        let memory = prior_free_count(self.n_columns);
        for comp in self.comps.iter_mut().filter(|c| c.born < since) {
            comp.fast.count = comp.fast.count.min(memory);
            comp.slow.count = comp.slow.count.min(memory);
            comp.watch = MeanWatch::at(&comp.fast.mean);
        }
    }

    /// True when other components explain a component's centre about as well as it does: it has lost its rows to them,
    /// the stream has not left it. Shrinkage will see to it.
    fn is_outcompeted(&self, k: usize, gone: &[usize]) -> bool {
        let centre = self.comps[k].gauss.mean();
        let mut z = vec![0.0; self.n_columns];
        let mut log_joint = |c: &Comp| {
            c.gauss.whitened(centre, &mut z);
            c.mass.max(f64::MIN_POSITIVE).ln() + c.gauss.log_norm() - 0.5 * z.iter().map(|v| v * v).sum::<f64>()
        };
        let own = log_joint(&self.comps[k]);
        let others: Vec<f64> =
            self.comps.iter().enumerate().filter(|(j, _)| !gone.contains(j)).map(|(_, c)| log_joint(c)).collect();
        num::log_sum_exp(&others) > own - OUTCOMPETED
    }

    /// A component's rows are elsewhere now. If they used to come in runs, this run is another's, which begins here; else
    /// the component has moved.
    pub(super) fn move_on(&mut self, k: usize) {
        if self.comps[k].turns.are_in_runs(self.comps[k].mass / self.total_mass()) {
            self.branch(k);
        } else {
            self.follow(k);
        }
    }

    /// A component begins where another's recent rows are; what that knew stays.
    fn branch(&mut self, k: usize) {
        let comp = &mut self.comps[k];
        let mean = comp.watch.restart(&comp.fast.mean);
        // Merging others for room would renumber them while several may be on the move.
        if self.comps.len() >= self.settings.max_components {
            let id = self.comps[k].id;
            return self.events.push_full(self.n_seen, id);
        }
        let id = self.new_id();
        let comp = &self.comps[k];
        // The shape is a guess that a few rows overrule.
        let count = self.n_columns as f64 + 2.0;
        let moments = Moments { count, mean, ..comp.fast.clone() };
        let mut born = Comp::settled(self.family, id, count, moments, comp.prior.clone(), self.n_seen);
        born.hits = count;
        self.comps.push(born);
        self.log(id, Happening::Born);
    }

    /// It starts over from where its recent rows are, with a short memory.
    fn follow(&mut self, k: usize) {
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
