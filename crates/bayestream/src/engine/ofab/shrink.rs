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

/// Moves that a sequence goes on for without a new best: of few components all, of many those that one cluster can need.
const PATIENCE: usize = 50;

/// Log-determinant costs of merging pairs, kept between steps.
#[derive(Clone)]
pub(super) struct PairCosts {
    /// Row-major lower triangle.
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
    fn cheapest(&self, n: usize, allowed: impl Fn(usize) -> bool) -> Vec<(usize, usize)> {
        let mut least: Vec<(f64, usize, usize)> = Vec::with_capacity(n + 1);
        for (i, row) in self.costs.iter().enumerate().filter(|(i, _)| allowed(*i)) {
            for (j, &cost) in row.iter().enumerate() {
                if (least.len() < n || cost < least[n - 1].0) && allowed(j) {
                    let at = least.partition_point(|(other, ..)| *other <= cost);
                    least.insert(at, (cost, j, i));
                    least.truncate(n);
                }
            }
        }
        least.into_iter().map(|(_, j, i)| (j, i)).collect()
    }

    /// The cheapest pair of all.
    pub fn cheapest_pair(&self) -> Option<(usize, usize)> {
        self.cheapest(1, |_| true).pop()
    }
}

/// Runnalls' bound on what merging two components costs, times the total mass.
fn runnalls<F: Family>(family: F, a: &Comp, b: &Comp) -> f64 {
    let both = a.mass + b.mass;
    let merged = merged_gauss(family, a, b);
    0.5 * (both * merged.log_det() - a.mass * a.gauss.log_det() - b.mass * b.gauss.log_det())
}

/// True when two components are better taken as one by the criterion: what is lost is less than what parameters cost.
pub(super) fn are_one<F: Family>(family: F, a: &Comp, b: &Comp) -> bool {
    let (n_a, n_b) = (a.fast.count, b.fast.count);
    let both = merged_gauss(family, a, b);
    let lost = (n_a + n_b) * both.log_det() - n_a * a.gauss.log_det() - n_b * b.gauss.log_det();
    let price = |gauss: &Gauss, n: f64| gauss.n_free() * n.max(1.0).ln(); // [OFAB] (3)
    lost < price(&a.gauss, n_a) + price(&b.gauss, n_b) - price(&both, n_a + n_b)
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
    let mut judge = Judge::new(family, std::mem::take(comps), view.take(), fraction);
    let mut done = Vec::new();
    loop {
        match judge.best_move(PAIRS_TRIED) {
            Some((gain, what)) if gain > 0.0 => {
                judge.apply(what);
                done.push(what);
            }
            Some((gain, _)) => {
                let path = judge.paying_path(gain);
                if path.is_empty() {
                    break;
                }
                path.iter().for_each(|&what| judge.apply(what));
                done.extend(path);
            }
            None => break,
        }
    }
    (*comps, *view) = (judge.comps, judge.view);
    done
}

/// Merges while that raises the criterion. Nothing is deleted: all that components know lives on in others.
pub(super) fn join_alike<F: Family>(family: F, comps: &mut Vec<Comp>, view: &mut View) {
    let mut judge = Judge::new(family, std::mem::take(comps), view.take(), 1.0);
    while let Some((_, what)) = judge.best_move(PAIRS_ON_PATH).filter(|(gain, _)| *gain > 0.0) {
        judge.apply(what);
    }
    (*comps, *view) = (judge.comps, judge.view);
}

/// What a needless component is worth per free parameter, in nats: half a nat is gained by chance, and another half is
/// lost on new rows. The master penalises lightly, but not below that; where rows are few for so many parameters it is
/// too early to act on the second half.
fn chance_gain(rows_per_parameter: f64) -> f64 {
    0.5 + 0.5 * ((rows_per_parameter - 2.0) / 8.0).clamp(0.0, 1.0)
}

/// Components, the rows that moves are judged on, and what a move leaves as it was: a move touches the rows of one or
/// two components, however many there are.
#[derive(Clone)]
struct Judge<F: Family> {
    family: F,
    comps: Vec<Comp>,
    view: View,
    fraction: f64,
    costs: PairCosts,
    /// Log-likelihood that pairs gain when merged, as the lower triangle of a matrix; not a number when not known.
    changes: Vec<Vec<f64>>,
    /// Mass of the rows that each component is responsible for, and Σ w ln(1 − q).
    covered: Vec<f64>,
    lost: Vec<f64>,
}

