//! Documents: every format and shape they come in, and what goes with them.

use std::io::Cursor;

use bayestream::text::RawDocument;
use bayestream_io::{
    DocumentBatch, DocumentOptions, DocumentSource, Format, InputError, OnError, open_documents, open_documents_reader,
    read_words,
};
use proptest::prelude::*;

use crate::support::{Chunked, gzip};

/// What an input holds once read to its end.
#[derive(Debug, PartialEq, Eq)]
pub struct Corpus {
    pub all: DocumentBatch,
    pub columns: Vec<String>,
    pub n_skipped: u64,
    pub n_mended: u64,
}

pub fn options(format: Format) -> DocumentOptions {
    DocumentOptions { format: Some(format), ..DocumentOptions::default() }
}

pub fn read_from(mut source: Box<dyn DocumentSource + Send>) -> Result<Corpus, InputError> {
    let mut all = DocumentBatch::new();
    let mut batch = DocumentBatch::new();
    while source.next_batch(&mut batch)? {
        all.documents.append(&mut batch.documents);
        all.labels.append(&mut batch.labels);
        all.ids.append(&mut batch.ids);
        all.rows.append(&mut batch.rows);
    }
    assert!(!source.next_batch(&mut batch)? && batch.is_empty(), "an ended source stays ended");
    let (n_skipped, n_mended) = (source.n_skipped(), source.n_mended());
    Ok(Corpus { all, columns: source.text_columns().to_vec(), n_skipped, n_mended })
}

pub fn read(bytes: impl AsRef<[u8]>, options: &DocumentOptions) -> Result<Corpus, InputError> {
    read_from(open_documents_reader(Box::new(Cursor::new(bytes.as_ref().to_vec())), "docs", options)?)
}

pub fn text(text: &str) -> RawDocument {
    RawDocument::Text(text.to_string())
}

pub fn tokens(words: &[&str]) -> RawDocument {
    RawDocument::Tokens(words.iter().map(|word| word.to_string()).collect())
}

pub fn counts(terms: &[u32], counts: &[u32]) -> RawDocument {
    RawDocument::Counts { terms: terms.to_vec(), counts: counts.to_vec() }
}

#[test]
fn objects_with_text_words_or_terms() {
    let corpus = read(
        "{\"id\":1,\"text\":\"one \\\"two\\\"\\n\\u00e9\\ud83d\\ude00\"}\n\n{\"text\":null,\"new\":[]}\n{\"id\":3}\n\
         {\"text\":[\"a b\",\"c\"]}\n{\"text\":42}\n",
        &options(Format::Ndjson),
    )
    .unwrap();
    assert_eq!(corpus.columns, ["text"]);
    assert_eq!(
        corpus.all.documents,
        [text("one \"two\"\né\u{1f600}"), text(""), text(""), tokens(&["a b", "c"]), text("42")]
    );
    assert_eq!(corpus.all.rows, [1, 2, 3, 4, 5]);
    assert!(corpus.all.labels.is_empty() && corpus.all.ids.is_empty());

    let sparse =
        "{\"id\":\"d\",\"terms\":[7,0,4294967295],\"counts\":[1,2,3]}\n{\"terms\":[],\"counts\":[]}\n{\"id\":0}\n";
    let corpus = read(sparse, &options(Format::Ndjson)).unwrap();
    assert_eq!(corpus.all.documents, [counts(&[7, 0, u32::MAX], &[1, 2, 3]), counts(&[], &[]), counts(&[], &[])]);
    // Without counts each number is one occurrence.
    let chosen = DocumentOptions { text_columns: vec!["w".into()], ..options(Format::Ndjson) };
    assert_eq!(read("{\"w\":[3,3,1]}", &chosen).unwrap().all.documents, [counts(&[3, 3, 1], &[1, 1, 1])]);
    assert_eq!(
        read("{\"words\":[\"a\",1984,null]}", &options(Format::Ndjson)).unwrap().all.documents,
        [tokens(&["a", "1984"])]
    );
}

#[test]
fn labels_and_ids() {
    let asked =
        DocumentOptions { label_column: Some("label".into()), id_column: Some("id".into()), ..options(Format::Ndjson) };
    let corpus = read(
        "{\"id\":\"a\",\"label\":\"x\",\"text\":\"t\"}\n{\"id\":7,\"label\":[\"x\",\"y\"],\"text\":\"t\"}\n\
         {\"label\":[4,5]}\n{\"id\":null,\"label\":null}\n{\"label\":true}\n",
        &asked,
    )
    .unwrap();
    let labels: Vec<&[&str]> = vec![&["x"], &["x", "y"], &["4", "5"], &[], &["true"]];
    assert_eq!(corpus.all.labels, labels);
    assert_eq!(corpus.all.ids, ["a", "7", "", "", ""]);

    let corpus = read("id,label,body\nb,z,t\nc,,t\n", &DocumentOptions { format: Some(Format::Csv), ..asked }).unwrap();
    assert_eq!(
        (corpus.all.labels, corpus.all.ids),
        (vec![vec!["z".to_string()], vec![]], vec!["b".into(), "c".into()])
    );
}

