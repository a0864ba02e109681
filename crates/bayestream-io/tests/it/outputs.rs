//! Tables and files out: what is written, and that it is whole or not there.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_array::{Array, RecordBatch};
use arrow_ipc::reader::FileReader;
use bayestream_io::{Cell, CellKind, Format, OutColumn, OutputError, TableWriter};
use bayestream_io::{check_writable, read_file, write_atomic};
use parquet::arrow::arrow_reader::ParquetRecordBatchReader;

fn columns() -> Vec<OutColumn> {
    vec![
        OutColumn::new("row", CellKind::Int),
        OutColumn::new("log_density", CellKind::Float),
        OutColumn::new("component", CellKind::Text),
        OutColumn::new("reason", CellKind::TextList),
        OutColumn::new("scores", CellKind::FloatList),
        OutColumn::new("is_outlier", CellKind::Bool),
    ]
}

/// Writes three telling rows and returns the file's bytes.
fn write_sample(path: &Path) -> Vec<u8> {
    let mut table = TableWriter::create(path.to_str().unwrap(), None, columns()).unwrap();
    let reasons = ["height".to_string(), "a \"b\", c".to_string()];
    table
        .write_row(&[
            Cell::Int(1),
            Cell::Float(-0.1),
            Cell::Text("0-7"),
            Cell::TextList(&reasons),
            Cell::FloatList(&[0.25, f64::NAN, 1e300]),
            Cell::Bool(true),
        ])
        .unwrap();
    table
        .write_row(&[
            Cell::Int(-2),
            Cell::Float(f64::NEG_INFINITY),
            Cell::Text("é, \"x\"\n"),
            Cell::TextList(&[]),
            Cell::FloatList(&[]),
            Cell::Bool(false),
        ])
        .unwrap();
    table.write_row(&[Cell::Null, Cell::Int(3), Cell::Null, Cell::Null, Cell::Null, Cell::Null]).unwrap();
    table.finish().unwrap();
    read_file(path).unwrap()
}

#[test]
fn csv_quotes_what_needs_it_and_leaves_missing_values_empty() {
    let folder = tempfile::tempdir().unwrap();
    let text = String::from_utf8(write_sample(&folder.path().join("out.csv"))).unwrap();
    assert_eq!(
        text,
        "row,log_density,component,reason,scores,is_outlier\n\
         1,-0.1,0-7,\"height;a \"\"b\"\", c\",0.25;;1e+300,true\n\
         -2,,\"é, \"\"x\"\"\n\",,,false\n\
         ,3,,,,\n"
    );
}

#[test]
fn a_name_that_promises_tabs_gets_tabs() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["out.tsv", "out.TAB"] {
        let text = String::from_utf8(write_sample(&folder.path().join(name))).unwrap();
        assert!(text.starts_with("row\tlog_density\tcomponent\t"), "{text}");
        assert!(text.ends_with("\n\t3\t\t\t\t\n"), "{text}");
    }
}

#[test]
fn ndjson_has_one_object_a_row_and_null_for_missing_values() {
    let folder = tempfile::tempdir().unwrap();
    let text = String::from_utf8(write_sample(&folder.path().join("out.ndjson"))).unwrap();
    let rows: Vec<serde_json::Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let expected = [
        serde_json::json!({"row": 1, "log_density": -0.1, "component": "0-7", "reason": ["height", "a \"b\", c"],
            "scores": [0.25, null, 1e300], "is_outlier": true}),
        serde_json::json!({"row": -2, "log_density": null, "component": "é, \"x\"\n", "reason": [], "scores": [],
            "is_outlier": false}),
        serde_json::json!({"row": null, "log_density": 3, "component": null, "reason": null, "scores": null,
            "is_outlier": null}),
    ];
    assert_eq!(rows, expected);
    assert!(text.starts_with("{\"row\":1,\"log_density\":-0.1,\"component\":\"0-7\",\"reason\":["), "{text}");
}

fn check_columnar(block: &RecordBatch) {
    assert_eq!(block.num_rows(), 3);
    let names: Vec<String> = block.schema().fields().iter().map(|field| field.name().clone()).collect();
    assert_eq!(names, ["row", "log_density", "component", "reason", "scores", "is_outlier"]);
    let rows: Vec<Option<i64>> = block.column(0).as_primitive::<Int64Type>().iter().collect();
    assert_eq!(rows, [Some(1), Some(-2), None]);
    let densities: Vec<Option<f64>> = block.column(1).as_primitive::<Float64Type>().iter().collect();
    assert_eq!(densities, [Some(-0.1), None, Some(3.0)]);
    let components: Vec<Option<&str>> = block.column(2).as_string::<i32>().iter().collect();
    assert_eq!(components, [Some("0-7"), Some("é, \"x\"\n"), None]);
    let reasons = block.column(3).as_list::<i32>();
    let first = reasons.value(0);
    assert_eq!(first.as_string::<i32>().iter().collect::<Vec<_>>(), [Some("height"), Some("a \"b\", c")]);
    assert_eq!((reasons.value(1).len(), reasons.is_null(1), reasons.is_null(2)), (0, false, true));
    let scores = block.column(4).as_list::<i32>().value(0);
    let scores: Vec<Option<f64>> = scores.as_primitive::<Float64Type>().iter().collect();
    assert_eq!(scores, [Some(0.25), None, Some(1e300)]);
    let flags: Vec<Option<bool>> = block.column(5).as_boolean().iter().collect();
    assert_eq!(flags, [Some(true), Some(false), None]);
}

