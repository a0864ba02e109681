//! Lines of documents, checked to be UTF-8.

use super::Failure;
use super::plan::DocumentPlan;
use crate::InputError;
use crate::source::lines::Lines;

/// Moves to the next line; false at the end. A line that is too long is a fault of its row alone.
pub(super) fn advance(lines: &mut Lines, plan: &DocumentPlan) -> Result<bool, Failure> {
    lines.advance().map_err(|source| match InputError::from_io(&plan.file, source) {
        error @ InputError::LineTooLong { .. } => Failure::Row(error),
        error => Failure::Input(error),
    })
}

/// Whether the line is UTF-8; if not, it may be mended or is an error. `column_at` finds the column of a byte of the line.
pub(super) fn check_utf8(
    lines: &Lines,
    plan: &DocumentPlan,
    row: u64,
    column_at: impl FnOnce(&[u8], usize) -> Option<String>,
) -> Result<bool, Failure> {
    let line = lines.current();
    let Err(error) = std::str::from_utf8(line) else {
        return Ok(true);
    };
    if plan.lossy {
        return Ok(false);
    }
    let ends_within_letter = error.error_len().is_none();
    if plan.leaves_unfinished && ends_within_letter && lines.is_last_without_feed() {
        return Err(Failure::Unfinished);
    }
    let at = error.valid_up_to();
    Err(Failure::Row(InputError::NotUtf8 {
        place: plan.place(row, Some(lines.number())),
        column: column_at(line, at),
        offset: lines.offset() + at as u64,
        byte: line[at],
    }))
}
