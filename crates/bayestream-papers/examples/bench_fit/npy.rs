//! Rows to and from NumPy files of doubles, row-major.

use std::error::Error;
use std::fs;
use std::path::Path;

const MAGIC: &[u8] = b"\x93NUMPY\x01\x00";

pub fn write(path: &Path, rows: &[f64], n_columns: usize) -> Result<(), Box<dyn Error>> {
    let n_rows = rows.len() / n_columns.max(1);
    let mut header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({n_rows}, {n_columns}), }}");
    // The numbers must begin at a multiple of 64 bytes.
    let before_padding = MAGIC.len() + 2 + header.len() + 1;
    header.extend(std::iter::repeat_n(' ', before_padding.next_multiple_of(64) - before_padding));
    header.push('\n');
    let mut bytes = MAGIC.to_vec();
    bytes.extend(u16::try_from(header.len())?.to_le_bytes());
    bytes.extend(header.as_bytes());
    rows.iter().for_each(|value| bytes.extend(value.to_le_bytes()));
    Ok(fs::write(path, bytes)?)
}

/// The rows, and how many columns they have.
pub fn read(path: &Path) -> Result<(Vec<f64>, usize), Box<dyn Error>> {
    let bytes = fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    parse(&bytes).ok_or_else(|| format!("{} is not a NumPy file of row-major doubles", path.display()).into())
}

fn parse(bytes: &[u8]) -> Option<(Vec<f64>, usize)> {
    let (length, rest) = bytes.strip_prefix(MAGIC)?.split_first_chunk::<2>()?;
    let (header, cells) = rest.split_at_checked(usize::from(u16::from_le_bytes(*length)))?;
    let header = std::str::from_utf8(header).ok()?;
    if !header.contains("'<f8'") || !header.contains("'fortran_order': False") {
        return None;
    }
    let shape = header.split_once("'shape': (")?.1.split_once(')')?.0;
    let (_, n_columns) = shape.split_once(',')?;
    let n_columns: usize = n_columns.trim().parse().ok()?;
    let cells = cells.as_chunks::<8>().0.iter().map(|cell| f64::from_le_bytes(*cell)).collect();
    Some((cells, n_columns))
}
