//! A Gaussian mixture whose parameters are known.

use super::purpose;
use crate::family::Gauss;
use crate::num::{self, Rng};
use crate::structure::{Posterior, RowBlock};
use serde::{Deserialize, Serialize};
use std::fmt;

/// A mixture with known parameters, in data units. There is as much of everything as there are weights; reading one
/// from a file checks that.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct Truth {
    /// One weight per component; they add up to one.
    pub weights: Vec<f64>,
    /// One mean per component.
    pub means: Vec<Vec<f64>>,
    /// One covariance per component, row-major.
    pub covariances: Vec<Vec<f64>>,
}

/// What a file says, before it is believed.
#[derive(Deserialize)]
struct Unchecked {
    weights: Vec<f64>,
    means: Vec<Vec<f64>>,
    covariances: Vec<Vec<f64>>,
}

/// A description that is not a mixture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotAMixture(String);

impl fmt::Display for NotAMixture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "this is not a mixture: {}", self.0)
    }
}

impl std::error::Error for NotAMixture {}

impl TryFrom<Unchecked> for Truth {
    type Error = NotAMixture;

    fn try_from(raw: Unchecked) -> Result<Truth, NotAMixture> {
        let refuse = |reason: String| Err(NotAMixture(reason));
        let Unchecked { weights, means, covariances } = raw;
        let k = weights.len();
        if k == 0 || means.len() != k || covariances.len() != k {
            return refuse(format!("{k} weights, {} means, {} covariances", means.len(), covariances.len()));
        }
        let total: f64 = weights.iter().sum();
        if weights.iter().any(|w| w.is_nan() || *w < 0.0) || (total - 1.0).abs() > 1e-6 {
            return refuse(format!("the weights must be shares of one; they add up to {total}"));
        }
        let d = means[0].len();
        for (ix, (mean, covariance)) in means.iter().zip(&covariances).enumerate() {
            let n = ix + 1;
            if d == 0 || mean.len() != d || covariance.len() != d * d {
                return refuse(format!("component {n} does not have {d} columns"));
            }
            if mean.iter().any(|m| !m.is_finite()) || num::cholesky(&mut covariance.clone(), d).is_err() {
                return refuse(format!("component {n} needs a finite mean and a positive definite covariance"));
            }
        }
        Ok(Truth { weights, means, covariances })
    }
}

/// Rows laid out at a time: the block stays in the cache while every component passes over it.
const BLOCK: usize = 512;

impl Truth {
    /// How many components.
    pub fn n_components(&self) -> usize {
        self.weights.len()
    }

    /// How many columns.
    pub fn n_columns(&self) -> usize {
        self.means.first().map_or(0, Vec::len)
    }

    /// Free parameters of a mixture of full Gaussians of this size: `K D(D+3)/2 + K − 1`.
    ///
    /// No method that does not know the answer gets, on average over data, much below `n_free / 2N` in divergence
    /// from N rows.
    pub fn n_free(&self) -> f64 {
        let (k, d) = (self.n_components() as f64, self.n_columns() as f64);
        (k * d * (d + 3.0) / 2.0 + k - 1.0).max(0.0)
    }

