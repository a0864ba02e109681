//! What the whole way from documents to word counts promises.

use super::*;
use crate::data::DocumentBuffer;
use proptest::prelude::*;

fn text(text: &str) -> RawDocument {
    RawDocument::Text(text.to_string())
}

fn tokens(text: &str) -> RawDocument {
    RawDocument::Tokens(text.split_whitespace().map(str::to_string).collect())
}

fn pipeline(settings: &[(&str, &str)]) -> TextPipeline {
    let mut chosen = TextSettings::default();
    settings.iter().for_each(|(name, value)| chosen.set(name, value).unwrap());
    TextPipeline::new(chosen).unwrap()
}

/// A document of the buffer as its words, sorted, repeats included.
fn names(pipeline: &TextPipeline, buffer: &DocumentBuffer, document: usize) -> Vec<String> {
    let (words, counts) = buffer.documents().get(document);
    let name = |number: &u32| pipeline.vocabulary().word(*number).unwrap().to_string();
    let mut names: Vec<String> =
        words.iter().zip(counts).flat_map(|(word, count)| vec![name(word); *count as usize]).collect();
    names.sort();
    names
}

#[test]
fn every_word_is_accounted_for() {
    let mut pipeline = pipeline(&[("stop", "english"), ("min-count", "2")]);
    let mut buffer = DocumentBuffer::new();
    let documents = [text("The cat saw a cat 7 times"), text(""), tokens("cat dog the dog dog")];
    let encoded = pipeline.encode(&documents, &mut buffer).unwrap();
    // the, a, 7 and the are left out; the first cat, saw, times and the first dog are not known yet.
    assert_eq!(encoded, Encoded { recycled: vec![], n_tokens: 4, n_filtered: 4, unknown: vec![3, 0, 1], n_empty: 1 });
    assert_eq!(names(&pipeline, &buffer, 0), ["cat"]);
    assert_eq!(names(&pipeline, &buffer, 2), ["cat", "dog", "dog"]);
    assert_eq!(buffer.documents().len(), 3);
    // Scoring counts a known word from its first occurrence on.
    let frozen = pipeline.encode_frozen(&documents, &mut buffer).unwrap();
    assert_eq!((frozen.n_tokens, frozen.n_filtered, frozen.unknown), (6, 4, vec![2, 0, 0]));
}

#[test]
fn a_word_repeated_a_million_times() {
    let mut pipeline = pipeline(&[]);
    let mut buffer = DocumentBuffer::new();
    pipeline.encode(&[text(&"again ".repeat(1_000_000))], &mut buffer).unwrap();
    assert_eq!(buffer.documents().get(0), (&[0][..], &[1_000_000][..]));
    assert_eq!(pipeline.vocabulary().len(), 1);
}

#[test]
fn more_words_than_the_bound() {
    let mut pipeline = pipeline(&[("max-words", "16")]);
    let mut buffer = DocumentBuffer::new();
    let all: Vec<String> = (0..26u8).map(|letter| format!("x{}", char::from(b'a' + letter))).collect();
    let encoded = pipeline.encode(&[text(&all.join(" "))], &mut buffer).unwrap();
    assert_eq!((encoded.n_tokens, encoded.n_unknown()), (16, 10));
    let encoded = pipeline.encode(&[text(&all[16..].join(" "))], &mut buffer).unwrap();
    assert_eq!((encoded.n_tokens, encoded.n_unknown()), (10, 0));
    assert_eq!(encoded.recycled, (0..10).collect::<Vec<u32>>());
    assert_eq!(names(&pipeline, &buffer, 0), all[16..]);
}

#[test]
fn terms_are_named_by_their_numbers_or_by_a_list() {
    let documents = [RawDocument::Counts { terms: vec![2_000_000, 1, 7], counts: vec![3, 0, 2] }];
    let mut buffer = DocumentBuffer::new();
    let mut numbered = pipeline(&[]);
    let encoded = numbered.encode(&documents, &mut buffer).unwrap();
    assert_eq!((numbered.vocabulary().len(), encoded.n_tokens), (2, 5));
    assert_eq!(names(&numbered, &buffer, 0), ["2000000", "2000000", "2000000", "7", "7"]);
    let frozen =
        numbered.encode_frozen(&[RawDocument::Counts { terms: vec![7, 8], counts: vec![1, 4] }], &mut buffer).unwrap();
    assert_eq!((frozen.n_tokens, frozen.unknown), (1, vec![4]));

    let settings = TextSettings { stop: Language::find("english"), ..TextSettings::default() };
    let words = ["the", "cat", "sat"].map(str::to_string).to_vec();
    let mut listed = TextPipeline::with_words(settings, words).unwrap();
    let documents = [RawDocument::Counts { terms: vec![2, 0, 1], counts: vec![5, 9, 1] }, text("the cat ran")];
    let encoded = listed.encode(&documents, &mut buffer).unwrap();
    assert_eq!(buffer.documents().get(0), (&[1, 2][..], &[1, 5][..]));
    assert_eq!(buffer.documents().get(1), (&[1][..], &[1][..]));
    assert_eq!((encoded.n_tokens, encoded.n_filtered, encoded.unknown.clone()), (7, 10, vec![0, 1]));
    assert_eq!(listed.encode_frozen(&documents, &mut buffer).unwrap(), encoded);
}

