//! How fast text becomes rows: `cargo bench -p bayestream-io --bench parse`.
//!
//! Ten columns from memory, with full-length floats (17 digits) and with short ones (4 decimals). The best of a few
//! passes is printed, in processor time where the system tells it, so that a busy machine disturbs little.

mod clock;

use std::io::Cursor;

use bayestream_io::{Format, ReadOptions, RowBatch, open_reader};
use clock::Clock;

const N_COLUMNS: usize = 10;
const N_ROWS: usize = 200_000;
const N_PASSES: usize = 5;

fn main() {
    for (title, decimals) in [("17 digits", None), ("4 decimals", Some(4))] {
        for format in [Format::Csv, Format::Ndjson] {
            report(title, format, &generate(format, decimals));
        }
    }
}

fn report(title: &str, format: Format, text: &[u8]) {
    let options = ReadOptions { format: Some(format), ..ReadOptions::default() };
    let mut best_seconds = f64::INFINITY;
    for _ in 0..N_PASSES {
        let input = Cursor::new(text.to_vec());
        let clock = Clock::start();
        let mut source = open_reader(Box::new(input), "memory", &options).expect("the text has columns");
        let mut batch = RowBatch::new();
        let (mut n_rows, mut sum) = (0, 0.0);
        while source.next_batch(&mut batch).expect("the text is sound") {
            n_rows += batch.n_rows;
            sum += batch.rows[0];
        }
        let seconds = clock.seconds();
        assert!(n_rows == N_ROWS && sum.is_finite());
        best_seconds = best_seconds.min(seconds);
    }
    let megabytes = text.len() as f64 / 1e6;
    println!(
        "{format:<7} {title:<10}  {:>5.0} MB/s  {:>5.2} Mrow/s  ({megabytes:.0} MB, {best_seconds:.3} s of {})",
        megabytes / best_seconds,
        N_ROWS as f64 / best_seconds / 1e6,
        Clock::KIND,
    );
}

fn generate(format: Format, decimals: Option<usize>) -> Vec<u8> {
    let mut text = String::new();
    if format == Format::Csv {
        let names: Vec<String> = (1..=N_COLUMNS).map(|column| format!("x{column}")).collect();
        text.push_str(&names.join(","));
        text.push('\n');
    }
    // A linear congruential generator is random enough for digits.
    let mut state = 1u64;
    for _ in 0..N_ROWS {
        let cells = (1..=N_COLUMNS).map(|column| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let value = ((state >> 11) as f64 / (1u64 << 53) as f64 - 0.5) * 20.0;
            let digits = match decimals {
                Some(decimals) => format!("{value:.decimals$}"),
                None => format!("{value}"),
            };
            match format {
                Format::Csv => digits,
                _ => format!("\"x{column}\": {digits}"),
            }
        });
        let line = cells.collect::<Vec<_>>().join(if format == Format::Csv { "," } else { ", " });
        match format {
            Format::Csv => text.push_str(&line),
            _ => text.push_str(&format!("{{{line}}}")),
        }
        text.push('\n');
    }
    text.into_bytes()
}
