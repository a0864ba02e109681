//! The local step of Hoffman, Bach and Blei (2010): mean-field shares of topics in each document.

use super::batch::MiniBatch;
use crate::num;

/// Rounds over a document, at most, and the mean change of γ that ends them.
const ROUNDS: usize = 100;
const SETTLED: f64 = 1e-3;
/// Weights of topics in a document are at least this part of the largest.
const LEAST_SHARE: f32 = 1e-20;

/// Adds n_dw φ_dwz of all documents to `statistics`, given exp E ln φ in rows of `width`.
///
/// γ_z = α + Σ n_w φ_wz with φ_wz ∝ exp ψ(γ_z) weight_wz, until γ stays.
pub(super) fn expect(batch: &MiniBatch<'_>, weights: &[f32], alpha: &[f32], statistics: &mut [f32]) {
    let width = alpha.len();
    let n_topics = alpha.iter().filter(|a| **a > 0.0).count();
    let (mut rows, mut counts) = (Vec::new(), Vec::new());
    let (mut shares, mut gained) = (vec![0.0f32; width], vec![0.0f32; width]);
    for document in 0..batch.len() {
        let (places, n) = batch.get(document);
        rows.clear();
        places.iter().for_each(|place| rows.extend_from_slice(&weights[*place as usize * width..][..width]));
        counts.clear();
        counts.extend(n.iter().map(|n| *n as f32));
        let total: f32 = counts.iter().sum();
        let mut gamma: Vec<f64> = alpha[..n_topics].iter().map(|a| f64::from(a + total / n_topics as f32)).collect();
        for _ in 0..ROUNDS {
            into_shares(&gamma, &mut shares);
            gained.fill(0.0);
            num::gain_words(&rows, &counts, &shares, &mut gained);
            let mut change = 0.0;
            for z in 0..n_topics {
                let new = f64::from(alpha[z] + shares[z] * gained[z]);
                change += (new - gamma[z]).abs();
                gamma[z] = new;
            }
            if change < SETTLED * n_topics as f64 {
                break;
            }
        }
        into_shares(&gamma, &mut shares);
        for ((place, row), n) in places.iter().zip(rows.chunks_exact(width)).zip(&counts) {
            let factor = n / num::dot_f32(&shares, row).max(f32::MIN_POSITIVE);
            let statistics = &mut statistics[*place as usize * width..][..width];
            for z in 0..width {
                statistics[z] += factor * shares[z] * row[z];
            }
        }
    }
}

/// exp ψ(γ), relative to the largest.
fn into_shares(gamma: &[f64], shares: &mut [f32]) {
    let mut logs = gamma.to_vec();
    num::digamma_slice(&mut logs);
    let largest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    logs.iter_mut().for_each(|log| *log -= largest);
    num::exp_slice(&mut logs);
    shares.iter_mut().zip(&logs).for_each(|(share, relative)| *share = (*relative as f32).max(LEAST_SHARE));
}
