//! Parquet and Arrow: every type that can be a number or a label, and those that cannot.

use std::process::Command;
use std::sync::Arc;

use arrow_array::types::{Float16Type, Int8Type};
use arrow_array::{
    ArrayRef, ArrowPrimitiveType, BooleanArray, DictionaryArray, Float16Array, Float32Array, Float64Array, Int8Array,
    Int16Array, Int32Array, Int64Array, LargeStringArray, NullArray, RecordBatch, StringArray, StringViewArray,
    UInt8Array, UInt16Array, UInt32Array, UInt64Array,
};
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use bayestream_io::{Format, InputError, OnError, ReadOptions, RowBatch, open};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, GzipLevel, ZstdLevel};
use parquet::file::properties::WriterProperties;

use crate::support::{Table, canonical_bits, fault, gzip, options, read_bytes, read_from};

pub fn block(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    RecordBatch::try_from_iter_with_nullable(columns.into_iter().map(|(name, array)| (name, array, true))).unwrap()
}

fn parquet_with(blocks: &[RecordBatch], compression: Compression) -> Vec<u8> {
    let properties = WriterProperties::builder().set_compression(compression).build();
    let mut bytes = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut bytes, blocks[0].schema(), Some(properties)).unwrap();
    blocks.iter().for_each(|block| writer.write(block).unwrap());
    writer.close().unwrap();
    bytes
}

fn arrow_file_with(blocks: &[RecordBatch], compression: Option<CompressionType>) -> Vec<u8> {
    let options = IpcWriteOptions::default().try_with_compression(compression).unwrap();
    let mut bytes = Vec::new();
    let mut writer = FileWriter::try_new_with_options(&mut bytes, &blocks[0].schema(), options).unwrap();
    blocks.iter().for_each(|block| writer.write(block).unwrap());
    writer.finish().unwrap();
    drop(writer);
    bytes
}

fn arrow_stream(blocks: &[RecordBatch]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = StreamWriter::try_new(&mut bytes, &blocks[0].schema()).unwrap();
    blocks.iter().for_each(|block| writer.write(block).unwrap());
    writer.finish().unwrap();
    drop(writer);
    bytes
}

/// The same blocks in each encoding, with its format.
pub fn encodings(blocks: &[RecordBatch]) -> Vec<(&'static str, Format, Vec<u8>)> {
    vec![
        ("parquet", Format::Parquet, parquet_with(blocks, Compression::UNCOMPRESSED)),
        ("arrow file", Format::Arrow, arrow_file_with(blocks, None)),
        ("arrow stream", Format::Arrow, arrow_stream(blocks)),
    ]
}

fn in_each_encoding(block: RecordBatch, options: &ReadOptions, check: impl Fn(&str, Result<Table, InputError>)) {
    for (name, format, bytes) in encodings(&[block]) {
        check(name, read_bytes(bytes, &ReadOptions { format: Some(format), ..options.clone() }));
    }
}

#[test]
fn every_type_of_number_is_read_and_nulls_are_missing() {
    let half = |value: f32| <Float16Type as ArrowPrimitiveType>::Native::from_f32(value);
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("i8", Arc::new(Int8Array::from(vec![Some(-8), None]))),
        ("i16", Arc::new(Int16Array::from(vec![Some(-300), None]))),
        ("i32", Arc::new(Int32Array::from(vec![Some(-70_000), None]))),
        ("i64", Arc::new(Int64Array::from(vec![Some(-5_000_000_000), None]))),
        ("u8", Arc::new(UInt8Array::from(vec![Some(200), None]))),
        ("u16", Arc::new(UInt16Array::from(vec![Some(60_000), None]))),
        ("u32", Arc::new(UInt32Array::from(vec![Some(4_000_000_000), None]))),
        ("u64", Arc::new(UInt64Array::from(vec![Some(1 << 53), None]))),
        ("f16", Arc::new(Float16Array::from(vec![Some(half(0.5)), None]))),
        ("f32", Arc::new(Float32Array::from(vec![Some(-0.25), None]))),
        ("f64", Arc::new(Float64Array::from(vec![Some(0.1), Some(f64::NAN)]))),
    ];
    let first = [-8.0, -300.0, -70_000.0, -5e9, 200.0, 60_000.0, 4e9, 9_007_199_254_740_992.0, 0.5, -0.25, 0.1];
    let expected: Vec<u64> =
        first.into_iter().chain(std::iter::repeat_n(f64::NAN, first.len())).map(canonical_bits).collect();
    in_each_encoding(block(columns), &ReadOptions::default(), |name, table| {
        let table = table.unwrap();
        assert_eq!(table.columns.len(), first.len(), "{name}");
        assert_eq!(table.bits(), expected, "{name}");
    });
}

