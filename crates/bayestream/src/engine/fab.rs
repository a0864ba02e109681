//! Batch FAB: keeps every row and revisits them until the criterion stops rising. The reference that the online engine
//! is measured against, and a kind of its own for data that fit in memory.
//!
//! The model is that of [`super::ofab`]. The loop: penalised EM to convergence, dropping components below a share δ;
//! then merges and deletions while FIC rises; again, until nothing changes.

use super::ofab::{Comp, Move, View, shrink, warm_start};
use super::parts::{EmOptions, Part, em};
use super::{Learner, StepReport};
use crate::data::{Batch, Frame, LARGEST_CELL, Scaling};
use crate::family::{Family, Gauss, model_covariance};
use crate::interrupt::{Interrupt, Interrupted};
use crate::model::{Config, Settings};
use crate::num;
use crate::structure::{Component, ComponentId, Evaluation, EventLog, LogScore, Scorer};
use serde::{Deserialize, Serialize};

/// Iterations of one run of EM, at most.
const MOST_ITERATIONS: usize = 300;
/// Times missing cells are drawn anew from the model.
const IMPUTATIONS: usize = 3;

/// The learner of `gmm/fab` and `mppca/fab`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound = "F: Family")]
pub struct Fab<F: Family> {
    family: F,
    settings: Settings,
    scaling: Scaling,
    seed: u64,
    shard: u32,
    n_columns: usize,
    rows: Vec<f64>,
    weights: Vec<f64>,
    fitted: Option<Fitted>,
    events: EventLog,
}

/// A fit of all rows.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Fitted {
    frame: Frame,
    comps: Vec<Comp>,
}

impl<F: Family> Fab<F> {
    /// A learner that has seen nothing.
    pub fn new(config: &Config) -> Self {
        Fab {
            family: F::default(),
            scaling: config.settings.scaling(config.kind),
            settings: config.settings.clone(),
            seed: config.seed,
            shard: config.shard,
            n_columns: config.columns.len(),
            rows: Vec::new(),
            weights: Vec::new(),
            fitted: None,
            events: EventLog::default(),
        }
    }

    /// A fit of all rows; what is left of it after an interrupt is of no use.
    fn fit(&self, interrupt: &Interrupt) -> Option<Fitted> {
        if !self.weights.iter().any(|w| *w > 0.0) {
            return None;
        }
        let frame = Frame::of_rows(&self.rows, self.n_columns, self.scaling);
        let mut comps: Vec<Comp> = Vec::new();
        let rounds = if self.rows.iter().any(|v| v.is_nan()) { IMPUTATIONS } else { 1 };
        for round in 0..rounds as u64 {
            let key = (self.seed, u64::from(self.shard), round);
            let mut view = View::heeding(interrupt, &frame, &self.rows, self.weights.clone(), &comps, key);
            let mut parts = if comps.is_empty() {
                let mut rng = num::stream(self.seed, u64::from(self.shard), u64::MAX);
                let start = self.settings.start_components;
                warm_start(
                    self.family,
                    &mut view.block,
                    &view.weights,
                    start,
                    self.settings.least_share(start),
                    &mut rng,
                )
                .0
            } else {
                parts_of(&comps)
            };
            loop {
                em(self.family, &mut view.block, &view.weights, None, &mut parts, self.options(view.total), None);
                if interrupt.is_raised() {
                    return None;
                }
                comps = self.comps_of(&parts, view.total);
                view.evaluate(&comps);
                let moves: Vec<Move> = shrink(self.family, &mut comps, &mut view, 1.0);
                if moves.is_empty() {
                    break;
                }
                parts = parts_of(&comps);
            }
        }
        Some(Fitted { frame, comps })
    }

    fn options(&self, total: f64) -> EmOptions {
        EmOptions {
            max_iterations: MOST_ITERATIONS,
            tolerance: 1e-7,
            penalty_cap: f64::INFINITY,
            drop_below: (self.settings.least_share(self.settings.start_components) * total).max(1.5),
        }
    }

    fn comps_of(&self, parts: &[Part], total: f64) -> Vec<Comp> {
        let named = |(serial, part): (usize, &Part)| {
            let id = ComponentId { shard: self.shard, serial: serial as u32 };
            Comp::settled(self.family, id, part.weight * total, part.moments.clone(), part.prior.clone(), 0)
        };
        parts.iter().enumerate().map(named).collect()
    }

    /// The fit at hand, or one made now.
    fn current(&self) -> Option<Fitted> {
        self.fitted.clone().or_else(|| self.fit(&Interrupt::default()))
    }
}

