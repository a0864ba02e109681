//! How well rows were foretold before they were learnt.

use serde::{Deserialize, Serialize};

/// Rows foretold before they were learnt, and how it went. Rows that came before there was anything to foretell with,
/// and rows without a label, are not among them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Foretold {
    /// Rows foretold.
    pub n: u64,
    /// Rows with the right label, or with all the right labels and no other.
    pub right: u64,
    /// Rows that the commonest label so far would have got right.
    pub by_commonest: u64,
    /// Labels foretold that were there.
    pub hits: u64,
    /// Labels foretold that were not.
    pub false_alarms: u64,
    /// Labels that were there and were not foretold.
    pub misses: u64,
    /// Sum of the distances between numbers foretold and found.
    pub absolute_error: f64,
    /// The same had the mean of the numbers so far been foretold.
    pub absolute_error_of_mean: f64,
}

impl Foretold {
    fn share(&self, n: u64) -> f64 {
        if self.n == 0 { f64::NAN } else { n as f64 / self.n as f64 }
    }

    /// Share of rows foretold rightly; NaN before the first.
    pub fn accuracy(&self) -> f64 {
        self.share(self.right)
    }

    /// Share of rows that the commonest label so far would have got right.
    pub fn accuracy_of_commonest(&self) -> f64 {
        self.share(self.by_commonest)
    }

    /// F1 over all labels of all rows; NaN before the first.
    pub fn f1(&self) -> f64 {
        let wrong = (self.false_alarms + self.misses) as f64;
        if self.n == 0 { f64::NAN } else { 2.0 * self.hits as f64 / (2.0 * self.hits as f64 + wrong).max(1.0) }
    }

    /// Mean distance between numbers foretold and found; NaN before the first.
    pub fn mean_absolute_error(&self) -> f64 {
        if self.n == 0 { f64::NAN } else { self.absolute_error / self.n as f64 }
    }

    /// The same of foretelling the mean so far.
    pub fn mean_absolute_error_of_mean(&self) -> f64 {
        if self.n == 0 { f64::NAN } else { self.absolute_error_of_mean / self.n as f64 }
    }

    /// Both together.
    pub(super) fn add(&mut self, other: &Foretold) {
        self.n += other.n;
        self.right += other.right;
        self.by_commonest += other.by_commonest;
        self.hits += other.hits;
        self.false_alarms += other.false_alarms;
        self.misses += other.misses;
        self.absolute_error += other.absolute_error;
        self.absolute_error_of_mean += other.absolute_error_of_mean;
    }

    pub(super) fn is_sound(&self) -> bool {
        let finite = self.absolute_error.is_finite() && self.absolute_error_of_mean.is_finite();
        finite && self.right <= self.n && self.by_commonest <= self.n
    }
}
