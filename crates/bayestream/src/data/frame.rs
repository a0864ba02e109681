//! The frame a learner works in: every column shifted and scaled by what the first rows showed.
//!
//! A full Gaussian is the same in any frame; priors, variance floors and conditioning are not. With the frame,
//! columns at scale 1e12 and 1e-12 meet the same constants.

use super::{LARGEST_CELL, LARGEST_FRAMED};
use crate::structure::Component;
use serde::{Deserialize, Serialize};

/// Which scale the frame divides by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Scaling {
    /// Each column by its own standard deviation.
    Columns,
    /// All columns by one common scale: isotropic noise stays isotropic (PPCA).
    Common,
}

/// A shift and a scale per column.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Frame {
    shift: Vec<f64>,
    scale: Vec<f64>,
}

/// A spread below this share of the magnitude is rounding, not variation.
const CONSTANT_SHARE: f64 = 1e-13;

impl Frame {
    /// The frame in which `rows` have mean zero and unit spread; missing cells are left out. A column that does not
    /// vary is scaled by its magnitude, so that rescaling the data rescales the frame.
    pub fn of_rows(rows: &[f64], n_columns: usize, scaling: Scaling) -> Frame {
        let mut shift = vec![0.0; n_columns];
        let mut scale = vec![0.0; n_columns];
        let mut varies = vec![false; n_columns];
        for j in 0..n_columns {
            let column = || rows.iter().skip(j).step_by(n_columns).filter(|v| !v.is_nan());
            let n = column().count().max(1) as f64;
            let mean = column().map(|v| v / n).sum::<f64>();
            let largest = column().fold(0.0_f64, |m, v| m.max(v.abs()));
            let spread = column().fold(0.0_f64, |m, v| m.max((v - mean).abs()));
            shift[j] = mean;
            if spread > largest * CONSTANT_SHARE && spread > 0.0 {
                // Divided by the spread first: squares of 1e-200 would underflow.
                let ss = column().map(|v| ((v - mean) / spread).powi(2)).sum::<f64>();
                scale[j] = spread * (ss / n).sqrt();
                varies[j] = true;
            } else {
                scale[j] = if mean == 0.0 { 1.0 } else { mean.abs() };
            }
        }
        if scaling == Scaling::Common {
            let largest = (0..n_columns).filter(|&j| varies[j]).map(|j| scale[j]).fold(0.0, f64::max);
            let common = if largest > 0.0 {
                let (ss, n) = (0..n_columns)
                    .filter(|&j| varies[j])
                    .fold((0.0, 0.0), |(ss, n), j| (ss + (scale[j] / largest).powi(2), n + 1.0));
                largest * f64::sqrt(ss / n)
            } else {
                scale.iter().copied().fold(f64::MIN_POSITIVE, f64::max)
            };
            scale.fill(common);
        }
        Frame { shift, scale }
    }

    /// How many columns.
    pub fn n_columns(&self) -> usize {
        self.shift.len()
    }

    /// Appends the framed rows to `out`.
    pub fn push_rows(&self, rows: &[f64], out: &mut Vec<f64>) {
        let d = self.n_columns();
        // A cell so far out that its square would overflow is as far as numbers can tell; missing cells stay missing.
        let framed = |(i, v): (usize, &f64)| {
            ((v - self.shift[i % d]) / self.scale[i % d]).clamp(-LARGEST_FRAMED, LARGEST_FRAMED)
        };
        out.extend(rows.iter().enumerate().map(framed));
    }

    /// What a log-density in the frame must be shifted by to be one in the data's own units.
    pub fn log_jacobian(&self) -> f64 {
        -self.scale.iter().map(|s| s.ln()).sum::<f64>()
    }

    /// The same for the observed cells of one row only: a missing cell has no density and no unit.
    pub fn log_jacobian_of(&self, row: &[f64]) -> f64 {
        -self.scale.iter().zip(row).filter(|(_, v)| !v.is_nan()).map(|(s, _)| s.ln()).sum::<f64>()
    }

    /// The frame that changes nothing.
    pub fn identity(n_columns: usize) -> Frame {
        Frame { shift: vec![0.0; n_columns], scale: vec![1.0; n_columns] }
    }

