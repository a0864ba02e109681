//! What the ASUGS paper prints of merging, and what comes of it: evidence for `papers/asugs.md`.

use bayestream::data::Batch;
use bayestream::family::Moments;
use bayestream::model::{Config, Kind, Model, PruneMerge, Settings};
use bayestream::num;
use bayestream::synthetic::Truth;

fn moments(values: &[f64]) -> Moments {
    let mut all = Moments::empty_at(&[0.0]);
    for value in values {
        all.add_scaled(1.0, &Moments { count: 1.0, mean: vec![*value], covariance: vec![0.0] });
    }
    all
}

/// Section 5.1 merges means and covariances by convex combinations: what lies between the means is lost.
#[test]
fn one_gaussian_cut_in_two_keeps_its_variance_only_if_the_distance_of_the_means_counts() {
    let mut rng = num::stream(9390, 0, 0);
    let n = 20_000;
    let (low, high): (Vec<f64>, Vec<f64>) = (0..n).map(|_| rng.normal()).partition(|x| *x < 0.0);
    let (low, high) = (moments(&low), moments(&high));
    let share = low.count / f64::from(n);
    let printed = share * low.covariance[0] + (1.0 - share) * high.covariance[0];
    let mut exact = low;
    exact.add_scaled(1.0, &high);
    // Half of a normal has variance 1 − 2/π; the standard error of a variance of n rows is √(2/n).
    let error = 5.0 * (2.0 / f64::from(n)).sqrt();
    assert!((exact.covariance[0] - 1.0).abs() < error, "{}", exact.covariance[0]);
    assert!((printed - (1.0 - 2.0 / std::f64::consts::PI)).abs() < error, "{printed}");
}

/// One class with nearly all rows, and two of 0.4 % each, far from it and from each other.
fn rare() -> (Truth, [[f64; 2]; 2]) {
    let centres = [[9.0, -8.0], [-9.0, 10.0]];
    let truth = Truth {
        weights: vec![0.992, 0.004, 0.004],
        means: vec![vec![0.0, 0.0], centres[0].to_vec(), centres[1].to_vec()],
        covariances: vec![vec![1.0, 0.0, 0.0, 1.0], vec![0.05, 0.0, 0.0, 0.05], vec![0.05, 0.0, 0.0, 0.05]],
    };
    (truth, centres)
}

/// Distance of the nearest mean, for the worse of the two rare classes.
fn missed_by(prune_merge: PruneMerge) -> f64 {
    let (truth, centres) = rare();
    let (rows, _) = truth.sample(6000, 9391);
    let mut settings = Settings::default();
    settings.dirichlet.prune_merge = prune_merge;
    // One with which greedy steps find all three classes: merging alone is in question.
    let prior = &mut settings.dirichlet;
    (prior.prior_scale, prior.nu0, prior.c0) = (Some(0.3), Some(30.0), Some(0.002));
    let mut model =
        Model::new(Config { settings, ..Config::new(Kind::GmmAsugs, vec!["x".into(), "y".into()]) }).unwrap();
    for rows in rows.chunks(200) {
        model.update(&Batch::new(rows, 2).unwrap()).unwrap();
    }
    let snapshot = model.snapshot();
    let nearest = |centre: &[f64; 2]| {
        let distances = snapshot.components.iter().map(|c| (c.mean[0] - centre[0]).hypot(c.mean[1] - centre[1]));
        distances.fold(f64::INFINITY, f64::min)
    };
    centres.iter().map(nearest).fold(0.0, f64::max)
}

/// The distance of posteriors over time is at most the sum of two relative weights, so that any two rare classes are
/// near enough, wherever they lie.
#[test]
fn two_rare_classes_are_merged_however_far_apart() {
    let [off, printed, exact] = [PruneMerge::Off, PruneMerge::Paper, PruneMerge::Exact].map(missed_by);
    assert!(off < 0.5 && exact < 0.5, "{off} {exact}");
    assert!(printed > 5.0, "{printed}");
}
