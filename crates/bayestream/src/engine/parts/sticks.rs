//! Shares of the topics in the stream under a hierarchical Dirichlet process: sticks broken one after the other, and the
//! tables at which a document's words sit.

use crate::num::Rng;

/// Customers that are seated one by one; of those after them only the expected number of tables counts.
const SEATED: f32 = 10_000.0;

/// Posterior of the sticks: π̄_z ~ Beta(u_z, v_z).
pub struct Sticks {
    /// Of each topic: one more than its tables.
    pub u: Vec<f64>,
    /// Of each topic: the concentration and the tables of those after it.
    pub v: Vec<f64>,
}

impl Sticks {
    /// By the numbers of tables: u = 1 + s_z, v = γ + Σ s_j over the later ones.
    pub fn of_tables(tables: &[f64], gamma: f64) -> Sticks {
        let mut later = 0.0;
        let mut v: Vec<f64> = tables
            .iter()
            .rev()
            .map(|s| {
                let beyond = gamma + later;
                later += s;
                beyond
            })
            .collect();
        v.reverse();
        Sticks { u: tables.iter().map(|s| 1.0 + s).collect(), v }
    }

    /// Expected shares of the topics, and what is left for others.
    pub fn expected(&self) -> (Vec<f64>, f64) {
        broken(self.u.iter().zip(&self.v).map(|(u, v)| u / (u + v)))
    }

    /// Shares drawn from the posterior, and what is left for others.
    pub fn drawn(&self, rng: &mut Rng) -> (Vec<f64>, f64) {
        broken(self.u.iter().zip(&self.v).map(|(u, v)| beta(*u, *v, rng)))
    }
}

fn broken(parts: impl Iterator<Item = f64>) -> (Vec<f64>, f64) {
    let mut left = 1.0;
    let shares = parts
        .map(|part| {
            let share = part * left;
            left -= share;
            share
        })
        .collect();
    (shares, f64::max(left, 0.0))
}

/// A draw from Beta(u, v).
pub fn beta(u: f64, v: f64, rng: &mut Rng) -> f64 {
    let (x, y) = (rng.gamma(u), rng.gamma(v));
    if x + y > 0.0 { x / (x + y) } else { u / (u + v) }
}

/// Tables of so many customers in a Chinese restaurant with this concentration: Antoniak's distribution, by seating them.
pub fn tables(customers: f32, concentration: f64, rng: &mut Rng) -> f64 {
    if customers <= 0.0 {
        return 0.0;
    }
    let mut tables = 1.0;
    let n = customers.min(SEATED) as u32;
    for seated in 1..n {
        if rng.uniform() * (concentration + f64::from(seated)) < concentration {
            tables += 1.0;
        }
    }
    let rest = (concentration + f64::from(customers)) / (concentration + f64::from(n.max(1)));
    tables + concentration * rest.ln().max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::num::stream;

    #[test]
    fn tables_have_antoniaks_distribution() {
        // |s(n, m)| a^m / (a (a+1) … (a+n−1)), by the recurrence of the Stirling numbers.
        let (n, a) = (6, 0.8f64);
        let mut stirling = vec![1.0];
        for customer in 1..=n {
            let mut next = vec![0.0; customer + 1];
            for (m, s) in stirling.iter().enumerate() {
                next[m + 1] += s;
                next[m] += (customer - 1) as f64 * s;
            }
            stirling = next;
        }
        let weights: Vec<f64> = stirling.iter().enumerate().map(|(m, s)| s * a.powi(m as i32)).collect();
        let total: f64 = weights.iter().sum();
        let mut rng = stream(5, 0, 0);
        let draws = 200_000;
        let mut seen = vec![0.0; n + 1];
        (0..draws).for_each(|_| seen[tables(n as f32, a, &mut rng) as usize] += 1.0 / f64::from(draws));
        for (share, weight) in seen.iter().zip(weights) {
            let p = weight / total;
            assert!((share - p).abs() <= 5.0 * (p * (1.0 - p) / f64::from(draws)).sqrt(), "{share} {p}");
        }
        assert_eq!((tables(0.0, a, &mut rng), tables(1.0, a, &mut rng)), (0.0, 1.0));
    }

    #[test]
    fn tables_beyond_those_seated_are_as_many_as_expected() {
        let (mut rng, a) = (stream(7, 0, 0), 30.0f64);
        let expected = a * ((a + 1e6) / a).ln();
        let mean = (0..200).map(|_| tables(1e6, a, &mut rng)).sum::<f64>() / 200.0;
        // The variance of the number of tables is below its mean; the integral is half a table off at most.
        assert!((mean - expected).abs() < 5.0 * (expected / 200.0).sqrt() + 0.5, "{mean} {expected}");
    }

    #[test]
    fn sticks_are_what_tables_say() {
        let sticks = Sticks::of_tables(&[4.0, 1.0, 2.0], 0.5);
        assert_eq!((sticks.u.clone(), sticks.v.clone()), (vec![5.0, 2.0, 3.0], vec![3.5, 2.5, 0.5]));
        let (shares, left) = sticks.expected();
        let first = 5.0 / 8.5;
        assert!((shares[0] - first).abs() < 1e-12);
        assert!((shares[1] - (1.0 - first) * 2.0 / 4.5).abs() < 1e-12);
        assert!((shares.iter().sum::<f64>() + left - 1.0).abs() < 1e-12);
        let mut rng = stream(9, 0, 0);
        let n = 20_000;
        let drawn: f64 = (0..n).map(|_| sticks.drawn(&mut rng).0[0]).sum::<f64>() / f64::from(n);
        let variance = first * (1.0 - first) / 9.5;
        assert!((drawn - first).abs() < 5.0 * (variance / f64::from(n)).sqrt(), "{drawn} {first}");
    }
}
