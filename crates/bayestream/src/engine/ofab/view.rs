//! The ring's rows laid out for judging moves: densities per component, responsibilities, duplicates.

use super::component::Comp;
use crate::data::Frame;
use crate::family::Gauss;
use crate::interrupt::Interrupt;
use crate::num;
use crate::structure::{Posterior, RowBlock};

/// Shares below this are none.
const TOUCHED: f64 = 1e-9;

/// Rows to judge structure moves on, in the learner's frame and without holes.
#[derive(Clone, Default)]
pub(in crate::engine) struct View {
    pub block: RowBlock,
    pub weights: Vec<f64>,
    /// Sum of the weights.
    pub total: f64,
    /// Share of the rows that are distinct: repeated rows are not new evidence.
    pub distinct: f64,
    /// True when these are all rows of the present regime: a component without rows here has none at all.
    pub complete: bool,
    /// True when rows were drawn for what the ring does not hold: good enough to judge by, not to learn from.
    pub recalled: bool,
    /// Rows that were seen; those behind them were drawn.
    pub n_real: usize,
    /// Log-densities, component-major, without mixing weights.
    density: Vec<f64>,
    pub posterior: Posterior,
}

impl View {
    /// Lays out rows given in the data's own units, for work that may be interrupted. Missing cells are drawn from `comps`
    /// given the observed ones.
    pub fn heeding(
        interrupt: &Interrupt,
        frame: &Frame,
        rows: &[f64],
        weights: Vec<f64>,
        comps: &[Comp],
        key: (u64, u64, u64),
    ) -> View {
        let d = frame.n_columns();
        let mut block = RowBlock::default();
        block.heed(interrupt);
        block.load_with(d, |into| frame.push_rows(rows, into));
        if !block.is_whole() {
            let filled = impute(&mut block, comps, key);
            block.load(&filled, d);
        }
        let hashes: Vec<u64> = rows.chunks_exact(d).map(row_hash).collect();
        let mut sorted = hashes.clone();
        sorted.sort_unstable();
        sorted.dedup();
        View {
            total: weights.iter().sum(),
            distinct: sorted.len() as f64 / hashes.len().max(1) as f64,
            complete: false,
            recalled: false,
            n_real: hashes.len(),
            block,
            weights,
            density: Vec::new(),
            posterior: Posterior::default(),
        }
    }

    /// Replaces the rows (in the frame, without holes) by others that begin with them.
    pub fn extend(&mut self, rows: &[f64], weights: Vec<f64>) {
        let d = self.block.n_columns();
        self.block.load(rows, d);
        self.total = weights.iter().sum();
        self.weights = weights;
        self.recalled = true;
    }

    /// Hands itself over; nothing is left.
    pub fn take(&mut self) -> View {
        std::mem::take(self)
    }

    pub fn n_rows(&self) -> usize {
        self.weights.len()
    }

    /// Computes every component's densities and the responsibilities.
    pub fn evaluate(&mut self, comps: &[Comp]) {
        let stride = self.block.stride();
        self.density.clear();
        self.density.resize(comps.len() * stride, 0.0);
        for (k, comp) in comps.iter().enumerate() {
            self.block.log_density(&comp.gauss, 0.0, &mut self.density[k * stride..(k + 1) * stride]);
        }
        self.weigh(comps);
    }

    /// Recomputes one component's densities; [`View::weigh`] or [`View::weigh_rows`] must follow.
    pub fn replace(&mut self, k: usize, gauss: &Gauss) {
        let stride = self.block.stride();
        self.block.log_density(gauss, 0.0, &mut self.density[k * stride..(k + 1) * stride]);
    }

    /// Forgets a component; [`View::weigh`] or [`View::weigh_rows`] must follow.
    pub fn remove(&mut self, k: usize) {
        let stride = self.block.stride();
        self.density.drain(k * stride..(k + 1) * stride);
        self.posterior.q.drain(k * stride..(k + 1) * stride);
    }

