//! The machine's multiply-add rate, against which the benchmark holds the kernels.

use super::simd::{self, Arithmetic, Kernel};

/// Independent sums: enough vector registers to hide the instruction's latency, few enough to stay in them.
const N_SUMS: usize = 48;

/// Floating-point operations in one round of [`multiply_add_rounds`].
pub const FLOPS_PER_ROUND: usize = 2 * N_SUMS;

/// Runs `n_rounds` of multiply-adds that touch no memory; the result only keeps them from being optimised away.
pub fn multiply_add_rounds(n_rounds: usize, factor: f64) -> f64 {
    simd::fastest(Rounds { n_rounds, factor })
}

struct Rounds {
    n_rounds: usize,
    factor: f64,
}

impl Kernel for Rounds {
    type Output = f64;

    #[inline(always)]
    fn run<A: Arithmetic>(self) -> f64 {
        let mut sums = [1.0; N_SUMS];
        for (l, sum) in sums.iter_mut().enumerate() {
            *sum += l as f64;
        }
        for _ in 0..self.n_rounds {
            for sum in &mut sums {
                *sum = A::mul_add(*sum, self.factor, 1.0);
            }
        }
        sums.iter().sum()
    }
}
