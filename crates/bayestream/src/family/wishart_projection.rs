//! The normal-Wishart distribution nearest to a mixture of two: moment matching.
//!
//! Among all q the minimum of KL((1−p) q₀ + p q₁ ‖ q) has the mixture's expectations of T, Tμ, μᵀTμ and ln |T|. With
//! A = E\[T\] and v = E\[Tμ\]: m = A⁻¹v, c = d/(E\[μᵀTμ\] − mᵀv), ν solves Σ_i ψ((ν−i)/2) + d ln 2 − d ln ν = E ln|T| − ln|A|,
//! and S = νA⁻¹. When q₁ is q₀ after one more row, S₁ − S₀ has rank one, all of it has closed forms in the row's distance,
//! and nothing is inverted.

use super::WishartPosterior;
use super::normal_wishart::{WishartScratch, factor_repaired};
use crate::num::{self, digamma, trigamma};
use std::f64::consts::LN_2;

/// A share this near to one is one.
const WHOLE: f64 = 1.0 - 1e-9;
/// Degrees of freedom beyond which they say nothing more.
const MOST_NU: f64 = 1e9;

impl WishartPosterior {
    /// Becomes the distribution with the moments of (1 − share) q + share q(· | row), the row seen `weight` times.
    pub fn blend_row(&mut self, row: &[f64], share: f64, weight: f64, scratch: &mut WishartScratch) {
        if share >= WHOLE {
            self.add(row, weight, scratch);
            return;
        }
        if !(share > 0.0 && weight > 0.0) {
            return;
        }
        let d = self.mean.len();
        let columns = d as f64;
        // u = L⁻¹e, where e = x − m: in units of L, S₀ is the identity and S₁ = I + a uuᵀ.
        let q = self.distance(row, scratch);
        let (c1, nu1) = (self.c + weight, self.nu + weight);
        let a = self.c * weight / c1;
        let step = weight / c1;
        let stretched = 1.0 + a * q;
        let all = (1.0 - share) * self.nu + share * nu1;
        let along = (1.0 - share) * self.nu + share * nu1 / stretched;
        let pull = share * nu1 * step / stretched;
        // E[T] is `all` times the identity less `less` along u, and is `along` there.
        let less = share * nu1 * a / stretched;
        let spread = (1.0 - share) * columns / self.c + share * (columns / c1 + nu1 * step * step * q / stretched)
            - pull * pull * q / along;
        let log_det = (1.0 - share) * digammas(self.nu, d) + share * (digammas(nu1, d) - stretched.ln());
        let target = log_det + columns * LN_2 - columns * all.ln() - (along / all).ln();
        let nu = degrees_of_freedom(target, d, self.nu + share * weight);
        let c = columns / spread.max(1e-12);
        let moved = pull / along;
        let grown = less / along;
        let finite = [nu, c, moved, grown].iter().all(|v| v.is_finite());
        if !finite {
            if share > 0.5 {
                self.add(row, weight, scratch);
            }
            return;
        }
        let length = grown.sqrt();
        scratch.vector.clear();
        scratch.vector.extend(row.iter().zip(&self.mean).map(|(x, m)| length * (x - m)));
        for (m, x) in self.mean.iter_mut().zip(row) {
            *m += moved * (x - *m);
        }
        num::rank_one_update(&mut self.factor, d, &mut scratch.vector);
        let scale = (nu / all).sqrt();
        self.factor.iter_mut().for_each(|v| *v *= scale);
        (self.c, self.nu) = (c, nu);
        self.half_log_det = (0..d).map(|j| self.factor[j * d + j].ln()).sum();
        self.set_norm();
    }

    /// Becomes the distribution with the moments of (1 − share) q + share `other`.
    pub fn blend(&mut self, other: &WishartPosterior, share: f64) {
        if share >= WHOLE {
            self.clone_from(other);
            return;
        }
        if share > 0.0
            && let Some(blended) = self.blended(other, share)
        {
            *self = blended;
        }
    }

