//! Penalised EM on a block of rows, for all components of a mixture or for some with the others held fixed.

use super::penalty;
use crate::family::{Family, Gauss, GaussScratch, Moments, Prior};
use crate::num::{self, Lanes};
use crate::structure::{Posterior, RowBlock};

/// A component being fitted.
#[derive(Clone, Debug)]
pub struct Part {
    /// Mixing weight; the weights of the parts keep their sum during EM.
    pub weight: f64,
    /// Statistics.
    pub moments: Moments,
    /// Prior of its covariance.
    pub prior: Prior,
    /// Density.
    pub gauss: Gauss,
}

/// How long EM runs and what it does on the way.
#[derive(Clone, Copy, Debug)]
pub struct EmOptions {
    /// Most iterations.
    pub max_iterations: usize,
    /// Stop when the log-likelihood gains less than this per unit of row weight.
    pub tolerance: f64,
    /// Largest FAB penalty of the E-step, in nats; 0 is plain EM.
    pub penalty_cap: f64,
    /// Parts with less mass are dropped, though never the last.
    pub drop_below: f64,
}

/// A covariance that the parts are known to have together: few rows per part then do not have to tell it again.
#[derive(Clone, Copy, Debug)]
pub struct Pull<'a> {
    /// Covariance of all parts taken as one, row-major.
    pub covariance: &'a [f64],
    /// How many rows it speaks for in each part.
    pub rows: f64,
}

impl Pull<'_> {
    /// Draws each part's covariance towards what the whole leaves for the inside of a part.
    fn apply(&self, parts: &mut [Part]) {
        let Some(first) = parts.first() else { return };
        let d = first.moments.n_columns();
        let mut whole = Moments { covariance: vec![0.0; d * d], ..Moments::empty_at(&first.moments.mean) };
        for part in parts.iter() {
            let centre = Moments { covariance: vec![0.0; d * d], ..part.moments.clone() };
            whole.add_scaled(1.0, &centre);
        }
        // What the means already explain is taken out, though never more than nine tenths in any direction.
        let gauss = Gauss::with_covariance(&whole.mean, self.covariance);
        let mut z = vec![0.0; d];
        let mut explained: f64 = 0.0;
        for part in parts.iter() {
            gauss.whitened(&part.moments.mean, &mut z);
            explained += part.moments.count / whole.count.max(f64::MIN_POSITIVE) * z.iter().map(|v| v * v).sum::<f64>();
        }
        let share = if explained > 0.9 { 0.9 / explained } else { 1.0 };
        for part in parts.iter_mut() {
            let n = part.moments.count;
            let (own, pulled) = (n / (n + self.rows), self.rows / (n + self.rows));
            for (at, v) in part.moments.covariance.iter_mut().enumerate() {
                *v = own * *v + pulled * (self.covariance[at] - share * whole.covariance[at]);
            }
        }
    }
}

/// Runs EM on `block` (row weights `weights`); `rest` holds each row's log-density under everything that stays fixed,
/// weights included. Returns the final log-likelihood of the rows.
pub fn em<F: Family>(
    family: F,
    block: &mut RowBlock,
    weights: &[f64],
    rest: Option<&[f64]>,
    parts: &mut Vec<Part>,
    options: EmOptions,
    pull: Option<Pull<'_>>,
) -> f64 {
    let n = block.n_rows();
    let total: f64 = weights.iter().sum();
    let share: f64 = parts.iter().map(|p| p.weight).sum();
    let mut posterior = Posterior::default();
    let mut gather = Gather::default();
    let mut scratch = GaussScratch::default();
    let mut previous = f64::NEG_INFINITY;
    let mut log_likelihood = previous;
    for iteration in 0..=options.max_iterations {
        log_likelihood = e_step(block, weights, rest, parts, options.penalty_cap, &mut posterior);
        let converged = log_likelihood - previous < options.tolerance * total;
        let is_over = n == 0 || iteration == options.max_iterations || (iteration > 0 && converged);
        if is_over || block.is_interrupted() {
            break;
        }
        previous = log_likelihood;
        for (k, part) in parts.iter_mut().enumerate() {
            let q = &posterior.q[k * posterior.stride..][..n];
            part.moments = gather.moments(block, q, weights, &part.gauss);
        }
        drop_light(parts, options.drop_below);
        if let Some(pull) = pull {
            pull.apply(parts);
        }
        let mass: f64 = parts.iter().map(|p| p.moments.count).sum();
        // Shaping covariances of wide rows takes longest of all.
        for part in parts.iter_mut().take_while(|_| !block.is_interrupted()) {
            part.weight = share * part.moments.count / mass;
            part.gauss.refresh(family, &part.moments, &part.prior, &mut scratch);
        }
    }
    log_likelihood
}

/// Removes parts below a mass, sparing the heaviest.
fn drop_light(parts: &mut Vec<Part>, drop_below: f64) {
    let heaviest = parts.iter().map(|p| p.moments.count).fold(0.0, f64::max);
    let least = drop_below.min(heaviest);
    parts.retain(|p| p.moments.count >= least);
}

