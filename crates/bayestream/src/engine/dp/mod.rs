//! Dirichlet-process mixtures of Gaussians, one row after the other: SUGS, ASUGS, SVA, and `gmm/dp`, which adds what
//! they lack.
//!
//! The model: p(x) = Σ_k π_k N(x | μ_k, T_k⁻¹) with (μ_k, T_k) normal-Wishart and as many components as rows ask for; a
//! row joins component h with prior weight m_h/(n + α) and founds a new one with α/(n + α).
//! The loop, per row: Student-t predictive under every component and under the prior; the likeliest takes the row (SVA:
//! each takes its share); its statistics and its posterior are updated; α follows the number of components.
//! `gmm/dp` also merges pairs and splits components when the marginal likelihood gains by it, and learns the prior from
//! the components it has; it is revised by fits of a ring while that holds every row, and predicts rows by a pool of
//! densities. Its first model is of two rows.
//!
//! Key: m_h mass of a component · α concentration · λ rate of its prior · ν₀, c₀, S₀ the normal-Wishart prior · s prior
//! scale · G log odds of one component against two · q_h posterior weight of a component for a row.

mod component;
mod concentration;
mod core;
mod halves;
mod lazy;
mod merge;
mod paper;
mod predictive;
#[cfg(test)]
mod predictive_laws;
mod prior;
mod revise;
mod split;
mod start;
mod step;
mod structure;
#[cfg(test)]
mod tests;

pub use self::core::Rule;

use self::core::Core;
use super::parts::{Pooling, Ring, ScoreTrack, Tempo};
use super::{Learner, StepReport};
use crate::data::{Batch, Frame, Scaling};
use crate::interrupt::Interrupt;
use crate::model::{Config, Settings};
use crate::structure::{Component, Evaluation, Event, EventLog, Happening, LogScore, Pool, PooledSnapshot, Scorer};
use component::Comp;
use lazy::LazyWork;
use serde::{Deserialize, Serialize};

/// Rows that are always kept.
const BASE_BUFFER: usize = 2000;
/// Rows per column that the first full model of `gmm/dp` is made of at least, up to a limit: with many columns the prior
/// and the first components hang on few rows, and what they get wrong stays.
const WARM_UP_PER_COLUMN: usize = 20;
const LONGEST_WARM_UP: usize = 1000;
/// More than one row.
const LONE: f64 = 1.5;
/// Rows learnt at a time.
const CHUNK: usize = 256;
/// Cells of covariances that learning rows may touch before it is worth a copy of the model to return to.
const LONG: f64 = 1e7;

/// The learner of `gmm/sugs`, `gmm/asugs`, `gmm/sva` and `gmm/dp`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct DirichletMixture {
    rule: Rule,
    settings: Settings,
    scaling: Scaling,
    seed: u64,
    shard: u32,
    n_columns: usize,
    n_seen: u64,
    /// Unknown until the first rows have shown the columns' scales.
    frame: Option<Frame>,
    core: Option<Core>,
    /// Only `gmm/dp` pools.
    pooling: Pooling,
    tempo: Tempo,
    /// When the model is revised from a ring that still holds every row; 0 when that is over.
    next_revision: u64,
    ring: Ring,
    /// Rows that had at least one cell: those are learnt from.
    n_told: u64,
    /// False while the first model is still being made: its comings and goings are nobody's news.
    settled: bool,
    events: EventLog,
    scores: ScoreTrack,
    #[serde(skip)]
    work: Work,
}

/// Buffers of an update; not part of the state.
#[derive(Clone, Debug, Default)]
struct Work {
    framed: Vec<f64>,
    log_densities: Vec<f64>,
    lazy: LazyWork,
    /// What was told to heed, and what the present update asks: the same where there is a copy to return to.
    heeded: Interrupt,
    interrupt: Interrupt,
}

impl DirichletMixture {
    /// A learner that has seen nothing.
    pub fn new(config: &Config, rule: Rule) -> Self {
        let settings = config.settings.clone();
        let n_columns = config.columns.len();
        let buffer = settings.buffer.unwrap_or(BASE_BUFFER).max(settings.warm_up);
        DirichletMixture {
            rule,
            scaling: settings.scaling(config.kind),
            settings,
            seed: config.seed,
            shard: config.shard,
            n_columns,
            n_seen: 0,
            frame: None,
            core: None,
            pooling: Pooling::default(),
            tempo: Tempo::default(),
            next_revision: 0,
            ring: Ring::new(n_columns, buffer),
            n_told: 0,
            settled: false,
            events: EventLog::default(),
            scores: ScoreTrack::default(),
            work: Work::default(),
        }
    }

