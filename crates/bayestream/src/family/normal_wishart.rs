//! The normal-Wishart family: the conjugate prior of a Gaussian with unknown mean and precision.
//!
//! The model: T ~ Wishart(ν, S⁻¹), μ | T ~ N(m, (cT)⁻¹), x | μ, T ~ N(μ, T⁻¹). Rows enter through raw statistics
//! ([`Moments`]: count n, mean x̄, scatter W) that hold nothing of the prior, so they add, merge and can be judged
//! under another prior; the posterior (c, ν, m, L with S = LLᵀ) is a cache made from them.
//!
//! Key: c = c₀ + n · ν = ν₀ + n (ν = 2δ in papers that write δ) · m = (c₀m₀ + n x̄)/c · S = S₀ + W + (c₀n/c)(x̄−m₀)(x̄−m₀)ᵀ.

use super::{Moments, WishartPosterior};
use crate::num::{self, LN_PI, ln_gamma};
use serde::{Deserialize, Serialize};
use std::fmt;

/// A prior that no distribution has.
#[derive(Clone, Debug, PartialEq)]
pub enum IllegalPrior {
    /// Too few degrees of freedom for the number of columns.
    DegreesOfFreedom {
        /// What was asked for.
        nu: f64,
        /// ν must be larger than this.
        bound: f64,
    },
    /// The weight of the prior mean is not positive.
    MeanWeight {
        /// What was asked for.
        c: f64,
    },
    /// The prior scatter is not positive definite, or the sizes do not agree.
    Scatter,
}

impl fmt::Display for IllegalPrior {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            IllegalPrior::DegreesOfFreedom { nu, bound } => write!(
                f,
                "a prior with nu0={nu} (delta0={}) does not exist: nu0 must be larger than the number of columns less \
                 one, here {bound} (delta0 larger than {})",
                nu / 2.0,
                bound / 2.0
            ),
            IllegalPrior::MeanWeight { c } => write!(f, "the weight c0={c} of the prior mean must be positive"),
            IllegalPrior::Scatter => write!(f, "the prior scatter must be a positive definite matrix"),
        }
    }
}

impl std::error::Error for IllegalPrior {}

/// Natural logarithm of the multivariate gamma function Γ_d(a).
pub fn ln_multivariate_gamma(d: usize, a: f64) -> f64 {
    let d = d as f64;
    d * (d - 1.0) / 4.0 * LN_PI + (0..d as usize).map(|j| ln_gamma(a - 0.5 * j as f64)).sum::<f64>()
}

/// A normal-Wishart prior.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NormalWishart {
    c: f64,
    nu: f64,
    mean: Vec<f64>,
    /// S₀, row-major, both triangles.
    scatter: Vec<f64>,
    /// ln |S₀|.
    log_det: f64,
    /// ln Γ_d(ν₀/2).
    log_gamma: f64,
}

/// Buffers for what is made from statistics; nothing is allocated once they have grown.
#[derive(Clone, Debug, Default)]
pub struct WishartScratch {
    pub(super) matrix: Vec<f64>,
    pub(super) vector: Vec<f64>,
}

impl NormalWishart {
    /// ν₀ must be larger than this for the prior to exist.
    pub fn nu_bound(n_columns: usize) -> f64 {
        n_columns as f64 - 1.0
    }

    /// Says what is wrong with ν₀ and c₀, if anything.
    pub fn check(n_columns: usize, c: f64, nu: f64) -> Result<(), IllegalPrior> {
        let bound = Self::nu_bound(n_columns);
        if !(nu > bound && nu.is_finite()) {
            return Err(IllegalPrior::DegreesOfFreedom { nu, bound });
        }
        if !(c > 0.0 && c.is_finite()) {
            return Err(IllegalPrior::MeanWeight { c });
        }
        Ok(())
    }

