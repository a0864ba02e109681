//! Finished figures: one chart, or several side by side.

use crate::chart::Chart;
use crate::error::PlotError;
use crate::layout::Sides;
use crate::scene::{Scene, Shape};
use crate::{draw, raster, svg};

/// One chart or a grid of charts, ready to be written.
#[derive(Debug, Clone, PartialEq)]
pub struct SvgFigure {
    scene: Scene,
}

impl SvgFigure {
    /// The figure as the text of an SVG file.
    pub fn to_svg(&self) -> String {
        svg::document(&self.scene)
    }

    /// The figure as a PNG file, `scale` pixels for each pixel of its size.
    pub fn to_png(&self, scale: f64) -> Result<Vec<u8>, PlotError> {
        raster::png(&self.scene, scale)
    }

    /// The figure's width in pixels.
    pub fn width(&self) -> f64 {
        self.scene.width
    }

    /// The figure's height in pixels.
    pub fn height(&self) -> f64 {
        self.scene.height
    }
}

impl From<&Chart> for SvgFigure {
    fn from(chart: &Chart) -> Self {
        Self { scene: draw::scene(chart) }
    }
}

impl From<Chart> for SvgFigure {
    fn from(chart: Chart) -> Self {
        Self::from(&chart)
    }
}

/// Several charts in one figure, row by row, in the given number of columns.
///
/// Every column is as wide as its widest chart, every row as high as its highest, and the axes of
/// charts in one row or column are aligned.
pub fn grid(charts: &[Chart], columns: usize) -> SvgFigure {
    const GAP: f64 = 8.0;
    let columns = columns.max(1);
    let mut widths = vec![0.0f64; columns.min(charts.len())];
    let mut heights = vec![0.0f64; charts.len().div_ceil(columns)];
    let mut column_sides = vec![Sides::default(); widths.len()];
    let mut row_sides = vec![Sides::default(); heights.len()];
    for (ix, chart) in charts.iter().enumerate() {
        let needed = draw::sides(chart);
        let (column, row) = (&mut column_sides[ix % columns], &mut row_sides[ix / columns]);
        column.left = column.left.max(needed.left);
        column.right = column.right.max(needed.right);
        row.top = row.top.max(needed.top);
        row.bottom = row.bottom.max(needed.bottom);
        widths[ix % columns] = widths[ix % columns].max(chart.width);
        heights[ix / columns] = heights[ix / columns].max(chart.height);
    }
    let starts = |sizes: &[f64]| -> Vec<f64> {
        let ends = sizes.iter().scan(0.0, |end, size| {
            let start = *end;
            *end += size + GAP;
            Some(start)
        });
        ends.collect()
    };
    let (lefts, tops) = (starts(&widths), starts(&heights));
    let mut shapes = Vec::new();
    let mut titles: Vec<&str> = Vec::new();
    for (ix, chart) in charts.iter().enumerate() {
        let by = (lefts[ix % columns], tops[ix / columns]);
        let (column, row) = (column_sides[ix % columns], row_sides[ix / columns]);
        // Smaller panels start where the others do but end on their own.
        let least = Sides {
            left: column.left,
            right: if chart.width == widths[ix % columns] { column.right } else { 0.0 },
            top: row.top,
            bottom: if chart.height == heights[ix / columns] { row.bottom } else { 0.0 },
        };
        let shapes_of_panel = draw::scene_within(chart, least).shapes;
        shapes.push(Shape::Shift { by, shapes: shapes_of_panel });
        if !chart.title.is_empty() {
            titles.push(&chart.title);
        }
    }
    let length = |sizes: &[f64]| (sizes.iter().sum::<f64>() + GAP * sizes.len().saturating_sub(1) as f64).max(1.0);
    let (width, height) = (length(&widths), length(&heights));
    SvgFigure { scene: Scene { width, height, title: titles.join("; "), shapes } }
}
