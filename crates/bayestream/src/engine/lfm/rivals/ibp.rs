//! Accelerated Gibbs sampling of the Indian buffet process (Doshi-Velez and Ghahramani 2009): the weights are integrated out,
//! and their distribution given all rows but one is kept by updates of rank one, so that a sweep costs a step for each row,
//! feature and column. The sample of the highest probability is taken.

use super::{ByRow, RivalSettings};
use crate::engine::lfm::parameters::Parameters;
use crate::engine::lfm::rows::Rows;
use crate::num::{self, Rng};

/// New features that a row may bring at once.
const MOST_NEW: usize = 4;

pub(super) fn fit(
    rows: &Rows,
    settings: &RivalSettings,
    key: (u64, u64),
    watch: &mut dyn FnMut(&Parameters),
) -> Parameters {
    let mut table = ByRow::new(rows);
    let most = settings.max_features.unwrap_or(usize::MAX);
    let mut buffet = Buffet::new(settings, table.n, table.d);
    let mut best: Option<(f64, Parameters)> = None;
    for sweep in 0..settings.sweeps {
        let mut rng = num::stream(key.0, key.1, sweep as u64);
        buffet.refresh(&table);
        for i in 0..table.n {
            if table.interrupt.is_raised() {
                return best.map_or_else(Parameters::default, |(_, parameters)| parameters);
            }
            buffet.sample_row(&table, i, most, &mut rng);
        }
        buffet.drop_unused();
        buffet.refresh(&table);
        let probability = buffet.log_probability(&table);
        let parameters = || table.parameters(&buffet.z, buffet.k, buffet.means.clone(), vec![0.0; table.d]);
        watch(&parameters());
        if best.as_ref().is_none_or(|(other, _)| probability > *other) {
            best = Some((probability, parameters()));
        }
        buffet.fill(&mut table, &mut rng);
    }
    best.map_or_else(Parameters::default, |(_, parameters)| parameters)
}

struct Buffet {
    n: usize,
    d: usize,
    k: usize,
    alpha: f64,
    /// σ² of the noise and of a weight.
    noise: f64,
    prior: f64,
    /// Features of each row: 1 or 0, row by row.
    z: Vec<f64>,
    /// Rows that have each feature.
    counts: Vec<f64>,
    /// The weights given the rows: covariance (k × k, the same for all columns) and means (k × d).
    covariance: Vec<f64>,
    means: Vec<f64>,
    /// log-determinant of their precision.
    ln_determinant: f64,
    residual: Vec<f64>,
    /// Σz.
    reach: Vec<f64>,
}

impl Buffet {
    fn new(settings: &RivalSettings, n: usize, d: usize) -> Buffet {
        Buffet {
            n,
            d,
            k: 0,
            alpha: settings.alpha,
            noise: settings.noise * settings.noise,
            prior: settings.spread * settings.spread,
            z: Vec::new(),
            counts: Vec::new(),
            covariance: Vec::new(),
            means: Vec::new(),
            ln_determinant: 0.0,
            residual: vec![0.0; d],
            reach: Vec::new(),
        }
    }

    fn row(&self, i: usize) -> &[f64] {
        &self.z[i * self.k..][..self.k]
    }

    /// The weights given all rows, from scratch: what rounding did to them in a sweep is gone.
    fn refresh(&mut self, table: &ByRow) {
        let (n, k, d) = (self.n, self.k, self.d);
        let mut precision = vec![0.0; k * k];
        let mut pulled = vec![0.0; k * d];
        for i in 0..n {
            let (z, cells) = (&self.z[i * k..][..k], table.row(i).0);
            for f in (0..k).filter(|f| z[*f] > 0.0) {
                precision[f * k..][..k].iter_mut().zip(z).for_each(|(p, z)| *p += z / self.noise);
                pulled[f * d..][..d].iter_mut().zip(cells).for_each(|(p, x)| *p += x / self.noise);
            }
        }
        (0..k).for_each(|f| precision[f * k + f] += 1.0 / self.prior);
        // A sum of squares and a positive diagonal is positive definite.
        self.ln_determinant = num::cholesky(&mut precision, k).unwrap_or(0.0);
        let mut inverse = vec![0.0; k * k];
        num::invert_lower(&precision, k, &mut inverse);
        self.covariance = vec![0.0; k * k];
        for l in 0..k {
            let row = &inverse[l * k..][..=l];
            for f in 0..=l {
                self.covariance[f * k..][..=l].iter_mut().zip(row).for_each(|(c, x)| *c += row[f] * x);
            }
        }
        self.means = vec![0.0; k * d];
        for f in 0..k {
            num::add_rows(&self.covariance[f * k..][..k], &pulled, d, &mut self.means[f * d..][..d]);
        }
    }

