//! The table of kinds that learn from labelled rows.

use crate::model::kind::named;
use crate::model::{ConfigError, KindInfo};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A ready classifier or regressor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum LinearKind {
    /// Online passive-aggressive learning.
    Pa,
    /// Bayesian passive-aggressive learning, averaging classifier.
    BayesPaAve,
    /// Bayesian passive-aggressive learning, Gibbs classifier.
    BayesPaGibbs,
}

/// Every kind that learns from labelled rows.
pub const LINEAR_KINDS: [KindInfo<LinearKind>; 3] = [
    KindInfo {
        kind: LinearKind::Pa,
        name: "classify/pa",
        alias: None,
        streaming: true,
        summary: "labels or numbers from columns or words, linear, in one pass (passive-aggressive, PA-I and PA-II)",
    },
    KindInfo {
        kind: LinearKind::BayesPaAve,
        name: "classify/bayespa-ave",
        alias: None,
        streaming: true,
        summary: "linear, by Bayesian passive-aggressive learning with an averaging classifier: PA-I with C = 2c",
    },
    KindInfo {
        kind: LinearKind::BayesPaGibbs,
        name: "classify/bayespa-gibbs",
        alias: None,
        streaming: true,
        summary: "the same with variances: scores with deviations, shards merge (online BayesPA, Gibbs classifier)",
    },
];

impl LinearKind {
    /// This kind's line of the table.
    pub fn info(self) -> &'static KindInfo<LinearKind> {
        // The table lists the variants in their order; a test holds the two together.
        &LINEAR_KINDS[self as usize]
    }

    /// The full name.
    pub fn name(self) -> &'static str {
        self.info().name
    }

    /// True for the kinds whose weights have a prior.
    pub fn is_bayesian(self) -> bool {
        self != LinearKind::Pa
    }
}

impl fmt::Display for LinearKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for LinearKind {
    type Err = ConfigError;

    fn from_str(text: &str) -> Result<LinearKind, ConfigError> {
        named(&LINEAR_KINDS, text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_the_order_of_the_kinds_and_names_are_its_own() {
        for (at, info) in LINEAR_KINDS.iter().enumerate() {
            assert_eq!(info.kind as usize, at);
            assert_eq!(info.name.parse::<LinearKind>().unwrap(), info.kind);
            assert!(info.name.parse::<crate::model::Kind>().is_err());
            assert!(info.name.parse::<crate::model::DocumentKind>().is_err());
        }
        assert!("clasify/pa".parse::<LinearKind>().unwrap_err().to_string().contains("did you mean `classify/pa`"));
    }
}
