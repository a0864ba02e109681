//! Exponential and logarithm of whole slices, by polynomials that the compiler can vectorise.
//!
//! Both are branch-free in the value: special cases are selections.

use super::simd::{self, Arithmetic, Kernel};
use std::f64::consts::{LOG2_E, SQRT_2};

/// Replaces every x by eˣ, to within 4e-16 relative.
///
/// e^−∞ = 0, NaN stays NaN; results below the smallest number become 0 and above the largest ∞.
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

/// 1/k! for k = 13 down to 2: the Taylor remainder on |r| ≤ ½ ln 2 is 4e-18.
const EXP_COEFFICIENTS: [f64; 12] = [
    1.0 / 6_227_020_800.0,
    1.0 / 479_001_600.0,
    1.0 / 39_916_800.0,
    1.0 / 3_628_800.0,
    1.0 / 362_880.0,
    1.0 / 40_320.0,
    1.0 / 5_040.0,
    1.0 / 720.0,
    1.0 / 120.0,
    1.0 / 24.0,
    1.0 / 6.0,
    1.0 / 2.0,
];

/// eˣ = 2ⁿ·eʳ with n the integer nearest x/ln 2 and |r| ≤ ½ ln 2.
#[inline(always)]
pub(crate) fn exp<A: Arithmetic>(x: f64) -> f64 {
    // Comparisons, not min and max: those would lose a NaN.
    let x = if x > 710.0 { 710.0 } else { x };
    let x = if x < -746.0 { -746.0 } else { x };
    let n = A::mul_add(x, LOG2_E, ROUND) - ROUND;
    let r = A::mul_add(n, -LN_2_LOW, A::mul_add(n, -LN_2_HIGH, x));
    let mut series = EXP_COEFFICIENTS[0];
    for &coefficient in &EXP_COEFFICIENTS[1..] {
        series = A::mul_add(series, r, coefficient);
    }
    let power = 1.0 + A::mul_add(r * r, series, r);
    // 2ⁿ in two factors, as n may lie outside the exponents of normal numbers at both ends.
    let half = A::mul_add(n, 0.5, ROUND);
    let rest = (n - (half - ROUND)) + ROUND;
    power * power_of_two(half) * power_of_two(rest)
}

/// 2ᵏ for the integer k in the low bits of `shifted` = k + [`ROUND`], |k| < 1023.
#[inline(always)]
fn power_of_two(shifted: f64) -> f64 {
    f64::from_bits(shifted.to_bits().wrapping_add(1023) << 52)
}

/// 2/(2k+1) for k = 10 down to 1: the remainder of the series is 1e-17 for |s| ≤ 3 − 2√2.
const LN_COEFFICIENTS: [f64; 10] = [
    2.0 / 21.0,
    2.0 / 19.0,
    2.0 / 17.0,
    2.0 / 15.0,
    2.0 / 13.0,
    2.0 / 11.0,
    2.0 / 9.0,
    2.0 / 7.0,
    2.0 / 5.0,
    2.0 / 3.0,
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
    let mut series = LN_COEFFICIENTS[0];
    for &coefficient in &LN_COEFFICIENTS[1..] {
        series = A::mul_add(series, square, coefficient);
    }
    let half_square = 0.5 * f * f;
    let correction = A::mul_add(s, A::mul_add(square, series, half_square), n * LN_2_LOW);
    let finite = A::mul_add(n, LN_2_HIGH, f - (half_square - correction));
    // What is left: 0, negative numbers, ∞ and NaN.
    let special = if x == 0.0 { f64::NEG_INFINITY } else { f64::NAN };
    let special = if x == f64::INFINITY { x } else { special };
    if x > 0.0 && x < f64::INFINITY { finite } else { special }
}
