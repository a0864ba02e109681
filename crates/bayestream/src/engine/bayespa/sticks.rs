//! The shares of topics in the stream, when their number is open: stick-breaking weights.

use crate::num::Rng;
use serde::{Deserialize, Serialize};

/// Beta posteriors of the sticks, in the order of the topics. The last topic is the open one, which has the rest.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Sticks {
    /// Tables of each topic, over all documents, times what a sweep is worth.
    pub tables: Vec<f64>,
}

impl Sticks {
    /// The shares of all topics, the open one's last; they add up to one.
    pub fn shares(&self, eta: f64, mut rng: Option<&mut Rng>) -> Vec<f64> {
        let mut after: f64 = self.tables.iter().sum();
        let mut left = 1.0;
        let mut shares = Vec::with_capacity(self.tables.len());
        for (k, tables) in self.tables.iter().enumerate() {
            after -= tables;
            if k + 1 == self.tables.len() {
                shares.push(left);
                break;
            }
            let (u, v) = (1.0 + tables, eta + after.max(0.0)); // [BayesPA] (45), with u, v of the state before
            let part = match &mut rng {
                Some(rng) => {
                    let (a, b) = (rng.gamma(u), rng.gamma(v));
                    if a + b > 0.0 { a / (a + b) } else { 0.5 }
                }
                None => u / (u + v),
            };
            shares.push(left * part);
            left *= 1.0 - part;
        }
        shares
    }
}

/// Tables that `customers` of one dish sit at, in a restaurant of this concentration: the Chinese restaurant process itself.
pub(super) fn draw_tables(customers: u32, concentration: f64, rng: &mut Rng) -> u32 {
    let mut tables = u32::from(customers > 0);
    for seated in 1..customers {
        if rng.uniform() * (concentration + f64::from(seated)) < concentration {
            tables += 1; // [BayesPA] (44)
        }
    }
    tables
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::num::stream;

    #[test]
    fn shares_add_up_and_follow_the_tables() {
        let sticks = Sticks { tables: vec![30.0, 10.0, 60.0, 0.0] };
        let shares = sticks.shares(1.0, None);
        assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        assert!((shares[0] - 31.0 / 102.0).abs() < 1e-12 && shares[2] > shares[0] && shares[3] < 0.02);
        let n = 20_000;
        let mut rng = stream(3, 0, 0);
        let mut mean = [0.0; 4];
        for _ in 0..n {
            let drawn = sticks.shares(1.0, Some(&mut rng));
            mean.iter_mut().zip(&drawn).for_each(|(m, s)| *m += s / f64::from(n));
        }
        // Independent sticks: the mean of the product is the product of the means.
        mean.iter().zip(&shares).for_each(|(m, s)| assert!((m - s).abs() < 0.003, "{m} {s}"));
    }

    /// p(s | n) = stirling(n, s) a^s Γ(a) / Γ(a + n), by the recurrence of the process.
    #[test]
    fn tables_follow_their_exact_distribution() {
        let (customers, a) = (9u32, 1.7);
        let mut exact = vec![0.0, 1.0];
        for seated in 1..customers {
            let n = f64::from(seated);
            let mut next = vec![0.0; exact.len() + 1];
            for (s, p) in exact.iter().enumerate() {
                next[s] += p * n / (a + n);
                next[s + 1] += p * a / (a + n);
            }
            exact = next;
        }
        let mut rng = stream(5, 0, 0);
        let n = 200_000;
        let mut seen = vec![0.0; exact.len()];
        (0..n).for_each(|_| seen[draw_tables(customers, a, &mut rng) as usize] += 1.0 / f64::from(n));
        for (s, p) in exact.iter().enumerate() {
            let error = (p * (1.0 - p) / f64::from(n)).sqrt();
            assert!((seen[s] - p).abs() < 5.0 * error + 1e-9, "{s}: {} {p}", seen[s]);
        }
        assert_eq!(draw_tables(0, a, &mut rng), 0);
    }
}