fn parts_of(comps: &[Comp]) -> Vec<Part> {
    let total: f64 = comps.iter().map(|c| c.mass).sum();
    comps.iter().map(|c| c.part(total)).collect()
}

impl<F: Family> Learner for Fab<F> {
    fn update(&mut self, batch: &Batch<'_>) -> StepReport {
        if batch.n_rows() > 0 {
            self.rows.extend_from_slice(batch.rows());
            match batch.weights() {
                Some(weights) => self.weights.extend_from_slice(weights),
                None => self.weights.resize(self.weights.len() + batch.n_rows(), 1.0),
            }
            self.fitted = None;
        }
        StepReport { n_rows: batch.n_rows(), ..StepReport::default() }
    }

    fn finish_unless(&mut self, interrupt: &Interrupt) -> Result<(), Interrupted> {
        if self.fitted.is_none() {
            self.fitted = interrupt.unless_raised(self.fit(interrupt))?;
        }
        Ok(())
    }

    fn scores_after(&self) -> Option<u64> {
        None
    }

    fn realize(&self, delta: f64) -> Vec<Component> {
        let Some(Fitted { frame, comps }) = self.current() else { return Vec::new() };
        let total: f64 = comps.iter().map(|c| c.mass).sum();
        let heaviest = comps.iter().map(|c| c.mass).fold(0.0, f64::max);
        let chosen: Vec<&Comp> = comps.iter().filter(|c| c.mass >= (delta * total).min(heaviest)).collect();
        let kept: f64 = chosen.iter().map(|c| c.mass).sum();
        let mut components: Vec<Component> = chosen
            .iter()
            .map(|c| {
                let mut covariance = Vec::new();
                let latent = model_covariance(self.family, &c.slow, &c.prior, &mut covariance);
                Component {
                    id: c.id,
                    weight: c.mass / kept,
                    count: c.slow.count,
                    mean: frame.mean_out(&c.slow.mean),
                    covariance: frame.covariance_out(&covariance),
                    latent_dim: self.family.reported_dim(latent),
                    basis: None,
                }
            })
            .collect();
        components.sort_by(|a, b| b.weight.total_cmp(&a.weight).then(a.id.cmp(&b.id)));
        components
    }

    fn scorer(&self) -> Scorer {
        let (frame, comps) = match self.current() {
            Some(Fitted { frame, comps }) => (frame, comps),
            None => (Frame::identity(self.n_columns), Vec::new()),
        };
        let total: f64 = comps.iter().map(|c| c.mass).sum();
        let parts: Vec<(f64, Gauss)> = comps.iter().map(|c| (c.mass / total, c.gauss.clone())).collect();
        Scorer::new(frame, parts, comps.iter().map(|c| c.id).collect(), &self.log_score())
    }

    fn evaluate(&self, rows: &[f64], into: &mut Evaluation) {
        let (frame, comps) = self.fitted.as_ref().map_or((None, &[][..]), |f| (Some(&f.frame), &f.comps[..]));
        into.run(frame, rows, self.n_columns, comps.iter().map(|c| (c.id, c.mass, c.mass, &c.gauss)), None);
    }

    fn recent_rows(&self, n: usize) -> Vec<f64> {
        self.rows[self.rows.len() - self.rows.len().min(n * self.n_columns)..].to_vec()
    }

    fn n_seen(&self) -> u64 {
        self.weights.len() as u64
    }

    fn k_implemented(&self) -> usize {
        self.fitted.as_ref().map_or(0, |f| f.comps.len())
    }

    fn events(&self) -> &EventLog {
        &self.events
    }

    fn log_score(&self) -> LogScore {
        LogScore { prequential_mean: f64::NAN, n_scored: 0, recent: Vec::new() }
    }

    fn settings(&self) -> &Settings {
        &self.settings
    }

    fn restore(&mut self, n_columns: usize) -> Result<(), String> {
        let rows_sound = self.n_columns == n_columns
            && self.rows.len() == self.weights.len() * n_columns
            && !self.rows.iter().any(|v| v.abs() > LARGEST_CELL)
            && self.weights.iter().all(|w| w.is_finite() && *w >= 0.0);
        if !rows_sound {
            return Err("its rows are inconsistent".into());
        }
        if let Some(fitted) = &mut self.fitted {
            if !fitted.frame.is_sound(n_columns) || fitted.comps.iter().any(|c| !c.is_sound(n_columns)) {
                return Err("its fit is inconsistent".into());
            }
            fitted.comps.iter_mut().for_each(Comp::pack);
        }
        Ok(())
    }
}
