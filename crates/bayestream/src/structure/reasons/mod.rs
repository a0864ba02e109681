//! Why a row is surprising: the cells that do not go with the others.
//!
//! A bad cell spoils what the others say of each other, so cells are not judged one by one. Some set of cells is taken
//! to be wrong and drawn from a wide density of its own, at a price for each; the rest follows the mixture. The best set
//! is looked for greedily, two cells at a time where two explain more than one (neither of two cells that agree on a
//! wrong value looks bad while the other stays).
//!
//! What a component says of some of a row's cells is a [`Part`]: a Gaussian's cells depend on each other (`gauss.rs`), those
//! of a row with known features do not (`features/reasons.rs`).

mod gauss;

use super::scorer::Scorer;
use crate::data::Frame;
use crate::family::Gauss;
use crate::num::{self, LN_2PI};
use gauss::GaussPart;

/// How surprising one cell of a row is, given the cells of the row that nothing speaks against.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reason {
    /// The column, from zero.
    pub column: usize,
    /// True when the row becomes ordinary by leaving this cell out (with the other cells that are blamed).
    pub blamed: bool,
    /// `−log p(cell | cells not blamed)`, in nats, in units where the column has unit spread.
    pub surprise: f64,
    /// The chance of a value at least this far out on its side, doubled, given the cells not blamed.
    pub probability: f64,
    /// The value seen.
    pub observed: f64,
    /// The value expected from the cells not blamed.
    pub expected: f64,
}

/// Price of a blamed cell in nats, beside its density as a wrong value.
const PRICE: f64 = 3.0;
/// Pairs are looked for among this many cells that are worst alone.
const PAIRED: usize = 12;
/// Cells are brought within this many scales of the mixture's centre while cells are chosen: further out, differences
/// of squared distances have no digits left.
const FURTHEST: f64 = 1e3;

impl Scorer {
    /// The observed cells of one row: the blamed ones first, then the others, each by falling surprise.
    pub fn reasons(&self, row: &[f64]) -> Vec<Reason> {
        reasons(self.frame(), self.parts(), row)
    }
}

/// The same for weighted components in a frame.
pub(crate) fn reasons<'a>(frame: &Frame, parts: impl Iterator<Item = (f64, &'a Gauss)>, row: &[f64]) -> Vec<Reason> {
    let mut framed = Vec::with_capacity(row.len());
    frame.push_rows(row, &mut framed);
    let parts: Vec<(f64, &Gauss)> = parts.filter(|(weight, _)| *weight > 0.0).collect();
    if parts.is_empty() {
        return Vec::new();
    }
    let d = framed.len();
    let total: f64 = parts.iter().map(|(weight, _)| weight).sum();
    let spread = |j: usize| {
        let centre = parts.iter().map(|(weight, gauss)| weight * gauss.mean()[j]).sum::<f64>() / total;
        // Means and the spread of a column given those before it: less than its own, so the frame's is the least.
        let scale = parts.iter().fold(1.0_f64, |scale, (_, gauss)| {
            scale.max((gauss.mean()[j] - centre).abs()).max(1.0 / gauss.whiten()[j * d + j])
        });
        (centre, scale)
    };
    let begin = |near: &[f64], missing: &[usize]| {
        parts.iter().map(|(weight, gauss)| GaussPart::new(weight.ln(), gauss, near, missing)).collect()
    };
    told(&framed, spread, begin)
        .into_iter()
        .map(|cell| Reason { observed: row[cell.column], expected: frame.cell_out(cell.column, cell.expected), ..cell })
        .collect()
}

/// The observed cells of a row in units of its columns: the blamed ones first, then the others, each by falling surprise.
/// `spread` gives a column's centre and scale, `begin` the parts before a row without its missing cells.
pub(super) fn told<P: Part>(
    framed: &[f64],
    spread: impl Fn(usize) -> (f64, f64),
    begin: impl FnOnce(&[f64], &[usize]) -> Vec<P>,
) -> Vec<Reason> {
    let mut case = Case::new(framed, spread, begin);
    case.blame();
    let mut reasons = case.settled(framed);
    reasons
        .sort_by(|a, b| b.blamed.cmp(&a.blamed).then(b.surprise.total_cmp(&a.surprise)).then(a.column.cmp(&b.column)));
    reasons
}

/// A row before one component, some of its cells taken out.
pub(super) trait Part: Sized {
    /// Log-weight and log-density of the cells kept.
    fn log_joint(&self) -> f64;

    /// Takes a cell out.
    fn take_out(&mut self, cell: usize);

    /// What the log-density gains when one more cell is taken out.
    fn gain_of_one(&self, a: usize) -> f64;

