//! Algorithm 1 of the paper outside of the engine: to the letter, with labels drawn from their posterior, or with the
//! likeliest label as in SUGS; and the two densities that a new class is decided by.

use super::adaptive::printed;
use bayestream::family::{IllegalPrior, NormalWishart, WishartPosterior, WishartScratch};
use bayestream::num::{self, Rng, log_sum_exp};

/// How a row gets its class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Labels {
    Drawn,
    Likeliest,
}

/// Classes with their sizes, and a class without rows.
pub struct Sampled {
    labels: Labels,
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
    pub fn new(
        labels: Labels,
        n_columns: usize,
        prior_scale: f64,
        nu0: f64,
        seed: u64,
    ) -> Result<Sampled, IllegalPrior> {
        let c0 = prior_scale / (1.0 - prior_scale);
        let prior = NormalWishart::with_variances(c0, nu0, vec![0.0; n_columns], &vec![prior_scale; n_columns])?;
        Ok(Sampled {
            labels,
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

    /// Log-density of a row under the classes there are, \[ASUGS\] (10); minus infinity when there are none.
    pub fn log_known(&mut self, row: &[f64]) -> f64 {
        self.scores.clear();
        for (size, class) in &self.classes {
            self.scores.push((size / self.n).ln() + class.log_predictive(row, &mut self.scratch));
        }
        log_sum_exp(&self.scores)
    }

    /// Log-density of a row under a class without rows.
    pub fn log_new(&mut self, row: &[f64]) -> f64 {
        self.empty.log_predictive(row, &mut self.scratch)
    }

    /// Chooses the row's class and adds the row to it.
    pub fn learn(&mut self, row: &[f64]) {
        let k = self.classes.len();
        let alpha = if k == 0 { 1.0 } else { printed(k as f64, self.n, LAMBDA) };
        self.scores.clear();
        for (size, class) in &self.classes {
            self.scores.push(size.ln() + class.log_predictive(row, &mut self.scratch));
        }
        self.scores.push(alpha.ln() + self.empty.log_predictive(row, &mut self.scratch));
        let chosen = match self.labels {
            Labels::Drawn => {
                let log_total = log_sum_exp(&self.scores);
                self.scores.iter_mut().for_each(|s| *s = (*s - log_total).exp());
                self.rng.categorical(&self.scores)
            }
            Labels::Likeliest => {
                (0..=k).fold(0, |best, at| if self.scores[at] > self.scores[best] { at } else { best })
            }
        };
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
        [Labels::Drawn, Labels::Likeliest].into_iter().for_each(every_row_has_a_class);
    }

    fn every_row_has_a_class(labels: Labels) {
        let mut sampled = Sampled::new(labels, 1, 0.01, 20.0, 7).unwrap();
        let mut rng = num::stream(8, 0, 0);
        for ix in 0..400 {
            sampled.learn(&[if ix % 2 == 0 { 1.0 } else { -1.0 } + 0.1 * rng.normal()]);
        }
        assert_eq!(sampled.classes.iter().map(|c| c.0).sum::<f64>(), 400.0);
        let large: Vec<f64> = sampled.classes.iter().filter(|c| c.0 > 50.0).map(|c| c.1.mean()[0]).collect();
        assert!(large.iter().any(|m| *m > 0.9) && large.iter().any(|m| *m < -0.9), "{large:?}");
    }

    #[test]
    fn what_is_known_integrates_to_one() {
        let mut sampled = Sampled::new(Labels::Likeliest, 1, 0.1, 9.0, 7).unwrap();
        assert_eq!(sampled.log_known(&[0.0]), f64::NEG_INFINITY);
        let mut rng = num::stream(9, 0, 0);
        (0..30).for_each(|_| sampled.learn(&[0.5 * rng.normal()]));
        let step = 0.01;
        let places = || (-4000..=4000).map(|at| [f64::from(at) * step]);
        let known: f64 = places().map(|row| step * sampled.log_known(&row).exp()).sum();
        let new: f64 = places().map(|row| step * sampled.log_new(&row).exp()).sum();
        // Both have heavy tails: at 40 the Student distribution of a new class has 10 degrees of freedom.
        assert!((known - 1.0).abs() < 1e-6 && (new - 1.0).abs() < 1e-6, "{known} {new}");
    }
}
