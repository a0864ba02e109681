//! Kinds of rows: `gaussian1d/bmm` and `gmm/bmm`, one learner over what a component is.

mod known_variance;
#[cfg(test)]
mod laws;
mod learner;
mod merge;
mod part;
mod slots;
mod start;
mod wishart;

pub use known_variance::KnownVariance;
pub use learner::MomentMatcher;
pub use part::Part;
pub use wishart::WishartPart;