    /// The same for two cells.
    fn gain_of_two(&self, a: usize, b: usize) -> f64;

    /// The same component before a row without these cells.
    fn without(&self, near: &[f64], out: &[usize]) -> Self;

    /// Mean and one over the standard deviation of a kept cell, given the others kept.
    fn kept_given_others(&self, cell: usize) -> (f64, f64);

    /// The same of each blamed cell alone, given the cells kept. The blamed cells are the last that were taken out.
    fn blamed_given_kept(&self, blamed: &[usize]) -> Vec<(f64, f64)>;
}

/// A row before the mixture.
struct Case<P> {
    parts: Vec<P>,
    /// The row, no cell further out than numbers can follow.
    near: Vec<f64>,
    /// `log q(cell)` of a wrong value, less the price of saying so.
    as_wrong: Vec<f64>,
    /// Cells that are neither missing nor blamed.
    kept: Vec<usize>,
    blamed: Vec<usize>,
}

impl<P: Part> Case<P> {
    fn new(
        framed: &[f64],
        spread: impl Fn(usize) -> (f64, f64),
        begin: impl FnOnce(&[f64], &[usize]) -> Vec<P>,
    ) -> Case<P> {
        let d = framed.len();
        let (mut near, mut as_wrong) = (framed.to_vec(), vec![0.0; d]);
        for j in 0..d {
            let (centre, scale) = spread(j);
            near[j] = framed[j].clamp(centre - FURTHEST * scale, centre + FURTHEST * scale);
            as_wrong[j] = wide_log_density((framed[j] - centre) / scale) - scale.ln() - PRICE;
        }
        let missing: Vec<usize> = (0..d).filter(|&j| near[j].is_nan()).collect();
        let kept = (0..d).filter(|&j| !near[j].is_nan()).collect();
        Case { parts: begin(&near, &missing), near, as_wrong, kept, blamed: Vec::new() }
    }

    /// Takes out cells while that makes the row more likely.
    fn blame(&mut self) {
        let mut terms = Vec::with_capacity(self.parts.len());
        while !self.kept.is_empty() {
            terms.clear();
            terms.extend(self.parts.iter().map(|part| part.log_joint()));
            let whole = num::log_sum_exp(&terms);
            let mut alone: Vec<(f64, usize)> = self
                .kept
                .iter()
                .map(|&a| {
                    terms.clear();
                    terms.extend(self.parts.iter().map(|part| part.log_joint() + part.gain_of_one(a)));
                    (num::log_sum_exp(&terms) + self.as_wrong[a], a)
                })
                .collect();
            alone.sort_by(|(s, a), (t, b)| t.total_cmp(s).then(a.cmp(b)));
            let (one, first) = alone[0];
            let mut best: (f64, usize, Option<usize>) = (one, first, None);
            let likely = &alone[..alone.len().min(PAIRED)];
            for (at, &(_, a)) in likely.iter().enumerate() {
                for &(_, b) in &likely[at + 1..] {
                    terms.clear();
                    terms.extend(self.parts.iter().map(|part| part.log_joint() + part.gain_of_two(a, b)));
                    let two = num::log_sum_exp(&terms) + self.as_wrong[a] + self.as_wrong[b];
                    if two > best.0 {
                        best = (two, a, Some(b));
                    }
                }
            }
            let (score, a, b) = best;
            if score.is_nan() || score <= whole {
                break;
            }
            for cell in [Some(a), b].into_iter().flatten() {
                self.parts.iter_mut().for_each(|part| part.take_out(cell));
                self.kept.retain(|&j| j != cell);
                self.blamed.push(cell);
            }
        }
    }

    /// The verdict, after giving back every cell that goes with the cells kept after all: the first to be taken out were
    /// judged while others still spoilt the row.
    fn settled(&mut self, framed: &[f64]) -> Vec<Reason> {
        loop {
            let reasons = self.judged(framed);
            let gain = |r: &Reason| -r.surprise - self.as_wrong[r.column];
            let best = reasons.iter().filter(|r| r.blamed).max_by(|a, b| gain(a).total_cmp(&gain(b)));
            match best.filter(|r| gain(r) > 0.0).map(|r| r.column) {
                Some(cell) => self.give_back(cell),
                None => return reasons,
            }
        }
    }

    fn give_back(&mut self, cell: usize) {
        self.blamed.retain(|&j| j != cell);
        self.kept.push(cell);
        let missing = (0..self.near.len()).filter(|&j| self.near[j].is_nan());
        let out: Vec<usize> = missing.chain(self.blamed.iter().copied()).collect();
        for part in &mut self.parts {
            *part = part.without(&self.near, &out);
        }
    }

