//! Cholesky factors: A = LLᵀ with L lower triangular, row-major.

use super::simd::{self, Arithmetic, Kernel};

/// The matrix is not positive definite: the pivot of this row was zero, negative or not a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotPositive {
    /// Row (and column) where the factorisation stopped, from 0.
    pub pivot: usize,
}

impl std::fmt::Display for NotPositive {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "the matrix is not positive definite (pivot {}): add to its diagonal or drop dependent columns",
            self.pivot + 1
        )
    }
}

impl std::error::Error for NotPositive {}

/// Replaces the lower triangle of `a` by its Cholesky factor and returns the log determinant of `a`.
///
/// On an error the columns before the pivot hold the factor so far, and the rest is as it was given.
///
/// ```
/// let mut a = [4.0, 0.0, 2.0, 10.0];
/// let log_det = bayestream::num::cholesky(&mut a, 2).unwrap();
/// assert_eq!(a, [2.0, 0.0, 1.0, 3.0]);
/// assert!((log_det - 36f64.ln()).abs() < 1e-15);
/// ```
pub fn cholesky(a: &mut [f64], d: usize) -> Result<f64, NotPositive> {
    simd::fastest(Factor { a, d })
}

/// Writes the inverse of the lower-triangular `l` to `out`, zeros above the diagonal included.
pub fn invert_lower(l: &[f64], d: usize, out: &mut [f64]) {
    simd::fastest(InvertLower { l, d, out });
}

#[allow(missing_docs)]
pub(crate) mod portable {
    use super::{Factor, InvertLower, NotPositive, simd};

    pub fn cholesky(a: &mut [f64], d: usize) -> Result<f64, NotPositive> {
        simd::portable(Factor { a, d })
    }

    pub fn invert_lower(l: &[f64], d: usize, out: &mut [f64]) {
        simd::portable(InvertLower { l, d, out });
    }
}

struct Factor<'a> {
    a: &'a mut [f64],
    d: usize,
}

impl Kernel for Factor<'_> {
    type Output = Result<f64, NotPositive>;

    #[inline(always)]
    fn run<A: Arithmetic>(self) -> Self::Output {
        let Self { a, d } = self;
        assert_eq!(a.len(), d * d, "the matrix must be d by d");
        let mut log_determinant = 0.0;
        let mut product = 1.0f64;
        // Column by column, so that the rows below the diagonal do not wait for one another.
        for j in 0..d {
            let (above, below) = a.split_at_mut((j + 1) * d);
            let row = &mut above[j * d..=j * d + j];
            let pivot = row[j] - dot::<A>(&row[..j], &row[..j]);
            if !(pivot > 0.0 && pivot.is_finite()) {
                return Err(NotPositive { pivot: j });
            }
            row[j] = pivot.sqrt();
            // One logarithm for many pivots, taken before the product can leave the range of numbers.
            product *= row[j];
            if !(1e-100..=1e100).contains(&product) {
                log_determinant += product.ln();
                product = 1.0;
            }
            let scale = 1.0 / row[j];
            for other in below.chunks_exact_mut(d) {
                other[j] = (other[j] - dot::<A>(&other[..j], &row[..j])) * scale;
            }
        }
        Ok(2.0 * (log_determinant + product.ln()))
    }
}

#[inline(always)]
fn dot<A: Arithmetic>(x: &[f64], y: &[f64]) -> f64 {
    let (x_chunks, x_rest) = x.as_chunks::<8>();
    let (y_chunks, y_rest) = y.as_chunks::<8>();
    let mut sums = [0.0; 8];
    for (x, y) in x_chunks.iter().zip(y_chunks) {
        for l in 0..8 {
            sums[l] = A::mul_add(x[l], y[l], sums[l]);
        }
    }
    let mut rest = 0.0;
    for (&x, &y) in x_rest.iter().zip(y_rest) {
        rest = A::mul_add(x, y, rest);
    }
    let four = [sums[0] + sums[4], sums[1] + sums[5], sums[2] + sums[6], sums[3] + sums[7]];
    ((four[0] + four[2]) + (four[1] + four[3])) + rest
}

