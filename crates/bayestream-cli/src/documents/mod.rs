//! Commands on documents: the same verbs as for rows.

pub mod fit;
pub mod inspect;
mod labels;
pub mod plot;
pub mod reading;
pub mod score;
