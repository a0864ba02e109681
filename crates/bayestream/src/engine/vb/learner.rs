//! The stream's side of the engines: first rows, scores, snapshots, files.

use super::component::Comp;
use super::{PATIENCE, Rule, Vb, Young};
use crate::data::{Batch, Frame, LARGEST_CELL};
use crate::engine::{Learner, StepReport};
use crate::family::{Family, Prior, model_covariance};
use crate::model::Settings;
use crate::structure::{Component, Evaluation, EventLog, Happening, LogScore, RowBlock, Scorer};

impl<F: Family, R: Rule> Vb<F, R> {
    /// Keeps the batch with the first rows and makes the model anew when they have doubled. Returns whether it did.
    fn grow_up(&mut self, batch: &Batch<'_>, n_repairs: &mut u32) -> bool {
        let Some(kept) = &mut self.young else { return false };
        let mut young = std::mem::take(kept);
        young.rows.extend_from_slice(batch.rows());
        match batch.weights() {
            Some(weights) => young.weights.extend_from_slice(weights),
            None => young.weights.resize(young.weights.len() + batch.n_rows(), 1.0),
        }
        let warm_up = self.settings.warm_up;
        let is_grown = self.seen >= warm_up as f64 || young.weights.len() >= PATIENCE * warm_up;
        let starts_over = is_grown || self.seen >= young.next;
        if starts_over {
            *n_repairs += self.start_over(&young);
            young.next = 2.0 * self.seen;
        }
        if is_grown {
            self.young = None;
            let ids: Vec<_> = self.comps.iter().map(|c| c.id).collect();
            ids.into_iter().for_each(|id| self.log(id, Happening::Born));
        } else {
            self.young = Some(young);
        }
        starts_over
    }

    /// Log-densities of rows that are not yet learnt from, in the data's own units.
    fn score(&mut self, block: &mut RowBlock, report: &mut StepReport) {
        let (Some(frame), total) = (&self.frame, self.mass()) else { return };
        if total <= 0.0 {
            return;
        }
        let n = block.n_rows();
        let posterior = &mut self.work.posterior;
        let living = self.comps.iter().filter(|c| c.moments.count > 0.0);
        let k = posterior.log_joint(block, living.map(|c| ((c.moments.count / total).ln(), &c.density)));
        posterior.normalise(k, n);
        let whole = frame.log_jacobian();
        for (i, log_density) in posterior.log_total[..n].iter().enumerate() {
            let jacobian = if block.is_whole() { whole } else { frame.log_jacobian_of(block.row(i)) };
            self.scores.push(log_density + jacobian);
            report.log_score += log_density + jacobian;
        }
        report.n_scored = n;
    }

    /// Components that have rows.
    fn living(&self) -> impl Iterator<Item = &Comp> {
        self.comps.iter().filter(|c| c.moments.count > 0.0)
    }
}

impl<F: Family, R: Rule> Learner for Vb<F, R> {
    fn update(&mut self, batch: &Batch<'_>) -> StepReport {
        let (n, d) = (batch.n_rows(), self.n_columns);
        let mut report = StepReport { n_rows: n, ..StepReport::default() };
        if n > 0 {
            let mut block = RowBlock::default();
            if let Some(frame) = &self.frame {
                block.load_with(d, |into| frame.push_rows(batch.rows(), into));
                self.score(&mut block, &mut report);
            }
            self.n_updates += 1;
            self.n_seen += n as u64;
            self.seen += batch.weights().map_or(n as f64, |w| w.iter().sum());
            self.ring.push(batch.rows(), batch.weights());
            if !self.grow_up(batch, &mut report.n_repairs) {
                report.n_repairs += self.learn(&mut block, batch.weights());
            }
        }
        report.k_implemented = self.comps.len();
        report.n_events = self.events.n_total();
        report
    }

    fn scores_after(&self) -> Option<u64> {
        Some(1)
    }

    fn realize(&self, delta: f64) -> Vec<Component> {
        let Some(frame) = &self.frame else { return Vec::new() };
        let total = self.mass();
        let heaviest = self.comps.iter().map(|c| c.moments.count).fold(0.0, f64::max);
        let least = (delta * total).min(heaviest);
        let chosen: Vec<&Comp> = self.living().filter(|c| c.moments.count >= least).collect();
        let kept: f64 = chosen.iter().map(|c| c.moments.count).sum();
        let prior = Prior::vanishing(vec![self.prior_scale(); self.n_columns]);
        let mut covariance = Vec::new();
        let mut components: Vec<Component> = chosen
            .iter()
            .map(|c| {
                let latent = model_covariance(self.family, &c.moments, &prior, &mut covariance);
                Component {
                    id: c.id,
                    weight: c.moments.count / kept,
                    count: c.moments.count,
                    mean: frame.mean_out(&c.moments.mean),
                    covariance: frame.covariance_out(&covariance),
                    latent_dim: self.family.reported_dim(latent),
                    basis: None,
                }
            })
            .filter(|c| c.weight > 0.0)
            .collect();
        components.sort_by(|a, b| b.weight.total_cmp(&a.weight).then(a.id.cmp(&b.id)));
        components
    }

    fn scorer(&self) -> Scorer {
        let frame = self.frame.clone().unwrap_or_else(|| Frame::identity(self.n_columns));
        let total = self.mass();
        let parts = self.living().map(|c| (c.moments.count / total, c.density.clone())).collect();
        Scorer::new(frame, parts, self.living().map(|c| c.id).collect(), &self.scores.report())
    }

    fn evaluate(&self, rows: &[f64], into: &mut Evaluation) {
        let parts = self.living().map(|c| (c.id, c.moments.count, c.moments.count, &c.density));
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
        if self.n_columns != n_columns || self.frame.as_ref().is_some_and(|f| !f.is_sound(n_columns)) {
            return Err("its columns do not match".into());
        }
        self.try_prior(vec![0.0; n_columns]).map_err(|e| e.to_string())?;
        let young_sound = |y: &Young| {
            y.rows.len() == y.weights.len() * n_columns
                && !y.rows.iter().any(|v| v.abs() > LARGEST_CELL)
                && y.weights.iter().all(|w| w.is_finite() && *w >= 0.0)
                && !y.next.is_nan()
        };
        if !self.ring.is_sound(n_columns) || !self.scores.is_sound() || !self.young.as_ref().is_none_or(young_sound) {
            return Err("its buffers are inconsistent".into());
        }
        if let Some(bad) = self.comps.iter().find(|c| !c.is_sound(n_columns)) {
            return Err(format!("component {} is inconsistent", bad.id));
        }
        if (!self.comps.is_empty() && self.frame.is_none()) || !(self.seen.is_finite() && self.seen >= 0.0) {
            return Err("its components have no frame or its rows no mass".into());
        }
        self.comps.iter_mut().for_each(Comp::pack);
        Ok(())
    }
}
