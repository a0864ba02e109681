//! Outliers: rows that the stream does not explain, and streams that have left their model.

mod channel;
mod drift;
mod features;

pub use drift::{DriftAlarm, DriftKind, DriftWatch};
