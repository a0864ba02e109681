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
            area: Rect { x: 0.0, y: 0.0, w: 1.0, h: 1.0 },
            x: Scale { range: natural_x, from: 0.0, to: 1.0 },
            y: Scale { range: natural_y, from: 1.0, to: 0.0 },
            x_ticks: Ticks::default(),
            y_ticks: Ticks::default(),
            n_mark_rows: 0,
            categories: bars::Categories::of(chart),
            x_label: chart.x_label.clone(),
            y_label: chart.y_label.clone(),
            has_data,
        };
        // Ticks depend on the area and the area on the labels of the ticks: the second round starts
        // from an area that is nearly right.
        layout.area = Rect {
            x: 60.0,
            y: MARGIN + layout.header_height(),
            w: (chart.width - 80.0).max(10.0),
            h: (chart.height - layout.header_height() - 60.0).max(10.0),
        };
        layout.fit(chart, least);
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
            area = Rect { x: area.x + (area.w - w) / 2.0, y: area.y + (area.h - h) / 2.0, w, h };
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
        (self.y.from, self.y.to) = if downward { (top, bottom) } else { (bottom, top) };
    }

    /// The height of title, note and legend.
    fn header_height(&self) -> f64 {
        let lines = |n: usize, size: f64| n as f64 * size * LINE_HEIGHT;
        let text = lines(self.title.len(), TITLE_SIZE) + lines(self.note.len(), NOTE_SIZE);
        let height = text + self.legend.height();
        if height > 0.0 { height + 8.0 } else { 0.0 }
    }

    /// The room needed around a plot area of about the current size.
    fn sides(&mut self, chart: &Chart) -> Sides {
        let title_room = |label: &str| {
            if label.is_empty() { 0.0 } else { LABEL_SIZE * 1.6 }
        };
        self.set_scales(chart);
        self.set_ticks(chart);
        self.n_mark_rows = marks::n_rows(chart, self);
        let top = MARGIN + self.header_height() + marks::ROW * self.n_mark_rows as f64;
        let widest = |labels: &[String]| labels.iter().map(|l| text::width(l, TICK_SIZE, false)).fold(0.0, f64::max);
        let y_room = match &mut self.categories {
            Some(categories) if !categories.upright => categories.fit_beside(chart.width * 0.4),
            _ => widest(&self.y_ticks.labels),
        };
        let tick_gap = |room: f64| if room > 0.0 { room + 7.0 } else { 0.0 };
        let left = MARGIN + title_room(&self.y_label) + tick_gap(y_room);
        let last_label = self.x_ticks.labels.last().map_or(0.0, |l| text::width(l, TICK_SIZE, false));
        let right = MARGIN.max(last_label / 2.0 + 4.0);
        let x_room = match &mut self.categories {
            Some(categories) if categories.upright => {
                categories.fit_below((chart.width - left - right).max(10.0), chart.height * 0.3)
            }
            _ if self.x_ticks.labels.is_empty() => 0.0,
            _ => TICK_SIZE * 1.2,
        };
        let bottom = MARGIN + title_room(&self.x_label) + tick_gap(x_room);
        Sides { left, right, top, bottom }
    }

    fn set_ticks(&mut self, chart: &Chart) {
        let upright = self.categories.as_ref().map(|c| c.upright);
        let is_image = image_ratio(chart).is_some();
        let show_x = upright != Some(true) && !(is_image && chart.x_label.is_empty());
        let lanes_only = only_lanes(chart) && chart.y_label.is_empty();
        let show_y = upright != Some(false) && !(is_image && chart.y_label.is_empty()) && !lanes_only;
        self.x_ticks = if show_x { x_ticks(self.x.range, self.area.w) } else { Ticks::default() };
        self.y_ticks = if show_y { y_ticks(self.y.range, self.area.h) } else { Ticks::default() };
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
    if range.log { ticks::logarithmic(range.lo, range.hi, wanted) } else { ticks::linear(range.lo, range.hi, wanted) }
}

