//! Our side of the benchmark of topics: bags of words for everyone, our own pass over them, and the scorer of all programs.
//! Each command prints one line of JSON.
//!
//! ```text
//! bench_topics bags DATA_DIR BAGS_DIR                              writes train-0.npy to train-2.npy (three orders of the
//!                                                                  training documents of 20 Newsgroups), test.npy, fresh.npy
//! bench_topics learn BAGS_DIR ORDER TOPICS.npy ALPHA.npy [K]       one pass; with at most K topics
//! bench_topics score BAGS_DIR (TOPICS.npy ALPHA.npy)...            what topics are worth, one answer for each pair, and how
//!                                                                  many of the live ones have a twin in another pair
//! bench_topics orders DATA_DIR N_FIRST [NAME=VALUE]...             three orders under other settings, and how many topics
//!                                                                  they share; the first N_FIRST documents are the same
//! ```
//!
//! A row of a bag is document, word, count; a row of `TOPICS.npy` is a topic, with a probability for each word; `ALPHA.npy` is
//! one row, a weight for each topic in a document of which nothing is known. Costs are seconds of processor time of this
//! process; reading and writing files is not counted.

mod orders;

use bayestream::data::{DocumentBuffer, Documents};
use bayestream::engine::DocumentLearner;
use bayestream::engine::topics::{MmHdp, TopicSettings};
use bayestream_papers::npy;
use bayestream_papers::topics::{Judge, Split, twins};
use cpu_time::ProcessTime;
use serde_json::{Value, json};
use std::error::Error;
use std::io::Write;
use std::path::Path;

type Answer<T> = Result<T, Box<dyn Error>>;

const N_ORDERS: u64 = 3;
/// Test documents by which our constants were chosen, and others.
const TESTED: usize = 1500;
const FRESH: usize = 3000;
/// A prior that is the same for all topics of all programs.
const FLAT: f64 = 0.1;

fn main() -> Answer<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let printed = match words[..] {
        ["bags", data, bags] => write_bags(Path::new(data), Path::new(bags))?,
        ["learn", bags, order, topics, alpha, ref more @ ..] if more.len() <= 1 => {
            let most = more.first().map(|k| k.parse()).transpose()?;
            learn(Path::new(bags), order.parse()?, Path::new(topics), Path::new(alpha), most)?
        }
        ["score", bags, ref answers @ ..] => score(Path::new(bags), answers.as_chunks::<2>().0)?,
        ["orders", data, n_first, ref settings @ ..] => orders::orders(Path::new(data), n_first.parse()?, settings)?,
        _ => return Err("unknown arguments; the head of this example's source lists its commands".into()),
    };
    Ok(writeln!(std::io::stdout(), "{printed}")?)
}

fn write_bags(data: &Path, bags: &Path) -> Answer<Value> {
    let split = Split::newsgroups(data)?;
    for order in 0..N_ORDERS {
        write_bag(&train_file(bags, order), &split.train_in_order(1000 + order))?;
    }
    let (test, fresh) = (split.tested(0..TESTED), split.tested(TESTED..TESTED + FRESH));
    write_bag(&bags.join("test.npy"), &test)?;
    write_bag(&bags.join("fresh.npy"), &fresh)?;
    let (n_words, train) = (split.vocabulary.len(), split.train.documents());
    let unigram = |test: &DocumentBuffer| Judge::new(train, test.documents(), n_words).unigram();
    Ok(json!({
        "n_words": n_words, "n_train": train.len(), "n_tokens": train.n_tokens(), "n_orders": N_ORDERS,
        "n_test": test.documents().len(), "n_fresh": fresh.documents().len(),
        "unigram": unigram(&test), "unigram_fresh": unigram(&fresh),
    }))
}

fn train_file(bags: &Path, order: u64) -> std::path::PathBuf {
    bags.join(format!("train-{order}.npy"))
}

fn write_bag(path: &Path, documents: &DocumentBuffer) -> Answer<()> {
    let mut rows = Vec::new();
    for (at, (words, counts)) in documents.documents().iter().enumerate() {
        words.iter().zip(counts).for_each(|(word, n)| rows.extend([at as f64, f64::from(*word), f64::from(*n)]));
    }
    Ok(npy::write(path, &rows, 3)?)
}

fn read_bag(path: &Path) -> Answer<DocumentBuffer> {
    let (rows, n_columns) = npy::read(path)?;
    if n_columns != 3 {
        return Err(format!("{} has {n_columns} columns and no document, word and count", path.display()).into());
    }
    let (rows, _) = rows.as_chunks::<3>();
    let mut buffer = DocumentBuffer::new();
    // Every document of the corpus has words, so that none is missing between two rows.
    for document in rows.chunk_by(|a, b| a[0] == b[0]) {
        buffer.push_counts(document.iter().map(|row| (row[1] as u32, row[2] as u32)).collect());
    }
    Ok(buffer)
}

fn n_words(documents: &Documents<'_>) -> usize {
    documents.largest_word().map_or(0, |word| word as usize + 1)
}

fn learn(bags: &Path, order: u64, topics: &Path, alpha: &Path, most: Option<usize>) -> Answer<Value> {
    let train = read_bag(&train_file(bags, order))?;
    let train = train.documents();
    let n_words = n_words(&train);
    let settings = match most {
        Some(max_topics) => TopicSettings { max_topics, recycle: 0, ..TopicSettings::default() },
        None => TopicSettings::default(),
    };
    let mut learner = MmHdp::new(&settings, order, 0);
    let clock = ProcessTime::now();
    learner.update(&train, n_words);
    let seconds = clock.elapsed().as_secs_f64();
    let all = learner.all_topics(n_words);
    let cells: Vec<f64> = all.words.iter().flatten().map(|p| f64::from(*p)).collect();
    npy::write(topics, &cells, n_words)?;
    npy::write(alpha, &all.alpha, all.alpha.len())?;
    Ok(json!({ "cpu_seconds": seconds }))
}

fn score(bags: &Path, answers: &[[&str; 2]]) -> Answer<Value> {
    let (train, test) = (read_bag(&train_file(bags, 0))?, read_bag(&bags.join("test.npy"))?);
    let fresh = read_bag(&bags.join("fresh.npy"))?;
    let n_words = n_words(&train.documents());
    let judge = Judge::new(train.documents(), test.documents(), n_words);
    let judge_fresh = Judge::new(train.documents(), fresh.documents(), n_words);
    let (mut each, mut live) = (Vec::new(), Vec::new());
    for [topics, alpha] in answers {
        let (cells, n_columns) = npy::read(Path::new(topics))?;
        let (alpha, _) = npy::read(Path::new(alpha))?;
        let topics: Vec<Vec<f32>> =
            cells.chunks(n_columns.max(1)).map(|topic| topic.iter().map(|p| *p as f32).collect()).collect();
        if topics.len() != alpha.len() {
            return Err(format!("{} topics and {} weights of topics", topics.len(), alpha.len()).into());
        }
        let judged = judge.judge(&topics, &alpha);
        each.push(json!({
            "perplexity": judged.perplexity,
            "perplexity_flat": judge.perplexity(&topics, &vec![FLAT; topics.len()]),
            "perplexity_fresh": judge_fresh.perplexity(&topics, &alpha),
            "n_topics": topics.len(), "n_live": judged.learnt.places.len(), "npmi": judged.learnt.npmi,
            "n_live_tested": judged.tested.places.len(), "npmi_tested": judged.tested.npmi,
        }));
        live.push(judged.learnt.places.iter().map(|z| topics[*z].clone()).collect());
    }
    Ok(json!({ "each": each, "twins": twins(&live) }))
}
