//! Cells that a fit does not see, to judge births by.

use super::fit::Fit;
use super::rows::Rows;
use crate::num::{self, Rng};

/// Share of the cells held out.
const SHARE: f64 = 0.1;

/// Cells held out of rows.
#[derive(Clone, Debug)]
pub struct HeldOut {
    /// Row, column and framed value.
    cells: Vec<(u32, u32, f64)>,
}

impl HeldOut {
    /// Takes cells out of framed rows at random, which are then missing there.
    pub fn take(framed: &mut [f64], d: usize, rng: &mut Rng) -> HeldOut {
        let mut cells = Vec::new();
        for (i, cell) in framed.iter_mut().enumerate() {
            if rng.uniform() < SHARE && !cell.is_nan() {
                cells.push(((i / d) as u32, (i % d) as u32, *cell));
                *cell = f64::NAN;
            }
        }
        HeldOut { cells }
    }

    /// Σ log N(x; b + Wμ, 1/λ) over the held-out cells, each row's μ known by its other cells.
    pub fn log_likelihood(&self, rows: &Rows, fit: &Fit) -> f64 {
        let (p, mu, n) = (&fit.parameters, &fit.field.mu, fit.field.n);
        let score = |&(i, j, x): &(u32, u32, f64)| {
            let (i, j) = (i as usize, j as usize);
            let fitted = (0..p.k).fold(p.offset[j], |sum, f| sum + p.weights[f * p.d + j] * mu[f * n + i]);
            0.5 * rows.weights[i] * (p.precision[j].ln() - num::LN_2PI - p.precision[j] * (x - fitted).powi(2))
        };
        self.cells.iter().map(score).sum()
    }
}
