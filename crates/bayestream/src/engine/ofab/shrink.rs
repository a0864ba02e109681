//! Shrinkage: deletes or merges components while the factorised information criterion rises.
//!
//! The gain of a move is the change of the log-likelihood of all rows seen, estimated on the ring, plus the penalty it
//! saves: `D_k/2 log c_k` for the component and `1/2 log N` for its weight, [OFAB] (3). The master weighs the penalty
//! by a small fraction and so only loses what is near-degenerate; the exported copy weighs it fully.

use super::component::Comp;
use super::view::View;
use crate::family::{Family, Gauss};
use crate::num;

/// What a shrinking step did, for the event log.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::engine) enum Move {
    Deleted { k: usize },
    Merged { kept: usize, gone: usize },
}

/// Components of which less than this share of their rows is in the ring are not judged.
const COVERAGE: f64 = 0.25;
/// Merge candidates tried per step.
const PAIRS_TRIED: usize = 8;
const PAIRS_ON_PATH: usize = 4;
/// How far a sequence of moves may go below where it began before it is given up: nats, and nats per row seen.
const DEEPEST_LOSS: f64 = 50.0;
const DEEPEST_LOSS_PER_ROW: f64 = 0.03;

/// Log-determinant costs of merging pairs, kept between steps.
#[derive(Clone)]
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
    fn cheapest(&self, n: usize, comps: &[Comp], allowed: &[bool]) -> Vec<(usize, usize)> {
        let mut pairs: Vec<(f64, usize, usize)> = Vec::new();
        for i in 0..comps.len() {
            for j in 0..i {
                if allowed[i] && allowed[j] {
                    pairs.push((self.costs[i][j], j, i));
                }
            }
        }
        pairs.sort_by(|a, b| a.0.total_cmp(&b.0).then((a.1, a.2).cmp(&(b.1, b.2))));
        pairs.into_iter().take(n).map(|(_, j, i)| (j, i)).collect()
    }

    /// The cheapest pair of all.
    pub fn cheapest_pair(&self, comps: &[Comp]) -> Option<(usize, usize)> {
        self.cheapest(1, comps, &vec![true; comps.len()]).pop()
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

/// Shrinks until no sequence of moves raises the criterion. Returns the moves in order; positions in a move are those
/// at its time.
pub(in crate::engine) fn shrink<F: Family>(
    family: F,
    comps: &mut Vec<Comp>,
    view: &mut View,
    fraction: f64,
) -> Vec<Move> {
    let mut costs = PairCosts::new(family, comps);
    let mut done = Vec::new();
    loop {
        match best_move(family, comps, view, &costs, fraction, PAIRS_TRIED) {
            Some((gain, what)) if gain > 0.0 => {
                apply(family, comps, view, &mut costs, what);
                done.push(what);
            }
            Some((gain, _)) => {
                let path = paying_path(family, comps, view, &costs, fraction, gain);
                if path.is_empty() {
                    return done;
                }
                for &what in &path {
                    apply(family, comps, view, &mut costs, what);
                }
                done.extend(path);
            }
            None => return done,
        }
    }
}

/// Merges while that raises the criterion. Nothing is deleted: all that components know lives on in others.
pub(super) fn join_alike<F: Family>(family: F, comps: &mut Vec<Comp>, view: &mut View) {
    let mut costs = PairCosts::new(family, comps);
    while let Some((gain, what)) = best_move(family, comps, view, &costs, 1.0, PAIRS_ON_PATH) {
        if gain <= 0.0 {
            return;
        }
        apply(family, comps, view, &mut costs, what);
    }
}

/// Moves that pay only together: a long cluster cut into slices loses a little with each merge of two slices and gains
/// much when it is whole. Follows the best moves downhill for a while and keeps the way to the best point.
fn paying_path<F: Family>(
    family: F,
    comps: &[Comp],
    view: &View,
    costs: &PairCosts,
    fraction: f64,
    first_gain: f64,
) -> Vec<Move> {
    let depth = DEEPEST_LOSS + DEEPEST_LOSS_PER_ROW * effective_rows(comps, view);
    if first_gain < -depth {
        return Vec::new();
    }
    let (mut comps, mut view, mut costs) = (comps.to_vec(), view.clone(), costs.clone());
    let (mut total, mut best, mut n_best) = (0.0, 0.0, 0);
    let mut path = Vec::new();
    while let Some((gain, what)) = best_move(family, &comps, &mut view, &costs, fraction, PAIRS_ON_PATH) {
        total += gain;
        if total < -depth {
            break;
        }
        apply(family, &mut comps, &mut view, &mut costs, what);
        path.push(what);
        if total > best {
            (best, n_best) = (total, path.len());
        }
    }
    path.truncate(n_best);
    path
}

fn effective_rows(comps: &[Comp], view: &View) -> f64 {
    (view.distinct * comps.iter().map(|c| c.slow.count).sum::<f64>()).max(1.0)
}

/// What a needless component is worth per free parameter, in nats: half a nat is gained by chance, and another half is
/// lost on new rows. The master penalises lightly, but not below that; where rows are few for so many parameters it is
/// too early to act on the second half.
fn chance_gain(rows_per_parameter: f64) -> f64 {
    0.5 + 0.5 * ((rows_per_parameter - 2.0) / 8.0).clamp(0.0, 1.0)
}

/// The single move with the largest gain, be it positive or not.
fn best_move<F: Family>(
    family: F,
    comps: &[Comp],
    view: &mut View,
    costs: &PairCosts,
    fraction: f64,
    n_pairs: usize,
) -> Option<(f64, Move)> {
    if comps.len() < 2 || view.block.is_interrupted() {
        return None;
    }
    let total: f64 = comps.iter().map(|c| c.mass).sum();
    let n = view.total;
    let effective = effective_rows(comps, view);
    let half_log = 0.5 * effective.ln();
    let alpha: Vec<f64> = comps.iter().map(|c| c.mass / total).collect();
    let judged: Vec<bool> = (0..comps.len()).map(|k| view.covers(k, alpha[k], COVERAGE)).collect();
    let log_count = |c: &Comp| c.slow.count.max(1.0).ln();
    let by_chance = chance_gain(n / comps.len() as f64 / family.most_free(view.block.n_columns()));
    let worth = |saved: f64, n_free: f64| {
        if fraction < 1.0 { (fraction * saved).max(by_chance * n_free) } else { saved }
    };
    let mut best: Option<(f64, Move)> = None;
    let mut offer = |gain: f64, what: Move| {
        if best.is_none_or(|(g, _)| gain > g) {
            best = Some((gain, what));
        }
    };
    let mut buffer: Vec<f64> = Vec::new();
    // On a path only merges are tried: what they lose together can come back, a deletion's loss cannot.
    for k in (0..comps.len()).filter(|&k| n_pairs == PAIRS_TRIED && (judged[k] || view.complete)) {
        buffer.clear();
        buffer.extend(view.q(k).iter().map(|q| (1.0 - q).max(1e-15)));
        num::ln_slice(&mut buffer);
        let lost: f64 = buffer.iter().zip(&view.weights).map(|(l, w)| l * w).sum();
        let change = effective / n * (lost - n * (-alpha[k].min(1.0 - 1e-15)).ln_1p());
        let saved = comps[k].gauss.n_free() / 2.0 * log_count(&comps[k]) + half_log; // [OFAB] (3)
        offer(change + fraction * saved, Move::Deleted { k });
    }
    for (i, j) in costs.cheapest(n_pairs, comps, &judged) {
        let gauss = merged_gauss(family, &comps[i], &comps[j]);
        view.log_density_of(&gauss, &mut buffer);
        buffer.truncate(view.n_rows());
        let log_weight = (alpha[i] + alpha[j]).ln();
        buffer.iter_mut().zip(view.log_p()).for_each(|(v, log_p)| *v += log_weight - log_p);
        num::exp_slice(&mut buffer);
        let (qi, qj) = (view.q(i), view.q(j));
        for (r, v) in buffer.iter_mut().enumerate() {
            *v = (*v + (1.0 - qi[r] - qj[r]).max(0.0)).max(1e-300);
        }
        num::ln_slice(&mut buffer);
        let change: f64 = buffer.iter().zip(&view.weights).map(|(l, w)| l * w).sum();
        let count_both = (comps[i].slow.count + comps[j].slow.count).max(1.0).ln();
        let price = |c: &Comp| c.gauss.n_free() * log_count(c);
        let saved = 0.5 * (price(&comps[i]) + price(&comps[j]) - gauss.n_free() * count_both) + half_log;
        offer(effective / n * change + worth(saved, gauss.n_free()), Move::Merged { kept: i, gone: j });
    }
    best
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
