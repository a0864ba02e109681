//! Labels as others see them: which topics speak for each.

use super::event::ComponentId;

/// A label and its topics.
#[derive(Clone, Debug, PartialEq)]
pub struct LabelSummary {
    /// The label's number.
    pub label: u32,
    /// Documents that had it.
    pub n_documents: u64,
    /// What is added to every document's margin.
    pub constant: f64,
    /// The topics that share a model with the label, in the snapshot's order.
    pub topics: Vec<LabelTopic>,
    /// How the topics of its documents looked along the stream.
    pub course: Vec<LabelMoment>,
}

/// A topic as a label sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LabelTopic {
    /// The topic.
    pub id: ComponentId,
    /// What a document of this topic alone adds to the label's margin: positive when it speaks for the label.
    pub weight: f64,
    /// Mean share of the topic in documents with the label.
    pub share: f64,
}

/// The documents of a label in one stretch of the stream.
#[derive(Clone, Debug, PartialEq)]
pub struct LabelMoment {
    /// Documents of the stream at the end of the stretch.
    pub n_seen: u64,
    /// Documents with the label in the stretch.
    pub n_documents: u64,
    /// Mean share of each topic in them.
    pub shares: Vec<(ComponentId, f64)>,
}

impl LabelMoment {
    /// How many topics the label's documents have, as if all were of one size: the exponential of the entropy of the mean
    /// shares.
    pub fn effective_topics(&self) -> f64 {
        let total: f64 = self.shares.iter().map(|(_, share)| share).sum();
        let entropy: f64 = self
            .shares
            .iter()
            .map(|(_, share)| share / total)
            .filter(|share| *share > 0.0)
            .map(|share| -share * share.ln())
            .sum();
        entropy.exp()
    }
}
