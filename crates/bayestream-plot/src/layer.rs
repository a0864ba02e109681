//! What a chart is made of, in data units.

use crate::color::{Paint, palette_len};
use crate::scale::Range;
use crate::scene::{Dash, Stroke};

/// The shape of a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Marker {
    /// A filled disc.
    #[default]
    Circle,
    /// A filled square.
    Square,
    /// A filled square on its corner.
    Diamond,
    /// A filled triangle pointing up.
    Triangle,
    /// Two diagonal strokes.
    Cross,
    /// A horizontal and a vertical stroke.
    Plus,
    /// An open circle.
    Ring,
}

/// The look of points.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Style {
    /// A colour of the palette; the next free one if none is given.
    pub color: Option<usize>,
    /// In pixels.
    pub radius: f64,
    /// From 0 (invisible) to 1 (solid).
    pub opacity: f64,
    /// The shape of each point.
    pub marker: Marker,
}

impl Default for Style {
    fn default() -> Self {
        Self { color: None, radius: 2.5, opacity: 0.7, marker: Marker::Circle }
    }
}

impl Style {
    /// Points in a colour of the palette.
    pub fn color(ix: usize) -> Self {
        Self { color: Some(ix), ..Self::default() }
    }

    /// Small faint points, for clouds of thousands.
    pub fn cloud() -> Self {
        Self { radius: 1.2, opacity: 0.35, ..Self::default() }
    }

    /// The same look in a colour of the palette.
    pub fn with_color(self, ix: usize) -> Self {
        Self { color: Some(ix), ..self }
    }

    /// The same look in another size.
    pub fn with_radius(self, radius: f64) -> Self {
        Self { radius, ..self }
    }

    /// The same look, more or less see-through.
    pub fn with_opacity(self, opacity: f64) -> Self {
        Self { opacity, ..self }
    }

    /// The same look in another shape.
    pub fn with_marker(self, marker: Marker) -> Self {
        Self { marker, ..self }
    }
}

/// The look of vertical marks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MarkStyle {
    /// A colour of the palette; dark gray if none is given.
    pub color: Option<usize>,
    /// Whether the line is broken.
    pub dashed: bool,
}

impl Default for MarkStyle {
    fn default() -> Self {
        Self { color: None, dashed: true }
    }
}

/// The life of something in its lane.
#[derive(Debug, Clone, PartialEq)]
pub struct Span {
    /// The lane: a position on the vertical axis.
    pub y: f64,
    /// Where it begins.
    pub from: f64,
    /// Where it ends.
    pub to: f64,
    /// A colour of the palette.
    pub color: usize,
    /// Written into the span or beside it; may be empty.
    pub label: String,
}

/// A straight line from one point to another, in data units.
pub type Segment = ((f64, f64), (f64, f64));

/// The look of a line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct LineLook {
    pub width: f64,
    pub dash: Dash,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Layer {
    Line {
        points: Vec<(f64, f64)>,
        stepped: bool,
        look: LineLook,
    },
    Points {
        points: Vec<(f64, f64)>,
        style: Style,
    },
    /// `(x, low, high)`.
    Band {
        edges: Vec<(f64, f64, f64)>,
    },
    /// Vertical strokes with caps, `(x, low, high)`.
    Whiskers {
        edges: Vec<(f64, f64, f64)>,
    },
    /// Bars on a numeric axis, `(from, to, height)`.
    Columns {
        columns: Vec<(f64, f64, f64)>,
    },
    Segments {
        ends: Vec<Segment>,
        look: LineLook,
    },
    Ellipse {
        outline: Vec<(f64, f64)>,
        center: (f64, f64),
        label: Option<String>,
    },
    Bars {
        values: Vec<(String, f64)>,
    },
    Spans {
        spans: Vec<Span>,
    },
    Marks {
        marks: Vec<(f64, String)>,
        style: MarkStyle,
    },
    Image {
        columns: usize,
        rows: usize,
        gray: Vec<f64>,
    },
}

/// A layer with its name in the legend and its colour.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Series {
    pub name: String,
    /// Layers of one name share a colour; without a name or a choice they take the next.
    pub color: Option<usize>,
    pub layer: Layer,
}

