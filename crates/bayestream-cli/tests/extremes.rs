//! Rows that are few, wide, or at the end of all numbers, on the command line.

mod common;

use bayestream::data::LARGEST_CELL;
use bayestream::model::KINDS;
use bayestream::num;
use common::{Folder, csv, lines};
use serde_json::Value;

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error} in {text}"))
}

/// A table of noise.
fn wide(n_rows: usize, n_columns: usize) -> String {
    let mut rng = num::stream(20_070, n_columns as u64, 0);
    let header: Vec<String> = (0..n_columns).map(|j| format!("c{j}")).collect();
    let mut text = header.join(",") + "\n";
    for _ in 0..n_rows {
        let cells: Vec<String> = (0..n_columns).map(|_| format!("{:.4}", rng.normal())).collect();
        text += &(cells.join(",") + "\n");
    }
    text
}

#[test]
fn every_mixture_scores_the_row_or_the_few_rows_it_has() {
    let folder = Folder::new();
    folder.write("one.csv", "a,b,c\n1.5,-2,300\n");
    folder.write("wide.csv", wide(12, 40));
    for kind in KINDS.iter().map(|info| info.name) {
        for file in ["one.csv", "wide.csv"] {
            let told = folder.ok(&format!("fit {file} -m {kind} -o m.bay --json"));
            let summary = json(&told.stdout);
            let score = &summary["log_score"];
            // Either rows were scored, or it is said why not.
            let (n_scored, reason) = (score["n_scored"].as_u64().unwrap(), score["reason"].as_str());
            assert_eq!(n_scored == 0, reason.is_some() && told.stderr.contains(reason.unwrap()), "{kind}: {summary}");
            let scores = folder.ok(&format!("score m.bay {file}")).stdout;
            for line in scores.lines() {
                let row = json(line);
                assert!(row["log_density"].is_f64() && row["component"].is_string(), "{kind} {file}: {row}");
            }
        }
    }
}

#[test]
fn watch_says_why_rows_have_no_log_density() {
    let folder = Folder::new();
    folder.write("few.csv", csv(&lines(120, 31)));
    for (kind, n_first) in [("gmm", 2), ("dpmm", 2), ("gmm/sugs", 100)] {
        let told = folder.ok(&format!("watch few.csv -m {kind} -o scores.csv"));
        let said = told.stderr.lines().find(|line| line.contains("without a log-density")).unwrap_or_default();
        let expected = [format!("{n_first} rows without"), format!("first model of {n_first} rows")];
        assert!(said.starts_with(&expected[0]) && said.contains(&expected[1]), "{}", told.stderr);
    }
}

#[test]
fn more_columns_than_fit_are_refused_in_one_sentence() {
    let folder = Folder::new();
    folder.write("wide.csv", wide(3, 20_000));
    for command in ["fit wide.csv -o m.bay", "watch wide.csv", "fit wide.csv -m dpmm -o m.bay --memory 1.5GB"] {
        let refused = folder.run(command);
        refused.complains(1, &["20000 columns", "GB", "--memory", "which is enough for"]);
        assert_eq!(refused.stderr.trim_end().lines().count(), 1, "{}", refused.stderr);
    }
    assert!(!folder.has("m.bay"));
    folder.run("compare wide.csv -m gmm").complains(1, &["gmm/ofab failed", "20000 columns"]);
    folder.write("narrow.csv", csv(&lines(30, 32)));
    folder
        .run("fit narrow.csv -o m.bay --memory 10")
        .complains(1, &["gmm/ofab with 3 columns", "enough for 0 columns"]);
    folder.run("fit narrow.csv -o m.bay --memory lots").complains(2, &["--memory", "as in 8GB"]);
    // The limit is for new models, and leaves no trace.
    folder.ok("fit narrow.csv -o m.bay");
    folder.ok("fit narrow.csv -o other.bay --memory 100GB");
    assert_eq!(folder.read("m.bay"), folder.read("other.bay"));
    folder.ok("fit narrow.csv --resume m.bay -o m.bay --memory 10");
}

#[test]
fn the_largest_cells_are_learnt_and_larger_ones_refused_with_the_limit() {
    let folder = Folder::new();
    let cell = |i: usize| [1e150, -1e150, 2.5e150][i % 3] * (1.0 - i as f64 / 1000.0);
    let rows: String = (0..300).map(|i| format!("{:e},{}\n", cell(i), i % 7)).collect();
    folder.write("large.csv", format!("a,b\n{rows}"));
    for kind in ["gmm", "mppca", "dpmm", "gmm/fab", "lfm"] {
        folder.ok(&format!("fit large.csv -m {kind} -o m.bay"));
        for line in folder.ok("score m.bay large.csv").stdout.lines() {
            assert!(json(line)["log_density"].is_f64(), "{kind}: {line}");
        }
    }
    assert!((1e150..1e151).contains(&LARGEST_CELL));
    folder.write("beyond.csv", "a,b\n1,2\n1e152,3\n");
    folder.run("fit beyond.csv -o m.bay").complains(1, &["row 2", "column `a`", "1e152", "beyond 3.27e150"]);
}
