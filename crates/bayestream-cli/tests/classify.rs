//! Topics that tell labels, on the command line.

mod common;

use bayestream::num;
use common::Folder;
use serde_json::Value;

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error} in {text}"))
}

const THEMES: [&str; 3] = ["oven", "goal", "guitar"];

/// Messages of three themes, some of whose words all themes have.
fn message(row: usize) -> (usize, String) {
    let mut rng = num::stream(16, 0, row as u64);
    let theme = rng.below(3);
    let word = |_| {
        let stem = if rng.uniform() < 0.6 { THEMES[theme] } else { "the" };
        format!("{stem}{}", char::from(b'a' + rng.below(20) as u8))
    };
    (theme, (0..25).map(word).collect::<Vec<_>>().join(" "))
}

/// The label of every tenth is missing; `places` has one or two labels.
fn messages(n: usize) -> String {
    let line = |row: usize| {
        let (theme, text) = message(row);
        let label = if row % 10 == 9 { "" } else { THEMES[theme] };
        let also = if theme == 2 { ",\"loud\"" } else { "" };
        format!(
            "{{\"id\":\"m{row}\",\"text\":\"{text}\",\"theme\":\"{label}\",\"places\":[\"{}\"{also}]}}\n",
            THEMES[theme]
        )
    };
    (0..n).map(line).collect()
}

fn told(scores: &str) -> Vec<Value> {
    scores.lines().map(json).collect()
}

#[test]
fn labels_are_learnt_shown_told_and_drawn() {
    let folder = Folder::new();
    folder.write("m.ndjson", messages(1500));
    for kind in ["classify", "topics/medlda-ave", "topics/medhdp-gibbs", "topics/medhdp-ave"] {
        let fitted = folder.ok(&format!(
            "fit m.ndjson -m {kind} --label-column theme --set batch-size=100 -o l.bay --json --threads 2"
        ));
        let summary = json(&fitted.stdout);
        assert_eq!((&summary["n_seen"], &summary["labels"]["n_labels"]), (&1500.into(), &3.into()), "{kind}");
        assert!(summary["labels"]["accuracy"].as_f64().unwrap() > 0.85, "{kind}: {summary}");
        assert!(fitted.stderr.contains("150 documents had no label"), "{}", fitted.stderr);
        let shown = json(&folder.ok("inspect l.bay --json").stdout);
        let labels = shown["labels"].as_array().unwrap();
        assert_eq!(labels.len(), 3);
        for label in labels {
            // The heaviest topic of a label is made of its words, and speaks for it.
            let heaviest = &label["topics"][0];
            let topic = shown["topics"].as_array().unwrap().iter().find(|t| t["id"] == heaviest["id"]).unwrap();
            let word = topic["top_words"][0]["word"].as_str().unwrap();
            assert!(word.starts_with(label["label"].as_str().unwrap()), "{kind}: {word} {label}");
            assert!(heaviest["weight"].as_f64().unwrap() > 0.0);
            assert!(topic["labels"][0]["label"] == label["label"], "{topic}");
            assert!(label["course"].as_array().unwrap().len() >= 3, "{label}");
        }
        let people = folder.ok("inspect l.bay").stdout;
        assert!(people.contains("judged before they were learnt") && people.contains("speaks for"), "{people}");
        folder
            .write("new.ndjson", messages(1700).lines().skip(1500).map(|line| format!("{line}\n")).collect::<String>());
        let scores = told(&folder.ok("score l.bay new.ndjson --id-column id").stdout);
        let right = scores.iter().enumerate().filter(|(at, s)| s["label"] == THEMES[message(1500 + at).0]).count();
        assert!(right > 180, "{kind}: {right} of 200");
        let first = &scores[0];
        assert_eq!(first["scores"].as_array().unwrap().len(), 3);
        assert_eq!(first["scores"][0]["label"], first["label"]);
        let reason = first["reasons"][0]["feature"].as_str().unwrap();
        assert!(reason.starts_with(first["label"].as_str().unwrap()), "{first}");
        assert!(first["margin"].as_f64().unwrap() > 0.0);
    }
    for picture in ["l.svg", "l.html"] {
        folder.ok(&format!("plot l.bay -o {picture}"));
        assert!(String::from_utf8(folder.read(picture)).unwrap().contains("Topics of each label"), "{picture}");
    }
    let table = folder.ok("score l.bay m.ndjson --to csv").stdout;
    assert!(table.lines().next().unwrap().ends_with("topics,label,margin,scores,reasons"), "{table}");
}

