//! What a component is: how statistics become the parameters of a density.
//!
//! Both families keep the same additive statistics, a count, a mean and a full covariance. PPCA truncates the
//! covariance only when parameters are asked for, so no information is lost while a component finds its dimension.

mod gauss;
mod moments;
mod normal_wishart;
mod ppca;
mod prior;
mod wishart_holes;
mod wishart_posterior;
mod wishart_projection;
mod worth;

pub use gauss::{Gauss, GaussScratch, Repair};
pub use moments::Moments;
pub use normal_wishart::{IllegalPrior, MergeScratch, NormalWishart, WishartScratch, ln_multivariate_gamma};
pub use ppca::Ppca;
pub use prior::{Prior, VARIANCE_FLOOR, model_covariance, prior_free_count};
pub use wishart_holes::FilledRow;
pub use wishart_posterior::WishartPosterior;
pub use worth::PriorWorth;

use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fmt::Debug;

/// A family of components with Gaussian densities.
pub trait Family: Copy + Debug + Default + PartialEq + Serialize + DeserializeOwned + Send + Sync + 'static {
    /// Turns the covariance of a component's statistics (row-major, both triangles) into that of its density, given
    /// the effective number of rows behind it; returns the dimension of its principal subspace.
    fn shape(&self, covariance: &mut [f64], n_columns: usize, count: f64) -> usize;

    /// The number of free parameters of a component, `D_k` in the papers.
    fn n_free(&self, n_columns: usize, latent_dim: usize) -> f64;

    /// The latent dimension to report, for families that have one.
    fn reported_dim(&self, latent_dim: usize) -> Option<usize>;

    /// The most free parameters a component can have.
    fn most_free(&self, n_columns: usize) -> f64 {
        self.n_free(n_columns, n_columns)
    }
}

/// Gaussians with full covariance.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct FullGaussian;

impl Family for FullGaussian {
    fn shape(&self, _covariance: &mut [f64], n_columns: usize, _count: f64) -> usize {
        n_columns
    }

    fn n_free(&self, n_columns: usize, _latent_dim: usize) -> f64 {
        let d = n_columns as f64;
        d * (d + 3.0) / 2.0
    }

    fn reported_dim(&self, _latent_dim: usize) -> Option<usize> {
        None
    }
}
