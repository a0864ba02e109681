//! Numeric kernels: everything here is a pure function of its arguments, knows nothing of models,
//! and allocates nothing once its buffers have grown (the eigendecomposition excepted).
//!
//! | file | what is in it |
//! |---|---|
//! | `lanes` | a batch of rows laid out for vector instructions |
//! | `whitener` | squared Mahalanobis distances and Gaussian log densities of a batch |
//! | `scatter` | weighted first and second moments of a batch |
//! | `cholesky` | factor, inverse factor, triangular solves, rank-one update |
//! | `eigen` | symmetric eigendecomposition |
//! | `special` | log gamma and its derivatives, chi-square tail, normal quantile |
//! | `explog` | exponential and logarithm of whole slices |
//! | `logsumexp` | log-sum-exp and responsibilities |
//! | `cusum` | many running sums that start over at zero |
//! | `rowwise` | one vector against many rows: inner products, weighted sums |
//! | `product` | products of matrices |
//! | `panel` | passes over residuals with holes, a few features at a time |
//! | `rng` | random streams keyed by (seed, shard, step) |
//! | `schedule` | step sizes |
//! | `peak` | the machine's multiply-add rate, against which the benchmark holds the kernels |
//! | `topic_rows` | words learnt by topics, shares of topics in a document, in `f32` |
//! | `topic_sweep` | Gibbs sampling of the topics of a document's words, in `f32` |
//! | `topic_draws` | words given to topics by draws and by shares, in `f32` |
//! | `simd` | the choice of instruction set: with `product`, the only `unsafe` of the library |
//!
//! Matrices are row-major `&[f64]` slices of length `d * d`. A slice of the wrong length is a mistake
//! of the caller's code, never of its data, and panics.
//!
//! The vector path uses fused multiply-add, so its last bits differ from those of the portable path:
//! results repeat to the bit on one kind of machine, and to rounding across kinds.

mod axes;
mod cholesky;
mod cusum;
mod eigen;
mod explog;
mod lanes;
mod logsumexp;
mod panel;
#[doc(hidden)]
pub mod peak;
mod product;
mod rng;
mod rowwise;
mod scatter;
mod schedule;
mod simd;
mod special;
mod topic_draws;
mod topic_rows;
mod topic_sweep;
mod tridiagonal;
mod whitener;

pub use axes::leading_axes;
pub use cholesky::{NotPositive, cholesky, invert_lower, rank_one_update, solve_lower, solve_lower_transposed};
pub use cusum::Cusums;
pub use eigen::symmetric_eigen;
pub use explog::{exp_slice, ln_slice};
pub use lanes::{LANES, Lanes};
pub use logsumexp::{column_stride, log_sum_exp, normalise_columns};
pub use panel::{PANEL, PanelPass, pass_over_residuals};
pub use product::{Grid, multiply};
pub use rng::{Rng, stream};
pub use rowwise::{add_rows, dots};
pub use scatter::weighted_moments;
pub use schedule::Schedule;
pub use special::{LN_2PI, LN_PI, chi_square_survival, digamma, digamma_slice, ln_gamma, normal_quantile, trigamma};
pub use topic_draws::{NO_TOPIC, TopicDraws, draw_topics, foretell, gain_words};
pub use topic_rows::{
    TOPIC_LANES, TopicRows, WordWeight, WordWork, add_form_f32, combine_f32, dot_f32, fold_in, learn_words,
};
pub use topic_sweep::{DocumentSweep, Pull, SWEEP_LANES, sweep_document};
pub use tridiagonal::Tridiagonal;
pub use whitener::{Whitener, log_density, mahalanobis};

/// The same kernels without vector extensions, so that tests can compare the two paths on one machine.
#[doc(hidden)]
pub mod portable {
    pub use super::cholesky::portable::{cholesky, invert_lower};
    pub use super::explog::portable::{exp_slice, ln_slice};
    pub use super::logsumexp::portable::{log_sum_exp, normalise_columns};
    pub use super::rowwise::portable::{add_rows, dots};
    pub use super::scatter::portable::weighted_moments;
    pub use super::special::portable::digamma_slice;
    pub use super::topic_draws::portable::{draw_topics, foretell, gain_words};
    pub use super::topic_rows::portable::{add_form_f32, combine_f32, dot_f32, fold_in, learn_words};
    pub use super::topic_sweep::portable::sweep_document;
    pub use super::whitener::portable::{log_density, mahalanobis};
}
