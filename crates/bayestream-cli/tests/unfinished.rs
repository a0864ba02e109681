//! Inputs that end within a row: the row is left out, told and counted, and the rest is as if it had not begun.

mod common;

use common::{Folder, csv, lines};
use serde_json::Value;

fn n_unfinished(stdout: &str) -> Value {
    serde_json::from_str::<Value>(stdout).unwrap()["n_unfinished"].clone()
}

const WARNING: &str = "1 unfinished row left out";

/// Whole rows and a part of one, with the arguments that learn from them.
fn inputs() -> Vec<(&'static str, String, &'static str, &'static str)> {
    let rows = csv(&lines(300, 61));
    let row = |line: &String| {
        let cells: Vec<&str> = line.trim().split(',').collect();
        format!("{{\"a\":{},\"b\":{},\"c\":{}}}\n", cells[0], cells[1], cells[2])
    };
    let objects: String = lines(300, 61).iter().map(row).collect();
    let labelled: String = lines(300, 62).iter().map(|line| format!("{},oak\n", line.trim())).collect();
    let labelled = "height,width,depth,kind\n".to_string() + &labelled;
    let texts: String = (0..300).map(|ix| format!("{{\"text\":\"oven{} goal guitar\"}}\n", ix % 7)).collect();
    let documents: String = (0..300).map(|ix| format!("m{ix},\"oven{} goal, guitar\"\n", ix % 7)).collect();
    let documents = "id,text\n".to_string() + &documents;
    let classified: String =
        (0..300).map(|ix| format!("{{\"text\":\"oven{} goal\",\"kind\":\"k{}\"}}\n", ix % 7, ix % 2)).collect();
    let classify = "-m classify/bayespa-gibbs --label-column kind";
    vec![
        ("rows.csv", rows.clone(), "1.5,2.", ""),
        ("sign.csv", rows.clone(), "1.5,2.5,-", ""),
        ("rows.ndjson", objects.clone(), "{\"a\":1.5,\"b\":2", ""),
        ("key.ndjson", objects, "{\"a\":1.5,\"b", ""),
        ("features.csv", rows, "1.5", "-m lfm"),
        ("labelled.csv", labelled, "1.5,2.5,3", classify),
        ("texts.ndjson", texts, "{\"text\":\"oven go", "-m topics"),
        ("documents.csv", documents.clone(), "m300,\"oven go", "-m topics"),
        ("letter.csv", documents, "m300,oven \u{e9}", "-m topics"),
        (
            "classified.ndjson",
            classified,
            "{\"text\":\"oven3 goal\",\"ki",
            "-m classify/pa --text-column text --label-column kind",
        ),
    ]
}

#[test]
fn fit_leaves_a_cut_row_out_whatever_it_learns_from() {
    let folder = Folder::new();
    for (name, whole, cut, options) in inputs() {
        folder.write(name, &whole);
        folder.ok(&format!("fit {name} {options} -o whole.bay"));
        let cut = if name == "letter.csv" { &cut.as_bytes()[..cut.len() - 1] } else { cut.as_bytes() };
        folder.write(name, [whole.as_bytes(), cut].concat());
        let fit = folder.ok(&format!("fit {name} {options} -o cut.bay --json"));
        assert!(fit.stderr.contains(WARNING), "{name}: {}", fit.stderr);
        assert_eq!(n_unfinished(&fit.stdout), 1, "{name}");
        assert_eq!(folder.read("cut.bay"), folder.read("whole.bay"), "{name}");
        folder.run(&format!("fit {name} {options} -o strict.bay --strict")).complains(1, &[name, "301"]);
        assert!(!folder.has("strict.bay"), "{name}");
        // Counted once, also where faulty rows are skipped.
        let fit = folder.ok(&format!("fit {name} {options} -o cut.bay --on-error skip"));
        assert!(fit.stderr.contains(WARNING) && !fit.stderr.contains("could not be used"), "{name}: {}", fit.stderr);
    }
}

#[test]
fn a_pipe_that_ends_within_a_row_ends_fit_and_watch_well() {
    let folder = Folder::new();
    let rows = csv(&lines(200, 63));
    folder.write("whole.csv", &rows);
    let whole = folder.ok("watch whole.csv --checkpoint whole.bay").stdout;
    let cut = rows.clone() + "0.25,0.5";
    let watched = folder.run_with_input("watch - --checkpoint cut.bay", &cut);
    watched.complains(0, &[WARNING, "200 rows"]);
    assert_eq!(watched.stdout, whole);
    assert_eq!(folder.read("cut.bay"), folder.read("whole.bay"));
    folder.run_with_input("fit - -o model.bay", &cut).complains(0, &[WARNING, "200 rows"]);
    folder.run_with_input("compare - -m gmm", &cut).complains(0, &[WARNING]);
    folder.run_with_input("watch - --strict", &cut).complains(1, &["row 201", "2 cells"]);
    folder.run_with_input("fit - -o strict.bay --strict", &cut).complains(1, &["row 201", "2 cells"]);
    // The row that was left out comes whole the next time.
    folder.write("later.csv", rows + "0.25,0.5,0.75\n");
    folder.ok("watch later.csv --model cut.bay --skip-seen --checkpoint cut.bay");
    assert_eq!(folder.n_seen("cut.bay"), Some(201));
}

#[test]
fn what_is_no_cut_row_stays_what_it_was() {
    let folder = Folder::new();
    let rows = csv(&lines(200, 64));
    // A whole row without its line feed is a row.
    let fit = folder.run_with_input("fit - -o model.bay --json", &(rows.clone() + "1,2,3"));
    fit.complains(0, &["201 rows"]);
    assert_eq!(n_unfinished(&fit.stdout), 0);
    let faults = [
        // With a line feed, it is a row with a fault.
        ("1,2\n", "2 cells"),
        // The fault is not where the line ends.
        ("1,tall,3", "`tall`"),
        ("1,2,3,4", "4 cells"),
    ];
    for (last, says) in faults {
        folder.run_with_input("fit - -o x.bay", &(rows.clone() + last)).complains(1, &["row 201", says]);
    }
    // A quote that was opened long ago has swallowed rows.
    let opened = csv(&lines(5, 65)) + "1,2,\"3\n" + &lines(50, 65).concat() + "1,2,3";
    folder.run_with_input("fit - -o x.bay", &opened).complains(1, &["quote is opened"]);
    // An object that is whole, but not a row.
    let object = "{\"a\":1,\"b\":2}\n{\"a\":1,\"c\":2}";
    folder.run_with_input("fit - --format ndjson -o x.bay", object).complains(1, &["`c`"]);
    // Nothing but a cut row is nothing to learn from.
    folder.run_with_input("fit - -o x.bay", "a,b,c\n1,2").complains(1, &["no rows"]);
    assert!(!folder.has("x.bay"));
}

#[test]
fn every_input_may_end_so() {
    let folder = Folder::new();
    folder.write("a.csv", csv(&lines(100, 66)) + "1");
    folder.write("b.csv", csv(&lines(100, 67)) + "1,2");
    let fit = folder.ok("fit a.csv b.csv -o both.bay --json");
    assert!(fit.stderr.contains("2 unfinished rows left out"), "{}", fit.stderr);
    assert_eq!(n_unfinished(&fit.stdout), 2);
}
