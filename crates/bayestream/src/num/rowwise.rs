//! One vector against many rows: their inner products, and their weighted sum. What is long is contiguous, so both
//! run at the speed of the memory that holds the rows.

use super::simd::{self, Arithmetic, Kernel};

/// Numbers added side by side.
const WIDE: usize = 8;

/// Writes the inner product of `x` and each row to `out`. Row j is the first `x.len()` numbers from `j * stride` on.
///
/// ```
/// let mut out = [0.0; 2];
/// bayestream::num::dots(&[1.0, 2.0], &[3.0, 4.0, 0.0, 5.0, 6.0, 0.0], 3, &mut out);
/// assert_eq!(out, [11.0, 17.0]);
/// ```
pub fn dots(x: &[f64], rows: &[f64], stride: usize, out: &mut [f64]) {
    simd::fastest(Dots { x, rows, stride, out });
}

/// Adds `Σ_j factors[j] · row j` to `y`. Row j is the first `y.len()` numbers from `j * stride` on.
pub fn add_rows(factors: &[f64], rows: &[f64], stride: usize, y: &mut [f64]) {
    simd::fastest(AddRows { factors, rows, stride, y });
}

#[allow(missing_docs)]
pub(crate) mod portable {
    use super::{AddRows, Dots, simd};

    pub fn dots(x: &[f64], rows: &[f64], stride: usize, out: &mut [f64]) {
        simd::portable(Dots { x, rows, stride, out });
    }

    pub fn add_rows(factors: &[f64], rows: &[f64], stride: usize, y: &mut [f64]) {
        simd::portable(AddRows { factors, rows, stride, y });
    }
}

struct Dots<'a> {
    x: &'a [f64],
    rows: &'a [f64],
    stride: usize,
    out: &'a mut [f64],
}

impl Kernel for Dots<'_> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic>(self) {
        let Self { x, rows, stride, out } = self;
        let n = x.len();
        let (fours, rest) = out.as_chunks_mut::<4>();
        let n_fours = fours.len();
        for (at, out) in fours.iter_mut().enumerate() {
            let row = |j: usize| &rows[(4 * at + j) * stride..][..n];
            *out = several::<A, 4>(x, [row(0), row(1), row(2), row(3)]);
        }
        for (at, out) in rest.iter_mut().enumerate() {
            *out = several::<A, 1>(x, [&rows[(4 * n_fours + at) * stride..][..n]])[0];
        }
    }
}

#[inline(always)]
fn several<A: Arithmetic, const M: usize>(x: &[f64], rows: [&[f64]; M]) -> [f64; M] {
    let (wide, rest) = x.as_chunks::<WIDE>();
    let mut sums = [[0.0; WIDE]; M];
    for (at, x) in wide.iter().enumerate() {
        for j in 0..M {
            let row = &rows[j][at * WIDE..][..WIDE];
            for l in 0..WIDE {
                sums[j][l] = A::mul_add(x[l], row[l], sums[j][l]);
            }
        }
    }
    let mut out = [0.0; M];
    for j in 0..M {
        let s = &sums[j];
        out[j] = ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
        for (l, x) in rest.iter().enumerate() {
            out[j] = A::mul_add(*x, rows[j][wide.len() * WIDE + l], out[j]);
        }
    }
    out
}

struct AddRows<'a> {
    factors: &'a [f64],
    rows: &'a [f64],
    stride: usize,
    y: &'a mut [f64],
}

impl Kernel for AddRows<'_> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic>(self) {
        let Self { factors, rows, stride, y } = self;
        let n = y.len();
        let (fours, rest) = factors.as_chunks::<4>();
        for (at, f) in fours.iter().enumerate() {
            let [a, b, c, e] = [0, 1, 2, 3].map(|j| &rows[(4 * at + j) * stride..][..n]);
            for (i, y) in y.iter_mut().enumerate() {
                let half = A::mul_add(f[0], a[i], f[1] * b[i]);
                let other = A::mul_add(f[2], c[i], f[3] * e[i]);
                *y += half + other;
            }
        }
        for (at, &f) in rest.iter().enumerate() {
            let row = &rows[(4 * fours.len() + at) * stride..][..n];
            for (y, x) in y.iter_mut().zip(row) {
                *y = A::mul_add(f, *x, *y);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_paths_agree_with_plain_sums_for_any_length() {
        let mut rng = crate::num::stream(31, 0, 0);
        for (n, m) in [(0, 3), (1, 1), (7, 5), (8, 4), (37, 9)] {
            let stride = n + 2;
            let rows: Vec<f64> = (0..m * stride).map(|_| rng.normal()).collect();
            let x: Vec<f64> = (0..n).map(|_| rng.normal()).collect();
            let factors: Vec<f64> = (0..m).map(|_| rng.normal()).collect();
            let (mut fast, mut plain) = (vec![f64::NAN; m], vec![f64::NAN; m]);
            dots(&x, &rows, stride, &mut fast);
            portable::dots(&x, &rows, stride, &mut plain);
            let (mut fast_sum, mut plain_sum) = (vec![1.0; n], vec![1.0; n]);
            add_rows(&factors, &rows, stride, &mut fast_sum);
            portable::add_rows(&factors, &rows, stride, &mut plain_sum);
            // Sums of at most 37 products of normals: each rounds by less than 1e-15.
            for j in 0..m {
                let truth: f64 = (0..n).map(|i| x[i] * rows[j * stride + i]).sum();
                assert!((fast[j] - truth).abs() < 1e-13 && (plain[j] - truth).abs() < 1e-13);
            }
            for i in 0..n {
                let truth: f64 = 1.0 + (0..m).map(|j| factors[j] * rows[j * stride + i]).sum::<f64>();
                assert!((fast_sum[i] - truth).abs() < 1e-13 && (plain_sum[i] - truth).abs() < 1e-13);
            }
        }
    }
}
