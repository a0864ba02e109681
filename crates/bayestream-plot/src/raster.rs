//! Paints a scene into pixels, with the embedded font: the same picture on every machine.

use tiny_skia::{
    Color, FillRule, FilterQuality, LineCap, LineJoin, Mask, Paint as SkiaPaint, Path, PathBuilder, Pixmap,
    PixmapPaint, PremultipliedColorU8, StrokeDash, Transform,
};
use ttf_parser::OutlineBuilder;

use crate::color::Paint;
use crate::error::PlotError;
use crate::image::{Pixels, encode};
use crate::layer::Marker;
use crate::scene::{Anchor, Dots, Point, Raster, Rect, Scene, Shape, Stroke, Text};
use crate::text::Font;

/// More pixels than this would take gigabytes.
const MOST_PIXELS: f64 = 1.5e8;

/// A scene as a PNG file.
pub(crate) fn png(scene: &Scene, scale: f64) -> Result<Vec<u8>, PlotError> {
    if !scale.is_finite() || scale <= 0.0 {
        return Err(PlotError::Scale(scale));
    }
    let (width, height) = ((scene.width * scale).ceil(), (scene.height * scale).ceil());
    let too_large = PlotError::TooLarge { width, height };
    if width * height > MOST_PIXELS || width.max(height) > 32_000.0 {
        return Err(too_large);
    }
    let (columns, rows) = (width.max(1.0) as u32, height.max(1.0) as u32);
    let mut canvas = Canvas {
        pixels: Pixmap::new(columns, rows).ok_or(too_large)?,
        regular: Font::load(false),
        bold: Font::load(true),
    };
    let [r, g, b] = Paint::Paper.rgb();
    canvas.pixels.fill(Color::from_rgba8(r, g, b, 255));
    let place = Transform::from_scale(scale as f32, scale as f32);
    canvas.shapes(&scene.shapes, place, None);
    // The paper is opaque, so alpha carries nothing.
    let opaque: Vec<u8> = canvas.pixels.data().chunks_exact(4).flat_map(|p| [p[0], p[1], p[2]]).collect();
    encode(columns, rows, Pixels::Rgb, &opaque)
}

struct Canvas {
    pixels: Pixmap,
    regular: Option<Font>,
    bold: Option<Font>,
}

fn skia_paint(paint: Paint, opacity: f64) -> SkiaPaint<'static> {
    let [r, g, b] = paint.rgb();
    let mut out = SkiaPaint { anti_alias: true, ..SkiaPaint::default() };
    out.set_color_rgba8(r, g, b, (opacity.clamp(0.0, 1.0) * 255.0).round() as u8);
    out
}

fn skia_stroke(stroke: &Stroke) -> tiny_skia::Stroke {
    let dash = stroke.dash.pattern(stroke.width);
    tiny_skia::Stroke {
        width: stroke.width as f32,
        line_cap: LineCap::Butt,
        line_join: LineJoin::Round,
        dash: dash.and_then(|p| StrokeDash::new(vec![p[0] as f32, p[1] as f32], 0.0)),
        ..tiny_skia::Stroke::default()
    }
}

fn trace(builder: &mut PathBuilder, points: &[Point], closed: bool) {
    for (ix, &(x, y)) in points.iter().enumerate() {
        if ix == 0 {
            builder.move_to(x as f32, y as f32);
        } else {
            builder.line_to(x as f32, y as f32);
        }
    }
    if closed && !points.is_empty() {
        builder.close();
    }
}

