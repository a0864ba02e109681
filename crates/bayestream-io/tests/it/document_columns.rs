//! Documents out of Parquet and Arrow.

use std::sync::Arc;

use arrow_array::builder::{Int32Builder, LargeListBuilder, ListBuilder, StringBuilder, UInt32Builder};
use arrow_array::types::Int8Type;
use arrow_array::{
    ArrayRef, BinaryArray, DictionaryArray, Float64Array, Int64Array, LargeStringArray, RecordBatch, StringArray,
    StringViewArray,
};
use bayestream_io::{DocumentOptions, Format, OnError};
use parquet::data_type::{ByteArray, ByteArrayType};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::parser::parse_message_type;

use crate::columnar::{block, encodings};
use crate::documents::{counts, options, read, text, tokens};

fn in_each(blocks: &[RecordBatch], check: impl Fn(&DocumentOptions, &[u8])) {
    for (_, format, bytes) in encodings(blocks) {
        check(&options(format), &bytes);
    }
}

fn word_lists(lists: &[Option<&[&str]>]) -> ArrayRef {
    let mut builder = ListBuilder::new(StringBuilder::new());
    for list in lists {
        list.iter().flat_map(|list| list.iter()).for_each(|word| builder.values().append_value(word));
        builder.append(list.is_some());
    }
    Arc::new(builder.finish())
}

#[test]
fn every_kind_of_text() {
    let dictionary: DictionaryArray<Int8Type> = [Some("one two"), None, Some("three")].into_iter().collect();
    let columns: [ArrayRef; 5] = [
        Arc::new(StringArray::from(vec![Some("one two"), None, Some("three")])),
        Arc::new(LargeStringArray::from(vec![Some("one two"), None, Some("three")])),
        Arc::new(StringViewArray::from(vec![Some("one two"), None, Some("three")])),
        Arc::new(BinaryArray::from(vec![Some(b"one two".as_slice()), None, Some(b"three")])),
        Arc::new(dictionary),
    ];
    for column in columns {
        let ids: ArrayRef = Arc::new(Int64Array::from(vec![7, 8, 9]));
        let labels = word_lists(&[Some(&["x", "y"]), Some(&[]), None]);
        let rows = block(vec![("label", labels), ("id", ids), ("text", column)]);
        in_each(&[rows.clone(), rows], |options, bytes| {
            let (label_column, id_column) = (Some("label".into()), Some("id".into()));
            let corpus = read(bytes, &DocumentOptions { label_column, id_column, ..options.clone() }).unwrap();
            assert_eq!(corpus.all.documents[..3], [text("one two"), text(""), text("three")]);
            assert_eq!(corpus.all.rows, [1, 2, 3, 4, 5, 6]);
            assert_eq!(corpus.all.ids[3..], ["7", "8", "9"]);
            let labels: [&[&str]; 3] = [&["x", "y"], &[], &[]];
            assert_eq!(corpus.all.labels[..3], labels);
        });
    }
}

#[test]
fn lists_of_words_and_of_terms() {
    let words = block(vec![("tokens", word_lists(&[Some(&["a b", "c"]), None, Some(&[])]))]);
    in_each(&[words], |options, bytes| {
        let corpus = read(bytes, options).unwrap();
        assert_eq!(corpus.all.documents, [tokens(&["a b", "c"]), text(""), tokens(&[])]);
    });
    let mut terms = ListBuilder::new(Int32Builder::new());
    let mut counted = LargeListBuilder::new(UInt32Builder::new());
    for (row_terms, row_counts) in
        [(vec![5, 3], vec![1, 9]), (vec![], vec![]), (vec![4], vec![2, 2]), (vec![-1], vec![1])]
    {
        terms.append_value(row_terms.into_iter().map(Some));
        counted.append_value(row_counts.into_iter().map(Some));
    }
    let sparse = block(vec![("terms", Arc::new(terms.finish()) as ArrayRef), ("counts", Arc::new(counted.finish()))]);
    in_each(&[sparse], |options, bytes| {
        let error = read(bytes, options).unwrap_err().to_string();
        assert!(error.contains("docs: row 3, column `terms`: 1 terms, but 2 counts in column `counts`"), "{error}");
        let corpus = read(bytes, &DocumentOptions { on_error: OnError::Skip, ..options.clone() }).unwrap();
        assert_eq!(corpus.all.documents, [counts(&[5, 3], &[1, 9]), counts(&[], &[])]);
        assert_eq!((corpus.all.rows, corpus.n_skipped), (vec![1, 2], 2));
    });
}

