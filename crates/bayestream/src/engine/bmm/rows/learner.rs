//! The stream's side: first rows, scores, snapshots, files.

use super::part::Part;
use super::slots::{LEAST_KNOWN, Slot, Slots, floored};
use crate::data::{Batch, Frame, Scaling};
use crate::engine::bmm::BmmSettings;
use crate::engine::parts::{Ring, ScoreTrack};
use crate::engine::{Learner, StepReport};
use crate::family::Moments;
use crate::interrupt::Interrupt;
use crate::model::{Config, Settings};
use crate::structure::{Component, ComponentId, Evaluation, Event, EventLog, Happening, LogScore, Scorer};
use serde::{Deserialize, Serialize};

/// Rows kept for those who judge rows.
const RECENT: usize = 1000;
/// Cells of covariances that learning rows may touch before it is worth a copy of the model to return to.
const LONG: f64 = 1e7;

/// The learner of `gaussian1d/bmm` and `gmm/bmm`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound = "P: Part")]
pub struct MomentMatcher<P: Part> {
    pub(super) settings: Settings,
    pub(super) scaling: Scaling,
    pub(super) seed: u64,
    pub(super) shard: u32,
    pub(super) n_columns: usize,
    pub(super) n_seen: u64,
    /// Rows that had at least one cell: those are learnt from.
    pub(super) n_told: u64,
    /// Unknown until the first rows have shown the columns' scales.
    pub(super) frame: Option<Frame>,
    pub(super) slots: Option<Slots<P>>,
    pub(super) ring: Ring,
    /// False while the first model is still being made: its comings and goings are nobody's news.
    pub(super) settled: bool,
    pub(super) events: EventLog,
    pub(super) scores: ScoreTrack,
    #[serde(skip)]
    pub(super) framed: Vec<f64>,
    /// What was told to heed, and what the present update asks: the same where there is a copy to return to.
    #[serde(skip)]
    pub(super) heeded: Interrupt,
    #[serde(skip)]
    pub(super) interrupt: Interrupt,
}

impl<P: Part> MomentMatcher<P> {
    /// A learner that has seen nothing.
    pub fn new(config: &Config) -> Self {
        let settings = config.settings.clone();
        let n_columns = config.columns.len();
        MomentMatcher {
            scaling: settings.scaling(config.kind),
            seed: config.seed,
            shard: config.shard,
            n_columns,
            n_seen: 0,
            n_told: 0,
            frame: None,
            slots: None,
            ring: Ring::new(n_columns, settings.buffer.unwrap_or(RECENT).max(settings.warm_up)),
            settled: false,
            events: EventLog::default(),
            scores: ScoreTrack::default(),
            framed: Vec::new(),
            heeded: Interrupt::default(),
            interrupt: Interrupt::default(),
            settings,
        }
    }

    /// λ, the expected number of components; it is not a count of those that were seen.
    pub fn lambda(&self) -> Option<f64> {
        self.slots.as_ref().map(|s| s.mixing.lambda())
    }

    /// The first, provisional model is made here, the full one at the end of the warm-up.
    fn milestones(&self) -> [u64; 2] {
        let warm = self.settings.warm_up;
        [(5 * self.n_columns).max(100).min(warm) as u64, warm as u64]
    }

    fn learn(&mut self, rows: &[f64], weights: Option<&[f64]>, report: &mut StepReport) {
        let d = self.n_columns;
        let mut framed = std::mem::take(&mut self.framed);
        for (i, row) in rows.chunks_exact(d).enumerate() {
            if self.interrupt.is_raised() {
                break;
            }
            self.n_seen += 1;
            // A row without cells says nothing: it is counted, and that is all.
            if row.iter().all(|v| v.is_nan()) {
                continue;
            }
            let weight = weights.map_or(1.0, |w| w[i]);
            self.ring.push(row, Some(&[weight]));
            self.n_told += 1;
            if let (Some(frame), Some(slots)) = (&self.frame, &mut self.slots) {
                framed.clear();
                frame.push_rows(row, &mut framed);
                let log_density = slots.learn_row(&framed, weight) + frame.log_jacobian_of(&framed);
                self.scores.push(log_density);
                report.log_score += log_density;
                report.n_scored += 1;
            }
            let [early, warm] = self.milestones();
            if self.n_told == early || self.n_told == warm {
                self.start_over();
            }
            if self.n_told == warm {
                self.settle();
            }
            self.tell();
        }
        self.framed = framed;
    }

