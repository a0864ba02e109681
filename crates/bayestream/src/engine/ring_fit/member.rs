//! One component while it is fitted: statistics, the rows it may claim, and what it says of them without themselves.

use crate::family::{Family, Moments};
use crate::num::{self, LN_PI, Lanes, Whitener};

/// Shares below this add nothing to statistics.
const NEGLIGIBLE: f64 = 1e-6;
/// Changes of a share below this leave a component as it is.
const STILL: f64 = 1e-4;
/// Counts below which the constants of the density are computed for each row, since they change fast there.
const FEW: f64 = 6.0;
/// What is left of a count when all of it is taken out, and of a determinant: so that logarithms exist.
const NOTHING: f64 = 1e-10;
const FLAT: f64 = 1e-12;

#[derive(Clone, Debug)]
pub(super) struct Member {
    pub moments: Moments,
    /// Rows that the target covariance is worth, κ.
    pub worth: f64,
    /// Rows it may claim, ascending, and its share of each.
    pub rows: Vec<u32>,
    pub shares: Vec<f64>,
    /// Log-joints of those rows, and the shares that follow from them.
    pub log_joint: Vec<f64>,
    pub next: Vec<f64>,
    /// Its log-joints are those of its present statistics and shares: nothing near it has changed since.
    pub is_judged: bool,
    /// |W(x − mean)|² = (x − mean)' Λ⁻¹ (x − mean), Λ = S + κΨ.
    whitener: Whitener,
    /// ln |Λ|.
    log_det: f64,
}

/// What a component's density is made of.
#[derive(Clone, Copy, Debug)]
pub(super) enum Tail {
    /// The Student t that its rows predict.
    Predicted,
    /// A Student t of so many degrees of freedom around its covariance.
    Of(f64),
}

/// Buffers that all members share.
#[derive(Clone, Debug, Default)]
pub(super) struct Scratch {
    pub lanes: Lanes,
    index: Vec<u32>,
    mass: Vec<f64>,
    sum: Vec<f64>,
    scatter: Vec<f64>,
    logs: Vec<f64>,
    factor: Vec<f64>,
    whiten: Vec<f64>,
}

impl Member {
    /// A component of whole rows.
    pub fn of_rows(rows: Vec<u32>, centre: &[f64]) -> Member {
        let shares = vec![1.0; rows.len()];
        Member::sharing(rows, shares, centre)
    }

    /// A component that shares rows with others.
    pub fn sharing(rows: Vec<u32>, shares: Vec<f64>, centre: &[f64]) -> Member {
        Member {
            moments: Moments::empty_at(centre),
            worth: centre.len() as f64 + 2.0,
            shares,
            rows,
            log_joint: Vec::new(),
            next: Vec::new(),
            is_judged: false,
            whitener: Whitener::default(),
            log_det: 0.0,
        }
    }

    /// Rows that its covariance rests on: its own less one, and those of the prior.
    pub fn basis(&self) -> f64 {
        (self.moments.count - 1.0).max(0.0) + self.worth
    }

    /// Log-determinant of its covariance.
    pub fn log_det_covariance(&self) -> f64 {
        self.log_det - self.moments.n_columns() as f64 * self.basis().ln()
    }

    /// Statistics of its rows by its shares.
    pub fn learn(&mut self, x: &[f64], weights: &[f64], scratch: &mut Scratch) {
        let d = self.moments.n_columns();
        let Scratch { lanes, index, mass, sum, scatter, .. } = scratch;
        index.clear();
        mass.clear();
        for (&i, share) in self.rows.iter().zip(&self.shares) {
            let m = share * weights[i as usize];
            if m > NEGLIGIBLE {
                index.push(i);
                mass.push(m);
            }
        }
        sum.clear();
        sum.resize(d, 0.0);
        scatter.clear();
        scatter.resize(d * d, 0.0);
        lanes.load_indexed(x, d, index);
        num::weighted_moments(lanes, mass, &self.moments.mean, sum, scatter);
        self.moments.count = 0.0;
        self.moments.absorb(1.0, mass.iter().sum(), sum, scatter);
    }

    /// Its covariance, row-major: the posterior mean under the prior.
    pub fn covariance(&self, target: &[f64], out: &mut Vec<f64>) {
        let (d, basis) = (self.moments.n_columns(), self.basis());
        let scale = self.moments.count / basis;
        out.clear();
        out.extend(self.moments.covariance.iter().map(|v| v * scale));
        (0..d).for_each(|j| out[j * d + j] += self.worth / basis * target[j]);
    }

