//! Kinds of documents: naive Bayes and LDA by moment matching, and batch naive Bayes to hold them against.

mod batch;
mod corpus;
mod lda;
mod ledger;
mod merge;
mod naive_bayes;
mod prior;
mod topics;

pub use batch::{BatchSettings, NaiveBayesBatch};
pub use lda::LdaBmm;
pub use naive_bayes::NaiveBayesBmm;
pub use topics::WordTopics;

#[cfg(test)]
mod laws;
