//! Exponential and logarithm of whole slices, by polynomials that the compiler can vectorise.
//!
//! Both are branch-free in the value: special cases are selections.

use super::simd::{self, Arithmetic, Kernel};
use std::f64::consts::{LOG2_E, SQRT_2};

/// Replaces every x by eˣ, to within 4e-16 relative.
///
/// e^−∞ = 0, NaN stays NaN; results above the largest number become ∞, and those below 3.2e-308 (the
/// edge of the normal numbers) become 0.
pub fn exp_slice(x: &mut [f64]) {
    simd::fastest(ExpSlice(x));
}

/// Replaces every x by ln x, to within 4e-16 relative.
///
/// ln 0 = −∞, negative numbers and NaN give NaN.
pub fn ln_slice(x: &mut [f64]) {
    simd::fastest(LnSlice(x));
}

#[allow(missing_docs)]
pub(crate) mod portable {
    use super::{ExpSlice, LnSlice, simd};

    pub fn exp_slice(x: &mut [f64]) {
        simd::portable(ExpSlice(x));
    }

    pub fn ln_slice(x: &mut [f64]) {
        simd::portable(LnSlice(x));
    }
}

struct ExpSlice<'a>(&'a mut [f64]);

impl Kernel for ExpSlice<'_> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic>(self) {
        for x in self.0 {
            *x = exp::<A>(*x);
        }
    }
}

struct LnSlice<'a>(&'a mut [f64]);

impl Kernel for LnSlice<'_> {
    type Output = ();

    #[inline(always)]
    fn run<A: Arithmetic>(self) {
        for x in self.0 {
            *x = ln::<A>(*x);
        }
    }
}

/// ln 2 in two parts; the first has 21 trailing zero bits, so that its products with exponents are exact.
const LN_2_HIGH: f64 = f64::from_bits(0x3fe6_2e42_fee0_0000);
const LN_2_LOW: f64 = 1.908_214_929_270_587_7e-10;

/// Adding 1.5·2⁵² leaves the nearest integer in the low bits of the mantissa.
const ROUND: f64 = 6_755_399_441_055_744.0;

/// Near-minimax fit of (eʳ − 1 − r)/r² on |r| ≤ ½ ln 2, lowest power first: eʳ to 1.6e-17.
const EXP: [f64; 10] = [
    0.500_000_000_000_000_1,
    0.166_666_666_666_666_69,
    0.041_666_666_666_624_13,
    0.008_333_333_333_330_062,
    0.001_388_888_891_721_371_7,
    0.000_198_412_698_630_536_18,
    2.480_152_129_595_437_6e-5,
    2.755_726_845_999_706_4e-6,
    2.762_008_844_540_974_6e-7,
    2.510_038_549_551_032e-8,
];

/// eˣ = 2ⁿ·eʳ with n the integer nearest x/ln 2 and |r| ≤ ½ ln 2.
#[inline(always)]
pub(crate) fn exp<A: Arithmetic>(x: f64) -> f64 {
    // Comparisons, not min and max: those would lose a NaN. The bounds are where n reaches the ends of
    // the exponents: above, the product overflows to ∞; below, the second factor is zero.
    let x = if x > 709.79 { 709.79 } else { x };
    let x = if x < -708.39 { -708.39 } else { x };
    let shifted = A::mul_add(x, LOG2_E, ROUND);
    let n = shifted - ROUND;
    let r = A::mul_add(n, -LN_2_LOW, A::mul_add(n, -LN_2_HIGH, x));
    // In pairs rather than one after the other, so that the processor can overlap the steps.
    let pair = |k: usize| A::mul_add(EXP[k + 1], r, EXP[k]);
    let (square, fourth) = (r * r, (r * r) * (r * r));
    let low = A::mul_add(pair(2), square, pair(0));
    let middle = A::mul_add(pair(6), square, pair(4));
    let high = A::mul_add(pair(8), fourth, middle);
    let series = A::mul_add(high, fourth, low);
    let power = 1.0 + A::mul_add(square, series, r);
    // 2·2ⁿ⁻¹, because 2ⁿ itself is not a number at the upper end, n = 1024. The low bits of `shifted`
    // hold n, and a biased exponent of n + 1022 makes 2ⁿ⁻¹.
    let half_power = f64::from_bits(shifted.to_bits().wrapping_add(1022) << 52);
    (power + power) * half_power
}

/// Near-minimax fit of (ln((1+s)/(1−s)) − 2s)/s³ in s² for |s| ≤ 3 − 2√2, lowest power first: the
/// logarithm to 4.6e-18.
const LN: [f64; 7] = [
    0.666_666_666_666_667,
    0.399_999_999_998_993_8,
    0.285_714_286_260_310_65,
    0.222_222_111_257_228_1,
    0.181_828_897_861_910_42,
    0.153_316_996_335_438_55,
    0.146_167_211_798_618_6,
];

/// ln x = n·ln 2 + ln(1+f) with 1+f in [√½, √2) and ln(1+f) = f − f²/2 + s(f²/2 + R(s²)), s = f/(2+f).
#[inline(always)]
pub(crate) fn ln<A: Arithmetic>(x: f64) -> f64 {
    const TWO_52: f64 = 4_503_599_627_370_496.0;
    const TWO_54: f64 = 18_014_398_509_481_984.0;
    const ONE: u64 = 1.0f64.to_bits();
    let tiny = x < f64::MIN_POSITIVE;
    let scaled = if tiny { x * TWO_54 } else { x };
    let bias = if tiny { 1023.0 + 54.0 } else { 1023.0 };
    let bits = scaled.to_bits();
    // Moves the boundary between exponents from 1 to √½.
    let exponent = bits.wrapping_add(ONE - (0.5 * SQRT_2).to_bits()) >> 52;
    let n = f64::from_bits(exponent | TWO_52.to_bits()) - TWO_52 - bias;
    let mantissa = f64::from_bits(bits.wrapping_sub(exponent << 52).wrapping_add(ONE));
    let f = mantissa - 1.0;
    let s = f / (2.0 + f);
    let square = s * s;
    let fourth = square * square;
    let pair = |k: usize| A::mul_add(LN[k + 1], square, LN[k]);
    let low = A::mul_add(pair(2), fourth, pair(0));
    let high = A::mul_add(LN[6], fourth, pair(4));
    let series = A::mul_add(high, fourth * fourth, low);
    let half_square = 0.5 * f * f;
    let correction = A::mul_add(s, A::mul_add(square, series, half_square), n * LN_2_LOW);
    let finite = A::mul_add(n, LN_2_HIGH, f - (half_square - correction));
    // What is left: 0, negative numbers, ∞ and NaN.
    let special = if x == 0.0 { f64::NEG_INFINITY } else { f64::NAN };
    let special = if x == f64::INFINITY { x } else { special };
    if x > 0.0 && x < f64::INFINITY { finite } else { special }
}
