//! The number of components by cross-validation: the outer loop of rivals that cannot find it themselves.

use crate::error::ReproduceError;
use crate::learn::{feed, new_model};
use bayestream::model::{Kind, Settings};

/// Numbers of components that are tried, as in the paper.
pub const TRIED: std::ops::RangeInclusive<usize> = 2..=40;
/// Every number so far apart is tried first.
const STRIDE: usize = 4;
/// Parts that rows are cut into; one is held out.
pub const N_PARTS: usize = 5;
/// Rows to choose by, at most. Step sizes fall along a stream, so that few rows would choose for a shorter one.
pub const CHOOSING_ROWS: usize = 50_000;

/// The number of components under which rows that were held out are likeliest after one pass over the others.
///
/// One part is held out and not each in turn: five short streams would cost as much as this long one, and those who
/// remember more the longer the stream is would choose too few components by them.
pub fn cross_validated(
    kind: Kind,
    settings: &Settings,
    rows: &[f64],
    n_columns: usize,
    batch: usize,
    seed: u64,
) -> Result<usize, ReproduceError> {
    let (learned, held_out) = divided(rows, n_columns);
    best_number(|k| {
        let settings = Settings { start_components: k, ..settings.clone() };
        let mut model = new_model(kind, n_columns, seed, settings)?;
        feed(&mut model, &learned, batch, |_, _, _| {})?;
        Ok(model.snapshot().scorer().mean_log_density(&held_out))
    })
}

/// How the number is chosen, in words.
pub fn about() -> String {
    format!(
        "the number of components is the one under which a part held out, every {N_PARTS}th row of at most {CHOOSING_ROWS}, is \
         likeliest after one pass over the others in batches of T, among {} to {}: every fourth of them, then all \
         around the best",
        TRIED.start(),
        TRIED.end()
    )
}

/// The number with the highest score: the best of every [`STRIDE`]-th of [`TRIED`] and of all numbers nearer to it than the
/// next that was tried. Of equal scores the smaller number wins; one that is not a number loses.
pub fn best_number(mut score: impl FnMut(usize) -> Result<f64, ReproduceError>) -> Result<usize, ReproduceError> {
    let mut best = (*TRIED.start(), f64::NEG_INFINITY);
    let mut consider = |k: usize, best: &mut (usize, f64)| -> Result<(), ReproduceError> {
        let found = score(k)?;
        if found > best.1 || (found == best.1 && k < best.0) {
            *best = (k, found);
        }
        Ok(())
    };
    for k in TRIED.step_by(STRIDE) {
        consider(k, &mut best)?;
    }
    let centre = best.0;
    let near = centre.saturating_sub(STRIDE - 1)..centre + STRIDE;
    for k in near.filter(|k| *k != centre && TRIED.contains(k)) {
        consider(k, &mut best)?;
    }
    Ok(best.0)
}

/// Rows to learn from, in their order, and every [`N_PARTS`]-th, held out.
fn divided(rows: &[f64], n_columns: usize) -> (Vec<f64>, Vec<f64>) {
    let (mut learned, mut held_out) = (Vec::new(), Vec::new());
    for (ix, row) in rows.chunks(n_columns).enumerate() {
        let side = if (ix + 1) % N_PARTS == 0 { &mut held_out } else { &mut learned };
        side.extend_from_slice(row);
    }
    (learned, held_out)
}

/// At most so many rows, evenly spaced and in their order.
pub fn thinned(rows: &[f64], n_columns: usize, most: usize) -> Vec<f64> {
    let every = (rows.len() / n_columns).div_ceil(most).max(1);
    rows.chunks(n_columns).step_by(every).flatten().copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use bayestream::synthetic::{Covariance, ofab_truth};

    #[test]
    fn the_best_number_is_found_wherever_it_lies() {
        for truth in TRIED {
            let mut n_tried = 0;
            let found = best_number(|k| {
                n_tried += 1;
                Ok(-(k as f64 - truth as f64).abs())
            });
            assert_eq!(found.unwrap(), truth);
            assert!(n_tried <= 16, "{n_tried}");
        }
    }

    #[test]
    fn of_equal_numbers_the_smallest_and_never_one_without_a_score() {
        assert_eq!(best_number(|k| Ok(if k < 20 { f64::NAN } else { 1.0 })).unwrap(), 20);
        assert_eq!(best_number(|_| Ok(f64::NAN)).unwrap(), 2);
        let refused = || ReproduceError::UnknownExperiment { name: "x".into(), known: vec![] };
        assert!(best_number(|k| if k > 30 { Err(refused()) } else { Ok(0.0) }).is_err());
    }

    #[test]
    fn no_row_is_both_learned_and_held_out_and_order_is_kept() {
        let rows: Vec<f64> = (0..22).map(f64::from).collect();
        let (learned, held_out) = divided(&rows, 2);
        assert_eq!(held_out, [8.0, 9.0, 18.0, 19.0]);
        assert_eq!(learned, [0, 1, 2, 3, 4, 5, 6, 7, 10, 11, 12, 13, 14, 15, 16, 17, 20, 21].map(f64::from));
    }

    #[test]
    fn rows_are_thinned_evenly() {
        let rows: Vec<f64> = (0..20).map(f64::from).collect();
        assert_eq!(thinned(&rows, 2, 4), [0.0, 1.0, 6.0, 7.0, 12.0, 13.0, 18.0, 19.0]);
        assert_eq!(thinned(&rows, 2, 10), rows);
        assert_eq!(thinned(&rows, 2, 500), rows);
    }

    /// Streaming variational Bayes started with too few components cannot make more, so rows held out tell.
    #[test]
    fn rows_held_out_call_for_as_many_components_as_there_are_or_more() {
        let truth = ofab_truth(6, 2, Covariance::Aat, 11);
        let (rows, _) = truth.sample(2000, 11);
        let k = cross_validated(Kind::GmmSvb, &Settings::default(), &rows, 2, 50, 11).unwrap();
        assert!((5..=20).contains(&k), "{k}");
    }
}
