//! Every fault has a message that says what, where and what to do, and leaves what was there before.

mod common;

use common::{Folder, csv, lines, number};
use std::fs::File;

/// A folder with good rows and a model of them.
fn with_model() -> Folder {
    let folder = Folder::new();
    folder.write("good.csv", csv(&lines(1200, 5)));
    folder.ok("fit good.csv -o model.bay --batch 100");
    folder
}

#[test]
fn inputs_that_cannot_be_learnt_from_name_the_place_and_write_nothing() {
    let folder = Folder::new();
    let mut bad_rows = lines(700, 6);
    let mut with_row = |row: &str| {
        bad_rows[620] = row.to_string();
        csv(&bad_rows)
    };
    let cases: [(&str, String, &[&str]); 7] = [
        ("empty.csv", String::new(), &["empty.csv", "empty"]),
        ("header.csv", common::HEADER.to_string(), &["header.csv", "no rows"]),
        ("ragged.csv", with_row("1,2\n"), &["ragged.csv: row 621", "2 cells", "--on-error skip"]),
        ("text.csv", with_row("1,tall,3\n"), &["text.csv: row 621", "`width`", "`tall`", "--on-error skip"]),
        ("infinite.csv", with_row("1,2,inf\n"), &["infinite.csv: row 621", "`depth`", "infinite"]),
        ("huge.csv", with_row("1e190,2,3\n"), &["huge.csv: row 621", "`height`", "too large"]),
        ("twice.csv", "a,b,a\n1,2,3\n".to_string(), &["twice.csv", "`a`"]),
    ];
    folder.write("good.csv", csv(&lines(100, 5)));
    folder.ok("fit good.csv -o old.bay");
    let before = folder.read("old.bay");
    for (name, text, says) in cases {
        folder.write(name, text);
        folder.run(&format!("fit {name} -o new.bay --batch 100")).complains(1, says);
        assert!(!folder.has("new.bay"), "{name}");
        folder.run(&format!("fit {name} -o old.bay --batch 100")).complains(1, &["error: "]);
        assert_eq!(folder.read("old.bay"), before, "{name}");
    }
    folder.run("fit absent.csv -o new.bay").complains(1, &["absent.csv", "no such file"]);
    folder
        .run("fit text.csv -o new.bay --batch 100")
        .complains(1, &["600 rows had been learnt", "new.bay was not written"]);
}

#[test]
fn bad_rows_can_be_skipped_and_are_counted() {
    let folder = Folder::new();
    let mut rows = lines(900, 7);
    let good = rows.clone();
    for (at, row) in [(850, "1e190,2,3\n"), (400, "1,2\n"), (30, "1,tall,3\n"), (2, "1,2,-inf\n")] {
        rows.insert(at, row.to_string());
    }
    folder.write("mixed.csv", csv(&rows));
    folder.write("good.csv", csv(&good));
    // One row at a time: then a row that the model itself refuses does not move the borders of the batches.
    let fit = folder.ok("fit mixed.csv -o mixed.bay --on-error skip --batch 1");
    assert!(fit.stderr.contains("4 rows could not be used and were left out"), "{}", fit.stderr);
    folder.ok("fit good.csv -o good.bay --batch 1");
    assert_eq!(folder.read("mixed.bay"), folder.read("good.bay"));
}

#[test]
fn rows_that_the_model_refuses_are_left_out_of_the_scores() {
    let folder = with_model();
    let mut rows = lines(900, 7);
    rows[720] = "1,2e190,3\n".to_string();
    folder.write("huge.csv", csv(&rows));
    for (command, n_kept) in
        [("watch huge.csv --batch 100", 700), ("score model.bay huge.csv", 512), ("watch huge.csv", 720)]
    {
        let stopped = folder.run(command);
        stopped.complains(1, &["huge.csv: row 721", "`width`", "too large", "--on-error skip"]);
        assert_eq!(stopped.stdout.lines().count(), n_kept, "{command}");
        let skipped = folder.ok(&format!("{command} --on-error skip"));
        assert!(skipped.stderr.contains("1 row could not be used"), "{}", skipped.stderr);
        let numbers: Vec<u64> = skipped.stdout.lines().map(|line| number(line, "row") as u64).collect();
        assert_eq!(numbers, (1..=900).filter(|row| *row != 721).collect::<Vec<_>>(), "{command}");
    }
}

