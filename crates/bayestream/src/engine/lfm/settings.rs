//! Settings of the engines of binary latent features, with all defaults.

use super::fit::Pace;
use serde::{Deserialize, Serialize};

/// Where a fit begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Start {
    /// Without features; they are born where residuals stand on two sides, many at once and then one by one, as long as the
    /// criterion rises.
    Births,
    /// As many random features as rows or columns, which then shrink: the paper's.
    Random,
}

/// Whether births are also judged by cells that the fit does not see.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Gate {
    /// In fits of their own before the one that counts when rows are few for the columns, else along the way once features are
    /// many.
    Auto,
    /// In fits of their own.
    On,
    /// Never.
    Off,
}

/// Settings of [`Way::Fab`](super::Way::Fab).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct FabSettings {
    /// Where a fit begins.
    pub start: Start,
    /// T: steps of accelerateShrinkage in each iteration; 0 switches it off.
    pub shrink_steps: usize,
    /// δ: a fit ends when the bound grows by less than this for a row, or for a cell where there are many.
    pub tolerance: f64,
    /// A fit ends after so many iterations.
    pub max_iterations: usize,
    /// Features, at most.
    pub max_features: usize,
    /// Whether births are also judged by held-out cells.
    pub held_out_gate: Gate,
    /// Iterations before a birth is judged.
    pub trial_iterations: usize,
    /// Guesses of a new feature that are tried before births end: along a single feature and along the largest variance in
    /// turn, from the first direction, then from the second, and so on.
    pub tries: usize,
    /// Whether removals and merges are tried once the bound has settled.
    pub moves: bool,
}

impl Default for FabSettings {
    fn default() -> Self {
        FabSettings {
            start: Start::Births,
            shrink_steps: 10,
            tolerance: 1e-4,
            max_iterations: 500,
            max_features: 500,
            held_out_gate: Gate::Auto,
            trial_iterations: 8,
            tries: 4,
            moves: true,
        }
    }
}

impl FabSettings {
    /// The paper's: random features at first, T = 100, and no moves. Its merges are left out: none ever raised the bound.
    pub fn paper() -> FabSettings {
        FabSettings {
            start: Start::Random,
            shrink_steps: 100,
            held_out_gate: Gate::Off,
            moves: false,
            ..FabSettings::default()
        }
    }

    /// How a fit goes.
    pub fn pace(&self) -> Pace {
        Pace {
            shrink_steps: self.shrink_steps,
            tolerance: self.tolerance,
            max_iterations: self.max_iterations,
            trial_iterations: self.trial_iterations,
        }
    }

    /// What is wrong with them, if anything.
    pub fn check(&self) -> Result<(), String> {
        if !(self.tolerance >= 0.0 && self.tolerance.is_finite()) {
            return Err(format!("its tolerance {} is not a finite number of at least 0", self.tolerance));
        }
        if self.max_features == 0 || self.max_iterations == 0 {
            return Err("it allows no features or no iterations".into());
        }
        Ok(())
    }
}
