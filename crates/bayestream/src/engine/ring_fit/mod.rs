//! The mixture that rows would be predicted by best, each by the others: how many components, and which.
//!
//! The model: Σ_k n_k/N t(x | m_k, S_k + κ_k Ψ), each component the Student t that its rows and a prior worth κ_k rows
//! predict. The loop: begin with far too many components (k-means++); sweep, scoring every row without its own share;
//! merge the most similar pairs and sweep again, down a path; keep the model of largest Σ z_i − price · K. A component
//! that lives from its own rows alone gets no weight from them, so what remains is what others can confirm.
//!
//! Key: z_i log-density of row i given the others · n_k, m_k, S_k count, mean and scatter · Ψ the mean scatter within
//! components, diagonal · κ_k rows that Ψ is worth.

mod candidates;
mod member;
mod narrow;

use super::parts::k_means;
use crate::family::{Family, Moments, Prior, PriorWorth};
use crate::interrupt::Interrupt;
use crate::num::{self, Rng};
use crate::structure::{BROAD_DOF, HEAVY_DOF, POOLED, RowBlock};
use candidates::{candidates, cheapest_pairs};
use member::{Member, Scratch, Tail};
use narrow::Narrow;
pub(super) use narrow::WIDE;

/// Components that a row may choose from: those nearest to the one that has most of it.
const CANDIDATES: usize = 12;
const LLOYD: usize = 2;
/// Sweeps before the path begins, after each step of it, and at its end.
const FIRST_SWEEPS: usize = 8;
const PATH_SWEEPS: usize = 2;
const LAST_SWEEPS: usize = 20;
/// Sweeps over all columns of wide rows, whose groups were found along few directions.
const WIDE_SWEEPS: usize = 3;
/// Sweeps between two choices of what the prior is worth.
const WORTH_EVERY: usize = 4;
/// Share of the components that a step of the path merges, and steps without a better model after which it ends.
const MERGED_AT_ONCE: usize = 20;
const PATIENCE: usize = 4;
/// Sweeps end when a row's mean score changes by less.
const SETTLED: f64 = 1e-4;
/// Shares below this are not looked at again before the candidates are found anew.
const FAINT: f64 = 1e-6;
/// Mass below which a component is dropped.
const LEAST_MASS: f64 = 0.5;

/// A mixture of rows.
#[derive(Clone, Debug)]
pub(super) struct RingFit {
    /// Statistics of the components, and the rows that the target is worth to each.
    pub components: Vec<(Moments, f64)>,
    /// The target of the covariances' diagonals.
    pub target: Vec<f64>,
    /// Log-density of each row given the others, by the densities that are pooled.
    pub logs: [Vec<f64>; POOLED],
}

/// What a component must gain, in nats: chance alone gains with each, the more the more ways there are to choose rows,
/// and half a nat for each free parameter that its rows really determine. Rows that count several times gain so by
/// chance, too.
fn price(n_free: f64, n_rows: usize, total: f64) -> f64 {
    let n = n_rows as f64;
    let by_choice = n.max(2.0).ln();
    (n_free / 2.0).clamp(by_choice, 4.0 * by_choice) * (total / n).max(1.0)
}

/// What a fit begins with and may end with.
#[derive(Clone, Copy, Debug)]
pub(super) struct FitSize {
    /// Components at the beginning.
    pub starts: usize,
    /// Components at the end, at most.
    pub most: usize,
    /// Free parameters of a component.
    pub n_free: f64,
}

/// Fits whole rows in the frame; `floor` is the least variance of each column. What is left of it after an interrupt is
/// of no use.
pub(super) fn ring_fit<F: Family>(
    family: F,
    x: &[f64],
    weights: &[f64],
    floor: &[f64],
    size: FitSize,
    rng: &mut Rng,
    interrupt: &Interrupt,
) -> RingFit {
    let mut fit = Fit::new(x, weights, floor, interrupt);
    if floor.len() > WIDE {
        let narrow = Narrow::of(x, weights, floor);
        let mut along_few = Fit::new(&narrow.rows, weights, &narrow.floor, interrupt);
        along_few.find_members(size, rng);
        fit.take_over(along_few.members);
        fit.sweep(WIDE_SWEEPS);
    } else {
        fit.find_members(size, rng);
    }
    let logs = fit.judged(family);
    RingFit { components: fit.members.into_iter().map(|m| (m.moments, m.worth)).collect(), target: fit.target, logs }
}

