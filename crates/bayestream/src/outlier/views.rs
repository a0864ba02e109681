//! Plain views of a row beside the mixture: how far it is from the centre of all rows.
//!
//! One Gaussian cannot learn an outlier cluster as a mode of its own, which is what a mixture is for.

use crate::engine::parts::{Gather, accumulate};
use crate::family::{FullGaussian, Gauss, GaussScratch, Moments, Prior};
use crate::structure::RowBlock;
use serde::{Deserialize, Serialize};

/// Rows that the Gaussian remembers.
const MEMORY: f64 = 50_000.0;
/// The density is refreshed when this share of the count is new.
const REFRESH: f64 = 0.02;
/// Added to variances, as a share of themselves and at least: columns that follow from others stay distinct.
const RIDGE: f64 = 0.03;
const LEAST_RIDGE: f64 = 1e-9;
const LEAST_VARIANCE: f64 = 1e-8;
/// Share of the first rows that are kept as normal, and rounds of choosing them.
const KEPT_AT_FIRST: f64 = 0.75;
const ROUNDS_AT_FIRST: usize = 4;
/// Degrees of freedom of the long-tailed columns.
const STUDENT_DOF: f64 = 3.0;
/// Rows that a column's own standard scale counts for before rows come in.
const PRIOR_ROWS: f64 = 1.0;

/// Running mean and covariance of transformed rows.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct OneGaussian {
    moments: Moments,
    gauss: Gauss,
    stale: f64,
    #[serde(skip)]
    work: Work,
}

/// Buffers of [`OneGaussian::distances`].
#[derive(Clone, Debug, Default)]
pub struct DistanceScratch {
    log_density: Vec<f64>,
    missing: Vec<f64>,
    /// Rows with missing cells filled in, and the variance that those are left with.
    filled: Vec<f64>,
    open: Vec<f64>,
}

#[derive(Clone, Debug, Default)]
struct Work {
    gather: Gather,
    gauss: GaussScratch,
    prior: Option<Prior>,
    ridged: Option<Moments>,
}

impl OneGaussian {
    /// Standard before any row.
    pub fn new(n_columns: usize) -> OneGaussian {
        let mut moments = Moments::empty_at(&vec![0.0; n_columns]);
        (0..n_columns).for_each(|j| moments.covariance[j * n_columns + j] = 1.0);
        moments.count = PRIOR_ROWS;
        let gauss = Gauss::of(FullGaussian, &moments, &Prior::vanishing(vec![1.0; n_columns]));
        OneGaussian { moments, gauss, stale: 0.0, work: Work::default() }
    }

    /// Scores of the block's rows: squared distance with correlations and without, and Student's t over the columns; and
    /// each row with its missing cells filled in by what the others let expect. What is left open of a missing cell adds
    /// its column's share of what a `usual` row scores, so that rows with and without holes stay comparable.
    pub fn distances(
        &self,
        block: &mut RowBlock,
        usual: [f64; 3],
        shares: &[f64],
        scratch: &mut DistanceScratch,
        mut each: impl FnMut(usize, [f64; 3], &[f64]),
    ) {
        let d = block.n_columns();
        let stride = block.stride();
        let DistanceScratch { log_density, missing, filled, open } = scratch;
        log_density.resize(stride, 0.0);
        missing.resize(stride, 0.0);
        block.log_density_and_missing(&self.gauss, 0.0, log_density, missing);
        let has_holes = !block.is_whole();
        if has_holes {
            filled.clear();
            filled.extend_from_slice(block.rows());
            open.clear();
            open.resize(filled.len(), 0.0);
            block.fill_holes(
                &self.gauss,
                |_| true,
                |i, cells, missing, covariance| {
                    filled[i * d..(i + 1) * d].copy_from_slice(cells);
                    for (a, &j) in missing.iter().enumerate() {
                        open[i * d + j as usize] = covariance[a * (missing.len() + 1)];
                    }
                },
            );
        }
        for i in 0..block.n_rows() {
            let row = if has_holes { &filled[i * d..(i + 1) * d] } else { block.row(i) };
            let mut diagonal = 0.0;
            // One logarithm serves many columns: a factor is at most 1e21.
            let (mut student, mut product) = (0.0, 1.0_f64);
            for (j, u) in row.iter().enumerate() {
                let off = u - self.moments.mean[j];
                let square = off * off / self.moments.covariance[j * d + j].max(LEAST_VARIANCE);
                diagonal += square;
                product *= 1.0 + square / STUDENT_DOF;
                if product > 1e200 {
                    student += product.ln();
                    product = 1.0;
                }
            }
            student += product.ln();
            let (mut n_missing, mut left_out, mut left_open) = (0.0, 0.0, 0.0);
            if has_holes {
                for j in (0..d).filter(|j| open[i * d + j] > 0.0) {
                    let variance = self.moments.covariance[j * d + j].max(LEAST_VARIANCE);
                    n_missing += 1.0;
                    left_out += shares[j];
                    left_open += shares[j] * (open[i * d + j] / variance).min(1.0);
                }
            }
            // Of a row with holes the sum is what a whole row would have whose missing cells add their mean, 1 each.
            let full = 2.0 * (self.gauss.log_norm() - log_density[i] - missing[i]) - n_missing;
            let full = full.max(0.0) + left_out * usual[0];
            each(i, [full, diagonal + left_open * usual[1], student + left_open * usual[2]], row);
        }
    }

