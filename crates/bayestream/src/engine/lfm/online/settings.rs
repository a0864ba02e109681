//! Settings of the learner on a stream.

use crate::engine::lfm::FabSettings;
use serde::{Deserialize, Serialize};

/// Columns from which on a mini-batch needs more rows.
const MANY_COLUMNS: usize = 100;

/// Settings of [`OnlineFab`](super::OnlineFab).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct OnlineSettings {
    /// How the first rows are fitted; T and the most features hold for mini-batches too.
    pub fab: FabSettings,
    /// Rows that are held for the first fit; without a number 15 for each column, at least 500 and at most 4000.
    pub warm_up: Option<usize>,
    /// Rows of a mini-batch; without a number 100, or 300 when there are more than 100 columns.
    pub mini_batch: Option<usize>,
    /// Whether a change of the stream shortens the memory.
    pub watches_drift: bool,
    /// Latest rows kept, by which features are judged when the small model is asked for.
    pub buffer: usize,
    /// Whether they are.
    pub polishes: bool,
}

impl Default for OnlineSettings {
    fn default() -> Self {
        OnlineSettings {
            fab: FabSettings::default(),
            warm_up: None,
            mini_batch: None,
            watches_drift: true,
            buffer: 500,
            polishes: true,
        }
    }
}

impl OnlineSettings {
    /// Rows that are held for the first fit.
    pub fn first_rows(&self, n_columns: usize) -> usize {
        self.warm_up.unwrap_or((15 * n_columns).clamp(500, 4000)).max(1)
    }

    /// Rows of a mini-batch.
    pub fn batch_rows(&self, n_columns: usize) -> usize {
        self.mini_batch.unwrap_or(if n_columns > MANY_COLUMNS { 300 } else { 100 }).max(1)
    }

    /// What is wrong with them, if anything.
    pub fn check(&self) -> Result<(), String> {
        if self.buffer == 0 {
            return Err("its buffer holds no rows".into());
        }
        self.fab.check()
    }
}
