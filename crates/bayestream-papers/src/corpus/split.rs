//! Corpora with documents to learn topics from and others to judge them by.

use super::{Article, SHORTEST, census, chosen, counted, posts, reuters_articles};
use crate::data::DataFolder;
use crate::error::ReproduceError;
use bayestream::data::{DocumentBuffer, Documents};
use bayestream::num;
use bayestream::text::{RawDocument, TextSettings};
use serde::Deserialize;
use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::path::Path;

const NEWSGROUPS_WORDS: usize = 10_000;
/// Documents of fewer words are left out.
const SHORTEST_DOCUMENT: u32 = 5;
/// Words of the SMART stop list that say something after all; shorter lists do without them.
const KEPT: &str = "just like know think use used using uses want wants say says said saying does going way right need try \
                    trying tried thanks thank really better best sure things thing got look looking help come probably \
                    certainly maybe different example question new believe";
const REUTERS_TESTED: usize = 2000;
const NIPS_TESTED: usize = 240;
const AP_TESTED: usize = 300;

/// Documents to learn from and documents to be judged by, over one vocabulary.
#[derive(Clone, Debug)]
pub struct Split {
    /// The words, by their numbers.
    pub vocabulary: Vec<String>,
    /// Documents to learn from.
    pub train: DocumentBuffer,
    /// Documents to be judged by.
    pub test: DocumentBuffer,
}

#[derive(Deserialize)]
struct Bag {
    terms: Vec<u32>,
    counts: Vec<u32>,
}

impl Split {
    /// 20 Newsgroups in a folder of data sets, without headers, signatures and quotes, and without most words of the SMART
    /// stop list: the 10,000 most frequent words. The test documents come in random order.
    pub fn newsgroups(folder: &Path) -> Result<Split, ReproduceError> {
        Split::newsgroups_of(&DataFolder { folder: Some(folder.to_path_buf()), experiment: "bmm/topics" })
    }

    pub(crate) fn newsgroups_of(data: &DataFolder) -> Result<Split, ReproduceError> {
        let part = |file: &str| -> Result<Vec<RawDocument>, ReproduceError> {
            let own = |post: &Article| plain_words(&posts::own_words(post.text.as_deref().unwrap_or("")));
            Ok(data.ndjson(file)?.iter().map(own).collect())
        };
        let (train, test) = (part("20newsgroups/raw-train.ndjson.gz")?, part("20newsgroups/raw-test.ndjson.gz")?);
        Split::of_texts(data, &train, &shuffled(&test, 99), NEWSGROUPS_WORDS, 1)
    }

    /// Reuters-21578, titles and texts in the order of time, without those that have a title only: words that occur more
    /// than ten times.
    pub(crate) fn reuters(data: &DataFolder) -> Result<Split, ReproduceError> {
        let articles = reuters_articles(data)?;
        let whole: Vec<RawDocument> = articles
            .iter()
            .filter(|article| !article.is_title_only())
            .map(|article| plain_words(&article.whole()))
            .collect();
        let (train, test) = apart(whole, REUTERS_TESTED);
        Split::of_texts(data, &train, &test, usize::MAX, 11)
    }

    /// The papers of NIPS 0 to 12 in the order of years: long documents.
    pub(crate) fn nips(data: &DataFolder) -> Result<Split, ReproduceError> {
        Split::of_bags(data, "nips/nips0-12-bow.ndjson.gz", "nips/vocab.txt", NIPS_TESTED)
    }

    /// Articles of the Associated Press.
    pub(crate) fn ap(data: &DataFolder) -> Result<Split, ReproduceError> {
        Split::of_bags(data, "ap/ap-bow.ndjson.gz", "ap/vocab.txt", AP_TESTED)
    }

    /// The most frequent words of the training documents, if they occur often enough.
    fn of_texts(
        data: &DataFolder,
        train: &[RawDocument],
        test: &[RawDocument],
        most: usize,
        least_count: u64,
    ) -> Result<Split, ReproduceError> {
        let mut stop_words = data.lines("20newsgroups/stopwords-smart.txt")?;
        stop_words.retain(|word| !KEPT.split(' ').any(|kept| kept == word));
        let settings = TextSettings { stop_words, min_length: SHORTEST, ..TextSettings::default() };
        let mut words = census(&settings, train)?;
        words.retain(|(_, count)| *count >= least_count);
        words.sort_by_key(|(_, count)| Reverse(*count));
        words.truncate(most);
        let vocabulary: Vec<String> = words.into_iter().map(|(word, _)| word).collect();
        let long_ones = |texts: &[RawDocument]| -> Result<DocumentBuffer, ReproduceError> {
            let documents = counted(&settings, &vocabulary, texts)?;
            let documents = documents.documents();
            let is_long = |at: &usize| documents.get(*at).1.iter().sum::<u32>() >= SHORTEST_DOCUMENT;
            Ok(chosen(&documents, &(0..documents.len()).filter(is_long).collect::<Vec<_>>()))
        };
        Ok(Split { train: long_ones(train)?, test: long_ones(test)?, vocabulary })
    }

