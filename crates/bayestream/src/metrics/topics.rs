//! How good topics are: how well they foretell the other half of a document, whether their words belong together, and
//! whether two lists of topics say the same.

use crate::data::{DocumentBuffer, Documents};
use crate::num::{self, TOPIC_LANES};
use std::collections::BTreeMap;

/// Rounds of the fold-in that all topic models are scored with.
const ROUNDS: usize = 50;

/// Perplexity of the words held back from documents of which the other words are known: e to the mean of −ln p.
///
/// Each document's shares are folded in from `known` under a Dirichlet prior `alpha`, with an entry for each topic. A topic
/// has a probability for each word number; words beyond its end have none, and a word without probability in any topic
/// makes the perplexity infinite. Document i of `known` and of `held_back` are halves of one document.
pub fn completion_perplexity(
    topics: &[Vec<f32>],
    alpha: &[f64],
    known: &Documents<'_>,
    held_back: &Documents<'_>,
) -> f64 {
    let mut folding = Folding::new(topics, alpha);
    let (mut log_probability, mut n_words) = (0.0, 0.0);
    for ((words, counts), (other_words, other_counts)) in known.iter().zip(held_back.iter()) {
        folding.fold_in(&folding.gather(words), counts);
        for (row, count) in folding.gather(other_words).chunks_exact(folding.width()).zip(other_counts) {
            log_probability += f64::from(*count) * f64::from(num::dot_f32(row, &folding.shares)).ln();
            n_words += f64::from(*count);
        }
    }
    (-log_probability / n_words).exp()
}

/// Share of each topic in the words of documents, whoever learnt the topics: each word is given to topics by the document's
/// shares, which are folded in as for [`completion_perplexity`]. Words without probability in any topic do not count.
pub fn topic_shares(topics: &[Vec<f32>], alpha: &[f64], documents: &Documents<'_>) -> Vec<f64> {
    let mut folding = Folding::new(topics, alpha);
    let mut shares = vec![0.0; topics.len()];
    let mut n_words = 0.0;
    for (words, counts) in documents.iter() {
        let rows = folding.gather(words);
        folding.fold_in(&rows, counts);
        for (row, count) in rows.chunks_exact(folding.width()).zip(counts) {
            let probability = f64::from(num::dot_f32(row, &folding.shares));
            if probability > 0.0 {
                n_words += f64::from(*count);
                for ((share, p), theta) in shares.iter_mut().zip(row).zip(&folding.shares) {
                    *share += f64::from(*count) * f64::from(p * theta) / probability;
                }
            }
        }
    }
    shares.iter_mut().for_each(|share| *share /= n_words);
    shares
}

/// Shares of given topics in documents, one after the other.
struct Folding<'a> {
    topics: &'a [Vec<f32>],
    prior: Vec<f32>,
    /// Of the document folded in last; padded, as the prior is, with topics that have nothing.
    shares: Vec<f32>,
}

impl Folding<'_> {
    fn new<'a>(topics: &'a [Vec<f32>], alpha: &[f64]) -> Folding<'a> {
        let width = topics.len().max(1).next_multiple_of(TOPIC_LANES);
        let mut prior: Vec<f32> = alpha.iter().map(|a| *a as f32).collect();
        prior.resize(width, 0.0);
        Folding { topics, prior, shares: vec![0.0; width] }
    }

    fn width(&self) -> usize {
        self.prior.len()
    }

    /// Probabilities of words in all topics, word by word.
    fn gather(&self, words: &[u32]) -> Vec<f32> {
        let mut rows = vec![0.0; words.len() * self.width()];
        for (row, word) in rows.chunks_exact_mut(self.width()).zip(words) {
            for (entry, topic) in row.iter_mut().zip(self.topics) {
                *entry = topic.get(*word as usize).copied().unwrap_or(0.0);
            }
        }
        rows
    }

    fn fold_in(&mut self, rows: &[f32], counts: &[u32]) {
        let counts: Vec<f32> = counts.iter().map(|count| *count as f32).collect();
        num::fold_in(rows, &counts, &self.prior, ROUNDS, &mut self.shares);
    }
}

/// Documents cut in two at random, word by word: the first half has half of the words, rounded down. The same seed gives
/// the same halves.
pub fn halves(documents: &Documents<'_>, seed: u64) -> (DocumentBuffer, DocumentBuffer) {
    let (mut known, mut held_back) = (DocumentBuffer::new(), DocumentBuffer::new());
    for (at, (words, counts)) in documents.iter().enumerate() {
        let mut tokens: Vec<u32> =
            words.iter().zip(counts).flat_map(|(word, count)| std::iter::repeat_n(*word, *count as usize)).collect();
        num::stream(seed, 0, at as u64).shuffle(&mut tokens);
        let half = tokens.len() / 2;
        known.push_tokens(tokens[..half].iter().copied());
        held_back.push_tokens(tokens[half..].iter().copied());
    }
    (known, held_back)
}

