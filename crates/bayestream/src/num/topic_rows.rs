//! Kernels over rows of topics: for each word one `f32` for each topic, side by side.
//!
//! Rows are padded to [`TOPIC_LANES`]; a padded topic has no weight and stays as it is. No multiplication is fused with an
//! addition here, so that both instruction sets give the same bits.

use super::simd::{self, Arithmetic, Kernel};

/// Rows of topics have a length that is a multiple of this.
pub const TOPIC_LANES: usize = 16;

/// Topics as words move them, one entry for each topic in every slice but `rows`; all lengths are multiples of
/// [`TOPIC_LANES`].
///
/// The probability of word w in topic z is `rows[w][z] * scale[z]`.
pub struct TopicRows<'a> {
    /// One row of `stride` entries for each word.
    pub rows: &'a mut [f32],
    /// The length of a row.
    pub stride: usize,
    /// What each topic's column is to be multiplied with.
    pub scale: &'a mut [f32],
    /// Dirichlet precision of each topic.
    pub precision: &'a mut [f32],
    /// The entry that a word never seen has in each topic's column.
    pub unseen: &'a [f32],
}

/// What a word was worth before it was learnt from.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WordWeight {
    /// Σ ν φ(word) over topics: the word's probability times the document's total weight.
    pub word: f32,
    /// The same for a word never seen.
    pub unseen: f32,
}

/// Moves topics and a document's weights of them word by word, by the first order of the moment match.
///
/// A word comes with a number n of repeats that are learnt in one step. With `weights` ν and p ∝ ν φ(word), the step is
/// ν += n p; φ ← (1−r) φ + r e_word with r = n p / (S + 1 + (n−1) p); S += n p². One repeat gives r = p / (S + 1); p = 1
/// gives the conjugate n / (S + n). Only the first `weights.len()` topics take part. `out` gets one entry for each word.
pub fn learn_words(topics: TopicRows<'_>, words: &[(u32, f32)], weights: &mut [f32], out: &mut Vec<WordWeight>) {
    simd::fastest(LearnWords { topics, words, weights, out });
}

/// Shares of topics in a document whose words have these rows, given how often each occurs, by `n_rounds` rounds of
/// θ ← (α + Σ n p) / (Σ α + Σ n) with p ∝ θ φ(word). `rows` has one row of `alpha.len()` entries for each word.
/// `shares` starts as α over its sum.
pub fn fold_in(rows: &[f32], counts: &[f32], alpha: &[f32], n_rounds: usize, shares: &mut [f32]) {
    simd::fastest(FoldIn { rows, counts, alpha, n_rounds, shares });
}

/// Σ a b, for slices of one length.
pub fn dot_f32(a: &[f32], b: &[f32]) -> f32 {
    simd::fastest(Dot { a, b })
}

#[allow(missing_docs)]
pub(crate) mod portable {
    use super::*;

    pub fn learn_words(topics: TopicRows<'_>, words: &[(u32, f32)], weights: &mut [f32], out: &mut Vec<WordWeight>) {
        simd::portable(LearnWords { topics, words, weights, out });
    }

    pub fn fold_in(rows: &[f32], counts: &[f32], alpha: &[f32], n_rounds: usize, shares: &mut [f32]) {
        simd::portable(FoldIn { rows, counts, alpha, n_rounds, shares });
    }

    pub fn dot_f32(a: &[f32], b: &[f32]) -> f32 {
        simd::portable(Dot { a, b })
    }
}

type Block = [f32; TOPIC_LANES];

/// Whole blocks of a slice whose length is a multiple of the lanes.
#[inline(always)]
fn blocks(slice: &[f32]) -> &[Block] {
    slice.as_chunks().0
}

#[inline(always)]
fn blocks_mut(slice: &mut [f32]) -> &mut [Block] {
    slice.as_chunks_mut().0
}

/// The sum of a block, in pairs.
#[inline(always)]
fn sum(mut block: Block) -> f32 {
    let mut half = TOPIC_LANES / 2;
    while half > 0 {
        for l in 0..half {
            block[l] += block[l + half];
        }
        half /= 2;
    }
    block[0]
}

struct LearnWords<'a, 'b> {
    topics: TopicRows<'a>,
    words: &'b [(u32, f32)],
    weights: &'b mut [f32],
    out: &'b mut Vec<WordWeight>,
}

