//! Squared Mahalanobis distances of a batch from one Gaussian.

use super::lanes::{HALF, LANES, Lanes, Line};
use super::simd::{self, Arithmetic, Kernel};

/// A Gaussian's mean μ and inverse Cholesky factor W (lower triangular, WᵀW = Σ⁻¹), packed for
/// [`mahalanobis`].
///
/// ```
/// use bayestream::num::{Lanes, Whitener, mahalanobis};
/// let mut lanes = Lanes::new();
/// lanes.load(&[3.0, 5.0], 2);
/// let mut whitener = Whitener::default();
/// whitener.set(&[1.0, 1.0], &[0.5, 0.0, 0.0, 0.25]);
/// let mut out = [0.0; 8];
/// mahalanobis(&lanes, &whitener, &mut out);
/// assert_eq!(out[0], 2.0);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Whitener {
    mean: Vec<f64>,
    /// Row 0 alone when d is odd, then pairs of rows (i, i+1), each as (W[i][j], W[i+1][j]) for j in
    /// 0..=i+1, with a zero above the diagonal.
    packed: Vec<[f64; 2]>,
}

impl Whitener {
    /// Takes over a mean and a row-major d×d inverse Cholesky factor, of which only the lower triangle is read.
    pub fn set(&mut self, mean: &[f64], inverse_cholesky: &[f64]) {
        let d = mean.len();
        assert_eq!(inverse_cholesky.len(), d * d, "the factor must be d by d");
        self.mean.clear();
        self.mean.extend_from_slice(mean);
        self.packed.clear();
        let mut first = 0;
        if d % 2 == 1 {
            self.packed.push([inverse_cholesky[0], 0.0]);
            first = 1;
        }
        for i in (first..d).step_by(2) {
            let upper = &inverse_cholesky[i * d..(i + 1) * d];
            let lower = &inverse_cholesky[(i + 1) * d..(i + 2) * d];
            for j in 0..=i {
                self.packed.push([upper[j], lower[j]]);
            }
            self.packed.push([0.0, lower[i + 1]]);
        }
    }

    /// Columns of the rows it measures.
    pub fn n_columns(&self) -> usize {
        self.mean.len()
    }
}

/// Squared Mahalanobis distance |W(x − μ)|² of every row, padded rows included.
///
/// `out` must hold [`Lanes::n_padded`] values.
pub fn mahalanobis(x: &Lanes, w: &Whitener, out: &mut [f64]) {
    simd::fastest(Distances::new(x, w, 0.0, 1.0, out));
}

/// `log_constant` − ½·[`mahalanobis`]: with log_constant = −½(d·ln 2π + ln|Σ|), the log density.
pub fn log_density(x: &Lanes, w: &Whitener, log_constant: f64, out: &mut [f64]) {
    simd::fastest(Distances::new(x, w, log_constant, -0.5, out));
}

#[allow(missing_docs)]
pub(crate) mod portable {
    use super::{Distances, Lanes, Whitener, simd};

    pub fn mahalanobis(x: &Lanes, w: &Whitener, out: &mut [f64]) {
        simd::portable(Distances::new(x, w, 0.0, 1.0, out));
    }

    pub fn log_density(x: &Lanes, w: &Whitener, log_constant: f64, out: &mut [f64]) {
        simd::portable(Distances::new(x, w, log_constant, -0.5, out));
    }
}

/// out = offset + slope · distance.
struct Distances<'a> {
    x: &'a Lanes,
    w: &'a Whitener,
    offset: f64,
    slope: f64,
    out: &'a mut [f64],
}

impl<'a> Distances<'a> {
    fn new(x: &'a Lanes, w: &'a Whitener, offset: f64, slope: f64, out: &'a mut [f64]) -> Self {
        assert_eq!(x.n_columns(), w.n_columns(), "rows and Gaussian must have the same columns");
        let out = &mut out[..x.n_padded()];
        Self { x, w, offset, slope, out }
    }
}

impl Kernel for Distances<'_> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic>(self) {
        let (blocks, tail) = self.x.blocks();
        let (out_blocks, out_tail) = self.out.as_chunks_mut::<LANES>();
        for (block, out) in blocks.zip(out_blocks) {
            let squares = block_distances::<A, 2, 1>(self.w, block);
            for half in 0..2 {
                for l in 0..HALF {
                    out[half * HALF + l] = A::mul_add(self.slope, squares[half].0[l], self.offset);
                }
            }
        }
        if !tail.is_empty() {
            let (tail, _) = tail.as_chunks::<1>();
            let squares = block_distances::<A, 1, 2>(self.w, tail);
            for (out, square) in out_tail.iter_mut().zip(squares[0].0) {
                *out = A::mul_add(self.slope, square, self.offset);
            }
        }
    }
}

/// Squared distances of H times eight rows, two rows of W at a time. Their sums run in PHASES parts over
/// the columns: eight registers of sums hide the latency of multiply-add, so the half block needs two.
#[inline(always)]
fn block_distances<A: Arithmetic, const H: usize, const PHASES: usize>(w: &Whitener, block: &[[Line; H]]) -> [Line; H] {
    let d = w.mean.len();
    let mut squares = [Line::default(); H];
    let mut packed = w.packed.as_slice();
    let mut n_columns = 2 - d % 2;
    while !packed.is_empty() {
        let (panel, rest) = packed.split_at(n_columns);
        packed = rest;
        let mut sums = [[[Line::default(); H]; 2]; PHASES];
        let (pairs, last_pair) = panel.as_chunks::<2>();
        let (columns, last_column) = block[..n_columns].as_chunks::<2>();
        let (means, last_mean) = w.mean[..n_columns].as_chunks::<2>();
        for ((pairs, columns), means) in pairs.iter().zip(columns).zip(means) {
            for (step, &column) in columns.iter().enumerate() {
                let sums = &mut sums[step % PHASES];
                add_column::<A, H>(sums, pairs[step], &column, means[step]);
            }
        }
        for ((pair, column), &mean) in last_pair.iter().zip(last_column).zip(last_mean) {
            add_column::<A, H>(&mut sums[0], *pair, column, mean);
        }
        for row in 0..2 {
            for h in 0..H {
                let mut sum = sums[0][row][h];
                for phase in &sums[1..] {
                    sum = sum.plus(phase[row][h]);
                }
                for l in 0..HALF {
                    squares[h].0[l] = A::mul_add(sum.0[l], sum.0[l], squares[h].0[l]);
                }
            }
        }
        n_columns += 2;
    }
    squares
}

#[inline(always)]
fn add_column<A: Arithmetic, const H: usize>(sums: &mut [[Line; H]; 2], pair: [f64; 2], column: &[Line; H], mean: f64) {
    for h in 0..H {
        for l in 0..HALF {
            let centred = column[h].0[l] - mean;
            sums[0][h].0[l] = A::mul_add(pair[0], centred, sums[0][h].0[l]);
            sums[1][h].0[l] = A::mul_add(pair[1], centred, sums[1][h].0[l]);
        }
    }
}