    /// How rows attach to components.
    pub fn rule(&self) -> Rule {
        self.rule
    }

    fn comps(&self) -> &[Comp] {
        self.core.as_ref().map_or(&[], |core| &core.comps)
    }

    fn total(&self) -> f64 {
        self.comps().iter().map(Comp::rows).sum()
    }

    /// True for `gmm/dp`, whose densities are predictive and pooled.
    fn pools(&self) -> bool {
        self.rule == Rule::Lazy
    }

    fn pool(&self) -> Option<Pool> {
        self.pooling.pool(self.tempo.counts())
    }

    /// The first model of the kind's own is made here, though provisional; the first full one at the end of the warm-up.
    fn milestones(&self) -> [u64; 2] {
        let least = match self.rule {
            Rule::Lazy => (WARM_UP_PER_COLUMN * self.n_columns).min(LONGEST_WARM_UP).min(self.ring.capacity()),
            _ => 0,
        };
        let warm = self.settings.warm_up.max(least);
        [(5 * self.n_columns).max(100).min(warm) as u64, warm as u64]
    }

    fn tell(&mut self) {
        let Some(core) = &mut self.core else { return };
        for (component, what) in core.news.drain(..) {
            if what == Happening::Full {
                self.events.push_full(self.n_seen, component);
            } else if self.settled {
                self.events.push(Event { row: self.n_seen, component, what });
            }
        }
    }

    /// From now on events are news; what is there by now was born.
    fn settle(&mut self) {
        if !self.settled {
            self.settled = true;
            if let Some(core) = &self.core {
                for comp in &core.comps {
                    self.events.push(Event { row: self.n_seen, component: comp.id, what: Happening::Born });
                }
            }
        }
    }

    /// Learns from rows that all have at least one cell.
    fn learn(&mut self, rows: &[f64], weights: Option<&[f64]>, report: &mut StepReport) {
        let (n, d) = (rows.len() / self.n_columns, self.n_columns);
        let mut at = 0;
        while at < n && !self.work.interrupt.is_raised() {
            let take = (n - at).min(CHUNK).min(self.next_model_in().map_or(CHUNK, |left| left as usize));
            let part = &rows[at * d..(at + take) * d];
            let part_weights = weights.map(|w| &w[at..at + take]);
            self.ring.push(part, part_weights);
            self.n_told += take as u64;
            self.n_seen += take as u64;
            self.step(part, part_weights, report);
            self.renew_model();
            if self.n_told == self.milestones()[1] {
                self.settle();
            }
            self.tell();
            at += take;
        }
    }

    /// The learner as it would be if the warm-up ended now, or none when there is nothing to learn from.
    fn provisional(&self) -> Option<DirichletMixture> {
        let mut learner = self.clone();
        learner.work.interrupt = Interrupt::default();
        learner.begin_early();
        learner.core.is_some().then_some(learner)
    }
}

impl Learner for DirichletMixture {
    fn update(&mut self, batch: &Batch<'_>) -> StepReport {
        let (n, d) = (batch.n_rows(), self.n_columns);
        let mut report = StepReport { n_rows: n, ..StepReport::default() };
        self.work.interrupt = if self.asks_within(n) { self.work.heeded.clone() } else { Interrupt::default() };
        if let Some(core) = &mut self.core {
            core.work.interrupt = self.work.interrupt.clone();
        }
        let is_empty = |row: &[f64]| row.iter().all(|v| v.is_nan());
        if batch.rows().chunks_exact(d).any(is_empty) {
            // A row without cells says nothing: it is counted, and that is all.
            let told: Vec<usize> = (0..n).filter(|i| !is_empty(&batch.rows()[i * d..(i + 1) * d])).collect();
            let rows: Vec<f64> = told.iter().flat_map(|i| batch.rows()[i * d..(i + 1) * d].iter().copied()).collect();
            let weights: Option<Vec<f64>> = batch.weights().map(|w| told.iter().map(|i| w[*i]).collect());
            self.learn(&rows, weights.as_deref(), &mut report);
            self.n_seen += (n - told.len()) as u64;
        } else {
            self.learn(batch.rows(), batch.weights(), &mut report);
        }
        report.k_implemented = self.k_implemented();
        report.n_events = self.events.n_total();
        report
    }

    fn heed(&mut self, interrupt: &Interrupt) {
        self.work.heeded = interrupt.clone();
    }

    fn is_interrupted(&self) -> bool {
        self.work.interrupt.is_raised()
    }

