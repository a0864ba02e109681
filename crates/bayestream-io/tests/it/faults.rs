//! Each way an input can be wrong, and what the reader says about it.

use bayestream_io::{Format, InputError, OnError, ReadOptions, RowBatch, open, read_file};

use crate::support::{fault, gzip, open_bytes, options, read_bytes, skipping};

fn csv() -> ReadOptions {
    options(Format::Csv)
}

#[test]
fn text_in_a_numeric_column() {
    assert_eq!(
        fault("a,b\n1,2\n\n3,four\n", &csv(), "input/not-a-number"),
        "data.csv: row 2 (line 4), column `b`: `four` is not a number: fix the cell, leave the column out with --drop \
         b, or pass --on-error skip to count and skip such rows"
    );
    // A line number counts lines of the file, also where quoted cells hold line feeds.
    let dropped = ReadOptions { drop: vec!["t".into()], ..csv() };
    let message = fault("t,x\n\"1\n2\",1\n\"3\n4\",0x10\n", &dropped, "input/not-a-number");
    assert!(message.starts_with("data.csv: row 2 (line 4), column `x`: `0x10`"), "{message}");
}

#[test]
fn infinities() {
    for value in ["inf", "-inf", "Infinity", "1e999", "-1e400"] {
        let message = fault(format!("speed,b\n1,2\n{value},3\n"), &csv(), "input/infinite");
        assert_eq!(
            message,
            format!(
                "data.csv: row 2 (line 3), column `speed`: `{value}` is infinite: fix the cell, leave the column out \
                 with --drop speed, or pass --on-error skip to count and skip such rows"
            )
        );
    }
}

#[test]
fn long_and_odd_values_are_shown_in_one_short_line() {
    let message = fault(format!("a\n{}\n", "y".repeat(1000)), &csv(), "input/not-a-number");
    assert!(message.contains(&format!("`{}…` is not", "y".repeat(40))), "{message}");
    let message = fault(b"a\n\"x\ny\xff\"\n", &csv(), "input/not-a-number");
    assert!(message.contains("`x\\ny\u{fffd}` is not a number"), "{message}");
}

#[test]
fn a_wrong_number_of_cells() {
    assert_eq!(
        fault("a,b\n1,2\n3,4,5\n", &csv(), "input/wrong-cell-count"),
        "data.csv: row 2 (line 3): 3 cells where the first line has 2: fix the row (a missing value is an empty \
         cell), or pass --on-error skip to count and skip such rows"
    );
    let message = fault("a,b\nwrong\n", &csv(), "input/wrong-cell-count");
    assert!(message.contains("row 1 (line 2): 1 cell where the first line has 2"), "{message}");
}

#[test]
fn weights_that_are_none() {
    let weighted = ReadOptions { weight_column: Some("w".into()), ..csv() };
    for value in ["-1", "", "NA", "inf"] {
        let message = fault(format!("x,w\n1,{value}\n"), &weighted, "input/bad-weight");
        assert!(message.contains(&format!("column `w`: `{value}` is not a weight")), "{message}");
        assert!(message.contains("finite numbers of at least 0"), "{message}");
    }
    fault("x,w\n1,heavy\n", &weighted, "input/not-a-number");
    assert_eq!(read_bytes("x,w\n1,0\n", &weighted).unwrap().batch.weights, [0.0]);
}

#[test]
fn a_label_that_is_not_text() {
    let labelled = ReadOptions { label_column: Some("t".into()), ..csv() };
    let message = fault(b"t,x\n\xff\xfe,1\n", &labelled, "input/not-utf8");
    assert!(message.contains("column `t`") && message.contains("save the file as UTF-8"), "{message}");
}

