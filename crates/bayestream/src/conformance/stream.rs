//! Rows to check with: mixtures whose truth is known.

use crate::synthetic::{Covariance, Truth, ofab_truth};

/// Seeds from here on are the battery's own.
pub(super) const SEED: u64 = 20_000;

/// A stream, fresh rows of the same truth, and the truth.
pub(super) struct Stream {
    pub truth: Truth,
    pub n_columns: usize,
    pub rows: Vec<f64>,
    pub held_out: Vec<f64>,
}

/// `n` rows of a random mixture.
pub(super) fn mixture(k: usize, d: usize, n: usize, seed: u64) -> Stream {
    of(ofab_truth(k, d, Covariance::Aat, seed), n, seed)
}

/// Three clusters that nobody can take for two or four: what must be found does not hang on rounding.
pub(super) fn three_clusters(n: usize, seed: u64) -> Stream {
    let truth = Truth {
        weights: vec![0.5, 0.3, 0.2],
        means: vec![vec![0.0, 0.0, 0.0], vec![9.0, -4.0, 3.0], vec![-6.0, 8.0, 5.0]],
        covariances: vec![
            vec![1.0, 0.6, 0.1, 0.6, 1.2, -0.2, 0.1, -0.2, 0.7],
            vec![0.5, -0.2, 0.0, -0.2, 0.8, 0.3, 0.0, 0.3, 1.1],
            vec![1.5, 0.4, 0.5, 0.4, 0.6, 0.0, 0.5, 0.0, 0.9],
        ],
    };
    of(truth, n, seed)
}

fn of(truth: Truth, n: usize, seed: u64) -> Stream {
    let (rows, _) = truth.sample(n, seed);
    let (held_out, _) = truth.sample(4000, seed ^ 0x6865_6c64);
    Stream { n_columns: truth.n_columns(), rows, held_out, truth }
}
