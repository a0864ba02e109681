//! Settings that were put together in code meet what settings from text meet.

use bayestream::data::Batch;
use bayestream::interrupt::{Interrupt, Interrupted};
use bayestream::model::{
    Config, ConfigError, DocumentConfig, DocumentKind, DocumentModel, FeatureConfig, FeatureKind, FeatureModel, KINDS,
    Kind, LinearConfig, LinearKind, LinearModel, Model, Settings,
};
use bayestream::structure::Happening;
use bayestream::synthetic::{Covariance, ofab_truth};

/// The refusal has the words that the parser has for the same value.
fn same_words(refused: Result<(), ConfigError>, parsed: Result<(), ConfigError>) {
    let (refused, parsed) = (refused.expect_err("it is taken"), parsed.expect_err("the parser takes it"));
    assert_eq!(refused, parsed);
    assert_eq!(refused.code(), "bad-value");
}

#[test]
fn mixtures_refuse_what_the_parser_refuses() {
    let new = |kind: Kind, change: &dyn Fn(&mut Settings)| {
        let mut config = Config::new(kind, vec!["a".into(), "b".into()]);
        change(&mut config.settings);
        Model::new(config).map(drop)
    };
    let parse = |kind: Kind, name: &str, value: &str| Settings::default().set(kind, name, value);
    let ofab = Kind::GmmOfab;
    same_words(new(ofab, &|s| s.memory = Some(-1.0)), parse(ofab, "memory", "-1"));
    same_words(new(ofab, &|s| s.memory = Some(f64::NAN)), parse(ofab, "memory", "NaN"));
    same_words(new(ofab, &|s| s.warm_up = 0), parse(ofab, "warm-up", "0"));
    same_words(new(ofab, &|s| s.delta = Some(1.0)), parse(ofab, "delta", "1"));
    same_words(new(Kind::GmmDp, &|s| s.dirichlet.lambda = 0.0), parse(Kind::GmmDp, "lambda", "0"));
    same_words(new(Kind::GmmSugs, &|s| s.dirichlet.alpha_grid.clear()), parse(Kind::GmmSugs, "alpha-grid", ""));
    same_words(new(Kind::GmmBmm, &|s| s.moments.gamma = -2.0), parse(Kind::GmmBmm, "gamma", "-2"));
    // Batch kinds have no warm-up, and do not look at one.
    new(Kind::GmmFab, &|s| s.warm_up = 0).unwrap();
}

#[test]
fn other_models_refuse_what_their_parsers_refuse() {
    let mut config = DocumentConfig::new(DocumentKind::TopicsMmHdp);
    config.settings.topics.memory = Some(-1.0);
    let parsed = DocumentConfig::new(config.kind).settings.set(config.kind, "memory", "-1");
    same_words(DocumentModel::new(config.clone()).map(drop), parsed.clone());
    same_words(DocumentModel::with_words(config, vec!["word".into()]).map(drop), parsed);

    let mut config = FeatureConfig::new(FeatureKind::OnlineFab, vec!["a".into()]);
    config.settings.online.buffer = 0;
    let parsed = FeatureConfig::new(config.kind, Vec::new()).settings.set(config.kind, "buffer", "0");
    same_words(FeatureModel::new(config).map(drop), parsed);

    let mut config = LinearConfig::new(LinearKind::Pa, vec!["a".into()]);
    config.settings.c = Some(-1.0);
    let parsed = LinearConfig::new(config.kind, Vec::new()).settings.set(config.kind, "c", "-1");
    same_words(LinearModel::new(config).map(drop), parsed);
}

/// Rows that take batch kinds a while.
fn rows(n: usize, d: usize) -> Vec<f64> {
    let mut rng = bayestream::num::stream(20_061, 0, 0);
    (0..n * d).map(|i| rng.normal() + f64::from(u8::from(i % 7 < 3))).collect()
}

