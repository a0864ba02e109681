//! Commands on models of binary latent features where they differ from those on mixtures.

pub mod inspect;
pub mod plot;
