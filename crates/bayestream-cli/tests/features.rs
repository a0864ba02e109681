//! Models of binary latent features on the command line: rows in, features, scores, filled cells and pictures out.

mod common;

use bayestream::num;
use common::Folder;
use serde_json::Value;

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error} in {text}"))
}

/// Six columns and three features, each of which adds to two columns; a tenth of the cells is missing. The truth: for each
/// row, its cells before the holes.
fn table(n: usize) -> (String, Vec<[f64; 6]>) {
    let mut text = "name,a,b,c,d,e,f\n".to_string();
    let mut truth = Vec::new();
    for row in 0..n {
        let mut rng = num::stream(8, 0, row as u64);
        let mut cells = [10.0, 0.0, -5.0, 100.0, 0.0, 1.0];
        for (first, weights) in [(0, [9.0, 7.0]), (2, [-6.0, 8.0]), (4, [12.0, -5.0])] {
            if rng.uniform() < 0.4 {
                cells[first] += weights[0];
                cells[first + 1] += weights[1];
            }
        }
        cells.iter_mut().for_each(|cell| *cell += rng.normal());
        truth.push(cells);
        let shown = cells.map(|cell| if rng.uniform() < 0.1 { String::new() } else { cell.to_string() });
        text += &format!("r{row},{}\n", shown.join(","));
    }
    (text, truth)
}

#[test]
fn features_are_learnt_shown_scored_filled_drawn_and_sampled() {
    let folder = Folder::new();
    let (text, truth) = table(900);
    folder.write("t.csv", &text);
    for kind in ["lfm", "lfm/fab"] {
        let told = folder.ok(&format!("fit t.csv -m {kind} --drop name -o m.bay --json"));
        let summary = json(&told.stdout);
        assert_eq!((&summary["n_seen"], &summary["k_realized"]), (&900.into(), &3.into()), "{kind}: {summary}");
        assert!(told.stderr.contains("3 features"), "{}", told.stderr);

        let shown = json(&folder.ok("inspect m.bay --json").stdout);
        let features = shown["features"].as_array().unwrap();
        assert_eq!((features.len(), shown["noise"].as_array().unwrap().len()), (3, 6));
        assert!(features.iter().all(|f| f["weights"].as_array().unwrap().len() == 6 && f["share"].is_f64()), "{shown}");
        let people = folder.ok("inspect m.bay").stdout;
        assert!(
            people.contains("features    3") && people.contains("adds most to") && people.contains("noise"),
            "{people}"
        );

        let scores = folder.ok("score m.bay t.csv --id-column name").stdout;
        assert_eq!(scores.lines().count(), 900);
        let mut n_unusual = 0;
        for line in scores.lines() {
            let score = json(line);
            assert!(score["log_density"].is_f64() && score["surprise"].is_f64(), "{score}");
            let p = score["p_value"].as_f64().unwrap();
            n_unusual += usize::from(p <= 0.1);
            assert!((0.0..=1.0).contains(&p) && score.get("component").is_none(), "{score}");
            for feature in score["features"].as_array().unwrap() {
                assert!((0.0..=1.0).contains(&feature["activation"].as_f64().unwrap()) && feature["id"].is_string());
            }
        }
        assert!((45..=180).contains(&n_unusual), "{kind}: {n_unusual} of 900 rows with p ≤ 0.1");

        let filled = folder.ok("impute m.bay t.csv --uncertainty --id-column name").stdout;
        let (mut errors, mut n) = (0.0, 0);
        for ((line, row), truth) in filled.lines().zip(text.lines().skip(1)).zip(&truth) {
            let filled = json(line);
            for (j, cell) in row.split(',').skip(1).enumerate() {
                let column = &"abcdef"[j..=j];
                let sd = &filled[format!("{column}_sd")];
                assert_eq!(cell.is_empty(), sd.is_f64(), "{filled}");
                if cell.is_empty() {
                    errors += ((filled[column].as_f64().unwrap() - truth[j]) / sd.as_f64().unwrap()).powi(2);
                    n += 1;
                }
            }
        }
        // Errors in units of their deviations, over some 540 cells.
        assert!(n > 400 && (0.7..1.4).contains(&(errors / f64::from(n))), "{kind}: {errors} over {n}");

        for file in ["m.svg", "m.png", "m.html"] {
            let told = folder.ok(&format!("plot m.bay -o {file}")).stderr;
            assert!(told.contains("3 features") && !folder.read(file).is_empty());
        }
        folder.ok("plot m.bay --image 3x2 -o image.svg");
        assert!(String::from_utf8(folder.read("image.svg")).unwrap().contains("without features"));
        let drawn = folder.ok("sample m.bay -n 50 --to csv").stdout;
        assert_eq!((drawn.lines().next(), drawn.lines().count()), (Some("a,b,c,d,e,f"), 51));
    }
    // Other formats have lists of texts.
    folder.ok("score m.bay t.csv -o s.csv");
    let table = String::from_utf8(folder.read("s.csv")).unwrap();
    assert!(table.starts_with("row,log_density,surprise,p_value,alarm,features,reason\n"), "{}", &table[..200]);
    // And what is surprising is named.
    folder.write("odd.csv", "a,b,c,d,e,f\n10,0,-5,100,0,900\n");
    let odd = json(&folder.ok("score m.bay odd.csv").stdout);
    assert_eq!((&odd["alarm"], &odd["reasons"][0]["column"]), (&true.into(), &"f".into()), "{odd}");
}

