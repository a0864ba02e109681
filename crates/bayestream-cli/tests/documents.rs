//! Documents on the command line: text in, topics out.

mod common;

use common::Folder;
use serde_json::Value;

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error} in {text}"))
}

const THEMES: [&str; 3] = ["oven", "goal", "guitar"];
/// Words of a theme, and of a message.
const OF_THEME: u64 = 20;
const LENGTH: usize = 40;

/// Messages of three themes, taking turns.
fn messages(n: usize) -> Vec<String> {
    let message = |i: usize| {
        let mut state = (i as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(1);
        let word = |_| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            format!("{}{}", THEMES[i % 3], char::from(b'a' + ((state >> 40) % OF_THEME) as u8))
        };
        (0..LENGTH).map(word).collect::<Vec<_>>().join(" ")
    };
    (0..n).map(message).collect()
}

fn ndjson(texts: &[String]) -> String {
    texts.iter().enumerate().map(|(i, text)| format!("{{\"id\":\"m{i}\",\"text\":\"{text}\"}}\n")).collect()
}

#[test]
fn topics_are_learnt_shown_scored_and_drawn() {
    let folder = Folder::new();
    folder.write("m.ndjson", ndjson(&messages(900)));
    let told = folder.ok("fit m.ndjson -m topics -o t.bay --json");
    let summary = json(&told.stdout);
    assert_eq!(
        (&summary["kind"], &summary["n_seen"], &summary["n_words"]),
        (&"topics/mm-hdp".into(), &900.into(), &60.into())
    );
    let shown = json(&folder.ok("inspect t.bay --json").stdout);
    let topics = shown["topics"].as_array().unwrap();
    assert_eq!(topics.len(), 3, "{topics:?}");
    for topic in topics {
        let words: Vec<&str> =
            topic["top_words"].as_array().unwrap().iter().map(|w| w["word"].as_str().unwrap()).collect();
        let theme = THEMES.iter().find(|theme| words[0].starts_with(**theme)).unwrap();
        assert!(words.iter().all(|word| word.starts_with(theme)), "{words:?}");
    }
    let people = folder.ok("inspect t.bay").stdout;
    assert!(people.contains("topics      3") && people.contains("stem=none"), "{people}");
    let scores = folder.ok("score t.bay m.ndjson --id-column id").stdout;
    assert_eq!(scores.lines().count(), 900);
    let (first, fourth) = (json(scores.lines().next().unwrap()), json(scores.lines().nth(3).unwrap()));
    assert_eq!((&first["row"], &first["id"], &first["n_words"]), (&1.into(), &"m0".into(), &40.into()));
    assert_eq!(first["component"], fourth["component"]);
    assert!(first["responsibility"].as_f64().unwrap() > 0.5 && first["topics"][0]["share"].is_f64(), "{first}");
    let per_word = first["log_likelihood_per_word"].as_f64().unwrap();
    assert!(
        (40.0 * per_word - first["log_likelihood"].as_f64().unwrap()).abs() < 1e-9 && per_word > -3.5,
        "{per_word}"
    );
    let table = folder.ok("score t.bay m.ndjson --to csv").stdout;
    assert!(
        table.starts_with(
            "row,log_likelihood,log_likelihood_per_word,n_words,n_unknown,component,responsibility,topics"
        )
    );
    for picture in ["t.svg", "t.html"] {
        folder.ok(&format!("plot t.bay -o {picture}"));
        let drawn = String::from_utf8(folder.read(picture)).unwrap();
        assert!(drawn.contains("Topic sizes over time") && drawn.contains("guitar"), "{picture}");
    }
}

