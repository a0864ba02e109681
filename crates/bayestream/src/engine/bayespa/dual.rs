//! The passive-aggressive problem of a few examples at once: min ½ (μ − μ₀)' V⁻¹ (μ − μ₀) + Σ cap (ε − y μ·x)₊.

/// One example.
#[derive(Clone, Copy)]
pub(super) struct Example<'a> {
    pub features: &'a [f64],
    /// y: 1 or −1.
    pub side: f64,
    /// The most that its dual variable may be.
    pub cap: f64,
}

/// Rounds over the examples, at most.
const ROUNDS: usize = 10;
/// Ends when no dual variable moves by more than this part of its cap.
const SETTLED: f64 = 1e-6;

/// Moves the weights to the solution, by coordinate ascent in the dual, and gives the dual variables. One example is solved
/// exactly: τ = min(cap, (ε − y μ·x)₊ / x'Vx). [BayesPA] (25), with y y' in the quadratic term and V in the closed form.
pub(super) fn solve(examples: &[Example<'_>], epsilon: f64, variances: &[f64], weights: &mut [f64]) -> Vec<f64> {
    let mut tau = vec![0.0; examples.len()];
    let norms: Vec<f64> =
        examples.iter().map(|e| e.features.iter().zip(variances).map(|(x, v)| x * x * v).sum()).collect();
    for _ in 0..if examples.len() == 1 { 1 } else { ROUNDS } {
        let mut moved = 0.0_f64;
        for (i, example) in examples.iter().enumerate() {
            if norms[i] <= 0.0 {
                continue;
            }
            let margin: f64 = example.features.iter().zip(weights.iter()).map(|(x, w)| x * w).sum();
            let new = (tau[i] + (epsilon - example.side * margin) / norms[i]).clamp(0.0, example.cap);
            let step = new - tau[i];
            if step != 0.0 {
                tau[i] = new;
                moved = moved.max(step.abs() / example.cap);
                for ((w, x), v) in weights.iter_mut().zip(example.features).zip(variances) {
                    *w += step * example.side * v * x;
                }
            }
        }
        if moved < SETTLED {
            break;
        }
    }
    tau
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::num::stream;

    fn objective(examples: &[Example<'_>], epsilon: f64, variances: &[f64], from: &[f64], weights: &[f64]) -> f64 {
        let moved: f64 = weights.iter().zip(from).zip(variances).map(|((w, f), v)| 0.5 * (w - f) * (w - f) / v).sum();
        let loss = |e: &Example<'_>| {
            let margin: f64 = e.features.iter().zip(weights).map(|(x, w)| x * w).sum();
            e.cap * (epsilon - e.side * margin).max(0.0)
        };
        moved + examples.iter().map(loss).sum::<f64>()
    }

    /// No small change of the weights lowers the objective, for one example and for many.
    #[test]
    fn the_solution_is_a_minimum() {
        let mut rng = stream(71, 0, 0);
        for n in [1, 2, 30] {
            let features: Vec<Vec<f64>> = (0..n).map(|_| (0..4).map(|_| rng.uniform()).collect()).collect();
            let variances = [0.3, 0.01, 2.0, 0.5];
            let from: Vec<f64> = (0..4).map(|_| rng.normal()).collect();
            let examples: Vec<Example<'_>> = features
                .iter()
                .enumerate()
                .map(|(i, f)| Example { features: f, side: if i % 3 == 0 { 1.0 } else { -1.0 }, cap: 0.7 })
                .collect();
            let mut weights = from.clone();
            let tau = solve(&examples, 1.3, &variances, &mut weights);
            assert!(tau.iter().all(|t| (0.0..=0.7).contains(t)));
            let best = objective(&examples, 1.3, &variances, &from, &weights);
            for _ in 0..300 {
                let step = 0.02 * rng.uniform();
                let other: Vec<f64> =
                    weights.iter().zip(variances).map(|(w, v)| w + step * v.sqrt() * rng.normal()).collect();
                // Many examples are solved to the end of the rounds, not to the last digit.
                let slack = if n == 1 { 1e-12 } else { 1e-3 };
                assert!(objective(&examples, 1.3, &variances, &from, &other) > best - slack, "{n}");
            }
        }
    }
}