#[test]
fn a_failed_batch_changes_nothing() {
    let mut buffer = DocumentBuffer::new();
    let uneven = RawDocument::Counts { terms: vec![1, 2], counts: vec![1] };
    let mut growing = pipeline(&[]);
    growing.encode(&[text("one two")], &mut buffer).unwrap();
    let before = growing.clone();
    let error = growing.encode(&[text("three four"), uneven], &mut buffer).unwrap_err();
    assert_eq!(error, TextError::UnevenCounts { document: 1, n_terms: 2, n_counts: 1 });
    assert_eq!(growing, before);
    assert!(buffer.documents().is_empty());

    let mut listed = TextPipeline::with_words(TextSettings::default(), vec!["a".into(), "b".into()]).unwrap();
    let error = listed.encode(&[RawDocument::Counts { terms: vec![2], counts: vec![1] }], &mut buffer).unwrap_err();
    assert_eq!((error.code(), error.document()), ("unknown-term", Some(0)));
    assert!(error.to_string().contains("has term 2, but the vocabulary has 2 words"), "{error}");
}

#[test]
fn a_loaded_pipeline_needs_no_settings() {
    let mut trained = pipeline(&[("stop", "english"), ("stem", "english"), ("max-words", "50")]);
    let mut buffer = DocumentBuffer::new();
    trained.encode(&[text("The cats are running")], &mut buffer).unwrap();
    let bytes = postcard::to_stdvec(&trained).unwrap();
    let loaded: TextPipeline = postcard::from_bytes(&bytes).unwrap();
    assert_eq!(loaded, trained);
    loaded.encode_frozen(&[text("the cat runs")], &mut buffer).unwrap();
    assert_eq!(names(&loaded, &buffer, 0), ["cat", "run"]);
    for cut in 0..bytes.len() {
        assert!(postcard::from_bytes::<TextPipeline>(&bytes[..cut]).is_err());
    }
}

#[test]
fn only_pipelines_of_the_same_settings_are_merged() {
    let (mut a, b) = (pipeline(&[("stop", "english")]), pipeline(&[("stop", "german")]));
    assert_eq!(TextPipeline::merge(&[&a, &b]).unwrap_err().code(), "vocabularies-differ");
    let mut buffer = DocumentBuffer::new();
    let mut c = pipeline(&[("stop", "english")]);
    a.encode(&[text("cat dog dog")], &mut buffer).unwrap();
    c.encode(&[text("bird dog")], &mut buffer).unwrap();
    let (merged, maps) = TextPipeline::merge(&[&a, &c]).unwrap();
    assert_eq!([0, 1, 2].map(|number| merged.vocabulary().word(number).unwrap()), ["dog", "bird", "cat"]);
    assert_eq!(maps, [vec![Some(2), Some(0)], vec![Some(1), Some(0)]]);
}

proptest! {
    #[test]
    fn names_give_the_words_back_and_frozen_is_the_same(
        documents in prop::collection::vec(prop::collection::vec("[a-e]{1,2}", 0..20), 0..8), cut in 0usize..8
    ) {
        let raw: Vec<RawDocument> = documents.iter().map(|words| RawDocument::Tokens(words.clone())).collect();
        let mut growing = pipeline(&[]);
        let (first, second) = raw.split_at(cut.min(raw.len()));
        let mut buffer = DocumentBuffer::new();
        growing.encode(first, &mut buffer).unwrap();
        let encoded = growing.encode(second, &mut buffer).unwrap();
        for (document, words) in documents[first.len()..].iter().enumerate() {
            let mut words = words.clone();
            words.sort();
            prop_assert_eq!(names(&growing, &buffer, document), words);
        }
        let mut frozen = DocumentBuffer::new();
        prop_assert_eq!(growing.encode_frozen(second, &mut frozen).unwrap(), encoded);
        prop_assert_eq!(frozen.documents().iter().collect::<Vec<_>>(), buffer.documents().iter().collect::<Vec<_>>());
    }

    #[test]
    fn any_text_in_any_language_is_taken(written in "\\PC{0,40}|.{0,40}", words in "[\\p{L}'’]{1,12}") {
        for language in Language::all() {
            let mut settings = TextSettings { stop: Some(language), numbers: true, ..TextSettings::default() };
            settings.stem = language.has_stemmer().then_some(language);
            let mut pipeline = TextPipeline::new(settings).unwrap();
            let mut buffer = DocumentBuffer::new();
            let documents = [text(&written), text(&words), tokens(&written)];
            let encoded = pipeline.encode(&documents, &mut buffer).unwrap();
            prop_assert_eq!(encoded.n_tokens, buffer.documents().n_tokens());
            prop_assert_eq!(encoded.n_unknown(), 0);
        }
    }
}
