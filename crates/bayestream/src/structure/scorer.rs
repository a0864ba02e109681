//! Scores of rows against a mixture that stays as it is.

use super::clusters::{Cluster, Clustering, Labels, clusters_of};
use super::evaluate::{Posterior, RowBlock};
use super::event::ComponentId;
use super::pool::{Pool, Predictions, mix};
use super::recent::RecentScores;
use super::snapshot::{Component, LogScore, Snapshot};
use crate::data::Frame;
use crate::family::Gauss;

/// What a mixture says of one row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RowScore {
    /// Log-density of the observed cells, in nats and the data's own units; NaN when there is no model yet.
    pub log_density: f64,
    /// Nats by which the row is less likely than the median of the recent stream; NaN when nothing was scored yet.
    pub surprise: f64,
    /// Share of the recent stream that was at least as surprising; NaN when nothing was scored yet.
    pub p_value: f64,
    /// The component most responsible.
    pub component: Option<ComponentId>,
    /// Its responsibility.
    pub responsibility: f64,
    /// The cluster whose components are together most responsible, when the scorer knows clusters.
    pub cluster: Option<ComponentId>,
}

/// A mixture ready to score rows.
#[derive(Clone, Debug)]
pub struct Scorer {
    frame: Frame,
    parts: Vec<(f64, Gauss)>,
    ids: Vec<ComponentId>,
    recent: RecentScores,
    pool: Option<Pool>,
    /// Nothing unless clusters were asked for.
    labels: Labels,
    block: RowBlock,
    posterior: Posterior,
    predictions: Predictions,
    pooled: Vec<f64>,
}

impl Scorer {
    /// A scorer of weighted components given in a frame.
    pub fn new(frame: Frame, parts: Vec<(f64, Gauss)>, ids: Vec<ComponentId>, log_score: &LogScore) -> Scorer {
        Scorer {
            frame,
            parts,
            ids,
            recent: RecentScores::of(log_score),
            pool: None,
            labels: Labels::default(),
            block: RowBlock::default(),
            posterior: Posterior::default(),
            predictions: Predictions::default(),
            pooled: Vec::new(),
        }
    }

    /// The same with what rows are predicted by besides the mixture.
    pub fn pooled_with(self, pool: Option<Pool>) -> Scorer {
        Scorer { pool, ..self }
    }

    /// The same with clusters, so that [`RowScore::cluster`] is told.
    pub fn with_clusters(self) -> Scorer {
        let clustering = Clustering::new(&self.clusters(), 0, 0);
        self.labelled_by(&clustering)
    }

    /// The same with clusters that are known.
    pub fn labelled_by(mut self, clustering: &Clustering) -> Scorer {
        self.labels.set(clustering, self.ids.iter().copied());
        self
    }

    /// Its clusters, by decreasing weight.
    pub fn clusters(&self) -> Vec<Cluster> {
        clusters_of(self.ids.iter().zip(&self.parts).map(|(id, (weight, gauss))| (*id, *weight, gauss)))
    }

    /// The frame its components are in.
    pub(crate) fn frame(&self) -> &Frame {
        &self.frame
    }

    /// Its weighted components, in the frame.
    pub(crate) fn parts(&self) -> impl Iterator<Item = (f64, &Gauss)> {
        self.parts.iter().map(|(weight, gauss)| (*weight, gauss))
    }

    /// A scorer of a truth, for tests.
    #[cfg(test)]
    pub(crate) fn of_truth(truth: &crate::synthetic::Truth) -> Scorer {
        let parts: Vec<(f64, Gauss)> = truth
            .weights
            .iter()
            .zip(truth.means.iter().zip(&truth.covariances))
            .map(|(weight, (mean, covariance))| (*weight, Gauss::with_covariance(mean, covariance)))
            .collect();
        let ids = (0..parts.len()).map(|serial| ComponentId { shard: 0, serial: serial as u32 }).collect();
        Scorer::new(Frame::identity(truth.n_columns()), parts, ids, &LogScore::default())
    }

    /// Scores rows (row-major, NaN = missing) in their order, replacing what `out` holds.
    pub fn score(&mut self, rows: &[f64], out: &mut Vec<RowScore>) {
        out.clear();
        let n = self.posterior(rows);
        for i in 0..n {
            out.push(self.row_score(i));
        }
    }

