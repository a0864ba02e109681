//! Labels at one moment, and the features that speak for them.

use super::LinearModel;
use crate::engine::linear::{Foretold, TargetChoice};

/// What a model of labelled rows has learnt.
#[derive(Clone, Debug)]
pub struct LinearSnapshot {
    /// Rows seen.
    pub n_seen: u64,
    /// Rows among them without a label or number.
    pub n_unlabelled: u64,
    /// Features known: columns or words.
    pub n_features: usize,
    /// The labels, in the order of the alphabet; a single entry without a name where a number is told.
    pub labels: Vec<LabelSummary>,
    /// How well rows were foretold before they were learnt.
    pub foretold: Foretold,
    /// Mean of the numbers so far; NaN where labels are told.
    pub mean: f64,
    /// Their standard deviation.
    pub deviation: f64,
    names: Vec<String>,
}

/// A label and its weights.
#[derive(Clone, Debug)]
pub struct LabelSummary {
    /// Its name; empty where a number is told.
    pub name: String,
    /// Labelled rows with it.
    pub n_rows: u64,
    /// Weight of the constant feature, times its value.
    pub bias: f64,
    weights: Vec<f64>,
}

/// A feature and its weight for a label.
#[derive(Clone, Debug, PartialEq)]
pub struct FeatureWeight<'a> {
    /// Column or word.
    pub feature: &'a str,
    /// Its weight, for columns on their scales.
    pub weight: f64,
}

impl LabelSummary {
    /// Weight of each feature, in the features' order, for columns on their scales.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }
}

impl LinearSnapshot {
    pub(super) fn new(model: &LinearModel) -> LinearSnapshot {
        let learner = &model.learner;
        let is_number = learner.settings().target == TargetChoice::Number;
        let n_names = match &model.pipeline {
            Some(pipeline) => pipeline.vocabulary().len(),
            None => model.config.columns.len(),
        };
        let names = (0..n_names).map(|at| model.feature_name(at).unwrap_or_default().to_string()).collect();
        let label = |(at, task): (usize, &crate::engine::linear::Task)| LabelSummary {
            name: learner.labels().get(at).cloned().unwrap_or_default(),
            n_rows: match is_number {
                true => learner.n_seen() - learner.n_unlabelled(),
                false => learner.counts()[at],
            },
            bias: learner.settings().bias * task.weights()[0],
            weights: task.weights()[1..].to_vec(),
        };
        LinearSnapshot {
            n_seen: learner.n_seen(),
            n_unlabelled: learner.n_unlabelled(),
            n_features: model.pipeline.as_ref().map_or(n_names, |pipeline| pipeline.vocabulary().n_words()),
            labels: learner.tasks().iter().enumerate().map(label).collect(),
            foretold: *learner.foretold(),
            mean: if is_number { learner.numbers().mean() } else { f64::NAN },
            deviation: if is_number { learner.numbers().deviation() } else { f64::NAN },
            names,
        }
    }

    /// The features that speak most for a label.
    pub fn speaking_for(&self, label: &LabelSummary, n: usize) -> Vec<FeatureWeight<'_>> {
        self.strongest(label, n, |weight| weight)
    }

    /// The features that speak most against it.
    pub fn speaking_against(&self, label: &LabelSummary, n: usize) -> Vec<FeatureWeight<'_>> {
        self.strongest(label, n, |weight| -weight)
    }

    fn strongest(&self, label: &LabelSummary, n: usize, strength: impl Fn(f64) -> f64) -> Vec<FeatureWeight<'_>> {
        let speaks = |at: &usize| strength(label.weights[*at]) > 0.0 && !self.names[*at].is_empty();
        let mut found: Vec<usize> = (0..label.weights.len().min(self.names.len())).filter(speaks).collect();
        found.sort_by(|a, b| strength(label.weights[*b]).total_cmp(&strength(label.weights[*a])).then(a.cmp(b)));
        found.truncate(n);
        found.into_iter().map(|at| FeatureWeight { feature: &self.names[at], weight: label.weights[at] }).collect()
    }
}
