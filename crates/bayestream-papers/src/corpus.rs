//! Raw text to word counts, as the papers on topics did it: stop words out, stems, no rare words.

use crate::data::DataFolder;
use crate::error::ReproduceError;
use bayestream::data::DocumentBuffer;
use rust_stemmers::{Algorithm, Stemmer};
use serde::Deserialize;
use std::collections::BTreeMap;
use unicode_segmentation::UnicodeSegmentation;

/// The text of 1,798 Reuters articles that have a title only.
const FILLER: &str = "Blah blah blah";
/// Letters of a word, at least.
const SHORTEST: usize = 3;

/// Documents as word counts.
pub struct Corpus {
    /// One document after the other, in the order of the file.
    pub documents: DocumentBuffer,
    /// The stems, by their numbers.
    pub vocabulary: Vec<String>,
    /// What the documents are about, where the data says so.
    pub labels: Vec<Vec<String>>,
}

#[derive(Deserialize)]
struct Article {
    #[serde(default)]
    title: Option<String>,
    #[serde(default)]
    text: Option<String>,
    #[serde(default)]
    labels: Vec<String>,
}

impl Corpus {
    /// Reuters-21578: title and text, words seen more than ten times.
    pub fn reuters(data: &DataFolder) -> Result<Corpus, ReproduceError> {
        let articles: Vec<Article> = data.ndjson("reuters21578/reuters21578.ndjson.gz")?;
        Ok(Corpus::of(articles, 10))
    }

    /// NIPS papers of 1987 to 2003, words seen more than fifty times.
    pub fn nips(data: &DataFolder) -> Result<Corpus, ReproduceError> {
        let articles: Vec<Article> = data.ndjson("nips/nips1987-2003-raw.ndjson.gz")?;
        Ok(Corpus::of(articles, 50))
    }

    fn of(articles: Vec<Article>, rare: u64) -> Corpus {
        let stemmer = Stemmer::create(Algorithm::English);
        let mut stop: Vec<&str> = stop_words::lookup("en").unwrap_or_default().to_vec();
        stop.sort_unstable();
        // Stems are found once per word; ordered maps, so that numbers do not hang on chance.
        let mut stems: BTreeMap<String, Option<u32>> = BTreeMap::new();
        let mut numbers: BTreeMap<String, u32> = BTreeMap::new();
        let mut counts: Vec<u64> = Vec::new();
        let mut tokens: Vec<Vec<u32>> = Vec::with_capacity(articles.len());
        for article in &articles {
            let text = article.text.as_deref().filter(|text| !text.contains(FILLER)).unwrap_or("");
            let mut document = Vec::new();
            for part in [article.title.as_deref().unwrap_or(""), text] {
                for word in part.unicode_words().flat_map(|word| word.split(|c: char| !c.is_ascii_alphabetic())) {
                    if word.len() < SHORTEST {
                        continue;
                    }
                    let word = word.to_ascii_lowercase();
                    let number = match stems.get(&word) {
                        Some(number) => *number,
                        None => {
                            let number = stop.binary_search(&word.as_str()).is_err().then(|| {
                                let next = numbers.len() as u32;
                                *numbers.entry(stemmer.stem(&word).into_owned()).or_insert(next)
                            });
                            stems.insert(word, number);
                            number
                        }
                    };
                    let Some(number) = number else { continue };
                    if counts.len() <= number as usize {
                        counts.resize(number as usize + 1, 0);
                    }
                    counts[number as usize] += 1;
                    document.push(number);
                }
            }
            tokens.push(document);
        }
        // Numbers of the words that are kept, in the order of the alphabet.
        let mut renumbered = vec![None; counts.len()];
        let mut vocabulary = Vec::new();
        for (stem, number) in numbers {
            if counts[number as usize] > rare {
                renumbered[number as usize] = Some(vocabulary.len() as u32);
                vocabulary.push(stem);
            }
        }
        let mut documents = DocumentBuffer::new();
        for document in tokens {
            documents.push_tokens(document.into_iter().filter_map(|word| renumbered[word as usize]));
        }
        Corpus { documents, vocabulary, labels: articles.into_iter().map(|a| a.labels).collect() }
    }

    /// Chosen documents, in the order given.
    pub fn chosen(&self, order: &[usize]) -> DocumentBuffer {
        let all = self.documents.documents();
        let mut out = DocumentBuffer::new();
        for &at in order {
            let (words, counts) = all.get(at);
            out.push_counts(words.iter().copied().zip(counts.iter().copied()).collect());
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stop_words_rare_words_and_fillers_go_and_stems_are_counted() {
        let article = |title: &str, text: &str| Article {
            title: Some(title.into()),
            text: Some(text.into()),
            labels: vec!["grain".into()],
        };
        let articles = vec![
            article("Exports rise", "The exporting of wheat, and exports 1987."),
            article("Wheat", "******Blah blah blah."),
            article("Rare", "wheat x"),
        ];
        let corpus = Corpus::of(articles, 2);
        assert_eq!(corpus.vocabulary, ["export", "wheat"]);
        let documents = corpus.documents.documents();
        assert_eq!(documents.get(0), (&[0, 1][..], &[3, 1][..]));
        assert_eq!(documents.get(1), (&[1][..], &[1][..]));
        assert_eq!(documents.len(), corpus.labels.len());
        let chosen = corpus.chosen(&[2, 0]);
        assert_eq!(chosen.documents().get(1), documents.get(0));
    }
}