#[test]
fn the_last_checkpoint_outlives_a_bad_row() {
    let folder = Folder::new();
    let mut rows = lines(1000, 8);
    rows[770] = "1,2\n".to_string();
    folder.write("bad.csv", csv(&rows));
    let fit = folder.run("fit bad.csv -o model.bay --batch 50 --checkpoint kept.bay --every 200");
    fit.complains(1, &["bad.csv: row 771", "750 rows had been learnt", "kept.bay"]);
    assert!(!folder.has("model.bay"));
    assert_eq!(folder.n_seen("kept.bay"), Some(600));
}

#[test]
fn columns_must_be_those_of_the_model() {
    let folder = with_model();
    folder.write("other.csv", "height,wdith,depth,colour\n1,2,3,4\n5,6,7,8\n");
    let before = folder.read("model.bay");
    for command in ["score model.bay other.csv", "watch other.csv --model model.bay"] {
        folder.run(command).complains(1, &["other.csv", "`width`", "did you mean `wdith`"]);
    }
    folder
        .run("fit other.csv --resume model.bay -o model.bay")
        .complains(1, &["other.csv", "missing: width", "extra: wdith, colour"]);
    folder.write("more.csv", "height,width,depth,colour\n1,2,3,4\n");
    folder.run("fit more.csv --resume model.bay -o model.bay").complains(1, &["extra: colour", "--drop"]);
    assert_eq!(folder.read("model.bay"), before);
    folder.ok("fit more.csv --resume model.bay -o longer.bay --drop colour");
    folder.run("fit good.csv more.csv -o two.bay").complains(1, &["more.csv", "the first input", "extra: colour"]);
}

#[test]
fn a_damaged_model_is_an_error_wherever_it_is_damaged() {
    let folder = with_model();
    let whole = folder.read("model.bay");
    for share in [0.0, 0.001, 0.1, 0.5, 0.9, 0.999] {
        let cut = (whole.len() as f64 * share) as usize;
        folder.write("cut.bay", &whole[..cut]);
        folder.run("inspect cut.bay").complains(1, &["cut.bay"]);
        let mut flipped = whole.clone();
        flipped[cut] ^= 0x10;
        folder.write("flipped.bay", &flipped);
        folder.run("score flipped.bay good.csv").complains(1, &["flipped.bay"]);
        folder.run("fit good.csv --resume flipped.bay -o new.bay").complains(1, &["flipped.bay"]);
        assert!(!folder.has("new.bay"));
    }
    folder.run("inspect good.csv").complains(1, &["good.csv", "not a bayestream model"]);
    folder.write("long.bay", [whole, b"more".to_vec()].concat());
    folder.run("inspect long.bay").complains(1, &["damaged"]);
}

