//! Means, spreads and how to print them.

/// Mean and standard deviation (0 for one value); NaN for none.
pub fn mean_sd(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let squares: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
    (mean, if values.len() > 1 { (squares / (n - 1.0)).sqrt() } else { 0.0 * mean })
}

/// The median; of an even number the mean of the two in the middle; NaN for none. Infinities are values.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => sorted[n / 2],
        n => (sorted[n / 2 - 1] + sorted[n / 2]) / 2.0,
    }
}

/// A number with three significant digits, without an exponent.
pub fn three(value: f64) -> String {
    digits(value, 3)
}

/// A number with this many significant digits, without an exponent.
pub fn digits(value: f64, significant: i32) -> String {
    if !value.is_finite() {
        return if value.is_nan() {
            "n/a".into()
        } else if value > 0.0 {
            "∞".into()
        } else {
            "-∞".into()
        };
    }
    let magnitude = if value == 0.0 { 0 } else { value.abs().log10().floor() as i32 };
    format!("{value:.*}", (significant - 1 - magnitude).clamp(0, 12) as usize)
}

/// `mean (sd)`, the spread with as many decimals as the mean; the value alone when there is one only.
pub fn mean_sd_text(values: &[f64]) -> String {
    let (mean, sd) = mean_sd(values);
    let text = three(mean);
    let decimals = text.split('.').nth(1).map_or(0, str::len);
    if values.len() > 1 && sd.is_finite() { format!("{text} ({sd:.decimals$})") } else { text }
}

/// Values one after the other.
pub fn list<T: ToString>(values: impl IntoIterator<Item = T>) -> String {
    values.into_iter().map(|v| v.to_string()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_values() {
        assert_eq!(mean_sd(&[1.0, 3.0]), (2.0, 2f64.sqrt()));
        assert_eq!(mean_sd(&[5.0]), (5.0, 0.0));
        assert_eq!(median(&[3.0, f64::INFINITY, 1.0]), 3.0);
        assert_eq!(median(&[4.0, 1.0, 2.0, 3.0]), 2.5);
        assert!(median(&[]).is_nan());
    }

    #[test]
    fn numbers_are_printed_to_their_digits() {
        assert_eq!(three(0.0012345), "0.00123");
        assert_eq!(three(-17.981), "-18.0");
        assert_eq!(three(1234.5), "1234");
        assert_eq!(three(0.0), "0.00");
        assert_eq!(three(f64::INFINITY), "∞");
        assert_eq!(mean_sd_text(&[0.00101, 0.00103]), "0.00102 (0.00001)");
        assert_eq!(mean_sd_text(&[0.25]), "0.250");
    }
}
