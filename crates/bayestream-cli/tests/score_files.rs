//! Scores that `watch` writes to a file: there as rows come, and whole after whatever ended the run.

#![cfg(unix)]

mod common;

use common::{Folder, Live, csv, lines, wait_until};
use std::fs;

const STATE: &str = "--checkpoint state.bay --every 10";

/// Kills a watch some rows behind a checkpoint, and returns how many rows the checkpoint has seen.
fn kill_amid(folder: &Folder, rows: &[String], command: &str, scores: &str) -> u64 {
    let mut watch = Live::start(folder, command);
    watch.feed(&csv(rows));
    let n_lines = rows.len() + usize::from(!scores.ends_with(".ndjson"));
    wait_until(|| fs::read(folder.path(scores)).is_ok_and(|bytes| count_lines(&bytes) == n_lines));
    wait_until(|| folder.n_seen("state.bay") == Some(rows.len() as u64 / 10 * 10));
    watch.kill();
    folder.n_seen("state.bay").unwrap()
}

fn count_lines(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| **byte == b'\n').count()
}

#[test]
fn a_killed_watch_and_its_continuation_leave_one_whole_file() {
    for scores in ["scores.csv", "scores.ndjson", "scores.tsv"] {
        let folder = Folder::new();
        let rows = lines(400, 71);
        folder.write("all.csv", csv(&rows));
        folder.ok(&format!("watch all.csv --checkpoint quiet.bay --every 10 -o quiet-{scores}"));

        let n_kept = kill_amid(&folder, &rows[..137], &format!("watch - {STATE} -o {scores}"), scores);
        assert_eq!(n_kept, 130);
        // Killed again while it continues, then let go to its end.
        let again = format!("watch - --model state.bay --skip-seen {STATE} -o {scores}");
        let mut watch = Live::start(&folder, &again);
        watch.feed(&csv(&rows[..265]));
        wait_until(|| folder.n_seen("state.bay") == Some(260));
        watch.kill();
        let rest = folder.ok(&format!("watch all.csv --model state.bay --skip-seen {STATE} -o {scores}"));
        assert!(rest.stderr.contains("140 rows"), "{}", rest.stderr);
        folder.assert_same(scores, &format!("quiet-{scores}"));
        folder.assert_same("state.bay", "quiet.bay");
    }
}

#[test]
fn an_interrupted_watch_continues_its_file() {
    let folder = Folder::new();
    let rows = lines(300, 72);
    folder.write("all.csv", csv(&rows));
    folder.ok("watch all.csv -o quiet.csv");
    let mut watch = Live::start(&folder, "watch - --checkpoint state.bay -o scores.csv");
    watch.feed(&csv(&rows[..123]));
    wait_until(|| fs::read(folder.path("scores.csv")).is_ok_and(|bytes| count_lines(&bytes) == 124));
    watch.signal("TERM");
    watch.wait().complains(143, &["123 rows", "--model state.bay"]);
    // The input goes on with the next row: no second header, and rows are numbered as they come.
    folder.ok("watch all.csv --model state.bay --skip-seen -o scores.csv");
    folder.assert_same("scores.csv", "quiet.csv");
}

#[test]
fn a_record_ahead_of_its_checkpoint_is_no_harm() {
    let folder = Folder::new();
    let rows = lines(200, 73);
    folder.write("all.csv", csv(&rows));
    folder.ok("watch all.csv --checkpoint quiet.bay -o quiet.csv");
    folder.write("some.csv", csv(&rows[..60]));
    folder.ok(&format!("watch some.csv {STATE} -o scores.csv"));
    let earlier = folder.read("state.bay");
    folder.write("some.csv", csv(&rows[..70]));
    folder.ok("watch some.csv --model state.bay --skip-seen --checkpoint state.bay -o scores.csv");
    // As if it had been killed between the two: the record is written before the checkpoint.
    folder.write("state.bay", earlier);
    folder.ok(&format!("watch all.csv --model state.bay --skip-seen {STATE} -o scores.csv"));
    folder.assert_same("scores.csv", "quiet.csv");
}

