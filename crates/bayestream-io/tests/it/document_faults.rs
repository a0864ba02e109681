//! Each way documents can be wrong, and what the reader says about it.

use std::io::{Cursor, Read};

use bayestream::data::DocumentBuffer;
use bayestream::text::{RawDocument, TextPipeline, TextSettings};
use bayestream_io::{DocumentBatch, DocumentOptions, Format, OnError, open_documents_reader};

use crate::documents::{options, read, read_from, text};
use crate::support::gzip;

/// The message that reading gives, and that it has the code.
fn fault(bytes: impl AsRef<[u8]>, options: &DocumentOptions, code: &str) -> String {
    let error = read(bytes, options).expect_err("the input is faulty");
    assert_eq!(error.code(), code, "{error}");
    error.to_string()
}

#[test]
fn bytes_that_are_not_utf8() {
    let remedy = "is not UTF-8 text: save the file as UTF-8, pass --lossy to read such bytes as \u{fffd}, or pass \
                  --on-error skip to count and skip such rows";
    assert_eq!(
        fault(b"good\nna\xefve\n", &options(Format::Text), "input/not-utf8"),
        format!("docs: row 2 (line 2): byte 0xef behind the first 7 bytes of the input {remedy}")
    );
    assert_eq!(
        fault(
            b"{\"id\":1,\"text\":\"a\"}\n\n{\"id\":2,\"text\":\"\xff\"}\n",
            &options(Format::Ndjson),
            "input/not-utf8"
        ),
        format!("docs: row 2 (line 3), column `text`: byte 0xff behind the first 37 bytes of the input {remedy}")
    );
    assert_eq!(
        fault(b"id,text\n1,\"a\n,\"\"b\xc3\"\n", &options(Format::Csv), "input/not-utf8"),
        format!("docs: row 1 (line 2), column `text`: byte 0xc3 behind the first 17 bytes of the input {remedy}")
    );
    // The place is that in the unpacked text.
    let message = fault(gzip(&[b"good\nna\xefve\n"]), &options(Format::Text), "input/not-utf8");
    assert!(message.contains("behind the first 7 bytes"), "{message}");
    // UTF-16 is not UTF-8 from its first byte on.
    assert!(fault(b"\xff\xfea\0\n\0", &options(Format::Text), "input/not-utf8").contains("behind the first 0 bytes"));
}

#[test]
fn bytes_that_are_not_utf8_mended_or_skipped() {
    let inputs: [(Format, &[u8]); 3] = [
        (Format::Text, b"good\nna\xefve\n"),
        (Format::Ndjson, b"{\"text\":\"good\"}\n{\"text\":\"na\xefve\"}\n"),
        (Format::Csv, b"text\ngood\n\"na\xefve\"\n"),
    ];
    for (format, bytes) in inputs {
        let mended = read(bytes, &DocumentOptions { lossy: true, ..options(format) }).unwrap();
        assert_eq!(mended.all.documents, [text("good"), text("na\u{fffd}ve")]);
        assert_eq!((mended.n_mended, mended.n_skipped), (1, 0));
        let skipped = read(bytes, &DocumentOptions { on_error: OnError::Skip, ..options(format) }).unwrap();
        assert_eq!(skipped.all.documents, [text("good")]);
        assert_eq!((skipped.n_mended, skipped.n_skipped), (0, 1));
    }
}

#[test]
fn escapes_that_stand_for_no_character() {
    for escape in ["\\ud83d", "\\ude00", "\\ud83dx", "\\u12", "\\x"] {
        let line = format!("{{\"text\":\"a{escape} b\"}}\n");
        let message = fault(&line, &options(Format::Ndjson), "input/bad-document");
        assert!(message.contains("column `text`: the escape `\\"), "{message}");
        let mended = read(&line, &DocumentOptions { lossy: true, ..options(Format::Ndjson) }).unwrap();
        assert_eq!(mended.n_mended, 1);
        let RawDocument::Text(mended) = &mended.all.documents[0] else { panic!("it is text") };
        assert!(mended.starts_with("a\u{fffd}") && mended.ends_with(" b"), "{mended}");
    }
}

/// A reader that gives a line of so many bytes without ever holding them.
struct LongLine {
    n_left: usize,
    rest: Cursor<&'static [u8]>,
}

impl Read for LongLine {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let n = buffer.len().min(self.n_left);
        if n == 0 {
            return self.rest.read(buffer);
        }
        buffer[..n].fill(b'x');
        self.n_left -= n;
        Ok(n)
    }
}

