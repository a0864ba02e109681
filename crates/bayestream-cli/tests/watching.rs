//! Watching streams on which something goes wrong: what is said of it, and that rows are judged as before afterwards.

mod common;

use common::{Folder, HEADER, Live, csv, lines, number};
use serde_json::Value;
use std::thread;
use std::time::Duration;

/// Rows before something goes wrong, while it does, and after.
const BEFORE: usize = 4000;
const DURING: usize = 2000;
const AFTER: usize = 6000;
/// The share of alarms asked for.
const RATE: f64 = 0.01;

/// A stream in which rows in the middle are changed.
fn spoilt(seed: u64, change: impl Fn(&[&str]) -> String) -> Vec<String> {
    let plain = lines(BEFORE + DURING + AFTER, seed);
    let changed = |(ix, line): (usize, String)| match (BEFORE..BEFORE + DURING).contains(&ix) {
        true => change(&line.trim().split(',').collect::<Vec<_>>()),
        false => line,
    };
    plain.into_iter().enumerate().map(changed).collect()
}

/// Watches a stream to its end, row by row and in batches, and returns what was said of it.
///
/// Every field of every row is checked, and that alarms are as rare as asked in the end.
fn watch(folder: &Folder, rows: &[String]) -> String {
    folder.write("stream.csv", csv(rows));
    let mut told = String::new();
    for batch in [1, 64] {
        let watched =
            folder.ok(&format!("watch stream.csv --batch {batch} --alarm-rate {RATE} --checkpoint state.bay"));
        assert_eq!(watched.stdout.lines().count(), rows.len());
        for (ix, line) in watched.stdout.lines().enumerate() {
            assert!(!line.contains("NaN") && !line.contains("inf"), "{line}");
            assert_eq!(number(line, "row"), ix as f64 + 1.0);
            let p_value = number(line, "p_value");
            assert!(p_value > 0.0 && p_value <= 1.0 && number(line, "surprise") >= 0.0, "{line}");
            // Before there is a model, and only then, there is nothing to say.
            let is_said = || number(line, "log_density").is_finite() && number(line, "responsibility") <= 1.0;
            assert!(ix < 500 || is_said(), "{line}");
        }
        let n_last = AFTER / 2;
        let last = watched.stdout.lines().skip(rows.len() - n_last);
        let n_alarms = last.filter(|line| line.contains("\"alarm\":true")).count();
        // Ranks among rows of which a part is from before vary more than a binomial count: a factor of four is allowed.
        assert!(n_alarms as f64 <= 4.0 * RATE * n_last as f64, "{n_alarms} alarms in the last {n_last} rows");
        told = watched.stderr;
    }
    let scored = folder.ok("score state.bay stream.csv").stdout;
    assert_eq!(scored.lines().count(), rows.len());
    assert!(!scored.contains("NaN"));
    told
}

/// Drift alarms as `inspect --json` lists them.
fn drift_alarms(folder: &Folder) -> Vec<Value> {
    let document: Value = serde_json::from_str(&folder.ok("inspect state.bay --json").stdout).unwrap();
    document["drift_alarms"].as_array().unwrap().clone()
}

#[test]
fn a_column_that_goes_constant_is_named() {
    let folder = Folder::new();
    let told = watch(&folder, &spoilt(41, |cells| format!("4.25,{},{}\n", cells[1], cells[2])));
    assert!(told.contains("the spread of height has changed"), "{told}");
    let alarms = drift_alarms(&folder);
    let first = &alarms[0];
    assert_eq!((&first["change"], &first["columns"][0]), (&"spread".into(), &"height".into()), "{alarms:?}");
    let row = first["row"].as_u64().unwrap() as usize;
    assert!((BEFORE + 1..BEFORE + 300).contains(&row), "{row}");
    assert!(first["first_row"].as_u64().unwrap() <= row as u64 && first["strength"].as_f64().unwrap() > 0.0);
    let for_people = folder.ok("inspect state.bay").stdout;
    assert!(for_people.contains("drift noticed while watching\n  row"), "{for_people}");
    // The marks of a picture of the scores are these alarms.
    folder.ok(&format!("watch stream.csv --batch 64 --alarm-rate {RATE} -o scores.ndjson"));
    folder.ok("plot state.bay --scores scores.ndjson -o scores.svg");
    let picture = String::from_utf8(folder.read("scores.svg")).unwrap();
    assert!(picture.contains("drift: spread of height") && picture.contains("alarms"));
}

