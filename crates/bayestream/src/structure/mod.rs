//! How a row attaches to components: state, snapshot, scoring and merging, written once per structure.

mod clusters;
mod evaluate;
mod evaluation;
mod event;
mod features;
mod labels;
mod pool;
mod reasons;
mod recent;
mod scorer;
mod snapshot;
mod topics;

pub use clusters::{Cluster, Clustering};
pub use evaluate::{HoleScratch, Posterior, RowBlock};
pub use evaluation::{Evaluation, Member};
pub use event::{ComponentId, EVENTS_KEPT, Event, EventLog, Happening};
pub use features::{Feature, FeatureReader, FeatureScore, FeatureScorer, FeatureSet, Reading};
pub use labels::{LabelMoment, LabelSummary, LabelTopic};
pub use pool::{BROAD_DOF, HEAVY_DOF, POOLED, Pool, PoolTable, Predictions, mix};
pub use reasons::Reason;
pub use scorer::{RowScore, Scorer};
pub use snapshot::{Component, LogScore, PooledSnapshot, Snapshot};
pub use topics::{DocumentScores, Topic, TopicHistory};