    /// The frame in which a mixture, given in the data's own units, has mean zero and unit spread.
    pub fn spanning(components: &[Component], n_columns: usize) -> Frame {
        let mut frame = Frame::identity(n_columns);
        for j in 0..n_columns {
            let mean: f64 = components.iter().map(|c| c.weight * c.mean[j]).sum();
            let largest = components
                .iter()
                .fold(0.0_f64, |m, c| m.max(c.covariance[j * n_columns + j].sqrt()).max((c.mean[j] - mean).abs()));
            if largest > 0.0 && largest.is_finite() {
                let var: f64 = components
                    .iter()
                    .map(|c| {
                        let (sd, off) =
                            (c.covariance[j * n_columns + j].sqrt() / largest, (c.mean[j] - mean) / largest);
                        c.weight * (sd * sd + off * off)
                    })
                    .sum();
                frame.scale[j] = largest * var.sqrt();
            }
            frame.shift[j] = mean;
        }
        frame
    }

    /// True when it could have come from rows: what a file must satisfy.
    pub fn is_sound(&self, n_columns: usize) -> bool {
        self.shift.len() == n_columns
            && self.scale.len() == n_columns
            && self.shift.iter().all(|v| v.abs() <= LARGEST_CELL)
            && self.scale.iter().all(|v| *v > 0.0 && *v <= 2.0 * LARGEST_CELL)
    }

    /// What a column is divided by.
    pub fn scale(&self, column: usize) -> f64 {
        self.scale[column]
    }

    /// One cell in the data's own units.
    pub fn cell_out(&self, column: usize, value: f64) -> f64 {
        value * self.scale[column] + self.shift[column]
    }

    /// A mean in the data's own units.
    pub fn mean_out(&self, mean: &[f64]) -> Vec<f64> {
        mean.iter().zip(&self.scale).zip(&self.shift).map(|((m, s), t)| m * s + t).collect()
    }

    /// A row-major covariance in the data's own units.
    pub fn covariance_out(&self, covariance: &[f64]) -> Vec<f64> {
        let d = self.n_columns();
        // The scales are multiplied first, so that a symmetric matrix stays symmetric to the bit.
        (0..d * d).map(|i| covariance[i] * (self.scale[i / d] * self.scale[i % d])).collect()
    }

    /// The map from `self`'s frame to `other`'s: multiply by the first, then add the second.
    pub fn map_to(&self, other: &Frame) -> (Vec<f64>, Vec<f64>) {
        let factor: Vec<f64> = self.scale.iter().zip(&other.scale).map(|(a, b)| a / b).collect();
        let offset = (0..self.n_columns()).map(|j| (self.shift[j] - other.shift[j]) / other.scale[j]).collect();
        (factor, offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn framed_columns_have_mean_zero_and_unit_spread_at_any_scale() {
        let rows = [1e12, 3e-12, f64::NAN, 5e-12, 3e12, 7e-12];
        let frame = Frame::of_rows(&rows, 2, Scaling::Columns);
        let mut framed = Vec::new();
        frame.push_rows(&rows, &mut framed);
        assert!((framed[0] + 1.0).abs() < 1e-12 && (framed[4] - 1.0).abs() < 1e-12);
        assert!(framed[2].is_nan());
        let second: f64 = [framed[1], framed[3], framed[5]].iter().sum();
        assert!(second.abs() < 1e-12);
    }

    #[test]
    fn constant_columns_scale_with_the_data() {
        let small = Frame::of_rows(&[5.0, 5.0], 1, Scaling::Columns);
        let large = Frame::of_rows(&[5e9, 5e9], 1, Scaling::Columns);
        assert_eq!(small.log_jacobian() - (1e9_f64).ln(), large.log_jacobian());
    }

    #[test]
    fn the_map_between_frames_is_the_composition() {
        let a = Frame::of_rows(&[1.0, 5.0, 9.0], 1, Scaling::Columns);
        let b = Frame::of_rows(&[-3.0, 4.0, 20.0], 1, Scaling::Common);
        let (mut in_a, mut in_b) = (Vec::new(), Vec::new());
        a.push_rows(&[7.5], &mut in_a);
        b.push_rows(&[7.5], &mut in_b);
        let (factor, offset) = a.map_to(&b);
        assert!((in_a[0] * factor[0] + offset[0] - in_b[0]).abs() < 1e-12);
    }
}
