//! Columns made comparable for the plain views: asinh of the standardised value tames long tails and keeps the middle.
//! Histograms need no taming, and see more in plain units of the standard deviation.

use crate::data::LARGEST_FRAMED;
use crate::num;
use serde::{Deserialize, Serialize};

/// Cells a column must have among the rows it is fitted to.
const LEAST_CELLS: usize = 20;
/// Quartiles nearer than this share of the standard deviation say nothing of the spread.
const NARROW: f64 = 1e-3;
/// Added to the usual squares of all columns before their shares are taken.
const LEAST_SHARE: f64 = 0.01;
/// Transformed cells are cut here.
const LARGEST: f64 = 1e6;
/// A spread below this share of the magnitude is rounding, not variation.
const CONSTANT_SHARE: f64 = 1e-13;

/// The transform of one column: `(asinh((x − centre)/scale) − mean)/sd`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Column {
    centre: f64,
    scale: f64,
    mean: f64,
    sd: f64,
    /// The standard deviation before the transform.
    spread: f64,
    /// The middle of the transformed cells' squares.
    usual: f64,
    /// False when all cells it was fitted to were equal.
    varies: bool,
}

/// The transform of all columns. One that has shown too few cells is taken as missing.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Columns {
    fits: Vec<Option<Column>>,
    /// Rows seen at which each column is to be fitted anew.
    due: Vec<u64>,
}

impl Columns {
    /// Nothing is known yet; every column is to be fitted after `first` rows.
    pub fn new(n_columns: usize, first: u64) -> Columns {
        Columns { fits: vec![None; n_columns], due: vec![first; n_columns] }
    }

    /// How many columns.
    pub fn n_columns(&self) -> usize {
        self.fits.len()
    }

    /// True when some column is to be fitted, now or later.
    pub fn is_waiting(&self) -> bool {
        self.due.iter().any(|due| *due < u64::MAX)
    }

    /// True when a column is to be fitted after so many rows.
    pub fn is_due(&self, n_seen: u64) -> bool {
        self.due.iter().any(|due| *due <= n_seen)
    }

    /// True when some column is fitted.
    pub fn is_ready(&self) -> bool {
        self.fits.iter().any(Option::is_some)
    }

    /// Has every column fitted after so many rows.
    pub fn refit_at(&mut self, n_seen: u64) {
        self.due.fill(n_seen);
    }

    /// Fits the columns that are due to recent rows and returns them; what has too few cells comes due again later.
    pub fn fit(&mut self, rows: &[f64], n_seen: u64, later: u64) -> Vec<usize> {
        let d = self.fits.len();
        let mut fitted = Vec::new();
        let mut cells = Vec::new();
        for j in 0..d {
            if self.due[j] > n_seen {
                continue;
            }
            cells.clear();
            cells.extend(rows.iter().skip(j).step_by(d).copied().filter(|v| !v.is_nan()));
            if cells.len() < LEAST_CELLS {
                self.due[j] = later;
            } else {
                self.fits[j] = Some(Column::of(&mut cells));
                self.due[j] = u64::MAX;
                fitted.push(j);
            }
        }
        fitted
    }

    /// Notes whether columns that never varied begin to: they are fitted anew after `later` rows. Rows of weight 0 do
    /// not count.
    pub fn notice(&mut self, rows: &[f64], weights: &[f64], later: u64) {
        let d = self.fits.len();
        for j in 0..d {
            let Some(fit) = self.fits[j].filter(|fit| !fit.varies && self.due[j] == u64::MAX) else { continue };
            let mut cells = rows.iter().skip(j).step_by(d).zip(weights).filter(|(_, w)| **w > 0.0);
            if cells.any(|(v, _)| !v.is_nan() && *v != fit.centre) {
                self.due[j] = later;
            }
        }
    }

    /// What share each column has in the distance of an ordinary row, in place of what `out` holds. A column that is
    /// nearly always the same has nearly none, though its variance is 1 like that of the others.
    pub fn usual_shares(&self, out: &mut Vec<f64>) {
        out.clear();
        out.extend(self.fits.iter().map(|fit| fit.map_or(0.0, |f| f.usual + LEAST_SHARE)));
        let total: f64 = out.iter().sum();
        out.iter_mut().for_each(|share| *share /= total.max(f64::MIN_POSITIVE));
    }