#[test]
fn bytes_that_are_not_utf8_in_a_cell() {
    let column: ArrayRef = Arc::new(BinaryArray::from(vec![b"good".as_slice(), b"na\xefve"]));
    in_each(&[block(vec![("text", column)])], |options, bytes| {
        let error = read(bytes, options).unwrap_err().to_string();
        assert!(
            error.starts_with("docs: row 2, column `text`: byte 0xef behind the first 2 bytes of the cell"),
            "{error}"
        );
        let corpus = read(bytes, &DocumentOptions { lossy: true, ..options.clone() }).unwrap();
        assert_eq!((&corpus.all.documents[1], corpus.n_mended), (&text("na\u{fffd}ve"), 1));
    });
}

#[test]
fn columns_that_are_no_documents() {
    let numbers: ArrayRef = Arc::new(Float64Array::from(vec![1.5]));
    in_each(&[block(vec![("text", numbers)])], |options, bytes| {
        let error = read(bytes, options).unwrap_err();
        assert_eq!(error.code(), "input/not-text");
        assert!(error.to_string().contains("column `text` is of type Float64, which is neither text nor a list"));
    });
    assert_eq!(read(b"PAR1 and nothing more", &options(Format::Parquet)).unwrap_err().code(), "input/wrong-format");
}

/// A Parquet file whose column `text` says that it is text, whatever its bytes are.
fn declared_text(cells: &[&[u8]]) -> Vec<u8> {
    let schema = "message rows { required binary text (UTF8); required binary id (UTF8); }";
    let schema = Arc::new(parse_message_type(schema).unwrap());
    let mut file = Vec::new();
    let mut writer = SerializedFileWriter::new(&mut file, schema, Arc::default()).unwrap();
    let mut group = writer.next_row_group().unwrap();
    let ids: Vec<String> = (1..=cells.len()).map(|id| format!("d{id}")).collect();
    let columns: [Vec<ByteArray>; 2] = [
        cells.iter().map(|cell| ByteArray::from(cell.to_vec())).collect(),
        ids.iter().map(|id| ByteArray::from(id.as_str())).collect(),
    ];
    for column in columns {
        let mut into = group.next_column().unwrap().unwrap();
        into.typed::<ByteArrayType>().write_batch(&column, None, None).unwrap();
        into.close().unwrap();
    }
    group.close().unwrap();
    writer.close().unwrap();
    file
}

#[test]
fn text_of_a_parquet_file_that_is_not_utf8() {
    let file = declared_text(&[b"good", b"na\xefve", "caf\u{e9}".as_bytes()]);
    let asked = DocumentOptions { id_column: Some("id".into()), ..options(Format::Parquet) };
    let error = read(&file, &asked).unwrap_err();
    assert_eq!(error.code(), "input/not-utf8");
    let begins = "docs: row 2, column `text`: byte 0xef behind the first 2 bytes of the cell";
    assert!(error.to_string().starts_with(begins), "{error}");
    let corpus = read(&file, &DocumentOptions { lossy: true, ..asked.clone() }).unwrap();
    assert_eq!(corpus.all.documents, [text("good"), text("na\u{fffd}ve"), text("caf\u{e9}")]);
    assert_eq!((&corpus.all.ids[..], corpus.n_mended), (&["d1", "d2", "d3"].map(String::from)[..], 1));
    let corpus = read(&file, &DocumentOptions { on_error: OnError::Skip, ..asked }).unwrap();
    assert_eq!((corpus.all.rows, corpus.n_skipped), (vec![1, 3], 1));
}