#[test]
fn inputs_without_columns_or_rows() {
    for text in ["", "\n\r\n  \n", "\u{feff}", "\u{feff}\n"] {
        let message = fault(text, &csv(), "input/empty");
        assert_eq!(message, "data.csv: is empty: expected a first line with the names of the columns, then rows");
    }
    let mut source = open_bytes(b"a,b\n", &csv()).unwrap();
    assert!(!source.next_batch(&mut RowBatch::new()).unwrap());
    let error = source.no_rows_error();
    assert_eq!(error.code(), "input/no-rows");
    assert_eq!(error.to_string(), "data.csv: no rows: there are columns, but nothing below them");

    let mut source = open_bytes(b"a\nx\ny\n", &skipping(Format::Csv)).unwrap();
    assert!(!source.next_batch(&mut RowBatch::new()).unwrap());
    assert!(source.no_rows_error().to_string().contains("all 2 were skipped"));
}

#[test]
fn columns_of_the_same_name() {
    let message = fault("a,b,a\n1,2,3\n", &csv(), "input/duplicate-column");
    assert_eq!(message, "data.csv: two columns are named `a`: rename one of them");
}

#[test]
fn columns_without_a_name() {
    let message = fault(",a\n0,1\n", &csv(), "input/unnamed-column");
    assert!(message.contains("column 1 has no name") && message.contains("--drop column1"), "{message}");
}

#[test]
fn names_that_no_column_has() {
    let name = || Some("wieght".to_string());
    let asked = [
        ("--columns", ReadOptions { columns: Some(vec!["wieght".into()]), ..csv() }),
        ("--drop", ReadOptions { drop: vec!["wieght".into()], ..csv() }),
        ("--label-column", ReadOptions { label_column: name(), ..csv() }),
        ("--id-column", ReadOptions { id_column: name(), ..csv() }),
        ("--weight-column", ReadOptions { weight_column: name(), ..csv() }),
    ];
    for (option, options) in asked {
        assert_eq!(
            fault("height,Weight,x\n1,2,3\n", &options, "input/unknown-column"),
            format!("data.csv: there is no column `wieght` (asked for by {option}): did you mean `Weight`?")
        );
    }
    let far = ReadOptions { drop: vec!["temperature".into()], ..csv() };
    let message = fault("a,b\n1,2\n", &far, "input/unknown-column");
    assert!(message.ends_with("the columns are a, b"), "{message}");
    let letter = ReadOptions { drop: vec!["z".into()], ..csv() };
    let message = fault("a,b\n1,2\n", &letter, "input/unknown-column");
    assert!(message.ends_with("the columns are a, b"), "{message}");
    let wide: Vec<String> = (1..=20).map(|ix| format!("c{ix}")).collect();
    let message = fault(format!("{}\n", wide.join(",")), &far, "input/unknown-column");
    assert!(message.ends_with("c12 and 8 more"), "{message}");
}

#[test]
fn columns_asked_for_twice() {
    let both = ReadOptions { label_column: Some("a".into()), id_column: Some("a".into()), ..csv() };
    let message = fault("a,b\n1,2\n", &both, "input/column-claimed-twice");
    assert_eq!(message, "column `a` is named by both --label-column and --id-column: leave it in one of them");
    let twice = ReadOptions { columns: Some(vec!["a".into(), "a".into()]), ..csv() };
    let message = fault("a,b\n1,2\n", &twice, "input/column-claimed-twice");
    assert_eq!(message, "column `a` is named twice in --columns: name it once");
    // Leaving a column out twice is no contradiction.
    let dropped = ReadOptions { drop: vec!["a".into(), "a".into()], ..csv() };
    assert_eq!(read_bytes("a,b\n1,2\n", &dropped).unwrap().columns, ["b"]);
}

#[test]
fn no_numeric_column_left() {
    let dropped = ReadOptions { drop: vec!["a".into()], label_column: Some("b".into()), ..csv() };
    let message = fault("a,b\n1,2\n", &dropped, "input/no-columns");
    assert!(message.contains("no numeric column is left"), "{message}");
    fault("a,b\n1,2\n", &ReadOptions { columns: Some(Vec::new()), ..csv() }, "input/no-columns");
}

