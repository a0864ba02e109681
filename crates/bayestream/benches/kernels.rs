//! Speed of the numeric kernels, as a share of the multiply-add rate measured in the same run.
//!
//! `cargo bench -p bayestream --bench kernels [-- NAME...]`. Times are the least of many repeats, which a
//! busy machine disturbs least.

use bayestream::num::{self, Lanes, Whitener};
use std::hint::black_box;
use std::time::Instant;

const COLUMNS: [usize; 7] = [2, 3, 5, 10, 20, 50, 100];

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    type Section = (&'static str, fn(f64));
    let sections: [Section; 5] = [
        ("mahalanobis", mahalanobis),
        ("scatter", scatter),
        ("load", load),
        ("elementwise", elementwise),
        ("factors", factors),
    ];
    let peak = peak();
    println!("multiply-add peak {peak:.1} GFLOP/s");
    for (name, section) in sections {
        if wanted.is_empty() || wanted.iter().any(|w| w == name) {
            println!("\n{name}");
            section(peak);
        }
    }
}

/// Nanoseconds of one call: the least average over many short runs.
fn time(mut call: impl FnMut()) -> f64 {
    let start = Instant::now();
    call();
    let once = start.elapsed().as_nanos().max(20) as usize;
    let n_calls = (100_000 / once).clamp(1, 5_000);
    let n_repeats = (60_000_000 / (n_calls * once)).clamp(10, 400);
    let mut least = f64::INFINITY;
    for _ in 0..n_repeats {
        let start = Instant::now();
        for _ in 0..n_calls {
            call();
        }
        least = least.min(start.elapsed().as_nanos() as f64 / n_calls as f64);
    }
    least
}

fn peak() -> f64 {
    let n_rounds = 2_000;
    let ns = time(|| {
        black_box(num::peak::multiply_add_rounds(n_rounds, black_box(0.5)));
    });
    (n_rounds * num::peak::FLOPS_PER_ROUND) as f64 / ns
}

fn values(n: usize, step: u64) -> Vec<f64> {
    let mut rng = num::stream(1, 2, step);
    (0..n).map(|_| rng.normal()).collect()
}

/// A well-conditioned symmetric matrix.
fn positive(d: usize) -> Vec<f64> {
    let x = values(2 * d * d, 3);
    let mut a = vec![0.0; d * d];
    for i in 0..d {
        for j in 0..d {
            a[i * d + j] = (0..2 * d).map(|k| x[k * d + i] * x[k * d + j]).sum();
        }
        a[i * d + i] += d as f64;
    }
    a
}

fn lanes(n: usize, d: usize) -> Lanes {
    let mut lanes = Lanes::new();
    lanes.load(&values(n * d, 4), d);
    lanes
}

fn mahalanobis(peak: f64) {
    const N_COMPONENTS: usize = 10;
    println!("{:>5} {:>5} {:>14} {:>7}", "rows", "cols", "ns/row/comp", "% peak");
    for n in [10, 50, 512] {
        for d in COLUMNS {
            let x = lanes(n, d);
            let mut factor = positive(d);
            let mut inverse = vec![0.0; d * d];
            assert!(num::cholesky(&mut factor, d).is_ok());
            num::invert_lower(&factor, d, &mut inverse);
            let whiteners: Vec<Whitener> = (0..N_COMPONENTS)
                .map(|k| {
                    let mut w = Whitener::default();
                    w.set(&values(d, 5 + k as u64), &inverse);
                    w
                })
                .collect();
            let mut out = vec![0.0; x.n_padded()];
            let ns = time(|| {
                for w in &whiteners {
                    num::mahalanobis(black_box(&x), w, &mut out);
                }
                black_box(&mut out);
            }) / (n * N_COMPONENTS) as f64;
            let flops = (d * (d + 1) + 2 * d) as f64;
            println!("{n:>5} {d:>5} {ns:>14.2} {:>7.0}", 100.0 * flops / ns / peak);
        }
    }
}

fn scatter(peak: f64) {
    println!("{:>5} {:>5} {:>14} {:>7}", "rows", "cols", "ns/row", "% peak");
    for n in [10, 50, 512] {
        for d in COLUMNS {
            let x = lanes(n, d);
            let weights: Vec<f64> = values(n, 6).iter().map(|v| v.abs()).collect();
            let center = values(d, 7);
            let (mut sum, mut square) = (vec![0.0; d], vec![0.0; d * d]);
            let ns = time(|| {
                num::weighted_moments(black_box(&x), &weights, &center, &mut sum, &mut square);
            }) / n as f64;
            black_box((&sum, &square));
            let flops = (d * (d + 1)) as f64;
            println!("{n:>5} {d:>5} {ns:>14.2} {:>7.0}", 100.0 * flops / ns / peak);
        }
    }
}

