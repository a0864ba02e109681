//! Who need not pass what, and why.

use super::Subject;
use crate::model::{Kind, Variant};

/// A check that some subjects need not pass. It is run on them all the same, and must fail.
pub struct Exemption<S = Subject> {
    /// The check's name.
    pub check: &'static str,
    /// Whom it does not bind.
    pub applies: fn(&S) -> bool,
    /// Why.
    pub reason: &'static str,
}

fn is_batch(subject: &Subject) -> bool {
    !subject.kind().info().streaming
}

fn is_paper(subject: &Subject) -> bool {
    subject.variant() == Variant::Paper
}

fn is_ofab_paper(subject: &Subject) -> bool {
    is_paper(subject) && subject.kind().is_ofab()
}

fn is_greedy(subject: &Subject) -> bool {
    matches!(subject.kind(), Kind::GmmSugs | Kind::GmmAsugs)
}

/// Every exemption.
pub const EXEMPTIONS: [Exemption; 17] = [
    Exemption {
        check: "memory stays bounded",
        applies: is_batch,
        reason: "a batch kind keeps every row, to revisit them",
    },
    Exemption {
        check: "the order of merging does not matter",
        applies: is_batch,
        reason: "batch kinds cannot be merged: one fit of all rows is what they are for",
    },
    Exemption {
        check: "merged shards are as good as one pass, apart",
        applies: is_batch,
        reason: "batch kinds cannot be merged: one fit of all rows is what they are for",
    },
    Exemption {
        check: "merged shards are as good as one pass, overlapping",
        applies: is_batch,
        reason: "batch kinds cannot be merged: one fit of all rows is what they are for",
    },
    Exemption {
        check: "the order of merging does not matter",
        applies: is_paper,
        reason: "the paper's algorithm has no merging; it is there for reproduction",
    },
    Exemption {
        check: "merged shards are as good as one pass, apart",
        applies: is_paper,
        reason: "the paper's algorithm has no merging; it is there for reproduction",
    },
    Exemption {
        check: "merged shards are as good as one pass, overlapping",
        applies: is_paper,
        reason: "the paper's algorithm has no merging; it is there for reproduction",
    },
    Exemption {
        check: "a row of weight two is two rows",
        applies: is_ofab_paper,
        reason: "every batch starts from responsibilities drawn at random for each row: other rows, other optima",
    },
    Exemption {
        check: "one row, repeated, is one component",
        applies: is_ofab_paper,
        reason: "components are left out by their share alone, and equal ones keep sharing what comes",
    },
    Exemption {
        check: "merged shards are as good as one pass, apart",
        applies: |s| s.kind().is_sequential(),
        reason: "one pass never joins components it has made, merging does: merged shards come out better",
    },
    Exemption {
        check: "merged shards are as good as one pass, overlapping",
        applies: is_greedy,
        reason: "one pass never joins components it has made, merging does: merged shards come out better",
    },
    Exemption {
        check: "a row of weight two is two rows",
        applies: |s| s.kind() == Kind::GmmSugs,
        reason: "a row that is there twice is assigned twice: the first time it may found a component for the second",
    },
    Exemption {
        check: "merged shards are as good as one pass, apart",
        applies: |s| s.kind().has_given_components(),
        reason: "components stay where a shard's first rows put them, so that shards come to other optima than one pass, \
                 and are better or worse together",
    },
    Exemption {
        check: "merged shards are as good as one pass, overlapping",
        applies: |s| s.kind().is_variational() && s.kind() != Kind::MppcaStrust,
        reason: "shards come to other optima than one pass, and what they have together is more than 0.003 nats better",
    },
    Exemption {
        check: "a row of weight two is two rows",
        applies: |s| is_paper(s) && s.kind().is_moment_matching(),
        reason: "the number of components is drawn for each row: once for a row of weight two, twice for two rows",
    },
    Exemption {
        check: "merged shards are as good as one pass, apart",
        applies: |s| s.kind().is_moment_matching() && !is_paper(s),
        reason: "which components share a cluster is settled by the first rows: shards come to other optima than one pass",
    },
    Exemption {
        check: "merged shards are as good as one pass, overlapping",
        applies: |s| s.kind() == Kind::Gaussian1dBmm && !is_paper(s),
        reason: "a variance that is known and wrong makes many components of one cluster, others in every shard",
    },
];
