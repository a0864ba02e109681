//! Where a new feature could be: rows that stand on two sides along a direction of the residuals.

use super::field::Field;
use super::parameters::Parameters;
use super::rows::Rows;
use crate::num::{self, Grid, Rng};

/// Steps towards the direction of a single feature, at most.
const SEPARATIONS: usize = 30;

/// Directions in which residuals, in units of the noise, spread most.
#[derive(Clone, Debug, Default)]
pub struct Directions {
    /// Residuals in units of the noise, d × n.
    pub residuals: Vec<f64>,
    /// Variances along the directions, decreasing.
    pub spreads: Vec<f64>,
    vectors: Vec<f64>,
    scatter: Vec<f64>,
    weighted: Vec<f64>,
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
        self.scatter.resize(d * d, 0.0);
        self.weighted.clear();
        for residuals in self.residuals.chunks_exact(n.max(1)) {
            self.weighted.extend(residuals.iter().zip(&rows.weights).map(|(r, w)| r * w / rows.mass));
        }
        let residuals = Grid::new(&self.residuals, d, n).transposed();
        num::multiply(Grid::new(&self.weighted, d, n), residuals, 1.0, 0.0, &mut self.scatter);
        self.spreads.resize(d, 0.0);
        self.vectors.resize(d * d, 0.0);
        num::symmetric_eigen(&self.scatter, d, &mut self.spreads, &mut self.vectors);
    }

    /// The mean variance of the residuals.
    pub fn mean_spread(&self) -> f64 {
        self.spreads.iter().sum::<f64>() / self.spreads.len().max(1) as f64
    }

    /// A first guess of a feature, number `which`: the smaller of two groups of rows has it. Even numbers look along the
    /// direction of a single feature, as far as it can be told, odd ones along that of largest variance.
    pub fn guess(&self, which: usize, rows: &Rows) -> Option<Vec<f64>> {
        let (n, d) = (rows.n, rows.d);
        let (first, looks_along_feature) = (which / 2, which.is_multiple_of(2));
        if self.spreads.get(first).is_none_or(|spread| spread.is_nan() || *spread <= 0.0) {
            return None;
        }
        let mut along = vec![0.0; n];
        if looks_along_feature {
            self.separate(first, rows, &mut along);
        } else {
            num::add_rows(&self.vectors[first * d..][..d], &self.residuals, n, &mut along);
        }
        two_groups(&along, rows)
    }

    /// Directions that stand out of the noise.
    fn n_signals(&self, rows: &Rows) -> usize {
        let noise = self.spreads[rows.d / 2] * (1.0 + (rows.d as f64 / rows.mass).sqrt()).powi(2);
        self.spreads.iter().filter(|s| **s > noise).count()
    }

    /// First guesses of as many features as there are directions that stand out of the noise.
    pub fn guess_all(&self, most: usize, rows: &Rows, rng: &mut Rng) -> Vec<Vec<f64>> {
        let m = self.n_signals(rows).min(most);
        let white = self.whiten(m, rows);
        let mut found: Vec<f64> = Vec::new();
        let mut guesses = Vec::new();
        let mut along = vec![0.0; rows.n];
        for _ in 0..m {
            let mut direction: Vec<f64> = (0..m).map(|_| rng.normal()).collect();
            settle_on(&mut direction, &white, &found, rows, &mut along);
            guesses.extend(two_groups(&along, rows));
            found.extend_from_slice(&direction);
        }
        guesses
    }

    /// Sums of features spread as much as features do; what sets a feature apart is that its rows stand on two sides and
    /// nowhere between. So among directions that stand out of the noise, and from number `first` of them, goes to one along
    /// which the fourth moment is least like that of a normal distribution (the fixed point of FastICA).
    fn separate(&self, first: usize, rows: &Rows, along: &mut [f64]) {
        let m = self.n_signals(rows).max(first + 1).min(rows.d);
        let white = self.whiten(m, rows);
        let mut direction = vec![0.0; m];
        direction[first] = 1.0;
        settle_on(&mut direction, &white, &[], rows, along);
    }

    /// The residuals along the first `m` directions, each with variance one, m × n.
    fn whiten(&self, m: usize, rows: &Rows) -> Vec<f64> {
        let (n, d) = (rows.n, rows.d);
        let mut white = vec![0.0; m * n];
        for (i, white) in white.chunks_exact_mut(n.max(1)).enumerate() {
            let scale = 1.0 / self.spreads[i].max(f64::MIN_POSITIVE).sqrt();
            let factors: Vec<f64> = self.vectors[i * d..][..d].iter().map(|v| v * scale).collect();
            num::add_rows(&factors, &self.residuals, n, white);
        }
        white
    }
}

/// Moves a direction to a fixed point of FastICA at right angles to those found before, and writes the rows along it.
fn settle_on(direction: &mut Vec<f64>, white: &[f64], found: &[f64], rows: &Rows, along: &mut [f64]) {
    let (n, m) = (rows.n, direction.len());
    let (mut cubes, mut next) = (vec![0.0; n], vec![0.0; m]);
    if !straighten(direction, found) {
        return;
    }
    for _ in 0..SEPARATIONS {
        along.fill(0.0);
        num::add_rows(direction, white, n, along);
        for ((cube, y), w) in cubes.iter_mut().zip(&*along).zip(&rows.weights) {
            *cube = y * y * y * w / rows.mass;
        }
        num::dots(&cubes, white, n, &mut next);
        next.iter_mut().zip(&*direction).for_each(|(v, u)| *v -= 3.0 * u);
        if !straighten(&mut next, found) {
            return;
        }
        let cosine: f64 = next.iter().zip(&*direction).map(|(a, b)| a * b).sum();
        std::mem::swap(direction, &mut next);
        if 1.0 - cosine.abs() < 1e-6 {
            break;
        }
    }
    along.fill(0.0);
    num::add_rows(direction, white, n, along);
}

/// Makes a direction of length one at right angles to others; false when nothing is left of it.
fn straighten(direction: &mut [f64], found: &[f64]) -> bool {
    for other in found.chunks_exact(direction.len()) {
        let along: f64 = direction.iter().zip(other).map(|(a, b)| a * b).sum();
        direction.iter_mut().zip(other).for_each(|(a, b)| *a -= along * b);
    }
    let length = direction.iter().map(|v| v * v).sum::<f64>().sqrt();
    if !(length > 0.0 && length.is_finite()) {
        return false;
    }
    direction.iter_mut().for_each(|v| *v /= length);
    true
}

/// Probabilities of a feature that the smaller of two groups of rows has.
fn two_groups(along: &[f64], rows: &Rows) -> Option<Vec<f64>> {
    let upper = two_means(along, &rows.weights)?;
    let above: f64 = upper.iter().zip(&rows.weights).filter(|(u, _)| **u).map(|(_, w)| w).sum();
    let has = 2.0 * above <= rows.mass;
    Some(upper.iter().map(|u| if *u == has { 0.95 } else { 0.05 }).collect())
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
