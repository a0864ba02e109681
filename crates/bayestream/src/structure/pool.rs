//! Four densities of a row, pooled by how well each predicted.
//!
//! A mixture knows what it has seen. Beside it stand the same mixture with heavy tails (Student's t with 4 degrees of
//! freedom), one Gaussian for all rows, and a broad background around that: p = w₁M + w₂M₄ + w₃G + w₄B. The weights are
//! posterior means over a table of weight vectors, by the log-scores that each vector would have had; none is ever
//! zero, so that a row at any distance has a density that falls as a power of the distance and no faster.

use super::evaluate::{Posterior, RowBlock};
use crate::family::Gauss;
use crate::num::{self, LN_2PI, LN_PI};
use serde::{Deserialize, Serialize};

/// How many densities are pooled.
pub const POOLED: usize = 4;

/// Share of the one Gaussian and the background together; of the Gaussian within them; of heavy tails within the rest.
const ALONE: [f64; 8] = [0.0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0];
const GAUSSIAN: [f64; 3] = [0.0, 0.5, 1.0];
const HEAVY: [f64; 11] = [0.0, 0.003, 0.01, 0.03, 0.1, 0.2, 0.35, 0.5, 0.7, 0.9, 1.0];

/// Degrees of freedom of heavy tails.
pub const HEAVY_DOF: f64 = 4.0;
/// Degrees of freedom of the background.
pub const BROAD_DOF: f64 = 2.5;
/// Beyond this many rows a Student t is its normal.
const SURE: f64 = 1e7;

/// Weight vectors: where one share is all or nothing, what the other would be divided into does not matter.
const N_VECTORS: usize = HEAVY.len() + (ALONE.len() - 2) * GAUSSIAN.len() * HEAVY.len() + GAUSSIAN.len();

/// Every weight vector of the table.
const VECTORS: [[f64; POOLED]; N_VECTORS] = {
    let mut all = [[0.0; POOLED]; N_VECTORS];
    let (mut at, mut i) = (0, 0);
    while i < ALONE.len() {
        let v = ALONE[i];
        let mut j = 0;
        while j < (if v == 0.0 { 1 } else { GAUSSIAN.len() }) {
            let g = GAUSSIAN[j];
            let mut k = 0;
            while k < (if v == 1.0 { 1 } else { HEAVY.len() }) {
                let u = HEAVY[k];
                all[at] = [(1.0 - v) * (1.0 - u), (1.0 - v) * u, v * g, v * (1.0 - g)];
                (at, k) = (at + 1, k + 1);
            }
            j += 1;
        }
        i += 1;
    }
    all
};

/// Log-scores of every weight vector along the stream. Tables of disjoint rows add.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PoolTable {
    scores: Vec<f64>,
    rows: f64,
}

impl PoolTable {
    /// Takes the log-densities of rows under the four.
    pub fn learn(&mut self, logs: &[Vec<f64>; POOLED], weights: Option<&[f64]>) {
        self.scores.resize(N_VECTORS, 0.0);
        let mut mixed = [0.0; N_VECTORS];
        for i in 0..logs[0].len() {
            let weight = weights.map_or(1.0, |w| w[i]);
            if weight == 0.0 {
                continue;
            }
            let row: [f64; POOLED] = std::array::from_fn(|m| logs[m][i]);
            let largest = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            if !largest.is_finite() {
                continue;
            }
            let density = row.map(|v| (v - largest).exp());
            for (mixed, w) in mixed.iter_mut().zip(&VECTORS) {
                let sum: f64 = w.iter().zip(&density).map(|(w, p)| w * p).sum();
                *mixed = sum.max(f64::MIN_POSITIVE);
            }
            num::ln_slice(&mut mixed);
            self.scores.iter_mut().zip(&mixed).for_each(|(score, log)| *score += weight * log);
            self.rows += weight;
        }
    }

    /// Fades what it has seen.
    pub fn fade(&mut self, keep: f64) {
        self.scores.iter_mut().for_each(|score| *score *= keep);
        self.rows *= keep;
    }

