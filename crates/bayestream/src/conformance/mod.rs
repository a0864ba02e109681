//! The battery of checks that every kind must pass.
//!
//! [`subjects`] lists every kind with every variant it has, [`checks`] what is asked of each, [`EXEMPTIONS`] who need
//! not pass what, and why. [`failures`] runs the lot on one subject. A check that compared nothing fails; an exempted
//! check still runs and must still fail, so that no exemption outlives its reason.
//!
//! ```no_run
//! for subject in bayestream::conformance::subjects() {
//!     for failure in bayestream::conformance::failures(&subject) {
//!         println!("{}: {}: {}", subject.name(), failure.check, failure.message);
//!     }
//! }
//! ```
//!
//! Kinds that learn from documents have a battery of their own: [`document_subjects`] and [`document_failures`]; so have
//! kinds that learn from labelled rows, [`linear_subjects`] and [`linear_failures`], and kinds that learn rows as sums of
//! features, [`feature_subjects`] and [`feature_failures`].

mod documents;
mod edges;
mod exemptions;
mod features;
mod files;
mod forged;
mod growth;
mod linear;
mod merging;
mod places;
mod rows;
mod state;
mod stream;
mod subject;
mod symmetry;
mod tally;
mod watching;

pub use documents::{DOCUMENT_EXEMPTIONS, DocumentSubject, document_checks, document_failures, document_subjects};
pub use exemptions::{EXEMPTIONS, Exemption};
pub use features::{FEATURE_EXEMPTIONS, FeatureSubject, feature_checks, feature_failures, feature_subjects};
pub use linear::{LINEAR_EXEMPTIONS, LinearSubject, Setup, linear_checks, linear_failures, linear_subjects};
pub use subject::{Subject, subjects};
pub use tally::{Tallied, Tally};

use std::panic::{AssertUnwindSafe, catch_unwind};

/// Something every kind must do.
pub struct Check<S = Subject> {
    /// What must hold, in a few words; names are unique.
    pub name: &'static str,
    /// Tries it on a subject; the error says what was seen.
    pub run: fn(&S) -> Result<(), String>,
}

/// Every check there is.
pub fn checks() -> &'static [Check] {
    &CHECKS
}

const CHECKS: [Check; 40] = [
    Check { name: "an empty batch is the identity", run: rows::empty_batch },
    Check { name: "a failed update changes nothing", run: rows::failed_update },
    Check { name: "the same seed gives the same bytes", run: rows::same_seed },
    Check { name: "a snapshot does not change the learner", run: state::snapshot_is_pure },
    Check { name: "fewer components as the threshold rises", run: state::threshold },
    Check { name: "saving and loading is the identity", run: rows::round_trip },
    Check { name: "resuming equals never having stopped", run: rows::resume },
    Check { name: "scores are the same after loading", run: files::scores_after_load },
    Check { name: "a file cut short is an error", run: rows::truncated },
    Check { name: "a file with changed bytes is an error", run: rows::flipped },
    Check { name: "a forged number is refused or does no harm", run: files::forged },
    Check { name: "the order of columns does not matter", run: symmetry::permutation },
    Check { name: "the origin does not matter", run: symmetry::translation },
    Check { name: "units do not matter", run: symmetry::scale },
    Check { name: "rows of weight zero do not matter", run: symmetry::weight_zero },
    Check { name: "far rows of weight zero do not matter", run: symmetry::weight_zero_far },
    Check { name: "a row of weight two is two rows", run: symmetry::weight_two },
    Check { name: "finite with far outliers", run: edges::far_outliers },
    Check { name: "no row is impossible", run: edges::any_distance },
    Check { name: "the largest cell after tiny ones", run: edges::largest_cell },
    Check { name: "columns of the largest cells", run: edges::largest_cells },
    Check { name: "missing cells are accepted", run: edges::missing_cells },
    Check { name: "a row without cells is accepted", run: edges::missing_rows },
    Check { name: "a column without cells is accepted", run: edges::missing_column },
    Check { name: "one row is a model", run: edges::single_row },
    Check { name: "fewer rows than columns", run: edges::few_rows },
    Check { name: "columns that do not vary", run: edges::constant_columns },
    Check { name: "one row, repeated, is one component", run: edges::one_row_repeated },
    Check { name: "rows that repeat", run: edges::duplicates },
    Check { name: "large and small units", run: edges::extreme_units },
    Check { name: "rows sorted by cluster", run: edges::sorted },
    Check { name: "merging one model is the identity", run: merging::identity },
    Check { name: "the order of merging does not matter", run: merging::commutes },
    Check { name: "merged shards are as good as one pass, apart", run: merging::shards_apart },
    Check { name: "merged shards are as good as one pass, overlapping", run: merging::shards_overlapping },
    Check { name: "verdicts are probabilities, with missing cells too", run: watching::probabilities },
    Check { name: "watching resumes as if it had never stopped", run: watching::resume },
    Check { name: "watched rows of weight zero do not matter", run: watching::weights },
    Check { name: "a judge leaves the model as it is", run: watching::frozen },
    Check { name: "memory stays bounded", run: growth::bounded },
];