    fn asks_within(&self, n_rows: usize) -> bool {
        let is_near = self.next_model_in().is_some_and(|left| left <= n_rows as u64);
        let looks = self.core.as_ref().is_some_and(|core| core.n_learnt + n_rows as u64 >= core.next_structure);
        let touched = (n_rows * self.comps().len()) as f64 * (self.n_columns as f64).powi(2);
        self.work.heeded.is_armed() && (is_near || touched >= LONG || (looks && self.rule == Rule::Lazy))
    }

    fn begin_early(&mut self) {
        if self.core.is_none() && !self.ring.is_empty() {
            self.start_over();
        }
    }

    fn scores_after(&self) -> Option<u64> {
        Some(self.first_model())
    }

    fn realize(&self, delta: f64) -> Vec<Component> {
        let Some(frame) = &self.frame else {
            return self.provisional().map_or_else(Vec::new, |learner| learner.realize(delta));
        };
        let Some(core) = &self.core else { return Vec::new() };
        let mut core = core.clone();
        // A look at what there is goes to its end, whatever became of an update.
        core.work.interrupt = Interrupt::default();
        if self.rule == Rule::Lazy {
            core.merge_all();
        }
        let heaviest = core.comps.iter().map(|c| c.moments.count).fold(0.0, f64::max);
        let total: f64 = core.comps.iter().map(|c| c.moments.count).sum();
        // In `gmm/dp` a lone row is an outlier and not a component.
        let fewest = if self.rule == Rule::Lazy { LONE } else { 0.0 };
        core.comps.retain(|c| c.moments.count >= (delta * total).max(fewest).min(heaviest));
        let kept: f64 = core.comps.iter().map(Comp::rows).sum();
        let mut covariance = Vec::new();
        let mut components: Vec<Component> = core
            .comps
            .iter()
            .map(|c| {
                let basis = core.covariance_of(c, &mut covariance);
                Component {
                    id: c.id,
                    weight: c.rows() / kept,
                    count: c.rows(),
                    mean: frame.mean_out(&c.told().mean),
                    covariance: frame.covariance_out(&covariance),
                    latent_dim: None,
                    basis,
                }
            })
            .collect();
        components.sort_by(|a, b| b.weight.total_cmp(&a.weight).then(a.id.cmp(&b.id)));
        components
    }

    fn pooled(&self) -> Option<PooledSnapshot> {
        if !self.pools() {
            return None;
        }
        match &self.frame {
            Some(frame) => self.pooling.export(self.tempo.counts(), frame, self.shard),
            None => self.provisional()?.pooled(),
        }
    }

    fn counting(&self) -> Vec<usize> {
        self.tempo.counting().collect()
    }

    fn scorer(&self) -> Scorer {
        let total = self.total();
        let frame = self.frame.clone().unwrap_or_else(|| Frame::identity(self.n_columns));
        let parts = self.comps().iter().map(|c| (c.rows() / total, c.gauss.clone())).collect();
        Scorer::new(frame, parts, self.comps().iter().map(|c| c.id).collect(), &self.scores.report())
            .pooled_with(self.pool())
    }

    fn evaluate(&self, rows: &[f64], into: &mut Evaluation) {
        let parts = self.comps().iter().map(|c| (c.id, c.rows(), c.rows(), &c.gauss));
        into.run(self.frame.as_ref(), rows, self.n_columns, parts, self.pool().as_ref());
    }

    fn recent_rows(&self, n: usize) -> Vec<f64> {
        self.ring.recent(n).0
    }

    fn n_seen(&self) -> u64 {
        self.n_seen
    }

    fn k_implemented(&self) -> usize {
        self.comps().len()
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
        if !self.ring.is_sound(n_columns) || !self.scores.is_sound() || self.n_told > self.n_seen {
            return Err("its buffers are inconsistent".into());
        }
        if !self.pooling.is_sound(n_columns) || !self.tempo.is_sound() {
            return Err("its pool of densities is inconsistent".into());
        }
        if self.frame.is_some() != self.core.is_some() {
            return Err("its components have no frame".into());
        }
        let Some(core) = &mut self.core else { return Ok(()) };
        let same = core.rule == self.rule && core.settings == self.settings;
        if !core.is_sound(n_columns) || !same || core.comps.is_empty() {
            return Err("its prior or its concentration is inconsistent".into());
        }
        if let Some(bad) = core.comps.iter().find(|c| !c.is_sound(n_columns)) {
            return Err(format!("component {} is inconsistent", bad.id));
        }
        core.comps.iter_mut().for_each(Comp::restore);
        self.pooling.pack();
        Ok(())
    }
}