    /// Draws the features of a row given those of all others.
    fn sample_row(&mut self, table: &ByRow, i: usize, most: usize, rng: &mut Rng) {
        let cells = table.row(i).0;
        let mut spread = self.take_away(cells, i);
        let is_own = |buffet: &Buffet, f: usize| buffet.counts[f] - buffet.z[i * buffet.k + f] <= 0.0;
        for f in 0..self.k {
            if is_own(self, f) {
                continue;
            }
            let had = self.z[i * self.k + f] > 0.0;
            let others = self.counts[f] - self.z[i * self.k + f];
            let now = self.ln_likelihood(self.square(), spread);
            let (square, turned) = self.if_turned(i, f, spread);
            let other = self.ln_likelihood(square, turned);
            let ln_odds = (others / (self.n as f64 - others)).ln() + if had { now - other } else { other - now };
            let has = rng.uniform() < 1.0 / (1.0 + (-ln_odds).exp());
            if has != had {
                spread = self.turn(i, f, spread);
            }
        }
        // What no other row has is drawn anew, with the rest as it is now.
        for f in 0..self.k {
            if is_own(self, f) && self.z[i * self.k + f] > 0.0 {
                spread = self.turn(i, f, spread);
            }
        }
        let n_new = self.n_new(spread, most, rng);
        self.grow(i, n_new);
        self.put_back(i, spread + n_new as f64 * self.prior);
    }

    /// Takes a row out of what is known of the weights. Gives z'Σz without it, and leaves x − z'μ and Σz.
    fn take_away(&mut self, cells: &[f64], i: usize) -> f64 {
        let (k, d) = (self.k, self.d);
        self.follow(cells, i);
        let spread = self.spread(i);
        let left = (self.noise - spread).max(1e-9 * self.noise);
        for f in 0..k {
            let step = self.reach[f] / left;
            let to = &mut self.covariance[f * k..][..k];
            to.iter_mut().zip(&self.reach).for_each(|(c, r)| *c += step * r);
            self.means[f * d..][..d].iter_mut().zip(&self.residual).for_each(|(m, r)| *m -= step * r);
        }
        self.follow(cells, i);
        self.spread(i)
    }

    fn follow(&mut self, cells: &[f64], i: usize) {
        let (k, d) = (self.k, self.d);
        self.residual.copy_from_slice(cells);
        self.reach.clear();
        self.reach.resize(k, 0.0);
        for f in (0..k).filter(|f| self.z[i * k + f] > 0.0) {
            self.residual.iter_mut().zip(&self.means[f * d..][..d]).for_each(|(r, m)| *r -= m);
            self.reach.iter_mut().zip(&self.covariance[f * k..][..k]).for_each(|(r, c)| *r += c);
        }
    }

    /// z'Σz.
    fn spread(&self, i: usize) -> f64 {
        self.row(i).iter().zip(&self.reach).map(|(z, r)| z * r).sum()
    }

    fn square(&self) -> f64 {
        self.residual.iter().map(|r| r * r).sum()
    }

    /// log N(x; z'μ, z'Σz + σ²) but for what no feature changes.
    fn ln_likelihood(&self, square: f64, spread: f64) -> f64 {
        let variance = spread.max(0.0) + self.noise;
        -0.5 * (self.d as f64 * variance.ln() + square / variance)
    }

    /// The squared residual and z'Σz if feature `f` of row `i` were turned over.
    fn if_turned(&self, i: usize, f: usize, spread: f64) -> (f64, f64) {
        let (k, d) = (self.k, self.d);
        let sign = 1.0 - 2.0 * self.z[i * k + f];
        let square = self.residual.iter().zip(&self.means[f * d..][..d]).map(|(r, m)| (r - sign * m) * (r - sign * m));
        (square.sum(), spread + 2.0 * sign * self.reach[f] + self.covariance[f * k + f])
    }

    fn turn(&mut self, i: usize, f: usize, spread: f64) -> f64 {
        let (k, d) = (self.k, self.d);
        let sign = 1.0 - 2.0 * self.z[i * k + f];
        let spread = spread + 2.0 * sign * self.reach[f] + self.covariance[f * k + f];
        self.z[i * k + f] += sign;
        self.counts[f] += sign;
        self.residual.iter_mut().zip(&self.means[f * d..][..d]).for_each(|(r, m)| *r -= sign * m);
        self.reach.iter_mut().zip(&self.covariance[f * k..][..k]).for_each(|(r, c)| *r += sign * c);
        spread
    }

