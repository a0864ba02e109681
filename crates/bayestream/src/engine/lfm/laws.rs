//! Laws of the engines of binary latent features.
