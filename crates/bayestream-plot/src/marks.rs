//! Vertical marks for events, with their labels in rows above the plot area.

use crate::chart::Chart;
use crate::color::Paint;
use crate::layer::{Layer, MarkStyle};
use crate::layout::Layout;
use crate::scene::{Anchor, Dash, Shape, Stroke, Text};
use crate::text;

/// The height of a row of labels.
pub(crate) const ROW: f64 = 14.0;
const SIZE: f64 = 10.5;
const MOST_ROWS: usize = 4;
const GAP: f64 = 4.0;

struct Mark<'a> {
    x: f64,
    label: &'a str,
    style: MarkStyle,
    /// The row of the label, counted from the plot area upwards; none if the label has no room.
    row: Option<usize>,
    /// The label stands before the mark, because after it the picture ends.
    before: bool,
}

/// All marks inside the plot area from right to left, with the places of their labels.
///
/// From right to left, because a label stands to the right of its mark: a crowded one then moves
/// up while its line passes to the left of the labels below.
fn place<'a>(chart: &'a Chart, layout: &Layout, most_rows: usize) -> Vec<Mark<'a>> {
    let area = layout.area;
    let mut marks = Vec::new();
    for series in &chart.series {
        let Layer::Marks { marks: layer, style } = &series.layer else {
            continue;
        };
        for (at, label) in layer {
            let Some(x) = layout.x.px(*at) else { continue };
            if x >= area.x - 0.5 && x <= area.right() + 0.5 {
                marks.push(Mark { x, label, style: *style, row: None, before: false });
            }
        }
    }
    marks.sort_by(|a, b| b.x.total_cmp(&a.x));
    // Where the leftmost label of each row starts.
    let mut row_starts: Vec<f64> = Vec::new();
    for mark in marks.iter_mut().filter(|mark| !mark.label.is_empty()) {
        let width = text::width(mark.label, SIZE, false);
        mark.before = mark.x + GAP + width > chart.width - GAP;
        let (start, end) =
            if mark.before { (mark.x - 2.0 * GAP - width, mark.x) } else { (mark.x - GAP, mark.x + GAP + width) };
        let free = row_starts.iter().position(|&taken| end <= taken);
        let row = free.unwrap_or(row_starts.len());
        if row < most_rows {
            mark.row = Some(row);
            row_starts.resize(row_starts.len().max(row + 1), start);
            row_starts[row] = start;
            // The line passes the rows below on its way up.
            for below in &mut row_starts[..row] {
                *below = below.min(mark.x - GAP);
            }
        }
    }
    marks
}

/// The number of rows the labels need.
pub(crate) fn n_rows(chart: &Chart, layout: &Layout) -> usize {
    let marks = place(chart, layout, MOST_ROWS);
    marks.iter().filter_map(|mark| mark.row).max().map_or(0, |row| row + 1)
}

/// Lines and labels of all marks.
pub(crate) fn shapes(chart: &Chart, layout: &Layout) -> Vec<Shape> {
    let area = layout.area;
    let (mut lines, mut labels) = (Vec::new(), Vec::new());
    for mark in place(chart, layout, layout.n_mark_rows) {
        let paint = mark.style.color.map_or(Paint::Soft, Paint::Series);
        let dash = if mark.style.dashed { Dash::Dashed } else { Dash::Solid };
        let baseline = |row: usize| area.y - ROW * row as f64 - GAP;
        // The line reaches up to its label.
        let top = mark.row.map_or(area.y, |row| baseline(row) - 0.7 * SIZE);
        let stroke = Stroke { dash, ..Stroke::new(paint, 1.2) };
        lines.push(Shape::Lines { runs: vec![vec![(mark.x, area.bottom()), (mark.x, top)]], stroke });
        let Some(row) = mark.row else { continue };
        let (x, anchor) = if mark.before { (mark.x - GAP, Anchor::End) } else { (mark.x + GAP, Anchor::Start) };
        let text = Text::new((x, baseline(row)), mark.label, SIZE, Paint::Ink);
        labels.push(Shape::Text(text.anchored(anchor).with_halo()));
    }
    lines.extend(labels);
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::Sides;

    #[test]
    fn labels_overlap_neither_each_other_nor_other_marks() {
        let places = [1.0, 1.2, 1.3, 2.0, 3.5, 3.6, 3.7, 3.75, 3.8, 3.82, 6.0, 9.9, 10.0];
        let marks: Vec<(f64, String)> = places.iter().map(|&x| (x, format!("event at {x}"))).collect();
        let chart = Chart::new("t").x_range(0.0, 10.0).marks(&marks, MarkStyle::default());
        let layout = Layout::of(&chart, &[0], Sides::default());
        let placed = place(&chart, &layout, layout.n_mark_rows);
        assert_eq!(placed.len(), places.len());
        let extent = |mark: &Mark| {
            let width = text::width(mark.label, SIZE, false);
            if mark.before { (mark.x - GAP - width, mark.x - GAP) } else { (mark.x + GAP, mark.x + GAP + width) }
        };
        let mut n_labels = 0;
        for (ix, mark) in placed.iter().enumerate() {
            let Some(row) = mark.row else { continue };
            n_labels += 1;
            let (start, end) = extent(mark);
            assert!(start >= 0.0 && end <= chart.width);
            for (other_ix, other) in placed.iter().enumerate() {
                let Some(other_row) = other.row.filter(|_| other_ix != ix) else {
                    continue;
                };
                let (other_start, other_end) = extent(other);
                assert!(other_row != row || end <= other_start || other_end <= start);
                // Labels before their mark, at the right edge, may be crossed: they have a rim.
                let crosses = other.x > start && other.x < end && other_row >= row;
                assert!(!crosses || mark.before, "{} crosses {}", other.label, mark.label);
            }
        }
        assert!(n_labels >= 6, "{n_labels}");
    }
}
