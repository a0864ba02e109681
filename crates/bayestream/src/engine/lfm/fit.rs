//! A fit of rows at hand: the loop of steps that raise the bound, and the moves that change the number of features.

use super::bound::{bound, expected_log_likelihood};
use super::descent::{self, Descent};
use super::direction::Directions;
use super::field::{Field, Follow};
use super::parameters::{Maximising, Parameters};
use super::rows::Rows;
use super::statistics::{Gathering, Statistics};
use crate::num::Rng;

/// Features that are tried for removal, the least salient first.
const REMOVALS_TRIED: usize = 4;
/// Sweeps in which other features take over from a removed one.
pub(super) const TAKE_OVER_SWEEPS: usize = 5;
/// Pairs of features that are tried for merging, the nearest first.
const MERGES_TRIED: usize = 3;

/// How a fit goes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pace {
    /// T: steps of accelerateShrinkage in each iteration; 0 for none.
    pub shrink_steps: usize,
    /// Stop when the bound grows by less than this for a row.
    pub tolerance: f64,
    /// Stop after so many iterations.
    pub max_iterations: usize,
    /// Iterations before a move is judged.
    pub trial_iterations: usize,
}

/// q(Z) and the parameters that go with it.
#[derive(Clone, Debug, Default)]
pub struct Fit {
    /// q(Z).
    pub field: Field,
    /// Sums over the rows under q(Z); where features are many, without those of columns with missing cells.
    pub statistics: Statistics,
    /// The parameters.
    pub parameters: Parameters,
    /// L.
    pub bound: f64,
    gathering: Gathering,
    maximising: Maximising,
    descent: Descent,
    directions: Directions,
}

/// A fit to go back to.
#[derive(Clone, Debug)]
pub struct Saved {
    mu: Vec<f64>,
    tags: Vec<u32>,
    k: usize,
    statistics: Statistics,
    parameters: Parameters,
    /// Its L.
    pub bound: f64,
}

impl Saved {
    /// Its features.
    pub fn k(&self) -> usize {
        self.k
    }
}

impl Fit {
    /// The fit without features.
    pub fn new(rows: &Rows) -> Fit {
        let mut fit = Fit { field: Field::empty(rows.n), ..Fit::default() };
        fit.maximise(rows);
        fit
    }

    /// Features.
    pub fn k(&self) -> usize {
        self.field.k
    }

    /// A fit that begins with given parameters, whose features keep their numbers as tags.
    pub fn from_parameters(rows: &Rows, parameters: &Parameters, sweeps: usize) -> Fit {
        let mut fit = Fit { parameters: parameters.clone(), ..Fit::default() };
        fit.field.reset(rows.n, &parameters.shares);
        fit.field.prepare(rows, parameters);
        (0..sweeps).for_each(|_| fit.field.sweep(rows, parameters, penalty(rows)));
        fit.maximise(rows);
        fit
    }

    /// The M-step, and L after it.
    pub fn maximise(&mut self, rows: &Rows) {
        let Fit { field, statistics, parameters, gathering, maximising, .. } = self;
        if descent::is_cheaper(rows, field.k) {
            statistics.gather_common(rows, &field.mu, field.k, gathering);
            self.descent.maximise(rows, &field.mu, statistics, parameters, maximising);
        } else {
            statistics.gather(rows, &field.mu, field.k, gathering);
            parameters.maximise(statistics, maximising);
        }
        self.bound = bound(statistics, parameters, &maximising.misfit, field.entropy(rows));
    }

    /// E\[log p(X, Z)\] and the entropy of q(Z): the bound without its penalty, after an M-step.
    pub fn evidence(&mut self, rows: &Rows) -> f64 {
        expected_log_likelihood(&self.statistics, &self.parameters, &self.maximising.misfit) + self.field.entropy(rows)
    }

    /// Sums over the rows under q(Z), those of columns with missing cells among them.
    pub fn gathered(&self, rows: &Rows) -> Statistics {
        let mut statistics = Statistics::default();
        statistics.gather(rows, &self.field.mu, self.field.k, &mut Gathering::default());
        statistics
    }

    /// The E-step: accelerateShrinkage, then one sweep. `penalty` is D/2N; 0 makes it plain EM.
    pub fn expect(&mut self, rows: &Rows, shrink_steps: usize, penalty: f64) {
        self.field.prepare(rows, &self.parameters);
        self.field.accelerate(rows, &mut self.parameters, penalty, shrink_steps, Follow::ALL);
        self.field.sweep(rows, &self.parameters, penalty);
    }

    /// Lets go of features that fewer than one row has, or fewer than one row lacks; returns how many. What all rows have
    /// becomes part of b by the M-step that follows, where b and the feature are the same but for a row.
    pub fn shrink(&mut self, rows: &Rows) -> usize {
        let count = |k: usize| self.field.of(k).iter().zip(&rows.weights).map(|(m, w)| m * w).sum::<f64>();
        let keep: Vec<bool> = (0..self.k()).map(|k| is_used(count(k), rows.mass)).collect();
        let n_dropped = keep.iter().filter(|kept| !**kept).count();
        if n_dropped > 0 {
            self.field.retain(&keep);
        }
        n_dropped
    }

    /// One iteration of FAB; returns how many features were let go.
    pub fn iterate(&mut self, rows: &Rows, shrink_steps: usize) -> usize {
        self.expect(rows, shrink_steps, penalty(rows));
        let n_dropped = self.shrink(rows);
        self.maximise(rows);
        n_dropped
    }