impl LineLook {
    /// A line of this look in a colour; when colours repeat, dashes tell lines apart.
    pub(crate) fn stroke(&self, color: usize) -> Stroke {
        let dash = match (self.dash, (color / palette_len()) % 3) {
            (Dash::Solid, 1) => Dash::Dashed,
            (Dash::Solid, 2) => Dash::Dotted,
            (chosen, _) => chosen,
        };
        Stroke { dash, ..Stroke::new(Paint::Series(color), self.width) }
    }
}

impl Layer {
    /// Whether the layer is painted in a colour of its own; others carry theirs or have none.
    fn takes_color(&self) -> bool {
        !matches!(self, Layer::Spans { .. } | Layer::Marks { .. } | Layer::Image { .. })
    }
}

/// The colour of every series: chosen, shared with a namesake, or the next free one.
///
/// Layers that take no colour get an arbitrary one, to keep the list in step with the series.
pub(crate) fn assign_colors(series: &[Series]) -> Vec<usize> {
    let mut assigned: Vec<usize> = Vec::with_capacity(series.len());
    let mut next = 0;
    for (ix, one) in series.iter().enumerate() {
        if !one.layer.takes_color() {
            assigned.push(0);
            continue;
        }
        let namesake = (0..ix).find(|&j| !one.name.is_empty() && series[j].name == one.name);
        let chosen_later = || {
            let same_name = |other: &&Series| !one.name.is_empty() && other.name == one.name;
            series[ix..].iter().filter(same_name).find_map(|other| other.color)
        };
        let color = one.color.or(namesake.map(|j| assigned[j])).or_else(chosen_later);
        assigned.push(color.unwrap_or_else(|| {
            // Colours chosen by hand elsewhere in the chart are not handed out again.
            while series.iter().any(|other| other.color == Some(next)) {
                next += 1;
            }
            next += 1;
            next - 1
        }));
    }
    assigned
}

/// The most bins a histogram has; more would be finer than the screen.
const MOST_BINS: usize = 2_000;

/// Counts finite values in bins of equal width, as `(from, to, count)`.
pub(crate) fn bins(values: &[f64], n_bins: usize) -> Vec<(f64, f64, f64)> {
    let finite = || values.iter().copied().filter(|v| v.is_finite());
    let (lo, hi) = finite().fold((f64::INFINITY, f64::NEG_INFINITY), |(lo, hi), v| (lo.min(v), hi.max(v)));
    if lo > hi {
        return Vec::new();
    }
    let Range { lo, hi, .. } = Range::drawable(lo, hi, false);
    let n_bins = n_bins.clamp(1, MOST_BINS);
    let mut counts = vec![0.0; n_bins];
    for value in finite() {
        let share = ((value - lo) / (hi - lo)).clamp(0.0, 1.0);
        // The largest value belongs to the last bin.
        counts[((share * n_bins as f64) as usize).min(n_bins - 1)] += 1.0;
    }
    let edge = |ix: usize| lo + (hi - lo) * (ix as f64 / n_bins as f64);
    let counted = counts.into_iter().enumerate();
    counted.map(|(ix, count)| (edge(ix), edge(ix + 1), count)).collect()
}

