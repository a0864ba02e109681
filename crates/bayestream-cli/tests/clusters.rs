//! Clusters on the command line: heavy tails take several components, and are one cluster each.

mod common;

use common::Folder;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error} in {text}"))
}

/// A model of four heavy-tailed clusters, their rows, and how many clusters and components were found.
fn heavy_tails() -> (Folder, usize, usize, String) {
    let folder = Folder::new();
    let mut rows = "a,b\n".to_string();
    // Radii of t(3) by their quantiles, at angles that fill the circle: an even net, no random numbers needed.
    for ix in 0..4000 {
        let nth = f64::from(ix / 4);
        let (u, turn) = ((nth * 2f64.sqrt()).fract(), (nth * 3f64.sqrt()).fract() * std::f64::consts::TAU);
        let radius = (3.0 * ((1.0 - 0.999 * u).powf(-2.0 / 3.0) - 1.0)).sqrt();
        let (x, y) = (40.0 * f64::from(ix % 2), 40.0 * f64::from(ix / 2 % 2));
        rows += &format!("{},{}\n", x + radius * turn.cos(), y + radius * turn.sin());
    }
    folder.write("data.csv", rows);
    let said = folder.ok("fit data.csv -o model.bay --json");
    let summary = json(&said.stdout);
    let count = |field: &str| summary[field].as_u64().unwrap() as usize;
    (folder, count("n_clusters"), count("k_realized"), said.stderr)
}

#[test]
fn fit_and_inspect_say_clusters_beside_components() {
    let (folder, n_clusters, k, said) = heavy_tails();
    assert!(n_clusters >= 4 && k >= 2 * n_clusters, "{n_clusters} clusters of {k} components");
    assert!(said.contains(&format!(": {n_clusters} clusters of {k} components (")), "{said}");
    let text = folder.ok("inspect model.bay").stdout;
    assert!(text.contains(&format!("clusters    {n_clusters} of {k} components")), "{text}");
    assert!(text.lines().any(|line| line.split_whitespace().take(3).eq(["id", "cluster", "weight"])), "{text}");

    let model = json(&folder.ok("inspect model.bay --json").stdout);
    let clusters = model["clusters"].as_array().unwrap();
    assert_eq!(clusters.len(), n_clusters);
    // A handful of rows far from all others may be a cluster of their own.
    let is_large = |cluster: &&Value| cluster["weight"].as_f64().unwrap() > 0.01;
    assert_eq!(clusters.iter().filter(is_large).count(), 4);
    let mut of = BTreeMap::new();
    for cluster in clusters {
        assert!(cluster["components"].as_array().unwrap().contains(&cluster["id"]));
        for component in cluster["components"].as_array().unwrap() {
            of.insert(component.as_str().unwrap(), &cluster["id"]);
        }
    }
    let components = model["components"].as_array().unwrap();
    assert_eq!(of.len(), components.len());
    assert!(components.iter().all(|c| *of[c["id"].as_str().unwrap()] == c["cluster"]));
    let total: f64 = clusters.iter().map(|c| c["weight"].as_f64().unwrap()).sum();
    assert!((total - 1.0).abs() < 1e-9);
}

#[test]
fn scores_name_the_cluster_in_every_format() {
    let (folder, ..) = heavy_tails();
    let lines = folder.ok("score model.bay data.csv").stdout;
    let found: Vec<String> = lines.lines().map(|line| json(line)["cluster"].as_str().unwrap().to_string()).collect();
    // Rows are dealt out to the clusters in turn; few lie so far out that another is nearer.
    for place in 0..4 {
        let of_place = || found.iter().skip(place).step_by(4);
        let most = of_place().filter(|id| **id == found[place]).count();
        assert!(most > 980, "{most} of 1,000 rows of cluster {place}");
    }
    assert_eq!(found.iter().take(4).collect::<BTreeSet<_>>().len(), 4);

    folder.ok("score model.bay data.csv -o scores.csv");
    let table = String::from_utf8(folder.read("scores.csv")).unwrap();
    let place = table.lines().next().unwrap().split(',').position(|name| name == "cluster").unwrap();
    assert!(table.lines().skip(1).zip(&found).all(|(line, id)| line.split(',').nth(place) == Some(id)));
    folder.ok("score model.bay data.csv -o scores.parquet");
    let names = String::from_utf8_lossy(&folder.read("scores.parquet")).into_owned();
    assert!(names.contains("cluster") && names.contains("responsibility"));
}

#[test]
fn a_watched_stream_has_clusters_and_resuming_does_not_change_them() {
    let (folder, ..) = heavy_tails();
    let rows = String::from_utf8(folder.read("data.csv")).unwrap();
    let half = rows.lines().take(2201).collect::<Vec<_>>().join("\n") + "\n";
    let rest = rows.lines().take(1).chain(rows.lines().skip(2201)).collect::<Vec<_>>().join("\n") + "\n";
    folder.write("half.csv", half);
    folder.write("rest.csv", rest);
    let cluster = |lines: &str| -> Vec<Value> { lines.lines().map(|line| json(line)["cluster"].clone()).collect() };
    let whole = cluster(&folder.ok("watch data.csv --batch 50").stdout);
    let mut parts = cluster(&folder.ok("watch half.csv --batch 50 --checkpoint half.bay").stdout);
    parts.extend(cluster(&folder.ok("watch rest.csv --batch 50 --model half.bay").stdout));
    assert_eq!(parts, whole);
    assert!(whole[0].is_null() && whole[3999].is_string());
}