#[test]
fn an_interrupted_fit_leaves_the_model_as_it_was_and_asks_often() {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};
    let data = rows(600, 4);
    let batch = Batch::new(&data, 4).unwrap();
    let columns: Vec<String> = (0..4).map(|j| format!("x{j}")).collect();
    // Stopped at the first question, and after some, wherever that is.
    for after in [0, 3, 40] {
        let asked = Arc::new(AtomicU64::new(0));
        let (counter, interrupt) = (Arc::clone(&asked), |asked: Arc<AtomicU64>| {
            Interrupt::when(move || asked.fetch_add(1, Ordering::Relaxed) >= after)
        });
        for kind in [Kind::GmmFab, Kind::MppcaFab] {
            counter.store(0, Ordering::Relaxed);
            let mut model = Model::new(Config::new(kind, columns.clone())).unwrap();
            model.update(&batch).unwrap();
            let before = model.save();
            assert_eq!(model.finish_unless(&interrupt(Arc::clone(&asked))), Err(Interrupted), "{kind} after {after}");
            assert_eq!(model.save(), before, "{kind} after {after}");
            // Interrupted once, it fits as if nothing had happened.
            if after == 40 {
                let mut undisturbed = Model::load(&before).unwrap();
                undisturbed.finish();
                model.finish_unless(&Interrupt::default()).unwrap();
                assert_eq!(model.save(), undisturbed.save(), "{kind}");
            }
        }
        let batch_kinds = [FeatureKind::Fab, FeatureKind::Em, FeatureKind::Ibp, FeatureKind::Vb, FeatureKind::Meibp];
        for kind in batch_kinds {
            asked.store(0, Ordering::Relaxed);
            let mut model = FeatureModel::new(FeatureConfig::new(kind, columns.clone())).unwrap();
            model.update(&batch).unwrap();
            let before = model.save();
            assert_eq!(model.finish_unless(&interrupt(Arc::clone(&asked))), Err(Interrupted), "{kind} after {after}");
            assert_eq!(model.save(), before, "{kind} after {after}");
        }
    }
}

#[test]
fn interrupted_fits_of_documents_leave_models_as_they_were() {
    use bayestream::text::RawDocument;
    let words = |at: usize| (0..30).map(|i| format!("word{}", (at * 7 + i * i * (1 + at % 3)) % 50)).collect();
    let documents: Vec<RawDocument> = (0..300).map(|at| RawDocument::Tokens(words(at))).collect();
    let labels: Vec<Vec<String>> = (0..300).map(|at| vec![format!("label{}", at % 3)]).collect();
    for kind in [DocumentKind::NaiveBayesEm, DocumentKind::NaiveBayesVbDp, DocumentKind::MedLdaGibbs] {
        let mut config = DocumentConfig::new(kind);
        if kind == DocumentKind::MedLdaGibbs {
            config.settings.set(kind, "mode", "batch").unwrap();
        }
        let mut model = DocumentModel::new(config).unwrap();
        model.update_labelled(&documents, &labels).unwrap();
        let before = model.save();
        assert_eq!(model.finish_unless(&Interrupt::when(|| true)), Err(Interrupted), "{kind}");
        assert_eq!(model.save(), before, "{kind}");
        model.finish_unless(&Interrupt::default()).unwrap();
        assert!(model.k_implemented() > 0, "{kind}");
    }
}

/// Says yes the n-th time it is asked.
fn at_question(n: u32) -> Interrupt {
    let asked = std::sync::atomic::AtomicU32::new(0);
    Interrupt::when(move || asked.fetch_add(1, std::sync::atomic::Ordering::Relaxed) >= n)
}

#[test]
fn an_update_that_is_interrupted_leaves_the_model_as_it_was() {
    let d = 50;
    let rows = rows(1200, d);
    let batch = |first: usize| Batch::new(&rows[first * 600 * d..(first + 1) * 600 * d], d).unwrap();
    for kind in [Kind::GmmOfab, Kind::MppcaOfab] {
        let config = Config::new(kind, (0..d).map(|j| format!("x{j}")).collect());
        let (mut model, mut whole) = (Model::new(config.clone()).unwrap(), Model::new(config).unwrap());
        for first in 0..2 {
            let before = model.save();
            for n in [0, 7, 40] {
                model.heed(&at_question(n));
                let report = model.update(&batch(first)).unwrap();
                assert!(report.is_interrupted && report.n_rows == 0, "{kind} {first} {n}");
                assert_eq!(model.save(), before, "{kind} {first} {n}");
                let (verdicts, report) = model.watch(&batch(first)).unwrap();
                assert!(report.is_interrupted && verdicts.is_empty() && model.save() == before, "{kind} {first} {n}");
            }
            model.heed(&Interrupt::default());
            assert_eq!(model.update(&batch(first)).unwrap(), whole.update(&batch(first)).unwrap());
        }
        assert_eq!(model.save(), whole.save(), "{kind}");
    }
}