#[test]
fn a_column_of_nothing_but_nulls_is_missing_throughout() {
    let columns: Vec<(&str, ArrayRef)> =
        vec![("void", Arc::new(NullArray::new(2))), ("x", Arc::new(Float64Array::from(vec![1.5, 2.5])))];
    in_each_encoding(block(columns), &ReadOptions::default(), |name, table| {
        let expected = [f64::NAN, 1.5, f64::NAN, 2.5].map(canonical_bits);
        assert_eq!(table.unwrap().bits(), expected, "{name}");
    });
}

#[test]
fn labels_and_ids_are_read_from_texts_numbers_and_truth_values() {
    let dictionary: DictionaryArray<Int8Type> =
        vec![Some("red"), None, Some("blue"), Some("red")].into_iter().collect();
    let arrays: Vec<(ArrayRef, [&str; 4])> = vec![
        (Arc::new(StringArray::from(vec![Some("a"), None, Some(""), Some("é")])), ["a", "", "", "é"]),
        (Arc::new(LargeStringArray::from(vec!["a", "b", "c", "d"])), ["a", "b", "c", "d"]),
        (
            Arc::new(StringViewArray::from(vec!["a", "a rather long label", "c", "d"])),
            ["a", "a rather long label", "c", "d"],
        ),
        (Arc::new(dictionary), ["red", "", "blue", "red"]),
        (Arc::new(BooleanArray::from(vec![Some(true), None, Some(false), Some(true)])), ["true", "", "false", "true"]),
        (Arc::new(Int64Array::from(vec![i64::MAX, -1, 0, 7])), ["9223372036854775807", "-1", "0", "7"]),
        (Arc::new(Float64Array::from(vec![0.5, 1.0, -2.25, 3.0])), ["0.5", "1", "-2.25", "3"]),
    ];
    for (array, expected) in arrays {
        let x: ArrayRef = Arc::new(Float64Array::from(vec![1.0, 2.0, 3.0, 4.0]));
        for as_label in [true, false] {
            let role = Some("t".to_string());
            let options = match as_label {
                true => ReadOptions { label_column: role, ..ReadOptions::default() },
                false => ReadOptions { id_column: role, ..ReadOptions::default() },
            };
            in_each_encoding(block(vec![("t", Arc::clone(&array)), ("x", Arc::clone(&x))]), &options, |name, table| {
                let table = table.unwrap();
                let texts = if as_label { &table.batch.labels } else { &table.batch.ids };
                assert_eq!(*texts, expected, "{name}, {:?}", array.data_type());
                assert_eq!(table.batch.rows, [1.0, 2.0, 3.0, 4.0]);
            });
        }
    }
}

#[test]
fn columns_that_are_not_numbers_are_refused_unless_left_out() {
    let columns = || -> RecordBatch {
        block(vec![
            ("flag", Arc::new(BooleanArray::from(vec![true]))),
            ("note", Arc::new(StringArray::from(vec!["text"]))),
            ("x", Arc::new(Float64Array::from(vec![1.5]))),
        ])
    };
    let only_note = ReadOptions { drop: vec!["flag".into()], ..ReadOptions::default() };
    in_each_encoding(columns(), &ReadOptions::default(), |name, table| {
        let error = table.unwrap_err();
        assert_eq!(error.code(), "input/unsupported-type", "{name}");
        assert_eq!(
            error.to_string(),
            "data.csv: column `flag` is of type Boolean, not a number: convert it to one, leave it out with --drop \
             flag, or name it as --label-column or --id-column"
        );
    });
    in_each_encoding(columns(), &only_note, |name, table| {
        assert!(table.unwrap_err().to_string().contains("column `note` is of type Utf8"), "{name}");
    });
    let neither = ReadOptions { drop: vec!["flag".into(), "note".into()], ..ReadOptions::default() };
    in_each_encoding(columns(), &neither, |name, table| assert_eq!(table.unwrap().batch.rows, [1.5], "{name}"));
    let chosen = ReadOptions { columns: Some(vec!["x".into()]), ..ReadOptions::default() };
    in_each_encoding(columns(), &chosen, |name, table| assert_eq!(table.unwrap().batch.rows, [1.5], "{name}"));
}

