//! One text cell → one number.

use crate::CellProblem;

/// Reads a cell: a finite number, or NaN for a missing value (empty, `NA`, `NaN`, `nan`, `null`).
pub(crate) fn parse_cell(cell: &[u8]) -> Result<f64, CellProblem> {
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
    std::str::from_utf8(cell).ok()?.parse().ok()
}