    /// How many features the row brings: Poisson(α/N) before its cells are seen.
    fn n_new(&self, spread: f64, most: usize, rng: &mut Rng) -> usize {
        let used = self.counts.iter().filter(|n| **n > 0.0).count();
        let (square, rate) = (self.square(), (self.alpha / self.n as f64).ln());
        let ln_weights: Vec<f64> = (0..=MOST_NEW.min(most.saturating_sub(used)))
            .map(|n| {
                let prior = n as f64 * rate - num::ln_gamma(n as f64 + 1.0);
                prior + self.ln_likelihood(square, spread + n as f64 * self.prior)
            })
            .collect();
        let top = ln_weights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let weights: Vec<f64> = ln_weights.iter().map(|w| (w - top).exp()).collect();
        rng.categorical(&weights)
    }

    /// Adds features that row `i` alone has.
    fn grow(&mut self, i: usize, n_new: usize) {
        if n_new == 0 {
            return;
        }
        let (n, d, old, new) = (self.n, self.d, self.k, self.k + n_new);
        let mut z = vec![0.0; n * new];
        for row in 0..n {
            z[row * new..][..old].copy_from_slice(&self.z[row * old..][..old]);
        }
        z[i * new + old..][..n_new].fill(1.0);
        let mut covariance = vec![0.0; new * new];
        for f in 0..old {
            covariance[f * new..][..old].copy_from_slice(&self.covariance[f * old..][..old]);
        }
        (old..new).for_each(|f| covariance[f * new + f] = self.prior);
        self.means.resize(new * d, 0.0);
        self.counts.resize(new, 1.0);
        self.reach.resize(new, self.prior);
        (self.z, self.covariance, self.k) = (z, covariance, new);
    }

    /// Takes a row back into what is known of the weights; `spread` is z'Σz without it.
    fn put_back(&mut self, i: usize, spread: f64) {
        let (k, d) = (self.k, self.d);
        let total = self.noise + spread.max(0.0);
        debug_assert_eq!(self.row(i).len(), self.reach.len());
        for f in 0..k {
            let step = self.reach[f] / total;
            let to = &mut self.covariance[f * k..][..k];
            to.iter_mut().zip(&self.reach).for_each(|(c, r)| *c -= step * r);
            self.means[f * d..][..d].iter_mut().zip(&self.residual).for_each(|(m, r)| *m += step * r);
        }
    }

    fn drop_unused(&mut self) {
        let kept: Vec<usize> = (0..self.k).filter(|f| self.counts[*f] > 0.0).collect();
        let k = self.k;
        self.z = (0..self.n).flat_map(|i| kept.iter().map(move |f| i * k + f)).map(|at| self.z[at]).collect();
        self.counts = kept.iter().map(|f| self.counts[*f]).collect();
        self.k = kept.len();
    }

    /// log p(X, Z), but for constants and for features that the same rows have.
    fn log_probability(&self, table: &ByRow) -> f64 {
        let (n, k, d) = (self.n as f64, self.k, self.d as f64);
        let squares: f64 = table.cells.iter().map(|x| x * x).sum();
        let mut explained = 0.0;
        for i in 0..self.n {
            for f in (0..k).filter(|f| self.z[i * k + f] > 0.0) {
                let means = &self.means[f * self.d..][..self.d];
                explained += table.row(i).0.iter().zip(means).map(|(x, m)| x * m).sum::<f64>();
            }
        }
        let cells = -0.5 * (squares - explained) / self.noise
            - 0.5 * d * (self.ln_determinant + k as f64 * self.prior.ln() + n * self.noise.ln());
        let buffet: f64 = self
            .counts
            .iter()
            .map(|m| self.alpha.ln() + num::ln_gamma(n - m + 1.0) + num::ln_gamma(*m) - num::ln_gamma(n + 1.0))
            .sum();
        cells + buffet
    }

