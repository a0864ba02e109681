//! Rows read under a feature set that stays as it is.
//!
//! Which features a row has is found by mean field: q_k = σ(log π_k/(1 − π_k) + w_k'Λ(x − b − Σ_{j≠k} q_j w_j − w_k/2)),
//! [FAB/LFM] (11) without its shrinkage, over the cells that are there, which count for more and more where features are
//! many. Then the features that this leaves open, all of
//! them where there are few, are told together: the log-joint of each of their combinations is made, while the others stay
//! as the mean field has them. The sum of these is the density where all features are open, else a lower bound that is
//! never below that of the mean field alone.

use super::FeatureSet;
use crate::num::{self, Grid, LN_2PI};

/// Features told together at most: two to this power combinations.
pub(super) const MOST_OPEN: usize = 10;
/// Sweeps of the mean field at most, and the change of an activation below which they end.
const MOST_SWEEPS: usize = 100;
const SETTLED: f64 = 1e-9;
/// How much cells count at first, by what factor more they count at each step, and the sweeps of a step.
const FIRST_HEED: f64 = 1.0 / 256.0;
const MORE_HEED: f64 = 1.4;
const SWEEPS_OF_A_HEED: usize = 3;
/// Turns of features that a search makes at most.
const MOST_TURNS: usize = 200;
/// Shares are kept this far from none and all: a feature that was never seen is unlikely, not impossible.
const LEAST_SHARE: f64 = 1e-12;
/// Cells are brought within this many standard deviations of the noise, so that squares stay finite.
const FURTHEST: f64 = 1e75;
/// Combinations less likely than this add nothing to a covariance.
const NEGLIGIBLE: f64 = 1e-15;

/// What a feature set says of one row.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reading {
    /// Log-density of the observed cells, in nats and the data's own units; exact up to ten features, else a lower bound.
    /// Zero for a row without cells.
    pub log_density: f64,
    /// The probability that the row has each feature.
    pub activations: Vec<f64>,
    /// The features told together.
    pub(super) open: Vec<usize>,
    /// Their covariances, below the diagonal.
    covariance: Vec<f64>,
}

/// A feature set ready to read rows.
#[derive(Clone, Debug)]
pub struct FeatureReader {
    set: FeatureSet,
    /// The standard deviation of the noise in each column: the unit of what follows.
    deviations: Vec<f64>,
    /// The features' weights in that unit, feature by feature.
    weights: Vec<f64>,
    log_odds: Vec<f64>,
    /// log(1 − π).
    log_absent: Vec<f64>,
    /// The columns that `gram` is over: rows often come with the same cells missing.
    gram_of: Vec<usize>,
    /// Products of the features' weights, over the columns that are there.
    gram: Vec<f64>,
}

impl FeatureReader {
    /// A reader by this set.
    pub fn new(set: FeatureSet) -> FeatureReader {
        let (d, k) = (set.offset.len(), set.features.len());
        let deviations: Vec<f64> = set.noise.iter().map(|v| v.max(f64::MIN_POSITIVE).sqrt()).collect();
        let weights = set.features.iter().flat_map(|feature| {
            feature.weights.iter().zip(&deviations).map(|(weight, deviation)| in_units(weight / deviation))
        });
        let weights: Vec<f64> = weights.collect();
        let share = |at: usize| set.features[at].share.clamp(LEAST_SHARE, 1.0 - LEAST_SHARE);
        let log_absent: Vec<f64> = (0..k).map(|at| (-share(at)).ln_1p()).collect();
        let log_odds = (0..k).map(|at| share(at).ln() - log_absent[at]).collect();
        let gram_of: Vec<usize> = (0..d).collect();
        let gram = products(&weights, d, k, &gram_of);
        FeatureReader { set, deviations, weights, log_odds, log_absent, gram_of, gram }
    }

    /// The set.
    pub fn set(&self) -> &FeatureSet {
        &self.set
    }

    /// How many cells a row has.
    pub fn n_columns(&self) -> usize {
        self.set.offset.len()
    }

    /// Which features a row has, and how likely it is. NaN is a missing cell.
    pub fn read(&mut self, row: &[f64]) -> Reading {
        self.read_open(row, MOST_OPEN)
    }

