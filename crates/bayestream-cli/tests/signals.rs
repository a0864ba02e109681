//! Signals, killed processes and closed pipes: the state is kept, and going on equals never having stopped.

#![cfg(unix)]

mod common;

use common::{Folder, HEADER, Live, csv, lines, wait_until};
use std::io::{BufRead, Read, Write};
use std::process::Command;
use std::thread;

/// Signals that ask to stop, and the exit codes. Whether SIGHUP is to be ignored is known on Linux only.
#[cfg(target_os = "linux")]
const SIGNALS: [(&str, i32); 3] = [("INT", 130), ("TERM", 143), ("HUP", 129)];
#[cfg(not(target_os = "linux"))]
const SIGNALS: [(&str, i32); 2] = [("INT", 130), ("TERM", 143)];

#[test]
fn an_interrupted_fit_resumes_to_the_same_bytes() {
    for (signal, code) in SIGNALS {
        let folder = Folder::new();
        let rows = lines(700, 11);
        folder.write("all.csv", csv(&rows));
        folder.ok("fit all.csv --batch 50 -o undisturbed.bay");

        let mut fit = Live::start(&folder, "fit - --batch 50 -o model.bay --checkpoint kept.bay --every 50");
        // Twenty rows more than whole batches: they are not learnt, and must come again.
        fit.feed(&csv(&rows[..320]));
        wait_until(|| folder.n_seen("kept.bay") == Some(300));
        fit.signal(signal);
        let stopped = fit.wait();
        stopped.complains(code, &["300 rows", "--resume model.bay"]);
        assert_eq!(folder.n_seen("model.bay"), Some(300));
        assert_eq!(folder.read("kept.bay"), folder.read("model.bay"));

        folder.write("rest.csv", csv(&rows[300..]));
        folder.ok("fit rest.csv --batch 50 --resume model.bay -o from-rest.bay");
        assert_eq!(folder.read("from-rest.bay"), folder.read("undisturbed.bay"));
        folder.ok("fit all.csv -m gmm --seed 0 --batch 50 --resume model.bay --skip-seen -o model.bay");
        assert_eq!(folder.read("model.bay"), folder.read("undisturbed.bay"));
    }
}

#[test]
fn an_interrupted_watch_goes_on_with_the_same_scores_and_bytes() {
    for (signal, code) in SIGNALS {
        let folder = Folder::new();
        let rows = lines(400, 12);
        folder.write("all.csv", csv(&rows));
        let undisturbed = folder.ok("watch all.csv --checkpoint undisturbed.bay");

        let mut watch = Live::start(&folder, "watch - --checkpoint kept.bay");
        let mut scores = String::new();
        watch.feed(HEADER);
        for row in &rows[..170] {
            watch.feed(row);
            // The score of a row comes before the next row does.
            scores += &watch.line();
        }
        watch.signal(signal);
        watch.wait().complains(code, &["170 rows", "--model kept.bay"]);
        assert_eq!(folder.n_seen("kept.bay"), Some(170));

        let rest = folder.ok("watch all.csv --model kept.bay --skip-seen --checkpoint kept.bay");
        assert_eq!(scores + &rest.stdout, undisturbed.stdout);
        assert_eq!(folder.read("kept.bay"), folder.read("undisturbed.bay"));
    }
}

