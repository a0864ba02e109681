//! What other programs read: fields, order, exit codes, bytes.

mod common;

use common::{Folder, HEADER, csv, lines};
use serde_json::Value;

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error} in {text}"))
}

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn two_halves_with_resume_equal_one_run() {
    let folder = Folder::new();
    let rows = lines(1500, 21);
    folder.write("all.csv", csv(&rows));
    folder.write("first.csv", csv(&rows[..800]));
    folder.write("second.csv", csv(&rows[800..]));
    for (kind, batch) in [("gmm", 100), ("mppca", 200)] {
        let fit = |what: &str| folder.ok(&format!("fit {what} --batch {batch}"));
        fit(&format!("all.csv -m {kind} -o all.bay --seed 3"));
        fit(&format!("first.csv -m {kind} -o part.bay --seed 3"));
        fit("second.csv --resume part.bay -o part.bay");
        assert_eq!(folder.read("part.bay"), folder.read("all.bay"), "{kind}: resumed");
        fit(&format!("first.csv second.csv -m {kind} -o both.bay --seed 3"));
        assert_eq!(folder.read("both.bay"), folder.read("all.bay"), "{kind}: two inputs");
    }
}

#[test]
fn columns_are_matched_by_name_and_chosen_by_option() {
    let folder = Folder::new();
    let rows = lines(900, 22);
    folder.write("plain.csv", csv(&rows));
    let mut moved = "name,depth,height,width,weight\n".to_string();
    for (ix, row) in rows.iter().enumerate() {
        let cells: Vec<&str> = row.trim().split(',').collect();
        moved += &format!("r{ix},{},{},{},1\n", cells[2], cells[0], cells[1]);
    }
    folder.write("moved.csv", moved);
    folder.ok("fit plain.csv -o plain.bay");
    folder.ok("fit moved.csv -o chosen.bay --columns height,width,depth");
    assert_eq!(folder.read("chosen.bay"), folder.read("plain.bay"));
    folder.ok("fit plain.csv --resume plain.bay -o longer.bay");
    folder.ok("fit moved.csv --resume plain.bay -o moved.bay --id-column name --drop weight");
    // The order of the columns is the model's.
    assert_eq!(folder.read("moved.bay"), folder.read("longer.bay"));
    folder.ok("fit moved.csv --resume plain.bay -o weighted.bay --label-column name --weight-column weight");
    assert_eq!(folder.n_seen("weighted.bay"), Some(1800));
    let plain = folder.ok("score plain.bay plain.csv").stdout;
    assert_eq!(folder.ok("score plain.bay moved.csv").stdout, plain);
    let named = folder.ok("score plain.bay moved.csv --id-column name").stdout;
    assert_eq!(json(named.lines().nth(41).unwrap())["id"], "r41");
}

