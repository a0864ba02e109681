//! A symmetric matrix as a tridiagonal one with the same eigenvalues: what determinants of shifted matrices need.

use nalgebra::DMatrix;
use nalgebra::linalg::SymmetricTridiagonal;

/// The diagonal and the off-diagonal of a tridiagonal matrix similar to a symmetric one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tridiagonal {
    diagonal: Vec<f64>,
    off_diagonal: Vec<f64>,
}

impl Tridiagonal {
    /// Of the matrix whose lower triangle is that of `a`, d by d.
    pub fn of(a: &[f64], d: usize) -> Tridiagonal {
        assert_eq!(a.len(), d * d, "the matrix must be d by d");
        if d < 2 {
            return Tridiagonal { diagonal: a.to_vec(), off_diagonal: Vec::new() };
        }
        let matrix = DMatrix::from_fn(d, d, |i, j| a[i.max(j) * d + i.min(j)]);
        let (diagonal, off_diagonal) = SymmetricTridiagonal::new(matrix).unpack_tridiagonal();
        Tridiagonal {
            diagonal: diagonal.iter().copied().collect(),
            off_diagonal: off_diagonal.iter().copied().collect(),
        }
    }

    /// ln |A + shift I| of a matrix A without negative eigenvalues, in one pass over the diagonal.
    ///
    /// ```
    /// let tridiagonal = bayestream::num::Tridiagonal::of(&[2.0, 0.0, 1.0, 2.0], 2);
    /// assert!((tridiagonal.ln_det_shifted(1.0) - 8f64.ln()).abs() < 1e-12);
    /// ```
    pub fn ln_det_shifted(&self, shift: f64) -> f64 {
        let (mut ln_det, mut product, mut pivot) = (0.0, 1.0, 1.0);
        for (i, diagonal) in self.diagonal.iter().enumerate() {
            let taken = if i == 0 { 0.0 } else { self.off_diagonal[i - 1] * self.off_diagonal[i - 1] / pivot };
            // No pivot is below the least eigenvalue: what is, is rounding.
            pivot = (diagonal + shift - taken).max(shift);
            product *= pivot;
            // One logarithm for many pivots.
            if !(1e-100..1e100).contains(&product) {
                ln_det += f64::ln(product);
                product = 1.0;
            }
        }
        ln_det + f64::ln(product)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::num;

    #[test]
    fn determinants_are_those_of_cholesky() {
        let mut rng = num::stream(1, 2, 3);
        for d in [1, 2, 3, 7, 40] {
            let factor: Vec<f64> = (0..d * d).map(|_| 30.0 * rng.normal()).collect();
            let mut a = vec![0.0; d * d];
            for i in 0..d {
                for j in 0..d {
                    a[i * d + j] = (0..d).map(|k| factor[i * d + k] * factor[j * d + k]).sum();
                }
            }
            let tridiagonal = Tridiagonal::of(&a, d);
            for shift in [1e-3, 1.0, 1e4] {
                let mut shifted = a.clone();
                (0..d).for_each(|j| shifted[j * d + j] += shift);
                let expected = num::cholesky(&mut shifted, d).expect("positive definite");
                let found = tridiagonal.ln_det_shifted(shift);
                assert!((found - expected).abs() < 1e-7 * (1.0 + expected.abs()), "{d} {shift}: {found} {expected}");
            }
        }
    }

    #[test]
    fn a_matrix_of_zeros_has_the_shift_alone() {
        let tridiagonal = Tridiagonal::of(&[0.0; 9], 3);
        assert!((tridiagonal.ln_det_shifted(1e-8) - 3.0 * 1e-8f64.ln()).abs() < 1e-9);
    }
}
