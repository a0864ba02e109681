//! Words for people on standard error, text for programs on standard output; neither panics when the reader is gone.

use crate::error::Failure;
use std::fmt::Display;
use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicBool, Ordering};

static QUIET: AtomicBool = AtomicBool::new(false);

/// Silences notes and progress for the rest of the run.
pub fn set_quiet(quiet: bool) {
    QUIET.store(quiet, Ordering::Relaxed);
}

/// Whether a person may be watching standard error and wants to be told.
pub fn shows_progress() -> bool {
    !QUIET.load(Ordering::Relaxed) && io::stderr().is_terminal()
}

/// A line on standard error, unless `--quiet`.
pub fn note(text: impl Display) {
    if !QUIET.load(Ordering::Relaxed) {
        complain(text);
    }
}

/// A line on standard error, always.
pub fn complain(text: impl Display) {
    // When standard error is closed there is nobody left to tell.
    let _ = writeln!(io::stderr(), "{text}");
}

/// Tells of rows left out under `--on-error skip`.
pub fn warn_skipped(n_skipped: u64) {
    if n_skipped > 0 {
        note(format!("warning: {} could not be used and were left out", counted(n_skipped, "row")));
    }
}

/// Tells of inputs that ended within a row.
pub fn warn_unfinished(n_unfinished: u64) {
    if n_unfinished > 0 {
        let rows = counted(n_unfinished, "unfinished row");
        note(format!("warning: {rows} left out: the input ends within its last line (--strict makes this an error)"));
    }
}

/// Text on standard output.
pub fn print(text: &str) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(|error| match error.kind() {
        io::ErrorKind::BrokenPipe => Failure::ClosedPipe,
        _ => Failure::Failed(format!("standard output: cannot be written: {error}; check the disk or the pipe")),
    })
}

/// One JSON document on standard output.
pub fn print_json(document: &impl serde::Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(document)
        .map_err(|error| Failure::Failed(format!("the document cannot be written as JSON: {error}")))?;
    print(&(text + "\n"))
}

/// A whole number with separators between thousands.
pub fn thousands(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::with_capacity(digits.len() * 4 / 3);
    for (ix, digit) in digits.chars().enumerate() {
        if ix > 0 && (digits.len() - ix).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A number of things: `1 row`, `2,000 rows`.
pub fn counted(n: u64, thing: &str) -> String {
    format!("{} {thing}{}", thousands(n), if n == 1 { "" } else { "s" })
}

/// Parts of a model, and the clusters that they make where that is another number: `6 clusters of 19 components`.
pub fn told_parts(n_parts: usize, part: &str, n_clusters: Option<usize>) -> String {
    let parts = counted(n_parts as u64, part);
    match n_clusters {
        Some(n) if n != n_parts => format!("{} of {parts}", counted(n as u64, "cluster")),
        _ => parts,
    }
}

/// What columns that go one way along the stream mean for predictions.
pub fn told_counting(columns: &[impl AsRef<str>]) -> String {
    let names: Vec<&str> = columns.iter().map(AsRef::as_ref).collect();
    let (verb, them) = if names.len() == 1 { ("counts", "it") } else { ("count", "them") };
    format!(
        "{} {verb} along the rows, so that rows to come lie where none has been: leave {them} out unless that is meant",
        names.join(", ")
    )
}

/// That rows ask for more components than there may be.
pub fn told_full(most: usize) -> String {
    format!("; max-components={most} keeps out more")
}

/// Warns of documents whose bytes had to be replaced.
pub fn warn_mended(n_mended: u64) {
    if n_mended > 0 {
        complain(format!(
            "warning: {} held bytes that are not UTF-8; they were read as replacement characters",
            counted(n_mended, "document")
        ));
    }
}

/// A share in percent.
pub fn percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}

/// Columns of text, the first to the left and the others to the right.
pub fn aligned(rows: &[Vec<String>]) -> String {
    let n_columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|c| c.chars().count()).max();
    let widths: Vec<usize> = (0..n_columns).map(|column| width(column).unwrap_or(0)).collect();
    let mut out = String::new();
    for row in rows {
        let mut line = String::new();
        for (column, cell) in row.iter().enumerate() {
            let pad = " ".repeat(widths[column] - cell.chars().count());
            line += &if column == 0 { format!("  {cell}{pad}") } else { format!("  {pad}{cell}") };
        }
        out += line.trim_end();
        out.push('\n');
    }
    out
}

/// A few significant digits, for people.
pub fn short(value: f64) -> String {
    match value {
        v if v.is_nan() => "–".to_string(),
        0.0 => "0".to_string(),
        v if !(1e-3..1e6).contains(&v.abs()) => format!("{v:.3e}"),
        v => {
            let decimals = (3 - v.abs().log10().floor() as i32).clamp(0, 6) as usize;
            let text = format!("{v:.decimals$}");
            match text.contains('.') {
                true => text.trim_end_matches('0').trim_end_matches('.').to_string(),
                false => text,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_separated_from_the_right() {
        assert_eq!([0, 999, 1000, 1234567].map(thousands), ["0", "999", "1,000", "1,234,567"]);
    }

    #[test]
    fn short_numbers_keep_four_digits() {
        assert_eq!([0.0, 1.0, -3.21591, 12345.6, 1.5e-9].map(short), ["0", "1", "-3.216", "12346", "1.500e-9"]);
        assert_eq!(short(f64::NAN), "–");
    }
}
