//! Our kinds on one corpus in one order: learnt in one pass, then asked for the labels of the test documents.

use crate::{Answer, FIRST_ORDER, FOLDS_SEED};
use bayestream::data::DocumentBuffer;
use bayestream::model::{DocumentConfig, DocumentKind, DocumentModel, LinearConfig, LinearKind, LinearModel};
use bayestream::text::RawDocument;
use bayestream_papers::{Labelled, npy};
use cpu_time::ProcessTime;
use serde_json::{Value, json};
use std::path::Path;

/// Documents given to a model at once.
const PORTION: usize = 1000;
/// What documents without a label are said to be about while learning, where documents have several labels or none: without
/// a label they would be learnt without looking at labels.
const OTHER: &str = "(other)";

/// A model of one of the two sorts that learn labels of documents.
enum Learner {
    Topics(Box<DocumentModel>),
    Linear(Box<LinearModel>),
}

impl Learner {
    /// `words` is the list that documents' numbers are places in; none for documents of words as text.
    fn new(kind: &str, settings: &[&str], words: Option<Vec<String>>, several: bool) -> Answer<Learner> {
        let pairs: Vec<(&str, &str)> = settings.iter().filter_map(|setting| setting.split_once('=')).collect();
        if let Ok(kind) = kind.parse::<LinearKind>() {
            let mut config = LinearConfig::new(kind, Vec::new());
            config.settings.set(kind, "features", "words")?;
            if several {
                config.settings.set(kind, "target", "labels")?;
            }
            pairs.iter().try_for_each(|(name, value)| config.settings.set(kind, name, value))?;
            let model = match words {
                Some(words) => LinearModel::with_words(config, words)?,
                None => LinearModel::new(config)?,
            };
            return Ok(Learner::Linear(Box::new(model)));
        }
        let kind: DocumentKind = kind.parse()?;
        let mut config = DocumentConfig::new(kind);
        pairs.iter().try_for_each(|(name, value)| config.settings.set(kind, name, value))?;
        let model = match words {
            Some(words) => DocumentModel::with_words(config, words)?,
            None => DocumentModel::new(config)?,
        };
        Ok(Learner::Topics(Box::new(model)))
    }

    fn learn(&mut self, documents: &[RawDocument], labels: &[Vec<String>]) -> Answer<()> {
        match self {
            Learner::Topics(model) => model.update_labelled(documents, labels).map(|_| ())?,
            Learner::Linear(model) => model.update_documents(documents, labels).map(|_| ())?,
        }
        Ok(())
    }

    /// The names of the labels told of each document.
    fn tell(&self, documents: &[RawDocument]) -> Answer<Vec<Vec<String>>> {
        match self {
            Learner::Topics(model) => {
                let (scores, _) = model.score(documents)?;
                let names = model.labels().names();
                let told = |at: usize| model.told_labels(scores.margins_of(at));
                let named = |at: usize| told(at).iter().map(|label| names[*label as usize].clone()).collect();
                Ok((0..documents.len()).map(named).collect())
            }
            Learner::Linear(model) => {
                let (judged, _) = model.score_documents(documents)?;
                let named = |labels: &[usize]| labels.iter().map(|label| model.labels()[*label].clone()).collect();
                Ok(judged.iter().map(|one| named(&one.labels)).collect())
            }
        }
    }
}

fn corpus_of(data: &Path, name: &str) -> Answer<Labelled> {
    Ok(match name {
        "news" => Labelled::newsgroups(data)?,
        "two" => Labelled::two_newsgroups(data)?,
        "reuters" => Labelled::reuters(data)?,
        _ => {
            let fold: usize = name.strip_prefix("wiki-").ok_or("no such corpus")?.parse()?;
            Labelled::wiki_folds(data, FOLDS_SEED)?.into_iter().nth(fold).ok_or("no such fold")?
        }
    })
}

/// Documents as numbers of words or as words.
fn raw(documents: &DocumentBuffer, vocabulary: Option<&[String]>) -> Vec<RawDocument> {
    let one = |(words, counts): (&[u32], &[u32])| match vocabulary {
        None => RawDocument::Counts { terms: words.to_vec(), counts: counts.to_vec() },
        Some(names) => {
            let repeated = |(word, n): (&u32, &u32)| std::iter::repeat_n(names[*word as usize].clone(), *n as usize);
            RawDocument::Tokens(words.iter().zip(counts).flat_map(repeated).collect())
        }
    };
    documents.documents().iter().map(one).collect()
}

pub fn learn(
    data: &Path,
    name: &str,
    order: u64,
    told: &Path,
    form: &str,
    kind: &str,
    settings: &[&str],
) -> Answer<Value> {
    let corpus = corpus_of(data, name)?;
    let several = corpus.train_labels.iter().any(|labels| labels.len() != 1);
    let (train, train_labels) = corpus.train_in_order(FIRST_ORDER + order);
    let as_text = match form {
        "text" => Some(corpus.vocabulary.as_slice()),
        "numbers" => None,
        _ => return Err("documents are given as text or as numbers".into()),
    };
    let (train, test) = (raw(&train, as_text), raw(&corpus.test, as_text));
    let named = |labels: &Vec<u32>| -> Vec<String> {
        let names: Vec<String> = labels.iter().map(|label| corpus.label_names[*label as usize].clone()).collect();
        if names.is_empty() && several { vec![OTHER.to_string()] } else { names }
    };
    let labels: Vec<Vec<String>> = train_labels.iter().map(named).collect();
    let words = as_text.is_none().then(|| corpus.vocabulary.clone());
    let clock = ProcessTime::now();
    let mut learner = Learner::new(kind, settings, words, several)?;
    for (documents, labels) in train.chunks(PORTION).zip(labels.chunks(PORTION)) {
        learner.learn(documents, labels)?;
    }
    if let Learner::Topics(model) = &mut learner {
        model.finish();
        // What is still to be learnt when labels are asked for belongs to learning.
        model.score(&test[..1.min(test.len())])?;
    }
    let train_seconds = clock.elapsed().as_secs_f64();
    let clock = ProcessTime::now();
    let given = learner.tell(&test)?;
    let score_seconds = clock.elapsed().as_secs_f64();
    let place = |label: &String| corpus.label_names.iter().position(|name| name == label);
    let mut rows = Vec::new();
    for (at, labels) in given.iter().enumerate() {
        labels.iter().filter_map(place).for_each(|label| rows.extend([at as f64, label as f64]));
    }
    npy::write(told, &rows, 2)?;
    Ok(json!({ "train_seconds": train_seconds, "score_seconds": score_seconds, "n_scored": test.len() }))
}