    /// Catches its density up with its statistics.
    pub fn refresh(&mut self, target: &[f64], scratch: &mut Scratch) {
        let d = self.moments.n_columns();
        let Scratch { factor, whiten, .. } = scratch;
        let mut lift = 0.0;
        self.log_det = loop {
            factor.clear();
            factor.extend(self.moments.covariance.iter().map(|v| v * self.moments.count));
            (0..d).for_each(|j| factor[j * d + j] += (self.worth + lift) * target[j]);
            if let Ok(log_det) = num::cholesky(factor, d) {
                break log_det;
            }
            // Rounding took its definiteness: the target, which is positive, gives it back.
            lift = f64::max(10.0 * lift, 1e-9 * (1.0 + self.moments.count));
        };
        whiten.resize(d * d, 0.0);
        num::invert_lower(factor, d, whiten);
        self.whitener.set(&self.moments.mean, whiten);
    }

    /// Gives its density the shape of a family.
    pub fn shape<F: Family>(&mut self, family: F, target: &[f64], scratch: &mut Scratch) {
        let (d, basis) = (self.moments.n_columns(), self.basis());
        let mut factor = std::mem::take(&mut scratch.factor);
        self.covariance(target, &mut factor);
        family.shape(&mut factor, d, basis);
        factor.iter_mut().for_each(|v| *v *= basis);
        if let Ok(log_det) = num::cholesky(&mut factor, d) {
            self.log_det = log_det;
            scratch.whiten.resize(d * d, 0.0);
            num::invert_lower(&factor, d, &mut scratch.whiten);
            self.whitener.set(&self.moments.mean, &scratch.whiten);
        }
        scratch.factor = factor;
    }

    /// Squared distance of each of `rows` in units of its covariance.
    pub fn distances(&self, rows: &Lanes, out: &mut [f64]) {
        num::mahalanobis(rows, &self.whitener, out);
        let basis = self.basis();
        out.iter_mut().for_each(|v| *v *= basis);
    }

    /// Log of its weight and density at each of its rows, had that row not been learnt: a Student t whose statistics
    /// lack the row's share. Everything follows from the distance in one step, because a row out is a rank one down.
    pub fn judge_without_itself(&mut self, x: &[f64], weights: &[f64], total: f64, tail: Tail, scratch: &mut Scratch) {
        let d = self.moments.n_columns();
        let df = d as f64;
        let n = self.moments.count;
        let Scratch { lanes, logs, .. } = scratch;
        lanes.load_indexed(x, d, &self.rows);
        let len = self.rows.len();
        self.log_joint.resize(lanes.n_padded(), 0.0);
        num::mahalanobis(lanes, &self.whitener, &mut self.log_joint);
        let basis = |left: f64| (left - 1.0).max(0.0) + self.worth;
        let dof = |left: f64| match tail {
            Tail::Predicted => basis(left) + 2.0,
            Tail::Of(dof) => dof,
        };
        // What distances by Λ are divided by.
        let scale = |left: f64| match tail {
            Tail::Predicted => 1.0 + 1.0 / left.max(1.0),
            Tail::Of(dof) => (dof - 2.0) / basis(left),
        };
        let constant = |share: f64| {
            let left = (n - share).max(NOTHING);
            let dof = dof(left);
            (left / total).ln() + num::ln_gamma((dof + df) / 2.0)
                - num::ln_gamma(dof / 2.0)
                - df / 2.0 * (scale(left).ln() + LN_PI)
                - 0.5 * self.log_det
        };
        logs.clear();
        logs.resize(2 * len, 0.0);
        for at in 0..len {
            let share = self.shares[at] * weights[self.rows[at] as usize];
            let left = (n - share).max(NOTHING);
            let q = self.log_joint[at];
            let u = (1.0 - share * n / left * q).max(FLAT);
            let apart = n / left;
            logs[at] = u;
            logs[len + at] = 1.0 + apart * apart * q / u / scale(left);
        }
        num::ln_slice(logs);
        // The constants are smooth in the share, which is at most one for rows of weight one: three points give them.
        let points = [constant(0.0), constant(0.5), constant(1.0)];
        for at in 0..len {
            let share = self.shares[at] * weights[self.rows[at] as usize];
            let constant = if n < FEW || share > 1.0 { constant(share) } else { parabola(points, share) };
            let dof = dof((n - share).max(NOTHING));
            self.log_joint[at] = constant - 0.5 * logs[at] - (dof + df) / 2.0 * logs[len + at];
        }
        self.log_joint.truncate(len);
    }

    /// Takes the new shares over. Statistics follow unless no share has moved.
    pub fn renew_shares(&mut self) {
        let moved = self.next.iter().zip(&self.shares).any(|(new, old)| (new - old).abs() > STILL);
        self.is_judged &= !moved;
        if moved {
            std::mem::swap(&mut self.shares, &mut self.next);
        }
    }

    /// Forgets rows of which it has next to nothing.
    pub fn drop_faint(&mut self, faint: f64) {
        let Member { rows, shares, log_joint, .. } = self;
        let mut kept = 0;
        for at in 0..rows.len() {
            if shares[at] > faint {
                (rows[kept], shares[kept], log_joint[kept]) = (rows[at], shares[at], log_joint[at]);
                kept += 1;
            }
        }
        rows.truncate(kept);
        shares.truncate(kept);
        log_joint.truncate(kept);
    }