    /// The same with at most so many features told together.
    pub(super) fn read_open(&mut self, row: &[f64], most_open: usize) -> Reading {
        let k = self.log_odds.len();
        let there: Vec<usize> = (0..self.n_columns()).filter(|&j| !row[j].is_nan()).collect();
        if there != self.gram_of {
            self.gram = products(&self.weights, self.n_columns(), k, &there);
            self.gram_of = there;
        }
        let centred: Vec<f64> = self.gram_of.iter().map(|&j| self.unexplained(row, j)).collect();
        let pulls = self.pulls(&centred);
        let shares: Vec<f64> = self.log_odds.iter().map(|odds| sigmoid(*odds)).collect();
        let are_many = k > most_open;
        let start = if are_many { self.cool(shares, &pulls) } else { shares };
        let mut told = self.tell(start, &pulls, &centred, most_open);
        if are_many {
            let start = self.climb(&told.q, &pulls);
            let other = self.tell(start, &pulls, &centred, most_open);
            if other.log_density > told.log_density {
                told = other;
            }
        }
        let Told { log_density, q, open, combinations } = told;
        let covariance = covariance(&open, &combinations, &q);
        match self.gram_of.is_empty() {
            // The shares themselves and zero, which rounding would only come close to.
            true => {
                let activations = self.set.features.iter().map(|feature| feature.share).collect();
                Reading { log_density: 0.0, activations, open, covariance }
            }
            false => {
                let jacobian: f64 = self.gram_of.iter().map(|&j| self.deviations[j].ln()).sum();
                let log_density = log_density - jacobian - 0.5 * LN_2PI * self.gram_of.len() as f64;
                Reading { log_density, activations: q, open, covariance }
            }
        }
    }

    /// Fills the missing cells of a row. `sd` gets the standard deviation of each cell that was filled, NaN elsewhere.
    pub fn fill(&mut self, row: &mut [f64], sd: &mut [f64]) {
        sd.fill(f64::NAN);
        if row.iter().all(|cell| !cell.is_nan()) {
            return;
        }
        let reading = self.read(row);
        for j in (0..row.len()).filter(|&j| row[j].is_nan()).collect::<Vec<_>>() {
            let (mean, variance) = self.missing_cell(&reading, j);
            row[j] = mean;
            sd[j] = variance.sqrt();
        }
    }

    /// Mean and variance of a missing cell by the features that a reading gives the row, noise and doubt about them included.
    pub fn missing_cell(&self, reading: &Reading, column: usize) -> (f64, f64) {
        let weight = |at: usize| self.set.features[at].weights[column];
        let mut mean = self.set.offset[column];
        let mut variance = self.set.unseen[column];
        for (at, q) in reading.activations.iter().enumerate() {
            mean += q * weight(at);
            variance += q * (1.0 - q) * weight(at) * weight(at);
        }
        let n = reading.open.len();
        for (i, &one) in reading.open.iter().enumerate() {
            // Features told together have covariances, too; their variances, which were counted already, are q(1 − q).
            let together = |(j, &two): (usize, &usize)| 2.0 * reading.covariance[i * n + j] * weight(two);
            variance += weight(one) * reading.open[..i].iter().enumerate().map(together).sum::<f64>();
        }
        (mean, variance.max(self.set.unseen[column]))
    }

    /// What is left of a cell without features, in units of the noise.
    fn unexplained(&self, row: &[f64], column: usize) -> f64 {
        in_units((row[column] - self.set.offset[column]) / self.deviations[column])
    }

    /// The log-probability that a row has a feature, or has not, before its cells are looked at.
    pub(super) fn log_prior(&self, feature: usize, has: bool) -> f64 {
        self.log_absent[feature] + if has { self.log_odds[feature] } else { 0.0 }
    }

    fn weights_of(&self, feature: usize) -> &[f64] {
        let d = self.n_columns();
        &self.weights[feature * d..(feature + 1) * d]
    }

    /// What each feature would explain of cells that are there.
    fn pulls(&self, cells: &[f64]) -> Vec<f64> {
        let pull = |at: usize| {
            let weights = self.weights_of(at);
            self.gram_of.iter().zip(cells).map(|(&j, cell)| weights[j] * cell).sum()
        };
        (0..self.log_odds.len()).map(pull).collect()
    }