impl Kernel for LearnWords<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic>(self) {
        let TopicRows { rows, stride, scale, precision, unseen } = self.topics;
        let nu = blocks_mut(self.weights);
        let n = nu.len();
        let scale = &mut blocks_mut(scale)[..n];
        let precision = &mut blocks_mut(precision)[..n];
        let unseen = &blocks(unseen)[..n];
        for &(word, repeats) in self.words {
            let row = &mut blocks_mut(&mut rows[word as usize * stride..][..stride])[..n];
            let (mut known, mut new) = ([0.0; TOPIC_LANES], [0.0; TOPIC_LANES]);
            for b in 0..n {
                for l in 0..TOPIC_LANES {
                    let weight = nu[b][l] * scale[b][l];
                    known[l] += weight * row[b][l];
                    new[l] += weight * unseen[b][l];
                }
            }
            let total = WordWeight { word: sum(known), unseen: sum(new) };
            self.out.push(total);
            let over_total = 1.0 / total.word;
            for b in 0..n {
                for l in 0..TOPIC_LANES {
                    let (s, g) = (precision[b][l], scale[b][l]);
                    let p = nu[b][l] * g * row[b][l] * over_total;
                    let np = repeats * p;
                    let without = s + 1.0 - p;
                    let with = without + np;
                    // One division for both 1 / with and 1 / (g without).
                    let inverse = 1.0 / (with * without * g);
                    scale[b][l] = g * (1.0 - np * (without * g * inverse));
                    row[b][l] += np * (with * inverse);
                    precision[b][l] = s + np * p;
                    nu[b][l] += np;
                }
            }
        }
    }
}

struct FoldIn<'a> {
    rows: &'a [f32],
    counts: &'a [f32],
    alpha: &'a [f32],
    n_rounds: usize,
    shares: &'a mut [f32],
}

impl Kernel for FoldIn<'_> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic>(self) {
        let width = self.alpha.len();
        let alpha = blocks(self.alpha);
        let n = alpha.len();
        let theta = &mut blocks_mut(self.shares)[..n];
        let mut gained = vec![[0.0; TOPIC_LANES]; n];
        let total: f32 = alpha.iter().map(|block| sum(*block)).sum();
        let over = 1.0 / total;
        for b in 0..n {
            for l in 0..TOPIC_LANES {
                theta[b][l] = alpha[b][l] * over;
            }
        }
        let all: f32 = total + self.counts.iter().sum::<f32>();
        for _ in 0..self.n_rounds {
            gained.copy_from_slice(alpha);
            for (row, count) in self.rows.chunks_exact(width).zip(self.counts) {
                let row = &blocks(row)[..n];
                let mut likely = [0.0; TOPIC_LANES];
                for b in 0..n {
                    for l in 0..TOPIC_LANES {
                        likely[l] += theta[b][l] * row[b][l];
                    }
                }
                let factor = count / sum(likely).max(f32::MIN_POSITIVE);
                for b in 0..n {
                    for l in 0..TOPIC_LANES {
                        gained[b][l] += factor * (theta[b][l] * row[b][l]);
                    }
                }
            }
            let over = 1.0 / all;
            for b in 0..n {
                for l in 0..TOPIC_LANES {
                    theta[b][l] = gained[b][l] * over;
                }
            }
        }
    }
}

struct Dot<'a> {
    a: &'a [f32],
    b: &'a [f32],
}

