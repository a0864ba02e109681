//! Weighted first and second moments of a batch about a given centre.

use super::lanes::{HALF, Lanes};
use super::simd::{self, Arithmetic, Kernel};

/// Adds Σ w(x − c) to `sum` and Σ w(x − c)(x − c)ᵀ to the lower triangle of `scatter` (row-major
/// d×d; the strict upper triangle is left alone). `weights` has one entry per row.
///
/// A centre near the data keeps the sums free of cancellation.
pub fn weighted_moments(x: &Lanes, weights: &[f64], center: &[f64], sum: &mut [f64], scatter: &mut [f64]) {
    simd::fastest(Moments::new(x, weights, center, sum, scatter));
}

#[allow(missing_docs)]
pub(crate) mod portable {
    use super::{Lanes, Moments, simd};

    pub fn weighted_moments(x: &Lanes, weights: &[f64], center: &[f64], sum: &mut [f64], scatter: &mut [f64]) {
        simd::portable(Moments::new(x, weights, center, sum, scatter));
    }
}

struct Moments<'a> {
    x: &'a Lanes,
    weights: &'a [f64],
    center: &'a [f64],
    sum: &'a mut [f64],
    scatter: &'a mut [f64],
}

impl<'a> Moments<'a> {
    fn new(x: &'a Lanes, weights: &'a [f64], center: &'a [f64], sum: &'a mut [f64], scatter: &'a mut [f64]) -> Self {
        let d = x.n_columns();
        assert_eq!(weights.len(), x.n_rows(), "one weight per row");
        assert_eq!(center.len(), d, "the centre has one entry per column");
        assert_eq!(sum.len(), d, "the sum has one entry per column");
        assert_eq!(scatter.len(), d * d, "the scatter matrix must be d by d");
        Self { x, weights, center, sum, scatter }
    }
}

impl Kernel for Moments<'_> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic>(self) {
        let d = self.x.n_columns();
        let (blocks, tail) = self.x.blocks();
        let mut add = |weights: &[f64], value: &dyn Fn(usize, usize) -> f64| {
            for (l, &weight) in weights.iter().enumerate() {
                for i in 0..d {
                    let weighted = weight * (value(i, l) - self.center[i]);
                    self.sum[i] += weighted;
                    for j in 0..=i {
                        self.scatter[i * d + j] += weighted * (value(j, l) - self.center[j]);
                    }
                }
            }
        };
        let mut weights = self.weights.chunks(2 * HALF);
        for block in blocks {
            add(weights.next().unwrap_or(&[]), &|j, l| block[j][l / HALF].0[l % HALF]);
        }
        add(weights.next().unwrap_or(&[]), &|j, l| tail[j].0[l]);
    }
}
