//! Documents as they come in → word counts, by settings and a vocabulary that are saved together.

use super::error::TextError;
use super::settings::{TextSettings, VocabularyChoice};
use super::tokenizer::Tokenizer;
use super::vocabulary::{Renumbering, Vocabulary};
use crate::data::DocumentBuffer;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::fmt::Write;

/// A document as it comes in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RawDocument {
    /// Text, to be split into words.
    Text(String),
    /// Words, split by others.
    Tokens(Vec<String>),
    /// How often each term occurs, terms being numbers: places in a given list of words, and otherwise words named by
    /// their number.
    Counts {
        /// The terms, in any order.
        terms: Vec<u32>,
        /// How often each occurs.
        counts: Vec<u32>,
    },
}

/// The way from documents to word counts. Save it with the model, and scoring needs no settings.
///
/// ```
/// use bayestream::data::DocumentBuffer;
/// use bayestream::text::{RawDocument, TextPipeline, TextSettings};
///
/// let mut settings = TextSettings::default();
/// settings.set("stop", "english")?;
/// settings.set("stem", "english")?;
/// let mut pipeline = TextPipeline::new(settings)?;
/// let mut buffer = DocumentBuffer::new();
/// let texts = ["The cat sees cats.", "Dogs see the cat."].map(|text| RawDocument::Text(text.into()));
/// let encoded = pipeline.encode(&texts, &mut buffer)?;
/// // learner.forget_words(&encoded.recycled);
/// // learner.update(&buffer.documents(), pipeline.vocabulary().len());
/// assert_eq!(buffer.documents().get(0), (&[0, 1][..], &[2, 1][..]));
/// assert_eq!(pipeline.vocabulary().word(0), Some("cat"));
///
/// let encoded = pipeline.encode_frozen(&[RawDocument::Text("cats and birds".into())], &mut buffer)?;
/// assert_eq!((encoded.n_tokens, encoded.n_unknown()), (1, 1));
/// # Ok::<(), bayestream::text::TextError>(())
/// ```
#[derive(Clone, Serialize, Deserialize)]
#[serde(try_from = "Saved")]
pub struct TextPipeline {
    settings: TextSettings,
    vocabulary: Vocabulary,
    #[serde(skip)]
    tokenizer: Tokenizer,
}

/// A pipeline as a file has it.
#[derive(Deserialize)]
struct Saved {
    settings: TextSettings,
    vocabulary: Vocabulary,
}

/// What became of the words of a batch. Each is counted once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Encoded {
    /// Numbers, in order, that stood for other words before this batch: let the learner forget them before it learns the
    /// batch.
    pub recycled: Vec<u32>,
    /// Words that entered the documents.
    pub n_tokens: u64,
    /// Words left out by the settings: stop words, numbers, words too short or too long.
    pub n_filtered: u64,
    /// Words of each document that have no number: not in the vocabulary, not yet seen often enough, or no room for them.
    pub unknown: Vec<u64>,
    /// Documents left without any word.
    pub n_empty: usize,
}

impl Encoded {
    /// Words without a number, of all documents.
    pub fn n_unknown(&self) -> u64 {
        self.unknown.iter().sum()
    }
}

impl TextPipeline {
    /// A pipeline whose vocabulary is found while streaming, in the way that the settings say.
    pub fn new(settings: TextSettings) -> Result<TextPipeline, TextError> {
        let tokenizer = Tokenizer::new(&settings)?;
        let vocabulary = match settings.vocabulary {
            VocabularyChoice::Grow => Vocabulary::growing(settings.max_words, settings.min_count),
            VocabularyChoice::Hash => Vocabulary::hashing(settings.max_words, settings.min_count),
        };
        Ok(TextPipeline { settings, vocabulary, tokenizer })
    }

    /// A pipeline with a given list of words, which stays as it is: `vocabulary`, `max-words` and `min-count` say nothing
    /// then. Terms of [`RawDocument::Counts`] are places in the list, and keep these numbers.
    pub fn with_words(settings: TextSettings, words: Vec<String>) -> Result<TextPipeline, TextError> {
        let tokenizer = Tokenizer::new(&settings)?;
        Ok(TextPipeline { settings, vocabulary: Vocabulary::from_list(words), tokenizer })
    }

    /// Its settings.
    pub fn settings(&self) -> &TextSettings {
        &self.settings
    }

    /// Its words and their numbers.
    pub fn vocabulary(&self) -> &Vocabulary {
        &self.vocabulary
    }

    /// Empties `into` and fills it with the documents as word counts, taking up new words. All or nothing: after an
    /// error the vocabulary is as it was and `into` is empty.
    pub fn encode(&mut self, documents: &[RawDocument], into: &mut DocumentBuffer) -> Result<Encoded, TextError> {
        into.clear();
        self.check(documents)?;
        self.vocabulary.begin_batch();
        let vocabulary = &mut self.vocabulary;
        let mut pass = Pass::new(&mut self.tokenizer, into);
        for document in documents {
            match (document, vocabulary.list().is_some()) {
                (RawDocument::Counts { terms, counts }, true) => pass.listed_terms(vocabulary, terms, counts),
                _ => pass.document(document, |word, times| vocabulary.learn(word, times)),
            }
        }
        let mut encoded = pass.encoded;
        encoded.recycled = self.vocabulary.end_batch();
        Ok(encoded)
    }

    /// Empties `into` and fills it with the documents as counts of the words that are known, changing nothing.
    pub fn encode_frozen(&self, documents: &[RawDocument], into: &mut DocumentBuffer) -> Result<Encoded, TextError> {
        into.clear();
        self.check(documents)?;
        let vocabulary = &self.vocabulary;
        let mut tokenizer = self.tokenizer.fresh();
        let mut pass = Pass::new(&mut tokenizer, into);
        for document in documents {
            match (document, vocabulary.list().is_some()) {
                (RawDocument::Counts { terms, counts }, true) => pass.listed_terms(vocabulary, terms, counts),
                _ => pass.document(document, |word, times| Some((vocabulary.number(word)?, times))),
            }
        }
        Ok(pass.encoded)
    }

