//! How a row attaches to components: state, snapshot, scoring and merging, written once per structure.

mod event;
mod snapshot;

pub use event::{ComponentId, EVENTS_KEPT, Event, EventLog, Happening};
pub use snapshot::{Component, LogScore, Snapshot};