    /// Rows of which a component has some share.
    pub fn rows_of(&self, k: usize) -> impl Iterator<Item = usize> + '_ {
        self.q(k).iter().enumerate().filter(|(_, q)| **q > TOUCHED).map(|(i, _)| i)
    }

    /// Rows of which several components have some share, ascending.
    pub fn rows_of_any(&self, which: &[usize]) -> Vec<usize> {
        let mut rows: Vec<usize> = which.iter().flat_map(|&k| self.rows_of(k)).collect();
        rows.sort_unstable();
        rows.dedup();
        rows
    }

    /// Rows that a component whose densities are at hand would claim some share of.
    pub fn rows_claimed(&self, k: usize, log_weight: f64) -> impl Iterator<Item = usize> + '_ {
        let least = TOUCHED.ln() - log_weight;
        let density = &self.density[k * self.block.stride()..];
        self.log_p().iter().zip(density).enumerate().filter(move |(_, (p, v))| *v - *p > least).map(|(i, _)| i)
    }

    /// Responsibilities of some rows from the densities at hand; those of all others stay, but for the log-weights,
    /// which have all changed by `shift`.
    pub fn weigh_rows(&mut self, comps: &[Comp], rows: &[usize], shift: f64) {
        let stride = self.block.stride();
        let total: f64 = comps.iter().map(|c| c.mass).sum();
        let log_weights: Vec<f64> = comps.iter().map(|c| (c.mass / total).max(f64::MIN_POSITIVE).ln()).collect();
        if shift != 0.0 {
            self.posterior.log_total.iter_mut().for_each(|v| *v += shift);
        }
        let mut joint = vec![0.0; comps.len()];
        for &i in rows {
            for (k, (joint, log_weight)) in joint.iter_mut().zip(&log_weights).enumerate() {
                *joint = self.density[k * stride + i] + log_weight;
            }
            let log_total = num::log_sum_exp(&joint);
            joint.iter_mut().for_each(|v| *v -= log_total);
            num::exp_slice(&mut joint);
            for (k, q) in joint.iter().enumerate() {
                self.posterior.q[k * stride + i] = *q;
            }
            self.posterior.log_total[i] = log_total;
        }
    }

    /// Responsibilities from the densities at hand.
    pub fn weigh(&mut self, comps: &[Comp]) {
        let (stride, n) = (self.block.stride(), self.n_rows());
        let total: f64 = comps.iter().map(|c| c.mass).sum();
        self.posterior.stride = stride;
        self.posterior.q.clone_from(&self.density);
        for (k, comp) in comps.iter().enumerate() {
            let log_weight = (comp.mass / total).max(f64::MIN_POSITIVE).ln();
            self.posterior.q[k * stride..(k + 1) * stride].iter_mut().for_each(|v| *v += log_weight);
        }
        self.posterior.normalise(comps.len(), n);
    }

    /// Responsibilities of a component.
    pub fn q(&self, k: usize) -> &[f64] {
        self.posterior.of(k, self.n_rows())
    }

    /// Log mixture density of each row.
    pub fn log_p(&self) -> &[f64] {
        &self.posterior.log_total[..self.n_rows()]
    }

    /// Mass of the rows a component is responsible for.
    pub fn covered(&self, k: usize) -> f64 {
        self.q(k).iter().zip(&self.weights).map(|(q, w)| q * w).sum()
    }

    /// How much components share their rows: one minus the mean of Σ q².
    pub fn overlap(&self) -> f64 {
        let n = self.n_rows();
        let squares: f64 = self
            .posterior
            .q
            .chunks_exact(self.posterior.stride)
            .fold(0.0, |sum, q| sum + q[..n].iter().zip(&self.weights).map(|(q, w)| w * q * q).sum::<f64>());
        1.0 - squares / self.total
    }

    /// True when enough of a component's rows are here to judge it.
    pub fn covers(&self, k: usize, weight: f64, share: f64) -> bool {
        self.covered(k) >= share * weight * self.total
    }

    /// Log-densities of the rows under a density that is not one of the components'.
    pub fn log_density_of(&mut self, gauss: &Gauss, out: &mut Vec<f64>) {
        out.resize(self.block.stride(), 0.0);
        self.block.log_density(gauss, 0.0, out);
    }

    /// Log of the density of every row under all components but those in `without`, mixing weights included.
    pub fn log_rest(&self, without: &[usize]) -> Vec<f64> {
        let mut claimed = vec![0.0; self.n_rows()];
        for &k in without {
            claimed.iter_mut().zip(self.q(k)).for_each(|(c, q)| *c += q);
        }
        claimed.iter().zip(self.log_p()).map(|(c, l)| (1.0 - c).max(1e-300).ln() + l).collect()
    }

    /// A block of the chosen rows.
    pub fn subset(&self, index: &[usize]) -> RowBlock {
        let mut block = RowBlock::default();
        block.load_with(self.block.n_columns(), |into| {
            index.iter().for_each(|&i| into.extend_from_slice(self.block.row(i)));
        });
        block
    }
}

