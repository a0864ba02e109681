//! Variational Bayes of a given number of features (Doshi-Velez, Miller, Van Gael and Teh 2009, the finite model): Beta shares,
//! Gaussian weights, noise that is known. Numbers of features from 2 on are tried, and that with the highest bound is taken.

use super::{ByRow, RivalSettings};
use crate::engine::lfm::parameters::Parameters;
use crate::engine::lfm::rows::Rows;
use crate::num::{self, Rng};

/// Rounds of a number of features, at most: their bounds settle long before a sampler would.
const MOST_ROUNDS: usize = 100;

pub(super) fn fit(
    rows: &Rows,
    settings: &RivalSettings,
    key: (u64, u64),
    watch: &mut dyn FnMut(&Parameters),
) -> Parameters {
    let table = ByRow::new(rows);
    let most = settings.most(rows);
    let mut best: Option<(f64, Parameters)> = None;
    for k in most.min(2)..=most {
        if rows.interrupt.is_raised() {
            break;
        }
        let mut rng = num::stream(key.0, key.1, k as u64);
        let mut state = State::new(&table, settings, k, &mut rng);
        let mut before = f64::NEG_INFINITY;
        for _ in 0..settings.sweeps.min(MOST_ROUNDS) {
            state.round(&table);
            if rows.interrupt.is_raised() {
                break;
            }
            let bound = state.bound(&table);
            if bound - before < settings.tolerance * table.n as f64 {
                break;
            }
            before = bound;
        }
        let bound = state.bound(&table);
        if best.as_ref().is_none_or(|(other, _)| bound > *other) {
            let parameters = table.parameters(&state.nu, k, state.means.clone(), vec![0.0; table.d]);
            watch(&parameters);
            best = Some((bound, parameters));
        }
    }
    best.map_or_else(Parameters::default, |(_, parameters)| parameters)
}

/// q: a Bernoulli for each row and feature, a Beta for each feature's share, a Gaussian for each weight.
struct State {
    k: usize,
    alpha: f64,
    /// σ² of the noise and of a weight.
    noise: f64,
    prior: f64,
    /// q(z = 1), row by row.
    nu: Vec<f64>,
    /// The Betas.
    tau: Vec<[f64; 2]>,
    /// Means and variances of the weights, k × d.
    means: Vec<f64>,
    variances: Vec<f64>,
    /// x − Σ ν φ, where a cell is there, row by row.
    residuals: Vec<f64>,
}

impl State {
    fn new(table: &ByRow, settings: &RivalSettings, k: usize, rng: &mut Rng) -> State {
        let nu = (0..table.n * k).map(|_| rng.uniform()).collect();
        let prior = settings.spread * settings.spread;
        let means: Vec<f64> = (0..k * table.d).map(|_| settings.spread * 0.1 * rng.normal()).collect();
        let mut state = State {
            k,
            alpha: settings.alpha,
            noise: settings.noise * settings.noise,
            prior,
            nu,
            tau: vec![[1.0, 1.0]; k],
            variances: vec![prior; k * table.d],
            means,
            residuals: vec![0.0; table.n * table.d],
        };
        state.make_residuals(table);
        state.update_shares(table.n);
        state
    }

    fn make_residuals(&mut self, table: &ByRow) {
        let (k, d) = (self.k, table.d);
        for i in 0..table.n {
            let (cells, observed) = table.row(i);
            let residual = &mut self.residuals[i * d..][..d];
            residual.copy_from_slice(cells);
            for f in 0..k {
                let nu = self.nu[i * k + f];
                residual.iter_mut().zip(&self.means[f * d..][..d]).for_each(|(r, w)| *r -= nu * w);
            }
            residual.iter_mut().zip(observed).for_each(|(r, there)| *r *= there);
        }
    }

    fn round(&mut self, table: &ByRow) {
        let goes_on = |_: &usize| !table.interrupt.is_raised();
        for f in (0..self.k).take_while(goes_on) {
            self.update_weights(table, f);
        }
        for f in (0..self.k).take_while(goes_on) {
            self.update_feature(table, f);
        }
        self.update_shares(table.n);
    }

    fn update_shares(&mut self, n: usize) {
        for f in 0..self.k {
            let count: f64 = self.nu.iter().skip(f).step_by(self.k).sum();
            self.tau[f] = [self.alpha / self.k as f64 + count, 1.0 + n as f64 - count];
        }
    }

