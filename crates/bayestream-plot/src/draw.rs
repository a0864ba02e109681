//! From a chart to a scene: header, grid, layers, axes.

use crate::chart::Chart;
use crate::color::Paint;
use crate::layer::assign_colors;
use crate::layer_shapes::LayerShapes;
use crate::layout::{LABEL_SIZE, LINE_HEIGHT, Layout, MARGIN, NOTE_SIZE, Sides, TICK_SIZE, TITLE_SIZE};
use crate::scene::{Anchor, Scene, Shape, Stroke, Text};
use crate::text;

/// The whole picture of a chart.
pub(crate) fn scene(chart: &Chart) -> Scene {
    scene_within(chart, Sides::default())
}

/// The room a chart needs around its plot area.
pub(crate) fn sides(chart: &Chart) -> Sides {
    Layout::of(chart, &assign_colors(&chart.series), Sides::default()).sides
}

/// The picture of a chart with at least the given room around its plot area.
pub(crate) fn scene_within(chart: &Chart, least: Sides) -> Scene {
    let colors = assign_colors(&chart.series);
    let layout = Layout::of(chart, &colors, least);
    let mut shapes = header(&layout);
    shapes.extend(grid_lines(&layout));
    let layers = LayerShapes::of(chart, &colors, &layout);
    shapes.push(Shape::Clip {
        // A line along the edge keeps its full width.
        area: layout.area.grown(1.0),
        shapes: layers.inside,
    });
    shapes.extend(axes(&layout));
    shapes.extend(layers.above);
    if !layout.has_data {
        let note = Text::new(layout.area.center(), "no data", NOTE_SIZE, Paint::Soft);
        shapes.push(Shape::Text(note.anchored(Anchor::Middle)));
    }
    Scene { width: chart.width, height: chart.height, title: chart.title.clone(), shapes }
}

fn header(layout: &Layout) -> Vec<Shape> {
    let mut shapes = Vec::new();
    let mut top = MARGIN;
    for line in &layout.title {
        let mut text = Text::new((MARGIN, top + TITLE_SIZE), line, TITLE_SIZE, Paint::Ink);
        text.bold = true;
        shapes.push(Shape::Text(text));
        top += TITLE_SIZE * LINE_HEIGHT;
    }
    for line in &layout.note {
        let text = Text::new((MARGIN, top + NOTE_SIZE), line, NOTE_SIZE, Paint::Soft);
        shapes.push(Shape::Text(text));
        top += NOTE_SIZE * LINE_HEIGHT;
    }
    shapes.extend(layout.legend.shapes((MARGIN, top)));
    shapes
}

fn grid_lines(layout: &Layout) -> Vec<Shape> {
    let area = layout.area;
    let verticals = layout.x_ticks.values.iter().filter_map(|&v| layout.x.px(v));
    let horizontals = layout.y_ticks.values.iter().filter_map(|&v| layout.y.px(v));
    let mut runs: Vec<_> = verticals.map(|x| vec![(x, area.y), (x, area.bottom())]).collect();
    runs.extend(horizontals.map(|y| vec![(area.x, y), (area.right(), y)]));
    if runs.is_empty() {
        return Vec::new();
    }
    vec![Shape::Lines { runs, stroke: Stroke::new(Paint::Grid, 0.8) }]
}

fn axes(layout: &Layout) -> Vec<Shape> {
    let area = layout.area;
    let mut shapes = Vec::new();
    let mut runs = Vec::new();
    let upright = layout.categories.as_ref().map(|c| c.upright);
    if upright == Some(true) {
        let zero = layout.y.base_px();
        runs.push(vec![(area.x, zero), (area.right(), zero)]);
    } else if !layout.x_ticks.labels.is_empty() {
        runs.push(vec![(area.x, area.bottom()), (area.right(), area.bottom())]);
    }
    if upright == Some(false) {
        let zero = layout.x.base_px();
        runs.push(vec![(zero, area.y), (zero, area.bottom())]);
    } else if upright.is_none() && !layout.y_ticks.labels.is_empty() {
        runs.push(vec![(area.x, area.y), (area.x, area.bottom())]);
    }
    if !runs.is_empty() {
        shapes.push(Shape::Lines { runs, stroke: Stroke::new(Paint::Frame, 1.0) });
    }
    for (&value, label) in layout.x_ticks.values.iter().zip(&layout.x_ticks.labels) {
        let Some(x) = layout.x.px(value) else {
            continue;
        };
        let at = (x, area.bottom() + 6.0 + TICK_SIZE);
        let text = Text::new(at, label, TICK_SIZE, Paint::Soft).anchored(Anchor::Middle);
        shapes.push(Shape::Text(text));
    }
    for (&value, label) in layout.y_ticks.values.iter().zip(&layout.y_ticks.labels) {
        let Some(y) = layout.y.px(value) else {
            continue;
        };
        let at = (area.x - 7.0, y + TICK_SIZE * 0.36);
        let text = Text::new(at, label, TICK_SIZE, Paint::Soft).anchored(Anchor::End);
        shapes.push(Shape::Text(text));
    }
    if let Some(categories) = &layout.categories {
        shapes.extend(categories.labels(layout));
    }
    shapes.extend(axis_titles(layout));
    shapes
}

fn axis_titles(layout: &Layout) -> Vec<Shape> {
    let mut shapes = Vec::new();
    let (middle_x, middle_y) = layout.area.center();
    if !layout.x_label.is_empty() {
        let at = (middle_x, layout.height - MARGIN - LABEL_SIZE * 0.15);
        let room = 2.0 * (layout.area.right() - middle_x).max(middle_x - MARGIN);
        let label = text::shorten(&layout.x_label, LABEL_SIZE, room);
        let text = Text::new(at, label, LABEL_SIZE, Paint::Ink);
        shapes.push(Shape::Text(text.anchored(Anchor::Middle)));
    }
    if !layout.y_label.is_empty() {
        let at = (MARGIN + LABEL_SIZE * 0.75, middle_y);
        // No longer than the axis: above it is the legend.
        let label = text::shorten(&layout.y_label, LABEL_SIZE, layout.area.h);
        let text = Text::new(at, label, LABEL_SIZE, Paint::Ink);
        shapes.push(Shape::Text(Text { upward: true, ..text.anchored(Anchor::Middle) }));
    }
    shapes
}