impl Canvas {
    fn shapes(&mut self, shapes: &[Shape], place: Transform, mask: Option<&Mask>) {
        for shape in shapes {
            match shape {
                Shape::Lines { runs, stroke } => {
                    let mut builder = PathBuilder::new();
                    for run in runs {
                        trace(&mut builder, run, false);
                    }
                    self.stroke(builder.finish(), stroke, place, mask);
                }
                Shape::Polygon { corners, fill, stroke } => {
                    let mut builder = PathBuilder::new();
                    trace(&mut builder, corners, true);
                    let path = builder.finish();
                    if let Some(fill) = fill {
                        self.fill(path.clone(), fill.paint, fill.opacity, place, mask);
                    }
                    if let Some(stroke) = stroke {
                        self.stroke(path, stroke, place, mask);
                    }
                }
                Shape::Box { area, radius, fill } => {
                    let path = rounded_box(area, *radius);
                    self.fill(path, fill.paint, fill.opacity, place, mask);
                }
                Shape::Dots(dots) => self.dots(dots, place, mask),
                Shape::Text(text) => self.text(text, place, mask),
                Shape::Raster(raster) => self.raster(raster, place, mask),
                Shape::Clip { area, shapes } => {
                    let inner = Mask::new(self.pixels.width(), self.pixels.height());
                    // Clips do not nest: a chart has one plot area, a grid places whole charts.
                    if let (Some(mut inner), Some(path)) = (inner, rounded_box(area, 0.0)) {
                        inner.fill_path(&path, FillRule::Winding, false, place);
                        self.shapes(shapes, place, Some(&inner));
                    }
                }
                Shape::Shift { by, shapes } => {
                    let moved = place.pre_translate(by.0 as f32, by.1 as f32);
                    self.shapes(shapes, moved, mask);
                }
            }
        }
    }

    fn fill(&mut self, path: Option<Path>, paint: Paint, opacity: f64, place: Transform, mask: Option<&Mask>) {
        if let Some(path) = path {
            let paint = skia_paint(paint, opacity);
            self.pixels.fill_path(&path, &paint, FillRule::Winding, place, mask);
        }
    }

    fn stroke(&mut self, path: Option<Path>, stroke: &Stroke, place: Transform, mask: Option<&Mask>) {
        if let Some(path) = path {
            let paint = skia_paint(stroke.paint, stroke.opacity);
            self.pixels.stroke_path(&path, &paint, &skia_stroke(stroke), place, mask);
        }
    }

    fn dots(&mut self, dots: &Dots, place: Transform, mask: Option<&Mask>) {
        for sheet in dots.sheets() {
            let mut builder = PathBuilder::new();
            for &center in &sheet {
                trace_marker(&mut builder, dots.marker, center, dots.radius);
            }
            let path = builder.finish();
            match dots.marker {
                Marker::Cross | Marker::Plus | Marker::Ring => {
                    let look = Stroke { opacity: dots.opacity, ..Stroke::new(dots.paint, dots.line_width()) };
                    self.stroke(path, &look, place, mask);
                }
                _ => self.fill(path, dots.paint, dots.opacity, place, mask),
            }
        }
    }

    fn text(&mut self, text: &Text, place: Transform, mask: Option<&Mask>) {
        let font = if text.bold { self.bold.as_ref() } else { self.regular.as_ref() };
        let Some(font) = font else { return };
        let (glyphs, width) = font.place(&text.text);
        let start = match text.anchor {
            Anchor::Start => 0.0,
            Anchor::Middle => -width / 2.0,
            Anchor::End => -width,
        };
        let mut pen = GlyphPen { builder: PathBuilder::new(), at: (0.0, 0.0), scale: 1.0 };
        for glyph in &glyphs {
            pen.at = ((start + glyph.x) * text.size, -glyph.rise * text.size);
            pen.scale = text.size * font.unit() * glyph.scale;
            font.outline(glyph, &mut pen);
        }
        let path = pen.builder.finish();
        let mut here = place.pre_translate(text.at.0 as f32, text.at.1 as f32);
        if text.upward {
            here = here.pre_concat(Transform::from_rotate(-90.0));
        }
        if text.halo {
            self.stroke(path.clone(), &Stroke::new(Paint::Paper, 3.0), here, mask);
        }
        self.fill(path, text.paint, 1.0, here, mask);
    }

