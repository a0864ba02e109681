//! Kernels for documents whose words are given to topics: by draws, by shares, and one after the other to foretell the next.
//!
//! Words are rows of `f32`, one entry for each topic, padded to [`TOPIC_LANES`](super::TOPIC_LANES); a padded topic has no
//! weight. No multiplication is fused with an addition here, so that both instruction sets give the same bits.

use super::rng::Rng;
use super::simd::{self, Arithmetic, Kernel};
use super::topic_rows::dot;
use super::topic_sweep::draw;

/// The topic of a word that has none yet.
pub const NO_TOPIC: u32 = u32::MAX;

/// A corrected entry is at least this part of the entry it was: rounding must not make a topic impossible.
const LEAST_LEFT: f32 = 1e-6;

/// A document and the topics of its words.
pub struct TopicDraws<'a> {
    /// Weights of words in topics, one row of `prior.len()` entries for each place.
    pub rows: &'a [f32],
    /// The document: the place of a word among the rows, and how many repeats of it move together.
    pub tokens: &'a [(u32, f32)],
    /// The topic of each token; [`NO_TOPIC`] before the first draw.
    pub topics: &'a mut [u32],
    /// Weight of each topic in a document of which nothing is known.
    pub prior: &'a [f32],
    /// Words of the document that each topic has; must be what `topics` say.
    pub counts: &'a mut [f32],
    /// How much of each topic one token of this document is, where the rows have counted it: it is taken out before the
    /// token's topic is drawn anew. Empty where rows do not have the document's words in them.
    pub own: &'a [f32],
}

/// Draws a new topic for every token, one after the other: p(z) ∝ (prior_z + counts_z) row_z, without the token itself.
pub fn draw_topics(draws: TopicDraws<'_>, rng: &mut Rng, joint: &mut Vec<f32>) {
    simd::fastest(DrawTopics { draws, rng, joint });
}

/// Adds Σ n row / (shares · row) over the words of a document to `gained`: what one round of inference makes of shares.
/// `rows` has one row of `shares.len()` entries for each word.
pub fn gain_words(rows: &[f32], counts: &[f32], shares: &[f32], gained: &mut [f32]) {
    simd::fastest(GainWords { rows, counts, shares, gained });
}

/// Log-probability of tokens, each given those before it: p = Σ ν row / Σ ν, then ν += n ν row / Σ ν row. `weights` is ν;
/// its length is that of a row.
pub fn foretell(rows: &[f32], tokens: &[(u32, f32)], weights: &mut [f32]) -> f64 {
    simd::fastest(Foretell { rows, tokens, weights })
}

#[allow(missing_docs)]
pub(crate) mod portable {
    use super::*;

    pub fn draw_topics(draws: TopicDraws<'_>, rng: &mut Rng, joint: &mut Vec<f32>) {
        simd::portable(DrawTopics { draws, rng, joint });
    }

    pub fn gain_words(rows: &[f32], counts: &[f32], shares: &[f32], gained: &mut [f32]) {
        simd::portable(GainWords { rows, counts, shares, gained });
    }

    pub fn foretell(rows: &[f32], tokens: &[(u32, f32)], weights: &mut [f32]) -> f64 {
        simd::portable(Foretell { rows, tokens, weights })
    }
}

struct DrawTopics<'a, 'b> {
    draws: TopicDraws<'a>,
    rng: &'b mut Rng,
    joint: &'b mut Vec<f32>,
}

impl Kernel for DrawTopics<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic>(self) {
        let TopicDraws { rows, tokens, topics, prior, counts, own } = self.draws;
        let n = prior.len();
        self.joint.resize(n, 0.0);
        let (joint, counts) = (&mut self.joint[..n], &mut counts[..n]);
        for (&(place, repeats), topic) in tokens.iter().zip(topics) {
            let row = &rows[place as usize * n..][..n];
            let old = *topic as usize;
            if old < n {
                counts[old] -= repeats;
            }
            for z in 0..n {
                joint[z] = (prior[z] + counts[z]) * row[z];
            }
            if old < n && !own.is_empty() {
                let part = (repeats * own[old]).min(1.0 - LEAST_LEFT);
                let left = ((row[old] - part) / (1.0 - part)).max(row[old] * LEAST_LEFT);
                joint[old] = (prior[old] + counts[old]) * left;
            }
            let new = draw(joint, self.rng.uniform_f32());
            counts[new] += repeats;
            *topic = new as u32;
        }
    }
}