    /// What a row is told to be when the mean field begins with these activations.
    fn tell(&self, start: Vec<f64>, pulls: &[f64], centred: &[f64], most_open: usize) -> Told {
        let (mut q, fields) = self.mean_field(start, pulls, 1.0, MOST_SWEEPS);
        let mut open: Vec<usize> = (0..q.len()).collect();
        open.sort_by(|&a, &b| fields[a].abs().total_cmp(&fields[b].abs()).then(a.cmp(&b)));
        open.truncate(most_open);
        open.sort_unstable();
        let (log_density, combinations) = self.tell_together(&open, centred, &mut q);
        Told { log_density, q, open, combinations }
    }

    /// The combination from which neither one feature nor two turned over lead to a likelier one, from these activations on.
    fn climb(&self, q: &[f64], pulls: &[f64]) -> Vec<f64> {
        let k = q.len();
        let mut z: Vec<f64> = q.iter().map(|q| f64::from(u8::from(*q > 0.5))).collect();
        // What the log-joint gains when a feature is turned over.
        let mut gains = vec![0.0; k];
        let turn = |z: f64| 1.0 - 2.0 * z;
        for _ in 0..MOST_TURNS {
            let by_all = self.explained(&z);
            for at in 0..k {
                let alone = 0.5 * self.gram[at * k + at];
                gains[at] = turn(z[at]) * (self.log_odds[at] + pulls[at] - by_all[at]) - alone;
            }
            let mut best = (SETTLED, 0, 0);
            for one in 0..k {
                let products = &self.gram[one * k..(one + 1) * k];
                if gains[one] > best.0 {
                    best = (gains[one], one, one);
                }
                for two in one + 1..k {
                    let gain = gains[one] + gains[two] - turn(z[one]) * turn(z[two]) * products[two];
                    if gain > best.0 {
                        best = (gain, one, two);
                    }
                }
            }
            let (gain, one, two) = best;
            if gain <= SETTLED {
                break;
            }
            z[one] = 1.0 - z[one];
            if two != one {
                z[two] = 1.0 - z[two];
            }
        }
        z
    }

    /// Activations to begin with: those of the mean field when cells count for little at first, and then for more and more.
    /// Many features overlap, and from the shares on the mean field would settle with the first that explain something.
    fn cool(&self, mut q: Vec<f64>, pulls: &[f64]) -> Vec<f64> {
        let mut heed = FIRST_HEED;
        while heed < 1.0 {
            q = self.mean_field(q, pulls, heed, SWEEPS_OF_A_HEED).0;
            heed *= MORE_HEED;
        }
        q
    }

    /// Activations by mean field, from these on, and their log-odds. What cells say counts `heed` times.
    fn mean_field(&self, mut q: Vec<f64>, pulls: &[f64], heed: f64, most_sweeps: usize) -> (Vec<f64>, Vec<f64>) {
        let k = pulls.len();
        let mut fields = self.log_odds.clone();
        let mut by_all = self.explained(&q);
        for _ in 0..most_sweeps {
            let mut moved = 0.0_f64;
            for at in 0..k {
                let products = &self.gram[at * k..(at + 1) * k];
                let by_others = by_all[at] - products[at] * q[at];
                fields[at] = self.log_odds[at] + heed * (pulls[at] - by_others - 0.5 * products[at]);
                let new = sigmoid(fields[at]);
                let step = new - q[at];
                if step != 0.0 {
                    by_all.iter_mut().zip(products).for_each(|(sum, product)| *sum += step * product);
                }
                moved = moved.max(step.abs());
                q[at] = new;
            }
            if moved < SETTLED {
                break;
            }
        }
        (q, fields)
    }

    /// What features with these activations explain of what each feature would.
    fn explained(&self, q: &[f64]) -> Vec<f64> {
        let mut sums = vec![0.0; q.len()];
        num::add_rows(q, &self.gram, q.len(), &mut sums);
        sums
    }