impl<F: Family> Judge<F> {
    fn new(family: F, comps: Vec<Comp>, view: View, fraction: f64) -> Judge<F> {
        let costs = PairCosts::new(family, &comps);
        let changes = (0..comps.len()).map(|i| vec![f64::NAN; i]).collect();
        let covered = (0..comps.len()).map(|k| view.covered(k)).collect();
        let lost = (0..comps.len()).map(|k| view.rows_of(k).map(|i| log_without(&view, k, i)).sum()).collect();
        Judge { family, comps, view, fraction, costs, changes, covered, lost }
    }

    fn effective_rows(&self) -> f64 {
        (self.view.distinct * self.comps.iter().map(|c| c.slow.count).sum::<f64>()).max(1.0)
    }

    /// Moves that pay only together: a long cluster cut into slices loses a little with each merge of two slices and
    /// gains much when it is whole. Follows the best moves downhill for a while and keeps the way to the best point.
    fn paying_path(&self, first_gain: f64) -> Vec<Move> {
        let depth = DEEPEST_LOSS + DEEPEST_LOSS_PER_ROW * self.effective_rows();
        if first_gain < -depth {
            return Vec::new();
        }
        let mut judge = self.clone();
        let (mut total, mut best, mut n_best) = (0.0, 0.0, 0);
        let mut path = Vec::new();
        while let Some((gain, what)) = judge.best_move(PAIRS_ON_PATH) {
            total += gain;
            if total < -depth || path.len() >= n_best + PATIENCE {
                break;
            }
            judge.apply(what);
            path.push(what);
            if total > best {
                (best, n_best) = (total, path.len());
            }
        }
        path.truncate(n_best);
        path
    }

    /// The single move with the largest gain, be it positive or not.
    fn best_move(&mut self, n_pairs: usize) -> Option<(f64, Move)> {
        if self.comps.len() < 2 || self.view.block.is_interrupted() {
            return None;
        }
        let total: f64 = self.comps.iter().map(|c| c.mass).sum();
        let n = self.view.total;
        let effective = self.effective_rows();
        let half_log = 0.5 * effective.ln();
        let alpha: Vec<f64> = self.comps.iter().map(|c| c.mass / total).collect();
        let judged: Vec<bool> =
            self.covered.iter().zip(&alpha).map(|(covered, alpha)| *covered >= COVERAGE * alpha * n).collect();
        let log_count = |c: &Comp| c.slow.count.max(1.0).ln();
        let most_free = self.family.most_free(self.view.block.n_columns());
        let by_chance = chance_gain(n / self.comps.len() as f64 / most_free);
        let fraction = self.fraction;
        let worth = |saved: f64, n_free: f64| {
            if fraction < 1.0 { (fraction * saved).max(by_chance * n_free) } else { saved }
        };
        let mut best: Option<(f64, Move)> = None;
        let mut offer = |gain: f64, what: Move| {
            if best.is_none_or(|(g, _)| gain > g) {
                best = Some((gain, what));
            }
        };
        // On a path only merges are tried: what they lose together can come back, a deletion's loss cannot.
        for k in (0..self.comps.len()).filter(|&k| n_pairs == PAIRS_TRIED && (judged[k] || self.view.complete)) {
            let change = effective / n * (self.lost[k] - n * (-alpha[k].min(1.0 - 1e-15)).ln_1p());
            let saved = self.comps[k].gauss.n_free() / 2.0 * log_count(&self.comps[k]) + half_log; // [OFAB] (3)
            offer(change + fraction * saved, Move::Deleted { k });
        }
        for (i, j) in self.costs.cheapest(n_pairs, |k| judged[k]) {
            let gauss = merged_gauss(self.family, &self.comps[i], &self.comps[j]);
            if self.changes[j][i].is_nan() {
                self.changes[j][i] = self.merge_change(i, j, &gauss, alpha[i] + alpha[j]);
            }
            let (a, b) = (&self.comps[i], &self.comps[j]);
            let count_both = (a.slow.count + b.slow.count).max(1.0).ln();
            let price = |c: &Comp| c.gauss.n_free() * log_count(c);
            let saved = 0.5 * (price(a) + price(b) - gauss.n_free() * count_both) + half_log;
            let gain = effective / n * self.changes[j][i] + worth(saved, gauss.n_free());
            offer(gain, Move::Merged { kept: i, gone: j });
        }
        best
    }

