//! How many comparisons a check has made: one that made none says nothing.

use std::cell::Cell;

/// Comparisons so far.
#[derive(Clone, Debug, Default)]
pub struct Tally(Cell<u64>);

impl Tally {
    /// One comparison: an error with this message unless it holds.
    pub fn ensure(&self, holds: bool, message: impl FnOnce() -> String) -> Result<(), String> {
        self.0.set(self.0.get() + 1);
        if holds { Ok(()) } else { Err(message()) }
    }

    /// Counts from zero again.
    pub fn restart(&self) {
        self.0.set(0);
    }

    /// Comparisons since then.
    pub fn n_compared(&self) -> u64 {
        self.0.get()
    }
}

/// A subject of checks.
pub trait Tallied {
    /// Its comparisons.
    fn tally(&self) -> &Tally;
}
