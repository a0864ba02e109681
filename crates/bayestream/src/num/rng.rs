//! Random numbers from streams that are found by key, so that no generator state is ever saved.

use rand_core::{Infallible, SeedableRng, TryRng};
use rand_distr::{Distribution, Gamma, StandardNormal};
use rand_xoshiro::Xoshiro256PlusPlus;

/// A stream of random numbers (xoshiro256++), made by [`stream`].
///
/// It implements the traits of `rand_core`, so the distributions of `rand_distr` accept it.
#[derive(Clone, Debug)]
pub struct Rng(Xoshiro256PlusPlus);

/// The stream for this seed, shard and step: the same three words always give the same numbers, and
/// streams of different words are unrelated.
///
/// ```
/// let draw = |step| bayestream::num::stream(7, 0, step).uniform();
/// assert_eq!(draw(1), draw(1));
/// assert_ne!(draw(1), draw(2));
/// ```
pub fn stream(seed: u64, shard: u64, step: u64) -> Rng {
    // Each word is mixed in full before the next is added, so no sum of words stands for another.
    let mut key = 0;
    for word in [seed, shard, step] {
        key = mix(word ^ mix(key ^ GOLDEN));
    }
    let mut state = [0; 32];
    for bytes in state.chunks_exact_mut(8) {
        key = key.wrapping_add(GOLDEN);
        bytes.copy_from_slice(&mix(key).to_le_bytes());
    }
    Rng(Xoshiro256PlusPlus::from_seed(state))
}

/// 2⁶⁴ divided by the golden ratio: the increment of splitmix64.
const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

/// The finaliser of splitmix64: a bijection in which every input bit moves every output bit.
fn mix(mut word: u64) -> u64 {
    word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    word ^ (word >> 31)
}

impl TryRng for Rng {
    type Error = Infallible;

    #[inline]
    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        self.0.try_next_u32()
    }

    #[inline]
    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        self.0.try_next_u64()
    }

    #[inline]
    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        self.0.try_fill_bytes(bytes)
    }
}

impl Rng {
    #[inline]
    fn word(&mut self) -> u64 {
        let Ok(word) = self.0.try_next_u64();
        word
    }

    /// Uniform on [0, 1).
    #[inline]
    pub fn uniform(&mut self) -> f64 {
        (self.word() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Uniform on [0, 1), in single precision.
    #[inline]
    pub fn uniform_f32(&mut self) -> f32 {
        (self.word() >> 40) as f32 * (1.0 / (1u32 << 24) as f32)
    }

    /// Standard normal.
    #[inline]
    pub fn normal(&mut self) -> f64 {
        StandardNormal.sample(self)
    }

    /// Uniform on 0..n, exactly; 0 if n is 0.
    #[inline]
    pub fn below(&mut self, n: usize) -> usize {
        let n = n as u64;
        // The high word of a 128-bit product is uniform once the products in the last, incomplete
        // round of n are drawn again.
        let surplus = n.wrapping_neg().checked_rem(n).unwrap_or(0);
        loop {
            let product = u128::from(self.word()) * u128::from(n);
            if product as u64 >= surplus {
                return (product >> 64) as usize;
            }
        }
    }

    /// Puts the items in a uniformly random order.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }

    /// An index drawn in proportion to the weights, which need not sum to one. Weights that are not
    /// positive are never drawn; if none is positive, or the sum is not finite, all indices are equally
    /// likely. 0 if there are none.
    pub fn categorical(&mut self, weights: &[f64]) -> usize {
        let positive = |weight: f64| if weight > 0.0 { weight } else { 0.0 };
        let total: f64 = weights.iter().map(|&w| positive(w)).sum();
        if !(total > 0.0 && total.is_finite()) {
            return self.below(weights.len());
        }
        let mut left = self.uniform() * total;
        let mut chosen = 0;
        for (k, &weight) in weights.iter().enumerate() {
            if weight > 0.0 {
                // Rounding may leave a little after the last positive weight: it then stays chosen.
                chosen = k;
                left -= weight;
                if left < 0.0 {
                    break;
                }
            }
        }
        chosen
    }

    /// Gamma with this shape and scale one; 0 for shape 0, NaN for a negative or infinite shape.
    pub fn gamma(&mut self, shape: f64) -> f64 {
        if shape == 0.0 {
            return 0.0;
        }
        match Gamma::new(shape, 1.0) {
            Ok(gamma) if shape.is_finite() => gamma.sample(self),
            _ => f64::NAN,
        }
    }
}
