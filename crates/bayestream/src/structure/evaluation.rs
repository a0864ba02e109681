//! Rows under every component of a learner's master model, lent for judging them.

use super::clusters::{Clustering, Labels};
use super::evaluate::{Posterior, RowBlock};
use super::event::ComponentId;
use super::pool::{Pool, Predictions, mix};
use crate::data::Frame;
use crate::family::Gauss;

/// A component as those see it who judge rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Member {
    /// Its name for life.
    pub id: ComponentId,
    /// Its mixing weight.
    pub weight: f64,
    /// Rows it stands for.
    pub rows: f64,
}

/// Log-joints of rows and components, the heaviest component first. Buffers are reused.
#[derive(Clone, Debug, Default)]
pub struct Evaluation {
    members: Vec<Member>,
    order: Vec<usize>,
    block: RowBlock,
    posterior: Posterior,
    /// Expected log-densities of missing cells, laid out as the log-joints; empty when no cell is missing.
    missing: Vec<f64>,
    jacobians: Vec<f64>,
    predictions: Predictions,
    /// Pooled log-densities in the frame; empty for kinds that do not pool.
    pooled: Vec<f64>,
    labels: Labels,
}

impl Evaluation {
    /// Evaluates rows given in the data's own units; `parts` are ids, masses (whose shares are the weights), rows that
    /// a component stands for, and densities in the frame.
    pub fn run<'a>(
        &mut self,
        frame: Option<&Frame>,
        rows: &[f64],
        n_columns: usize,
        parts: impl Iterator<Item = (ComponentId, f64, f64, &'a Gauss)>,
        pool: Option<&Pool>,
    ) {
        self.members.clear();
        self.pooled.clear();
        self.block.load_with(n_columns, |into| match frame {
            Some(frame) => frame.push_rows(rows, into),
            None => into.extend_from_slice(rows),
        });
        let parts: Vec<(ComponentId, f64, f64, &Gauss)> = parts.collect();
        let total: f64 = parts.iter().map(|p| p.1).sum();
        self.order.clear();
        self.order.extend(0..parts.len());
        self.order.sort_by(|&a, &b| parts[b].1.total_cmp(&parts[a].1).then(parts[a].0.cmp(&parts[b].0)));
        let ordered = || self.order.iter().map(|&k| &parts[k]);
        self.members.extend(ordered().map(|&(id, mass, rows, _)| Member { id, weight: mass / total, rows }));
        let log_weight = |mass: f64| (mass / total).max(f64::MIN_POSITIVE).ln();
        self.missing.clear();
        if self.block.is_whole() {
            self.posterior.log_joint(&mut self.block, ordered().map(|&(_, mass, _, gauss)| (log_weight(mass), gauss)));
        } else {
            let stride = self.block.stride();
            self.posterior.stride = stride;
            self.posterior.q.clear();
            self.posterior.q.resize(parts.len() * stride, 0.0);
            self.missing.resize(parts.len() * stride, 0.0);
            let into = self.posterior.q.chunks_exact_mut(stride).zip(self.missing.chunks_exact_mut(stride));
            for (&(_, mass, _, gauss), (joint, missing)) in ordered().zip(into) {
                self.block.log_density_and_missing(gauss, log_weight(mass), joint, missing);
            }
        }
        if let (Some(pool), false) = (pool, self.order.is_empty()) {
            self.predictions.begin(&self.block);
            let joints = self.posterior.q.chunks_exact(self.posterior.stride);
            for (&(_, mass, _, gauss), joint) in self.order.iter().map(|&k| &parts[k]).zip(joints) {
                let log_weight = log_weight(mass);
                self.predictions.add(&mut self.block, log_weight, gauss, joint, log_weight);
            }
            self.predictions.finish(&mut self.block, &pool.whole);
            mix(&pool.weights, &self.predictions.logs, &mut self.pooled);
        }
        self.jacobians.clear();
        if let Some(frame) = frame {
            let whole = frame.log_jacobian();
            self.jacobians.extend((0..self.block.n_rows()).map(|i| match self.block.is_whole() {
                true => whole,
                false => frame.log_jacobian_of(self.block.row(i)),
            }));
        }
    }

    /// The components, by decreasing weight.
    pub fn members(&self) -> &[Member] {
        &self.members
    }

    /// How many rows.
    pub fn n_rows(&self) -> usize {
        self.block.n_rows()
    }

    /// Log-density of each row, in the frame, under the chosen components alone, their log-weights as they are plus what
    /// is given. A missing cell adds what it is expected to, so that rows with and without holes can be compared.
    pub fn log_density_under(&self, chosen: &[(usize, f64)], scratch: &mut Posterior, out: &mut Vec<f64>) {
        let (rows, stride) = (self.n_rows(), self.posterior.stride);
        let of = |k: usize| k * stride..(k + 1) * stride;
        scratch.stride = stride;
        scratch.q.clear();
        for &(k, more) in chosen {
            scratch.q.extend(self.posterior.q[of(k)].iter().map(|q| q + more));
        }
        scratch.normalise(chosen.len(), rows);
        out.clear();
        out.extend_from_slice(&scratch.log_total[..rows]);
        if !self.missing.is_empty() {
            for (at, &(k, _)) in chosen.iter().enumerate() {
                for ((out, q), missing) in out.iter_mut().zip(&scratch.q[of(at)]).zip(&self.missing[of(k)]) {
                    *out += q * missing;
                }
            }
        }
    }

    /// Turns log-joints into responsibilities; [`Evaluation::of_row`] and
    /// [`Evaluation::responsibilities`] then tell them.
    pub fn normalise(&mut self) {
        if !self.members.is_empty() {
            self.posterior.normalise(self.members.len(), self.block.n_rows());
        }
    }

    /// Log-density of a row's observed cells in the data's own units, and the component most responsible for it.
    pub fn of_row(&self, i: usize) -> (f64, Option<ComponentId>, f64) {
        let at = |k: usize| self.posterior.q[k * self.posterior.stride + i];
        match (0..self.members.len()).max_by(|&a, &b| at(a).total_cmp(&at(b)).then(b.cmp(&a))) {
            Some(best) => {
                let in_frame = self.pooled.get(i).unwrap_or(&self.posterior.log_total[i]);
                (in_frame + self.jacobians[i], Some(self.members[best].id), at(best))
            }
            None => (f64::NAN, None, f64::NAN),
        }
    }

    /// Takes the clusters that [`Evaluation::cluster_of_row`] tells.
    pub fn label_by(&mut self, clustering: &Clustering) {
        self.labels.set(clustering, self.members.iter().map(|member| member.id));
    }

    /// The cluster whose components are together most responsible for a row.
    pub fn cluster_of_row(&mut self, i: usize) -> Option<ComponentId> {
        let (q, stride) = (&self.posterior.q, self.posterior.stride);
        self.labels.of_row(|k| q[k * stride + i])
    }

    /// One component's responsibilities.
    pub fn responsibilities(&self, k: usize) -> &[f64] {
        self.posterior.of(k, self.n_rows())
    }
}
