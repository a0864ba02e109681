//! Laws of clusters: sets of components that belong together.

use bayestream::data::Batch;
use bayestream::metrics::adjusted_rand_index;
use bayestream::model::{Config, Kind, Model};
use bayestream::num;
use bayestream::structure::{Cluster, Clustering, Component, ComponentId, EventLog, LogScore, Snapshot};
use bayestream::synthetic::{StudentTruth, Truth};

fn id(serial: u32) -> ComponentId {
    ComponentId { shard: 0, serial }
}

fn component(serial: u32, weight: f64, mean: &[f64], covariance: Vec<f64>) -> Component {
    Component {
        id: id(serial),
        weight,
        count: 1000.0 * weight,
        mean: mean.to_vec(),
        covariance,
        latent_dim: None,
        basis: None,
    }
}

fn round(d: usize, sd: f64) -> Vec<f64> {
    (0..d * d).map(|at| if at % (d + 1) == 0 { sd * sd } else { 0.0 }).collect()
}

fn snapshot(components: Vec<Component>) -> Snapshot {
    Snapshot {
        n_seen: 1000,
        columns: (0..components[0].mean.len()).map(|j| format!("x{j}")).collect(),
        k_implemented: components.len(),
        components,
        pool: None,
        log_score: LogScore::default(),
        events: EventLog::default(),
    }
}

/// Components strewn over a few columns, some of them near one another.
fn strewn(k: usize, d: usize, seed: u64) -> Snapshot {
    let mut rng = num::stream(seed, 0, 0);
    let components = (0..k).map(|serial| {
        let mean: Vec<f64> = (0..d).map(|_| 3.0 * rng.normal()).collect();
        let root: Vec<f64> = (0..d * d).map(|_| rng.normal() / (d as f64).sqrt()).collect();
        let dot = |i: usize, j: usize| (0..d).map(|r| root[i * d + r] * root[j * d + r]).sum::<f64>();
        let covariance =
            (0..d * d).map(|at| dot(at / d, at % d) + if at % (d + 1) == 0 { 0.05 } else { 0.0 }).collect();
        component(serial as u32, 1.0 / k as f64, &mean, covariance)
    });
    snapshot(components.collect())
}

fn sets(clusters: &[Cluster]) -> Vec<Vec<ComponentId>> {
    let mut sets: Vec<_> = clusters.iter().map(|c| c.components.clone()).collect();
    sets.sort();
    sets
}

#[test]
fn units_and_orders_do_not_matter() {
    for seed in 0..20 {
        let (k, d) = (14, 3);
        let plain = strewn(k, d, seed);
        let expected = plain.clusters();
        assert!(expected.len() > 1 && expected.len() < k, "{} clusters", expected.len());

        let (scale, shift, order) = ([1e-9, 3.0, 1e12], [5e-8, -100.0, 7e13], [2, 0, 1]);
        let mut other = plain.clone();
        for c in &mut other.components {
            let (mean, covariance) = (c.mean.clone(), c.covariance.clone());
            c.mean = order.iter().map(|&j| mean[j] * scale[j] + shift[j]).collect();
            let cell = |a: usize, b: usize| covariance[a * d + b] * scale[a] * scale[b];
            c.covariance = (0..d * d).map(|at| cell(order[at / d], order[at % d])).collect();
        }
        other.components.rotate_left(5);
        other.components.swap(0, 3);
        let found = other.clusters();
        assert_eq!(sets(&found), sets(&expected), "seed {seed}");
        assert!(found.iter().zip(&expected).all(|(a, b)| (a.weight - b.weight).abs() < 1e-12));
    }
}

#[test]
fn a_cluster_has_the_name_of_its_oldest_component_and_weights_add_up_to_one() {
    for seed in 20..30 {
        let clusters = strewn(25, 2, seed).clusters();
        assert!(clusters.iter().all(|c| Some(&c.id) == c.components.iter().min()));
        assert!(clusters.windows(2).all(|pair| pair[0].weight >= pair[1].weight));
        assert!((clusters.iter().map(|c| c.weight).sum::<f64>() - 1.0).abs() < 1e-12);
        let mut members: Vec<_> = clusters.iter().flat_map(|c| c.components.iter().copied()).collect();
        members.sort();
        assert_eq!(members, (0..25).map(id).collect::<Vec<_>>());
    }
}

#[test]
fn one_component_is_one_cluster_and_none_are_none() {
    let one = snapshot(vec![component(7, 1.0, &[3.0, -1.0], round(2, 2.0))]);
    assert_eq!(one.clusters(), [Cluster { id: id(7), components: vec![id(7)], weight: 1.0 }]);
    let none = Snapshot { components: Vec::new(), ..one };
    assert_eq!(none.clusters(), []);
}

#[test]
fn a_halo_joins_its_core() {
    for d in [1, 2, 5, 20] {
        let core = component(3, 0.8, &vec![1.0; d], round(d, 1.0));
        let halo = component(1, 0.2, &vec![1.0; d], round(d, 10.0));
        let clusters = snapshot(vec![core, halo]).clusters();
        assert_eq!(clusters.len(), 1, "{d} columns");
        assert_eq!(clusters[0].components, [id(1), id(3)]);
    }
}

