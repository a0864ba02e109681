//! Linear classifiers and regressors without latent structure: passive-aggressive learning (Crammer et al. 2006) and its
//! Bayesian kin (BayesPA, Shi and Zhu 2014) where the likelihood is constant.
//!
//! | file | what is in it |
//! |---|---|
//! | `step` | one row and one task in scalars: step lengths, and the augmented hinge |
//! | `moments` | the exact mean and variance of a Gaussian times hinges |
//! | `belief` | Gaussian weights with all covariances |
//! | `task` | one vector of weights |
//! | `prepare` | from cells and words to features |
//! | `learner` | a task for each label, and what was foretold |
//! | `merge` | learners of shards put together |

mod belief;
mod learner;
mod merge;
mod moments;
mod prepare;
mod settings;
mod step;
mod tally;
mod task;

#[cfg(test)]
mod averaging_regret;
#[cfg(test)]
mod laws;
#[cfg(test)]
mod regret;

pub use learner::{Contribution, Judgement, LinearLearner, Truth};
pub use moments::matched;
pub use prepare::{Example, Running};
pub use settings::{Inference, Inputs, LinearSettings, Rule, TargetChoice, WordSettings, WordWeighting};
pub use step::{Evidence, Hinge, augmented, averaging, moved, pa_one, pa_two};
pub use tally::Foretold;
pub use task::{Aim, Features, Task};
