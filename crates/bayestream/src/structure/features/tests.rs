use super::*;
use crate::num::{LN_2PI, log_sum_exp};

const NONE: f64 = f64::NAN;

/// Features that overlap, with weights of the size of the noise and larger.
fn planted(k: usize, d: usize, seed: u64) -> FeatureSet {
    let mut rng = num::stream(seed, 0, 0);
    let feature = |serial: usize, rng: &mut num::Rng| Feature {
        id: ComponentId { shard: 0, serial: serial as u32 },
        share: 0.1 + 0.6 * rng.uniform(),
        weights: (0..d).map(|_| 2.0 * rng.normal()).collect(),
    };
    let features = (0..k).map(|serial| feature(serial, &mut rng)).collect();
    FeatureSet {
        offset: (0..d).map(|j| 10.0 * j as f64 - 3.0).collect(),
        noise: (0..d).map(|j| 0.5 + 0.25 * j as f64).collect(),
        unseen: (0..d).map(|j| 0.5 + 0.25 * j as f64).collect(),
        features,
    }
}

/// Log-joint of a row with every combination of features, by the definition.
fn log_joints(set: &FeatureSet, row: &[f64]) -> Vec<f64> {
    let one = |bits: usize| {
        let has = |k: usize| bits >> k & 1 == 1;
        let prior: f64 =
            set.features.iter().enumerate().map(|(k, f)| if has(k) { f.share } else { 1.0 - f.share }.ln()).sum();
        let cell = |j: usize| {
            let mean: f64 = set.features.iter().enumerate().filter(|(k, _)| has(*k)).map(|(_, f)| f.weights[j]).sum();
            let off = row[j] - set.offset[j] - mean;
            -0.5 * (LN_2PI + set.noise[j].ln() + off * off / set.noise[j])
        };
        prior + (0..row.len()).filter(|&j| !row[j].is_nan()).map(cell).sum::<f64>()
    };
    (0..1 << set.features.len()).map(one).collect()
}

fn close(a: f64, b: f64, tolerance: f64) -> bool {
    (a - b).abs() <= tolerance * b.abs().max(1.0)
}

#[test]
fn few_features_are_read_exactly_with_cells_missing_too() {
    for (k, d, seed) in [(0, 3, 1), (1, 1, 2), (4, 5, 3), (10, 6, 4)] {
        let set = planted(k, d, seed);
        let mut reader = FeatureReader::new(set.clone());
        for (at, row) in set.sample(40, seed).chunks(d).enumerate() {
            let mut row = row.to_vec();
            if at % 3 == 0 {
                row[at % d] = NONE;
            }
            let joints = log_joints(&set, &row);
            let total = log_sum_exp(&joints);
            let reading = reader.read(&row);
            assert!(close(reading.log_density, total, 1e-11), "{k} features: {} {total}", reading.log_density);
            for (feature, q) in reading.activations.iter().enumerate() {
                let with = joints.iter().enumerate().filter(|(bits, _)| bits >> feature & 1 == 1);
                let expected: f64 = with.map(|(_, joint)| (joint - total).exp()).sum();
                assert!((q - expected).abs() < 1e-9 && (0.0..=1.0).contains(q), "{q} {expected}");
            }
        }
    }
}

#[test]
fn many_features_are_bounded_from_below_and_closely() {
    let (k, d) = (13, 20);
    let set = planted(k, d, 7);
    let mut reader = FeatureReader::new(set.clone());
    let mut gaps = Vec::new();
    for row in set.sample(30, 8).chunks(d) {
        let exact = log_sum_exp(&log_joints(&set, row));
        let (all, fewer) = (reader.read(row).log_density, reader.read_open(row, 3).log_density);
        assert!(all <= exact + 1e-9, "{all} {exact}");
        // More features told together leave less to the mean field.
        assert!(fewer <= all + 1e-9, "{fewer} {all}");
        gaps.push(exact - all);
    }
    gaps.sort_by(f64::total_cmp);
    assert!(gaps[gaps.len() / 2] < 0.05, "{gaps:?}");
}

