//! The one table of kinds. Everything that lists or parses kinds reads it.

use super::documents::{DOCUMENT_KINDS, DocumentKind};
use super::error::ConfigError;
use super::features::{FEATURE_KINDS, FeatureKind};
use super::linear::{LINEAR_KINDS, LinearKind};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A ready model: a family and the engine that learns it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Kind {
    /// Gaussian mixture, online FAB.
    GmmOfab,
    /// Mixture of probabilistic PCA, online FAB.
    MppcaOfab,
    /// Gaussian mixture, batch FAB.
    GmmFab,
    /// Mixture of probabilistic PCA, batch FAB.
    MppcaFab,
    /// Dirichlet-process mixture of Gaussians, sequential updating and greedy search.
    GmmSugs,
    /// The same with an adaptive concentration.
    GmmAsugs,
    /// Dirichlet-process mixture of Gaussians, sequential variational approximation.
    GmmSva,
    /// Dirichlet-process mixture of Gaussians that merges, splits and learns its own prior.
    GmmDp,
    /// Gaussian mixture, streaming variational Bayes.
    GmmSvb,
    /// Mixture of probabilistic PCA, streaming variational Bayes.
    MppcaSvb,
    /// Gaussian mixture, streaming trust-region stochastic variational inference.
    GmmStrust,
    /// Mixture of probabilistic PCA, streaming trust-region stochastic variational inference.
    MppcaStrust,
    /// Dirichlet-process Gaussian mixture, streaming distributed variational inference.
    GmmSdaDp,
    /// Dirichlet-process mixture of probabilistic PCA, streaming distributed variational inference.
    MppcaSdaDp,
    /// Mixture of Gaussians of known variance, Bayesian moment matching.
    Gaussian1dBmm,
    /// Gaussian mixture, Bayesian moment matching.
    GmmBmm,
}

/// A line of a table of kinds.
pub struct KindInfo<K = Kind> {
    /// The kind.
    pub kind: K,
    /// Its full name, `family/engine`.
    pub name: &'static str,
    /// The short alias, when this kind is the default for its job.
    pub alias: Option<&'static str>,
    /// True when it learns in one pass and bounded memory.
    pub streaming: bool,
    /// What it is, in one line.
    pub summary: &'static str,
}

/// Every kind there is.
pub const KINDS: [KindInfo; 16] = [
    KindInfo {
        kind: Kind::GmmOfab,
        name: "gmm/ofab",
        alias: Some("gmm"),
        streaming: true,
        summary: "Gaussian mixture, full covariances, finds its number of components in one pass (online FAB)",
    },
    KindInfo {
        kind: Kind::MppcaOfab,
        name: "mppca/ofab",
        alias: Some("mppca"),
        streaming: true,
        summary: "mixture of probabilistic PCA, finds components and their dimensions in one pass (online FAB)",
    },
    KindInfo {
        kind: Kind::GmmFab,
        name: "gmm/fab",
        alias: None,
        streaming: false,
        summary: "Gaussian mixture by batch FAB: keeps every row in memory and revisits them, for comparison",
    },
    KindInfo {
        kind: Kind::MppcaFab,
        name: "mppca/fab",
        alias: None,
        streaming: false,
        summary: "mixture of probabilistic PCA by batch FAB: keeps every row in memory, for comparison",
    },
    KindInfo {
        kind: Kind::GmmSugs,
        name: "gmm/sugs",
        alias: None,
        streaming: true,
        summary: "Dirichlet-process mixture of Gaussians by greedy assignment, concentration averaged over a grid (SUGS)",
    },
    KindInfo {
        kind: Kind::GmmAsugs,
        name: "gmm/asugs",
        alias: None,
        streaming: true,
        summary: "Dirichlet-process mixture of Gaussians by greedy assignment, adaptive concentration (ASUGS)",
    },
    KindInfo {
        kind: Kind::GmmSva,
        name: "gmm/sva",
        alias: None,
        streaming: true,
        summary: "Dirichlet-process mixture of Gaussians by soft assignment (sequential variational approximation)",
    },
    KindInfo {
        kind: Kind::GmmDp,
        name: "gmm/dp",
        alias: Some("dpmm"),
        streaming: true,
        summary: "Dirichlet-process mixture of Gaussians that merges, splits and learns its own prior, in one pass",
    },
    KindInfo {
        kind: Kind::GmmSvb,
        name: "gmm/svb",
        alias: None,
        streaming: true,
        summary: "Gaussian mixture with a given number of components, streaming variational Bayes, for comparison",
    },
    KindInfo {
        kind: Kind::MppcaSvb,
        name: "mppca/svb",
        alias: None,
        streaming: true,
        summary: "mixture of a given number of probabilistic PCAs, streaming variational Bayes, for comparison",
    },
    KindInfo {
        kind: Kind::GmmStrust,
        name: "gmm/strust-svi",
        alias: None,
        streaming: true,
        summary: "Gaussian mixture with a given number of components, streaming trust-region SVI, for comparison",
    },
    KindInfo {
        kind: Kind::MppcaStrust,
        name: "mppca/strust-svi",
        alias: None,
        streaming: true,
        summary: "mixture of a given number of probabilistic PCAs, streaming trust-region SVI, for comparison",
    },
    KindInfo {
        kind: Kind::GmmSdaDp,
        name: "gmm/sda-dp",
        alias: None,
        streaming: true,
        summary: "Dirichlet-process Gaussian mixture, streaming distributed variational Bayes (SDA-DP), for comparison",
    },
    KindInfo {
        kind: Kind::MppcaSdaDp,
        name: "mppca/sda-dp",
        alias: None,
        streaming: true,
        summary: "Dirichlet-process mixture of probabilistic PCAs, streaming distributed variational Bayes, for comparison",
    },
    KindInfo {
        kind: Kind::Gaussian1dBmm,
        name: "gaussian1d/bmm",
        alias: None,
        streaming: true,
        summary: "mixture of Gaussians of one known variance in one column (or in each), online Bayesian moment matching",
    },
    KindInfo {
        kind: Kind::GmmBmm,
        name: "gmm/bmm",
        alias: None,
        streaming: true,
        summary: "Gaussian mixture of an unknown number of components, online Bayesian moment matching",
    },
];

