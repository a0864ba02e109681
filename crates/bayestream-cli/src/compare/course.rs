//! How a kind fared along the stream, in a bounded number of stretches.

use bayestream::engine::StepReport;

/// Stretches kept at least, once there are as many; when there are twice as many, neighbours are joined.
const FEWEST_STRETCHES: usize = 64;

/// Some batches on end.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stretch {
    /// Rows seen at its end.
    pub row: u64,
    /// Components in a snapshot at its end; none for a kind that fits at the end of the stream.
    pub k_realized: Option<usize>,
    sum: f64,
    n_scored: u64,
}

impl Stretch {
    /// Mean log-score of its rows before they were learnt, in nats; NaN when none was scored.
    pub fn log_score(&self) -> f64 {
        self.sum / self.n_scored as f64
    }

    fn joined(&self, next: &Stretch) -> Stretch {
        Stretch { sum: self.sum + next.sum, n_scored: self.n_scored + next.n_scored, ..*next }
    }
}

/// The stretches of a stream so far.
#[derive(Clone, Debug)]
pub struct Course {
    stretches: Vec<Stretch>,
    batches_each: u64,
    /// Batches of the stretch that is not full yet.
    n_open: u64,
    open: Stretch,
}

const EMPTY: Stretch = Stretch { row: 0, k_realized: None, sum: 0.0, n_scored: 0 };

impl Course {
    /// Nothing yet.
    pub fn new() -> Course {
        Course { stretches: Vec::new(), batches_each: 1, n_open: 0, open: EMPTY }
    }

    /// Adds a batch; `k_realized` is asked for when a stretch is full.
    pub fn add(&mut self, row: u64, report: &StepReport, k_realized: impl FnOnce() -> Option<usize>) {
        self.open.row = row;
        self.open.sum += report.log_score;
        self.open.n_scored += report.n_scored as u64;
        self.n_open += 1;
        if self.n_open == self.batches_each {
            self.close(k_realized());
        }
    }

    /// Ends the course, with the components found in the end.
    pub fn finish(&mut self, k_realized: usize) {
        if self.n_open > 0 {
            self.close(None);
        }
        if let Some(last) = self.stretches.last_mut() {
            last.k_realized = Some(k_realized);
        }
    }

    /// The stretches so far.
    pub fn stretches(&self) -> &[Stretch] {
        &self.stretches
    }

    fn close(&mut self, k_realized: Option<usize>) {
        self.stretches.push(Stretch { k_realized, ..self.open });
        (self.open, self.n_open) = (EMPTY, 0);
        if self.stretches.len() == 2 * FEWEST_STRETCHES {
            self.stretches = self.stretches.chunks_exact(2).map(|pair| pair[0].joined(&pair[1])).collect();
            self.batches_each *= 2;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_course_stays_short_and_keeps_every_score() {
        let mut course = Course::new();
        for batch in 1..=5000_u64 {
            let report = StepReport { n_rows: 7, n_scored: 7, log_score: -(batch as f64), ..StepReport::default() };
            course.add(7 * batch, &report, || Some(batch as usize));
        }
        course.finish(9);
        let stretches = course.stretches();
        assert!((FEWEST_STRETCHES..=2 * FEWEST_STRETCHES).contains(&stretches.len()), "{}", stretches.len());
        let sum: f64 = stretches.iter().map(|s| s.sum).sum();
        assert_eq!(sum, -(5000.0 * 5001.0 / 2.0));
        assert!(stretches.windows(2).all(|pair| pair[0].row < pair[1].row));
        let last = stretches.last().unwrap();
        assert_eq!((last.row, last.k_realized), (35_000, Some(9)));
        // The components at the end of a stretch are those after its last batch.
        assert_eq!(stretches[0].k_realized, Some((stretches[0].row / 7) as usize));
    }

    #[test]
    fn rows_that_were_not_scored_have_no_mean() {
        let mut course = Course::new();
        course.add(5, &StepReport { n_rows: 5, ..StepReport::default() }, || None);
        assert!(course.stretches()[0].log_score().is_nan());
    }
}
