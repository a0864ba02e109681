//! Laws that hold for every input, checked on many drawn ones.

use bayestream_io::{Cell, CellKind, Format, OnError, OutColumn, ReadOptions, TableWriter, open, open_reader};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use crate::support::{Chunked, canonical_bits, gzip, options, read_bytes, read_from, skipping};

/// So many cases, the same ones at every run.
fn drawn(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, rng_seed: RngSeed::Fixed(20), failure_persistence: None, ..ProptestConfig::default() }
}

/// Text made of the bytes that mean something to the readers, so that drawn inputs get past the first line.
fn telling_bytes() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        8 => prop::sample::select(&b"0123456789.,-+eE\n\n,,"[..]).prop_map(|byte| vec![byte]),
        2 => prop::sample::select(&b"\"\r\t; aN{}[]:\\"[..]).prop_map(|byte| vec![byte]),
        1 => prop::sample::select(vec!["NA", "NaN", "null", "inf", "1e999", "\"x\":1", "{\"x\":1}\n", "a,b\n", "\u{feff}", "é"])
            .prop_map(|text| text.as_bytes().to_vec()),
        1 => any::<u8>().prop_map(|byte| vec![byte]),
    ];
    prop::collection::vec(piece, 0..120).prop_map(|pieces| pieces.concat())
}

fn any_options() -> impl Strategy<Value = ReadOptions> {
    (any::<bool>(), 1usize..4, prop::option::of("[ab]"), prop::option::of("[ab]")).prop_map(
        |(skips, batch_rows, label_column, weight_column)| ReadOptions {
            on_error: if skips { OnError::Skip } else { OnError::Fail },
            batch_rows,
            label_column,
            weight_column,
            ..ReadOptions::default()
        },
    )
}

/// Rows of finite numbers and missing values, all of the same width.
fn any_rows() -> impl Strategy<Value = (usize, Vec<f64>)> {
    let cell = prop_oneof![
        4 => prop::num::f64::ANY.prop_map(|value| if value.is_finite() { value } else { f64::NAN }),
        2 => -1e6..1e6f64,
        1 => (-1000..1000i32).prop_map(f64::from),
        1 => prop::sample::select(vec![0.0, -0.0, f64::MIN_POSITIVE, 5e-324, f64::MAX, f64::MIN, f64::NAN]),
    ];
    (1usize..5, 0usize..12).prop_flat_map(move |(n_columns, n_rows)| {
        (Just(n_columns), prop::collection::vec(cell.clone(), n_columns * n_rows))
    })
}

fn names(n_columns: usize) -> Vec<String> {
    (0..n_columns).map(|ix| format!("column {ix}")).collect()
}

fn write_rows(path: &str, n_columns: usize, rows: &[f64]) {
    let columns = names(n_columns).into_iter().map(|name| OutColumn::new(name, CellKind::Float)).collect();
    let mut table = TableWriter::create(path, None, columns).unwrap();
    for row in rows.chunks(n_columns) {
        let cells: Vec<Cell<'_>> = row.iter().map(|&cell| Cell::Float(cell)).collect();
        table.write_row(&cells).unwrap();
    }
    table.finish().unwrap();
}

fn csv_text(n_columns: usize, rows: &[f64]) -> String {
    let line = |row: &[f64]| row.iter().map(|cell| cell.to_string()).collect::<Vec<_>>().join(",") + "\n";
    names(n_columns).join(",") + "\n" + &rows.chunks(n_columns).map(line).collect::<String>()
}

fn ndjson_text(n_columns: usize, rows: &[f64]) -> String {
    let pair = |(ix, cell): (usize, &f64)| match cell.is_nan() {
        true => format!("\"column {ix}\": null"),
        false => format!("\"column {ix}\": {cell:e}"),
    };
    let line = |row: &[f64]| format!("{{{}}}\n", row.iter().enumerate().map(pair).collect::<Vec<_>>().join(", "));
    rows.chunks(n_columns).map(line).collect()
}

