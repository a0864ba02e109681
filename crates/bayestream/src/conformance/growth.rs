//! Memory over a long stream.

use super::Subject;
use super::stream::{SEED, mixture};
use super::subject::update;

/// Rows per batch.
const BATCH: usize = 500;
/// Ten times the rows may take this much more space: the last events and scores fill up, components come and go.
const GROWTH: f64 = 1.25;

pub(super) fn bounded(subject: &Subject) -> Result<(), String> {
    let stream = mixture(5, 2, 1, SEED + 60);
    let mut model = subject.model(2, SEED + 60)?;
    let mut draws = stream.truth.draws(SEED + 61);
    let (mut rows, mut labels) = (Vec::new(), Vec::new());
    let mut sizes = Vec::new();
    for n_batches in [40, 360] {
        for _ in 0..n_batches {
            rows.clear();
            labels.clear();
            draws.extend(BATCH, &mut rows, &mut labels);
            update(&mut model, &rows)?;
        }
        sizes.push((model.n_seen(), model.save().len()));
    }
    subject.ensure(sizes[1].1 as f64 <= GROWTH * sizes[0].1 as f64, || {
        format!("{} bytes after {} rows, {} after {}", sizes[0].1, sizes[0].0, sizes[1].1, sizes[1].0)
    })
}
