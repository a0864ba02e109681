//! The M-step of columns with missing cells where features are many: by conjugate gradients, all columns at once.
//!
//! Each such column has an A of its own, Σ E\[z̃z̃ᵀ\] over the rows in which it is there. To sum it costs N·K² for a column; to
//! multiply by it costs N·K, and where cells are missing at random it is near to a part of the common A, so that a few
//! multiplications do. The step begins where the parameters are, and every iteration raises the bound.

use super::parameters::{Maximising, Parameters};
use super::rows::Rows;
use super::statistics::Statistics;
use crate::num::{self, Grid};

/// Iterations, at most.
const MOST_ITERATIONS: usize = 12;
/// The step has settled when an iteration gains less than this for a row, in nats.
const SETTLED: f64 = 1e-4;
/// Sums of their own are cheaper as long as they cost less than this many products of features and columns.
const WORTH_PRODUCTS: usize = 16;

/// Buffers of the step, kept between calls. Matrices have a row for each column with holes.
#[derive(Clone, Debug, Default)]
pub struct Descent {
    /// Features and a constant, s × n.
    design: Vec<f64>,
    /// μ(1 − μ), s × n, and its sums over the rows in which a column is there.
    doubts: Vec<f64>,
    doubt: Vec<f64>,
    residual: Vec<f64>,
    /// What the search direction changes in the cells.
    change: Vec<f64>,
    theta: Vec<f64>,
    gradient: Vec<f64>,
    direction: Vec<f64>,
    scaled: Vec<f64>,
    product: Vec<f64>,
}

/// True where sums of their own for every column with missing cells cost more than a descent.
pub fn is_cheaper(rows: &Rows, k: usize) -> bool {
    let listed: usize = rows.holes.iter().map(|h| h.listed.len()).sum();
    (k + 1) * listed > WORTH_PRODUCTS * rows.n * rows.holes.len()
}

impl Descent {
    /// W, b and λ by statistics that columns with missing cells have no part in, and by rows; `work` has what is left over.
    pub fn maximise(
        &mut self,
        rows: &Rows,
        mu: &[f64],
        statistics: &Statistics,
        p: &mut Parameters,
        work: &mut Maximising,
    ) {
        self.begin(rows, mu, statistics, p);
        p.maximise(statistics, work);
        self.descend(rows, statistics, work.inverse_of_a());
        let (k, d, s) = (statistics.k, rows.d, statistics.k + 1);
        for (h, holes) in rows.holes.iter().enumerate() {
            let theta = &self.theta[h * s..][..s];
            (0..k).for_each(|f| p.weights[f * d + holes.column] = theta[f]);
            p.offset[holes.column] = theta[k];
            let doubt: f64 = theta.iter().zip(&self.doubt[h * s..]).map(|(t, v)| t * t * v).sum();
            let squares = self.residual[h * rows.n..][..rows.n].iter().zip(&rows.weights).map(|(r, w)| w * r * r);
            work.misfit[holes.column] = squares.sum::<f64>() + doubt;
        }
        p.take_noise(statistics, &work.misfit);
    }

    /// Where the parameters are, or nowhere when they are of other features.
    fn begin(&mut self, rows: &Rows, mu: &[f64], statistics: &Statistics, p: &Parameters) {
        let (n, d, k, s, n_holes) = (rows.n, rows.d, statistics.k, statistics.k + 1, rows.holes.len());
        self.design.clear();
        self.design.extend_from_slice(mu);
        self.design.resize(s * n, 1.0);
        self.doubts.clear();
        for mu in mu.chunks_exact(n.max(1)) {
            self.doubts.extend(mu.iter().zip(&rows.weights).map(|(m, w)| w * m * (1.0 - m)));
        }
        self.doubts.resize(s * n, 0.0);
        self.doubt.resize(n_holes * s, 0.0);
        let mask = Grid::new(&rows.mask, n_holes, n);
        num::multiply(mask, Grid::new(&self.doubts, s, n).transposed(), 1.0, 0.0, &mut self.doubt);
        self.theta.clear();
        for holes in &rows.holes {
            let is_known = p.k == k && p.d == d && rows.counts[holes.column] > 0.0;
            let theta = |f: usize| if f < k { p.weights[f * d + holes.column] } else { p.offset[holes.column] };
            self.theta.extend((0..s).map(|f| if is_known { theta(f) } else { 0.0 }));
        }
        self.residual.clear();
        rows.holes.iter().for_each(|h| self.residual.extend_from_slice(rows.column(h.column)));
        let theta = Grid::new(&self.theta, n_holes, s);
        num::multiply(theta, Grid::new(&self.design, s, n), -1.0, 1.0, &mut self.residual);
        self.residual.iter_mut().zip(&rows.mask).for_each(|(r, o)| *r *= o);
    }