/// A check that a subject did not pass, or passed although it is exempted.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// The check's name.
    pub check: &'static str,
    /// What was seen.
    pub message: String,
}

/// Runs every check on a subject and returns what went wrong.
pub fn failures(subject: &Subject) -> Vec<Failure> {
    CHECKS.iter().filter_map(|check| judge(check, subject, &EXEMPTIONS)).collect()
}

fn judge<S: Tallied>(check: &Check<S>, subject: &S, exemptions: &[Exemption<S>]) -> Option<Failure> {
    let exempted = exemptions.iter().find(|e| e.check == check.name && (e.applies)(subject));
    subject.tally().restart();
    let failed = |message: String| Some(Failure { check: check.name, message });
    match (catch_unwind(AssertUnwindSafe(|| (check.run)(subject))), exempted) {
        (Err(_), _) => failed("it panicked".into()),
        (Ok(Ok(())), _) if subject.tally().n_compared() == 0 => failed("it compared nothing".into()),
        (Ok(Ok(())), Some(exemption)) => {
            failed(format!("it holds, so the exemption is stale; its reason was: {}", exemption.reason))
        }
        (Ok(Err(message)), None) => failed(message),
        (Ok(Ok(())), None) | (Ok(Err(_)), Some(_)) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Kind, Variant};

    /// Names of checks are unique, and every exemption names a check and has subjects.
    pub(super) fn assert_well_named<S>(checks: &[Check<S>], exemptions: &[Exemption<S>], subjects: &[S]) {
        for (ix, check) in checks.iter().enumerate() {
            assert!(checks[..ix].iter().all(|other| other.name != check.name), "{}", check.name);
        }
        for exemption in exemptions {
            assert!(checks.iter().any(|c| c.name == exemption.check), "{}", exemption.check);
            assert!(subjects.iter().any(|s| (exemption.applies)(s)), "{} exempts nobody", exemption.check);
            assert!(!exemption.reason.is_empty());
        }
    }

    #[test]
    fn names_are_unique_and_exemptions_name_checks_and_subjects() {
        assert_well_named(&CHECKS, &EXEMPTIONS, &subjects());
    }

    #[test]
    fn a_check_that_compared_nothing_or_panicked_fails() {
        let subject = Subject::new(Kind::GmmOfab, Variant::Default);
        let idle = Check { name: "idle", run: |_| Ok(()) };
        assert!(judge(&idle, &subject, &EXEMPTIONS).unwrap().message.contains("compared nothing"));
        let panics = Check { name: "panics", run: |_| std::panic::resume_unwind(Box::new(())) };
        assert!(judge(&panics, &subject, &EXEMPTIONS).unwrap().message.contains("panicked"));
        let sound = Check { name: "sound", run: |s: &Subject| s.ensure(true, String::new) };
        assert_eq!(judge(&sound, &subject, &EXEMPTIONS), None);
    }

    #[test]
    fn a_stale_exemption_fails() {
        let exemption = &EXEMPTIONS[0];
        let subject = subjects().into_iter().find(|s| (exemption.applies)(s)).unwrap();
        let holds = Check { name: exemption.check, run: |s: &Subject| s.ensure(true, String::new) };
        assert!(judge(&holds, &subject, &EXEMPTIONS).unwrap().message.contains("stale"));
        let fails = Check { name: exemption.check, run: |s: &Subject| s.ensure(false, || "no".into()) };
        assert_eq!(judge(&fails, &subject, &EXEMPTIONS), None);
    }
}
