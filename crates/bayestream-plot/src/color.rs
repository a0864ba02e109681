//! The colours of charts: a categorical palette, and the neutral tones around it.
//!
//! The first six series colours are those of Okabe and Ito, made to stay apart for readers with
//! any kind of colour blindness; the rest, darker and lighter tones, follow Paul Tol's muted set.

/// `(light theme, dark theme)`; a colour that would drown in a dark page gets a lighter twin there.
const SERIES: [(u32, u32); 12] = [
    (0x0072b2, 0x4c9fd8),
    (0xd55e00, 0xe8813a),
    (0x009e73, 0x2fbf94),
    (0xe69f00, 0xe9ad2c),
    (0xcc79a7, 0xd68fb6),
    (0x56b4e9, 0x7cc7f0),
    (0x332288, 0x8f80e0),
    (0x999933, 0xb3b355),
    (0x882255, 0xc2588f),
    (0x117733, 0x4aa868),
    (0xaa4499, 0xc46cb6),
    (0x7a5c45, 0xb08f75),
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

const NEUTRALS: [Paint; 5] = [
    Paint::Ink,
    Paint::Soft,
    Paint::Grid,
    Paint::Frame,
    Paint::Paper,
];

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
