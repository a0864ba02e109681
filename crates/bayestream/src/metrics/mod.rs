//! How good a model is: divergence from a known truth, agreement of clusterings, ranking of outliers, worth of topics, labels
//! of documents.

mod clustering;
mod divergence;
mod labels;
mod ranking;
mod topics;

pub use clustering::{adjusted_rand_index, normalised_mutual_information};
pub use divergence::{Estimate, kl_divergence, kl_divergence_within};
pub use labels::{LabelAgreement, LabelCounts, accuracy};
pub use ranking::{Detection, average_precision, detection_at_rate, roc_auc};
pub use topics::{
    bhattacharyya, closest_topics, completion_perplexity, halves, match_topics, npmi, top_words, topic_shares,
};