    fn tell(&mut self) {
        let Some(slots) = &mut self.slots else { return };
        for (component, what) in slots.news.drain(..) {
            if self.settled {
                self.events.push(Event { row: self.n_seen, component, what });
            }
        }
    }

    /// From now on events are news; what is there by now was born.
    fn settle(&mut self) {
        self.settled = true;
        for slot in self.slots.iter().flat_map(|s| &s.slots).filter(|s| s.born) {
            self.events.push(Event { row: self.n_seen, component: slot.id, what: Happening::Born });
        }
    }

    fn living(&self) -> impl Iterator<Item = (f64, &Slot<P>)> {
        self.slots.iter().flat_map(Slots::living)
    }

    /// The learner as it would be if the warm-up ended now, or none when there is nothing to learn from.
    fn provisional(&self) -> Option<MomentMatcher<P>> {
        let mut learner = self.clone();
        learner.interrupt = Interrupt::default();
        learner.begin_early();
        learner.slots.is_some().then_some(learner)
    }
}

/// A component on its way into a snapshot.
pub(super) struct Shown {
    pub id: ComponentId,
    pub weight: f64,
    pub rows: Moments,
    pub evidence: Moments,
}

/// Components that know at least a row. Of the others, which have had small shares of others' rows, the mass goes to
/// where they are likeliest, whatever the weight there: the rows of a young cluster are spread over several.
fn shown<P: Part>(slots: &Slots<P>) -> Vec<Shown> {
    let heaviest = slots.living().map(|(_, s)| s.mass).fold(0.0, f64::max);
    let is_known = |s: &Slot<P>| s.mass >= heaviest || s.part.known_rows(&slots.prior) >= LEAST_KNOWN;
    let (known, spare): (Vec<_>, Vec<_>) = slots.living().partition(|(_, s)| is_known(s));
    let mut whitened = Vec::new();
    let mut shown: Vec<Shown> = known
        .iter()
        .map(|(weight, slot)| Shown {
            id: slot.id,
            weight: *weight,
            rows: floored(slot.part.as_rows(&slots.prior, slot.mass)),
            evidence: slot.part.evidence(&slots.prior, slot.mass),
        })
        .collect();
    for (weight, slot) in spare {
        let at = slot.part.as_rows(&slots.prior, slot.mass).mean;
        whitened.resize(at.len(), 0.0);
        let mut log_density = |k: usize| {
            known[k].1.gauss.whitened(&at, &mut whitened);
            known[k].1.gauss.log_norm() - 0.5 * whitened.iter().map(|z| z * z).sum::<f64>()
        };
        let densities: Vec<f64> = (0..known.len()).map(&mut log_density).collect();
        let best = (0..known.len()).max_by(|&a, &b| densities[a].total_cmp(&densities[b]).then(b.cmp(&a)));
        if let Some(best) = best {
            shown[best].weight += weight;
            shown[best].rows.count += slot.mass;
            shown[best].evidence.count += slot.mass;
        }
    }
    shown
}

/// Joins components that are one by the odds, the likeliest pair first.
pub(super) fn joined<P: Part>(mut shown: Vec<Shown>, prior: &P::Prior) -> Vec<Shown> {
    let mut gains: Vec<Vec<f64>> = Vec::new();
    for i in 0..shown.len() {
        gains.push((0..i).map(|j| P::merge_gain(prior, &shown[i].evidence, &shown[j].evidence)).collect());
    }
    loop {
        let best = (1..shown.len())
            .flat_map(|i| (0..i).map(move |j| (i, j)))
            .map(|(i, j)| (gains[i][j], i, j))
            .max_by(|a, b| a.0.total_cmp(&b.0).then((b.1, b.2).cmp(&(a.1, a.2))));
        let Some((_, i, j)) = best.filter(|(gain, ..)| *gain > 0.0) else { return shown };
        let gone = shown.remove(i);
        let kept = &mut shown[j];
        // The heavier of the two keeps its name.
        if gone.rows.count > kept.rows.count {
            kept.id = gone.id;
        }
        kept.weight += gone.weight;
        kept.rows.add_scaled(1.0, &gone.rows);
        kept.evidence.add_scaled(1.0, &gone.evidence);
        gains.remove(i);
        gains[i..].iter_mut().for_each(|row| {
            row.remove(i);
        });
        for other in (0..shown.len()).filter(|&other| other != j) {
            gains[other.max(j)][other.min(j)] = P::merge_gain(prior, &shown[other].evidence, &shown[j].evidence);
        }
    }
}

