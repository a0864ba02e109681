//! Changes to the data that must not change what is learnt.

use super::Subject;
use super::rows::BATCH;
use super::stream::{SEED, Stream, mixture, three_clusters};
use super::subject::mean_log_density;
use crate::data::Batch;
use crate::model::{Kind, Model};

/// Rounding differs between two forms of the same data, and every batch carries it on. The clusters are so clear that
/// no decision hangs on it; what is left is rounding, amplified by iteration.
const ROUNDING: f64 = 1e-6;

/// The same data in another form must give the same K and the same density, up to the change of units.
fn ensure_same(
    subject: &Subject,
    stream: &Stream,
    log_jacobian: f64,
    form: impl Fn(&[f64]) -> Vec<f64>,
) -> Result<(), String> {
    let d = stream.n_columns;
    let plain = subject.fitted(&stream.rows, d, SEED)?;
    let formed = subject.fitted(&form(&stream.rows), d, SEED)?;
    let k = (plain.snapshot().k_realized(), formed.snapshot().k_realized());
    subject.ensure(k.0 == k.1, || format!("{} components become {}", k.0, k.1))?;
    let expected = mean_log_density(&plain, &stream.held_out) + log_jacobian;
    let found = mean_log_density(&formed, &form(&stream.held_out));
    subject.ensure((expected - found).abs() < ROUNDING, || {
        format!("the mean log-density is {found} instead of {expected}, with {} components", k.0)
    })
}

pub(super) fn permutation(subject: &Subject) -> Result<(), String> {
    let stream = three_clusters(3000, SEED + 20);
    let turned = |rows: &[f64]| rows.chunks(3).flat_map(|r| [r[2], r[0], r[1]]).collect();
    ensure_same(subject, &stream, 0.0, turned)
}

pub(super) fn translation(subject: &Subject) -> Result<(), String> {
    let stream = three_clusters(3000, SEED + 21);
    let offsets = [300.0, -4000.0, 0.25];
    let moved = |rows: &[f64]| rows.iter().enumerate().map(|(i, v)| v + offsets[i % 3]).collect();
    ensure_same(subject, &stream, 0.0, moved)
}

pub(super) fn scale(subject: &Subject) -> Result<(), String> {
    let stream = three_clusters(3000, SEED + 22);
    // PPCA has one noise variance for all columns, so only a common change of units leaves it what it is.
    let factors = match subject.kind() {
        Kind::MppcaOfab | Kind::MppcaFab | Kind::MppcaSvb | Kind::MppcaStrust | Kind::MppcaSdaDp => [7e3; 3],
        _ => [1e-3, 7.0, 3e5],
    };
    let log_jacobian = -factors.iter().map(|f| f64::ln(*f)).sum::<f64>();
    let scaled = |rows: &[f64]| rows.iter().enumerate().map(|(i, v)| v * factors[i % 3]).collect();
    ensure_same(subject, &stream, log_jacobian, scaled)
}

fn fit_weighted(subject: &Subject, rows: &[f64], weights: &[f64], d: usize, n_rows: usize) -> Result<Model, String> {
    let mut model = subject.model(d, SEED)?;
    for (rows, weights) in rows.chunks(n_rows * d).zip(weights.chunks(n_rows)) {
        let batch = Batch::new(rows, d).and_then(|b| b.with_weights(weights)).map_err(|e| e.to_string())?;
        model.update(&batch).map_err(|e| e.to_string())?;
    }
    model.finish();
    Ok(model)
}

/// What remains of the choice of start, of the moments at which structure is looked at, and of the order of rows: a
/// share of the estimation error of a mixture with P parameters from N rows, P/2N nats.
fn of_estimation_error(stream: &Stream, share: f64) -> f64 {
    let n = (stream.rows.len() / stream.n_columns) as f64;
    share * stream.truth.n_free() / (2.0 * n)
}

/// Interleaves every row with one of weight zero.
fn with_ghosts(subject: &Subject, ghost_of: impl Fn(usize, usize) -> f64) -> Result<(), String> {
    let stream = three_clusters(3000, SEED + 23);
    let d = stream.n_columns;
    let plain = fit_weighted(subject, &stream.rows, &vec![1.0; 3000], d, BATCH)?;
    let mut rows = Vec::new();
    for (i, row) in stream.rows.chunks(d).enumerate() {
        rows.extend_from_slice(row);
        rows.extend((0..d).map(|j| ghost_of(i, j)));
    }
    let weights: Vec<f64> = (0..6000).map(|i| f64::from(1 - i % 2)).collect();
    let haunted = fit_weighted(subject, &rows, &weights, d, 2 * BATCH)?;
    ensure_alike(subject, &stream, &plain, &haunted)
}

fn ensure_alike(subject: &Subject, stream: &Stream, plain: &Model, other: &Model) -> Result<(), String> {
    let (expected, found) = (mean_log_density(plain, &stream.held_out), mean_log_density(other, &stream.held_out));
    let tolerance = of_estimation_error(stream, 1.0);
    subject.ensure((expected - found).abs() < tolerance, || {
        let k = (plain.snapshot().k_realized(), other.snapshot().k_realized());
        format!("the mean log-density is {found} instead of {expected} ± {tolerance}; components {k:?}")
    })
}

pub(super) fn weight_zero(subject: &Subject) -> Result<(), String> {
    // Between and around the clusters.
    with_ghosts(subject, |i, j| ((i * 7 + j * 5) % 23) as f64 - 11.0)
}

pub(super) fn weight_zero_far(subject: &Subject) -> Result<(), String> {
    with_ghosts(subject, |i, j| 1e6 + ((i * 7 + j * 5) % 23) as f64)
}

pub(super) fn weight_two(subject: &Subject) -> Result<(), String> {
    let stream = mixture(4, 3, 4000, SEED + 24);
    let d = stream.n_columns;
    let weighted = fit_weighted(subject, &stream.rows, &vec![2.0; 4000], d, BATCH)?;
    let twice: Vec<f64> = stream.rows.chunks(d).flat_map(|row| [row, row].concat()).collect();
    let repeated = fit_weighted(subject, &twice, &vec![1.0; 8000], d, 2 * BATCH)?;
    ensure_alike(subject, &stream, &repeated, &weighted)
}
