//! Classifiers and regressors on the command line: labelled rows or documents in, labels or numbers out.

mod common;

use bayestream::num;
use common::Folder;
use serde_json::Value;

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error} in {text}"))
}

/// Rows of two species and a weight that depends on both columns; a tenth of the species is unknown, some cells too.
fn flowers(n: usize) -> String {
    let mut text = "name,length,width,species,weight\n".to_string();
    for row in 0..n {
        let mut rng = num::stream(5, 0, row as u64);
        let is_oak = rng.uniform() < 0.5;
        let length = 100.0 + rng.normal() + if is_oak { 4.0 } else { 0.0 };
        let width = 0.01 * rng.normal();
        let weight = 3.0 * length - 50.0 * width + 0.1 * rng.normal();
        let species = if row % 10 == 9 { "" } else { ["ash", "oak"][usize::from(is_oak)] };
        let width = if row % 7 == 3 { "NA".to_string() } else { width.to_string() };
        text += &format!("f{row},{length},{width},{species},{weight}\n");
    }
    text
}

fn messages(n: usize) -> String {
    let one = |row: usize| {
        let mut rng = num::stream(6, 0, row as u64);
        let theme = ["cat", "dog", "emu"][rng.below(3)];
        let word = |_| {
            let stem = if rng.uniform() < 0.5 { theme } else { "the" };
            format!("{stem}{}", &"abcdefghi"[rng.below(9)..][..1])
        };
        let words: Vec<String> = (0..20).map(word).collect();
        format!(
            "{{\"id\":\"m{row}\",\"text\":\"{}\",\"kind\":\"{theme}\",\"kinds\":[\"{theme}\",\"any\"]}}\n",
            words.join(" ")
        )
    };
    (0..n).map(one).collect()
}

#[test]
fn labels_of_rows_are_learnt_shown_and_told() {
    let folder = Folder::new();
    folder.write("f.csv", flowers(600));
    for kind in ["classify/pa", "classify/bayespa-ave", "classify/bayespa-gibbs"] {
        let told = folder.ok(&format!("fit f.csv -m {kind} --label-column species --drop name,weight -o m.bay --json"));
        let summary = json(&told.stdout);
        assert_eq!(
            (&summary["n_seen"], &summary["n_unlabelled"], &summary["n_labels"]),
            (&600.into(), &60.into(), &2.into())
        );
        assert!(summary["score"]["accuracy"].as_f64().unwrap() > 0.9, "{summary}");
        assert!(
            told.stderr.contains("60 rows had no label") && told.stderr.contains("2 labels from 2 features"),
            "{}",
            told.stderr
        );
        let shown = json(&folder.ok("inspect m.bay --json").stdout);
        assert_eq!((&shown["label_column"], &shown["labels"][1]["label"]), (&"species".into(), &"oak".into()));
        assert_eq!(shown["labels"][1]["speaking_for"][0]["feature"], "length", "{shown}");
        let people = folder.ok("inspect m.bay").stdout;
        assert!(people.contains("labels      2") && people.contains("(60 without a label)"), "{people}");
        let scores = folder.ok("score m.bay f.csv --id-column name").stdout;
        assert_eq!(scores.lines().count(), 600);
        let (mut n, mut right) = (0, 0);
        for (line, row) in scores.lines().zip(flowers(600).lines().skip(1)) {
            let score = json(line);
            let species = row.split(',').nth(3).unwrap();
            n += usize::from(!species.is_empty());
            right += usize::from(score["label"] == species);
            assert!(
                score["margin"].as_f64().unwrap() >= 0.0 && score["scores"].as_array().unwrap().len() == 2,
                "{score}"
            );
            assert_eq!(score.get("deviation").is_some(), kind.contains("gibbs"));
        }
        assert!(n == 540 && right * 100 > n * 93, "{kind}: {right} of {n}");
        let first = json(scores.lines().next().unwrap());
        assert_eq!((&first["row"], &first["id"]), (&1.into(), &"f0".into()));
        assert!(first["reasons"][0]["amount"].as_f64().unwrap() > 0.0, "{first}");
    }
    // Other formats have lists of texts.
    folder.ok("score m.bay f.csv -o s.csv");
    let table = String::from_utf8(folder.read("s.csv")).unwrap();
    assert!(table.starts_with("row,label,margin,deviation,scores,reasons\n"), "{}", &table[..200]);
}