    /// The log-density in units of the noise, less its constant, and the probability of each combination of the open
    /// features, whose activations become those of the combinations.
    fn tell_together(&self, open: &[usize], centred: &[f64], q: &mut [f64]) -> (f64, Vec<f64>) {
        let k = q.len();
        // The likeliest combination by the mean field: what is near it is told without rounding.
        open.iter().for_each(|&at| q[at] = f64::from(u8::from(q[at] > 0.5)));
        let mut rest = centred.to_vec();
        let mut base = 0.0;
        for (at, &q) in q.iter().enumerate() {
            if q > 0.0 {
                let weights = self.weights_of(at);
                rest.iter_mut().zip(&self.gram_of).for_each(|(cell, &j)| *cell -= q * weights[j]);
            }
            base += self.log_absent[at] + q * self.log_odds[at] - 0.5 * q * (1.0 - q) * self.gram[at * k + at];
            base += entropy(q);
        }
        base -= 0.5 * rest.iter().map(|cell| cell * cell).sum::<f64>();
        let pulls = self.pulls(&rest);
        // Bit n of a place says that the n-th open feature is other than in the likeliest combination.
        let turn: Vec<f64> = open.iter().map(|&at| 1.0 - 2.0 * q[at]).collect();
        let mut log_joint = vec![base];
        for (n, &at) in open.iter().enumerate() {
            let alone = turn[n] * (pulls[at] + self.log_odds[at]) - 0.5 * self.gram[at * k + at];
            let mut change = vec![alone];
            for (m, &other) in open[..n].iter().enumerate() {
                let together = turn[n] * turn[m] * self.gram[at * k + other];
                change.extend_from_within(..);
                change[1 << m..].iter_mut().for_each(|change| *change -= together);
            }
            let more: Vec<f64> = log_joint.iter().zip(&change).map(|(joint, change)| joint + change).collect();
            log_joint.extend(more);
        }
        let total = num::log_sum_exp(&log_joint);
        let mut combinations = vec![0.0; log_joint.len()];
        let first = open.iter().enumerate().fold(0, |bits, (n, &at)| bits | usize::from(q[at] > 0.5) << n);
        open.iter().for_each(|&at| q[at] = 0.0);
        for (turned, joint) in log_joint.iter().enumerate() {
            let share = (joint - total).exp();
            combinations[turned ^ first] = share;
            for (n, &at) in open.iter().enumerate() {
                if (turned ^ first) >> n & 1 == 1 {
                    q[at] += share;
                }
            }
        }
        // A sum of shares may exceed one by rounding.
        open.iter().for_each(|&at| q[at] = q[at].min(1.0));
        (total, combinations)
    }
}

/// What the mean field and the features told together say of a row.
struct Told {
    log_density: f64,
    q: Vec<f64>,
    open: Vec<usize>,
    combinations: Vec<f64>,
}

/// A number of standard deviations whose square is finite.
pub(super) fn in_units(value: f64) -> f64 {
    value.clamp(-FURTHEST, FURTHEST)
}

fn sigmoid(log_odds: f64) -> f64 {
    match log_odds >= 0.0 {
        true => 1.0 / (1.0 + (-log_odds).exp()),
        false => log_odds.exp() / (1.0 + log_odds.exp()),
    }
}

fn entropy(q: f64) -> f64 {
    let part = |q: f64| if q > 0.0 { -q * q.ln() } else { 0.0 };
    part(q) + part(1.0 - q)
}

/// The features' products over some columns.
fn products(weights: &[f64], d: usize, k: usize, columns: &[usize]) -> Vec<f64> {
    let of_feature = |weights: &[f64]| columns.iter().map(|&j| weights[j]).collect::<Vec<f64>>();
    let there: Vec<f64> = weights.chunks_exact(d.max(1)).flat_map(of_feature).collect();
    let there = Grid::new(&there, k, columns.len());
    let mut gram = vec![0.0; k * k];
    num::multiply(there, there.transposed(), 1.0, 0.0, &mut gram);
    gram
}

/// Covariances of open features, below the diagonal, by the probabilities of their combinations: bit n says whether the row has
/// the n-th.
fn covariance(open: &[usize], combinations: &[f64], activations: &[f64]) -> Vec<f64> {
    let n = open.len();
    let mut covariance = vec![0.0; n * n];
    let mut off = vec![0.0; n];
    for (bits, share) in combinations.iter().enumerate().filter(|(_, share)| **share > NEGLIGIBLE) {
        for (i, &at) in open.iter().enumerate() {
            off[i] = f64::from((bits >> i & 1) as u32) - activations[at];
        }
        for i in 0..n {
            (0..i).for_each(|j| covariance[i * n + j] += share * off[i] * off[j]);
        }
    }
    covariance
}