    /// Gives it these rows to judge; it keeps its shares of those it had.
    pub fn may_claim(&mut self, rows: Vec<u32>, share_of: &mut [f64]) {
        for (&i, &share) in self.rows.iter().zip(&self.shares) {
            share_of[i as usize] = share;
        }
        self.shares.clear();
        self.shares.extend(rows.iter().map(|&i| share_of[i as usize]));
        self.rows.iter().for_each(|&i| share_of[i as usize] = 0.0);
        self.rows = rows;
        self.is_judged = false;
    }

    /// Takes over another's rows.
    pub fn absorb(&mut self, other: &Member, share_of: &mut [f64]) {
        for (member, keep) in [(&*self, false), (other, true)] {
            for (&i, share) in member.rows.iter().zip(&member.shares) {
                let held = &mut share_of[i as usize];
                *held = share + if keep { *held } else { 0.0 };
            }
        }
        self.rows.extend(&other.rows);
        self.rows.sort_unstable();
        self.rows.dedup();
        self.shares.clear();
        self.shares.extend(self.rows.iter().map(|&i| std::mem::take(&mut share_of[i as usize])));
        self.moments.add_scaled(1.0, &other.moments);
        self.worth = self.worth.max(other.worth);
        self.is_judged = false;
    }
}

/// The parabola through values at 0, ½ and 1.
fn parabola([a, b, c]: [f64; 3], at: f64) -> f64 {
    a * (1.0 - at) * (1.0 - 2.0 * at) + b * 4.0 * at * (1.0 - at) + c * at * (2.0 * at - 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The density of a row under a component that was made without it, by the definition.
    fn refitted(x: &[f64], d: usize, shares: &[f64], without: usize, worth: f64, target: &[f64]) -> f64 {
        let mut moments = Moments::empty_at(&x[..d]);
        for (i, row) in x.chunks_exact(d).enumerate() {
            if i != without {
                moments.add_row(row, shares[i]);
            }
        }
        let n = moments.count;
        let mut lambda: Vec<f64> = moments.covariance.iter().map(|v| v * n).collect();
        (0..d).for_each(|j| lambda[j * d + j] += worth * target[j]);
        let mut z: Vec<f64> = (0..d).map(|j| x[without * d + j] - moments.mean[j]).collect();
        let log_det = num::cholesky(&mut lambda, d).expect("positive definite");
        num::solve_lower(&lambda, d, &mut z);
        let q: f64 = z.iter().map(|v| v * v).sum();
        let (df, dof) = (d as f64, (n - 1.0).max(0.0) + worth + 2.0);
        let spread = 1.0 + 1.0 / n.max(1.0);
        (n / 10.0).ln() + num::ln_gamma((dof + df) / 2.0)
            - num::ln_gamma(dof / 2.0)
            - 0.5 * (df * (LN_PI + spread.ln()) + log_det)
            - (dof + df) / 2.0 * (q / spread).ln_1p()
    }

    #[test]
    fn a_row_judged_without_itself_is_a_row_judged_by_a_refit() {
        let mut rng = num::stream(3, 1, 4);
        for (n_rows, d, tolerance) in [(4, 2, 1e-9), (30, 3, 1e-4)] {
            let x: Vec<f64> = (0..n_rows * d).map(|_| rng.normal() * 2.0 - 0.7).collect();
            let shares: Vec<f64> = (0..n_rows).map(|_| rng.uniform()).collect();
            let target: Vec<f64> = (0..d).map(|j| 0.5 + j as f64).collect();
            let mut member = Member::of_rows((0..n_rows as u32).collect(), &x[..d]);
            member.shares.clone_from(&shares);
            member.worth = 3.25;
            let (weights, mut scratch) = (vec![1.0; n_rows], Scratch::default());
            member.learn(&x, &weights, &mut scratch);
            member.refresh(&target, &mut scratch);
            member.judge_without_itself(&x, &weights, 10.0, Tail::Predicted, &mut scratch);
            for i in 0..n_rows {
                let exact = refitted(&x, d, &shares, i, 3.25, &target);
                assert!((member.log_joint[i] - exact).abs() < tolerance, "row {i}: {} {exact}", member.log_joint[i]);
            }
        }
    }

    #[test]
    fn rows_taken_over_keep_their_shares() {
        let mut one = Member::of_rows(vec![0, 2, 5], &[0.0]);
        one.shares = vec![0.5, 1.0, 0.25];
        let mut other = Member::of_rows(vec![2, 3], &[1.0]);
        other.shares = vec![0.0, 0.75];
        let mut buffer = vec![0.0; 6];
        one.absorb(&other, &mut buffer);
        assert_eq!((one.rows, one.shares), (vec![0, 2, 3, 5], vec![0.5, 1.0, 0.75, 0.25]));
        assert!(buffer.iter().all(|v| *v == 0.0));
    }
}
