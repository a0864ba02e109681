//! The ring's rows laid out for judging moves: densities per component, responsibilities, duplicates, folds.

use super::component::Comp;
use crate::data::Frame;
use crate::family::Gauss;
use crate::interrupt::Interrupt;
use crate::num;
use crate::structure::{Posterior, RowBlock};

/// Rows to judge structure moves on, in the learner's frame and without holes.
#[derive(Clone)]
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
    /// Two halves for cross-validation; equal rows share a half.
    pub fold: Vec<bool>,
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
            fold: hashes.iter().map(|h| h & 1 == 1).collect(),
            block,
            weights,
            density: Vec::new(),
            posterior: Posterior::default(),
        }
    }

    /// Replaces the rows (in the frame, without holes) by others that begin with them.
    pub fn extend(&mut self, rows: &[f64], weights: Vec<f64>) {
        let d = self.block.n_columns();
        let known = self.fold.len();
        self.fold.extend(rows.chunks_exact(d).skip(known).map(|row| row_hash(row) & 1 == 1));
        self.block.load(rows, d);
        self.total = weights.iter().sum();
        self.weights = weights;
        self.recalled = true;
    }

    /// Rows that differ, in the order in which they came first, with what equal ones weigh together.
    pub fn distinct_rows(&self) -> (Vec<f64>, Vec<f64>) {
        let row = |i: usize| self.block.row(i).iter().map(|v| v.to_bits());
        let mut order: Vec<usize> = (0..self.n_rows()).collect();
        order.sort_by(|&a, &b| row(a).cmp(row(b)).then(a.cmp(&b)));
        let mut weight_of = vec![None; self.n_rows()];
        let mut first = None;
        for i in order {
            if first.is_none_or(|first: usize| !row(first).eq(row(i))) {
                first = Some(i);
            }
            *weight_of[first.unwrap_or(i)].get_or_insert(0.0) += self.weights[i];
        }
        let (mut rows, mut weights) = (Vec::new(), Vec::new());
        for (i, weight) in weight_of.iter().enumerate().filter_map(|(i, w)| w.map(|w| (i, w))) {
            rows.extend_from_slice(self.block.row(i));
            weights.push(weight);
        }
        (rows, weights)
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

    /// Recomputes one component's densities; [`View::weigh`] must follow.
    pub fn replace(&mut self, k: usize, gauss: &Gauss) {
        let stride = self.block.stride();
        self.block.log_density(gauss, 0.0, &mut self.density[k * stride..(k + 1) * stride]);
    }

    /// Forgets a component; [`View::weigh`] must follow.
    pub fn remove(&mut self, k: usize) {
        let stride = self.block.stride();
        self.density.drain(k * stride..(k + 1) * stride);
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
