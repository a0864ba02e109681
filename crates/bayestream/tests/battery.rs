//! The batteries of `bayestream::conformance`, one test per kind and variant so that they run side by side.

use bayestream::conformance::Failure;

fn passes(found: Vec<Failure>) {
    let lines: Vec<String> = found.iter().map(|f| format!("{}: {}", f.check, f.message)).collect();
    assert!(lines.is_empty(), "\n{}", lines.join("\n"));
}

macro_rules! battery {
    ($subject:ident, $kinds:ident, $failures:ident, $subjects:ident; $($name:ident: $kind:ident $variant:ident;)+) => {
        use bayestream::conformance::{$subject, $failures, $subjects};
        use bayestream::model::{$kinds, Variant};

        $(#[test]
        fn $name() {
            super::passes($failures(&$subject::new($kinds::$kind, Variant::$variant)));
        })+

        #[test]
        fn every_subject_has_its_test() {
            let tested = [$(($kinds::$kind, Variant::$variant)),+];
            let listed: Vec<_> = $subjects().iter().map(|s| (s.kind(), s.variant())).collect();
            assert_eq!(listed, tested);
        }
    };
}

mod rows {
    battery! {
        Subject, Kind, failures, subjects;
        gmm_ofab: GmmOfab Default;
        gmm_ofab_paper: GmmOfab Paper;
        mppca_ofab: MppcaOfab Default;
        mppca_ofab_paper: MppcaOfab Paper;
        gmm_fab: GmmFab Default;
        mppca_fab: MppcaFab Default;
        gmm_sugs: GmmSugs Default;
        gmm_asugs: GmmAsugs Default;
        gmm_sva: GmmSva Default;
        gmm_dp: GmmDp Default;
        gmm_svb: GmmSvb Default;
        mppca_svb: MppcaSvb Default;
        gmm_strust: GmmStrust Default;
        mppca_strust: MppcaStrust Default;
        gmm_sda_dp: GmmSdaDp Default;
        mppca_sda_dp: MppcaSdaDp Default;
        gaussian1d_bmm: Gaussian1dBmm Default;
        gaussian1d_bmm_paper: Gaussian1dBmm Paper;
        gmm_bmm: GmmBmm Default;
        gmm_bmm_paper: GmmBmm Paper;
    }
}

mod documents {
    battery! {
        DocumentSubject, DocumentKind, document_failures, document_subjects;
        topics_mm_hdp: TopicsMmHdp Default;
        naive_bayes_bmm: NaiveBayesBmm Default;
        naive_bayes_bmm_paper: NaiveBayesBmm Paper;
        lda_bmm: LdaBmm Default;
        lda_bmm_paper: LdaBmm Paper;
        naive_bayes_em: NaiveBayesEm Default;
        naive_bayes_vb_dp: NaiveBayesVbDp Default;
        topics_svi_lda: TopicsSviLda Default;
        topics_splda: TopicsSpLda Default;
        topics_tfhdp: TopicsTfHdp Default;
        medlda_ave: MedLdaAve Default;
        medlda_gibbs: MedLdaGibbs Default;
        medhdp_ave: MedHdpAve Default;
        medhdp_gibbs: MedHdpGibbs Default;
    }
}

mod linear {
    use bayestream::conformance::{LinearSubject, Setup, linear_failures, linear_subjects};
    use bayestream::model::LinearKind;

    macro_rules! linear_battery {
        ($($name:ident: $kind:ident $setup:ident;)+) => {
            $(#[test]
            fn $name() {
                super::passes(linear_failures(&LinearSubject::new(LinearKind::$kind, Setup::$setup)));
            })+

            #[test]
            fn every_subject_has_its_test() {
                let tested = [$((LinearKind::$kind, Setup::$setup)),+];
                let listed: Vec<_> = linear_subjects().iter().map(|s| (s.kind(), s.setup())).collect();
                assert_eq!(listed, tested);
            }
        };
    }

    linear_battery! {
        pa_columns: Pa Columns;
        pa_number: Pa Number;
        pa_several: Pa Several;
        pa_words: Pa Words;
        bayespa_ave_columns: BayesPaAve Columns;
        bayespa_ave_number: BayesPaAve Number;
        bayespa_ave_several: BayesPaAve Several;
        bayespa_ave_words: BayesPaAve Words;
        bayespa_gibbs_columns: BayesPaGibbs Columns;
        bayespa_gibbs_number: BayesPaGibbs Number;
        bayespa_gibbs_several: BayesPaGibbs Several;
        bayespa_gibbs_words: BayesPaGibbs Words;
    }
}

mod features {
    use bayestream::conformance::{FeatureSubject, feature_failures, feature_subjects};
    use bayestream::model::FeatureKind;

    macro_rules! feature_battery {
        ($($name:ident: $kind:ident;)+) => {
            $(#[test]
            fn $name() {
                super::passes(feature_failures(&FeatureSubject::new(FeatureKind::$kind)));
            })+

            #[test]
            fn every_subject_has_its_test() {
                let tested = [$(FeatureKind::$kind),+];
                let listed: Vec<_> = feature_subjects().iter().map(|s| s.kind()).collect();
                assert_eq!(listed, tested);
            }
        };
    }

    feature_battery! {
        lfm_fab: Fab;
        lfm_online_fab: OnlineFab;
        lfm_em: Em;
        lfm_ibp: Ibp;
        lfm_vb: Vb;
        lfm_meibp: Meibp;
    }
}
