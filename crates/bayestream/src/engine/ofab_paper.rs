//! Algorithm 1 of the OFAB paper, for reproduction; see [`super::ofab`] for the version that works.
//!
//! The model: as there. The loop, per mini-batch: random responsibilities, then M times M-step and E-step, every
//! M-step anchored at the parameters before the batch; components are added while fewer than `spare` are redundant.
//!
//! Key: b batch · m inner iteration · T rows of a batch · N rows seen · q responsibilities · a weights · Q cumulative
//! responsibilities · ε learning rate · D_k free parameters · δ shrinkage threshold.
//!
//! Deviates: (18) to (20) are taken in the form that maximises (10), anchored at b−1. As printed, (19) lacks the factor
//! T a'_k and (20) weighs the old covariance by ε/(1+ε): means fall to the origin (`papers/ofab.md`, deviations).

use super::parts::{Gather, ScoreTrack, accumulate};
use super::{Learner, StepReport};
use crate::data::{Batch, Frame, Scaling};
use crate::family::{Family, Gauss, GaussScratch, Moments, Prior, model_covariance};
use crate::model::{Config, Settings};
use crate::num::{self, Rng};
use crate::structure::{
    Component, ComponentId, Evaluation, Event, EventLog, Happening, LogScore, Posterior, RowBlock, Scorer,
};
use serde::{Deserialize, Serialize};

/// The learner of `gmm/ofab` and `mppca/ofab` with `variant=paper`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound = "F: Family")]
pub struct OfabPaper<F: Family> {
    family: F,
    settings: Settings,
    scaling: Scaling,
    seed: u64,
    shard: u32,
    n_columns: usize,
    n_seen: u64,
    next_serial: u32,
    frame: Option<Frame>,
    comps: Vec<PaperComp>,
    /// The last batch, framed: what merges are judged on.
    last: Vec<f64>,
    events: EventLog,
    scores: ScoreTrack,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct PaperComp {
    id: ComponentId,
    weight: f64,
    /// Mean and covariance; the count is set anew in every batch.
    moments: Moments,
    /// Cumulative responsibilities, (14).
    cumulative: f64,
    gauss: Gauss,
}

impl<F: Family> OfabPaper<F> {
    /// A learner that has seen nothing.
    pub fn new(config: &Config) -> Self {
        OfabPaper {
            family: F::default(),
            scaling: config.settings.scaling(config.kind),
            settings: config.settings.clone(),
            seed: config.seed,
            shard: config.shard,
            n_columns: config.columns.len(),
            n_seen: 0,
            next_serial: 0,
            frame: None,
            comps: Vec::new(),
            last: Vec::new(),
            events: EventLog::default(),
            scores: ScoreTrack::default(),
        }
    }

    /// In the frame every column has unit spread, so one prior fits all; it vanishes as rows come in.
    fn prior(&self) -> Prior {
        Prior::vanishing(vec![1.0; self.n_columns])
    }

    /// A component at a random row with the spread of the frame. Its weight is set by the caller.
    fn random_component(&mut self, block: &RowBlock, rng: &mut Rng) -> PaperComp {
        let d = self.n_columns;
        let row = block.row(rng.below(block.n_rows()));
        let mean: Vec<f64> = row.iter().map(|v| if v.is_nan() { 0.0 } else { *v }).collect();
        let mut moments = Moments::empty_at(&mean);
        (0..d).for_each(|j| moments.covariance[j * d + j] = 1.0);
        let id = ComponentId { shard: self.shard, serial: self.next_serial };
        self.next_serial += 1;
        let gauss = Gauss::of(self.family, &moments, &self.prior());
        PaperComp { id, weight: 0.0, moments, cumulative: 0.0, gauss }
    }

    /// Lines 1 and 14: adds components with random parameters and weights.
    fn add_components(&mut self, n: usize, block: &RowBlock, rng: &mut Rng) {
        for _ in 0..n {
            let mut comp = self.random_component(block, rng);
            comp.weight = rng.uniform().max(1e-3) / (self.comps.len() + 1) as f64;
            self.events.push(Event { row: self.n_seen, component: comp.id, what: Happening::Born });
            self.comps.push(comp);
        }
        let total: f64 = self.comps.iter().map(|c| c.weight).sum();
        self.comps.iter_mut().for_each(|c| c.weight /= total);
    }

