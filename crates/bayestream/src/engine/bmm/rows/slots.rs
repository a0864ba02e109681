//! Components in the order in which they may exist, and one row learnt by all of them.

use super::part::Part;
use crate::engine::bmm::{BmmSettings, Mixing, MixingWork, Rule};
use crate::family::{FullGaussian, Gauss, GaussScratch, Moments, VARIANCE_FLOOR};
use crate::model::Variant;
use crate::num;
use crate::structure::{ComponentId, Happening};
use serde::{Deserialize, Serialize};

/// Chance of more components than are looked at.
const LEFT: f64 = 1e-6;
/// Shares below this do not move a component: unborn ones would drift to the middle of all rows.
const NEGLIGIBLE: f64 = 1e-3;
/// A density is refreshed when this share of its mass is new.
const REFRESH: f64 = 0.02;
/// Rows in a component that is worth a name in the log of events.
const BORN: f64 = 1.0;
/// Components with less than this many rows are spare ones.
const LEAST: f64 = 0.5;
/// Rows that a component must know to differ from one that knows nothing.
pub(super) const LEAST_KNOWN: f64 = 0.1;
/// Rows between two steps of forgetting, as a share of the memory.
const FADE_STEP: f64 = 0.01;

/// One component.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound = "P: Part")]
pub(super) struct Slot<P: Part> {
    pub id: ComponentId,
    pub part: P,
    /// Rows it took, each by its share.
    pub mass: f64,
    /// The density that is handed out, lagging behind by a few percent of the mass.
    pub gauss: Gauss,
    stale: f64,
    pub born: bool,
}

/// All components, with their prior and what is known of their number and shares.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound = "P: Part")]
pub(super) struct Slots<P: Part> {
    pub settings: BmmSettings,
    seed: u64,
    pub shard: u32,
    pub prior: P::Prior,
    pub mixing: Mixing,
    pub slots: Vec<Slot<P>>,
    pub next_serial: u32,
    /// Rows learnt from: the key of random draws.
    pub n_learnt: u64,
    /// Mass since forgetting last took its share.
    unfaded: f64,
    /// What happened since it was last asked.
    #[serde(skip)]
    pub news: Vec<(ComponentId, Happening)>,
    #[serde(skip)]
    work: SlotWork<P::Scratch>,
}

#[derive(Clone, Debug, Default)]
struct SlotWork<S> {
    log_b: Vec<f64>,
    b: Vec<f64>,
    mixing: MixingWork,
    part: S,
    gauss: GaussScratch,
}

impl<P: Part> Slot<P> {
    pub fn new(id: ComponentId, part: P, prior: &P::Prior, mass: f64) -> Slot<P> {
        let mut slot = Slot { id, part, mass, gauss: Gauss::with_covariance(&[], &[]), stale: 0.0, born: false };
        slot.refresh(prior, &mut GaussScratch::default());
        slot
    }

    fn refresh(&mut self, prior: &P::Prior, scratch: &mut GaussScratch) {
        let rows = floored(self.part.as_rows(prior, self.mass));
        scratch.covariance_mut().clone_from(&rows.covariance);
        self.gauss.reshape(FullGaussian, &rows.mean, rows.count, scratch);
        self.stale = 0.0;
    }
}

/// Rows that repeat must not become spikes.
pub(super) fn floored(mut rows: Moments) -> Moments {
    let d = rows.mean.len();
    (0..d).for_each(|j| rows.covariance[j * d + j] = rows.covariance[j * d + j].max(VARIANCE_FLOOR));
    rows
}

impl<P: Part> Slots<P> {
    pub fn new(settings: BmmSettings, seed: u64, shard: u32, prior: P::Prior, next_serial: u32) -> Slots<P> {
        Slots {
            mixing: Mixing::new(settings.lambda0, settings.gamma),
            settings,
            seed,
            shard,
            prior,
            slots: Vec::new(),
            next_serial,
            n_learnt: 0,
            unfaded: 0.0,
            news: Vec::new(),
            work: SlotWork::default(),
        }
    }

    pub fn new_id(&mut self) -> ComponentId {
        let id = ComponentId { shard: self.shard, serial: self.next_serial };
        self.next_serial = self.next_serial.wrapping_add(1);
        id
    }

