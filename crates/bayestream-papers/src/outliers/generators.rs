//! Streams that do not change.

use bayestream::num::Rng;

/// A stream of rows that are independent and of one distribution.
pub struct Generator {
    pub name: &'static str,
    pub n_columns: usize,
    /// Appends one row.
    pub row: fn(&mut Rng, &mut Vec<f64>),
}

pub const GENERATORS: [Generator; 6] = [
    Generator { name: "three clusters", n_columns: 3, row: clusters },
    Generator { name: "correlated normals", n_columns: 10, row: correlated },
    Generator { name: "Student's t, 1.5 degrees of freedom", n_columns: 4, row: |rng, out| student(rng, 1.5, 4, out) },
    Generator { name: "Student's t, 3 degrees of freedom", n_columns: 8, row: |rng, out| student(rng, 3.0, 8, out) },
    Generator { name: "log-normal", n_columns: 4, row: log_normal },
    Generator { name: "counts with many ties", n_columns: 4, row: counts },
];

fn clusters(rng: &mut Rng, out: &mut Vec<f64>) {
    let centre = [0.0, 6.0, -5.0][rng.categorical(&[0.5, 0.3, 0.2])];
    let shared = rng.normal();
    out.extend([centre + shared, 0.5 * centre + 0.8 * shared + 0.6 * rng.normal(), rng.normal()]);
}

fn correlated(rng: &mut Rng, out: &mut Vec<f64>) {
    let (first, second) = (rng.normal(), rng.normal());
    (0..10).for_each(|j| out.push(first * f64::from(j) + second + 0.5 * rng.normal()));
}

/// Normals over a common chi.
fn student(rng: &mut Rng, dof: f64, n_columns: usize, out: &mut Vec<f64>) {
    let scale = (2.0 * rng.gamma(dof / 2.0) / dof).sqrt();
    (0..n_columns).for_each(|_| out.push(rng.normal() / scale));
}

fn log_normal(rng: &mut Rng, out: &mut Vec<f64>) {
    let shared = rng.normal();
    out.extend([(0.6 * shared + 0.8 * rng.normal()).exp(), shared.exp()]);
    out.extend([(2.0 * rng.normal()).exp(), (0.3 * rng.normal()).exp()]);
}

/// Two columns of counts, a flag, and a column that is mostly zero.
fn counts(rng: &mut Rng, out: &mut Vec<f64>) {
    let rate = rng.gamma(2.0);
    out.extend([(rate * 3.0).floor(), (rng.gamma(1.0) * rate).floor()]);
    out.push(f64::from(u8::from(rng.uniform() < 0.3)));
    out.push(if rng.uniform() < 0.9 { 0.0 } else { (10.0 * rng.gamma(1.0)).floor() });
}
