//! Which component an observation came from, when their number is not known: \[BMM\] sections 3.3 to 3.5.

use super::poisson;
use crate::num::Rng;
use serde::{Deserialize, Serialize};

/// How ν takes an observation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Rule {
    /// ν_z ← ν_z + p_z, and γ where nothing was seen.
    /// Deviates: \[BMM\] sets ν to the matched α, which already holds P(T ≥ z), and multiplies by it again at the next
    /// observation, so that an idle component's weight falls at every one; see `papers/bmm.md`.
    Soft,
    /// ν ← α by moment matching, the least α where nothing was seen; T is summed over.
    Matched,
    /// The same with T drawn from its Poisson distribution, as printed.
    Sampled {
        /// Draws per observation, M.
        draws: usize,
    },
}

/// λ never falls to 1, where the Poisson distribution has no way back.
const LEAST_LAMBDA: f64 = 1.0 + 1e-6;
/// More components than anybody may ask for: where λ is larger, a file is wrong.
const MOST_EXPECTED: f64 = 1e6;
/// Parameters of a Dirichlet distribution stay above this.
const LEAST_NU: f64 = 1e-290;

/// What is known of the number of components and of their shares: λ and ν.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Mixing {
    lambda: f64,
    nu: Vec<f64>,
    /// ν of every component beyond those in `nu`.
    tail: f64,
    /// λ does not fall below.
    floor: f64,
}

/// The posterior of one observation. Buffers are reused.
#[derive(Clone, Debug, Default)]
pub struct MixingWork {
    /// P(T) before the observation, from T = 1.
    chances: Vec<f64>,
    /// S_T.
    sums: Vec<f64>,
    /// h_T.
    means: Vec<f64>,
    /// p_z.
    shares: Vec<f64>,
    c: f64,
    expected_t: f64,
    theta: ThetaMoments,
}

/// First and second moments of the shares θ after an observation.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ThetaMoments {
    /// E\[θ_z\].
    pub first: Vec<f64>,
    /// E\[θ_z²\].
    pub second: Vec<f64>,
}

impl Mixing {
    /// λ components expected, each with the Dirichlet parameter ν₀.
    pub fn new(lambda: f64, nu0: f64) -> Mixing {
        Mixing { lambda: lambda.max(LEAST_LAMBDA), nu: Vec::new(), tail: nu0, floor: LEAST_LAMBDA }
    }

    /// The same, and λ never falls below what it is now.
    pub fn with_floor(self) -> Mixing {
        Mixing { floor: self.lambda, ..self }
    }

    /// λ, the expected number of components that exist. It is not a count of those that were seen: see `papers/bmm.md`.
    pub fn lambda(&self) -> f64 {
        self.lambda
    }

    /// ν of the components that may have made an observation so far.
    pub fn nu(&self) -> &[f64] {
        &self.nu
    }

    /// Starts over with ν₀ for all components; λ stays.
    pub fn reset_nu(&mut self, nu0: f64) {
        self.nu.clear();
        self.tail = nu0;
    }

    /// Looks ahead: how many components may make the next observation, at most `most`, up to a chance of `left`.
    pub fn attend(&mut self, left: f64, most: usize, work: &mut MixingWork) -> usize {
        poisson::chances(self.lambda, left, most, &mut work.chances);
        self.reach(work.chances.len())
    }

    /// The same with the number of components drawn.
    pub fn attend_drawn(&mut self, draws: usize, most: usize, rng: &mut Rng, work: &mut MixingWork) -> usize {
        poisson::drawn(self.lambda, draws, most, rng, &mut work.chances);
        self.reach(work.chances.len())
    }

    fn reach(&mut self, k: usize) -> usize {
        if self.nu.len() < k {
            self.nu.resize(k, self.tail);
        }
        k
    }

    /// The posterior of an observation with predictive densities b_z for the components attended to, in any unit.
    /// Returns the predictive density of the observation in that unit; zero when no component could have made it.
    pub fn weigh(&self, b: &[f64], work: &mut MixingWork) -> f64 {
        let k = work.chances.len();
        let (nu, b) = (&self.nu[..k], &b[..k]);
        work.sums.resize(k, 0.0);
        work.means.resize(k, 0.0);
        work.shares.resize(k, 0.0);
        let (mut sum, mut joint) = (0.0, 0.0);
        let (mut c, mut t_c, mut all) = (0.0, 0.0, 0.0);
        for t in 0..k {
            sum += nu[t];
            joint += nu[t] * b[t];
            let h = joint / sum;
            let chance = work.chances[t];
            (work.sums[t], work.means[t]) = (sum, h);
            c += chance * h;
            t_c += chance * h * (t + 1) as f64;
            all += chance;
        }
        work.c = c;
        if !(c > 0.0 && c.is_finite() && all > 0.0) {
            work.shares.fill(0.0);
            work.expected_t = self.lambda;
            return 0.0;
        }
        work.expected_t = t_c / c;
        // From the last component down: Σ_{T≥z} P(T)/S_T.
        let mut beyond = 0.0;
        for z in (0..k).rev() {
            beyond += work.chances[z] / work.sums[z];
            work.shares[z] = nu[z] * b[z] * beyond / c;
        }
        c / all
    }

