//! What a row costs along a long stream, and for models of different sizes.

use crate::fit::{default_model, feed};
use bayestream::synthetic::{Covariance, ofab_truth};
use bayestream_plot::{Chart, Style, grid};
use serde_json::{Value, json};
use std::error::Error;
use std::path::Path;

const SEED: u64 = 1000;
const BATCH: usize = 500;
const REPEATS: usize = 3;
/// The stream, and the parts of it that are timed one by one.
const STREAM: usize = 1_000_000;
const TENTHS: usize = 10;
/// Rows by which the first model is made and refitted, whatever comes later.
const START: usize = 20_000;
/// Rows timed after those.
const SETTLED: usize = 180_000;
const COMPONENTS: [usize; 4] = [5, 10, 20, 40];
const COLUMNS: [usize; 5] = [3, 5, 10, 20, 40];

/// A size of model, and nanoseconds a row while it starts and afterwards.
struct Size {
    k: usize,
    d: usize,
    k_found: usize,
    k_held: usize,
    start: f64,
    settled: f64,
}

pub fn run(figure: &Path) -> Result<Value, Box<dyn Error>> {
    let stream = along_the_stream()?;
    let by_components = COMPONENTS.iter().map(|&k| of_size(k, 10)).collect::<Result<Vec<_>, _>>()?;
    let by_columns = COLUMNS.iter().map(|&d| of_size(10, d)).collect::<Result<Vec<_>, _>>()?;
    std::fs::write(figure, picture(&stream, &by_components, &by_columns))?;
    let sizes = |sizes: &[Size]| -> Vec<Value> {
        let of = |s: &Size| {
            json!({ "k": s.k, "d": s.d, "k_found": s.k_found, "k_held": s.k_held,
                    "start_ns": s.start, "settled_ns": s.settled })
        };
        sizes.iter().map(of).collect()
    };
    Ok(json!({
        "batch": BATCH, "repeats": REPEATS, "start_rows": START, "settled_rows": SETTLED,
        "tenth_rows": STREAM / TENTHS, "tenths_ns": stream,
        "by_components": sizes(&by_components), "by_columns": sizes(&by_columns),
    }))
}

/// Nanoseconds a row in each tenth, the least of the repeats.
fn along_the_stream() -> Result<Vec<f64>, Box<dyn Error>> {
    let truth = ofab_truth(10, 10, Covariance::Aat, SEED);
    let (rows, _) = truth.sample(STREAM, SEED);
    let mut least = vec![f64::INFINITY; TENTHS];
    for _ in 0..REPEATS {
        let mut model = default_model(truth.n_columns())?;
        for (least, rows) in least.iter_mut().zip(rows.chunks(rows.len() / TENTHS)) {
            *least = least.min(nanoseconds_a_row(feed(&mut model, rows, BATCH)?, STREAM / TENTHS));
        }
    }
    Ok(least)
}

fn of_size(k: usize, d: usize) -> Result<Size, Box<dyn Error>> {
    let (rows, _) = ofab_truth(k, d, Covariance::Aat, SEED).sample(START + SETTLED, SEED);
    let (first, rest) = rows.split_at(START * d);
    let mut size = Size { k, d, k_found: 0, k_held: 0, start: f64::INFINITY, settled: f64::INFINITY };
    for _ in 0..REPEATS {
        let mut model = default_model(d)?;
        size.start = size.start.min(nanoseconds_a_row(feed(&mut model, first, BATCH)?, START));
        size.settled = size.settled.min(nanoseconds_a_row(feed(&mut model, rest, BATCH)?, SETTLED));
        (size.k_found, size.k_held) = (model.snapshot().k_realized(), model.k_implemented());
    }
    Ok(size)
}

fn nanoseconds_a_row(seconds: f64, n_rows: usize) -> f64 {
    1e9 * seconds / n_rows as f64
}

fn picture(stream: &[f64], by_components: &[Size], by_columns: &[Size]) -> String {
    let tenths: Vec<(f64, f64)> =
        stream.iter().enumerate().map(|(ix, ns)| (((ix + 1) * STREAM / TENTHS) as f64, *ns)).collect();
    let top = 1.15 * stream.iter().copied().fold(0.0, f64::max);
    let along = Chart::new("Along the stream")
        .size(400.0, 320.0)
        .x_label("rows seen")
        .y_label("nanoseconds a row")
        .y_range(0.0, top)
        .line("", &tenths)
        .points("", &tenths, dot(0));
    let components = against("Against components", "components of the truth (10 columns)", by_components, |s| s.k);
    let columns = against("Against columns", "columns (10 components)", by_columns, |s| s.d);
    grid(&[along, components, columns], 3).to_svg()
}

fn against(title: &str, x_label: &str, sizes: &[Size], x: impl Fn(&Size) -> usize) -> Chart {
    let settled: Vec<(f64, f64)> = sizes.iter().map(|s| (x(s) as f64, s.settled)).collect();
    let start: Vec<(f64, f64)> = sizes.iter().map(|s| (x(s) as f64, s.start)).collect();
    Chart::new(title)
        .size(400.0, 320.0)
        .x_label(x_label)
        .y_label("nanoseconds a row")
        .log_x()
        .log_y()
        .line(format!("first {START} rows"), &start)
        .color(1)
        .points("", &start, dot(1))
        .line("afterwards", &settled)
        .color(0)
        .points("", &settled, dot(0))
}

fn dot(color: usize) -> Style {
    Style::color(color).with_radius(2.5)
}