    /// Adds the rows of another.
    pub fn add(&mut self, other: &PoolTable) {
        self.scores.resize(self.scores.len().max(other.scores.len()), 0.0);
        self.scores.iter_mut().zip(&other.scores).for_each(|(a, b)| *a += b);
        self.rows += other.rows;
    }

    /// The posterior mean of the weights, a quarter of a row for each of the four besides.
    pub fn weights(&self) -> [f64; POOLED] {
        let mut mean = [1.0 / POOLED as f64; POOLED];
        if !self.scores.is_empty() {
            let total = num::log_sum_exp(&self.scores);
            mean = [0.0; POOLED];
            for (score, w) in self.scores.iter().zip(VECTORS) {
                let share = (score - total).exp();
                mean.iter_mut().zip(w).for_each(|(m, w)| *m += share * w);
            }
        }
        mean.map(|m| (self.rows * m + 1.0 / POOLED as f64) / (self.rows + 1.0))
    }

    /// True when it could have been learned: what a file must satisfy.
    pub fn is_sound(&self) -> bool {
        let n = if self.scores.is_empty() { 0 } else { N_VECTORS };
        self.scores.len() == n
            && self.scores.iter().all(|v| v.is_finite() && *v <= 0.0)
            && self.rows.is_finite()
            && self.rows >= 0.0
    }
}

/// How rows are predicted besides by the mixture itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pool {
    /// Weights of the mixture, of its heavy tails, of one Gaussian and of the background.
    pub weights: [f64; POOLED],
    /// One Gaussian for all rows, in the frame of the mixture.
    pub whole: Gauss,
}

/// Log-density of each row from its four log-densities and their weights.
pub fn mix(weights: &[f64; POOLED], logs: &[Vec<f64>; POOLED], out: &mut Vec<f64>) {
    let log_weights = weights.map(|w| w.max(f64::MIN_POSITIVE).ln());
    out.clear();
    out.extend((0..logs[0].len()).map(|i| {
        let terms: [f64; POOLED] = std::array::from_fn(|m| logs[m][i] + log_weights[m]);
        num::log_sum_exp(&terms)
    }));
}

/// The four log-densities of a block's rows, in its frame. Buffers are reused.
#[derive(Clone, Debug, Default)]
pub struct Predictions {
    student: Posterior,
    heavy: Posterior,
    n_parts: usize,
    normal: Vec<f64>,
    distance: Vec<f64>,
    /// Mixture, heavy tails, one Gaussian, background.
    pub logs: [Vec<f64>; POOLED],
}