#[test]
fn equal_gaussians_are_two_from_four_standard_deviations_on() {
    let pair = |apart: f64| {
        snapshot(vec![
            component(0, 0.5, &[0.0, 0.0], round(2, 1.0)),
            component(1, 0.5, &[apart * 0.6, apart * 0.8], round(2, 1.0)),
        ])
    };
    for (apart, n) in [(0.0, 1), (3.0, 1), (3.59, 1), (3.61, 2), (4.0, 2), (400.0, 2), (1e9, 2)] {
        assert_eq!(pair(apart).clusters().len(), n, "{apart} standard deviations");
    }
}

#[test]
fn neighbours_in_a_row_do_not_chain() {
    // Each would join the next; ten of them are 27 standard deviations long.
    let row: Vec<Component> = (0..10).map(|k| component(k, 0.1, &[3.0 * f64::from(k)], round(1, 1.0))).collect();
    let n = snapshot(row).clusters().len();
    assert!((4..=6).contains(&n), "{n} clusters");
}

#[test]
fn rows_are_labelled_by_the_cluster_that_is_most_responsible_together() {
    // Two halves of one cluster share a row that a component of another would win alone.
    let parts = vec![
        component(0, 0.4, &[0.0], round(1, 1.0)),
        component(1, 0.3, &[-4.2], round(1, 1.0)),
        component(2, 0.3, &[-4.2], round(1, 1.0)),
    ];
    let snapshot = snapshot(parts);
    let mut scores = Vec::new();
    snapshot.scorer().with_clusters().score(&[-2.1, -9.0, 3.0], &mut scores);
    assert_eq!(scores.iter().map(|s| s.component.unwrap().serial).collect::<Vec<_>>(), [0, 1, 0]);
    assert_eq!(scores.iter().map(|s| s.cluster.unwrap().serial).collect::<Vec<_>>(), [1, 1, 0]);
    snapshot.scorer().score(&[0.0], &mut scores);
    assert_eq!(scores[0].cluster, None);
}

#[test]
fn clusters_are_found_anew_when_components_changed_or_rows_grew_by_a_tenth() {
    let clusters = strewn(10, 3, 1).clusters();
    let known = Clustering::new(&clusters, 10_000, 40);
    assert!(Clustering::default().is_due(1, 3, 5, 1));
    assert!(!known.is_due(10, 3, 10_900, 40));
    assert!(known.is_due(10, 3, 11_001, 40));
    assert!(known.is_due(11, 3, 10_100, 41) && known.is_due(10, 3, 10_100, 42));
    // Not for every row of a stream whose components come and go.
    assert!(!known.is_due(11, 3, 10_020, 41));
    // One that came since is a cluster by itself.
    assert_eq!(known.cluster_of(id(99)), id(99));
}

#[test]
fn a_thousand_components_are_in_reach() {
    let clusters = strewn(1000, 10, 3).clusters();
    assert!((clusters.iter().map(|c| c.weight).sum::<f64>() - 1.0).abs() < 1e-9);
}

/// Six clusters of Student's t with 3 degrees of freedom in 3 columns.
fn heavy_tails(seed: u64) -> StudentTruth {
    let mut rng = num::stream(seed, 1, 0);
    let d = 3;
    let means = (0..6).map(|k| (0..d).map(|j| 14.0 * f64::from((k + j) % 6) + rng.normal()).collect()).collect();
    let base = Truth { weights: vec![1.0 / 6.0; 6], means, covariances: vec![round(d as usize, 1.0); 6] };
    StudentTruth { base, freedom: 3.0 }
}

#[test]
fn heavy_tails_are_one_cluster_each() {
    for seed in 0..3 {
        let (rows, labels) = heavy_tails(seed).sample(10_000, 40_000 + seed);
        let d = 3;
        let columns = (0..d).map(|j| format!("x{j}")).collect();
        let mut model = Model::new(Config { seed, ..Config::new(Kind::GmmOfab, columns) }).unwrap();
        for batch in rows.chunks(100 * d) {
            model.update(&Batch::new(batch, d).unwrap()).unwrap();
        }
        let snapshot = model.snapshot();
        let mut scores = Vec::new();
        for (name, scorer, n) in [
            ("snapshot", snapshot.scorer(), snapshot.clusters().len()),
            ("master", model.scorer(), model.scorer().clusters().len()),
        ] {
            scorer.with_clusters().score(&rows, &mut scores);
            let found: Vec<_> = scores.iter().map(|s| s.cluster).collect();
            let parts: Vec<_> = scores.iter().map(|s| s.component).collect();
            let (ari, before) = (adjusted_rand_index(&found, &labels), adjusted_rand_index(&parts, &labels));
            println!("seed {seed}, {name}: {} components {before:.3}, {n} clusters {ari:.3}", snapshot.k_realized());
            assert!(ari >= 0.9 && ari > before && (5..=8).contains(&n), "{name}: {n} clusters, {ari} after {before}");
        }
        // Those who judge rows say the same.
        let mut verdicts = Vec::new();
        model.judge().judge(&Batch::new(&rows, d).unwrap(), &mut verdicts).unwrap();
        model.scorer().with_clusters().score(&rows, &mut scores);
        assert!(verdicts.iter().zip(&scores).all(|(v, s)| v.cluster == s.cluster));
    }
}
