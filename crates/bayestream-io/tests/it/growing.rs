//! Tables that grow under their final name.

use std::fs;

use bayestream_io::{Cell, CellKind, Format, OutColumn, TableWriter};

fn columns() -> Vec<OutColumn> {
    vec![OutColumn::new("row", CellKind::Int), OutColumn::new("word", CellKind::Text)]
}

fn add(table: &mut TableWriter, rows: std::ops::Range<i64>) {
    for row in rows {
        table.write_row(&[Cell::Int(row), Cell::Text("a \"b\", c")]).unwrap();
    }
}

#[test]
fn rows_are_there_as_soon_as_they_are_handed_on() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.csv");
    fs::write(&path, "the old table, which is longer than the new one").unwrap();
    let mut table = TableWriter::grow(path.to_str().unwrap(), None, columns(), None).unwrap();
    add(&mut table, 1..2);
    table.flush().unwrap();
    let first = "row,word\n1,\"a \"\"b\"\", c\"\n";
    assert_eq!(fs::read_to_string(&path).unwrap(), first);
    assert_eq!((table.sync().unwrap(), table.length(), table.n_waiting()), (Some(24), Some(24), 0));
    add(&mut table, 2..3);
    drop(table);
    // What was not handed on is lost, what was is not.
    assert_eq!(fs::read_to_string(&path).unwrap(), first);
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
}

#[test]
fn a_table_cut_anywhere_and_continued_is_the_same_table() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["out.csv", "out.tsv", "out.ndjson"] {
        let path = folder.path().join(name);
        let target = path.to_str().unwrap();
        let mut table = TableWriter::grow(target, None, columns(), None).unwrap();
        add(&mut table, 0..5);
        let length = table.sync().unwrap();
        add(&mut table, 5..9);
        table.finish().unwrap();
        let whole = fs::read(&path).unwrap();
        for end in length.unwrap() as usize..=whole.len() {
            fs::write(&path, &whole[..end]).unwrap();
            let mut table = TableWriter::grow(target, None, columns(), length).unwrap();
            assert_eq!(table.length(), length);
            add(&mut table, 5..9);
            table.finish().unwrap();
            assert_eq!(fs::read(&path).unwrap(), whole, "{name} {end}");
        }
    }
}

#[test]
fn another_table_is_not_continued() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.csv");
    let target = path.to_str().unwrap();
    for found in ["row,words\n1,a\n", "{\"row\":1}\n", "row"] {
        fs::write(&path, found).unwrap();
        let error = TableWriter::grow(target, None, columns(), Some(3)).err().unwrap();
        assert_eq!(error.code(), "output/other-table");
        assert!(error.to_string().starts_with(target), "{error}");
        assert_eq!(fs::read_to_string(&path).unwrap(), found);
    }
    let other = TableWriter::grow(target, Some(Format::Ndjson), columns(), Some(3));
    assert_eq!(other.err().unwrap().code(), "output/other-table");
}

#[test]
fn packed_tables_and_those_of_columns_do_not_grow() {
    let folder = tempfile::tempdir().unwrap();
    for (name, grows) in
        [("a.csv", true), ("a.ndjson", true), ("a.csv.gz", false), ("a.parquet", false), ("a.arrow", false)]
    {
        let path = folder.path().join(name);
        let target = path.to_str().unwrap();
        assert_eq!(TableWriter::can_grow(target, None).unwrap(), grows, "{name}");
        let mut table = TableWriter::grow(target, None, columns(), None).unwrap();
        add(&mut table, 0..3);
        assert_eq!(table.sync().unwrap().is_some(), grows, "{name}");
        assert_eq!(path.exists(), grows, "{name}");
        table.finish().unwrap();
        assert!(path.exists(), "{name}");
    }
    assert!(TableWriter::can_grow("-", None).unwrap() && !TableWriter::can_grow("-", Some(Format::Arrow)).unwrap());
}

#[cfg(target_os = "linux")]
#[test]
fn what_finds_no_room_waits() {
    let mut table = TableWriter::grow("/dev/full", Some(Format::Csv), columns(), None).unwrap();
    add(&mut table, 0..1);
    for _ in 0..2 {
        let error = table.flush().unwrap_err();
        assert!(error.is_full(), "{error}");
        assert_eq!((table.length(), table.n_waiting()), (None, 24));
    }
    assert!(table.finish().unwrap_err().is_full());
}
