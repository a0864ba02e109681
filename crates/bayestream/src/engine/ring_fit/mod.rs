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
mod known;
mod member;
mod narrow;

use super::parts::{diagonal_within, k_means};
use crate::family::{Family, Moments, Prior, PriorWorth};
use crate::interrupt::Interrupt;
use crate::num::{self, Rng};
use crate::structure::{BROAD_DOF, HEAVY_DOF, POOLED, RowBlock};
use candidates::{candidates, cheapest_pairs};
pub(super) use known::refine;
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
    /// The components.
    pub components: Vec<Fitted>,
    /// The target of the covariances' diagonals.
    pub target: Vec<f64>,
    /// Log-density of each row given the others, by the densities that are pooled.
    pub logs: [Vec<f64>; POOLED],
    /// True when more components than there may be would have been better.
    pub wants_more: bool,
    /// Sum of the rows' scores given the others, less the price of the components.
    pub value: f64,
    /// The component that has most of each row.
    pub owners: Vec<usize>,
    /// How much components share their rows: one minus the mean of Σ q².
    pub overlap: f64,
}

/// A component of a fit.
#[derive(Clone, Debug)]
pub(super) struct Fitted {
    pub moments: Moments,
    /// Rows that the target is worth to it.
    pub worth: f64,
    /// Its rows, and its share of each.
    pub rows: Vec<u32>,
    pub shares: Vec<f64>,
}

