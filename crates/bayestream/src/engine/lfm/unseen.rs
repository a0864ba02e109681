//! How far off cells would be foretold that a fit did see.

use super::field::Field;
use super::parameters::Parameters;
use super::rows::Rows;
use crate::num;

/// Log-odds beyond this are certain.
const MOST_LOG_ODDS: f64 = 700.0;
/// Sweeps in which the features of rows are found under given parameters.
const SWEEPS: usize = 10;
/// A cell decides its own fit at most so far.
const MOST_LEVERAGE: f64 = 0.9;

/// The variance of a cell that is not seen, beyond the doubt about the features of its row, by column; at least that of the
/// noise. The features that a row has are found by its cells, so that what is left over of these is less than what a missing
/// cell is off by, and next to nothing where features are as many as columns. So what a cell said of each feature is taken
/// back, and the others foretell it; W, which has also seen it, is drawn to it by the row's leverage.
pub fn noise_of_unseen(field: &Field, rows: &Rows, p: &Parameters) -> Vec<f64> {
    taken_back(field, rows, p, &leverage(field, rows, p))
}

/// The same by rows that the parameters have not seen.
pub fn noise_by_new_rows(field: &Field, rows: &Rows, p: &Parameters) -> Vec<f64> {
    taken_back(field, rows, p, &vec![0.0; field.n])
}

fn taken_back(field: &Field, rows: &Rows, p: &Parameters, leverage: &[f64]) -> Vec<f64> {
    let (n, k, d) = (field.n, field.k, p.d);
    let log_odds: Vec<f64> = field.mu.iter().map(|m| told_log_odds(*m)).collect();
    let is_complete = rows.is_complete();
    let mut holes = rows.holes.iter();
    let (mut fitted, mut without, mut doubt, mut odds) = (vec![0.0; n], vec![0.0; n], vec![0.0; n], vec![0.0; n]);
    let mut unseen = Vec::with_capacity(d);
    let mut weights = vec![0.0; k];
    for j in 0..d {
        let (x, lambda) = (rows.column(j), p.precision[j]);
        let observed = if is_complete[j] { None } else { holes.next().map(|h| h.observed.as_slice()) };
        (0..k).for_each(|f| weights[f] = p.weights[f * d + j]);
        fitted.fill(p.offset[j]);
        num::add_rows(&weights, &field.mu, n, &mut fitted);
        without.copy_from_slice(&fitted);
        doubt.fill(0.0);
        for (f, &w) in weights.iter().enumerate() {
            let (mu, log_odds) = (field.of(f), &log_odds[f * n..][..n]);
            for i in 0..n {
                // The cell's part of c in (11).
                let said = lambda * w * (x[i] - fitted[i] + (mu[i] - 0.5) * w);
                odds[i] = (said - log_odds[i]).clamp(-MOST_LOG_ODDS, MOST_LOG_ODDS);
            }
            num::exp_slice(&mut odds);
            for i in 0..n {
                let m = 1.0 / (1.0 + odds[i]);
                without[i] += w * (m - mu[i]);
                doubt[i] += w * w * m * (1.0 - m);
            }
        }
        let share_seen = if rows.counts[j] > 0.0 { rows.mass / rows.counts[j] } else { 0.0 };
        let mut left = 0.0;
        for i in 0..n {
            let is_there = observed.map_or(1.0, |o| o[i]);
            let off = (x[i] - without[i]) / (1.0 - (leverage[i] * share_seen).min(MOST_LEVERAGE));
            left += is_there * rows.weights[i] * (off * off - doubt[i]);
        }
        let variance = if rows.counts[j] > 0.0 { left / rows.counts[j] } else { 1.0 };
        unseen.push(variance.max(1.0 / lambda));
    }
    unseen
}

/// The same under parameters that someone else has found.
pub fn noise_under(rows: &Rows, p: &Parameters) -> Vec<f64> {
    if rows.mass <= 0.0 {
        return p.precision.iter().map(|l| 1.0 / l).collect();
    }
    let mut field = Field::empty(rows.n);
    field.reset(rows.n, &p.shares);
    field.prepare(rows, p);
    (0..SWEEPS).for_each(|_| field.sweep(rows, p, 0.0));
    noise_of_unseen(&field, rows, p)
}

/// How much a row's own cell draws its fit, in a column that all rows have: that of independent features.
fn leverage(field: &Field, rows: &Rows, p: &Parameters) -> Vec<f64> {
    let mut leverage = vec![1.0 / rows.mass; field.n];
    for (f, share) in p.shares.iter().enumerate() {
        let spread = (share * (1.0 - share) * rows.mass).max(f64::MIN_POSITIVE);
        field.of(f).iter().zip(&mut leverage).for_each(|(m, h)| *h += (m - share).powi(2) / spread);
    }
    leverage
}

fn told_log_odds(probability: f64) -> f64 {
    let (yes, no) = (probability.max(f64::MIN_POSITIVE), (1.0 - probability).max(f64::MIN_POSITIVE));
    (yes.ln() - no.ln()).clamp(-MOST_LOG_ODDS, MOST_LOG_ODDS)
}
