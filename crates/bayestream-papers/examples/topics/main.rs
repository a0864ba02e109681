//! Measures the topic model: perplexity of held-back words, coherence of the words of topics, their number, their agreement
//! between orders of the documents, and documents per CPU second.
//!
//! `cargo run --release -p bayestream-papers --example topics -- DATA EXPERIMENT... [SETTING=VALUE]...` with experiments
//! `20ng`, `20ng-fresh`, `20ng-50`, `reuters`, `nips`, `ap`, `planted` and `million`.

mod corpus;
mod planted;

use bayestream::data::{DocumentBuffer, Documents};
use bayestream::engine::DocumentLearner;
use bayestream::engine::topics::{MmHdp, TopicSettings};
use bayestream::metrics;
use corpus::Corpus;
use cpu_time::ProcessTime;
use std::error::Error;
use std::path::PathBuf;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = PathBuf::from(arguments.next().ok_or("usage: topics DATA EXPERIMENT... [SETTING=VALUE]...")?);
    let (changes, experiments): (Vec<String>, Vec<String>) = arguments.partition(|a| a.contains('='));
    let mut settings = TopicSettings::default();
    let (mut verbose, mut n_orders) = (false, 3);
    for change in &changes {
        let (name, value) = change.split_once('=').ok_or("a setting is NAME=VALUE")?;
        match name {
            "verbose" => verbose = value == "yes",
            "orders" => n_orders = value.parse()?,
            _ => set(&mut settings, name, value)?,
        }
    }
    for experiment in &experiments {
        match experiment.as_str() {
            "20ng" => measure(&corpus::newsgroups(&folder, 0, 1500)?, &settings, n_orders, None, verbose),
            "20ng-fresh" => measure(&corpus::newsgroups(&folder, 1500, 3000)?, &settings, n_orders, None, verbose),
            "20ng-50" => {
                let fifty = TopicSettings { max_topics: 50, recycle: 0, ..settings.clone() };
                measure(&corpus::newsgroups(&folder, 0, 1500)?, &fifty, n_orders, Some(0.1), verbose);
            }
            "reuters" => measure(&corpus::reuters(&folder)?, &settings, n_orders, None, verbose),
            "nips" => measure(&corpus::nips(&folder)?, &settings, n_orders, None, verbose),
            "ap" => measure(&corpus::ap(&folder)?, &settings, n_orders, None, verbose),
            "planted" => planted::recovery(&settings, verbose),
            "million" => planted::million(&settings),
            other => return Err(format!("no experiment `{other}`").into()),
        }
    }
    Ok(())
}

fn set(settings: &mut TopicSettings, name: &str, value: &str) -> Result<(), Box<dyn Error>> {
    match name {
        "max_topics" => settings.max_topics = value.parse()?,
        "a0" => settings.a0 = value.parse()?,
        "gamma" => settings.gamma = value.parse()?,
        "a_new" => settings.a_new = value.parse()?,
        "s0" => settings.s0 = value.parse()?,
        "prior_words" => settings.prior_words = Some(value.parse()?),
        "common" => settings.common = value.parse()?,
        "birth" => settings.birth = value.parse()?,
        "recycle" => settings.recycle = value.parse()?,
        "memory" => settings.memory = Some(value.parse()?),
        "merge_above" => settings.merge_above = value.parse()?,
        "show_above" => settings.show_above = value.parse()?,
        _ => return Err(format!("no setting `{name}`").into()),
    }
    Ok(())
}

/// Learns documents and tells the CPU seconds it took.
pub fn learn(documents: &Documents<'_>, n_words: usize, settings: &TopicSettings, seed: u64) -> (MmHdp, f64) {
    let mut learner = MmHdp::new(settings, seed, 0);
    let clock = ProcessTime::now();
    learner.update(documents, n_words);
    let seconds = clock.elapsed().as_secs_f64();
    (learner, seconds)
}

