//! Pictures in files: the extension says which kind.

use crate::error::Failure;
use bayestream_io::write_atomic;
use bayestream_plot::{Page, SvgFigure};
use std::path::Path;

/// Pixels of a PNG for each pixel of the chart.
const PNG_SCALE: f64 = 2.0;

/// A picture to be written.
pub struct PictureFile<'a> {
    path: &'a str,
    format: PictureFormat,
}

#[derive(Clone, Copy)]
enum PictureFormat {
    Svg,
    Png,
    Html,
}

impl PictureFile<'_> {
    /// The picture that a path's extension promises.
    pub fn at(path: &str) -> Result<PictureFile<'_>, Failure> {
        let extension = Path::new(path).extension().and_then(|e| e.to_str()).unwrap_or("").to_ascii_lowercase();
        let format = match extension.as_str() {
            "svg" => PictureFormat::Svg,
            "png" => PictureFormat::Png,
            "html" | "htm" => PictureFormat::Html,
            _ => {
                let text = format!("{path}: end the name in .svg, .png or .html to say what to draw");
                return Err(Failure::Usage(text));
            }
        };
        Ok(PictureFile { path, format })
    }

    /// Writes a figure; `page` puts it on a page where the file is one.
    pub fn write(&self, figure: SvgFigure, page: impl FnOnce(SvgFigure) -> Page) -> Result<(), Failure> {
        let bytes = match self.format {
            PictureFormat::Svg => figure.to_svg().into_bytes(),
            PictureFormat::Png => figure.to_png(PNG_SCALE)?,
            PictureFormat::Html => page(figure).to_html().into_bytes(),
        };
        Ok(write_atomic(self.path, &bytes)?)
    }
}