    /// Moments of θ after the observation that was weighed last.
    pub fn theta<'a>(&self, b: &[f64], work: &'a mut MixingWork) -> &'a ThetaMoments {
        let k = work.chances.len();
        work.theta.first.resize(k, 0.0);
        work.theta.second.resize(k, 0.0);
        let (mut with_h, mut without, mut with_h2, mut without2) = (0.0, 0.0, 0.0, 0.0);
        for z in (0..k).rev() {
            let (chance, s, h, nu) = (work.chances[z], work.sums[z], work.means[z], self.nu[z]);
            let one = chance / (s + 1.0);
            let two = one / (s + 2.0);
            with_h += one * h;
            without += one / s;
            with_h2 += two * h;
            without2 += two / s;
            work.theta.first[z] = nu / work.c * (with_h + b[z] * without);
            work.theta.second[z] = nu * (nu + 1.0) / work.c * (with_h2 + 2.0 * b[z] * without2);
        }
        &work.theta
    }

    /// Takes the observation that was weighed last; `weight` is how often it was seen.
    pub fn learn(&mut self, rule: Rule, b: &[f64], weight: f64, work: &mut MixingWork) {
        if work.c > 0.0 {
            match rule {
                Rule::Soft => {
                    for (nu, share) in self.nu.iter_mut().zip(&work.shares) {
                        *nu += weight * share;
                    }
                }
                Rule::Matched | Rule::Sampled { .. } => {
                    self.theta(b, work);
                    self.match_dirichlet(&work.theta);
                }
            }
            // A part of an observation moves the expectation by a part.
            let lambda = self.lambda + weight.min(1.0) * (work.expected_t - self.lambda);
            self.lambda = lambda.max(self.floor);
        }
    }

    /// ν ← α of the Dirichlet distribution with these moments.
    fn match_dirichlet(&mut self, theta: &ThetaMoments) {
        let k = theta.first.len();
        let of_one = |nu: &[f64]| nu.iter().sum::<f64>() + 1.0;
        let precision = pooled_precision(theta).unwrap_or_else(|| of_one(&self.nu[..k]));
        let mut least = f64::INFINITY;
        for (nu, first) in self.nu.iter_mut().zip(&theta.first) {
            *nu = (precision * first).max(LEAST_NU);
            least = least.min(*nu);
        }
        // Components beyond the last that may have existed: as printed, the least α.
        self.nu.truncate(k);
        self.tail = least;
    }

    /// Forgets a share of what was seen: `keep` of every ν above γ stays.
    pub fn forget(&mut self, gamma: f64, keep: f64) {
        self.nu.iter_mut().for_each(|nu| *nu = gamma + keep * (*nu - gamma));
    }

    /// Puts the components in another order: `order[i]` is the old place of the new i-th; the rest is γ again.
    pub fn reorder(&mut self, order: &[usize], gamma: f64) {
        let old = std::mem::take(&mut self.nu);
        self.nu.extend(order.iter().map(|&at| old.get(at).copied().unwrap_or(gamma)));
    }

    /// Makes a component's ν what it would be after so many observations.
    pub fn set_nu(&mut self, z: usize, value: f64) {
        self.reach(z + 1);
        self.nu[z] = value.max(LEAST_NU);
    }

    /// Sets λ, as when two learners become one.
    pub fn set_lambda(&mut self, lambda: f64) {
        self.lambda = lambda.max(self.floor);
    }

    /// True when numbers make sense: what a file must satisfy.
    pub fn is_sound(&self) -> bool {
        let positive = |v: &f64| *v > 0.0 && v.is_finite();
        self.floor >= 1.0
            && self.lambda >= self.floor
            && self.lambda <= MOST_EXPECTED
            && self.nu.iter().all(positive)
            && positive(&self.tail)
    }
}

impl MixingWork {
    /// Components of which nothing is known are alike, so that which of them made an observation is a matter of names:
    /// the likeliest of those that are blank takes the shares of all. Split among them, what a new component must learn
    /// would be known to none.
    /// Extends: \[BMM\] lets each have its share.
    pub fn gather(&mut self, is_blank: impl Fn(usize) -> bool) {
        let (mut best, mut total): (Option<usize>, f64) = (None, 0.0);
        for z in (0..self.shares.len()).filter(|&z| is_blank(z)) {
            total += self.shares[z];
            if best.is_none_or(|best| self.shares[z] > self.shares[best]) {
                best.into_iter().for_each(|best| self.shares[best] = 0.0);
                best = Some(z);
            } else {
                self.shares[z] = 0.0;
            }
        }
        best.into_iter().for_each(|best| self.shares[best] = total);
    }

    /// p_z of the components attended to.
    pub fn shares(&self) -> &[f64] {
        &self.shares
    }

    /// E\[T\] after the observation.
    pub fn expected_t(&self) -> f64 {
        self.expected_t
    }
}

/// The precision S of a Dirichlet distribution by its moments, from all of them together.
/// Deviates: \[BMM\] has it from any one of them, and different ones give different precisions.
pub(super) fn pooled_precision(theta: &ThetaMoments) -> Option<f64> {
    let (mut above, mut below) = (0.0, 0.0);
    for (first, second) in theta.first.iter().zip(&theta.second) {
        above += first - second;
        below += second - first * first;
    }
    let precision = above / below;
    // One component alone has all of θ: what is left of the moments is rounding.
    (above > 1e-12 && below > 0.0 && precision > 0.0 && precision.is_finite()).then_some(precision)
}

#[cfg(test)]
#[path = "mixing_laws.rs"]
mod laws;
