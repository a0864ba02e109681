//! The choice of instruction set, made once per kernel call.
//!
//! A kernel is written once, in safe Rust, as a [`Kernel`] whose `run` is generic over the
//! [`Arithmetic`]. It is compiled twice: inside a function with AVX2 and FMA enabled, where the
//! compiler turns its fixed-size lane loops into vector instructions, and plainly.
//!
//! Beside `product`, this is the only module of the library with `unsafe` in it. The single unsafe block calls
//! [`with_avx2`], a safe function whose one requirement is that the processor has AVX2 and FMA; the
//! line before it asks the processor exactly that.
#![allow(unsafe_code)]

/// How a kernel multiplies and adds.
pub(crate) trait Arithmetic {
    /// `a * b + c`.
    fn mul_add(a: f64, b: f64, c: f64) -> f64;
}

/// One rounding; only fast where the hardware has the instruction.
pub(crate) struct Fused;

/// Two roundings; fast everywhere.
pub(crate) struct Separate;

impl Arithmetic for Fused {
    #[inline(always)]
    fn mul_add(a: f64, b: f64, c: f64) -> f64 {
        a.mul_add(b, c)
    }
}

impl Arithmetic for Separate {
    #[inline(always)]
    fn mul_add(a: f64, b: f64, c: f64) -> f64 {
        a * b + c
    }
}

/// A computation that holds its arguments, to be compiled for each instruction set.
///
/// `run`, and whatever it calls in its loops, must be `#[inline(always)]`: a function that is not
/// inlined is compiled for the baseline processor.
pub(crate) trait Kernel {
    type Output;
    fn run<A: Arithmetic>(self) -> Self::Output;
}

/// Runs the kernel with the best instructions this processor has.
#[inline]
pub(crate) fn fastest<K: Kernel>(kernel: K) -> K::Output {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
        // SAFETY: AVX2 and FMA were detected on the running processor just above.
        return unsafe { with_avx2(kernel) };
    }
    // The baseline of 64-bit ARM has fused multiply-add and 128-bit vectors.
    #[cfg(target_arch = "aarch64")]
    return kernel.run::<Fused>();
    #[cfg(not(target_arch = "aarch64"))]
    kernel.run::<Separate>()
}

/// Runs the kernel with the baseline instructions only.
#[inline]
pub(crate) fn portable<K: Kernel>(kernel: K) -> K::Output {
    kernel.run::<Separate>()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,fma")]
fn with_avx2<K: Kernel>(kernel: K) -> K::Output {
    kernel.run::<Fused>()
}
