//! Pipes, packed files, batches and progress.

use std::io::{self, Read, Write};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bayestream_io::{Format, OnError, ReadOptions, RowBatch, open, open_reader};

use crate::support::{gzip, open_bytes, options, read_bytes, read_from};

/// A pipe: gives the pieces one by one, each only when it has been sent. A real pipe would block on an early read; this
/// one fails, so that the test does.
struct Pipe {
    pieces: Vec<&'static [u8]>,
    given: usize,
    sent: Arc<AtomicUsize>,
}

impl Read for Pipe {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.given >= self.sent.load(Ordering::SeqCst) {
            return Err(io::Error::other("read before anything was sent"));
        }
        let Some(piece) = self.pieces.get(self.given) else {
            return Ok(0);
        };
        self.given += 1;
        buffer[..piece.len()].copy_from_slice(piece);
        Ok(piece.len())
    }
}

fn each_row_arrives_by_itself(pieces: Vec<&'static [u8]>, format: Option<Format>) {
    let sent = Arc::new(AtomicUsize::new(1));
    let n_rows = pieces.len() - 1;
    let pipe = Pipe { pieces, given: 0, sent: Arc::clone(&sent) };
    let options = ReadOptions { format, batch_rows: 1, ..ReadOptions::default() };
    let mut source = open_reader(Box::new(pipe), "pipe", &options).unwrap();
    let mut batch = RowBatch::new();
    for row in 1..=n_rows {
        sent.fetch_add(1, Ordering::SeqCst);
        assert!(source.next_batch(&mut batch).unwrap());
        assert_eq!((batch.n_rows, batch.first_row, batch.rows[0]), (1, row as u64, row as f64));
    }
    sent.fetch_add(1, Ordering::SeqCst);
    assert!(!source.next_batch(&mut batch).unwrap());
}

#[test]
fn a_row_of_a_pipe_is_handed_out_when_it_arrives() {
    each_row_arrives_by_itself(vec![b"a,b\n", b"1,2\n", b"2,3\n", b"3,4\n"], Some(Format::Csv));
    each_row_arrives_by_itself(vec![b"a,b\n", b"1,2\n", b"2,3\n"], None);
}

#[test]
fn an_object_of_a_pipe_is_handed_out_when_it_arrives() {
    let sent = Arc::new(AtomicUsize::new(1));
    let pipe = Pipe { pieces: vec![b"{\"x\":1}\n", b"{\"x\":2}\n"], given: 0, sent: Arc::clone(&sent) };
    let options = ReadOptions { batch_rows: 1, ..ReadOptions::default() };
    let mut source = open_reader(Box::new(pipe), "pipe", &options).unwrap();
    let mut batch = RowBatch::new();
    assert!(source.next_batch(&mut batch).unwrap());
    assert_eq!(batch.rows, [1.0]);
    sent.store(2, Ordering::SeqCst);
    assert!(source.next_batch(&mut batch).unwrap());
    assert_eq!(batch.rows, [2.0]);
}

#[test]
fn the_first_bytes_tell_the_format_when_nothing_else_does() {
    let sniffed = ReadOptions::default();
    assert_eq!(read_bytes("a,b\n1,2\n", &sniffed).unwrap().columns, ["a", "b"]);
    assert_eq!(read_bytes("\u{feff} {\"x\":1}\n", &sniffed).unwrap().columns, ["x"]);
    assert_eq!(read_bytes(gzip(&[b"{\"x\":1}\n"]), &sniffed).unwrap().columns, ["x"]);
}

#[test]
fn packed_input_is_known_by_its_bytes_and_may_have_many_members() {
    let packed = gzip(&[b"a,b\n1,", b"2\n", b"", b"3,4\n"]);
    let table = read_bytes(&packed, &options(Format::Csv)).unwrap();
    assert_eq!(table.batch.rows, [1.0, 2.0, 3.0, 4.0]);

    let folder = tempfile::tempdir().unwrap();
    for name in ["plain-name.csv", "named.csv.gz", "named.gz"] {
        let path = folder.path().join(name);
        std::fs::write(&path, &packed).unwrap();
        let source = open(path.to_str().unwrap(), &ReadOptions::default()).unwrap();
        assert_eq!(read_from(source).unwrap().batch.rows, [1.0, 2.0, 3.0, 4.0], "{name}");
    }
    // And the other way round: a name that promises what the bytes are not.
    let path = folder.path().join("not-packed.csv.gz");
    std::fs::write(&path, "a\n5\n").unwrap();
    let source = open(path.to_str().unwrap(), &ReadOptions::default()).unwrap();
    assert_eq!(read_from(source).unwrap().batch.rows, [5.0]);
}

