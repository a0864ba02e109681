//! Charts as SVG, as PNG and as self-contained HTML pages.
//!
//! A [`Chart`] is built from plain numbers and knows nothing about models:
//!
//! ```
//! use bayestream_plot::Chart;
//!
//! let svg = Chart::new("Components found")
//!     .x_label("rows seen")
//!     .y_label("components")
//!     .step("realized", &[(0.0, 1.0), (500.0, 4.0), (2_000.0, 9.0)])
//!     .to_svg();
//! assert!(svg.starts_with("<svg"));
//! ```
//!
//! The same chart always gives the same bytes. Numbers that cannot be drawn (NaN, infinities,
//! non-positive values on a logarithmic axis) are left out; a chart with nothing to draw says so.
//!
//! How a chart becomes a picture: the builder collects *layers* in data units (`chart`, `layer`);
//! `layout` decides on margins, ranges and ticks; `draw` turns layers into a *scene* of simple
//! shapes in pixels; `svg` writes a scene as text and `raster` paints it.
//!
//! The crate embeds Noto Sans (© 2012 Google Inc., Apache License 2.0 by the notice in the font, SIL
//! Open Font License 1.1 by the `notosans` crate) to measure text and to draw it in PNG files; SVG
//! and HTML files carry no font.

mod bars;
mod chart;
mod clip;
mod color;
mod draw;
mod error;
mod figure;
mod image;
mod layer;
mod layer_shapes;
mod layout;
mod legend;
mod marks;
mod page;
mod ranges;
mod raster;
mod scale;
mod scene;
mod spans;
mod svg;
mod text;
mod ticks;

pub use chart::Chart;
pub use color::{palette, palette_len};
pub use error::PlotError;
pub use figure::{SvgFigure, grid};
pub use layer::{MarkStyle, Marker, Segment, Span, Style};
pub use page::Page;
