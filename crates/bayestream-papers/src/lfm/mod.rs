//! Experiments of "Factorized Asymptotic Bayesian Inference for Latent Feature Models" (FAB/LFM), and what goes beyond it: one
//! pass, imputation, drift, cost.

pub mod acceleration;
pub mod artificial;
pub mod blocks;
pub mod cost;
pub mod drift;
pub mod imputing;
pub mod real;
mod sets;
pub mod stream;
mod trial;
