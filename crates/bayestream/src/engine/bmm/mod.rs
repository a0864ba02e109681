//! Mixtures of an unknown number of components by online Bayesian moment matching (Hsu 2015).
//!
//! The model: T − 1 ~ Poisson(λ − 1) components exist, θ ~ Dirichlet(ν₁ … ν_T) are their shares, φ_z ~ q(β_z) their
//! parameters, and an observation x comes from component z with probability θ_z.
//! The loop, per observation: predictive density b_z(x) of every component that may exist; posterior of T, z and θ by an
//! exact sum over T; λ ← E\[T\]; ν takes the observation; q(β_z) ← the one distribution of its family with the moments of
//! (1 − p_z) q(β_z) + p_z q(β_z | x).
//!
//! Key: λ expected number of components · ν_z Dirichlet parameter, S_T = ν₁ + … + ν_T · b_z predictive density ·
//! h_T = Σ_{z≤T} ν_z b_z / S_T · p_z posterior of z · c = Σ_T P(T) h_T · γ parameter of a component without rows.
//!
//! `mixing.rs` is the part that all kinds share. `rows/` has the kinds of rows (`gaussian1d/bmm`, `gmm/bmm`), `words/`
//! those of documents (naive Bayes and LDA, and batch baselines to hold them against).

/// No stream can bring a count, or a sum of counts, as large as this; the product of two is finite.
const LARGEST_MASS: f64 = 1e150;

mod mixing;
mod poisson;
mod rows;
mod settings;
mod words;

pub use mixing::{Mixing, MixingWork, Rule, ThetaMoments};
pub use rows::{KnownVariance, MomentMatcher, Part, WishartPart};
pub use settings::BmmSettings;
pub(crate) use settings::MOST_COMMON;
pub use words::{BatchSettings, LdaBmm, NaiveBayesBatch, NaiveBayesBmm, WordTopics};
