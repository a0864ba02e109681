//! Outliers in a stream: how unusual each row is among recent ones, before the model learns from it, and whether the
//! stream has left its model.

mod channel;
mod columns;
mod drift;
mod features;
mod ranks;
mod slices;
mod standing;
mod tail;
mod views;
mod watch;

pub use columns::Columns;
pub use drift::{DriftAlarm, DriftKind, DriftWatch};
pub use ranks::Ranks;
pub use slices::Slices;
pub use standing::Standings;
pub use tail::Tail;
pub use views::OneGaussian;
pub use watch::{N_VIEWS, Verdict, Watch, WatchWork};
