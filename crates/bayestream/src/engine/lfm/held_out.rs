//! Cells that a fit does not see, to judge births by.

use super::field::Field;
use super::parameters::Parameters;
use super::rows::Rows;
use crate::num::{self, Rng};

/// Cells held out of rows.
#[derive(Clone, Debug)]
pub struct HeldOut {
    /// Row, column and framed value.
    cells: Vec<(u32, u32, f64)>,
}

impl HeldOut {
    /// Takes a share of the cells out of framed rows at random, which are then missing there.
    pub fn take(framed: &mut [f64], d: usize, share: f64, rng: &mut Rng) -> HeldOut {
        let mut cells = Vec::new();
        for (i, cell) in framed.iter_mut().enumerate() {
            if rng.uniform() < share && !cell.is_nan() {
                cells.push(((i / d) as u32, (i % d) as u32, *cell));
                *cell = f64::NAN;
            }
        }
        HeldOut { cells }
    }

    /// No cell is held out.
    pub fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// Σ of the held-out cells' log-densities, each row's μ known by its other cells: by the features, the doubt about them, and
    /// the noise.
    pub fn log_likelihood(&self, rows: &Rows, p: &Parameters, field: &Field) -> f64 {
        let (mu, n) = (&field.mu, field.n);
        let mut sum = 0.0;
        for &(i, j, x) in &self.cells {
            let (i, j) = (i as usize, j as usize);
            let (mut fitted, mut doubt) = (p.offset[j], 0.0);
            for f in 0..p.k {
                let (w, m) = (p.weights[f * p.d + j], mu[f * n + i]);
                fitted += w * m;
                doubt += w * w * m * (1.0 - m);
            }
            let variance = doubt + 1.0 / p.precision[j];
            sum -= 0.5 * rows.weights[i] * (variance.ln() + num::LN_2PI + (x - fitted).powi(2) / variance);
        }
        sum
    }
}
