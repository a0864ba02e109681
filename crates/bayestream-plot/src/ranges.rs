//! Which values the axes show.

use crate::bars;
use crate::chart::Chart;
use crate::layer::Layer;
use crate::scale::Range;

/// The finite values seen along one axis.
#[derive(Debug, Clone, Copy)]
struct Extent {
    lo: f64,
    hi: f64,
    log: bool,
}

impl Extent {
    fn new(log: bool) -> Self {
        Self { lo: f64::INFINITY, hi: f64::NEG_INFINITY, log }
    }

    fn accepts(&self, value: f64) -> bool {
        value.is_finite() && (!self.log || value > 0.0)
    }

    fn add(&mut self, value: f64) {
        if self.accepts(value) {
            self.lo = self.lo.min(value);
            self.hi = self.hi.max(value);
        }
    }

    fn is_empty(&self) -> bool {
        self.lo > self.hi
    }
}

/// Columns per row of the chart's first image.
pub(crate) fn image_ratio(chart: &Chart) -> Option<f64> {
    chart.series.iter().find_map(|series| match &series.layer {
        Layer::Image { columns, rows, gray } if !gray.is_empty() => Some(*columns as f64 / *rows as f64),
        _ => None,
    })
}

/// Whether the vertical axis holds nothing but lanes, whose numbers mean nothing.
pub(crate) fn only_lanes(chart: &Chart) -> bool {
    let is_lane = |layer: &Layer| matches!(layer, Layer::Spans { .. } | Layer::Marks { .. });
    let has_spans = chart.series.iter().any(|s| matches!(s.layer, Layer::Spans { .. }));
    has_spans && chart.series.iter().all(|s| is_lane(&s.layer))
}

/// The ranges of both axes, and whether any layer has something to show.
pub(crate) fn ranges(chart: &Chart) -> (Range, Range, bool) {
    let (mut x, mut y) = (Extent::new(chart.log_x), Extent::new(chart.log_y));
    for series in &chart.series {
        extend(&series.layer, chart.upright_bars, &mut x, &mut y);
    }
    let layers = || chart.series.iter().map(|s| &s.layer);
    let only_marks = layers().all(|l| matches!(l, Layer::Marks { .. }));
    let has_data = !x.is_empty() && (!y.is_empty() || only_marks);
    let runs_on = |l: &Layer| {
        matches!(
            l,
            Layer::Line { .. } | Layer::Band { .. } | Layer::Spans { .. } | Layer::Marks { .. } | Layer::Image { .. }
        )
    };
    let x_is_tight = layers().all(runs_on);
    let is_image = image_ratio(chart).is_some();
    let grows_from_zero = |l: &Layer| matches!(l, Layer::Line { .. } | Layer::Band { .. } | Layer::Columns { .. });
    let x_range = axis_range(x, chart.x_range, || match chart.upright_bars {
        Some(true) => (0.0, 0.0),
        // Room for the numbers at the ends of the bars.
        Some(false) => value_padding(x, 0.12),
        None if x_is_tight => (0.0, 0.0),
        None => (0.04, 0.04),
    });
    let y_range = axis_range(y, chart.y_range, || match chart.upright_bars {
        Some(false) => (0.0, 0.0),
        Some(true) => value_padding(y, 0.09),
        None if is_image => (0.0, 0.0),
        None if only_lanes(chart) => (0.0, 0.0),
        None => (0.06, 0.06),
    });
    // A curve of small non-negative values reads best from zero.
    let y_range = match chart.y_range {
        None if !y_range.log
            && chart.upright_bars.is_none()
            && layers().any(grows_from_zero)
            && y.lo >= 0.0
            && y.lo < 0.3 * y.hi =>
        {
            Range { lo: 0.0, ..y_range }
        }
        _ => y_range,
    };
    // Bars stand at 0, 1, 2, ... on the axis of their labels.
    match bars::Categories::of(chart) {
        None => (x_range, y_range, has_data),
        Some(categories) if categories.upright => (categories.range(), y_range, has_data),
        Some(categories) => (x_range, categories.range(), has_data),
    }
}

fn value_padding(extent: Extent, share: f64) -> (f64, f64) {
    // On a logarithmic axis even the smallest value needs a bar to be seen.
    let below = if extent.log || extent.lo < 0.0 { share } else { 0.0 };
    let above = if extent.hi > 0.0 { share } else { 0.0 };
    (below, above)
}

fn axis_range(seen: Extent, asked: Option<(f64, f64)>, padding: impl FnOnce() -> (f64, f64)) -> Range {
    match asked {
        Some((from, to)) if from.is_finite() && to.is_finite() => Range::drawable(from, to, seen.log),
        _ => {
            let (below, above) = padding();
            Range::drawable(seen.lo, seen.hi, seen.log).padded(below, above)
        }
    }
}

fn extend(layer: &Layer, upright_bars: Option<bool>, x: &mut Extent, y: &mut Extent) {
    let mut point = |px: f64, py: f64| {
        // A point shows only if both of its coordinates do.
        if x.accepts(px) && y.accepts(py) {
            x.add(px);
            y.add(py);
        }
    };
    match layer {
        Layer::Line { points, .. } | Layer::Points { points, .. } => {
            points.iter().for_each(|p| point(p.0, p.1));
        }
        Layer::Ellipse { outline, .. } => outline.iter().for_each(|p| point(p.0, p.1)),
        Layer::Band { edges } | Layer::Whiskers { edges } => {
            for &(at, low, high) in edges {
                point(at, low);
                point(at, high);
            }
        }
        Layer::Columns { columns } => {
            for &(from, to, height) in columns {
                for x in [from, to] {
                    point(x, 0.0);
                    point(x, height);
                }
            }
        }
        Layer::Segments { ends, .. } => {
            for &(from, to) in ends {
                point(from.0, from.1);
                point(to.0, to.1);
            }
        }
        Layer::Spans { spans } => {
            for span in spans {
                for end in [span.from, span.to] {
                    point(end, span.y - 0.8);
                    point(end, span.y + 0.8);
                }
            }
        }
        Layer::Marks { marks, .. } => marks.iter().for_each(|(at, _)| x.add(*at)),
        Layer::Image { columns, rows, gray } => {
            if !gray.is_empty() {
                for corner in [(0.0, 0.0), (*columns as f64, *rows as f64)] {
                    x.add(corner.0);
                    y.add(corner.1);
                }
            }
        }
        Layer::Bars { values } => {
            let (value_axis, category_axis) = if upright_bars == Some(true) { (y, x) } else { (x, y) };
            let mut any = false;
            for &(_, value) in values {
                any |= value_axis.accepts(value);
                value_axis.add(value);
            }
            if any {
                value_axis.add(0.0);
                category_axis.lo = category_axis.lo.min(-0.5);
                category_axis.hi = category_axis.hi.max(0.5);
            }
        }
    }
}
