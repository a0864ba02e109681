//! Maximum-expectation Indian buffet process (Reed and Ghahramani 2013): features whose weights are not negative, so that the
//! choice of a row's features is submodular and a local search does well. Weights are distributions, features are choices.

use super::{ByRow, RivalSettings};
use crate::engine::lfm::parameters::Parameters;
use crate::engine::lfm::rows::Rows;
use crate::num;

pub(super) fn fit(
    rows: &Rows,
    settings: &RivalSettings,
    key: (u64, u64),
    watch: &mut dyn FnMut(&Parameters),
) -> Parameters {
    // Deviates: the method is for cells that are not negative. Rows are counted from the least cell of each column, so that
    // any rows will do.
    let mut table = ByRow::new(rows);
    let offset: Vec<f64> = (0..table.d).map(|j| least(&table, j)).collect();
    for i in 0..table.n {
        for j in 0..table.d {
            let at = i * table.d + j;
            table.cells[at] = table.observed[at] * (table.cells[at] - offset[j]);
        }
    }
    let mut state = State::new(&table, settings, settings.most(rows), key);
    let mut before = f64::NEG_INFINITY;
    for _ in 0..settings.sweeps {
        state.expect(&table);
        let n_before = state.k;
        state.choose(&table);
        if table.interrupt.is_raised() {
            break;
        }
        state.drop_unused(table.n);
        let objective = state.objective(&table);
        watch(&shifted(&table, &state, &offset));
        if state.k == n_before && objective - before < settings.tolerance * table.n as f64 {
            break;
        }
        before = objective;
    }
    state.expect(&table);
    shifted(&table, &state, &offset)
}

fn least(table: &ByRow, j: usize) -> f64 {
    let there = (0..table.n).filter(|i| table.observed[i * table.d + j] > 0.0);
    let least = there.map(|i| table.cells[i * table.d + j]).fold(f64::INFINITY, f64::min);
    if least.is_finite() { least } else { 0.0 }
}

/// The model in the rows' own origin.
fn shifted(table: &ByRow, state: &State, offset: &[f64]) -> Parameters {
    let mut parameters = table.parameters(&state.z, state.k, state.means.clone(), vec![0.0; table.d]);
    parameters.offset.copy_from_slice(offset);
    parameters
}

struct State {
    k: usize,
    alpha: f64,
    /// σ² of the noise and of a weight.
    noise: f64,
    prior: f64,
    /// The features of each row: 1 or 0.
    z: Vec<f64>,
    /// E\[w\] and E\[w²\], k × d.
    means: Vec<f64>,
    squares: Vec<f64>,
    /// Entropy of the weights and what the prior says of them, summed.
    weight_terms: f64,
    counts: Vec<f64>,
}

impl State {
    fn new(table: &ByRow, settings: &RivalSettings, k: usize, key: (u64, u64)) -> State {
        let mut rng = num::stream(key.0, key.1, 0);
        let d = table.d;
        let z: Vec<f64> = (0..table.n * k).map(|_| f64::from(u8::from(rng.uniform() < 0.5))).collect();
        let means: Vec<f64> = (0..k * d).map(|_| settings.spread * rng.uniform() / k as f64).collect();
        let squares = means.iter().map(|m| m * m).collect();
        let counts = (0..k).map(|f| z.iter().skip(f).step_by(k).sum()).collect();
        let (noise, prior) = (settings.noise * settings.noise, settings.spread * settings.spread);
        State { k, alpha: settings.alpha, noise, prior, z, means, squares, weight_terms: 0.0, counts }
    }