    /// Begins anew from rows of which some may be outliers: those that are far out are left out, first by their columns
    /// one by one, which a cluster of outliers cannot tilt, then by the covariance of the rest.
    pub fn begin(&mut self, block: &mut RowBlock) {
        let n = block.n_rows();
        let mut weights = vec![1.0; n];
        self.restart(block, &weights);
        let n_kept = (KEPT_AT_FIRST * n as f64).ceil() as usize;
        if n_kept <= block.n_columns() + 1 {
            return;
        }
        let mut scratch = DistanceScratch::default();
        let d = block.n_columns();
        let shares = vec![1.0 / d as f64; d];
        for round in 0..ROUNDS_AT_FIRST {
            let mut order: Vec<(f64, usize)> = Vec::with_capacity(n);
            self.distances(block, [d as f64; 3], &shares, &mut scratch, |i, scores, _| {
                order.push((if round == 0 { scores[2] } else { scores[0] }, i));
            });
            order.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            for (rank, (_, i)) in order.into_iter().enumerate() {
                weights[i] = f64::from(u8::from(rank < n_kept));
            }
            self.restart(block, &weights);
        }
    }

    /// The statistics of these rows and no others.
    fn restart(&mut self, block: &mut RowBlock, weights: &[f64]) {
        *self = OneGaussian { work: std::mem::take(&mut self.work), ..OneGaussian::new(self.moments.n_columns()) };
        self.learn(block, weights);
        self.refresh();
    }

    /// Takes rows with weights.
    pub fn learn(&mut self, block: &mut RowBlock, weights: &[f64]) {
        let Work { gather, .. } = &mut self.work;
        let got = accumulate(gather, block, weights, None, &self.gauss, &self.moments.mean, false);
        let mass = got.mass;
        if mass <= 0.0 {
            return;
        }
        let keep = ((MEMORY - mass) / self.moments.count).clamp(0.0, 1.0);
        self.moments.absorb(keep, mass, got.sum, got.scatter);
        self.stale += mass;
        if self.stale > REFRESH * self.moments.count {
            self.refresh();
        }
    }

    fn refresh(&mut self) {
        let d = self.moments.n_columns();
        let Work { gauss, prior, ridged, .. } = &mut self.work;
        let copy = ridged.get_or_insert_with(|| self.moments.clone());
        copy.clone_from(&self.moments);
        for j in 0..d {
            let variance = &mut copy.covariance[j * d + j];
            *variance = (*variance * (1.0 + RIDGE) + LEAST_RIDGE).max(LEAST_VARIANCE);
        }
        let prior = prior.get_or_insert_with(|| Prior::vanishing(vec![1.0; d]));
        self.gauss.refresh(FullGaussian, copy, prior, gauss);
        self.stale = 0.0;
    }

    /// A column was fitted anew and is standard again; what the others have in common with it must be learnt again.
    pub fn reset_columns(&mut self, columns: &[usize], rows_behind: f64) {
        let d = self.moments.n_columns();
        for &j in columns {
            for i in 0..d {
                self.moments.covariance[i * d + j] = 0.0;
                self.moments.covariance[j * d + i] = 0.0;
            }
            self.moments.mean[j] = 0.0;
            self.moments.covariance[j * d + j] = 1.0;
        }
        if columns.len() == d {
            self.moments.count = PRIOR_ROWS;
        }
        self.moments.count = self.moments.count.min(rows_behind);
        self.refresh();
    }

    /// The rows of several shards together.
    pub fn joined(parts: &[&OneGaussian]) -> OneGaussian {
        let mut joined = parts[0].clone();
        parts[1..].iter().for_each(|p| joined.moments.add_scaled(1.0, &p.moments));
        joined.refresh();
        joined
    }

    /// True when sizes agree and numbers are finite: what a file must satisfy.
    pub fn is_sound(&self, n_columns: usize) -> bool {
        self.moments.mean.len() == n_columns
            && self.moments.covariance.len() == n_columns * n_columns
            && self.moments.mean.iter().chain(&self.moments.covariance).all(|v| v.is_finite())
            && self.moments.count.is_finite()
            && self.moments.count > 0.0
            && self.stale.is_finite()
            && self.gauss.is_sound(n_columns)
    }

    /// Rebuilds what is not saved.
    pub fn restore(&mut self) {
        self.gauss.pack();
    }
}
