//! Where everything goes: ranges of the axes, their ticks, and the room around the plot area.

use crate::bars;
use crate::chart::Chart;
use crate::layer::Layer;
use crate::legend::Legend;
use crate::scale::{Range, Scale};
use crate::scene::Rect;
use crate::text;
use crate::ticks::{self, Ticks};

pub(crate) const TITLE_SIZE: f64 = 15.0;
pub(crate) const NOTE_SIZE: f64 = 12.0;
pub(crate) const LABEL_SIZE: f64 = 12.0;
pub(crate) const TICK_SIZE: f64 = 11.0;
pub(crate) const LINE_HEIGHT: f64 = 1.32;
/// Room between the edge of the picture and anything in it.
pub(crate) const MARGIN: f64 = 12.0;

/// The finite values seen along one axis.
#[derive(Debug, Clone, Copy)]
struct Extent {
    lo: f64,
    hi: f64,
    log: bool,
}

impl Extent {
    fn new(log: bool) -> Self {
        Self {
            lo: f64::INFINITY,
            hi: f64::NEG_INFINITY,
            log,
        }
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

/// The measures of a chart in pixels and the scales that go with them.
#[derive(Debug, Clone)]
pub(crate) struct Layout {
    pub title: Vec<String>,
    pub note: Vec<String>,
    pub legend: Legend,
    /// The height of the whole picture.
    pub height: f64,
    /// Where the data is drawn.
    pub area: Rect,
    pub x: Scale,
    pub y: Scale,
    pub x_ticks: Ticks,
    pub y_ticks: Ticks,
    /// Labels of bars, if there are bars.
    pub categories: Option<bars::Categories>,
    pub x_label: String,
    pub y_label: String,
    /// Whether there is anything to draw.
    pub has_data: bool,
}

/// How much room an axis takes besides the plot area.
struct Sides {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
}

impl Layout {
    pub(crate) fn of(chart: &Chart, colors: &[usize]) -> Layout {
        let inner_width = chart.width - 2.0 * MARGIN;
        let title = text::wrap(&chart.title, TITLE_SIZE, true, inner_width);
        let note = text::wrap(&chart.note, NOTE_SIZE, false, inner_width);
        let legend = Legend::of(chart, colors, inner_width);
        let (natural_x, natural_y, has_data) = ranges(chart);
        let mut layout = Layout {
            title,
            note,
            legend,
            height: chart.height,
            area: Rect {
                x: 0.0,
                y: 0.0,
                w: 1.0,
                h: 1.0,
            },
            x: Scale {
                range: natural_x,
                from: 0.0,
                to: 1.0,
            },
            y: Scale {
                range: natural_y,
                from: 1.0,
                to: 0.0,
            },
            x_ticks: Ticks::default(),
            y_ticks: Ticks::default(),
            categories: bars::Categories::of(chart),
            x_label: chart.x_label.clone(),
            y_label: chart.y_label.clone(),
            has_data,
        };
        layout.fit(chart);
        // Equal units stretch a range, which may change the tick labels and with them the margins.
        if chart.equal_aspect && !chart.log_x && !chart.log_y {
            layout.equalize();
            layout.fit(chart);
            (layout.x.range, layout.y.range) = (natural_x, natural_y);
            layout.equalize();
            layout.set_ticks(chart);
        }
        layout
    }

    /// Chooses ticks and margins for the current ranges.
    fn fit(&mut self, chart: &Chart) {
        let sides = self.sides(chart);
        let mut area = Rect {
            x: sides.left,
            y: sides.top,
            w: (chart.width - sides.left - sides.right).max(10.0),
            h: (chart.height - sides.top - sides.bottom).max(10.0),
        };
        if let Some(ratio) = image_ratio(chart) {
            // Pixels of an image are square.
            let (w, h) = (area.w.min(area.h * ratio), area.h.min(area.w / ratio));
            area = Rect {
                x: area.x + (area.w - w) / 2.0,
                y: area.y + (area.h - h) / 2.0,
                w,
                h,
            };
        }
        self.area = area;
        self.set_scales(chart);
        self.set_ticks(chart);
    }

    fn set_scales(&mut self, chart: &Chart) {
        let area = self.area;
        (self.x.from, self.x.to) = (area.x, area.right());
        let downward = chart.flip_y || chart.upright_bars == Some(false);
        let (bottom, top) = (area.bottom(), area.y);
        (self.y.from, self.y.to) = if downward {
            (top, bottom)
        } else {
            (bottom, top)
        };
    }

    fn sides(&mut self, chart: &Chart) -> Sides {
        let lines = |n: usize, size: f64| n as f64 * size * LINE_HEIGHT;
        let header = lines(self.title.len(), TITLE_SIZE)
            + lines(self.note.len(), NOTE_SIZE)
            + self.legend.height();
        let top = MARGIN + header + if header > 0.0 { 8.0 } else { 0.0 };
        let title_room = |label: &str| {
            if label.is_empty() {
                0.0
            } else {
                LABEL_SIZE * 1.6
            }
        };
        // A first guess of the area, good enough to choose the number of ticks.
        let guess_h = (chart.height - top - MARGIN - 40.0).max(10.0);
        self.area = Rect {
            x: 60.0,
            y: top,
            w: (chart.width - 80.0).max(10.0),
            h: guess_h,
        };
        self.set_scales(chart);
        self.set_ticks(chart);
        let widest = |labels: &[String]| {
            labels
                .iter()
                .map(|l| text::width(l, TICK_SIZE, false))
                .fold(0.0, f64::max)
        };
        let y_room = match &mut self.categories {
            Some(categories) if !categories.upright => categories.fit_beside(chart.width * 0.4),
            _ => widest(&self.y_ticks.labels),
        };
        let tick_gap = |room: f64| if room > 0.0 { room + 7.0 } else { 0.0 };
        let left = MARGIN + title_room(&self.y_label) + tick_gap(y_room);
        let last_label = self
            .x_ticks
            .labels
            .last()
            .map_or(0.0, |l| text::width(l, TICK_SIZE, false));
        let right = MARGIN.max(last_label / 2.0 + 4.0);
        let x_room = match &mut self.categories {
            Some(categories) if categories.upright => {
                categories.fit_below((chart.width - left - right).max(10.0))
            }
            _ if self.x_ticks.labels.is_empty() => 0.0,
            _ => TICK_SIZE * 1.2,
        };
        let bottom = MARGIN + title_room(&self.x_label) + tick_gap(x_room);
        Sides {
            left,
            right,
            top,
            bottom,
        }
    }

    fn set_ticks(&mut self, chart: &Chart) {
        let upright = self.categories.as_ref().map(|c| c.upright);
        let is_image = image_ratio(chart).is_some();
        let show_x = upright != Some(true) && !(is_image && chart.x_label.is_empty());
        let lanes_only = only_lanes(chart) && chart.y_label.is_empty();
        let show_y =
            upright != Some(false) && !(is_image && chart.y_label.is_empty()) && !lanes_only;
        self.x_ticks = if show_x {
            x_ticks(self.x.range, self.area.w)
        } else {
            Ticks::default()
        };
        self.y_ticks = if show_y {
            axis_ticks(self.y.range, ((self.area.h / 48.0) as usize).clamp(2, 9))
        } else {
            Ticks::default()
        };
        self.x_label = with_common(&chart.x_label, &self.x_ticks.common);
        self.y_label = with_common(&chart.y_label, &self.y_ticks.common);
    }

    /// Widens one of the ranges until units have the same length on both axes.
    fn equalize(&mut self) {
        let (x, y) = (self.x.range, self.y.range);
        let unit = ((x.hi - x.lo) / self.area.w).max((y.hi - y.lo) / self.area.h);
        let widened = |range: Range, pixels: f64| {
            let (middle, half) = (0.5 * range.lo + 0.5 * range.hi, 0.5 * unit * pixels);
            Range::drawable(middle - half, middle + half, false)
        };
        self.x.range = widened(x, self.area.w);
        self.y.range = widened(y, self.area.h);
    }
}

fn with_common(label: &str, common: &Option<String>) -> String {
    match common {
        None => label.to_string(),
        Some(common) if label.is_empty() => common.clone(),
        Some(common) => format!("{label} ({common})"),
    }
}

fn axis_ticks(range: Range, wanted: usize) -> Ticks {
    if range.log {
        ticks::logarithmic(range.lo, range.hi, wanted)
    } else {
        ticks::linear(range.lo, range.hi, wanted)
    }
}

/// As many ticks as fit side by side with their labels apart.
fn x_ticks(range: Range, width: f64) -> Ticks {
    let mut wanted = ((width / 75.0) as usize).clamp(2, 10);
    loop {
        let ticks = axis_ticks(range, wanted);
        let needed: f64 = ticks
            .labels
            .iter()
            .map(|l| text::width(l, TICK_SIZE, false) + 14.0)
            .sum();
        if needed <= width * 1.1 || wanted <= 1 {
            return ticks;
        }
        wanted -= 1;
    }
}

/// Columns per row of the chart's first image.
fn image_ratio(chart: &Chart) -> Option<f64> {
    chart.series.iter().find_map(|series| match &series.layer {
        Layer::Image {
            columns,
            rows,
            gray,
        } if !gray.is_empty() => Some(*columns as f64 / *rows as f64),
        _ => None,
    })
}

/// Whether the vertical axis holds nothing but lanes, whose numbers mean nothing.
fn only_lanes(chart: &Chart) -> bool {
    let is_lane = |layer: &Layer| matches!(layer, Layer::Spans { .. } | Layer::Marks { .. });
    let has_spans = chart
        .series
        .iter()
        .any(|s| matches!(s.layer, Layer::Spans { .. }));
    has_spans && chart.series.iter().all(|s| is_lane(&s.layer))
}

/// The ranges of both axes, and whether any layer has something to show.
fn ranges(chart: &Chart) -> (Range, Range, bool) {
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
            Layer::Line { .. }
                | Layer::Band { .. }
                | Layer::Spans { .. }
                | Layer::Marks { .. }
                | Layer::Image { .. }
        )
    };
    let x_is_tight = layers().all(runs_on);
    let is_image = image_ratio(chart).is_some();
    let grows_from_zero = |l: &Layer| matches!(l, Layer::Line { .. } | Layer::Band { .. });
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
    let below = if extent.lo < 0.0 { share } else { 0.0 };
    let above = if extent.hi > 0.0 { share } else { 0.0 };
    (below, above)
}

fn axis_range(
    seen: Extent,
    asked: Option<(f64, f64)>,
    padding: impl FnOnce() -> (f64, f64),
) -> Range {
    match asked {
        Some((from, to)) if from.is_finite() && to.is_finite() => {
            Range::drawable(from, to, seen.log)
        }
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
        Layer::Image {
            columns,
            rows,
            gray,
        } => {
            if !gray.is_empty() {
                for corner in [(0.0, 0.0), (*columns as f64, *rows as f64)] {
                    x.add(corner.0);
                    y.add(corner.1);
                }
            }
        }
        Layer::Bars { values } => {
            let (value_axis, category_axis) = if upright_bars == Some(true) {
                (y, x)
            } else {
                (x, y)
            };
            let mut any = false;
            for &(_, value) in values {
                any |= value_axis.accepts(value);
                value_axis.add(value);
            }
            if any {
                value_axis.add(0.0);
                if value_axis.log {
                    // Bars on a logarithmic axis need some length even for the smallest value.
                    value_axis.lo = value_axis.lo.min(value_axis.hi / 10.0);
                }
                category_axis.lo = category_axis.lo.min(-0.5);
                category_axis.hi = category_axis.hi.max(0.5);
            }
        }
    }
}
