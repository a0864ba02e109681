//! What the order, the units and the origins of columns may not change.

use super::subject::{FeatureSubject, estimation_error, mean_log_density, planted};
use crate::conformance::rows::RowSubject;
use crate::conformance::stream::SEED;

/// The same rows seen in two ways must give as many features, and the same log-density but for the change of units.
fn ensure_same(
    subject: &FeatureSubject,
    seed: u64,
    log_jacobian: f64,
    seen: impl Fn(&[f64]) -> Vec<f64>,
) -> Result<(), String> {
    let truth = planted(seed);
    let (n, d) = (1500, truth.n_columns());
    let (rows, fresh) = (truth.rows(0, n), truth.rows(50_000, 1000));
    let plain = subject.fit(&rows, d, seed)?;
    let other = subject.fit(&seen(&rows), d, seed)?;
    let (expected, found) = (mean_log_density(&plain, &fresh), mean_log_density(&other, &seen(&fresh)) - log_jacobian);
    // Starts and moves may fall out otherwise: a share of the estimation error.
    let tolerance = 0.25 * estimation_error(&truth, n);
    subject.holds((expected - found).abs() < tolerance, || format!("{found} instead of {expected} ± {tolerance}"))?;
    let k = (plain.snapshot().k_realized(), other.snapshot().k_realized());
    subject.holds(k.0 == k.1, || format!("{k:?} features"))
}

pub(super) fn permutation(subject: &FeatureSubject) -> Result<(), String> {
    let turned = |rows: &[f64]| rows.chunks(4).flat_map(|r| [r[2], r[0], r[3], r[1]]).collect();
    ensure_same(subject, SEED + 110, 0.0, turned)
}

pub(super) fn units(subject: &FeatureSubject) -> Result<(), String> {
    let (factors, offsets) = ([1e-3, 7.0, -3e5, 1.0], [300.0, -4000.0, 0.25, 1e4]);
    let log_jacobian = -factors.iter().map(|f: &f64| f.abs().ln()).sum::<f64>();
    let seen = |rows: &[f64]| rows.iter().enumerate().map(|(i, v)| (v + offsets[i % 4]) * factors[i % 4]).collect();
    ensure_same(subject, SEED + 111, log_jacobian, seen)
}
