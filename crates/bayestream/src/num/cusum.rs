//! Many running sums that start over whenever they fall to zero, one step of all of them at a time.

use super::simd::{self, Arithmetic, Kernel};

/// Sums of `slope · x − base` per place, none below zero.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Cusums {
    /// What a step adds per unit of x, and takes off.
    pub slope: Vec<f64>,
    /// See `slope`.
    pub base: Vec<f64>,
    /// The sums so far.
    pub sum: Vec<f64>,
    /// The step after which each last started over.
    pub since: Vec<f64>,
}

impl Cusums {
    /// Sums that begin after step `now` and never rise.
    pub fn idle(n: usize, now: f64) -> Cusums {
        Cusums { slope: vec![0.0; n], base: vec![0.0; n], sum: vec![0.0; n], since: vec![now; n] }
    }

    /// Takes step `now`, with the same `x` for each stretch of `x.len()` sums, and returns the largest sum. Where x is NaN
    /// nothing changes; a sum that has been above zero for more than `patience` steps starts over.
    pub fn step(&mut self, x: &[f64], now: f64, patience: f64) -> f64 {
        simd::fastest(Step { sums: self, x, now, patience })
    }
}

struct Step<'a> {
    sums: &'a mut Cusums,
    x: &'a [f64],
    now: f64,
    patience: f64,
}

impl Kernel for Step<'_> {
    type Output = f64;

    #[inline(always)]
    fn run<A: Arithmetic>(self) -> f64 {
        let Step { sums, x, now, patience } = self;
        let n = x.len();
        let mut largest = [0.0_f64; 8];
        let stretches = sums.slope.chunks_exact(n).zip(sums.base.chunks_exact(n));
        let state = sums.sum.chunks_exact_mut(n).zip(sums.since.chunks_exact_mut(n));
        for ((slope, base), (sum, since)) in stretches.zip(state) {
            for j in 0..n {
                let gain = A::mul_add(slope[j], x[j], -base[j]);
                let risen = sum[j] + gain;
                let over = risen <= 0.0 || now - since[j] > patience;
                let risen = if over { 0.0 } else { risen };
                let started = if over { now } else { since[j] };
                let known = !gain.is_nan();
                sum[j] = if known { risen } else { sum[j] };
                since[j] = if known { started } else { since[j] };
            }
            for (j, sum) in sum.iter().enumerate() {
                let most = &mut largest[j % 8];
                *most = if *sum > *most { *sum } else { *most };
            }
        }
        largest.into_iter().fold(0.0, f64::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_rise_start_over_wait_and_lose_patience() {
        let mut sums = Cusums::idle(6, 10.0);
        sums.slope = vec![1.0, 2.0, 0.5, -1.0, -2.0, -0.5];
        sums.base = vec![0.25; 6];
        let mut plain = [(0.0, 10.0); 6];
        for step in 11..80 {
            let now = f64::from(step);
            let x = [(now * 0.7).sin() + 0.3, if step % 5 == 0 { f64::NAN } else { 0.4 }, (now * 1.9).cos()];
            let most = sums.step(&x, now, 20.0);
            for (place, (sum, since)) in plain.iter_mut().enumerate() {
                let gain = sums.slope[place].mul_add(x[place % 3], -0.25);
                if gain.is_nan() {
                    continue;
                }
                *sum += gain;
                if *sum <= 0.0 || now - *since > 20.0 {
                    (*sum, *since) = (0.0, now);
                }
            }
            for (place, (sum, since)) in plain.iter().enumerate() {
                assert!((sums.sum[place] - sum).abs() < 1e-12 && sums.since[place] == *since, "{place} at {step}");
            }
            let expected = plain.iter().map(|(sum, _)| *sum).fold(0.0, f64::max);
            assert!((most - expected).abs() < 1e-12);
        }
    }
}