impl Kernel for Dot<'_> {
    type Output = f32;

    #[inline(always)]
    fn run<A: Arithmetic>(self) -> f32 {
        let ((a, a_rest), (b, b_rest)) = (self.a.as_chunks::<32>(), self.b.as_chunks::<32>());
        let mut sums = [0.0f32; 32];
        for (x, y) in a.iter().zip(b) {
            for l in 0..32 {
                sums[l] += x[l] * y[l];
            }
        }
        for l in 0..a_rest.len().min(b_rest.len()) {
            sums[l] += a_rest[l] * b_rest[l];
        }
        sums.iter().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::num::stream;

    struct Small {
        rows: Vec<f32>,
        scale: Vec<f32>,
        precision: Vec<f32>,
        unseen: Vec<f32>,
        weights: Vec<f32>,
    }

    /// Ten words; 20 topics with weight and 12 without.
    fn small() -> Small {
        let mut rng = stream(3, 0, 0);
        let live = |z: usize, value: f32| if z < 20 { value } else { 0.0 };
        Small {
            rows: (0..320).map(|i| live(i % 32, rng.uniform() as f32)).collect(),
            scale: (0..32).map(|z| if z < 20 { 0.1 + 0.01 * z as f32 } else { 1.0 }).collect(),
            precision: (0..32).map(|z| 7.0 + z as f32).collect(),
            unseen: vec![0.03; 32],
            weights: (0..32).map(|z| live(z, 0.5 + 0.1 * z as f32)).collect(),
        }
    }

    fn view(small: &mut Small) -> (TopicRows<'_>, &mut [f32]) {
        let topics = TopicRows {
            rows: &mut small.rows,
            stride: 32,
            scale: &mut small.scale,
            precision: &mut small.precision,
            unseen: &small.unseen,
        };
        (topics, &mut small.weights)
    }

    #[test]
    fn both_instruction_sets_give_the_same_bits() {
        let words = [(3, 1.0), (9, 4.0), (3, 1.0), (0, 250.0)];
        let (mut fast, mut plain) = (small(), small());
        let (mut out_fast, mut out_plain) = (Vec::new(), Vec::new());
        let (topics, weights) = view(&mut fast);
        learn_words(topics, &words, weights, &mut out_fast);
        let (topics, weights) = view(&mut plain);
        portable::learn_words(topics, &words, weights, &mut out_plain);
        assert_eq!(out_fast, out_plain);
        assert_eq!((fast.rows, fast.scale, &fast.weights), (plain.rows, plain.scale, &plain.weights));
        assert_eq!(fast.precision, plain.precision);
        let start = small();
        let fold = |kernel: fn(&[f32], &[f32], &[f32], usize, &mut [f32])| {
            let mut shares = vec![0.0; 32];
            kernel(&start.rows, &[1.0, 3.0, 2.0, 1.0, 1.0, 7.0, 1.0, 2.0, 2.0, 5.0], &start.weights, 9, &mut shares);
            shares
        };
        assert_eq!(fold(fold_in), fold(portable::fold_in));
        assert_eq!(dot_f32(&start.rows[..77], &start.rows[100..177]), {
            portable::dot_f32(&start.rows[..77], &start.rows[100..177])
        });
    }

    #[test]
    fn a_word_does_what_the_equations_say() {
        let (before, mut after) = (small(), small());
        let (word, repeats) = (4, 3.0f64);
        let mut out = Vec::new();
        let (topics, weights) = view(&mut after);
        learn_words(topics, &[(word, repeats as f32)], weights, &mut out);
        let phi = |s: &Small, w: usize, z: usize| f64::from(s.rows[w * 32 + z]) * f64::from(s.scale[z]);
        let q: Vec<f64> = (0..32).map(|z| f64::from(before.weights[z]) * phi(&before, word as usize, z)).collect();
        let total: f64 = q.iter().sum();
        assert!((f64::from(out[0].word) / total - 1.0).abs() < 1e-6);
        for z in 0..32 {
            let (p, s) = (q[z] / total, f64::from(before.precision[z]));
            let r = repeats * p / (s + 1.0 + (repeats - 1.0) * p);
            for w in 0..10 {
                let hit = if w == word as usize { r } else { 0.0 };
                let expected = (1.0 - r) * phi(&before, w, z) + hit;
                assert!((phi(&after, w, z) - expected).abs() < 1e-6, "{w} {z}");
            }
            assert!((f64::from(after.precision[z]) - (s + repeats * p * p)).abs() < 1e-5);
            assert!((f64::from(after.weights[z] - before.weights[z]) - repeats * p).abs() < 1e-6);
        }
        assert!((20..32).all(|z| after.weights[z] == 0.0 && after.scale[z] == 1.0));
    }

    #[test]
    fn shares_find_the_topic_of_the_words() {
        // Two topics without a word in common: the shares are those of the counts, pulled towards α.
        let mut rows = vec![0.0; 32];
        (rows[0], rows[16 + 1]) = (0.5, 0.5);
        let mut alpha = vec![0.0; 16];
        (alpha[0], alpha[1]) = (1.0, 2.0);
        let mut shares = vec![0.0; 16];
        fold_in(&rows, &[6.0, 3.0], &alpha, 5, &mut shares);
        assert!((shares[0] - 7.0 / 12.0).abs() < 1e-6 && (shares[1] - 5.0 / 12.0).abs() < 1e-6);
    }
}