#[test]
fn scores_keep_order_and_count_in_every_format() {
    let folder = Folder::new();
    let mut rows = lines(1300, 23);
    folder.write("usual.csv", csv(&rows));
    // Far from everything in one column, and a row with a hole.
    rows[900] = "0.1,0.2,60\n".to_string();
    rows[901] = "0.1,,0.3\n".to_string();
    folder.write("data.csv", csv(&rows));
    folder.ok("fit usual.csv -o model.bay");
    let scores = folder.ok("score model.bay data.csv").stdout;
    assert_eq!(scores.lines().count(), rows.len());
    for (ix, line) in scores.lines().enumerate() {
        let score = json(line);
        assert_eq!(
            keys(&score),
            [
                "alarm",
                "cluster",
                "component",
                "log_density",
                "p_value",
                "reason",
                "reasons",
                "responsibility",
                "row",
                "surprise"
            ]
        );
        assert_eq!(score["row"], ix as u64 + 1);
        assert!(score["log_density"].as_f64().unwrap().is_finite());
        let p_value = score["p_value"].as_f64().unwrap();
        assert!(p_value > 0.0 && p_value <= 1.0);
        assert_eq!(score["alarm"], p_value <= 0.001);
        assert!(score["surprise"].as_f64().unwrap() >= 0.0);
        let n_reasons = score["reason"].as_array().unwrap().len();
        assert!(if p_value <= 0.01 { (1..=3).contains(&n_reasons) } else { n_reasons == 0 });
        let records = score["reasons"].as_array().unwrap();
        assert_eq!(records.len(), n_reasons);
        for (record, text) in records.iter().zip(score["reason"].as_array().unwrap()) {
            assert_eq!(keys(record), ["column", "expected", "observed", "probability", "surprise"]);
            assert!(text.as_str().unwrap().starts_with(record["column"].as_str().unwrap()), "{line}");
            assert!((0.0..=1.0).contains(&record["probability"].as_f64().unwrap()), "{line}");
        }
    }
    let outlier = json(scores.lines().nth(900).unwrap());
    assert_eq!(outlier["alarm"], true);
    assert!(outlier["reason"][0].as_str().unwrap().starts_with("depth 60, expected "), "{outlier}");
    let told = &outlier["reasons"][0];
    assert_eq!((&told["column"], &told["observed"]), (&"depth".into(), &60.0.into()), "{outlier}");
    assert!(told["expected"].as_f64().unwrap() < 20.0 && told["surprise"].as_f64().unwrap() > 9.0, "{outlier}");
    let surprise = |line: &str| json(line)["surprise"].as_f64().unwrap();
    let most = scores.lines().map(surprise).fold(0.0, f64::max);
    assert_eq!(surprise(scores.lines().nth(900).unwrap()), most);
    let is_alarm = |line: &&str| json(line)["alarm"] == true;
    let n_alarms = scores.lines().filter(is_alarm).count();
    let often = folder.ok("score model.bay data.csv --alarm-rate 0.05");
    let n_often = often.stdout.lines().filter(is_alarm).count();
    assert!(n_often > n_alarms, "{n_often} {n_alarms}");
    assert!(often.stderr.contains(&format!("1,300 rows, {n_often} alarms")), "{}", often.stderr);
    // Every alarm has a reason, however many alarms are asked for.
    let is_told = |line: &str| !json(line)["reason"].as_array().unwrap().is_empty();
    assert!(often.stdout.lines().filter(is_alarm).all(is_told));

    folder.ok("score model.bay data.csv -o scores.csv");
    let table = String::from_utf8(folder.read("scores.csv")).unwrap();
    assert_eq!(
        table.lines().next(),
        Some("row,log_density,surprise,p_value,alarm,component,responsibility,cluster,reason")
    );
    assert_eq!(table.lines().count(), rows.len() + 1);
    for format in ["parquet", "arrow", "ndjson"] {
        folder.ok(&format!("score model.bay data.csv -o scores.{format}"));
        assert!(!folder.read(&format!("scores.{format}")).is_empty());
    }
    let piped = folder.run_with_input("score model.bay - --to csv", &csv(&rows));
    assert_eq!((piped.code, piped.stdout), (0, table));
}

#[test]
fn watch_scores_a_row_by_the_rows_before_it() {
    let folder = Folder::new();
    let rows = lines(600, 24);
    folder.write("data.csv", csv(&rows));
    let watched = folder.ok("watch data.csv -m gmm --seed 4").stdout;
    assert_eq!(watched.lines().count(), rows.len());
    // Nothing is known before the first row.
    let first = json(watched.lines().next().unwrap());
    assert!(first["log_density"].is_null() && first["component"].is_null() && first["cluster"].is_null());
    assert_eq!((&first["p_value"], &first["alarm"]), (&Value::from(1.0), &Value::from(false)));
    // A row that changes later changes no score before it.
    let mut changed = rows.clone();
    changed[599] = "50,50,50\n".to_string();
    folder.write("changed.csv", csv(&changed));
    let other = folder.ok("watch changed.csv -m gmm --seed 4").stdout;
    let all_but_last = |text: &str| text.lines().take(599).map(String::from).collect::<Vec<_>>();
    assert_eq!(all_but_last(&watched), all_but_last(&other));
    assert_ne!(watched, other);
    // Learning one row at a time is what `fit --batch 1` does with the lighter settings of watching.
    folder.ok("watch data.csv --seed 4 --checkpoint watched.bay -o scores.ndjson");
    let light = "--set start-components=5 --set max-components=30 --set buffer=500";
    folder.ok(&format!("fit data.csv --seed 4 --batch 1 {light} -o fitted.bay"));
    let inspect = |model: &str| folder.ok(&format!("inspect {model} --json")).stdout;
    assert_eq!(inspect("watched.bay"), inspect("fitted.bay"));
    assert_eq!(String::from_utf8(folder.read("scores.ndjson")).unwrap(), watched);
}

