//! How fast documents become word counts: `cargo bench -p bayestream-io --bench text -- FILE`. Without a file, on text
//! made up of words of a long tail.

mod clock;

use bayestream::data::DocumentBuffer;
use bayestream::text::{RawDocument, TextPipeline, TextSettings};
use bayestream_io::{DocumentBatch, DocumentOptions, open_documents, open_documents_reader};
use clock::Clock;

fn main() {
    let file = std::env::args().skip(1).find(|argument| !argument.starts_with("--"));
    let options = DocumentOptions::default();
    let started = Clock::start();
    let mut source = match &file {
        Some(path) => open_documents(path, &options),
        None => open_documents_reader(Box::new(std::io::Cursor::new(made_up())), "made up", &options),
    }
    .expect("the documents can be read");
    let (mut batch, mut batches) = (DocumentBatch::new(), Vec::new());
    while source.next_batch(&mut batch).expect("the documents can be read") {
        batches.push(std::mem::take(&mut batch.documents));
    }
    let read_seconds = started.seconds();
    let n_bytes: usize = batches.iter().flatten().map(size).sum();
    let megabytes = n_bytes as f64 / 1e6;
    println!(
        "reading           {:7.1} MB/s of {megabytes:.1} MB of text, in {}",
        megabytes / read_seconds,
        Clock::KIND
    );

    for (name, choices) in [
        ("words", &[][..]),
        ("stop words, stems", &[("stop", "english"), ("stem", "english")][..]),
        ("hashed", &[("stop", "english"), ("stem", "english"), ("vocabulary", "hash")][..]),
        ("at least 3 times", &[("stop", "english"), ("stem", "english"), ("min_count", "3")][..]),
        ("small bound", &[("stop", "english"), ("stem", "english"), ("max_words", "5000")][..]),
    ] {
        let mut settings = TextSettings::default();
        choices.iter().for_each(|(name, value)| settings.set(name, value).expect("the setting is sound"));
        let mut pipeline = TextPipeline::new(settings).expect("the settings are sound");
        let mut buffer = DocumentBuffer::new();
        let (mut n_tokens, mut n_recycled) = (0, 0);
        let started = Clock::start();
        for documents in &batches {
            let encoded = pipeline.encode(documents, &mut buffer).expect("text is always taken");
            n_tokens += encoded.n_tokens;
            n_recycled += encoded.recycled.len();
        }
        let seconds = started.seconds();
        let started = Clock::start();
        for documents in &batches {
            pipeline.encode_frozen(documents, &mut buffer).expect("text is always taken");
        }
        let frozen_seconds = started.seconds();
        println!(
            "{name:18}{:7.1} MB/s learning, {:6.1} MB/s frozen, {:7.1} MB/s with reading; {n_tokens} tokens, {} words, \
             {n_recycled} forgotten",
            megabytes / seconds,
            megabytes / frozen_seconds,
            megabytes / (seconds + read_seconds),
            pipeline.vocabulary().n_words(),
        );
    }
}

fn size(document: &RawDocument) -> usize {
    match document {
        RawDocument::Text(text) => text.len(),
        RawDocument::Tokens(words) => words.iter().map(String::len).sum(),
        RawDocument::Counts { terms, .. } => 8 * terms.len(),
    }
}

/// Lines of words, the k-th of which comes up about as often as 1/k.
fn made_up() -> String {
    const N_WORDS: u64 = 4_000_000;
    let mut state = 0x2545_f491_4f6c_dd1du64;
    let mut text = String::new();
    for ix in 0..N_WORDS {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let uniform = (state >> 11) as f64 / (1u64 << 53) as f64;
        let mut rank = (100_000f64.powf(uniform)) as u64;
        while rank > 0 {
            text.push(char::from(b'a' + (rank % 26) as u8));
            rank /= 26;
        }
        text.push_str(if ix % 200 == 199 { ".\n" } else { "ing " });
    }
    text
}
