//! Rows with planted binary features.

use super::purpose;
use crate::num;

/// Side of a block image.
const SIDE: usize = 6;

/// A model of binary latent features whose parameters are known: x = b + Σ z_k w_k + noise.
#[derive(Clone, Debug, PartialEq)]
pub struct PlantedFeatures {
    /// w of each feature.
    pub weights: Vec<Vec<f64>>,
    /// b.
    pub offset: Vec<f64>,
    /// Share of the rows that have a feature.
    pub share: f64,
    /// Standard deviation of the noise in every column.
    pub noise: f64,
    seed: u64,
}

impl PlantedFeatures {
    /// The artificial data of the FAB/LFM paper: weights from N(0, 1), each feature in half of the rows, noise 1, b = 0.
    pub fn gaussian(n_columns: usize, n_features: usize, seed: u64) -> PlantedFeatures {
        let mut rng = num::stream(seed, purpose::PARAMETERS, 0);
        let weights = (0..n_features).map(|_| (0..n_columns).map(|_| rng.normal()).collect()).collect();
        PlantedFeatures { weights, offset: vec![0.0; n_columns], share: 0.5, noise: 1.0, seed }
    }

    /// Images of 6 × 6 pixels, each a sum of some of four patterns, with noise 0.3: a square ring, a cross, a triangle
    /// and an ell, one in each quarter.
    pub fn blocks(seed: u64) -> PlantedFeatures {
        let shapes: [(usize, usize, [&str; 3]); 4] = [
            (0, 0, [".#.", "###", ".#."]),
            (0, 3, ["###", "#.#", "###"]),
            (3, 0, ["#..", "##.", "###"]),
            (3, 3, ["###", "..#", "..#"]),
        ];
        let draw = |(top, left, lines): &(usize, usize, [&str; 3])| {
            let mut image = vec![0.0; SIDE * SIDE];
            for (y, line) in lines.iter().enumerate() {
                for (x, _) in line.bytes().enumerate().filter(|(_, pixel)| *pixel == b'#') {
                    image[(top + y) * SIDE + left + x] = 1.0;
                }
            }
            image
        };
        let weights = shapes.iter().map(draw).collect();
        PlantedFeatures { weights, offset: vec![0.0; SIDE * SIDE], share: 0.5, noise: 0.3, seed }
    }

    /// Columns.
    pub fn n_columns(&self) -> usize {
        self.offset.len()
    }

    /// Features.
    pub fn n_features(&self) -> usize {
        self.weights.len()
    }

    /// Rows of the stream from number `first` on, row by row.
    pub fn rows(&self, first: u64, n: usize) -> Vec<f64> {
        self.rows_with_truth(first, n).0
    }

    /// The same, and which features each row has, row by row.
    pub fn rows_with_truth(&self, first: u64, n: usize) -> (Vec<f64>, Vec<bool>) {
        let (mut rows, mut truth) = (Vec::with_capacity(n * self.n_columns()), Vec::new());
        for at in first..first + n as u64 {
            let mut rng = num::stream(self.seed, purpose::ROWS, at);
            let start = rows.len();
            rows.extend_from_slice(&self.offset);
            for weights in &self.weights {
                let has = rng.uniform() < self.share;
                truth.push(has);
                if has {
                    rows[start..].iter_mut().zip(weights).for_each(|(x, w)| *x += w);
                }
            }
            rows[start..].iter_mut().for_each(|x| *x += self.noise * rng.normal());
        }
        (rows, truth)
    }
}

/// The same rows with each cell missing with probability `share`.
pub fn with_holes(rows: &[f64], share: f64, seed: u64) -> Vec<f64> {
    let mut rng = num::stream(seed, purpose::LABELS, 0);
    rows.iter().map(|x| if rng.uniform() < share { f64::NAN } else { *x }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_longer_sample_begins_with_the_shorter_one_and_has_its_shares() {
        let planted = PlantedFeatures::gaussian(5, 3, 11);
        let (long, truth) = planted.rows_with_truth(0, 4000);
        assert_eq!(planted.rows(0, 40), long[..200]);
        assert_eq!(planted.rows(40, 10), long[200..250]);
        let share = truth.iter().filter(|z| **z).count() as f64 / truth.len() as f64;
        // 12,000 draws of one half: a standard deviation of 0.0046.
        assert!((share - 0.5).abs() < 5.0 * 0.0046);
        let holes = with_holes(&long, 0.3, 1).iter().filter(|x| x.is_nan()).count() as f64;
        assert!((holes / 20000.0 - 0.3).abs() < 5.0 * (0.21_f64 / 20000.0).sqrt());
    }

    #[test]
    fn patterns_of_blocks_do_not_overlap() {
        let planted = PlantedFeatures::blocks(1);
        let total: Vec<f64> = (0..36).map(|i| planted.weights.iter().map(|w| w[i]).sum()).collect();
        assert!(total.iter().all(|v| *v <= 1.0));
        assert_eq!(total.iter().sum::<f64>(), 24.0);
    }
}
