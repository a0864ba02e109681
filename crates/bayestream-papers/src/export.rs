//! Rows for other programs, as NumPy files.

use crate::error::ReproduceError;
use crate::outcome::write_whole;
use std::path::Path;

/// Writes row-major rows as a two-dimensional `.npy` file of doubles.
pub fn write_npy(path: &Path, rows: &[f64], n_columns: usize) -> Result<(), ReproduceError> {
    write_whole(path, npy(rows, n_columns))
}

/// NumPy's format 1.0: a magic word, a header padded so that the numbers begin at a multiple of 64 bytes, the numbers.
fn npy(rows: &[f64], n_columns: usize) -> Vec<u8> {
    let n_rows = rows.len() / n_columns.max(1);
    let mut header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': ({n_rows}, {n_columns}), }}");
    let unpadded = 10 + header.len() + 1;
    header.extend(std::iter::repeat_n(' ', unpadded.next_multiple_of(64) - unpadded));
    header.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    rows.iter().for_each(|value| bytes.extend(value.to_le_bytes()));
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_begin_at_a_multiple_of_64() {
        let bytes = npy(&[1.5, -2.0, 3.0, 4.0, 5.0, 6.0], 3);
        assert_eq!(bytes.len() % 64, 48);
        assert_eq!(bytes[bytes.len() - 48..][..8], 1.5f64.to_le_bytes());
        let header = String::from_utf8_lossy(&bytes[10..bytes.len() - 48]).into_owned();
        assert!(header.contains("'shape': (2, 3)") && header.ends_with('\n'));
    }
}
