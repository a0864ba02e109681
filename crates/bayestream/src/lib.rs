//! The library: models, with no I/O, no clock, no global random numbers and no threads of its own.
//!
//! A learner eats batches and holds a redundant master model in bounded memory; a snapshot is the small, immutable
//! model handed to people and to scoring.
//!
//! ```
//! use bayestream::data::Batch;
//! use bayestream::model::{Config, Kind, Model};
//!
//! let mut model = Model::new(Config::new(Kind::GmmOfab, vec!["x".into(), "y".into()])).unwrap();
//! let rows: Vec<f64> = (0..400).map(|i| f64::from(i * 7919 % 100) / 100.0).collect();
//! for batch in rows.chunks(50) {
//!     model.update(&Batch::new(batch, 2).unwrap()).unwrap();
//! }
//! let snapshot = model.snapshot();
//! assert!(snapshot.k_realized() >= 1);
//! assert!(snapshot.scorer().mean_log_density(&rows).is_finite());
//! ```

pub mod conformance;
pub mod data;
pub mod engine;
pub mod family;
pub mod interrupt;
pub mod metrics;
pub mod model;
pub mod num;
pub mod outlier;
pub mod structure;
pub mod synthetic;
pub mod text;