#[test]
fn the_same_documents_make_the_same_model_however_they_come() {
    let folder = Folder::new();
    let texts = messages(700);
    folder.write("m.ndjson", ndjson(&texts));
    folder.write("m.txt", texts.join("\n") + "\n");
    folder.write("m.csv", "id,text\n".to_string() + &texts.iter().map(|t| format!("1,{t}\n")).collect::<String>());
    let tokens: String =
        texts.iter().map(|t| format!("{{\"tokens\":{:?}}}\n", t.split(' ').collect::<Vec<_>>())).collect();
    folder.write("m2.ndjson", tokens);
    folder.ok("fit m.ndjson -m topics -o one.bay --seed 5");
    for other in ["m.txt", "m.csv", "m2.ndjson"] {
        folder.ok(&format!("fit {other} -m topics -o other.bay --seed 5"));
        assert!(folder.read("other.bay") == folder.read("one.bay"), "{other}");
    }
    let piped = folder.run_with_input("fit - -m topics -o pipe.bay --seed 5 --format text", &(texts.join("\n") + "\n"));
    assert_eq!(piped.code, 0, "{}", piped.stderr);
    assert!(folder.read("pipe.bay") == folder.read("one.bay"));
    folder.write("a.txt", texts[..400].join("\n") + "\n");
    folder.write("b.txt", texts[400..].join("\n") + "\n");
    folder.ok("fit a.txt -m topics -o part.bay --seed 5 --batch 100");
    folder.ok("fit b.txt --resume part.bay -o part.bay --batch 100");
    folder.ok("fit m.txt -m topics -o whole.bay --seed 5 --batch 100");
    assert!(folder.read("part.bay") == folder.read("whole.bay"));
}

#[test]
fn settings_of_text_are_kept_in_the_model() {
    let folder = Folder::new();
    folder.write("m.txt", "The Cats are running\n".repeat(400) + &"dogs ran\n".repeat(400));
    folder.ok("fit m.txt -m topics --set stop=english --set stem=english -o t.bay");
    let shown = json(&folder.ok("inspect t.bay --json").stdout);
    assert_eq!(shown["settings"]["stem"], "english");
    folder.write("new.txt", "the cat runs with a unicorn\n");
    let score = json(folder.ok("score t.bay new.txt").stdout.trim());
    assert_eq!((&score["n_words"], &score["n_unknown"]), (&2.into(), &1.into()), "{score}");
}

#[test]
fn topics_of_stop_words_are_remarked_on() {
    let folder = Folder::new();
    folder.write("m.txt", "the cat is in the house and it was there before she came to us\n".repeat(300));
    let remark = "begin again with --set stop=english";
    let plain = folder.ok("fit m.txt -m topics -o t.bay").stderr;
    assert!(plain.contains(remark), "{plain}");
    let without = folder.ok("fit m.txt -m topics --set stop=english -o t.bay").stderr;
    assert!(!without.contains(remark), "{without}");
    folder.write("n.txt", messages(300).join("\n") + "\n");
    let other = folder.ok("fit n.txt -m topics -o t.bay").stderr;
    assert!(!other.contains(remark), "{other}");
}

#[test]
fn counts_with_a_list_of_words_are_documents() {
    let folder = Folder::new();
    folder.write("vocab.txt", "apple\nbanana\ncherry\ndate\n");
    let rows = "{\"terms\":[0,1],\"counts\":[3,2]}\n{\"terms\":[3,2],\"counts\":[4,1]}\n".repeat(300);
    folder.write("bow.ndjson", &rows);
    folder.ok("fit bow.ndjson -m topics --vocabulary vocab.txt -o t.bay");
    let shown = folder.ok("inspect t.bay").stdout;
    assert!(shown.contains("apple") && shown.contains("date"), "{shown}");
    folder.write("bad.ndjson", "{\"terms\":[0,9],\"counts\":[3,2]}\n");
    folder.run("score t.bay bad.ndjson").complains(1, &["bad.ndjson: row 1", "term 9", "--on-error skip"]);
}