    fn blended(&self, other: &WishartPosterior, share: f64) -> Option<WishartPosterior> {
        let d = self.mean.len();
        let columns = d as f64;
        // About the first mean, where E[Tμ] of the first is zero and nothing large cancels.
        let off: Vec<f64> = other.mean.iter().zip(&self.mean).map(|(o, m)| o - m).collect();
        let (mut expected, ours, theirs) =
            (vec![0.0; d * d], inverse_scatter(&self.factor, d), inverse_scatter(&other.factor, d));
        let (first, second) = ((1.0 - share) * self.nu, share * other.nu);
        expected.iter_mut().zip(ours.iter().zip(&theirs)).for_each(|(e, (a, b))| *e = first * a + second * b);
        let v: Vec<f64> = (0..d)
            .map(|i| second * theirs[i * d..(i + 1) * d].iter().zip(&off).map(|(t, o)| t * o).sum::<f64>())
            .collect();
        let quadratic: f64 = v.iter().zip(&off).map(|(v, o)| v * o).sum();
        let mut factor = expected.clone();
        let (log_det, _) = factor_repaired(&mut factor, &mut Vec::new(), d);
        let mut moved = v.clone();
        num::solve_lower(&factor, d, &mut moved);
        let explained: f64 = moved.iter().map(|z| z * z).sum();
        num::solve_lower_transposed(&factor, d, &mut moved);
        let spread = (1.0 - share) * columns / self.c + share * columns / other.c + quadratic - explained;
        let target = (1.0 - share) * self.expected_log_det() + share * other.expected_log_det() - log_det;
        let nu = degrees_of_freedom(target, d, (1.0 - share) * self.nu + share * other.nu);
        // S = ν E[T]⁻¹.
        let mut scatter = inverse_scatter(&factor, d);
        scatter.iter_mut().for_each(|s| *s *= nu);
        let mean: Vec<f64> = self.mean.iter().zip(&moved).map(|(m, o)| m + o).collect();
        let finite = mean.iter().chain(&scatter).all(|v| v.is_finite());
        let c = columns / spread.max(1e-12);
        if finite { WishartPosterior::from_parts(c, nu, mean, scatter).ok() } else { None }
    }
}

/// (LLᵀ)⁻¹ of a lower triangular L, both triangles.
fn inverse_scatter(factor: &[f64], d: usize) -> Vec<f64> {
    let mut inverse = vec![0.0; d * d];
    num::invert_lower(factor, d, &mut inverse);
    let mut out = vec![0.0; d * d];
    for i in 0..d {
        for j in 0..=i {
            let value = (i..d).map(|r| inverse[r * d + i] * inverse[r * d + j]).sum::<f64>();
            out[i * d + j] = value;
            out[j * d + i] = value;
        }
    }
    out
}

/// Σ_i ψ((ν−i)/2), i = 0 … d−1.
fn digammas(nu: f64, d: usize) -> f64 {
    (0..d).map(|i| digamma(0.5 * (nu - i as f64))).sum()
}