    /// An endless supply of rows.
    pub fn draws(&self, seed: u64) -> Draws<'_> {
        self.draws_of_part(seed, 0)
    }

    /// The same for one part of a stream: the parts of one seed are unrelated.
    pub(super) fn draws_of_part(&self, seed: u64, part: u64) -> Draws<'_> {
        let d = self.n_columns();
        let factors = self
            .gaussians()
            .iter()
            .map(|gauss| {
                let mut factor = vec![0.0; d * d];
                num::invert_lower(gauss.whiten(), d, &mut factor);
                factor
            })
            .collect();
        Draws { truth: self, factors, noise: vec![0.0; d], rng: num::stream(seed, purpose::ROWS, part << 8) }
    }

    /// `n` rows, row-major, and the component each came from.
    pub fn sample(&self, n: usize, seed: u64) -> (Vec<f64>, Vec<u32>) {
        let (mut rows, mut labels) = (Vec::with_capacity(n * self.n_columns()), Vec::with_capacity(n));
        self.draws(seed).extend(n, &mut rows, &mut labels);
        (rows, labels)
    }

    /// The rows of [`Truth::sample`], all of the first component, then all of the second, and so on.
    pub fn sample_sorted(&self, n: usize, seed: u64) -> (Vec<f64>, Vec<u32>) {
        let (rows, mut labels) = self.sample(n, seed);
        let mut order: Vec<usize> = (0..labels.len()).collect();
        order.sort_by_key(|row| labels[*row]);
        let d = self.n_columns();
        let sorted = order.iter().flat_map(|row| rows[row * d..(row + 1) * d].iter().copied()).collect();
        labels.sort_unstable();
        (sorted, labels)
    }

    /// The log-density of each row, in nats.
    pub fn log_density(&self, rows: &[f64]) -> Vec<f64> {
        let d = self.n_columns();
        if d == 0 {
            return Vec::new();
        }
        let gaussians = self.gaussians();
        let (mut block, mut posterior) = (RowBlock::default(), Posterior::default());
        let mut out = Vec::with_capacity(rows.len() / d);
        for rows in rows.chunks(BLOCK * d) {
            block.load(rows, d);
            let parts = self.weights.iter().map(|w| w.ln()).zip(&gaussians);
            let k = posterior.log_joint(&mut block, parts);
            posterior.normalise(k, block.n_rows());
            out.extend_from_slice(&posterior.log_total[..block.n_rows()]);
        }
        out
    }

    /// The components some of whose rows are wanted, with their weights made to add up to one.
    pub fn only(&self, components: std::ops::Range<usize>) -> Truth {
        let chosen = components.start.min(self.n_components())..components.end.min(self.n_components());
        let total: f64 = self.weights[chosen.clone()].iter().sum();
        Truth {
            weights: self.weights[chosen.clone()].iter().map(|w| w / total).collect(),
            means: self.means[chosen.clone()].to_vec(),
            covariances: self.covariances[chosen].to_vec(),
        }
    }

    fn gaussians(&self) -> Vec<Gauss> {
        self.means.iter().zip(&self.covariances).map(|(mean, cov)| Gauss::with_covariance(mean, cov)).collect()
    }
}

/// Rows of a [`Truth`], one after the other.
#[derive(Clone, Debug)]
pub struct Draws<'a> {
    truth: &'a Truth,
    factors: Vec<Vec<f64>>,
    noise: Vec<f64>,
    rng: Rng,
}