#[test]
fn infinities_and_bad_weights_name_their_cell_or_are_skipped() {
    let columns = || {
        block(vec![
            ("w", Arc::new(Float64Array::from(vec![Some(1.0), Some(2.0), Some(-3.0), None, Some(5.0)]))),
            ("id", Arc::new(Int32Array::from(vec![10, 20, 30, 40, 50]))),
            ("x", Arc::new(Float64Array::from(vec![1.0, 2.0, 3.0, 4.0, 5.0]))),
            ("y", Arc::new(Float64Array::from(vec![-1.0, f64::NEG_INFINITY, -3.0, -4.0, -5.0]))),
        ])
    };
    let weighted =
        ReadOptions { weight_column: Some("w".into()), id_column: Some("id".into()), ..ReadOptions::default() };
    in_each_encoding(columns(), &weighted, |name, table| {
        let message = table.unwrap_err().to_string();
        assert!(
            message.starts_with("data.csv: row 2, column `y`: `-inf` is infinite: fix the cell"),
            "{name} {message}"
        );
    });
    let without_y = ReadOptions { drop: vec!["y".into()], ..weighted.clone() };
    in_each_encoding(columns(), &without_y, |name, table| {
        let message = table.unwrap_err().to_string();
        assert!(message.starts_with("data.csv: row 3, column `w`: `-3` is not a weight"), "{name} {message}");
    });
    let skipping = ReadOptions { on_error: OnError::Skip, ..weighted };
    in_each_encoding(columns(), &skipping, |name, table| {
        let table = table.unwrap();
        assert_eq!(table.batch.rows, [1.0, -1.0, 5.0, -5.0], "{name}");
        assert_eq!(table.batch.weights, [1.0, 5.0]);
        assert_eq!(table.batch.ids, ["10", "50"]);
        assert_eq!(table.row_numbers(), [1, 5]);
        assert_eq!(table.n_skipped, 3);
    });
}

#[test]
fn good_rows_before_a_fault_are_handed_out() {
    let x: ArrayRef = Arc::new(Float64Array::from(vec![1.0, 2.0, f64::INFINITY, 4.0]));
    for (name, format, bytes) in encodings(&[block(vec![("x", x)])]) {
        let mut source = crate::support::open_bytes(&bytes, &options(format)).unwrap();
        let mut batch = RowBatch::new();
        assert!(source.next_batch(&mut batch).is_err(), "{name}");
        assert_eq!((batch.rows.as_slice(), batch.n_rows), (&[1.0, 2.0][..], 2), "{name}");
        assert!(!source.next_batch(&mut batch).unwrap());
    }
}

#[test]
fn batches_run_across_blocks() {
    let blocks: Vec<RecordBatch> = [0..7, 7..7, 7..20, 20..21]
        .into_iter()
        .map(|rows| block(vec![("x", Arc::new(Int32Array::from(rows.collect::<Vec<i32>>())) as ArrayRef)]))
        .collect();
    for (name, format, bytes) in encodings(&blocks) {
        let options = ReadOptions { batch_rows: 5, ..options(format) };
        let mut source = crate::support::open_bytes(&bytes, &options).unwrap();
        let mut batch = RowBatch::new();
        let mut sizes = Vec::new();
        let mut cells = Vec::new();
        while source.next_batch(&mut batch).unwrap() {
            assert_eq!(batch.first_row, cells.len() as u64 + 1, "{name}");
            sizes.push(batch.n_rows);
            cells.extend_from_slice(&batch.rows);
        }
        assert_eq!(sizes, [5, 5, 5, 5, 1], "{name}");
        assert!(cells.iter().enumerate().all(|(ix, &cell)| cell == ix as f64), "{name}");
    }
}

#[test]
fn every_compression_is_read_and_so_is_gzip_around_it() {
    let cells: Vec<f64> = (0..5000).map(|ix| (ix % 17) as f64 * 0.5).collect();
    let blocks = [block(vec![("x", Arc::new(Float64Array::from(cells.clone())) as ArrayRef)])];
    let packed = [
        parquet_with(&blocks, Compression::SNAPPY),
        parquet_with(&blocks, Compression::GZIP(GzipLevel::default())),
        parquet_with(&blocks, Compression::ZSTD(ZstdLevel::default())),
        parquet_with(&blocks, Compression::LZ4_RAW),
        arrow_file_with(&blocks, Some(CompressionType::LZ4_FRAME)),
        arrow_file_with(&blocks, Some(CompressionType::ZSTD)),
    ];
    for bytes in packed {
        assert_eq!(read_bytes(&bytes, &ReadOptions::default()).unwrap().batch.rows, cells);
        assert_eq!(read_bytes(gzip(&[&bytes]), &ReadOptions::default()).unwrap().batch.rows, cells);
    }
}

