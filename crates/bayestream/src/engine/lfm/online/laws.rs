//! Laws of the learner on a stream.

use super::master::{Master, News, Step};
use super::*;
use crate::engine::lfm::{Fit, Fitted, Rows};
use crate::synthetic::{PlantedFeatures, with_holes};

fn learner(d: usize, warm_up: usize) -> OnlineFab {
    OnlineFab::new(OnlineSettings { warm_up: Some(warm_up), ..OnlineSettings::default() }, d, 9, 1)
}

#[test]
fn a_full_step_on_all_rows_is_an_iteration_of_the_batch_engine() {
    for holes in [0.0, 0.3] {
        let cells = with_holes(&PlantedFeatures::gaussian(8, 3, 4).rows(0, 200), holes, 5);
        let rows = Rows::new(&cells, 8, None);
        let mut fit = Fit::new(&rows);
        for which in 0..3 {
            fit.field.push(&(0..200).map(|i| if (i / (which + 1)) % 2 == 0 { 0.3 } else { 0.8 }).collect::<Vec<_>>());
        }
        fit.maximise(&rows);
        let fitted = Fitted { rows: rows.clone(), fit: fit.clone() };
        let mut master = Master::new(Frame::identity(8), &fitted, 0, 100);
        let step = Step { whole: 200, shrink_steps: 4, max_features: 9, watches_drift: false };
        let mut old = master.statistics.clone();
        master.begin(&rows);
        master.set_field(&fit.field.mu);
        master.blend(&rows, &mut old, 1.0, &step, 1, &mut News::default());
        // A round on a mini-batch has three sweeps; two more here.
        fit.expect(&rows, 4, 0.5 * 8.0 / 200.0);
        (0..2).for_each(|_| fit.field.sweep(&rows, &fit.parameters, 0.5 * 8.0 / 200.0));
        fit.shrink(&rows);
        fit.maximise(&rows);
        let (a, b) = (&master.parameters, &fit.parameters);
        assert_eq!(a.k, b.k);
        let near = |x: &[f64], y: &[f64]| x.iter().zip(y).all(|(x, y)| (x - y).abs() < 1e-9 * (1.0 + y.abs()));
        assert!(near(&a.weights, &b.weights) && near(&a.offset, &b.offset));
        assert!(near(&a.precision, &b.precision) && near(&a.shares, &b.shares));
    }
}

#[test]
fn portions_do_not_matter_to_the_byte() {
    let cells = with_holes(&PlantedFeatures::gaussian(7, 3, 14).rows(0, 530), 0.05, 2);
    let mut whole = learner(7, 150);
    whole.update(&Batch::new(&cells, 7).unwrap());
    for portion in [1, 33, 250] {
        let mut parts = learner(7, 150);
        for rows in cells.chunks(portion * 7) {
            parts.update(&Batch::new(rows, 7).unwrap());
        }
        assert_eq!(postcard::to_allocvec(&parts).unwrap(), postcard::to_allocvec(&whole).unwrap());
        assert_eq!(parts.features(), whole.features());
    }
    assert_eq!(whole.n_seen(), 530);
    // 150 rows were held, 300 scored, 80 wait.
    assert_eq!(whole.log_score().n_scored, 300);
    let bytes = postcard::to_allocvec(&whole).unwrap();
    let mut back: OnlineFab = postcard::from_bytes(&bytes).unwrap();
    back.restore(7).unwrap();
    assert_eq!(back.features(), whole.features());
    back.update(&Batch::new(&cells, 7).unwrap());
    whole.update(&Batch::new(&cells, 7).unwrap());
    assert_eq!(postcard::to_allocvec(&back).unwrap(), postcard::to_allocvec(&whole).unwrap());
}

#[test]
fn planted_features_are_found_on_a_stream_with_missing_cells() {
    let truth = PlantedFeatures::gaussian(20, 4, 41);
    for holes in [0.0, 0.2] {
        let mut online = learner(20, 300);
        online.update(&Batch::new(&with_holes(&truth.rows(0, 1500), holes, 3), 20).unwrap());
        assert_eq!(online.features().features.len(), 4);
        assert!(online.events().iter().all(|e| e.what != Happening::Drift));
    }
}

#[test]
fn a_stream_that_changes_is_noticed_and_followed() {
    let (before, after) = (PlantedFeatures::gaussian(20, 3, 51), PlantedFeatures::gaussian(20, 4, 52));
    let mut online = learner(20, 400);
    online.update(&Batch::new(&before.rows(0, 1500), 20).unwrap());
    assert!(online.events().iter().all(|e| e.what != Happening::Drift));
    online.update(&Batch::new(&after.rows(0, 3000), 20).unwrap());
    let first = online.events().iter().find(|e| e.what == Happening::Drift).unwrap().row;
    assert_eq!(first, 1600);
    // What noise leaves of the new features: 1 in every column, where the features alone have about 1 more.
    let mean_noise = online.features().noise.iter().sum::<f64>() / 20.0;
    assert!(mean_noise < 1.3, "{mean_noise}");
}

#[test]
fn what_a_file_got_wrong_is_refused() {
    let mut online = learner(7, 150);
    online.update(&Batch::new(&PlantedFeatures::gaussian(7, 3, 14).rows(0, 480), 7).unwrap());
    assert!(online.clone().restore(7).is_ok());
    assert!(online.clone().restore(8).is_err());
    let broken = |change: &dyn Fn(&mut Master)| {
        let mut copy = online.clone();
        change(copy.master.as_mut().unwrap());
        copy.restore(7).unwrap_err()
    };
    assert!(broken(&|m| m.statistics.a[0] = f64::NAN).contains("averages"));
    assert!(broken(&|m| m.statistics.q[0] = -1.0).contains("averages"));
    assert!(broken(&|m| m.ids.truncate(1)).contains("averages"));
    assert!(broken(&|m| m.next_serial = 0).contains("number"));
    assert!(broken(&|m| m.mass = 0.0).contains("rows"));
}

/// A reading that is far off in one row is no feature, and leaves the model of the column as it was.
#[test]
fn an_outlying_cell_is_neither_a_feature_nor_a_change() {
    let (d, truth) = (20, PlantedFeatures::gaussian(20, 4, 61));
    let clean = truth.rows(0, 2000);
    let mut spoilt = clean.clone();
    for (at, row) in [600, 950, 1300].into_iter().enumerate() {
        spoilt[row * d + 7 + at] = 400.0;
    }
    let learnt = |rows: &[f64]| {
        let mut online = learner(d, 400);
        online.update(&Batch::new(rows, d).unwrap());
        assert!(online.events().iter().all(|e| e.what != Happening::Drift));
        online.features()
    };
    let (clean, spoilt) = (learnt(&clean), learnt(&spoilt));
    assert_eq!((clean.features.len(), spoilt.features.len()), (4, 4));
    for j in 7..10 {
        // A cell of 400 in 2,000 rows is 0.2 more for the mean of the column, and a few times that in the features' weights.
        let mean = |set: &crate::structure::FeatureSet| {
            set.offset[j] + set.features.iter().map(|f| f.share * f.weights[j]).sum::<f64>()
        };
        assert!((mean(&clean) - mean(&spoilt)).abs() < 1.0, "{} {}", mean(&clean), mean(&spoilt));
    }
}