/// Responsibilities of the parts (the fixed rest takes what is left) and the log-likelihood.
fn e_step(
    block: &mut RowBlock,
    weights: &[f64],
    rest: Option<&[f64]>,
    parts: &[Part],
    penalty_cap: f64,
    posterior: &mut Posterior,
) -> f64 {
    let n = block.n_rows();
    let log_weight =
        |p: &Part| p.weight.max(f64::MIN_POSITIVE).ln() - penalty(p.gauss.n_free(), p.moments.count, penalty_cap);
    let mut k = posterior.log_joint(block, parts.iter().map(|p| (log_weight(p), &p.gauss)));
    if let Some(rest) = rest {
        posterior.q.resize((k + 1) * posterior.stride, f64::NEG_INFINITY);
        posterior.q[k * posterior.stride..][..n].copy_from_slice(&rest[..n]);
        k += 1;
    }
    posterior.normalise(k, n);
    posterior.log_total[..n].iter().zip(weights).map(|(l, w)| l * w).sum()
}

/// Responsibilities below this add nothing to statistics.
const NEGLIGIBLE: f64 = 1e-7;

/// Buffers for collecting the rows that a component is responsible for.
#[derive(Clone, Debug, Default)]
pub struct Gather {
    index: Vec<u32>,
    mass: Vec<f64>,
    lanes: Lanes,
    sum: Vec<f64>,
    scatter: Vec<f64>,
}

impl Gather {
    /// Fresh statistics of the rows under responsibilities `q` times row weights.
    pub fn moments(&mut self, block: &mut RowBlock, q: &[f64], weights: &[f64], gauss: &Gauss) -> Moments {
        let mut moments = Moments::empty_at(gauss.mean());
        if block.is_interrupted() {
            return moments;
        }
        let got = accumulate(self, block, q, Some(weights), gauss, &moments.mean, false);
        moments.absorb(1.0, got.mass, got.sum, got.scatter);
        moments
    }
}

/// Sums of a component over a block.
pub struct Sums<'a> {
    /// Σ w q.
    pub mass: f64,
    /// Σ w q (1 − q): how much the component shares.
    pub shared: f64,
    /// Σ w log(1 − q), with 1 − q at least 1e-4; 0 when not asked for.
    pub log_others: f64,
    /// Σ w q (x − centre).
    pub sum: &'a [f64],
    /// Σ w q (x − centre)(x − centre)', lower triangle; expected over missing cells.
    pub scatter: &'a [f64],
}

/// Collects a component's rows and sums them about `centre`; `gauss` fills in missing cells. `gather_others` asks for
/// `log_others` too.
pub fn accumulate<'a>(
    gather: &'a mut Gather,
    block: &mut RowBlock,
    q: &[f64],
    weights: Option<&[f64]>,
    gauss: &Gauss,
    centre: &[f64],
    gather_others: bool,
) -> Sums<'a> {
    let d = block.n_columns();
    let Gather { index, mass, lanes, sum, scatter } = gather;
    index.clear();
    mass.clear();
    sum.clear();
    sum.resize(d, 0.0);
    scatter.clear();
    scatter.resize(d * d, 0.0);
    let (mut total, mut shared, mut log_others) = (0.0, 0.0, 0.0);
    // A product of sixteen values of at least 1e-4 stays far from underflow, so one logarithm serves them all.
    let (mut product, mut in_product) = (1.0_f64, 0);
    let is_whole = block.is_whole();
    for (i, &q) in q.iter().enumerate() {
        let weight = weights.map_or(1.0, |w| w[i]);
        let m = q * weight;
        if m <= NEGLIGIBLE {
            continue;
        }
        total += m;
        shared += m * (1.0 - q);
        if gather_others {
            let others = (1.0 - q).max(1e-4);
            if weights.is_some() {
                log_others += weight * others.ln();
            } else {
                product *= others;
                in_product += 1;
                if in_product == 16 {
                    log_others += product.ln();
                    (product, in_product) = (1.0, 0);
                }
            }
        }
        if is_whole || !block.row(i).iter().any(|v| v.is_nan()) {
            index.push(i as u32);
            mass.push(m);
        }
    }
    log_others += product.ln();
    lanes.load_indexed(block.rows(), d, index);
    num::weighted_moments(lanes, mass, centre, sum, scatter);
    if !is_whole {
        add_holed(block, q, weights, gauss, centre, sum, scatter);
    }
    Sums { mass: total, shared, log_others, sum, scatter }
}

/// Expected statistics of rows with missing cells: conditional means, plus their covariance in the scatter.
fn add_holed(
    block: &mut RowBlock,
    q: &[f64],
    weights: Option<&[f64]>,
    gauss: &Gauss,
    centre: &[f64],
    sum: &mut [f64],
    scatter: &mut [f64],
) {
    let d = centre.len();
    let mass_of = |row: usize| q[row] * weights.map_or(1.0, |w| w[row]);
    block.fill_holes(
        gauss,
        |row| mass_of(row) > NEGLIGIBLE,
        |row, filled, missing, covariance| {
            let m = mass_of(row);
            for i in 0..d {
                let di = filled[i] - centre[i];
                sum[i] += m * di;
                for j in 0..=i {
                    scatter[i * d + j] += m * di * (filled[j] - centre[j]);
                }
            }
            for (a, &i) in missing.iter().enumerate() {
                for (b, &j) in missing.iter().enumerate().take(a + 1) {
                    scatter[i as usize * d + j as usize] += m * covariance[a * missing.len() + b];
                }
            }
        },
    );
}
