//! NDJSON: one flat object a line.

use bayestream_io::{Format, ReadOptions};

use crate::support::{fault, options, read_bytes, skipping};

fn json() -> ReadOptions {
    options(Format::Ndjson)
}

#[test]
fn the_first_object_names_the_columns_and_later_ones_may_lack_some() {
    let text = "{\"b\": 1, \"a\": null}\n\n  {\"a\":2.5e0}\r\n{ \"a\" : -0.0 , \"b\" : NaN }\n{}";
    let table = read_bytes(text, &json()).unwrap();
    assert_eq!(table.columns, ["b", "a"]);
    let expected = [1.0, f64::NAN, f64::NAN, 2.5, f64::NAN, -0.0, f64::NAN, f64::NAN];
    assert_eq!(table.bits(), expected.map(crate::support::canonical_bits));
}

#[test]
fn labels_and_ids_may_be_any_single_value() {
    let roles = ReadOptions {
        label_column: Some("k".into()),
        id_column: Some("i".into()),
        weight_column: Some("w".into()),
        drop: vec!["deep".into()],
        ..json()
    };
    let text = r#"{"k":"a \"q\" \u00e9\n","i":17,"w":0.25,"x":1,"deep":[{"}":"]"},2]}
{"x":2,"w":3,"i":"é","k":true}
{"x":3,"w":1}"#;
    let table = read_bytes(text, &roles).unwrap();
    assert_eq!(table.columns, ["x"]);
    assert_eq!(table.batch.labels, ["a \"q\" é\n", "true", ""]);
    assert_eq!(table.batch.ids, ["17", "é", ""]);
    assert_eq!(table.batch.weights, [0.25, 3.0, 1.0]);
    assert_eq!(table.batch.rows, [1.0, 2.0, 3.0]);
}

#[test]
fn keys_are_texts_however_they_are_escaped() {
    let table = read_bytes("{\"caf\\u00e9\":1,\"b\":2}\n{\"café\":3,\"\\u0062\":4}\n", &json()).unwrap();
    assert_eq!(table.columns, ["café", "b"]);
    assert_eq!(table.batch.rows, [1.0, 2.0, 3.0, 4.0]);
}

#[test]
fn chosen_columns_make_other_keys_none_of_our_business() {
    let chosen = ReadOptions { columns: Some(vec!["y".into()]), ..json() };
    let table = read_bytes("{\"x\":\"text\",\"y\":1}\n{\"y\":2,\"new\":[1]}\n", &chosen).unwrap();
    assert_eq!(table.columns, ["y"]);
    assert_eq!(table.batch.rows, [1.0, 2.0]);
}

#[test]
fn faults_name_key_value_and_place() {
    let cases = [
        ("{\"x\":\"one\"}", "input/not-a-number", "data.csv: row 1 (line 1), column `x`: `one` is not a number"),
        ("{\"x\":1}\n\n{\"x\":true}", "input/boolean", "row 2 (line 3), column `x`: `true` is a truth value"),
        ("{\"x\":1e999}", "input/infinite", "column `x`: `1e999` is infinite"),
        ("{\"x\":-Infinity}", "input/infinite", "column `x`: `-Infinity` is infinite"),
        ("{\"x\":[1]}", "input/nested", "column `x`: `[1]` is not a single number"),
        ("{\"x\":wrong}", "input/not-a-number", "column `x`: `wrong` is not a number"),
        ("{\"speed\":1}\n{\"sped\":2}", "input/unknown-key", "key `sped` is not in the first object"),
        ("{\"speed\":1}\n{\"sped\":2}", "input/unknown-key", "did you mean `speed`?"),
        ("{\"x\":1}\n{\"x\":1,\"x\":2}", "input/malformed-row", "row 2 (line 2): the object has the same key twice"),
        ("{\"x\":1,\"x\":2}", "input/duplicate-column", "two columns are named `x`"),
        ("{\"x\":1}\n{\"x\":2", "input/malformed-row", "ends early"),
        ("{\n  \"x\": 1\n}", "input/malformed-row", "not one whole JSON object on one line"),
        ("[1, 2]", "input/malformed-row", "not a JSON object"),
        ("{\"x\":1} {\"x\":2}", "input/malformed-row", "something follows the JSON object"),
        ("{\"x\" 1}", "input/malformed-row", "expected a colon"),
        ("{x: 1}", "input/malformed-row", "expected a key in double quotes"),
        ("{\"x\":}", "input/malformed-row", "a key without a value"),
        ("{}", "input/no-columns", "no numeric column is left"),
        ("\n\n", "input/empty", "is empty"),
    ];
    for (text, code, part) in cases {
        let message = fault(text, &json(), code);
        assert!(message.contains(part), "{message}");
    }
}

#[test]
fn a_row_without_its_weight_is_a_fault() {
    let weighted = ReadOptions { weight_column: Some("w".into()), ..json() };
    let message = fault("{\"x\":1,\"w\":1}\n{\"x\":2}\n", &weighted, "input/bad-weight");
    assert!(message.contains("row 2 (line 2), column `w`: `null` is not a weight"), "{message}");
}

#[test]
fn faulty_rows_are_skipped_and_counted() {
    let text = "{\"x\":1}\n{\"x\":\"bad\"}\n{\"z\":1}\nnonsense\n{\"x\":5}\n";
    let table = read_bytes(text, &skipping(Format::Ndjson)).unwrap();
    assert_eq!(table.batch.rows, [1.0, 5.0]);
    assert_eq!(table.row_numbers(), [1, 5]);
    assert_eq!(table.n_skipped, 3);
}

#[test]
fn the_first_sound_object_names_the_columns_when_faulty_rows_are_skipped() {
    let table = read_bytes("# a comment\n\n{\"x\":1}\n{\"x\":2}\n", &skipping(Format::Ndjson)).unwrap();
    assert_eq!(table.batch.rows, [1.0, 2.0]);
    assert_eq!(table.row_numbers(), [2, 3]);
    assert_eq!(table.n_skipped, 1);
    let message = fault("nothing\nat all\n", &skipping(Format::Ndjson), "input/no-rows");
    assert!(message.contains("all 2 were skipped"), "{message}");
}
