//! Pictures of features: what each adds to the columns, as bars or as a picture of its own.

use crate::error::Failure;
use crate::picture_file::PictureFile;
use crate::pictures::color_of;
use crate::terminal::{self, counted, short};
use bayestream::model::{FeatureModel, FeatureSnapshot};
use bayestream::structure::Feature;
use bayestream_plot::{Chart, Page, SvgFigure, grid};
use std::str::FromStr;

/// Features drawn, and columns of each.
const FEATURES_DRAWN: usize = 24;
const COLUMNS_DRAWN: usize = 12;
/// Panels beside each other.
const ABREAST: usize = 4;

/// How many columns and rows a picture has: `WxH`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImageSize {
    pub width: usize,
    pub height: usize,
}

impl FromStr for ImageSize {
    type Err = String;

    fn from_str(text: &str) -> Result<ImageSize, String> {
        let parsed =
            text.split_once(['x', 'X', '×']).and_then(|(w, h)| Some((w.trim().parse().ok()?, h.trim().parse().ok()?)));
        match parsed {
            Some((width, height)) if width > 0 && height > 0 => Ok(ImageSize { width, height }),
            _ => Err("expected WIDTHxHEIGHT in pixels, as in 28x28".to_string()),
        }
    }
}

/// Draws the features of a model.
pub fn run(path: &str, model: &FeatureModel, image: Option<ImageSize>, output: &str) -> Result<(), Failure> {
    let (kind, snapshot) = (model.config().kind.name(), &model.snapshot());
    let picture = PictureFile::at(output)?;
    if let Some(ImageSize { width, height }) = image {
        let n_columns = snapshot.columns.len();
        if width.checked_mul(height) != Some(n_columns) {
            return Err(Failure::Usage(format!(
                "--image {width}x{height}: the model has {}, one for each pixel: choose a width and a height whose product \
                 that is",
                counted(n_columns as u64, "column")
            )));
        }
    }
    let panels: Vec<Chart> = std::iter::once(base(snapshot, image))
        .chain(snapshot.set.features.iter().take(FEATURES_DRAWN).map(|feature| panel(snapshot, feature, image)))
        .collect();
    picture.write(grid(&panels, ABREAST), |figure| page(path, kind, snapshot, figure))?;
    terminal::note(format!("{output}: {}", counted(snapshot.k_realized() as u64, "feature")));
    Ok(())
}

/// A row without features.
fn base(snapshot: &FeatureSnapshot, image: Option<ImageSize>) -> Chart {
    let offset = &snapshot.set.offset;
    let columns = snapshot.columns.iter().map(String::as_str).zip(offset.iter().copied());
    drawn("without features", "value", image, offset, columns.take(COLUMNS_DRAWN).collect())
}

fn panel(snapshot: &FeatureSnapshot, feature: &Feature, image: Option<ImageSize>) -> Chart {
    let title = format!("{}: {:.1} % of the rows", feature.id, 100.0 * feature.share);
    drawn(&title, "adds", image, &feature.weights, snapshot.strongest(feature, COLUMNS_DRAWN))
        .color(color_of(feature.id))
}

fn drawn(title: &str, what: &str, image: Option<ImageSize>, values: &[f64], strongest: Vec<(&str, f64)>) -> Chart {
    match image {
        Some(ImageSize { width, height }) => Chart::new(title).image(width, height, values).size(240.0, 260.0),
        None => Chart::new(title).x_label(what).bars("", &strongest).size(400.0, 320.0),
    }
}

fn page(path: &str, kind: &str, snapshot: &FeatureSnapshot, figure: SvgFigure) -> Page {
    let headers: Vec<String> =
        ["feature", "share"].into_iter().map(String::from).chain(snapshot.columns.iter().cloned()).collect();
    let features = snapshot.set.features.iter().map(|f| {
        let first = [f.id.to_string(), format!("{:.4}", f.share)];
        first.into_iter().chain(f.weights.iter().map(|w| short(*w))).collect()
    });
    let fixed = |name: &str, values: Vec<f64>| -> Vec<String> {
        [name.to_string(), String::new()].into_iter().chain(values.iter().map(|v| short(*v))).collect()
    };
    let deviations = snapshot.set.noise.iter().map(|variance| variance.sqrt()).collect();
    let ends = [fixed("without features", snapshot.set.offset.clone()), fixed("noise (sd)", deviations)];
    let rows: Vec<Vec<String>> = features.chain(ends).collect();
    Page::new(format!("{path} – {kind}"))
        .lead(format!(
            "{} after {}; log-score {} nats a row.",
            counted(snapshot.k_realized() as u64, "feature"),
            counted(snapshot.n_seen, "row"),
            short(snapshot.log_score.prequential_mean)
        ))
        .chart(figure, "A row without features, and what each feature adds to a row that has it. In pictures, each goes from black, its \
             least, to white, its largest.")
        .section("Features", "")
        .table(&headers, &rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_two_positive_numbers() {
        assert_eq!("28x14".parse::<ImageSize>(), Ok(ImageSize { width: 28, height: 14 }));
        for refused in ["28", "28x", "x14", "0x14", "28x-1", "28*14", ""] {
            assert!(refused.parse::<ImageSize>().is_err(), "{refused}");
        }
    }
}