    /// The weights: Gaussians cut off below zero, one after the other given the means of the others.
    fn expect(&mut self, table: &ByRow) {
        let (n, k, d) = (table.n, self.k, table.d);
        let mut residuals = self.residuals(table);
        self.weight_terms = 0.0;
        for f in 0..k {
            let (mut counts, mut sums) = (vec![0.0; d], vec![0.0; d]);
            let rows = (0..n).filter(|i| self.z[i * k + f] > 0.0);
            for i in rows.clone() {
                let observed = table.row(i).1;
                for j in 0..d {
                    counts[j] += observed[j];
                    sums[j] += residuals[i * d + j] + observed[j] * self.means[f * d + j];
                }
            }
            for j in 0..d {
                let variance = 1.0 / (1.0 / self.prior + counts[j] / self.noise);
                let cut = CutGaussian::new(variance * sums[j] / self.noise, variance);
                let at = f * d + j;
                self.weight_terms +=
                    cut.entropy - 0.5 * (std::f64::consts::PI * self.prior / 2.0).ln() - 0.5 * cut.square / self.prior;
                sums[j] = cut.mean - self.means[at];
                (self.means[at], self.squares[at]) = (cut.mean, cut.square);
            }
            for i in rows {
                let observed = table.row(i).1;
                (0..d).for_each(|j| residuals[i * d + j] -= observed[j] * sums[j]);
            }
        }
    }

    fn residuals(&self, table: &ByRow) -> Vec<f64> {
        let (k, d) = (self.k, table.d);
        let mut residuals = table.cells.clone();
        for i in 0..table.n {
            let observed = table.row(i).1;
            for f in (0..k).filter(|f| self.z[i * k + f] > 0.0) {
                (0..d).for_each(|j| residuals[i * d + j] -= observed[j] * self.means[f * d + j]);
            }
        }
        residuals
    }

    /// What a row's features say of how common a feature is, with the row itself left out.
    fn prior_gain(&self, others: f64, n: usize) -> f64 {
        let per_feature = self.alpha / self.k as f64;
        ((others + per_feature) / (n as f64 - others)).ln()
    }

    /// The features of each row, by turning that over which gains most until none gains.
    fn choose(&mut self, table: &ByRow) {
        let (k, d) = (self.k, table.d);
        let mut residual = vec![0.0; d];
        for i in 0..table.n {
            if table.interrupt.is_raised() {
                return;
            }
            let (cells, observed) = table.row(i);
            residual.copy_from_slice(cells);
            for f in (0..k).filter(|f| self.z[i * k + f] > 0.0) {
                (0..d).for_each(|j| residual[j] -= observed[j] * self.means[f * d + j]);
            }
            // Each turn gains; the number of turns is bounded all the same.
            for _ in 0..4 * k {
                let mut best = (1e-9, 0);
                for f in 0..k {
                    let z = self.z[i * k + f];
                    let (means, squares) = (&self.means[f * d..][..d], &self.squares[f * d..][..d]);
                    let fit: f64 = (0..d)
                        .map(|j| observed[j] * (means[j] * (residual[j] + z * means[j]) - 0.5 * squares[j]))
                        .sum();
                    let with = fit / self.noise + self.prior_gain(self.counts[f] - z, table.n);
                    let gain = if z > 0.0 { -with } else { with };
                    if gain > best.0 {
                        best = (gain, f);
                    }
                }
                let (gain, f) = best;
                if gain <= 1e-9 {
                    break;
                }
                let change = 1.0 - 2.0 * self.z[i * k + f];
                self.z[i * k + f] += change;
                self.counts[f] += change;
                (0..d).for_each(|j| residual[j] -= observed[j] * change * self.means[f * d + j]);
            }
        }
    }

    fn drop_unused(&mut self, n: usize) {
        let kept: Vec<usize> = (0..self.k).filter(|f| self.counts[*f] > 0.0).collect();
        if kept.len() == self.k {
            return;
        }
        let (k, d) = (self.k, self.means.len() / self.k);
        let pick = |v: &[f64]| kept.iter().flat_map(|f| v[f * d..][..d].iter().copied()).collect();
        (self.means, self.squares) = (pick(&self.means), pick(&self.squares));
        self.z = (0..n).flat_map(|i| kept.iter().map(move |f| i * k + f)).map(|at| self.z[at]).collect();
        self.counts = kept.iter().map(|f| self.counts[*f]).collect();
        self.k = kept.len();
    }