impl Kind {
    /// This kind's line of the table.
    pub fn info(self) -> &'static KindInfo {
        // `KINDS` lists the variants in their order; a test holds the two together.
        &KINDS[self as usize]
    }

    /// True for the kinds of online FAB, which have a paper variant beside the one that works.
    pub fn is_ofab(self) -> bool {
        matches!(self, Kind::GmmOfab | Kind::MppcaOfab)
    }

    /// True for mixtures whose components come from a Dirichlet process.
    pub fn is_dirichlet(self) -> bool {
        self.is_sequential() || self == Kind::GmmDp
    }

    /// True for the Dirichlet-process kinds that follow their papers row by row.
    pub fn is_sequential(self) -> bool {
        matches!(self, Kind::GmmSugs | Kind::GmmAsugs | Kind::GmmSva)
    }

    /// True for the streaming variational kinds.
    pub fn is_variational(self) -> bool {
        self.has_given_components() || self.is_sda()
    }

    /// True for the streaming variational kinds whose number of components is given.
    pub fn has_given_components(self) -> bool {
        matches!(self, Kind::GmmSvb | Kind::MppcaSvb | Kind::GmmStrust | Kind::MppcaStrust)
    }

    /// True for the streaming variational kinds of a Dirichlet process.
    pub fn is_sda(self) -> bool {
        matches!(self, Kind::GmmSdaDp | Kind::MppcaSdaDp)
    }

    /// True for the kinds of Bayesian moment matching.
    pub fn is_moment_matching(self) -> bool {
        matches!(self, Kind::Gaussian1dBmm | Kind::GmmBmm)
    }

    /// True for kinds that have a paper variant beside the one that works.
    pub fn has_paper_variant(self) -> bool {
        self.is_ofab() || self.is_moment_matching()
    }

    /// True for kinds whose components have a normal-Wishart prior.
    pub fn has_prior(self) -> bool {
        self.is_dirichlet() || self.is_variational() || self == Kind::GmmBmm
    }

    /// The full name, `family/engine`.
    pub fn name(self) -> &'static str {
        self.info().name
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Kind {
    type Err = ConfigError;

    fn from_str(text: &str) -> Result<Kind, ConfigError> {
        named(&KINDS, text)
    }
}

/// The kind of a table with this name or alias.
pub(super) fn named<K: Copy>(table: &'static [KindInfo<K>], text: &str) -> Result<K, ConfigError> {
    table
        .iter()
        .find(|k| k.name == text || k.alias == Some(text))
        .map(|k| k.kind)
        .ok_or_else(|| ConfigError::UnknownKind { name: text.to_string(), nearest: nearest(text, names(table)) })
}

fn names<K>(table: &'static [KindInfo<K>]) -> impl Iterator<Item = &'static str> {
    table.iter().flat_map(|k| [Some(k.name), k.alias]).flatten()
}

/// A kind of any sort: what a person may name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AnyKind {
    /// It learns from rows of numbers.
    Rows(Kind),
    /// It learns from documents.
    Documents(DocumentKind),
    /// It learns from labelled rows or documents.
    Linear(LinearKind),
    /// It learns rows as sums of features.
    Features(FeatureKind),
}

impl FromStr for AnyKind {
    type Err = ConfigError;

    fn from_str(text: &str) -> Result<AnyKind, ConfigError> {
        let of_rows = text.parse().map(AnyKind::Rows);
        let found = of_rows
            .or_else(|_: ConfigError| text.parse().map(AnyKind::Documents))
            .or_else(|_: ConfigError| text.parse().map(AnyKind::Linear))
            .or_else(|_: ConfigError| text.parse().map(AnyKind::Features));
        found.map_err(|_: ConfigError| {
            let unlabelled = names(&KINDS).chain(names(&DOCUMENT_KINDS)).chain(names(&FEATURE_KINDS));
            let nearest = nearest(text, unlabelled.chain(names(&LINEAR_KINDS)));
            ConfigError::UnknownKind { name: text.to_string(), nearest }
        })
    }
}

/// The candidate most like `text`, when one is like it at all.
pub fn nearest<'a>(text: &str, candidates: impl Iterator<Item = &'a str>) -> Option<String> {
    candidates
        .map(|c| (strsim::jaro_winkler(text, c), c))
        .filter(|(likeness, _)| *likeness > 0.6)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, c)| c.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_lists_every_kind_in_order_under_unique_names() {
        for (ix, info) in KINDS.iter().enumerate() {
            assert_eq!(info.kind as usize, ix);
            assert_eq!(info.name.parse::<Kind>().unwrap(), info.kind);
            if let Some(alias) = info.alias {
                assert_eq!(alias.parse::<Kind>().unwrap(), info.kind);
            }
        }
    }

    #[test]
    fn a_typing_error_suggests_the_nearest_kind() {
        let err = "gmm/ofba".parse::<Kind>().unwrap_err().to_string();
        assert!(err.contains("did you mean `gmm/ofab`"), "{err}");
    }
}
