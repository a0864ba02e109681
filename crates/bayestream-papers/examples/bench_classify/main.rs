//! Our side of the benchmark of classification: the same bags of words for everyone. Prints one line of JSON.
//!
//! ```text
//! bench_classify bags DATA_DIR BAGS_DIR      writes the corpora with labels
//! bench_classify learn DATA_DIR CORPUS ORDER TOLD text|numbers KIND [NAME=VALUE]...
//!                                            learns a corpus in one of its orders and writes the labels told of the test
//!                                            documents (document, label) to TOLD
//! ```
//!
//! Files of a corpus begin with its name: `news`, `two` (of the newsgroups), `reuters`, and `wiki-0` to `wiki-4` (its folds).
//!
//! | file | a row |
//! |---|---|
//! | `NAME-train.npy`, `NAME-test.npy` | document, word, count; a document without words has no row |
//! | `NAME-train-labels.npy`, `NAME-test-labels.npy` | document, label; a document without labels has no row |
//! | `NAME-orders.npy` | the training documents in a random order to learn them in |
//! | `NAME-words.txt` | a word, by its number |

mod learn;

use bayestream::data::DocumentBuffer;
use bayestream_papers::{Labelled, npy};
use serde_json::{Map, Value, json};
use std::error::Error;
use std::io::Write;
use std::path::Path;

type Answer<T> = Result<T, Box<dyn Error>>;

const N_ORDERS: u64 = 5;
/// Seeds of the orders, one after the other.
const FIRST_ORDER: u64 = 2000;
const FOLDS_SEED: u64 = 1;

fn main() -> Answer<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let printed = match words[..] {
        ["bags", data, bags] => write_corpora(Path::new(data), Path::new(bags))?,
        ["learn", data, corpus, order, told, form, kind, ref settings @ ..] => {
            learn::learn(Path::new(data), corpus, order.parse()?, Path::new(told), form, kind, settings)?
        }
        _ => return Err("unknown arguments; the head of this example's source lists its commands".into()),
    };
    Ok(writeln!(std::io::stdout(), "{printed}")?)
}

fn write_corpora(data: &Path, bags: &Path) -> Answer<Value> {
    let mut corpora = vec![
        ("news".to_string(), Labelled::newsgroups(data)?),
        ("two".to_string(), Labelled::two_newsgroups(data)?),
        ("reuters".to_string(), Labelled::reuters(data)?),
    ];
    let folds = Labelled::wiki_folds(data, FOLDS_SEED)?;
    corpora.extend(folds.into_iter().enumerate().map(|(at, fold)| (format!("wiki-{at}"), fold)));
    let mut answer = Map::new();
    for (name, corpus) in corpora {
        write_corpus(bags, &name, &corpus)?;
        let (train, test) = (corpus.train.documents(), corpus.test.documents());
        let about = json!({
            "n_train": train.len(), "n_test": test.len(), "n_words": corpus.vocabulary.len(),
            "n_tokens": train.n_tokens(), "labels": corpus.label_names,
        });
        answer.insert(name, about);
    }
    Ok(json!({ "n_orders": N_ORDERS, "corpora": answer }))
}

fn write_corpus(bags: &Path, name: &str, corpus: &Labelled) -> Answer<()> {
    let file = |part: &str| bags.join(format!("{name}-{part}"));
    npy::write(&file("train.npy"), &bag_rows(&corpus.train), 3)?;
    npy::write(&file("test.npy"), &bag_rows(&corpus.test), 3)?;
    npy::write(&file("train-labels.npy"), &label_rows(&corpus.train_labels), 2)?;
    npy::write(&file("test-labels.npy"), &label_rows(&corpus.test_labels), 2)?;
    let orders = (0..N_ORDERS).flat_map(|order| corpus.order(FIRST_ORDER + order)).map(|at| at as f64);
    npy::write(&file("orders.npy"), &orders.collect::<Vec<_>>(), corpus.train_labels.len())?;
    Ok(std::fs::write(file("words.txt"), corpus.vocabulary.join("\n"))?)
}

fn bag_rows(documents: &DocumentBuffer) -> Vec<f64> {
    let mut rows = Vec::new();
    for (at, (words, counts)) in documents.documents().iter().enumerate() {
        words.iter().zip(counts).for_each(|(word, n)| rows.extend([at as f64, f64::from(*word), f64::from(*n)]));
    }
    rows
}

fn label_rows(labels: &[Vec<u32>]) -> Vec<f64> {
    let of_document = |(at, own): (usize, &Vec<u32>)| -> Vec<[f64; 2]> {
        own.iter().map(|label| [at as f64, f64::from(*label)]).collect()
    };
    labels.iter().enumerate().flat_map(of_document).flatten().collect()
}
