//! What rows tell of the parameters: averages of products of features, of features with cells, and of squared cells.

use super::parameters::Parameters;
use super::rows::Rows;
use crate::num::{self, Grid, Lanes};
use serde::{Deserialize, Serialize};

/// Sums over rows, with a constant as the last feature: A = Σ E\[z̃z̃ᵀ\], B = Σ E\[z̃\]x, q = Σ x². A column that misses
/// cells has an A of its own, over the rows in which it is there. All entries are linear in the rows, so statistics of old
/// and new rows are mixed by mixing them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Statistics {
    /// Features, without the constant.
    pub k: usize,
    /// Columns.
    pub d: usize,
    /// A of complete columns, (k+1) × (k+1), whole.
    pub a: Vec<f64>,
    /// B, (k+1) × d.
    pub b: Vec<f64>,
    /// q.
    pub q: Vec<f64>,
    /// Mass of the rows in which a column is there.
    pub counts: Vec<f64>,
    /// A of the columns that miss cells.
    pub own: Vec<Option<Vec<f64>>>,
    /// The least variance of the noise by column, where it is known.
    pub least_noise: Vec<f64>,
}

/// Buffers that gathering needs, kept between calls.
#[derive(Clone, Debug, Default)]
pub struct Gathering {
    weighted: Vec<f64>,
    by_row: Vec<f64>,
    listed: Lanes,
    means: Vec<f64>,
    products: Vec<f64>,
}

impl Statistics {
    /// Mass of the rows.
    pub fn mass(&self) -> f64 {
        self.a.last().copied().unwrap_or(0.0)
    }

    /// A of a column.
    pub fn a_of(&self, column: usize) -> &[f64] {
        self.own[column].as_deref().unwrap_or(&self.a)
    }

    /// Share of the rows that have feature `k`.
    pub fn share(&self, k: usize) -> f64 {
        let mass = self.mass();
        if mass > 0.0 { self.a[k * (self.k + 1) + self.k] / mass } else { 0.0 }
    }

    /// Sums over `rows`, whose features are there with probabilities `mu`, k × n.
    pub fn gather(&mut self, rows: &Rows, mu: &[f64], k: usize, work: &mut Gathering) {
        self.gather_common(rows, mu, k, work);
        if !rows.holes.is_empty() {
            self.gather_holes(rows, mu, work);
        }
    }

    /// The sums without those that columns with missing cells have of their own.
    pub fn gather_common(&mut self, rows: &Rows, mu: &[f64], k: usize, work: &mut Gathering) {
        let (n, d, s) = (rows.n, rows.d, k + 1);
        (self.k, self.d) = (k, d);
        self.a.clear();
        self.a.resize(s * s, 0.0);
        self.b.resize(s * d, 0.0);
        self.q.clone_from(&rows.squares);
        self.counts.clone_from(&rows.counts);
        self.least_noise.clone_from(&rows.least_noise);
        work.weighted.clear();
        for f in 0..k {
            work.weighted.extend(mu[f * n..][..n].iter().zip(&rows.weights).map(|(m, w)| m * w));
        }
        work.weighted.extend_from_slice(&rows.weights);
        let weighted = Grid::new(&work.weighted, s, n);
        work.products.resize(s * k, 0.0);
        num::multiply(weighted, Grid::new(mu, k, n).transposed(), 1.0, 0.0, &mut work.products);
        num::multiply(weighted, Grid::new(&rows.cells, d, n).transposed(), 1.0, 0.0, &mut self.b);
        for f in 0..=k {
            self.a[f * s..][..f].copy_from_slice(&work.products[f * k..][..f]);
            // z² = z, so that E[z²] is μ: this is the diag(μ − μ²) of E[zzᵀ].
            self.a[f * s + f] = work.weighted[f * n..][..n].iter().sum();
        }
        mirror(&mut self.a, s);
        self.own.clear();
        self.own.resize(d, None);
    }

    /// The A of columns with missing cells: summed over the rows that are fewer, those there or those missing.
    fn gather_holes(&mut self, rows: &Rows, mu: &[f64], work: &mut Gathering) {
        let (n, k, s) = (rows.n, self.k, self.k + 1);
        let Gathering { weighted, by_row, listed, means, products } = work;
        by_row.clear();
        by_row.resize(n * s, 1.0);
        for f in 0..k {
            mu[f * n..][..n].iter().enumerate().for_each(|(i, m)| by_row[i * s + f] = *m);
        }
        let zero = vec![0.0; s];
        for holes in &rows.holes {
            listed.load_indexed(by_row, s, &holes.listed);
            weighted.clear();
            weighted.extend(holes.listed.iter().map(|i| rows.weights[*i as usize]));
            means.clear();
            means.resize(s, 0.0);
            products.clear();
            products.resize(s * s, 0.0);
            num::weighted_moments(listed, weighted, &zero, means, products);
            // z² = z, as above.
            (0..s).for_each(|f| products[f * s + f] = means[f]);
            if holes.lists_missing {
                products.iter_mut().zip(&self.a).for_each(|(own, all)| *own = all - *own);
            }
            mirror(products, s);
            self.own[holes.column] = Some(products.clone());
        }
    }