/// What a component must gain, in nats: chance alone gains with each, the more the more ways there are to choose rows,
/// and half a nat for each free parameter that its rows really determine. Rows that count several times gain so by
/// chance, too.
pub(super) fn price(n_free: f64, n_rows: usize, total: f64) -> f64 {
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
    /// What each must gain, in nats; see [`price`].
    pub price: f64,
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
    let wants_more = if floor.len() > WIDE {
        let narrow = Narrow::of(x, weights, floor);
        let mut along_few = Fit::new(&narrow.rows, weights, &narrow.floor, interrupt);
        let wants_more = along_few.find_members(size, rng);
        fit.take_over(along_few.members);
        fit.sweep(WIDE_SWEEPS);
        wants_more
    } else {
        fit.find_members(size, rng)
    };
    fit.finished(family, size.price, wants_more)
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

    fn finished<F: Family>(mut self, family: F, price: f64, wants_more: bool) -> RingFit {
        let value = self.log_score - price * self.members.len() as f64;
        let mut best = vec![(0.0, 0); self.weights.len()];
        let mut squares = 0.0;
        for (k, member) in self.members.iter().enumerate() {
            for (&i, &share) in member.rows.iter().zip(&member.shares) {
                squares += self.weights[i as usize] * share * share;
                if share > best[i as usize].0 {
                    best[i as usize] = (share, k);
                }
            }
        }
        let (owners, overlap) = (best.into_iter().map(|b| b.1).collect(), 1.0 - squares / self.total);
        let logs = self.judged(family);
        let fitted = |m: Member| Fitted { moments: m.moments, worth: m.worth, rows: m.rows, shares: m.shares };
        let components = self.members.into_iter().map(fitted).collect();
        RingFit { components, target: self.target, logs, wants_more, value, owners, overlap }
    }

    /// How many components, and which; true when there may not be as many as would be best.
    fn find_members(&mut self, size: FitSize, rng: &mut Rng) -> bool {
        self.start(size.starts, rng);
        self.sweep(FIRST_SWEEPS);
        let wants_more = self.follow_path(size.price, size.most);
        self.sweep(LAST_SWEEPS);
        wants_more
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
        self.find_candidates(true);
    }

    /// Sweeps until scores settle, at most `most` times.
    fn sweep(&mut self, most: usize) {
        let mut before = f64::NEG_INFINITY;
        for sweep in (0..most).take_while(|_| !self.interrupt.is_raised()) {
            self.judge(Tail::Predicted);
            let is_complete = self.learn();
            let anew = sweep % WORTH_EVERY == WORTH_EVERY - 1;
            self.refresh(anew);
            if anew || !is_complete {
                self.find_candidates(true);
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
            for (member, shares) in self.members.iter_mut().zip(&shares) {
                member.shares.clone_from(shares);
                member.is_judged = false;
            }
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
            if !member.is_judged {
                member.judge_without_itself(self.x, self.weights, self.total, tail, &mut self.scratch);
                member.is_judged = true;
            }
            for (&i, &joint) in member.rows.iter().zip(&member.log_joint) {
                let largest = &mut self.largest[i as usize];
                *largest = largest.max(joint);
            }
        }
        self.sum.fill(0.0);
        for member in &mut self.members {
            let relative = member.log_joint.iter().zip(&member.rows).map(|(v, &i)| v - self.largest[i as usize]);
            member.next.clear();
            member.next.extend(relative);
            num::exp_slice(&mut member.next);
            member.rows.iter().zip(&member.next).for_each(|(&i, share)| self.sum[i as usize] += share);
        }
        for member in &mut self.members {
            for (share, &i) in member.next.iter_mut().zip(&member.rows) {
                *share /= self.sum[i as usize];
            }
            member.renew_shares();
        }
        num::ln_slice(&mut self.sum);
        let scores = self.largest.iter().zip(&self.sum).zip(self.weights);
        self.log_score = scores.map(|((largest, log_sum), w)| w * (largest + log_sum)).sum();
    }

    /// Statistics of the components whose shares have moved. False when some have lost theirs, so that rows may be left
    /// without any.
    fn learn(&mut self) -> bool {
        for member in self.members.iter_mut().filter(|m| !m.is_judged) {
            member.learn(self.x, self.weights, &mut self.scratch);
        }
        let heaviest = self.members.iter().map(|m| m.moments.count).fold(0.0, f64::max);
        let n_before = self.members.len();
        self.members.retain(|m| m.moments.count >= LEAST_MASS.min(heaviest));
        self.members.len() == n_before
    }

    /// Catches densities up with the statistics; `anew` all of them, with what the prior is and is worth.
    fn refresh(&mut self, anew: bool) {
        if anew {
            self.target = diagonal_within(self.members.iter().map(|m| &m.moments), self.floor);
            let chosen = self.worth.choose(self.members.iter().map(|m| &m.moments), &self.target);
            self.members.iter_mut().zip(chosen).for_each(|(member, worth)| member.worth = worth);
        }
        for member in self.members.iter_mut().filter(|m| anew || !m.is_judged) {
            member.refresh(&self.target, &mut self.scratch);
            member.is_judged = false;
        }
    }

    /// Which rows components may claim: all components, or those alone that have changed.
    fn find_candidates(&mut self, all: bool) {
        candidates(&mut self.members, self.x, self.weights.len(), CANDIDATES, all, &mut self.scratch.lanes);
    }

    fn drop_faint(&mut self) {
        self.members.iter_mut().for_each(|member| member.drop_faint(FAINT));
    }

    /// Merges along a path and keeps the best model on it that has no more than `most` components; true when one that
    /// has more is better.
    fn follow_path(&mut self, price: f64, most: usize) -> bool {
        let mut beyond = f64::NEG_INFINITY;
        let mut value = |fit: &Fit<'_>| {
            let k = fit.members.len();
            let value = fit.log_score - price * k as f64;
            if k > most {
                beyond = beyond.max(value);
            }
            if k > most { f64::NEG_INFINITY } else { value }
        };
        let mut best = (value(self), self.members.clone(), self.log_score);
        let (mut in_vain, mut step) = (0, 0);
        while self.members.len() > 1 && !self.interrupt.is_raised() && (in_vain < PATIENCE || self.members.len() > most)
        {
            self.merge((self.members.len() / MERGED_AT_ONCE).max(1));
            // Each merge of few changes what the prior is, and it would hold those to come to what is no more.
            let anew = step % WORTH_EVERY == WORTH_EVERY - 1 || self.members.len() < MERGED_AT_ONCE;
            self.refresh(anew);
            self.find_candidates(anew);
            self.sweep(PATH_SWEEPS);
            step += 1;
            let now = value(self);
            in_vain += 1;
            if now > best.0 {
                best = (now, self.members.clone(), self.log_score);
                in_vain = 0;
            }
        }
        let within = best.0;
        (_, self.members, self.log_score) = best;
        self.refresh(true);
        self.find_candidates(true);
        beyond > within
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