#[test]
fn parquet_and_arrow_keep_types_lists_and_nulls() {
    let folder = tempfile::tempdir().unwrap();
    let bytes = bytes::Bytes::from(write_sample(&folder.path().join("out.parquet")));
    let mut blocks = ParquetRecordBatchReader::try_new(bytes, 1024).unwrap();
    check_columnar(&blocks.next().unwrap().unwrap());
    let bytes = write_sample(&folder.path().join("out.arrow"));
    let mut blocks = FileReader::try_new(std::io::Cursor::new(bytes), None).unwrap();
    check_columnar(&blocks.next().unwrap().unwrap());
}

#[test]
fn the_same_rows_give_the_same_bytes_in_every_format() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["a.csv", "a.ndjson", "a.parquet", "a.arrow", "a.csv.gz", "a.ndjson.gz"] {
        let path = folder.path().join(name);
        assert_eq!(write_sample(&path), write_sample(&path), "{name}");
    }
}

#[test]
fn a_name_that_ends_in_gz_is_packed() {
    let folder = tempfile::tempdir().unwrap();
    let plain = write_sample(&folder.path().join("out.csv"));
    let packed = write_sample(&folder.path().join("out.csv.gz"));
    let mut unpacked = Vec::new();
    std::io::Read::read_to_end(&mut flate2::read::GzDecoder::new(packed.as_slice()), &mut unpacked).unwrap();
    assert_eq!(unpacked, plain);
}

#[test]
fn nothing_is_there_before_the_end_and_nothing_is_left_of_what_was_given_up() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["out.csv", "out.ndjson", "out.parquet", "out.arrow", "out.csv.gz"] {
        let path = folder.path().join(name);
        fs::write(&path, "the old table").unwrap();
        let mut table = TableWriter::create(path.to_str().unwrap(), None, columns()).unwrap();
        table.write_row(&[Cell::Null; 6]).unwrap();
        table.flush().unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"the old table", "{name}");
        drop(table);
        assert_eq!(fs::read(&path).unwrap(), b"the old table", "{name}");
        fs::remove_file(&path).unwrap();
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 0, "{name}");
    }
}

#[test]
fn rows_that_do_not_fit_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.csv");
    let mut table = TableWriter::create(path.to_str().unwrap(), None, columns()).unwrap();
    let error = table.write_row(&[Cell::Int(1)]).unwrap_err();
    assert_eq!(error.code(), "output/wrong-cells");
    assert!(error.to_string().contains("1 cells for 6 columns"), "{error}");
    let cells = [Cell::Text("one"), Cell::Null, Cell::Null, Cell::Null, Cell::Null, Cell::Null];
    let error = table.write_row(&cells).unwrap_err();
    assert!(error.to_string().contains("Text(\"one\") in column `row` of kind Int"), "{error}");
}

#[test]
fn a_name_that_tells_no_format_needs_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("table");
    let path = path.to_str().unwrap();
    let error = TableWriter::create(path, None, columns()).err().unwrap();
    assert_eq!(error.code(), "output/unknown-format");
    assert!(error.to_string().contains("--to csv|ndjson|parquet|arrow"), "{error}");
    TableWriter::create(path, Some(Format::Csv), columns()).unwrap().finish().unwrap();
    assert!(fs::read_to_string(path).unwrap().starts_with("row,"));
}

#[test]
fn places_that_cannot_be_written_say_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    fs::write(&file, "x").unwrap();
    let cases = [
        (folder.path().join("missing/model"), "the folder does not exist; create it first"),
        (file.join("model"), "a part of the path is a file, not a folder"),
        (folder.path().to_path_buf(), "it is a folder; name a file in it"),
    ];
    for (path, part) in cases {
        let error = write_atomic(&path, b"bytes").unwrap_err();
        assert_eq!(error.code(), "output/unwritable");
        let message = error.to_string();
        assert!(message.starts_with(&format!("{}: cannot be written: ", path.display())), "{message}");
        assert!(message.contains(part), "{message}");
        let error = TableWriter::create(path.to_str().unwrap(), Some(Format::Csv), columns()).err().unwrap();
        assert_eq!(error.to_string(), message);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_an_error_in_every_format() {
    let error = write_atomic("/dev/full", b"bytes").unwrap_err();
    assert_eq!(
        error.to_string(),
        "/dev/full: cannot be written: the disk is full; free some space, or choose another folder"
    );
    for format in Format::ALL {
        let mut table = TableWriter::create("/dev/full", Some(format), columns()).unwrap();
        let written = table.write_row(&[Cell::Null; 6]).and_then(|()| table.finish());
        assert!(written.unwrap_err().to_string().contains("the disk is full"), "{format}");
    }
}

#[test]
fn a_file_is_replaced_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model");
    write_atomic(&path, b"a longer first version").unwrap();
    write_atomic(&path, b"second").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"second");
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
}

