//! Figure 2: methods along the stream.

use super::{Look, Pass, Rival};
use crate::ofab::spread::Spread;
use bayestream_plot::{Chart, Style, SvgFigure, grid};

/// Colour of the truth and of limits; methods have those before it, in their order.
const TRUTH: usize = 11;
const BATCH: usize = 6;

pub fn draw(
    by_method: &[(Rival, Vec<&Pass>)],
    revisiting: &[(usize, &Pass)],
    k_true: usize,
    limit: impl Fn(f64) -> f64,
) -> SvgFigure {
    let chart = |title: &str| Chart::new(title).size(560.0, 380.0).x_label("rows seen").log_x();
    let mut kl = chart("Divergence from the truth").y_label("nats").log_y();
    let mut held_out = chart("Log-density of rows held out").y_label("nats a row");
    let mut k = chart("Components").y_label("K");
    let (mut lowest, mut highest) = (f64::INFINITY, f64::NEG_INFINITY);
    for (color, (rival, passes)) in by_method.iter().enumerate() {
        kl = spread(passes, |look| look.kl).draw(kl, rival.name, color);
        held_out = spread(passes, |look| look.held_out).draw(held_out, rival.name, color);
        k = spread(passes, |look| look.k).draw(k, rival.name, color);
        let at_end = passes.iter().filter_map(|pass| pass.path.last()).map(|look| look.held_out);
        at_end.for_each(|value| (lowest, highest) = (value.min(lowest), value.max(highest)));
    }
    if let Some((_, ours)) = by_method.first() {
        kl = spread(ours, |look| look.kl).draw_again(kl, 0);
        held_out = spread(ours, |look| look.held_out).draw_again(held_out, 0);
        k = spread(ours, |look| look.k).draw_again(k, 0);
    }
    let n: Vec<f64> =
        by_method.iter().flat_map(|(_, passes)| passes.first()).flat_map(|pass| &pass.path).map(|l| l.n_rows).collect();
    let ends = [n.iter().copied().fold(f64::INFINITY, f64::min), n.iter().copied().fold(0.0, f64::max)];
    let batch: Vec<(f64, f64)> = revisiting.iter().map(|(n, pass)| (*n as f64, pass.kl)).collect();
    kl = kl.line("limit P/2N", &ends.map(|n| (n, limit(n)))).color(TRUTH).dashed();
    kl = kl.points("batch FAB", &batch, Style::color(BATCH).with_radius(3.0));
    k = k.line("truth", &ends.map(|n| (n, k_true as f64))).color(TRUTH).dashed();
    // The first looks may lie arbitrarily far down; the axis is for the rest.
    held_out = held_out.y_range(lowest - 2.0, highest + 0.2);
    grid(&[kl, held_out, k], 2)
}

fn spread(passes: &[&Pass], value: fn(&Look) -> f64) -> Spread {
    let path = |pass: &&Pass| pass.path.iter().map(|look| (look.n_rows, value(look))).collect();
    Spread::of(&passes.iter().map(path).collect::<Vec<_>>())
}
