//! A row before one Gaussian component, whose cells depend on each other.
//!
//! With the precision P of a component and y = P (x − μ), taking out the cells C adds half of
//! y_C' P_CC⁻¹ y_C − log |P_CC| + |C| log 2π to the log-density. Cells that are taken out are eliminated from P and y like
//! pivots of a Cholesky factor, of which only their own columns are made; missing cells are taken out first, in the same
//! way.

use super::Part;
use crate::family::Gauss;
use crate::num::{self, LN_2PI};

/// Least share of a precision that elimination leaves: less is rounding.
const LEAST_PIVOT: f64 = 1e-14;

/// A row before one component, some of its cells taken out.
pub(super) struct GaussPart<'a> {
    gauss: &'a Gauss,
    log_weight: f64,
    /// `x − μ`, zero where taken out.
    centred: Vec<f64>,
    /// `P (x − μ)`, before and after elimination.
    raw: Vec<f64>,
    pull: Vec<f64>,
    /// Precisions of the cells given the others that are kept.
    precision: Vec<f64>,
    /// The columns of the factor, each with the cell it takes out.
    pivots: Vec<(usize, Vec<f64>)>,
    /// Log-weight and log-density of the cells kept.
    log_joint: f64,
}

impl<'a> GaussPart<'a> {
    pub(super) fn new(log_weight: f64, gauss: &'a Gauss, near: &[f64], out: &[usize]) -> GaussPart<'a> {
        let d = near.len();
        let mut centred: Vec<f64> = near.iter().zip(gauss.mean()).map(|(x, m)| x - m).collect();
        out.iter().for_each(|&cell| centred[cell] = 0.0);
        let w = gauss.whiten();
        let precision = (0..d).map(|j| (j..d).map(|r| w[r * d + j] * w[r * d + j]).sum()).collect();
        let mut part = GaussPart {
            gauss,
            log_weight,
            centred,
            raw: vec![0.0; d],
            pull: vec![0.0; d],
            precision,
            pivots: Vec::new(),
            log_joint: 0.0,
        };
        out.iter().for_each(|&cell| part.eliminate(cell));
        part.refresh();
        part
    }

    /// An entry of the precision, before elimination.
    fn entry(&self, a: usize, b: usize) -> f64 {
        let (d, w) = (self.centred.len(), self.gauss.whiten());
        (a.max(b)..d).map(|r| w[r * d + a] * w[r * d + b]).sum()
    }

    fn eliminate(&mut self, cell: usize) {
        let (d, w) = (self.centred.len(), self.gauss.whiten());
        let mut column = vec![0.0; d];
        for r in cell..d {
            let row = &w[r * d..r * d + r + 1];
            column.iter_mut().zip(row).for_each(|(v, w)| *v += w * row[cell]);
        }
        for (_, earlier) in &self.pivots {
            let factor = earlier[cell];
            column.iter_mut().zip(earlier).for_each(|(v, u)| *v -= factor * u);
        }
        let root = self.precision[cell].sqrt();
        column.iter_mut().for_each(|v| *v /= root);
        column[cell] = root;
        // Rounding must not leave anything where earlier pivots have eliminated.
        self.pivots.iter().for_each(|(earlier, _)| column[*earlier] = 0.0);
        for (precision, u) in self.precision.iter_mut().zip(&column) {
            *precision = (*precision - u * u).max(*precision * LEAST_PIVOT);
        }
        self.precision[cell] = root * root;
        self.pivots.push((cell, column));
    }

    /// Makes the pulls anew: what was taken out leaves no rounding behind, however far out it was.
    fn refresh(&mut self) {
        let (d, w) = (self.centred.len(), self.gauss.whiten());
        self.raw.fill(0.0);
        for r in 0..d {
            let row = &w[r * d..r * d + r + 1];
            let z: f64 = row.iter().zip(&self.centred).map(|(w, x)| w * x).sum();
            self.raw.iter_mut().zip(row).for_each(|(y, w)| *y += w * z);
        }
        self.pull.clone_from(&self.raw);
        let mut log_norm = self.gauss.log_norm();
        for (cell, column) in &self.pivots {
            let factor = self.pull[*cell] / column[*cell];
            self.pull.iter_mut().zip(column).for_each(|(y, u)| *y -= factor * u);
            log_norm += 0.5 * LN_2PI - column[*cell].ln();
        }
        let distance: f64 = self.pull.iter().zip(&self.centred).map(|(y, x)| y * x).sum();
        self.log_joint = self.log_weight + log_norm - 0.5 * distance.max(0.0);
    }
}

impl Part for GaussPart<'_> {
    fn log_joint(&self) -> f64 {
        self.log_joint
    }

    fn take_out(&mut self, cell: usize) {
        self.centred[cell] = 0.0;
        self.eliminate(cell);
        self.refresh();
    }

    fn gain_of_one(&self, a: usize) -> f64 {
        0.5 * (self.pull[a] * self.pull[a] / self.precision[a] - self.precision[a].ln() + LN_2PI)
    }

    fn gain_of_two(&self, a: usize, b: usize) -> f64 {
        let eliminated: f64 = self.pivots.iter().map(|(_, u)| u[a] * u[b]).sum();
        let (p, q, off) = (self.precision[a], self.precision[b], self.entry(a, b) - eliminated);
        let (y, z) = (self.pull[a], self.pull[b]);
        let det = (p * q - off * off).max(p * q * LEAST_PIVOT);
        0.5 * ((y * y * q - 2.0 * y * z * off + z * z * p) / det - det.ln()) + LN_2PI
    }

    fn without(&self, near: &[f64], out: &[usize]) -> Self {
        GaussPart::new(self.log_weight, self.gauss, near, out)
    }

    fn kept_given_others(&self, cell: usize) -> (f64, f64) {
        let (pull, precision) = (self.pull[cell], self.precision[cell]);
        (self.gauss.mean()[cell] + self.centred[cell] - pull / precision, precision.sqrt())
    }

    fn blamed_given_kept(&self, blamed: &[usize]) -> Vec<(f64, f64)> {
        let m = self.pivots.len();
        let mut factor = vec![0.0; m * m];
        for (row, (cell, _)) in self.pivots.iter().enumerate() {
            for (column, (_, u)) in self.pivots[..=row].iter().enumerate() {
                factor[row * m + column] = u[*cell];
            }
        }
        let mut step: Vec<f64> = self.pivots.iter().map(|(cell, _)| -self.raw[*cell]).collect();
        num::solve_lower(&factor, m, &mut step);
        num::solve_lower_transposed(&factor, m, &mut step);
        let mut unit = vec![0.0; m];
        let first = m - blamed.len();
        blamed
            .iter()
            .enumerate()
            .map(|(at, &cell)| {
                unit.fill(0.0);
                unit[first + at] = 1.0;
                num::solve_lower(&factor, m, &mut unit);
                let variance: f64 = unit.iter().map(|v| v * v).sum();
                (self.gauss.mean()[cell] + step[first + at], 1.0 / variance.sqrt())
            })
            .collect()
    }
}
