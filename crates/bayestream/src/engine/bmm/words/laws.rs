//! What must hold of the kinds of documents.

use super::*;
use crate::data::{DocumentBuffer, Documents};
use crate::engine::DocumentLearner;
use crate::engine::bmm::BmmSettings;
use crate::num::{self, ln_gamma};

/// Three topics of fifty words with ten of their own each, `n` documents of one topic or, mixed, of two.
fn planted(n: usize, mixed: bool, seed: u64) -> DocumentBuffer {
    let mut buffer = DocumentBuffer::new();
    let mut rng = num::stream(seed, 0, 0);
    for _ in 0..n {
        let (first, second) = (rng.below(3), rng.below(3));
        let tokens: Vec<u32> = (0..30 + rng.below(20))
            .map(|_| {
                let topic = if mixed && rng.uniform() < 0.5 { second } else { first };
                if rng.uniform() < 0.9 { (10 * topic + rng.below(10)) as u32 } else { rng.below(50) as u32 }
            })
            .collect();
        buffer.push_tokens(tokens);
    }
    buffer
}

fn betas(topics: &WordTopics, z: usize) -> Vec<f64> {
    (0..topics.n_words() as u32).map(|v| topics.beta(z, v)).collect()
}

fn one_topic(n_words: usize) -> WordTopics {
    let mut topics = WordTopics::new(0.3);
    topics.reach_words(n_words);
    topics.push_topic();
    topics
}

#[test]
fn a_document_for_certain_is_the_conjugate_update_and_one_of_no_share_changes_nothing() {
    let mut topics = one_topic(7);
    topics.blend(0, &[1, 4], &[3, 2], 1.0);
    let expected = [0.3, 3.3, 0.3, 0.3, 2.3, 0.3, 0.3];
    assert!(betas(&topics, 0).iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-9), "{:?}", betas(&topics, 0));
    assert!((topics.sum(0) - (7.0 * 0.3 + 5.0)).abs() < 1e-9);
    let before = betas(&topics, 0);
    topics.blend(0, &[2, 5], &[1, 6], 0.0);
    assert!(betas(&topics, 0).iter().zip(&before).all(|(a, b)| (a - b).abs() < 1e-9));
    // Words one by one are the same document.
    let mut by_word = one_topic(7);
    [1, 4, 1, 4, 1].into_iter().for_each(|word| by_word.blend_word(0, word, 1.0));
    assert!(betas(&by_word, 0).iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-9));
}

/// E φ of the matched distribution is that of the mixture, and so is Σ E φ².
#[test]
fn moments_are_those_of_the_mixture() {
    let mut topics = one_topic(5);
    topics.blend(0, &[0, 3], &[2, 5], 1.0);
    let (before, x, share) = (betas(&topics, 0), [0.0, 4.0, 0.0, 1.0, 0.0], 0.37);
    let after: Vec<f64> = before.iter().zip(x).map(|(b, x)| b + x).collect();
    topics.blend(0, &[1, 3], &[4, 1], share);
    let moments = |beta: &[f64]| -> (Vec<f64>, f64) {
        let s: f64 = beta.iter().sum();
        (beta.iter().map(|b| b / s).collect(), beta.iter().map(|b| b * (b + 1.0) / (s * (s + 1.0))).sum())
    };
    let ((m0, s0), (m1, s1), (m, s)) = (moments(&before), moments(&after), moments(&betas(&topics, 0)));
    for v in 0..5 {
        assert!((m[v] - (1.0 - share) * m0[v] - share * m1[v]).abs() < 1e-12);
    }
    assert!((s - (1.0 - share) * s0 - share * s1).abs() < 1e-12);
}

#[test]
fn sums_follow_the_words_through_growth_rescaling_and_forgetting() {
    let mut topics = one_topic(6);
    let mut rng = num::stream(82, 0, 0);
    for step in 0..3000u32 {
        if step % 500 == 0 {
            topics.reach_words(6 + step as usize / 250);
            topics.push_topic();
        }
        let z = rng.below(topics.len());
        let word = rng.below(topics.n_words()) as u32;
        match step % 7 {
            0 => topics.forget(z, 0.9),
            1 if step % 77 == 1 => topics.forget_word(word),
            _ => topics.blend(z, &[word], &[1 + step % 3], rng.uniform()),
        }
    }
    assert!(topics.is_sound());
    for z in 0..topics.len() {
        let beta = betas(&topics, z);
        let sum: f64 = beta.iter().sum();
        assert!((sum / topics.sum(z) - 1.0).abs() < 1e-9, "{sum} {}", topics.sum(z));
        assert!((topics.words(z).iter().sum::<f64>() - 1.0).abs() < 1e-9);
    }
}

