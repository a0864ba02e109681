//! How well documents are told apart: the labels they have beside the labels they were given.

/// The share of documents that were given their own label. Documents beyond the shorter list are left out.
///
/// NaN without a document.
pub fn accuracy<L: PartialEq>(truth: &[L], given: &[L]) -> f64 {
    let n = truth.len().min(given.len());
    let right = truth.iter().zip(given).filter(|(own, given)| own == given).count();
    if n == 0 { f64::NAN } else { right as f64 / n as f64 }
}

/// How often one label was given, and should have been.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LabelCounts {
    /// Documents that have the label and were given it.
    pub right: u64,
    /// Documents that were given the label and do not have it.
    pub wrong: u64,
    /// Documents that have the label and were not given it.
    pub missed: u64,
}

impl LabelCounts {
    /// The share of the documents given the label that have it; 0 when none was given it.
    pub fn precision(&self) -> f64 {
        share(self.right, self.right + self.wrong)
    }

    /// The share of the documents that have the label that were given it; 0 when none has it.
    pub fn recall(&self) -> f64 {
        share(self.right, self.right + self.missed)
    }

    /// The harmonic mean of precision and recall; 0 when one of them is.
    pub fn f1(&self) -> f64 {
        share(2 * self.right, 2 * self.right + self.wrong + self.missed)
    }

    /// False for a label that no document has and none was given: there was nothing to be right or wrong about.
    pub fn occurs(&self) -> bool {
        self.right + self.wrong + self.missed > 0
    }

    fn add(&mut self, other: &LabelCounts) {
        self.right += other.right;
        self.wrong += other.wrong;
        self.missed += other.missed;
    }
}

fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// Labels that documents have beside those they were given, when a document may have any number of them. Labels are numbered
/// from 0, and memory is that of the largest number.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LabelAgreement {
    /// Counts of each label, by its number, up to the largest that occurs.
    pub labels: Vec<LabelCounts>,
    /// Documents compared.
    pub n_documents: u64,
    /// Documents that were given exactly their labels.
    pub n_exact: u64,
}

impl LabelAgreement {
    /// Compares document by document. The order of a document's labels does not matter, nor do repeats; documents beyond
    /// the shorter list are left out.
    pub fn of<T: AsRef<[u32]>, G: AsRef<[u32]>>(truth: &[T], given: &[G]) -> LabelAgreement {
        let mut agreement = LabelAgreement::default();
        for (own, given) in truth.iter().zip(given) {
            agreement.add(own.as_ref(), given.as_ref());
        }
        agreement
    }

    /// Adds a document: its own labels and those it was given.
    pub fn add(&mut self, own: &[u32], given: &[u32]) {
        let (own, given) = (as_set(own), as_set(given));
        self.n_documents += 1;
        self.n_exact += u64::from(own == given);
        for label in &given {
            let counts = self.counts(*label);
            if own.binary_search(label).is_ok() { counts.right += 1 } else { counts.wrong += 1 }
        }
        for label in own.iter().filter(|label| given.binary_search(label).is_err()) {
            self.counts(*label).missed += 1;
        }
    }

    fn counts(&mut self, label: u32) -> &mut LabelCounts {
        let at = label as usize;
        if self.labels.len() <= at {
            self.labels.resize(at + 1, LabelCounts::default());
        }
        &mut self.labels[at]
    }

    /// All labels counted together: a label counts by how many documents have it.
    pub fn pooled(&self) -> LabelCounts {
        let mut all = LabelCounts::default();
        self.labels.iter().for_each(|counts| all.add(counts));
        all
    }

    /// F1 of all labels counted together. With one label each, and one given, this is the accuracy.
    ///
    /// NaN when no label occurs, own or given.
    pub fn micro_f1(&self) -> f64 {
        let all = self.pooled();
        if all.occurs() { all.f1() } else { f64::NAN }
    }

    /// The mean of the labels' F1: small labels count as much as large ones. A label that no document has and none was
    /// given is left out; one that only one side has counts 0.
    ///
    /// NaN when no label occurs, own or given.
    pub fn macro_f1(&self) -> f64 {
        let each: Vec<f64> = self.labels.iter().filter(|counts| counts.occurs()).map(LabelCounts::f1).collect();
        if each.is_empty() { f64::NAN } else { each.iter().sum::<f64>() / each.len() as f64 }
    }

    /// The share of documents that were given exactly their labels.
    ///
    /// NaN without a document.
    pub fn exact(&self) -> f64 {
        if self.n_documents == 0 { f64::NAN } else { self.n_exact as f64 / self.n_documents as f64 }
    }
}