    /// Every observed cell against the cells kept, in the frame's units.
    fn judged(&self, framed: &[f64]) -> Vec<Reason> {
        let log_joint: Vec<f64> = self.parts.iter().map(|part| part.log_joint()).collect();
        let conditional: Vec<Vec<(f64, f64)>> =
            self.parts.iter().map(|part| part.blamed_given_kept(&self.blamed)).collect();
        let blamed = self.blamed.iter().enumerate().map(|(at, &j)| {
            let of_part = conditional.iter().zip(&log_joint).map(|(cells, &log)| (log, cells[at].0, cells[at].1));
            judge(j, true, framed[j], of_part.collect())
        });
        let kept = self.kept.iter().map(|&j| {
            let of_part = self.parts.iter().map(|part| {
                let (expected, sharpness) = part.kept_given_others(j);
                (part.log_joint() + part.gain_of_one(j), expected, sharpness)
            });
            judge(j, false, framed[j], of_part.collect())
        });
        blamed.chain(kept).collect()
    }
}

/// A cell against a mixture of (log-weight, mean, one over the standard deviation).
fn judge(column: usize, blamed: bool, observed: f64, mixture: Vec<(f64, f64, f64)>) -> Reason {
    let total = num::log_sum_exp(&mixture.iter().map(|(log, _, _)| *log).collect::<Vec<_>>());
    let (mut expected, mut below, mut above) = (0.0, 0.0, 0.0);
    let mut density = Vec::with_capacity(mixture.len());
    for (log, mean, sharpness) in mixture {
        let share = (log - total).exp();
        let z = (observed - mean) * sharpness;
        expected += share * mean;
        below += share * 0.5 * libm::erfc(-z / std::f64::consts::SQRT_2);
        above += share * 0.5 * libm::erfc(z / std::f64::consts::SQRT_2);
        density.push(log - total + sharpness.ln() - 0.5 * (LN_2PI + z * z));
    }
    Reason {
        column,
        blamed,
        surprise: -num::log_sum_exp(&density),
        probability: (2.0 * below.min(above)).min(1.0),
        observed,
        expected,
    }
}

