//! Streams whose truth changes: at once, or little by little.

use super::{Covariance, Truth, ofab_truth, purpose};
use crate::family::Gauss;
use crate::num;
use std::ops::Range;

/// A part of a stream in which the truth stays the same.
#[derive(Clone, Debug, PartialEq)]
pub struct Segment {
    /// Its batches, from zero.
    pub batches: Range<usize>,
    /// The components it is drawn from.
    pub components: Range<usize>,
}

/// Case 2 of the online FAB paper: ten components in three columns, 500 batches of ten rows; the first three
/// components in batches 1–150, the next three in 151–295, the last four in 296–500.
#[derive(Clone, Debug)]
pub struct AbruptDrift {
    /// All components.
    pub truth: Truth,
    /// What the stream is drawn from, and when.
    pub segments: Vec<Segment>,
    /// Rows per batch.
    pub batch: usize,
}

impl AbruptDrift {
    /// The stream with parameters drawn from this seed.
    pub fn new(covariance: Covariance, seed: u64) -> AbruptDrift {
        let segment = |batches, components| Segment { batches, components };
        AbruptDrift {
            truth: ofab_truth(10, 3, covariance, seed),
            segments: vec![segment(0..150, 0..3), segment(150..295, 3..6), segment(295..500, 6..10)],
            batch: 10,
        }
    }

    /// The mixture behind one segment.
    pub fn truth_of(&self, segment: &Segment) -> Truth {
        self.truth.only(segment.components.clone())
    }

    /// All rows, row-major, and the component (of all ten) each came from.
    pub fn sample(&self, seed: u64) -> (Vec<f64>, Vec<u32>) {
        let (mut rows, mut labels) = (Vec::new(), Vec::new());
        for (segment_ix, segment) in self.segments.iter().enumerate() {
            let truth = self.truth_of(segment);
            let mut draws = truth.draws_of_part(seed, segment_ix as u64);
            let first = labels.len();
            draws.extend(segment.batches.len() * self.batch, &mut rows, &mut labels);
            labels[first..].iter_mut().for_each(|label| *label += segment.components.start as u32);
        }
        (rows, labels)
    }
}

/// A mixture whose means move in straight lines, each by the same number of its own standard deviations (in
/// Mahalanobis distance), while covariances and weights stay.
#[derive(Clone, Debug)]
pub struct GradualDrift {
    /// The mixture at the first row.
    pub start: Truth,
    /// Where each mean goes: its displacement over the whole way.
    pub displacements: Vec<Vec<f64>>,
    /// Rows it takes; the means stay where they are afterwards.
    pub n_rows: usize,
}

impl GradualDrift {
    /// Moves the means of `start` by `n_sd` standard deviations over `n_rows` rows, in random directions.
    pub fn new(start: Truth, n_sd: f64, n_rows: usize, seed: u64) -> GradualDrift {
        let d = start.n_columns();
        let mut rng = num::stream(seed, purpose::PATHS, 0);
        let displacements = start
            .covariances
            .iter()
            .map(|covariance| {
                let direction: Vec<f64> = (0..d).map(|_| rng.normal()).collect();
                let gauss = Gauss::with_covariance(&vec![0.0; d], covariance);
                let mut whitened = vec![0.0; d];
                gauss.whitened(&direction, &mut whitened);
                let length = whitened.iter().map(|z| z * z).sum::<f64>().sqrt();
                direction.iter().map(|x| x * n_sd / length).collect()
            })
            .collect();
        GradualDrift { start, displacements, n_rows }
    }

    /// The mixture that row number `row`, from zero, is drawn from.
    pub fn truth_at(&self, row: usize) -> Truth {
        let share = (row as f64 / self.n_rows.max(1) as f64).min(1.0);
        let mut truth = self.start.clone();
        for (mean, way) in truth.means.iter_mut().zip(&self.displacements) {
            mean.iter_mut().zip(way).for_each(|(m, step)| *m += share * step);
        }
        truth
    }

    /// `n` rows, row-major, and the component each came from.
    pub fn sample(&self, n: usize, seed: u64) -> (Vec<f64>, Vec<u32>) {
        let (mut rows, labels) = self.start.sample(n, seed);
        let d = self.start.n_columns();
        for (row, (cells, label)) in rows.chunks_mut(d.max(1)).zip(&labels).enumerate() {
            let share = (row as f64 / self.n_rows.max(1) as f64).min(1.0);
            let way = &self.displacements[*label as usize];
            cells.iter_mut().zip(way).for_each(|(cell, step)| *cell += share * step);
        }
        (rows, labels)
    }

    /// The log-density of each row under the mixture of its own moment; the first row of `rows` is row 0.
    pub fn log_density(&self, rows: &[f64]) -> Vec<f64> {
        let d = self.start.n_columns();
        if d == 0 {
            return Vec::new();
        }
        rows.chunks(d).enumerate().map(|(row, cells)| self.truth_at(row).log_density(cells)[0]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_paper_s_stream_has_its_segments() {
        let drift = AbruptDrift::new(Covariance::Aat, 21);
        let (rows, labels) = drift.sample(4);
        assert_eq!((rows.len(), labels.len()), (15_000, 5_000));
        for (range, components) in [(0..1500, 0..3), (1500..2950, 3..6), (2950..5000, 6..10)] {
            let seen = &labels[range];
            assert!(seen.iter().all(|l| components.contains(l)));
            assert!(components.clone().all(|l| seen.contains(&l)));
        }
    }

    #[test]
    fn means_move_by_the_distance_asked_for_and_then_stay() {
        let start = ofab_truth(4, 3, Covariance::Spd, 5);
        let drift = GradualDrift::new(start.clone(), 3.0, 20_000, 6);
        assert_eq!(drift.truth_at(0), start);
        let end = drift.truth_at(20_000);
        assert_eq!(drift.truth_at(90_000), end);
        for k in 0..4 {
            let gauss = Gauss::with_covariance(&start.means[k], &start.covariances[k]);
            let mut whitened = vec![0.0; 3];
            gauss.whitened(&end.means[k], &mut whitened);
            let moved = whitened.iter().map(|z| z * z).sum::<f64>().sqrt();
            assert!((moved - 3.0).abs() < 1e-9);
        }
    }

    #[test]
    fn each_row_is_scored_at_its_own_moment() {
        let drift = GradualDrift::new(ofab_truth(2, 2, Covariance::Aat, 5), 3.0, 50, 6);
        let (rows, _) = drift.sample(80, 7);
        let scores = drift.log_density(&rows);
        assert_eq!(scores[30], drift.truth_at(30).log_density(&rows[60..62])[0]);
        assert_eq!(scores[79], drift.truth_at(50).log_density(&rows[158..160])[0]);
    }
}
