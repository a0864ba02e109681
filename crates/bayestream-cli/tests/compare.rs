//! `compare`: the same rows for every kind, and an answer for programs.

mod common;

use common::{Folder, Live, csv, lines};
use serde_json::Value;

fn document(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error} in {text}"))
}

fn names(document: &Value) -> Vec<&str> {
    document["kinds"].as_array().unwrap().iter().map(|kind| kind["name"].as_str().unwrap()).collect()
}

fn with_rows() -> Folder {
    let folder = Folder::new();
    folder.write("data.csv", csv(&lines(3000, 31)));
    folder.write("test.csv", csv(&lines(500, 32)));
    folder
}

#[test]
fn each_kind_learns_what_fit_learns() {
    let folder = with_rows();
    let compared = folder
        .ok("compare data.csv -m gmm -m mppca:delta=0.02 -m gmm/fab --set start-components=40 --test test.csv --json");
    let document = document(&compared.stdout);
    assert_eq!(names(&document), ["gmm/ofab", "mppca/ofab:delta=0.02", "gmm/fab"]);
    assert_eq!((&document["n_rows"], &document["n_test"]), (&3000.into(), &500.into()));
    let n_compared = document["n_compared"].as_u64().unwrap();
    assert!((2000..3000).contains(&n_compared), "{n_compared}");
    let own = ["-m gmm", "-m mppca --set delta=0.02", "-m gmm/fab"];
    for (kind, own) in document["kinds"].as_array().unwrap().iter().zip(own) {
        let fit = folder.ok(&format!("fit data.csv -o model.bay --json --set start-components=40 {own}"));
        let fit: Value = serde_json::from_str(&fit.stdout).unwrap();
        for field in ["kind", "k_realized", "k_implemented"] {
            assert_eq!(kind[field], fit[field], "{own}: {field}");
        }
        assert_eq!(kind["model_bytes"], folder.read("model.bay").len() as u64, "{own}");
        // The same mean as that of the model, which has scored the same rows.
        match (kind["log_score"].as_f64(), fit["log_score"]["prequential_mean"].as_f64()) {
            (Some(compared), Some(fitted)) => assert!((compared - fitted).abs() < 1e-9 * fitted.abs(), "{own}"),
            (compared, fitted) => assert_eq!((compared, fitted, own), (None, None, "-m gmm/fab")),
        }
        let scores = folder.ok("score model.bay test.csv").stdout;
        let density = |line: &str| serde_json::from_str::<Value>(line).unwrap()["log_density"].as_f64().unwrap();
        let mean = scores.lines().map(density).sum::<f64>() / 500.0;
        assert!((kind["test_log_density"].as_f64().unwrap() - mean).abs() < 1e-9 * mean.abs(), "{own}");
        assert!(kind["cpu_seconds"].as_f64().unwrap() > 0.0 && kind["failure"].is_null());
        let course = kind["course"].as_array().unwrap();
        assert_eq!(course.last().unwrap()["row"], 3000);
        assert_eq!(course.last().unwrap()["k_realized"], kind["k_realized"]);
    }
    assert_eq!(document["kinds"][0]["cpu_ratio"], 1.0);
}

#[test]
fn people_get_a_table_and_a_picture() {
    let folder = with_rows();
    let compared = folder.ok("compare data.csv --plot course.svg");
    let rows: Vec<&str> = compared.stdout.lines().collect();
    assert!(rows[0].split_whitespace().eq([
        "kind",
        "log-score",
        "components",
        "held",
        "CPU",
        "s",
        "ratio",
        "model",
        "kB"
    ]));
    // Every kind that learns in one pass, when none is named.
    assert!(rows[1].trim().starts_with("gmm/ofab") && rows[2].trim().starts_with("mppca/ofab"), "{rows:?}");
    assert!(compared.stdout.contains("3,000 rows") && !compared.stdout.contains("held out"));
    let picture = String::from_utf8(folder.read("course.svg")).unwrap();
    for words in ["gmm/ofab", "mppca/ofab", "Log-score before learning", "Number of components"] {
        assert!(picture.contains(words), "{words}");
    }
    for name in ["course.png", "course.html"] {
        folder.ok(&format!("compare data.csv -m gmm --plot {name} --test test.csv"));
        assert!(!folder.read(name).is_empty());
    }
}

#[test]
fn a_pipe_serves_all_kinds_in_one_reading() {
    let folder = with_rows();
    let rows = csv(&lines(3000, 31));
    let strip = |text: &str| {
        let mut document = document(text);
        document["inputs"].take();
        for kind in document["kinds"].as_array_mut().unwrap() {
            kind["cpu_seconds"].take();
            kind["cpu_ratio"].take();
        }
        document
    };
    let piped = folder.run_with_input("compare - -m gmm -m mppca --json --batch 300", &rows);
    assert_eq!(piped.code, 0, "{}", piped.stderr);
    let read = folder.ok("compare data.csv -m gmm -m mppca --json --batch 300");
    assert_eq!(strip(&piped.stdout), strip(&read.stdout));
}

#[test]
fn wrong_usage_and_bad_rows_are_told() {
    let folder = with_rows();
    let cases: [(&str, &[&str]); 7] = [
        ("-m gmm/ofba", &["did you mean `gmm/ofab`"]),
        ("-m gmm -m gmm/ofab", &["gmm/ofab is there twice", "other settings"]),
        ("-m gmm:detla=0.1", &["did you mean `delta`"]),
        ("-m gmm:delta", &["NAME=VALUE"]),
        ("-m gmm -m gmm/fab --set memory=900", &["gmm/fab has no setting `memory`", "-m KIND:NAME=VALUE"]),
        ("-m gmm --plot course.bmp", &["course.bmp", ".svg"]),
        ("- -m gmm --test -", &["standard input"]),
    ];
    for (arguments, says) in cases {
        folder.run(&format!("compare data.csv {arguments}")).complains(2, says);
    }
    folder.run("compare data.csv -m gmm --plot nowhere/course.svg").complains(1, &["nowhere/course.svg", "folder"]);
    folder.write("other.csv", "height,width\n1,2\n");
    folder.run("compare data.csv -m gmm --test other.csv").complains(1, &["other.csv", "`depth`"]);
    let mut rows = lines(900, 33);
    rows[700] = "1,2e300,3\n".to_string();
    folder.write("bad.csv", csv(&rows));
    folder.run("compare bad.csv -m gmm -m mppca").complains(1, &["bad.csv: row 701", "`width`", "too large"]);
    let skipped = folder.ok("compare bad.csv -m gmm -m mppca --on-error skip --json");
    assert!(skipped.stderr.contains("1 row could not be used"), "{}", skipped.stderr);
    assert_eq!(document(&skipped.stdout)["n_rows"], 899);
}

#[cfg(target_os = "linux")]
#[test]
fn an_interrupted_comparison_tells_what_it_knows() {
    let folder = Folder::new();
    let mut live = Live::start(&folder, "compare - -m gmm -m mppca --batch 100");
    live.feed(&csv(&lines(1000, 34)));
    live.wait_for_handler();
    live.signal("INT");
    // A signal that comes before the columns finds nothing to tell.
    let first = live.line();
    assert!(first.is_empty() || first.contains("log-score"), "{first}");
    live.wait().complains(130, &["interrupted: compared on"]);
}