struct InvertLower<'a> {
    l: &'a [f64],
    d: usize,
    out: &'a mut [f64],
}

impl Kernel for InvertLower<'_> {
    type Output = ();

    /// Row i of the inverse is (e_i − Σ_{k<i} L[i][k]·row k) / L[i][i]: whole rows are added.
    #[inline(always)]
    fn run<A: Arithmetic>(self) {
        let Self { l, d, out } = self;
        assert_eq!(l.len(), d * d, "the factor must be d by d");
        assert_eq!(out.len(), d * d, "the inverse must be d by d");
        out.fill(0.0);
        for i in 0..d {
            let (above, row) = out.split_at_mut(i * d);
            let row = &mut row[..=i];
            row[i] = 1.0;
            let factors = &l[i * d..i * d + i];
            // Four rows at once, to touch the sum once for the four; what lies beyond their
            // diagonals is zero.
            let (fours, rest) = factors.as_chunks::<4>();
            for (four_ix, four) in fours.iter().enumerate() {
                let first = four_ix * 4;
                let n = first + 4;
                let [a, b, c, e] = [0, 1, 2, 3].map(|k| &above[(first + k) * d..][..n]);
                for (j, x) in row[..n].iter_mut().enumerate() {
                    let half = A::mul_add(four[0], a[j], four[1] * b[j]);
                    let other = A::mul_add(four[2], c[j], four[3] * e[j]);
                    *x -= half + other;
                }
            }
            for (k, &factor) in (i - rest.len()..i).zip(rest) {
                for (x, &y) in row[..=k].iter_mut().zip(&above[k * d..]) {
                    *x = A::mul_add(-factor, y, *x);
                }
            }
            let scale = 1.0 / l[i * d + i];
            for x in row {
                *x *= scale;
            }
        }
    }
}

/// Turns the factor of A into that of A + xxᵀ; `x` is used as scratch.
pub fn rank_one_update(l: &mut [f64], d: usize, x: &mut [f64]) {
    assert_eq!(l.len(), d * d, "the factor must be d by d");
    assert_eq!(x.len(), d, "the vector must have d entries");
    for k in 0..d {
        let diagonal = l[k * d + k];
        let length = (diagonal * diagonal + x[k] * x[k]).sqrt();
        let (cosine, sine, inverse) = (length / diagonal, x[k] / diagonal, diagonal / length);
        l[k * d + k] = length;
        for i in k + 1..d {
            let updated = (l[i * d + k] + sine * x[i]) * inverse;
            x[i] = cosine * x[i] - sine * updated;
            l[i * d + k] = updated;
        }
    }
}

/// Replaces `b` by L⁻¹b.
pub fn solve_lower(l: &[f64], d: usize, b: &mut [f64]) {
    assert_eq!(l.len(), d * d, "the factor must be d by d");
    assert_eq!(b.len(), d, "the vector must have d entries");
    simd::fastest(SolveLower { l, d, b });
}

struct SolveLower<'a> {
    l: &'a [f64],
    d: usize,
    b: &'a mut [f64],
}

impl Kernel for SolveLower<'_> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic>(self) {
        let Self { l, d, b } = self;
        for i in 0..d {
            let (done, rest) = b.split_at_mut(i);
            let row = &l[i * d..=i * d + i];
            rest[0] = (rest[0] - dot::<A>(&row[..i], done)) / row[i];
        }
    }
}

/// Replaces `b` by L⁻ᵀb.
pub fn solve_lower_transposed(l: &[f64], d: usize, b: &mut [f64]) {
    assert_eq!(l.len(), d * d, "the factor must be d by d");
    assert_eq!(b.len(), d, "the vector must have d entries");
    for i in (0..d).rev() {
        let (before, rest) = b.split_at_mut(i);
        let row = &l[i * d..=i * d + i];
        rest[0] /= row[i];
        for (b, &l) in before.iter_mut().zip(row) {
            *b -= l * rest[0];
        }
    }
}
