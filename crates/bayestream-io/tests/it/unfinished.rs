//! Last lines that were cut: left out where asked for, and only they.

use bayestream_io::{DocumentBatch, DocumentOptions, Format, OnError, ReadOptions, open_documents_reader, open_reader};
use bayestream_io::{InputError, read_all};

/// Rows read, and last lines left out.
fn rows(text: &str, format: Format) -> Result<(usize, u64), InputError> {
    let options = ReadOptions { format: Some(format), on_unfinished: OnError::Skip, ..ReadOptions::default() };
    let mut source = open_reader(Box::new(std::io::Cursor::new(text.as_bytes().to_vec())), "data", &options)?;
    let n_rows = read_all(source.as_mut())?.n_rows;
    assert_eq!(source.n_skipped(), 0);
    Ok((n_rows, source.n_unfinished()))
}

fn documents(bytes: &[u8], format: Format) -> Result<(usize, u64), InputError> {
    let options = DocumentOptions { format: Some(format), on_unfinished: OnError::Skip, ..DocumentOptions::default() };
    let mut source = open_documents_reader(Box::new(std::io::Cursor::new(bytes.to_vec())), "data", &options)?;
    let (mut batch, mut n) = (DocumentBatch::new(), 0);
    while source.next_batch(&mut batch)? {
        n += batch.len();
    }
    assert_eq!(source.n_skipped(), 0);
    Ok((n, source.n_unfinished()))
}

/// However the last of two rows is cut, it is a row, or one that is left out; an error never.
#[test]
fn a_table_may_end_anywhere_in_its_last_row() {
    for (first, last, format) in [
        ("a,b,c\n1,2,3\n", "-4.5e-1,\"6\",NA", Format::Csv),
        ("a\tb\n1\t2\n", "-4\t3.25", Format::Csv),
        ("{\"a\":1,\"b\":2}\n", "{\"b\": -4.5e1, \"a\": null}", Format::Ndjson),
    ] {
        for end in 0..=last.len() {
            let text = format!("{first}{}", &last[..end]);
            let (n_rows, n_unfinished) = rows(&text, format).unwrap_or_else(|error| panic!("{text:?}: {error}"));
            let is_blank = last[..end].trim().is_empty();
            assert_eq!(n_rows as u64 + n_unfinished, if is_blank { 1 } else { 2 }, "{text:?}");
            if format == Format::Ndjson && !is_blank {
                // A part of an object is never an object.
                assert_eq!(n_unfinished, u64::from(end < last.len()), "{text:?}");
            }
        }
    }
    for (first, last, format) in [
        ("id,text\n1,one\n", "2,\"zwei \u{fc}ber \"\"drei\"\"\"", Format::Csv),
        ("text,id\none,1\n", "zwei \u{fc}ber,2", Format::Csv),
        ("{\"text\":\"one\"}\n", "{\"text\":\"zwei \u{fc}ber\",\"n\":[1,2]}", Format::Ndjson),
        ("one\n", "zwei \u{fc}ber", Format::Text),
    ] {
        for end in 1..=last.len() {
            let bytes = [first.as_bytes(), &last.as_bytes()[..end]].concat();
            let (n, n_unfinished) = documents(&bytes, format).unwrap_or_else(|error| panic!("{last} {end}: {error}"));
            assert_eq!(n as u64 + n_unfinished, 2, "{last} {end}");
        }
        assert_eq!(documents((first.to_string() + last).as_bytes(), format).unwrap(), (2, 0));
    }
}

#[test]
fn faults_that_no_cut_explains_stay_errors() {
    for (text, format, code) in [
        ("a,b\n1,2\n3\n", Format::Csv, "input/wrong-cell-count"),
        ("a,b\n1,2\nx,3", Format::Csv, "input/not-a-number"),
        ("a,b\n1,2\n1,2,3", Format::Csv, "input/wrong-cell-count"),
        ("a,b\n1,\"2\n1,2\n1,2", Format::Csv, "input/open-quote"),
        ("a,b\n1,\"2\n", Format::Csv, "input/open-quote"),
        ("{\"a\":1}\n{\"a\":2\n", Format::Ndjson, "input/malformed-row"),
        ("{\"a\":1}\n{\"a\":\"x\"}", Format::Ndjson, "input/not-a-number"),
        ("{\"a\":1}\n{\"a\":1,\"a\":2}", Format::Ndjson, "input/malformed-row"),
        ("{\"a\":1}\n{\"a\":1,\"b\":2}", Format::Ndjson, "input/unknown-key"),
    ] {
        assert_eq!(rows(text, format).unwrap_err().code(), code, "{text:?}");
    }
    for (text, format, code) in [
        ("id,text\n1,one\n2\n", Format::Csv, "input/wrong-cell-count"),
        ("id,text\n1,\"one\n2,two\n3,th", Format::Csv, "input/open-quote"),
        ("{\"text\":\"one\"}\n{\"text\":\"two\n", Format::Ndjson, "input/malformed-row"),
        ("{\"text\":\"one\"}\n{\"text\":{}}", Format::Ndjson, "input/bad-document"),
    ] {
        assert_eq!(documents(text.as_bytes(), format).unwrap_err().code(), code, "{text:?}");
    }
    let late = documents(b"one\ntwo \xff three", Format::Text).unwrap_err();
    assert_eq!(late.code(), "input/not-utf8");
}

#[test]
fn unless_asked_for_a_cut_row_is_an_error() {
    let options = ReadOptions { format: Some(Format::Csv), ..ReadOptions::default() };
    let mut source = open_reader(Box::new("a,b\n1,2\n3".as_bytes()), "data", &options).unwrap();
    assert_eq!(read_all(source.as_mut()).unwrap_err().code(), "input/wrong-cell-count");
    assert_eq!(source.n_unfinished(), 0);
}
