//! The colours of charts: a categorical palette, and the neutral tones around it.
//!
//! The first six series colours are those of Okabe and Ito, made to stay apart for readers with
//! any kind of colour blindness. The other six were searched for so that all twelve are as far
//! apart for such readers as the closest two of the first six; a test measures it.

/// `(light theme, dark theme)`; a colour that would drown in a dark page gets a lighter twin there.
const SERIES: [(u32, u32); 12] = [
    (0x0072b2, 0x5f9bf4),
    (0xd55e00, 0xeb9337),
    (0x009e73, 0x5fca8c),
    (0xe69f00, 0xf3be30),
    (0xcc79a7, 0xcf9dc7),
    (0x56b4e9, 0x7ae3fe),
    (0x5b2a86, 0x8e6ad2),
    (0x902e57, 0xcc49a1),
    (0xb4c288, 0xd1e9a5),
    (0x13460c, 0x428863),
    (0x805a1b, 0xaa8100),
    (0x6d6e7c, 0xa09790),
];

/// What a shape is painted with; the theme decides on the tone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Paint {
    /// Titles and anything to be read first.
    Ink,
    /// Tick labels and notes.
    Soft,
    /// Grid lines.
    Grid,
    /// Axis lines.
    Frame,
    /// The background.
    Paper,
    /// A colour of the palette, counted modulo its length.
    Series(usize),
}

const NEUTRALS: [Paint; 5] = [Paint::Ink, Paint::Soft, Paint::Grid, Paint::Frame, Paint::Paper];

impl Paint {
    fn tones(self) -> (u32, u32) {
        match self {
            Paint::Ink => (0x1f2328, 0xe6e9ec),
            Paint::Soft => (0x59626b, 0xa3acb5),
            Paint::Grid => (0xe7eaee, 0x2b3138),
            Paint::Frame => (0xa3abb4, 0x5d6670),
            Paint::Paper => (0xffffff, 0x15191e),
            Paint::Series(ix) => SERIES[ix % SERIES.len()],
        }
    }

    /// Red, green and blue in the light theme.
    pub(crate) fn rgb(self) -> [u8; 3] {
        let [_, r, g, b] = self.tones().0.to_be_bytes();
        [r, g, b]
    }

    /// `#rrggbb` in the light theme.
    pub(crate) fn hex(self) -> String {
        format!("#{:06x}", self.tones().0)
    }

    /// The name by which style sheets address this paint.
    pub(crate) fn name(self) -> String {
        match self {
            Paint::Ink => "ink".into(),
            Paint::Soft => "soft".into(),
            Paint::Grid => "grid".into(),
            Paint::Frame => "frame".into(),
            Paint::Paper => "paper".into(),
            Paint::Series(ix) => (ix % SERIES.len()).to_string(),
        }
    }
}

/// Style rules that repaint every chart of a page for a dark theme.
///
/// Rules win over the attributes that carry the light tones, so a chart without any style sheet
/// stays a light one.
pub(crate) fn dark_rules() -> String {
    let series = (0..SERIES.len()).map(Paint::Series);
    NEUTRALS
        .into_iter()
        .chain(series)
        .map(|paint| {
            let (name, dark) = (paint.name(), paint.tones().1);
            format!(".f-{name}{{fill:#{dark:06x}}}.s-{name}{{stroke:#{dark:06x}}}\n")
        })
        .collect()
}

/// The colour with this index as `#rrggbb`; indices count on from the start after the last colour.
pub fn palette(ix: usize) -> String {
    Paint::Series(ix).hex()
}

/// The number of different colours in the palette.
pub fn palette_len() -> usize {
    SERIES.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How linear red, green and blue look without one kind of cone (Machado, Oliveira and
    /// Fernandes 2009, full severity), after the identity for everybody else.
    const VISION: [[[f64; 3]; 3]; 4] = [
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
        [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
        [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
        [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
    ];

    fn times(matrix: &[[f64; 3]; 3], v: [f64; 3]) -> [f64; 3] {
        matrix.map(|row| row[0] * v[0] + row[1] * v[1] + row[2] * v[2])
    }

    /// Coordinates in Oklab, where distances are about as large as differences look.
    fn oklab(color: u32, vision: &[[f64; 3]; 3]) -> [f64; 3] {
        let linear = |byte: u8| {
            let v = f64::from(byte) / 255.0;
            if v <= 0.04045 { v / 12.92 } else { ((v + 0.055) / 1.055).powf(2.4) }
        };
        let [_, r, g, b] = color.to_be_bytes();
        let seen = times(vision, [r, g, b].map(linear)).map(|v| v.clamp(0.0, 1.0));
        let cones = times(
            &[
                [0.4122214708, 0.5363325363, 0.0514459929],
                [0.2119034982, 0.6806995451, 0.1073969566],
                [0.0883024619, 0.2817188376, 0.6299787005],
            ],
            seen,
        );
        times(
            &[
                [0.2104542553, 0.7936177850, -0.0040720468],
                [1.9779984951, -2.4285922050, 0.4505937099],
                [0.0259040371, 0.7827717662, -0.8086757660],
            ],
            cones.map(f64::cbrt),
        )
    }

    fn smallest_difference(colors: &[u32]) -> f64 {
        let mut smallest = f64::INFINITY;
        for vision in &VISION {
            let places: Vec<[f64; 3]> = colors.iter().map(|&c| oklab(c, vision)).collect();
            for (ix, a) in places.iter().enumerate() {
                for b in &places[..ix] {
                    let squares: f64 = (0..3).map(|k| (a[k] - b[k]).powi(2)).sum();
                    smallest = smallest.min(squares.sqrt());
                }
            }
        }
        smallest
    }

    #[test]
    fn all_colours_differ_as_much_as_those_of_okabe_and_ito_for_the_colour_blind() {
        let light = SERIES.map(|tones| tones.0);
        let dark = SERIES.map(|tones| tones.1);
        let yardstick = smallest_difference(&light[..6]);
        assert!(smallest_difference(&light) >= yardstick);
        assert!(smallest_difference(&dark) >= yardstick);
    }
}