#[test]
fn the_predictive_is_the_ratio_of_normalisers() {
    let mut topics = one_topic(6);
    topics.blend(0, &[0, 2], &[7, 2], 0.6);
    let (words, counts) = ([0, 1, 2, 5], [30, 1, 4, 9]);
    let mut found = Vec::new();
    topics.log_predictive(&words, &counts, &mut topics::PolyaWork::default(), &mut found);
    let log_norm = |beta: &[f64]| beta.iter().map(|b| ln_gamma(*b)).sum::<f64>() - ln_gamma(beta.iter().sum());
    for (z, before) in [betas(&topics, 0), vec![0.3; 6]].into_iter().enumerate() {
        let mut after = before.clone();
        words.iter().zip(counts).for_each(|(w, c)| after[*w as usize] += f64::from(c));
        let expected = log_norm(&after) - log_norm(&before);
        assert!((found[z] - expected).abs() < 1e-9 * expected.abs(), "{z}: {} {expected}", found[z]);
    }
}

/// Every planted topic has one of its own with at least this share of its ten words.
fn finds_all(topics: &[crate::structure::Topic]) -> bool {
    (0..3).all(|planted| topics.iter().any(|t| t.words[10 * planted..10 * (planted + 1)].iter().sum::<f32>() > 0.75))
}

fn learners(seed: u64) -> Vec<(&'static str, Box<dyn DocumentLearner>)> {
    let paper = |settings: BmmSettings| BmmSettings { variant: crate::model::Variant::Paper, draws: 200, ..settings };
    let batch = BatchSettings { n_topics: 8, ..BatchSettings::default() };
    let process = BatchSettings { n_topics: 20, smoothing: 0.1, ..BatchSettings::for_dirichlet_process() };
    vec![
        ("naive-bayes/bmm", Box::new(NaiveBayesBmm::new(&BmmSettings::default(), seed, 0))),
        ("naive-bayes/bmm paper", Box::new(NaiveBayesBmm::new(&paper(BmmSettings::default()), seed, 0))),
        ("lda/bmm", Box::new(LdaBmm::new(&BmmSettings::for_lda(), seed, 0))),
        ("lda/bmm paper", Box::new(LdaBmm::new(&paper(BmmSettings::for_lda()), seed, 0))),
        ("naive-bayes/em", Box::new(NaiveBayesBatch::em(&batch, seed, 0))),
        ("naive-bayes/vb-dp", Box::new(NaiveBayesBatch::vb_dp(&process, seed, 0))),
    ]
}

#[test]
fn planted_topics_are_found_and_scores_are_probabilities() {
    let (documents, fresh) = (planted(600, false, 83), planted(100, false, 84));
    for (name, mut learner) in learners(85) {
        learner.update(&documents.documents(), 50);
        learner.finish();
        let topics = learner.topics();
        assert!(name.ends_with("paper") || finds_all(&topics), "{name}: {}", topics.len());
        assert!((topics.iter().map(|t| t.weight).sum::<f64>() - 1.0).abs() < 1e-9, "{name}");
        let scores = learner.score(&fresh.documents());
        assert_eq!((scores.log_likelihood.len(), scores.topics.len()), (100, topics.len()), "{name}");
        for d in 0..100 {
            let shares: f32 = scores.shares_of(d).iter().sum();
            assert!((shares - 1.0).abs() < 1e-4, "{name}: {shares}");
            // Words of one of three topics of ten: no model of them is much better than that.
            assert!(scores.per_word(d).unwrap() < -1.5, "{name}");
        }
        let mean = scores.log_likelihood.iter().sum::<f64>() / scores.n_tokens.iter().sum::<u64>() as f64;
        assert!(name.ends_with("paper") || mean > -3.2, "{name}: {mean}");
    }
}