/// Perplexity when every document has the words of the stream.
fn unigram(train: &Documents<'_>, held_back: &Documents<'_>, n_words: usize) -> f64 {
    let mut counts = vec![0.01; n_words];
    for (words, n) in train.iter() {
        words.iter().zip(n).for_each(|(word, n)| counts[*word as usize] += f64::from(*n));
    }
    let total: f64 = counts.iter().sum();
    let topic = counts.iter().map(|n| (n / total) as f32).collect();
    let nothing = DocumentBuffer::new();
    let mut known = nothing.clone();
    (0..held_back.len()).for_each(|_| known.push_tokens([]));
    metrics::completion_perplexity(&[topic], &[1.0], &known.documents(), held_back)
}

fn measure(corpus: &Corpus, settings: &TopicSettings, n_orders: u64, flat: Option<f64>, verbose: bool) {
    let n_words = corpus.vocabulary.len();
    let (train, test) = (corpus.train.documents(), corpus.test.documents());
    let (known, held_back) = metrics::halves(&test, 12345);
    println!(
        "{}: {} + {} documents, {} words, {:.1} tokens a document, unigram {:.2}",
        corpus.name,
        train.len(),
        test.len(),
        n_words,
        train.n_tokens() as f64 / train.len() as f64,
        unigram(&train, &held_back.documents(), n_words)
    );
    let mut lists: Vec<Vec<Vec<f32>>> = Vec::new();
    for order in 0..n_orders {
        let shuffled = corpus::in_order(&train, 1000 + order);
        let (learner, seconds) = learn(&shuffled.documents(), n_words, settings, order);
        let all = learner.all_topics(n_words);
        let alpha = flat.map_or(all.alpha.clone(), |a| vec![a; all.alpha.len()]);
        let (known, held_back) = (known.documents(), held_back.documents());
        let perplexity = metrics::completion_perplexity(&all.words, &alpha, &known, &held_back);
        let live: Vec<Vec<u32>> = all
            .words
            .iter()
            .zip(&all.weights)
            .filter(|(_, weight)| **weight > 0.002)
            .map(|(words, _)| metrics::top_words(words, 10))
            .collect();
        let coherence = mean(&metrics::npmi(&live, &train));
        let clock = ProcessTime::now();
        let topics = learner.topics();
        let snapshot_seconds = clock.elapsed().as_secs_f64();
        let shown: Vec<Vec<u32>> = topics.iter().map(|topic| metrics::top_words(&topic.words, 10)).collect();
        let distinct: std::collections::BTreeSet<u32> = shown.iter().flatten().copied().collect();
        println!(
            "  order {order}: perplexity {perplexity:.1}, NPMI {coherence:.3}, live {}, K {}, V0 {:.0}, {:.2} s = {:.0} \
             documents/s, prequential {:.1}; snapshot: {} topics, NPMI {:.3}, diversity {:.2}, {snapshot_seconds:.2} s",
            live.len(),
            learner.k_implemented(),
            learner.prior_words().unwrap_or(f64::NAN),
            seconds,
            train.len() as f64 / seconds,
            (-learner.log_score().prequential_mean).exp(),
            topics.len(),
            mean(&metrics::npmi(&shown, &train)),
            distinct.len() as f64 / (10 * shown.len().max(1)) as f64
        );
        if verbose {
            for (topic, list) in topics.iter().zip(&shown) {
                let words: Vec<&str> = list.iter().map(|word| corpus.vocabulary[*word as usize].as_str()).collect();
                println!(
                    "    {:6} {:.4} x{:<3} {}",
                    topic.id.to_string(),
                    topic.weight,
                    topic.members.len(),
                    words.join(" ")
                );
            }
        }
        lists.push(topics.into_iter().map(|topic| topic.words).collect());
    }
    for first in 0..lists.len() {
        for second in 0..first {
            let best = metrics::closest_topics(&lists[first], &lists[second]);
            let overlaps: Vec<f64> = best.iter().flatten().map(|(_, overlap)| *overlap).collect();
            let share =
                |some: &[f64]| 100.0 * some.iter().filter(|o| **o > 0.7).count() as f64 / some.len().max(1) as f64;
            let by_weight: Vec<String> = overlaps.chunks(20).map(|some| format!("{:.0}", share(some))).collect();
            println!(
                "  orders {second} and {first}: mean best overlap {:.3}, {:.0} % have a twin; of each twenty by weight {}",
                mean(&overlaps),
                share(&overlaps),
                by_weight.join(" ")
            );
        }
    }
}

/// The mean; NaN of nothing.
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}