fn as_set(labels: &[u32]) -> Vec<u32> {
    let mut labels = labels.to_vec();
    labels.sort_unstable();
    labels.dedup();
    labels
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn agreement(truth: &[&[u32]], given: &[&[u32]]) -> LabelAgreement {
        LabelAgreement::of(truth, given)
    }

    #[test]
    fn accuracy_counts_what_is_right() {
        assert_eq!(accuracy(&["a", "b", "c", "a"], &["a", "c", "c", "b"]), 0.5);
        assert_eq!(accuracy(&[1, 2, 3], &[1, 2]), 1.0);
        assert!(accuracy::<u32>(&[], &[]).is_nan());
    }

    #[test]
    fn known_values() {
        // Label 0: right in 1 and 2, wrong in 3. Label 1: right in 1, missed in 4. Label 2: missed in 3 and 4, wrong in 2.
        let found = agreement(&[&[0, 1], &[0], &[2], &[1, 2]], &[&[1, 0], &[0, 2], &[0], &[]]);
        let expected = [(2, 1, 0), (1, 0, 1), (0, 1, 2)];
        let expected = expected.map(|(right, wrong, missed)| LabelCounts { right, wrong, missed });
        assert_eq!(found.labels, expected);
        assert_eq!((found.labels[0].precision(), found.labels[0].recall()), (2.0 / 3.0, 1.0));
        assert_eq!((found.labels[1].precision(), found.labels[1].recall()), (1.0, 0.5));
        let f1 = [4.0 / 5.0, 2.0 / 3.0, 0.0];
        assert_eq!([0, 1, 2].map(|label| found.labels[label].f1()), f1);
        // In all 3 right, 2 wrong, 3 missed.
        assert_eq!(found.micro_f1(), 6.0 / 11.0);
        assert!((found.macro_f1() - f1.iter().sum::<f64>() / 3.0).abs() < 1e-15);
        assert_eq!(found.exact(), 0.25);
    }

    #[test]
    fn a_label_that_occurs_nowhere_is_left_out_and_one_that_one_side_has_is_not() {
        // Label 1 occurs nowhere; label 2 is given to a document that does not have it.
        let found = agreement(&[&[0], &[3]], &[&[0], &[3, 2]]);
        assert!(!found.labels[1].occurs() && found.labels[2].occurs());
        assert_eq!(found.macro_f1(), 2.0 / 3.0);
        assert_eq!((found.labels[2].precision(), found.labels[2].recall(), found.labels[2].f1()), (0.0, 0.0, 0.0));
        assert_eq!(found.micro_f1(), 4.0 / 5.0);
    }

    #[test]
    fn nothing_given_and_nothing_there() {
        let silent = agreement(&[&[0], &[1]], &[&[], &[]]);
        assert_eq!((silent.micro_f1(), silent.macro_f1(), silent.exact()), (0.0, 0.0, 0.0));
        assert_eq!(silent.pooled().precision(), 0.0);
        let blank = agreement(&[&[], &[]], &[&[], &[]]);
        assert!(blank.micro_f1().is_nan() && blank.macro_f1().is_nan());
        assert_eq!(blank.exact(), 1.0);
        assert!(LabelAgreement::default().exact().is_nan());
    }

    #[test]
    fn order_and_repeats_do_not_matter() {
        let plain = agreement(&[&[0, 2], &[1]], &[&[2, 0], &[1, 2]]);
        assert_eq!(plain, agreement(&[&[2, 0, 2], &[1, 1]], &[&[0, 2, 0], &[2, 1, 2]]));
    }

    proptest! {
        #[test]
        fn one_label_each_makes_micro_f1_the_accuracy(
            labels in proptest::collection::vec((0u32..6, 0u32..6), 1..50),
        ) {
            let (truth, given): (Vec<[u32; 1]>, Vec<[u32; 1]>) = labels.iter().map(|(t, g)| ([*t], [*g])).unzip();
            let found = LabelAgreement::of(&truth, &given);
            prop_assert!((found.micro_f1() - accuracy(&truth, &given)).abs() < 1e-15);
            prop_assert_eq!(found.exact(), accuracy(&truth, &given));
        }

        #[test]
        fn sides_change_places_as_precision_and_recall_do(
            documents in proptest::collection::vec(
                (proptest::collection::vec(0u32..5, 0..4), proptest::collection::vec(0u32..5, 0..4)), 1..30),
        ) {
            let (truth, given): (Vec<Vec<u32>>, Vec<Vec<u32>>) = documents.into_iter().unzip();
            let (one, other) = (LabelAgreement::of(&truth, &given), LabelAgreement::of(&given, &truth));
            prop_assert_eq!(one.labels.len(), other.labels.len());
            for (a, b) in one.labels.iter().zip(&other.labels) {
                prop_assert_eq!((a.precision(), a.recall(), a.f1()), (b.recall(), b.precision(), b.f1()));
            }
            let all_right = LabelAgreement::of(&truth, &truth);
            if all_right.pooled().occurs() {
                prop_assert_eq!((all_right.micro_f1(), all_right.macro_f1()), (1.0, 1.0));
            }
        }
    }
}