#[test]
fn quotes_that_never_close_are_not_skipped() {
    for options in [csv(), skipping(Format::Csv)] {
        let message = fault("a,b\n1,2\n3,\"4\n5,6\n", &options, "input/open-quote");
        assert!(
            message.starts_with("data.csv: row 2 (line 3): a quote is opened and never closed: close it"),
            "{message}"
        );
        let message = fault("\"a,b\n1,2\n", &options, "input/open-quote");
        assert!(message.starts_with("data.csv: line 1: a quote is opened"), "{message}");
    }
}

#[test]
fn files_that_cannot_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("missing.csv");
    let missing = missing.to_str().unwrap();
    let error = open(missing, &ReadOptions::default()).err().unwrap();
    assert_eq!(error.code(), "input/not-found");
    assert_eq!(error.to_string(), format!("{missing}: no such file: check the path, or use - for standard input"));
    assert_eq!(read_file(missing).unwrap_err().code(), "input/not-found");

    let path = folder.path().to_str().unwrap();
    let error = open(path, &ReadOptions::default()).err().unwrap();
    assert_eq!(error.code(), "input/unreadable");
    assert_eq!(error.to_string(), format!("{path}: is a folder: name a file in it"));
    assert!(read_file(path).unwrap_err().to_string().contains("is a folder"));
}

#[test]
fn packed_files_cut_short() {
    let packed = gzip(&[b"a,b\n1,2\n3,4\n"]);
    let message = fault(&packed[..packed.len() - 9], &csv(), "input/unreadable");
    assert!(message.contains("data.csv: cannot be read"), "{message}");
}

#[test]
fn bytes_of_another_format() {
    let message = fault(b"\xff\xfea\0,\0b\0\n\0", &csv(), "input/wrong-format");
    assert!(message.contains("not UTF-8 text") && message.contains("--format"), "{message}");
    for format in [Format::Parquet, Format::Arrow] {
        for text in [&b"a,b\n1,2\n"[..], b"PAR1", b"ARROW1", b"ARROW1\0\0aaaaaaaaaaaaaaaaaaaaaaaaARROW1", b"x"] {
            let message = fault(text, &options(format), "input/wrong-format");
            assert!(message.contains(&format!("cannot be read as {format}")), "{message}");
        }
    }
}

#[test]
fn the_place_of_a_fault_is_there_for_programs_too() {
    let error = read_bytes("a\n1\nx\n", &csv()).unwrap_err();
    let place = error.place().unwrap();
    assert_eq!((place.file.as_str(), place.row, place.line), ("data.csv", 2, Some(3)));
    assert!(InputError::Empty { file: "f".into() }.place().is_none());
}

#[test]
fn rows_before_a_fault_are_handed_out_and_the_source_has_ended() {
    let mut source = open_bytes(b"a\n1\n2\nx\n4\n", &csv()).unwrap();
    let mut batch = RowBatch::new();
    assert!(source.next_batch(&mut batch).is_err());
    assert_eq!((batch.rows.as_slice(), batch.n_rows), (&[1.0, 2.0][..], 2));
    assert!(!source.next_batch(&mut batch).unwrap());
    assert_eq!(batch.n_rows, 0);
}

#[test]
fn faulty_rows_are_skipped_whole_and_counted() {
    let roles = ReadOptions {
        label_column: Some("k".into()),
        id_column: Some("i".into()),
        weight_column: Some("w".into()),
        on_error: OnError::Skip,
        ..csv()
    };
    let text = "k,i,w,x,y\na,1,1,1,2\nb,2,1,bad,2\nc,3,-1,1,2\nd,4,1,1\ne,5,2,3,4\nf,6,1,5,inf\ng,7,3,7,8\n";
    let table = read_bytes(text, &roles).unwrap();
    assert_eq!(table.n_skipped, 4);
    assert_eq!(table.batch.rows, [1.0, 2.0, 3.0, 4.0, 7.0, 8.0]);
    assert_eq!(table.batch.labels, ["a", "e", "g"]);
    assert_eq!(table.batch.ids, ["1", "5", "7"]);
    assert_eq!(table.batch.weights, [1.0, 2.0, 3.0]);
    assert_eq!(table.row_numbers(), [1, 5, 7]);
}