/// Rows that differ, in the order in which they came first, with what equal ones weigh together, and which of them each
/// row is.
pub(in crate::engine) fn distinct_rows(
    rows: &[f64],
    n_columns: usize,
    weights: &[f64],
) -> (Vec<f64>, Vec<f64>, Vec<u32>) {
    let n = weights.len();
    let row = |i: usize| &rows[i * n_columns..(i + 1) * n_columns];
    let bits = |i: usize| row(i).iter().map(|v| v.to_bits());
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&a, &b| bits(a).cmp(bits(b)).then(a.cmp(&b)));
    let mut first_of: Vec<usize> = (0..n).collect();
    for pair in order.windows(2) {
        if bits(pair[0]).eq(bits(pair[1])) {
            first_of[pair[1]] = first_of[pair[0]];
        }
    }
    let (mut kept, mut weight, mut which) = (Vec::new(), Vec::new(), vec![0; n]);
    for i in 0..n {
        if first_of[i] == i {
            which[i] = weight.len() as u32;
            kept.extend_from_slice(row(i));
            weight.push(0.0);
        } else {
            which[i] = which[first_of[i]];
        }
        weight[which[i] as usize] += weights[i];
    }
    (kept, weight, which)
}

/// Draws missing cells from the conditional distribution of each row's likeliest component.
fn impute(block: &mut RowBlock, comps: &[Comp], key: (u64, u64, u64)) -> Vec<f64> {
    let d = block.n_columns();
    let mut rows = block.rows().to_vec();
    let mut rng = num::stream(key.0, key.1, key.2);
    if comps.is_empty() {
        // No model yet: borrow each missing cell from a row that has it.
        for j in 0..d {
            let present: Vec<f64> = rows.iter().skip(j).step_by(d).copied().filter(|v| !v.is_nan()).collect();
            for v in rows.iter_mut().skip(j).step_by(d).filter(|v| v.is_nan()) {
                *v = if present.is_empty() { 0.0 } else { present[rng.below(present.len())] };
            }
        }
        return rows;
    }
    let mut posterior = Posterior::default();
    let k = posterior.log_joint(block, comps.iter().map(|c| (c.mass.max(f64::MIN_POSITIVE).ln(), &c.gauss)));
    let holed: Vec<usize> = block.holed_rows().collect();
    let owner: Vec<usize> = holed
        .iter()
        .map(|&i| {
            let at = |k: usize| posterior.q[k * posterior.stride + i];
            (0..k).max_by(|&a, &b| at(a).total_cmp(&at(b))).unwrap_or(0)
        })
        .collect();
    let mut owner_of = vec![usize::MAX; block.n_rows()];
    holed.iter().zip(&owner).for_each(|(&i, &k)| owner_of[i] = k);
    for (k, comp) in comps.iter().enumerate() {
        block.fill_holes(
            &comp.gauss,
            |row| owner_of[row] == k,
            |row, filled, missing, covariance| {
                let m = missing.len();
                let mut factor = covariance.to_vec();
                let has_factor = num::cholesky(&mut factor, m).is_ok();
                let noise: Vec<f64> = (0..m).map(|_| rng.normal()).collect();
                for (a, &j) in missing.iter().enumerate() {
                    let step: f64 = if has_factor { (0..=a).map(|b| factor[a * m + b] * noise[b]).sum() } else { 0.0 };
                    rows[row * d + j as usize] = filled[j as usize] + step;
                }
            },
        );
    }
    rows
}

/// A well-mixed hash of a row's bits; NaNs are all alike.
fn row_hash(row: &[f64]) -> u64 {
    row.iter().fold(0x9e37_79b9_7f4a_7c15, |h: u64, v| {
        let bits = if v.is_nan() { u64::MAX } else { v.to_bits() };
        let mut x = (h ^ bits).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x ^= x >> 31;
        x = x.wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 29)
    })
}
