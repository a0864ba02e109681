//! Bands around the numbers of `papers/ofab.md` and `papers/asugs.md`: few of each table's own seeds, so that a change for the worse shows
//! before the tables are made anew.

use bayestream::data::Batch;
use bayestream::metrics::{adjusted_rand_index, kl_divergence_within};
use bayestream::model::{Config, Kind, Model, Settings};
use bayestream::structure::Snapshot;
use bayestream::synthetic::{AbruptDrift, Covariance, MppcaTruth, Truth, grid_truth, ofab_truth};

fn model(kind: Kind, d: usize, seed: u64) -> Model {
    let columns = (1..=d).map(|j| format!("x{j}")).collect();
    Model::new(Config { seed, settings: Settings::default(), ..Config::new(kind, columns) }).unwrap()
}

fn feed(model: &mut Model, rows: &[f64], batch: usize) {
    let d = model.columns().len();
    for rows in rows.chunks(batch * d) {
        model.update(&Batch::new(rows, d).unwrap()).unwrap();
    }
}

/// The divergence over the limit P/2N.
fn ratio(truth: &Truth, n_free: f64, snapshot: &Snapshot, n_rows: usize, seed: u64) -> f64 {
    let found = kl_divergence_within(truth, snapshot, 0.1, 1 << 17, seed ^ 0x6576_616c_0000_0000);
    found.mean / (n_free / (2 * n_rows) as f64)
}

/// `ofab/table1`: K exact and the divergence near the limit after 5,000 batches.
fn table_1(k: usize, d: usize, batch: usize, seed: u64) {
    let truth = ofab_truth(k, d, Covariance::Aat, seed);
    let n_rows = 5000 * batch;
    let (rows, _) = truth.sample(n_rows, seed);
    let mut model = model(Kind::GmmOfab, d, seed);
    feed(&mut model, &rows, batch);
    let snapshot = model.snapshot();
    assert_eq!(snapshot.k_realized(), k, "({k}, {d}), batches of {batch}, seed {seed}");
    let ratio = ratio(&truth, truth.n_free(), &snapshot, n_rows, seed);
    // P KL/limit is about a chi-square with P degrees of freedom, so a run of maximum likelihood lies within
    // 1 ± 5 √(2/P); the engine may add a tenth.
    let most = 1.1 + 5.0 * (2.0 / truth.n_free()).sqrt();
    assert!(ratio <= most, "({k}, {d}), batches of {batch}, seed {seed}: {ratio} times the limit, at most {most}");
}

#[test]
fn table_1_ten_components_in_three_columns() {
    table_1(10, 3, 10, 1000);
    table_1(10, 3, 50, 1001);
}

#[test]
fn table_1_ten_components_in_ten_columns() {
    table_1(10, 10, 10, 1000);
}

#[test]
fn table_1_thirty_components_in_ten_columns() {
    table_1(30, 10, 10, 1001);
}

/// `ofab/drift`: 3, 3 and 4 components at the ends of the segments.
#[test]
fn drift_finds_the_components_of_every_segment() {
    for seed in [2000, 2001] {
        let drift = AbruptDrift::new(Covariance::Aat, seed);
        let (rows, _) = drift.sample(seed);
        let mut model = model(Kind::GmmOfab, 3, seed);
        let mut found = Vec::new();
        for segment in &drift.segments {
            let cells = segment.batches.start * drift.batch * 3..segment.batches.end * drift.batch * 3;
            feed(&mut model, &rows[cells], drift.batch);
            found.push(model.snapshot().k_realized());
        }
        assert_eq!(found, [3, 3, 4], "seed {seed}");
    }
}

/// `ofab/mppca`: five components, their dimensions, and the divergence near the limit.
#[test]
fn mppca_finds_components_and_dimensions() {
    let (seed, n_rows) = (4000, 30_000);
    let planted = MppcaTruth::new(10, &[1, 2, 3, 5, 7], seed);
    let (rows, _) = planted.truth.sample(n_rows, seed);
    let mut model = model(Kind::MppcaOfab, 10, seed);
    feed(&mut model, &rows, 10);
    let snapshot = model.snapshot();
    let mut dims: Vec<Option<usize>> = snapshot.components.iter().map(|c| c.latent_dim).collect();
    dims.sort_unstable();
    assert_eq!(dims, [1, 2, 3, 5, 7].map(Some));
    let ratio = ratio(&planted.truth, planted.n_free(), &snapshot, n_rows, seed);
    let most = 1.1 + 5.0 * (2.0 / planted.n_free()).sqrt();
    assert!(ratio <= most, "{ratio} times the limit, at most {most}");
}

/// `asugs/table`: K exact and the divergence within what the page says is wanted.
#[test]
fn dirichlet_process_mixtures_find_two_cells_of_table_1() {
    for (k, d, batch, seed, most) in [(10, 3, 10, 9301, 0.03), (30, 10, 50, 9300, 0.06)] {
        let truth = ofab_truth(k, d, Covariance::Aat, seed);
        let mut model = model(Kind::GmmDp, d, seed);
        feed(&mut model, &truth.sample(20_000, seed).0, batch);
        let snapshot = model.snapshot();
        assert_eq!(snapshot.k_realized(), k, "({k}, {d})");
        let kl = kl_divergence_within(&truth, &snapshot, 0.1, 1 << 17, seed ^ 0x6576_616c_0000_0000).mean;
        assert!(kl <= most, "({k}, {d}): {kl}");
    }
}

/// `asugs/orders`: all rows of a class, then all of the next. In the random mixture some classes overlap, and the first
/// rows of one are taken for another.
#[test]
fn dirichlet_process_mixtures_tell_sorted_classes_apart() {
    let random = |seed| ofab_truth(10, 3, Covariance::Aat, seed);
    for (truth, n_rows, k, seed) in [(grid_truth(4, 1.0, 0.025), 4000, 16, 9300), (random(9301), 10_000, 10, 9301)] {
        let (rows, labels) = truth.sample_sorted(n_rows, seed);
        let mut model = model(Kind::GmmDp, truth.n_columns(), seed);
        feed(&mut model, &rows, 50);
        let snapshot = model.snapshot();
        let mut scores = Vec::new();
        snapshot.scorer().score(&rows, &mut scores);
        let found: Vec<_> = scores.iter().map(|s| s.component).collect();
        let ari = adjusted_rand_index(&found, &labels);
        assert!(snapshot.k_realized() == k && ari >= 0.97, "{} {ari}", snapshot.k_realized());
    }
}

/// `asugs/drift`: with a memory of 250 rows the components are those of the segment.
#[test]
fn dirichlet_process_mixtures_forget_when_asked() {
    let drift = AbruptDrift::new(Covariance::Aat, 9300);
    let (rows, _) = drift.sample(9300);
    let columns = (1..=3).map(|j| format!("x{j}")).collect();
    let settings = Settings { memory: Some(250.0), ..Settings::default() };
    let mut model = Model::new(Config { seed: 9300, settings, ..Config::new(Kind::GmmDp, columns) }).unwrap();
    let mut found = Vec::new();
    for segment in &drift.segments {
        let cells = segment.batches.start * drift.batch * 3..segment.batches.end * drift.batch * 3;
        feed(&mut model, &rows[cells], drift.batch);
        found.push(model.snapshot().k_realized());
    }
    assert_eq!(found, [3, 3, 4]);
}
