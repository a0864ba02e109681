//! Corpora whose documents carry labels: documents to learn from and others to be judged by.

use super::{census, chosen, counted, reuters, split::shuffled};
use crate::data::DataFolder;
use crate::error::ReproduceError;
use bayestream::data::DocumentBuffer;
use bayestream::text::{Language, RawDocument, TextSettings};
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The experiment that data sets are asked for.
const ASKING: &str = "bayespa";
const WIKI_FOLDS: usize = 5;
const REUTERS_TOPICS: usize = 10;
const TWO_GROUPS: [&str; 2] = ["alt.atheism", "talk.religion.misc"];

/// Documents with labels, to learn from and to be judged by, over one vocabulary. A document may have one label, several
/// or none, as the corpus has it; its labels are in increasing order.
#[derive(Clone, Debug)]
pub struct Labelled {
    /// Documents to learn from.
    pub train: DocumentBuffer,
    /// What they are about.
    pub train_labels: Vec<Vec<u32>>,
    /// Documents to be judged by.
    pub test: DocumentBuffer,
    /// What those are about.
    pub test_labels: Vec<Vec<u32>>,
    /// Names of labels, by their numbers.
    pub label_names: Vec<String>,
    /// The words, by their numbers.
    pub vocabulary: Vec<String>,
}

#[derive(Deserialize)]
struct Post {
    label: String,
    terms: Vec<u32>,
    counts: Vec<u32>,
}

#[derive(Deserialize)]
struct WikiPage {
    labels: Vec<u32>,
    terms: Vec<u32>,
    counts: Vec<u32>,
}

/// Documents and their labels, of one side.
type Side = (DocumentBuffer, Vec<Vec<u32>>);

impl Labelled {
    /// 20 Newsgroups as bags of words, one label each: the by-date split, without the words of the SMART stop list, which
    /// keep their numbers. Sorted by label, so that one learns from [`Labelled::train_in_order`].
    pub fn newsgroups(folder: &Path) -> Result<Labelled, ReproduceError> {
        Labelled::newsgroups_of(&asked(folder))
    }

    /// The two newsgroups on religion that are hard to tell apart, alt.atheism and talk.religion.misc, prepared as in
    /// [`Labelled::newsgroups`].
    pub fn two_newsgroups(folder: &Path) -> Result<Labelled, ReproduceError> {
        Labelled::two_newsgroups_of(&asked(folder))
    }

    /// Reuters-21578 by the split ModApte, with the ten topics that most training documents have; other topics do not
    /// count, so that a document may have no label. Words of the training documents, without English stop words.
    pub fn reuters(folder: &Path) -> Result<Labelled, ReproduceError> {
        Labelled::reuters_of(&asked(folder))
    }

    pub(crate) fn reuters_of(data: &DataFolder) -> Result<Labelled, ReproduceError> {
        let articles = reuters::split_articles(data)?;
        let label_names = reuters::largest_topics(&articles.train, REUTERS_TOPICS);
        let settings = TextSettings { stop: Language::find("english"), ..TextSettings::default() };
        let texts = |side: &[reuters::Filed]| -> Vec<RawDocument> {
            side.iter().map(|article| RawDocument::Text(article.text.clone())).collect()
        };
        let labels = |side: &[reuters::Filed]| -> Vec<Vec<u32>> {
            side.iter().map(|article| numbers_of(&article.topics, &label_names)).collect()
        };
        let train = texts(&articles.train);
        let vocabulary: Vec<String> = census(&settings, &train)?.into_iter().map(|(word, _)| word).collect();
        Ok(Labelled {
            train: counted(&settings, &vocabulary, &train)?,
            train_labels: labels(&articles.train),
            test: counted(&settings, &vocabulary, &texts(&articles.test))?,
            test_labels: labels(&articles.test),
            label_names,
            vocabulary,
        })
    }

    /// Wikipedia pages with one to seven of twenty labels, in five folds that the seed decides: each fold is judged once
    /// by what is learnt from the others. The data names words and labels by numbers only.
    pub fn wiki_folds(folder: &Path, seed: u64) -> Result<Vec<Labelled>, ReproduceError> {
        Labelled::wiki_folds_of(&asked(folder), seed)
    }

    pub(crate) fn wiki_folds_of(data: &DataFolder, seed: u64) -> Result<Vec<Labelled>, ReproduceError> {
        let pages: Vec<WikiPage> = data.ndjson("wiki-lshtc/wiki-test.ndjson.gz")?;
        Ok(folds(&pages, WIKI_FOLDS, seed))
    }

    pub(crate) fn newsgroups_of(data: &DataFolder) -> Result<Labelled, ReproduceError> {
        Labelled::groups_of(data, None)
    }

