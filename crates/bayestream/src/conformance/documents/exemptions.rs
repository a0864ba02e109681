//! Who need not pass what, and why.

use super::subject::DocumentSubject;
use crate::conformance::Exemption;
use crate::model::{DocumentKind, Variant};

fn is_batch(subject: &DocumentSubject) -> bool {
    !subject.kind().info().streaming
}

fn has_steps(subject: &DocumentSubject) -> bool {
    subject.kind().has_steps()
}

fn is_paper(subject: &DocumentSubject) -> bool {
    subject.variant() == Variant::Paper
}

fn is_supervised(subject: &DocumentSubject) -> bool {
    subject.kind().supervised().is_some()
}

/// Every exemption of kinds of documents.
pub const DOCUMENT_EXEMPTIONS: [Exemption<DocumentSubject>; 10] = [
    Exemption {
        check: "memory stays bounded",
        applies: is_batch,
        reason: "a batch kind keeps every document, to revisit them",
    },
    Exemption {
        check: "the order of merging does not matter",
        applies: is_batch,
        reason: "batch kinds cannot be merged: one fit of all documents is what they are for",
    },
    Exemption {
        check: "merged shards are as good as one pass",
        applies: is_batch,
        reason: "batch kinds cannot be merged: one fit of all documents is what they are for",
    },
    Exemption {
        check: "the order of merging does not matter",
        applies: is_paper,
        reason: "the paper's algorithm has no merging; it is there for reproduction",
    },
    Exemption {
        check: "merged shards are as good as one pass",
        applies: is_paper,
        reason: "the paper's algorithm has no merging; it is there for reproduction",
    },
    Exemption {
        check: "the order of merging does not matter",
        applies: has_steps,
        reason: "a given number of topics, each started at random, have no common order that shards could be added up in",
    },
    Exemption {
        check: "merged shards are as good as one pass",
        applies: has_steps,
        reason: "a given number of topics, each started at random, have no common order that shards could be added up in",
    },
    Exemption {
        check: "the order of merging does not matter",
        applies: is_supervised,
        reason: "its documents have no labels: topics that no label began with have no counterpart in another shard",
    },
    Exemption {
        check: "merged shards are as good as one pass",
        applies: is_supervised,
        reason: "its documents have no labels: topics that no label began with have no counterpart in another shard",
    },
    Exemption {
        check: "weights and words add up to one",
        applies: |s| s.kind() == DocumentKind::TopicsMmHdp,
        reason: "topics too small to be shown keep their share of the words, and words not met yet theirs of a topic",
    },
];
