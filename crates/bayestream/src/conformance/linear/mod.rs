//! The battery for kinds that learn from labelled rows: [`linear_subjects`], [`linear_checks`], [`LINEAR_EXEMPTIONS`] and
//! [`linear_failures`], in the same sense as those for rows.

mod edges;
mod files;
mod labels;
mod merging;
mod state;
mod stream;
mod subject;

pub use subject::{LinearSubject, Setup, linear_subjects};

use super::{Check, Exemption, Failure, judge};
use crate::model::LinearKind;

/// Every check of kinds of labelled rows.
pub fn linear_checks() -> &'static [Check<LinearSubject>] {
    &CHECKS
}

const CHECKS: [Check<LinearSubject>; 33] = [
    Check { name: "no rows at all are the identity", run: state::no_rows },
    Check { name: "a failed update changes nothing", run: state::failed_update },
    Check { name: "the same rows give the same bytes", run: state::same_bytes },
    Check { name: "a look does not change the learner", run: state::looks_are_pure },
    Check { name: "the cut of batches does not matter", run: state::cut_of_batches },
    Check { name: "rows of weight zero do not matter", run: state::weights },
    Check { name: "saving and loading is the identity", run: files::round_trip },
    Check { name: "resuming equals never having stopped", run: files::resume },
    Check { name: "scores are the same after loading", run: files::scores_after_load },
    Check { name: "a damaged file is an error", run: files::damaged },
    Check { name: "a forged number is refused or does no harm", run: files::forged },
    Check { name: "a file that contradicts itself does no harm", run: files::contradictory },
    Check { name: "one row is a model", run: edges::one_row },
    Check { name: "a label seen once", run: edges::label_seen_once },
    Check { name: "all rows of one label", run: edges::one_class },
    Check { name: "one row with two labels in turn", run: edges::conflicting },
    Check { name: "rows and documents without anything in them", run: edges::nothing_to_go_by },
    Check { name: "missing cells are accepted", run: edges::missing_cells },
    Check { name: "words that were never learnt", run: edges::unseen_words },
    Check { name: "the largest and the smallest cells", run: edges::extreme_cells },
    Check { name: "more columns than rows", run: edges::more_columns_than_rows },
    Check { name: "columns that do not vary", run: edges::constant_columns },
    Check { name: "the order of a row's labels does not matter", run: labels::order },
    Check { name: "the names of labels do not matter", run: labels::names },
    Check { name: "rows without a label teach no weight", run: labels::unlabelled },
    Check { name: "labels may come late", run: labels::late },
    Check { name: "what was planted is found", run: labels::learns },
    Check { name: "reasons are the planted ones", run: labels::reasons },
    Check { name: "memory stays bounded", run: labels::memory },
    Check { name: "merging one model is the identity", run: merging::identity },
    Check { name: "the order of merging does not matter", run: merging::commutes },
    Check { name: "merged shards are as good as one pass", run: merging::as_good },
    Check { name: "what cannot be merged says so", run: merging::refusals },
];

const NOT_MERGED: &str = "passive-aggressive steps depend on those before them: there is no evidence to add up";

fn steps_alone(subject: &LinearSubject) -> bool {
    subject.kind() != LinearKind::BayesPaGibbs
}

/// Every exemption of kinds of labelled rows.
pub const LINEAR_EXEMPTIONS: [Exemption<LinearSubject>; 2] = [
    Exemption { check: "the order of merging does not matter", applies: steps_alone, reason: NOT_MERGED },
    Exemption { check: "merged shards are as good as one pass", applies: steps_alone, reason: NOT_MERGED },
];

/// Runs every check on a subject and returns what went wrong.
pub fn linear_failures(subject: &LinearSubject) -> Vec<Failure> {
    CHECKS.iter().filter_map(|check| judge(check, subject, &LINEAR_EXEMPTIONS)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance::tests::assert_well_named;

    #[test]
    fn names_are_unique_and_exemptions_name_checks_and_subjects() {
        assert_well_named(&CHECKS, &LINEAR_EXEMPTIONS, &linear_subjects());
    }
}
