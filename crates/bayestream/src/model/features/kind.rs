//! The table of kinds that learn rows as sums of features.

use crate::model::kind::named;
use crate::model::{ConfigError, KindInfo};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A ready model of binary latent features.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum FeatureKind {
    /// Batch FAB.
    Fab,
    /// Online FAB.
    OnlineFab,
    /// Variational EM.
    Em,
    /// Indian buffet process by sampling.
    Ibp,
    /// Variational Bayes.
    Vb,
    /// Indian buffet process by maximisation.
    Meibp,
}

/// Every kind that learns rows as sums of features.
pub const FEATURE_KINDS: [KindInfo<FeatureKind>; 6] = [
    KindInfo {
        kind: FeatureKind::Fab,
        name: "lfm/fab",
        alias: None,
        streaming: false,
        summary: "rows as sums of features that are there or not, their number found, by batch FAB: keeps every row in memory",
    },
    KindInfo {
        kind: FeatureKind::OnlineFab,
        name: "lfm/online-fab",
        alias: Some("lfm"),
        streaming: true,
        summary: "rows as sums of features that are there or not, finds their number in one pass (online FAB)",
    },
    KindInfo {
        kind: FeatureKind::Em,
        name: "lfm/em",
        alias: None,
        streaming: false,
        summary: "variational EM, which hardly lets go of features: keeps every row, for comparison",
    },
    KindInfo {
        kind: FeatureKind::Ibp,
        name: "lfm/ibp",
        alias: None,
        streaming: false,
        summary: "Indian buffet process by accelerated Gibbs sampling, noise not learnt: keeps every row, for comparison",
    },
    KindInfo {
        kind: FeatureKind::Vb,
        name: "lfm/vb",
        alias: None,
        streaming: false,
        summary: "variational Bayes of every number of features from 2 on, noise not learnt: keeps every row, for comparison",
    },
    KindInfo {
        kind: FeatureKind::Meibp,
        name: "lfm/meibp",
        alias: None,
        streaming: false,
        summary: "features that only add, Indian buffet process by maximisation: keeps every row, for comparison",
    },
];

impl FeatureKind {
    /// This kind's line of the table.
    pub fn info(self) -> &'static KindInfo<FeatureKind> {
        // The table lists the variants in their order; a test holds the two together.
        &FEATURE_KINDS[self as usize]
    }

    /// The full name.
    pub fn name(self) -> &'static str {
        self.info().name
    }
}

impl fmt::Display for FeatureKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for FeatureKind {
    type Err = ConfigError;

    fn from_str(text: &str) -> Result<FeatureKind, ConfigError> {
        named(&FEATURE_KINDS, text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::AnyKind;

    #[test]
    fn the_table_is_in_the_order_of_the_kinds_and_names_are_its_own() {
        for (at, info) in FEATURE_KINDS.iter().enumerate() {
            assert_eq!(info.kind as usize, at);
            for name in [Some(info.name), info.alias].into_iter().flatten() {
                assert_eq!(name.parse::<AnyKind>().unwrap(), AnyKind::Features(info.kind));
            }
        }
        assert!("lfm/fba".parse::<AnyKind>().unwrap_err().to_string().contains("did you mean `lfm/fab`"));
    }
}