impl<P: Part> Learner for MomentMatcher<P> {
    fn update(&mut self, batch: &Batch<'_>) -> StepReport {
        let mut report = StepReport { n_rows: batch.n_rows(), ..StepReport::default() };
        let asks = self.asks_within(batch.n_rows());
        self.interrupt = if asks { self.heeded.clone() } else { Interrupt::default() };
        self.learn(batch.rows(), batch.weights(), &mut report);
        report.k_implemented = self.k_implemented();
        report.n_events = self.events.n_total();
        report
    }

    fn heed(&mut self, interrupt: &Interrupt) {
        self.heeded = interrupt.clone();
    }

    fn is_interrupted(&self) -> bool {
        self.interrupt.is_raised()
    }

    fn asks_within(&self, n_rows: usize) -> bool {
        let after = self.n_told + n_rows as u64;
        let starts = self.milestones().iter().any(|&m| self.n_told < m && m <= after);
        let n_slots = self.slots.as_ref().map_or(0, |s| s.slots.len());
        let touched = (n_rows * n_slots) as f64 * (self.n_columns as f64).powi(2);
        self.heeded.is_armed() && (starts || touched >= LONG)
    }

    fn begin_early(&mut self) {
        if self.slots.is_none() && !self.ring.is_empty() {
            self.start_over();
        }
    }

    fn scores_after(&self) -> Option<u64> {
        Some(self.milestones()[0])
    }

    fn realize(&self, delta: f64) -> Vec<Component> {
        let (Some(frame), Some(slots)) = (&self.frame, &self.slots) else {
            return self.provisional().map_or_else(Vec::new, |learner| learner.realize(delta));
        };
        let mut shown = joined::<P>(shown(slots), &slots.prior);
        let heaviest = shown.iter().map(|s| s.weight).fold(0.0, f64::max);
        shown.retain(|s| s.weight >= delta.min(heaviest));
        let kept: f64 = shown.iter().map(|s| s.weight).sum();
        let mut components: Vec<Component> = shown
            .into_iter()
            .map(|s| Component {
                id: s.id,
                weight: s.weight / kept,
                count: s.rows.count,
                mean: frame.mean_out(&s.rows.mean),
                covariance: frame.covariance_out(&s.rows.covariance),
                latent_dim: None,
                basis: None,
            })
            .collect();
        components.sort_by(|a, b| b.weight.total_cmp(&a.weight).then(a.id.cmp(&b.id)));
        components
    }

    fn scorer(&self) -> Scorer {
        let frame = self.frame.clone().unwrap_or_else(|| Frame::identity(self.n_columns));
        let parts = self.living().map(|(weight, s)| (weight, s.gauss.clone())).collect();
        Scorer::new(frame, parts, self.living().map(|(_, s)| s.id).collect(), &self.scores.report())
    }

    fn evaluate(&self, rows: &[f64], into: &mut Evaluation) {
        let parts = self.living().map(|(weight, s)| (s.id, weight, s.mass, &s.gauss));
        into.run(self.frame.as_ref(), rows, self.n_columns, parts, None);
    }

    fn recent_rows(&self, n: usize) -> Vec<f64> {
        self.ring.recent(n).0
    }

    fn n_seen(&self) -> u64 {
        self.n_seen
    }

    fn k_implemented(&self) -> usize {
        self.living().count()
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
        if self.frame.is_some() != self.slots.is_some() {
            return Err("its components have no frame".into());
        }
        let Some(slots) = &mut self.slots else { return Ok(()) };
        if !slots.is_sound(n_columns) || slots.settings != BmmSettings::of_rows(&self.settings) {
            return Err("its components are inconsistent".into());
        }
        slots.restore();
        Ok(())
    }
}
