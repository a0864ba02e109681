//! Which numbers stand at an axis, and how they are written.

/// Positions and labels along one axis.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Ticks {
    pub values: Vec<f64>,
    pub labels: Vec<String>,
    /// What all labels have in common, such as `×10⁶`; belongs to the title of the axis.
    pub common: Option<String>,
}

/// A step of 1, 2 or 5 times a power of ten, kept apart so that multiples stay exact.
#[derive(Debug, Clone, Copy)]
struct Step {
    digit: f64,
    power: i32,
}

impl Step {
    /// The step of this kind that is nearest to `raw`, as a ratio.
    fn near(raw: f64) -> Step {
        let power = raw.log10().floor() as i32;
        let lead = raw / pow10(power);
        // The borders are the geometric means of neighbours: sqrt(2), sqrt(10), sqrt(50).
        let (digit, carry) = match lead {
            l if l < 1.42 => (1.0, 0),
            l if l < 3.17 => (2.0, 0),
            l if l < 7.08 => (5.0, 0),
            _ => (1.0, 1),
        };
        Step { digit, power: power + carry }
    }

    fn times(self, n: f64) -> f64 {
        if self.power >= 0 { n * self.digit * pow10(self.power) } else { n * self.digit / pow10(-self.power) }
    }
}

fn pow10(power: i32) -> f64 {
    10f64.powi(power)
}

/// About `wanted` round numbers between `lo` and `hi`, never more than `2 * wanted + 2`.
pub(crate) fn linear(lo: f64, hi: f64, wanted: usize) -> Ticks {
    let step = Step::near((hi - lo) / wanted.max(1) as f64);
    let size = step.times(1.0);
    let (first, last) = ((lo / size - 1e-6).ceil(), (hi / size + 1e-6).floor());
    let n = (last - first + 1.0).clamp(0.0, 2.0 * wanted as f64 + 2.0) as usize;
    let indices: Vec<f64> = (0..n).map(|i| first + i as f64).collect();
    let values: Vec<f64> = indices.iter().map(|&i| step.times(i)).collect();
    let (labels, common) = label_linear(step, &indices);
    Ticks { values, labels, common }
}

/// Labels of multiples of a step; very large, very small and very long numbers share a common part.
fn label_linear(step: Step, indices: &[f64]) -> (Vec<String>, Option<String>) {
    let largest = indices.iter().fold(0.0f64, |m, i| m.max(i.abs()));
    // Beyond six digits labels say how far they are from the first tick.
    let offset = if largest * step.digit >= 1e6 { indices.first().copied() } else { None };
    let shown: Vec<f64> = indices.iter().map(|i| i - offset.unwrap_or(0.0)).collect();
    let largest_shown = shown.iter().fold(0.0f64, |m, i| m.max(i.abs()));
    let magnitude = step.times(largest_shown);
    let power =
        if magnitude >= 1e6 || (magnitude > 0.0 && magnitude < 1e-3) { magnitude.log10().floor() as i32 } else { 0 };
    let scaled = Step { digit: step.digit, power: step.power - power };
    let decimals = (-scaled.power).max(0) as usize;
    // Four digits read well without commas, unless longer neighbours have them.
    let grouped = scaled.times(largest_shown) >= 1e4;
    let labels = shown.iter().map(|&i| plain(scaled.times(i), decimals, grouped)).collect();
    let mut common = String::new();
    if power != 0 {
        common.push_str(&format!("×10{}", superscript(power)));
    }
    if let Some(first) = offset {
        let digits = (-step.power).max(0) as usize;
        let (sign, value) = if first < 0.0 { ('−', -first) } else { ('+', first) };
        let gap = if common.is_empty() { "" } else { " " };
        common.push_str(&format!("{gap}{sign} {}", plain(step.times(value), digits.min(20), true)));
    }
    (labels, (!common.is_empty()).then_some(common))
}

/// Ticks of a logarithmic axis; both ends must be positive.
pub(crate) fn logarithmic(lo: f64, hi: f64, wanted: usize) -> Ticks {
    let (low, high) = (lo.log10(), hi.log10());
    let (first, last) = ((low - 1e-9).ceil() as i32, (high + 1e-9).floor() as i32);
    let n_decades = last - first + 1;
    let values: Vec<f64> = if n_decades >= 3 || (n_decades == 2 && wanted < 4) {
        let every = (n_decades as usize).div_ceil(wanted.max(1)) as i32;
        (first..=last).filter(|p| p.rem_euclid(every) == 0).map(pow10).collect()
    } else {
        let within = |v: &f64| *v >= lo * (1.0 - 1e-9) && *v <= hi * (1.0 + 1e-9);
        let decades = (first - 1)..=last;
        let multiples = decades.flat_map(|p| [1.0, 2.0, 5.0].map(|digit| digit * pow10(p)));
        let sparse: Vec<f64> = multiples.filter(within).collect();
        if sparse.len() < 3 {
            return linear(lo, hi, wanted);
        }
        sparse
    };
    let (least, most) = (values.first().copied(), values.last().copied());
    let readable = least.is_some_and(|v| v > 0.9e-3) && most.is_some_and(|v| v < 1.1e6);
    let labels = values.iter().map(|&v| if readable { number(v) } else { power_label(v) }).collect();
    Ticks { values, labels, common: None }
}