#[test]
fn several_labels_are_told_by_their_margins() {
    let folder = Folder::new();
    folder.write("m.ndjson", messages(1200));
    folder.ok("fit m.ndjson -m classify --label-column places --set batch-size=100 -o l.bay");
    let scores = told(&folder.ok("score l.bay m.ndjson").stdout);
    let right = scores.iter().enumerate().filter(|(at, score)| {
        let mut labels: Vec<&str> = score["labels"].as_array().unwrap().iter().map(|l| l.as_str().unwrap()).collect();
        labels.sort_unstable();
        let theme = message(*at).0;
        labels == if theme == 2 { vec![THEMES[2], "loud"] } else { vec![THEMES[theme]] }
    });
    assert!(right.count() > 1000);
}

#[test]
fn threads_and_interruptions_do_not_change_a_byte() {
    let folder = Folder::new();
    folder.write("m.ndjson", messages(700));
    let first: String = messages(700).lines().take(333).map(|line| format!("{line}\n")).collect();
    let rest: String = messages(700).lines().skip(333).map(|line| format!("{line}\n")).collect();
    folder.write("first.ndjson", first);
    folder.write("rest.ndjson", rest);
    let fit = "--label-column theme -m classify --set batch-size=64";
    for n in [1, 2, 8] {
        folder.ok(&format!("fit m.ndjson {fit} -o t{n}.bay --threads {n}"));
    }
    assert_eq!(folder.read("t1.bay"), folder.read("t2.bay"));
    assert_eq!(folder.read("t1.bay"), folder.read("t8.bay"));
    folder.ok(&format!("fit first.ndjson {fit} -o half.bay"));
    folder.ok("fit rest.ndjson --resume half.bay --label-column theme -o whole.bay");
    let (whole, one) = (folder.ok("score whole.bay m.ndjson").stdout, folder.ok("score t1.bay m.ndjson").stdout);
    assert_eq!(whole, one);
}

#[test]
fn shards_of_labelled_documents_merge() {
    let folder = Folder::new();
    let lines: Vec<String> = messages(1200).lines().map(|line| format!("{line}\n")).collect();
    folder.write("a.ndjson", lines[..500].concat());
    folder.write("b.ndjson", lines[500..].concat());
    for (name, shard) in [("a", 0), ("b", 1)] {
        let set = "--label-column theme -m classify --set batch-size=64";
        folder.ok(&format!("fit {name}.ndjson {set} --shard {shard} -o {name}.bay"));
    }
    folder.ok("merge a.bay b.bay -o both.bay");
    folder.write("m.ndjson", lines.concat());
    let scores = told(&folder.ok("score both.bay m.ndjson").stdout);
    let right = scores.iter().enumerate().filter(|(at, s)| s["label"] == THEMES[message(*at).0]).count();
    assert!(right > 1100, "{right} of 1200");
}

#[test]
fn bad_labels_get_a_clear_answer() {
    let folder = Folder::new();
    folder.write("m.ndjson", messages(60));
    // No label column named, and one that is not there.
    folder.run("fit m.ndjson -m classify -o l.bay").complains(2, &["--label-column", "-m topics"]);
    folder.run("fit m.ndjson -m classify --label-column topic -o l.bay").complains(1, &["topic", "theme"]);
    // A column of names taken for labels.
    folder
        .run("fit m.ndjson -m classify --label-column id --set max-labels=40 -o l.bay")
        .complains(1, &["row 41", "m40", "max-labels"]);
    assert!(!folder.has("l.bay"));
    // All of one class, a label seen once, labels that contradict each other, documents without words: no harm.
    let one = |text: &str, label: &str| format!("{{\"text\":\"{text}\",\"label\":\"{label}\"}}\n");
    let same: String = (0..80).map(|i| one(&message(i).1, "only")).collect();
    let once: String = (0..80).map(|i| one(&message(i).1, if i == 40 { "rare" } else { "usual" })).collect();
    let turns: String = (0..80).map(|i| one("the same words again", ["yes", "no"][i % 2])).collect();
    let empty: String =
        (0..80).map(|i| one(if i % 2 == 0 { "" } else { "some words here" }, ["a", "b"][i % 2])).collect();
    for (name, text, n_labels) in [("same", same, 1), ("once", once, 2), ("turns", turns, 2), ("empty", empty, 2)] {
        folder.write(&format!("{name}.ndjson"), text);
        let summary =
            json(&folder.ok(&format!("fit {name}.ndjson -m classify --label-column label -o l.bay --json")).stdout);
        assert_eq!(summary["labels"]["n_labels"], n_labels, "{name}");
        // Words that were never learnt say nothing.
        folder.write("new.ndjson", "{\"text\":\"xylophone zeppelin\"}\n{\"text\":\"\"}\n");
        let scores = told(&folder.ok("score l.bay new.ndjson").stdout);
        assert!(scores.iter().all(|s| s["label"].is_string() && s["margin"].is_f64()), "{name}: {scores:?}");
        assert_eq!(scores[0]["n_unknown"], 2, "{name}");
    }
}
