//! The battery for kinds that learn from documents: [`document_subjects`], [`document_checks`],
//! [`DOCUMENT_EXEMPTIONS`] and [`document_failures`], in the same sense as those for rows.

mod edges;
mod exemptions;
mod files;
mod growth;
mod labels;
mod learning;
mod merging;
mod state;
mod stream;
mod subject;

pub use exemptions::DOCUMENT_EXEMPTIONS;
pub use subject::{DocumentSubject, document_subjects};

use super::{Check, Failure, judge};

/// Every check of kinds of documents.
pub fn document_checks() -> &'static [Check<DocumentSubject>] {
    &CHECKS
}

const CHECKS: [Check<DocumentSubject>; 37] = [
    Check { name: "no documents at all are the identity", run: state::no_documents },
    Check { name: "a failed update changes nothing", run: state::failed_update },
    Check { name: "the same seed gives the same bytes", run: state::same_seed },
    Check { name: "a look does not change the learner", run: state::looks_are_pure },
    Check { name: "the cut of batches does not matter", run: state::cut_of_batches },
    Check { name: "the order of a document's words does not matter", run: state::order_of_words },
    Check { name: "a count of two is the word twice", run: state::counts_are_repeats },
    Check { name: "weights and words add up to one", run: learning::adds_up },
    Check { name: "saving and loading is the identity", run: files::round_trip },
    Check { name: "resuming equals never having stopped", run: files::resume },
    Check { name: "scores are the same after loading", run: files::scores_after_load },
    Check { name: "a damaged file is an error", run: files::damaged },
    Check { name: "a forged number is refused or does no harm", run: files::forged },
    Check { name: "documents without words are accepted", run: edges::empty_documents },
    Check { name: "labels of documents without words", run: labels::of_empty_documents },
    Check { name: "one document is a model", run: edges::one_document },
    Check { name: "documents of one word", run: edges::one_word_documents },
    Check { name: "one document, repeated", run: edges::one_document_repeated },
    Check { name: "a word repeated many times", run: edges::repeated_word },
    Check { name: "words that were never learnt", run: edges::unknown_words },
    Check { name: "planted topics are found", run: learning::found },
    Check { name: "documents are foretold better than by frequencies", run: learning::foretold },
    Check { name: "merging one model is the identity", run: merging::identity },
    Check { name: "the order of merging does not matter", run: merging::commutes },
    Check { name: "merged shards are as good as one pass", run: merging::as_good },
    Check { name: "the vocabulary stays bounded", run: growth::vocabulary },
    Check { name: "memory stays bounded", run: growth::memory },
    Check { name: "labels are learnt", run: labels::learnt },
    Check { name: "how labels are written does not matter", run: labels::indifferent },
    Check { name: "the number of threads does not matter", run: labels::threads },
    Check { name: "labelled documents are learnt the same in any batches and after any restart", run: labels::state },
    Check { name: "a label that appears midway", run: labels::midway },
    Check { name: "documents of which some have no label", run: labels::partly_labelled },
    Check { name: "documents with several labels", run: labels::several },
    Check { name: "labels that are odd", run: labels::odd },
    Check { name: "shards with labels", run: labels::shards },
    Check { name: "labels that are refused change nothing", run: labels::refused },
];

/// Runs every check on a subject and returns what went wrong.
pub fn document_failures(subject: &DocumentSubject) -> Vec<Failure> {
    CHECKS.iter().filter_map(|check| judge(check, subject, &DOCUMENT_EXEMPTIONS)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance::tests::assert_well_named;

    #[test]
    fn names_are_unique_and_exemptions_name_checks_and_subjects() {
        assert_well_named(&CHECKS, &DOCUMENT_EXEMPTIONS, &document_subjects());
    }

    #[test]
    fn a_check_of_documents_that_compared_nothing_fails() {
        let idle = Check { name: "idle", run: |_| Ok(()) };
        for subject in document_subjects() {
            assert!(judge(&idle, &subject, &DOCUMENT_EXEMPTIONS).unwrap().message.contains("compared nothing"));
        }
    }
}
