//! Kernels over rows of topics: for each word one `f32` for each topic, side by side.
//!
//! Rows are padded to [`TOPIC_LANES`]; a padded topic has no weight and stays as it is. No multiplication is fused with an
//! addition here, so that both instruction sets give the same bits.

use super::simd::{self, Arithmetic, Kernel};
use super::topic_sweep::both;

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

/// What [`learn_words`] tells, and its buffer.
#[derive(Clone, Debug, Default)]
pub struct WordWork {
    /// What each word was worth before it was learnt from.
    pub worth: Vec<WordWeight>,
    joint: Vec<f32>,
}

/// Moves topics and a document's weights of them word by word, by the first order of the moment match.
///
/// A word comes with a number n of repeats that are learnt in one step. With `weights` ν and p ∝ ν φ(word), the step is
/// ν += n p; φ ← (1−r) φ + r e_word with r = n p / (S + 1 + (n−1) p); S += n p². One repeat gives r = p / (S + 1); p = 1
/// gives the conjugate n / (S + n). Only the first `weights.len()` topics take part. `work.worth` gets one entry for each
/// word; the weight of a word never seen is left at zero unless `weigh_unseen`.
pub fn learn_words(
    topics: TopicRows<'_>,
    words: &[(u32, f32)],
    weights: &mut [f32],
    weigh_unseen: bool,
    work: &mut WordWork,
) {
    simd::fastest(LearnWords { topics, words, weights, weigh_unseen, work });
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

/// `from` + x'Ax for the rows of A, which are as many as x has entries; from row to row in double precision.
pub fn add_form_f32(from: f64, rows: &[f32], x: &[f32]) -> f64 {
    simd::fastest(AddForm { from, rows, x })
}

/// Puts Σ factor · row into `sum`, for rows as long as it, added in their order.
pub fn combine_f32(factors: &[f32], rows: &[f32], sum: &mut [f32]) {
    simd::fastest(Combine { factors, rows, sum });
}

#[allow(missing_docs)]
pub(crate) mod portable {
    use super::*;

    pub fn learn_words(
        topics: TopicRows<'_>,
        words: &[(u32, f32)],
        weights: &mut [f32],
        weigh_unseen: bool,
        work: &mut WordWork,
    ) {
        simd::portable(LearnWords { topics, words, weights, weigh_unseen, work });
    }

    pub fn fold_in(rows: &[f32], counts: &[f32], alpha: &[f32], n_rounds: usize, shares: &mut [f32]) {
        simd::portable(FoldIn { rows, counts, alpha, n_rounds, shares });
    }

    pub fn dot_f32(a: &[f32], b: &[f32]) -> f32 {
        simd::portable(Dot { a, b })
    }

    pub fn add_form_f32(from: f64, rows: &[f32], x: &[f32]) -> f64 {
        simd::portable(AddForm { from, rows, x })
    }

    pub fn combine_f32(factors: &[f32], rows: &[f32], sum: &mut [f32]) {
        simd::portable(Combine { factors, rows, sum });
    }
}

/// Σ a b of slices of one length. Elementwise loops vectorise by themselves; a sum must be told its order.
#[inline(always)]
pub(super) fn dot(a: &[f32], b: &[f32]) -> f32 {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<16>(), b.as_chunks::<16>());
    let times = |x: &[f32; 8], y: &[f32; 8]| both(x, y, |x, y| x * y);
    let add = |x: &[f32; 8], y: &[f32; 8]| both(x, y, |x, y| x + y);
    let mut sums = [[0.0; 8]; 2];
    for (x, y) in a.iter().zip(b) {
        let halves = x.as_chunks().0.iter().zip(y.as_chunks().0);
        sums.iter_mut().zip(halves).for_each(|(sum, (x, y))| *sum = add(sum, &times(x, y)));
    }
    let rest: f32 = a_rest.iter().zip(b_rest).map(|(x, y)| x * y).sum();
    // Without the barrier the compiler sees how the lanes will be added up, and works on pairs of them all along.
    let lanes = std::hint::black_box(add(&sums[0], &sums[1]));
    let quarter = |l: usize| lanes[l] + lanes[l + 4];
    (quarter(0) + quarter(2)) + (quarter(1) + quarter(3)) + rest
}