#[test]
fn documents_of_two_topics_show_both_in_lda() {
    // Documents of two topics each: the prior must not expect one.
    let settings = BmmSettings { gamma: 0.5, ..BmmSettings::for_lda() };
    let (documents, mut learner) = (planted(800, true, 86), LdaBmm::new(&settings, 87, 0));
    learner.update(&documents.documents(), 50);
    assert!(finds_all(&learner.topics()));
    let mut both = DocumentBuffer::new();
    both.push_tokens((0..10).chain(10..20).chain(0..10).chain(10..20));
    let scores = learner.score(&both.documents());
    let mut shares = scores.shares_of(0).to_vec();
    shares.sort_by(f32::total_cmp);
    assert!(shares.len() >= 3 && shares[shares.len() - 2] > 0.2, "{shares:?}");
}

#[test]
fn the_cut_of_batches_does_not_matter_and_files_go_on_where_they_were() {
    let all = planted(120, true, 88);
    let whole = all.documents();
    let part = |from: usize, to: usize| {
        let mut buffer = DocumentBuffer::new();
        for d in from..to {
            let (words, counts) = whole.get(d);
            buffer.push_counts(words.iter().copied().zip(counts.iter().copied()).collect());
        }
        buffer
    };
    fn check<L: DocumentLearner + serde::Serialize + serde::de::DeserializeOwned>(
        name: &str,
        new: impl Fn() -> L,
        whole: &Documents<'_>,
        parts: &[DocumentBuffer],
    ) {
        let (mut once, mut cut) = (new(), new());
        once.update(whole, 50);
        for part in parts {
            cut.update(&part.documents(), 50);
            let bytes = postcard::to_stdvec(&cut).unwrap();
            cut = postcard::from_bytes(&bytes).unwrap();
            cut.restore(50).unwrap();
            assert!(cut.restore(7).is_err(), "{name}");
        }
        once.finish();
        cut.finish();
        assert_eq!(postcard::to_stdvec(&once).unwrap(), postcard::to_stdvec(&cut).unwrap(), "{name}");
    }
    let parts = [part(0, 1), part(1, 50), part(50, 50), part(50, 120)];
    let settings = BmmSettings { max_components: 12, ..BmmSettings::default() };
    check("naive Bayes", || NaiveBayesBmm::new(&settings, 3, 1), &whole, &parts);
    let settings = BmmSettings { memory: Some(60.0), ..BmmSettings::for_lda() };
    check("LDA", || LdaBmm::new(&settings, 4, 2), &whole, &parts);
    let settings = BatchSettings { n_topics: 6, ..BatchSettings::default() };
    check("EM", || NaiveBayesBatch::em(&settings, 5, 0), &whole, &parts);
    check("VB-DP", || NaiveBayesBatch::vb_dp(&settings, 5, 0), &whole, &parts);
}

#[test]
fn empty_documents_new_words_and_words_let_go_do_no_harm() {
    for (name, mut learner) in learners(89) {
        let mut odd = DocumentBuffer::new();
        odd.push_tokens([]);
        assert!(learner.topics().is_empty(), "{name}");
        learner.score(&odd.documents());
        learner.update(&odd.documents(), 0);
        learner.update(&planted(60, false, 90).documents(), 50);
        learner.update(&odd.documents(), 50);
        learner.forget_words(&[3, 4, 49, 70]);
        let mut later = planted(60, false, 91);
        later.push_tokens([80, 80, 2, 95]);
        learner.update(&later.documents(), 100);
        learner.finish();
        assert_eq!(learner.n_seen(), 123, "{name}");
        let mut unknown = DocumentBuffer::new();
        unknown.push_tokens([5, 500, 501]);
        let scores = learner.score(&unknown.documents());
        assert!(scores.log_likelihood[0].is_finite() && scores.log_likelihood[0] < 0.0, "{name}");
        assert!(learner.topics().iter().all(|t| t.words.len() == 100 && t.words.iter().all(|p| p.is_finite())));
        assert!(learner.restore(100).is_ok(), "{name}");
    }
}

#[test]
fn components_stay_within_what_is_allowed() {
    let settings = BmmSettings { max_components: 4, lambda0: 50.0, ..BmmSettings::default() };
    let mut naive = NaiveBayesBmm::new(&settings, 6, 0);
    naive.update(&planted(200, false, 92).documents(), 50);
    assert!(naive.k_implemented() <= 4 && naive.lambda() <= 4.0 + 1e-9);
    let mut lda = LdaBmm::new(&BmmSettings { max_components: 1, ..BmmSettings::for_lda() }, 6, 0);
    lda.update(&planted(50, false, 93).documents(), 50);
    assert_eq!(lda.k_implemented(), 1);
}