    fn descend(&mut self, rows: &Rows, statistics: &Statistics, inverse: &[f64]) {
        let (n, s, n_holes) = (rows.n, statistics.k + 1, rows.holes.len());
        let Descent { design, doubt, residual, change, theta, gradient, direction, scaled, product, .. } = self;
        let design = Grid::new(design, s, n);
        // What rows that weigh `weights` pull, cell by cell, towards the features that they have.
        let pull = |cells: &mut [f64], out: &mut Vec<f64>| {
            for cells in cells.chunks_exact_mut(n.max(1)) {
                cells.iter_mut().zip(&rows.weights).for_each(|(c, w)| *c *= w);
            }
            out.resize(n_holes * s, 0.0);
            num::multiply(Grid::new(cells, n_holes, n), design.transposed(), 1.0, 0.0, out);
        };
        // The common A, as far as a column's rows go, in place of its own.
        let scale = |gradient: &[f64], out: &mut Vec<f64>| {
            out.resize(n_holes * s, 0.0);
            num::multiply(Grid::new(gradient, n_holes, s), Grid::new(inverse, s, s), 1.0, 0.0, out);
            for (out, holes) in out.chunks_exact_mut(s).zip(&rows.holes) {
                let part = statistics.counts[holes.column] / rows.mass;
                out.iter_mut().for_each(|v| *v /= part.max(f64::MIN_POSITIVE));
            }
        };
        let squares = |cells: &[f64]| cells.iter().zip(&rows.weights).map(|(c, w)| w * c * c).sum::<f64>();
        let left: Vec<f64> = residual.chunks_exact(n.max(1)).map(squares).collect();
        change.clone_from(residual);
        pull(change, gradient);
        gradient.iter_mut().zip(&*doubt).zip(&*theta).for_each(|((g, v), t)| *g -= v * t);
        scale(gradient, direction);
        let mut heights: Vec<f64> = inner(gradient, direction, s).collect();
        for _ in 0..MOST_ITERATIONS {
            change.resize(n_holes * n, 0.0);
            num::multiply(Grid::new(direction, n_holes, s), design, 1.0, 0.0, change);
            change.iter_mut().zip(&rows.mask).for_each(|(c, o)| *c *= o);
            let doubts = direction.chunks_exact(s).zip(doubt.chunks_exact(s));
            let doubts = doubts.map(|(p, v)| p.iter().zip(v).map(|(p, v)| v * p * p).sum::<f64>());
            let bends = change.chunks_exact(n.max(1)).map(squares).zip(doubts).map(|(squares, doubt)| squares + doubt);
            let length = |(height, bend): (&f64, f64)| if *height > 0.0 && bend > 0.0 { height / bend } else { 0.0 };
            let lengths: Vec<f64> = heights.iter().zip(bends).map(length).collect();
            for (h, length) in lengths.iter().enumerate() {
                let cells = residual[h * n..][..n].iter_mut().zip(&change[h * n..][..n]);
                cells.for_each(|(r, c)| *r -= length * c);
                theta[h * s..][..s].iter_mut().zip(&direction[h * s..]).for_each(|(t, p)| *t += length * p);
            }
            // In units of the noise before the step.
            let noise = |h: usize| left[h].max(f64::MIN_POSITIVE) / statistics.counts[rows.holes[h].column].max(1.0);
            let gain: f64 = (0..n_holes).map(|h| 0.5 * heights[h] * lengths[h] / noise(h)).sum();
            if gain < SETTLED * rows.mass {
                return;
            }
            pull(change, product);
            for (at, g) in gradient.iter_mut().enumerate() {
                *g -= lengths[at / s] * (product[at] + doubt[at] * direction[at]);
            }
            scale(gradient, scaled);
            let next: Vec<f64> = inner(gradient, scaled, s).collect();
            for (at, p) in direction.iter_mut().enumerate() {
                let h = at / s;
                *p = scaled[at] + if heights[h] > 0.0 { next[h] / heights[h] * *p } else { 0.0 };
            }
            heights = next;
        }
    }
}

/// Inner products of the rows of two matrices.
fn inner<'a>(a: &'a [f64], b: &'a [f64], s: usize) -> impl Iterator<Item = f64> + 'a {
    a.chunks_exact(s).zip(b.chunks_exact(s)).map(|(a, b)| a.iter().zip(b).map(|(a, b)| a * b).sum())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::lfm::statistics::Gathering;
    use crate::synthetic::{PlantedFeatures, with_holes};

    #[test]
    fn a_descent_ends_where_sums_of_their_own_lead() {
        let (n, d, k) = (300, 12, 5);
        let mut cells = with_holes(&PlantedFeatures::gaussian(d, k, 3).rows(0, n), 0.3, 4);
        // A column that is complete, one that is missing altogether, and one that is missing in the first half.
        for (i, row) in cells.chunks_exact_mut(d).enumerate() {
            row[2] = i as f64 / n as f64;
            row[5] = f64::NAN;
            row[7] = if i < n / 2 { f64::NAN } else { row[2] - 1.0 };
        }
        let weights: Vec<f64> = (0..n).map(|i| 0.5 + (i % 3) as f64).collect();
        let rows = Rows::new(&cells, d, Some(&weights));
        let mut rng = num::stream(5, 0, 0);
        let mu: Vec<f64> = (0..k * n).map(|_| rng.uniform()).collect();
        let (mut own, mut common) = (Statistics::default(), Statistics::default());
        own.gather(&rows, &mu, k, &mut Gathering::default());
        common.gather_common(&rows, &mu, k, &mut Gathering::default());
        let (mut exact, mut descended) = (Parameters::default(), Parameters::default());
        let (mut exact_work, mut work) = (Maximising::default(), Maximising::default());
        exact.maximise(&own, &mut exact_work);
        for _ in 0..3 {
            Descent::default().maximise(&rows, &mu, &common, &mut descended, &mut work);
        }
        let is_near = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-3 * (1.0 + b.abs()));
        assert!(is_near(&descended.weights, &exact.weights), "{:?}\n{:?}", descended.weights, exact.weights);
        assert!(is_near(&descended.offset, &exact.offset));
        assert!(is_near(&work.misfit, &exact_work.misfit), "{:?}\n{:?}", work.misfit, exact_work.misfit);
        assert!(is_near(&descended.precision, &exact.precision));
    }
}