/// The `n` likeliest words of a topic, likeliest first.
pub fn top_words(topic: &[f32], n: usize) -> Vec<u32> {
    let mut order: Vec<u32> = (0..topic.len() as u32).collect();
    let likelier = |a: &u32, b: &u32| topic[*b as usize].total_cmp(&topic[*a as usize]).then(a.cmp(b));
    if n < order.len() {
        order.select_nth_unstable_by(n, likelier);
        order.truncate(n);
    }
    order.sort_by(likelier);
    order
}

/// Whether the words of each list occur in the same documents: the mean over pairs of the normalised pointwise mutual
/// information, from −1 (never together) by 0 (by chance) to 1 (always together). NaN for a list of less than two words.
pub fn npmi(lists: &[Vec<u32>], documents: &Documents<'_>) -> Vec<f64> {
    let mut places: BTreeMap<u32, Vec<u32>> = lists.iter().flatten().map(|word| (*word, Vec::new())).collect();
    for (at, (words, _)) in documents.iter().enumerate() {
        for word in words {
            if let Some(place) = places.get_mut(word) {
                place.push(at as u32);
            }
        }
    }
    let n = documents.len() as f64;
    let pair = |a: u32, b: u32| {
        let (a, b) = (&places[&a], &places[&b]);
        let both = common(a, b) as f64;
        if both == 0.0 {
            return -1.0;
        }
        if both == n {
            return 1.0;
        }
        (both * n / (a.len() as f64 * b.len() as f64)).ln() / -(both / n).ln()
    };
    let mean = |list: &Vec<u32>| {
        let pairs = (0..list.len()).flat_map(|j| (0..j).map(move |i| (i, j)));
        let (sum, n_pairs) = pairs.fold((0.0, 0), |(sum, n), (i, j)| (sum + pair(list[i], list[j]), n + 1));
        sum / f64::from(n_pairs)
    };
    lists.iter().map(mean).collect()
}

/// How many numbers two ascending lists share.
fn common(a: &[u32], b: &[u32]) -> usize {
    let (mut i, mut j, mut n) = (0, 0, 0);
    while i < a.len() && j < b.len() {
        match a[i].cmp(&b[j]) {
            std::cmp::Ordering::Less => i += 1,
            std::cmp::Ordering::Greater => j += 1,
            std::cmp::Ordering::Equal => (i, j, n) = (i + 1, j + 1, n + 1),
        }
    }
    n
}

/// The Bhattacharyya coefficient Σ √(p q): 1 for equal distributions, 0 for those without a word in common. The shorter
/// one has no words beyond its end.
pub fn bhattacharyya(a: &[f32], b: &[f32]) -> f64 {
    a.iter().zip(b).map(|(p, q)| (f64::from(*p) * f64::from(*q)).sqrt()).sum()
}

/// For each topic of the first list its closest in the second, with their Bhattacharyya coefficient; none if the second
/// list is empty.
pub fn closest_topics(a: &[Vec<f32>], b: &[Vec<f32>]) -> Vec<Option<(usize, f64)>> {
    let closest = |topic: &Vec<f32>| {
        let overlaps = b.iter().map(|other| bhattacharyya(topic, other)).enumerate();
        overlaps.max_by(|x, y| x.1.total_cmp(&y.1).then(y.0.cmp(&x.0)))
    };
    a.iter().map(closest).collect()
}