#[test]
fn batches_are_full_until_the_last_and_reuse_their_memory() {
    let mut text = String::from("k,x\n");
    (1..=1000).for_each(|row| text.push_str(&format!("label{row},{row}\n")));
    let options = ReadOptions { batch_rows: 300, label_column: Some("k".into()), ..options(Format::Csv) };
    let mut source = open_bytes(text.as_bytes(), &options).unwrap();
    let mut batch = RowBatch::new();
    let mut seen = Vec::new();
    let mut memory = Vec::new();
    while source.next_batch(&mut batch).unwrap() {
        seen.push((batch.first_row, batch.n_rows, batch.labels[0].clone()));
        assert_eq!(batch.labels.len(), batch.n_rows);
        assert!(batch.row_numbers.is_empty());
        memory.push(batch.rows.as_ptr());
    }
    let expected = [(1, 300, "label1"), (301, 300, "label301"), (601, 300, "label601"), (901, 100, "label901")];
    assert_eq!(seen, expected.map(|(first, n, label)| (first, n, label.to_string())));
    assert!(memory.windows(2).all(|pair| pair[0] == pair[1]));
}

#[test]
fn a_batch_of_no_rows_counts_as_one() {
    let mut source = open_bytes(b"a\n1\n2\n", &ReadOptions { batch_rows: 0, ..options(Format::Csv) }).unwrap();
    let mut batch = RowBatch::new();
    assert!(source.next_batch(&mut batch).unwrap());
    assert_eq!(batch.rows, [1.0]);
}

#[test]
fn row_numbers_are_kept_only_where_rows_are_missing() {
    let options = ReadOptions { batch_rows: 2, on_error: OnError::Skip, ..options(Format::Csv) };
    let mut source = open_bytes(b"a\n1\n2\nx\n4\n5\n6\nx\n8\n", &options).unwrap();
    let mut batch = RowBatch::new();
    let mut seen = Vec::new();
    while source.next_batch(&mut batch).unwrap() {
        seen.push((batch.first_row, batch.row_numbers.clone()));
    }
    assert_eq!(seen, [(1, vec![]), (4, vec![]), (6, vec![6, 8])]);
}

#[test]
fn progress_counts_stored_bytes_up_to_the_files_size() {
    let folder = tempfile::tempdir().unwrap();
    let text: String = std::iter::once("a\n".to_string()).chain((0..200_000).map(|row| format!("{row}\n"))).collect();
    let plain = folder.path().join("plain.csv");
    let packed = folder.path().join("packed.csv.gz");
    std::fs::write(&plain, &text).unwrap();
    std::fs::write(&packed, gzip(&[text.as_bytes()])).unwrap();
    for path in [plain, packed] {
        let size = std::fs::metadata(&path).unwrap().len();
        let mut source = open(path.to_str().unwrap(), &ReadOptions::default()).unwrap();
        let mut batch = RowBatch::new();
        source.next_batch(&mut batch).unwrap();
        let early = source.progress();
        assert_eq!(early.total_bytes, Some(size));
        assert!(early.bytes_read > 0 && early.bytes_read < size);
        while source.next_batch(&mut batch).unwrap() {}
        assert_eq!(source.progress().bytes_read, size);
    }
    assert_eq!(open_bytes(b"a\n1\n", &options(Format::Csv)).unwrap().progress().total_bytes, None);
}

#[test]
fn lines_longer_than_the_buffer_are_read() {
    let n_columns = 100_000;
    let header: Vec<String> = (0..n_columns).map(|ix| format!("column_{ix}")).collect();
    let row: Vec<String> = (0..n_columns).map(|ix| format!("{ix}.25")).collect();
    let text = format!("{}\n{}\n{}\n", header.join(","), row.join(","), row.join(","));
    let table = read_bytes(text, &options(Format::Csv)).unwrap();
    assert_eq!(table.batch.n_rows, 2);
    assert!((0..2 * n_columns).all(|ix| table.batch.rows[ix] == (ix % n_columns) as f64 + 0.25));
}

/// Not a test by itself: reads standard input, run as another process by the test below.
#[test]
fn reader_of_standard_input() {
    let Ok(expected) = std::env::var("EXPECT_FROM_STANDARD_INPUT") else {
        return;
    };
    let source = open("-", &ReadOptions::default()).unwrap();
    assert_eq!(source.name(), "standard input");
    let table = read_from(source).unwrap();
    assert_eq!(format!("{:?} {:?}", table.columns, table.batch.rows), expected);
}

#[test]
fn standard_input_is_csv_unless_its_first_byte_is_a_brace() {
    let cases = [
        (b"a,b\n1,2\n".to_vec(), "[\"a\", \"b\"] [1.0, 2.0]"),
        (b"{\"x\": 1}\n{\"x\": 2}\n".to_vec(), "[\"x\"] [1.0, 2.0]"),
        (gzip(&[b"a\n3\n"]), "[\"a\"] [3.0]"),
    ];
    for (bytes, expected) in cases {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["streams::reader_of_standard_input", "--exact"])
            .env("EXPECT_FROM_STANDARD_INPUT", expected)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(&bytes).unwrap();
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    }
}