#[test]
fn an_alarm_names_the_columns_with_what_was_seen_and_expected() {
    let folder = Folder::new();
    let mut rows = lines(2500, 31);
    rows[2200] = "0.1,70.5,0.3\n".to_string();
    folder.write("data.csv", csv(&rows));
    for batch in [1, 100] {
        let watched = folder.ok(&format!("watch data.csv --batch {batch}"));
        assert!(watched.stderr.contains("2,500 rows, "), "{}", watched.stderr);
        let spoilt = json(watched.stdout.lines().nth(2200).unwrap());
        assert_eq!(spoilt["alarm"], true, "{spoilt}");
        assert!(spoilt["reason"][0].as_str().unwrap().starts_with("width 70.5, expected "), "{spoilt}");
    }
    let quiet = folder.ok("watch data.csv --quiet --batch 100 -o scores.ndjson");
    assert_eq!((quiet.stdout.as_str(), quiet.stderr.as_str()), ("", ""));
    for scores in ["scores.ndjson", "scores.csv", "scores.parquet"] {
        folder.ok(&format!("watch data.csv --batch 100 -o {scores} --checkpoint model.bay"));
        let plot = folder.ok(&format!("plot --scores {scores} -o scores.svg"));
        let n_alarms = String::from_utf8(folder.read("scores.ndjson")).unwrap().matches(r#""alarm":true"#).count();
        assert!(plot.stderr.contains(&format!("2,500 rows, {n_alarms} alarm")), "{scores}: {}", plot.stderr);
    }
    for file in ["p.svg", "p.png", "p.html"] {
        folder.ok(&format!("plot model.bay --scores scores.csv -o {file}"));
        folder.ok(&format!("plot model.bay data.csv --row 2201 -o {file}"));
    }
    folder.ok("plot model.bay data.csv --row 2201 -o row.svg");
    let row = String::from_utf8(folder.read("row.svg")).unwrap();
    assert!(row.contains("width 70.5, expected") && !row.contains("NaN"));
    folder.run("plot model.bay data.csv --row 2501 -o row.svg").complains(1, &["data.csv", "no row 2501"]);
    folder.run("plot model.bay --row 3 -o row.svg").complains(2, &["DATA"]);
    folder.run("plot -o row.svg").complains(2, &["MODEL"]);
    folder.run("plot --scores data.csv -o row.svg").complains(1, &["data.csv", "`surprise`"]);
}

#[test]
fn inspect_tells_what_the_contract_says() {
    let folder = Folder::new();
    folder.write("data.csv", csv(&lines(3000, 25)));
    folder.ok("fit data.csv -o gmm.bay --set delta=0.01");
    let gmm = json(&folder.ok("inspect gmm.bay --json").stdout);
    assert_eq!(gmm["format"], 1);
    assert_eq!(gmm["kind"], "gmm/ofab");
    assert_eq!(gmm["n_seen"], 3000);
    assert_eq!(gmm["columns"], json(r#"["height", "width", "depth"]"#));
    let components = gmm["components"].as_array().unwrap();
    assert_eq!(gmm["k_realized"], components.len());
    assert_eq!(components.len(), 3, "three clusters were planted");
    assert_eq!(gmm["clusters"].as_array().unwrap().len(), 3);
    assert!(gmm["k_implemented"].as_u64().unwrap() >= 3);
    let total: f64 = components.iter().map(|c| c["weight"].as_f64().unwrap()).sum();
    assert!((total - 1.0).abs() < 1e-9);
    for component in components {
        assert_eq!(keys(component), ["cluster", "count", "covariance", "id", "mean", "weight"]);
        assert!(component["id"].as_str().unwrap().starts_with("0-"));
        let covariance = component["covariance"].as_array().unwrap();
        assert_eq!(covariance.len(), 3);
        // Symmetric, up to the rounding of a change of units.
        let [upper, lower] = [&covariance[0][1], &covariance[1][0]].map(|cell| cell.as_f64().unwrap());
        assert!((upper - lower).abs() <= 4.0 * f64::EPSILON * upper.abs());
        assert!(covariance.iter().all(|row| row.as_array().unwrap().len() == 3));
    }
    assert_eq!(gmm["settings"]["delta"], 0.01);
    assert_eq!(gmm["settings"]["drift"], "auto");
    assert!(gmm["log_score"]["prequential_mean"].as_f64().unwrap().is_finite());
    for event in gmm["events"].as_array().unwrap() {
        let what = event["event"].as_str().unwrap();
        assert!(["born", "merged", "split", "died", "drift"].contains(&what));
        assert_eq!(event["other"].is_string(), ["merged", "split"].contains(&what));
        assert!(event["row"].as_u64().unwrap() <= 3000 && event["component"].is_string());
    }
    folder.ok("fit data.csv -o mppca.bay -m mppca");
    let mppca = json(&folder.ok("inspect mppca.bay --json").stdout);
    assert!(mppca["components"].as_array().unwrap().iter().all(|c| c["latent_dim"].is_u64()));
    let few = json(&folder.ok("inspect gmm.bay --json --delta 0.4").stdout);
    assert_eq!(few["k_realized"], 1);
    let text = folder.ok("inspect gmm.bay").stdout;
    for words in ["gmm/ofab", "3,000", "height", "delta=0.01"] {
        assert!(text.contains(words), "{words} in {text}");
    }
}

#[test]
fn a_limit_that_keeps_components_out_is_said() {
    let folder = Folder::new();
    folder.ok("generate ofab --k 8 --d 2 --n 3000 --seed 3 -o data.csv");
    for kind in ["gmm", "mppca", "dpmm"] {
        let said = folder.ok(&format!("fit data.csv -m {kind} --set max-components=3 -o model.bay --json"));
        assert!(said.stderr.contains("held; max-components=3 keeps out more), log-score"), "{kind}: {}", said.stderr);
        assert!(json(&said.stdout)["full_at"].as_u64().is_some_and(|row| row <= 3000), "{kind}: {}", said.stdout);
        let text = folder.ok("inspect model.bay").stdout;
        assert!(text.contains("held while learning; max-components=3 keeps out more)"), "{kind}: {text}");
        let model = json(&folder.ok("inspect model.bay --json").stdout);
        assert!(model["full_at"].as_u64().is_some(), "{kind}");
        assert!(model["events"].as_array().unwrap().iter().any(|event| event["event"] == "full"), "{kind}");

        let said = folder.ok(&format!("fit data.csv -m {kind} -o model.bay --json"));
        assert!(!said.stderr.contains("max-components"), "{kind}: {}", said.stderr);
        assert_eq!(json(&said.stdout).get("full_at"), None, "{kind}");
        assert!(!folder.ok("inspect model.bay").stdout.contains("keeps out"), "{kind}");
    }
}

#[test]
fn columns_that_count_are_named() {
    let folder = Folder::new();
    let rows: String = (0..300).map(|i| format!("{},{}\n", 1000 + 3 * i, i * 37 % 101)).collect();
    folder.write("log.csv", format!("time,level\n{rows}"));
    for kind in ["gmm", "mppca", "dpmm"] {
        let said = folder.ok(&format!("fit log.csv -m {kind} -o model.bay --json"));
        assert!(said.stderr.contains("time counts along the rows"), "{kind}: {}", said.stderr);
        let inspected = folder.ok("inspect model.bay --json").stdout;
        for document in [&said.stdout, &inspected] {
            assert_eq!(json(document)["counting"], serde_json::json!(["time"]), "{kind}: {document}");
        }
        assert!(folder.ok("inspect model.bay").stdout.contains("time counts along the rows"), "{kind}");
    }
    folder.write("level.csv", format!("level\n{}", rows.lines().map(|l| format!("{}\n", &l[5..])).collect::<String>()));
    let said = folder.ok("fit level.csv -o model.bay --json");
    assert_eq!(json(&said.stdout).get("counting"), None);
    assert!(!said.stderr.contains("along the rows"), "{}", said.stderr);
}

#[test]
fn kinds_to_use_come_before_kinds_to_compare_with() {
    let folder = Folder::new();
    let text = folder.ok("models").stdout;
    let (first, second) = text.split_once("\nto compare with").expect("two lists");
    assert!(first.starts_with("to use\n"), "{first}");
    let first_words: Vec<&str> = first.lines().skip(1).filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(first_words[..3], ["gmm/ofab", "mppca/ofab", "gmm/dp"]);
    for kind in json(&folder.ok("models --json").stdout)["models"].as_array().unwrap() {
        let (name, alias) = (kind["name"].as_str().unwrap(), kind["alias"].as_str());
        let listed = if kind["use"] == true { first } else { second };
        assert!(listed.lines().any(|line| line.split_whitespace().next() == Some(name)), "{name} in {listed}");
        assert!(alias.is_none() || kind["use"] == true, "{name}");
    }
}

#[test]
fn models_and_fit_print_one_document() {
    let folder = Folder::new();
    let document = json(&folder.ok("models --json").stdout);
    let models = document["models"].as_array().unwrap();
    for name in ["gmm/ofab", "mppca/ofab", "gmm/fab", "mppca/fab"] {
        let model = models.iter().find(|model| model["name"] == name).unwrap();
        assert!(model["settings"].as_array().unwrap().iter().any(|setting| setting["name"] == "delta"));
    }
    // With two headings and an empty line.
    assert_eq!(folder.ok("models").stdout.lines().count(), models.len() + 3);
    assert!(folder.ok("models --settings").stdout.contains("delta=auto"));

    folder.write("data.csv", csv(&lines(800, 26)));
    let fit = folder.ok("fit data.csv -o model.bay --json --quiet");
    assert_eq!(fit.stderr, "");
    let summary = json(&fit.stdout);
    assert_eq!((&summary["n_learnt"], &summary["kind"]), (&Value::from(800), &Value::from("gmm/ofab")));
    let fit = folder.ok("fit data.csv -o model.bay");
    assert_eq!(fit.stdout, "");
    assert!(fit.stderr.contains("800 rows"), "{}", fit.stderr);
}

#[test]
fn shards_merge_in_any_order() {
    let folder = Folder::new();
    let rows = lines(4000, 27);
    folder.write("a.csv", csv(&rows[..2000]));
    folder.write("b.csv", csv(&rows[2000..]));
    folder.ok("fit a.csv -o a.bay --shard 1");
    folder.ok("fit b.csv -o b.bay --shard 2");
    folder.ok("merge a.bay b.bay -o ab.bay");
    folder.ok("merge b.bay a.bay -o ba.bay");
    assert_eq!(folder.read("ab.bay"), folder.read("ba.bay"));
    let merged = json(&folder.ok("inspect ab.bay --json").stdout);
    assert_eq!((&merged["n_seen"], &merged["k_realized"]), (&Value::from(4000), &Value::from(3)));
}

#[test]
fn samples_and_pictures_come_from_the_model() {
    let folder = Folder::new();
    folder.write("data.csv", csv(&lines(2000, 28)));
    folder.ok("fit data.csv -o model.bay");
    let sample = folder.ok("sample model.bay -n 700 --seed 5 --to csv").stdout;
    assert_eq!(sample.lines().count(), 701);
    assert!(sample.starts_with(HEADER));
    assert_eq!(folder.ok("sample model.bay -n 700 --seed 5 --to csv").stdout, sample);
    assert_ne!(folder.ok("sample model.bay -n 700 --seed 6 --to csv").stdout, sample);
    folder.write("sample.csv", sample);
    folder.ok("score model.bay sample.csv");

    for (file, magic) in [("p.svg", &b"<svg"[..]), ("p.png", b"\x89PNG"), ("p.html", b"<!DOCTYPE html>")] {
        folder.ok(&format!("plot model.bay data.csv -o {file}"));
        assert!(folder.read(file).starts_with(magic), "{file}");
        folder.ok(&format!("plot model.bay -o {file} --columns height,depth"));
        folder.ok(&format!("plot model.bay data.csv -o {file} --columns width"));
    }
    folder.run("plot model.bay -o p.svg --columns hight").complains(2, &["`hight`", "height"]);
}

#[test]
fn missing_cells_are_filled_and_others_stay() {
    let folder = Folder::new();
    let mut rows = lines(2000, 29);
    folder.write("data.csv", csv(&rows));
    folder.ok("fit data.csv -o model.bay");
    // In the third cluster, at -4, 7, 9, the first and the last cell tell the middle one.
    rows[5] = "-4,,9\n".to_string();
    folder.write("holes.csv", csv(&rows));
    let filled = folder.ok("impute model.bay holes.csv --to csv");
    assert!(filled.stderr.contains("1 cell filled"), "{}", filled.stderr);
    for (ix, (out, row)) in filled.stdout.lines().skip(1).zip(&rows).enumerate() {
        let cells: Vec<f64> = out.split(',').map(|cell| cell.parse().unwrap()).collect();
        if ix == 5 {
            // A component's own noise has a standard deviation below one; its mean is known to far better.
            assert!((cells[1] - 7.0).abs() < 1.0, "{out}");
        } else {
            let before: Vec<f64> = row.trim().split(',').map(|cell| cell.parse().unwrap()).collect();
            assert_eq!(cells, before);
        }
    }
    let with_sd = folder.ok("impute model.bay holes.csv --uncertainty").stdout;
    let row = json(with_sd.lines().nth(5).unwrap());
    assert!(row["width_sd"].as_f64().unwrap() > 0.0 && row["height_sd"].is_null());
    assert_eq!(with_sd.lines().count(), rows.len());
}

#[test]
fn generated_data_comes_with_its_truth() {
    let folder = Folder::new();
    folder.ok("generate ofab --covariance aat --k 4 --d 3 --n 3000 --seed 7 -o data.csv --truth truth.json");
    let text = String::from_utf8(folder.read("data.csv")).unwrap();
    assert_eq!((text.lines().next(), text.lines().count()), (Some("x1,x2,x3"), 3001));
    let truth = json(&String::from_utf8(folder.read("truth.json")).unwrap());
    assert_eq!(truth["components"].as_array().unwrap().len(), 4);
    assert_eq!(truth["components"][3]["covariance"][2].as_array().unwrap().len(), 3);
    for name in ["sorted", "drift-abrupt", "drift-gradual", "mppca", "student", "letters"] {
        folder.ok(&format!("generate {name} -n 500 --seed 2 -o {name}.csv --truth {name}.json --labels"));
        let text = String::from_utf8(folder.read(&format!("{name}.csv"))).unwrap();
        assert!(text.lines().next().unwrap().ends_with(",component"), "{name}");
        json(&String::from_utf8(folder.read(&format!("{name}.json"))).unwrap());
    }
}

#[test]
fn experiments_are_listed_and_unknown_ones_refused() {
    let folder = Folder::new();
    assert!(folder.ok("reproduce").stdout.contains("ofab/table1"));
    folder.run("reproduce ofab/tabel1").complains(2, &["did you mean `ofab/table1`"]);
    folder.run("reproduce ofab/table1 --seeds x").complains(2, &["0..10"]);
    folder.run("reproduce ofab/shuttle").complains(1, &["--data"]);
}

#[test]
fn the_demo_ends_with_commands_that_work() {
    let folder = Folder::new();
    let demo = folder.ok("demo --out shown");
    assert!(demo.stderr.is_empty(), "no bar without a terminal: {}", demo.stderr);
    let commands: Vec<&str> = demo.stdout.lines().filter_map(|line| line.trim().strip_prefix("bayestream ")).collect();
    assert_eq!(commands.len(), 3, "{}", demo.stdout);
    for command in commands {
        folder.ok(command);
    }
    let report = String::from_utf8(folder.read("shown/report.html")).unwrap();
    assert_eq!(report.matches("<figure>").count(), 6);
    assert!(!report.contains("http://") || report.contains("http://www.w3.org/2000/svg"));
    assert!(!report.contains("src=") && !report.contains("<script"), "the page needs nothing else");
    assert_eq!(folder.n_seen("shown/model.bay"), Some(60_000));
}
