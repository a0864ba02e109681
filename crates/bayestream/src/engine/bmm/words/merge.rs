//! Learners of disjoint shards of one stream of documents, combined: topics that overlap are one, and their statistics
//! add.

use super::ledger::Ledger;
use super::topics::WordTopics;
use crate::engine::bmm::{BmmSettings, Mixing};
use crate::engine::parts::twins;

/// Topics of two shards are one when they overlap (Bhattacharyya) by more than this.
const ABOVE: f64 = 0.8;

/// What a shard has learnt, its words numbered as those of the others.
pub(super) struct Shard<'a> {
    pub mixing: &'a Mixing,
    pub topics: WordTopics,
    pub ledger: &'a Ledger,
}

impl<'a> Shard<'a> {
    /// What was learnt, where word i has the number `numbers[i]` among `n_words`.
    pub fn renumbered(
        (mixing, topics, ledger): (&'a Mixing, &WordTopics, &'a Ledger),
        numbers: &[Option<u32>],
        n_words: usize,
    ) -> Shard<'a> {
        Shard { mixing, topics: topics.renumbered(numbers, n_words), ledger }
    }
}

/// One mixture of all documents that the shards have seen; there is at least one, and their order is canonical. ν is γ
/// more than the documents that each topic took, when `by_documents`.
pub(super) fn merged(
    shards: &[Shard<'_>],
    settings: &BmmSettings,
    shard: u32,
    by_documents: bool,
) -> (Mixing, WordTopics, Ledger) {
    let gamma = settings.gamma;
    let n_words = shards.iter().map(|s| s.topics.n_words()).max().unwrap_or(0);
    let mut ledger = Ledger::joined(shards.iter().map(|s| s.ledger), shard);
    let mut topics = shards[0].topics.without_topics();
    topics.reach_words(n_words);
    let mut documents: Vec<f64> = Vec::new();
    let mut histories = Vec::new();
    for (at, theirs) in shards.iter().enumerate() {
        if at > 0 {
            topics.add_counts(&theirs.topics);
        }
        let told: Vec<usize> = (0..theirs.topics.len()).filter(|&z| theirs.ledger.n_words(z) > 0.0).collect();
        let roots = |topics: &WordTopics, z: usize| -> Vec<f32> {
            (0..n_words).map(|word| (topics.beta(z, word as u32) / topics.sum(z)).sqrt() as f32).collect()
        };
        let ours: Vec<Vec<f32>> = (0..topics.len()).map(|z| roots(&topics, z)).collect();
        let others: Vec<Vec<f32>> = told.iter().map(|&z| roots(&theirs.topics, z)).collect();
        let matched = twins(&ours, &others, ABOVE);
        for (&z, twin) in told.iter().zip(&matched) {
            match *twin {
                Some(twin) => topics.add_to(twin, &theirs.topics, z),
                None => topics.append(&theirs.topics, z),
            }
            let at = twin.unwrap_or(topics.len() - 1);
            documents.resize(topics.len(), 0.0);
            documents[at] += (theirs.mixing.nu().get(z).copied().unwrap_or(gamma) - gamma).max(0.0);
        }
        histories.push(ledger.take(theirs.ledger, &told, &matched));
    }
    // Heavy topics come first, as in one pass; beyond the most that there may be, the lightest go.
    let mut order: Vec<usize> = (0..topics.len()).collect();
    order.sort_by(|&a, &b| ledger.n_words(b).total_cmp(&ledger.n_words(a)).then(a.cmp(&b)));
    order.truncate(settings.max_components);
    topics.reorder(&order);
    ledger.reorder(&order, &histories);
    let mut mixing = shards[0].mixing.clone();
    mixing.reset_nu(gamma);
    if by_documents {
        order.iter().enumerate().for_each(|(z, &old)| mixing.set_nu(z, gamma + documents[old]));
    }
    let lambda = shards.iter().map(|s| s.mixing.lambda()).fold(ledger.n_living() as f64, f64::max);
    mixing.set_lambda(lambda.min(settings.max_components as f64));
    (mixing, topics, ledger)
}