#[test]
fn numbers_are_told_in_their_own_units() {
    let folder = Folder::new();
    folder.write("f.csv", flowers(900));
    for kind in ["classify/pa --set c=0.05", "classify/bayespa-gibbs"] {
        let told = folder.ok(&format!(
            "fit f.csv -m {kind} --set target=number --label-column weight --drop name,species -o m.bay --json"
        ));
        let summary = json(&told.stdout);
        assert!(summary["score"]["mean_absolute_error"].as_f64().unwrap() < 1.5, "{kind}: {summary}");
        assert!(summary["score"].get("accuracy").is_none());
        let scores = folder.ok("score m.bay f.csv").stdout;
        let first = json(scores.lines().nth(400).unwrap());
        let weight: f64 = flowers(900).lines().nth(401).unwrap().split(',').nth(4).unwrap().parse().unwrap();
        assert!((first["prediction"].as_f64().unwrap() - weight).abs() < 1.5, "{kind}: {first} {weight}");
        assert!(first.get("label").is_none() && first.get("margin").is_none());
    }
    folder
        .run("fit f.csv -m classify/pa --set target=number --label-column species --drop name,weight -o no.bay")
        .complains(1, &["f.csv: row 1", "is not a finite number", "--on-error skip", "no.bay was not written"]);
}

#[test]
fn labels_of_documents_one_or_several() {
    let folder = Folder::new();
    folder.write("m.ndjson", messages(400));
    for how in ["--text-column text", "--set features=words"] {
        let told = folder.ok(&format!("fit m.ndjson -m classify/pa {how} --label-column kind -o m.bay --json"));
        let summary = json(&told.stdout);
        assert_eq!((&summary["n_labels"], &summary["n_features"]), (&3.into(), &36.into()));
        assert!(summary["score"]["accuracy"].as_f64().unwrap() > 0.9, "{summary}");
        let score = json(folder.ok("score m.bay m.ndjson --id-column id").stdout.lines().next().unwrap());
        let label = score["label"].as_str().unwrap();
        assert!(score["reasons"][0]["feature"].as_str().unwrap().starts_with(label), "{score}");
        assert_eq!((&score["id"], &score["n_unknown"]), (&"m0".into(), &0.into()));
    }
    folder.ok("fit m.ndjson -m classify/bayespa-gibbs --text-column text --set target=labels --label-column kinds -o several.bay");
    let shown = json(&folder.ok("inspect several.bay --json").stdout);
    assert!(shown["score"]["f1"].as_f64().unwrap() > 0.9, "{shown}");
    let score = json(folder.ok("score several.bay m.ndjson").stdout.lines().next().unwrap());
    let labels: Vec<&str> = score["labels"].as_array().unwrap().iter().map(|l| l.as_str().unwrap()).collect();
    assert!(labels.len() == 2 && labels.contains(&"any"), "{score}");
    for kind in ["classify/pa --label-column kind", "gmm"] {
        folder.run(&format!("fit m.ndjson -m {kind} --drop id,kinds -o no.bay")).complains(
            1,
            &[
                "m.ndjson: row 1",
                "column `text`",
                "is not a number",
                "-m classify",
                "--text-column text",
                "0 rows had been learnt",
            ],
        );
    }
    folder
        .run("fit m.ndjson -m classify/pa --text-column text --label-column kinds -o no.bay")
        .complains(1, &["m.ndjson: row 1", "2 labels where one is expected", "target=labels"]);
    // In CSV several labels stand in one cell.
    folder.write("s.csv", "x,tags\n1,a;b\n-1,b\n2,a;b\n-2,b\n");
    folder.ok("fit s.csv -m classify/pa --set target=labels --label-column tags -o s.bay");
    assert_eq!(json(&folder.ok("inspect s.bay --json").stdout)["labels"].as_array().unwrap().len(), 2);
}

