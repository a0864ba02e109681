//! The weights of one label: how much each topic speaks for it.

use super::settings::{Classifier, MedSettings};
use crate::num;
use serde::{Deserialize, Serialize};

/// The weights of one label as a Gaussian. The first entry is the label's constant; those of the topics follow.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Task {
    /// The label that it is for.
    pub label: u32,
    pub weights: Weights,
    /// Documents with the label, and the sum of their shares of the topics.
    pub n_documents: u64,
    pub shares: Vec<f64>,
    /// How its documents' topics looked along the stream.
    pub milestones: Vec<Milestone>,
}

/// The documents of one label between two moments of the stream.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Milestone {
    /// Documents of the stream, up to the later moment.
    pub n_seen: u64,
    /// Documents with the label, up to it.
    pub n_documents: u64,
    /// Sum of their shares of the topics, up to it.
    pub shares: Vec<f32>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Weights {
    /// Natural parameters: precision (row-major) and precision times mean.
    Gibbs { precision: Vec<f64>, shift: Vec<f64> },
    /// The mean; the covariance stays as it was. The sum of all means along the stream, and of how many.
    Averaging { mean: Vec<f64>, sum: Vec<f64>, n: u64 },
}

/// What follows from a task's weights.
#[derive(Clone, Debug)]
pub(super) struct Moments {
    pub mean: Vec<f64>,
    /// Row-major; empty for averaging classifiers.
    pub covariance: Vec<f64>,
}

impl Task {
    pub fn new(label: u32, settings: &MedSettings) -> Task {
        let weights = match settings.classifier {
            Classifier::Gibbs => {
                Weights::Gibbs { precision: vec![1.0 / constant_variance(settings)], shift: vec![0.0] }
            }
            Classifier::Averaging => Weights::Averaging { mean: vec![0.0], sum: vec![0.0], n: 0 },
        };
        Task { label, weights, n_documents: 0, shares: Vec::new(), milestones: Vec::new() }
    }

    /// Adds a topic, with the mean that its weight has before any document.
    pub fn add_topic(&mut self, prior_mean: f64, settings: &MedSettings) {
        self.shares.push(0.0);
        match &mut self.weights {
            Weights::Gibbs { precision, shift } => {
                let d = shift.len();
                let mut wider = vec![0.0; (d + 1) * (d + 1)];
                for i in 0..d {
                    wider[i * (d + 1)..][..d].copy_from_slice(&precision[i * d..][..d]);
                }
                wider[d * (d + 1) + d] = 1.0 / settings.variance;
                *precision = wider;
                shift.push(prior_mean / settings.variance);
            }
            Weights::Averaging { mean, sum, n } => {
                mean.push(prior_mean);
                sum.push(prior_mean * *n as f64);
            }
        }
    }

    /// Notes how the topics of its documents look.
    pub fn pass_milestone(&mut self, n_seen: u64) {
        let shares = self.shares.iter().map(|share| *share as f32).collect();
        self.milestones.push(Milestone { n_seen, n_documents: self.n_documents, shares });
    }

    /// Mean and covariance. Precisions are sums of a positive and of non-negative matrices; should rounding make one
    /// indefinite all the same, its diagonal is raised, and the second result counts how often.
    pub fn moments(&self) -> (Moments, u32) {
        match &self.weights {
            Weights::Averaging { mean, .. } => (Moments { mean: mean.clone(), covariance: Vec::new() }, 0),
            Weights::Gibbs { precision, shift } => {
                let d = shift.len();
                let mut n_repairs = 0;
                let mut factor = precision.clone();
                let mut raise = 1e-12 * (0..d).map(|i| precision[i * d + i]).fold(0.0, f64::max);
                while num::cholesky(&mut factor, d).is_err() {
                    n_repairs += 1;
                    factor.copy_from_slice(precision);
                    (0..d).for_each(|i| factor[i * d + i] += raise);
                    raise *= 10.0;
                }
                let mut inverse = vec![0.0; d * d];
                num::invert_lower(&factor, d, &mut inverse);
                let mut covariance = vec![0.0; d * d];
                for k in 0..d {
                    let row = &inverse[k * d..][..d];
                    for i in 0..=k {
                        let x = row[i];
                        for j in 0..=k {
                            covariance[i * d + j] += x * row[j];
                        }
                    }
                }
                let mean =
                    (0..d).map(|i| covariance[i * d..][..d].iter().zip(shift).map(|(s, h)| s * h).sum()).collect();
                (Moments { mean, covariance }, n_repairs)
            }
        }
    }

    /// The weights that documents are judged by.
    pub fn judging(&self, settings: &MedSettings) -> Vec<f64> {
        match &self.weights {
            Weights::Averaging { sum, n, .. } if settings.averaging && *n > 0 => {
                sum.iter().map(|s| s / *n as f64).collect()
            }
            _ => self.moments().0.mean,
        }
    }
}

/// The variance of a label's constant; where there is none it does not matter, since its feature is 0.
pub(super) fn constant_variance(settings: &MedSettings) -> f64 {
    if settings.constant > 0.0 { settings.constant * settings.variance } else { 1.0 }
}

/// The constant's feature.
pub(super) fn constant_feature(settings: &MedSettings) -> f64 {
    f64::from(u8::from(settings.constant > 0.0))
}
