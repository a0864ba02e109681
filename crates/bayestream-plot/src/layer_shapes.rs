//! Turns layers from data units into shapes in pixels.

use crate::chart::Chart;
use crate::clip;
use crate::color::Paint;
use crate::layer::{Layer, Marker, Segment, Style};
use crate::layout::Layout;
use crate::marks;
use crate::scene::{Anchor, Dots, Fill, Point, Raster, Rect, Shape, Stroke, Text};

/// Points of a whole chart; more would make heavy files and look the same.
const MOST_POINTS: usize = 50_000;
const MOST_SEGMENTS: usize = 20_000;
const MOST_LINE_POINTS: usize = 20_000;
/// Columns of several histograms stay visible behind one another.
pub(crate) const COLUMN_OPACITY: f64 = 0.6;
pub(crate) const LABEL_SIZE: f64 = 10.5;

/// The shapes of all layers.
#[derive(Default)]
pub(crate) struct LayerShapes {
    /// Cut off at the edges of the plot area.
    pub inside: Vec<Shape>,
    /// Text that may reach over the edges.
    pub above: Vec<Shape>,
}

impl LayerShapes {
    pub(crate) fn of(chart: &Chart, colors: &[usize], layout: &Layout) -> LayerShapes {
        let n_points: usize = chart.series.iter().map(|s| n_points(&s.layer)).sum();
        let pen = Pen { layout, visible: layout.area.grown(30.0), n_points };
        let mut shapes = LayerShapes::default();
        let mut labels = Vec::new();
        let mut n_bar_layers = 0;
        for (series, &color) in chart.series.iter().zip(colors) {
            let paint = Paint::Series(color);
            match &series.layer {
                Layer::Line { points, stepped, look } => {
                    shapes.inside.extend(pen.line(points, *stepped, look.stroke(color)));
                }
                Layer::Points { points, style } => {
                    shapes.inside.extend(pen.points(points, style, paint));
                }
                Layer::Band { edges } => shapes.inside.extend(pen.band(edges, paint)),
                Layer::Whiskers { edges } => shapes.inside.extend(pen.whiskers(edges, paint)),
                Layer::Columns { columns } => {
                    shapes.inside.extend(pen.columns(columns, paint));
                }
                Layer::Segments { ends, look } => {
                    shapes.inside.extend(pen.segments(ends, look.stroke(color)));
                }
                Layer::Ellipse { outline, center, label } => {
                    shapes.inside.extend(pen.ellipse(outline, paint));
                    labels.extend(pen.center_label(*center, label.as_deref()));
                }
                Layer::Spans { spans } => {
                    let (bars, names) = pen.spans(spans);
                    shapes.inside.extend(bars);
                    labels.extend(names);
                }
                // Marks of all layers share the room for their labels; see `marks`.
                Layer::Marks { .. } => {}
                Layer::Image { columns, rows, gray } => {
                    shapes.inside.extend(pen.image(*columns, *rows, gray));
                }
                Layer::Bars { values } => {
                    if let Some(categories) = &layout.categories {
                        let (bars, numbers) = categories.bars(values, n_bar_layers, color, layout);
                        shapes.inside.extend(bars);
                        shapes.above.extend(numbers);
                    }
                    n_bar_layers += 1;
                }
            }
        }
        shapes.inside.extend(labels);
        shapes.above.extend(marks::shapes(chart, layout));
        shapes
    }
}

fn n_points(layer: &Layer) -> usize {
    match layer {
        Layer::Points { points, .. } => points.len(),
        _ => 0,
    }
}

/// Knows the way from data to pixels.
pub(crate) struct Pen<'a> {
    pub layout: &'a Layout,
    /// A little more than the plot area, so that cut lines do not show their ends.
    pub visible: Rect,
    /// Points in all layers of the chart together.
    n_points: usize,
}

