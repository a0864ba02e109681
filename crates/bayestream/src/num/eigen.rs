//! Eigenvalues and eigenvectors of a symmetric matrix.

use nalgebra::{DMatrix, SymmetricEigen};

/// Total shifted-QR steps allowed per row. Two to three are usual; a matrix that needs more goes to Jacobi.
const STEPS_PER_ROW: usize = 30;

/// Sweeps allowed to Jacobi, which converges quadratically after the first few.
const MAX_SWEEPS: usize = 60;

/// Eigenvalues in descending order, and eigenvector j in row j of `vectors`, of length one and with
/// its entry of largest magnitude positive. Only the lower triangle of `a` is read.
///
/// An entry that is not finite makes all values NaN, with the identity as vectors.
///
/// ```
/// let (mut values, mut vectors) = ([0.0; 2], [0.0; 4]);
/// bayestream::num::symmetric_eigen(&[2.0, f64::NAN, 1.0, 2.0], 2, &mut values, &mut vectors);
/// assert!((values[0] - 3.0).abs() < 1e-15 && (values[1] - 1.0).abs() < 1e-15);
/// assert!((vectors[0] - 0.5f64.sqrt()).abs() < 1e-15);
/// ```
pub fn symmetric_eigen(a: &[f64], d: usize, values: &mut [f64], vectors: &mut [f64]) {
    assert_eq!(a.len(), d * d, "the matrix must be d by d");
    assert_eq!(values.len(), d, "one value per row");
    assert_eq!(vectors.len(), d * d, "one vector per row");
    set_identity(vectors, d);
    let mut largest = 0.0f64;
    for i in 0..d {
        for &entry in &a[i * d..=i * d + i] {
            if !entry.is_finite() {
                values.fill(f64::NAN);
                return;
            }
            largest = largest.max(entry.abs());
        }
    }
    if largest == 0.0 {
        values.fill(0.0);
        return;
    }
    // Entries of magnitude at most one can neither overflow nor, below the square root of the
    // smallest number, matter beside the largest entry.
    let scaled = DMatrix::from_fn(d, d, |i, j| {
        let entry = a[i.max(j) * d + i.min(j)] / largest;
        if entry.abs() < 1e-150 { 0.0 } else { entry }
    });
    let solved = if d < 3 { None } else { SymmetricEigen::try_new(scaled.clone(), f64::EPSILON, STEPS_PER_ROW * d) };
    let solved = solved.filter(|s| s.eigenvalues.iter().chain(s.eigenvectors.iter()).all(|v| v.is_finite()));
    match solved {
        Some(solved) => {
            values.copy_from_slice(solved.eigenvalues.as_slice());
            // nalgebra stores column-major, so its columns are our rows.
            vectors.copy_from_slice(solved.eigenvectors.as_slice());
        }
        None => {
            let mut matrix = scaled;
            jacobi(matrix.as_mut_slice(), d, vectors);
            for i in 0..d {
                values[i] = matrix[(i, i)];
            }
        }
    }
    for value in values.iter_mut() {
        *value *= largest;
    }
    sort_descending(values, vectors, d);
    for vector in vectors.chunks_exact_mut(d) {
        fix_sign(vector);
    }
}

fn set_identity(matrix: &mut [f64], d: usize) {
    matrix.fill(0.0);
    for i in 0..d {
        matrix[i * d + i] = 1.0;
    }
}

/// Cyclic Jacobi: rotates each off-diagonal entry to zero in turn. Slower than QR beyond a few rows, but cannot fail.
fn jacobi(a: &mut [f64], d: usize, vectors: &mut [f64]) {
    for _ in 0..MAX_SWEEPS {
        let mut n_rotations = 0;
        for p in 0..d {
            for q in p + 1..d {
                let off = a[p * d + q];
                if off.abs() <= f64::EPSILON * 1e-2 * (a[p * d + p].abs() * a[q * d + q].abs()).sqrt()
                    || off.abs() < 1e-300
                {
                    continue;
                }
                n_rotations += 1;
                let ratio = (a[q * d + q] - a[p * d + p]) / (2.0 * off);
                let tangent = ratio.signum() / (ratio.abs() + ratio.hypot(1.0));
                let cosine = 1.0 / tangent.hypot(1.0);
                let sine = tangent * cosine;
                for k in 0..d {
                    let (akp, akq) = (a[k * d + p], a[k * d + q]);
                    a[k * d + p] = cosine * akp - sine * akq;
                    a[k * d + q] = sine * akp + cosine * akq;
                }
                for k in 0..d {
                    let (apk, aqk) = (a[p * d + k], a[q * d + k]);
                    a[p * d + k] = cosine * apk - sine * aqk;
                    a[q * d + k] = sine * apk + cosine * aqk;
                    let (vpk, vqk) = (vectors[p * d + k], vectors[q * d + k]);
                    vectors[p * d + k] = cosine * vpk - sine * vqk;
                    vectors[q * d + k] = sine * vpk + cosine * vqk;
                }
                a[p * d + q] = 0.0;
                a[q * d + p] = 0.0;
            }
        }
        if n_rotations == 0 {
            return;
        }
    }
}

/// Selection sort: d swaps of rows, and equal values keep a deterministic order.
fn sort_descending(values: &mut [f64], vectors: &mut [f64], d: usize) {
    for i in 0..d {
        let mut best = i;
        for j in i + 1..d {
            if values[j] > values[best] {
                best = j;
            }
        }
        if best != i {
            values.swap(i, best);
            let (head, tail) = vectors.split_at_mut(best * d);
            head[i * d..(i + 1) * d].swap_with_slice(&mut tail[..d]);
        }
    }
}

fn fix_sign(vector: &mut [f64]) {
    let mut largest = 0.0f64;
    for &entry in vector.iter() {
        if entry.abs() > largest.abs() {
            largest = entry;
        }
    }
    if largest < 0.0 {
        for entry in vector {
            *entry = -*entry;
        }
    }
}
