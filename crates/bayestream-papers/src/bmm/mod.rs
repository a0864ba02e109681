//! Online Bayesian moment matching (BMM): the experiments of its section 5, and topics beyond the paper.

pub mod gaussians;
pub mod lda;
pub mod million;
mod planted;
pub mod table1;
pub mod topics;
mod words;