    /// Puts the pipelines of several shards together, and says how their words' numbers change. The order in which they
    /// are given does not matter. See [`Vocabulary::merge`].
    pub fn merge(parts: &[&TextPipeline]) -> Result<(TextPipeline, Renumbering), TextError> {
        if parts.iter().any(|part| part.settings != parts[0].settings) {
            return Err(TextError::Differ { what: "text settings" });
        }
        let vocabularies: Vec<&Vocabulary> = parts.iter().map(|part| &part.vocabulary).collect();
        let (vocabulary, renumbering) = Vocabulary::merge(&vocabularies)?;
        let (settings, tokenizer) = (parts[0].settings.clone(), parts[0].tokenizer.fresh());
        Ok((TextPipeline { settings, vocabulary, tokenizer }, renumbering))
    }

    /// Everything that can be wrong with a batch, before anything changes.
    fn check(&self, documents: &[RawDocument]) -> Result<(), TextError> {
        for (document, raw) in documents.iter().enumerate() {
            let RawDocument::Counts { terms, counts } = raw else { continue };
            if terms.len() != counts.len() {
                return Err(TextError::UnevenCounts { document, n_terms: terms.len(), n_counts: counts.len() });
            }
            let n_words = self.vocabulary.list().map_or(usize::MAX, <[String]>::len);
            if let Some(term) = terms.iter().find(|term| **term as usize >= n_words) {
                return Err(TextError::UnknownTerm { document, term: *term, n_words });
            }
        }
        Ok(())
    }
}

/// One way through a batch.
struct Pass<'a> {
    tokenizer: &'a mut Tokenizer,
    into: &'a mut DocumentBuffer,
    encoded: Encoded,
    /// The numbers of the current document's words.
    numbers: Vec<u32>,
}

impl<'a> Pass<'a> {
    fn new(tokenizer: &'a mut Tokenizer, into: &'a mut DocumentBuffer) -> Pass<'a> {
        Pass { tokenizer, into, encoded: Encoded::default(), numbers: Vec::new() }
    }

    /// Adds a document whose words `number` turns into numbers, with how many of the occurrences count.
    fn document(&mut self, document: &RawDocument, mut number: impl FnMut(&str, u32) -> Option<(u32, u32)>) {
        let mut unknown = 0;
        match document {
            RawDocument::Text(text) => {
                self.numbers.clear();
                self.encoded.n_filtered += self.tokenizer.split(text, |word| match number(word, 1) {
                    Some((number, _)) => self.numbers.push(number),
                    None => unknown += 1,
                });
                self.push_numbers();
            }
            RawDocument::Tokens(tokens) => {
                self.numbers.clear();
                for token in tokens {
                    match self.tokenizer.token(token, |word| word.map(|word| number(word, 1))) {
                        Some(Some((number, _))) => self.numbers.push(number),
                        Some(None) => unknown += 1,
                        None => self.encoded.n_filtered += 1,
                    }
                }
                self.push_numbers();
            }
            RawDocument::Counts { terms, counts } => {
                let mut name = String::new();
                let mut pairs = Vec::with_capacity(terms.len());
                for (term, count) in terms.iter().zip(counts).filter(|(_, count)| **count > 0) {
                    name.clear();
                    write!(name, "{term}").expect("text can always be added to a string");
                    let (number, known) = number(&name, *count).unwrap_or((0, 0));
                    pairs.push((number, known));
                    unknown += u64::from(count - known);
                }
                self.push_pairs(pairs);
            }
        }
        self.encoded.unknown.push(unknown);
    }

    /// Adds a document whose terms are places in a given list.
    fn listed_terms(&mut self, vocabulary: &Vocabulary, terms: &[u32], counts: &[u32]) {
        let mut pairs = Vec::with_capacity(terms.len());
        for (term, count) in terms.iter().zip(counts) {
            match vocabulary.word(*term).is_some_and(|word| self.tokenizer.is_stop_word(word)) {
                true => self.encoded.n_filtered += u64::from(*count),
                false => pairs.push((*term, *count)),
            }
        }
        self.push_pairs(pairs);
        self.encoded.unknown.push(0);
    }

    fn push_numbers(&mut self) {
        self.encoded.n_tokens += self.numbers.len() as u64;
        self.encoded.n_empty += usize::from(self.numbers.is_empty());
        self.into.push_tokens(self.numbers.iter().copied());
    }

    fn push_pairs(&mut self, pairs: Vec<(u32, u32)>) {
        let n_tokens: u64 = pairs.iter().map(|pair| u64::from(pair.1)).sum();
        self.encoded.n_tokens += n_tokens;
        self.encoded.n_empty += usize::from(n_tokens == 0);
        self.into.push_counts(pairs);
    }
}

impl PartialEq for TextPipeline {
    fn eq(&self, other: &TextPipeline) -> bool {
        self.settings == other.settings && self.vocabulary == other.vocabulary
    }
}

impl fmt::Debug for TextPipeline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TextPipeline").field("settings", &self.settings).field("vocabulary", &self.vocabulary).finish()
    }
}

impl TryFrom<Saved> for TextPipeline {
    type Error = TextError;

    fn try_from(saved: Saved) -> Result<TextPipeline, TextError> {
        let tokenizer = Tokenizer::new(&saved.settings)?;
        Ok(TextPipeline { settings: saved.settings, vocabulary: saved.vocabulary, tokenizer })
    }
}
