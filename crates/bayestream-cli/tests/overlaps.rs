//! Outputs that are inputs, or each other: refused before the first byte, however the file is named.

mod common;

use common::{Folder, csv, lines};
use std::fs;

/// Rows, documents, labelled rows, and models of each sort.
fn with_models() -> Folder {
    let folder = Folder::new();
    folder.write("a.csv", csv(&lines(600, 51)));
    let row = |(ix, line): (usize, &String)| format!("{},{}\n", line.trim(), ["oak", "ash"][ix % 2]);
    let labelled: String = lines(300, 52).iter().enumerate().map(row).collect();
    folder.write("labelled.csv", "height,width,depth,kind\n".to_string() + &labelled);
    let message = |ix: usize| format!("{{\"text\":\"oven{} goal{} guitar\"}}\n", ix % 3, ix % 5);
    folder.write("texts.ndjson", (0..300).map(message).collect::<String>());
    folder.write("words.txt", "oven\ngoal\n");
    folder.ok("fit a.csv -o m.bay");
    folder.ok("fit a.csv -o n.bay --shard 1");
    folder.ok("fit a.csv -m lfm -o f.bay");
    folder.ok("fit texts.ndjson -m topics -o t.bay");
    folder.ok("fit labelled.csv -m classify/pa --label-column kind -o l.bay");
    folder
}

fn contents(folder: &Folder) -> Vec<(String, Vec<u8>)> {
    let mut all: Vec<(String, Vec<u8>)> = fs::read_dir(folder.path(""))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_file())
        .map(|path| (path.file_name().unwrap().to_str().unwrap().to_string(), fs::read(&path).unwrap()))
        .collect();
    all.sort();
    all
}

#[test]
fn no_command_writes_over_what_it_reads() {
    let folder = with_models();
    let before = contents(&folder);
    let cases = [
        // The command, the output and what it would destroy.
        ("fit a.csv -o a.csv", "a.csv (-o)", "a.csv (INPUT)"),
        ("fit a.csv -o a.csv --force", "a.csv (-o)", "a.csv (INPUT)"),
        ("fit a.csv -o x.bay --checkpoint ./a.csv", "./a.csv (--checkpoint)", "a.csv (INPUT)"),
        ("fit a.csv -m lfm -o a.csv", "a.csv (-o)", "a.csv (INPUT)"),
        ("fit texts.ndjson -m topics -o texts.ndjson", "texts.ndjson (-o)", "texts.ndjson (INPUT)"),
        (
            "fit texts.ndjson -m topics --vocabulary words.txt -o words.txt",
            "words.txt (-o)",
            "words.txt (--vocabulary)",
        ),
        ("fit labelled.csv -m classify/pa --label-column kind -o labelled.csv", "labelled.csv (-o)", "(INPUT)"),
        ("fit labelled.csv a.csv -o a.csv", "a.csv (-o)", "a.csv (INPUT)"),
        ("fit a.csv --resume m.bay -o a.csv", "a.csv (-o)", "a.csv (INPUT)"),
        ("fit a.csv -o x.bay --checkpoint x.bay", "x.bay (--checkpoint)", "x.bay (-o)"),
        ("score m.bay a.csv -o a.csv", "a.csv (-o)", "a.csv (INPUT)"),
        ("score m.bay a.csv -o m.bay --to csv", "m.bay (-o)", "m.bay (MODEL)"),
        ("score f.bay a.csv -o a.csv", "a.csv (-o)", "a.csv (INPUT)"),
        ("score t.bay texts.ndjson -o texts.ndjson", "texts.ndjson (-o)", "texts.ndjson (INPUT)"),
        ("score l.bay labelled.csv -o labelled.csv", "labelled.csv (-o)", "labelled.csv (INPUT)"),
        ("watch a.csv -o a.csv", "a.csv (-o)", "a.csv (INPUT)"),
        ("watch a.csv --checkpoint a.csv", "a.csv (--checkpoint)", "a.csv (INPUT)"),
        ("watch a.csv --checkpoint s.bay -o s.bay --to csv", "s.bay (--checkpoint)", "s.bay (-o)"),
        ("watch a.csv --model m.bay -o m.bay --to csv", "m.bay (-o)", "m.bay (--model)"),
        ("watch a.csv --checkpoint s.bay -o s.bay.scores --to csv", "s.bay.scores", "s.bay.scores (-o)"),
        ("impute m.bay a.csv -o a.csv", "a.csv (-o)", "a.csv (INPUT)"),
        ("impute f.bay a.csv -o a.csv", "a.csv (-o)", "a.csv (INPUT)"),
        ("sample m.bay -n 3 -o m.bay --to csv", "m.bay (-o)", "m.bay (MODEL)"),
        ("merge m.bay n.bay -o n.bay", "n.bay (-o)", "n.bay (MODEL)"),
        ("generate ofab -n 9 -o x.json --truth ./x.json", "./x.json (--truth)", "x.json (-o)"),
    ];
    for (command, output, lost) in cases {
        folder.run(command).complains(2, &[output, lost, "same file", "nothing was written"]);
        assert_eq!(contents(&folder), before, "{command}");
    }
}