/// As under `nohup`: whoever started the process said that it must outlive the terminal.
#[cfg(target_os = "linux")]
#[test]
fn a_hang_up_that_is_ignored_stays_ignored() {
    let folder = Folder::new();
    let rows = lines(90, 16);
    let mut shell = Command::new("sh");
    let line = format!("trap '' HUP; exec {} watch -", env!("CARGO_BIN_EXE_bayestream"));
    shell.args(["-c", &line]).current_dir(folder.path(""));
    let mut watch = Live::spawn(shell);
    watch.feed(HEADER);
    for (ix, row) in rows.iter().enumerate() {
        watch.feed(row);
        assert!(watch.line().starts_with(&format!("{{\"row\":{},", ix + 1)));
        watch.signal("HUP");
    }
    drop(watch.stdin.take());
    watch.wait().complains(0, &["90 rows"]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_signal_before_the_first_row_leaves_nothing() {
    let folder = Folder::new();
    for command in ["fit - -o model.bay --checkpoint kept.bay", "watch - --checkpoint kept.bay -o scores.csv"] {
        let mut live = Live::start(&folder, command);
        live.feed(HEADER);
        live.wait_for_handler();
        live.signal("INT");
        live.wait().complains(130, &["no row was learnt"]);
        assert!(!folder.has("model.bay") && !folder.has("kept.bay"));
    }
}

#[test]
fn a_killed_watch_leaves_a_checkpoint_that_loads() {
    let folder = Folder::new();
    let rows = lines(4000, 13);
    let mut n_seen = 0;
    for round in 0..12_usize {
        let command = match n_seen {
            0 => "watch - --checkpoint kept.bay --every 1",
            _ => "watch - --model kept.bay --checkpoint kept.bay --every 1",
        };
        let mut watch = Live::start(&folder, command);
        let input = csv(&rows[n_seen as usize..]);
        let mut stdin = watch.stdin.take().unwrap();
        // Rows keep coming until the process is gone.
        let feeder = thread::spawn(move || drop(stdin.write_all(input.as_bytes())));
        for _ in 0..(20 + 7 * round) {
            assert!(!watch.line().is_empty());
        }
        watch.kill();
        feeder.join().unwrap();
        folder.ok("inspect kept.bay");
        let now = folder.n_seen("kept.bay").unwrap();
        assert!(now > n_seen, "round {round}: {now} after {n_seen}");
        n_seen = now;
    }
    // What the survivor has learnt is what a quiet run over the same rows learns.
    folder.write("seen.csv", csv(&rows[..n_seen as usize]));
    folder.ok("watch seen.csv --checkpoint quiet.bay -o scores.csv");
    assert_eq!(folder.read("kept.bay"), folder.read("quiet.bay"));
}

#[test]
fn a_reader_that_leaves_ends_the_command_quietly() {
    let folder = Folder::new();
    folder.write("data.csv", csv(&lines(20_000, 14)));
    folder.ok("fit data.csv -o model.bay");
    for command in ["score model.bay data.csv", "sample model.bay -n 1000000", "watch data.csv --batch 100"] {
        let mut live = Live::start(&folder, command);
        assert!(live.line().starts_with('{'));
        let finished = live.wait();
        assert_eq!((finished.code, finished.stderr.as_str()), (0, ""), "{command}");
    }
}

#[test]
fn a_watch_whose_reader_leaves_keeps_its_state() {
    let folder = Folder::new();
    folder.write("data.csv", csv(&lines(20_000, 15)));
    let mut live = Live::start(&folder, "watch data.csv --batch 100 --checkpoint kept.bay");
    let mut first = String::new();
    live.stdout.by_ref().take(200).read_line(&mut first).unwrap();
    assert!(first.starts_with("{\"row\":1,"));
    assert_eq!(live.wait().code, 0);
    assert!(folder.n_seen("kept.bay").is_some_and(|n| n > 0 && n < 20_000));
}

/// Batch kinds fit at the end, all rows at once, and are asked to stop in the midst of it.
#[test]
fn an_interrupt_ends_a_long_fit_at_once() {
    use std::time::{Duration, Instant};
    let folder = Folder::new();
    // Overlapping clusters in ten columns: so many rows take far longer than a signal may.
    const ROWS: usize = 200_000;
    let mut rng = bayestream::num::stream(20_080, 0, 0);
    let mut text = (0..10).map(|j| format!("c{j}")).collect::<Vec<_>>().join(",") + "\n";
    for i in 0..ROWS {
        let cells: Vec<String> = (0..10).map(|j| format!("{:.2}", rng.normal() + ((i * j) % 5) as f64)).collect();
        text += &(cells.join(",") + "\n");
    }
    folder.write("rows.csv", text);
    let long = [
        ("gmm/fab", "start-components=200", "INT", 130),
        ("mppca/fab", "start-components=200", "TERM", 143),
        ("lfm/ibp", "sweeps=100000", "INT", 130),
    ];
    for (kind, setting, signal, code) in long {
        let checkpoint = format!("--checkpoint kept.bay --every {ROWS}");
        let fit = Live::start(&folder, &format!("fit rows.csv -m {kind} --set {setting} -o model.bay {checkpoint}"));
        // The checkpoint comes with the last row, and then it fits.
        wait_until(|| folder.has("kept.bay"));
        thread::sleep(Duration::from_millis(500));
        let asked = Instant::now();
        fit.signal(signal);
        fit.wait().complains(code, &[kind, "was fitting 200,000 rows, and model.bay was not written", "kept.bay"]);
        assert!(asked.elapsed() < Duration::from_secs(3), "{kind}: {:?}", asked.elapsed());
        assert!(!folder.has("model.bay"));
        std::fs::remove_file(folder.path("kept.bay")).unwrap();
    }
}