    /// Lines 3 to 7.
    fn inner_loop(&mut self, block: &mut RowBlock, weights: Option<&[f64]>, rng: &mut Rng) {
        let n = block.n_rows();
        let t = weights.map_or(n as f64, |w| w.iter().sum::<f64>());
        if t <= 0.0 {
            return;
        }
        let epsilon = (self.settings.tau + self.n_seen as f64).powf(self.settings.kappa) - 1.0; // [OFAB] (12)
        let prior = self.prior();
        let anchor: Vec<(f64, Moments)> = self.comps.iter().map(|c| (c.weight, c.moments.clone())).collect();
        let before: Vec<f64> = self.comps.iter().map(|c| c.cumulative).collect();
        let (mut gather, mut scratch) = (Gather::default(), GaussScratch::default());
        let mut posterior = random_posterior(self.comps.len(), block, rng);
        for _ in 0..self.settings.inner {
            for (k, comp) in self.comps.iter_mut().enumerate() {
                let (weight, moments) = &anchor[k];
                let q = &posterior.q[k * posterior.stride..][..n];
                let got = accumulate(&mut gather, block, q, weights, &comp.gauss, &moments.mean, false);
                let kept = epsilon * t * weight;
                comp.weight = (got.mass + kept) / ((1.0 + epsilon) * t); // [OFAB] (18)
                comp.moments = Moments { count: kept, ..moments.clone() };
                comp.moments.absorb(1.0, got.mass, got.sum, got.scatter); // [OFAB] (19), (20)
                comp.cumulative = before[k] + got.mass; // [OFAB] (17)
                let counted = Moments { count: comp.cumulative, ..comp.moments.clone() };
                comp.gauss.refresh(self.family, &counted, &prior, &mut scratch); // [OFAB] (24)-(27)
            }
            let tilted = self.comps.iter().map(|c| {
                let penalty = c.gauss.n_free() / (2.0 * c.cumulative.max(f64::MIN_POSITIVE));
                (c.weight.max(f64::MIN_POSITIVE).ln() - penalty, &c.gauss) // [OFAB] (16), (23)
            });
            let k = posterior.log_joint(block, tilted);
            posterior.normalise(k, n);
        }
    }

    /// Components that do not satisfy (13).
    fn realized(&self, delta: f64) -> Vec<&PaperComp> {
        let least = delta * self.n_seen as f64;
        let heaviest = self.comps.iter().map(|c| c.cumulative).fold(0.0, f64::max);
        self.comps.iter().filter(|c| c.cumulative >= least.min(heaviest)).collect() // [OFAB] (13)
    }

    /// Merges the closest pair while FIC on the last batch rises.
    fn merged(&self, delta: f64) -> Vec<PaperComp> {
        let mut comps: Vec<PaperComp> = self.realized(delta).into_iter().cloned().collect();
        let mut block = RowBlock::default();
        block.load(&self.last, self.n_columns);
        while comps.len() > 1 && block.n_rows() > 0 {
            let Some((i, j)) = closest_pair(&comps) else { break };
            let mut fewer = comps.clone();
            let gone = fewer.remove(j);
            let both = fewer[i].weight + gone.weight;
            fewer[i].moments.count = fewer[i].weight;
            let moments = Moments { count: gone.weight, ..gone.moments };
            fewer[i].moments.add_scaled(1.0, &moments);
            fewer[i].weight = both;
            fewer[i].cumulative += gone.cumulative;
            let counted = Moments { count: fewer[i].cumulative, ..fewer[i].moments.clone() };
            fewer[i].gauss = Gauss::of(self.family, &counted, &self.prior());
            if self.criterion(&mut block, &fewer) <= self.criterion(&mut block, &comps) {
                break;
            }
            comps = fewer;
        }
        comps
    }