    /// A prior with the mean's weight c₀, degrees of freedom ν₀, mean m₀ and scatter S₀ (row-major, both triangles).
    pub fn new(c: f64, nu: f64, mean: Vec<f64>, scatter: Vec<f64>) -> Result<NormalWishart, IllegalPrior> {
        let d = mean.len();
        Self::check(d, c, nu)?;
        if scatter.len() != d * d || !mean.iter().chain(&scatter).all(|v| v.is_finite()) {
            return Err(IllegalPrior::Scatter);
        }
        let log_det = num::cholesky(&mut scatter.clone(), d).map_err(|_| IllegalPrior::Scatter)?;
        Ok(NormalWishart { c, nu, mean, scatter, log_det, log_gamma: ln_multivariate_gamma(d, 0.5 * nu) })
    }

    /// A prior with S₀ diagonal; the expected variances are `variances` when ν₀ > d + 1.
    pub fn with_variances(c: f64, nu: f64, mean: Vec<f64>, variances: &[f64]) -> Result<NormalWishart, IllegalPrior> {
        let d = mean.len();
        // Between d − 1 and d + 1 the expectation does not exist; the scale stays that of ν₀ − d + 1 rows.
        let strength = if nu > d as f64 + 1.0 { nu - d as f64 - 1.0 } else { nu - d as f64 + 1.0 };
        let mut scatter = vec![0.0; d * d];
        variances.iter().enumerate().take(d).for_each(|(j, v)| scatter[j * d + j] = strength * v);
        NormalWishart::new(c, nu, mean, scatter)
    }

    /// How many columns.
    pub fn n_columns(&self) -> usize {
        self.mean.len()
    }

    /// The weight c₀ of the mean, in rows.
    pub fn c(&self) -> f64 {
        self.c
    }

    /// The degrees of freedom ν₀.
    pub fn nu(&self) -> f64 {
        self.nu
    }

    /// The mean m₀.
    pub fn mean(&self) -> &[f64] {
        &self.mean
    }

    /// The scatter S₀, row-major.
    pub fn scatter(&self) -> &[f64] {
        &self.scatter
    }

    /// True when it could have been made by [`NormalWishart::new`]: what a file must satisfy.
    pub fn is_sound(&self, n_columns: usize) -> bool {
        self.mean.len() == n_columns
            && NormalWishart::new(self.c, self.nu, self.mean.clone(), self.scatter.clone()).is_ok()
            && self.log_det.is_finite()
            && self.log_gamma.is_finite()
    }

    /// Writes S of the posterior, lower triangle.
    pub(super) fn posterior_scatter(&self, moments: &Moments, out: &mut Vec<f64>) {
        let d = self.mean.len();
        let n = moments.count;
        let between = self.c * n / (self.c + n);
        out.clear();
        out.extend_from_slice(&self.scatter);
        for i in 0..d {
            let off = between * (moments.mean[i] - self.mean[i]);
            for j in 0..=i {
                out[i * d + j] += n * moments.covariance[i * d + j] + off * (moments.mean[j] - self.mean[j]);
            }
        }
    }

    /// The posterior after rows with these statistics.
    pub fn posterior(&self, moments: &Moments) -> WishartPosterior {
        let mut posterior = self.empty_posterior();
        posterior.rebuild(self, moments, &mut WishartScratch::default());
        posterior
    }

    /// The posterior before any row.
    pub fn empty_posterior(&self) -> WishartPosterior {
        let d = self.mean.len();
        let mut posterior = WishartPosterior {
            c: self.c,
            nu: self.nu,
            mean: self.mean.clone(),
            factor: Vec::new(),
            half_log_det: 0.0,
            log_norm: 0.0,
        };
        posterior.rebuild(self, &Moments::empty_at(&vec![0.0; d]), &mut WishartScratch::default());
        posterior
    }

    /// Log marginal likelihood of all rows behind the statistics: the log-density of the rows with μ and T integrated
    /// out.
    pub fn log_marginal(&self, moments: &Moments, scratch: &mut WishartScratch) -> f64 {
        let (d, n) = (self.mean.len(), moments.count);
        if n <= 0.0 {
            return 0.0;
        }
        self.posterior_scatter(moments, &mut scratch.matrix);
        self.log_marginal_at(n, factor_repaired(&mut scratch.matrix, &mut scratch.vector, d).0)
    }

