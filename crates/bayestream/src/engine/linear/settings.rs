//! What a linear learner is told when it begins.

use serde::{Deserialize, Serialize};

/// How a row changes the weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Rule {
    /// Crammer et al. 2006, PA-I: the smallest step that mends the loss, at most C long.
    PaOne,
    /// PA-II: the same with the square of the loss, so that steps shrink instead of being cut.
    PaTwo,
    /// BayesPA with an averaging classifier and no likelihood: the mean of a Gaussian of fixed covariance.
    Average,
    /// BayesPA with a Gibbs classifier and no likelihood: a Gaussian, each hinge replaced by its augmentation.
    Gibbs,
}

/// How a Gibbs classifier makes a Gaussian of a Gaussian times a hinge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Inference {
    /// By data augmentation, as the paper does: fixed once for each row, and too sure of itself after many.
    Augmented,
    /// By the exact mean and variance of the score, which are known in closed form.
    Moments,
}

/// What is to be told from the features.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TargetChoice {
    /// One label of each row: the one with the highest score.
    Label,
    /// Any number of labels of each row: those with a score above zero.
    Labels,
    /// A number.
    Number,
}

/// How often a word counts in a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum WordWeighting {
    /// Once, however often it is there.
    Once,
    /// As often as it is there.
    Counts,
    /// 1 + ln(count).
    Log,
}

/// How a learner of words makes numbers of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WordSettings {
    /// How often a word counts.
    pub weighting: WordWeighting,
    /// Rare words count more: by 1 + ln((1 + documents so far) / (1 + those with the word)).
    pub idf: bool,
    /// Every document has length one.
    pub unit_length: bool,
}

/// What the features are.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Inputs {
    /// Cells of so many columns.
    Columns {
        /// How many.
        n: usize,
        /// Columns (and a number to be told) are centred and divided by their standard deviation so far.
        scale: bool,
    },
    /// Words of documents.
    Words(WordSettings),
}

/// Everything a linear learner needs to know.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct LinearSettings {
    /// How a row changes the weights.
    pub rule: Rule,
    /// What is to be told.
    pub target: TargetChoice,
    /// What the features are.
    pub inputs: Inputs,
    /// Aggressiveness: C of passive-aggressive steps, c of BayesPA, whose loss counts 2c.
    pub c: f64,
    /// The margin wanted of labels; the error forgiven of numbers.
    pub epsilon: f64,
    /// Variance of each weight before anything was seen, for the rules of BayesPA.
    pub sigma2: f64,
    /// Covariances between weights are kept (Gibbs, columns only), not variances alone.
    pub full: bool,
    /// How the Gaussian is found (Gibbs).
    pub inference: Inference,
    /// Rounds of the augmentation for each row (Gibbs).
    pub rounds: u32,
    /// Value of the constant feature; 0 for none.
    pub bias: f64,
    /// Rows with a label count this many times more for that label than those without it.
    pub positive: f64,
}

impl LinearSettings {
    /// What cannot be, if anything.
    pub fn fault(&self) -> Option<&'static str> {
        let positive = |value: f64| value > 0.0 && value.is_finite();
        let within = positive(self.c) && positive(self.sigma2) && positive(self.positive);
        let at_least_zero = |value: f64| value >= 0.0 && value.is_finite();
        if !(within && at_least_zero(self.epsilon) && at_least_zero(self.bias) && self.rounds >= 1) {
            return Some("c, sigma2, positive and rounds must be above zero, epsilon and bias not below");
        }
        match self.inputs {
            Inputs::Columns { n: 0, .. } => Some("a learner of columns needs at least one"),
            Inputs::Words(_) if self.full => Some("covariances between words cannot be kept; variances can"),
            _ if self.full && self.rule != Rule::Gibbs => Some("only the Gibbs classifier has covariances"),
            _ => None,
        }
    }
}