/// Pairs of topics from two lists, closest pairs first, each topic in one pair at most, with their Bhattacharyya
/// coefficients.
pub fn match_topics(a: &[Vec<f32>], b: &[Vec<f32>]) -> Vec<(usize, usize, f64)> {
    let mut pairs: Vec<(usize, usize, f64)> = a
        .iter()
        .enumerate()
        .flat_map(|(i, x)| b.iter().enumerate().map(move |(j, y)| (i, j, bhattacharyya(x, y))))
        .collect();
    pairs.sort_by(|x, y| y.2.total_cmp(&x.2).then((x.0, x.1).cmp(&(y.0, y.1))));
    let (mut first, mut second) = (vec![false; a.len()], vec![false; b.len()]);
    pairs.retain(|(i, j, _)| {
        let free = !first[*i] && !second[*j];
        if free {
            (first[*i], second[*j]) = (true, true);
        }
        free
    });
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn buffer(documents: &[&[u32]]) -> DocumentBuffer {
        let mut buffer = DocumentBuffer::new();
        documents.iter().for_each(|tokens| buffer.push_tokens(tokens.iter().copied()));
        buffer
    }

    #[test]
    fn one_even_topic_has_the_perplexity_of_its_words() {
        let (known, held_back) = (buffer(&[&[0, 1], &[]]), buffer(&[&[2, 3, 3], &[1]]));
        let perplexity = completion_perplexity(&[vec![0.125; 8]], &[0.7], &known.documents(), &held_back.documents());
        assert!((perplexity - 8.0).abs() < 1e-5, "{perplexity}");
    }

    #[test]
    fn the_known_half_tells_the_topic() {
        // Two topics without common words: a known word of one of them, α = 1 each, gives it 2/3.
        let topics = [vec![0.5, 0.5, 0.0, 0.0], vec![0.0, 0.0, 0.5, 0.5]];
        let (known, held_back) = (buffer(&[&[0]]), buffer(&[&[1]]));
        let perplexity = completion_perplexity(&topics, &[1.0, 1.0], &known.documents(), &held_back.documents());
        assert!((perplexity - 3.0).abs() < 1e-5, "{perplexity}");
        let unknown = buffer(&[&[9]]);
        assert!(completion_perplexity(&topics, &[1.0, 1.0], &known.documents(), &unknown.documents()).is_infinite());
    }

    #[test]
    fn words_of_a_topic_make_its_share() {
        // Topics without common words, the third unused, and a word (9) that no topic has.
        let topics = [vec![0.5, 0.5, 0.0, 0.0], vec![0.0, 0.0, 0.5, 0.5], vec![0.0, 0.0, 0.0, 0.0, 1.0]];
        let documents = buffer(&[&[0, 1, 0, 2], &[3, 9], &[]]);
        let shares = topic_shares(&topics, &[0.3, 0.2, 5.0], &documents.documents());
        assert!((shares[0] - 0.6).abs() < 1e-6 && (shares[1] - 0.4).abs() < 1e-6 && shares[2] == 0.0, "{shares:?}");
        // Two equal topics share by what the prior and each other's words leave them: evenly under even priors.
        let twins = [vec![0.25; 4], vec![0.25; 4]];
        let shares = topic_shares(&twins, &[0.7, 0.7], &documents.documents());
        assert!((shares[0] - 0.5).abs() < 1e-6, "{shares:?}");
    }

    #[test]
    fn halves_lose_no_word() {
        let whole = buffer(&[&[3, 3, 3, 5, 7], &[], &[1]]);
        let (known, held_back) = halves(&whole.documents(), 4);
        let sizes = |buffer: &DocumentBuffer| -> Vec<u32> {
            buffer.documents().iter().map(|(_, counts)| counts.iter().sum()).collect()
        };
        assert_eq!((sizes(&known), sizes(&held_back)), (vec![2, 0, 0], vec![3, 0, 1]));
        assert_eq!(halves(&whole.documents(), 4), (known, held_back));
    }

    #[test]
    fn npmi_by_hand() {
        let documents = buffer(&[&[0, 1], &[0, 1, 2], &[2], &[3]]);
        let values = npmi(&[vec![0, 1], vec![0, 2], vec![0, 3], vec![0]], &documents.documents());
        // 0 and 1 always together; 0 and 2 once in four documents as chance has it; 0 and 3 never.
        assert!((values[0] - 1.0).abs() < 1e-12 && values[1].abs() < 1e-12);
        assert!(values[2] == -1.0 && values[3].is_nan());
        let three = npmi(&[vec![0, 1, 2]], &documents.documents());
        assert!((three[0] - 1.0 / 3.0).abs() < 1e-12);
    }

    #[test]
    fn the_likeliest_words_come_first_and_ties_by_number() {
        assert_eq!(top_words(&[0.1, 0.3, 0.1, 0.4, 0.1], 3), [3, 1, 0]);
        assert_eq!(top_words(&[0.1, 0.3], 9), [1, 0]);
    }

    #[test]
    fn lists_are_matched_one_to_one() {
        let (a, b) = ([vec![0.9, 0.1], vec![0.8, 0.2]], [vec![0.1, 0.9], vec![0.85, 0.15]]);
        let pairs = match_topics(&a, &b);
        assert_eq!(pairs.iter().map(|(i, j, _)| (*i, *j)).collect::<Vec<_>>(), [(1, 1), (0, 0)]);
        assert_eq!(closest_topics(&a, &b).iter().map(|c| c.unwrap().0).collect::<Vec<_>>(), [1, 1]);
        assert!((bhattacharyya(&[0.5, 0.5], &[0.5, 0.5]) - 1.0).abs() < 1e-12);
        assert_eq!(bhattacharyya(&[1.0, 0.0], &[0.0, 1.0]), 0.0);
    }
}
