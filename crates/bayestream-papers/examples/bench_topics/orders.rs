//! How far topics depend on the order of the documents: three orders, under settings of one's choice.

use super::{Answer, TESTED};
use bayestream::data::DocumentBuffer;
use bayestream::engine::DocumentLearner;
use bayestream::engine::topics::MmHdp;
use bayestream::metrics;
use bayestream::model::{DocumentKind, DocumentSettings};
use bayestream_papers::topics::{Judge, Split, twins};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::Path;

/// Seeds of the orders, none of those that tables are made with.
const ORDERS: std::ops::Range<u64> = 0..3;
/// Topics of which twins are told apart from the rest: the heaviest.
const HEAVIEST: usize = 50;
/// Likeliest words of a topic, and how many of them another must share to be the same by its words.
const LIKELIEST: usize = 20;
const SHARED: usize = 10;

/// Learns the training documents of 20 Newsgroups in three orders. The first `n_first` documents are those of the first
/// order, one after the other, in all of them.
pub fn orders(data: &Path, n_first: usize, settings: &[&str]) -> Answer<Value> {
    let kind = DocumentKind::TopicsMmHdp;
    let mut all_settings = DocumentSettings::of(kind);
    for setting in settings {
        let (name, value) = setting.split_once('=').ok_or_else(|| format!("{setting} is not NAME=VALUE"))?;
        all_settings.set(kind, name, value)?;
    }
    let split = Split::newsgroups(data)?;
    let (n_words, test) = (split.vocabulary.len(), split.tested(0..TESTED));
    let judge = Judge::new(split.train.documents(), test.documents(), n_words);
    let begin = split.train_in_order(ORDERS.start);
    let (mut each, mut shown) = (Vec::new(), Vec::new());
    for seed in ORDERS {
        let mut learner = MmHdp::new(&all_settings.topics, seed, 0);
        learner.update(&with_first(&begin, n_first, &split.train_in_order(seed)).documents(), n_words);
        let all = learner.all_topics(n_words);
        let judged = judge.judge(&all.words, &all.alpha);
        let topics: Vec<Vec<f32>> = learner.topics().into_iter().map(|topic| topic.words).collect();
        each.push(json!({
            "perplexity": judged.perplexity, "npmi": judged.learnt.npmi,
            "n_topics": all.weights.len(), "n_live": judged.learnt.places.len(), "n_shown": topics.len(),
        }));
        shown.push(topics);
    }
    let heaviest: Vec<Vec<Vec<f32>>> = shown.iter().map(|list| list.iter().take(HEAVIEST).cloned().collect()).collect();
    Ok(json!({
        "each": each, "twins": twins(&shown), "twins_heaviest": twins(&heaviest),
        "same_words": same_words(&shown), "same_words_heaviest": same_words(&heaviest),
    }))
}

/// The first documents of one order, and then all others in the order of another.
fn with_first(begin: &DocumentBuffer, n_first: usize, then: &DocumentBuffer) -> DocumentBuffer {
    let (begin, then) = (begin.documents(), then.documents());
    let first: Vec<(&[u32], &[u32])> = begin.iter().take(n_first).collect();
    // A document that occurs twice is left out once for each time that it has come first.
    let mut to_skip = first.clone();
    to_skip.sort_unstable();
    let mut joined = DocumentBuffer::new();
    let mut push = |(words, counts): (&[u32], &[u32])| {
        joined.push_counts(words.iter().copied().zip(counts.iter().copied()).collect());
    };
    first.into_iter().for_each(&mut push);
    for document in then.iter() {
        match to_skip.binary_search(&document) {
            Ok(at) => drop(to_skip.remove(at)),
            Err(_) => push(document),
        }
    }
    joined
}

/// Share of topics of which another list has one with at least half of the likeliest words, over the pairs of lists: unlike
/// the overlap it does not grow when topics grow broader.
fn same_words(lists: &[Vec<Vec<f32>>]) -> f64 {
    let likeliest = |topic: &Vec<f32>| metrics::top_words(topic, LIKELIEST).into_iter().collect::<BTreeSet<u32>>();
    let lists: Vec<Vec<BTreeSet<u32>>> = lists.iter().map(|list| list.iter().map(likeliest).collect()).collect();
    let (mut n_same, mut n_topics) = (0, 0);
    for (i, list) in lists.iter().enumerate() {
        for (_, other) in lists.iter().enumerate().filter(|(j, _)| *j != i) {
            let is_there = |topic: &&BTreeSet<u32>| other.iter().any(|one| one.intersection(topic).count() >= SHARED);
            n_same += list.iter().filter(is_there).count();
            n_topics += list.len();
        }
    }
    f64::from(n_same as u32) / f64::from(n_topics as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn buffer(documents: &[u32]) -> DocumentBuffer {
        let mut buffer = DocumentBuffer::new();
        documents.iter().for_each(|word| buffer.push_tokens([*word]));
        buffer
    }

    #[test]
    fn a_common_beginning_loses_no_document_and_doubles_none() {
        let joined = with_first(&buffer(&[4, 4, 1, 2, 4]), 3, &buffer(&[2, 4, 4, 1, 4]));
        let words: Vec<u32> = joined.documents().iter().map(|(words, _)| words[0]).collect();
        assert_eq!(words, [4, 4, 1, 2, 4]);
    }

    #[test]
    fn topics_are_the_same_by_half_of_their_likeliest_words() {
        let list = |from: usize| {
            let among = from..from + LIKELIEST;
            vec![(0..60).map(|word| if among.contains(&word) { 0.05 } else { 0.0 }).collect::<Vec<f32>>()]
        };
        assert_eq!(same_words(&[list(0), list(10)]), 1.0);
        assert_eq!(same_words(&[list(0), list(11)]), 0.0);
        assert_eq!(same_words(&[list(0), list(10), list(40)]), 2.0 / 6.0);
    }
}