fn y_ticks(range: Range, height: f64) -> Ticks {
    let spacing = if range.log { 32.0 } else { 42.0 };
    let wanted = ((height / spacing) as usize).clamp(1, 9);
    let ticks = axis_ticks(range, wanted);
    // A single tick tells no scale; a few more fit into all but the smallest charts.
    if ticks.values.len() < 2 && height > 3.0 * TICK_SIZE { axis_ticks(range, wanted + 1) } else { ticks }
}

/// As many ticks as fit side by side with their labels apart.
fn x_ticks(range: Range, width: f64) -> Ticks {
    // Decades get crowded less easily than multiples of a step: their labels are short.
    let spacing = if range.log { 50.0 } else { 85.0 };
    let mut wanted = ((width / spacing) as usize).clamp(3, 10);
    loop {
        let ticks = axis_ticks(range, wanted);
        let needed: f64 = ticks.labels.iter().map(|l| text::width(l, TICK_SIZE, false) + 14.0).sum();
        if needed <= width * 1.1 || wanted <= 1 {
            return ticks;
        }
        wanted -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(chart: &Chart) -> Layout {
        Layout::of(chart, &vec![0; chart.series.len()], Sides::default())
    }

    #[test]
    fn equal_aspect_gives_units_of_equal_length() {
        let square = [(0.0, 0.0), (3.0, 40.0), (5.0, 7.0)];
        let chart = Chart::new("title").y_label("y").line("", &square).equal_aspect();
        let Layout { x, y, area, .. } = layout(&chart);
        let units = (area.w / (x.range.hi - x.range.lo), area.h / (y.range.hi - y.range.lo));
        assert!((units.0 / units.1 - 1.0).abs() < 1e-9, "{units:?}");
        assert!(x.range.lo <= 0.0 && x.range.hi >= 5.0 && y.range.lo <= 0.0 && y.range.hi >= 40.0);
    }

    #[test]
    fn labels_of_both_axes_stay_inside_the_picture() {
        let curves = [(1e-3, 123.456), (1.0, 1e6), (0.37, 5e5), (9e4, 12345.678)];
        for end in curves {
            let points = [(0.0, 0.0), end];
            let chart = Chart::new("t").x_label("x").y_label("y").line("a", &points);
            let Layout { x_ticks, y_ticks, area, x, .. } = layout(&chart);
            let widest = |labels: &[String]| {
                let widths = labels.iter().map(|l| text::width(l, TICK_SIZE, false));
                widths.fold(0.0, f64::max)
            };
            assert!(area.x - 7.0 - widest(&y_ticks.labels) >= MARGIN);
            let last = x_ticks.labels.last().map_or(0.0, |l| text::width(l, TICK_SIZE, false));
            let at = x_ticks.values.last().and_then(|&v| x.px(v)).unwrap_or(0.0);
            assert!(at + last / 2.0 <= chart.width);
            assert!(x_ticks.values.len() >= 3 && y_ticks.values.len() >= 3);
        }
    }

    #[test]
    fn curves_of_counts_start_at_zero_and_others_do_not() {
        let counts = Chart::new("").line("", &[(0.0, 1.0), (1.0, 9.0)]);
        assert_eq!(layout(&counts).y.range.lo, 0.0);
        let scores = Chart::new("").line("", &[(0.0, 8.0), (1.0, 9.0)]);
        assert!(layout(&scores).y.range.lo > 7.0);
    }

    #[test]
    fn small_panels_still_show_a_scale() {
        for end in [0.7, 3.0, 45.0, 1234.0, 9.9e6] {
            let chart = Chart::new("").size(200.0, 160.0).line("", &[(-end, -end), (end, end)]);
            let Layout { x_ticks, y_ticks, .. } = layout(&chart);
            assert!(x_ticks.values.len() >= 2, "{end}: {x_ticks:?}");
            assert!(y_ticks.values.len() >= 2, "{end}: {y_ticks:?}");
        }
    }

    #[test]
    fn asked_ranges_are_kept_as_they_are() {
        let chart = Chart::new("").line("", &[(0.0, 8.0), (1.0, 9.0)]);
        let Layout { x, y, .. } = layout(&chart.x_range(-2.0, 7.0).y_range(1.5, 30.0));
        assert_eq!((x.range.lo, x.range.hi), (-2.0, 7.0));
        assert_eq!((y.range.lo, y.range.hi), (1.5, 30.0));
    }
}
