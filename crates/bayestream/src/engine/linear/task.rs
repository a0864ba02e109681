//! One vector of weights, and how rows change it.

use super::belief::Belief;
use super::moments::matched;
use super::settings::{Inference, LinearSettings, Rule};
use super::step::{Evidence, Hinge, augmented, averaging, moved, pa_one, pa_two};
use serde::{Deserialize, Serialize};

/// A sparse vector of features: places in increasing order and their values. Place 0 is the constant feature.
#[derive(Clone, Copy, Debug)]
pub struct Features<'a> {
    /// Places, increasing.
    pub places: &'a [u32],
    /// One value for each.
    pub values: &'a [f64],
}

impl Features<'_> {
    /// Places with their values.
    pub fn iter(&self) -> impl Iterator<Item = (usize, f64)> {
        self.places.iter().zip(self.values).map(|(place, value)| (*place as usize, *value))
    }

    /// The squared length.
    pub fn square(&self) -> f64 {
        self.values.iter().map(|v| v * v).sum()
    }

    fn dense(&self, n: usize) -> Vec<f64> {
        let mut out = vec![0.0; n];
        self.iter().for_each(|(place, value)| out[place] = value);
        out
    }
}

/// What the weights are told of a row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Aim {
    /// The label is (+1) or is not (−1) the row's.
    Side(f64),
    /// The score should be this number.
    Number(f64),
}

/// Weights of one label, or of the number to be told.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Task {
    mean: Vec<f64>,
    spread: Spread,
}

/// What is known beside the mean.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
enum Spread {
    /// Nothing, or the same for ever.
    Fixed,
    /// A precision for each weight.
    Diagonal(Vec<f64>),
    /// All covariances.
    Full(Belief),
}

impl Task {
    /// Weights before the first row; a learner of words begins without any.
    pub fn new(settings: &LinearSettings, n_places: usize) -> Task {
        let spread = match settings.rule {
            Rule::PaOne | Rule::PaTwo | Rule::Average => Spread::Fixed,
            Rule::Gibbs if settings.full => Spread::Full(Belief::new(n_places, settings.sigma2)),
            Rule::Gibbs => Spread::Diagonal(vec![1.0 / settings.sigma2; n_places]),
        };
        Task { mean: vec![0.0; n_places], spread }
    }

    /// The weights, or their means.
    pub fn weights(&self) -> &[f64] {
        &self.mean
    }

    /// Makes room for new places; theirs are the weights from before the first row.
    pub(super) fn grow(&mut self, n_places: usize, sigma2: f64) {
        if n_places > self.mean.len() {
            self.mean.resize(n_places, 0.0);
            if let Spread::Diagonal(precisions) = &mut self.spread {
                precisions.resize(n_places, 1.0 / sigma2);
            }
        }
    }

    /// What was learnt of a place is let go.
    pub(super) fn forget(&mut self, place: usize, sigma2: f64) {
        if let Some(weight) = self.mean.get_mut(place) {
            *weight = 0.0;
        }
        if let Spread::Diagonal(precisions) = &mut self.spread
            && let Some(precision) = precisions.get_mut(place)
        {
            *precision = 1.0 / sigma2;
        }
    }

    /// The score of a row. Places without a weight yet say nothing.
    pub fn score(&self, x: Features<'_>) -> f64 {
        x.iter().map(|(place, value)| self.mean.get(place).map_or(0.0, |weight| weight * value)).sum()
    }

    /// The variance of that score under the weights' own uncertainty, where they have one.
    pub fn variance(&self, x: Features<'_>, sigma2: f64) -> Option<f64> {
        match &self.spread {
            Spread::Fixed => None,
            Spread::Diagonal(precisions) => Some(
                x.iter()
                    .map(|(place, value)| value * value / precisions.get(place).copied().unwrap_or(1.0 / sigma2))
                    .sum(),
            ),
            Spread::Full(belief) => Some(belief.variance(&x.dense(belief.len()))),
        }
    }

    /// Learns from a row whose score is known; `c` holds the row's weight. Every place must have room.
    pub fn learn(&mut self, settings: &LinearSettings, x: Features<'_>, score: f64, aim: Aim, c: f64) {
        match aim {
            Aim::Side(y) => self.step(settings, x, score, &Hinge::of_label(y, settings.epsilon), c),
            Aim::Number(number) => self.step(settings, x, score, &Hinge::of_number(number, settings.epsilon), c),
        }
    }

