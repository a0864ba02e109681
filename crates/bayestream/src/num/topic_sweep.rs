//! A Gibbs sweep over the words of one document, with and without a quadratic pull on the topic counts, in `f32`.
//!
//! Rows of topics are padded to [`SWEEP_LANES`]. No multiplication is fused with an addition here, so that both instruction
//! sets give the same bits.

use super::rng::Rng;
use super::simd::{self, Arithmetic, Kernel};

/// Rows of a sweep have a length that is a multiple of this.
pub const SWEEP_LANES: usize = 8;

/// One document in the middle of Gibbs sampling. All slices over topics have one length, a multiple of [`SWEEP_LANES`].
pub struct DocumentSweep<'a> {
    /// For each different word the weight of every topic: its probability of the word, times what else does not change.
    pub rows: &'a [f32],
    /// For each token the place of its word in `rows`.
    pub tokens: &'a [u32],
    /// For each token its topic.
    pub topics: &'a mut [u32],
    /// For each topic its tokens.
    pub counts: &'a mut [f32],
    /// For each topic its weight in a document without words; 0 for padding.
    pub prior: &'a [f32],
    /// What pulls on the counts, if anything does.
    pub pull: Option<Pull<'a>>,
}

/// The factor exp(l·C − C'GC) of the counts C of a document.
pub struct Pull<'a> {
    /// l: one entry for each topic.
    pub linear: &'a [f32],
    /// G: symmetric, one row for each topic.
    pub quadratic: &'a [f32],
    /// G C, for the counts as they are.
    pub product: &'a mut [f32],
}

/// Draws the topic of each token given those of the others, in order: p(z = k) ∝ (prior + C⁻) row exp(l − G_kk − 2 (G C⁻)_k).
pub fn sweep_document(document: DocumentSweep<'_>, rng: &mut Rng, work: &mut Vec<f32>) {
    simd::fastest(Sweep { document, rng, work });
}

#[allow(missing_docs)]
pub(crate) mod portable {
    use super::*;

    pub fn sweep_document(document: DocumentSweep<'_>, rng: &mut Rng, work: &mut Vec<f32>) {
        simd::portable(Sweep { document, rng, work });
    }
}

struct Sweep<'a, 'b> {
    document: DocumentSweep<'a>,
    rng: &'b mut Rng,
    work: &'b mut Vec<f32>,
}

impl Kernel for Sweep<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic>(self) {
        let DocumentSweep { rows, tokens, topics, counts, prior, pull } = self.document;
        let n = prior.len();
        self.work.clear();
        self.work.resize(2 * n, 0.0);
        let (weights, diagonal) = self.work.split_at_mut(n);
        let prior = lanes(prior);
        match pull {
            None => {
                for (token, topic) in tokens.iter().zip(topics) {
                    let row = lanes(&rows[*token as usize * n..][..n]);
                    counts[*topic as usize] -= 1.0;
                    let each = lanes_mut(weights).iter_mut().zip(prior).zip(lanes(counts)).zip(row);
                    for (((weight, prior), count), row) in each {
                        *weight = both(&both(prior, count, |prior, count| prior + count), row, |n, row| n * row);
                    }
                    *topic = draw(weights, self.rng.uniform_f32()) as u32;
                    counts[*topic as usize] += 1.0;
                }
            }
            Some(Pull { linear, quadratic, product }) => {
                for k in 0..n {
                    diagonal[k] = linear[k] - quadratic[k * n + k];
                }
                for (token, topic) in tokens.iter().zip(topics) {
                    let row = lanes(&rows[*token as usize * n..][..n]);
                    let old = *topic as usize;
                    let own = &quadratic[old * n..][..n];
                    counts[old] -= 1.0;
                    let each = lanes_mut(weights).iter_mut().zip(lanes(diagonal)).zip(lanes(product)).zip(lanes(own));
                    let mut most = [f32::NEG_INFINITY; SWEEP_LANES];
                    for (((weight, diagonal), product), own) in each {
                        let others = both(product, own, |product, own| product - own);
                        *weight = both(diagonal, &others, |diagonal, others| diagonal - 2.0 * others);
                        most = both(&most, weight, larger);
                    }
                    let quarter = |l: usize| larger(most[l], most[l + SWEEP_LANES / 2]);
                    let most = larger(larger(quarter(0), quarter(2)), larger(quarter(1), quarter(3)));
                    let each = lanes_mut(weights).iter_mut().zip(prior).zip(lanes(counts)).zip(row);
                    for (((weight, prior), count), row) in each {
                        let pulled = weight.map(|exponent| exp_f32(exponent - most));
                        let unpulled = both(&both(prior, count, |prior, count| prior + count), row, |n, row| n * row);
                        *weight = both(&unpulled, &pulled, |unpulled, pulled| unpulled * pulled);
                    }
                    let new = draw(weights, self.rng.uniform_f32());
                    counts[new] += 1.0;
                    if new != old {
                        let gained = lanes(&quadratic[new * n..][..n]);
                        for ((product, gained), own) in lanes_mut(product).iter_mut().zip(gained).zip(lanes(own)) {
                            let change = both(gained, own, |gained, own| gained - own);
                            *product = both(product, &change, |product, change| product + change);
                        }
                        *topic = new as u32;
                    }
                }
            }
        }
    }
}

