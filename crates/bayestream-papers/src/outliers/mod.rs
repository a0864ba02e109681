//! Outliers of a stream: why a row is one, and when the stream itself has changed.

pub mod drift;
pub mod reasons;
pub mod skab;