#[test]
fn halves_with_resume_equal_one_run() {
    let folder = Folder::new();
    let (text, _) = table(800);
    let rows: Vec<&str> = text.lines().collect();
    folder.write("all.csv", &text);
    folder.write("first.csv", format!("{}\n", rows[..301].join("\n")));
    folder.write("second.csv", format!("{}\n{}\n", rows[0], rows[301..].join("\n")));
    let fit = |what: &str| folder.ok(&format!("fit {what} --drop name"));
    fit("all.csv -m lfm -o all.bay");
    fit("first.csv -m lfm -o part.bay --batch 7");
    fit("second.csv --resume part.bay -o part.bay --batch 64");
    assert_eq!(folder.read("part.bay"), folder.read("all.bay"), "resumed");
    fit("first.csv -m lfm -o part.bay --checkpoint c.bay --every 50");
    assert_eq!(folder.read("part.bay"), folder.read("c.bay"), "checkpoint");
    fit("all.csv --resume part.bay --skip-seen -o part.bay");
    assert_eq!(folder.read("part.bay"), folder.read("all.bay"), "seen rows passed over");
    folder.run("fit all.csv --resume part.bay --set tries=9 --drop name -o no.bay").complains(2, &["--set is fixed"]);
}

/// Learns a table by both kinds and asks everything of it; all that is said must be finite and clear.
fn survives(text: &str) {
    let folder = Folder::new();
    folder.write("t.csv", text);
    let n_rows = text.lines().count() - 1;
    for kind in ["lfm", "lfm/fab"] {
        folder.ok(&format!("fit t.csv -m {kind} -o m.bay"));
        let shown = json(&folder.ok("inspect m.bay --json").stdout);
        let noise: Vec<f64> = shown["noise"].as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect();
        assert!(!noise.is_empty() && noise.iter().all(|v| *v > 0.0), "{kind}: {shown}");
        folder.ok("inspect m.bay");
        let scores = folder.ok("score m.bay t.csv").stdout;
        assert_eq!(scores.lines().count(), n_rows);
        assert!(
            scores.lines().all(|line| json(line)["log_density"].is_f64() && json(line)["p_value"].is_f64()),
            "{scores}"
        );
        let filled = folder.ok("impute m.bay t.csv --to csv").stdout;
        let cells = filled.lines().skip(1).flat_map(|line| line.split(','));
        assert!(cells.map(|cell| cell.parse::<f64>().unwrap()).all(f64::is_finite), "{kind}: {filled}");
        folder.ok("plot m.bay -o m.svg");
        assert_eq!(folder.ok("sample m.bay -n 3 --to csv").stdout.lines().count(), 4);
    }
}

#[test]
fn a_column_without_cells_is_survived() {
    let rows: Vec<String> = (0..60).map(|i| format!("{},,{}", i % 7, (i % 2) * 9)).collect();
    survives(&format!("a,b,c\n{}\n", rows.join("\n")));
}

#[test]
fn a_row_without_cells_is_survived() {
    let rows: Vec<String> =
        (0..60).map(|i| if i == 20 { ",,".into() } else { format!("{},{},{}", i % 7, i % 5, (i % 2) * 9) }).collect();
    survives(&format!("a,b,c\n{}\n", rows.join("\n")));
}

