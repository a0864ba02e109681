//! Wide rows seen along their widest directions: where groups of rows stand apart, few directions show it, and what a
//! fit costs grows with the square of the columns.

use crate::family::Moments;
use crate::num::{self, Grid, Lanes};

/// Columns beyond which groups are found along fewer directions, and how many.
pub(in crate::engine) const WIDE: usize = 40;
const DIRECTIONS: usize = 32;

/// Rows along few directions, and the least variance along each.
pub(super) struct Narrow {
    pub rows: Vec<f64>,
    pub floor: Vec<f64>,
}

impl Narrow {
    pub fn of(x: &[f64], weights: &[f64], floor: &[f64]) -> Narrow {
        let d = floor.len();
        let mut lanes = Lanes::new();
        lanes.load(x, d);
        let (mut sum, mut scatter) = (vec![0.0; d], vec![0.0; d * d]);
        num::weighted_moments(&lanes, weights, &vec![0.0; d], &mut sum, &mut scatter);
        let mut all = Moments::empty_at(&vec![0.0; d]);
        all.absorb(1.0, weights.iter().sum(), &sum, &scatter);
        let covariance: Vec<f64> =
            (0..d * d).map(|at| all.covariance[(at / d).max(at % d) * d + (at / d).min(at % d)]).collect();
        let axes = num::leading_axes(&covariance, d, DIRECTIONS);
        let n_axes = axes.len() / d;
        let mut rows = vec![0.0; weights.len() * n_axes];
        let wide = Grid::new(x, weights.len(), d);
        num::multiply(wide, Grid::new(&axes, n_axes, d).transposed(), 1.0, 0.0, &mut rows);
        let least = |axis: &[f64]| axis.iter().zip(floor).map(|(v, least)| v * v * least).sum::<f64>();
        // An axis that the others span has no length; nothing varies along it.
        let smallest = floor.iter().fold(f64::INFINITY, |least, v| least.min(*v));
        Narrow { rows, floor: axes.chunks_exact(d).map(|axis| least(axis).max(smallest)).collect() }
    }
}