struct LearnWords<'a, 'b> {
    topics: TopicRows<'a>,
    words: &'b [(u32, f32)],
    weights: &'b mut [f32],
    weigh_unseen: bool,
    work: &'b mut WordWork,
}

impl Kernel for LearnWords<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic>(self) {
        let TopicRows { rows, stride, scale, precision, unseen } = self.topics;
        let nu = self.weights;
        let n = nu.len();
        let (scale, precision, unseen) = (&mut scale[..n], &mut precision[..n], &unseen[..n]);
        self.work.joint.resize(n, 0.0);
        let joint = &mut self.work.joint[..n];
        for &(word, repeats) in self.words {
            let row = &mut rows[word as usize * stride..][..n];
            for z in 0..n {
                joint[z] = nu[z] * scale[z];
            }
            let worth =
                WordWeight { word: dot(joint, row), unseen: if self.weigh_unseen { dot(joint, unseen) } else { 0.0 } };
            self.work.worth.push(worth);
            let over_total = 1.0 / worth.word;
            for z in 0..n {
                let (s, g) = (precision[z], scale[z]);
                let p = joint[z] * row[z] * over_total;
                let np = repeats * p;
                let without = s + 1.0 - p;
                let with = without + np;
                // One division for both 1 / with and 1 / (g without).
                let inverse = 1.0 / (with * without * g);
                scale[z] = g * (1.0 - np * (without * g * inverse));
                row[z] += np * (with * inverse);
                precision[z] = s + np * p;
                nu[z] += np;
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
        let n = self.alpha.len();
        let (alpha, theta) = (self.alpha, &mut self.shares[..n]);
        let mut gained = vec![0.0f32; n];
        let total: f32 = alpha.iter().sum();
        for z in 0..n {
            theta[z] = alpha[z] / total;
        }
        let over = 1.0 / (total + self.counts.iter().sum::<f32>());
        for _ in 0..self.n_rounds {
            gained.fill(0.0);
            for (row, count) in self.rows.chunks_exact(n).zip(self.counts) {
                let factor = count / dot(theta, row).max(f32::MIN_POSITIVE);
                for z in 0..n {
                    gained[z] += factor * row[z];
                }
            }
            for z in 0..n {
                theta[z] = (alpha[z] + theta[z] * gained[z]) * over;
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
        dot(self.a, self.b)
    }
}

struct AddForm<'a> {
    from: f64,
    rows: &'a [f32],
    x: &'a [f32],
}

impl Kernel for AddForm<'_> {
    type Output = f64;

    #[inline(always)]
    fn run<A: Arithmetic>(self) -> f64 {
        let mut sum = self.from;
        for (row, entry) in self.rows.chunks_exact(self.x.len()).zip(self.x) {
            // Documents have words of few topics.
            if *entry != 0.0 {
                sum += f64::from(entry * dot(row, self.x));
            }
        }
        sum
    }
}

struct Combine<'a> {
    factors: &'a [f32],
    rows: &'a [f32],
    sum: &'a mut [f32],
}

/// Entries of a sum that stay in registers while all rows go by.
const BLOCK: usize = 32;