    /// E\[log p(X | Z, W)\] + log p(Z), and the weights' terms as they were at the last expectation.
    fn objective(&self, table: &ByRow) -> f64 {
        let (n, k, d) = (table.n, self.k, table.d);
        let residuals = self.residuals(table);
        let mut squares: f64 = residuals.iter().map(|r| r * r).sum();
        for i in 0..n {
            let observed = table.row(i).1;
            for f in (0..k).filter(|f| self.z[i * k + f] > 0.0) {
                for j in 0..d {
                    let mean = self.means[f * d + j];
                    squares += observed[j] * (self.squares[f * d + j] - mean * mean);
                }
            }
        }
        // The Beta-Bernoulli probability of the choices.
        let per_feature = self.alpha / k.max(1) as f64;
        let choices: f64 = self
            .counts
            .iter()
            .map(|m| {
                per_feature.ln() + num::ln_gamma(m + per_feature) + num::ln_gamma(n as f64 - m + 1.0)
                    - num::ln_gamma(n as f64 + 1.0 + per_feature)
            })
            .sum();
        -0.5 * squares / self.noise + choices + self.weight_terms
    }
}

/// A Gaussian cut off below zero.
struct CutGaussian {
    mean: f64,
    square: f64,
    entropy: f64,
}

impl CutGaussian {
    fn new(mean: f64, variance: f64) -> CutGaussian {
        let sd = variance.sqrt();
        let start = -mean / sd;
        let hazard = hazard(start);
        let cut_mean = mean + sd * hazard;
        let cut_variance = (variance * (1.0 + start * hazard - hazard * hazard)).max(0.0);
        // log √(2πe) σ Z + start·φ/2Z, with log Z from the hazard: φ(start)/hazard.
        let ln_mass = -0.5 * (num::LN_2PI + start * start) - hazard.ln();
        let entropy = 0.5 * (num::LN_2PI + 1.0) + sd.ln() + ln_mass + 0.5 * start * hazard;
        CutGaussian { mean: cut_mean.max(0.0), square: cut_variance + cut_mean * cut_mean, entropy }
    }
}

/// φ(x) / (1 − Φ(x)) of a standard Gaussian.
fn hazard(x: f64) -> f64 {
    if x > 25.0 {
        // Three terms of the continued fraction: erfc underflows.
        return x + 1.0 / (x + 2.0 / (x + 3.0 / x));
    }
    let density = (-0.5 * (num::LN_2PI + x * x)).exp();
    (density / (0.5 * libm::erfc(x / std::f64::consts::SQRT_2))).max(f64::MIN_POSITIVE)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Moments and entropy against sums over a fine grid.
    #[test]
    fn a_gaussian_cut_off_below_zero() {
        for (mean, variance) in [(1.3, 0.4), (-0.8, 0.9), (-6.0, 1.5), (4.0, 0.2)] {
            let cut = CutGaussian::new(mean, variance);
            let density = |x: f64| (-0.5 * (x - mean) * (x - mean) / variance).exp();
            let (n, top) = (400_000, mean.max(0.0) + 12.0 * f64::sqrt(variance));
            let grid = || (0..n).map(|i| (f64::from(i) + 0.5) * top / f64::from(n));
            let mass: f64 = grid().map(density).sum();
            let average = |f: &dyn Fn(f64) -> f64| grid().map(|x| f(x) * density(x)).sum::<f64>() / mass;
            let normalised = mass * top / f64::from(n);
            let entropy = average(&|x| -(density(x) / normalised).ln());
            assert!((cut.mean - average(&|x| x)).abs() < 1e-5, "{mean}");
            assert!((cut.square - average(&|x| x * x)).abs() < 1e-5, "{mean}");
            assert!((cut.entropy - entropy).abs() < 1e-4, "{mean}: {} {entropy}", cut.entropy);
        }
        assert!((hazard(24.999) - hazard(25.001)).abs() < 0.01);
    }
}