#[test]
fn the_column_of_text_is_found_by_its_name() {
    for (names, found) in [
        ("id,text,title", "text"),
        ("title,body,year", "body"),
        ("id,Content", "Content"),
        ("tokens,title", "tokens"),
        ("title,id", "title"),
        ("whatever", "whatever"),
    ] {
        let row = vec!["x"; names.split(',').count()].join(",");
        assert_eq!(read(format!("{names}\n{row}\n"), &options(Format::Csv)).unwrap().columns, [found]);
    }
    // The only column that is not a label or an id.
    let labelled = DocumentOptions { label_column: Some("kind".into()), ..options(Format::Csv) };
    assert_eq!(read("note,kind\nx,y\n", &labelled).unwrap().columns, ["note"]);

    let error = read("alpha,beta\nx,y\n", &options(Format::Csv)).unwrap_err();
    assert_eq!(error.code(), "input/no-text-column");
    assert!(error.to_string().contains("(the columns are alpha, beta): name the one to read with --text-column"));
    let asked = DocumentOptions { text_columns: vec!["txt".into()], ..options(Format::Ndjson) };
    let error = read("{\"text\":\"x\"}", &asked).unwrap_err();
    assert_eq!(error.code(), "input/unknown-column");
    assert!(error.to_string().contains("did you mean `text`?"), "{error}");
    let twice = DocumentOptions { label_column: Some("text".into()), text_columns: vec!["text".into()], ..asked };
    assert_eq!(read("{\"text\":\"x\"}", &twice).unwrap_err().code(), "input/column-claimed-twice");
}

#[test]
fn several_columns_are_joined_in_the_order_asked_for() {
    let joined = DocumentOptions { text_columns: vec!["title".into(), "text".into()], ..options(Format::Ndjson) };
    let corpus = read("{\"text\":\"b\",\"title\":\"a\"}\n{\"text\":\"c\"}\n{\"title\":\"d\"}\n{}\n", &joined).unwrap();
    assert_eq!(corpus.all.documents, [text("a\nb"), text("c"), text("d"), text("")]);
    assert_eq!(corpus.columns, ["title", "text"]);
    let error = read("{\"text\":[\"b\"],\"title\":\"a\"}\n", &joined).unwrap_err();
    assert!(error.to_string().contains("a list cannot be joined with other columns"), "{error}");
}

#[test]
fn delimited_text() {
    let corpus = read("text,n\n\"a, \"\"b\"\"\nc\",1\n,2\nplain,3\n", &options(Format::Csv)).unwrap();
    assert_eq!(corpus.all.documents, [text("a, \"b\"\nc"), text(""), text("plain")]);
    let corpus = read("terms;counts\n3 5;1 2\n\"[7, 8]\";\"[2,1]\"\n;\n", &options(Format::Csv)).unwrap();
    assert_eq!(corpus.all.documents, [counts(&[3, 5], &[1, 2]), counts(&[7, 8], &[2, 1]), counts(&[], &[])]);
    let corpus = read("tokens\tid\na b\t1\n[\"c d\", \"e\"]\t2\n", &options(Format::Csv)).unwrap();
    assert_eq!(corpus.all.documents, [tokens(&["a", "b"]), tokens(&["c d", "e"])]);
}

#[test]
fn plain_text_is_a_document_a_line() {
    let corpus = read("\u{feff}first line\r\n\nthird, \"line\"\0", &options(Format::Text)).unwrap();
    assert_eq!(corpus.all.documents, [text("first line"), text(""), text("third, \"line\"\0")]);
    assert!(corpus.columns.is_empty());
    let labelled = DocumentOptions { label_column: Some("kind".into()), ..options(Format::Text) };
    assert!(read("x\n", &labelled).unwrap_err().to_string().contains("plain text has no columns"));
}