struct GainWords<'a> {
    rows: &'a [f32],
    counts: &'a [f32],
    shares: &'a [f32],
    gained: &'a mut [f32],
}

impl Kernel for GainWords<'_> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic>(self) {
        let n = self.shares.len();
        let gained = &mut self.gained[..n];
        for (row, count) in self.rows.chunks_exact(n).zip(self.counts) {
            let factor = count / dot(self.shares, row).max(f32::MIN_POSITIVE);
            for z in 0..n {
                gained[z] += factor * row[z];
            }
        }
    }
}

struct Foretell<'a> {
    rows: &'a [f32],
    tokens: &'a [(u32, f32)],
    weights: &'a mut [f32],
}

impl Kernel for Foretell<'_> {
    type Output = f64;

    #[inline(always)]
    fn run<A: Arithmetic>(self) -> f64 {
        let n = self.weights.len();
        let mut total: f32 = self.weights.iter().sum();
        let mut log = 0.0;
        for &(place, repeats) in self.tokens {
            let row = &self.rows[place as usize * n..][..n];
            let weight = dot(self.weights, row).max(f32::MIN_POSITIVE);
            log += f64::from(repeats) * (f64::from(weight) / f64::from(total)).ln();
            let factor = repeats / weight;
            for z in 0..n {
                self.weights[z] += self.weights[z] * row[z] * factor;
            }
            total += repeats;
        }
        log
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::num::stream;

    fn rows(n_words: usize, n_topics: usize) -> Vec<f32> {
        let mut rng = stream(12, 0, 0);
        (0..n_words * 32).map(|i| if i % 32 < n_topics { rng.uniform() as f32 } else { 0.0 }).collect()
    }

    fn prior(n_topics: usize) -> Vec<f32> {
        (0..32).map(|z| if z < n_topics { 0.1 + 0.05 * z as f32 } else { 0.0 }).collect()
    }

    #[test]
    fn both_instruction_sets_give_the_same_bits() {
        let (rows, prior) = (rows(9, 21), prior(21));
        let own: Vec<f32> = (0..32).map(|z| 0.001 * z as f32).collect();
        let tokens: Vec<(u32, f32)> = (0..40).map(|i| (i * 5 % 9, 1.0 + (i % 3) as f32)).collect();
        let run = |fast: bool| {
            let (mut topics, mut counts, mut joint) = (vec![NO_TOPIC; 40], vec![0.0; 32], Vec::new());
            let mut rng = stream(4, 0, 0);
            for sweep in 0..3 {
                let draws = TopicDraws {
                    rows: &rows,
                    tokens: &tokens,
                    topics: &mut topics,
                    prior: &prior,
                    counts: &mut counts,
                    own: if sweep == 0 { &[] } else { &own },
                };
                match fast {
                    true => draw_topics(draws, &mut rng, &mut joint),
                    false => portable::draw_topics(draws, &mut rng, &mut joint),
                }
            }
            (topics, counts)
        };
        let (topics, counts) = run(true);
        assert_eq!((topics.clone(), counts.clone()), run(false));
        // Counts are what the topics say.
        let mut recount = vec![0.0; 32];
        topics.iter().zip(&tokens).for_each(|(z, (_, n))| recount[*z as usize] += n);
        assert_eq!(counts, recount);
        let n: Vec<f32> = (0..9).map(|i| 1.0 + i as f32).collect();
        let (mut a, mut b) = (vec![0.5; 32], vec![0.5; 32]);
        gain_words(&rows, &n, &prior, &mut a);
        portable::gain_words(&rows, &n, &prior, &mut b);
        assert_eq!(a, b);
        let (mut a, mut b) = (prior.clone(), prior.clone());
        assert_eq!(foretell(&rows, &tokens, &mut a), portable::foretell(&rows, &tokens, &mut b));
        assert_eq!(a, b);
    }

    /// Σ over all ways to give three tokens to two topics of their probability under Dirichlet-multinomial shares.
    #[test]
    fn draws_agree_with_enumeration() {
        let prior = [0.7f32, 0.3].into_iter().chain([0.0; 14]).collect::<Vec<f32>>();
        let mut rows = vec![0.0f32; 48];
        for (place, entries) in [[0.5, 0.1], [0.2, 0.6], [0.3, 0.3]].iter().enumerate() {
            rows[place * 16..place * 16 + 2].copy_from_slice(entries);
        }
        let tokens = [(0, 1.0), (1, 1.0), (2, 1.0)];
        let mut exact = [0.0f64; 8];
        for (state, p) in exact.iter_mut().enumerate() {
            let mut counts = [0.0f64; 2];
            *p = 1.0;
            for (i, (place, _)) in tokens.iter().enumerate() {
                let z = state >> i & 1;
                *p *= (f64::from(prior[z]) + counts[z]) * f64::from(rows[*place as usize * 16 + z]);
                counts[z] += 1.0;
            }
        }
        let total: f64 = exact.iter().sum();
        let (mut topics, mut counts, mut joint) = (vec![NO_TOPIC; 3], vec![0.0; 16], Vec::new());
        let mut rng = stream(6, 0, 0);
        let (n, mut seen) = (200_000, [0.0; 8]);
        for _ in 0..n {
            let draws = TopicDraws {
                rows: &rows,
                tokens: &tokens,
                topics: &mut topics,
                prior: &prior,
                counts: &mut counts,
                own: &[],
            };
            draw_topics(draws, &mut rng, &mut joint);
            seen[topics.iter().enumerate().map(|(i, z)| (*z as usize) << i).sum::<usize>()] += 1.0 / f64::from(n);
        }
        for (share, p) in seen.iter().zip(exact) {
            let p = p / total;
            // Five standard errors, and sweeps of three tokens forget their past within ten.
            let tolerance = 5.0 * (10.0 * p * (1.0 - p) / f64::from(n)).sqrt();
            assert!((share - p).abs() < tolerance, "{share} {p}");
        }
    }

    #[test]
    fn a_counted_token_is_taken_out_of_its_topic() {
        // Topic 0 has counted this token: (3 + 1 of its own) of 11, so that without it there are 3 of 10.
        let mut rows = [0.0f32; 16];
        (rows[0], rows[1]) = (4.0 / 11.0, 0.2);
        let own: Vec<f32> = (0..16).map(|z| if z == 0 { 1.0 / 11.0 } else { 0.0 }).collect();
        let prior: Vec<f32> = (0..16).map(|z| if z < 2 { 1.0 } else { 0.0 }).collect();
        let mut rng = stream(8, 0, 0);
        let n = 100_000;
        let mut first = 0.0;
        for _ in 0..n {
            let (mut topics, mut counts) = (vec![0], vec![0.0; 16]);
            counts[0] = 1.0;
            let (rows, tokens, prior, own) = (&rows[..], &[(0, 1.0)][..], &prior[..], &own[..]);
            let draws = TopicDraws { rows, tokens, topics: &mut topics, prior, counts: &mut counts, own };
            draw_topics(draws, &mut rng, &mut Vec::new());
            first += f64::from(u8::from(topics[0] == 0)) / f64::from(n);
        }
        let expected = 0.3 / 0.5;
        assert!((first - expected).abs() < 5.0 * (0.24 / f64::from(n)).sqrt(), "{first}");
    }

    #[test]
    fn words_are_foretold_by_hand() {
        let mut rows = vec![0.0f32; 32];
        (rows[0], rows[1], rows[16], rows[17]) = (0.5, 0.1, 0.5, 0.9);
        let mut weights: Vec<f32> = (0..16).map(|z| if z < 2 { 1.0 + z as f32 } else { 0.0 }).collect();
        let log = foretell(&rows, &[(0, 1.0), (1, 2.0)], &mut weights);
        // First word: (1·0.5 + 2·0.1) / 3; it leaves ν = (1 + 5/7, 2 + 2/7); second: twice.
        let nu = (1.0 + 5.0 / 7.0, 2.0 + 2.0 / 7.0);
        let expected = (0.7f64 / 3.0).ln() + 2.0 * ((nu.0 * 0.5 + nu.1 * 0.9) / 4.0f64).ln();
        assert!((log - expected).abs() < 1e-5, "{log} {expected}");
        assert!((weights.iter().sum::<f32>() - 6.0).abs() < 1e-5);
    }
}
