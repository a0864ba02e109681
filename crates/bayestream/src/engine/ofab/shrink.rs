//! Shrinkage: deletes or merges components while the factorised information criterion rises.
//!
//! The gain of a move is the change of the log-likelihood of all rows seen, estimated on the ring, plus the penalty it
//! saves: `D_k/2 log c_k` for the component and `1/2 log N` for its weight, [OFAB] (3). The master weighs the penalty
//! by a small fraction and so only loses what is near-degenerate; the exported copy weighs it fully.

use super::component::Comp;
use super::view::View;
use crate::family::{Family, Gauss};

/// What a shrinking step did, for the event log.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Move {
    Deleted { k: usize },
    Merged { kept: usize, gone: usize },
}

/// Components of which less than this share of their rows is in the ring are not judged.
const COVERAGE: f64 = 0.25;
/// Merge candidates tried per step.
const PAIRS_TRIED: usize = 8;

/// Log-determinant costs of merging pairs, kept between steps.
pub(super) struct PairCosts {
    /// Row-major lower triangle; infinite when not computed.
    costs: Vec<Vec<f64>>,
}

impl PairCosts {
    pub fn new<F: Family>(family: F, comps: &[Comp]) -> PairCosts {
        let costs =
            (0..comps.len()).map(|i| (0..i).map(|j| runnalls(family, &comps[i], &comps[j])).collect()).collect();
        PairCosts { costs }
    }

    fn remove(&mut self, k: usize) {
        self.costs.remove(k);
        self.costs.iter_mut().skip(k).for_each(|row| {
            row.remove(k);
        });
    }

    fn update<F: Family>(&mut self, family: F, comps: &[Comp], k: usize) {
        for j in 0..comps.len() {
            if j != k {
                let cost = runnalls(family, &comps[k], &comps[j]);
                self.costs[k.max(j)][k.min(j)] = cost;
            }
        }
    }

    /// Pairs by increasing cost among those `allowed`.
    fn cheapest(&self, n: usize, total: f64, comps: &[Comp], allowed: &[bool]) -> Vec<(usize, usize)> {
        let mut pairs: Vec<(f64, usize, usize)> = Vec::new();
        for i in 0..comps.len() {
            for j in 0..i {
                if allowed[i] && allowed[j] {
                    pairs.push((self.costs[i][j] / total, j, i));
                }
            }
        }
        pairs.sort_by(|a, b| a.0.total_cmp(&b.0).then((a.1, a.2).cmp(&(b.1, b.2))));
        pairs.into_iter().take(n).map(|(_, j, i)| (j, i)).collect()
    }

    /// The cheapest pair of all.
    pub fn cheapest_pair(&self, comps: &[Comp]) -> Option<(usize, usize)> {
        self.cheapest(1, 1.0, comps, &vec![true; comps.len()]).pop()
    }
}

/// Runnalls' bound on what merging two components costs, times the total mass.
fn runnalls<F: Family>(family: F, a: &Comp, b: &Comp) -> f64 {
    let both = a.mass + b.mass;
    let merged = merged_gauss(family, a, b);
    0.5 * (both * merged.log_det() - a.mass * a.gauss.log_det() - b.mass * b.gauss.log_det())
}

/// Density of two components taken as one.
fn merged_gauss<F: Family>(family: F, a: &Comp, b: &Comp) -> Gauss {
    let mut moments = a.fast.clone();
    moments.add_scaled(1.0, &b.fast);
    Gauss::of(family, &moments, &a.prior)
}

/// Takes the best single move with a positive gain, if there is one, and applies it.
pub(super) fn shrink_once<F: Family>(
    family: F,
    comps: &mut Vec<Comp>,
    view: &mut View,
    costs: &mut PairCosts,
    fraction: f64,
) -> Option<Move> {
    if comps.len() < 2 {
        return None;
    }
    let total: f64 = comps.iter().map(|c| c.mass).sum();
    let n = view.total;
    let effective = (view.distinct * comps.iter().map(|c| c.slow.count).sum::<f64>()).max(1.0);
    let half_log = 0.5 * effective.ln();
    let alpha: Vec<f64> = comps.iter().map(|c| c.mass / total).collect();
    let judged: Vec<bool> = (0..comps.len()).map(|k| view.covers(k, alpha[k], COVERAGE)).collect();
    let log_count = |c: &Comp| c.slow.count.max(1.0).ln();
    let mut best: Option<(f64, Move)> = None;
    let mut offer = |gain: f64, what: Move| {
        if gain > 0.0 && best.is_none_or(|(g, _)| gain > g) {
            best = Some((gain, what));
        }
    };
    for k in (0..comps.len()).filter(|&k| judged[k] || view.complete) {
        let lost: f64 = view.q(k).iter().zip(&view.weights).map(|(q, w)| w * (-q.min(1.0 - 1e-15)).ln_1p()).sum();
        let change = effective / n * (lost - n * (-alpha[k].min(1.0 - 1e-15)).ln_1p());
        let saved = comps[k].gauss.n_free() / 2.0 * log_count(&comps[k]) + half_log; // [OFAB] (3)
        offer(change + fraction * saved, Move::Deleted { k });
    }
    let mut merged_density = Vec::new();
    for (i, j) in costs.cheapest(PAIRS_TRIED, total, comps, &judged) {
        let gauss = merged_gauss(family, &comps[i], &comps[j]);
        view.log_density_of(&gauss, &mut merged_density);
        let log_weight = (alpha[i] + alpha[j]).ln();
        let (qi, qj, log_p) = (view.q(i), view.q(j), view.log_p());
        let change: f64 = (0..view.n_rows())
            .map(|r| {
                let rest = 1.0 - qi[r] - qj[r];
                let ratio = rest.max(0.0) + (merged_density[r] + log_weight - log_p[r]).exp();
                view.weights[r] * ratio.max(1e-300).ln()
            })
            .sum();
        let saved = 0.5
            * (comps[i].gauss.n_free() * log_count(&comps[i]) + comps[j].gauss.n_free() * log_count(&comps[j])
                - gauss.n_free() * (comps[i].slow.count + comps[j].slow.count).max(1.0).ln())
            + half_log;
        let floor = if fraction < 1.0 { crate::lab("AIC", 0.5) * gauss.n_free() } else { 0.0 };
        offer(effective / n * change + (fraction * saved).max(floor), Move::Merged { kept: i, gone: j });
    }
    let (_, what) = best?;
    apply(family, comps, view, costs, what);
    Some(what)
}

fn apply<F: Family>(family: F, comps: &mut Vec<Comp>, view: &mut View, costs: &mut PairCosts, what: Move) {
    match what {
        Move::Deleted { k } => {
            comps.remove(k);
            view.remove(k);
            costs.remove(k);
        }
        Move::Merged { kept, gone } => {
            let other = comps.remove(gone);
            view.remove(gone);
            costs.remove(gone);
            comps[kept].absorb(family, &other);
            view.replace(kept, &comps[kept].gauss);
            costs.update(family, comps, kept);
        }
    }
    view.weigh(comps);
}