impl Kernel for Combine<'_> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic>(self) {
        let n = self.sum.len();
        if n == 0 {
            return;
        }
        let (blocks, rest) = self.sum.as_chunks_mut::<BLOCK>();
        let n_blocked = blocks.len() * BLOCK;
        for (at, block) in blocks.iter_mut().enumerate() {
            let mut sums = [0.0; BLOCK];
            for (factor, row) in self.factors.iter().zip(self.rows.chunks_exact(n)) {
                let row: &[f32; BLOCK] = &row.as_chunks().0[at];
                for l in 0..BLOCK {
                    sums[l] += factor * row[l];
                }
            }
            *block = sums;
        }
        rest.fill(0.0);
        for (factor, row) in self.factors.iter().zip(self.rows.chunks_exact(n)) {
            rest.iter_mut().zip(&row[n_blocked..]).for_each(|(sum, x)| *sum += factor * x);
        }
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
        let (mut out_fast, mut out_plain) = (WordWork::default(), WordWork::default());
        let (topics, weights) = view(&mut fast);
        learn_words(topics, &words, weights, true, &mut out_fast);
        let (topics, weights) = view(&mut plain);
        portable::learn_words(topics, &words, weights, true, &mut out_plain);
        assert_eq!(out_fast.worth, out_plain.worth);
        assert_eq!((fast.rows, fast.scale, &fast.weights), (plain.rows, plain.scale, &plain.weights));
        assert_eq!(fast.precision, plain.precision);
        let start = small();
        let counts = [1.0, 3.0, 2.0, 1.0, 1.0, 7.0, 1.0, 2.0, 2.0, 5.0];
        let (mut shares, mut plain_shares) = (vec![0.0; 32], vec![0.0; 32]);
        fold_in(&start.rows, &counts, &start.weights, 9, &mut shares);
        portable::fold_in(&start.rows, &counts, &start.weights, 9, &mut plain_shares);
        assert_eq!(shares, plain_shares);
        assert_eq!(dot_f32(&start.rows[..77], &start.rows[100..177]), {
            portable::dot_f32(&start.rows[..77], &start.rows[100..177])
        });
        let (rows, x) = (&start.rows[..64], &start.rows[96..104]);
        assert_eq!(add_form_f32(0.7, rows, x), portable::add_form_f32(0.7, rows, x));
        let (mut sum, mut plain) = (vec![9.0; 77], vec![8.0; 77]);
        combine_f32(&start.weights[..4], &start.rows[..308], &mut sum);
        portable::combine_f32(&start.weights[..4], &start.rows[..308], &mut plain);
        assert_eq!(sum, plain);
    }

    #[test]
    fn rows_are_combined_in_their_order() {
        let start = small();
        for n in [0, 1, 31, 32, 64, 77] {
            let mut sum = vec![9.0; n];
            combine_f32(&start.weights[..4], &start.rows[..4 * n], &mut sum);
            for l in 0..n {
                let exact = (0..4).fold(0.0, |sum, q| sum + start.weights[q] * start.rows[q * n + l]);
                assert_eq!(sum[l], exact, "{l} of {n}");
            }
        }
    }

    #[test]
    fn a_product_is_the_sum_of_its_terms() {
        let start = small();
        for n in [0, 1, 7, 8, 15, 16, 24, 40, 77] {
            let (a, b) = (&start.rows[..n], &start.rows[100..100 + n]);
            let exact: f64 = a.iter().zip(b).map(|(x, y)| f64::from(*x) * f64::from(*y)).sum();
            assert!((f64::from(dot_f32(a, b)) - exact).abs() <= 1e-6 * exact, "{n}");
        }
    }

    #[test]
    fn a_form_is_the_sum_of_its_terms() {
        let start = small();
        let (rows, x) = (&start.rows[..100], &start.rows[204..214]);
        assert!(x[0] > 0.0 && x[9] == 0.0);
        let term = |i: usize| f64::from(x[i / 10]) * f64::from(rows[i]) * f64::from(x[i % 10]);
        let exact = 0.7 + (0..100).map(term).sum::<f64>();
        assert!((add_form_f32(0.7, rows, x) / exact - 1.0).abs() < 1e-6);
    }

    #[test]
    fn a_word_does_what_the_equations_say() {
        let (before, mut after) = (small(), small());
        let (word, repeats) = (4, 3.0f64);
        let mut work = WordWork::default();
        let (topics, weights) = view(&mut after);
        learn_words(topics, &[(word, repeats as f32)], weights, false, &mut work);
        let phi = |s: &Small, w: usize, z: usize| f64::from(s.rows[w * 32 + z]) * f64::from(s.scale[z]);
        let q: Vec<f64> = (0..32).map(|z| f64::from(before.weights[z]) * phi(&before, word as usize, z)).collect();
        let total: f64 = q.iter().sum();
        assert!((f64::from(work.worth[0].word) / total - 1.0).abs() < 1e-6);
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
