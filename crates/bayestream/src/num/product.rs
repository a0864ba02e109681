//! Products of matrices.
//!
//! The library that multiplies takes pointers. Its call is the only `unsafe` here: it is given the sizes of slices that were
//! checked when a [`Grid`] was made of them.
#![allow(unsafe_code)]

/// A matrix as it lies in memory, row by row, or the transpose of one.
#[derive(Clone, Copy, Debug)]
pub struct Grid<'a> {
    values: &'a [f64],
    rows: usize,
    columns: usize,
    /// Steps to the next row and to the next column.
    steps: (usize, usize),
}

impl<'a> Grid<'a> {
    /// A matrix row by row.
    pub fn new(values: &'a [f64], rows: usize, columns: usize) -> Grid<'a> {
        let size = rows.checked_mul(columns).expect("the size of a matrix that is in memory");
        assert!(values.len() >= size, "a matrix needs all its numbers");
        Grid { values, rows, columns, steps: (columns, 1) }
    }

    /// Its transpose.
    pub fn transposed(self) -> Grid<'a> {
        Grid { rows: self.columns, columns: self.rows, steps: (self.steps.1, self.steps.0), ..self }
    }

    /// The same for the library; no slice has more numbers than `isize` can count.
    fn strides(&self) -> (isize, isize) {
        (self.steps.0 as isize, self.steps.1 as isize)
    }
}

/// `scale · a · b + keep · out`, row by row in `out`.
///
/// ```
/// use bayestream::num::{Grid, multiply};
/// let mut out = [0.0; 4];
/// let a = Grid::new(&[1.0, 2.0, 3.0, 4.0], 2, 2);
/// multiply(a, a.transposed(), 1.0, 0.0, &mut out);
/// assert_eq!(out, [5.0, 11.0, 11.0, 25.0]);
/// ```
pub fn multiply(a: Grid<'_>, b: Grid<'_>, scale: f64, keep: f64, out: &mut [f64]) {
    assert_eq!(a.columns, b.rows, "the inner sizes of a product must agree");
    let (m, k, n) = (a.rows, a.columns, b.columns);
    let size = m.checked_mul(n).expect("the size of a matrix that is in memory");
    assert!(out.len() >= size, "a product needs room");
    if size == 0 {
        return;
    }
    let ((a_row, a_column), (b_row, b_column)) = (a.strides(), b.strides());
    let (a, b, out) = (a.values.as_ptr(), b.values.as_ptr(), out.as_mut_ptr());
    // SAFETY: a has m × k and b has k × n numbers at these strides, as `Grid::new` asserted, and out has m × n, as was
    // asserted above; out is borrowed alone, so that it overlaps neither.
    unsafe { matrixmultiply::dgemm(m, k, n, scale, a, a_row, a_column, b, b_row, b_column, keep, out, n as isize, 1) };
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::num;

    fn draws(n: usize, seed: u64) -> Vec<f64> {
        let mut rng = num::stream(seed, 0, 0);
        (0..n).map(|_| rng.normal()).collect()
    }

    #[test]
    fn products_are_sums_of_products_for_any_size() {
        for (m, k, n) in [(1, 1, 1), (3, 0, 2), (7, 5, 3), (20, 33, 17)] {
            let (a, b) = (draws(m * k, 1), draws(k * n, 2));
            let (ta, tb) = (transpose(&a, m, k), transpose(&b, k, n));
            let pairs = [
                (Grid::new(&a, m, k), Grid::new(&b, k, n)),
                (Grid::new(&ta, k, m).transposed(), Grid::new(&b, k, n)),
                (Grid::new(&a, m, k), Grid::new(&tb, n, k).transposed()),
            ];
            for (left, right) in pairs {
                let mut out = vec![3.0; m * n];
                multiply(left, right, -2.0, 0.5, &mut out);
                for i in 0..m {
                    for j in 0..n {
                        let sum: f64 = (0..k).map(|l| a[i * k + l] * b[l * n + j]).sum();
                        assert!((out[i * n + j] - (1.5 - 2.0 * sum)).abs() < 1e-12);
                    }
                }
            }
        }
    }

    fn transpose(a: &[f64], rows: usize, columns: usize) -> Vec<f64> {
        (0..rows * columns).map(|at| a[at % rows * columns + at / rows]).collect()
    }
}