    fn step(&mut self, settings: &LinearSettings, x: Features<'_>, score: f64, hinges: &[Hinge], c: f64) {
        let square = x.square();
        // Cells at the edge of what numbers can say teach nothing, and must do no harm.
        if !(square > 0.0 && square.is_finite() && score.is_finite()) {
            return;
        }
        match &mut self.spread {
            Spread::Fixed => {
                let Some(hinge) = hinges.iter().find(|hinge| hinge.loss(score) > 0.0) else { return };
                let loss = hinge.loss(score);
                let length = match settings.rule {
                    Rule::PaTwo => pa_two(loss, square, c),
                    Rule::Average => settings.sigma2 * averaging(loss, square, settings.sigma2, c),
                    Rule::PaOne | Rule::Gibbs => pa_one(loss, square, c),
                };
                x.iter().for_each(|(place, value)| self.mean[place] += length * hinge.side * value);
            }
            Spread::Diagonal(precisions) => {
                let variance_after = |precision: f64| -> f64 {
                    x.iter().map(|(place, value)| 1.0 / (precisions[place] / (value * value) + precision)).sum()
                };
                let variance = variance_after(0.0);
                let evidence = said(settings, hinges, c, score, variance, variance_after);
                // The best independent weights have the mean that dependent ones would have, and the diagonal of their
                // precision; h/P with a diagonal P would count what features say together once for each of them.
                let by = moved(&evidence, score, variance);
                for (place, value) in x.iter() {
                    self.mean[place] += by * value / precisions[place];
                    precisions[place] += evidence.precision * value * value;
                }
            }
            Spread::Full(belief) => {
                let row = x.dense(belief.len());
                let variance = belief.variance(&row);
                let evidence =
                    said(settings, hinges, c, score, variance, |precision| variance / (1.0 + precision * variance));
                belief.take_up(&row, evidence.precision, evidence.pull);
                belief.solve(&mut self.mean);
            }
        }
    }

    /// Precision (the diagonal, or all of it) and natural mean, without those of before the first row; none for weights
    /// that have no precision.
    pub(super) fn evidence(&self, sigma2: f64) -> Option<(Vec<f64>, Vec<f64>)> {
        let n = self.mean.len();
        match &self.spread {
            Spread::Fixed => None,
            Spread::Diagonal(precisions) => {
                let natural = self.mean.iter().zip(precisions).map(|(mean, precision)| mean * precision).collect();
                Some((precisions.iter().map(|precision| precision - 1.0 / sigma2).collect(), natural))
            }
            Spread::Full(belief) => {
                let mut precision = belief.precision();
                (0..n).for_each(|i| precision[i * n + i] -= 1.0 / sigma2);
                Some((precision, belief.natural().to_vec()))
            }
        }
    }

    /// The weights that such evidence makes, starting from those of before the first row.
    pub(super) fn of_evidence(mut precision: Vec<f64>, natural: Vec<f64>, full: bool, sigma2: f64) -> Option<Task> {
        let n = natural.len();
        if full {
            (0..n).for_each(|i| precision[i * n + i] += 1.0 / sigma2);
            let belief = Belief::of(precision, natural)?;
            let mut mean = vec![0.0; n];
            belief.solve(&mut mean);
            return Some(Task { mean, spread: Spread::Full(belief) });
        }
        precision.iter_mut().for_each(|p| *p += 1.0 / sigma2);
        let mean = natural.iter().zip(&precision).map(|(h, p)| h / p).collect();
        Some(Task { mean, spread: Spread::Diagonal(precision) })
    }

    /// What is wrong with weights from a file, if anything.
    pub(super) fn fault(&self, settings: &LinearSettings, n_places: usize) -> Option<&'static str> {
        if self.mean.len() != n_places || !self.mean.iter().all(|weight| weight.is_finite()) {
            return Some("weights are not finite, or not as many as there are features");
        }
        match (&self.spread, settings.rule, settings.full) {
            (Spread::Fixed, Rule::PaOne | Rule::PaTwo | Rule::Average, _) => None,
            (Spread::Diagonal(precisions), Rule::Gibbs, false) => {
                let sound = precisions.len() == n_places && precisions.iter().all(|p| *p > 0.0 && p.is_finite());
                (!sound).then_some("a precision of weights is not positive")
            }
            (Spread::Full(belief), Rule::Gibbs, true) if belief.len() == n_places => belief.fault(),
            _ => Some("the weights are not those of the rule it names"),
        }
    }
}

/// What a row says of a score of this mean and variance.
fn said(
    settings: &LinearSettings,
    hinges: &[Hinge],
    c: f64,
    mean: f64,
    variance: f64,
    variance_after: impl Fn(f64) -> f64,
) -> Evidence {
    match settings.inference {
        Inference::Augmented => augmented(hinges, c, settings.rounds, mean, variance, variance_after),
        Inference::Moments => matched(hinges, c, mean, variance),
    }
}
