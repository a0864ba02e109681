//! A fit from nothing: births or random features, then FAB to convergence, then moves.

use super::fit::Fit;
use super::held_out::HeldOut;
use super::rows::Rows;
use super::settings::{FabSettings, Gate, Start};
use crate::num::Rng;

/// Rows are few when there are fewer than this many for each column.
const FEW_ROWS: f64 = 10.0;
/// Rounds of births and moves, at most.
const ROUNDS: usize = 3;

/// Fits framed rows (row by row, NaN where missing). `watch` sees every iteration that lasts.
pub fn fit_rows(
    framed: &[f64],
    d: usize,
    weights: Option<&[f64]>,
    settings: &FabSettings,
    mut rng: Rng,
    watch: &mut dyn FnMut(&Fit),
) -> (Rows, Fit) {
    let rows = Rows::new(framed, d, weights);
    let mut fit = Fit::new(&rows);
    if rows.mass <= 0.0 {
        return (rows, fit);
    }
    match settings.start {
        Start::Random => {
            let k = rows.n.min(d).min(settings.max_features);
            for _ in 0..k {
                let mu: Vec<f64> = (0..rows.n).map(|_| rng.uniform()).collect();
                fit.field.push(&mu);
            }
            fit.maximise(&rows);
        }
        Start::Births => {
            let is_gated = match settings.held_out_gate {
                Gate::On => true,
                Gate::Off => false,
                Gate::Auto => rows.mass < FEW_ROWS * d as f64,
            };
            if is_gated {
                let mut seen = framed.to_vec();
                let held_out = HeldOut::take(&mut seen, d, &mut rng);
                let seen = Rows::new(&seen, d, weights);
                let mut part = Fit::new(&seen);
                births(&mut part, &seen, settings, Some(&held_out), &mut |_| ());
                fit.field = part.field;
                fit.maximise(&rows);
                watch(&fit);
            } else {
                births(&mut fit, &rows, settings, None, watch);
            }
        }
    }
    fit.converge(&rows, &settings.pace(), watch);
    if settings.moves {
        for _ in 0..ROUNDS {
            let k = fit.k();
            while fit.try_removal(&rows, &settings.pace()) || fit.try_merge(&rows, &settings.pace()) {
                watch(&fit);
            }
            if fit.k() == k {
                break;
            }
            fit.converge(&rows, &settings.pace(), watch);
        }
    }
    (rows, fit)
}

/// Adds features as long as the bound rises. With cells held out, returns to where those were most probable: one birth may
/// make them less probable by chance, and the next one more than that.
pub fn births(
    fit: &mut Fit,
    rows: &Rows,
    settings: &FabSettings,
    held_out: Option<&HeldOut>,
    watch: &mut dyn FnMut(&Fit),
) {
    let pace = settings.pace();
    let held_out = held_out.filter(|h| !h.is_empty());
    let mut best = held_out.map(|h| (h.log_likelihood(rows, fit), fit.save()));
    'birth: while fit.k() < settings.max_features {
        let before = fit.save();
        for which in 0..settings.tries {
            let is_tried = fit.add_along(which, rows, &pace);
            if is_tried && fit.bound > before.bound {
                watch(fit);
                if let (Some(held_out), Some((most, saved))) = (held_out, &mut best) {
                    let foretold = held_out.log_likelihood(rows, fit);
                    if foretold > *most {
                        (*most, *saved) = (foretold, fit.save());
                    }
                }
                continue 'birth;
            }
            fit.restore(&before);
            if !is_tried {
                break;
            }
        }
        break;
    }
    if let Some((_, saved)) = best {
        fit.restore(&saved);
    }
}