fn long_line(n_bytes: usize, rest: &'static [u8]) -> Box<LongLine> {
    Box::new(LongLine { n_left: n_bytes, rest: Cursor::new(rest) })
}

#[test]
fn a_line_of_a_hundred_megabytes() {
    const SIZE: usize = 100 << 20;
    let asked = options(Format::Text);
    let mut batch = DocumentBatch::new();
    let mut source = open_documents_reader(long_line(SIZE, b"\nnext\n"), "docs", &asked).unwrap();
    let error = source.next_batch(&mut batch).unwrap_err();
    assert_eq!(error.code(), "input/line-too-long");
    assert_eq!(
        error.to_string(),
        "docs: line 1 has more than 67108864 bytes: check that this is a text file with line feeds, or break the line \
         up; for documents, --longest-line allows longer ones"
    );
    // Skipped, what follows is read.
    let skip = DocumentOptions { on_error: OnError::Skip, ..asked.clone() };
    let mut source = open_documents_reader(long_line(SIZE, b"\nnext\n"), "docs", &skip).unwrap();
    assert!(source.next_batch(&mut batch).unwrap());
    assert_eq!((&batch.documents[..], &batch.rows[..], source.n_skipped()), (&[text("next")][..], &[2][..], 1));
    // Allowed, it is a document, whose one word is too long to be a word.
    let longer = DocumentOptions { longest_line: SIZE, ..asked };
    let mut source = open_documents_reader(long_line(SIZE, b"\nnext\n"), "docs", &longer).unwrap();
    assert!(source.next_batch(&mut batch).unwrap());
    let mut pipeline = TextPipeline::new(TextSettings::default()).unwrap();
    let encoded = pipeline.encode(&batch.documents, &mut DocumentBuffer::new()).unwrap();
    assert_eq!((encoded.n_tokens, encoded.n_filtered, encoded.n_empty), (1, 1, 1));
}

/// The line comes out of a reader that never holds it, so that whatever is kept of it is kept by the source.
#[test]
fn a_line_of_a_hundred_megabytes_among_others() {
    const SIZE: usize = 100 << 20;
    let inputs: [(Format, &[u8], &[u8]); 3] = [
        (Format::Text, b"first\n", b"\nlast\n"),
        (Format::Ndjson, b"{\"text\":\"first\"}\n{\"text\":\"", b"\"}\n{\"text\":\"last\"}\n"),
        (Format::Csv, b"text\nfirst\n", b"\nlast\n"),
    ];
    for (format, before, behind) in inputs {
        let open = |asked: &DocumentOptions| {
            let line = std::io::repeat(b'x').take(SIZE as u64);
            let reader = Box::new(Cursor::new(before).chain(line).chain(Cursor::new(behind)));
            open_documents_reader(reader, "docs", asked).unwrap()
        };
        let asked = options(format);
        let error = read_from(open(&asked)).unwrap_err();
        assert_eq!(error.code(), "input/line-too-long", "{format:?}");
        let skipped = read_from(open(&DocumentOptions { on_error: OnError::Skip, ..asked.clone() }));
        // In CSV it may be a quote left open, which has swallowed rows: it is never skipped.
        if format == Format::Csv {
            assert_eq!(skipped.unwrap_err().code(), "input/line-too-long");
        } else {
            let skipped = skipped.unwrap();
            assert_eq!(
                (skipped.all.documents, skipped.n_skipped),
                (vec![text("first"), text("last")], 1),
                "{format:?}"
            );
        }
        let longer = DocumentOptions { longest_line: SIZE + 100, ..asked };
        let all = read_from(open(&longer)).unwrap().all.documents;
        let lengths: Vec<usize> =
            all.iter().map(|d| if let RawDocument::Text(text) = d { text.len() } else { 0 }).collect();
        assert_eq!(lengths, [5, SIZE, 4], "{format:?}");
    }
}

