//! Why a row is surprising to a feature set: each combination of features is a component whose cells are independent.

use super::reader::{FeatureReader, MOST_OPEN, in_units};
use crate::num::LN_2PI;
use crate::structure::reasons::{Part, Reason, told};

/// Numbers kept for one row at most: combinations of features times columns.
const MOST_NUMBERS: usize = 1 << 16;

/// A row before one combination of features, some of its cells taken out.
struct Combination<'a> {
    log_weight: f64,
    means: Vec<f64>,
    /// One over the standard deviation of each column.
    sharpness: &'a [f64],
    /// Log-densities of the cells, zero where taken out.
    cells: Vec<f64>,
    log_joint: f64,
}

impl<'a> Combination<'a> {
    fn new(log_weight: f64, means: Vec<f64>, sharpness: &'a [f64], near: &[f64], out: &[usize]) -> Combination<'a> {
        let cell = |j: usize| {
            let z = (near[j] - means[j]) * sharpness[j];
            sharpness[j].ln() - 0.5 * (LN_2PI + z * z)
        };
        let mut cells: Vec<f64> = (0..near.len()).map(cell).collect();
        out.iter().for_each(|&j| cells[j] = 0.0);
        let mut combination = Combination { log_weight, means, sharpness, cells, log_joint: 0.0 };
        combination.add_up();
        combination
    }

    /// Adds up anew: what was taken out leaves no rounding behind, however far out it was.
    fn add_up(&mut self) {
        self.log_joint = self.log_weight + self.cells.iter().sum::<f64>();
    }
}

impl Part for Combination<'_> {
    fn log_joint(&self) -> f64 {
        self.log_joint
    }

    fn take_out(&mut self, cell: usize) {
        self.cells[cell] = 0.0;
        self.add_up();
    }

    fn gain_of_one(&self, a: usize) -> f64 {
        -self.cells[a]
    }

    fn gain_of_two(&self, a: usize, b: usize) -> f64 {
        -self.cells[a] - self.cells[b]
    }

    fn without(&self, near: &[f64], out: &[usize]) -> Self {
        Combination::new(self.log_weight, self.means.clone(), self.sharpness, near, out)
    }

    fn kept_given_others(&self, cell: usize) -> (f64, f64) {
        (self.means[cell], self.sharpness[cell])
    }

    fn blamed_given_kept(&self, blamed: &[usize]) -> Vec<(f64, f64)> {
        blamed.iter().map(|&cell| self.kept_given_others(cell)).collect()
    }
}

impl FeatureReader {
    /// The observed cells of one row: the blamed ones first, then the others, each by falling surprise.
    pub fn reasons(&mut self, row: &[f64]) -> Vec<Reason> {
        let d = self.n_columns();
        if d == 0 {
            return Vec::new();
        }
        let most_open = (MOST_NUMBERS / d).max(1).ilog2().min(MOST_OPEN as u32) as usize;
        let reading = self.read_open(row, most_open);
        let set = self.set();
        let is_open = |at: usize| reading.open.binary_search(&at).is_ok();
        // Columns in units of their own spread under the model.
        let moments = |j: usize| {
            let add = |(mean, variance): (f64, f64), f: &super::Feature| {
                (mean + f.share * f.weights[j], variance + f.share * (1.0 - f.share) * f.weights[j] * f.weights[j])
            };
            let (mean, variance) = set.features.iter().fold((set.offset[j], set.noise[j]), add);
            (mean, variance.max(f64::MIN_POSITIVE).sqrt())
        };
        let (shift, scale): (Vec<f64>, Vec<f64>) = (0..d).map(moments).unzip();
        let framed: Vec<f64> = (0..d).map(|j| in_units((row[j] - shift[j]) / scale[j])).collect();
        let spread = |j: usize| {
            // A feature may be rare and large: what it adds is not far out.
            let largest = set.features.iter().map(|f| f.weights[j].abs()).fold(0.0, f64::max);
            (0.0, (largest / scale[j]).max(1.0))
        };
        // Features that are not open: what they add, and how much doubt about them widens the noise.
        let settled = |j: usize| {
            let add = |(mean, variance): (f64, f64), at: usize| match is_open(at) {
                true => (mean, variance),
                false => {
                    let (q, weight) = (reading.activations[at], set.features[at].weights[j]);
                    (mean + q * weight, variance + q * (1.0 - q) * weight * weight)
                }
            };
            let noise = set.noise[j].max(f64::MIN_POSITIVE);
            let (mean, variance) = (0..set.features.len()).fold((set.offset[j], noise), add);
            ((mean - shift[j]) / scale[j], in_units(scale[j] / variance.sqrt()))
        };
        let (floor, sharpness): (Vec<f64>, Vec<f64>) = (0..d).map(settled).unzip();
        let has =
            |bits: usize| reading.open.iter().enumerate().filter(move |(n, _)| bits >> n & 1 == 1).map(|(_, &at)| at);
        let all_absent: f64 = reading.open.iter().map(|&at| self.log_prior(at, false)).sum();
        let begin = |near: &[f64], missing: &[usize]| {
            let part = |bits: usize| {
                let mut means = floor.clone();
                let mut log_weight = all_absent;
                for at in has(bits) {
                    log_weight += self.log_prior(at, true) - self.log_prior(at, false);
                    let weights = &set.features[at].weights;
                    means.iter_mut().enumerate().for_each(|(j, mean)| *mean += weights[j] / scale[j]);
                }
                Combination::new(log_weight, means, &sharpness, near, missing)
            };
            (0..1_usize << reading.open.len()).map(part).collect()
        };
        let out = |cell: Reason| Reason {
            observed: row[cell.column],
            expected: cell.expected * scale[cell.column] + shift[cell.column],
            ..cell
        };
        told(&framed, spread, begin).into_iter().map(out).collect()
    }
}