    /// Draws the missing cells given all else: the weights first.
    fn fill(&self, table: &mut ByRow, rng: &mut Rng) {
        if table.n_cells as usize == table.cells.len() {
            return;
        }
        let (k, d) = (self.k, self.d);
        let mut factor = self.covariance.clone();
        let mut weights = self.means.clone();
        if num::cholesky(&mut factor, k).is_ok() {
            for j in 0..d {
                let draws: Vec<f64> = (0..k).map(|_| rng.normal()).collect();
                for f in 0..k {
                    weights[f * d + j] += factor[f * k..][..=f].iter().zip(&draws).map(|(l, e)| l * e).sum::<f64>();
                }
            }
        }
        let sd = self.noise.sqrt();
        for i in 0..self.n {
            for j in (0..d).filter(|j| table.observed[i * d + j] == 0.0) {
                let mean: f64 = (0..k).map(|f| self.z[i * k + f] * weights[f * d + j]).sum();
                table.cells[i * d + j] = mean + sd * rng.normal();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Removing a row and putting it back, whatever was drawn in between, leaves what a fresh computation gives.
    #[test]
    fn updates_of_rank_one_agree_with_a_fresh_start() {
        let mut rng = num::stream(5, 0, 0);
        let (n, d) = (40, 5);
        let framed: Vec<f64> = (0..n * d).map(|_| 1.5 * rng.normal()).collect();
        let table = ByRow::new(&Rows::new(&framed, d, None));
        let settings = RivalSettings { noise: 0.6, spread: 1.2, alpha: 4.0, ..RivalSettings::default() };
        let mut buffet = Buffet::new(&settings, n, d);
        buffet.refresh(&table);
        for sweep in 0..3 {
            for i in 0..n {
                buffet.sample_row(&table, i, 20, &mut rng);
            }
            assert!(buffet.k > 0, "{sweep}");
            let kept = buffet.counts.clone();
            let (means, covariance) = (buffet.means.clone(), buffet.covariance.clone());
            buffet.refresh(&table);
            for f in (0..buffet.k).filter(|f| kept[*f] > 0.0) {
                for j in 0..d {
                    assert!((means[f * d + j] - buffet.means[f * d + j]).abs() < 1e-6);
                }
                assert!((covariance[f * buffet.k + f] - buffet.covariance[f * buffet.k + f]).abs() < 1e-6);
            }
            buffet.drop_unused();
            buffet.refresh(&table);
        }
    }

    /// Two rows and one column: the shares of all states that the sampler visits are those of p(Z | X).
    #[test]
    fn samples_follow_the_exact_posterior() {
        let (n, d) = (2, 1);
        let framed = [1.4, 1.1];
        let table = ByRow::new(&Rows::new(&framed, d, None));
        let settings = RivalSettings { noise: 0.7, spread: 1.5, alpha: 0.8, ..RivalSettings::default() };
        let mut buffet = Buffet::new(&settings, n, d);
        buffet.refresh(&table);
        // The posterior of the number of rows' own and shared features (a, b, c), each up to 4, which has all but 1e-4 of it.
        let key = |a: usize, b: usize, c: usize| (a * 5 + b) * 5 + c;
        let mut exact = vec![0.0; 125];
        for (a, b, c) in (0..125).map(|i| (i / 25, i / 5 % 5, i % 5)) {
            let (alpha, noise, prior) = (0.8f64, 0.49, 2.25);
            // Covariance of the two cells given the features.
            let (s11, s22, s12) = (prior * (a + c) as f64 + noise, prior * (b + c) as f64 + noise, prior * c as f64);
            let det = s11 * s22 - s12 * s12;
            let (x, y) = (framed[0], framed[1]);
            let quadratic = (s22 * x * x - 2.0 * s12 * x * y + s11 * y * y) / det;
            let fact = |m: usize| (1..=m).map(|i| i as f64).product::<f64>();
            // Own and shared features are independent Poissons of rates α/2, α/2 and α/2.
            let poisson = |m: usize| (alpha / 2.0).powi(m as i32) / fact(m);
            exact[key(a, b, c)] = poisson(a) * poisson(b) * poisson(c) * det.powf(-0.5) * (-0.5 * quadratic).exp();
        }
        let total: f64 = exact.iter().sum();
        let n_sweeps = 60_000;
        let mut seen = vec![0.0; 125];
        let mut rng = num::stream(6, 0, 0);
        for _ in 0..n_sweeps {
            for i in 0..n {
                buffet.sample_row(&table, i, 20, &mut rng);
            }
            buffet.drop_unused();
            buffet.refresh(&table);
            let mut tally = [0usize; 3];
            for f in 0..buffet.k {
                match (buffet.z[f] > 0.0, buffet.z[buffet.k + f] > 0.0) {
                    (true, false) => tally[0] += 1,
                    (false, true) => tally[1] += 1,
                    _ => tally[2] += 1,
                }
            }
            if tally.iter().all(|m| *m < 5) {
                seen[key(tally[0], tally[1], tally[2])] += 1.0 / f64::from(n_sweeps);
            }
        }
        for (at, (seen, exact)) in seen.iter().zip(&exact).enumerate() {
            let exact = exact / total;
            // Sweeps depend on each other: a few times the error of independent draws.
            let error = (exact * (1.0 - exact) / f64::from(n_sweeps)).sqrt();
            assert!((seen - exact).abs() < 8.0 * error + 2e-3, "{at}: {seen} {exact}");
        }
    }
}