#[test]
fn every_kind_of_documents_is_fitted_and_scored() {
    let folder = Folder::new();
    folder.write("m.txt", messages(360).join("\n") + "\n");
    let listed = json(&folder.ok("models --json").stdout);
    let kinds = listed["models"].as_array().unwrap().iter().filter(|kind| kind["reads"] == "documents");
    let names: Vec<&str> = kinds.map(|kind| kind["name"].as_str().unwrap()).collect();
    assert_eq!(names.len(), 12);
    for name in names {
        if name.starts_with("topics/med") {
            folder.run(&format!("fit m.txt -m {name} -o k.bay")).complains(2, &["--label-column"]);
            continue;
        }
        folder.ok(&format!("fit m.txt -m {name} -o k.bay"));
        let shown = json(&folder.ok("inspect k.bay --json").stdout);
        assert_eq!(shown["kind"], name);
        assert!(!shown["topics"].as_array().unwrap().is_empty(), "{name}");
        let scores = folder.ok("score k.bay m.txt").stdout;
        let mean: f64 =
            scores.lines().map(|line| json(line)["log_likelihood_per_word"].as_f64().unwrap()).sum::<f64>() / 360.0;
        // A model that knows the themes is not far from ln 20, one that does not from ln 60.
        assert!(mean > -3.2, "{name}: {mean}");
    }
}

#[test]
fn shards_of_documents_are_merged_and_sorts_are_not_mixed() {
    let folder = Folder::new();
    let texts = messages(900);
    folder.write("a.txt", texts[..450].join("\n") + "\n");
    folder.write("b.txt", texts[450..].join("\n") + "\n");
    folder.ok("fit a.txt -m topics --shard 1 -o a.bay");
    folder.ok("fit b.txt -m topics --shard 2 -o b.bay");
    folder.ok("merge a.bay b.bay -o ab.bay");
    folder.ok("merge b.bay a.bay -o ba.bay");
    assert!(folder.read("ab.bay") == folder.read("ba.bay"));
    let shown = json(&folder.ok("inspect ab.bay --json").stdout);
    assert_eq!((&shown["n_seen"], shown["topics"].as_array().unwrap().len()), (&900.into(), 3));
    for kind in ["naive-bayes/bmm", "lda/bmm"] {
        folder.ok(&format!("fit a.txt -m {kind} --shard 1 -o c.bay"));
        folder.ok(&format!("fit b.txt -m {kind} --shard 2 -o d.bay"));
        folder.ok("merge c.bay d.bay -o cd.bay");
        assert_eq!(folder.n_seen("cd.bay"), Some(900), "{kind}");
    }
    folder.ok("fit a.txt -m naive-bayes/bmm --set variant=paper -o p.bay");
    folder.run("merge p.bay p.bay -o x.bay").complains(1, &["variant=paper"]);
    folder.ok("fit a.txt -m naive-bayes/em -o e.bay");
    folder.run("merge e.bay e.bay -o x.bay").complains(1, &["naive-bayes/bmm instead"]);
    folder.write("rows.csv", common::csv(&common::lines(600, 3)));
    folder.ok("fit rows.csv -o rows.bay");
    folder.run("merge rows.bay a.bay -o x.bay").complains(1, &["cannot be merged"]);
    folder.run("sample a.bay -n 3").complains(1, &["learns from documents"]);
    folder.run("watch a.txt -m topics").complains(2, &["learns from documents"]);
    folder.run("fit rows.csv -m topisc -o x.bay").complains(2, &["did you mean `topics`"]);
}

