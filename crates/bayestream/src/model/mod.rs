//! The closed edge: kinds, settings, one `Model` over every learner, files, merging, errors.

mod documents;
mod error;
mod features;
mod file;
mod kind;
mod linear;
mod memory;
mod merge;
mod parse;
mod rows;
mod settings;
mod watching;

pub use documents::{
    DOCUMENT_KINDS, DocumentConfig, DocumentKind, DocumentModel, DocumentSettings, DocumentStep, TopWord, TopicSnapshot,
};
pub use error::{ConfigError, FormatError, MergeError, UpdateError};
pub use features::{
    FEATURE_KINDS, FEATURE_SETTINGS, FeatureConfig, FeatureKind, FeatureModel, FeatureSettings, FeatureSnapshot,
};
pub use file::{FORMAT_VERSION, Header, read_header};
pub use kind::{AnyKind, KINDS, Kind, KindInfo, nearest};
pub use linear::{
    CovarianceChoice, FULL_UP_TO, FeatureChoice, FeatureWeight, LINEAR_KINDS, LINEAR_SETTINGS, LabelSummary,
    LinearChoices, LinearConfig, LinearError, LinearKind, LinearModel, LinearSnapshot, LinearStep,
};
pub use memory::{DEFAULT_MEMORY, parse_bytes};
pub use settings::{
    DirichletSettings, MomentSettings, PruneMerge, SETTINGS, ScaleChoice, SettingInfo, Settings, Variant,
};
pub use watching::Judge;

use crate::data::{Batch, DataError};
use crate::engine::bmm::{KnownVariance, MomentMatcher, WishartPart};
use crate::engine::dp::{DirichletMixture, Rule};
use crate::engine::fab::Fab;
use crate::engine::ofab::Ofab;
use crate::engine::ofab_paper::OfabPaper;
use crate::engine::vb::{SdaDp, Strust, Svb, Vb};
use crate::engine::{Learner, StepReport};
use crate::family::{FullGaussian, Ppca};
use crate::interrupt::{Interrupt, Interrupted};
use crate::outlier::{Watch, WatchWork};
use crate::structure::{Clustering, EventLog, LogScore, Scorer, Snapshot};
use parse::check_values;
use rows::{check_batch, check_columns, with_rows_that_count};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// Everything a new model needs to know.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Config {
    /// What to learn, and how.
    pub kind: Kind,
    /// All settings.
    pub settings: Settings,
    /// Seed of every random choice.
    pub seed: u64,
    /// Number of this learner among those of one stream; part of its components' names.
    pub shard: u32,
    /// Names of the columns.
    pub columns: Vec<String>,
    /// Bytes that a new model may need ([`Config::memory_needed`]). No part of the model or of its file.
    #[serde(skip, default = "memory::default_memory")]
    pub memory_limit: u64,
}

impl Config {
    /// A configuration with default settings.
    pub fn new(kind: Kind, columns: Vec<String>) -> Config {
        let memory_limit = DEFAULT_MEMORY;
        Config { kind, settings: Settings::default(), seed: 0, shard: 0, columns, memory_limit }
    }

    fn check(&self) -> Result<(), ConfigError> {
        check_columns(&self.columns, "a model needs at least one column")?;
        check_values(&self.settings, Settings::of_kind(self.kind))?;
        match self.kind.has_prior() {
            true => self.settings.dirichlet.check(self.columns.len()),
            false => Ok(()),
        }
    }
}

/// A model of any kind: the learner, with the names of its columns.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Model {
    config: Config,
    body: Body,
    /// What judging rows remembers; none before the first row was watched.
    watch: Option<Watch>,
    #[serde(skip)]
    work: WatchWork,
}

/// The learners. The compiler makes files, merging and scoring handle each new one.
#[derive(Clone, Debug, Serialize, Deserialize)]
enum Body {
    GmmOfab(Ofab<FullGaussian>),
    MppcaOfab(Ofab<Ppca>),
    GmmPaper(OfabPaper<FullGaussian>),
    MppcaPaper(OfabPaper<Ppca>),
    GmmFab(Fab<FullGaussian>),
    MppcaFab(Fab<Ppca>),
    Dirichlet(Box<DirichletMixture>),
    GmmSvb(Vb<FullGaussian, Svb>),
    MppcaSvb(Vb<Ppca, Svb>),
    GmmStrust(Vb<FullGaussian, Strust>),
    MppcaStrust(Vb<Ppca, Strust>),
    GmmSdaDp(Vb<FullGaussian, SdaDp>),
    MppcaSdaDp(Vb<Ppca, SdaDp>),
    Gaussian1dBmm(Box<MomentMatcher<KnownVariance>>),
    GmmBmm(Box<MomentMatcher<WishartPart>>),
}