    /// Learns one framed row with at least one cell; returns its log predictive density before that.
    pub fn learn_row(&mut self, row: &[f64], weight: f64) -> f64 {
        let most = self.settings.max_components;
        let rule = self.settings.rule();
        let k = match rule {
            Rule::Sampled { draws } => {
                let mut rng = num::stream(self.seed, u64::from(self.shard), self.n_learnt);
                self.mixing.attend_drawn(draws, most, &mut rng, &mut self.work.mixing)
            }
            _ => self.mixing.attend(LEFT, most, &mut self.work.mixing),
        };
        self.n_learnt += 1;
        while self.slots.len() < k {
            let id = self.new_id();
            self.slots.push(Slot::new(id, P::new(&self.prior), &self.prior, 0.0));
        }
        let SlotWork { log_b, b, mixing, part, gauss } = &mut self.work;
        log_b.clear();
        log_b.extend(self.slots[..k].iter().map(|s| s.part.log_predictive(&self.prior, row, part)));
        let joint = |(log_b, nu): (&f64, &f64)| log_b + nu.ln();
        let top = log_b.iter().zip(self.mixing.nu()).map(joint).fold(f64::NEG_INFINITY, f64::max);
        b.clear();
        b.extend(log_b.iter().map(|log_b| (log_b - top).min(700.0).exp()));
        let log_density = self.mixing.weigh(b, mixing).ln() + top;
        if rule == Rule::Soft {
            let (slots, prior) = (&self.slots, &self.prior);
            mixing.gather(|z| slots[z].part.known_rows(prior) < LEAST_KNOWN);
        }
        self.mixing.learn(rule, b, weight, mixing);
        for (slot, share) in self.slots.iter_mut().zip(mixing.shares()) {
            slot.mass += weight * share;
            slot.stale += weight * share;
            if *share > NEGLIGIBLE {
                slot.part.learn(&self.prior, row, share.min(1.0), weight, part);
            }
            if slot.stale > REFRESH * slot.mass {
                slot.refresh(&self.prior, gauss);
            }
            if !slot.born && slot.mass >= BORN {
                slot.born = true;
                self.news.push((slot.id, Happening::Born));
            }
        }
        self.fade(weight);
        log_density
    }

    fn fade(&mut self, weight: f64) {
        let Some(memory) = self.settings.memory else { return };
        self.unfaded += weight;
        if self.unfaded < FADE_STEP * memory {
            return;
        }
        let keep = (-self.unfaded / memory).exp();
        self.unfaded = 0.0;
        if self.settings.variant == Variant::Default {
            self.mixing.forget(self.settings.gamma, keep);
        }
        for slot in &mut self.slots {
            slot.mass *= keep;
            slot.stale *= keep;
            slot.part.forget(&self.prior, keep);
            slot.refresh(&self.prior, &mut self.work.gauss);
            if slot.born && slot.mass < LEAST {
                slot.born = false;
                self.news.push((slot.id, Happening::Died));
            }
        }
    }

    /// Components that are more than spare, each with its weight.
    pub fn living(&self) -> impl Iterator<Item = (f64, &Slot<P>)> {
        let heaviest = self.slots.iter().map(|s| s.mass).fold(0.0, f64::max);
        let least = LEAST.min(heaviest);
        let by_nu = self.settings.variant == Variant::Paper;
        let nu = self.mixing.nu();
        let weight = move |z: usize, slot: &Slot<P>| match by_nu {
            true => nu.get(z).copied().unwrap_or(0.0),
            false => slot.mass,
        };
        let lives = move |w: f64, slot: &Slot<P>| slot.mass > 0.0 && slot.mass >= least && w > 0.0;
        let total: f64 = self
            .slots
            .iter()
            .enumerate()
            .map(|(z, s)| (weight(z, s), s))
            .filter(|(w, s)| lives(*w, s))
            .map(|p| p.0)
            .sum();
        self.slots
            .iter()
            .enumerate()
            .map(move |(z, s)| (weight(z, s), s))
            .filter(move |(w, s)| lives(*w, s))
            .map(move |(w, s)| (w / total, s))
    }

    pub fn is_sound(&self, n_columns: usize) -> bool {
        self.settings.check().is_ok()
            && P::is_prior_sound(&self.prior, n_columns)
            && self.mixing.is_sound()
            && self.slots.len() <= self.settings.max_components
            && self.unfaded.is_finite()
            && self.slots.iter().all(|s| {
                s.part.is_sound(n_columns)
                    && s.gauss.is_sound(n_columns)
                    && s.mass.is_finite()
                    && s.mass >= 0.0
                    && s.stale.is_finite()
            })
    }

    /// Rebuilds what is not saved.
    pub fn restore(&mut self) {
        self.slots.iter_mut().for_each(|s| s.gauss.pack());
    }
}