#[test]
fn pictures_are_not_drawn_over_data() {
    let folder = with_models();
    folder.ok("watch a.csv -o scores.csv");
    for (copy, of) in [("model.svg", "m.bay"), ("data.svg", "a.csv"), ("scores.svg", "scores.csv")] {
        folder.write(copy, folder.read(of));
    }
    for command in [
        "plot model.svg -o model.svg",
        "plot m.bay data.svg --format csv -o data.svg",
        "plot --scores scores.svg --format csv -o scores.svg",
        "compare data.svg --format csv --plot data.svg",
        "compare a.csv --test data.svg --format csv --plot data.svg",
    ] {
        folder.run(command).complains(2, &["same file", "nothing was written"]);
    }
    assert_eq!(folder.read("model.svg"), folder.read("m.bay"));
    assert_eq!(folder.read("data.svg"), folder.read("a.csv"));
    assert_eq!(folder.read("scores.svg"), folder.read("scores.csv"));
}

#[test]
fn a_model_may_be_replaced_by_what_it_becomes() {
    let folder = with_models();
    folder.ok("fit a.csv --resume m.bay -o m.bay");
    assert_eq!(folder.n_seen("m.bay"), Some(1200));
    folder.ok("fit a.csv --resume m.bay -o new.bay --checkpoint m.bay");
    folder.ok("watch a.csv --checkpoint s.bay -o scores.csv");
    folder.ok("watch a.csv --model s.bay --checkpoint s.bay -o scores.csv");
    assert_eq!(folder.n_seen("s.bay"), Some(1200));
}

#[cfg(unix)]
#[test]
fn links_do_not_hide_a_file() {
    use std::os::unix::fs::symlink;
    let folder = with_models();
    symlink("a.csv", folder.path("soft.csv")).unwrap();
    fs::hard_link(folder.path("a.csv"), folder.path("hard.csv")).unwrap();
    fs::create_dir(folder.path("sub")).unwrap();
    symlink("..", folder.path("sub/up")).unwrap();
    symlink("to-come.csv", folder.path("dangling.csv")).unwrap();
    let before = folder.read("a.csv");
    for output in ["soft.csv", "hard.csv", "sub/../a.csv", "sub/up/a.csv", "./a.csv"] {
        folder.run(&format!("score m.bay a.csv -o {output}")).complains(2, &[output, "a.csv (INPUT)"]);
        folder.run(&format!("fit {output} -o a.csv")).complains(2, &[output, "a.csv (-o)"]);
    }
    folder.run("generate ofab -n 9 -o dangling.csv --truth to-come.csv").complains(2, &["to-come.csv", "dangling.csv"]);
    assert_eq!(folder.read("a.csv"), before);
}

