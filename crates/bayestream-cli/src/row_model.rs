//! Models that learn from rows of numbers, seen alike by the loop of `fit`.

use crate::error::Failure;
use crate::model_file::Stored;
use bayestream::data::{Batch, DataError};
use bayestream::engine::StepReport;
use bayestream::interrupt::{Interrupt, Interrupted};
use bayestream::model::{Config, FeatureConfig, FeatureModel, Model};
use bayestream::structure::Snapshot;

/// A model that learns from rows.
pub trait RowModel: Stored + Sized {
    /// What it begins with.
    type Config;
    /// What one of its parts is called.
    const PART: &'static str;

    /// A model of these columns that has seen nothing.
    fn begin(config: Self::Config, columns: Vec<String>) -> Result<Self, Failure>;

    /// The kind's name.
    fn kind_name(&self) -> &'static str;

    /// The names of the columns.
    fn columns(&self) -> &[String];

    /// Rows seen.
    fn n_seen(&self) -> u64;

    /// Learns from a batch.
    fn update(&mut self, batch: &Batch<'_>) -> Result<StepReport, DataError>;

    /// Long steps of later updates ask this whether to stop.
    fn heed(&mut self, interrupt: &Interrupt);

    /// Ends a pass, unless it is interrupted.
    fn finish(&mut self, interrupt: &Interrupt) -> Result<(), Interrupted>;

    /// Rows after which rows are scored before they are learnt; none for kinds that fit at the end.
    fn scores_after(&self) -> Option<u64>;

    /// What was found so far.
    fn found(&self) -> Found;
}

/// What a model has found.
pub struct Found {
    /// Parts in the snapshot.
    pub k_realized: usize,
    /// Clusters that its parts make, for kinds whose parts make any.
    pub n_clusters: Option<usize>,
    /// Parts held while learning.
    pub k_implemented: usize,
    /// Mean log-score of rows before they were learnt, in nats.
    pub log_score: f64,
    /// Rows that it is the mean of.
    pub n_scored: u64,
    /// The most components there may be, and the row when that last kept one out, while it does.
    pub full: Option<(usize, u64)>,
    /// Columns that go one way along the stream.
    pub counting: Vec<String>,
}

macro_rules! row_model {
    ($model:ident, $config:ident, $part:literal, $heed:expr, $n_clusters:expr, $full:expr, $counting:expr) => {
        impl RowModel for $model {
            type Config = $config;
            const PART: &'static str = $part;

            fn begin(config: $config, columns: Vec<String>) -> Result<$model, Failure> {
                Ok($model::new($config { columns, ..config })?)
            }

            fn kind_name(&self) -> &'static str {
                self.config().kind.name()
            }

            fn columns(&self) -> &[String] {
                self.columns()
            }

            fn n_seen(&self) -> u64 {
                self.n_seen()
            }

            fn update(&mut self, batch: &Batch<'_>) -> Result<StepReport, DataError> {
                self.update(batch)
            }

            fn heed(&mut self, interrupt: &Interrupt) {
                $heed(self, interrupt);
            }

            fn finish(&mut self, interrupt: &Interrupt) -> Result<(), Interrupted> {
                self.finish_unless(interrupt)
            }

            fn scores_after(&self) -> Option<u64> {
                self.scores_after()
            }

            fn found(&self) -> Found {
                let snapshot = self.snapshot();
                Found {
                    n_clusters: $n_clusters(&snapshot),
                    k_realized: snapshot.k_realized(),
                    k_implemented: snapshot.k_implemented,
                    log_score: snapshot.log_score.prequential_mean,
                    n_scored: snapshot.log_score.n_scored,
                    full: $full(self),
                    counting: $counting(self),
                }
            }
        }
    };
}

row_model!(
    Model,
    Config,
    "component",
    Model::heed,
    |snapshot: &Snapshot| Some(snapshot.clusters().len()),
    |model: &Model| model.full_at().map(|row| (model.config().settings.max_components, row)),
    |model: &Model| model.counting_columns().into_iter().map(String::from).collect()
);
row_model!(FeatureModel, FeatureConfig, "feature", |_, _| (), |_| None, |_| None, |_| Vec::new());
