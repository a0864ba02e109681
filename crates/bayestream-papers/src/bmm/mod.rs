//! Online Bayesian moment matching (BMM): the experiments of its section 5.

pub mod gaussians;
pub mod lda;
mod svm;
pub mod table1;