    fn raster(&mut self, raster: &Raster, place: Transform, mask: Option<&Mask>) {
        let size = (u32::try_from(raster.columns), u32::try_from(raster.rows));
        let (Ok(columns), Ok(rows)) = size else {
            return;
        };
        let Some(mut picture) = Pixmap::new(columns, rows) else {
            return;
        };
        for (pixel, &gray) in picture.pixels_mut().iter_mut().zip(&raster.gray) {
            if let Some(color) = PremultipliedColorU8::from_rgba(gray, gray, gray, 255) {
                *pixel = color;
            }
        }
        let Rect { x, y, w, h } = raster.area;
        let fitted = place
            .pre_translate(x as f32, y as f32)
            .pre_scale((w / raster.columns as f64) as f32, (h / raster.rows as f64) as f32);
        let paint = PixmapPaint { quality: FilterQuality::Nearest, ..PixmapPaint::default() };
        self.pixels.draw_pixmap(0, 0, picture.as_ref(), &paint, fitted, mask);
    }
}

fn rounded_box(area: &Rect, radius: f64) -> Option<Path> {
    let (x, y, w, h) = (area.x as f32, area.y as f32, area.w as f32, area.h as f32);
    let rect = tiny_skia::Rect::from_xywh(x, y, w, h)?;
    let r = (radius as f32).min(w / 2.0).min(h / 2.0);
    if r <= 0.0 {
        return Some(PathBuilder::from_rect(rect));
    }
    let (right, bottom) = (x + w, y + h);
    let mut builder = PathBuilder::new();
    builder.move_to(x + r, y);
    builder.line_to(right - r, y);
    builder.quad_to(right, y, right, y + r);
    builder.line_to(right, bottom - r);
    builder.quad_to(right, bottom, right - r, bottom);
    builder.line_to(x + r, bottom);
    builder.quad_to(x, bottom, x, bottom - r);
    builder.line_to(x, y + r);
    builder.quad_to(x, y, x + r, y);
    builder.close();
    builder.finish()
}

fn trace_marker(builder: &mut PathBuilder, marker: Marker, (x, y): Point, r: f64) {
    match marker {
        Marker::Circle | Marker::Ring => builder.push_circle(x as f32, y as f32, r as f32),
        Marker::Square => {
            let h = 0.9 * r;
            let corners = [(x - h, y - h), (x + h, y - h), (x + h, y + h), (x - h, y + h)];
            trace(builder, &corners, true);
        }
        Marker::Diamond => {
            let h = 1.25 * r;
            trace(builder, &[(x, y - h), (x + h, y), (x, y + h), (x - h, y)], true);
        }
        Marker::Triangle => {
            let (top, base, side) = (y - 1.2 * r, y + 0.8 * r, 1.1 * r);
            trace(builder, &[(x, top), (x + side, base), (x - side, base)], true);
        }
        Marker::Cross => {
            let h = 0.9 * r;
            trace(builder, &[(x - h, y - h), (x + h, y + h)], false);
            trace(builder, &[(x + h, y - h), (x - h, y + h)], false);
        }
        Marker::Plus => {
            let h = 1.2 * r;
            trace(builder, &[(x - h, y), (x + h, y)], false);
            trace(builder, &[(x, y - h), (x, y + h)], false);
        }
    }
}

/// Turns outlines in font units, y up, into a path in pixels, y down.
struct GlyphPen {
    builder: PathBuilder,
    at: Point,
    scale: f64,
}

impl GlyphPen {
    fn px(&self, x: f32, y: f32) -> (f32, f32) {
        let (x, y) = (f64::from(x) * self.scale, f64::from(y) * self.scale);
        ((self.at.0 + x) as f32, (self.at.1 - y) as f32)
    }
}

impl OutlineBuilder for GlyphPen {
    fn move_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.px(x, y);
        self.builder.move_to(x, y);
    }

    fn line_to(&mut self, x: f32, y: f32) {
        let (x, y) = self.px(x, y);
        self.builder.line_to(x, y);
    }

    fn quad_to(&mut self, x1: f32, y1: f32, x: f32, y: f32) {
        let ((x1, y1), (x, y)) = (self.px(x1, y1), self.px(x, y));
        self.builder.quad_to(x1, y1, x, y);
    }

    fn curve_to(&mut self, x1: f32, y1: f32, x2: f32, y2: f32, x: f32, y: f32) {
        let ((x1, y1), (x2, y2), (x, y)) = (self.px(x1, y1), self.px(x2, y2), self.px(x, y));
        self.builder.cubic_to(x1, y1, x2, y2, x, y);
    }

    fn close(&mut self) {
        self.builder.close();
    }
}
