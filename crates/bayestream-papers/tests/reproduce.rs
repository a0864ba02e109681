//! Experiments from the outside: files, pages, errors, threads.

use bayestream_papers::{EXPERIMENTS, Options, Report, ReproduceError, reproduce};
use std::fs;
use std::path::Path;

fn run(name: &str, out_dir: &Path, seeds: &[u64], n_threads: usize) -> (Result<Report, ReproduceError>, Vec<String>) {
    let mut lines = Vec::new();
    let result = reproduce(
        name,
        &mut Options {
            data_dir: None,
            out_dir: out_dir.to_path_buf(),
            seeds: Some(seeds.to_vec()),
            n_threads,
            with_batch: false,
            export: false,
            progress: &mut |line| lines.push(line.to_string()),
        },
    );
    (result, lines)
}

#[test]
fn names_are_unique_and_of_the_form_paper_experiment() {
    for (ix, experiment) in EXPERIMENTS.iter().enumerate() {
        assert_eq!(experiment.name.split('/').count(), 2);
        assert!(EXPERIMENTS[..ix].iter().all(|other| other.name != experiment.name));
    }
}

#[test]
fn an_unknown_name_is_refused_with_the_known_ones() {
    let folder = tempfile::tempdir().unwrap();
    let error = run("ofab/tabel1", folder.path(), &[], 1).0.unwrap_err();
    assert_eq!(error.code(), "unknown-experiment");
    assert!(error.to_string().contains("ofab/table1"));
}

#[test]
fn missing_data_is_an_error_when_asked_for_by_name() {
    let folder = tempfile::tempdir().unwrap();
    for experiment in EXPERIMENTS.iter().filter(|e| e.needs_data) {
        let error = run(experiment.name, folder.path(), &[], 1).0.unwrap_err();
        assert_eq!(error.code(), "no-data-folder");
        assert!(error.to_string().contains(experiment.name));
    }
}

#[test]
fn tables_reach_files_and_the_paper_s_page_whatever_the_number_of_threads() {
    let (one, many) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let page = "# Paper\n\n<!-- begin ofab/letters -->\n<!-- end ofab/letters -->\n\nThe end.\n";
    for (folder, n_threads) in [(&one, 1), (&many, 3)] {
        fs::write(folder.path().join("ofab.md"), page).unwrap();
        let (report, lines) = run("ofab/letters", &folder.path().join("figures"), &[3, 4], n_threads);
        assert_eq!(lines.len(), 20);
        let report = report.unwrap();
        assert_eq!(report.experiments.len(), 1);
        let names: Vec<String> =
            report.experiments[0].files.iter().map(|f| f.file_name().unwrap().to_string_lossy().into_owned()).collect();
        let figures = ["", "-strust", "-svb", "-sda"].map(|of| format!("ofab-letters-strokes{of}.svg"));
        assert_eq!(names[..2], ["ofab-letters.md", "ofab-letters.csv"]);
        assert_eq!((&names[2..6], names[6].as_str(), names.len()), (&figures[..], "ofab.md", 7));
        let page = fs::read_to_string(folder.path().join("ofab.md")).unwrap();
        assert!(page.contains("| sequential | off |") && page.ends_with("The end.\n"));
        assert!(page.contains("(figures/ofab-letters-strokes.svg)"));
    }
    for file in ["figures/ofab-letters.md", "figures/ofab-letters.csv", "figures/ofab-letters-strokes.svg", "ofab.md"] {
        assert_eq!(fs::read(one.path().join(file)).unwrap(), fs::read(many.path().join(file)).unwrap(), "{file}");
    }
}

#[test]
fn sequential_mixtures_fill_their_part_of_a_page_whatever_the_number_of_threads() {
    let (one, many) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let page = "# Paper\n\n<!-- begin asugs/classes -->\n<!-- end asugs/classes -->\n\n<!-- begin asugs/drift -->\n\
                <!-- end asugs/drift -->\n\nThe end.\n";
    for (folder, n_threads) in [(&one, 1), (&many, 3)] {
        fs::write(folder.path().join("asugs.md"), page).unwrap();
        for name in ["asugs/classes", "asugs/drift"] {
            let (report, lines) = run(name, &folder.path().join("figures"), &[3, 4], n_threads);
            assert!(!lines.is_empty());
            assert_eq!(report.unwrap().experiments.len(), 1);
        }
        let page = fs::read_to_string(folder.path().join("asugs.md")).unwrap();
        assert!(page.contains("| dpmm | `gmm/dp` |") && page.contains("| dpmm | all |"));
        assert!(page.contains("(figures/asugs-classes-stream.svg)") && page.ends_with("The end.\n"));
    }
    let files = ["asugs-classes.csv", "asugs-classes-priors.csv", "asugs-classes-stream.svg", "asugs-drift.csv"];
    for file in files.map(|file| format!("figures/{file}")) {
        assert_eq!(fs::read(one.path().join(&file)).unwrap(), fs::read(many.path().join(&file)).unwrap(), "{file}");
    }
}
