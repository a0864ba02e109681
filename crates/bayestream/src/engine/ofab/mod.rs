//! Online FAB mixtures: one pass, bounded memory, the number of components found on the way.
//!
//! The model: p(x) = Σ_k α_k N(x | μ_k, Σ_k), with Σ_k full or of PPCA form; the posterior of K is taken to be the
//! factorised information criterion, FIC \[OFAB\] (3).
//! The loop, per batch: E-step tilted by −D_k/2c_k; births at rows nobody explains, before the M-step; additive
//! M-step on two statistics; deaths; from time to time merges, deletions and splits judged on a ring of recent rows.
//! A snapshot is a copy of the slow statistics, shrunk by FIC; the master keeps its redundancy.
//!
//! Key: α_k share of the masses · c_k count of a component's statistics · D_k its free parameters · δ smallest share
//! of a snapshot · q_ik responsibility · N rows seen · F, A the fast and the slow statistics.

mod births;
mod component;
mod divide;
mod export;
mod merge;
mod pooled;
mod recall;
mod refine;
mod shrink;
mod step;
mod structure;
mod turns;
mod vanish;
mod view;
mod warm;
mod watch;

pub(super) use component::Comp;
pub(super) use shrink::{Move, shrink};
pub(super) use view::{View, distinct_rows};
pub(super) use warm::warm_start;

use super::parts::{Pooling, Ring, ScoreTrack, Tempo};
use super::{Learner, StepReport};
use crate::data::{Batch, Frame, Scaling};
use crate::family::{Family, VARIANCE_FLOOR};
use crate::interrupt::Interrupt;
use crate::model::{Config, Settings};
use crate::structure::{
    Component, ComponentId, Evaluation, Event, EventLog, Happening, LogScore, PooledSnapshot, Scorer,
};
use serde::{Deserialize, Serialize};
use step::Work;

/// Rows of which a first model can be made.
const FIRST_FIT: u64 = 2;
/// Rows up to which the model is made anew with every eighth of them that is new; then every quarter.
const FEW: u64 = 64;
/// Rows that are always kept for structure moves, and from which the model is made whatever it is like.
const BASE_BUFFER: usize = 2000;
/// The ring never holds more rows than this unless it is asked to.
const LARGEST_BUFFER: usize = 16_000;
/// A batch is learnt in pieces of at most this many rows.
const CHUNK: usize = 512;

/// The learner of `gmm/ofab` and `mppca/ofab`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound = "F: Family")]
pub struct Ofab<F: Family> {
    family: F,
    settings: Settings,
    scaling: Scaling,
    seed: u64,
    shard: u32,
    n_columns: usize,
    n_seen: u64,
    /// Unknown until the first rows have shown the columns' scales.
    frame: Option<Frame>,
    /// Least variances of the columns, in the frame.
    floor: Vec<f64>,
    comps: Vec<Comp>,
    pooling: Pooling,
    ring: Ring,
    /// Ring rows before this one belong to a regime that is over.
    ring_from: u64,
    /// When the present regime began.
    regime_start: u64,
    next_serial: u32,
    next_structure: u64,
    next_polish: u64,
    /// When the whole model is made anew from a ring that still holds every row; 0 when that is over.
    next_refit: u64,
    /// False while the first model is still being made: its comings and goings are nobody's news.
    settled: bool,
    tempo: Tempo,
    events: EventLog,
    scores: ScoreTrack,
    #[serde(skip)]
    work: Work,
}

impl<F: Family> Ofab<F> {
    /// A learner that has seen nothing.
    pub fn new(config: &Config) -> Self {
        let settings = config.settings.clone();
        let n_columns = config.columns.len();
        let buffer = settings.buffer.unwrap_or(BASE_BUFFER).max(settings.warm_up);
        Ofab {
            family: F::default(),
            scaling: settings.scaling(config.kind),
            settings,
            seed: config.seed,
            shard: config.shard,
            n_columns,
            n_seen: 0,
            frame: None,
            floor: vec![VARIANCE_FLOOR; n_columns],
            comps: Vec::new(),
            pooling: Pooling::default(),
            ring: Ring::new(n_columns, buffer),
            ring_from: 0,
            regime_start: 0,
            next_serial: 0,
            next_structure: 0,
            next_polish: u64::MAX,
            next_refit: FIRST_FIT,
            settled: false,
            tempo: Tempo::default(),
            events: EventLog::default(),
            scores: ScoreTrack::default(),
            work: Work::default(),
        }
    }

    fn new_id(&mut self) -> ComponentId {
        let id = ComponentId { shard: self.shard, serial: self.next_serial };
        self.next_serial += 1;
        id
    }

    fn log(&mut self, component: ComponentId, what: Happening) {
        if self.settled {
            self.events.push(Event { row: self.n_seen, component, what });
        }
    }

    /// From now on events are news; what is there by now was born.
    fn settle(&mut self) {
        if !self.settled {
            self.settled = true;
            let ids: Vec<ComponentId> = self.comps.iter().filter(|c| c.graduated).map(|c| c.id).collect();
            ids.into_iter().for_each(|id| self.log(id, Happening::Born));
        }
    }

    fn total_mass(&self) -> f64 {
        self.comps.iter().map(|c| c.mass).sum()
    }