impl Body {
    fn learner(&self) -> &dyn Learner {
        match self {
            Body::GmmOfab(l) => l,
            Body::MppcaOfab(l) => l,
            Body::GmmPaper(l) => l,
            Body::MppcaPaper(l) => l,
            Body::GmmFab(l) => l,
            Body::MppcaFab(l) => l,
            Body::Dirichlet(l) => l.as_ref(),
            Body::GmmSvb(l) => l,
            Body::MppcaSvb(l) => l,
            Body::GmmStrust(l) => l,
            Body::MppcaStrust(l) => l,
            Body::GmmSdaDp(l) => l,
            Body::MppcaSdaDp(l) => l,
            Body::Gaussian1dBmm(l) => l.as_ref(),
            Body::GmmBmm(l) => l.as_ref(),
        }
    }

    fn learner_mut(&mut self) -> &mut dyn Learner {
        match self {
            Body::GmmOfab(l) => l,
            Body::MppcaOfab(l) => l,
            Body::GmmPaper(l) => l,
            Body::MppcaPaper(l) => l,
            Body::GmmFab(l) => l,
            Body::MppcaFab(l) => l,
            Body::Dirichlet(l) => l.as_mut(),
            Body::GmmSvb(l) => l,
            Body::MppcaSvb(l) => l,
            Body::GmmStrust(l) => l,
            Body::MppcaStrust(l) => l,
            Body::GmmSdaDp(l) => l,
            Body::MppcaSdaDp(l) => l,
            Body::Gaussian1dBmm(l) => l.as_mut(),
            Body::GmmBmm(l) => l.as_mut(),
        }
    }
}

impl Model {
    /// A model that has seen nothing.
    pub fn new(config: Config) -> Result<Model, ConfigError> {
        config.check()?;
        config.check_memory()?;
        let body = match (config.kind, config.settings.variant) {
            (Kind::GmmOfab, Variant::Default) => Body::GmmOfab(Ofab::new(&config)),
            (Kind::MppcaOfab, Variant::Default) => Body::MppcaOfab(Ofab::new(&config)),
            (Kind::GmmOfab, Variant::Paper) => Body::GmmPaper(OfabPaper::new(&config)),
            (Kind::MppcaOfab, Variant::Paper) => Body::MppcaPaper(OfabPaper::new(&config)),
            (Kind::GmmFab, _) => Body::GmmFab(Fab::new(&config)),
            (Kind::MppcaFab, _) => Body::MppcaFab(Fab::new(&config)),
            (Kind::GmmSugs, _) => Body::Dirichlet(Box::new(DirichletMixture::new(&config, Rule::Sugs))),
            (Kind::GmmAsugs, _) => Body::Dirichlet(Box::new(DirichletMixture::new(&config, Rule::Asugs))),
            (Kind::GmmSva, _) => Body::Dirichlet(Box::new(DirichletMixture::new(&config, Rule::Sva))),
            (Kind::GmmDp, _) => Body::Dirichlet(Box::new(DirichletMixture::new(&config, Rule::Lazy))),
            (Kind::GmmSvb, _) => Body::GmmSvb(Vb::new(&config)),
            (Kind::MppcaSvb, _) => Body::MppcaSvb(Vb::new(&config)),
            (Kind::GmmStrust, _) => Body::GmmStrust(Vb::new(&config)),
            (Kind::MppcaStrust, _) => Body::MppcaStrust(Vb::new(&config)),
            (Kind::GmmSdaDp, _) => Body::GmmSdaDp(Vb::new(&config)),
            (Kind::MppcaSdaDp, _) => Body::MppcaSdaDp(Vb::new(&config)),
            (Kind::Gaussian1dBmm, _) => Body::Gaussian1dBmm(Box::new(MomentMatcher::new(&config))),
            (Kind::GmmBmm, _) => Body::GmmBmm(Box::new(MomentMatcher::new(&config))),
        };
        Ok(Model { config, body, watch: None, work: WatchWork::default() })
    }

    /// The configuration.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The names of the columns.
    pub fn columns(&self) -> &[String] {
        &self.config.columns
    }