    /// The same of n rows whose posterior's ln |S| is known.
    fn log_marginal_at(&self, n: f64, log_det: f64) -> f64 {
        let (d, c, nu) = (self.mean.len(), self.c + n, self.nu + n);
        let columns = d as f64;
        -0.5 * n * columns * LN_PI + ln_multivariate_gamma(d, 0.5 * nu) - self.log_gamma
            + 0.5 * (self.nu * self.log_det - nu * log_det)
            + 0.5 * columns * (self.c / c).ln()
    }

    /// [`NormalWishart::log_marginal`] of the rows behind a posterior, without factoring anything; none when the posterior is
    /// not that of these n rows but lags behind them.
    pub fn log_marginal_of(&self, posterior: &WishartPosterior, n: f64) -> Option<f64> {
        self.is_prior_of(posterior, n).then(|| self.log_marginal_at(n, posterior.log_det()))
    }

    /// [`NormalWishart::log_marginal`] of the n rows behind a posterior together with others that are all at one place,
    /// by the determinant of a matrix of rank one more; none when the posterior lags behind its rows.
    pub fn log_marginal_with(
        &self,
        posterior: &WishartPosterior,
        n: f64,
        (place, count): (&[f64], f64),
        scratch: &mut WishartScratch,
    ) -> Option<f64> {
        let between = posterior.c() * count / (posterior.c() + count);
        let more = || (between * posterior.distance(place, scratch)).ln_1p();
        self.is_prior_of(posterior, n)
            .then(more)
            .map(|more| self.log_marginal_at(n + count, posterior.log_det() + more))
    }

    fn is_prior_of(&self, posterior: &WishartPosterior, n: f64) -> bool {
        (posterior.c() - self.c - n).abs() <= SAME_COUNT * (self.c + n)
    }

    /// Log posterior odds of one component against two, in a Dirichlet-process mixture with concentration α; the log
    /// marginals of the two are given, so that they are computed once per component and not once per pair.
    pub fn merge_gain(
        &self,
        first: (&Moments, f64),
        second: (&Moments, f64),
        log_alpha: f64,
        scratch: &mut MergeScratch,
    ) -> f64 {
        let (n1, n2) = (first.0.count, second.0.count);
        scratch.both.clone_from(first.0);
        scratch.both.add_scaled(1.0, second.0);
        let together = self.log_marginal(&scratch.both, &mut scratch.wishart);
        Self::merge_gain_of(together, (n1, first.1), (n2, second.1), log_alpha)
    }

    /// The same where the log marginal of both together is known too; counts with the log marginals.
    pub fn merge_gain_of(together: f64, first: (f64, f64), second: (f64, f64), log_alpha: f64) -> f64 {
        let seats = ln_gamma(first.0 + second.0) - ln_gamma(first.0) - ln_gamma(second.0);
        together - first.1 - second.1 + seats - log_alpha
    }
}

/// Two counts are of the same rows when they differ by rounding alone.
const SAME_COUNT: f64 = 1e-9;

/// Buffers of [`NormalWishart::merge_gain`].
#[derive(Clone, Debug)]
pub struct MergeScratch {
    both: Moments,
    wishart: WishartScratch,
}

impl Default for MergeScratch {
    fn default() -> Self {
        MergeScratch { both: Moments::empty_at(&[]), wishart: WishartScratch::default() }
    }
}