#[test]
fn kinds_that_learn_row_by_row_heed_an_interrupt_too() {
    let d = 20;
    let rows = rows(500, d);
    let batch = Batch::new(&rows, d).unwrap();
    for kind in [Kind::GmmDp, Kind::GmmSugs, Kind::GmmAsugs, Kind::GmmSva, Kind::GmmBmm] {
        let config = Config::new(kind, (0..d).map(|j| format!("x{j}")).collect());
        let (mut model, mut whole) = (Model::new(config.clone()).unwrap(), Model::new(config).unwrap());
        let before = model.save();
        for n in [0, 7, 400] {
            model.heed(&at_question(n));
            assert!(model.update(&batch).unwrap().is_interrupted, "{kind} {n}");
            assert_eq!(model.save(), before, "{kind} {n}");
        }
        // A look goes to its end.
        assert_eq!(model.snapshot().components, whole.snapshot().components, "{kind}");
        model.heed(&Interrupt::default());
        assert_eq!(model.update(&batch).unwrap(), whole.update(&batch).unwrap());
        assert_eq!(model.save(), whole.save(), "{kind}");
    }
}

#[test]
fn a_limit_that_keeps_components_out_is_said() {
    let (rows, _) = ofab_truth(12, 3, Covariance::Aat, 5).sample(4000, 6);
    let learned = |kind: Kind, most: usize, n: usize| {
        let columns = ["x", "y", "z"].map(String::from).to_vec();
        let mut config = Config::new(kind, columns);
        config.settings.max_components = most;
        let mut model = Model::new(config).unwrap();
        rows[..n * 3].chunks(1500).for_each(|part| {
            model.update(&Batch::new(part, 3).unwrap()).unwrap();
        });
        model
    };
    for kind in [Kind::GmmOfab, Kind::MppcaOfab, Kind::GmmDp] {
        for most in [1, 4] {
            let model = learned(kind, most, 4000);
            assert!(model.k_implemented() <= most, "{kind} {most}");
            assert!(model.full_at().is_some(), "{kind} {most}");
            assert!(model.events().iter().any(|event| event.what == Happening::Full), "{kind} {most}");
            let again = Model::load(&model.save()).unwrap();
            assert_eq!(again.full_at(), model.full_at(), "{kind} {most}");
        }
        for (most, n) in [(4, 1), (2000, 4000)] {
            let model = learned(kind, most, n);
            assert_eq!(model.full_at(), None, "{kind} {most} {n}");
            assert!(model.events().iter().all(|event| event.what != Happening::Full), "{kind} {most} {n}");
        }
    }
}

#[test]
fn every_number_of_components_to_begin_with_is_learned_with() {
    let (rows, _) = ofab_truth(5, 2, Covariance::Aat, 5).sample(3000, 6);
    let equal: Vec<f64> = (0..3000).flat_map(|i| [f64::from(i % 7), f64::from(i % 3)]).collect();
    for kind in KINDS.iter().map(|info| info.kind) {
        if !Settings::of_kind(kind).any(|setting| setting.name == "start-components") {
            continue;
        }
        for starts in [101, 1000] {
            for (name, rows) in [("planted", &rows), ("equal", &equal)] {
                let mut config = Config::new(kind, ["x", "y"].map(String::from).to_vec());
                config.settings.start_components = starts;
                let mut model = Model::new(config).unwrap();
                rows.chunks(1000).for_each(|part| {
                    model.update(&Batch::new(part, 2).unwrap()).unwrap();
                });
                model.finish();
                assert!(model.snapshot().k_realized() > 0, "{kind} {starts} {name}");
            }
        }
    }
}