    /// Learns from a batch. All or nothing: after an error the model is as it was.
    pub fn update(&mut self, batch: &Batch<'_>) -> Result<StepReport, UpdateError> {
        self.check(batch)?;
        // Only steps that take long are worth a copy to return to.
        let before = self.body.learner().asks_within(batch.n_rows()).then(|| self.body.clone());
        let report = with_rows_that_count(batch, |batch| self.body.learner_mut().update(batch))?;
        match before {
            Some(before) if self.body.learner().is_interrupted() => {
                self.body = before;
                Ok(StepReport { is_interrupted: true, k_implemented: self.k_implemented(), ..StepReport::default() })
            }
            _ => Ok(report),
        }
    }

    /// Long steps of later updates ask this whether to stop; one that does leaves the model as it was before the batch,
    /// and the report says so. Not part of the model: neither saved nor merged.
    pub fn heed(&mut self, interrupt: &Interrupt) {
        self.body.learner_mut().heed(interrupt);
    }

    /// Ends a pass. Batch kinds fit here; without it they fit whenever a snapshot is asked for.
    pub fn finish(&mut self) {
        self.body.learner_mut().finish();
    }

    /// The same, but for an interrupt, after which the model is as it was before: a batch kind has its rows and no fit.
    pub fn finish_unless(&mut self, interrupt: &Interrupt) -> Result<(), Interrupted> {
        self.body.learner_mut().finish_unless(interrupt)
    }

    /// This model, ready to score: where the first model waits for more rows, the one that is made of those there are, and
    /// batch kinds fitted.
    pub fn ready(&self) -> Cow<'_, Model> {
        if self.k_implemented() > 0 || self.n_seen() == 0 {
            return Cow::Borrowed(self);
        }
        let mut ready = self.clone();
        ready.body.learner_mut().begin_early();
        ready.finish();
        Cow::Owned(ready)
    }

    /// Rows after which rows are scored before they are learnt: the first model is made of so many. None for batch kinds,
    /// which fit at the end.
    pub fn scores_after(&self) -> Option<u64> {
        self.body.learner().scores_after()
    }

    /// The small model of what was seen, with the shrinkage threshold of the settings.
    pub fn snapshot(&self) -> Snapshot {
        self.snapshot_at(self.config.settings.least_share(self.k_implemented()))
    }

    /// The same with another threshold: components with a smaller share of the rows are left out.
    pub fn snapshot_at(&self, delta: f64) -> Snapshot {
        let learner = self.body.learner();
        Snapshot {
            n_seen: learner.n_seen(),
            columns: self.config.columns.clone(),
            k_implemented: learner.k_implemented(),
            components: learner.realize(delta),
            pool: learner.pooled(),
            log_score: learner.log_score(),
            events: learner.events().clone(),
        }
    }

    /// A scorer of the master model as it is now: what `watch` uses between updates.
    pub fn scorer(&self) -> Scorer {
        self.body.learner().scorer()
    }

    /// Finds the clusters of the master model anew if they are due: its components changed, or it grew by a tenth.
    pub fn renew_clusters(&self, clusters: &mut Clustering) {
        let (rows, n_events) = (self.n_seen(), self.events().n_total());
        if clusters.is_due(self.k_implemented(), self.config.columns.len(), rows, n_events) {
            *clusters = Clustering::new(&self.scorer().clusters(), rows, n_events);
        }
    }

    /// Rows seen.
    pub fn n_seen(&self) -> u64 {
        self.body.learner().n_seen()
    }

    /// Components in the master model.
    pub fn k_implemented(&self) -> usize {
        self.body.learner().k_implemented()
    }

    /// What happened so far.
    pub fn events(&self) -> &EventLog {
        self.body.learner().events()
    }

    /// Rows seen when `max-components` last kept out a component that rows asked for, while that is so.
    pub fn full_at(&self) -> Option<u64> {
        let is_full = self.k_implemented() >= self.config.settings.max_components;
        self.events().full_at(self.n_seen(), is_full)
    }

    /// The names of columns that count: they go one way along the stream, as row numbers, times and sorted columns do. Rows
    /// to come lie where none has been, and are predicted as such.
    pub fn counting_columns(&self) -> Vec<&str> {
        self.body.learner().counting().into_iter().map(|j| self.config.columns[j].as_str()).collect()
    }

    /// Log-scores along the stream.
    pub fn log_score(&self) -> LogScore {
        self.body.learner().log_score()
    }

    fn check(&self, batch: &Batch<'_>) -> Result<(), DataError> {
        check_batch(self.config.columns.len(), batch)
    }
}