#[test]
fn halves_with_resume_equal_one_run_and_shards_merge() {
    let folder = Folder::new();
    let text = flowers(400);
    let rows: Vec<&str> = text.lines().collect();
    let part = |from: usize, to: usize| format!("{}\n{}\n", rows[0], rows[from + 1..to + 1].join("\n"));
    folder.write("all.csv", &text);
    folder.write("first.csv", part(0, 150));
    folder.write("second.csv", part(150, 400));
    for kind in ["classify/pa", "classify/bayespa-gibbs"] {
        let fit = |what: &str| folder.ok(&format!("fit {what} --drop name,weight"));
        fit(&format!("all.csv -m {kind} --label-column species -o all.bay"));
        fit(&format!("first.csv -m {kind} --label-column species -o part.bay --batch 7"));
        fit("second.csv --resume part.bay -o part.bay --batch 64");
        assert_eq!(folder.read("part.bay"), folder.read("all.bay"), "{kind}: resumed");
        fit(&format!("first.csv -m {kind} --label-column species -o part.bay --checkpoint c.bay --every 50"));
        assert_eq!(folder.read("part.bay"), folder.read("c.bay"), "{kind}: checkpoint");
        fit("all.csv --resume part.bay --skip-seen -o part.bay");
        assert_eq!(folder.read("part.bay"), folder.read("all.bay"), "{kind}: seen rows passed over");
        fit(&format!("first.csv -m {kind} --label-column species -o one.bay"));
        fit(&format!("second.csv -m {kind} --label-column species -o two.bay"));
        let merged = folder.run("merge one.bay two.bay -o both.bay");
        match kind {
            "classify/pa" => merged.complains(1, &["passive-aggressive steps depend", "classify/bayespa-gibbs"]),
            _ => {
                assert_eq!((merged.code, folder.n_seen("both.bay")), (0, Some(400)), "{}", merged.stderr);
                folder.ok("score both.bay all.csv");
            }
        }
    }
}

#[test]
fn what_is_wrong_is_said() {
    let folder = Folder::new();
    folder.write("f.csv", flowers(60));
    folder.write("m.ndjson", messages(20));
    folder
        .run("fit f.csv -m classify/pa -o m.bay")
        .complains(2, &["--label-column", "the columns are name, length, width, species, weight"]);
    folder.run("fit f.csv -m classify/pa --label-column colour -o m.bay").complains(
        1,
        &["there is no column `colour`", "--label-column", "the columns are name, length, width, species, weight"],
    );
    folder.run("fit f.csv -m clasify/pa --label-column species -o m.bay").complains(2, &["did you mean `classify/pa`"]);
    folder
        .run("fit f.csv -m classify/pa --set sigma2=2 --label-column species -o m.bay")
        .complains(2, &["no setting `sigma2`"]);
    folder
        .run("fit f.csv -m classify/pa --label-column name --drop species,weight --set max-labels=20 -o m.bay")
        .complains(1, &["f.csv: row 21", "`f20` would be one more than 20 labels", "max-labels"]);
    folder
        .run("fit m.ndjson -m classify/bayespa-gibbs --text-column text --set features=numbers --label-column kind -o m.bay")
        .complains(2, &["leave one out"]);
    folder
        .run("fit m.ndjson -m classify/bayespa-gibbs --text-column text --set covariance=full --label-column kind -o m.bay")
        .complains(2, &["covariance=full", "diagonal for words"]);
    folder.ok("fit f.csv -m classify/pa --label-column species --drop name,weight -o m.bay");
    folder.run("fit f.csv --resume m.bay --set c=3 --drop name,weight -o m.bay").complains(2, &["--set is fixed"]);
    folder.run("watch f.csv -m classify/pa").complains(2, &["classify/pa learns from labelled rows"]);
    folder.run("sample m.bay -n 3").complains(1, &["classify/pa", "labelled rows"]);
    folder.run("plot m.bay -o m.svg").complains(2, &["no picture of classify/pa"]);
    folder.write("empty.csv", "x,y\n1,\n2,\n");
    folder.ok("fit empty.csv -m classify/pa --label-column y -o none.bay");
    folder.run("score none.bay empty.csv").complains(1, &["has met no labels yet (2 rows seen)"]);
    let listed = folder.ok("models --settings").stdout;
    assert!(listed.contains("classify/bayespa-gibbs") && listed.contains("max-labels"), "{listed}");
}