    fn update_weights(&mut self, table: &ByRow, f: usize) {
        let (k, d) = (self.k, table.d);
        let (mut weight, mut sum) = (vec![0.0; d], vec![0.0; d]);
        let means = &mut self.means[f * d..][..d];
        for i in 0..table.n {
            let (nu, observed) = (self.nu[i * k + f], table.row(i).1);
            let residual = &self.residuals[i * d..][..d];
            for j in 0..d {
                weight[j] += nu * observed[j];
                sum[j] += nu * (residual[j] + observed[j] * nu * means[j]);
            }
        }
        for j in 0..d {
            let variance = 1.0 / (1.0 / self.prior + weight[j] / self.noise);
            self.variances[f * d + j] = variance;
            // From here on `sum` is how far the mean moves.
            let new = variance * sum[j] / self.noise;
            (sum[j], means[j]) = (new - means[j], new);
        }
        for i in 0..table.n {
            let (nu, observed) = (self.nu[i * k + f], table.row(i).1);
            let residual = &mut self.residuals[i * d..][..d];
            (0..d).for_each(|j| residual[j] -= observed[j] * nu * sum[j]);
        }
    }

    fn update_feature(&mut self, table: &ByRow, f: usize) {
        let (k, d) = (self.k, table.d);
        let prior = num::digamma(self.tau[f][0]) - num::digamma(self.tau[f][1]);
        let (means, variances) = (&self.means[f * d..][..d], &self.variances[f * d..][..d]);
        for i in 0..table.n {
            let (old, observed) = (self.nu[i * k + f], table.row(i).1);
            let residual = &mut self.residuals[i * d..][..d];
            let mut gain = 0.0;
            for j in 0..d {
                gain += observed[j]
                    * (means[j] * (residual[j] + old * means[j]) - 0.5 * (variances[j] + means[j] * means[j]));
            }
            let new = 1.0 / (1.0 + (-(prior + gain / self.noise)).exp());
            self.nu[i * k + f] = new;
            (0..d).for_each(|j| residual[j] -= observed[j] * (new - old) * means[j]);
        }
    }

    /// E\[log p(X, Z, W, π)\] and the entropy of q.
    fn bound(&self, table: &ByRow) -> f64 {
        let (k, d) = (self.k, table.d);
        let mut bound = -0.5 * table.n_cells * (num::LN_2PI + self.noise.ln());
        for i in 0..table.n {
            let (nu, observed) = (&self.nu[i * k..][..k], table.row(i).1);
            let mut squares: f64 = self.residuals[i * d..][..d].iter().map(|r| r * r).sum();
            for f in 0..k {
                let (p, means, variances) = (nu[f], &self.means[f * d..][..d], &self.variances[f * d..][..d]);
                for j in 0..d {
                    squares += observed[j] * p * (variances[j] + (1.0 - p) * means[j] * means[j]);
                }
                bound -= p_ln_p(p) + p_ln_p(1.0 - p);
            }
            bound -= 0.5 * squares / self.noise;
        }
        let per_feature = self.alpha / k as f64;
        for f in 0..k {
            let [a, b] = self.tau[f];
            let sum = num::digamma(a + b);
            let (ln_share, ln_rest) = (num::digamma(a) - sum, num::digamma(b) - sum);
            let count: f64 = self.nu.iter().skip(f).step_by(k).sum();
            bound += count * ln_share + (table.n as f64 - count) * ln_rest;
            bound += per_feature.ln() + (per_feature - 1.0) * ln_share;
            bound += num::ln_gamma(a) + num::ln_gamma(b) - num::ln_gamma(a + b);
            bound -= (a - 1.0) * ln_share + (b - 1.0) * ln_rest;
            for (mean, variance) in self.means[f * d..][..d].iter().zip(&self.variances[f * d..][..d]) {
                bound += 0.5 * (1.0 + (variance / self.prior).ln() - (variance + mean * mean) / self.prior);
            }
        }
        bound
    }
}

/// p log p.
fn p_ln_p(p: f64) -> f64 {
    if p > 0.0 { p * p.ln() } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic::PlantedFeatures;

    /// Every round raises the bound, with and without missing cells.
    #[test]
    fn rounds_raise_the_bound() {
        for missing in [false, true] {
            let mut framed = PlantedFeatures::gaussian(6, 2, 31).rows(0, 60);
            if missing {
                framed.iter_mut().skip(3).step_by(4).for_each(|x| *x = f64::NAN);
            }
            let table = ByRow::new(&Rows::new(&framed, 6, None));
            let settings = RivalSettings { noise: 0.9, spread: 1.3, alpha: 2.0, ..RivalSettings::default() };
            let mut state = State::new(&table, &settings, 3, &mut num::stream(4, 0, 0));
            let mut before = f64::NEG_INFINITY;
            for _ in 0..30 {
                state.round(&table);
                let bound = state.bound(&table);
                assert!(bound >= before - 1e-9 * bound.abs(), "{missing}: {before} {bound}");
                before = bound;
            }
        }
    }
}