impl Predictions {
    /// Evaluates rows under weighted components and one Gaussian for all.
    pub fn run<'a>(&mut self, block: &mut RowBlock, parts: impl Iterator<Item = (f64, &'a Gauss)>, whole: &Gauss) {
        self.begin(block);
        let mut normal = std::mem::take(&mut self.normal);
        normal.resize(block.stride(), 0.0);
        for (weight, gauss) in parts {
            block.log_density(gauss, 0.0, &mut normal);
            self.add(block, weight.max(f64::MIN_POSITIVE).ln(), gauss, &normal, 0.0);
        }
        self.normal = normal;
        self.finish(block, whole);
    }

    /// Takes in, for one row, what changed since its block was evaluated: components that are `outdated`, all of a mass
    /// together of which e^`log_mass` is there, count no more, and e^`log_late` is the sum of mass times density of those
    /// in their place; e^`log_now` is the mass of all.
    pub fn amend(&mut self, row: usize, outdated: &[usize], log_mass: f64, log_late: f64, log_now: f64) {
        for (posterior, log) in [&self.student, &self.heavy].into_iter().zip(&mut self.logs) {
            let gone: f64 = outdated.iter().map(|k| posterior.q[k * posterior.stride + row]).sum();
            let left = (1.0 - gone).max(f64::MIN_POSITIVE).ln();
            log[row] = num::log_sum_exp(&[log_mass + log[row] + left, log_late]) - log_now;
        }
    }

    /// Shares of the components in each row under the mixture.
    pub fn shares(&self) -> &Posterior {
        &self.student
    }

    /// Forgets the last block.
    pub fn begin(&mut self, block: &RowBlock) {
        for posterior in [&mut self.student, &mut self.heavy] {
            posterior.stride = block.stride();
            posterior.q.clear();
        }
        self.n_parts = 0;
    }

    /// Adds a component whose normal log-densities, `shift` included, are known.
    pub fn add(&mut self, block: &mut RowBlock, log_weight: f64, gauss: &Gauss, normal: &[f64], shift: f64) {
        let (from, stride) = (self.n_parts * block.stride(), block.stride());
        let (dof, scale) = gauss.tail();
        distances(block, gauss, normal, shift, &mut self.distance);
        for (posterior, dof, scale) in [(&mut self.student, dof, scale), (&mut self.heavy, HEAVY_DOF, HEAVY_DOF - 2.0)]
        {
            posterior.q.resize(from + stride, 0.0);
            let out = &mut posterior.q[from..];
            tails(block, gauss, normal, shift, &self.distance, (dof, scale), out);
            out.iter_mut().for_each(|v| *v += log_weight);
        }
        self.n_parts += 1;
    }

    /// Sums up the mixtures and adds what does not depend on components.
    pub fn finish(&mut self, block: &mut RowBlock, whole: &Gauss) {
        let n = block.n_rows();
        for (posterior, out) in [(&mut self.student, 0), (&mut self.heavy, 1)] {
            posterior.normalise(self.n_parts, n);
            self.logs[out].clear();
            self.logs[out].extend_from_slice(&posterior.log_total[..n]);
        }
        self.normal.resize(block.stride(), 0.0);
        block.log_density(whole, 0.0, &mut self.normal);
        distances(block, whole, &self.normal, 0.0, &mut self.distance);
        let (dof, scale) = whole.tail();
        for (out, dof, scale) in [(2, dof, scale), (3, BROAD_DOF, BROAD_DOF - 2.0)] {
            self.logs[out].resize(block.stride(), 0.0);
            tails(block, whole, &self.normal, 0.0, &self.distance, (dof, scale), &mut self.logs[out]);
            self.logs[out].truncate(n);
        }
    }
}

/// Squared distances of a block's rows over their observed cells, from their normal log-densities where no cell is
/// missing.
fn distances(block: &mut RowBlock, gauss: &Gauss, normal: &[f64], shift: f64, out: &mut Vec<f64>) {
    let top = gauss.log_norm() + shift;
    out.clear();
    out.extend(normal.iter().map(|log| (2.0 * (top - log)).max(0.0)));
    let holed: Vec<usize> = block.holed_rows().collect();
    for row in holed {
        out[row] = block.distance(gauss, row).0;
    }
}