    fn of_bags(data: &DataFolder, file: &str, words: &str, n_test: usize) -> Result<Split, ReproduceError> {
        let counts = |bag: Bag| RawDocument::Counts { terms: bag.terms, counts: bag.counts };
        let (train, test) = apart(data.ndjson(file)?.into_iter().map(counts).collect(), n_test);
        let vocabulary = data.lines(words)?;
        let settings = TextSettings::default();
        Ok(Split {
            train: counted(&settings, &vocabulary, &train)?,
            test: counted(&settings, &vocabulary, &test)?,
            vocabulary,
        })
    }

    /// The training documents in a random order.
    pub fn train_in_order(&self, seed: u64) -> DocumentBuffer {
        let documents = self.train.documents();
        chosen(&documents, &shuffled(&(0..documents.len()).collect::<Vec<_>>(), seed))
    }

    /// Some of the test documents, by their places; places beyond the last are left out.
    pub fn tested(&self, places: std::ops::Range<usize>) -> DocumentBuffer {
        let documents: Documents<'_> = self.test.documents();
        chosen(&documents, &places.take_while(|at| *at < documents.len()).collect::<Vec<_>>())
    }
}

/// The words of a text that are of plain letters throughout: encoded files, addresses and part numbers go.
fn plain_words(text: &str) -> RawDocument {
    let words = text.split(|letter: char| !(letter.is_alphanumeric() || letter == '_'));
    let plain: Vec<&str> = words.filter(|word| word.bytes().all(|byte| byte.is_ascii_alphabetic())).collect();
    RawDocument::Text(plain.join(" "))
}

/// Some documents set apart at random; the others keep their order.
fn apart(whole: Vec<RawDocument>, n_test: usize) -> (Vec<RawDocument>, Vec<RawDocument>) {
    let order = shuffled(&(0..whole.len()).collect::<Vec<_>>(), 98);
    let tested: BTreeSet<usize> = order.into_iter().take(n_test).collect();
    let (mut train, mut test) = (Vec::new(), Vec::new());
    for (at, document) in whole.into_iter().enumerate() {
        if tested.contains(&at) { test.push(document) } else { train.push(document) }
    }
    (train, test)
}

pub(super) fn shuffled<T: Clone>(items: &[T], seed: u64) -> Vec<T> {
    let mut items = items.to_vec();
    num::stream(seed, 0, 0).shuffle(&mut items);
    items
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_set_apart_are_not_learnt_from() {
        let whole: Vec<RawDocument> = (0..20).map(|n| RawDocument::Text(format!("w{n}"))).collect();
        let (train, test) = apart(whole.clone(), 6);
        assert_eq!((train.len(), test.len()), (14, 6));
        assert!(test.iter().all(|document| !train.contains(document)));
        let places: Vec<usize> = train.iter().map(|d| whole.iter().position(|w| w == d).unwrap()).collect();
        assert!(places.is_sorted());
    }

    #[test]
    fn the_vocabulary_is_that_of_the_training_documents_by_frequency() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("20newsgroups")).unwrap();
        std::fs::write(folder.path().join("20newsgroups/stopwords-smart.txt"), "the\nand\n").unwrap();
        let data = DataFolder { folder: Some(folder.path().to_path_buf()), experiment: "bmm/topics" };
        let raw = |texts: &[&str]| texts.iter().map(|text| RawDocument::Text((*text).into())).collect::<Vec<_>>();
        let train = raw(&["the wheat wheat wheat and corn corn oil", "oil corn it is short"]);
        let test = raw(&["corn corn corn corn corn rye rye rye", "corn and the rye"]);
        let split = Split::of_texts(&data, &train, &test, 2, 1).unwrap();
        // Of the three words seen thrice and twice, those most frequent; ties by the alphabet.
        assert_eq!(split.vocabulary, ["corn", "wheat"]);
        assert_eq!(split.train.documents().iter().collect::<Vec<_>>(), [(&[0, 1][..], &[2, 3][..])]);
        assert_eq!(split.test.documents().iter().collect::<Vec<_>>(), [(&[0][..], &[5][..])]);
        assert_eq!(split.tested(1..9).documents().len(), 0);
    }
}
