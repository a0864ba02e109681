//! One text cell → one number.

use crate::CellProblem;

/// Reads a cell: a finite number, or NaN for a missing value (empty, `NA`, `NaN`, `nan`, `null`).
pub(crate) fn parse_cell(cell: &[u8]) -> Result<f64, CellProblem> {
    if let Some(value) = parse_short_decimal(cell) {
        return Ok(value);
    }
    let cell = cell.trim_ascii();
    if is_missing(cell) {
        return Ok(f64::NAN);
    }
    match parse_float(cell) {
        None => Err(CellProblem::NotANumber),
        Some(value) if value.is_infinite() => Err(CellProblem::Infinite),
        Some(value) => Ok(value),
    }
}

/// Whether the (trimmed) cell is one of the marks of a missing value.
pub(crate) fn is_missing(cell: &[u8]) -> bool {
    cell.len() <= 4 && matches!(cell, b"" | b"NA" | b"NaN" | b"nan" | b"null")
}

/// Reads a number in any spelling of the standard library, infinities and NaN included.
pub(crate) fn parse_float(cell: &[u8]) -> Option<f64> {
    parse_short_decimal(cell).or_else(|| std::str::from_utf8(cell).ok()?.parse().ok())
}

/// Plain decimals of at most 15 digits, such as `-12.0625`, which is what most files hold: digits and power of ten are
/// both exact as floats then, so that one division rounds correctly. Anything else is left to the general way.
#[inline]
fn parse_short_decimal(cell: &[u8]) -> Option<f64> {
    const MOST_DIGITS: usize = 15;
    const POWERS: [f64; MOST_DIGITS + 1] =
        [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];
    let (is_negative, digits) = match cell {
        [b'-', digits @ ..] => (true, digits),
        digits => (false, digits),
    };
    if digits.len() > MOST_DIGITS + 1 {
        return None;
    }
    let mut whole = 0u64;
    let mut point = None;
    for (ix, &byte) in digits.iter().enumerate() {
        match byte {
            b'0'..=b'9' => whole = whole * 10 + u64::from(byte - b'0'),
            b'.' if point.is_none() => point = Some(ix),
            _ => return None,
        }
    }
    let n_digits = digits.len() - usize::from(point.is_some());
    if n_digits == 0 || n_digits > MOST_DIGITS {
        return None;
    }
    let n_decimals = point.map_or(0, |ix| digits.len() - 1 - ix);
    let size = whole as f64 / POWERS[n_decimals];
    Some(if is_negative { -size } else { size })
}