#[test]
fn scores_that_do_not_go_with_the_state_are_told_apart() {
    let folder = Folder::new();
    let rows = lines(200, 74);
    folder.write("all.csv", csv(&rows));
    folder.write("some.csv", csv(&rows[..60]));
    folder.ok(&format!("watch some.csv {STATE} -o scores.csv"));
    let (state, scores) = (folder.read("state.bay"), folder.read("scores.csv"));
    let go_on = format!("watch all.csv --model state.bay --skip-seen {STATE}");
    let cases = [scores[..scores.len() - 40].to_vec(), [b"x".repeat(scores.len()), b"more".to_vec()].concat()];
    for other in cases {
        folder.write("scores.csv", &other);
        folder.run(&format!("{go_on} -o scores.csv")).complains(1, &["scores.csv", "state.bay", "--force"]);
        assert_eq!((folder.read("scores.csv"), folder.read("state.bay")), (other, state.clone()));
    }
    // Other columns than the file has.
    folder.write("scores.csv", &scores);
    folder.run(&format!("{go_on} -o scores.csv --to ndjson")).complains(1, &["scores.csv", "columns"]);
    assert_eq!(folder.read("scores.csv"), scores);
    // A file that was moved away begins anew, with its header.
    fs::rename(folder.path("scores.csv"), folder.path("monday.csv")).unwrap();
    let anew = folder.ok(&format!("{go_on} -o scores.csv"));
    assert!(anew.stderr.contains("scores.csv begins anew"), "{}", anew.stderr);
    assert_eq!(count_lines(&folder.read("scores.csv")), 1 + 140);
    // A state that was saved without these scores, such as one of `fit`, replaces them only by force.
    folder.ok("fit some.csv -o fitted.bay");
    let scores = folder.read("scores.csv");
    folder.run("watch all.csv --model fitted.bay -o scores.csv").complains(1, &["scores.csv", "fitted.bay", "--force"]);
    assert!(folder.read("scores.csv") == scores);
    folder.ok("watch all.csv --model fitted.bay -o scores.csv --force");
    assert_eq!(count_lines(&folder.read("scores.csv")), 1 + 200);
    folder.ok("watch all.csv --model fitted.bay -o others.csv");
    folder.assert_same("others.csv", "scores.csv");
}

#[test]
fn tables_that_cannot_grow_say_so() {
    let folder = Folder::new();
    folder.write("all.csv", csv(&lines(100, 75)));
    for scores in ["scores.parquet", "scores.arrow", "scores.csv.gz"] {
        let told = folder.ok(&format!("watch all.csv --checkpoint state.bay -o {scores}")).stderr;
        assert!(told.contains(&format!("{scores} is written at the end")), "{told}");
        let told = folder.ok(&format!("watch all.csv -o {scores}")).stderr;
        assert!(!told.contains("at the end"), "{told}");
    }
    let told = folder.ok("watch all.csv --checkpoint state.bay -o scores.csv").stderr;
    assert!(!told.contains("at the end"), "{told}");
}

#[cfg(target_os = "linux")]
#[test]
fn temporary_files_of_dead_processes_are_removed_and_others_stay() {
    let folder = Folder::new();
    let temporaries = || -> Vec<String> {
        let names =
            fs::read_dir(folder.path("")).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.filter(|name| name.starts_with(".bayestream-")).collect();
        names.sort();
        names
    };
    let similar = [".bayestream-1234-0.tmp", ".bayestream-notes.tmp", ".bayestream-00000000deadbeef-7-1.tmp~"];
    similar.iter().for_each(|name| folder.write(name, "mine"));
    let started = || {
        let before = temporaries().len();
        let mut live = Live::start(&folder, "watch - -o scores.parquet");
        live.feed(&csv(&lines(5, 76)));
        wait_until(|| temporaries().len() > before);
        live
    };
    let (dead, living) = (started(), started());
    dead.kill();
    assert_eq!(temporaries().len(), similar.len() + 2);
    folder.ok("generate ofab -n 10 -o data.csv");
    let left = temporaries();
    assert_eq!(left.len(), similar.len() + 1, "{left:?}");
    assert!(similar.iter().all(|name| folder.has(name)));
    // The one that lives ends well.
    let mut living = living;
    drop(living.stdin.take());
    assert_eq!(living.wait().code, 0);
    assert!(folder.has("scores.parquet"));
    assert_eq!(temporaries().len(), similar.len());
}