#[test]
fn the_longest_line_is_counted_to_the_byte() {
    for format in [Format::Text, Format::Ndjson] {
        let line = |length: usize| match format {
            Format::Text => "y".repeat(length),
            _ => format!("{{\"text\":\"{}\"}}", "y".repeat(length - 11)),
        };
        let asked = DocumentOptions { longest_line: 300_000, on_error: OnError::Skip, ..options(format) };
        let input = [line(300_000), line(300_001), line(20), line(900_000), line(299_999)].join("\n");
        let corpus = read(&input, &asked).unwrap();
        assert_eq!((corpus.all.rows, corpus.n_skipped), (vec![1, 3, 5], 2));
        let strict = DocumentOptions { on_error: OnError::Fail, ..asked };
        assert!(fault(&input, &strict, "input/line-too-long").starts_with("docs: line 2 has more than 300000 bytes"));
    }
    // A quote that swallows lines may not grow without end either, and cannot be skipped.
    let asked = DocumentOptions { longest_line: 1000, on_error: OnError::Skip, ..options(Format::Csv) };
    let swallowed = format!("text\n\"open {}", "line\n".repeat(500_000));
    assert!(fault(swallowed, &asked, "input/line-too-long").starts_with("docs: line 2 has more than 1000 bytes"));
}

#[test]
fn cells_that_are_no_documents() {
    let sparse = options(Format::Ndjson);
    let at = |line: &str| fault(format!("{{\"terms\":[1],\"counts\":[1]}}\n{line}\n"), &sparse, "input/bad-document");
    assert_eq!(
        at("{\"terms\":[1,2],\"counts\":[1]}"),
        "docs: row 2 (line 2), column `terms`: 2 terms, but 1 counts in column `counts`: fix the row, or pass --on-error \
         skip to count and skip such rows"
    );
    assert!(at("{\"terms\":[1,-2],\"counts\":[1,1]}").contains("column `terms`: `-2` is not a term or a count"));
    assert!(at("{\"terms\":[1.5],\"counts\":[1]}").contains("`1.5` is not a term or a count"));
    assert!(at("{\"terms\":[1],\"counts\":[4294967296]}").contains("column `counts`: `4294967296` is not a term"));
    assert!(at("{\"terms\":[\"a\"],\"counts\":[1]}").contains("`a` is not a term number"));
    assert!(at("{\"terms\":[1],\"counts\":[\"b\"]}").contains("column `counts`: `b` is not a term or a count"));
    assert!(at("{\"terms\":[1],\"counts\":3}").contains("counts must be a list"));
    assert!(at("{\"terms\":[[1]],\"counts\":[1]}").contains("`[1]` in a list is neither a word nor a number"));
    assert!(at("{\"terms\":{},\"counts\":[1]}").contains("`{}` is neither a text nor a list"));
    let message = fault("{\"text\":\"a\"}\n{\"text\":\"b\"\n", &options(Format::Ndjson), "input/malformed-row");
    assert!(message.contains("row 2 (line 2): not one whole JSON object"), "{message}");
    let message = fault("text,id\na,1\nb\n", &options(Format::Csv), "input/wrong-cell-count");
    assert!(message.contains("row 2 (line 3): 1 cell where the first line has 2"), "{message}");
    fault("text,id\n\"a,1\n", &options(Format::Csv), "input/open-quote");
}

#[test]
fn inputs_without_documents() {
    for format in [Format::Text, Format::Ndjson, Format::Csv] {
        assert_eq!(fault("", &options(format), "input/no-documents"), "docs: has no documents: it is empty");
    }
    fault("\n \n", &options(Format::Ndjson), "input/no-documents");
    let corpus = read("text\n", &options(Format::Csv)).unwrap();
    assert!(corpus.all.is_empty());
    let skip = DocumentOptions { on_error: OnError::Skip, ..options(Format::Text) };
    let mut source = open_documents_reader(Box::new(Cursor::new(b"\xff\n\xfe\n")), "docs", &skip).unwrap();
    assert!(!source.next_batch(&mut DocumentBatch::new()).unwrap());
    let error = source.no_documents_error();
    assert_eq!(error.to_string(), "docs: has no documents: all 2 were skipped; run without --on-error skip to see why");
}

#[test]
fn tables_of_numbers_are_not_plain_text() {
    let asked = bayestream_io::ReadOptions { format: Some(Format::Text), ..Default::default() };
    let error = bayestream_io::open_reader(Box::new(Cursor::new(b"1,2\n")), "data", &asked).err().unwrap();
    assert!(error.to_string().contains("plain text has no columns of numbers"), "{error}");
    let error = bayestream_io::TableWriter::create("-", Some(Format::Text), Vec::new()).err().unwrap();
    assert_eq!(error.code(), "output/not-a-table");
    assert!(error.to_string().contains("pass --to csv|ndjson|parquet|arrow"), "{error}");
}
