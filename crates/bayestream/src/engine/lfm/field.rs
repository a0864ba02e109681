//! The E-step: probabilities of features in rows, by mean field.

use super::parameters::{Parameters, ln_rest, ln_share, log_odds};
use super::rows::{Holes, Rows};
use crate::num;

/// Log-odds beyond this are certain.
const MOST_LOG_ODDS: f64 = 700.0;
/// Acceleration has settled when a share moves by less than this part of itself.
const SETTLED: f64 = 1e-7;

/// How a share follows from the rows at hand: (1 − ρ)·old + ρ·mean μ. All rows at hand: ρ = 1.
#[derive(Clone, Copy, Debug)]
pub struct Follow<'a> {
    /// Shares before these rows.
    pub old: &'a [f64],
    /// The part of these rows.
    pub rho: f64,
}

impl Follow<'_> {
    /// Shares are those of the rows at hand.
    pub const ALL: Follow<'static> = Follow { old: &[], rho: 1.0 };

    fn share(&self, k: usize, mean: f64) -> f64 {
        self.old.get(k).map_or(mean, |old| (1.0 - self.rho) * old + self.rho * mean)
    }
}

/// q(Z): μ of every feature and row, feature by feature, and what its updates need.
#[derive(Clone, Debug, Default)]
pub struct Field {
    /// Features.
    pub k: usize,
    /// Rows.
    pub n: usize,
    /// μ, k × n.
    pub mu: Vec<f64>,
    /// Which feature is which, through removals.
    pub tags: Vec<u32>,
    /// WᵀΛ(x − b) over complete columns, k × n.
    drive: Vec<f64>,
    /// WᵀΛW over complete columns.
    gram: Vec<f64>,
    /// x − b − Wμ of the columns with missing cells, 0 where missing.
    residual: Vec<f64>,
    /// wᵀΛw over the columns with missing cells, as far as they are there, k × n.
    strength: Vec<f64>,
    /// c of the feature at hand.
    odds: Vec<f64>,
    /// Its μ before the update.
    before: Vec<f64>,
    factors: Vec<f64>,
}

impl Field {
    /// A field without features.
    pub fn empty(n: usize) -> Field {
        Field { n, ..Field::default() }
    }

    /// μ of a feature.
    pub fn of(&self, k: usize) -> &[f64] {
        &self.mu[k * self.n..][..self.n]
    }

    /// Adds a feature.
    pub fn push(&mut self, mu: &[f64]) {
        self.mu.extend_from_slice(mu);
        self.tags.push(self.tags.iter().max().map_or(0, |tag| tag + 1));
        self.k += 1;
    }

    /// Every row has each feature as probably as any row.
    pub fn reset(&mut self, n: usize, shares: &[f64]) {
        (self.k, self.n) = (shares.len(), n);
        self.tags = (0..self.k as u32).collect();
        self.mu.clear();
        shares.iter().for_each(|share| self.mu.resize(self.mu.len() + n, *share));
    }

    /// Forgets the features that are not marked.
    pub fn retain(&mut self, keep: &[bool]) {
        let kept: Vec<usize> = (0..self.k).filter(|&k| keep[k]).collect();
        for (to, &from) in kept.iter().enumerate() {
            self.mu.copy_within(from * self.n..(from + 1) * self.n, to * self.n);
        }
        self.tags = kept.iter().map(|&k| self.tags[k]).collect();
        self.k = kept.len();
        self.mu.truncate(self.k * self.n);
    }