#[cfg(unix)]
#[test]
fn links_and_permissions_outlive_a_replacement() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folder = tempfile::tempdir().unwrap();
    let (path, link) = (folder.path().join("model"), folder.path().join("link"));
    fs::write(&path, "old").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    symlink(&path, &link).unwrap();
    write_atomic(&link, b"new").unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::read(&path).unwrap(), b"new");
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
}

#[cfg(unix)]
#[test]
fn a_link_to_nothing_is_followed() {
    use std::os::unix::fs::symlink;
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("sub")).unwrap();
    let (link, further) = (folder.path().join("link"), folder.path().join("sub/further"));
    symlink("sub/further", &link).unwrap();
    symlink("model", &further).unwrap();
    check_writable(&link).unwrap();
    assert!(!folder.path().join("sub/model").exists());
    for bytes in [b"first", b"later"] {
        write_atomic(&link, bytes).unwrap();
        assert!([&link, &further].iter().all(|path| fs::symlink_metadata(path).unwrap().is_symlink()));
        assert_eq!(fs::read(folder.path().join("sub/model")).unwrap(), bytes);
    }
    let (one, other) = (folder.path().join("one"), folder.path().join("other"));
    symlink(&one, &other).unwrap();
    symlink(&other, &one).unwrap();
    assert_eq!(write_atomic(&one, b"bytes").unwrap_err().code(), "output/unwritable");
}

/// Not a test by itself: the writer whose reader goes away, run as another process by the test below.
#[test]
fn writer_into_a_closed_pipe() {
    let Ok(format) = std::env::var("WRITE_UNTIL_CLOSED") else {
        return;
    };
    let mut table = TableWriter::create("-", Some(format.parse().unwrap()), columns()).unwrap();
    let text = "x".repeat(1000);
    for _ in 0..1_000_000 {
        let row = [Cell::Int(1), Cell::Null, Cell::Text(&text), Cell::Null, Cell::Null, Cell::Null];
        if let Err(error) = table.write_row(&row).and_then(|()| table.flush()) {
            std::process::exit(if matches!(error, OutputError::ClosedPipe) { 42 } else { 43 });
        }
    }
}

#[test]
fn a_reader_that_goes_away_is_told_from_a_failure() {
    for format in ["csv", "ndjson", "arrow"] {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["outputs::writer_into_a_closed_pipe", "--exact", "--nocapture"])
            .env("WRITE_UNTIL_CLOSED", format)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        // Enough to be past the test harness's own words, which must not meet a closed pipe.
        let mut stdout = child.stdout.take().unwrap();
        std::io::Read::read_exact(&mut stdout, &mut vec![0; 100_000]).unwrap();
        drop(stdout);
        assert_eq!(child.wait().unwrap().code(), Some(42), "{format}");
    }
}

#[test]
fn records_are_objects_in_ndjson_and_a_text_of_them_elsewhere() {
    let folder = tempfile::tempdir().unwrap();
    let records =
        [vec![("column", Cell::Text("a \"b\"")), ("observed", Cell::Float(71.5)), ("expected", Cell::Float(f64::NAN))]];
    let json = r#"[{"column":"a \"b\"","observed":71.5,"expected":null}]"#;
    let write = |name: &str| {
        let path = folder.path().join(name);
        let columns = vec![OutColumn::new("row", CellKind::Int), OutColumn::new("reasons", CellKind::Records)];
        let mut table = TableWriter::create(path.to_str().unwrap(), None, columns).unwrap();
        table.write_row(&[Cell::Int(1), Cell::Records(&records)]).unwrap();
        table.write_row(&[Cell::Int(2), Cell::Records(&[])]).unwrap();
        table.finish().unwrap();
        path
    };
    let text = |name: &str| fs::read_to_string(write(name)).unwrap();
    assert_eq!(text("out.ndjson"), format!("{{\"row\":1,\"reasons\":{json}}}\n{{\"row\":2,\"reasons\":[]}}\n"));
    assert_eq!(text("out.csv"), format!("row,reasons\n1,\"{}\"\n2,[]\n", json.replace('"', "\"\"")));
    let file = fs::File::open(write("out.arrow")).unwrap();
    let block = FileReader::try_new(file, None).unwrap().next().unwrap().unwrap();
    assert_eq!(block.column(1).as_string::<i32>().iter().collect::<Vec<_>>(), [Some(json), Some("[]")]);
}