    /// FIC on the last batch, [OFAB] (7).
    fn criterion(&self, block: &mut RowBlock, comps: &[PaperComp]) -> f64 {
        let mut posterior = Posterior::default();
        let total: f64 = comps.iter().map(|c| c.weight).sum();
        let n = block.n_rows();
        let k = posterior.log_joint(block, comps.iter().map(|c| ((c.weight / total).ln(), &c.gauss)));
        posterior.normalise(k, n);
        let seen = self.n_seen as f64;
        let fit: f64 = posterior.log_total[..n].iter().sum::<f64>() * seen / n as f64;
        let price: f64 = comps.iter().map(|c| c.gauss.n_free() / 2.0 * c.cumulative.max(1.0).ln()).sum();
        fit - price - (comps.len() as f64 - 1.0) / 2.0 * seen.ln()
    }
}

/// Line 3: random responsibilities.
fn random_posterior(n_components: usize, block: &RowBlock, rng: &mut Rng) -> Posterior {
    let (n, stride) = (block.n_rows(), block.stride());
    let mut q = vec![0.0; n_components * stride];
    for i in 0..n {
        let draws: Vec<f64> = (0..n_components).map(|_| rng.gamma(1.0)).collect();
        let total: f64 = draws.iter().sum();
        draws.iter().enumerate().for_each(|(k, v)| q[k * stride + i] = v / total);
    }
    Posterior { q, log_total: vec![0.0; stride], stride }
}

/// The pair with the least symmetric KL divergence.
fn closest_pair(comps: &[PaperComp]) -> Option<(usize, usize)> {
    let covariances: Vec<Vec<f64>> = comps.iter().map(|c| c.gauss.covariance()).collect();
    let precisions: Vec<Vec<f64>> = comps.iter().map(|c| c.gauss.precision()).collect();
    let trace = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
    let distance = |i: usize, j: usize| {
        let mut z = vec![0.0; comps[i].gauss.mean().len()];
        comps[i].gauss.whitened(comps[j].gauss.mean(), &mut z);
        let one: f64 = z.iter().map(|v| v * v).sum();
        comps[j].gauss.whitened(comps[i].gauss.mean(), &mut z);
        let other: f64 = z.iter().map(|v| v * v).sum();
        trace(&covariances[i], &precisions[j]) + trace(&covariances[j], &precisions[i]) + one + other
    };
    (1..comps.len())
        .flat_map(|j| (0..j).map(move |i| (i, j)))
        .map(|(i, j)| (distance(i, j), i, j))
        .min_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, i, j)| (i, j))
}