#[test]
fn the_format_is_told_by_the_name_or_by_the_first_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path.to_str().unwrap().to_string()
    };
    let object = b"{\"text\":\"x\"}\n";
    for (path, document) in [
        (path("a.ndjson", object), text("x")),
        (path("a.txt", object), text("{\"text\":\"x\"}")),
        (path("a.log.gz", &gzip(&[object])), text("{\"text\":\"x\"}")),
        (path("a.csv", b"text\nx\n"), text("x")),
        (path("nothing", object), text("x")),
        (path("nothing2", b"text\n"), text("text")),
        (path("b.jsonl.gz", &gzip(&[object])), text("x")),
    ] {
        let corpus = read_from(open_documents(&path, &DocumentOptions::default()).unwrap()).unwrap();
        assert_eq!(corpus.all.documents, [document], "{path}");
    }
    let missing = folder.path().join("missing.txt");
    let error = open_documents(missing.to_str().unwrap(), &DocumentOptions::default()).err().unwrap();
    assert_eq!(error.code(), "input/not-found");
    assert_eq!("text".parse::<Format>(), Ok(Format::Text));

    let words = path("vocab.txt", "\u{feff}zero\r\n one \n\nthree".as_bytes());
    assert_eq!(read_words(&words).unwrap(), ["zero", "one", "", "three"]);
    let error = read_words(&path("latin.txt", b"ok\nna\xefve\n")).unwrap_err().to_string();
    assert!(error.contains("(line 2): byte 0xef behind the first 5 bytes of the input is not UTF-8"), "{error}");
    assert_eq!(read_words(&path("empty.txt", b"")).unwrap_err().code(), "input/no-documents");
}

#[test]
fn batches_have_the_size_asked_for_and_end_early_where_documents_are_huge() {
    let lines: Vec<String> = (0..7).map(|ix| format!("document {ix}")).collect();
    let sized = |batch_documents, longest_line| {
        let asked = DocumentOptions { batch_documents, longest_line, ..options(Format::Text) };
        let mut source = open_documents_reader(Box::new(Cursor::new(lines.join("\n"))), "docs", &asked).unwrap();
        let mut batch = DocumentBatch::new();
        let mut sizes = Vec::new();
        while source.next_batch(&mut batch).unwrap() {
            sizes.push(batch.len());
        }
        sizes
    };
    assert_eq!(sized(3, 100), [3, 3, 1]);
    assert_eq!(sized(0, 100), [1; 7]);
    // Each line has ten bytes: the third takes the sum beyond 25.
    assert_eq!(sized(100, 25), [3, 3, 1]);
}

#[test]
fn rows_that_are_skipped_leave_gaps_in_the_numbers() {
    let skip = DocumentOptions { on_error: OnError::Skip, ..options(Format::Ndjson) };
    let corpus = read("nonsense\n{\"text\":\"a\"}\n{\"text\":{}}\n{\"text\":\"b\"}\n{\"text\":\n", &skip).unwrap();
    assert_eq!((corpus.all.documents, corpus.all.rows), (vec![text("a"), text("b")], vec![2, 4]));
    assert_eq!(corpus.n_skipped, 3);
    assert_eq!(read("x\ny\n", &skip).unwrap_err().code(), "input/no-documents");
}

proptest! {
    #[test]
    fn texts_come_back_from_objects_however_they_are_read(
        texts in prop::collection::vec(any::<String>(), 1..8), sizes in prop::collection::vec(1usize..40, 1..5), size in 1usize..5
    ) {
        let lines: Vec<String> = texts.iter().map(|text| serde_json::json!({ "text": text }).to_string()).collect();
        let asked = DocumentOptions { batch_documents: size, ..options(Format::Ndjson) };
        let reader = Chunked::new(lines.join("\n").as_bytes(), &sizes);
        let corpus = read_from(open_documents_reader(Box::new(reader), "docs", &asked).unwrap()).unwrap();
        prop_assert_eq!(corpus.all.documents, texts.into_iter().map(RawDocument::Text).collect::<Vec<_>>());
    }

    #[test]
    fn any_bytes_give_documents_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..200), format in 0usize..5, lossy: bool, skip: bool) {
        let format = [Format::Text, Format::Ndjson, Format::Csv, Format::Parquet, Format::Arrow][format];
        let on_error = if skip { OnError::Skip } else { OnError::Fail };
        let asked = DocumentOptions { lossy, on_error, longest_line: 50, ..options(format) };
        match read(&bytes, &asked) {
            Ok(corpus) if format == Format::Text => {
                let n_lines = bytes.iter().filter(|byte| **byte == b'\n').count() + usize::from(bytes.last() != Some(&b'\n'));
                prop_assert_eq!(corpus.all.len() + corpus.n_skipped as usize, n_lines);
            }
            Ok(_) => {}
            Err(error) => prop_assert!(error.to_string().starts_with("docs: "), "{}", error),
        }
    }
}