/// Wrong values may be anywhere: a Cauchy density of twice the column's scale.
fn wide_log_density(z: f64) -> f64 {
    -(2.0 * std::f64::consts::PI).ln() - (0.25 * z * z).ln_1p()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic::{Covariance, Truth, ofab_truth};

    /// Shares of the rows with p ≤ 0.001 in which the spoilt columns lead the reasons.
    fn named(truth: &Truth, n_spoilt: usize, n_sd: Option<f64>) -> f64 {
        let (d, n) = (truth.n_columns(), 600);
        let (clean, _) = truth.sample(10_000, 31);
        let (rows, _) = truth.sample(n, 32);
        let mut scorer = Scorer::of_truth(truth);
        let mut densities = Vec::new();
        scorer.log_densities(&clean, &mut densities);
        densities.sort_by(f64::total_cmp);
        let sd: Vec<f64> = (0..d)
            .map(|j| {
                let cells = || clean.iter().skip(j).step_by(d);
                let mean = cells().sum::<f64>() / 10_000.0;
                (cells().map(|v| (v - mean).powi(2)).sum::<f64>() / 10_000.0).sqrt()
            })
            .collect();
        let mut rng = num::stream(33, 0, 0);
        let (mut n_unusual, mut n_named, mut density) = (0, 0, Vec::new());
        for i in 0..n {
            let mut row = rows[i * d..(i + 1) * d].to_vec();
            let mut columns: Vec<usize> = (0..d).collect();
            rng.shuffle(&mut columns);
            columns.truncate(n_spoilt);
            for &j in &columns {
                let sign = if rng.uniform() < 0.5 { -1.0 } else { 1.0 };
                row[j] = n_sd.map_or_else(|| rows[rng.below(n) * d + j], |n_sd| row[j] + sign * n_sd * sd[j]);
            }
            scorer.log_densities(&row, &mut density);
            if densities.partition_point(|v| *v <= density[0]) < 10 {
                n_unusual += 1;
                n_named += usize::from(scorer.reasons(&row)[..n_spoilt].iter().all(|r| columns.contains(&r.column)));
            }
        }
        assert!(n_unusual > 30, "{n_unusual}");
        n_named as f64 / f64::from(n_unusual)
    }

    #[test]
    fn spoilt_columns_are_named_first() {
        let mixtures =
            [(4, 2, Covariance::Aat), (5, 1, Covariance::Aat), (6, 4, Covariance::Spd), (12, 7, Covariance::Aat)];
        let truths: Vec<Truth> =
            mixtures.iter().flat_map(|&(d, k, c)| (0..2).map(move |seed| ofab_truth(k, d, c, seed))).collect();
        let mean = |n_spoilt, n_sd| truths.iter().map(|t| named(t, n_spoilt, n_sd)).sum::<f64>() / truths.len() as f64;
        for (n_spoilt, n_sd, least) in [(1, 3.0, 0.98), (1, 6.0, 0.99), (2, 3.0, 0.95), (2, 6.0, 0.99)] {
            let share = mean(n_spoilt, Some(n_sd));
            assert!(share >= least, "{n_spoilt} moved by {n_sd} sd: {share}");
        }
        let swapped = mean(1, None);
        assert!(swapped >= 0.93, "one swapped: {swapped}");
    }

    /// The conditional density of a cell, by the densities of the row with and without it.
    fn conditional(scorer: &mut Scorer, row: &[f64], j: usize) -> f64 {
        let (mut with, mut without, mut holed) = (Vec::new(), Vec::new(), row.to_vec());
        holed[j] = f64::NAN;
        scorer.log_densities(row, &mut with);
        scorer.log_densities(&holed, &mut without);
        with[0] - without[0]
    }

    #[test]
    fn surprise_is_the_conditional_density_given_the_cells_not_blamed() {
        let truth = ofab_truth(3, 5, Covariance::Spd, 8);
        let mut scorer = Scorer::of_truth(&truth);
        let (rows, _) = truth.sample(40, 9);
        let mut n_blamed = 0;
        for (i, row) in rows.chunks(5).enumerate() {
            let mut row = row.to_vec();
            row[1] += f64::from(i as u32 % 4) * 20.0;
            row[3] -= f64::from(i as u32 % 3) * 30.0;
            if i % 5 == 0 {
                row[4] = f64::NAN;
            }
            let reasons = scorer.reasons(&row);
            assert_eq!(reasons.len(), 5 - usize::from(i % 5 == 0));
            for reason in &reasons {
                let mut judged = row.clone();
                let others = reasons.iter().filter(|r| r.blamed && r.column != reason.column);
                others.for_each(|r| judged[r.column] = f64::NAN);
                let expected = -conditional(&mut scorer, &judged, reason.column);
                assert!((reason.surprise - expected).abs() < 1e-7 * expected.abs().max(1.0), "{reason:?} {expected}");
                n_blamed += usize::from(reason.blamed);
            }
        }
        assert!(n_blamed > 30, "{n_blamed}");
    }

    #[test]
    fn a_single_gaussian_gives_the_textbook_conditional() {
        let truth =
            Truth { weights: vec![1.0], means: vec![vec![1.0, -2.0]], covariances: vec![vec![4.0, 1.2, 1.2, 1.0]] };
        let reasons = Scorer::of_truth(&truth).reasons(&[2.0, -1.5]);
        let second = reasons.iter().find(|r| r.column == 1).unwrap();
        // μ₂ + (1.2/4)(x₁ − μ₁), variance 1 − 1.2²/4.
        assert!((second.expected - -1.7).abs() < 1e-12);
        let z: f64 = 0.2 / 0.64_f64.sqrt();
        assert!((second.probability - libm::erfc(z / std::f64::consts::SQRT_2)).abs() < 1e-12);
        assert!(!second.blamed && second.observed == -1.5);
    }

    #[test]
    fn absurd_values_missing_cells_and_flat_components_are_survived() {
        let mut truth = ofab_truth(3, 4, Covariance::Aat, 2);
        truth.covariances[1].iter_mut().for_each(|v| *v *= 1e-9);
        truth.covariances[2].fill(1.0);
        let scorer = Scorer::of_truth(&truth);
        let mut row = truth.means[0].clone();
        row[0] = 1e12;
        row[2] = -1e70;
        let reasons = scorer.reasons(&row);
        assert!(reasons.iter().all(|r| r.surprise.is_finite() && r.expected.is_finite()), "{reasons:?}");
        assert_eq!(reasons[..2].iter().map(|r| (r.column, r.blamed)).collect::<Vec<_>>(), [(2, true), (0, true)]);
        // The huge cells have left no trace in what the others expect of each other.
        assert!((reasons[0].expected - truth.means[0][2]).abs() < 10.0 && !reasons[3].blamed, "{reasons:?}");
        assert!(scorer.reasons(&[f64::NAN; 4]).is_empty());
        assert_eq!(scorer.reasons(&[f64::NAN, 1e75, f64::NAN, f64::NAN])[0].column, 1);
        assert_eq!(scorer.reasons(&[1e75; 4]).len(), 4);
    }
}
