//! Cells that a fit does not see, to judge births by.

use super::fit::Fit;
use super::rows::Rows;
use crate::num::{self, Rng};

/// Cells held out of rows.
#[derive(Clone, Debug)]
pub struct HeldOut {
    /// Row, column and framed value.
    cells: Vec<(u32, u32, f64)>,
}

/// How far off cells were foretold, column by column.
#[derive(Clone, Debug)]
pub struct Foretold {
    /// Σ of squared errors.
    misfit: Vec<f64>,
    /// Σ of the variance by which features were in doubt.
    doubt: Vec<f64>,
    mass: Vec<f64>,
    /// Σ of log-densities by the features, the doubt about them, and the noise.
    pub log_likelihood: f64,
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

    /// How far off the held-out cells are foretold, each row's μ known by its other cells.
    pub fn foretell(&self, rows: &Rows, fit: &Fit) -> Foretold {
        let (p, mu, n) = (&fit.parameters, &fit.field.mu, fit.field.n);
        let mut told = Foretold::nothing(p.d);
        for &(i, j, x) in &self.cells {
            let (i, j) = (i as usize, j as usize);
            let (mut fitted, mut doubt) = (p.offset[j], 0.0);
            for f in 0..p.k {
                let (w, m) = (p.weights[f * p.d + j], mu[f * n + i]);
                fitted += w * m;
                doubt += w * w * m * (1.0 - m);
            }
            let (weight, off) = (rows.weights[i], (x - fitted).powi(2));
            told.misfit[j] += weight * off;
            told.doubt[j] += weight * doubt;
            told.mass[j] += weight;
            let variance = doubt + 1.0 / p.precision[j];
            told.log_likelihood -= 0.5 * weight * (variance.ln() + num::LN_2PI + off / variance);
        }
        told
    }
}

impl Foretold {
    /// Of no cells.
    pub fn nothing(d: usize) -> Foretold {
        Foretold { misfit: vec![0.0; d], doubt: vec![0.0; d], mass: vec![0.0; d], log_likelihood: 0.0 }
    }

    /// Takes in other cells.
    pub fn add(&mut self, other: &Foretold) {
        let add = |to: &mut Vec<f64>, from: &[f64]| to.iter_mut().zip(from).for_each(|(to, from)| *to += from);
        add(&mut self.misfit, &other.misfit);
        add(&mut self.doubt, &other.doubt);
        add(&mut self.mass, &other.mass);
        self.log_likelihood += other.log_likelihood;
    }

    /// How many times as far off as this noise cells were, beyond the doubt about features.
    pub fn excess(&self, noise: &[f64]) -> f64 {
        let left = |j: usize| (self.misfit[j] - self.doubt[j]) / noise[j];
        let mass: f64 = self.mass.iter().sum();
        if mass > 0.0 { (0..noise.len()).map(left).sum::<f64>() / mass } else { 1.0 }
    }
}