/// The ν with Σ_i ψ((ν−i)/2) + d ln 2 − d ln ν = target, which grows with ν: Newton in ln(ν − d + 1).
fn degrees_of_freedom(target: f64, d: usize, guess: f64) -> f64 {
    let (columns, bound) = (d as f64, d as f64 - 1.0);
    let mut at = (guess - bound).max(1e-3).ln();
    for _ in 0..50 {
        let above = at.exp();
        let nu = bound + above;
        let error = digammas(nu, d) + columns * LN_2 - columns * nu.ln() - target;
        let slope = 0.5 * (0..d).map(|i| trigamma(0.5 * (nu - i as f64))).sum::<f64>() - columns / nu;
        let step = (error / (slope * above)).clamp(-1.0, 1.0);
        at = (at - step).min(MOST_NU.ln());
        if step.abs() < 1e-12 || !step.is_finite() {
            break;
        }
    }
    bound + at.exp()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::family::{NormalWishart, ln_multivariate_gamma};

    fn posterior() -> WishartPosterior {
        let scatter = vec![1.3, 0.4, -0.2, 0.4, 0.9, 0.1, -0.2, 0.1, 0.7];
        NormalWishart::new(0.8, 5.5, vec![0.3, -0.5, 1.1], scatter).unwrap().empty_posterior()
    }

    fn close(a: &WishartPosterior, b: &WishartPosterior, tolerance: f64) {
        let pairs = [(a.c(), b.c()), (a.nu(), b.nu())].into_iter();
        let vectors = a.mean().iter().zip(b.mean()).chain(a.factor().iter().zip(b.factor()));
        for (x, y) in pairs.chain(vectors.map(|(x, y)| (*x, *y))) {
            assert!((x - y).abs() <= tolerance * (1.0 + y.abs()), "{a:?}\n{b:?}");
        }
    }

    #[test]
    fn one_component_alone_learns_as_the_conjugate_update() {
        let (row, mut scratch) = ([1.0, 0.2, -0.7], WishartScratch::default());
        let (mut matched, mut exact) = (posterior(), posterior());
        matched.blend_row(&row, 1.0, 1.7, &mut scratch);
        exact.add(&row, 1.7, &mut scratch);
        close(&matched, &exact, 0.0);
        // And in the limit.
        let mut near = posterior();
        near.blend_row(&row, 1.0 - 1e-8, 1.7, &mut scratch);
        close(&near, &exact, 1e-6);
        let mut still = posterior();
        still.blend_row(&row, 0.0, 1.7, &mut scratch);
        close(&still, &posterior(), 0.0);
    }

    #[test]
    fn the_closed_form_of_a_row_is_the_general_projection() {
        let (row, mut scratch) = ([1.0, 0.2, -0.7], WishartScratch::default());
        for (share, weight) in [(0.003, 1.0), (0.3, 1.0), (0.8, 2.5), (0.95, 0.4)] {
            let (mut by_row, mut general, mut after) = (posterior(), posterior(), posterior());
            after.add(&row, weight, &mut scratch);
            by_row.blend_row(&row, share, weight, &mut scratch);
            general.blend(&after, share);
            close(&by_row, &general, 1e-9);
        }
    }

    /// E_q₀\[ln q\] for two normal-Wishart distributions: what KL(q₀ ‖ q) has of q, with the sign turned.
    fn expected_log(at: &WishartPosterior, q: &WishartPosterior) -> f64 {
        let d = q.mean().len();
        let columns = d as f64;
        let mut scatter = Vec::new();
        q.scatter_into(&mut scatter);
        let inverse = inverse_scatter(at.factor(), d);
        let trace: f64 = at.nu() * inverse.iter().zip(&scatter).map(|(a, b)| a * b).sum::<f64>();
        let off: Vec<f64> = q.mean().iter().zip(at.mean()).map(|(a, b)| a - b).collect();
        let quadratic: f64 =
            (0..d * d).map(|ij| at.nu() * off[ij / d] * inverse[ij] * off[ij % d]).sum::<f64>() + columns / at.c();
        0.5 * columns * q.c().ln() - 0.5 * q.c() * quadratic + 0.5 * (q.nu() - columns) * at.expected_log_det()
            - 0.5 * trace
            + 0.5 * q.nu() * q.log_det()
            - 0.5 * q.nu() * columns * LN_2
            - ln_multivariate_gamma(d, 0.5 * q.nu())
    }

    #[test]
    fn no_step_from_the_projection_comes_nearer_to_the_mixture() {
        let (row, mut scratch, share) = ([2.0, 0.2, -1.7], WishartScratch::default(), 0.35);
        let (first, mut second, mut found) = (posterior(), posterior(), posterior());
        second.add(&row, 1.0, &mut scratch);
        found.blend_row(&row, share, 1.0, &mut scratch);
        let gain = |q: &WishartPosterior| (1.0 - share) * expected_log(&first, q) + share * expected_log(&second, q);
        let best = gain(&found);
        let mut scatter = Vec::new();
        found.scatter_into(&mut scatter);
        let step = 1e-3;
        let mut tried = 0;
        for sign in [-1.0, 1.0] {
            let mut candidates = vec![
                (found.c() * (1.0 + sign * step), found.nu(), found.mean().to_vec(), scatter.clone()),
                (found.c(), found.nu() * (1.0 + sign * step), found.mean().to_vec(), scatter.clone()),
            ];
            for j in 0..3 {
                let mut mean = found.mean().to_vec();
                mean[j] += sign * step;
                candidates.push((found.c(), found.nu(), mean, scatter.clone()));
                for i in j..3 {
                    let mut changed = scatter.clone();
                    changed[i * 3 + j] += sign * step;
                    changed[j * 3 + i] = changed[i * 3 + j];
                    candidates.push((found.c(), found.nu(), found.mean().to_vec(), changed));
                }
            }
            for (c, nu, mean, scatter) in candidates {
                let other = WishartPosterior::from_parts(c, nu, mean, scatter).unwrap();
                assert!(gain(&other) < best, "{other:?}");
                tried += 1;
            }
        }
        assert_eq!(tried, 22);
    }

    #[test]
    fn far_rows_of_small_share_stay_finite() {
        let (mut q, mut scratch) = (posterior(), WishartScratch::default());
        for i in 0..200 {
            let far = 10f64.powi(i % 75);
            q.blend_row(&[far, -far, 0.5 * far], 0.002 * f64::from(1 + i % 9), 1.0, &mut scratch);
            assert!(q.is_sound(3), "{i}: {q:?}");
        }
    }
}
