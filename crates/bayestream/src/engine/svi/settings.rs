//! What can be set of online topic models with step sizes.

use serde::{Deserialize, Serialize};

/// Settings of [`SviTopics`](super::SviTopics).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SviSettings {
    /// Topics; of the hierarchical Dirichlet process, those there are at first.
    pub n_topics: usize,
    /// Topics that there may be, when their number grows.
    pub max_topics: usize,
    /// Dirichlet parameter of each topic in a document; of the hierarchical Dirichlet process, the sum over topics.
    pub alpha: f64,
    /// Dirichlet parameter of each word in a topic.
    pub eta: f64,
    /// Concentration of the topics' shares of the stream, when the number of topics grows.
    pub gamma: f64,
    /// Delay τ₀ of the step sizes: more makes the first steps smaller.
    pub tau0: f64,
    /// Decay κ of the step sizes.
    pub kappa: f64,
    /// Documents in a mini-batch.
    pub batch_size: usize,
    /// Documents D of the whole stream; those seen so far if not given.
    pub n_documents: Option<f64>,
    /// Times that topics and a mini-batch are fitted to each other.
    pub rounds: usize,
    /// The same for the first mini-batch, whose topics start at random.
    pub first_rounds: usize,
    /// Sweeps of Gibbs sampling that count.
    pub sweeps: usize,
    /// Sweeps of Gibbs sampling before those.
    pub burn_in: usize,
    /// Labelled documents kept to learn labels from.
    pub keep: usize,
    /// C of the linear machine that tells labels.
    pub cost: f64,
}

/// Bounds for what a damaged file may ask for.
pub const MOST_TOPICS: usize = 10_000;
const MOST_DOCUMENTS: usize = 1_000_000;

impl Default for SviSettings {
    fn default() -> Self {
        SviSettings {
            n_topics: 50,
            max_topics: 300,
            alpha: 0.1,
            eta: 0.05,
            gamma: 1.0,
            tau0: 1.0,
            kappa: 0.7,
            batch_size: 256,
            n_documents: None,
            rounds: 1,
            first_rounds: 20,
            sweeps: 5,
            burn_in: 5,
            keep: 20_000,
            cost: 1.0,
        }
    }
}

impl SviSettings {
    /// What suits the hierarchical Dirichlet process.
    pub fn for_hdp() -> SviSettings {
        SviSettings { alpha: 5.0, ..SviSettings::default() }
    }

    /// What is wrong with these settings, if anything is.
    pub fn fault(&self) -> Option<String> {
        let numbers = [("n-topics", self.n_topics), ("max-topics", self.max_topics)];
        for (name, value) in numbers {
            if !(1..=MOST_TOPICS).contains(&value) {
                return Some(format!("{name} is {value}, must be from 1 to {MOST_TOPICS}"));
            }
        }
        for (name, value) in [("alpha", self.alpha), ("eta", self.eta), ("gamma", self.gamma), ("cost", self.cost)] {
            if !(1e-6..=1e6).contains(&value) {
                return Some(format!("{name} is {value}, must be from 1e-6 to 1e6"));
            }
        }
        if !(0.0..=1e9).contains(&self.tau0) {
            return Some(format!("tau0 is {}, must be from 0 to 1e9", self.tau0));
        }
        if !(0.0..=1.0).contains(&self.kappa) {
            return Some(format!("kappa is {}, must be from 0 to 1", self.kappa));
        }
        if let Some(n) = self.n_documents.filter(|n| !(1.0..=1e12).contains(n)) {
            return Some(format!("n-documents is {n}, must be from 1 to 1e12"));
        }
        if !(1..=MOST_DOCUMENTS).contains(&self.batch_size) || self.keep > 100 * MOST_DOCUMENTS {
            return Some(format!("batch-size is {}, must be from 1 to {MOST_DOCUMENTS}", self.batch_size));
        }
        let often = [("rounds", self.rounds), ("first-rounds", self.first_rounds), ("sweeps", self.sweeps)];
        for (name, value) in often {
            if !(1..=1000).contains(&value) {
                return Some(format!("{name} is {value}, must be from 1 to 1000"));
            }
        }
        (self.burn_in > 1000).then(|| format!("burn-in is {}, must be at most 1000", self.burn_in))
    }

    /// ρ of a mini-batch, counted from 1.
    ///
    /// Deviates: the first is 1 whatever τ₀ is. Before it there are random topics only, which know nothing.
    pub fn rate(&self, step: u64) -> f64 {
        if step <= 1 { 1.0 } else { (self.tau0 + step as f64).powf(-self.kappa) }
    }

    /// Rounds of a mini-batch, counted from 1.
    pub fn rounds_of(&self, step: u64) -> usize {
        if step <= 1 { self.first_rounds } else { self.rounds }
    }

    /// D after so many documents.
    pub fn documents(&self, n_learnt: u64) -> f64 {
        self.n_documents.unwrap_or(n_learnt as f64)
    }
}
