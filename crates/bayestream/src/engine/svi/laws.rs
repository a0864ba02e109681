//! What the engines of this folder must be, where it can be said exactly.

use super::*;
use crate::num::{self, digamma};
use crate::synthetic::{PlantedShape, PlantedTopics};

const K: usize = 3;
const W: usize = 6;

fn corpus() -> DocumentBuffer {
    let mut buffer = DocumentBuffer::new();
    for tokens in [&[0, 0, 1, 5][..], &[1, 1, 1, 2], &[3, 4, 4], &[5, 5, 2, 2, 0], &[4, 3, 3, 3, 1]] {
        buffer.push_tokens(tokens.iter().copied());
    }
    buffer
}

fn settings() -> SviSettings {
    SviSettings { n_topics: K, alpha: 0.4, eta: 0.3, tau0: 0.0, kappa: 1.0, batch_size: 5, ..SviSettings::default() }
}

/// λ of every word, from the topics that a learner shows: λ / Σλ, with Σλ = W η + n of all topics together.
fn means(learner: &SviTopics) -> Vec<Vec<f32>> {
    learner.all_topics(W).words
}

/// One round of batch variational Bayes on λ (topic by topic), in doubles, as a textbook has it.
fn batch_round(lambda: &[Vec<f64>], documents: &Documents<'_>, alpha: f64, eta: f64) -> Vec<Vec<f64>> {
    let log_phi: Vec<Vec<f64>> = lambda
        .iter()
        .map(|l| {
            let total = digamma(l.iter().sum());
            l.iter().map(|l| digamma(*l) - total).collect()
        })
        .collect();
    let mut next = vec![vec![eta; W]; K];
    for (words, counts) in documents.iter() {
        let n: f64 = counts.iter().map(|n| f64::from(*n)).sum();
        let mut gamma = vec![alpha + n / K as f64; K];
        let shares = |gamma: &[f64], word: u32| -> Vec<f64> {
            let joint: Vec<f64> = (0..K).map(|z| (digamma(gamma[z]) + log_phi[z][word as usize]).exp()).collect();
            let total: f64 = joint.iter().sum();
            joint.iter().map(|p| p / total).collect()
        };
        for _ in 0..100 {
            let mut new = vec![alpha; K];
            for (word, n) in words.iter().zip(counts) {
                let p = shares(&gamma, *word);
                (0..K).for_each(|z| new[z] += f64::from(*n) * p[z]);
            }
            let change: f64 = new.iter().zip(&gamma).map(|(a, b)| (a - b).abs()).sum();
            gamma = new;
            if change < 1e-3 * K as f64 {
                break;
            }
        }
        for (word, n) in words.iter().zip(counts) {
            let p = shares(&gamma, *word);
            (0..K).for_each(|z| next[z][*word as usize] += f64::from(*n) * p[z]);
        }
    }
    next
}

fn normalised(lambda: &[Vec<f64>]) -> Vec<Vec<f64>> {
    lambda.iter().map(|l| l.iter().map(|x| x / l.iter().sum::<f64>()).collect()).collect()
}

/// The start that the learner draws for these documents; words that they do not have are all but impossible.
fn start(documents: &Documents<'_>, seed: u64) -> Vec<Vec<f64>> {
    let batch = batch::MiniBatch::new(*documents);
    let begin = master::Lambda::start(&batch, K, 16, &mut num::stream(seed, 1 << 32, 0));
    let mut lambda = vec![vec![1e-9; W]; K];
    for (row, word) in begin.rows.chunks_exact(16).zip(&batch.words) {
        (0..K).for_each(|z| lambda[z][*word as usize] = row[z]);
    }
    lambda
}

fn assert_close(found: &[Vec<f32>], expected: &[Vec<f64>]) {
    for (found, expected) in found.iter().flatten().zip(expected.iter().flatten()) {
        // Single precision, and shares that end where γ moves by less than a thousandth: a round more or less.
        assert!((f64::from(*found) - expected).abs() < 2e-3, "{found} {expected}");
    }
}

#[test]
fn one_mini_batch_is_batch_variational_bayes() {
    let corpus = corpus();
    for n_documents in [None, Some(5.0)] {
        for rounds in [1, 4] {
            let settings = SviSettings { first_rounds: rounds, n_documents, ..settings() };
            let mut learner = SviTopics::new(Method::Variational, &settings, 11, 0);
            learner.update(&corpus.documents(), W);
            let mut lambda = start(&corpus.documents(), 11);
            (0..rounds).for_each(|_| lambda = batch_round(&lambda, &corpus.documents(), 0.4, 0.3));
            assert_close(&means(&learner), &normalised(&lambda));
        }
    }
}

#[test]
fn the_second_mini_batch_mixes_as_the_step_size_says() {
    let corpus = corpus();
    let documents = corpus.documents();
    let piece = |range: std::ops::Range<usize>| {
        let mut buffer = DocumentBuffer::new();
        range.for_each(|document| buffer.push_from(&documents, document));
        buffer
    };
    let (first, second) = (piece(0..2), piece(2..4));
    let d = 40.0;
    let settings = SviSettings {
        first_rounds: 1,
        batch_size: 2,
        tau0: 0.5,
        kappa: 0.8,
        n_documents: Some(d),
        n_topics: K,
        ..settings()
    };
    let mut learner = SviTopics::new(Method::Variational, &settings, 12, 0);
    learner.update(&first.documents(), W);
    // The second batch has words that the first had not: λ of these is η.
    learner.update(&second.documents(), W);
    let scaled = |lambda: Vec<Vec<f64>>| -> Vec<Vec<f64>> {
        lambda.iter().map(|l| l.iter().map(|x| 0.3 + d / 2.0 * (x - 0.3)).collect()).collect()
    };
    let begin = start(&first.documents(), 12);
    let before = scaled(batch_round(&begin, &first.documents(), 0.4, 0.3));
    let target = scaled(batch_round(&before, &second.documents(), 0.4, 0.3));
    let rho = 2.5f64.powf(-0.8);
    let lambda: Vec<Vec<f64>> = before
        .iter()
        .zip(&target)
        .map(|(a, b)| a.iter().zip(b).map(|(a, b)| (1.0 - rho) * a + rho * b).collect())
        .collect();
    assert_close(&means(&learner), &normalised(&lambda));
}

