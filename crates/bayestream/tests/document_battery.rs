//! The battery of `bayestream::conformance` for documents, one test per kind and variant so that they run side by side.

use bayestream::conformance::{DocumentSubject, document_failures, document_subjects};
use bayestream::model::{DocumentKind, Variant};

fn passes(kind: DocumentKind, variant: Variant) {
    let found = document_failures(&DocumentSubject::new(kind, variant));
    let lines: Vec<String> = found.iter().map(|f| format!("{}: {}", f.check, f.message)).collect();
    assert!(lines.is_empty(), "\n{}", lines.join("\n"));
}

macro_rules! battery {
    ($($name:ident: $kind:ident $variant:ident;)+) => {
        $(#[test]
        fn $name() {
            passes(DocumentKind::$kind, Variant::$variant);
        })+

        #[test]
        fn every_subject_has_its_test() {
            let tested = [$((DocumentKind::$kind, Variant::$variant)),+];
            let listed: Vec<_> = document_subjects().iter().map(|s| (s.kind(), s.variant())).collect();
            assert_eq!(listed, tested);
        }
    };
}

battery! {
    topics_mm_hdp: TopicsMmHdp Default;
    naive_bayes_bmm: NaiveBayesBmm Default;
    naive_bayes_bmm_paper: NaiveBayesBmm Paper;
    lda_bmm: LdaBmm Default;
    lda_bmm_paper: LdaBmm Paper;
    naive_bayes_em: NaiveBayesEm Default;
    naive_bayes_vb_dp: NaiveBayesVbDp Default;
}
