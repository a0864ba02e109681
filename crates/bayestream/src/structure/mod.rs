//! How a row attaches to components: state, snapshot, scoring and merging, written once per structure.

mod evaluate;
mod evaluation;
mod event;
mod features;
mod labels;
mod reasons;
mod recent;
mod scorer;
mod snapshot;
mod topics;

pub use evaluate::{HoleScratch, Posterior, RowBlock};
pub use evaluation::{Evaluation, Member};
pub use event::{ComponentId, EVENTS_KEPT, Event, EventLog, Happening};
pub use features::{Feature, FeatureReader, FeatureScore, FeatureScorer, FeatureSet, Reading};
pub use labels::{LabelMoment, LabelSummary, LabelTopic};
pub use reasons::Reason;
pub use scorer::{RowScore, Scorer};
pub use snapshot::{Component, LogScore, Snapshot};
pub use topics::{DocumentScores, Topic, TopicHistory};
