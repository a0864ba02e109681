//! Placeholder engine: one Gaussian.
use super::{Learner, StepReport};
use crate::data::{Batch, Frame};
use crate::family::{Family, Gauss, Moments, model_covariance};
use crate::model::Config;
use crate::structure::{Component, ComponentId, EventLog, LogScore, Scorer};
use serde::{Deserialize, Serialize};

/// One Gaussian.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(bound = "F: Family")]
pub struct Ofab<F: Family> {
    family: F,
    n: u64,
    m: Moments,
    events: EventLog,
    recent: Vec<f64>,
}
impl<F: Family> Ofab<F> {
    /// New.
    pub fn new(config: &Config) -> Self {
        Ofab {
            family: F::default(),
            n: 0,
            m: Moments::empty_at(&vec![0.0; config.columns.len()]),
            events: EventLog::default(),
            recent: vec![],
        }
    }
    /// Merged.
    pub fn merged<'a>(parts: impl Iterator<Item = &'a Self>, _shard: u32) -> Self {
        let mut out: Option<Self> = None;
        for p in parts {
            match &mut out {
                None => out = Some(p.clone()),
                Some(o) => {
                    o.m.add_scaled(1.0, &p.m);
                    o.n += p.n
                }
            }
        }
        out.expect("one")
    }
}
impl<F: Family> Learner for Ofab<F> {
    fn update(&mut self, batch: &Batch<'_>) -> StepReport {
        let mut s = vec![];
        let mut log_score = 0.0;
        if self.n > 10 {
            self.scorer().log_densities(batch.rows(), &mut s);
            log_score = s.iter().sum();
            self.recent.extend(&s);
            self.recent.sort_by(f64::total_cmp);
            self.recent.truncate(1000);
        }
        for r in batch.rows().chunks(batch.n_columns()) {
            if r.iter().any(|v| v.is_nan()) {
                continue;
            }
            self.m.add_scaled(1.0, &Moments { count: 1.0, mean: r.to_vec(), covariance: vec![0.0; r.len() * r.len()] });
        }
        self.n += batch.n_rows() as u64;
        StepReport { n_rows: batch.n_rows(), k_implemented: 1, log_score, n_scored: s.len(), n_repairs: 0, n_events: 0 }
    }
    fn realize(&self, _delta: f64) -> Vec<Component> {
        let mut covariance = vec![];
        let q = model_covariance(self.family, &self.m, &vec![1.0; self.m.mean.len()], &mut covariance);
        if self.n == 0 {
            return vec![];
        }
        vec![Component {
            id: ComponentId { shard: 0, serial: 0 },
            weight: 1.0,
            count: self.m.count,
            mean: self.m.mean.clone(),
            covariance,
            latent_dim: self.family.reported_dim(q),
        }]
    }
    fn scorer(&self) -> Scorer {
        let d = self.m.mean.len();
        Scorer::new(
            Frame::identity(d),
            vec![(1.0, Gauss::of(self.family, &self.m, &vec![1.0; d]))],
            vec![ComponentId { shard: 0, serial: 0 }],
            &self.log_score(),
        )
    }
    fn n_seen(&self) -> u64 {
        self.n
    }
    fn k_implemented(&self) -> usize {
        1
    }
    fn events(&self) -> &EventLog {
        &self.events
    }
    fn log_score(&self) -> LogScore {
        LogScore { prequential_mean: f64::NAN, n_scored: 0, recent: self.recent.clone() }
    }
    fn restore(&mut self, n_columns: usize) -> Result<(), String> {
        if self.m.mean.len() == n_columns { Ok(()) } else { Err("columns".into()) }
    }
}
