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
}

/// Every kind that learns rows as sums of features.
pub const FEATURE_KINDS: [KindInfo<FeatureKind>; 2] = [
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