    /// Divides everything by the mass: averages per row.
    pub fn average(&mut self) {
        let mass = self.mass();
        if mass > 0.0 {
            let per_row = 1.0 / mass;
            let all = self.a.iter_mut().chain(&mut self.b).chain(&mut self.q).chain(&mut self.counts);
            all.chain(self.own.iter_mut().flatten().flatten()).for_each(|v| *v *= per_row);
        }
    }

    /// (1 − ρ)·old + ρ·new, both of the same features.
    pub fn blend(&mut self, old: &Statistics, new: &Statistics, rho: f64) {
        (self.k, self.d) = (old.k, old.d);
        let mix = |out: &mut Vec<f64>, old: &[f64], new: &[f64]| {
            out.clear();
            out.extend(old.iter().zip(new).map(|(o, n)| (1.0 - rho) * o + rho * n));
        };
        self.least_noise.clone_from(&old.least_noise);
        mix(&mut self.a, &old.a, &new.a);
        mix(&mut self.b, &old.b, &new.b);
        mix(&mut self.q, &old.q, &new.q);
        mix(&mut self.counts, &old.counts, &new.counts);
        self.own.resize(old.d, None);
        for j in 0..old.d {
            // A column that was complete so far has had the common A.
            self.own[j] = (old.own[j].is_some() || new.own[j].is_some()).then(|| {
                let mut own = Vec::new();
                mix(&mut own, old.a_of(j), new.a_of(j));
                own
            });
        }
    }

    /// Adds a feature that was not looked for: it was in a row with probability `share`, whatever else was there, adding
    /// `weights` to what `p` says of a row.
    pub fn extend(&mut self, share: f64, weights: &[f64], p: &Parameters) {
        let (k, d, s) = (self.k, self.d, self.k + 1);
        // The new feature goes before the constant.
        let widen = |a: &[f64]| {
            let t = s + 1;
            let mut out = vec![0.0; t * t];
            let place = |i: usize| if i < k { i } else { k + 1 };
            for i in 0..s {
                for j in 0..s {
                    out[place(i) * t + place(j)] = a[i * s + j];
                }
                out[place(i) * t + k] = share * a[i * s + k];
                out[k * t + place(i)] = share * a[i * s + k];
            }
            out[k * t + k] = share * a[s * s - 1];
            out
        };
        let mut new_b = vec![0.0; d];
        for (j, b) in new_b.iter_mut().enumerate() {
            // E[z_new x]: w where it is there, and what the others add, with b lower by what w adds on average.
            let a = self.a_of(j);
            let constant = a[s * s - 1];
            let others: f64 = (0..k).map(|f| p.weights[f * d + j] * a[f * s + k]).sum();
            *b = share * (others + constant * (p.offset[j] - share * weights[j] + weights[j]));
        }
        let constant = self.b.split_off(k * d);
        self.b.extend(new_b);
        self.b.extend(constant);
        self.a = widen(&self.a);
        self.own.iter_mut().flatten().for_each(|own| *own = widen(own));
        self.k += 1;
    }

    /// Forgets the features that are not marked.
    pub fn retain(&mut self, keep: &[bool]) {
        let s = self.k + 1;
        let kept: Vec<usize> = (0..s).filter(|&f| f == self.k || keep[f]).collect();
        let squeeze = |a: &[f64]| kept.iter().flat_map(|&i| kept.iter().map(move |&j| a[i * s + j])).collect();
        self.a = squeeze(&self.a);
        self.own.iter_mut().flatten().for_each(|own| *own = squeeze(own));
        self.b = kept.iter().flat_map(|&i| self.b[i * self.d..][..self.d].iter().copied()).collect();
        self.k = kept.len() - 1;
    }

    /// True when sizes agree and sums are those of some rows: what a file must satisfy.
    pub fn is_sound(&self, n_columns: usize) -> bool {
        let s = self.k.saturating_add(1);
        let is_square = |a: &[f64]| Some(a.len()) == s.checked_mul(s) && a.iter().all(|v| v.is_finite());
        let at_least_0 = |v: &[f64]| v.len() == n_columns && v.iter().all(|v| v.is_finite() && *v >= 0.0);
        self.d == n_columns
            && is_square(&self.a)
            && self.mass() > 0.0
            && Some(self.b.len()) == s.checked_mul(n_columns)
            && self.b.iter().all(|v| v.is_finite())
            && at_least_0(&self.q)
            && at_least_0(&self.counts)
            && self.own.len() == n_columns
            && (self.least_noise.is_empty() || at_least_0(&self.least_noise))
            && self.own.iter().flatten().all(|own| is_square(own))
            && (0..self.k).all(|k| (0.0..=1.0 + 1e-9).contains(&self.share(k)))
    }
}

/// Copies the lower triangle to the upper one.
fn mirror(a: &mut [f64], s: usize) {
    for i in 0..s {
        for j in 0..i {
            a[j * s + i] = a[i * s + j];
        }
    }
}