/// Features that overlap in all columns, more than are told together: the row's own are found, with cells missing too.
#[test]
fn many_overlapping_features_are_told_apart() {
    let set = FeatureSet { noise: vec![0.01; 30], ..planted(20, 30, 81) };
    let mut rng = num::stream(82, 0, 0);
    let mut reader = FeatureReader::new(set.clone());
    let (mut n_right, n) = (0, 200);
    for _ in 0..n {
        let truth: Vec<bool> = set.features.iter().map(|feature| rng.uniform() < feature.share).collect();
        let mut row = set.offset.clone();
        for (feature, _) in set.features.iter().zip(&truth).filter(|(_, has)| **has) {
            row.iter_mut().zip(&feature.weights).for_each(|(x, w)| *x += w);
        }
        row.iter_mut().for_each(|x| *x += 0.1 * rng.normal());
        row.iter_mut().skip(rng.below(7)).step_by(7).for_each(|x| *x = f64::NAN);
        let told: Vec<bool> = reader.read(&row).activations.iter().map(|q| *q > 0.5).collect();
        n_right += usize::from(told == truth);
    }
    assert!(n_right > n * 9 / 10, "{n_right} of {n}");
}

#[test]
fn densities_integrate_to_one() {
    for k in 0..4 {
        let set = planted(k, 1, 20 + k as u64);
        let mut reader = FeatureReader::new(set);
        // Weights are within a few standard deviations of 2, and the offset is −3: ±40 is far beyond every mean.
        let (low, high, n) = (-43.0, 37.0, 8000);
        let step = (high - low) / f64::from(n);
        let total: f64 =
            (0..n).map(|at| reader.read(&[low + step * (f64::from(at) + 0.5)]).log_density.exp() * step).sum();
        assert!((total - 1.0).abs() < 1e-6, "{k} features: {total}");
    }
}

#[test]
fn a_row_without_cells_has_density_one_and_the_shares() {
    for k in [3, 12] {
        let set = planted(k, 4, 30);
        let shares: Vec<f64> = set.features.iter().map(|f| f.share).collect();
        let reading = FeatureReader::new(set).read(&[NONE; 4]);
        assert_eq!((reading.log_density, reading.activations), (0.0, shares));
    }
}

#[test]
fn filled_cells_have_the_moments_of_the_combinations() {
    let set = planted(5, 4, 40);
    let mut reader = FeatureReader::new(set.clone());
    for row in set.sample(30, 41).chunks(4) {
        let mut row = row.to_vec();
        (row[1], row[3]) = (NONE, NONE);
        let joints = log_joints(&set, &row);
        let total = log_sum_exp(&joints);
        let (mut filled, mut sd) = (row.clone(), vec![0.0; 4]);
        reader.fill(&mut filled, &mut sd);
        for j in [1, 3] {
            let (mut first, mut second) = (0.0, 0.0);
            for (bits, joint) in joints.iter().enumerate() {
                let has = set.features.iter().enumerate().filter(|(k, _)| bits >> k & 1 == 1);
                let mean = set.offset[j] + has.map(|(_, f)| f.weights[j]).sum::<f64>();
                first += (joint - total).exp() * mean;
                second += (joint - total).exp() * (set.noise[j] + mean * mean);
            }
            assert!(
                close(filled[j], first, 1e-9) && close(sd[j], (second - first * first).sqrt(), 1e-6),
                "{filled:?} {sd:?}"
            );
        }
        assert_eq!((filled[0], filled[2]), (row[0], row[2]));
        assert!(sd[0].is_nan() && sd[2].is_nan());
    }
    // Without cells, each feature is there by its share, independent of the others.
    let (mut row, mut sd) = ([NONE; 4], [0.0; 4]);
    reader.fill(&mut row, &mut sd);
    for j in 0..4 {
        let mean = set.offset[j] + set.features.iter().map(|f| f.share * f.weights[j]).sum::<f64>();
        let doubt: f64 = set.features.iter().map(|f| f.share * (1.0 - f.share) * f.weights[j].powi(2)).sum();
        assert!(close(row[j], mean, 1e-9) && close(sd[j], (set.noise[j] + doubt).sqrt(), 1e-9));
    }
}