/// Factors the lower triangle of `matrix`, raising its diagonal as far as it must; returns the log determinant and how
/// often that was.
pub(super) fn factor_repaired(matrix: &mut [f64], original: &mut Vec<f64>, d: usize) -> (f64, u32) {
    original.clear();
    original.extend_from_slice(matrix);
    let (mut jitter, mut n_repairs) = (1e-14, 0);
    loop {
        if let Ok(log_det) = num::cholesky(matrix, d) {
            return (log_det, n_repairs);
        }
        n_repairs += 1;
        matrix.copy_from_slice(original);
        for j in 0..d {
            // Past full strength only the diagonal is left, which is positive and finite.
            if jitter > 1.0 {
                matrix[j * d..j * d + j].fill(0.0);
            }
            matrix[j * d + j] = (original[j * d + j].max(f64::MIN_POSITIVE) * (1.0 + jitter)).min(1e300);
        }
        jitter *= 10.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::num::{Rng, Whitener, digamma};
    use std::f64::consts::PI;

    fn prior(d: usize) -> NormalWishart {
        let scatter: Vec<f64> =
            (0..d * d).map(|at| if at / d == at % d { 0.7 + 0.2 * (at / d) as f64 } else { 0.15 }).collect();
        let mean = (0..d).map(|j| 0.4 - 0.9 * j as f64).collect();
        NormalWishart::new(0.35, d as f64 + 0.6, mean, scatter).unwrap()
    }

    fn rows(n: usize, d: usize, rng: &mut Rng) -> Vec<f64> {
        (0..n * d).map(|i| rng.normal() * (1.0 + (i % d) as f64) - 0.5).collect()
    }

    fn moments(rows: &[f64], weights: &[f64], d: usize) -> Moments {
        let mut moments = Moments::empty_at(&vec![0.0; d]);
        for (row, w) in rows.chunks(d).zip(weights) {
            let one = Moments { count: *w, mean: row.to_vec(), covariance: vec![0.0; d * d] };
            moments.add_scaled(1.0, &one);
        }
        moments
    }

    #[test]
    fn priors_that_do_not_exist_are_refused_with_the_bound() {
        let error = NormalWishart::new(0.1, 20.0, vec![0.0; 50], vec![0.0; 2500]).unwrap_err();
        assert_eq!(error, IllegalPrior::DegreesOfFreedom { nu: 20.0, bound: 49.0 });
        assert!(error.to_string().contains("49") && error.to_string().contains("24.5"), "{error}");
        assert_eq!(NormalWishart::check(2, 0.0, 5.0), Err(IllegalPrior::MeanWeight { c: 0.0 }));
        assert_eq!(NormalWishart::new(0.1, 5.0, vec![0.0; 2], vec![0.0; 4]), Err(IllegalPrior::Scatter));
        assert!(NormalWishart::new(0.1, 1.01, vec![0.0; 2], vec![1.0, 0.0, 0.0, 1.0]).is_ok());
    }

    /// ∫ over the precision's posterior of the Gaussian density, by the trapezoid rule in ln T.
    #[test]
    fn the_predictive_in_one_column_is_the_integral_over_mean_and_precision() {
        let prior = prior(1);
        let posterior = prior.posterior(&moments(&[0.3, -1.1, 2.0], &[1.0, 0.5, 2.0], 1));
        let (c, nu, s) = (posterior.c, posterior.nu, posterior.factor[0].powi(2));
        for x in [-3.0, 0.2, 1.9, 8.0] {
            let (mut total, step) = (0.0, 1e-3);
            for i in -40_000..20_000 {
                let log_t = f64::from(i) * step;
                let t = log_t.exp();
                // Wishart in one column: Gamma with shape ν/2 and rate S/2; times t, as dT = T d ln T. The mean
                // integrated out leaves N(x | m, (1 + 1/c)/T).
                let log_gamma = 0.5 * nu * (0.5 * s).ln() - ln_gamma(0.5 * nu) + 0.5 * nu * log_t - 0.5 * s * t;
                let precision = t * c / (c + 1.0);
                let off: f64 = x - posterior.mean[0];
                let log_normal = 0.5 * (precision.ln() - (2.0 * PI).ln() - precision * off * off);
                total += step * (log_gamma + log_normal).exp();
            }
            let found = posterior.log_predictive(&[x], &mut WishartScratch::default());
            assert!((found - total.ln()).abs() < 1e-8, "{x}: {found} {}", total.ln());
        }
    }

    #[test]
    fn the_predictive_in_two_columns_is_a_density_with_the_student_s_moments() {
        let prior = prior(2);
        let data = rows(9, 2, &mut num::stream(61, 0, 0));
        let posterior = prior.posterior(&moments(&data, &[1.0; 9], 2));
        let mut scratch = WishartScratch::default();
        let (step, half) = (0.1, 1500);
        let (mut mass, mut variance) = (0.0, 0.0);
        for i in -half..half {
            for j in -half..half {
                let row = [posterior.mean[0] + f64::from(i) * step, posterior.mean[1] + f64::from(j) * step];
                let p = posterior.log_predictive(&row, &mut scratch).exp() * step * step;
                mass += p;
                variance += p * (row[0] - posterior.mean[0]).powi(2);
            }
        }
        let (c, dof) = (posterior.c, posterior.nu - 1.0);
        // Scale S(c+1)/(c·dof) times dof/(dof − 2); the tails beyond the grid hold about 150^-dof.
        let expected = posterior.factor[0].powi(2) * (c + 1.0) / (c * (dof - 2.0));
        assert!((mass - 1.0).abs() < 1e-6, "{mass}");
        assert!((variance / expected - 1.0).abs() < 1e-5, "{variance} {expected}");
    }

    #[test]
    fn rank_one_updates_equal_a_rebuild() {
        for d in [1, 3, 8] {
            let (prior, mut rng) = (prior(d), num::stream(62, d as u64, 0));
            let data = rows(40, d, &mut rng);
            let weights: Vec<f64> = (0..40).map(|i| 0.2 + 0.1 * f64::from(i % 17)).collect();
            let (mut updated, mut scratch) = (prior.empty_posterior(), WishartScratch::default());
            for (row, w) in data.chunks(d).zip(&weights) {
                updated.add(row, *w, &mut scratch);
            }
            let rebuilt = prior.posterior(&moments(&data, &weights, d));
            let near = |a: f64, b: f64| (a - b).abs() < 1e-11 * (1.0 + a.abs());
            assert!(near(updated.c, rebuilt.c) && near(updated.nu, rebuilt.nu));
            assert!(near(updated.log_norm, rebuilt.log_norm) && near(updated.log_det(), rebuilt.log_det()));
            assert!(updated.mean.iter().zip(&rebuilt.mean).all(|(a, b)| near(*a, *b)));
            assert!(updated.factor.iter().zip(&rebuilt.factor).all(|(a, b)| near(*a, *b)));
            assert!(rebuilt.is_sound(d));
        }
    }

    #[test]
    fn the_marginal_likelihood_is_the_chain_of_predictives() {
        for d in [1, 2, 6] {
            let (prior, mut rng) = (prior(d), num::stream(63, d as u64, 0));
            let data = rows(25, d, &mut rng);
            let (mut posterior, mut scratch) = (prior.empty_posterior(), WishartScratch::default());
            let mut chain = 0.0;
            for row in data.chunks(d) {
                chain += posterior.log_predictive(row, &mut scratch);
                posterior.add(row, 1.0, &mut scratch);
            }
            let marginal = prior.log_marginal(&moments(&data, &[1.0; 25], d), &mut scratch);
            assert!((chain - marginal).abs() < 1e-10 * chain.abs(), "{chain} {marginal}");
        }
    }

    #[test]
    fn the_merge_gain_is_the_odds_of_one_component_and_merging_statistics_is_exact() {
        let (d, prior, mut scratch) = (2, prior(2), WishartScratch::default());
        let data = rows(30, d, &mut num::stream(64, 0, 0));
        let (first, second) = data.split_at(11 * d);
        let (m1, m2, all) =
            (moments(first, &[1.0; 11], d), moments(second, &[1.0; 19], d), moments(&data, &[1.0; 30], d));
        let (ml1, ml2) = (prior.log_marginal(&m1, &mut scratch), prior.log_marginal(&m2, &mut scratch));
        let gain = prior.merge_gain((&m1, ml1), (&m2, ml2), 0.3_f64.ln(), &mut MergeScratch::default());
        // Chinese restaurant: α^K ∏ (n_k − 1)!.
        let seats = ln_gamma(30.0) - 0.3_f64.ln() - ln_gamma(11.0) - ln_gamma(19.0);
        let expected = prior.log_marginal(&all, &mut scratch) - ml1 - ml2 + seats;
        assert!((gain - expected).abs() < 1e-10, "{gain} {expected}");
    }

    #[test]
    fn marginals_from_posteriors_are_those_of_the_statistics() {
        for d in [1, 3, 7] {
            let (prior, mut scratch) = (prior(d), WishartScratch::default());
            let data = rows(14, d, &mut num::stream(66, d as u64, 0));
            let (most, one) = data.split_at(13 * d);
            let mut posterior = prior.empty_posterior();
            most.chunks(d).for_each(|row| posterior.add(row, 0.7, &mut scratch));
            let few = moments(most, &[0.7; 13], d);
            let near = |a: f64, b: f64| (a - b).abs() < 1e-10 * (1.0 + b.abs());
            let found = prior.log_marginal_of(&posterior, few.count).unwrap();
            assert!(near(found, prior.log_marginal(&few, &mut scratch)), "{d}: {found}");
            let mut all = few.clone();
            all.add_scaled(1.0, &moments(one, &[1.9], d));
            let found = prior.log_marginal_with(&posterior, few.count, (one, 1.9), &mut scratch).unwrap();
            assert!(near(found, prior.log_marginal(&all, &mut scratch)), "{d}: {found}");
            // A posterior that lags behind says nothing of them.
            assert_eq!(prior.log_marginal_of(&posterior, few.count + 0.7), None);
            assert_eq!(prior.log_marginal_with(&posterior, few.count + 0.7, (one, 1.9), &mut scratch), None);
        }
    }

    #[test]
    fn expectations_are_those_of_drawn_precisions() {
        // In one column T is Gamma and everything has a closed form.
        let posterior = prior(1).posterior(&moments(&[0.3, -1.1, 2.0], &[1.0, 1.0, 1.0], 1));
        let (nu, s) = (posterior.nu, posterior.factor[0].powi(2));
        assert!((posterior.expected_log_det() - (digamma(0.5 * nu) - (0.5 * s).ln())).abs() < 1e-12);
        // E T (x − μ)² = E[T](x − m)² + 1/c, E[T] = ν/S.
        let off: f64 = 0.8 - posterior.mean[0];
        let distance = posterior.distance(&[0.8], &mut WishartScratch::default());
        let expected = nu / s * off * off + 1.0 / posterior.c;
        assert!((posterior.expected_mahalanobis(distance) - expected).abs() < 1e-12);
        // Jensen: the expected log-density is below the log predictive.
        assert!(posterior.expected_log_density(distance) < posterior.log_predictive_at(distance));
    }

    #[test]
    fn the_kernel_s_distances_are_the_posterior_s() {
        let posterior = prior(3).posterior(&moments(&rows(12, 3, &mut num::stream(65, 0, 0)), &[1.0; 12], 3));
        let (mut scratch, mut whitener, mut lanes) =
            (WishartScratch::default(), Whitener::default(), num::Lanes::new());
        posterior.whitener(&mut scratch, &mut whitener);
        let row = [0.3, 2.0, -1.0];
        lanes.load(&row, 3);
        let mut out = [0.0; 8];
        num::mahalanobis(&lanes, &whitener, &mut out);
        assert!((out[0] - posterior.distance(&row, &mut scratch)).abs() < 1e-12);
    }

    #[test]
    fn one_huge_outlier_and_repeated_rows_stay_finite() {
        let (prior, mut scratch) = (prior(4), WishartScratch::default());
        let mut data = vec![0.25; 4 * 20];
        data[..4].copy_from_slice(&[1e8, -1e8, 3e7, 1.0]);
        let all = moments(&data, &[1.0; 20], 4);
        assert!(prior.posterior(&all).is_sound(4));
        assert!(prior.log_marginal(&all, &mut scratch).is_finite());
        let mut updated = prior.empty_posterior();
        data.chunks(4).for_each(|row| updated.add(row, 1.0, &mut scratch));
        assert!(updated.is_sound(4));
    }
}