    /// Appends the transformed rows to `out`.
    pub fn push_rows(&self, rows: &[f64], out: &mut Vec<f64>) {
        let d = self.fits.len();
        let first = out.len();
        out.reserve(rows.len());
        // asinh t = sign(t) ln(|t| + √(t² + 1)), with one pass of logarithms over all cells.
        for row in rows.chunks_exact(d) {
            for (v, fit) in row.iter().zip(&self.fits) {
                out.push(fit.as_ref().map_or(f64::NAN, |f| {
                    let t = f.standard(*v).abs();
                    t + (t * t + 1.0).sqrt()
                }));
            }
        }
        let cells = &mut out[first..];
        num::ln_slice(cells);
        for (row, cells) in rows.chunks_exact(d).zip(cells.chunks_exact_mut(d)) {
            for ((v, cell), fit) in row.iter().zip(cells).zip(&self.fits) {
                if let Some(f) = fit {
                    let asinh = if *v < f.centre { -*cell } else { *cell };
                    *cell = ((asinh - f.mean) / f.sd).clamp(-LARGEST, LARGEST);
                }
            }
        }
    }

    /// Appends the rows in units of the columns' standard deviations, without the transform.
    pub fn push_plain_rows(&self, rows: &[f64], out: &mut Vec<f64>) {
        for row in rows.chunks_exact(self.fits.len()) {
            out.extend(row.iter().zip(&self.fits).map(|(v, fit)| fit.as_ref().map_or(f64::NAN, |f| f.plain(*v))));
        }
    }

    /// A transformed row in plain units.
    pub fn untransform(&self, transformed: &[f64], out: &mut Vec<f64>) {
        out.clear();
        out.extend(transformed.iter().zip(&self.fits).map(|(u, fit)| {
            fit.as_ref().map_or(0.0, |f| ((f.mean + f.sd * u).sinh() * f.scale / f.spread).clamp(-LARGEST, LARGEST))
        }));
    }

    /// Between the transforms of shards of one stream, each of which has fitted its own to its first rows.
    pub fn joined(parts: &[&Columns]) -> Columns {
        let mut joined = parts[0].clone();
        for j in 0..joined.fits.len() {
            let fits: Vec<Column> = parts.iter().filter_map(|p| p.fits[j]).collect();
            let varying: Vec<Column> = fits.iter().copied().filter(|f| f.varies).collect();
            let mean = |value: fn(&Column) -> f64| varying.iter().map(|f| value(f) / varying.len() as f64).sum::<f64>();
            joined.fits[j] = if varying.is_empty() {
                fits.first().copied()
            } else {
                Some(Column {
                    centre: mean(|f| f.centre),
                    scale: mean(|f| f.scale),
                    mean: mean(|f| f.mean),
                    sd: mean(|f| f.sd),
                    spread: mean(|f| f.spread),
                    usual: mean(|f| f.usual),
                    varies: true,
                })
            };
            joined.due[j] = if joined.fits[j].is_some() { u64::MAX } else { 0 };
        }
        joined
    }

    /// True when it could have come from rows: what a file must satisfy.
    pub fn is_sound(&self, n_columns: usize) -> bool {
        let sound = |f: &Column| {
            [f.centre, f.scale, f.mean, f.sd, f.spread, f.usual].iter().all(|v| v.is_finite())
                && f.scale > 0.0
                && f.sd > 0.0
                && f.spread > 0.0
                && f.usual >= 0.0
        };
        self.fits.len() == n_columns && self.due.len() == n_columns && self.fits.iter().flatten().all(sound)
    }
}

impl Column {
    /// Fits at least one cell.
    fn of(cells: &mut [f64]) -> Column {
        cells.sort_unstable_by(f64::total_cmp);
        let n = cells.len();
        let at = |share: f64| cells[((n - 1) as f64 * share).round() as usize];
        let (centre, low, high) = (at(0.5), cells[0], cells[n - 1]);
        let magnitude = low.abs().max(high.abs());
        if high - low <= magnitude * CONSTANT_SHARE {
            let scale = if centre == 0.0 { 1.0 } else { centre.abs() };
            return Column { centre, scale, mean: 0.0, sd: 1.0, spread: scale, usual: 0.0, varies: false };
        }
        // Divided by the range first: squares of 1e-200 would underflow.
        let range = high - low;
        let mean = cells.iter().map(|v| (v - low) / range / n as f64).sum::<f64>();
        let var = cells.iter().map(|v| ((v - low) / range - mean).powi(2) / n as f64).sum::<f64>();
        let sd = range * var.sqrt();
        let robust = (at(0.75) - at(0.25)) / 1.349;
        let scale = if robust > NARROW * sd { robust } else { sd };
        let (scale, spread) = (scale.max(f64::MIN_POSITIVE), sd.max(f64::MIN_POSITIVE));
        let mut fit = Column { centre, scale, mean: 0.0, sd: 1.0, spread, usual: 0.0, varies: true };
        let transformed: Vec<f64> = cells.iter().map(|v| fit.standard(*v).asinh()).collect();
        fit.mean = transformed.iter().sum::<f64>() / n as f64;
        let var = transformed.iter().map(|v| (v - fit.mean).powi(2)).sum::<f64>() / n as f64;
        fit.sd = if var > 0.0 { var.sqrt() } else { 1.0 };
        let mut squares: Vec<f64> = transformed.iter().map(|v| ((v - fit.mean) / fit.sd).powi(2)).collect();
        fit.usual = *squares.select_nth_unstable_by(n / 2, f64::total_cmp).1;
        fit
    }

