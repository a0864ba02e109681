//! A picture as simple shapes in pixels: what both the SVG writer and the rasteriser understand.

use crate::color::Paint;
use crate::layer::Marker;

/// A position in pixels, y pointing down.
pub(crate) type Point = (f64, f64);

/// An axis-parallel rectangle in pixels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Rect {
    pub x: f64,
    pub y: f64,
    pub w: f64,
    pub h: f64,
}

impl Rect {
    pub(crate) fn right(&self) -> f64 {
        self.x + self.w
    }

    pub(crate) fn bottom(&self) -> f64 {
        self.y + self.h
    }

    pub(crate) fn center(&self) -> Point {
        (self.x + self.w / 2.0, self.y + self.h / 2.0)
    }

    /// The rectangle with `margin` more on each side.
    pub(crate) fn grown(&self, margin: f64) -> Rect {
        Rect { x: self.x - margin, y: self.y - margin, w: self.w + 2.0 * margin, h: self.h + 2.0 * margin }
    }

    pub(crate) fn contains(&self, (x, y): Point) -> bool {
        x >= self.x && x <= self.right() && y >= self.y && y <= self.bottom()
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Dash {
    Solid,
    Dashed,
    Dotted,
}

impl Dash {
    /// Lengths of ink and gap in pixels, for a line of the given width.
    pub(crate) fn pattern(self, width: f64) -> Option<[f64; 2]> {
        match self {
            Dash::Solid => None,
            Dash::Dashed => Some([3.5 * width.max(1.0), 2.5 * width.max(1.0)]),
            Dash::Dotted => Some([1.0 * width.max(1.0), 2.0 * width.max(1.0)]),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Stroke {
    pub paint: Paint,
    pub width: f64,
    pub opacity: f64,
    pub dash: Dash,
}

impl Stroke {
    pub(crate) fn new(paint: Paint, width: f64) -> Self {
        Self { paint, width, opacity: 1.0, dash: Dash::Solid }
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Fill {
    pub paint: Paint,
    pub opacity: f64,
}

impl Fill {
    pub(crate) fn solid(paint: Paint) -> Self {
        Self { paint, opacity: 1.0 }
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Anchor {
    Start,
    Middle,
    End,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Text {
    /// Where the anchor of the baseline lies.
    pub at: Point,
    pub text: String,
    pub size: f64,
    pub bold: bool,
    pub anchor: Anchor,
    pub paint: Paint,
    /// Reads from bottom to top, for the title of a vertical axis.
    pub upward: bool,
    /// A rim in the colour of the paper, so that text stays legible above data.
    pub halo: bool,
}

impl Text {
    pub(crate) fn new(at: Point, text: impl Into<String>, size: f64, paint: Paint) -> Self {
        Self { at, text: text.into(), size, bold: false, anchor: Anchor::Start, paint, upward: false, halo: false }
    }

    pub(crate) fn anchored(mut self, anchor: Anchor) -> Self {
        self.anchor = anchor;
        self
    }

    pub(crate) fn with_halo(mut self) -> Self {
        self.halo = true;
        self
    }
}

/// Many markers of one look.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Dots {
    pub centers: Vec<Point>,
    pub radius: f64,
    pub marker: Marker,
    pub paint: Paint,
    pub opacity: f64,
}

impl Dots {
    /// The width of the strokes of markers that are drawn rather than filled.
    pub(crate) fn line_width(&self) -> f64 {
        (self.radius * 0.45).clamp(0.6, 2.0)
    }

    /// The markers dealt into a few sheets, each painted at once.
    ///
    /// One path paints an overlap once, so a cloud in a single path would lose its density, and a
    /// path per marker would make large files. With a few sheets density still shows.
    pub(crate) fn sheets(&self) -> Vec<Vec<Point>> {
        const N_SHEETS: usize = 24;
        let n_sheets = if self.opacity < 1.0 { N_SHEETS.min(self.centers.len()) } else { 1 };
        (0..n_sheets).map(|sheet| self.centers.iter().copied().skip(sheet).step_by(n_sheets).collect()).collect()
    }
}

/// Gray values, row by row from the top.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Raster {
    pub area: Rect,
    pub columns: usize,
    pub rows: usize,
    pub gray: Vec<u8>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Shape {
    Lines {
        runs: Vec<Vec<Point>>,
        stroke: Stroke,
    },
    Polygon {
        corners: Vec<Point>,
        fill: Option<Fill>,
        stroke: Option<Stroke>,
    },
    Box {
        area: Rect,
        radius: f64,
        fill: Fill,
    },
    Dots(Dots),
    Text(Text),
    Raster(Raster),
    /// Shapes cut off at the edges of an area.
    Clip {
        area: Rect,
        shapes: Vec<Shape>,
    },
    /// Shapes of a panel, moved to its place.
    Shift {
        by: Point,
        shapes: Vec<Shape>,
    },
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Scene {
    pub width: f64,
    pub height: f64,
    /// What the picture shows, for readers who cannot see it.
    pub title: String,
    pub shapes: Vec<Shape>,
}
