//! The shares of topics in the stream, when their number is open.

use crate::engine::parts;
use crate::num::Rng;
use serde::{Deserialize, Serialize};

/// What shares of topics follow from. The last topic is the open one, which has what the others leave.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Sticks {
    /// Tables of each topic, over all documents, times what a sweep is worth.
    pub tables: Vec<f64>,
}

impl Sticks {
    /// The shares of all topics, the open one's last; they add up to one. Expected ones, unless they are to be drawn.
    /// [BayesPA] (45), with u and v of the state before the mini-batch
    pub fn shares(&self, eta: f64, rng: Option<&mut Rng>) -> Vec<f64> {
        let Some((open, others)) = self.tables.split_last() else { return Vec::new() };
        let sticks = parts::Sticks::of_tables(others, eta + open);
        let (mut shares, rest) = match rng {
            Some(rng) => sticks.drawn(rng),
            None => sticks.expected(),
        };
        shares.push(rest);
        shares
    }
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
}
