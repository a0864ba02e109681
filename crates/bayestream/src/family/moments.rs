//! Additive statistics of one component: count, mean and covariance, centred.

use crate::data::LARGEST_FRAMED;
use serde::{Deserialize, Serialize};

/// `count` rows with mean `mean` and covariance `covariance` (row-major, both triangles). Nothing of a prior is inside.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Moments {
    /// Effective number of rows.
    pub count: f64,
    /// Their mean.
    pub mean: Vec<f64>,
    /// Their covariance, divided by the count.
    pub covariance: Vec<f64>,
}

impl Moments {
    /// No rows at all, around `mean`.
    pub fn empty_at(mean: &[f64]) -> Moments {
        Moments { count: 0.0, mean: mean.to_vec(), covariance: vec![0.0; mean.len() * mean.len()] }
    }

    /// How many columns.
    pub fn n_columns(&self) -> usize {
        self.mean.len()
    }

    /// Adds `c` times another's rows.
    pub fn add_scaled(&mut self, c: f64, other: &Moments) {
        let added = c * other.count;
        let total = self.count + added;
        if added == 0.0 || total == 0.0 {
            return;
        }
        let (a, b) = (self.count / total, added / total);
        let d = self.n_columns();
        for i in 0..d {
            for j in 0..d {
                let between = (other.mean[i] - self.mean[i]) * (other.mean[j] - self.mean[j]);
                let at = i * d + j;
                self.covariance[at] = a * self.covariance[at] + b * other.covariance[at] + a * b * between;
            }
        }
        for i in 0..d {
            self.mean[i] += b * (other.mean[i] - self.mean[i]);
        }
        self.count = total;
    }

    /// Adds one whole row.
    pub fn add_row(&mut self, row: &[f64], weight: f64) {
        let d = self.n_columns();
        let total = self.count + weight;
        if total <= 0.0 {
            return;
        }
        let (a, b) = (self.count / total, weight / total);
        for i in 0..d {
            let between = a * b * (row[i] - self.mean[i]);
            let cells = self.covariance[i * d..(i + 1) * d].iter_mut().zip(row.iter().zip(&self.mean));
            cells.for_each(|(v, (x, m))| *v = a * *v + between * (x - m));
        }
        self.mean.iter_mut().zip(row).for_each(|(m, x)| *m += b * (x - *m));
        self.count = total;
    }

    /// What is left when another's rows are taken out; `None` when that is less than a row.
    pub fn without(&self, other: &Moments) -> Option<Moments> {
        let mut left = self.clone();
        if self.count - other.count < 1.0 {
            return None;
        }
        left.add_scaled(-1.0, other);
        let d = left.n_columns();
        (0..d).for_each(|j| left.covariance[j * d + j] = left.covariance[j * d + j].max(0.0));
        Some(left)
    }

    /// Adds raw sums about the present mean: `weight` rows, `sum` = Σ w(x−mean), `scatter` = Σ w(x−mean)(x−mean)'
    /// (lower triangle), after forgetting a share of what is there.
    pub fn absorb(&mut self, keep: f64, weight: f64, sum: &[f64], scatter: &[f64]) {
        let d = self.n_columns();
        let kept = keep * self.count;
        let total = kept + weight;
        if total <= 0.0 {
            return;
        }
        let (a, b) = (kept / total, 1.0 / total);
        for i in 0..d {
            let step_i = sum[i] * b;
            for j in 0..=i {
                // Scatter about the old mean, moved to the new one.
                let value = a * self.covariance[i * d + j] + b * scatter[i * d + j] - step_i * sum[j] * b;
                self.covariance[i * d + j] = value;
                self.covariance[j * d + i] = value;
            }
            // Rounding must not make a variance negative.
            self.covariance[i * d + i] = self.covariance[i * d + i].max(0.0);
        }
        for i in 0..d {
            self.mean[i] += sum[i] * b;
        }
        self.count = total;
    }

    /// The same rows after `x -> factor * x + offset`, column by column.
    pub fn mapped(&self, factor: &[f64], offset: &[f64]) -> Moments {
        let d = self.n_columns();
        Moments {
            count: self.count,
            mean: (0..d).map(|j| self.mean[j] * factor[j] + offset[j]).collect(),
            covariance: (0..d * d).map(|at| self.covariance[at] * factor[at / d] * factor[at % d]).collect(),
        }
    }

