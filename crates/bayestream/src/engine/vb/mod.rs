//! Streaming variational mixtures: the baselines that online FAB is held against.
//!
//! All of them keep raw statistics per component and step `s ← keep·s + gain·ŝ` on them; what sets them apart is a
//! [`Rule`]: [`Svb`] adds, [`Strust`] moves, [`SdaDp`] adds and grows.
//!
//! The first rows, up to a mass of `warm-up`, are kept: until then the model is made anew from all of them whenever
//! they have doubled, so that a stream in small batches starts as well as one in large ones.

mod assign;
mod component;
mod expect;
#[cfg(test)]
mod laws;
mod learner;
mod merge;
mod rule;
mod sda;
mod seeds;
mod strust;
mod svb;

pub use expect::Blend;
pub use rule::Rule;
pub use sda::SdaDp;
pub use strust::Strust;
pub use svb::Svb;

use super::parts::{Ring, ScoreTrack};
use crate::data::{Frame, Scaling};
use crate::family::{Family, IllegalPrior, Moments, NormalWishart};
use crate::model::{Config, Settings};
use crate::num::{self, Rng};
use crate::structure::{ComponentId, Event, EventLog, Happening, RowBlock};
use component::Comp;
use expect::{Work, expect, maximise, uniform};
use seeds::seeds;
use serde::{Deserialize, Serialize};

/// Inner rounds end when no component takes more than this share of the batch more or less than the round before.
const SETTLED: f64 = 1e-8;
/// Variance expected within a component, in units of the columns': the best of 0.01, 0.03, 0.1 and 0.3 for all
/// engines of this folder together on random mixtures of (10, 3) and (30, 10) components and columns.
const PRIOR_SCALE: f64 = 0.03;
/// A new component of the Dirichlet process with less than this many rows is dropped.
const LEAST_NEW: f64 = 1.0;
/// Rows kept for those who judge rows.
const RECENT: usize = 1000;
/// Rows that the first model waits for, at most, in units of the mass it waits for: rows of tiny weights must not be
/// kept for ever.
const PATIENCE: usize = 10;

/// The learner of `svb`, `strust-svi` and `sda-dp`, each with Gaussian (`gmm`) and with PPCA components (`mppca`).
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound = "F: Family, R: Rule")]
pub struct Vb<F: Family, R: Rule> {
    family: F,
    rule: R,
    settings: Settings,
    scaling: Scaling,
    seed: u64,
    shard: u32,
    n_columns: usize,
    n_seen: u64,
    /// Mass of all rows.
    seen: f64,
    /// Updates so far: the key of random choices.
    n_updates: u64,
    /// Batches since the model was last made anew.
    n_steps: u64,
    next_serial: u32,
    frame: Option<Frame>,
    comps: Vec<Comp>,
    /// None once the model is made.
    young: Option<Young>,
    ring: Ring,
    events: EventLog,
    scores: ScoreTrack,
    #[serde(skip)]
    work: Work,
}

/// The first rows, in the data's own units.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Young {
    rows: Vec<f64>,
    weights: Vec<f64>,
    /// The mass at which the model is next made anew.
    next: f64,
}

impl<F: Family, R: Rule> Vb<F, R> {
    /// A learner that has seen nothing.
    pub fn new(config: &Config) -> Self {
        let n_columns = config.columns.len();
        Vb {
            family: F::default(),
            rule: R::default(),
            scaling: config.settings.scaling(config.kind),
            settings: config.settings.clone(),
            seed: config.seed,
            shard: config.shard,
            n_columns,
            n_seen: 0,
            seen: 0.0,
            n_updates: 0,
            n_steps: 0,
            next_serial: 0,
            frame: None,
            comps: Vec::new(),
            young: Some(Young::default()),
            ring: Ring::new(n_columns, config.settings.buffer.unwrap_or(RECENT)),
            events: EventLog::default(),
            scores: ScoreTrack::default(),
            work: Work::default(),
        }
    }

    /// The prior of a component around `mean`, in the frame, where columns have unit spread.
    fn prior_at(&self, mean: Vec<f64>) -> NormalWishart {
        self.try_prior(mean).expect("settings are checked when a model is made or loaded, and framed cells are finite")
    }

    fn try_prior(&self, mean: Vec<f64>) -> Result<NormalWishart, IllegalPrior> {
        let d = self.n_columns;
        let (scale, given) = (self.prior_scale(), &self.settings.dirichlet);
        let c = given.c0.unwrap_or(scale / (1.0 - scale));
        let nu = given.nu0.unwrap_or(d as f64 + 3.0);
        NormalWishart::with_variances(c, nu, mean, &vec![scale; d])
    }

    fn prior_scale(&self) -> f64 {
        self.settings.dirichlet.prior_scale.unwrap_or(PRIOR_SCALE)
    }

    fn alpha(&self) -> f64 {
        self.settings.dirichlet.alpha.unwrap_or(1.0)
    }

    fn new_id(&mut self) -> ComponentId {
        let id = ComponentId { shard: self.shard, serial: self.next_serial };
        self.next_serial += 1;
        id
    }

    fn log(&mut self, component: ComponentId, what: Happening) {
        // What comes and goes while the first model is being made is nobody's news.
        if self.young.is_none() {
            self.events.push(Event { row: self.n_seen, component, what });
        }
    }

    fn random(&self) -> Rng {
        num::stream(self.seed, u64::from(self.shard), self.n_updates)
    }

