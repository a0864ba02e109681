//! Letters: how wide text is, where lines break, and the outlines the rasteriser fills.

use ttf_parser::{Face, GlyphId, OutlineBuilder};

/// One glyph of a line of text, in units of the font size.
pub(crate) struct PlacedGlyph {
    id: GlyphId,
    pub x: f64,
    /// How far the glyph is raised above the baseline.
    pub rise: f64,
    pub scale: f64,
}

/// The embedded font in one weight.
pub(crate) struct Font(Face<'static>);

impl Font {
    pub(crate) fn load(bold: bool) -> Option<Self> {
        let bytes = if bold { notosans::BOLD_TTF } else { notosans::REGULAR_TTF };
        Face::parse(bytes, 0).ok().map(Font)
    }

    fn em(&self) -> f64 {
        f64::from(self.0.units_per_em()).max(1.0)
    }

    /// Places the glyphs of a line and tells its width, both in units of the font size.
    pub(crate) fn place(&self, text: &str) -> (Vec<PlacedGlyph>, f64) {
        let mut x = 0.0;
        let mut placed = Vec::new();
        for letter in text.chars() {
            let (id, scale, rise) = match self.0.glyph_index(letter) {
                Some(id) => (id, 1.0, 0.0),
                None => {
                    let (base, rise) = small_letter(letter);
                    let scale = if base == letter { 1.0 } else { 0.62 };
                    (self.0.glyph_index(base).unwrap_or_default(), scale, rise)
                }
            };
            placed.push(PlacedGlyph { id, x, rise, scale });
            x += f64::from(self.0.glyph_hor_advance(id).unwrap_or(0)) / self.em() * scale;
        }
        (placed, x)
    }

    /// Feeds the outline of a glyph, in font units with y pointing up, to `pen`.
    pub(crate) fn outline(&self, glyph: &PlacedGlyph, pen: &mut dyn OutlineBuilder) {
        self.0.outline_glyph(glyph.id, pen);
    }

    /// Factor from font units to units of the font size.
    pub(crate) fn unit(&self) -> f64 {
        1.0 / self.em()
    }
}

/// A plain letter and a shift that stand in for a raised or lowered letter the font lacks.
fn small_letter(letter: char) -> (char, f64) {
    const RAISED: (&str, &str, f64) = ("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻", "0123456789+−", 0.33);
    const LOWERED: (&str, &str, f64) = ("₀₁₂₃₄₅₆₇₈₉₊₋", "0123456789+−", -0.15);
    for (small, plain, rise) in [RAISED, LOWERED] {
        let stand_in = small.chars().zip(plain.chars()).find(|&(s, _)| s == letter);
        if let Some((_, base)) = stand_in {
            return (base, rise);
        }
    }
    (letter, 0.0)
}

/// The width of a line of text in pixels.
///
/// Viewers may choose another font for an SVG, a little narrower or wider: leave some room.
pub(crate) fn width(text: &str, size: f64, bold: bool) -> f64 {
    Font::load(bold).map_or(0.0, |font| font.place(text).1 * size)
}

/// The text, cut with an ellipsis where it would exceed `max_width` pixels.
pub(crate) fn shorten(text: &str, size: f64, max_width: f64) -> String {
    if width(text, size, false) <= max_width {
        return text.to_string();
    }
    let letters: Vec<char> = text.chars().collect();
    let fits = |n: usize| {
        let candidate: String = letters[..n].iter().collect::<String>().trim_end().to_string() + "…";
        (width(&candidate, size, false) <= max_width).then_some(candidate)
    };
    (1..letters.len()).rev().find_map(fits).unwrap_or_else(|| "…".to_string())
}

/// Breaks text at spaces into lines no wider than `max_width`, as far as words allow.
pub(crate) fn wrap(text: &str, size: f64, bold: bool, max_width: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for paragraph in text.lines() {
        let mut line = String::new();
        for word in paragraph.split_whitespace() {
            let longer = if line.is_empty() { word.to_string() } else { format!("{line} {word}") };
            if !line.is_empty() && width(&longer, size, bold) > max_width {
                lines.push(std::mem::replace(&mut line, word.to_string()));
            } else {
                line = longer;
            }
        }
        if !line.is_empty() {
            lines.push(line);
        }
    }
    lines
}

/// Text made safe inside XML and HTML, in content and in attributes.
///
/// Control characters have no place in XML, not even escaped, and become spaces.
pub(crate) fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            '\n' | '\t' => safe.push(letter),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => safe.push(' '),
            c => safe.push(c),
        }
    }
    safe
}
