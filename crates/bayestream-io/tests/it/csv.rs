//! CSV as people write it.

use bayestream_io::{Format, ReadOptions};

use crate::support::{options, read_bytes, read_csv};

const MISSING: u64 = f64::NAN.to_bits();

fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|value| value.to_bits()).collect()
}

#[test]
fn rows_come_out_in_order_of_the_columns() {
    let table = read_csv("a,b,c\n1,2,3\n4.5,-6e-3,+7\n");
    assert_eq!(table.columns, ["a", "b", "c"]);
    assert_eq!(table.batch.n_rows, 2);
    assert_eq!(table.batch.first_row, 1);
    assert_eq!(table.batch.rows, [1.0, 2.0, 3.0, 4.5, -0.006, 7.0]);
    assert!(table.batch.weights.is_empty() && table.batch.labels.is_empty() && table.batch.ids.is_empty());
}

#[test]
fn every_mark_of_a_missing_value_is_nan() {
    let table = read_csv("a,b\n,1\nNA,2\nNaN,3\nnan,4\nnull,5\n \t,6\n\"\",7\n NA ,8\n");
    assert_eq!(table.batch.n_rows, 8);
    for (row_ix, row) in table.batch.rows.chunks(2).enumerate() {
        assert!(row[0].is_nan(), "row {row_ix}");
        assert_eq!(row[1], row_ix as f64 + 1.0);
    }
}

#[test]
fn line_ends_byte_order_mark_and_blank_lines_do_not_matter() {
    let plain = read_csv("a,b\n1,2\n3,4\n");
    for text in [
        "a,b\r\n1,2\r\n3,4\r\n",
        "a,b\n1,2\n3,4",
        "\u{feff}a,b\n1,2\n3,4\n",
        "\n\na,b\n\n1,2\n  \n3,4\n\n\n",
        "\u{feff}\r\na,b\r\n1,2\r\n\r\n3,4",
        "\"a\",\"b\"\n\"1\",2\n3,\"4\"\n",
        " a , b \n 1 , 2 \n 3 , 4 \n",
    ] {
        let table = read_csv(text);
        assert_eq!(table.columns, plain.columns, "{text:?}");
        assert_eq!(table.bits(), plain.bits(), "{text:?}");
    }
}

#[test]
fn the_delimiter_is_found_in_the_first_line() {
    for text in ["a\tb\n1.5\t\n", "a;b\n1.5;\n", "a,b\n1.5,\n", "\"a\";\"b\"\n1.5;\"\"\n"] {
        let table = read_csv(text);
        assert_eq!(table.columns, ["a", "b"], "{text:?}");
        assert_eq!(table.bits(), [1.5f64.to_bits(), MISSING], "{text:?}");
    }
    assert_eq!(read_csv("\"a,b\";c\n1;2\n").columns, ["a,b", "c"]);
    // With a comma in the first line, semicolons are text.
    let semicolons = ReadOptions { label_column: Some("b;c".into()), ..options(Format::Csv) };
    let table = read_bytes("a,b;c\n1,x;y\n", &semicolons).unwrap();
    assert_eq!(table.batch.labels, ["x;y"]);
}

#[test]
fn a_line_of_tabs_is_a_row_of_missing_values_when_tabs_delimit() {
    assert_eq!(read_csv("a\tb\n1\t2\n\t\n").bits(), [bits(&[1.0, 2.0]), vec![MISSING; 2]].concat());
}

#[test]
fn a_first_line_of_numbers_is_a_row() {
    let table = read_csv("1,2.5\n3,4\n");
    assert_eq!(table.columns, ["x1", "x2"]);
    assert_eq!(table.batch.rows, [1.0, 2.5, 3.0, 4.0]);
    assert_eq!(table.row_numbers(), [1, 2]);

    let with_gap = read_csv("1,,3\n4,5,6\n");
    assert_eq!(with_gap.columns, ["x1", "x2", "x3"]);
    assert_eq!(with_gap.batch.n_rows, 2);

    let header = read_csv("1,b\n3,4\n");
    assert_eq!(header.columns, ["1", "b"]);
    assert_eq!(header.batch.rows, [3.0, 4.0]);

    let single = read_csv("5");
    assert_eq!(single.columns, ["x1"]);
    assert_eq!(single.batch.rows, [5.0]);
}

#[test]
fn labels_ids_and_weights_have_their_own_places() {
    let roles = ReadOptions {
        label_column: Some("kind".into()),
        id_column: Some("id".into()),
        weight_column: Some("w".into()),
        drop: vec!["note".into()],
        ..options(Format::Csv)
    };
    let text = "kind,x,w,note,id,y\ncat,1,0.5,\"a, \"\"b\"\"\",n1,2\n\"dog, big\",3,2,,n2,\n";
    let table = read_bytes(text, &roles).unwrap();
    assert_eq!(table.columns, ["x", "y"]);
    assert_eq!(table.batch.labels, ["cat", "dog, big"]);
    assert_eq!(table.batch.ids, ["n1", "n2"]);
    assert_eq!(table.batch.weights, [0.5, 2.0]);
    assert_eq!(table.bits(), [bits(&[1.0, 2.0, 3.0]), vec![MISSING]].concat());
}

#[test]
fn chosen_columns_come_in_the_order_asked_for() {
    let chosen = ReadOptions { columns: Some(vec!["c".into(), "a".into()]), ..options(Format::Csv) };
    let table = read_bytes("a,text,c\n1,one,3\n4,four,6\n", &chosen).unwrap();
    assert_eq!(table.columns, ["c", "a"]);
    assert_eq!(table.batch.rows, [3.0, 1.0, 6.0, 4.0]);
}

#[test]
fn quoted_cells_may_hold_line_feeds() {
    let labelled = ReadOptions { label_column: Some("t".into()), ..options(Format::Csv) };
    let table = read_bytes("t,x\r\n\"a\r\nb\n\n\",1\r\nc,2\r\n", &labelled).unwrap();
    assert_eq!(table.batch.labels, ["a\r\nb\n\n", "c"]);
    assert_eq!(table.batch.rows, [1.0, 2.0]);
}

#[test]
fn an_unnamed_column_can_be_left_out_by_its_position() {
    let without_index = ReadOptions { drop: vec!["column1".into()], ..options(Format::Csv) };
    let table = read_bytes(",a\n0,1.5\n1,2.5\n", &without_index).unwrap();
    assert_eq!(table.columns, ["a"]);
    assert_eq!(table.batch.rows, [1.5, 2.5]);
}

#[test]
fn an_input_of_columns_alone_ends_at_once() {
    let table = read_csv("a,b\n");
    assert_eq!(table.batch.n_rows, 0);
    assert_eq!(table.columns, ["a", "b"]);
}