    pub(crate) fn two_newsgroups_of(data: &DataFolder) -> Result<Labelled, ReproduceError> {
        Labelled::groups_of(data, Some(&TWO_GROUPS))
    }

    fn groups_of(data: &DataFolder, groups: Option<&[&str]>) -> Result<Labelled, ReproduceError> {
        let vocabulary = data.lines("20newsgroups/vocab.txt")?;
        let stop_words: BTreeSet<String> = data.lines("20newsgroups/stopwords-smart.txt")?.into_iter().collect();
        let is_stop: Vec<bool> = vocabulary.iter().map(|word| stop_words.contains(word)).collect();
        let posts = |file: &str| -> Result<Vec<Post>, ReproduceError> {
            let mut posts: Vec<Post> = data.ndjson(file)?;
            posts.retain(|post| groups.is_none_or(|groups| groups.contains(&post.label.as_str())));
            Ok(posts)
        };
        let (train, test) = (posts("20newsgroups/bow-train.ndjson.gz")?, posts("20newsgroups/bow-test.ndjson.gz")?);
        let names: BTreeSet<&String> = train.iter().chain(&test).map(|post| &post.label).collect();
        let label_names: Vec<String> = names.into_iter().cloned().collect();
        let side = |posts: &[Post]| -> Side {
            let mut documents = DocumentBuffer::new();
            for post in posts {
                let pairs = post.terms.iter().copied().zip(post.counts.iter().copied());
                let tells = |word: u32| is_stop.get(word as usize).is_some_and(|is_stop| !is_stop);
                documents.push_counts(pairs.filter(|(word, _)| tells(*word)).collect());
            }
            let labels = posts.iter().map(|post| numbers_of(std::slice::from_ref(&post.label), &label_names));
            (documents, labels.collect())
        };
        let ((train, train_labels), (test, test_labels)) = (side(&train), side(&test));
        Ok(Labelled { train, train_labels, test, test_labels, label_names, vocabulary })
    }

    /// The training documents and their labels in a random order.
    pub fn train_in_order(&self, seed: u64) -> (DocumentBuffer, Vec<Vec<u32>>) {
        let order = self.order(seed);
        let labels = order.iter().map(|at| self.train_labels[*at].clone()).collect();
        (chosen(&self.train.documents(), &order), labels)
    }

    /// The places of the training documents in the order of [`Labelled::train_in_order`].
    pub fn order(&self, seed: u64) -> Vec<usize> {
        shuffled(&(0..self.train_labels.len()).collect::<Vec<_>>(), seed)
    }
}

fn asked(folder: &Path) -> DataFolder {
    DataFolder { folder: Some(folder.to_path_buf()), experiment: ASKING }
}

/// Places of those labels that have a name in the list, in increasing order.
fn numbers_of(labels: &[String], names: &[String]) -> Vec<u32> {
    let place = |label: &String| names.iter().position(|name| name == label).map(|at| at as u32);
    labels.iter().filter_map(place).collect::<BTreeSet<u32>>().into_iter().collect()
}

fn folds(pages: &[WikiPage], n_folds: usize, seed: u64) -> Vec<Labelled> {
    // Numbers of words go beyond two million, though few of them occur: those that do are numbered anew, in their order.
    let words: BTreeSet<u32> = pages.iter().flat_map(|page| page.terms.iter().copied()).collect();
    let number: BTreeMap<u32, u32> = words.iter().zip(0..).map(|(word, at)| (*word, at)).collect();
    let vocabulary: Vec<String> = words.iter().map(u32::to_string).collect();
    let n_labels = pages.iter().flat_map(|page| &page.labels).max().map_or(0, |label| label + 1);
    let label_names: Vec<String> = (0..n_labels).map(|label| label.to_string()).collect();
    let order = shuffled(&(0..pages.len()).collect::<Vec<_>>(), seed);
    let side = |is_in: &dyn Fn(usize) -> bool| -> Side {
        let mut side: Side = (DocumentBuffer::new(), Vec::new());
        for (_, page) in order.iter().enumerate().filter(|(place, _)| is_in(*place)) {
            let WikiPage { labels, terms, counts } = &pages[*page];
            side.0.push_counts(terms.iter().map(|word| number[word]).zip(counts.iter().copied()).collect());
            side.1.push(labels.iter().copied().collect::<BTreeSet<u32>>().into_iter().collect());
        }
        side
    };
    let fold = |fold: usize| {
        let (train, train_labels) = side(&|place| place % n_folds != fold);
        let (test, test_labels) = side(&|place| place % n_folds == fold);
        let (label_names, vocabulary) = (label_names.clone(), vocabulary.clone());
        Labelled { train, train_labels, test, test_labels, label_names, vocabulary }
    };
    (0..n_folds).map(fold).collect()
}

#[cfg(test)]
mod tests;
