//! Pruning and merging as printed, for reproduction.
//!
//! w_k = Σ q_k is the running sum of posterior weights; a component is pruned when w_k/Σw < ε_r, and two are merged
//! when d_q = (1/i) Σ |q_k − q_j| < ε_d. As |a − b| = a + b − 2 min(a, b), the sums of minima are enough. The q of a row
//! are probabilities also where the likeliest class gets all of it; those of merged components add up.
//!
//! Deviates: Σ min(q_i + q_j, q_k), the overlap of two that merged with a third, is Σ min(q_i, q_k) + Σ min(q_j, q_k) for
//! every row of which one of the three has no share. Of other rows it is less, by min(q_i, q_j, q_k) at most; to know by
//! how much, all rows would have to be kept. What is certain is held to: it is no more than either's weight
//! (`tests::overlaps_after_a_merge_are_those_of_the_sum_of_posteriors`).
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
    /// Adds a row's posterior probabilities, one for each component.
    pub fn add(&mut self, posterior: &[f64], weight: f64) {
        while self.rows.len() < posterior.len() {
            self.rows.push(vec![0.0; self.rows.len()]);
        }
        for (i, &q) in posterior.iter().enumerate().filter(|(_, q)| **q > NEGLIGIBLE) {
            for (j, &other) in posterior[..i].iter().enumerate().filter(|(_, q)| **q > NEGLIGIBLE) {
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

    /// Component `j` becomes part of component `i` < `j`. `claimed` has the weights before that; of a component that is about
    /// to be born it has none.
    pub fn join(&mut self, i: usize, j: usize, claimed: &[f64]) {
        let n = self.rows.len();
        let weight = |k: usize| claimed.get(k).copied().unwrap_or(f64::INFINITY);
        for k in (0..n).filter(|&k| k != i && k != j && i < n) {
            let most = weight(k).min(weight(i) + weight(j));
            self.rows[i.max(k)][i.min(k)] = (self.of(i, k) + self.of(j, k)).min(most);
        }
        self.remove(j);
    }

    /// Forgets all but the first `k` components.
    pub fn keep(&mut self, k: usize) {
        self.rows.truncate(k);
    }

    pub fn of(&self, i: usize, j: usize) -> f64 {
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

    /// Before component `j` joins component `i` < `j`.
    pub fn join_overlaps(&mut self, i: usize, j: usize) {
        let claimed: Vec<f64> = self.comps.iter().map(|c| c.claimed).collect();
        self.overlaps.join(i, j, &claimed);
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
        self.join_overlaps(i, j);
        let gone = self.comps.remove(j);
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

#[cfg(test)]
mod tests {
    use super::super::core::Rule;
    use super::super::tests::{core, rows};
    use super::*;
    use crate::model::PruneMerge;
    use crate::num::{self, Rng};
    use crate::structure::ComponentId;
    use std::collections::BTreeMap;

    /// Posterior probabilities of a row's class, a new one's last, from the terms of (1).
    fn posterior_of(core: &mut Core, row: &[f64]) -> Vec<f64> {
        let choice = core.concentration.choice(core.comps.len(), core.mass);
        let scratch = &mut core.work.comp.wishart;
        let known = core.comps.iter().map(|c| c.moments.count * choice.log_old.exp());
        let mut q: Vec<f64> =
            known.zip(&core.comps).map(|(prior, c)| prior * c.posterior.log_predictive(row, scratch).exp()).collect();
        q.push(choice.log_new.exp() * core.empty.log_predictive(row, scratch).exp());
        let total: f64 = q.iter().sum();
        q.iter_mut().for_each(|v| *v /= total);
        q
    }

    fn smaller(a: f64, b: f64) -> f64 {
        if a > NEGLIGIBLE && b > NEGLIGIBLE { a.min(b) } else { 0.0 }
    }

    #[test]
    fn weights_and_overlaps_are_sums_of_probabilities_where_the_likeliest_takes_the_row() {
        for rule in [Rule::Sugs, Rule::Asugs] {
            // No round of pruning comes.
            let mut core = core(rule, 2, |s| (s.prune_merge, s.prune_every) = (PruneMerge::Paper, 1_000_000));
            let mut claimed: Vec<f64> = Vec::new();
            let mut overlaps: Vec<Vec<f64>> = Vec::new();
            let weight = 1.5;
            for row in rows(300, 20_211).chunks(2) {
                let mut q = posterior_of(&mut core, row);
                core.learn_row(row, weight);
                // The probability of a new class is nobody's when none was made.
                q.truncate(core.comps.len());
                claimed.resize(core.comps.len(), 0.0);
                overlaps.resize(core.comps.len(), Vec::new());
                for i in 0..q.len() {
                    claimed[i] += weight * q[i];
                    overlaps[i].resize(i, 0.0);
                    (0..i).for_each(|j| overlaps[i][j] += weight * smaller(q[i], q[j]));
                }
            }
            let mut largest = 0.0_f64;
            for i in 0..core.comps.len() {
                assert!((core.comps[i].claimed - claimed[i]).abs() < 1e-9 * (1.0 + claimed[i]));
                for j in 0..i {
                    let (kept, exact) = (core.overlaps.of(i, j), overlaps[i][j]);
                    assert!((kept - exact).abs() < 1e-9 * (1.0 + exact), "{rule:?} {i} {j}: {kept} {exact}");
                    largest = largest.max(kept);
                }
            }
            assert!(largest > 0.2, "nothing overlapped: {largest}");
        }
    }

    /// Probabilities of `n` components of which `shared` have a part in the row.
    fn drawn(n: usize, shared: usize, rng: &mut Rng) -> Vec<f64> {
        let mut order: Vec<usize> = (0..n).collect();
        rng.shuffle(&mut order);
        let mut q = vec![0.0; n];
        order[..shared].iter().for_each(|&k| q[k] = 0.05 + rng.uniform());
        let total: f64 = q.iter().sum();
        q.iter().map(|v| v / total).collect()
    }

    #[test]
    fn overlaps_after_a_merge_are_those_of_the_sum_of_posteriors() {
        let (n, mut rng) = (7, num::stream(20_212, 0, 0));
        // How many components have a share in each row; with two at most the sums are exact.
        for shared in [2, 3, 6] {
            let mut past: Vec<Vec<f64>> = (0..200).map(|_| drawn(n, shared, &mut rng)).collect();
            let mut overlaps = Overlaps::default();
            past.iter().for_each(|q| overlaps.add(q, 2.0));
            let mut slack = 0.0;
            for (i, j) in [(1, 4), (0, 1), (2, 3)] {
                let claimed: Vec<f64> = (0..past[0].len()).map(|k| past.iter().map(|q| 2.0 * q[k]).sum()).collect();
                overlaps.join(i, j, &claimed);
                for q in &mut past {
                    let mut sorted = q.clone();
                    sorted.sort_by(f64::total_cmp);
                    // The least of three is no more than what is left of one after the two largest.
                    slack += 2.0 * sorted.iter().rev().skip(2).sum::<f64>();
                    q[i] += q.remove(j);
                }
                for a in 0..past[0].len() {
                    for b in 0..a {
                        let exact: f64 = past.iter().map(|q| 2.0 * smaller(q[a], q[b])).sum();
                        let kept = overlaps.of(a, b);
                        assert!(kept > exact - 1e-9 && kept < exact + slack + 1e-9, "{shared}: {kept} {exact} {slack}");
                    }
                }
            }
            assert!(shared > 2 || slack < 1e-9);
        }
    }

    #[test]
    fn a_stream_with_merges_keeps_the_weights_and_overlaps_of_its_rows() {
        let mut core = core(Rule::Asugs, 2, |s| {
            (s.prune_merge, s.prune_every, s.prune_below, s.merge_below) = (PruneMerge::Paper, 40, 0.0, 0.15);
        });
        let mut past: Vec<BTreeMap<ComponentId, f64>> = Vec::new();
        let (mut slack, mut n_merges) = (0.0, 0);
        for row in rows(400, 20_213).chunks(2) {
            let mut q = posterior_of(&mut core, row);
            let mut ids: Vec<ComponentId> = core.comps.iter().map(|c| c.id).collect();
            core.learn_row(row, 1.0);
            let news = std::mem::take(&mut core.news);
            ids.extend(news.iter().filter(|n| n.1 == Happening::Born).map(|n| n.0));
            q.truncate(ids.len());
            past.push(ids.into_iter().zip(q).collect());
            for (gone, happening) in news {
                let Happening::Merged { into } = happening else { continue };
                n_merges += 1;
                for q in &mut past {
                    let mut sorted: Vec<f64> = q.values().copied().collect();
                    sorted.sort_by(f64::total_cmp);
                    slack += sorted.iter().rev().skip(2).sum::<f64>();
                    let moved = q.remove(&gone).unwrap_or(0.0);
                    *q.entry(into).or_default() += moved;
                }
            }
        }
        assert!(n_merges > 3, "{n_merges}");
        // Shares that were too small to count before they were added up: one for each component and row at most.
        let uncounted = NEGLIGIBLE * (past.len() * (core.comps.len() + n_merges)) as f64;
        let (mut dropped, mut total) = (0.0, 0.0);
        for (i, comp) in core.comps.iter().enumerate() {
            let of = |id: ComponentId, q: &BTreeMap<ComponentId, f64>| q.get(&id).copied().unwrap_or(0.0);
            let claimed: f64 = past.iter().map(|q| of(comp.id, q)).sum();
            assert!((comp.claimed - claimed).abs() < 1e-9 * claimed, "{} {claimed}", comp.claimed);
            for (j, other) in core.comps[..i].iter().enumerate() {
                let exact: f64 = past.iter().map(|q| smaller(of(comp.id, q), of(other.id, q))).sum();
                let kept = core.overlaps.of(i, j);
                assert!(kept > exact - uncounted && kept < exact + slack, "{i} {j}: {kept} {exact} {slack}");
                dropped += kept - exact;
                total += exact;
            }
        }
        // What is not known is small beside what is.
        assert!(dropped < 0.05 * total, "{dropped} of {total}, {slack}");
    }
}
