//! k-means++ and a few Lloyd iterations: only ever a start for EM.

use crate::num::Rng;
use crate::structure::RowBlock;

/// Rows between two looks at whether to stop.
const ROWS_AT_ONCE: usize = 1024;

/// Centres, and the centre of each row.
pub struct Clusters {
    /// Row-major centres.
    pub centres: Vec<f64>,
    /// Which centre each row is nearest to.
    pub nearest: Vec<usize>,
}

fn squared_distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(x, y)| (x - y) * (x - y)).sum()
}

/// Seeds `k` centres by k-means++ on weighted rows of a block without missing cells, then runs Lloyd's iteration. An
/// interrupt of the block makes it stop where it is.
pub fn k_means(block: &RowBlock, weights: &[f64], k: usize, n_lloyd: usize, rng: &mut Rng) -> Clusters {
    let (rows, d, n) = (block.rows(), block.n_columns(), weights.len());
    let row = |i: usize| &rows[i * d..(i + 1) * d];
    let mut centres: Vec<f64> = row(rng.categorical(weights)).to_vec();
    let mut nearest = vec![0; n];
    let mut distance: Vec<f64> = (0..n).map(|i| squared_distance(row(i), &centres)).collect();
    while centres.len() < k * d {
        let chance: Vec<f64> = distance.iter().zip(weights).map(|(a, w)| a * w).collect();
        // No more distinct rows than centres.
        if chance.iter().sum::<f64>() <= 0.0 || block.is_interrupted() {
            break;
        }
        let chosen = row(rng.categorical(&chance)).to_vec();
        let new = centres.len() / d;
        for i in 0..n {
            let to_new = squared_distance(row(i), &chosen);
            if to_new < distance[i] {
                distance[i] = to_new;
                nearest[i] = new;
            }
        }
        centres.extend(chosen);
    }
    let k = centres.len() / d;
    for _ in 0..n_lloyd {
        let mut sums = vec![0.0; k * d];
        let mut mass = vec![0.0; k];
        for i in 0..n {
            mass[nearest[i]] += weights[i];
            for (s, v) in sums[nearest[i] * d..].iter_mut().zip(row(i)) {
                *s += weights[i] * v;
            }
        }
        for c in (0..k).filter(|&c| mass[c] > 0.0) {
            for j in 0..d {
                centres[c * d + j] = sums[c * d + j] / mass[c];
            }
        }
        for i in 0..n {
            if i % ROWS_AT_ONCE == 0 && block.is_interrupted() {
                return Clusters { centres, nearest };
            }
            let to = |c: usize| squared_distance(row(i), &centres[c * d..(c + 1) * d]);
            nearest[i] = (0..k).map(|c| (to(c), c)).min_by(|a, b| a.0.total_cmp(&b.0)).map_or(0, |(_, c)| c);
        }
    }
    Clusters { centres, nearest }
}
