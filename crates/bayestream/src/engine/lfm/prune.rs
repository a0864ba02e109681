//! Features that the criterion is better off without, where there are many cells: looked for on some of the rows, and let go
//! together, as to try each of them on all rows would take longer than the fit.

use super::field::Field;
use super::fit::{Fit, Pace, TAKE_OVER_SWEEPS, penalty};
use super::parameters::Parameters;
use super::rows::Rows;

/// Features that are looked at, the least salient first, and rows that they are looked at on, at most.
const LOOKED_AT: usize = 12;
const ROWS_LOOKED_AT: usize = 1000;
/// Removals that are tried, at most.
const MOST_TRIES: usize = 4;

/// Lets go of features that some rows say the bound would rise without, if it does; of the half that they say it of most if not,
/// and so on. `watch` sees what lasts.
pub fn prune(fit: &mut Fit, rows: &Rows, pace: &Pace, watch: &mut dyn FnMut(&Fit)) {
    let mut most = LOOKED_AT;
    for _ in (0..MOST_TRIES).take_while(|_| !rows.interrupt.is_raised()) {
        let mut doubtful = doubtful(fit, rows);
        doubtful.truncate(most);
        if doubtful.is_empty() {
            return;
        }
        let saved = fit.save();
        let keep: Vec<bool> = (0..fit.k()).map(|k| !doubtful.contains(&k)).collect();
        fit.do_without(&keep, rows, pace);
        if fit.bound > saved.bound {
            watch(fit);
        } else {
            fit.restore(&saved);
            most = doubtful.len() / 2;
        }
    }
}

/// Features without which the bound would rise by what a part of the rows says, the one without which it would rise most first: each is
/// taken away by itself, and the others take over what they can while W stays.
fn doubtful(fit: &Fit, rows: &Rows) -> Vec<usize> {
    let p = &fit.parameters;
    let step = rows.n.div_ceil(ROWS_LOOKED_AT).max(1);
    let (part, mu) = part_of(rows, &fit.field, step);
    let each = rows.mass / part.mass;
    let (mut residuals, mut bounds) = (Vec::new(), Vec::new());
    let mut evidence = |field: &mut Field, p: &Parameters| {
        field.prepare(&part, p);
        (0..TAKE_OVER_SWEEPS).for_each(|_| field.sweep(&part, p, penalty(rows)));
        field.row_bounds(&part, p, &mut residuals, &mut bounds);
        each * bounds.iter().zip(&part.weights).map(|(bound, w)| bound * w).sum::<f64>()
    };
    let mut order: Vec<usize> = (0..p.k).collect();
    order.sort_by(|a, b| p.salience(*a).total_cmp(&p.salience(*b)).then(a.cmp(b)));
    let whole = evidence(&mut mu.clone(), p);
    let mut losses = Vec::new();
    for &k in order.iter().take(LOOKED_AT).take_while(|_| !rows.interrupt.is_raised()) {
        let keep: Vec<bool> = (0..p.k).map(|l| l != k).collect();
        let (mut field, mut without) = (mu.clone(), p.clone());
        field.retain(&keep);
        without.retain(&keep);
        // [FAB/LFM] (8): what the criterion charges for the feature.
        let charge = 0.5 * (p.d as f64 * (rows.mass * p.shares[k]).max(1.0).ln() + rows.mass.ln());
        losses.push((whole - evidence(&mut field, &without) - charge, k));
    }
    losses.retain(|(loss, _)| *loss < 0.0);
    losses.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    losses.into_iter().map(|(_, k)| k).collect()
}

/// One row in `step`, and q(Z) there.
fn part_of(rows: &Rows, field: &Field, step: usize) -> (Rows, Field) {
    let framed = rows.framed();
    let kept = || (0..rows.n).step_by(step);
    let cells: Vec<f64> = kept().flat_map(|i| framed[i * rows.d..][..rows.d].iter().copied()).collect();
    let weights: Vec<f64> = kept().map(|i| rows.weights[i]).collect();
    let mut part = Field::empty(weights.len());
    for k in 0..field.k {
        let of: Vec<f64> = kept().map(|i| field.of(k)[i]).collect();
        part.push(&of);
    }
    (Rows::new(&cells, rows.d, Some(&weights)), part)
}

#[cfg(test)]
mod tests {
    use super::super::settings::FabSettings;
    use super::*;
    use crate::num;
    use crate::synthetic::{PlantedFeatures, with_holes};

    /// Features at random beside the planted ones: they explain next to nothing, and the criterion charges for them.
    #[test]
    fn features_that_explain_nothing_go_and_the_others_stay() {
        for holes in [0.0, 0.2] {
            let cells = with_holes(&PlantedFeatures::gaussian(20, 4, 91).rows(0, 1500), holes, 92);
            let rows = Rows::new(&cells, 20, None);
            let pace = FabSettings::default().pace();
            let mut fit = Fit::new(&rows);
            let mut rng = num::stream(93, 0, 0);
            fit.add_many(8, &rows, &pace, 3, &mut rng);
            fit.converge(&rows, &pace, &mut |_| ());
            assert_eq!(fit.k(), 4);
            let clean = fit.bound;
            for _ in 0..3 {
                let mu: Vec<f64> = (0..rows.n).map(|_| if rng.uniform() < 0.4 { 0.9 } else { 0.1 }).collect();
                fit.field.push(&mu);
            }
            fit.maximise(&rows);
            assert!(fit.bound < clean);
            prune(&mut fit, &rows, &pace, &mut |_| ());
            assert_eq!(fit.k(), 4);
            // As many iterations more have passed as a removal is tried for.
            assert!(fit.bound > clean - 1e-3 * rows.mass, "{} {clean}", fit.bound);
            // None of those that are there can go.
            let bound = fit.bound;
            prune(&mut fit, &rows, &pace, &mut |_| ());
            assert_eq!((fit.k(), fit.bound), (4, bound));
        }
    }
}
