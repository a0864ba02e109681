//! Writes a scene as SVG text.
//!
//! Colours stand in attributes, so that every viewer shows them; classes let a page repaint them.
//! Clipping uses nested `svg` elements: they need no ids, which could clash within a page.

use std::fmt::Write;

use crate::color::Paint;
use crate::image::{Pixels, base64, encode};
use crate::layer::Marker;
use crate::scene::{Anchor, Dots, Fill, Point, Raster, Scene, Shape, Stroke, Text};
use crate::text::escape;

const FONTS: &str = "'Noto Sans','Helvetica Neue',Helvetica,Arial,'DejaVu Sans',sans-serif";

/// Above this many points in one layer, a tenth of a pixel is precise enough.
const MANY_POINTS: usize = 2_000;

/// A whole SVG document.
pub(crate) fn document(scene: &Scene) -> String {
    let (w, h) = (Number(scene.width), Number(scene.height));
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{w}\" height=\"{h}\" \
         viewBox=\"0 0 {w} {h}\" role=\"img\" font-family=\"{FONTS}\">\n"
    );
    if !scene.title.is_empty() {
        let _ = writeln!(out, "<title>{}</title>", escape(&scene.title));
    }
    let paper = fill_attributes(Some(&Fill::solid(Paint::Paper)));
    let _ = writeln!(out, "<rect width=\"{w}\" height=\"{h}\"{paper}/>");
    write_shapes(&mut out, &scene.shapes);
    out.push_str("</svg>\n");
    out
}

/// A number with at most two decimals.
struct Number(f64);

impl std::fmt::Display for Number {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write_number(f, self.0, 2)
    }
}

fn write_number(out: &mut impl Write, value: f64, decimals: usize) -> std::fmt::Result {
    let text = format!("{value:.decimals$}");
    let short = match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.'),
        false => text.as_str(),
    };
    out.write_str(if short == "-0" { "0" } else { short })
}

fn fill_attributes(fill: Option<&Fill>) -> String {
    let Some(fill) = fill else {
        return " fill=\"none\"".to_string();
    };
    let mut out = format!(" class=\"f-{}\" fill=\"{}\"", fill.paint.name(), fill.paint.hex());
    if fill.opacity < 1.0 {
        let _ = write!(out, " fill-opacity=\"{}\"", Number(fill.opacity));
    }
    out
}

fn stroke_attributes(stroke: &Stroke) -> String {
    let mut out = format!(" stroke=\"{}\" stroke-width=\"{}\"", stroke.paint.hex(), Number(stroke.width));
    if stroke.opacity < 1.0 {
        let _ = write!(out, " stroke-opacity=\"{}\"", Number(stroke.opacity));
    }
    if let Some([ink, gap]) = stroke.dash.pattern(stroke.width) {
        let _ = write!(out, " stroke-dasharray=\"{} {}\"", Number(ink), Number(gap));
    }
    out
}

/// A path through points; the second point's `L` is implied.
fn write_run(out: &mut String, points: &[Point], closed: bool, decimals: usize) {
    for (ix, &(x, y)) in points.iter().enumerate() {
        out.push(if ix == 0 { 'M' } else { ' ' });
        // Writing to a string cannot fail.
        let _ = write_number(out, x, decimals);
        out.push(' ');
        let _ = write_number(out, y, decimals);
    }
    if closed {
        out.push('Z');
    }
}

fn write_shapes(out: &mut String, shapes: &[Shape]) {
    for shape in shapes {
        match shape {
            Shape::Lines { runs, stroke } => {
                let mut path = String::new();
                for run in runs {
                    write_run(&mut path, run, false, 2);
                }
                let (name, look) = (stroke.paint.name(), stroke_attributes(stroke));
                let _ = writeln!(
                    out,
                    "<path class=\"s-{name}\" fill=\"none\"{look} stroke-linejoin=\"round\" d=\"{path}\"/>"
                );
            }
            Shape::Polygon { corners, fill, stroke } => write_polygon(out, corners, fill, stroke),
            Shape::Box { area, radius, fill } => {
                let rounded = match *radius > 0.0 {
                    true => format!(" rx=\"{}\"", Number(*radius)),
                    false => String::new(),
                };
                let _ = writeln!(
                    out,
                    "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"{rounded}{}/>",
                    Number(area.x),
                    Number(area.y),
                    Number(area.w),
                    Number(area.h),
                    fill_attributes(Some(fill)),
                );
            }
            Shape::Dots(dots) => write_dots(out, dots),
            Shape::Text(text) => write_text(out, text),
            Shape::Raster(raster) => write_raster(out, raster),
            Shape::Clip { area, shapes } => {
                let (x, y, w, h) = (Number(area.x), Number(area.y), Number(area.w), Number(area.h));
                let _ =
                    writeln!(out, "<svg x=\"{x}\" y=\"{y}\" width=\"{w}\" height=\"{h}\" viewBox=\"{x} {y} {w} {h}\">");
                write_shapes(out, shapes);
                out.push_str("</svg>\n");
            }
            Shape::Shift { by, shapes } => {
                let _ = writeln!(out, "<g transform=\"translate({} {})\">", Number(by.0), Number(by.1));
                write_shapes(out, shapes);
                out.push_str("</g>\n");
            }
        }
    }
}

