//! Corpora as bags of words, from the data folder.

use bayestream::data::{DocumentBuffer, Documents};
use bayestream::num;
use flate2::read::MultiGzDecoder;
use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

/// Documents to learn from and documents to be judged by, over one vocabulary.
pub struct Corpus {
    pub name: &'static str,
    pub vocabulary: Vec<String>,
    pub train: DocumentBuffer,
    pub test: DocumentBuffer,
}

type Read<T> = Result<T, Box<dyn Error>>;

/// Objects of a gzipped file, one a line.
fn objects(folder: &Path, file: &str) -> Read<Vec<serde_json::Value>> {
    let path = folder.join(file);
    let handle = File::open(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let lines = BufReader::new(MultiGzDecoder::new(BufReader::new(handle))).lines();
    lines.map(|line| Ok(serde_json::from_str(&line?)?)).collect()
}

fn text(object: &serde_json::Value, field: &str) -> String {
    object[field].as_str().unwrap_or_default().to_string()
}

/// 20 Newsgroups without headers, footers and quotes; 10,000 words; `n_test` test documents after the first `skip`.
pub fn newsgroups(folder: &Path, skip: usize, n_test: usize) -> Read<Corpus> {
    let part = |file: &str| -> Read<Vec<String>> {
        let strip =
            |object: &serde_json::Value| without_quotes(&without_footer(&without_header(&text(object, "text"))));
        Ok(objects(folder, file)?.iter().map(strip).collect())
    };
    let (train, test) = (part("20newsgroups/raw-train.ndjson.gz")?, part("20newsgroups/raw-test.ndjson.gz")?);
    let stop = std::fs::read_to_string(folder.join("20newsgroups/stopwords-smart.txt"))?;
    Ok(from_text("20newsgroups", &train, &shuffled(&test, 99), &stop, 10_000, 1, skip, n_test))
}

/// Reuters-21578, titles and texts in the order of time, without briefs; words that occur more than 10 times.
pub fn reuters(folder: &Path) -> Read<Corpus> {
    let stop = std::fs::read_to_string(folder.join("20newsgroups/stopwords-smart.txt"))?;
    let whole: Vec<String> = objects(folder, "reuters21578/reuters21578.ndjson.gz")?
        .iter()
        .filter(|object| text(object, "type") != "BRIEF")
        .map(|object| format!("{} {}", text(object, "title"), text(object, "text")))
        .collect();
    let (train, test) = apart(&whole, 2000);
    Ok(from_text("reuters", &train, &test, &stop, usize::MAX, 11, 0, usize::MAX))
}

/// The papers of NIPS 0–12 in the order of years: long documents.
pub fn nips(folder: &Path) -> Read<Corpus> {
    counted("nips", folder, "nips/nips0-12-bow.ndjson.gz", "nips/vocab.txt", 240)
}

/// The Associated Press articles.
pub fn ap(folder: &Path) -> Read<Corpus> {
    counted("ap", folder, "ap/ap-bow.ndjson.gz", "ap/vocab.txt", 300)
}

fn counted(name: &'static str, folder: &Path, file: &str, vocabulary: &str, n_test: usize) -> Read<Corpus> {
    let numbers = |value: &serde_json::Value| -> Vec<u32> {
        value
            .as_array()
            .map(|all| all.iter().filter_map(|n| n.as_u64()).map(|n| n as u32).collect())
            .unwrap_or_default()
    };
    let pairs = |object: &serde_json::Value| -> Vec<(u32, u32)> {
        numbers(&object["terms"]).into_iter().zip(numbers(&object["counts"])).collect()
    };
    let whole: Vec<Vec<(u32, u32)>> = objects(folder, file)?.iter().map(pairs).collect();
    let words = std::fs::read_to_string(folder.join(vocabulary))?.lines().map(str::to_string).collect();
    let (train, test) = apart(&whole, n_test);
    let buffer = |documents: Vec<Vec<(u32, u32)>>| {
        let mut buffer = DocumentBuffer::new();
        documents.into_iter().for_each(|pairs| buffer.push_counts(pairs));
        buffer
    };
    Ok(Corpus { name, vocabulary: words, train: buffer(train), test: buffer(test) })
}

/// Some documents set apart at random; the others keep their order.
fn apart<T: Clone>(whole: &[T], n_test: usize) -> (Vec<T>, Vec<T>) {
    let order = shuffled(&(0..whole.len()).collect::<Vec<_>>(), 98);
    let chosen: BTreeSet<usize> = order.into_iter().take(n_test).collect();
    let pick = |test: bool| (0..whole.len()).filter(|i| chosen.contains(i) == test).map(|i| whole[i].clone()).collect();
    (pick(false), pick(true))
}

pub fn shuffled<T: Clone>(items: &[T], seed: u64) -> Vec<T> {
    let mut items = items.to_vec();
    num::stream(seed, 0, 0).shuffle(&mut items);
    items
}

/// The same documents in a random order.
pub fn in_order(documents: &Documents<'_>, seed: u64) -> DocumentBuffer {
    let mut buffer = DocumentBuffer::new();
    for at in shuffled(&(0..documents.len()).collect::<Vec<_>>(), seed) {
        let (words, counts) = documents.get(at);
        buffer.push_counts(words.iter().copied().zip(counts.iter().copied()).collect());
    }
    buffer
}

/// Words of letters only, in small letters, without stop words and words of less than three letters; the most frequent of
/// the training documents. Documents of less than five such words are left out.
fn from_text(
    name: &'static str,
    train: &[String],
    test: &[String],
    stop: &str,
    most: usize,
    least_count: usize,
    skip: usize,
    n_test: usize,
) -> Corpus {
    let stop: BTreeSet<&str> = stop.lines().map(str::trim).filter(|word| !KEPT.contains(word)).collect();
    let tokens = |text: &String| -> Vec<String> {
        let small = text.to_ascii_lowercase();
        let parts = small.split(|c: char| !(c.is_alphanumeric() || c == '_'));
        parts
            .filter(|w| w.len() >= 3 && w.bytes().all(|b| b.is_ascii_lowercase()) && !stop.contains(w))
            .map(str::to_string)
            .collect()
    };
    let train: Vec<Vec<String>> = train.iter().map(tokens).collect();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    train.iter().flatten().for_each(|word| *counts.entry(word).or_default() += 1);
    let mut ranked: Vec<(&str, usize)> = counts.into_iter().filter(|(_, n)| *n >= least_count).collect();
    ranked.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
    ranked.truncate(most);
    let numbers: BTreeMap<&str, u32> = ranked.iter().enumerate().map(|(at, (word, _))| (*word, at as u32)).collect();
    let number = |document: &Vec<String>| -> Vec<u32> {
        document.iter().filter_map(|word| numbers.get(word.as_str()).copied()).collect()
    };
    let buffer = |documents: &mut dyn Iterator<Item = Vec<u32>>| {
        let mut buffer = DocumentBuffer::new();
        documents.for_each(|tokens| buffer.push_tokens(tokens));
        buffer
    };
    let long = |document: &Vec<u32>| document.len() >= 5;
    let test = test.iter().map(|text| number(&tokens(text))).filter(long).skip(skip).take(n_test);
    Corpus {
        name,
        vocabulary: ranked.iter().map(|(word, _)| (*word).to_string()).collect(),
        train: buffer(&mut train.iter().map(number).filter(long)),
        test: buffer(&mut test.into_iter()),
    }
}

/// Words of the stop list that say something after all; shorter lists than SMART's do without them.
const KEPT: [&str; 43] = [
    "just",
    "like",
    "know",
    "think",
    "use",
    "used",
    "using",
    "uses",
    "want",
    "wants",
    "say",
    "says",
    "said",
    "saying",
    "does",
    "going",
    "way",
    "right",
    "need",
    "try",
    "trying",
    "tried",
    "thanks",
    "thank",
    "really",
    "better",
    "best",
    "sure",
    "things",
    "thing",
    "got",
    "look",
    "looking",
    "help",
    "come",
    "probably",
    "certainly",
    "maybe",
    "different",
    "example",
    "question",
    "new",
    "believe",
];

fn without_header(post: &str) -> String {
    post.split_once("\n\n").map_or(String::new(), |(_, body)| body.to_string())
}

/// Cuts what follows the last line that is blank or of dashes only.
fn without_footer(post: &str) -> String {
    let lines: Vec<&str> = post.trim().split('\n').collect();
    match lines.iter().rposition(|line| line.trim().trim_matches('-').is_empty()) {
        Some(at) if at > 0 => lines[..at].join("\n"),
        _ => post.to_string(),
    }
}

/// Leaves out lines that quote, or that announce a quotation.
fn without_quotes(post: &str) -> String {
    let announces = ["writes in", "writes:", "wrote:", "says:", "said:"];
    let begins = ["In article", "Quoted from", "|", ">"];
    let own = |line: &&str| !announces.iter().any(|s| line.contains(s)) && !begins.iter().any(|s| line.starts_with(s));
    post.split('\n').filter(own).collect::<Vec<_>>().join("\n")
}
