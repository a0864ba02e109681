//! Documents from planted topics: are they found, and in the right number?

use super::{learn, mean};
use bayestream::engine::DocumentLearner;
use bayestream::engine::topics::{MmHdp, TopicSettings};
use bayestream::metrics;
use bayestream::synthetic::{PlantedShape, PlantedTopics};
use cpu_time::ProcessTime;

/// Topics of a snapshot that are a planted one, and planted ones found.
fn found(truth: &PlantedTopics, learner: &MmHdp) -> (usize, usize, f64) {
    let topics: Vec<Vec<f32>> = learner.topics().into_iter().map(|topic| topic.words).collect();
    let pairs = metrics::match_topics(&truth.topics, &topics);
    let good = pairs.iter().filter(|(_, _, overlap)| *overlap > 0.9).count();
    (topics.len(), good, mean(&pairs.iter().map(|(_, _, overlap)| *overlap).collect::<Vec<_>>()))
}

/// Planted numbers of topics, flat and Zipf-like vocabularies, two seeds each.
pub fn recovery(settings: &TopicSettings, verbose: bool) {
    for zipf in [0.0, 1.0] {
        for (n_topics, n_documents) in [(10, 5000), (30, 5000), (100, 10_000)] {
            for seed in 0..2 {
                let shape = PlantedShape {
                    n_topics,
                    zipf,
                    n_words: if zipf > 0.0 { 10_000 } else { 2000 },
                    eta: if zipf > 0.0 { 0.02 } else { 0.05 },
                    alpha: 3.0 / n_topics as f64,
                    ..PlantedShape::default()
                };
                let truth = PlantedTopics::new(&shape, seed);
                let documents = truth.documents(0, n_documents);
                let (learner, seconds) = learn(&documents.documents(), shape.n_words, settings, seed);
                let (k, good, overlap) = found(&truth, &learner);
                let truths = metrics::match_topics(&truth.topics[1..], &truth.topics[..1]).first().map_or(0.0, |p| p.2);
                println!(
                    "planted {n_topics} (zipf {zipf}, seed {seed}): {k} topics, {good} found, mean overlap {overlap:.3} (two planted ones: {truths:.2}), V0 {:.0}, K {}, {:.0} documents/s",
                    learner.prior_words().unwrap_or(f64::NAN),
                    learner.k_implemented(),
                    n_documents as f64 / seconds
                );
                if verbose {
                    let weights: Vec<String> = learner
                        .topics()
                        .iter()
                        .map(|topic| format!("{:.4}x{}", topic.weight, topic.members.len()))
                        .collect();
                    println!("    {}", weights.join(" "));
                }
            }
        }
    }
}

/// A million documents of 50 topics, of which the last appears midway.
pub fn million(settings: &TopicSettings) {
    let n_documents = 1_000_000u64;
    let shape = PlantedShape {
        n_topics: 50,
        n_words: 5000,
        eta: 0.02,
        zipf: 1.0,
        alpha: 0.06,
        mean_words: 60.0,
        last_appears: n_documents / 2,
    };
    let truth = PlantedTopics::new(&shape, 7);
    let mut learner = MmHdp::new(settings, 7, 0);
    let mut seconds = 0.0;
    for first in (0..n_documents).step_by(10_000) {
        let documents = truth.documents(first, 10_000);
        let clock = ProcessTime::now();
        learner.update(&documents.documents(), shape.n_words);
        seconds += clock.elapsed().as_secs_f64();
        let n = first + 10_000;
        if n.is_multiple_of(100_000) || n == 10_000 {
            let (k, good, overlap) = found(&truth, &learner);
            println!(
                "million, after {n}: {k} topics, {good} of {} found, mean overlap {overlap:.3}, prequential {:.1}, {:.0} documents/s",
                if n <= shape.last_appears { 49 } else { 50 },
                (-learner.log_score().prequential_mean).exp(),
                n as f64 / seconds
            );
        }
    }
}