/// The covariance prior of one Gaussian for all rows: its own diagonal, and the rows that it is worth.
pub(super) fn prior_of_one(moments: &Moments, floor: &[f64]) -> Prior {
    let d = floor.len();
    let unbiased = moments.count / (moments.count - 1.0).max(1.0);
    let target: Vec<f64> = (0..d).map(|j| unbiased * moments.covariance[j * d + j].max(0.0) + floor[j]).collect();
    let worth = PriorWorth::new(d).choose([moments].into_iter(), &target)[0];
    Prior { target, floor: floor.to_vec(), worth: Some(worth) }
}

struct Fit<'a> {
    x: &'a [f64],
    weights: &'a [f64],
    floor: &'a [f64],
    total: f64,
    members: Vec<Member>,
    target: Vec<f64>,
    log_score: f64,
    worth: PriorWorth,
    interrupt: &'a Interrupt,
    scratch: Scratch,
    /// Per row: the largest log-joint, and the sum of joints relative to it.
    largest: Vec<f64>,
    sum: Vec<f64>,
}

impl<'a> Fit<'a> {
    fn new(x: &'a [f64], weights: &'a [f64], floor: &'a [f64], interrupt: &'a Interrupt) -> Fit<'a> {
        let (n, d) = (weights.len(), floor.len());
        Fit {
            x,
            weights,
            floor,
            total: weights.iter().sum(),
            members: Vec::new(),
            target: floor.to_vec(),
            log_score: f64::NEG_INFINITY,
            worth: PriorWorth::new(d),
            interrupt,
            scratch: Scratch::default(),
            largest: vec![0.0; n],
            sum: vec![0.0; n],
        }
    }

    /// How many components, and which.
    fn find_members(&mut self, size: FitSize, rng: &mut Rng) {
        self.start(size.starts, rng);
        self.sweep(FIRST_SWEEPS);
        self.follow_path(price(size.n_free, self.weights.len(), self.total), size.most);
        self.sweep(LAST_SWEEPS);
    }

    /// Begins with the members of another fit of the same rows.
    fn take_over(&mut self, members: Vec<Member>) {
        let zero = vec![0.0; self.floor.len()];
        self.members = members.into_iter().map(|m| Member::sharing(m.rows, m.shares, &zero)).collect();
        self.learn();
        self.refresh(true);
    }

    fn start(&mut self, starts: usize, rng: &mut Rng) {
        let d = self.floor.len();
        let mut block = RowBlock::default();
        block.load(self.x, d);
        let clusters = k_means(&block, self.weights, starts.max(1), LLOYD, rng);
        let mut rows: Vec<Vec<u32>> = vec![Vec::new(); clusters.centres.len() / d];
        clusters.nearest.iter().enumerate().for_each(|(i, &c)| rows[c].push(i as u32));
        let with_rows = rows.into_iter().zip(clusters.centres.chunks_exact(d)).filter(|(rows, _)| !rows.is_empty());
        self.members = with_rows.map(|(rows, centre)| Member::of_rows(rows, centre)).collect();
        self.learn();
        self.refresh(true);
        self.find_candidates();
    }

    /// Sweeps until scores settle, at most `most` times.
    fn sweep(&mut self, most: usize) {
        let mut before = f64::NEG_INFINITY;
        for sweep in (0..most).take_while(|_| !self.interrupt.is_raised()) {
            self.judge(Tail::Predicted);
            self.learn();
            let anew = sweep % WORTH_EVERY == WORTH_EVERY - 1;
            self.refresh(anew);
            if anew {
                self.find_candidates();
            } else {
                self.drop_faint();
            }
            if (self.log_score - before).abs() < SETTLED * self.total {
                break;
            }
            before = self.log_score;
        }
    }

    /// Every row judged without itself by the four densities, those of components in the shape that their family has.
    fn judged<F: Family>(&mut self, family: F) -> [Vec<f64>; POOLED] {
        for member in &mut self.members {
            member.shape(family, &self.target, &mut self.scratch);
        }
        let shares: Vec<Vec<f64>> = self.members.iter().map(|m| m.shares.clone()).collect();
        let mut of_mixture = |tail: Tail| {
            self.members.iter_mut().zip(&shares).for_each(|(m, shares)| m.shares.clone_from(shares));
            self.judge(tail);
            self.largest.iter().zip(&self.sum).map(|(largest, log_sum)| largest + log_sum).collect::<Vec<f64>>()
        };
        let (student, heavy) = (of_mixture(Tail::Predicted), of_mixture(Tail::Of(HEAVY_DOF)));
        self.members.iter_mut().zip(shares).for_each(|(m, shares)| m.shares = shares);
        let mut whole = Member::of_rows((0..self.weights.len() as u32).collect(), &vec![0.0; self.floor.len()]);
        whole.learn(self.x, self.weights, &mut self.scratch);
        let prior = prior_of_one(&whole.moments, self.floor);
        whole.worth = prior.worth.unwrap_or(whole.worth);
        whole.refresh(&prior.target, &mut self.scratch);
        let mut of_whole = |tail: Tail| {
            whole.judge_without_itself(self.x, self.weights, whole.moments.count, tail, &mut self.scratch);
            whole.log_joint.clone()
        };
        [student, heavy, of_whole(Tail::Predicted), of_whole(Tail::Of(BROAD_DOF))]
    }

    /// Shares of every row, judged without itself, and the sum of their scores.
    fn judge(&mut self, tail: Tail) {
        self.largest.fill(f64::NEG_INFINITY);
        for member in &mut self.members {
            member.judge_without_itself(self.x, self.weights, self.total, tail, &mut self.scratch);
            for (&i, &joint) in member.rows.iter().zip(&member.log_joint) {
                let largest = &mut self.largest[i as usize];
                *largest = largest.max(joint);
            }
        }
        self.sum.fill(0.0);
        for member in &mut self.members {
            let relative = member.log_joint.iter().zip(&member.rows).map(|(v, &i)| v - self.largest[i as usize]);
            member.shares.clear();
            member.shares.extend(relative);
            num::exp_slice(&mut member.shares);
            member.rows.iter().zip(&member.shares).for_each(|(&i, share)| self.sum[i as usize] += share);
        }
        for member in &mut self.members {
            for (share, &i) in member.shares.iter_mut().zip(&member.rows) {
                *share /= self.sum[i as usize];
            }
        }
        num::ln_slice(&mut self.sum);
        let scores = self.largest.iter().zip(&self.sum).zip(self.weights);
        self.log_score = scores.map(|((largest, log_sum), w)| w * (largest + log_sum)).sum();
    }

    fn learn(&mut self) {
        for member in &mut self.members {
            member.learn(self.x, self.weights, &mut self.scratch);
        }
        let heaviest = self.members.iter().map(|m| m.moments.count).fold(0.0, f64::max);
        self.members.retain(|m| m.moments.count >= LEAST_MASS.min(heaviest));
    }

    /// Catches target and densities up with the statistics; `worth` asks what the prior is worth, too.
    fn refresh(&mut self, worth: bool) {
        let d = self.floor.len();
        let left = (self.total - self.members.len() as f64).max(1.0);
        for j in 0..d {
            let within: f64 = self.members.iter().map(|m| m.moments.count * m.moments.covariance[j * d + j]).sum();
            self.target[j] = within.max(0.0) / left + self.floor[j];
        }
        if worth {
            let chosen = self.worth.choose(self.members.iter().map(|m| &m.moments), &self.target);
            self.members.iter_mut().zip(chosen).for_each(|(member, worth)| member.worth = worth);
        }
        for member in &mut self.members {
            member.refresh(&self.target, &mut self.scratch);
        }
    }

    fn find_candidates(&mut self) {
        candidates(&mut self.members, self.x, self.weights.len(), CANDIDATES, &mut self.scratch.lanes);
    }

    fn drop_faint(&mut self) {
        for member in &mut self.members {
            let mut at = 0;
            let shares = &member.shares;
            member.rows.retain(|_| {
                at += 1;
                shares[at - 1] > FAINT
            });
            member.shares.retain(|share| *share > FAINT);
        }
    }

    /// Merges along a path and keeps the best model on it that has no more than `most` components.
    fn follow_path(&mut self, price: f64, most: usize) {
        let value = |fit: &Fit<'_>| match fit.members.len() {
            k if k > most => f64::NEG_INFINITY,
            k => fit.log_score - price * k as f64,
        };
        let mut best = (value(self), self.members.clone(), self.log_score);
        let mut in_vain = 0;
        while self.members.len() > 1 && !self.interrupt.is_raised() && (in_vain < PATIENCE || self.members.len() > most)
        {
            self.merge((self.members.len() / MERGED_AT_ONCE).max(1));
            self.refresh(true);
            self.find_candidates();
            self.sweep(PATH_SWEEPS);
            let now = value(self);
            in_vain += 1;
            if now > best.0 {
                best = (now, self.members.clone(), self.log_score);
                in_vain = 0;
            }
        }
        (_, self.members, self.log_score) = best;
        self.refresh(true);
        self.find_candidates();
    }

    fn merge(&mut self, n: usize) {
        let pairs = cheapest_pairs(&self.members, &self.target, n, &mut self.scratch.lanes);
        let mut is_gone = vec![false; self.members.len()];
        let mut share_of = vec![0.0; self.weights.len()];
        for (kept, gone) in pairs {
            let other = self.members[gone].clone();
            self.members[kept].absorb(&other, &mut share_of);
            is_gone[gone] = true;
        }
        let mut at = 0;
        self.members.retain(|_| {
            at += 1;
            !is_gone[at - 1]
        });
    }
}
