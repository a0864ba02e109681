//! Binary latent features by factorised asymptotic Bayesian inference (FAB/LFM, Hayashi & Fujimaki 2013): rows as sums of
//! features that are there or not, x = b + Σ z_k w_k + noise, where the criterion itself says how many features there are.
//!
//! | file | what is in it |
//! |---|---|
//! | `rows` | rows column by column, and where cells are missing |
//! | `statistics` | sums over rows that the parameters follow from |
//! | `parameters` | the parameters and the M-step |
//! | `field` | q(Z): the E-step, accelerateShrinkage, bounds of rows |
//! | `descent` | the M-step where cells are missing and features are many |
//! | `bound` | L |
//! | `direction` | where a new feature could be |
//! | `fit` | the loop over all rows, and the moves |
//! | `grow` | births: many at once, single ones, and in the place of others |
//! | `many` | births where there are many cells, in blocks |
//! | `prune` | features let go where there are many cells |
//! | `held_out` | cells to judge births by |
//! | `unseen` | the noise of cells that are missing |
//! | `drive` | a fit from nothing |
//! | `export` | parameters in the data's own units |
//! | `rivals` | what others do with the same model |
//! | `batch` | the learner that keeps all rows |
//! | `online` | the learner that lives on a stream |
//!
//! Features are outside and rows inside in every array (k × n, d × n), so that each step of the E-step runs over a
//! contiguous column of all rows. A missing cell is left out of all sums; columns that miss cells have their own A.

mod batch;
mod bound;
mod descent;
mod direction;
mod drive;
mod export;
mod field;
mod fit;
mod grow;
mod held_out;
#[cfg(test)]
mod laws;
mod many;
mod online;
mod parameters;
mod prune;
mod rivals;
mod rows;
mod settings;
mod statistics;
#[cfg(test)]
mod theorems;
mod unseen;

pub use batch::{BatchFeatures, Iteration, Way};
pub use bound::{bound, expected_log_likelihood};
pub use direction::Directions;
pub use drive::{Fitted, fit_rows};
pub use export::{check, export};
pub use field::{Field, Follow, mean};
pub use fit::{Fit, Pace, Saved, is_used, penalty};
pub use grow::{births, grow, regrow};
pub use held_out::HeldOut;
pub use online::{OnlineFab, OnlineSettings};
pub use parameters::{Maximising, Parameters, ln_rest, ln_share, log_odds};
pub use rivals::{Rival, RivalSettings};
pub use rows::{Holes, Rows};
pub use settings::{FabSettings, Gate, Start};
pub use statistics::{Gathering, Statistics};
pub use unseen::noise_of_unseen;
