//! The first model, from the first rows: the prior that predicts them best, and for `gmm/dp` the best of a few orders.

use super::DirichletMixture;
use super::core::{Core, Rule};
use super::prior::{Prior, SCALES, first_strengths};
use crate::data::Frame;
use crate::num;
use crate::structure::Happening;

/// Orders of the first rows that `gmm/dp` tries.
const ORDERS: u64 = 4;
/// Rows between two looks at a race of priors, and the nats by which a runner may be behind: some, and more per row.
const LAP: usize = 50;
const BEHIND: f64 = 100.0;
const BEHIND_PER_ROW: f64 = 0.5;

/// The first rows, in the frame.
struct FirstRows {
    n_columns: usize,
    rows: Vec<f64>,
    weights: Vec<f64>,
}

impl FirstRows {
    fn row(&self, at: usize) -> &[f64] {
        &self.rows[at * self.n_columns..(at + 1) * self.n_columns]
    }
}

impl DirichletMixture {
    /// Makes the model anew from all rows in the ring.
    pub(super) fn start_over(&mut self) {
        let (rows, weights) = self.ring.recent(self.ring.len());
        let frame = Frame::of_rows(&rows, self.n_columns, self.scaling);
        let mut framed = Vec::with_capacity(rows.len());
        frame.push_rows(&rows, &mut framed);
        let first = FirstRows { n_columns: self.n_columns, rows: framed, weights: weights.clone() };
        let Some(mut core) = self.fastest(&first) else { return };
        if self.rule == Rule::Lazy {
            core.look();
            core = self.best_order(core, &first);
        }
        core.make_due();
        if self.rule == Rule::Lazy {
            self.revise(&mut core, &frame, &rows, weights);
        }
        // What came and went on the way is nobody's news, but for a want of room that lasts.
        let is_full = core.is_full();
        core.news.retain(|(_, what)| is_full && *what == Happening::Full);
        self.tempo.change_frame();
        (self.core, self.frame) = (Some(core), Some(frame));
    }

    pub(super) fn blank_core(&self, prior: Prior) -> Core {
        let mut core = Core::new(self.rule, &self.settings, self.shard, prior);
        core.next_serial = self.core.as_ref().map_or(0, |core| core.next_serial);
        core.work.comp.puts_off = true;
        core.work.interrupt = self.work.interrupt.clone();
        core
    }

    /// The model under the prior whose predictions of each row from the ones before are the best. Those that fall far
    /// behind on the way, or fill up with components, are given up.
    fn fastest(&self, first: &FirstRows) -> Option<Core> {
        let asked = &self.settings.dirichlet;
        let scales = asked.prior_scale.as_ref().map_or(&SCALES[..], std::slice::from_ref);
        // Settings were checked when the model was made, so there is a prior.
        let priors = scales.iter().flat_map(|&scale| {
            let strengths = first_strengths(self.n_columns);
            let n = if asked.nu0.is_some() { 1 } else { strengths.len() };
            strengths.into_iter().take(n).filter_map(move |s| Prior::new(self.n_columns, scale, s, asked).ok())
        });
        let mut best: Option<(f64, Core)> = None;
        let mut laps: Vec<f64> = Vec::new();
        for prior in priors {
            let mut core = self.blank_core(prior);
            let (mut foretold, mut times, mut behind) = (0.0, Vec::new(), false);
            for (at, w) in first.weights.iter().enumerate() {
                if self.work.interrupt.is_raised() {
                    break;
                }
                foretold += w * core.learn_row(first.row(at), *w);
                if at % LAP == LAP - 1 {
                    times.push(foretold);
                    let allowed = BEHIND + BEHIND_PER_ROW * core.mass;
                    behind = laps.get(times.len() - 1).is_some_and(|lap| foretold < lap - allowed);
                }
                if behind || (best.is_some() && core.comps.len() >= self.settings.max_components) {
                    behind = true;
                    break;
                }
            }
            if !behind && best.as_ref().is_none_or(|(most, _)| foretold > *most) {
                best = Some((foretold, core));
                laps = times;
            }
        }
        best.map(|(_, core)| core)
    }

    /// Greedy assignment depends on the order of the rows: a few more are tried under the prior learnt by then, and the
    /// likeliest partition stays.
    fn best_order(&self, start: Core, first: &FirstRows) -> Core {
        let mut best = start;
        let mut evidence = best.log_evidence();
        let n = first.weights.len();
        let mut order: Vec<usize> = (0..n).collect();
        for round in (0..ORDERS).take_while(|_| !self.work.interrupt.is_raised()) {
            let mut rng = num::stream(self.seed, u64::from(self.shard), u64::MAX - round);
            (1..n).rev().for_each(|i| order.swap(i, rng.below(i + 1)));
            let mut core = self.blank_core(best.prior.clone());
            for &at in order.iter().take_while(|_| !self.work.interrupt.is_raised()) {
                core.learn_row(first.row(at), first.weights[at]);
            }
            core.look();
            let found = core.log_evidence();
            if found > evidence {
                (best, evidence) = (core, found);
            }
        }
        best
    }
}
