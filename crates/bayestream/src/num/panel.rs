//! Residuals that have holes, and a few features at a time.

use super::simd::{self, Arithmetic, Kernel};

/// Features whose moves are carried, and whose drives are summed, in one pass over the residuals.
pub const PANEL: usize = 4;

/// Rows that a pass takes at once, so that what it sums stays in the nearest cache.
const ROWS_AT_ONCE: usize = 512;

/// One pass over residuals that have holes, column by column.
#[derive(Debug)]
pub struct PanelPass<'a> {
    /// Residuals and marks of the cells that are there, a column every `stride` numbers; the first of them are looked at.
    pub residuals: &'a mut [f64],
    /// 1 where a cell is there, 0 where it is missing.
    pub mask: &'a [f64],
    /// From one column to the next.
    pub stride: usize,
    /// How far each feature of the panel before this one moved, [`PANEL`] rows.
    pub moved: &'a [f64],
    /// What each of those adds to a column, by column. Empty: none moved.
    pub adds: &'a [[f64; PANEL]],
    /// What a column counts for each feature of this panel, by column. Empty: no drives are wanted.
    pub counts: &'a [[f64; PANEL]],
    /// Σ over columns of count times residual, [`PANEL`] rows.
    pub drives: &'a mut [f64],
    /// Rows.
    pub n: usize,
}

/// Takes what features moved out of the residuals, and sums the drives of the next ones.
pub fn pass_over_residuals(pass: PanelPass<'_>) {
    simd::fastest(pass);
}

impl Kernel for PanelPass<'_> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic>(self) {
        let (carries, drives) = (!self.adds.is_empty(), !self.counts.is_empty());
        let n_columns = self.adds.len().max(self.counts.len());
        let mut sums = [[0.0; ROWS_AT_ONCE]; PANEL];
        for first in (0..self.n).step_by(ROWS_AT_ONCE) {
            let rows = ROWS_AT_ONCE.min(self.n - first);
            let of_feature = |f: usize| if carries { &self.moved[f * self.n + first..][..rows] } else { &[] };
            let moved: [&[f64]; PANEL] = std::array::from_fn(of_feature);
            sums.iter_mut().for_each(|sums| sums[..rows].fill(0.0));
            for column in 0..n_columns {
                let from = column * self.stride + first;
                let residual = &mut self.residuals[from..][..rows];
                if carries {
                    carry::<A>(residual, &self.mask[from..][..rows], moved, &self.adds[column]);
                }
                if drives {
                    drive::<A>(residual, &self.counts[column], &mut sums);
                }
            }
            if drives {
                for (f, sums) in sums.iter().enumerate() {
                    self.drives[f * self.n + first..][..rows].copy_from_slice(&sums[..rows]);
                }
            }
        }
    }
}

#[inline(always)]
fn carry<A: Arithmetic>(residual: &mut [f64], mask: &[f64], moved: [&[f64]; PANEL], adds: &[f64; PANEL]) {
    let n = residual.len();
    let [a, b, c, e] = moved.map(|m| &m[..n]);
    let mask = &mask[..n];
    for i in 0..n {
        let half = A::mul_add(adds[0], a[i], adds[1] * b[i]);
        let other = A::mul_add(adds[2], c[i], adds[3] * e[i]);
        residual[i] = A::mul_add(-(half + other), mask[i], residual[i]);
    }
}

#[inline(always)]
fn drive<A: Arithmetic>(residual: &[f64], counts: &[f64; PANEL], sums: &mut [[f64; ROWS_AT_ONCE]; PANEL]) {
    let n = residual.len();
    let [a, b, c, e] = sums;
    let (a, b, c, e) = (&mut a[..n], &mut b[..n], &mut c[..n], &mut e[..n]);
    for i in 0..n {
        a[i] = A::mul_add(counts[0], residual[i], a[i]);
        b[i] = A::mul_add(counts[1], residual[i], b[i]);
        c[i] = A::mul_add(counts[2], residual[i], c[i]);
        e[i] = A::mul_add(counts[3], residual[i], e[i]);
    }
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
    fn a_pass_carries_what_moved_and_then_sums_drives() {
        for (n, columns, portable) in [(1, 3, false), (700, 5, false), (700, 5, true)] {
            let stride = n + 3;
            let before = draws(columns * stride, 4);
            let mask: Vec<f64> = draws(columns * stride, 5).iter().map(|v| f64::from(u8::from(*v > 0.0))).collect();
            let moved = draws(PANEL * n, 6);
            let (adds, counts) = (draws(columns * PANEL, 7), draws(columns * PANEL, 8));
            let (mut residuals, mut drives) = (before.clone(), vec![9.0; PANEL * n]);
            let pass = PanelPass {
                residuals: &mut residuals,
                mask: &mask,
                stride,
                moved: &moved,
                adds: adds.as_chunks().0,
                counts: counts.as_chunks().0,
                drives: &mut drives,
                n,
            };
            if portable {
                simd::portable(pass)
            } else {
                pass_over_residuals(pass)
            }
            for i in 0..n {
                let mut sums = [0.0; PANEL];
                for column in 0..columns {
                    let shift: f64 = (0..PANEL).map(|f| adds[column * PANEL + f] * moved[f * n + i]).sum();
                    let at = column * stride + i;
                    let expected = before[at] - mask[at] * shift;
                    assert!((residuals[at] - expected).abs() < 1e-12);
                    (0..PANEL).for_each(|f| sums[f] += counts[column * PANEL + f] * expected);
                }
                (0..PANEL).for_each(|f| assert!((drives[f * n + i] - sums[f]).abs() < 1e-11));
            }
        }
    }
}
