//! The lower bound of the criterion, which every step raises.

use super::parameters::{Parameters, ln_rest, ln_share};
use super::statistics::Statistics;
use crate::num;

/// L of [FAB/LFM] (10), by the statistics of the rows (sums, not averages), what the parameters leave over of each column
/// ([`Parameters::misfit`]), and the entropy of q(Z).
pub fn bound(statistics: &Statistics, p: &Parameters, misfit: &[f64], entropy: f64) -> f64 {
    let n = statistics.mass();
    if n <= 0.0 {
        return 0.0;
    }
    // (4), linear in the mean of μ around π̃ = π.
    let penalty = |k: usize| {
        let (mean, share) = (statistics.share(k), p.shares[k].max(1e-300));
        0.5 * p.d as f64 * ((n * share).ln() + (mean - share) / share)
    };
    let penalties: f64 = (0..p.k).map(penalty).sum();
    expected_log_likelihood(statistics, p, misfit) + entropy - penalties - 0.5 * (2 * p.d + p.k) as f64 * n.ln()
}

/// E\[log p(X, Z)\].
pub fn expected_log_likelihood(statistics: &Statistics, p: &Parameters, misfit: &[f64]) -> f64 {
    let cells: f64 = (0..p.d)
        .map(|j| 0.5 * (statistics.counts[j] * (p.precision[j].ln() - num::LN_2PI) - p.precision[j] * misfit[j]))
        .sum();
    let prior = |k: usize| {
        let mean = statistics.share(k);
        statistics.mass() * (mean * ln_share(p.shares[k]) + (1.0 - mean) * ln_rest(p.shares[k]))
    };
    cells + (0..p.k).map(prior).sum::<f64>()
}
