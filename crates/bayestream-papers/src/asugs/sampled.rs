//! Algorithm 1 of the paper to the letter: labels are drawn from their posterior, where SUGS takes the likeliest.

use super::adaptive::printed;
use bayestream::family::{IllegalPrior, NormalWishart, WishartPosterior, WishartScratch};
use bayestream::num::{self, Rng, log_sum_exp};

/// Classes with their sizes, and a class without rows.
pub struct Sampled {
    classes: Vec<(f64, WishartPosterior)>,
    empty: WishartPosterior,
    n: f64,
    rng: Rng,
    scores: Vec<f64>,
    scratch: WishartScratch,
}

/// Rate λ of the prior of the concentration.
const LAMBDA: f64 = 1.0;

impl Sampled {
    /// For rows whose columns have mean zero and unit variance, as in the engine's frame.
    pub fn new(n_columns: usize, prior_scale: f64, nu0: f64, seed: u64) -> Result<Sampled, IllegalPrior> {
        let c0 = prior_scale / (1.0 - prior_scale);
        let prior = NormalWishart::with_variances(c0, nu0, vec![0.0; n_columns], &vec![prior_scale; n_columns])?;
        Ok(Sampled {
            classes: Vec::new(),
            empty: prior.empty_posterior(),
            n: 0.0,
            rng: num::stream(seed, 0, 0x7361_6d70),
            scores: Vec::new(),
            scratch: WishartScratch::default(),
        })
    }

    pub fn n_classes(&self) -> usize {
        self.classes.len()
    }

    /// Draws the row's class and adds the row to it.
    pub fn learn(&mut self, row: &[f64]) {
        let k = self.classes.len();
        let alpha = if k == 0 { 1.0 } else { printed(k as f64, self.n, LAMBDA) };
        self.scores.clear();
        for (size, class) in &self.classes {
            self.scores.push(size.ln() + class.log_predictive(row, &mut self.scratch));
        }
        self.scores.push(alpha.ln() + self.empty.log_predictive(row, &mut self.scratch));
        let log_total = log_sum_exp(&self.scores);
        self.scores.iter_mut().for_each(|s| *s = (*s - log_total).exp());
        let chosen = self.rng.categorical(&self.scores);
        if chosen == k {
            self.classes.push((0.0, self.empty.clone()));
        }
        let (size, class) = &mut self.classes[chosen];
        *size += 1.0;
        class.add(row, 1.0, &mut self.scratch);
        self.n += 1.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_has_a_class_and_far_rows_have_others() {
        let mut sampled = Sampled::new(1, 0.01, 20.0, 7).unwrap();
        let mut rng = num::stream(8, 0, 0);
        for ix in 0..400 {
            sampled.learn(&[if ix % 2 == 0 { 1.0 } else { -1.0 } + 0.1 * rng.normal()]);
        }
        assert_eq!(sampled.classes.iter().map(|c| c.0).sum::<f64>(), 400.0);
        let large: Vec<f64> = sampled.classes.iter().filter(|c| c.0 > 50.0).map(|c| c.1.mean()[0]).collect();
        assert!(large.iter().any(|m| *m > 0.9) && large.iter().any(|m| *m < -0.9), "{large:?}");
    }
}
