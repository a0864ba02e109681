//! Supervised topics by online Bayesian passive-aggressive learning (BayesPA): the experiments of section 8, and streams
//! and settings beyond the paper.

pub mod batch;
pub mod batches;
pub mod labels;
pub mod million;
pub mod newsgroups;
pub mod passes;
pub mod rivals;
pub mod samples;
pub mod small;
pub mod sweeps;
pub mod table2;
pub mod topics;
mod trial;
