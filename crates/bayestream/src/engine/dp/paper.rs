//! Pruning and merging as printed, for reproduction.
//!
//! w_k = Σ q_k is the running sum of posterior weights; a component is pruned when w_k/Σw < ε_r, and two are merged
//! when d_q = (1/i) Σ |q_k − q_j| < ε_d. As |a − b| = a + b − 2 min(a, b), the sums of minima are enough.
//!
//! Deviates: rounds come every `prune-every` rows and not at every row, where pruning would forbid births after 1/ε_r
//! rows; the weights of the convex combination, not printed, are the shares of w.

use super::core::Core;
use crate::family::{Moments, WishartPosterior};
use crate::structure::Happening;
use serde::{Deserialize, Serialize};

/// Pairs of shares below this are not counted.
const NEGLIGIBLE: f64 = 1e-6;

/// Sums over rows of min(q_k, q_j) for pairs j < k.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Overlaps {
    rows: Vec<Vec<f64>>,
}

impl Overlaps {
    /// Adds a row's shares.
    pub fn add(&mut self, shares: &[f64], k: usize, weight: f64) {
        while self.rows.len() < k {
            self.rows.push(vec![0.0; self.rows.len()]);
        }
        let shares = &shares[..k.min(shares.len())];
        for (i, &q) in shares.iter().enumerate().filter(|(_, q)| **q > NEGLIGIBLE) {
            for (j, &other) in shares[..i].iter().enumerate().filter(|(_, q)| **q > NEGLIGIBLE) {
                self.rows[i][j] += weight * q.min(other);
            }
        }
    }

    pub fn remove(&mut self, k: usize) {
        if k < self.rows.len() {
            self.rows.remove(k);
            self.rows[k..].iter_mut().for_each(|row| {
                row.remove(k);
            });
        }
    }

    fn of(&self, i: usize, j: usize) -> f64 {
        self.rows.get(i.max(j)).map_or(0.0, |row| row[i.min(j)])
    }

    pub fn is_sound(&self, n_components: usize) -> bool {
        self.rows.len() <= n_components
            && self.rows.iter().enumerate().all(|(k, row)| row.len() == k && row.iter().all(|v| v.is_finite()))
    }
}

impl Core {
    /// One round of pruning and merging, [ASUGS] section 5.1.
    pub fn prune_merge_as_printed(&mut self) {
        let total: f64 = self.comps.iter().map(|c| c.claimed).sum();
        let heaviest = self.comps.iter().map(|c| c.claimed).fold(0.0, f64::max);
        let least = (self.settings.dirichlet.prune_below * total).min(heaviest);
        let mut k = 0;
        while k < self.comps.len() {
            if self.comps[k].claimed < least {
                let gone = self.comps.remove(k);
                self.overlaps.remove(k);
                self.mass -= gone.moments.count;
                self.news.push((gone.id, Happening::Died));
            } else {
                k += 1;
            }
        }
        while let Some((i, j)) = self.closest_over_time() {
            self.merge_as_printed(i, j);
        }
    }

    fn closest_over_time(&self) -> Option<(usize, usize)> {
        let n = self.n_learnt.max(1) as f64;
        let distance =
            |i: usize, j: usize| (self.comps[i].claimed + self.comps[j].claimed - 2.0 * self.overlaps.of(i, j)) / n;
        (1..self.comps.len())
            .flat_map(|j| (0..j).map(move |i| (i, j)))
            .map(|(i, j)| (distance(i, j), i, j))
            .min_by(|a, b| a.0.total_cmp(&b.0))
            .filter(|(d, _, _)| *d < self.settings.dirichlet.merge_below)
            .map(|(_, i, j)| (i, j))
    }

    /// Convex combinations of means and covariances, sums of c and ν: the spread between the means is lost and the prior
    /// counts twice, as printed.
    fn merge_as_printed(&mut self, i: usize, j: usize) {
        let gone = self.comps.remove(j);
        self.overlaps.remove(j);
        let comp = &mut self.comps[i];
        comp.keep_due();
        let total = comp.claimed + gone.claimed;
        let (a, b) = if total > 0.0 { (comp.claimed / total, gone.claimed / total) } else { (0.5, 0.5) };
        let mix = |x: &[f64], y: &[f64]| -> Vec<f64> { x.iter().zip(y).map(|(x, y)| a * x + b * y).collect() };
        let (c, nu) = (comp.posterior.c() + gone.posterior.c(), comp.posterior.nu() + gone.posterior.nu());
        let mean = mix(comp.posterior.mean(), gone.posterior.mean());
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        comp.posterior.scatter_into(&mut ours);
        gone.posterior.scatter_into(&mut theirs);
        let (one, other) = (nu / comp.posterior.nu(), nu / gone.posterior.nu());
        ours.iter_mut().for_each(|v| *v *= one);
        theirs.iter_mut().for_each(|v| *v *= other);
        if let Ok(posterior) = WishartPosterior::from_parts(c, nu, mean, mix(&ours, &theirs)) {
            comp.posterior = posterior;
        }
        comp.moments = Moments {
            count: comp.moments.count + gone.moments.count,
            mean: mix(&comp.moments.mean, &gone.moments.mean),
            covariance: mix(&comp.moments.covariance, &gone.moments.covariance),
        };
        comp.claimed = total;
        comp.born = comp.born.min(gone.born);
        comp.stale = comp.moments.count;
        let into = comp.id;
        self.news.push((gone.id, Happening::Merged { into }));
    }
}