#[test]
fn without_forgetting_counts_add_up() {
    // κ = 1 and τ₀ = 0 give ρ = 1/t, and D grows with the stream: λ − η is then the sum over all documents.
    let corpus = corpus();
    let settings = SviSettings { batch_size: 1, n_topics: 1, ..settings() };
    for method in [Method::Variational, Method::Gibbs] {
        let mut learner = SviTopics::new(method, &settings, 13, 0);
        learner.update(&corpus.documents(), W);
        let mut counts = vec![0.3; W];
        for (words, n) in corpus.documents().iter() {
            words.iter().zip(n).for_each(|(word, n)| counts[*word as usize] += f64::from(*n));
        }
        let total: f64 = counts.iter().sum();
        for (found, n) in means(&learner)[0].iter().zip(&counts) {
            assert!((f64::from(*found) - n / total).abs() < 1e-5, "{found} {}", n / total);
        }
    }
}

#[test]
fn a_mini_batch_waits_until_it_is_complete_and_looks_do_not_wait() {
    let corpus = corpus();
    for method in [Method::Variational, Method::Gibbs, Method::Growing] {
        let mut learner = SviTopics::new(method, &settings(), 14, 0);
        let documents = corpus.documents();
        let mut buffer = DocumentBuffer::new();
        (0..4).for_each(|document| buffer.push_from(&documents, document));
        learner.update(&buffer.documents(), W);
        assert_eq!((learner.k_implemented(), learner.held.len()), (0, 4));
        assert!(!learner.topics().is_empty());
        let mut last = DocumentBuffer::new();
        last.push_from(&documents, 4);
        learner.update(&last.documents(), W);
        assert!(learner.k_implemented() >= K && learner.held.is_empty());
        learner.restore(W).unwrap();
        // Words that stand for others from now on leave nothing behind.
        learner.forget_words(&[1, 4]);
        let unseen = learner.all_topics(W + 1).words;
        assert!(unseen.iter().all(|topic| topic[1] == topic[W] && topic[4] == topic[W]));
        learner.restore(W).unwrap();
    }
}

fn planted() -> PlantedTopics {
    let shape =
        PlantedShape { n_topics: 6, n_words: 200, eta: 0.05, alpha: 0.1, mean_words: 60.0, ..PlantedShape::default() };
    PlantedTopics::new(&shape, 71)
}

#[test]
fn topics_open_when_there_are_too_few() {
    let planted = planted();
    let documents = planted.documents(0, 2000);
    let settings = SviSettings { n_topics: 1, batch_size: 100, ..SviSettings::for_hdp() };
    let mut learner = SviTopics::new(Method::Growing, &settings, 15, 0);
    learner.update(&documents.documents(), 200);
    let found: Vec<Vec<f32>> = learner.topics().into_iter().map(|topic| topic.words).collect();
    let closest = crate::metrics::closest_topics(&planted.topics, &found);
    let overlaps: Vec<f64> = closest.iter().map(|c| c.map_or(0.0, |(_, overlap)| overlap)).collect();
    // A topic that two planted ones without common words share evenly overlaps each of them by √½.
    let apart = overlaps.iter().all(|overlap| *overlap > 0.5f64.sqrt());
    assert!(apart && (6..=15).contains(&found.len()), "{} topics: {overlaps:.2?}", found.len());
}

#[test]
fn labels_are_told_by_topics() {
    let planted = planted();
    for method in [Method::Variational, Method::Gibbs, Method::Growing] {
        let settings = match method {
            Method::Growing => SviSettings { n_topics: 6, batch_size: 50, ..SviSettings::for_hdp() },
            _ => SviSettings { n_topics: 6, batch_size: 50, keep: 300, ..SviSettings::default() },
        };
        let mut learner = SviTopics::new(method, &settings, 16, 0);
        // The label of a document is the topic that explains it best.
        let label = |document: (&[u32], &[u32])| {
            let log = |z: usize| -> f64 {
                let words = document.0.iter().zip(document.1);
                words.map(|(w, n)| f64::from(*n) * f64::from(planted.topics[z][*w as usize].max(1e-9)).ln()).sum()
            };
            (0..6).max_by(|a, b| log(*a).total_cmp(&log(*b))).unwrap_or(0) as u32
        };
        let plain = planted.documents(0, 1000);
        let mut labelled = DocumentBuffer::new();
        for (at, document) in plain.documents().iter().enumerate() {
            labelled.push_from(&plain.documents(), at);
            labelled.label(at, [label(document)]);
        }
        learner.update(&labelled.documents(), 200);
        let fresh = planted.documents(5000, 200);
        let scores = learner.score(&fresh.documents());
        assert_eq!(scores.n_labels, 6);
        let right = fresh.documents().iter().enumerate().filter(|(at, document)| {
            let margins = scores.margins_of(*at);
            let best = (0..6).max_by(|a, b| margins[*a].total_cmp(&margins[*b])).unwrap_or(0);
            best as u32 == label(*document)
        });
        let right = right.count();
        assert!(right > 150, "{method:?}: {right} of 200");
        learner.restore(200).unwrap();
    }
}
