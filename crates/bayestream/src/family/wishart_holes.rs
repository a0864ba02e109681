//! Rows with missing cells under a normal-Wishart posterior.
//!
//! The predictive Student-t of a row has Student-t marginals of the same degrees of freedom, so the observed cells have
//! an exact density; the missing ones are filled by their conditional mean, and their conditional covariance is told
//! beside it, so that statistics can expect what they did not see.

use super::WishartPosterior;
use crate::num::{self, ln_gamma};

/// A row filled in under one posterior. Buffers are reused.
#[derive(Clone, Debug, Default)]
pub struct FilledRow {
    /// The row with missing cells replaced by their conditional means.
    pub row: Vec<f64>,
    /// The columns that were missing.
    pub missing: Vec<usize>,
    /// Conditional covariance of the missing cells, row-major over them.
    pub covariance: Vec<f64>,
    observed: Vec<usize>,
    scatter: Vec<f64>,
    factor: Vec<f64>,
    offset: Vec<f64>,
    column: Vec<f64>,
}

impl WishartPosterior {
    /// Fills a row and returns the log predictive density of its observed cells; 0 for a row without any.
    pub fn fill(&self, row: &[f64], into: &mut FilledRow) -> f64 {
        let d = row.len();
        into.row.clear();
        into.row.extend_from_slice(row);
        into.missing.clear();
        into.missing.extend((0..d).filter(|&j| row[j].is_nan()));
        into.observed.clear();
        into.observed.extend((0..d).filter(|&j| !row[j].is_nan()));
        self.scatter_into(&mut into.scatter);
        let (p, m) = (into.observed.len(), into.missing.len());
        into.factor.clear();
        for &i in &into.observed {
            into.factor.extend(into.observed.iter().map(|&j| into.scatter[i * d + j]));
        }
        // A principal block of a positive definite matrix; if rounding spoilt it, treat its cells as independent.
        let log_det = num::cholesky(&mut into.factor, p).unwrap_or_else(|_| {
            into.factor.fill(0.0);
            into.observed.iter().enumerate().fold(0.0, |sum, (at, &j)| {
                let variance = into.scatter[j * d + j].max(f64::MIN_POSITIVE);
                into.factor[at * p + at] = variance.sqrt();
                sum + variance.ln()
            })
        });
        into.offset.clear();
        into.offset.extend(into.observed.iter().map(|&j| row[j] - self.mean()[j]));
        num::solve_lower(&into.factor, p, &mut into.offset);
        let distance: f64 = into.offset.iter().map(|z| z * z).sum();
        // With z = F⁻¹(x_o − m_o) and Y = F⁻¹S_om: conditional mean m_m + Yᵀz, conditional scatter S_mm − YᵀY.
        let rows = (self.nu() - d as f64 - 1.0).max(1.0);
        into.covariance.resize(m * m, 0.0);
        into.column.clear();
        for &j in &into.missing {
            let first = into.column.len();
            into.column.extend(into.observed.iter().map(|&i| into.scatter[i * d + j]));
            num::solve_lower(&into.factor, p, &mut into.column[first..]);
        }
        for (a, &i) in into.missing.iter().enumerate() {
            let ya = &into.column[a * p..(a + 1) * p];
            into.row[i] = self.mean()[i] + ya.iter().zip(&into.offset).map(|(y, z)| y * z).sum::<f64>();
            for (b, &j) in into.missing.iter().enumerate() {
                let yb = &into.column[b * p..(b + 1) * p];
                let explained: f64 = ya.iter().zip(yb).map(|(x, y)| x * y).sum();
                let left = into.scatter[i * d + j] - explained;
                into.covariance[a * m + b] = if a == b { left.max(0.0) } else { left } / rows;
            }
        }
        let (dof, p) = (self.nu() - d as f64 + 1.0, p as f64);
        let shrink = self.c() / (self.c() + 1.0);
        ln_gamma(0.5 * (dof + p)) - ln_gamma(0.5 * dof) + 0.5 * p * (shrink / std::f64::consts::PI).ln()
            - 0.5 * log_det
            - 0.5 * (dof + p) * (shrink * distance).ln_1p()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::family::{Moments, NormalWishart, WishartScratch};

    fn posterior() -> WishartPosterior {
        let prior = NormalWishart::new(0.4, 4.5, vec![0.5, -1.0], vec![1.0, 0.3, 0.3, 0.8]).unwrap();
        let moments = Moments { count: 6.0, mean: vec![1.0, 0.2], covariance: vec![1.5, 0.7, 0.7, 0.9] };
        prior.posterior(&moments)
    }

    #[test]
    fn the_density_of_observed_cells_is_the_integral_over_the_others() {
        let (posterior, mut filled, mut scratch) = (posterior(), FilledRow::default(), WishartScratch::default());
        let step = 0.01;
        let (mut total, mut mean) = (0.0, 0.0);
        for i in -30_000..30_000 {
            let y = f64::from(i) * step;
            let p = posterior.log_predictive(&[1.7, y], &mut scratch).exp() * step;
            total += p;
            mean += p * y;
        }
        let found = posterior.fill(&[1.7, f64::NAN], &mut filled);
        assert!((found - total.ln()).abs() < 1e-8, "{found} {}", total.ln());
        assert!((filled.row[1] - mean / total).abs() < 1e-4, "{:?} {}", filled.row, mean / total);
    }

    #[test]
    fn a_whole_row_has_its_predictive_and_an_empty_one_says_nothing() {
        let (posterior, mut filled) = (posterior(), FilledRow::default());
        let expected = posterior.log_predictive(&[1.7, 0.3], &mut WishartScratch::default());
        assert!((posterior.fill(&[1.7, 0.3], &mut filled) - expected).abs() < 1e-12);
        assert!(posterior.fill(&[f64::NAN; 2], &mut filled).abs() < 1e-12);
        let spread = posterior.expected_covariance();
        assert_eq!(filled.row, posterior.mean());
        assert!(filled.covariance.iter().zip(&spread).all(|(a, b)| (a - b).abs() < 1e-12));
    }
}
