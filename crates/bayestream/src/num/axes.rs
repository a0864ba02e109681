//! The directions in which a covariance is largest, without all the others.

use super::{Grid, multiply, stream};

/// Rounds of the power method: a subspace is wanted, not single axes, and what lies just outside hardly differs.
const ROUNDS: usize = 10;

/// `n` orthonormal rows of length d that span nearly the leading eigenvectors of a symmetric matrix.
pub fn leading_axes(a: &[f64], d: usize, n: usize) -> Vec<f64> {
    assert_eq!(a.len(), d * d, "the matrix must be d by d");
    let n = n.min(d);
    let mut rng = stream(0, d as u64, n as u64);
    let mut axes: Vec<f64> = (0..n * d).map(|_| rng.normal()).collect();
    orthonormalise(&mut axes, d);
    let mut next = vec![0.0; n * d];
    for _ in 0..ROUNDS {
        multiply(Grid::new(&axes, n, d), Grid::new(a, d, d), 1.0, 0.0, &mut next);
        std::mem::swap(&mut axes, &mut next);
        orthonormalise(&mut axes, d);
    }
    axes
}

/// Gram and Schmidt, twice, which is enough. A row that the others span becomes zero.
fn orthonormalise(rows: &mut [f64], d: usize) {
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
    for i in 0..rows.len() / d {
        let (before, row) = rows.split_at_mut(i * d);
        let row = &mut row[..d];
        let length = dot(row, row).sqrt();
        for _ in 0..2 {
            for other in before.chunks_exact(d) {
                let along = dot(other, row);
                row.iter_mut().zip(other).for_each(|(v, o)| *v -= along * o);
            }
        }
        let left = dot(row, row).sqrt();
        let scale = if left > 1e-12 * length && left.is_normal() { 1.0 / left } else { 0.0 };
        row.iter_mut().for_each(|v| *v *= scale);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_widest_directions_are_found() {
        let d = 50;
        let mut a = vec![0.0; d * d];
        (0..d).for_each(|j| a[j * d + j] = if j % 10 == 0 { 20.0 + j as f64 } else { 1.0 });
        let axes = leading_axes(&a, d, 5);
        for j in (0..d).step_by(10) {
            let inside: f64 = axes.chunks_exact(d).map(|axis| axis[j] * axis[j]).sum();
            assert!((inside - 1.0).abs() < 1e-6, "{j}: {inside}");
        }
        assert!(leading_axes(&vec![0.0; d * d], d, 5).iter().all(|v| v.is_finite()));
    }
}
