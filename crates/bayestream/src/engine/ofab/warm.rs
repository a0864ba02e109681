//! The first model, from the first rows: k-means++ with too many centres, then penalised EM.

use crate::engine::parts::{EmOptions, PENALTY_CAP, Part, em, k_means};
use crate::family::{Family, Gauss, Moments, Prior, VARIANCE_FLOOR};
use crate::num::{self, Lanes, Rng};
use crate::structure::RowBlock;

/// Rows per starting component, at least.
const ROWS_PER_START: usize = 4;
const LLOYD: usize = 5;

/// A redundant mixture of the block's rows (no missing cells), heavily over-complete on purpose: light components are
/// dropped, similar ones are left to be merged later.
pub(in crate::engine) fn warm_start<F: Family>(
    family: F,
    block: &mut RowBlock,
    weights: &[f64],
    start_components: usize,
    delta: f64,
    rng: &mut Rng,
) -> (Vec<Part>, f64) {
    let d = block.n_columns();
    let n = block.n_rows();
    let total: f64 = weights.iter().sum();
    let k = start_components.min(n / ROWS_PER_START).max(1);
    let clusters = k_means(block, weights, k, LLOYD, rng);
    let mut moments: Vec<Moments> = clusters.centres.chunks_exact(d).map(Moments::empty_at).collect();
    let mut index: Vec<Vec<u32>> = vec![Vec::new(); moments.len()];
    clusters.nearest.iter().enumerate().for_each(|(i, &c)| index[c].push(i as u32));
    let mut lanes = Lanes::new();
    for (moments, index) in moments.iter_mut().zip(&index) {
        let mass: Vec<f64> = index.iter().map(|&i| weights[i as usize]).collect();
        let (mut sum, mut scatter) = (vec![0.0; d], vec![0.0; d * d]);
        lanes.load_indexed(block.rows(), d, index);
        num::weighted_moments(&lanes, &mass, &moments.mean, &mut sum, &mut scatter);
        moments.absorb(1.0, mass.iter().sum(), &sum, &scatter);
    }
    moments.retain(|m| m.count > 0.0);
    let within = |j: usize| moments.iter().map(|m| m.count * m.covariance[j * d + j]).sum::<f64>() / total;
    let prior = Prior::vanishing((0..d).map(|j| within(j) + floor_of(n)).collect());
    let mut parts: Vec<Part> = moments
        .into_iter()
        .enumerate()
        .take_while(|(at, _)| *at == 0 || !block.is_interrupted())
        .map(|(_, m)| Part {
            weight: m.count / total,
            gauss: Gauss::of(family, &m, &prior),
            moments: m,
            prior: prior.clone(),
        })
        .collect();
    let options = EmOptions {
        max_iterations: 30,
        tolerance: 1e-4,
        penalty_cap: PENALTY_CAP,
        drop_below: (delta * total).max(1.5),
    };
    let log_likelihood = em(family, block, weights, None, &mut parts, options, None);
    (parts, log_likelihood)
}

/// A lone row says nothing of any spread: it gets that of the frame. Two rows or more speak for themselves.
fn floor_of(n_rows: usize) -> f64 {
    if n_rows < 2 { 1.0 } else { VARIANCE_FLOOR }
}