/// Log-densities of a Student t around a normal whose log-densities and distances are known: `dof` degrees of freedom,
/// distances divided by `scale`.
fn tails(
    block: &RowBlock,
    gauss: &Gauss,
    normal: &[f64],
    shift: f64,
    distance: &[f64],
    (dof, scale): (f64, f64),
    out: &mut [f64],
) {
    if scale > SURE {
        return out.iter_mut().zip(normal).for_each(|(out, log)| *out = log - shift);
    }
    let d = block.n_columns();
    let constant =
        |n: f64| num::ln_gamma((dof + n) / 2.0) - num::ln_gamma(dof / 2.0) - n / 2.0 * (LN_PI + scale.ln() - LN_2PI);
    out.iter_mut().zip(distance).for_each(|(out, q)| *out = 1.0 + q / scale);
    num::ln_slice(out);
    let (whole, power) = (constant(d as f64) + gauss.log_norm(), (dof + d as f64) / 2.0);
    out.iter_mut().for_each(|v| *v = whole - power * *v);
    for row in block.holed_rows() {
        let n = block.row(row).iter().filter(|v| !v.is_nan()).count() as f64;
        // A normal's log-density without its distance is what its determinant leaves.
        let top = normal[row] - shift + distance[row] / 2.0;
        out[row] = constant(n) + top - (dof + n) / 2.0 * (distance[row] / scale).ln_1p();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(rows: &[f64], d: usize) -> RowBlock {
        let mut block = RowBlock::default();
        block.load(rows, d);
        block
    }

    #[test]
    fn the_table_has_every_vector_once_and_each_adds_up_to_one() {
        assert!(VECTORS.iter().all(|w| (w.iter().sum::<f64>() - 1.0).abs() < 1e-12));
        let repeated = |at: usize| VECTORS[..at].contains(&VECTORS[at]);
        assert!(!(0..N_VECTORS).any(repeated));
    }

    #[test]
    fn tables_of_shards_add_up() {
        let logs = |from: f64, n: usize| -> [Vec<f64>; POOLED] {
            std::array::from_fn(|m| (0..n).map(|i| from - (i as f64) * 0.3 - m as f64 * 0.7).collect())
        };
        let (a, b) = (logs(-1.0, 5), logs(-4.0, 3));
        let (mut both, mut first, mut second) = (PoolTable::default(), PoolTable::default(), PoolTable::default());
        first.learn(&a, None);
        second.learn(&b, None);
        both.learn(&a, None);
        both.learn(&b, None);
        first.add(&second);
        assert!(first.weights().iter().zip(both.weights()).all(|(x, y)| (x - y).abs() < 1e-12));
        assert!((both.weights().iter().sum::<f64>() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn densities_integrate_to_one_and_holes_are_marginals() {
        let gauss = Gauss::with_covariance(&[0.3, -0.2], &[1.0, 0.4, 0.4, 0.5]).known_from(9.0, 11.0);
        let (step, reach) = (0.25, 120);
        let axis: Vec<f64> = (-reach..=reach).map(|i| f64::from(i) * step).collect();
        let rows: Vec<f64> = axis.iter().flat_map(|x| axis.iter().flat_map(move |y| [*x, *y])).collect();
        let mut predictions = Predictions::default();
        predictions.run(&mut block(&rows, 2), [(1.0, &gauss)].into_iter(), &gauss);
        for (logs, lost) in predictions.logs.iter().zip([1e-3, 1e-3, 1e-3, 2e-2]) {
            let total: f64 = logs.iter().map(|l| l.exp()).sum::<f64>() * step * step;
            assert!((total - 1.0).abs() < lost, "{total}");
        }
        // The density of one cell is that of the row summed over the other.
        let n = axis.len();
        let mut marginal = Predictions::default();
        let holed: Vec<f64> = axis.iter().flat_map(|x| [*x, f64::NAN]).collect();
        marginal.run(&mut block(&holed, 2), [(1.0, &gauss)].into_iter(), &gauss);
        for (whole, part) in predictions.logs.iter().zip(&marginal.logs).take(3) {
            let summed: f64 = whole[(n / 2) * n..(n / 2 + 1) * n].iter().map(|l| l.exp()).sum::<f64>() * step;
            assert!((summed.ln() - part[n / 2]).abs() < 1e-3, "{} {}", summed.ln(), part[n / 2]);
        }
    }

    #[test]
    fn no_row_is_impossible() {
        let gauss = Gauss::with_covariance(&[0.0], &[1.0]).known_from(100.0, 100.0);
        let mut predictions = Predictions::default();
        predictions.run(&mut block(&[1e100], 1), [(1.0, &gauss)].into_iter(), &gauss);
        let mut table = PoolTable::default();
        table.learn(&std::array::from_fn(|m| vec![-(m as f64) * 50.0; 1000]), None);
        let pool = Pool { weights: table.weights(), whole: gauss };
        let mut mixed = Vec::new();
        mix(&pool.weights, &predictions.logs, &mut mixed);
        assert!(mixed[0] > -1000.0, "{mixed:?}");
    }
}