#[test]
fn outputs_that_cannot_be_written_are_found_before_the_work() {
    let folder = with_model();
    folder.run("fit good.csv -o nowhere/model.bay").complains(1, &["nowhere/model.bay", "folder does not exist"]);
    folder
        .run("fit good.csv -o new.bay --checkpoint nowhere/kept.bay")
        .complains(1, &["nowhere/kept.bay", "folder does not exist"]);
    folder.run("watch good.csv --checkpoint nowhere/kept.bay").complains(1, &["nowhere/kept.bay"]);
    folder.run("score model.bay good.csv -o nowhere/scores.csv").complains(1, &["nowhere/scores.csv"]);
    folder.run("sample model.bay -n 3 -o nowhere/rows.csv").complains(1, &["nowhere/rows.csv"]);
    folder.write("other.csv", "a,b\n1,2\n");
    folder.run("plot model.bay other.csv -o picture.svg").complains(1, &["other.csv", "the model needs", "`height`"]);
    folder.run("plot model.bay -o nowhere/picture.svg").complains(1, &["nowhere/picture.svg"]);
    folder.run("score model.bay good.csv -o scores.unknown").complains(2, &["scores.unknown", "--to"]);
    folder.run("plot model.bay -o picture.bmp").complains(2, &["picture.bmp", ".svg"]);
    assert!(!folder.has("new.bay"));
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_told_and_what_was_learnt_is_kept() {
    let folder = with_model();
    let full = || File::options().write(true).open("/dev/full").unwrap();
    for command in
        ["score model.bay good.csv", "inspect model.bay", "inspect model.bay --json", "models", "sample model.bay -n 9"]
    {
        folder.run_into(command, full()).complains(1, &["error: standard output"]);
    }
    let fit = folder.run("fit good.csv -o new.bay --checkpoint /dev/full --every 500 --batch 100");
    fit.complains(1, &["warning: the checkpoint was not saved", "/dev/full", "full"]);
    assert_eq!(folder.read("new.bay"), folder.read("model.bay"));
    let fit = folder.run("fit good.csv -o /dev/full --batch 100");
    fit.complains(1, &["/dev/full", "the model was saved as"]);
    let rescued = fit.stderr.split("saved as ").nth(1).and_then(|rest| rest.split(" instead").next()).unwrap();
    assert_eq!(std::fs::read(rescued).unwrap(), folder.read("model.bay"));
    let watch = folder.run_into("watch good.csv --checkpoint kept.bay --batch 100", full());
    watch.complains(1, &["standard output"]);
}

#[test]
fn wrong_usage_is_told_apart_from_failure_and_suggests_the_nearest() {
    let folder = with_model();
    let cases: [(&str, &[&str]); 14] = [
        ("fit good.csv -m gmm/ofba -o x.bay", &["did you mean `gmm/ofab`"]),
        ("fit good.csv --set detla=0.1 -o x.bay", &["did you mean `delta`"]),
        ("fit good.csv --set delta=7 -o x.bay", &["delta=7", "share in [0, 1)"]),
        ("fit good.csv --set delta -o x.bay", &["NAME=VALUE"]),
        ("fit good.csv --batch 0 -o x.bay", &["--batch"]),
        ("fit good.csv --resume model.bay --set delta=0.1 -o x.bay", &["--set", "fixed"]),
        ("fit good.csv --resume model.bay -m mppca -o x.bay", &["gmm/ofab", "leave -m out"]),
        ("fit good.csv", &["--output"]),
        ("fit good.csv -o x.bay --format exel", &["exel", "csv"]),
        ("watch good.csv --alarm-rate 0", &["--alarm-rate", "above 0 and at most 0.5"]),
        ("watch good.csv --alarm-rate 0.7", &["--alarm-rate", "above 0 and at most 0.5"]),
        ("score model.bay good.csv --alarm-rate often", &["--alarm-rate", "one row in a thousand"]),
        ("generate ofba", &["did you mean `ofab`"]),
        ("generate ofab -n 99999999999999", &["-n 99999999999999", "at most"]),
    ];
    for (command, says) in cases {
        folder.run(command).complains(2, says);
    }
    assert!(!folder.has("x.bay"));
    folder.run("inspct model.bay").complains(2, &["inspect"]);
    folder.run("fit good.csv -o x.bay --columns heigth").complains(1, &["did you mean `height`"]);
}

#[test]
fn models_without_rows_and_models_that_differ_are_refused() {
    let folder = with_model();
    folder.ok("fit good.csv -o other.bay -m mppca");
    folder.run("merge model.bay other.bay -o both.bay").complains(1, &["kind", "gmm/ofab", "mppca/ofab"]);
    assert!(!folder.has("both.bay"));
    folder.run("merge model.bay -o both.bay").complains(2, &["MODEL"]);
    folder.run("merge model.bay absent.bay -o both.bay").complains(1, &["absent.bay"]);
}