    /// Iterates until the bound has settled; `watch` sees each iteration.
    pub fn converge(&mut self, rows: &Rows, pace: &Pace, watch: &mut dyn FnMut(&Fit)) {
        for _ in 0..pace.max_iterations {
            if rows.interrupt.is_raised() {
                return;
            }
            let before = self.bound;
            let n_dropped = self.iterate(rows, pace.shrink_steps);
            watch(self);
            // Deviates: L falls when a feature goes, whose −D/2 log Nπ was large, so that a loss ends nothing
            // (`laws::the_bound_never_falls_between_removals`).
            if n_dropped == 0 && self.bound - before < pace.tolerance * rows.mass {
                return;
            }
        }
    }

    /// A copy to go back to.
    pub fn save(&self) -> Saved {
        Saved {
            mu: self.field.mu.clone(),
            tags: self.field.tags.clone(),
            k: self.field.k,
            statistics: self.statistics.clone(),
            parameters: self.parameters.clone(),
            bound: self.bound,
        }
    }

    /// Goes back.
    pub fn restore(&mut self, saved: &Saved) {
        self.field.mu.clone_from(&saved.mu);
        self.field.tags.clone_from(&saved.tags);
        self.field.k = saved.k;
        self.statistics.clone_from(&saved.statistics);
        self.parameters.clone_from(&saved.parameters);
        self.bound = saved.bound;
    }

    /// Adds a feature along the residuals' direction number `which`, and iterates a little. False when there is none.
    pub fn add_along(&mut self, which: usize, rows: &Rows, pace: &Pace) -> bool {
        if which == 0 {
            self.directions.find(rows, &self.field, &self.parameters);
        }
        let Some(mu) = self.directions.guess(which, rows) else { return false };
        self.field.push(&mu);
        self.try_out(rows, pace);
        true
    }

    fn try_out(&mut self, rows: &Rows, pace: &Pace) {
        self.maximise(rows);
        for _ in 0..pace.trial_iterations {
            if rows.interrupt.is_raised() {
                return;
            }
            self.iterate(rows, pace.shrink_steps);
        }
    }

    /// Adds features along the directions of the residuals that stand out of the noise, `most` of them at most, and iterates
    /// `longer` times as long as after a single birth; returns how many were added.
    pub fn add_many(&mut self, most: usize, rows: &Rows, pace: &Pace, longer: usize, rng: &mut Rng) -> usize {
        self.directions.find(rows, &self.field, &self.parameters);
        let guesses = self.directions.guess_all(most, rows, rng);
        guesses.iter().for_each(|mu| self.field.push(mu));
        if !guesses.is_empty() {
            self.try_out(rows, &Pace { trial_iterations: longer * pace.trial_iterations, ..*pace });
        }
        guesses.len()
    }

    /// Tries to do without one of the least salient features; true when the bound rose.
    pub fn try_removal(&mut self, rows: &Rows, pace: &Pace) -> bool {
        let mut order: Vec<usize> = (0..self.k()).collect();
        let salience: Vec<f64> = order.iter().map(|&k| self.parameters.salience(k)).collect();
        order.sort_by(|a, b| salience[*a].total_cmp(&salience[*b]).then(a.cmp(b)));
        let saved = self.save();
        for &k in order.iter().take(REMOVALS_TRIED).take_while(|_| !rows.interrupt.is_raised()) {
            let keep: Vec<bool> = (0..saved.k).map(|l| l != k).collect();
            self.do_without(&keep, rows, pace);
            if self.bound > saved.bound {
                return true;
            }
            self.restore(&saved);
        }
        false
    }

    /// Lets go of the features that are not marked, and iterates a little.
    pub fn do_without(&mut self, keep: &[bool], rows: &Rows, pace: &Pace) {
        self.field.retain(keep);
        // The others take over before w and b are found anew, or these would follow rows that nothing explains.
        self.parameters.retain(keep);
        self.field.prepare(rows, &self.parameters);
        (0..TAKE_OVER_SWEEPS).for_each(|_| self.field.sweep(rows, &self.parameters, penalty(rows)));
        self.try_out(rows, pace);
    }

    /// Tries to make one of two features that add much the same; true when the bound rose.
    pub fn try_merge(&mut self, rows: &Rows, pace: &Pace) -> bool {
        let k = self.k();
        let mut pairs: Vec<(f64, usize, usize)> = Vec::new();
        for i in 0..k {
            for j in i + 1..k {
                let (w, v) = (self.parameters.feature(i), self.parameters.feature(j));
                pairs.push((w.iter().zip(v).map(|(a, b)| (a - b) * (a - b)).sum(), i, j));
            }
        }
        pairs.sort_by(|a, b| a.0.total_cmp(&b.0).then((a.1, a.2).cmp(&(b.1, b.2))));
        let saved = self.save();
        for &(_, i, j) in pairs.iter().take(MERGES_TRIED).take_while(|_| !rows.interrupt.is_raised()) {
            self.merge(i, j);
            self.try_out(rows, pace);
            if self.bound > saved.bound {
                return true;
            }
            self.restore(&saved);
        }
        false
    }

    /// One feature, as probable as two were on average, in place of both.
    pub fn merge(&mut self, i: usize, j: usize) {
        let n = self.field.n;
        for row in 0..n {
            self.field.mu[i * n + row] = 0.5 * (self.field.mu[i * n + row] + self.field.mu[j * n + row]);
        }
        // Deviates: the paper doubles w; the M-step that follows finds w for the new μ
        // (`laws::merging_two_identical_features_raises_the_bound`).
        let keep: Vec<bool> = (0..self.k()).map(|l| l != j).collect();
        self.field.retain(&keep);
    }
}

/// D/2N.
pub fn penalty(rows: &Rows) -> f64 {
    if rows.mass > 0.0 { 0.5 * rows.d as f64 / rows.mass } else { 0.0 }
}

/// At least one row has it and at least one row lacks it.
pub fn is_used(count: f64, mass: f64) -> bool {
    count >= 1.0 && mass - count >= 1.0
}