    fn plain(&self, v: f64) -> f64 {
        ((v - self.centre) / self.spread).clamp(-LARGEST, LARGEST)
    }

    /// Standardised, and cut where the square would overflow.
    fn standard(&self, v: f64) -> f64 {
        ((v - self.centre) / self.scale).clamp(-LARGEST_FRAMED, LARGEST_FRAMED)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fitted(rows: &[f64], d: usize) -> Columns {
        let mut columns = Columns::new(d, 0);
        columns.fit(rows, 0, 9);
        columns
    }

    #[test]
    fn transformed_columns_are_standard_in_any_unit() {
        let mut rng = num::stream(20_310, 0, 0);
        let rows: Vec<f64> = (0..500).flat_map(|_| [rng.normal() * 1e-80, (3.0 * rng.normal()).exp() * 1e60]).collect();
        let columns = fitted(&rows, 2);
        let mut out = Vec::new();
        columns.push_rows(&rows, &mut out);
        for j in 0..2 {
            let cells: Vec<f64> = out.iter().skip(j).step_by(2).copied().collect();
            let mean = cells.iter().sum::<f64>() / 500.0;
            let var = cells.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / 500.0;
            assert!(mean.abs() < 1e-9 && (var - 1.0).abs() < 1e-9, "column {j}: {mean} {var}");
        }
        let (mut plain, mut back) = (Vec::new(), Vec::new());
        columns.push_plain_rows(&rows[..2], &mut plain);
        columns.untransform(&out[..2], &mut back);
        assert!(
            plain.iter().zip(&back).all(|(a, b)| (a - b).abs() < 1e-9 * a.abs().max(1.0)),
            "{plain:?} and {back:?}"
        );
        let direct = columns.fits[0].map(|f| ((f.standard(rows[4]).asinh()) - f.mean) / f.sd).unwrap();
        assert!((out[4] - direct).abs() < 1e-12);
        let scaled: Vec<f64> = rows.iter().map(|v| v * 1024.0).collect();
        let mut same = Vec::new();
        fitted(&scaled, 2).push_rows(&scaled, &mut same);
        assert!(out.iter().zip(&same).all(|(a, b)| (a - b).abs() < 1e-9));
    }

    #[test]
    fn missing_columns_wait_and_constant_ones_notice_that_they_vary() {
        let rows: Vec<f64> = (0..60).flat_map(|i| [7.5, f64::NAN, f64::from(i)]).collect();
        let mut columns = fitted(&rows, 3);
        assert!(columns.is_ready() && !columns.is_due(8) && columns.is_due(9));
        let mut out = Vec::new();
        columns.push_rows(&[7.5, 1.0, 30.0, 8.5, f64::NAN, f64::NAN], &mut out);
        assert_eq!(out[0], 0.0);
        assert!(out[1].is_nan() && out[2].is_finite() && out[3] > 0.0 && out[4].is_nan() && out[5].is_nan());
        columns.notice(&rows, &[1.0; 60], 30);
        assert_eq!(columns.due, [u64::MAX, 9, u64::MAX]);
        columns.notice(&[7.7, 0.0, 0.0], &[0.0], 30);
        assert_eq!(columns.due[0], u64::MAX);
        columns.notice(&[7.6, 0.0, 0.0], &[0.5], 30);
        assert_eq!(columns.due, [30, 9, u64::MAX]);
        let rows: Vec<f64> = (0..60).flat_map(|i| [7.5 + f64::from(i), f64::from(i), 0.0]).collect();
        assert_eq!(columns.fit(&rows, 31, 90), [0, 1]);
        assert!(columns.is_sound(3) && !columns.is_sound(2));
    }
}