impl Draws<'_> {
    /// Appends `n` rows and their components; none of a mixture without components.
    pub fn extend(&mut self, n: usize, rows: &mut Vec<f64>, labels: &mut Vec<u32>) {
        if self.truth.weights.is_empty() {
            return;
        }
        for _ in 0..n {
            let k = self.rng.categorical(&self.truth.weights);
            labels.push(k as u32);
            self.push_row_of(k, rows);
        }
    }

    /// Appends one row of component `k`.
    pub fn push_row_of(&mut self, k: usize, rows: &mut Vec<f64>) {
        let (d, mean, factor) = (self.noise.len(), &self.truth.means[k], &self.factors[k]);
        self.noise.iter_mut().for_each(|z| *z = self.rng.normal());
        for i in 0..d {
            let step: f64 = (0..=i).map(|j| factor[i * d + j] * self.noise[j]).sum();
            rows.push(mean[i] + step);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two() -> Truth {
        Truth {
            weights: vec![0.3, 0.7],
            means: vec![vec![-1.0, 2.0], vec![4.0, 0.5]],
            covariances: vec![vec![2.0, 0.6, 0.6, 1.0], vec![0.5, -0.2, -0.2, 0.3]],
        }
    }

    #[test]
    fn a_longer_sample_begins_with_the_shorter() {
        let (short, short_labels) = two().sample(40, 11);
        let (long, long_labels) = two().sample(90, 11);
        assert_eq!(long[..80], short);
        assert_eq!(long_labels[..40], short_labels);
        assert_ne!(two().sample(40, 12).0, short);
    }

    #[test]
    fn sorting_moves_rows_with_their_labels() {
        let (rows, labels) = two().sample(60, 3);
        let (sorted, sorted_labels) = two().sample_sorted(60, 3);
        assert!(sorted_labels.is_sorted());
        let of_first: Vec<f64> =
            rows.chunks(2).zip(&labels).filter(|(_, l)| **l == 0).flat_map(|(r, _)| r.to_vec()).collect();
        assert_eq!(sorted[..of_first.len()], of_first);
    }

    #[test]
    fn moments_of_a_sample_are_those_of_the_truth() {
        let (truth, n) = (two(), 200_000);
        let (rows, labels) = truth.sample(n, 5);
        for k in 0..2 {
            let of_k: Vec<&[f64]> =
                rows.chunks(2).zip(&labels).filter(|(_, l)| **l == k as u32).map(|(r, _)| r).collect();
            let m = of_k.len() as f64;
            // Five standard errors of a binomial share, of a mean and of a covariance.
            let w = truth.weights[k];
            assert!((m / n as f64 - w).abs() < 5.0 * (w * (1.0 - w) / n as f64).sqrt());
            let (mean, cov) = (&truth.means[k], &truth.covariances[k]);
            for i in 0..2 {
                let seen = of_k.iter().map(|r| r[i]).sum::<f64>() / m;
                assert!((seen - mean[i]).abs() < 5.0 * (cov[i * 3] / m).sqrt());
                for j in 0..2 {
                    let seen = of_k.iter().map(|r| (r[i] - mean[i]) * (r[j] - mean[j])).sum::<f64>() / m;
                    let spread = cov[i * 3] * cov[j * 3] + cov[i * 2 + j].powi(2);
                    assert!((seen - cov[i * 2 + j]).abs() < 5.0 * (spread / m).sqrt());
                }
            }
        }
    }

    #[test]
    fn the_density_is_that_of_the_formula_and_integrates_to_one() {
        let truth = Truth { weights: vec![1.0], means: vec![vec![1.5]], covariances: vec![vec![4.0]] };
        let expected = -0.5 * ((2.0 * std::f64::consts::PI * 4.0).ln() + (3.0f64 - 1.5).powi(2) / 4.0);
        assert!((truth.log_density(&[3.0])[0] - expected).abs() < 1e-14);
        let step = 0.05;
        let grid: Vec<f64> =
            (-400..500).flat_map(|i| (-400..400).map(move |j| (i, j))).fold(Vec::new(), |mut grid, (i, j)| {
                grid.extend([f64::from(i) * step, f64::from(j) * step]);
                grid
            });
        let total: f64 = two().log_density(&grid).iter().map(|l| l.exp() * step * step).sum();
        assert!((total - 1.0).abs() < 1e-9, "{total}");
    }

    #[test]
    fn files_are_checked() {
        let text = serde_json::to_string(&two()).unwrap();
        assert_eq!(serde_json::from_str::<Truth>(&text).unwrap(), two());
        for (good, bad) in [("0.3", "0.4"), ("[0.3,0.7]", "[1.0]"), ("[-1.0,2.0]", "[-1.0]"), ("0.5,-0.2", "0.0,-0.2")]
        {
            assert!(text.contains(good));
            let error = serde_json::from_str::<Truth>(&text.replace(good, bad)).unwrap_err().to_string();
            assert!(error.contains("not a mixture"), "{error}");
        }
        assert!(serde_json::from_str::<Truth>(r#"{"weights":[],"means":[],"covariances":[]}"#).is_err());
    }

    #[test]
    fn nothing_comes_of_nothing() {
        let empty = Truth { weights: vec![], means: vec![], covariances: vec![] };
        assert_eq!(empty.sample_sorted(5, 1), (vec![], vec![]));
        assert_eq!((empty.log_density(&[1.0]).len(), empty.n_free()), (0, 0.0));
    }

    #[test]
    fn free_parameters_are_counted_as_in_the_papers() {
        let truth = two();
        assert_eq!(truth.n_free(), 2.0 * 5.0 + 1.0);
        assert_eq!(truth.only(1..2).weights, [1.0]);
    }
}