fn write_polygon(out: &mut String, corners: &[Point], fill: &Option<Fill>, stroke: &Option<Stroke>) {
    let mut path = String::new();
    write_run(&mut path, corners, true, 2);
    let mut classes: Vec<String> = Vec::new();
    let mut look = String::new();
    match fill {
        Some(fill) => {
            classes.push(format!("f-{}", fill.paint.name()));
            let _ = write!(look, " fill=\"{}\" fill-opacity=\"{}\"", fill.paint.hex(), Number(fill.opacity));
        }
        None => look.push_str(" fill=\"none\""),
    }
    if let Some(stroke) = stroke {
        classes.push(format!("s-{}", stroke.paint.name()));
        look.push_str(&stroke_attributes(stroke));
    }
    let _ = writeln!(out, "<path class=\"{}\"{look} d=\"{path}\"/>", classes.join(" "));
}

fn write_dots(out: &mut String, dots: &Dots) {
    let decimals = if dots.centers.len() > MANY_POINTS { 1 } else { 2 };
    let stroke = |width: f64| {
        let stroke = Stroke { opacity: dots.opacity, ..Stroke::new(dots.paint, width) };
        format!(" class=\"s-{}\" fill=\"none\"{}", dots.paint.name(), stroke_attributes(&stroke))
    };
    let look = match dots.marker {
        // A line of no length with round ends is a disc: the shortest way to write one.
        Marker::Circle => stroke(2.0 * dots.radius) + " stroke-linecap=\"round\"",
        Marker::Cross | Marker::Plus | Marker::Ring => stroke(dots.line_width()),
        Marker::Square | Marker::Diamond | Marker::Triangle => {
            fill_attributes(Some(&Fill { paint: dots.paint, opacity: dots.opacity }))
        }
    };
    let outline = relative_outline(dots.marker, dots.radius);
    for sheet in dots.sheets() {
        let mut path = String::with_capacity(sheet.len() * 16);
        for center in sheet {
            write_run(&mut path, &[center], false, decimals);
            path.push_str(&outline);
        }
        let _ = writeln!(out, "<path{look} d=\"{path}\"/>");
    }
}

/// The path commands of one marker, starting from its centre.
fn relative_outline(marker: Marker, radius: f64) -> String {
    let r = Number(radius);
    let (half, d) = (Number(0.9 * radius), Number(1.8 * radius));
    match marker {
        Marker::Circle => "h0".to_string(),
        Marker::Square => format!("m-{half} -{half}h{d}v{d}h-{d}z"),
        Marker::Diamond => {
            let r = Number(1.25 * radius);
            format!("m0 -{r}l{r} {r} -{r} {r} -{r} -{r}z")
        }
        Marker::Triangle => {
            let (up, side) = (Number(1.2 * radius), Number(1.1 * radius));
            let (height, base) = (Number(2.0 * radius), Number(2.2 * radius));
            format!("m0 -{up}l{side} {height}h-{base}z")
        }
        Marker::Cross => format!("m-{half} -{half}l{d} {d}m0 -{d}l-{d} {d}"),
        Marker::Plus => {
            let (r2, d2) = (Number(1.2 * radius), Number(2.4 * radius));
            format!("m-{r2} 0h{d2}m-{r2} -{r2}v{d2}")
        }
        Marker::Ring => {
            let d = Number(2.0 * radius);
            format!("m-{r} 0a{r} {r} 0 1 0 {d} 0a{r} {r} 0 1 0 -{d} 0")
        }
    }
}

fn write_text(out: &mut String, text: &Text) {
    let (x, y) = (Number(text.at.0), Number(text.at.1));
    let mut look = String::new();
    match text.anchor {
        Anchor::Start => {}
        Anchor::Middle => look.push_str(" text-anchor=\"middle\""),
        Anchor::End => look.push_str(" text-anchor=\"end\""),
    }
    if text.bold {
        look.push_str(" font-weight=\"bold\"");
    }
    if text.upward {
        let _ = write!(look, " transform=\"rotate(-90 {x} {y})\"");
    }
    let mut classes = format!("f-{}", text.paint.name());
    if text.halo {
        let paper = Paint::Paper;
        let _ = write!(classes, " s-{}", paper.name());
        let _ = write!(
            look,
            " stroke=\"{}\" stroke-width=\"3\" stroke-linejoin=\"round\" paint-order=\"stroke\"",
            paper.hex()
        );
    }
    let _ = writeln!(
        out,
        "<text x=\"{x}\" y=\"{y}\" font-size=\"{}\" class=\"{classes}\" fill=\"{}\"{look}>{}</text>",
        Number(text.size),
        text.paint.hex(),
        escape(&text.text)
    );
}

fn write_raster(out: &mut String, raster: &Raster) {
    let size = (u32::try_from(raster.columns), u32::try_from(raster.rows));
    let (Ok(columns), Ok(rows)) = size else {
        return;
    };
    // A picture the encoder refuses is left out: the rest of the chart is still worth having.
    let Ok(file) = encode(columns, rows, Pixels::Gray, &raster.gray) else {
        return;
    };
    let _ = writeln!(
        out,
        "<image x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" preserveAspectRatio=\"none\" \
         style=\"image-rendering:pixelated\" href=\"data:image/png;base64,{}\"/>",
        Number(raster.area.x),
        Number(raster.area.y),
        Number(raster.area.w),
        Number(raster.area.h),
        base64(&file)
    );
}
