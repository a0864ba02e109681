//! Sums of exponentials in log space, and the responsibilities they normalise.

use super::explog::{exp, ln};
use super::lanes::LANES;
use super::simd::{self, Arithmetic, Kernel};

/// ln Σ exp x; −∞ for an empty slice or one of −∞ only.
pub fn log_sum_exp(x: &[f64]) -> f64 {
    simd::fastest(LogSumExp(x))
}

/// A good stride for [`normalise_columns`]: the next multiple of 16, and 16 more where that is a multiple
/// of 512, because all components would then fall on the same places of the cache (two times slower).
pub fn column_stride(n_rows: usize) -> usize {
    let stride = n_rows.next_multiple_of(LANES);
    if stride > 0 && stride.is_multiple_of(512) { stride + LANES } else { stride }
}

/// Turns log joint densities into responsibilities, column by column, and gives the log total of each row.
///
/// Component k's value for row i is `log_joint[k * stride + i]`, with `stride` a multiple of 16 and at
/// least `n_rows`; values between `n_rows` and the next multiple of 16 are neither used nor kept.
/// [`column_stride`] gives a good one.
///
/// A row of −∞ only gets 1/K each and the log total −∞; a NaN makes its row NaN.
pub fn normalise_columns(
    log_joint: &mut [f64],
    n_components: usize,
    stride: usize,
    n_rows: usize,
    log_total: &mut [f64],
) {
    simd::fastest(NormaliseColumns::new(log_joint, n_components, stride, n_rows, log_total));
}

#[allow(missing_docs)]
pub(crate) mod portable {
    use super::{LogSumExp, NormaliseColumns, simd};

    pub fn log_sum_exp(x: &[f64]) -> f64 {
        simd::portable(LogSumExp(x))
    }

    pub fn normalise_columns(
        log_joint: &mut [f64],
        n_components: usize,
        stride: usize,
        n_rows: usize,
        log_total: &mut [f64],
    ) {
        simd::portable(NormaliseColumns::new(log_joint, n_components, stride, n_rows, log_total));
    }
}

struct LogSumExp<'a>(&'a [f64]);

impl Kernel for LogSumExp<'_> {
    type Output = f64;

    #[inline(always)]
    fn run<A: Arithmetic>(self) -> f64 {
        let (chunks, rest) = self.0.as_chunks::<8>();
        let larger = |a: f64, b: f64| if a > b { a } else { b };
        let mut tops = [f64::NEG_INFINITY; 8];
        for chunk in chunks {
            for l in 0..8 {
                tops[l] = larger(chunk[l], tops[l]);
            }
        }
        let top = tops.iter().chain(rest).fold(f64::NEG_INFINITY, |top, &x| larger(x, top));
        if top == f64::INFINITY {
            return if self.0.iter().any(|x| x.is_nan()) { f64::NAN } else { top };
        }
        let shift = if top == f64::NEG_INFINITY { 0.0 } else { top };
        let mut sums = [0.0; 8];
        for chunk in chunks {
            for l in 0..8 {
                sums[l] += exp::<A>(chunk[l] - shift);
            }
        }
        for l in 0..rest.len() {
            sums[l] += exp::<A>(rest[l] - shift);
        }
        shift + sums.iter().sum::<f64>().ln()
    }
}

struct NormaliseColumns<'a> {
    log_joint: &'a mut [f64],
    n_components: usize,
    stride: usize,
    n_rows: usize,
    log_total: &'a mut [f64],
}

impl<'a> NormaliseColumns<'a> {
    fn new(
        log_joint: &'a mut [f64],
        n_components: usize,
        stride: usize,
        n_rows: usize,
        log_total: &'a mut [f64],
    ) -> Self {
        assert_eq!(stride % LANES, 0, "the stride must be a multiple of 16");
        assert!(stride >= n_rows, "the stride must hold all rows");
        let log_joint = &mut log_joint[..n_components * stride];
        let log_total = &mut log_total[..n_rows];
        Self { log_joint, n_components, stride, n_rows, log_total }
    }
}

impl Kernel for NormaliseColumns<'_> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic>(self) {
        if self.n_components == 0 {
            self.log_total.fill(f64::NEG_INFINITY);
            return;
        }
        let blocks_per_component = self.stride / LANES;
        let (joint, _) = self.log_joint.as_chunks_mut::<LANES>();
        for block_ix in 0..self.n_rows.div_ceil(LANES) {
            let mut top = [f64::NEG_INFINITY; LANES];
            for block in joint[block_ix..].iter().step_by(blocks_per_component) {
                for l in 0..LANES {
                    top[l] = if block[l] > top[l] { block[l] } else { top[l] };
                }
            }
            let mut shift = [0.0; LANES];
            for l in 0..LANES {
                shift[l] = if top[l] == f64::NEG_INFINITY { 0.0 } else { top[l] };
            }
            let mut total = [0.0; LANES];
            for block in joint[block_ix..].iter_mut().step_by(blocks_per_component) {
                for l in 0..LANES {
                    block[l] = exp::<A>(block[l] - shift[l]);
                    total[l] += block[l];
                }
            }
            // A total of zero means that no component is possible: then all are equally so.
            let share = 1.0 / self.n_components as f64;
            let (mut scale, mut floor) = ([0.0; LANES], [0.0; LANES]);
            for l in 0..LANES {
                scale[l] = if total[l] == 0.0 { 0.0 } else { 1.0 / total[l] };
                floor[l] = if total[l] == 0.0 { share } else { 0.0 };
            }
            for block in joint[block_ix..].iter_mut().step_by(blocks_per_component) {
                for l in 0..LANES {
                    block[l] = A::mul_add(block[l], scale[l], floor[l]);
                }
            }
            for l in 0..LANES {
                total[l] = shift[l] + ln::<A>(total[l]);
            }
            let out = &mut self.log_total[block_ix * LANES..];
            let n = out.len().min(LANES);
            out[..n].copy_from_slice(&total[..n]);
        }
    }
}
