//! Data with a known answer: the papers' generators, each with the true model beside its rows.
//!
//! Everything is a pure function of its arguments and a seed. A longer sample begins with the shorter one.
//!
//! | generator | what it makes |
//! |---|---|
//! | [`ofab_truth`] | the random Gaussian mixtures of the online FAB paper |
//! | [`AbruptDrift`] | three segments of a stream with components of their own (the paper's case 2) |
//! | [`GradualDrift`] | a mixture whose means move |
//! | [`MppcaTruth`] | components with principal subspaces of different dimensions |
//! | [`grid_truth`] | round components on a square grid (the 16 classes of the ASUGS paper) |
//! | [`letters`] | points on the strokes of I, C, D, M |
//! | [`StudentTruth`] | components with heavy tails |
//! | [`PlantedTopics`] | documents from known topics, one of which may appear midway |
//! | [`LabelledTopics`] | documents from known topics, with one label or several that follow from them |
//! | [`PlantedFeatures`] | rows that are sums of known features, block images among them |
//! | [`Truth::sample_sorted`] | rows in the worst order there is |

mod drift;
mod features;
mod grid;
mod labelled;
mod letters;
mod mppca;
mod ofab;
mod student;
mod topics;
mod truth;

pub use drift::{AbruptDrift, GradualDrift, Segment};
pub use features::{PlantedFeatures, with_holes};
pub use grid::grid_truth;
pub use labelled::{LabelledShape, LabelledTopics, Labelling};
pub use letters::{LetterOrder, Letters, UnknownOrder, letters};
pub use mppca::MppcaTruth;
pub use ofab::{Covariance, UnknownCovariance, ofab_truth};
pub use student::StudentTruth;
pub use topics::{PlantedShape, PlantedTopics};
pub use truth::{Draws, NotAMixture, Truth};

/// Keys of the random streams, so that parameters, paths and rows of one seed are unrelated.
mod purpose {
    pub const PARAMETERS: u64 = 0x7472_7574_6800;
    pub const PATHS: u64 = 0x7061_7468_7300;
    pub const ROWS: u64 = 0x726f_7773_0000;
    pub const LABELS: u64 = 0x6c61_6265_6c73;
}
