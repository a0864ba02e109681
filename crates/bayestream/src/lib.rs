//! The library: models, with no I/O, no clock, no global random numbers and no threads of its own.

pub mod num;
