//! Raw text to word counts, by the library's text pipeline.

mod labelled;
mod posts;
mod reuters;
mod split;

pub use labelled::Labelled;
pub use split::Split;

use crate::data::DataFolder;
use crate::error::ReproduceError;
use bayestream::data::{DocumentBuffer, Documents};
use bayestream::text::{Language, RawDocument, TextPipeline, TextSettings};
use serde::Deserialize;

/// The type of 1,798 Reuters articles that have a title only, and a filler for a text.
const TITLE_ONLY: &str = "BRIEF";
/// Letters of a word, at least.
const SHORTEST: usize = 3;

/// Documents as counts of stems: stop words and rare words out, as the papers on topics did it.
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
    #[serde(default, rename = "type")]
    kind: Option<String>,
    #[serde(default)]
    labels: Vec<String>,
    /// The side of the split ModApte, of Reuters articles.
    #[serde(default)]
    modapte: Option<String>,
}

impl Article {
    fn is_title_only(&self) -> bool {
        self.kind.as_deref() == Some(TITLE_ONLY)
    }

    fn whole(&self) -> String {
        let text = self.text.as_deref().filter(|_| !self.is_title_only());
        format!("{} {}", self.title.as_deref().unwrap_or(""), text.unwrap_or(""))
    }
}

fn reuters_articles(data: &DataFolder) -> Result<Vec<Article>, ReproduceError> {
    data.ndjson("reuters21578/reuters21578.ndjson.gz")
}

impl Corpus {
    /// Reuters-21578: title and text, words seen more than ten times.
    pub fn reuters(data: &DataFolder) -> Result<Corpus, ReproduceError> {
        Corpus::of(reuters_articles(data)?, 10)
    }

    /// NIPS papers of 1987 to 2003, words seen more than fifty times.
    pub fn nips(data: &DataFolder) -> Result<Corpus, ReproduceError> {
        Corpus::of(data.ndjson("nips/nips1987-2003-raw.ndjson.gz")?, 50)
    }

    fn of(articles: Vec<Article>, rare: u64) -> Result<Corpus, ReproduceError> {
        let english = Language::find("english");
        let settings = TextSettings {
            stop: english,
            stem: english,
            min_length: SHORTEST,
            // Long words are rare ones, which go anyway.
            max_length: 1000,
            ..TextSettings::default()
        };
        // Words are of plain letters; what stands between two of them separates them.
        let letters = |article: &Article| {
            RawDocument::Text(article.whole().replace(|letter: char| !letter.is_ascii_alphabetic(), " "))
        };
        let texts: Vec<RawDocument> = articles.iter().map(letters).collect();
        let frequent = census(&settings, &texts)?.into_iter().filter(|(_, count)| *count > rare);
        let vocabulary: Vec<String> = frequent.map(|(word, _)| word).collect();
        let documents = counted(&settings, &vocabulary, &texts)?;
        Ok(Corpus { documents, vocabulary, labels: articles.into_iter().map(|a| a.labels).collect() })
    }

    /// Chosen documents, in the order given.
    pub fn chosen(&self, order: &[usize]) -> DocumentBuffer {
        chosen(&self.documents.documents(), order)
    }
}

/// The words of all texts with how often each occurs, in the order of the alphabet.
fn census(settings: &TextSettings, texts: &[RawDocument]) -> Result<Vec<(String, u64)>, ReproduceError> {
    let all = TextSettings { max_words: 1 << 24, ..settings.clone() };
    let mut pipeline = TextPipeline::new(all)?;
    pipeline.encode(texts, &mut DocumentBuffer::new())?;
    let vocabulary = pipeline.vocabulary();
    let entry = |number: u32| Some((vocabulary.word(number)?.to_string(), vocabulary.count(number)));
    let mut words: Vec<(String, u64)> = (0..vocabulary.len() as u32).filter_map(entry).collect();
    words.sort_unstable();
    Ok(words)
}

/// Documents as counts of the words of a list.
fn counted(
    settings: &TextSettings,
    vocabulary: &[String],
    documents: &[RawDocument],
) -> Result<DocumentBuffer, ReproduceError> {
    let pipeline = TextPipeline::with_words(settings.clone(), vocabulary.to_vec())?;
    let mut buffer = DocumentBuffer::new();
    pipeline.encode_frozen(documents, &mut buffer)?;
    Ok(buffer)
}

/// Chosen documents, in the order given.
pub fn chosen(documents: &Documents<'_>, order: &[usize]) -> DocumentBuffer {
    let mut out = DocumentBuffer::new();
    for &at in order {
        let (words, counts) = documents.get(at);
        out.push_counts(words.iter().copied().zip(counts.iter().copied()).collect());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stop_words_rare_words_and_fillers_go_and_stems_are_counted() {
        let article = |kind: &str, title: &str, text: &str| Article {
            title: Some(title.into()),
            text: Some(text.into()),
            kind: Some(kind.into()),
            labels: vec!["grain".into()],
            modapte: None,
        };
        let articles = vec![
            article("NORM", "Exports rise", "The exporting of wheat, and exports 1987."),
            article("BRIEF", "Wheat", "******Blah blah blah."),
            article("NORM", "Rare", "wheat x"),
        ];
        let corpus = Corpus::of(articles, 2).unwrap();
        assert_eq!(corpus.vocabulary, ["export", "wheat"]);
        let documents = corpus.documents.documents();
        assert_eq!(documents.get(0), (&[0, 1][..], &[3, 1][..]));
        assert_eq!(documents.get(1), (&[1][..], &[1][..]));
        assert_eq!(documents.len(), corpus.labels.len());
        let chosen = corpus.chosen(&[2, 0]);
        assert_eq!(chosen.documents().get(1), documents.get(0));
    }
}
