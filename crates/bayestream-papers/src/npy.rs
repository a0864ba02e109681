//! Rows to and from NumPy files of doubles, row-major: what other programs learn from, and what they answer.

use crate::error::ReproduceError;
use crate::outcome::write_whole;
use std::path::Path;

const MAGIC: &[u8] = b"\x93NUMPY\x01\x00";

/// Writes rows as a two-dimensional file.
pub fn write(path: &Path, rows: &[f64], n_columns: usize) -> Result<(), ReproduceError> {
    write_whole(path, format(rows, n_columns))
}

/// The rows of a two-dimensional file, and how many columns they have.
pub fn read(path: &Path) -> Result<(Vec<f64>, usize), ReproduceError> {
    let bytes = std::fs::read(path).map_err(ReproduceError::io(format!("read {}", path.display())))?;
    let reason = "it is no NumPy file of row-major doubles with rows and columns";
    parse(&bytes).ok_or_else(|| ReproduceError::BadData { file: path.to_path_buf(), reason: reason.into() })
}

/// NumPy's format 1.0: a magic word, a header padded so that the numbers begin at a multiple of 64 bytes, the numbers.
fn format(rows: &[f64], n_columns: usize) -> Vec<u8> {
    let n_rows = rows.len() / n_columns.max(1);
    let mut header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({n_rows}, {n_columns}), }}");
    let unpadded = MAGIC.len() + 2 + header.len() + 1;
    header.extend(std::iter::repeat_n(' ', unpadded.next_multiple_of(64) - unpadded));
    header.push('\n');
    let mut bytes = MAGIC.to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    rows.iter().for_each(|value| bytes.extend(value.to_le_bytes()));
    bytes
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_begin_at_a_multiple_of_64_and_are_read_as_written() {
        let rows = [1.5, -2.0, 3.0, 4.0, 5.0, 6.0];
        let bytes = format(&rows, 3);
        assert_eq!(bytes.len() % 64, 48);
        assert_eq!(bytes[bytes.len() - 48..][..8], 1.5f64.to_le_bytes());
        let header = String::from_utf8_lossy(&bytes[10..bytes.len() - 48]).into_owned();
        assert!(header.contains("'shape': (2, 3)") && header.ends_with('\n'));
        assert_eq!(parse(&bytes), Some((rows.to_vec(), 3)));
        assert_eq!(parse(&bytes[..40]), None);
        assert_eq!(parse(&bytes[1..]), None);
    }
}
