//! Where a new feature could be: rows that stand on two sides along a direction of the residuals.

use super::field::Field;
use super::parameters::Parameters;
use super::rows::Rows;
use crate::num;

/// Directions in which residuals, in units of the noise, spread most.
#[derive(Clone, Debug, Default)]
pub struct Directions {
    /// Residuals in units of the noise, d × n.
    pub residuals: Vec<f64>,
    /// Variances along the directions, decreasing.
    pub spreads: Vec<f64>,
    vectors: Vec<f64>,
    scatter: Vec<f64>,
}

impl Directions {
    /// Looks at the residuals of rows.
    pub fn find(&mut self, rows: &Rows, field: &Field, p: &Parameters) {
        let (n, d) = (rows.n, rows.d);
        field.residuals(rows, p, &mut self.residuals);
        for j in 0..d {
            let scale = p.precision[j].sqrt();
            self.residuals[j * n..][..n].iter_mut().for_each(|r| *r *= scale);
        }
        self.scatter.clear();
        self.scatter.resize(d * d, 0.0);
        let mut weighted = Vec::with_capacity(n);
        for j in 0..d {
            weighted.clear();
            let each = self.residuals[j * n..][..n].iter().zip(&rows.weights);
            weighted.extend(each.map(|(r, w)| r * w / rows.mass));
            num::dots(&weighted, &self.residuals, n, &mut self.scatter[j * d..][..=j]);
        }
        self.spreads.resize(d, 0.0);
        self.vectors.resize(d * d, 0.0);
        num::symmetric_eigen(&self.scatter, d, &mut self.spreads, &mut self.vectors);
    }

    /// The mean variance of the residuals.
    pub fn mean_spread(&self) -> f64 {
        self.spreads.iter().sum::<f64>() / self.spreads.len().max(1) as f64
    }

    /// A first guess of the feature along direction number `which`: the smaller of two groups of rows has it.
    pub fn guess(&self, which: usize, rows: &Rows) -> Option<Vec<f64>> {
        let (n, d) = (rows.n, rows.d);
        if which >= d || !(self.spreads[which] > 0.0) {
            return None;
        }
        let mut along = vec![0.0; n];
        num::add_rows(&self.vectors[which * d..][..d], &self.residuals, n, &mut along);
        let upper = two_means(&along, &rows.weights)?;
        let above: f64 = upper.iter().zip(&rows.weights).filter(|(u, _)| **u).map(|(_, w)| w).sum();
        let has = 2.0 * above <= rows.mass;
        Some(upper.iter().map(|u| if *u == has { 0.95 } else { 0.05 }).collect())
    }
}

/// Two groups of numbers: true for those nearer to the upper mean. None when all are equal.
fn two_means(values: &[f64], weights: &[f64]) -> Option<Vec<bool>> {
    let mass: f64 = weights.iter().sum();
    let mut cut = values.iter().zip(weights).map(|(v, w)| v * w).sum::<f64>() / mass;
    for _ in 0..100 {
        let (mut sums, mut masses) = ([0.0; 2], [0.0; 2]);
        for (v, w) in values.iter().zip(weights) {
            let side = usize::from(*v > cut);
            sums[side] += v * w;
            masses[side] += w;
        }
        if masses.iter().any(|m| *m <= 0.0) {
            return None;
        }
        let next = 0.5 * (sums[0] / masses[0] + sums[1] / masses[1]);
        if next == cut {
            break;
        }
        cut = next;
    }
    Some(values.iter().map(|v| *v > cut).collect())
}
