//! The E-step: probabilities of features in rows, by mean field.

use super::parameters::{Parameters, ln_rest, ln_share, log_odds};
use super::rows::Rows;
use crate::num::{self, Grid, PANEL, PanelPass};
use std::ops::Range;

/// Log-odds beyond this are certain.
const MOST_LOG_ODDS: f64 = 700.0;
/// Acceleration has settled when a share moves by less than this part of itself.
const SETTLED: f64 = 1e-7;
/// Numbers of residuals and features that a sweep works on at once, so that they stay near, and rows of them at least.
const NUMBERS_AT_ONCE: usize = 1 << 16;
const LEAST_ROWS_AT_ONCE: usize = 64;

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

/// Sets μ of a feature on some rows, by c_nk of (11).
type Update<'a> = &'a mut dyn FnMut(usize, &[f64], &mut [f64]);

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
    /// w_kᵀΛw_l over the columns with missing cells, as far as they are there, for each pair of features of one panel (which
    /// are updated between two passes over the residuals); a row of n for each, panel by panel.
    overlaps: Vec<f64>,
    /// What features add to the columns with missing cells, and that in units of the noise, panel by panel.
    adds: Vec<[f64; PANEL]>,
    counts: Vec<[f64; PANEL]>,
    /// How far the features of a panel moved, and what the residuals say of them.
    moved: Vec<f64>,
    hole_drives: Vec<f64>,
    /// c of the feature at hand.
    odds: Vec<f64>,
    rest: Vec<f64>,
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
        if rows.holes.len() < d {
            let complete = rows.is_complete();
            self.factors.clear();
            let lambda = |j: usize| if complete[j] { p.precision[j] } else { 0.0 };
            self.factors.extend(p.weights.iter().enumerate().map(|(at, w)| lambda(at % d) * w));
            self.drive.resize(k * n, 0.0);
            for (drive, factors) in self.drive.chunks_exact_mut(n.max(1)).zip(self.factors.chunks_exact(d)) {
                drive.fill(-factors.iter().zip(&p.offset).map(|(a, b)| a * b).sum::<f64>());
            }
            let factors = Grid::new(&self.factors, k, d);
            num::multiply(factors, Grid::new(&rows.cells, d, n), 1.0, 1.0, &mut self.drive);
            self.gram.resize(k * k, 0.0);
            num::multiply(factors, Grid::new(&p.weights, k, d).transposed(), 1.0, 0.0, &mut self.gram);
        }
        if !rows.holes.is_empty() {
            self.prepare_holes(rows, p);
        }
    }

    fn prepare_holes(&mut self, rows: &Rows, p: &Parameters) {
        let (n, d, k, n_holes) = (self.n, rows.d, self.k, rows.holes.len());
        self.factors.clear();
        for holes in &rows.holes {
            self.factors.extend((0..k).map(|f| p.weights[f * d + holes.column]));
        }
        self.residual.clear();
        for holes in &rows.holes {
            self.residual.extend(rows.column(holes.column).iter().map(|x| x - p.offset[holes.column]));
        }
        let weights = Grid::new(&self.factors, n_holes, k);
        num::multiply(weights, Grid::new(&self.mu, k, n), -1.0, 1.0, &mut self.residual);
        self.residual.iter_mut().zip(&rows.mask).for_each(|(r, o)| *r *= o);
        self.adds.clear();
        self.counts.clear();
        self.rest.clear();
        for first in (0..k).step_by(PANEL) {
            for holes in &rows.holes {
                let weight = |f: usize| if f < k { p.weights[f * d + holes.column] } else { 0.0 };
                let adds: [f64; PANEL] = std::array::from_fn(|f| weight(first + f));
                self.adds.push(adds);
                self.counts.push(adds.map(|w| p.precision[holes.column] * w));
            }
            let panel = self.adds.len() - n_holes;
            for one in 0..PANEL.min(k - first) {
                for other in 0..=one {
                    let each = self.adds[panel..].iter().zip(&self.counts[panel..]);
                    self.rest.extend(each.map(|(adds, counts)| adds[one] * counts[other]));
                }
            }
        }
        let n_pairs = self.rest.len() / n_holes;
        self.overlaps.resize(n_pairs * n, 0.0);
        let mask = Grid::new(&rows.mask, n_holes, n);
        num::multiply(Grid::new(&self.rest, n_pairs, n_holes), mask, 1.0, 0.0, &mut self.overlaps);
    }

    /// Updates the features in turn on some rows: `update` is given a feature, c_nk of (11) given the others, and its μ.
    fn pass(&mut self, rows: &Rows, range: Range<usize>, update: Update<'_>) {
        let (n, k, len, at) = (self.n, self.k, range.len(), range.start);
        let n_holes = rows.holes.len();
        let Field { mu, drive, gram, residual, overlaps, adds, counts, moved, hole_drives, odds, factors, .. } = self;
        odds.clear();
        odds.resize(len, 0.0);
        if n_holes > 0 {
            moved.resize(PANEL * len, 0.0);
            hole_drives.resize(PANEL * len, 0.0);
        }
        let mut carried: &[[f64; PANEL]] = &[];
        for (panel, first) in (0..k).step_by(PANEL).enumerate() {
            if rows.interrupt.is_raised() {
                return;
            }
            let overlaps = if n_holes > 0 { &overlaps[panel * PANEL * (PANEL + 1) / 2 * n..] } else { &[] };
            if n_holes > 0 {
                let residuals = &mut residual[at..];
                let counts = &counts[panel * n_holes..][..n_holes];
                let (mask, drives) = (&rows.mask[at..], &mut **hole_drives);
                let pass = PanelPass { residuals, mask, stride: n, moved, adds: carried, counts, drives, n: len };
                num::pass_over_residuals(pass);
                carried = &adds[panel * n_holes..][..n_holes];
                moved.fill(0.0);
            }
            for one in 0..PANEL.min(k - first) {
                let f = first + one;
                odds.fill(0.0);
                if n_holes < rows.d {
                    let half = 0.5 * gram[f * k + f];
                    odds.iter_mut().zip(&drive[f * n + at..]).for_each(|(c, drive)| *c = drive - half);
                    factors.clear();
                    factors.extend((0..k).map(|l| if l == f { 0.0 } else { -gram[f * k + l] }));
                    num::add_rows(factors, &mu[at..], n, odds);
                }
                let mu = &mut mu[f * n + at..][..len];
                if n_holes == 0 {
                    update(f, odds, mu);
                    continue;
                }
                let overlap = |other: usize| &overlaps[(one * (one + 1) / 2 + other) * n + at..][..len];
                odds.iter_mut().zip(&hole_drives[one * len..]).for_each(|(c, drive)| *c += drive);
                for other in 0..one {
                    let moved = &moved[other * len..][..len];
                    odds.iter_mut().zip(overlap(other)).zip(moved).for_each(|((c, o), m)| *c -= o * m);
                }
                odds.iter_mut().zip(overlap(one)).zip(&*mu).for_each(|((c, o), m)| *c += (m - 0.5) * o);
                let moved = &mut moved[one * len..][..len];
                moved.copy_from_slice(mu);
                update(f, odds, mu);
                moved.iter_mut().zip(&*mu).for_each(|(moved, mu)| *moved = mu - *moved);
            }
        }
        if n_holes > 0 && k > 0 {
            let (residuals, mask) = (&mut residual[at..], &rows.mask[at..]);
            let pass =
                PanelPass { residuals, mask, stride: n, moved, adds: carried, counts: &[], drives: &mut [], n: len };
            num::pass_over_residuals(pass);
        }
    }

    /// One sweep of updates over the features in turn. `penalty` is D/2N, or 0 for plain EM.
    pub fn sweep(&mut self, rows: &Rows, p: &Parameters, penalty: f64) {
        let shifts: Vec<f64> = p.shares.iter().map(|share| shift(*share, penalty)).collect();
        let at_once = (NUMBERS_AT_ONCE / (rows.holes.len() + self.k).max(1)).max(LEAST_ROWS_AT_ONCE);
        for first in (0..self.n).step_by(at_once) {
            let range = first..self.n.min(first + at_once);
            // [FAB/LFM] (11)
            self.pass(rows, range, &mut |f, odds, mu| settle(odds, shifts[f], mu));
        }
    }

    /// accelerateShrinkage: each feature in turn, μ and π until they agree or `steps` times.
    pub fn accelerate(&mut self, rows: &Rows, p: &mut Parameters, penalty: f64, steps: usize, follow: Follow<'_>) {
        if rows.mass <= 0.0 || steps == 0 {
            return;
        }
        self.pass(rows, 0..self.n, &mut |f, odds, mu| {
            for _ in 0..steps {
                settle(odds, shift(p.shares[f], penalty), mu);
                let share = follow.share(f, mean(mu, rows));
                let change = (share - p.shares[f]).abs();
                p.shares[f] = share;
                if change < SETTLED * share {
                    break;
                }
            }
        });
    }

    /// Σ of the rows' entropies.
    pub fn entropy(&mut self, rows: &Rows) -> f64 {
        let (n, k) = (self.n, self.k);
        let (odds, rest) = (&mut self.odds, &mut self.rest);
        let mut total = 0.0;
        for f in 0..k {
            let mu = &self.mu[f * n..][..n];
            odds.clear();
            odds.extend(mu.iter().map(|m| m.max(f64::MIN_POSITIVE)));
            rest.clear();
            rest.extend(mu.iter().map(|m| (1.0 - m).max(f64::MIN_POSITIVE)));
            num::ln_slice(odds);
            num::ln_slice(rest);
            for i in 0..n {
                total -= rows.weights[i] * (mu[i] * odds[i] + (1.0 - mu[i]) * rest[i]);
            }
        }
        total
    }

    /// x − b − Wμ of all columns, d × n, 0 where missing.
    pub fn residuals(&self, rows: &Rows, p: &Parameters, out: &mut Vec<f64>) {
        let (n, d, k) = (self.n, rows.d, self.k);
        out.clear();
        for j in 0..d {
            out.extend(rows.column(j).iter().map(|x| x - p.offset[j]));
        }
        let weights = Grid::new(&p.weights, k, d).transposed();
        num::multiply(weights, Grid::new(&self.mu, k, n), -1.0, 1.0, out);
        for (h, holes) in rows.holes.iter().enumerate() {
            out[holes.column * n..][..n].iter_mut().zip(rows.observed(h)).for_each(|(r, o)| *r *= o);
        }
    }

    /// The bound of each row's log-density: E\[log p(x, z)\] + entropy, without the penalty of the criterion.
    pub fn row_bounds(&self, rows: &Rows, p: &Parameters, residuals: &mut Vec<f64>, out: &mut Vec<f64>) {
        let (n, d, k) = (self.n, rows.d, self.k);
        self.residuals(rows, p, residuals);
        let ln_noise: Vec<f64> = p.precision.iter().map(|l| 0.5 * (l.ln() - num::LN_2PI)).collect();
        out.clear();
        out.resize(n, ln_noise.iter().sum());
        for j in 0..d {
            let half = 0.5 * p.precision[j];
            residuals[j * n..][..n].iter().zip(&mut *out).for_each(|(r, e)| *e -= half * r * r);
        }
        for (h, holes) in rows.holes.iter().enumerate() {
            let missing = ln_noise[holes.column];
            rows.observed(h).iter().zip(&mut *out).for_each(|(o, e)| *e -= (1.0 - o) * missing);
        }
        // wᵀΛw over the cells that are there.
        let part = |f: usize, j: usize| p.precision[j] * p.weights[f * d + j].powi(2);
        let complete = rows.is_complete();
        residuals.clear();
        for f in 0..k {
            let strength = (0..d).filter(|j| complete[*j]).map(|j| part(f, j)).sum();
            residuals.resize(residuals.len() + n, strength);
        }
        let parts: Vec<f64> = (0..k).flat_map(|f| rows.holes.iter().map(move |h| part(f, h.column))).collect();
        let n_holes = rows.holes.len();
        num::multiply(Grid::new(&parts, k, n_holes), Grid::new(&rows.mask, n_holes, n), 1.0, 1.0, residuals);
        for f in 0..k {
            let (on, off) = (ln_share(p.shares[f]), ln_rest(p.shares[f]));
            let each = self.of(f).iter().zip(&residuals[f * n..]).zip(&mut *out);
            for ((m, strength), e) in each {
                let (yes, no) = (m.max(f64::MIN_POSITIVE), (1.0 - m).max(f64::MIN_POSITIVE));
                *e += m * (on - yes.ln()) + (1.0 - m) * (off - no.ln()) - 0.5 * m * (1.0 - m) * strength;
            }
        }
    }
}

/// μ of a feature by its odds and a shift of them, the last two terms of (11).
fn settle(odds: &[f64], shift: f64, mu: &mut [f64]) {
    for (mu, c) in mu.iter_mut().zip(odds) {
        *mu = -(c + shift).clamp(-MOST_LOG_ODDS, MOST_LOG_ODDS);
    }
    num::exp_slice(mu);
    mu.iter_mut().for_each(|m| *m = 1.0 / (1.0 + *m));
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
