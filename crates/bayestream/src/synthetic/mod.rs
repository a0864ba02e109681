//! Data with a known answer: the papers' generators, each with the true model beside its rows.
//!
//! Everything is a pure function of its arguments and a seed. A longer sample begins with the shorter one.

mod ofab;
mod truth;

pub use ofab::{Covariance, UnknownCovariance, ofab_truth};
pub use truth::{Draws, Truth};

/// Keys of the random streams, so that parameters and rows of one seed are unrelated.
mod purpose {
    pub const PARAMETERS: u64 = 0x7472_7574_6800;
    pub const ROWS: u64 = 0x726f_7773_0000;
}
