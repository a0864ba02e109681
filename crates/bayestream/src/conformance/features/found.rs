//! Whether what is in the rows is found.

use super::subject::{FeatureSubject, estimation_error, mean_log_density};
use crate::conformance::rows::RowSubject;
use crate::conformance::stream::SEED;
use crate::structure::{ComponentId, Feature, FeatureReader, FeatureSet};
use crate::synthetic::PlantedFeatures;

/// The truth as a model of its own.
fn truth_set(planted: &PlantedFeatures) -> FeatureSet {
    let feature = |(serial, weights): (usize, &Vec<f64>)| Feature {
        id: ComponentId { shard: 0, serial: serial as u32 },
        share: planted.share,
        weights: weights.clone(),
    };
    FeatureSet {
        offset: planted.offset.clone(),
        noise: vec![planted.noise * planted.noise; planted.n_columns()],
        unseen: vec![planted.noise * planted.noise; planted.n_columns()],
        features: planted.weights.iter().enumerate().map(feature).collect(),
    }
}

/// The cosine of two features; one that is there when the other is not has the opposite sign and says the same.
fn likeness(a: &[f64], b: &[f64]) -> f64 {
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    dot(a, b).abs() / (dot(a, a) * dot(b, b)).sqrt()
}

fn planted_features(subject: &FeatureSubject, truth: &PlantedFeatures, n: usize) -> Result<(), String> {
    let d = truth.n_columns();
    let model = subject.fit(&truth.rows(0, n), d, SEED + 130)?;
    let found = model.snapshot().set.features;
    subject.holds(found.len() == truth.n_features(), || {
        format!("{} features are found where {} were planted", found.len(), truth.n_features())
    })?;
    for (at, weights) in truth.weights.iter().enumerate() {
        let best = found.iter().map(|f| likeness(&f.weights, weights)).fold(0.0, f64::max);
        subject.holds(best > 0.98, || format!("feature {at} is found with likeness {best}"))?;
    }
    let fresh = truth.rows(70_000, 2000);
    let mut reader = FeatureReader::new(truth_set(truth));
    let exact = fresh.chunks(d).map(|row| reader.read(row).log_density).sum::<f64>() / 2000.0;
    let loss = exact - mean_log_density(&model, &fresh);
    // An average over time knows less than all rows; and 2,000 fresh rows are a sample.
    let most = 3.0 * estimation_error(truth, n) + 0.01;
    subject.holds(loss < most, || format!("{loss} nats are lost to the truth; {most} may be"))
}

pub(super) fn planted(subject: &FeatureSubject) -> Result<(), String> {
    planted_features(subject, &super::subject::planted(SEED + 130), 3000)?;
    planted_features(subject, &PlantedFeatures::blocks(SEED + 131), 3000)
}

pub(super) fn noise_alone(subject: &FeatureSubject) -> Result<(), String> {
    let noise = PlantedFeatures::gaussian(6, 0, SEED + 132);
    let model = subject.fit(&noise.rows(0, 2000), 6, SEED + 132)?;
    let k = model.snapshot().k_realized();
    subject.holds(k == 0, || format!("{k} features are found in noise"))?;
    subject.ensure_sound(&model, &noise.rows(9000, 50), "of noise")
}

pub(super) fn density_integrates(subject: &FeatureSubject) -> Result<(), String> {
    let mut truth = PlantedFeatures::gaussian(1, 0, SEED + 133);
    truth.weights = vec![vec![9.0], vec![30.0]];
    let model = subject.fit(&truth.rows(0, 1500), 1, SEED + 133)?;
    let set = model.snapshot().set;
    let reach: f64 = set.features.iter().map(|f| f.weights[0].abs()).sum::<f64>() + 12.0 * set.noise[0].sqrt();
    let mut reader = FeatureReader::new(set.clone());
    let n = 40_000;
    let step = 2.0 * reach / f64::from(n);
    let at = |i: i32| set.offset[0] - reach + step * (f64::from(i) + 0.5);
    let total: f64 = (0..n).map(|i| reader.read(&[at(i)]).log_density.exp() * step).sum();
    subject.holds((total - 1.0).abs() < 1e-5, || format!("the density adds up to {total}"))
}

pub(super) fn hidden_cells(subject: &FeatureSubject) -> Result<(), String> {
    let truth = super::subject::planted(SEED + 134);
    let d = truth.n_columns();
    let model = subject.fit(&truth.rows(0, 2000), d, SEED + 134)?;
    let mut scorer = model.scorer();
    let (mut squares, mut spread, mut n) = (0.0, 0.0, 0.0);
    let fresh = truth.rows(80_000, 2000);
    for (at, row) in fresh.chunks(d).enumerate() {
        let hidden = at % d;
        let (mut holed, mut sd) = (row.to_vec(), Vec::new());
        holed[hidden] = f64::NAN;
        scorer.fill(&mut holed, &mut sd);
        let z = (holed[hidden] - row[hidden]) / sd[hidden];
        squares += z * z;
        spread += sd[hidden];
        n += 1.0;
    }
    // Squares in units of the deviations have mean one and, for mixtures of normals, a variance of a few.
    let mean = squares / n;
    subject
        .holds((mean - 1.0).abs() < 0.25, || format!("errors are {mean} times the variance they are said to have"))?;
    // Columns share features: what is said of a cell must be narrower than the column itself.
    let columns: f64 = (0..d)
        .map(|j| {
            truth.noise.powi(2)
                + truth.weights.iter().map(|w| truth.share * (1.0 - truth.share) * w[j] * w[j]).sum::<f64>()
        })
        .map(f64::sqrt)
        .sum::<f64>()
        / d as f64;
    subject.holds(spread / n < 0.9 * columns, || format!("deviations are {} on average, columns {columns}", spread / n))
}
