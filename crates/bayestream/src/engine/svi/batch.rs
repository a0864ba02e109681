//! A mini-batch, laid out for the local steps.

use crate::data::Documents;
use crate::num::{NO_TOPIC, Rng};

/// Tokens that the repeats of one word in one document are cut into, at most: a word said a million times costs no more than
/// a word said this often.
const MOST_TOKENS: u32 = 256;

/// Documents with words, and the places of their words among the different words of all of them: local steps look at rows
/// of these only.
pub(super) struct MiniBatch<'a> {
    pub documents: Documents<'a>,
    /// Different words, in increasing order.
    pub words: Vec<u32>,
    /// The place of each word of each document, one document after the other.
    places: Vec<Vec<u32>>,
}

impl<'a> MiniBatch<'a> {
    pub fn new(documents: Documents<'a>) -> MiniBatch<'a> {
        let mut words: Vec<u32> = documents.iter().flat_map(|(words, _)| words.iter().copied()).collect();
        words.sort_unstable();
        words.dedup();
        let mut place_of = vec![0; words.last().map_or(0, |word| *word as usize + 1)];
        words.iter().enumerate().for_each(|(place, word)| place_of[*word as usize] = place as u32);
        let places =
            documents.iter().map(|(words, _)| words.iter().map(|word| place_of[*word as usize]).collect()).collect();
        MiniBatch { documents, words, places }
    }

    /// How many documents.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Words that have a number so far as these documents tell.
    pub fn n_words(&self) -> usize {
        self.words.last().map_or(0, |word| *word as usize + 1)
    }

    /// The places of a document's words, and how often each occurs.
    pub fn get(&self, document: usize) -> (&[u32], &'a [u32]) {
        (&self.places[document], self.documents.get(document).1)
    }

    /// The places of a document's words as indices, and how often each occurs as a number to reckon with.
    pub fn pairs(&self, document: usize) -> impl Iterator<Item = (usize, f64)> {
        let (places, counts) = self.get(document);
        places.iter().zip(counts).map(|(place, n)| (*place as usize, f64::from(*n)))
    }

    /// A document word by word, in random order: place and repeats that stay together.
    pub fn tokens(&self, document: usize, rng: &mut Rng) -> Vec<(u32, f32)> {
        let (places, counts) = self.get(document);
        let mut tokens = Vec::with_capacity(places.len());
        for (place, count) in places.iter().zip(counts) {
            let n = (*count).min(MOST_TOKENS);
            tokens.extend(std::iter::repeat_n((*place, *count as f32 / n as f32), n as usize));
        }
        rng.shuffle(&mut tokens);
        tokens
    }
}

/// The tokens of every document and their topics.
pub(super) struct Assigned {
    pub documents: Vec<AssignedDocument>,
}

/// The tokens of a document and their topics.
pub(super) struct AssignedDocument {
    pub rng: Rng,
    pub tokens: Vec<(u32, f32)>,
    pub topics: Vec<u32>,
    /// Words of each topic.
    pub counts: Vec<f32>,
}

impl Assigned {
    /// Tokens without topics. Each document has its own stream of random numbers, so that none depends on another.
    pub fn new(batch: &MiniBatch<'_>, width: usize, stream: impl Fn(usize) -> Rng) -> Assigned {
        let document = |at: usize| {
            let mut rng = stream(at);
            let tokens = batch.tokens(at, &mut rng);
            AssignedDocument { rng, topics: vec![NO_TOPIC; tokens.len()], tokens, counts: vec![0.0; width] }
        };
        Assigned { documents: (0..batch.len()).map(document).collect() }
    }

    /// Adds the words of each topic to rows of `width`, each with this weight.
    pub fn add_to(&self, rows: &mut [f32], width: usize, weight: f32) {
        for document in &self.documents {
            for ((place, repeats), topic) in document.tokens.iter().zip(&document.topics) {
                rows[*place as usize * width + *topic as usize] += weight * repeats;
            }
        }
    }
}