#[test]
fn files_are_read_in_place_with_progress() {
    let folder = tempfile::tempdir().unwrap();
    let cells: Vec<f64> = (0..20_000).map(f64::from).collect();
    let blocks: Vec<RecordBatch> = cells
        .chunks(4000)
        .map(|part| block(vec![("x", Arc::new(Float64Array::from(part.to_vec())) as ArrayRef)]))
        .collect();
    for (name, _, bytes) in encodings(&blocks) {
        let extension = if name == "parquet" { "parquet" } else { "arrow" };
        let path = folder.path().join(format!("data.{extension}"));
        std::fs::write(&path, &bytes).unwrap();
        let path = path.to_str().unwrap();
        assert_eq!(read_from(open(path, &ReadOptions::default()).unwrap()).unwrap().batch.rows, cells, "{name}");
        let mut source = open(path, &ReadOptions::default()).unwrap();
        let mut batch = RowBatch::new();
        source.next_batch(&mut batch).unwrap();
        assert!(source.progress().bytes_read < bytes.len() as u64, "{name}");
        while source.next_batch(&mut batch).unwrap() {}
        assert_eq!(source.progress().bytes_read, bytes.len() as u64, "{name}");
        assert_eq!(source.progress().total_bytes, Some(bytes.len() as u64), "{name}");
    }
}

#[test]
fn columns_without_rows_and_unknown_columns() {
    let empty = block(vec![("x", Arc::new(Float64Array::from(Vec::<f64>::new())) as ArrayRef)]);
    in_each_encoding(empty, &ReadOptions::default(), |name, table| {
        assert_eq!(table.unwrap().batch.n_rows, 0, "{name}")
    });
    let x = block(vec![("speed", Arc::new(Float64Array::from(vec![1.0])) as ArrayRef)]);
    let unknown = ReadOptions { drop: vec!["sped".into()], ..ReadOptions::default() };
    for (_, format, bytes) in encodings(&[x]) {
        let message = fault(bytes, &ReadOptions { format: Some(format), ..unknown.clone() }, "input/unknown-column");
        assert!(message.ends_with("did you mean `speed`?"), "{message}");
    }
}

#[test]
fn damaged_files_are_errors() {
    let cells: Vec<f64> = (0..300).map(|ix| f64::from(ix) * 1.25).collect();
    let labels: Vec<String> = (0..300).map(|ix| format!("label {}", ix % 7)).collect();
    let whole =
        block(vec![("x", Arc::new(Float64Array::from(cells)) as ArrayRef), ("t", Arc::new(StringArray::from(labels)))]);
    let labelled = ReadOptions { label_column: Some("t".into()), ..ReadOptions::default() };
    for (name, format, bytes) in encodings(&[whole]) {
        let options = ReadOptions { format: Some(format), ..labelled.clone() };
        for length in (0..bytes.len()).step_by(bytes.len() / 60) {
            // Cut short: an error, or for a stream that ends between two blocks just fewer rows; never a panic.
            let cut = read_bytes(&bytes[..length], &options);
            assert!(cut.is_err() || name == "arrow stream", "{name} cut at {length}");
        }
    }
}

/// Sets each byte of an Arrow file to 255 in turn and returns the messages of those that cannot be read.
fn damage_byte_by_byte() -> Vec<String> {
    let x: ArrayRef = Arc::new(Float64Array::from(vec![Some(1.5), None, Some(2.5)]));
    let whole = arrow_file_with(&[block(vec![("x", x)])], None);
    let damage = |ix: usize| {
        let mut bytes = whole.clone();
        bytes[ix] = 255;
        read_bytes(bytes, &options(Format::Arrow)).err().map(|error| error.to_string())
    };
    (0..whole.len()).filter_map(damage).collect()
}

#[test]
fn damage_that_the_decoder_does_not_describe_is_an_error_too() {
    let messages = damage_byte_by_byte();
    let undescribed = messages.iter().filter(|message| message.contains("arrow (the file is damaged)"));
    assert!(undescribed.count() > 0, "the guard around the decoder is no longer needed: {messages:#?}");
}

/// Not a test by itself: run as another process by the test below.
#[test]
fn reader_of_damaged_files() {
    if std::env::var_os("READ_DAMAGED_FILES").is_some() {
        damage_byte_by_byte();
        panic!("a panic of our own, after those of the decoder");
    }
}

#[test]
fn panics_of_the_decoder_are_not_shown_and_our_own_are() {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["columnar::reader_of_damaged_files", "--exact", "--nocapture"])
        .env("READ_DAMAGED_FILES", "yes")
        .output()
        .unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(errors.matches("panicked at").count(), 1, "{errors}");
    assert!(errors.contains("a panic of our own"), "{errors}");
}