#[inline(always)]
fn lanes(x: &[f32]) -> &[[f32; SWEEP_LANES]] {
    x.as_chunks().0
}

#[inline(always)]
fn lanes_mut(x: &mut [f32]) -> &mut [[f32; SWEEP_LANES]] {
    x.as_chunks_mut().0
}

/// One simple operation on all lanes. Several of them in one loop over the lanes are left as they are by the compiler, lane after
/// lane; one by one they become vector instructions.
#[inline(always)]
pub(super) fn both(
    x: &[f32; SWEEP_LANES],
    y: &[f32; SWEEP_LANES],
    operation: impl Fn(f32, f32) -> f32,
) -> [f32; SWEEP_LANES] {
    let mut result = [0.0; SWEEP_LANES];
    for l in 0..SWEEP_LANES {
        result[l] = operation(x[l], y[l]);
    }
    result
}

#[inline(always)]
fn larger(x: f32, y: f32) -> f32 {
    if y > x { y } else { x }
}

/// An index drawn in proportion to the weights by a number from [0, 1): the first whose running sum exceeds its part of the
/// total. Rounding may leave a little after the last: then it is the last with a weight. The first if none has one.
#[inline(always)]
pub(super) fn draw(weights: &[f32], uniform: f32) -> usize {
    let chunks = lanes(weights);
    let sum = |x: &[f32; SWEEP_LANES]| ((x[0] + x[4]) + (x[2] + x[6])) + ((x[1] + x[5]) + (x[3] + x[7]));
    let total: f32 = chunks.iter().map(sum).sum();
    let mut left = uniform * total;
    for (at, chunk) in chunks.iter().enumerate() {
        let more = sum(chunk);
        if left < more {
            // The running sum within the chunk: as many entries lie before the drawn one as it has passed.
            let mut running = 0.0;
            let mut passed = 0;
            for l in 0..SWEEP_LANES {
                running += chunk[l];
                passed += usize::from(running <= left);
            }
            // Rounding may pass all of them.
            let last = || chunk.iter().rposition(|weight| *weight > 0.0);
            return at * SWEEP_LANES + if passed < SWEEP_LANES { passed } else { last().unwrap_or(0) };
        }
        left -= more;
    }
    weights.iter().rposition(|weight| *weight > 0.0).unwrap_or(0)
}