    /// Mean log-density of rows, in the data's own units; cells that are missing are left out of it.
    pub fn mean_log_density(&mut self, rows: &[f64]) -> f64 {
        let n = self.posterior(rows);
        let in_frame: f64 = self.posterior.log_total[..n].iter().sum();
        let jacobian: f64 = match self.block.is_whole() {
            true => n as f64 * self.frame.log_jacobian(),
            false => (0..n).map(|i| self.frame.log_jacobian_of(self.block.row(i))).sum(),
        };
        (in_frame + jacobian) / n as f64
    }

    /// Log-density of each row, in the data's own units; cells that are missing are left out of it.
    pub fn log_densities(&mut self, rows: &[f64], out: &mut Vec<f64>) {
        let mut scores = Vec::new();
        self.score(rows, &mut scores);
        out.clear();
        out.extend(scores.iter().map(|s| s.log_density));
    }

    /// Responsibility of each component for each row, row by row, replacing what `out` holds; nothing when there is no
    /// model yet.
    pub fn responsibilities(&mut self, rows: &[f64], out: &mut Vec<f64>) {
        out.clear();
        let n = self.posterior(rows);
        let stride = self.posterior.stride;
        for i in 0..n {
            out.extend((0..self.parts.len()).map(|k| self.posterior.q[k * stride + i]));
        }
    }

    /// The components' names, in the order of their responsibilities.
    pub fn ids(&self) -> &[ComponentId] {
        &self.ids
    }

    fn posterior(&mut self, rows: &[f64]) -> usize {
        self.block.load_with(self.frame.n_columns(), |into| self.frame.push_rows(rows, into));
        let n = self.block.n_rows();
        let k = self.posterior.log_joint(&mut self.block, self.parts.iter().map(|(w, g)| (w.ln(), g)));
        if let (Some(pool), true) = (&self.pool, k > 0) {
            self.predictions.begin(&self.block);
            for ((weight, gauss), joint) in self.parts.iter().zip(self.posterior.q.chunks_exact(self.posterior.stride))
            {
                self.predictions.add(&mut self.block, weight.ln(), gauss, joint, weight.ln());
            }
            self.predictions.finish(&mut self.block, &pool.whole);
            mix(&pool.weights, &self.predictions.logs, &mut self.pooled);
        }
        if k > 0 {
            self.posterior.normalise(k, n);
            let n_pooled = self.pooled.len().min(n);
            self.posterior.log_total[..n_pooled].copy_from_slice(&self.pooled[..n_pooled]);
        } else {
            self.posterior.log_total.clear();
            self.posterior.log_total.resize(n, f64::NAN);
        }
        n
    }

    fn row_score(&mut self, i: usize) -> RowScore {
        let (q, stride) = (&self.posterior.q, self.posterior.stride);
        let at = |k: usize| q[k * stride + i];
        let best = (0..self.parts.len()).max_by(|&a, &b| at(a).total_cmp(&at(b)).then(b.cmp(&a)));
        let in_frame = self.posterior.log_total[i];
        // The jacobian of the observed cells only: a missing cell has no density and no unit.
        let jacobian: f64 = self.frame.log_jacobian_of(self.block.row(i));
        let log_density = in_frame + jacobian;
        RowScore {
            log_density,
            surprise: self.recent.surprise(log_density),
            p_value: self.recent.p_value(log_density),
            component: best.map(|k| self.ids[k]),
            responsibility: best.map_or(f64::NAN, at),
            cluster: self.labels.of_row(at),
        }
    }
}

impl Snapshot {
    /// A scorer of this snapshot.
    pub fn scorer(&self) -> Scorer {
        let d = self.columns.len();
        let frame = Frame::spanning(&self.components, d);
        let (factor, offset) = Frame::identity(d).map_to(&frame);
        let density = |c: &Component| {
            let mean: Vec<f64> = (0..d).map(|j| c.mean[j] * factor[j] + offset[j]).collect();
            let covariance: Vec<f64> =
                (0..d * d).map(|at| c.covariance[at] * factor[at / d] * factor[at % d]).collect();
            let gauss = Gauss::with_covariance(&mean, &covariance);
            match c.basis {
                Some(basis) => gauss.known_from(c.count, basis),
                None => gauss,
            }
        };
        let parts = self.components.iter().map(|c| (c.weight, density(c))).collect();
        let pool = self.pool.as_ref().map(|p| Pool { weights: p.weights, whole: density(&p.whole) });
        let ids = self.components.iter().map(|c| c.id).collect();
        Scorer::new(frame, parts, ids, &self.log_score).pooled_with(pool)
    }
}
