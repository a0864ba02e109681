//! Rows as lines of CSV and NDJSON. Floats are written with the fewest digits that read back as the same number.

use std::io::Write;

use super::{Cell, OutColumn};

/// Appends the line of column names.
pub(super) fn csv_header(line: &mut Vec<u8>, columns: &[OutColumn], delimiter: u8) {
    let names: Vec<Cell<'_>> = columns.iter().map(|column| Cell::Text(&column.name)).collect();
    csv_row(line, &names, delimiter);
}

/// Appends a row and its line feed.
pub(super) fn csv_row(line: &mut Vec<u8>, cells: &[Cell<'_>], delimiter: u8) {
    let start = line.len();
    for (ix, cell) in cells.iter().enumerate() {
        if ix > 0 {
            line.push(delimiter);
        }
        csv_cell(line, cell);
    }
    if line.len() == start {
        // A row of one empty cell, which would otherwise be a blank line and no row.
        line.extend_from_slice(b"\"\"");
    }
    line.push(b'\n');
}

fn csv_cell(line: &mut Vec<u8>, cell: &Cell<'_>) {
    match *cell {
        Cell::Null => {}
        Cell::Float(value) if !value.is_finite() => {}
        Cell::Float(value) => float(line, value),
        Cell::Int(value) => int(line, value),
        Cell::Bool(value) => line.extend_from_slice(if value { b"true" } else { b"false" }),
        Cell::Text(text) => csv_text(line, text),
        Cell::TextList(texts) => csv_text(line, &texts.join(";")),
        Cell::Records(records) => csv_text(line, &json_of(records)),
        Cell::FloatList(values) => {
            for (ix, &value) in values.iter().enumerate() {
                if ix > 0 {
                    line.push(b';');
                }
                if value.is_finite() {
                    float(line, value);
                }
            }
        }
    }
}

fn csv_text(line: &mut Vec<u8>, text: &str) {
    let needs_quotes = text.bytes().any(|byte| matches!(byte, b',' | b'"' | b'\n' | b'\r' | b';' | b'\t'))
        || text.starts_with(char::is_whitespace)
        || text.ends_with(char::is_whitespace);
    if !needs_quotes {
        return line.extend_from_slice(text.as_bytes());
    }
    line.push(b'"');
    for byte in text.bytes() {
        if byte == b'"' {
            line.push(b'"');
        }
        line.push(byte);
    }
    line.push(b'"');
}

/// The columns' names, ready to stand before a value: `"name":`, with the comma in front for all but the first.
pub(super) fn json_keys(columns: &[OutColumn]) -> Vec<Vec<u8>> {
    let key = |(ix, column): (usize, &OutColumn)| {
        let mut key = if ix == 0 { Vec::new() } else { b",".to_vec() };
        json_text(&mut key, &column.name);
        key.push(b':');
        key
    };
    columns.iter().enumerate().map(key).collect()
}

/// Appends a row and its line feed.
pub(super) fn json_row(line: &mut Vec<u8>, keys: &[Vec<u8>], cells: &[Cell<'_>]) {
    line.push(b'{');
    for (key, cell) in keys.iter().zip(cells) {
        line.extend_from_slice(key);
        json_cell(line, cell);
    }
    line.extend_from_slice(b"}\n");
}

fn json_cell(line: &mut Vec<u8>, cell: &Cell<'_>) {
    match *cell {
        Cell::Null => line.extend_from_slice(b"null"),
        Cell::Float(value) => json_float(line, value),
        Cell::Int(value) => int(line, value),
        Cell::Bool(value) => line.extend_from_slice(if value { b"true" } else { b"false" }),
        Cell::Text(text) => json_text(line, text),
        Cell::TextList(texts) => json_list(line, texts, |line, text| json_text(line, text)),
        Cell::FloatList(values) => json_list(line, values, |line, &value| json_float(line, value)),
        Cell::Records(records) => json_list(line, records, |line, record| {
            line.push(b'{');
            for (ix, (name, value)) in record.iter().enumerate() {
                if ix > 0 {
                    line.push(b',');
                }
                json_text(line, name);
                line.push(b':');
                json_cell(line, value);
            }
            line.push(b'}');
        }),
    }
}

/// Objects as a text, for formats that are not JSON.
pub(super) fn json_of(records: &[Vec<(&str, Cell<'_>)>]) -> String {
    let mut text = Vec::new();
    json_cell(&mut text, &Cell::Records(records));
    String::from_utf8(text).expect("JSON written from texts and numbers is UTF-8")
}

fn json_list<T>(line: &mut Vec<u8>, items: &[T], write: impl Fn(&mut Vec<u8>, &T)) {
    line.push(b'[');
    for (ix, item) in items.iter().enumerate() {
        if ix > 0 {
            line.push(b',');
        }
        write(line, item);
    }
    line.push(b']');
}

fn json_float(line: &mut Vec<u8>, value: f64) {
    match value.is_finite() {
        true => float(line, value),
        false => line.extend_from_slice(b"null"),
    }
}

fn float(line: &mut Vec<u8>, value: f64) {
    serde_json::to_writer(line, &value).expect("a finite float is a JSON number, and memory takes all bytes");
}

fn json_text(line: &mut Vec<u8>, text: &str) {
    serde_json::to_writer(line, text).expect("every text is a JSON string, and memory takes all bytes");
}

fn int(line: &mut Vec<u8>, value: i64) {
    write!(line, "{value}").expect("memory takes all bytes");
}