    /// Takes new parameters: what depends on them is made anew.
    pub fn prepare(&mut self, rows: &Rows, p: &Parameters) {
        let (n, d, k) = (self.n, rows.d, self.k);
        let mut lambda = p.precision.clone();
        rows.holes.iter().for_each(|h| lambda[h.column] = 0.0);
        self.drive.resize(k * n, 0.0);
        self.gram.resize(k * k, 0.0);
        self.factors.resize(d, 0.0);
        for f in 0..k {
            for j in 0..d {
                self.factors[j] = lambda[j] * p.weights[f * d + j];
            }
            let shift: f64 = self.factors.iter().zip(&p.offset).map(|(a, b)| a * b).sum();
            let drive = &mut self.drive[f * n..][..n];
            drive.fill(-shift);
            num::add_rows(&self.factors, &rows.cells, n, drive);
            num::dots(&self.factors, &p.weights, d, &mut self.gram[f * k..][..k]);
        }
        self.residual.resize(rows.holes.len() * n, 0.0);
        for (h, holes) in rows.holes.iter().enumerate() {
            let residual = &mut self.residual[h * n..][..n];
            self.factors.clear();
            self.factors.extend((0..k).map(|f| -p.weights[f * d + holes.column]));
            residual.copy_from_slice(rows.column(holes.column));
            residual.iter_mut().for_each(|r| *r -= p.offset[holes.column]);
            num::add_rows(&self.factors, &self.mu, n, residual);
            residual.iter_mut().zip(&holes.observed).for_each(|(r, o)| *r *= o);
        }
        self.strength.clear();
        self.strength.resize(if rows.holes.is_empty() { 0 } else { k * n }, 0.0);
        for (f, strength) in self.strength.chunks_exact_mut(n.max(1)).enumerate() {
            let mut everywhere = 0.0;
            for holes in &rows.holes {
                let w = p.weights[f * d + holes.column];
                let part = p.precision[holes.column] * w * w;
                let at_listed = if holes.lists_missing { -part } else { part };
                everywhere += if holes.lists_missing { part } else { 0.0 };
                holes.listed.iter().for_each(|i| strength[*i as usize] += at_listed);
            }
            // Where nothing is there, rounding must not leave less than nothing.
            strength.iter_mut().for_each(|s| *s = (*s + everywhere).max(0.0));
        }
    }

    /// c_nk of (11) for all rows, given the other features.
    fn find_odds(&mut self, f: usize, rows: &Rows, p: &Parameters) {
        let (n, k, d) = (self.n, self.k, p.d);
        self.odds.clear();
        self.odds.extend_from_slice(&self.drive[f * n..][..n]);
        let half = 0.5 * self.gram[f * k + f];
        self.odds.iter_mut().for_each(|c| *c -= half);
        self.factors.clear();
        self.factors.extend((0..k).map(|l| if l == f { 0.0 } else { -self.gram[f * k + l] }));
        num::add_rows(&self.factors, &self.mu, n, &mut self.odds);
        if rows.holes.is_empty() {
            return;
        }
        self.factors.clear();
        self.factors.extend(rows.holes.iter().map(|h| p.precision[h.column] * p.weights[f * d + h.column]));
        num::add_rows(&self.factors, &self.residual, n, &mut self.odds);
        let (mu, strength) = (&self.mu[f * n..][..n], &self.strength[f * n..][..n]);
        for i in 0..n {
            self.odds[i] += (mu[i] - 0.5) * strength[i];
        }
    }

    /// μ of a feature by its odds and a shift of them, the last two terms of (11).
    fn settle(&mut self, f: usize, shift: f64) {
        let mu = &mut self.mu[f * self.n..][..self.n];
        for (mu, c) in mu.iter_mut().zip(&self.odds) {
            *mu = -(c + shift).clamp(-MOST_LOG_ODDS, MOST_LOG_ODDS);
        }
        num::exp_slice(mu);
        mu.iter_mut().for_each(|m| *m = 1.0 / (1.0 + *m));
    }

    /// The residuals follow a feature that moved.
    fn carry(&mut self, f: usize, rows: &Rows, p: &Parameters) {
        let n = self.n;
        let mu = &self.mu[f * n..][..n];
        for (h, holes) in rows.holes.iter().enumerate() {
            let w = p.weights[f * p.d + holes.column];
            let residual = &mut self.residual[h * n..][..n];
            for i in 0..n {
                residual[i] -= w * (mu[i] - self.before[i]) * holes.observed[i];
            }
        }
    }

    fn remember(&mut self, f: usize, rows: &Rows) {
        if !rows.holes.is_empty() {
            self.before.clear();
            self.before.extend_from_slice(&self.mu[f * self.n..][..self.n]);
        }
    }

    /// One sweep of updates over the features in turn. `penalty` is D/2N, or 0 for plain EM.
    pub fn sweep(&mut self, rows: &Rows, p: &Parameters, penalty: f64) {
        for f in 0..self.k {
            self.find_odds(f, rows, p);
            self.remember(f, rows);
            // [FAB/LFM] (11)
            self.settle(f, shift(p.shares[f], penalty));
            self.carry(f, rows, p);
        }
    }

