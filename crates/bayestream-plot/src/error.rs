//! What can go wrong when a chart becomes pixels.

use std::fmt;

/// Why a chart could not be turned into a PNG.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum PlotError {
    /// The scale was zero, negative or not a number.
    Scale(f64),
    /// The picture would have too many pixels.
    TooLarge {
        /// Width in pixels that was asked for.
        width: f64,
        /// Height in pixels that was asked for.
        height: f64,
    },
    /// The PNG encoder refused the picture.
    Encode(String),
}

impl fmt::Display for PlotError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PlotError::Scale(scale) => {
                write!(f, "cannot draw a PNG at scale {scale}: use a positive number such as 1 or 2")
            }
            PlotError::TooLarge { width, height } => write!(
                f,
                "a PNG of {width:.0} by {height:.0} pixels is too large: use a smaller scale, \
                 a smaller chart or fewer panels, or write SVG instead"
            ),
            PlotError::Encode(reason) => write!(f, "the PNG could not be encoded: {reason}"),
        }
    }
}

impl std::error::Error for PlotError {}
