//! Features that come to be: many at once, one by one, and in the place of others.

use super::fit::Fit;
use super::rows::Rows;
use super::settings::FabSettings;
use crate::num::{self, Rng};

/// Features that are born at once, at most.
const AT_ONCE: usize = 64;
/// Iterations before many births at once are judged, for each of those before a single one is.
const LONGER_TRIAL: usize = 3;
/// Single births after many at once: these find nearly all there are.
const SINGLE_AFTER_MANY: usize = 8;
/// Beyond so many cells no single births follow many at once: each takes as long as all of those.
pub(super) const MANY_CELLS: usize = 300_000;

/// Groups of dependent features that are tried.
const GROUPS_TRIED: usize = 2;
/// Unit vectors are near to dependence when some combination of length one is shorter than the root of this.
const DEPENDENT: f64 = 0.2;
/// A feature is in the group when its part in the combination is this much of the largest.
const IN_GROUP: f64 = 0.3;

/// Adds features, as many at once as directions stand out of the noise, and then single ones, as long as the bound rises and
/// `goes_on`, which sees each step, says so. Features that are born one by one take part of what others will explain;
/// those born together part the rows anew.
pub fn grow(fit: &mut Fit, rows: &Rows, settings: &FabSettings, rng: &mut Rng, goes_on: &mut dyn FnMut(&Fit) -> bool) {
    let mut has_many = false;
    while fit.k() < settings.max_features && !rows.interrupt.is_raised() {
        let before = fit.save();
        let most = AT_ONCE.min(settings.max_features - fit.k());
        let n_tried = fit.add_many(most, rows, &settings.pace(), LONGER_TRIAL, rng);
        if n_tried < 2 || fit.bound <= before.bound {
            fit.restore(&before);
            break;
        }
        has_many = true;
        if !goes_on(fit) {
            return;
        }
    }
    if has_many && rows.n_cells > MANY_CELLS {
        return;
    }
    let most = if has_many { fit.k() + SINGLE_AFTER_MANY } else { settings.max_features };
    let settings = FabSettings { max_features: settings.max_features.min(most), ..*settings };
    births(fit, rows, &settings, goes_on);
}

/// Adds features as long as the bound rises and `goes_on`, which sees each birth, says so.
pub fn births(fit: &mut Fit, rows: &Rows, settings: &FabSettings, goes_on: &mut dyn FnMut(&Fit) -> bool) {
    let pace = settings.pace();
    'birth: while fit.k() < settings.max_features && !rows.interrupt.is_raised() {
        let before = fit.save();
        for which in 0..settings.tries {
            let is_tried = fit.add_along(which, rows, &pace);
            if is_tried && fit.bound > before.bound {
                if goes_on(fit) {
                    continue 'birth;
                }
                return;
            }
            fit.restore(&before);
            if !is_tried {
                break;
            }
        }
        break;
    }
}

/// Features that add up to one another: four of them may stand for the sums of three true ones, and none of the four can go
/// alone. Lets go of all of them and grows at most as many in their place; true when the bound rose.
pub fn regrow(fit: &mut Fit, rows: &Rows, settings: &FabSettings) -> bool {
    let saved = fit.save();
    let groups = dependent(fit);
    let settings = FabSettings { max_features: settings.max_features.min(saved.k()), ..*settings };
    for keep in groups {
        fit.field.retain(&keep);
        fit.maximise(rows);
        births(fit, rows, &settings, &mut |_| true);
        if fit.bound > saved.bound {
            return true;
        }
        fit.restore(&saved);
    }
    false
}

/// Marks of the features outside each of the groups that are nearest to linear dependence.
fn dependent(fit: &Fit) -> Vec<Vec<bool>> {
    let (k, p) = (fit.k(), &fit.parameters);
    let scaled = |f: usize| {
        let scaled: Vec<f64> = p.feature(f).iter().zip(&p.precision).map(|(w, l)| w * l.sqrt()).collect();
        let length = scaled.iter().map(|v| v * v).sum::<f64>().sqrt().max(f64::MIN_POSITIVE);
        scaled.into_iter().map(|v| v / length).collect::<Vec<f64>>()
    };
    let directions: Vec<f64> = (0..k).flat_map(scaled).collect();
    let mut gram = vec![0.0; k * k];
    for f in 0..k {
        num::dots(&directions[f * p.d..][..p.d], &directions, p.d, &mut gram[f * k..][..k]);
    }
    let (mut values, mut vectors) = (vec![0.0; k], vec![0.0; k * k]);
    num::symmetric_eigen(&gram, k, &mut values, &mut vectors);
    let mut groups = Vec::new();
    for at in (0..k).rev().take(GROUPS_TRIED).filter(|at| values[*at] < DEPENDENT) {
        let vector = &vectors[at * k..][..k];
        let largest = vector.iter().fold(0.0_f64, |m, v| m.max(v.abs()));
        let keep: Vec<bool> = vector.iter().map(|v| v.abs() < IN_GROUP * largest).collect();
        if !groups.contains(&keep) {
            groups.push(keep);
        }
    }
    groups
}
