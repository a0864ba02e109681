//! A linear support vector machine: squared hinge loss by dual coordinate descent (Hsieh et al. 2008), as LinearSVC has
//! it, with classes weighted inversely to their frequency.

use bayestream::num;

/// Passes over the rows, at most.
const PASSES: usize = 200;
/// Ends when no dual variable moves by more.
const SETTLED: f64 = 1e-3;

/// A row of features: places and values.
pub type Row = Vec<(u32, f64)>;

/// Weights of the features, and a constant.
pub struct Machine {
    weights: Vec<f64>,
    constant: f64,
}

impl Machine {
    /// Learns to tell the rows of the class from the others; `cost` is C.
    pub fn learn(rows: &[Row], is_in: &[bool], n_features: usize, cost: f64, seed: u64) -> Machine {
        let n = rows.len();
        let n_in = is_in.iter().filter(|y| **y).count().max(1);
        let weight = |y: bool| n as f64 / (2.0 * if y { n_in } else { (n - n_in).max(1) } as f64);
        let diagonal: Vec<f64> = is_in.iter().map(|y| 0.5 / (cost * weight(*y))).collect();
        let norms: Vec<f64> =
            rows.iter().zip(&diagonal).map(|(row, d)| row.iter().map(|(_, x)| x * x).sum::<f64>() + 1.0 + d).collect();
        let mut machine = Machine { weights: vec![0.0; n_features], constant: 0.0 };
        let mut dual = vec![0.0; n];
        let mut order: Vec<usize> = (0..n).collect();
        let mut rng = num::stream(seed, 0, 0);
        for _ in 0..PASSES {
            rng.shuffle(&mut order);
            let mut largest = 0.0_f64;
            for &i in &order {
                let y = if is_in[i] { 1.0 } else { -1.0 };
                let gradient = y * machine.decide(&rows[i]) - 1.0 + diagonal[i] * dual[i];
                let new = (dual[i] - gradient / norms[i]).max(0.0);
                let step = new - dual[i];
                if step != 0.0 {
                    dual[i] = new;
                    largest = largest.max(step.abs() * norms[i]);
                    rows[i].iter().for_each(|&(j, x)| machine.weights[j as usize] += step * y * x);
                    machine.constant += step * y;
                }
            }
            if largest < SETTLED {
                break;
            }
        }
        machine
    }

    /// Positive for the class, negative for the others.
    pub fn decide(&self, row: &Row) -> f64 {
        self.constant + row.iter().map(|&(j, x)| self.weights[j as usize] * x).sum::<f64>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// At the optimum no small change of the weights lowers ½|w|² + C Σ w_i max(0, 1 − y f)².
    #[test]
    fn the_objective_is_at_its_minimum() {
        let mut rng = num::stream(94, 0, 0);
        let is_in: Vec<bool> = (0..60).map(|i| i % 5 == 0).collect();
        let rows: Vec<Row> =
            is_in.iter().map(|&y| vec![(0, rng.normal() + f64::from(u8::from(y))), (2, 0.5 * rng.normal())]).collect();
        let machine = Machine::learn(&rows, &is_in, 3, 0.7, 1);
        let objective = |w: &[f64], b: f64| {
            let other = Machine { weights: w.to_vec(), constant: b };
            let loss: f64 = rows
                .iter()
                .zip(&is_in)
                .map(|(row, &y)| {
                    let (sign, weight) = if y { (1.0, 60.0 / 24.0) } else { (-1.0, 60.0 / 96.0) };
                    0.7 * weight * (1.0 - sign * other.decide(row)).max(0.0).powi(2)
                })
                .sum();
            0.5 * (w.iter().map(|w| w * w).sum::<f64>() + b * b) + loss
        };
        let best = objective(&machine.weights, machine.constant);
        for j in [0, 2] {
            for step in [-0.05, 0.05] {
                let mut moved = machine.weights.clone();
                moved[j] += step;
                assert!(objective(&moved, machine.constant) > best);
            }
        }
        assert!(objective(&machine.weights, machine.constant + 0.05) > best);
        assert!(objective(&machine.weights, machine.constant - 0.05) > best);
    }
}
