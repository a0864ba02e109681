//! `watch` on a disk that is full: no score is lost, the state is kept elsewhere, and all is well when there is room.

#![cfg(target_os = "linux")]

mod common;

use common::{Finished, Folder, HEADER, csv, lines, wait_until};
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// Bytes that a file may have at first: `ulimit -f` counts blocks of 512 bytes.
const BLOCKS: usize = 300;
const LIMIT: usize = 512 * BLOCKS;

/// A limit on the size of files stands for a disk: it needs no rights, and can be raised from outside.
#[test]
fn scores_wait_for_room_and_none_is_lost() {
    if Command::new("prlimit").arg("--version").stdout(Stdio::null()).status().is_err() {
        eprintln!("not checked: there is no prlimit here, by which to give a running process room");
        return;
    }
    let folder = Folder::new();
    let rows = lines(2000, 81);
    folder.write("all.csv", csv(&rows));
    folder.ok("watch all.csv --batch 20 --checkpoint quiet.bay --every 200 -o quiet.ndjson");
    assert!(folder.read("quiet.ndjson").len() > LIMIT + 50_000 && folder.read("quiet.bay").len() < LIMIT);

    let line = format!(
        "trap '' XFSZ; ulimit -S -f {BLOCKS}; exec {} watch - --batch 20 --checkpoint state.bay --every 200 -o scores.ndjson",
        env!("CARGO_BIN_EXE_bayestream")
    );
    let mut shell = Command::new("sh");
    shell.args(["-c", &line]).current_dir(folder.path("")).env("TMPDIR", folder.path(""));
    let errors = File::create(folder.path("errors.txt")).unwrap();
    let mut child = shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(errors).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let said = || fs::read_to_string(folder.path("errors.txt")).unwrap();
    let (before, after) = rows.split_at(1600);
    stdin.write_all(csv(before).as_bytes()).unwrap();
    wait_until(|| said().contains("the state was saved as"));
    assert!(said().contains("scores.ndjson: cannot be written"), "{}", said());
    assert!(said().contains("scores wait in memory, learning continues"), "{}", said());
    assert!(said().contains("the checkpoint was not saved, learning continues"), "{}", said());
    assert_eq!(folder.read("scores.ndjson").len(), LIMIT);
    // The checkpoint knows no row whose score is not on the disk.
    let n_scored = folder.read("scores.ndjson").iter().filter(|byte| **byte == b'\n').count() as u64;
    assert!(folder.n_seen("state.bay").is_some_and(|n_seen| n_seen > 0 && n_seen <= n_scored));
    let rescued = folder.path(&format!("bayestream-rescued-{}.bay", child.id()));
    wait_until(|| rescued.exists());

    let raised =
        Command::new("prlimit").args(["--fsize=unlimited", "--pid", &child.id().to_string()]).status().unwrap();
    assert!(raised.success());
    stdin.write_all(after.concat().as_bytes()).unwrap();
    drop(stdin);
    assert!(child.wait().unwrap().success(), "{}", said());
    assert!(said().contains("scores are written again, none is missing"), "{}", said());
    assert!(said().contains("the checkpoint is saved again") && !rescued.exists(), "{}", said());
    // Once for each attempt, of which there is one in 200 rows.
    assert!(said().matches("the checkpoint was not saved").count() <= rows.len() / 200, "{}", said());
    folder.assert_same("scores.ndjson", "quiet.ndjson");
    folder.assert_same("state.bay", "quiet.bay");
}

fn rescued(folder: &Folder, finished: &Finished) -> u64 {
    let path = finished.stderr.rsplit("saved as ").next().and_then(|rest| rest.split(" instead").next()).unwrap();
    folder.n_seen(path).unwrap()
}

#[test]
fn a_state_that_cannot_be_saved_is_kept_elsewhere() {
    let folder = Folder::new();
    folder.write("all.csv", csv(&lines(500, 82)));
    let quiet = folder.ok("watch all.csv --batch 50").stdout;
    let watch = folder.run("watch all.csv --batch 50 --checkpoint /dev/full --every 200");
    watch.complains(
        1,
        &["/dev/full", "warning: the checkpoint was not saved, learning continues", "the state was saved as"],
    );
    assert_eq!(watch.stdout, quiet);
    assert_eq!(rescued(&folder, &watch), 500);
    // Nothing is put beside a device.
    folder
        .run("watch all.csv --batch 50 --checkpoint /dev/full -o scores.csv")
        .complains(1, &["the state was saved as"]);
    assert!(!Path::new("/dev/full.scores").exists());
    // Scores that have no place at the end are told; the state has one.
    let full = || File::options().write(true).open("/dev/full").unwrap();
    let watch = folder.run_into("watch all.csv --batch 50 --checkpoint state.bay", full());
    watch.complains(1, &["standard output: cannot be written", "500 rows learned", "state.bay"]);
    assert_eq!(folder.n_seen("state.bay"), Some(500));
}

#[test]
fn scores_that_wait_are_bounded() {
    let folder = Folder::new();
    // More than fits into what may wait, several times over.
    let rows = lines(2000, 83).concat().repeat(100);
    folder.write("all.csv", HEADER.to_string() + &rows);
    let full = File::options().write(true).open("/dev/full").unwrap();
    let watch = folder.run_into("watch all.csv --batch 5000 --checkpoint state.bay", full);
    watch.complains(1, &["scores wait in memory", "standard output: cannot be written", "state.bay"]);
    assert!(folder.n_seen("state.bay").is_some_and(|n_seen| n_seen > 10_000 && n_seen < 200_000));
}
