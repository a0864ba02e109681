//! Where everything goes: ranges of the axes, their ticks, and the room around the plot area.

use crate::bars;
use crate::chart::Chart;
use crate::legend::Legend;
use crate::marks;
use crate::ranges::{image_ratio, only_lanes, ranges};
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

/// The measures of a chart in pixels and the scales that go with them.
#[derive(Debug, Clone)]
pub(crate) struct Layout {
    pub title: Vec<String>,
    pub note: Vec<String>,
    pub legend: Legend,
    /// The height of the whole picture.
    pub height: f64,
    /// The room that axes and header take.
    pub sides: Sides,
    /// Where the data is drawn.
    pub area: Rect,
    pub x: Scale,
    pub y: Scale,
    pub x_ticks: Ticks,
    pub y_ticks: Ticks,
    /// Rows of mark labels between the legend and the plot area.
    pub n_mark_rows: usize,
    /// Labels of bars, if there are bars.
    pub categories: Option<bars::Categories>,
    pub x_label: String,
    pub y_label: String,
    /// Whether there is anything to draw.
    pub has_data: bool,
}

/// The room between the edges of the picture and the plot area.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Sides {
    pub left: f64,
    pub right: f64,
    pub top: f64,
    pub bottom: f64,
}

impl Sides {
    /// The larger of both on every side.
    fn max(self, other: Sides) -> Sides {
        Sides {
            left: self.left.max(other.left),
            right: self.right.max(other.right),
            top: self.top.max(other.top),
            bottom: self.bottom.max(other.bottom),
        }
    }
}

impl Layout {
    /// Lays a chart out with at least the given room around its plot area.
    pub(crate) fn of(chart: &Chart, colors: &[usize], least: Sides) -> Layout {
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
            sides: Sides::default(),
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
            n_mark_rows: 0,
            categories: bars::Categories::of(chart),
            x_label: chart.x_label.clone(),
            y_label: chart.y_label.clone(),
            has_data,
        };
        layout.fit(chart, least);
        // Equal units stretch a range, which may change the tick labels and with them the margins.
        if chart.equal_aspect && !chart.log_x && !chart.log_y {
            layout.equalize();
            layout.fit(chart, least);
            (layout.x.range, layout.y.range) = (natural_x, natural_y);
            layout.equalize();
            layout.set_ticks(chart);
        }
        layout
    }

    /// Chooses ticks and margins for the current ranges.
    fn fit(&mut self, chart: &Chart, least: Sides) {
        let sides = self.sides(chart).max(least);
        self.sides = sides;
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
        self.n_mark_rows = marks::n_rows(chart, self);
        let top = top + marks::ROW * self.n_mark_rows as f64;
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
            y_ticks(self.y.range, self.area.h)
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

fn y_ticks(range: Range, height: f64) -> Ticks {
    let spacing = if range.log { 32.0 } else { 48.0 };
    axis_ticks(range, ((height / spacing) as usize).clamp(2, 9))
}

/// As many ticks as fit side by side with their labels apart.
fn x_ticks(range: Range, width: f64) -> Ticks {
    // Decades get crowded less easily than multiples of a step: their labels are short.
    let spacing = if range.log { 50.0 } else { 85.0 };
    let mut wanted = ((width / spacing) as usize).clamp(2, 10);
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
