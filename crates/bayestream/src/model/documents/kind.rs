//! The table of kinds that learn from documents.

use crate::model::kind::named;
use crate::model::{ConfigError, KindInfo};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A ready model of documents.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum DocumentKind {
    /// Topics of a hierarchical Dirichlet process by moment matching.
    TopicsMmHdp,
    /// Mixture of multinomials, Bayesian moment matching.
    NaiveBayesBmm,
    /// Latent Dirichlet allocation, Bayesian moment matching.
    LdaBmm,
    /// Mixture of multinomials, batch EM.
    NaiveBayesEm,
    /// Dirichlet-process mixture of multinomials, batch variational Bayes.
    NaiveBayesVbDp,
    /// Latent Dirichlet allocation, stochastic variational inference.
    TopicsSviLda,
    /// Latent Dirichlet allocation, sparse stochastic inference.
    TopicsSpLda,
    /// Hierarchical Dirichlet process, truncation-free online inference.
    TopicsTfHdp,
    /// Supervised topics, averaging classifier, number of topics given.
    MedLdaAve,
    /// Supervised topics, Gibbs classifier, number of topics given.
    MedLdaGibbs,
    /// Supervised topics, averaging classifier, number of topics open.
    MedHdpAve,
    /// Supervised topics, Gibbs classifier, number of topics open.
    MedHdpGibbs,
}

/// Every kind that learns from documents.
pub const DOCUMENT_KINDS: [KindInfo<DocumentKind>; 12] = [
    KindInfo {
        kind: DocumentKind::TopicsMmHdp,
        name: "topics/mm-hdp",
        alias: Some("topics"),
        streaming: true,
        summary: "topics of documents, finds their number in one pass, vocabulary grows (moment-matched HDP)",
    },
    KindInfo {
        kind: DocumentKind::NaiveBayesBmm,
        name: "naive-bayes/bmm",
        alias: None,
        streaming: true,
        summary: "one topic per document, finds their number in one pass (online Bayesian moment matching)",
    },
    KindInfo {
        kind: DocumentKind::LdaBmm,
        name: "lda/bmm",
        alias: None,
        streaming: true,
        summary: "latent Dirichlet allocation, number of topics unknown, online Bayesian moment matching",
    },
    KindInfo {
        kind: DocumentKind::NaiveBayesEm,
        name: "naive-bayes/em",
        alias: None,
        streaming: false,
        summary: "one topic per document, given number of topics, by batch EM: keeps every document, for comparison",
    },
    KindInfo {
        kind: DocumentKind::NaiveBayesVbDp,
        name: "naive-bayes/vb-dp",
        alias: None,
        streaming: false,
        summary: "one topic per document, Dirichlet process, batch variational Bayes: keeps every document, for comparison",
    },
    KindInfo {
        kind: DocumentKind::TopicsSviLda,
        name: "topics/svi-lda",
        alias: None,
        streaming: true,
        summary: "given number of topics, stochastic variational inference for LDA; labels by a linear machine on top",
    },
    KindInfo {
        kind: DocumentKind::TopicsSpLda,
        name: "topics/splda",
        alias: None,
        streaming: true,
        summary: "given number of topics, sparse stochastic inference for LDA (Gibbs); labels by a linear machine on top",
    },
    KindInfo {
        kind: DocumentKind::TopicsTfHdp,
        name: "topics/tfhdp",
        alias: None,
        streaming: true,
        summary: "number of topics grows, truncation-free online HDP (Gibbs); labels by a linear machine on top",
    },
    KindInfo {
        kind: DocumentKind::MedLdaAve,
        name: "topics/medlda-ave",
        alias: None,
        streaming: true,
        summary: "topics that tell labels, in one pass, by an averaging classifier (online BayesPA, paMedLDA-ave)",
    },
    KindInfo {
        kind: DocumentKind::MedLdaGibbs,
        name: "topics/medlda-gibbs",
        alias: Some("classify"),
        streaming: true,
        summary: "topics that tell labels, in one pass, by a Gibbs classifier (online BayesPA, paMedLDA-gibbs)",
    },
    KindInfo {
        kind: DocumentKind::MedHdpAve,
        name: "topics/medhdp-ave",
        alias: None,
        streaming: true,
        summary: "topics that tell labels, their number open, by an averaging classifier (online BayesPA, paMedHDP-ave)",
    },
    KindInfo {
        kind: DocumentKind::MedHdpGibbs,
        name: "topics/medhdp-gibbs",
        alias: None,
        streaming: true,
        summary: "topics that tell labels, their number open, by a Gibbs classifier (online BayesPA, paMedHDP-gibbs)",
    },
];

impl DocumentKind {
    /// This kind's line of the table.
    pub fn info(self) -> &'static KindInfo<DocumentKind> {
        // The table lists the variants in their order; a test holds the two together.
        &DOCUMENT_KINDS[self as usize]
    }

    /// The full name, `structure/engine`.
    pub fn name(self) -> &'static str {
        self.info().name
    }

    /// True for topics that move by step sizes.
    pub fn has_steps(self) -> bool {
        matches!(self, DocumentKind::TopicsSviLda | DocumentKind::TopicsSpLda | DocumentKind::TopicsTfHdp)
    }

    /// True for kinds that learn from labels too.
    pub fn takes_labels(self) -> bool {
        let without = [
            DocumentKind::TopicsMmHdp,
            DocumentKind::NaiveBayesBmm,
            DocumentKind::LdaBmm,
            DocumentKind::NaiveBayesEm,
            DocumentKind::NaiveBayesVbDp,
        ];
        !without.contains(&self)
    }

    /// True for online Bayesian moment matching.
    pub fn is_moment_matching(self) -> bool {
        matches!(self, DocumentKind::NaiveBayesBmm | DocumentKind::LdaBmm)
    }
}

impl fmt::Display for DocumentKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for DocumentKind {
    type Err = ConfigError;

    fn from_str(text: &str) -> Result<DocumentKind, ConfigError> {
        named(&DOCUMENT_KINDS, text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_in_the_order_of_the_kinds_and_names_are_its_own() {
        for (at, info) in DOCUMENT_KINDS.iter().enumerate() {
            assert_eq!(info.kind as usize, at);
            assert_eq!(info.name.parse::<DocumentKind>().unwrap(), info.kind);
            assert!(info.name.parse::<crate::model::Kind>().is_err());
        }
        assert_eq!("topics".parse::<DocumentKind>().unwrap(), DocumentKind::TopicsMmHdp);
        assert!("topisc".parse::<DocumentKind>().unwrap_err().to_string().contains("did you mean `topics`"));
    }
}