#[cfg(unix)]
#[test]
fn what_a_shell_connects_is_seen_too() {
    use std::process::{Command, Stdio};
    let folder = with_models();
    let before = folder.read("a.csv");
    let run = |line: &str| {
        let line = format!("{} {line}", env!("CARGO_BIN_EXE_bayestream"));
        let command = Command::new("sh").args(["-c", &line]).current_dir(folder.path("")).stdin(Stdio::null()).output();
        common::Finished::from(command.unwrap())
    };
    run("score m.bay - -o a.csv < a.csv").complains(2, &["a.csv (-o)", "standard input (INPUT)"]);
    run("score m.bay a.csv >> a.csv").complains(2, &["standard output (-o)", "a.csv (INPUT)"]);
    assert_eq!(folder.read("a.csv"), before);
    // Devices and pipes may be both.
    run("fit - -o /dev/null --checkpoint /dev/null < a.csv").complains(0, &["600 rows"]);
    let piped = run("score m.bay - --to csv -o /dev/stdout < a.csv | head -n 2");
    assert!(piped.stdout.starts_with("row,log_density,"), "{}", piped.stdout);
    run("watch a.csv -o /dev/stdout --to csv > out.csv").complains(0, &["600 rows"]);
    assert_eq!(String::from_utf8(folder.read("out.csv")).unwrap().lines().count(), 601);
}

#[cfg(unix)]
#[test]
fn a_link_as_output_stays_a_link() {
    use std::os::unix::fs::symlink;
    let folder = with_models();
    fs::create_dir(folder.path("real")).unwrap();
    let outputs = [
        ("model.bay", "fit a.csv -o model.bay"),
        ("scores.csv", "score m.bay a.csv -o scores.csv"),
        ("watched.csv", "watch a.csv -o watched.csv"),
        ("rows.parquet", "sample m.bay -n 7 -o rows.parquet"),
        ("picture.svg", "plot m.bay -o picture.svg"),
    ];
    for (name, command) in outputs {
        symlink(format!("real/{name}"), folder.path(name)).unwrap();
        // First to a file that is not there yet, then over it.
        for round in 0..2 {
            folder.ok(command);
            let is_link = fs::symlink_metadata(folder.path(name)).unwrap().is_symlink();
            assert!(is_link && folder.has(&format!("real/{name}")), "{command}, round {round}");
        }
    }
    assert_eq!(fs::read_dir(folder.path("real")).unwrap().count(), outputs.len());
    symlink("nowhere/model.bay", folder.path("lost.bay")).unwrap();
    folder.run("fit a.csv -o lost.bay").complains(1, &["lost.bay", "folder does not exist"]);
}

#[test]
fn what_is_no_model_is_not_replaced_by_one_unless_forced() {
    let folder = with_models();
    folder.write("notes.txt", "what was there before");
    folder.write("empty.bay", "");
    for command in [
        "fit a.csv -o notes.txt",
        "fit texts.ndjson -m topics -o notes.txt",
        "fit labelled.csv -m classify/pa --label-column kind -o notes.txt",
        "fit a.csv -o x.bay --checkpoint notes.txt",
        "watch a.csv --checkpoint notes.txt",
        "merge m.bay n.bay -o notes.txt",
    ] {
        folder.run(command).complains(2, &["notes.txt", "no model", "--force"]);
        assert_eq!(folder.read("notes.txt"), b"what was there before", "{command}");
    }
    assert!(!folder.has("x.bay"));
    folder.ok("fit a.csv -o empty.bay");
    folder.ok("fit a.csv -o empty.bay");
    folder.write("damaged.bay", &folder.read("m.bay")[..100]);
    folder.ok("fit a.csv -o damaged.bay");
    for command in [
        "fit a.csv -o notes.txt --force",
        "watch a.csv --checkpoint notes.txt --force",
        "merge m.bay n.bay -o notes.txt --force",
    ] {
        folder.write("notes.txt", "what was there before");
        folder.ok(command);
        assert!(folder.n_seen("notes.txt").is_some(), "{command}");
    }
}