#[test]
fn columns_that_do_not_vary_are_survived() {
    survives(&format!("a,b,c\n{}", "7,0,-1e9\n".repeat(70)));
    let rows: Vec<String> = (0..80).map(|i| format!("7,{},0", i % 13)).collect();
    survives(&format!("a,b,c\n{}\n", rows.join("\n")));
}

#[test]
fn one_row_is_survived() {
    survives("a,b,c\n7,0.5,-3\n");
}

#[test]
fn one_column_is_survived() {
    let rows: Vec<String> = (0..80).map(|i| ((i % 2) * 50 + i % 7).to_string()).collect();
    survives(&format!("a\n{}\n", rows.join("\n")));
}

#[test]
fn noise_without_features_is_survived_and_said() {
    let mut rng = num::stream(9, 0, 0);
    let rows: Vec<String> = (0..400).map(|_| format!("{},{}", rng.normal(), rng.normal())).collect();
    let text = format!("a,b\n{}\n", rows.join("\n"));
    survives(&text);
    let folder = Folder::new();
    folder.write("t.csv", &text);
    folder.ok("fit t.csv -m lfm -o m.bay");
    let shown = folder.ok("inspect m.bay").stdout;
    assert!(shown.contains("features    0") && shown.contains("no features: columns vary independently"), "{shown}");
}

#[test]
fn weights_of_rows_count() {
    let folder = Folder::new();
    let rows: Vec<String> = (0..200).map(|i| format!("{},{},{}", i % 5, 50 * (i % 2), i % 2)).collect();
    folder.write("t.csv", format!("a,b,w\n{}\n", rows.join("\n")));
    // Rows of weight 0 are not there: what is left does not reach 0 in the second column.
    folder.ok("fit t.csv -m lfm/fab --weight-column w -o m.bay");
    let shown = json(&folder.ok("inspect m.bay --json").stdout);
    assert_eq!((&shown["n_seen"], shown["offset"][1].as_f64().unwrap().round()), (&100.into(), 50.0), "{shown}");
}

#[test]
fn what_is_wrong_is_said() {
    let folder = Folder::new();
    let (text, _) = table(60);
    folder.write("t.csv", text);
    folder.run("fit t.csv -m lmf --drop name -o m.bay").complains(2, &["did you mean `lfm"]);
    folder
        .run("fit t.csv -m lfm --set max-features=0 --drop name -o m.bay")
        .complains(2, &["max-features=0", "from 1"]);
    folder.run("fit t.csv -m lfm/fab --set warm-up=50 --drop name -o m.bay").complains(2, &["no setting `warm-up`"]);
    folder.ok("fit t.csv -m lfm --drop name -o m.bay");
    folder.run("plot m.bay --image 4x2 -o m.svg").complains(2, &["--image 4x2", "6 columns"]);
    folder.run("plot m.bay --image four -o m.svg").complains(2, &["WIDTHxHEIGHT"]);
    folder.run("plot m.bay t.csv -o m.svg").complains(2, &["is drawn without DATA"]);
    folder.run("merge m.bay m.bay -o n.bay").complains(1, &["lfm/online-fab cannot be merged", "--resume"]);
    folder.ok("fit t.csv -m lfm/fab --drop name -o b.bay");
    folder.run("merge b.bay b.bay -o n.bay").complains(1, &["lfm/fab is a batch kind"]);
    folder.run("watch t.csv -m lfm").complains(2, &["lfm/online-fab learns rows as sums of features", "`impute`"]);
    folder.run("watch t.csv --model m.bay").complains(1, &["lfm/online-fab", "rows as sums of features"]);
    folder.run("compare t.csv -m gmm -m lfm").complains(2, &["lfm"]);
    folder.ok("fit t.csv --drop name -o gmm.bay");
    folder.run("plot gmm.bay --image 3x2 -o m.svg").complains(2, &["--image is for models of features"]);
    folder.run("merge m.bay gmm.bay -o n.bay").complains(1, &["cannot be merged with each other"]);
    folder.write("far.csv", "a,b,c,d,e,f\n1,2,3,4,5,1e300\n");
    folder.run("score m.bay far.csv").complains(1, &["far.csv: row 1", "column `f`", "too large"]);
    let listed = folder.ok("models --settings").stdout;
    assert!(listed.contains("lfm/online-fab") && listed.contains("max-features"), "{listed}");
}
