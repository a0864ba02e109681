//! The steps in which a column is written: what is rounded has no density finer than that.

/// Rows that are looked at.
const LOOKED_AT: usize = 512;
/// Share of repeated values from which a column counts as rounded.
const TIES: f64 = 0.05;
/// The gap between neighbouring values that is taken for the step: most gaps are several steps wide.
const GAP: f64 = 0.1;
/// Decimals that a constant column is looked through for.
const MOST_DECIMALS: i32 = 15;

/// The step of each column, 0 for those that seem continuous, from the first rows (row-major, NaN = missing).
pub fn resolution(rows: &[f64], n_columns: usize) -> Vec<f64> {
    let rows = &rows[..rows.len().min(LOOKED_AT * n_columns)];
    (0..n_columns)
        .map(|j| {
            let mut values: Vec<f64> =
                rows.iter().skip(j).step_by(n_columns).copied().filter(|v| !v.is_nan()).collect();
            let n = values.len();
            values.sort_by(f64::total_cmp);
            values.dedup();
            match values[..] {
                [] => 0.0,
                [one] => decimal_step(one),
                _ if 1.0 - values.len() as f64 / n as f64 > TIES => {
                    let mut gaps: Vec<f64> = values.windows(2).map(|pair| pair[1] - pair[0]).collect();
                    gaps.sort_by(f64::total_cmp);
                    gaps[((gaps.len() - 1) as f64 * GAP) as usize]
                }
                _ => 0.0,
            }
        })
        .collect()
}

/// The unit of the last decimal of a number.
fn decimal_step(value: f64) -> f64 {
    let is_whole = |e: &i32| {
        let scaled = value.abs() * 10f64.powi(*e);
        (scaled - scaled.round()).abs() <= 1e-9 * scaled.max(1.0)
    };
    (0..=MOST_DECIMALS).find(is_whole).map_or(0.0, |e| 10f64.powi(-e))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_of_columns_are_seen() {
        let mut rows = Vec::new();
        for i in 0..300 {
            let smooth = (f64::from(i) * 0.618).fract();
            rows.extend([f64::from(i % 17), f64::from(i % 40) / 10.0, smooth, 5.0, 0.25]);
        }
        let steps = resolution(&rows, 5);
        for (step, expected) in steps.iter().zip([1.0, 0.1, 0.0, 1.0, 0.01]) {
            assert!((step - expected).abs() < 1e-9, "{steps:?}");
        }
        assert_eq!(resolution(&[f64::NAN, f64::NAN], 1), [0.0]);
    }
}
