//! The battery for kinds that learn rows as sums of features: [`feature_subjects`], [`feature_checks`],
//! [`FEATURE_EXEMPTIONS`] and [`feature_failures`], in the same sense as those for mixtures.

mod edges;
mod found;
mod state;
mod subject;
mod symmetry;

pub use subject::{FeatureSubject, feature_subjects};

use super::{Check, Exemption, Failure, judge, rows};
use crate::model::FeatureKind;

/// Every check of kinds of features.
pub fn feature_checks() -> &'static [Check<FeatureSubject>] {
    &CHECKS
}

const CHECKS: [Check<FeatureSubject>; 31] = [
    Check { name: "an empty batch is the identity", run: rows::empty_batch },
    Check { name: "a failed update changes nothing", run: rows::failed_update },
    Check { name: "the same seed gives the same bytes", run: rows::same_seed },
    Check { name: "saving and loading is the identity", run: rows::round_trip },
    Check { name: "resuming equals never having stopped", run: rows::resume },
    Check { name: "a file cut short is an error", run: rows::truncated },
    Check { name: "a file with changed bytes is an error", run: rows::flipped },
    Check { name: "a file that contradicts itself does no harm", run: state::contradictory },
    Check { name: "a forged number is refused or does no harm", run: state::forged },
    Check { name: "the cut of batches does not matter", run: state::cut_of_batches },
    Check { name: "a look does not change the learner", run: state::looks_are_pure },
    Check { name: "a snapshot stays as it is", run: state::snapshots_stay },
    Check { name: "scores are the same after loading", run: state::scores_after_load },
    Check { name: "rows of weight zero do not matter", run: state::weight_zero },
    Check { name: "merging one model is the identity, several say why not", run: state::merging },
    Check { name: "memory stays bounded", run: state::bounded },
    Check { name: "the order of columns does not matter", run: symmetry::permutation },
    Check { name: "units and origins do not matter", run: symmetry::units },
    Check { name: "no rows at all", run: edges::no_rows },
    Check { name: "one row is a model", run: edges::one_row },
    Check { name: "one column", run: edges::one_column },
    Check { name: "fewer rows than columns", run: edges::few_rows },
    Check { name: "missing cells anywhere", run: edges::missing_cells },
    Check { name: "a row without cells says nothing", run: edges::missing_rows },
    Check { name: "a column without cells is accepted", run: edges::missing_column },
    Check { name: "columns that do not vary", run: edges::constant_columns },
    Check { name: "far outliers and the largest cells", run: edges::far_outliers },
    Check { name: "what was planted is found", run: found::planted },
    Check { name: "noise alone has no features", run: found::noise_alone },
    Check { name: "densities integrate to one", run: found::density_integrates },
    Check { name: "hidden cells are foretold, with honest deviations", run: found::hidden_cells },
];

/// Kinds that are there for comparison.
fn is_rival(subject: &FeatureSubject) -> bool {
    !matches!(subject.kind(), FeatureKind::Fab | FeatureKind::OnlineFab)
}

fn draws_weights(subject: &FeatureSubject) -> bool {
    matches!(subject.kind(), FeatureKind::Vb | FeatureKind::Meibp)
}

/// Every exemption of kinds of features.
pub const FEATURE_EXEMPTIONS: [Exemption<FeatureSubject>; 7] = [
    Exemption {
        check: "memory stays bounded",
        applies: |subject| !subject.kind().info().streaming,
        reason: "a batch kind keeps every row, to revisit them",
    },
    Exemption {
        check: "what was planted is found",
        applies: is_rival,
        reason: "rivals keep more features than there are: that is what FAB is held against",
    },
    Exemption {
        check: "noise alone has no features",
        applies: is_rival,
        reason: "rivals keep more features than there are: that is what FAB is held against",
    },
    Exemption {
        check: "one row is a model",
        applies: |subject| matches!(subject.kind(), FeatureKind::Em | FeatureKind::Vb | FeatureKind::Meibp),
        reason: "features that explain nothing cost nothing, and stay",
    },
    Exemption {
        check: "the order of columns does not matter",
        applies: draws_weights,
        reason: "weights begin at random, column after column",
    },
    Exemption {
        check: "units and origins do not matter",
        applies: draws_weights,
        reason: "weights begin at random, and a cell that rounds otherwise leads elsewhere",
    },
    Exemption {
        check: "hidden cells are foretold, with honest deviations",
        applies: |subject| subject.kind() == FeatureKind::Em,
        reason: "as many features as columns stay, and follow the cells they were learnt from more than a row's leverage tells",
    },
];

/// Runs every check on a subject and returns what went wrong.
pub fn feature_failures(subject: &FeatureSubject) -> Vec<Failure> {
    CHECKS.iter().filter_map(|check| judge(check, subject, &FEATURE_EXEMPTIONS)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance::tests::assert_well_named;

    #[test]
    fn names_are_unique_and_exemptions_name_checks_and_subjects() {
        assert_well_named(&CHECKS, &FEATURE_EXEMPTIONS, &feature_subjects());
    }
}