fn load(_peak: f64) {
    println!("{:>5} {:>5} {:>14} {:>14}", "rows", "cols", "ns/row", "indexed ns/row");
    for n in [10, 512] {
        for d in COLUMNS {
            let rows = values(n * d, 8);
            let index: Vec<u32> = (0..n as u32).rev().collect();
            let mut lanes = Lanes::new();
            let ns = time(|| lanes.load(black_box(&rows), d));
            let indexed = time(|| lanes.load_indexed(black_box(&rows), d, &index));
            println!("{n:>5} {d:>5} {:>14.2} {:>14.2}", ns / n as f64, indexed / n as f64);
        }
    }
}

fn elementwise(_peak: f64) {
    let n = 1024;
    let x: Vec<f64> = values(n, 9).iter().map(|v| -8.0 * v.abs()).collect();
    let mut y = x.clone();
    let each = |name: &str, ns: f64| println!("{name:<22} {:>8.2} ns per value", ns / n as f64);
    each("copy", time(|| y.copy_from_slice(black_box(&x))));
    each(
        "copy, exp_slice",
        time(|| {
            y.copy_from_slice(black_box(&x));
            num::exp_slice(&mut y);
        }),
    );
    each("std exp", time(|| y.iter_mut().zip(black_box(&x)).for_each(|(y, x)| *y = x.exp())));
    let positive: Vec<f64> = x.iter().map(|v| -v).collect();
    each(
        "copy, ln_slice",
        time(|| {
            y.copy_from_slice(black_box(&positive));
            num::ln_slice(&mut y);
        }),
    );
    each("std ln", time(|| y.iter_mut().zip(black_box(&positive)).for_each(|(y, x)| *y = x.ln())));
    for k in [2, 5, 10, 40, 100, 400] {
        let ns = time(|| {
            black_box(num::log_sum_exp(black_box(&x[..k])));
        });
        println!("log_sum_exp K={k:<4} {ns:>8.1} ns, {:.2} per value", ns / k as f64);
    }
    for (k, rows, stride) in
        [(2, 512, 512), (10, 16, 16), (10, 512, 512), (10, 512, 528), (40, 512, 512), (40, 512, 528), (100, 64, 64)]
    {
        let joint = values(k * stride, 10);
        let mut shares = joint.clone();
        let mut total = vec![0.0; rows];
        let ns = time(|| {
            shares.copy_from_slice(black_box(&joint));
            num::normalise_columns(&mut shares, k, stride, rows, &mut total);
        }) / (k * rows) as f64;
        println!("normalise_columns K={k:<4} rows={rows:<4} stride={stride:<4} {ns:>8.2} ns per value");
    }
}

fn factors(_peak: f64) {
    println!(
        "{:>5} {:>12} {:>12} {:>12} {:>12} {:>12} {:>12}",
        "cols", "cholesky ns", "invert ns", "rank-one ns", "solve ns", "pack ns", "eigen us"
    );
    for d in COLUMNS {
        let a = positive(d);
        let mut factor = a.clone();
        let cholesky = time(|| {
            factor.copy_from_slice(black_box(&a));
            black_box(num::cholesky(&mut factor, d).is_ok());
        });
        let mut inverse = vec![0.0; d * d];
        let invert = time(|| num::invert_lower(black_box(&factor), d, &mut inverse));
        let x = values(d, 11);
        let mut scratch = x.clone();
        let mut updated = factor.clone();
        let rank_one = time(|| {
            updated.copy_from_slice(black_box(&factor));
            scratch.copy_from_slice(&x);
            num::rank_one_update(&mut updated, d, &mut scratch);
        });
        let solve = time(|| {
            scratch.copy_from_slice(black_box(&x));
            num::solve_lower(&factor, d, &mut scratch);
        });
        let mut whitener = Whitener::default();
        let pack = time(|| whitener.set(black_box(&x), &inverse));
        let (mut eigenvalues, mut vectors) = (vec![0.0; d], vec![0.0; d * d]);
        let eigen = time(|| num::symmetric_eigen(black_box(&a), d, &mut eigenvalues, &mut vectors)) / 1e3;
        println!("{d:>5} {cholesky:>12.0} {invert:>12.0} {rank_one:>12.0} {solve:>12.0} {pack:>12.0} {eigen:>12.2}");
    }
}