impl Pen<'_> {
    fn px(&self, (x, y): (f64, f64)) -> Option<Point> {
        Some((self.layout.x.px(x)?, self.layout.y.px(y)?))
    }

    /// Consecutive drawable points; whatever cannot be drawn separates two runs.
    fn runs(&self, points: impl Iterator<Item = Option<Point>>) -> Vec<Vec<Point>> {
        let mut runs: Vec<Vec<Point>> = Vec::new();
        let mut open = false;
        for point in points {
            match (point, runs.last_mut()) {
                (Some(p), Some(run)) if open => run.push(p),
                (Some(p), _) => runs.push(vec![p]),
                (None, _) => {}
            }
            open = point.is_some();
        }
        runs
    }

    fn line(&self, points: &[(f64, f64)], stepped: bool, stroke: Stroke) -> Vec<Shape> {
        let mut pieces = Vec::new();
        let mut lone = Vec::new();
        for run in self.runs(points.iter().map(|&p| self.px(p))) {
            let run = if stepped { staircase(&run) } else { run };
            let run = clip::subsample(&clip::thin(run), MOST_LINE_POINTS);
            for piece in clip::line(&run, &self.visible) {
                if piece.len() == 1 { lone.extend(piece) } else { pieces.push(piece) }
            }
        }
        let mut shapes = Vec::new();
        if !pieces.is_empty() {
            shapes.push(Shape::Lines { runs: pieces, stroke });
        }
        // A line of a single point would be invisible.
        if !lone.is_empty() {
            let dots = Dots {
                centers: lone,
                radius: stroke.width.max(2.0),
                marker: Marker::Circle,
                paint: stroke.paint,
                opacity: 1.0,
            };
            shapes.push(Shape::Dots(dots));
        }
        shapes
    }

    fn points(&self, points: &[(f64, f64)], style: &Style, paint: Paint) -> Option<Shape> {
        let radius = if style.radius.is_finite() { style.radius.clamp(0.2, 100.0) } else { 2.0 };
        let opacity = if style.opacity.is_finite() { style.opacity.clamp(0.0, 1.0) } else { 1.0 };
        // Other markers take about four times the text of a disc.
        let budget = if style.marker == Marker::Circle { MOST_POINTS } else { MOST_POINTS / 4 };
        let share = budget as f64 * points.len() as f64 / self.n_points.max(1) as f64;
        let reach = self.layout.area.grown(2.0 * radius);
        let all: Vec<Point> = points.iter().filter_map(|&p| self.px(p)).filter(|&p| reach.contains(p)).collect();
        let centers = clip::subsample(&all, (share.ceil() as usize).max(1));
        let dots = Dots { centers, radius, marker: style.marker, paint, opacity };
        (!dots.centers.is_empty()).then_some(Shape::Dots(dots))
    }

    fn band(&self, edges: &[(f64, f64, f64)], paint: Paint) -> Vec<Shape> {
        // Both edges must be drawable for a point of the band to be.
        let pairs: Vec<Option<(Point, Point)>> =
            edges.iter().map(|&(x, low, high)| Some((self.px((x, low))?, self.px((x, high))?))).collect();
        let lows = self.runs(pairs.iter().map(|pair| pair.map(|p| p.0)));
        let highs = self.runs(pairs.iter().map(|pair| pair.map(|p| p.1)));
        let fill = Fill { paint, opacity: 0.2 };
        let mut shapes = Vec::new();
        for (low, high) in lows.into_iter().zip(highs) {
            let mut corners = clip::subsample(&clip::thin(low), MOST_LINE_POINTS);
            let back = clip::subsample(&clip::thin(high), MOST_LINE_POINTS);
            corners.extend(back.into_iter().rev());
            let corners = clip::polygon(&corners, &self.visible);
            if corners.len() > 2 {
                shapes.push(Shape::Polygon { corners, fill: Some(fill), stroke: None });
            }
        }
        shapes
    }

    fn whiskers(&self, edges: &[(f64, f64, f64)], paint: Paint) -> Option<Shape> {
        const CAP: f64 = 3.5;
        let mut runs = Vec::new();
        for (x, low, high) in clip::subsample(edges, MOST_SEGMENTS) {
            let ends = (self.px((x, low)), self.px((x, high)));
            let (Some(low), Some(high)) = ends else {
                continue;
            };
            let cap = |end: Point| [(end.0 - CAP, end.1), (end.0 + CAP, end.1)];
            for [from, to] in [[low, high], cap(low), cap(high)] {
                runs.extend(clip::segment(from, to, &self.visible).map(|(a, b)| vec![a, b]));
            }
        }
        (!runs.is_empty()).then_some(Shape::Lines { runs, stroke: Stroke::new(paint, 1.4) })
    }

    fn columns(&self, columns: &[(f64, f64, f64)], paint: Paint) -> Vec<Shape> {
        let fill = Fill { paint, opacity: COLUMN_OPACITY };
        let base = self.layout.y.base_px();
        let mut shapes = Vec::new();
        for &(from, to, height) in columns {
            let (Some(from), Some(to)) = (self.layout.x.px(from), self.layout.x.px(to)) else {
                continue;
            };
            let Some(tip) = self.layout.y.px(height).filter(|&tip| tip != base) else {
                continue;
            };
            let corners = [(from, base), (to, base), (to, tip), (from, tip)];
            let corners = clip::polygon(&corners, &self.visible);
            if corners.len() > 2 {
                shapes.push(Shape::Polygon { corners, fill: Some(fill), stroke: Some(Stroke::new(Paint::Paper, 0.5)) });
            }
        }
        shapes
    }

    fn segments(&self, ends: &[Segment], stroke: Stroke) -> Option<Shape> {
        let mut runs = Vec::new();
        for (from, to) in clip::subsample(ends, MOST_SEGMENTS) {
            let (Some(from), Some(to)) = (self.px(from), self.px(to)) else {
                continue;
            };
            runs.extend(clip::segment(from, to, &self.visible).map(|(a, b)| vec![a, b]));
        }
        (!runs.is_empty()).then_some(Shape::Lines { runs, stroke })
    }

    fn ellipse(&self, outline: &[(f64, f64)], paint: Paint) -> Vec<Shape> {
        let corners: Vec<Point> = outline.iter().filter_map(|&p| self.px(p)).collect();
        // On a logarithmic axis part of the outline may have no place: then it is left open.
        let whole = corners.len() == outline.len();
        let filled = clip::polygon(&corners, &self.visible);
        let mut shapes = Vec::new();
        if filled.len() > 2 {
            let fill = Fill { paint, opacity: 0.09 };
            shapes.push(Shape::Polygon { corners: filled, fill: Some(fill), stroke: None });
        }
        let closing = if whole { outline.first() } else { None };
        let mut runs = Vec::new();
        for run in self.runs(outline.iter().chain(closing).map(|&p| self.px(p))) {
            runs.extend(clip::line(&run, &self.visible));
        }
        if !runs.is_empty() {
            shapes.push(Shape::Lines { runs, stroke: Stroke::new(paint, 1.6) });
        }
        shapes
    }

    fn center_label(&self, center: (f64, f64), label: Option<&str>) -> Option<Shape> {
        let (x, y) = self.px(center)?;
        let label = label.filter(|label| !label.is_empty())?;
        let at = (x, y + LABEL_SIZE * 0.36);
        let text = Text::new(at, label, LABEL_SIZE, Paint::Ink).anchored(Anchor::Middle).with_halo();
        self.visible.contains((x, y)).then_some(Shape::Text(Text { bold: true, ..text }))
    }

    fn image(&self, columns: usize, rows: usize, gray: &[f64]) -> Option<Shape> {
        let finite = || gray.iter().copied().filter(|v| v.is_finite());
        let (low, high) = (finite().fold(f64::INFINITY, f64::min), finite().fold(f64::NEG_INFINITY, f64::max));
        if low > high {
            return None;
        }
        // Halving first keeps the width of the largest ranges finite.
        let width = high / 2.0 - low / 2.0;
        let tone = |v: &f64| {
            let share = if width > 0.0 { (v / 2.0 - low / 2.0) / width } else { 0.5 };
            // Missing pixels are as bright as the paper.
            if share.is_nan() { 255 } else { (share.clamp(0.0, 1.0) * 255.0).round() as u8 }
        };
        let corner = self.px((0.0, 0.0))?;
        let opposite = self.px((columns as f64, rows as f64))?;
        let area = Rect {
            x: corner.0.min(opposite.0),
            y: corner.1.min(opposite.1),
            w: (corner.0 - opposite.0).abs(),
            h: (corner.1 - opposite.1).abs(),
        };
        Some(Shape::Raster(Raster { area, columns, rows, gray: gray.iter().map(tone).collect() }))
    }
}

/// Each value held until the next point.
fn staircase(points: &[Point]) -> Vec<Point> {
    let mut stairs = Vec::with_capacity(points.len() * 2);
    for &(x, y) in points {
        if let Some(&(_, before)) = stairs.last() {
            stairs.push((x, before));
        }
        stairs.push((x, y));
    }
    stairs
}