fn power_label(value: f64) -> String {
    let power = (value.log10() + 1e-9).floor() as i32;
    let digit = (value / pow10(power)).round();
    let tens = match power {
        0 => "1".to_string(),
        1 => "10".to_string(),
        _ => format!("10{}", superscript(power)),
    };
    if digit == 1.0 { tens } else { format!("{digit}×{tens}") }
}

/// A single value for people: about four significant digits, thousands grouped.
pub(crate) fn number(value: f64) -> String {
    let size = value.abs();
    if !value.is_finite() {
        return "–".to_string();
    }
    if size == 0.0 {
        return "0".to_string();
    }
    let power = size.log10().floor() as i32;
    if !(-4..9).contains(&power) {
        let lead = trimmed(plain(value / pow10(power), 2, true));
        return format!("{lead}×10{}", superscript(power));
    }
    trimmed(plain(value, (3 - power).max(0) as usize, true))
}

fn trimmed(text: String) -> String {
    if !text.contains('.') {
        return text;
    }
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

/// Fixed decimals, thousands grouped if asked for, and a true minus sign.
fn plain(value: f64, decimals: usize, grouped: bool) -> String {
    let text = format!("{:.decimals$}", value.abs());
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let mut out = String::new();
    // A value that rounds to zero has no sign.
    if value < 0.0 && text.chars().any(|c| c.is_ascii_digit() && c != '0') {
        out.push('−');
    }
    for (ix, digit) in whole.chars().enumerate() {
        if grouped && ix > 0 && (whole.len() - ix) % 3 == 0 {
            out.push(',');
        }
        out.push(digit);
    }
    if !fraction.is_empty() {
        out.push('.');
        out.push_str(fraction);
    }
    out
}

fn superscript(power: i32) -> String {
    const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    let raised = |c: char| match c.to_digit(10) {
        Some(digit) => DIGITS[digit as usize],
        None => '⁻',
    };
    power.to_string().chars().map(raised).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_one_two_five() {
        assert_eq!(linear(0.0, 10.0, 5).labels, ["0", "2", "4", "6", "8", "10"]);
        assert_eq!(linear(-1.3, 0.9, 5).labels, ["−1.0", "−0.5", "0.0", "0.5"]);
        assert_eq!(linear(0.0, 50_000.0, 5).labels, ["0", "10,000", "20,000", "30,000", "40,000", "50,000"]);
    }

    #[test]
    fn thousands_are_grouped_for_the_whole_axis_or_not_at_all() {
        assert_eq!(linear(0.0, 2000.0, 4).labels, ["0", "500", "1000", "1500", "2000"]);
        assert_eq!(linear(0.0, 10_000.0, 2).labels, ["0", "5,000", "10,000"]);
    }

    #[test]
    fn extreme_sizes_share_a_power_of_ten() {
        let small = linear(0.0, 4e-12, 4);
        assert_eq!(small.labels, ["0", "1", "2", "3", "4"]);
        assert_eq!(small.common.as_deref(), Some("×10⁻¹²"));
        let large = linear(0.0, 2.5e12, 5);
        assert_eq!(large.labels, ["0.0", "0.5", "1.0", "1.5", "2.0", "2.5"]);
        assert_eq!(large.common.as_deref(), Some("×10¹²"));
    }

    #[test]
    fn a_narrow_range_far_from_zero_is_told_from_its_start() {
        let ticks = linear(1_000_000_000.0, 1_000_000_004.0, 4);
        assert_eq!(ticks.labels, ["0", "1", "2", "3", "4"]);
        assert_eq!(ticks.common.as_deref(), Some("+ 1,000,000,000"));
    }

    #[test]
    fn ticks_stay_inside_the_range_and_few() {
        for (lo, hi) in [(3.1, 97.2), (-5e-9, 2e-10), (1e12, 3e12), (-7.0, -6.9), (0.0, 1e300)] {
            for wanted in 1..12 {
                let ticks = linear(lo, hi, wanted);
                // Ticks may stick out by the millionth of a step that rounding is allowed.
                let slack = (hi - lo) * 1e-5;
                assert!(ticks.values.iter().all(|v| *v >= lo - slack && *v <= hi + slack));
                assert!(ticks.values.len() <= 2 * wanted + 2);
                assert_eq!(ticks.values.len(), ticks.labels.len());
            }
        }
    }

    #[test]
    fn log_ticks_are_decades_or_one_two_five() {
        assert_eq!(logarithmic(1.0, 1000.0, 5).labels, ["1", "10", "100", "1,000"]);
        assert_eq!(logarithmic(3.0, 60.0, 5).labels, ["5", "10", "20", "50"]);
        assert_eq!(logarithmic(1e-9, 1e-3, 7).labels[0], "10⁻⁹");
        assert!(logarithmic(1e-300, 1e300, 6).values.len() <= 7);
    }

    #[test]
    fn single_numbers_are_short() {
        assert_eq!(number(1234567.0), "1,234,567");
        assert_eq!(number(0.123456), "0.1235");
        assert_eq!(number(-12.5), "−12.5");
        assert_eq!(number(3.0e-12), "3×10⁻¹²");
        assert_eq!(number(0.0), "0");
        assert_eq!(number(f64::NAN), "–");
    }
}