proptest! {
    #![proptest_config(drawn(512))]

    #[test]
    fn no_text_makes_a_reader_panic(bytes in telling_bytes(), options in any_options(), format in 0usize..5) {
        let format = Format::ALL.get(format).copied();
        if let Ok(table) = read_bytes(&bytes, &ReadOptions { format, ..options }) {
            prop_assert_eq!(table.batch.rows.len(), table.batch.n_rows * table.columns.len());
            prop_assert!(table.batch.rows.iter().all(|cell| !cell.is_infinite()));
            prop_assert!(table.batch.weights.iter().all(|weight| weight.is_finite() && *weight >= 0.0));
            let numbers = table.row_numbers();
            prop_assert!(numbers.windows(2).all(|pair| pair[0] < pair[1]));
        }
    }

    #[test]
    fn pieces_of_any_size_read_like_the_whole(
        bytes in telling_bytes(),
        options in any_options(),
        sizes in prop::collection::vec(1usize..9, 1..4),
        is_packed in any::<bool>(),
    ) {
        for format in [Format::Csv, Format::Ndjson] {
            let options = ReadOptions { format: Some(format), ..options.clone() };
            let whole = read_bytes(&bytes, &options);
            let stored = if is_packed { gzip(&[&bytes]) } else { bytes.clone() };
            let chunked = Box::new(Chunked::new(&stored, &sizes));
            let pieces = open_reader(chunked, "data.csv", &options).and_then(read_from);
            match (whole, pieces) {
                (Ok(whole), Ok(pieces)) => {
                    prop_assert_eq!(whole.bits(), pieces.bits());
                    prop_assert_eq!(whole.row_numbers(), pieces.row_numbers());
                    prop_assert_eq!(&whole.batch.labels, &pieces.batch.labels);
                    prop_assert_eq!(&whole.batch.weights, &pieces.batch.weights);
                    prop_assert_eq!(whole.n_skipped, pieces.n_skipped);
                }
                (Err(whole), Err(pieces)) => prop_assert_eq!(whole.to_string(), pieces.to_string()),
                (whole, pieces) => prop_assert!(false, "{whole:?} but {pieces:?}"),
            }
        }
    }

    #[test]
    fn batch_size_does_not_change_the_rows((n_columns, rows) in any_rows(), batch_rows in 1usize..20) {
        for (format, text) in [(Format::Csv, csv_text(n_columns, &rows)), (Format::Ndjson, ndjson_text(n_columns, &rows))] {
            if format == Format::Ndjson && rows.is_empty() {
                continue;
            }
            let table = read_bytes(&text, &ReadOptions { batch_rows, ..options(format) }).unwrap();
            let expected: Vec<u64> = rows.iter().map(|cell| canonical_bits(*cell)).collect();
            prop_assert_eq!(table.bits(), expected);
            prop_assert_eq!(table.columns, names(n_columns));
        }
    }

    #[test]
    fn skipping_bad_rows_is_reading_without_them(rows in prop::collection::vec((0u32..1000, 0u8..4), 0..30)) {
        let line = |&(value, fault): &(u32, u8)| match fault {
            0 => format!("{value},text\n"),
            1 => format!("{value}\n"),
            _ => format!("{value},-{value}.5\n"),
        };
        let text: String = std::iter::once("a,b\n".to_string()).chain(rows.iter().map(line)).collect();
        let table = read_bytes(&text, &skipping(Format::Csv)).unwrap();
        let is_good = |row: &(u32, u8)| row.1 > 1;
        let cells: Vec<f64> = rows.iter().filter(|row| is_good(row))
            .flat_map(|row| [f64::from(row.0), -f64::from(row.0) - 0.5]).collect();
        let numbers: Vec<u64> = rows.iter().zip(1..).filter(|(row, _)| is_good(row)).map(|(_, number)| number).collect();
        prop_assert_eq!(table.batch.rows.clone(), cells);
        prop_assert_eq!(table.n_skipped, (rows.len() - numbers.len()) as u64);
        prop_assert_eq!(table.row_numbers(), numbers);
    }

    #[test]
    fn labels_read_as_another_csv_library_wrote_them(labels in prop::collection::vec("[ab\",\\n\\r;é ]{0,8}", 1..10)) {
        let mut writer = csv::Writer::from_writer(Vec::new());
        writer.write_record(["x", "label"]).unwrap();
        for label in &labels {
            writer.write_record(["1", label]).unwrap();
        }
        let bytes = writer.into_inner().unwrap();
        let options = ReadOptions { label_column: Some("label".into()), ..options(Format::Csv) };
        prop_assert_eq!(read_bytes(bytes, &options).unwrap().batch.labels, labels);
    }

    #[test]
    fn short_decimals_read_like_the_standard_library(text in "-?[0-9]{0,10}(\\.[0-9]{0,8})?") {
        let expected = text.parse::<f64>().ok();
        let table = read_bytes(format!("a,b\n{text},0\n"), &options(Format::Csv));
        match expected {
            Some(value) => prop_assert_eq!(table.unwrap().batch.rows[0].to_bits(), value.to_bits()),
            None if text.is_empty() => prop_assert!(table.unwrap().batch.rows[0].is_nan()),
            None => prop_assert!(table.is_err()),
        }
    }
}

proptest! {
    #![proptest_config(drawn(64))]

    #[test]
    fn what_is_written_reads_back_to_the_bit((n_columns, rows) in any_rows()) {
        let folder = tempfile::tempdir().unwrap();
        for name in ["t.csv", "t.tsv", "t.ndjson", "t.parquet", "t.arrow", "t.csv.gz", "t.ndjson.gz"] {
            if rows.is_empty() && name.contains("ndjson") {
                // Without an object there is nothing to name the columns.
                continue;
            }
            let path = folder.path().join(name);
            let path = path.to_str().unwrap();
            write_rows(path, n_columns, &rows);
            let table = read_from(open(path, &ReadOptions::default()).unwrap()).unwrap();
            let expected: Vec<u64> = rows.iter().map(|cell| canonical_bits(*cell)).collect();
            prop_assert_eq!(table.bits(), expected, "{}", name);
            prop_assert_eq!(table.columns, names(n_columns), "{}", name);
        }
    }

    #[test]
    fn damaged_columnar_files_do_not_panic(
        (n_columns, rows) in any_rows(),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let folder = tempfile::tempdir().unwrap();
        for name in ["t.parquet", "t.arrow"] {
            let path = folder.path().join(name);
            let path = path.to_str().unwrap();
            write_rows(path, n_columns, &rows);
            let mut bytes = std::fs::read(path).unwrap();
            for (index, byte) in &changes {
                let ix = index.index(bytes.len());
                bytes[ix] = *byte;
            }
            // Damage to a cell's own bytes cannot be told from another value; only a panic would be wrong.
            let _ = read_bytes(&bytes, &options(Format::from_path(name).unwrap()));
        }
    }
}