#[test]
fn a_column_that_dies_is_named_and_so_is_its_return() {
    let folder = Folder::new();
    let told = watch(&folder, &spoilt(42, |cells| format!("{},,{}\n", cells[0], cells[2])));
    assert!(told.contains("the column width has had no value since row 4,001"), "{told}");
    assert!(told.contains("the column width has values again, from row 6,001"), "{told}");
}

#[test]
fn a_row_without_any_cell_is_judged_like_any_other() {
    let folder = Folder::new();
    let told = watch(&folder, &spoilt(43, |_| ",,\n".to_string()));
    for column in ["height", "width", "depth"] {
        assert!(told.contains(&format!("the column {column} has had no value since row 4,001")), "{told}");
    }
}

#[test]
fn a_column_that_changes_its_unit_is_named() {
    let folder = Folder::new();
    let in_thousandths = |cell: &str| 1000.0 * cell.parse::<f64>().unwrap();
    let told = watch(&folder, &spoilt(44, |cells| format!("{},{},{}\n", cells[0], cells[1], in_thousandths(cells[2]))));
    let first = told.lines().find(|line| line.starts_with("drift at row 4,0")).unwrap_or_else(|| panic!("{told}"));
    assert!(first.contains("depth"), "{told}");
    assert!(!drift_alarms(&folder).is_empty());
}

#[test]
fn a_burst_of_one_row_is_a_change_that_passes() {
    let folder = Folder::new();
    let told = watch(&folder, &spoilt(45, |_| "0.5,0.25,0.75\n".to_string()));
    let alarms = drift_alarms(&folder);
    let row = alarms[0]["row"].as_u64().unwrap() as usize;
    assert!((BEFORE + 1..BEFORE + 300).contains(&row), "{alarms:?}");
    assert!(told.contains("drift at row 4,0") && told.contains("drift at row 6,0"), "{told}");
}

/// Each row is answered before the next comes, however long that takes, and nothing depends on when it comes.
#[test]
fn rows_that_come_seldom_are_answered_at_once_and_judged_alike() {
    let folder = Folder::new();
    let rows = lines(640, 46);
    let stamped = |pause: usize| -> Vec<String> {
        let hours = |ix: usize| format!("2026-03-{:02}T{:02}:00:00Z", 1 + ix / 24 % 28, (ix * pause) % 24);
        rows.iter().enumerate().map(|(ix, row)| format!("{},{row}", hours(ix))).collect()
    };
    let header = format!("time,{HEADER}");
    folder.write("plain.csv", csv(&rows));
    folder.write("stamped.csv", header.clone() + &stamped(5).concat());
    let plain = folder.ok("watch plain.csv").stdout;
    assert_eq!(folder.ok("watch stamped.csv --drop time").stdout, plain);
    assert_eq!(folder.ok("watch stamped.csv --label-column time").stdout, plain);
    assert_eq!(folder.ok("watch stamped.csv --columns height,width,depth").stdout, plain);
    let named = folder.ok("watch stamped.csv --id-column time").stdout;
    assert_eq!(named.lines().count(), rows.len());
    assert!(named.starts_with("{\"row\":1,\"id\":\"2026-03-01T00:00:00Z\","), "{}", named.lines().next().unwrap());

    let mut live = Live::start(&folder, "watch - --drop time");
    live.feed(&header);
    let mut scores = String::new();
    for (ix, row) in stamped(1).iter().enumerate() {
        live.feed(row);
        scores += &live.line();
        if ix % 80 == 0 {
            thread::sleep(Duration::from_millis(30));
        }
    }
    drop(live.stdin.take());
    assert_eq!(live.wait().code, 0);
    assert_eq!(scores, plain);
}

#[test]
fn a_hundred_thousand_rows_may_come_as_one_batch() {
    let folder = Folder::new();
    let before = lines(2000, 47);
    folder.write("before.csv", csv(&before));
    folder.ok("watch before.csv --checkpoint state.bay -o first.csv");
    folder.write("burst.csv", csv(&lines(100_000, 48)));
    let burst = folder.ok("watch burst.csv --model state.bay --checkpoint state.bay --batch 100000");
    assert_eq!(burst.stdout.lines().count(), 100_000);
    assert!(!burst.stdout.contains("NaN") && !burst.stdout.contains("null"));
    assert!(!burst.stderr.contains("drift"), "{}", burst.stderr);
    assert_eq!(folder.n_seen("state.bay"), Some(102_000));
    folder.write("after.csv", csv(&lines(4000, 49)));
    let after = folder.ok(&format!("watch after.csv --model state.bay --alarm-rate {RATE}")).stdout;
    let n_alarms = after.lines().filter(|line| line.contains("\"alarm\":true")).count();
    assert!((n_alarms as f64) < 4.0 * RATE * 4000.0, "{n_alarms}");
}