#[test]
fn bad_documents_are_named_and_nothing_is_lost() {
    let folder = Folder::new();
    folder.write("latin.txt", [b"fine words here\n".as_slice(), b"caf\xe9 au lait\n"].concat());
    folder.run("fit latin.txt -m topics -o t.bay").complains(1, &["latin.txt", "byte", "--lossy"]);
    assert!(!folder.has("t.bay"));
    folder.ok("fit latin.txt -m topics -o t.bay --lossy");
    folder.ok("fit latin.txt -m topics -o t.bay --on-error skip");
    assert_eq!(folder.n_seen("t.bay"), Some(1));
    folder.run("fit latin.txt -m topics --set stem=klingon -o x.bay").complains(2, &["klingon"]);
    folder.write("empty.txt", "\n\n \n");
    folder.ok("fit empty.txt -m topics -o e.bay --lossy");
    assert_eq!(folder.n_seen("e.bay"), Some(3));
    folder.write("same.txt", "word ".repeat(1_000_000) + "\n");
    folder.ok("fit same.txt -m topics -o s.bay");
    folder.write("control.txt", "one\u{0}two\u{7}three\n".repeat(300));
    folder.ok("fit control.txt -m topics -o c.bay");
    assert_eq!(json(&folder.ok("inspect c.bay --json").stdout)["n_words"], 3);
    folder.write("long.txt", "x".repeat(3 << 20) + "\n");
    folder.run("fit long.txt -m topics -o l.bay --longest-line 2").complains(1, &["long.txt", "line"]);
    let many: String = (0..5000).map(|i| format!("w{i}a common thing\n")).collect();
    folder.write("many.txt", many);
    folder.ok("fit many.txt -m topics -o m.bay --set max-words=100");
    assert!(json(&folder.ok("inspect m.bay --json").stdout)["n_words"].as_u64().unwrap() <= 100);
}

#[test]
fn the_demo_of_topics_finds_the_new_theme_soon_after_it_began() {
    let folder = Folder::new();
    let told = folder.ok("demo topics --out d").stdout;
    assert!(told.contains("eclipse"), "{told}");
    let line = told.lines().find(|line| line.contains("was born at message")).unwrap_or_else(|| panic!("{told}"));
    let born: u64 = line.rsplit(' ').next().unwrap().replace(',', "").parse().unwrap();
    assert!((3000..3600).contains(&born), "{line}");
    assert!(String::from_utf8(folder.read("d/topics.html")).unwrap().contains("was born at message"));
    folder.ok("inspect d/topics.bay");
    folder.ok("score d/topics.bay d/messages.ndjson -o d/scores.csv");
    folder.ok("plot d/topics.bay -o d/topics.svg");
}

/// A label is a label though its documents have no words: nothing speaks for it, and nothing breaks.
#[test]
fn labelled_documents_without_words_are_learnt_scored_and_shown() {
    let folder = Folder::new();
    let line = |text: &str, label: &str| format!("{{\"text\":\"{text}\",\"label\":\"{label}\"}}\n");
    let empty = line("", "wet") + &line("!!! 12", "dry") + &line("", "");
    let mixed: String = messages(90).iter().map(|text| line(text, &text[..2])).collect();
    folder.write("empty.ndjson", &empty);
    folder.write("mixed.ndjson", mixed + &empty);
    let labelled = bayestream::model::DOCUMENT_KINDS.iter().map(|info| (info.name, info.kind.takes_labels()));
    let linear = bayestream::model::LINEAR_KINDS.iter().map(|info| (info.name, true));
    for (kind, takes_labels) in labelled.chain(linear) {
        for file in ["empty.ndjson", "mixed.ndjson"] {
            folder.ok(&format!("fit {file} -m {kind} --text-column text --label-column label -o m.bay"));
            folder.ok("inspect m.bay --json");
            folder.ok("inspect m.bay");
            let scores = folder.ok("score m.bay empty.ndjson --text-column text").stdout;
            for line in scores.lines() {
                let row = json(line);
                assert_eq!(row["label"].is_string(), takes_labels, "{kind} {file}: {row}");
                let listed = row["scores"].as_array().map_or(0, Vec::len);
                let n_labels = if file == "empty.ndjson" { 2 } else { 5 };
                assert!(!takes_labels || listed == n_labels, "{kind} {file}: {row}");
            }
            assert_eq!(scores.lines().count(), 3, "{kind}");
        }
    }
}
