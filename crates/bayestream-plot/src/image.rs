//! PNG files from pixels, and their form inside SVG text.

use crate::error::PlotError;

/// How the bytes of a picture are to be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pixels {
    Gray,
    Rgb,
}

/// A PNG file of eight-bit pixels, row by row from the top.
pub(crate) fn encode(width: u32, height: u32, pixels: Pixels, bytes: &[u8]) -> Result<Vec<u8>, PlotError> {
    let mut file = Vec::new();
    let mut encoder = png::Encoder::new(&mut file, width, height);
    encoder.set_color(match pixels {
        Pixels::Gray => png::ColorType::Grayscale,
        Pixels::Rgb => png::ColorType::Rgb,
    });
    encoder.set_depth(png::BitDepth::Eight);
    // Charts are flat areas with sharp edges, which compress best as they are.
    encoder.set_compression(png::Compression::High);
    encoder.set_filter(png::Filter::NoFilter);
    let failed = |error: png::EncodingError| PlotError::Encode(error.to_string());
    let mut writer = encoder.write_header().map_err(failed)?;
    writer.write_image_data(bytes).map_err(failed)?;
    writer.finish().map_err(failed)?;
    Ok(file)
}

/// Bytes as base64 text with padding.
pub(crate) fn base64(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let byte = |ix: usize| u32::from(chunk.get(ix).copied().unwrap_or(0));
        let bits = byte(0) << 16 | byte(1) << 8 | byte(2);
        for ix in 0..4 {
            let letter = LETTERS[(bits >> (18 - 6 * ix) & 63) as usize];
            text.push(if ix > chunk.len() { '=' } else { char::from(letter) });
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_pads() {
        assert_eq!(base64(b""), "");
        assert_eq!(base64(b"f"), "Zg==");
        assert_eq!(base64(b"fo"), "Zm8=");
        assert_eq!(base64(b"foobar"), "Zm9vYmFy");
    }
}