    /// The age at which the model is made anew next: often while that is cheap, so that few rows are told as well as
    /// they can be. Later the model itself says whether it is worth while.
    fn next_fit_after(&self, n: u64) -> u64 {
        let warm = self.settings.warm_up as u64;
        match n {
            n if n < FEW.min(warm) => (n + n.div_ceil(8)).min(warm),
            n if n < warm => (n + n.div_ceil(4)).min(warm),
            n if n < self.base() => (2 * n).min(self.base()),
            _ => 0,
        }
    }

    /// The age up to which the model is made anew whatever it is like.
    fn base(&self) -> u64 {
        (BASE_BUFFER as u64).min(self.ring.capacity() as u64).max(self.settings.warm_up as u64)
    }

    fn at_milestone(&mut self) {
        let n = self.n_seen;
        let first_regime = self.regime_start == 0 && n as usize <= self.ring.len();
        if first_regime && n == self.next_refit {
            self.refit();
        } else if !self.comps.is_empty() && n >= self.next_structure && n >= self.next_refit {
            self.structure();
        }
    }
}

impl<F: Family> Learner for Ofab<F> {
    fn update(&mut self, batch: &Batch<'_>) -> StepReport {
        let (n, d) = (batch.n_rows(), self.n_columns);
        let mut report = StepReport { n_rows: n, ..StepReport::default() };
        let mut at = 0;
        while at < n {
            let to_refit = self.next_refit.checked_sub(self.n_seen).filter(|&left| left > 0);
            let take = (n - at).min(CHUNK).min(to_refit.map_or(CHUNK, |left| left as usize));
            let rows = &batch.rows()[at * d..(at + take) * d];
            let weights = batch.weights().map(|w| &w[at..at + take]);
            self.ring.push(rows, weights);
            self.n_seen += take as u64;
            if !self.comps.is_empty() {
                self.step(rows, weights, &mut report);
            }
            self.at_milestone();
            at += take;
        }
        report.k_implemented = self.comps.len();
        report.n_events = self.events.n_total();
        report
    }

    fn heed(&mut self, interrupt: &Interrupt) {
        self.work.interrupt = interrupt.clone();
    }

    fn is_interrupted(&self) -> bool {
        self.work.interrupt.is_raised()
    }

    fn asks_within(&self, n_rows: usize) -> bool {
        let after = self.n_seen + n_rows as u64;
        self.work.interrupt.is_armed() && (after >= self.next_structure || after >= self.next_refit)
    }

    fn begin_early(&mut self) {
        if self.comps.is_empty() && self.n_seen > 0 {
            self.refit();
        }
    }

    fn scores_after(&self) -> Option<u64> {
        Some(FIRST_FIT)
    }

    fn realize(&self, delta: f64) -> Vec<Component> {
        self.export(delta)
    }

    fn pooled(&self) -> Option<PooledSnapshot> {
        self.export_pool()
    }

    fn counting(&self) -> Vec<usize> {
        self.tempo.counting().collect()
    }

    fn scorer(&self) -> Scorer {
        let total = self.total_mass();
        let frame = self.frame.clone().unwrap_or_else(|| Frame::identity(self.n_columns));
        let parts = self.comps.iter().map(|c| (c.mass / total, c.gauss.clone())).collect();
        Scorer::new(frame, parts, self.comps.iter().map(|c| c.id).collect(), &self.scores.report())
            .pooled_with(self.pool())
    }

    fn evaluate(&self, rows: &[f64], into: &mut Evaluation) {
        let parts = self.comps.iter().map(|c| (c.id, c.mass, c.mass, &c.gauss));
        into.run(self.frame.as_ref(), rows, self.n_columns, parts, self.pool().as_ref());
    }

    fn recent_rows(&self, n: usize) -> Vec<f64> {
        self.ring.recent(n).0
    }

    fn n_seen(&self) -> u64 {
        self.n_seen
    }

    fn k_implemented(&self) -> usize {
        self.comps.len()
    }

    fn events(&self) -> &EventLog {
        &self.events
    }

    fn log_score(&self) -> LogScore {
        self.scores.report()
    }

    fn settings(&self) -> &Settings {
        &self.settings
    }

    fn restore(&mut self, n_columns: usize) -> Result<(), String> {
        let frame_sound = self.frame.as_ref().is_none_or(|f| f.is_sound(n_columns));
        if self.n_columns != n_columns || !frame_sound {
            return Err("its columns do not match".into());
        }
        if !self.ring.is_sound(n_columns) || !self.scores.is_sound() || !self.tempo.is_sound() {
            return Err("its buffers are inconsistent".into());
        }
        if let Some(bad) = self.comps.iter().find(|c| !c.is_sound(n_columns)) {
            return Err(format!("component {} is inconsistent", bad.id));
        }
        if !self.comps.is_empty() && (self.frame.is_none() || self.total_mass().is_nan() || self.total_mass() <= 0.0) {
            return Err("its components have no frame or no mass".into());
        }
        if self.ring_from > self.n_seen || self.regime_start > self.n_seen {
            return Err("its row counts are inconsistent".into());
        }
        if !self.pooling.is_sound(n_columns) || (!self.comps.is_empty() && self.floor.len() != n_columns) {
            return Err("its pool of densities is inconsistent".into());
        }
        if !self.floor.iter().all(|v| v.is_finite() && *v > 0.0) {
            return Err("its columns' resolution is inconsistent".into());
        }
        self.comps.iter_mut().for_each(Comp::pack);
        self.pooling.pack();
        Ok(())
    }
}