    /// Makes the model anew from the rows kept so far.
    fn start_over(&mut self, young: &Young) -> u32 {
        let d = self.n_columns;
        let frame = Frame::of_rows(&young.rows, d, self.scaling);
        let mut block = RowBlock::default();
        block.load_with(d, |into| frame.push_rows(&young.rows, into));
        self.frame = Some(frame);
        self.comps.clear();
        self.n_steps = 0;
        self.learn(&mut block, Some(&young.weights))
    }

    fn add_at_seeds(&mut self, n: usize, block: &RowBlock, weights: Option<&[f64]>) {
        let mut rng = self.random();
        let found = seeds(block, weights, self.comps.iter().map(|c| &c.moments.mean[..]), n, &mut rng);
        for seed in found {
            let id = self.new_id();
            let prior = self.prior_at(if R::GROWS { vec![0.0; self.n_columns] } else { seed.clone() });
            let mut comp = Comp::empty(self.family, id, prior, &mut self.work.caches);
            if R::GROWS {
                // A Dirichlet process has one prior for all; the seed is in the first belief only.
                comp.moments = Moments { count: 1.0, ..Moments::empty_at(&seed) };
                comp.believe(self.family, &mut self.work.caches);
                comp.moments.count = 0.0;
            }
            self.comps.push(comp);
        }
    }

    /// Expected log-weights of the components as they are.
    fn log_weights(&self) -> Vec<f64> {
        let counts: Vec<f64> = self.comps.iter().map(|c| c.moments.count).collect();
        let mut out = Vec::new();
        self.rule.log_weights(self.alpha(), &counts, &mut out);
        out
    }

    /// Learns from a framed batch; returns how many scatters had to be repaired.
    fn learn(&mut self, block: &mut RowBlock, weights: Option<&[f64]>) -> u32 {
        let batch = weights.map_or(block.n_rows() as f64, |w| w.iter().sum());
        if batch <= 0.0 {
            return 0;
        }
        self.n_steps += 1;
        let n_old = self.comps.len();
        let n_new = match (n_old, R::GROWS) {
            (0, _) => self.settings.start_components,
            (_, true) => self.settings.new_components,
            (_, false) => 0,
        };
        let room = self.settings.max_components.saturating_sub(n_old);
        self.add_at_seeds(n_new.min(room), block, weights);
        if self.comps.is_empty() {
            return 0;
        }
        let base: Vec<Moments> = self.comps.iter().map(|c| c.moments.clone()).collect();
        let blend = self.rule.blend(&self.settings, self.n_steps, self.seen, batch);
        let mut n_repairs = 0;
        self.work.taken.clear();
        for round in 0..self.settings.inner {
            let (change, repairs) = self.round(block, weights, &base, blend, R::RESETS && round == 0);
            n_repairs += repairs;
            if round > 0 && change <= SETTLED * batch {
                break;
            }
        }
        if R::GROWS {
            n_repairs += self.drop_light(n_old, block, weights, base, blend);
        }
        let Work { taken, caches, .. } = &mut self.work;
        for (comp, taken) in self.comps.iter_mut().zip(taken) {
            if *taken > 0.0 || blend.keep < 1.0 {
                n_repairs += comp.settle(self.family, caches);
            }
        }
        n_repairs
    }

    /// One E-step and one M-step.
    fn round(
        &mut self,
        block: &mut RowBlock,
        weights: Option<&[f64]>,
        base: &[Moments],
        blend: Blend,
        from_nothing: bool,
    ) -> (f64, u32) {
        if from_nothing {
            uniform(block, self.comps.len(), &mut self.work.posterior);
        } else {
            let log_weights = self.log_weights();
            expect(block, &self.comps, &log_weights, &mut self.work.posterior);
        }
        maximise(self.family, block, weights, base, blend, &mut self.comps, &mut self.work)
    }

    /// Drops new components that took less than a row, and gives those rows to the others.
    /// Deviates: the authors' program lets the rows go with the components, up to a fifth of a stream.
    fn drop_light(
        &mut self,
        n_old: usize,
        block: &mut RowBlock,
        weights: Option<&[f64]>,
        mut base: Vec<Moments>,
        blend: Blend,
    ) -> u32 {
        let taken = &self.work.taken;
        let heaviest = taken.iter().copied().fold(0.0, f64::max);
        // The first component of all may well be lighter than a row.
        let least = if n_old == 0 { LEAST_NEW.min(heaviest) } else { LEAST_NEW };
        // Responsibilities of one row may add up to a little less than one.
        let keep: Vec<bool> = (0..taken.len()).map(|k| k < n_old || taken[k] >= least * (1.0 - 1e-9)).collect();
        for (k, kept) in keep.iter().enumerate().skip(n_old) {
            if *kept {
                self.log(self.comps[k].id, Happening::Born);
            }
        }
        if keep.iter().all(|k| *k) {
            return 0;
        }
        retain(&mut self.comps, &keep);
        retain(&mut base, &keep);
        retain(&mut self.work.taken, &keep);
        self.round(block, weights, &base, blend, false).1
    }

    fn mass(&self) -> f64 {
        self.comps.iter().map(|c| c.moments.count).sum()
    }
}

/// Keeps the items marked so.
fn retain<T>(items: &mut Vec<T>, keep: &[bool]) {
    let mut marks = keep.iter();
    items.retain(|_| *marks.next().unwrap_or(&true));
}