    /// True when rows of a frame could have it: what a file must satisfy.
    pub fn is_sound(&self, n_columns: usize) -> bool {
        let most = |largest: f64| move |v: &f64| v.abs() <= 2.0 * largest;
        self.mean.len() == n_columns
            && self.covariance.len() == n_columns * n_columns
            && self.count.is_finite()
            && self.count >= 0.0
            && self.mean.iter().all(most(LARGEST_FRAMED))
            && self.covariance.iter().all(most(LARGEST_FRAMED * LARGEST_FRAMED))
            && (0..n_columns).all(|j| self.covariance[j * n_columns + j] >= 0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of_rows(rows: &[[f64; 2]]) -> Moments {
        let mut m = Moments::empty_at(&[0.3, -0.7]);
        for r in rows {
            let dx = [r[0] - m.mean[0], r[1] - m.mean[1]];
            let scatter = [dx[0] * dx[0], 0.0, dx[0] * dx[1], dx[1] * dx[1]];
            m.absorb(1.0, 1.0, &dx, &scatter);
        }
        m
    }

    fn close(a: &Moments, b: &Moments) -> bool {
        let near = |x: f64, y: f64| (x - y).abs() <= 1e-9 * (1.0 + x.abs().max(y.abs()));
        near(a.count, b.count)
            && a.mean.iter().zip(&b.mean).all(|(x, y)| near(*x, *y))
            && a.covariance.iter().zip(&b.covariance).all(|(x, y)| near(*x, *y))
    }

    fn rows() -> impl Strategy<Value = Vec<[f64; 2]>> {
        prop::collection::vec(prop::array::uniform2(-100.0..100.0_f64), 1..12)
    }

    proptest! {
        #[test]
        fn addition_is_commutative_associative_and_equals_all_rows_at_once(a in rows(), b in rows(), c in rows()) {
            let (ma, mb, mc) = (of_rows(&a), of_rows(&b), of_rows(&c));
            let sum = |x: &Moments, y: &Moments| { let mut z = x.clone(); z.add_scaled(1.0, y); z };
            prop_assert!(close(&sum(&ma, &mb), &sum(&mb, &ma)));
            prop_assert!(close(&sum(&sum(&ma, &mb), &mc), &sum(&ma, &sum(&mb, &mc))));
            let all: Vec<[f64; 2]> = a.iter().chain(&b).copied().collect();
            prop_assert!(close(&sum(&ma, &mb), &of_rows(&all)));
        }

        #[test]
        fn scaling_distributes_over_addition(a in rows(), b in rows(), s in 0.1..5.0_f64) {
            let (ma, mb) = (of_rows(&a), of_rows(&b));
            let scaled = |m: &Moments, s: f64| Moments { count: m.count * s, ..m.clone() };
            let mut left = ma.clone();
            left.add_scaled(1.0, &mb);
            let mut right = scaled(&ma, s);
            right.add_scaled(s, &mb);
            prop_assert!(close(&scaled(&left, s), &right));
        }

        #[test]
        fn mapping_commutes_with_adding(a in rows(), b in rows()) {
            let (f, o) = ([2.5, -0.3], [1.0, 7.0]);
            let (ma, mb) = (of_rows(&a), of_rows(&b));
            let mut left = ma.clone();
            left.add_scaled(1.0, &mb);
            let mut right = ma.mapped(&f, &o);
            right.add_scaled(1.0, &mb.mapped(&f, &o));
            prop_assert!(close(&left.mapped(&f, &o), &right));
        }
    }

    proptest! {
        #[test]
        fn taking_rows_out_undoes_adding_them(first in rows(), second in rows()) {
            let (a, b) = (of_rows(&first), of_rows(&second));
            let mut both = a.clone();
            both.add_scaled(1.0, &b);
            let left = both.without(&b).expect("a row or more is left");
            let tolerance = 1e-6;
            prop_assert!((left.count - a.count).abs() <= tolerance);
            for (x, y) in left.mean.iter().zip(&a.mean) {
                prop_assert!((x - y).abs() <= tolerance, "{left:?} {a:?}");
            }
            for (x, y) in left.covariance.iter().zip(&a.covariance) {
                prop_assert!((x - y).abs() <= 1e-6 * (1.0 + 1e4), "{left:?} {a:?}");
            }
            prop_assert!(b.without(&both).is_none());
        }
    }
}