    /// accelerateShrinkage: each feature in turn, μ and π until they agree or `steps` times.
    pub fn accelerate(&mut self, rows: &Rows, p: &mut Parameters, penalty: f64, steps: usize, follow: Follow<'_>) {
        if rows.mass <= 0.0 {
            return;
        }
        for f in 0..self.k {
            self.find_odds(f, rows, p);
            self.remember(f, rows);
            for _ in 0..steps {
                self.settle(f, shift(p.shares[f], penalty));
                let share = follow.share(f, mean(self.of(f), rows));
                let change = (share - p.shares[f]).abs();
                p.shares[f] = share;
                if change < SETTLED * share {
                    break;
                }
            }
            if steps > 0 {
                self.carry(f, rows, p);
            }
        }
    }

    /// Σ of the rows' entropies.
    pub fn entropy(&mut self, rows: &Rows) -> f64 {
        let (n, k) = (self.n, self.k);
        let (odds, before) = (&mut self.odds, &mut self.before);
        let mut total = 0.0;
        for f in 0..k {
            let mu = &self.mu[f * n..][..n];
            odds.clear();
            odds.extend(mu.iter().map(|m| m.max(f64::MIN_POSITIVE)));
            before.clear();
            before.extend(mu.iter().map(|m| (1.0 - m).max(f64::MIN_POSITIVE)));
            num::ln_slice(odds);
            num::ln_slice(before);
            for i in 0..n {
                total -= rows.weights[i] * (mu[i] * odds[i] + (1.0 - mu[i]) * before[i]);
            }
        }
        total
    }

    /// x − b − Wμ of all columns, d × n, 0 where missing.
    pub fn residuals(&self, rows: &Rows, p: &Parameters, out: &mut Vec<f64>) {
        let n = self.n;
        out.clear();
        out.extend_from_slice(&rows.cells);
        let mut factors = vec![0.0; self.k];
        for j in 0..rows.d {
            let column = &mut out[j * n..][..n];
            column.iter_mut().for_each(|r| *r -= p.offset[j]);
            (0..self.k).for_each(|f| factors[f] = -p.weights[f * p.d + j]);
            num::add_rows(&factors, &self.mu, n, column);
        }
        for holes in &rows.holes {
            out[holes.column * n..][..n].iter_mut().zip(&holes.observed).for_each(|(r, o)| *r *= o);
        }
    }

    /// The bound of each row's log-density: E\[log p(x, z)\] + entropy, without the penalty of the criterion.
    pub fn row_bounds(&self, rows: &Rows, p: &Parameters, residuals: &mut Vec<f64>, out: &mut Vec<f64>) {
        let (n, d) = (self.n, rows.d);
        self.residuals(rows, p, residuals);
        let ln_noise: Vec<f64> = p.precision.iter().map(|l| 0.5 * (l.ln() - num::LN_2PI)).collect();
        out.clear();
        out.resize(n, ln_noise.iter().sum());
        for j in 0..d {
            let half = 0.5 * p.precision[j];
            residuals[j * n..][..n].iter().zip(&mut *out).for_each(|(r, e)| *e -= half * r * r);
        }
        for holes in &rows.holes {
            let missing = ln_noise[holes.column];
            holes.observed.iter().zip(&mut *out).for_each(|(o, e)| *e -= (1.0 - o) * missing);
        }
        for f in 0..self.k {
            let w = p.feature(f);
            let all: f64 = w.iter().zip(&p.precision).map(|(w, l)| l * w * w).sum();
            let (on, off) = (ln_share(p.shares[f]), ln_rest(p.shares[f]));
            for (i, (m, e)) in self.of(f).iter().zip(&mut *out).enumerate() {
                let missing = |h: &Holes| (1.0 - h.observed[i]) * p.precision[h.column] * w[h.column].powi(2);
                let strength = all - rows.holes.iter().map(missing).sum::<f64>();
                let (yes, no) = (m.max(f64::MIN_POSITIVE), (1.0 - m).max(f64::MIN_POSITIVE));
                *e += m * (on - yes.ln()) + (1.0 - m) * (off - no.ln()) - 0.5 * m * (1.0 - m) * strength;
            }
        }
    }
}

/// η(π) − D/(2Nπ): what the prior and the criterion say of a feature before any row is looked at.
fn shift(share: f64, penalty: f64) -> f64 {
    let pressure = if penalty > 0.0 { penalty / share.max(1e-300) } else { 0.0 };
    (log_odds(share) - pressure).max(-1e6)
}

/// The mean of one value per row.
pub fn mean(values: &[f64], rows: &Rows) -> f64 {
    values.iter().zip(&rows.weights).map(|(m, w)| m * w).sum::<f64>() / rows.mass
}