/// The outline of the ellipse `n_sd` standard deviations around a Gaussian's mean.
///
/// Empty when the covariance is not a finite, positive semi-definite matrix.
pub(crate) fn ellipse_outline(center: (f64, f64), covariance: [[f64; 2]; 2], n_sd: f64) -> Vec<(f64, f64)> {
    const N_CORNERS: u32 = 96;
    let [[a, b], [c, d]] = covariance;
    // Rounding may have left the matrix slightly asymmetric.
    let shared = 0.5 * (b + c);
    let finite = [a, b, c, d, center.0, center.1, n_sd].iter().all(|v| v.is_finite());
    // Roots before products: variances near the ends of the number range must not overflow.
    let (sd_x, sd_y) = (a.sqrt(), d.sqrt());
    let slack = 1e-9 * sd_x * sd_y;
    if !finite || n_sd < 0.0 || a < 0.0 || d < 0.0 || shared.abs() > sd_x * sd_y + slack {
        return Vec::new();
    }
    // The Cholesky factor maps the unit circle to the ellipse.
    let lower = if sd_x > 0.0 { shared / sd_x } else { 0.0 };
    let rest = (d - lower * lower).max(0.0).sqrt();
    (0..N_CORNERS)
        .map(|ix| {
            let angle = std::f64::consts::TAU * f64::from(ix) / f64::from(N_CORNERS);
            let (sin, cos) = angle.sin_cos();
            (center.0 + n_sd * sd_x * cos, center.1 + n_sd * (lower * cos + rest * sin))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The longest and shortest distance of the outline from the centre.
    fn half_axes(outline: &[(f64, f64)], center: (f64, f64)) -> (f64, f64) {
        let distance = |p: &(f64, f64)| (p.0 - center.0).hypot(p.1 - center.1);
        let longest = outline.iter().map(distance).fold(0.0, f64::max);
        let shortest = outline.iter().map(distance).fold(f64::INFINITY, f64::min);
        (longest, shortest)
    }

    #[test]
    fn ellipse_axes_are_the_standard_deviations_of_the_principal_directions() {
        // Eigenvalues 9 and 4, turned by 45 degrees.
        let covariance = [[6.5, 2.5], [2.5, 6.5]];
        let center = (1.0, -3.0);
        for n_sd in [1.0, 2.0] {
            let outline = ellipse_outline(center, covariance, n_sd);
            let (longest, shortest) = half_axes(&outline, center);
            // 96 corners: the corner nearest an axis is off by at most half a step of the circle,
            // which changes the distance by less than (pi / 96)^2 / 2 of itself, times the ratio
            // of the axes squared.
            let slack = (std::f64::consts::PI / 96.0).powi(2) * 2.25;
            assert!((longest / (3.0 * n_sd) - 1.0).abs() < slack, "{longest}");
            assert!((shortest / (2.0 * n_sd) - 1.0).abs() < slack, "{shortest}");
        }
    }

    #[test]
    fn ellipse_lies_on_the_contour_of_the_gaussian() {
        let outline = ellipse_outline((0.0, 0.0), [[2.0, -0.9], [-0.9, 1.5]], 1.5);
        let det = 2.0 * 1.5 - 0.81;
        for (x, y) in outline {
            let squared = (1.5 * x * x + 2.0 * 0.9 * x * y + 2.0 * y * y) / det;
            assert!((squared - 2.25).abs() < 1e-12);
        }
    }

    #[test]
    fn impossible_covariances_have_no_ellipse() {
        assert!(ellipse_outline((0.0, 0.0), [[1.0, 2.0], [2.0, 1.0]], 1.0).is_empty());
        assert!(ellipse_outline((0.0, 0.0), [[-1.0, 0.0], [0.0, 1.0]], 1.0).is_empty());
        assert!(ellipse_outline((0.0, f64::NAN), [[1.0, 0.0], [0.0, 1.0]], 1.0).is_empty());
        assert_eq!(ellipse_outline((0.0, 0.0), [[0.0, 0.0], [0.0, 4.0]], 1.0).len(), 96);
    }

    #[test]
    fn bins_count_every_finite_value_once() {
        let values = [0.0, 1.0, 2.5, 2.6, 10.0, f64::NAN, f64::INFINITY];
        let counted = bins(&values, 4);
        assert_eq!(counted, [(0.0, 2.5, 2.0), (2.5, 5.0, 2.0), (5.0, 7.5, 0.0), (7.5, 10.0, 1.0)]);
        assert_eq!(bins(&[3.0; 5], 3).iter().map(|b| b.2).sum::<f64>(), 5.0);
        assert!(bins(&[f64::NAN], 3).is_empty());
        assert_eq!(bins(&[f64::MAX, f64::MIN], 0).len(), 1);
    }

    #[test]
    fn namesakes_share_a_colour() {
        let band = Layer::Band { edges: Vec::new() };
        let series = |name: &str, color| Series { name: name.into(), color, layer: band.clone() };
        let all = [
            series("a", None),
            series("b", Some(1)),
            series("c", None),
            series("a", None),
            series("", None),
            series("d", None),
            series("d", Some(7)),
        ];
        assert_eq!(assign_colors(&all), [0, 1, 2, 0, 3, 7, 7]);
    }
}