    /// What merging two components changes in the log-likelihood of the rows.
    fn merge_change(&mut self, i: usize, j: usize, gauss: &Gauss, alpha: f64) -> f64 {
        let mut ratio = Vec::new();
        self.view.log_density_of(gauss, &mut ratio);
        ratio.truncate(self.view.n_rows());
        let log_weight = alpha.ln();
        ratio.iter_mut().zip(self.view.log_p()).for_each(|(v, log_p)| *v += log_weight - log_p);
        num::exp_slice(&mut ratio);
        let (qi, qj) = (self.view.q(i), self.view.q(j));
        for (r, v) in ratio.iter_mut().enumerate() {
            *v = (*v + (1.0 - qi[r] - qj[r]).max(0.0)).max(1e-300);
        }
        num::ln_slice(&mut ratio);
        ratio.iter().zip(&self.view.weights).map(|(l, w)| l * w).sum()
    }

    fn apply(&mut self, what: Move) {
        let mut rows: Vec<usize>;
        let mut shift = 0.0;
        match what {
            Move::Deleted { k } => {
                rows = self.view.rows_of(k).collect();
                self.withdraw(&rows);
                let before: f64 = self.comps.iter().map(|c| c.mass).sum();
                shift = (before / (before - self.comps[k].mass)).ln();
                self.remove(k);
            }
            Move::Merged { kept, gone } => {
                let other = self.comps[gone].clone();
                rows = self.view.rows_of(kept).chain(self.view.rows_of(gone)).collect();
                self.comps[kept].absorb(self.family, &other);
                self.view.replace(kept, &self.comps[kept].gauss);
                let total = self.comps.iter().map(|c| c.mass).sum::<f64>() - other.mass;
                rows.extend(self.view.rows_claimed(kept, (self.comps[kept].mass / total).ln()));
                rows.sort_unstable();
                rows.dedup();
                self.withdraw(&rows);
                self.remove(gone);
                let kept = kept - usize::from(gone < kept);
                self.costs.update(self.family, &self.comps, kept);
                self.forget_changes(kept);
            }
        }
        self.view.weigh_rows(&self.comps, &rows, shift);
        self.enter(&rows);
    }

    fn remove(&mut self, k: usize) {
        self.comps.remove(k);
        self.view.remove(k);
        self.costs.remove(k);
        self.changes.remove(k);
        self.changes.iter_mut().skip(k).for_each(|row| {
            row.remove(k);
        });
        self.covered.remove(k);
        self.lost.remove(k);
    }

    fn forget_changes(&mut self, k: usize) {
        self.changes[k].fill(f64::NAN);
        self.changes.iter_mut().skip(k + 1).for_each(|row| row[k] = f64::NAN);
    }

    /// Takes rows out of the sums before their responsibilities change, and puts them back in afterwards.
    fn withdraw(&mut self, rows: &[usize]) {
        self.count(rows, -1.0);
    }

    fn enter(&mut self, rows: &[usize]) {
        for k in self.count(rows, 1.0) {
            self.forget_changes(k);
        }
    }

    /// Adds rows to the sums; the components that have some of them.
    fn count(&mut self, rows: &[usize], sign: f64) -> Vec<usize> {
        let mut touched = Vec::new();
        for k in 0..self.comps.len() {
            let (mut covered, mut lost, mut most) = (0.0, 0.0, 0.0_f64);
            let q = self.view.q(k);
            for &i in rows {
                if q[i] > NONE {
                    covered += q[i] * self.view.weights[i];
                    lost += log_without(&self.view, k, i);
                    most = most.max(q[i]);
                }
            }
            self.covered[k] += sign * covered;
            self.lost[k] += sign * lost;
            if most > NOTICED {
                touched.push(k);
            }
        }
        touched
    }
}

/// Shares that count for sums, and those that make a component one of those a move has touched.
const NONE: f64 = 1e-9;
const NOTICED: f64 = 1e-6;

/// What a row's weighted log-density loses without a component.
fn log_without(view: &View, k: usize, i: usize) -> f64 {
    view.weights[i] * (1.0 - view.q(k)[i]).max(1e-15).ln()
}