impl<F: Family> Learner for OfabPaper<F> {
    fn update(&mut self, batch: &Batch<'_>) -> StepReport {
        let (n, d) = (batch.n_rows(), self.n_columns);
        let mut report = StepReport { n_rows: n, ..StepReport::default() };
        if n > 0 {
            let mut rng = num::stream(self.seed, u64::from(self.shard), self.n_seen);
            let frame = self.frame.get_or_insert_with(|| Frame::of_rows(batch.rows(), d, self.scaling)).clone();
            let mut block = RowBlock::default();
            block.load_with(d, |into| frame.push_rows(batch.rows(), into));
            if !self.comps.is_empty() {
                let mut densities = Vec::new();
                self.scorer().log_densities(batch.rows(), &mut densities);
                densities.iter().for_each(|l| self.scores.push(*l));
                report.log_score = densities.iter().sum();
                report.n_scored = n;
            }
            self.n_seen += n as u64;
            if self.comps.is_empty() {
                self.add_components(self.settings.spare + 1, &block, &mut rng);
            }
            self.inner_loop(&mut block, batch.weights(), &mut rng);
            self.last.clear();
            self.last.extend_from_slice(block.rows());
            let spare = self.settings.spare;
            let room = self.comps.len() + spare <= self.settings.max_components;
            if room && self.realized(self.settings.least_share(self.comps.len())).len() + spare >= self.comps.len() {
                self.add_components(spare, &block, &mut rng);
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
        let comps = self.merged(delta);
        let total: f64 = comps.iter().map(|c| c.weight).sum();
        let mut components: Vec<Component> = comps
            .iter()
            .map(|c| {
                let counted = Moments { count: c.cumulative, ..c.moments.clone() };
                let mut covariance = Vec::new();
                let latent = model_covariance(self.family, &counted, &self.prior(), &mut covariance);
                Component {
                    id: c.id,
                    weight: c.weight / total,
                    count: c.cumulative,
                    mean: frame.mean_out(&c.moments.mean),
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
        let frame = self.frame.clone().unwrap_or_else(|| Frame::identity(self.n_columns));
        let parts = self.comps.iter().map(|c| (c.weight, c.gauss.clone())).collect();
        Scorer::new(frame, parts, self.comps.iter().map(|c| c.id).collect(), &self.scores.report())
    }

    fn evaluate(&self, rows: &[f64], into: &mut Evaluation) {
        let parts = self.comps.iter().map(|c| (c.id, c.weight, c.cumulative, &c.gauss));
        into.run(self.frame.as_ref(), rows, self.n_columns, parts, None);
    }

    fn recent_rows(&self, n: usize) -> Vec<f64> {
        let d = self.n_columns;
        let Some(frame) = &self.frame else { return Vec::new() };
        let first = self.last.len() - self.last.len().min(n * d);
        self.last[first..].iter().enumerate().map(|(i, v)| frame.cell_out(i % d, *v)).collect()
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
        let comp_sound = |c: &PaperComp| {
            c.gauss.is_sound(n_columns)
                && c.moments.mean.len() == n_columns
                && c.moments.covariance.len() == n_columns * n_columns
                && c.moments.mean.iter().chain(&c.moments.covariance).all(|v| v.is_finite())
                && [c.weight, c.cumulative, c.moments.count].iter().all(|v| v.is_finite() && *v >= 0.0)
        };
        let sound = self.n_columns == n_columns
            && self.frame.as_ref().is_none_or(|f| f.is_sound(n_columns))
            && (self.frame.is_some() || self.comps.is_empty())
            && self.last.len().is_multiple_of(n_columns)
            && self.comps.iter().all(comp_sound)
            && self.scores.is_sound();
        if !sound {
            return Err("its components are inconsistent".into());
        }
        self.comps.iter_mut().for_each(|c| c.gauss.pack());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::parts::{EmOptions, Part, em};
    use crate::family::{FullGaussian, Ppca};
    use crate::model::{Kind, Variant};
    use crate::synthetic::{Covariance, ofab_truth};

    /// A learner after one batch of all rows, with a rate at which the past weighs nothing, and that batch.
    fn after_one_batch<F: Family>(inner: usize) -> (OfabPaper<F>, RowBlock) {
        let (rows, _) = ofab_truth(3, 2, Covariance::Spd, 20_041).sample(400, 20_042);
        let mut config = Config { seed: 20_043, ..Config::new(Kind::GmmOfab, vec!["a".into(), "b".into()]) };
        // (12) with κ → 0: ε = (τ + N)^κ − 1 → 0.
        config.settings = Settings { variant: Variant::Paper, kappa: 1e-15, inner, ..Settings::default() };
        let mut learner = OfabPaper::<F>::new(&config);
        let frame = Frame::of_rows(&rows, 2, learner.scaling);
        let mut block = RowBlock::default();
        block.load_with(2, |into| frame.push_rows(&rows, into));
        learner.frame = Some(frame);
        learner.n_seen = 400;
        let mut rng = num::stream(20_044, 0, 0);
        learner.add_components(4, &block, &mut rng);
        learner.inner_loop(&mut block, None, &mut rng);
        (learner, block)
    }

    /// One full batch with ε = 0 is batch FAB: from the same first M-step, the same EM.
    fn one_full_batch_is_batch_fab<F: Family>() {
        let (start, mut block) = after_one_batch::<F>(1);
        let mut parts: Vec<Part> = start
            .comps
            .iter()
            .map(|c| Part {
                weight: c.weight,
                moments: Moments { count: c.cumulative, ..c.moments.clone() },
                prior: start.prior(),
                gauss: c.gauss.clone(),
            })
            .collect();
        let n_iterations = 25;
        let options = EmOptions {
            max_iterations: n_iterations,
            tolerance: f64::NEG_INFINITY,
            penalty_cap: f64::INFINITY,
            drop_below: 0.0,
        };
        em(start.family, &mut block, &[1.0; 400], None, &mut parts, options, None);
        let (online, _) = after_one_batch::<F>(n_iterations + 1);
        assert_eq!(online.comps.len(), parts.len());
        // ε is about 6e-15; EM may amplify it, and rounding, from iteration to iteration.
        let near = |a: f64, b: f64| (a - b).abs() < 1e-8 * (1.0 + a.abs());
        for (comp, part) in online.comps.iter().zip(&parts) {
            assert!(near(comp.weight, part.weight), "{} {}", comp.weight, part.weight);
            assert!(near(comp.cumulative, part.moments.count));
            assert!(comp.moments.mean.iter().zip(&part.moments.mean).all(|(a, b)| near(*a, *b)));
            assert!(comp.moments.covariance.iter().zip(&part.moments.covariance).all(|(a, b)| near(*a, *b)));
            assert_eq!(comp.gauss.latent_dim(), part.gauss.latent_dim());
        }
        // The start must not have been the end already.
        let moved = start.comps.iter().zip(&parts).any(|(c, p)| !near(c.weight, p.weight));
        assert!(moved);
    }

    #[test]
    fn one_full_batch_without_a_past_is_batch_fab() {
        one_full_batch_is_batch_fab::<FullGaussian>();
        one_full_batch_is_batch_fab::<Ppca>();
    }
}