#[test]
fn surprise_is_the_conditional_density_and_spoilt_cells_are_named() {
    let set = planted(4, 6, 50);
    let mut reader = FeatureReader::new(set.clone());
    let (mut n_named, rows) = (0, set.sample(60, 51));
    for (at, row) in rows.chunks(6).enumerate() {
        let mut row = row.to_vec();
        let spoilt = at % 6;
        row[spoilt] += 40.0;
        row[(spoilt + 2) % 6] = NONE;
        let reasons = reader.reasons(&row);
        assert_eq!(reasons.len(), 5);
        n_named += usize::from(reasons[0].column == spoilt && reasons[0].blamed);
        for reason in &reasons {
            let mut with = row.clone();
            let others = reasons.iter().filter(|r| r.blamed && r.column != reason.column);
            others.for_each(|r| with[r.column] = NONE);
            let mut without = with.clone();
            without[reason.column] = NONE;
            let j = reason.column;
            let spread: f64 = set.features.iter().map(|f| f.share * (1.0 - f.share) * f.weights[j].powi(2)).sum();
            let unit = 0.5 * (set.noise[j] + spread).ln();
            let expected = reader.read(&without).log_density - reader.read(&with).log_density - unit;
            assert!(close(reason.surprise, expected, 1e-7), "{reason:?} {expected}");
            assert!((0.0..=1.0).contains(&reason.probability) && reason.observed == row[j]);
        }
    }
    assert!(n_named >= 58, "{n_named}");
    assert!(reader.reasons(&[NONE; 6]).is_empty());
}

#[test]
fn absurd_values_stay_finite() {
    let mut set = planted(12, 3, 60);
    set.noise[1] = 1e-200;
    set.features[0].share = 0.0;
    set.features[1].share = 1.0;
    let mut reader = FeatureReader::new(set);
    for row in [[1e75, -1e75, 0.0], [1.0, 1e75, NONE], [0.0, 0.0, 0.0]] {
        let reading = reader.read(&row);
        assert!(
            reading.log_density.is_finite() && reading.activations.iter().all(|q| (0.0..=1.0).contains(q)),
            "{reading:?}"
        );
        assert!(reader.reasons(&row).iter().all(|r| r.surprise.is_finite() && r.expected.is_finite()));
        let (mut filled, mut sd) = (row, [0.0; 3]);
        reader.fill(&mut filled, &mut sd);
        assert!(filled.iter().all(|v| v.is_finite()));
    }
}

#[test]
fn scores_are_ranked_among_recent_ones() {
    let set = planted(2, 3, 70);
    let log_score = crate::structure::LogScore { prequential_mean: -5.0, n_scored: 3, recent: vec![-1e9, -7.0, 1e9] };
    let mut scorer = FeatureScorer::new(set.clone(), &log_score);
    let score = scorer.score(&set.offset);
    assert_eq!(score.surprise, -7.0 - score.log_density);
    assert_eq!(score.p_value, if score.log_density > -7.0 { 2.5 } else { 1.5 } / 4.0);
    assert_eq!(score.activations.len(), 2);
    let unlearnt = FeatureScorer::new(FeatureSet::default(), &log_score).score(&[]);
    assert!(unlearnt.log_density.is_nan() && unlearnt.p_value.is_nan());
}

#[test]
fn samples_have_the_moments_of_the_set() {
    let set = planted(3, 2, 80);
    let n = 40_000;
    let rows = set.sample(n, 81);
    assert_eq!(rows, set.sample(n, 81));
    for j in 0..2 {
        let mean = set.offset[j] + set.features.iter().map(|f| f.share * f.weights[j]).sum::<f64>();
        let doubt: f64 = set.features.iter().map(|f| f.share * (1.0 - f.share) * f.weights[j].powi(2)).sum();
        let variance = set.noise[j] + doubt;
        let seen = rows.iter().skip(j).step_by(2).sum::<f64>() / n as f64;
        // Five standard errors.
        assert!((seen - mean).abs() < 5.0 * (variance / n as f64).sqrt(), "{seen} {mean}");
    }
}