/// eˣ for x from −87 to 0, to within 2e-7 relative; below it e⁻⁸⁷, which is nothing beside one.
#[inline(always)]
fn exp_f32(x: f32) -> f32 {
    const TO_WHOLE: f32 = 12_582_912.0;
    let x = if x < -87.0 { -87.0 } else { x };
    let whole = x * std::f32::consts::LOG2_E + TO_WHOLE;
    let k = whole - TO_WHOLE;
    // ln 2 in two parts, the first of which times k is exact.
    let r = (x - k * 0.693_359_4) + k * 2.121_944_4e-4;
    let mut p = 1.987_569_1e-4;
    for c in [1.398_199_9e-3, 8.333_452e-3, 4.166_579_6e-2, 1.666_666_5e-1, 5e-1] {
        p = p * r + c;
    }
    let p = p * r * r + r + 1.0;
    // 2ᵏ, from the last bits of `whole`, which are k: vectors have no quick way from a float to an integer that saturates.
    let bits = whole.to_bits().wrapping_sub(TO_WHOLE.to_bits()).wrapping_add(127) << 23;
    p * f32::from_bits(bits)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::num::stream;

    #[test]
    fn the_exponential_is_exact_to_single_precision() {
        for i in 0..=8700 {
            let x = -0.01 * i as f32;
            let exact = f64::from(x).exp();
            assert!((f64::from(exp_f32(x)) / exact - 1.0).abs() < 2e-7, "{x}");
        }
        assert!(exp_f32(-1e30) < 1e-37 && exp_f32(f32::NEG_INFINITY) < 1e-37);
    }

    #[test]
    fn draws_follow_the_weights_and_never_leave_them() {
        let mut weights = vec![0.0f32; 24];
        (weights[3], weights[9], weights[17]) = (1.0, 2.0, 5.0);
        let mut seen = [0u32; 24];
        let n = 80_000;
        for i in 0..n {
            seen[draw(&weights, i as f32 / n as f32)] += 1;
        }
        for k in 0..24 {
            assert!((f64::from(seen[k]) / f64::from(n) - f64::from(weights[k]) / 8.0).abs() < 1e-4, "{k}");
        }
        assert_eq!(draw(&weights, 1.0), 17);
        assert_eq!(draw(&[0.0; 8], 0.7), 0);
    }

    struct Small {
        rows: Vec<f32>,
        tokens: Vec<u32>,
        topics: Vec<u32>,
        counts: Vec<f32>,
        prior: Vec<f32>,
        linear: Vec<f32>,
        quadratic: Vec<f32>,
        product: Vec<f32>,
    }

    /// Four tokens of three words, three topics and five without weight.
    fn small(n_topics: usize, n_tokens: usize) -> Small {
        let mut rng = stream(8, 0, 1);
        let live = |k: usize, value: f32| if k < n_topics { value } else { 0.0 };
        let topics: Vec<u32> = (0..n_tokens).map(|i| (i % n_topics) as u32).collect();
        let mut counts = vec![0.0; 8];
        topics.iter().for_each(|z| counts[*z as usize] += 1.0);
        let half: Vec<f32> = (0..64).map(|i| live((i % 8).max(i / 8), 0.3 * rng.uniform() as f32)).collect();
        let quadratic: Vec<f32> = (0..64).map(|i| half[i] + half[i % 8 * 8 + i / 8]).collect();
        let product: Vec<f32> = (0..8).map(|k| (0..8).map(|j| quadratic[k * 8 + j] * counts[j]).sum()).collect();
        Small {
            rows: (0..24).map(|i| live(i % 8, 0.1 + rng.uniform() as f32)).collect(),
            tokens: (0..n_tokens).map(|i| (i * 2 % 3) as u32).collect(),
            topics,
            counts,
            prior: (0..8).map(|k| live(k, 0.2 + 0.1 * k as f32)).collect(),
            linear: (0..8).map(|k| if k < n_topics { 0.7 - 0.5 * k as f32 } else { -1e30 }).collect(),
            quadratic,
            product,
        }
    }

    fn view(small: &mut Small, pulled: bool) -> DocumentSweep<'_> {
        DocumentSweep {
            rows: &small.rows,
            tokens: &small.tokens,
            topics: &mut small.topics,
            counts: &mut small.counts,
            prior: &small.prior,
            pull: pulled.then_some(Pull {
                linear: &small.linear,
                quadratic: &small.quadratic,
                product: &mut small.product,
            }),
        }
    }

    #[test]
    fn both_instruction_sets_give_the_same_bits() {
        for pulled in [false, true] {
            let (mut fast, mut plain) = (small(3, 50), small(3, 50));
            let (mut rng, mut again) = (stream(4, 0, 0), stream(4, 0, 0));
            for _ in 0..20 {
                sweep_document(view(&mut fast, pulled), &mut rng, &mut Vec::new());
                portable::sweep_document(view(&mut plain, pulled), &mut again, &mut Vec::new());
                assert_eq!((&fast.topics, &fast.counts), (&plain.topics, &plain.counts));
            }
            assert_eq!(fast.product, plain.product);
        }
    }

    /// Sweeps visit the assignments of a tiny document as often as their joint weight says, by enumeration of all of them.
    #[test]
    fn sweeps_draw_from_the_joint_distribution() {
        for pulled in [false, true] {
            let (n_topics, n_tokens) = (3, 4);
            let mut document = small(n_topics, n_tokens);
            let states = n_topics.pow(n_tokens as u32);
            let decode = |state: usize, i: usize| state / n_topics.pow(i as u32) % n_topics;
            let mut exact: Vec<f64> = (0..states)
                .map(|state| {
                    let mut counts = [0.0f64; 8];
                    let mut log = 0.0;
                    for i in 0..n_tokens {
                        let k = decode(state, i);
                        let row = document.rows[document.tokens[i] as usize * 8 + k];
                        log += f64::from(row).ln() + (f64::from(document.prior[k]) + counts[k]).ln();
                        counts[k] += 1.0;
                    }
                    if pulled {
                        for k in 0..n_topics {
                            log += f64::from(document.linear[k]) * counts[k];
                            for j in 0..n_topics {
                                log -= counts[k] * f64::from(document.quadratic[k * 8 + j]) * counts[j];
                            }
                        }
                    }
                    log.exp()
                })
                .collect();
            let total: f64 = exact.iter().sum();
            exact.iter_mut().for_each(|p| *p /= total);
            let mut rng = stream(11, 0, 0);
            let mut seen = vec![0.0f64; states];
            let n = 200_000;
            for _ in 0..n {
                sweep_document(view(&mut document, pulled), &mut rng, &mut Vec::new());
                let state: usize = (0..n_tokens).map(|i| document.topics[i] as usize * n_topics.pow(i as u32)).sum();
                seen[state] += 1.0;
            }
            // Sweeps depend on the one before: a few times the error of independent draws.
            for state in 0..states {
                let error = (exact[state] * (1.0 - exact[state]) / n as f64).sqrt();
                let off = (seen[state] / n as f64 - exact[state]).abs();
                assert!(off < 8.0 * error + 1e-4, "pulled {pulled}, state {state}: {off} of {}", exact[state]);
            }
        }
    }
}
