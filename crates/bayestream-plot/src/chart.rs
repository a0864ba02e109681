//! The builder of one chart.

use crate::error::PlotError;
use crate::figure::SvgFigure;
use crate::layer::{Layer, LineLook, MarkStyle, Segment, Series, Span, Style, bins, ellipse_outline};
use crate::scene::Dash;

/// One chart: a title, two axes and any number of layers.
///
/// Layers are drawn in the order they are added. Layers of the same name share a colour and one
/// entry in the legend; a layer with an empty name has no entry.
#[derive(Debug, Clone, PartialEq)]
pub struct Chart {
    pub(crate) title: String,
    pub(crate) note: String,
    pub(crate) width: f64,
    pub(crate) height: f64,
    pub(crate) x_label: String,
    pub(crate) y_label: String,
    pub(crate) log_x: bool,
    pub(crate) log_y: bool,
    pub(crate) x_range: Option<(f64, f64)>,
    pub(crate) y_range: Option<(f64, f64)>,
    pub(crate) flip_y: bool,
    pub(crate) equal_aspect: bool,
    pub(crate) series: Vec<Series>,
    /// Whether bars stand upright; decided by the first layer of bars.
    pub(crate) upright_bars: Option<bool>,
}

impl Chart {
    /// An empty chart of 640 by 400 pixels; an empty title takes no room.
    pub fn new(title: impl Into<String>) -> Self {
        Self {
            title: title.into(),
            note: String::new(),
            width: 640.0,
            height: 400.0,
            x_label: String::new(),
            y_label: String::new(),
            log_x: false,
            log_y: false,
            x_range: None,
            y_range: None,
            flip_y: false,
            equal_aspect: false,
            series: Vec::new(),
            upright_bars: None,
        }
    }

    /// The size in pixels, held between 60 and 10,000.
    pub fn size(mut self, width: f64, height: f64) -> Self {
        let sane = |size: f64, default: f64| {
            if size.is_finite() { size.clamp(60.0, 10_000.0) } else { default }
        };
        self.width = sane(width, self.width);
        self.height = sane(height, self.height);
        self
    }

    /// A line of explanation under the title.
    pub fn note(mut self, text: impl Into<String>) -> Self {
        self.note = text.into();
        self
    }

    /// The title of the horizontal axis.
    pub fn x_label(mut self, text: impl Into<String>) -> Self {
        self.x_label = text.into();
        self
    }

    /// The title of the vertical axis.
    pub fn y_label(mut self, text: impl Into<String>) -> Self {
        self.y_label = text.into();
        self
    }

    /// A logarithmic horizontal axis; values that are not positive are left out.
    pub fn log_x(mut self) -> Self {
        self.log_x = true;
        self
    }

    /// A logarithmic vertical axis; values that are not positive are left out.
    pub fn log_y(mut self) -> Self {
        self.log_y = true;
        self
    }

    /// The ends of the horizontal axis, instead of those of the data.
    pub fn x_range(mut self, from: f64, to: f64) -> Self {
        self.x_range = Some((from, to));
        self
    }

    /// The ends of the vertical axis, instead of those of the data.
    pub fn y_range(mut self, from: f64, to: f64) -> Self {
        self.y_range = Some((from, to));
        self
    }

    /// Small values at the top of the vertical axis, as for lanes.
    pub fn flip_y(mut self) -> Self {
        self.flip_y = true;
        self
    }

    /// One unit is as long upwards as sideways, as far as both axes are linear.
    pub fn equal_aspect(mut self) -> Self {
        self.equal_aspect = true;
        self
    }

    /// Sets the colour of the layer added last.
    pub fn color(mut self, ix: usize) -> Self {
        if let Some(last) = self.series.last_mut() {
            last.color = Some(ix);
        }
        self
    }

    /// Breaks the line, the step or the segments added last into dashes.
    pub fn dashed(self) -> Self {
        self.look(|look| look.dash = Dash::Dashed)
    }

    /// Breaks the line, the step or the segments added last into dots.
    pub fn dotted(self) -> Self {
        self.look(|look| look.dash = Dash::Dotted)
    }

    /// Sets the width in pixels of the line, the step or the segments added last.
    pub fn line_width(self, width: f64) -> Self {
        let width = if width.is_finite() { width.clamp(0.1, 40.0) } else { 1.0 };
        self.look(|look| look.width = width)
    }

    fn look(mut self, change: impl FnOnce(&mut LineLook)) -> Self {
        let last = self.series.last_mut().map(|series| &mut series.layer);
        if let Some(Layer::Line { look, .. } | Layer::Segments { look, .. }) = last {
            change(look);
        }
        self
    }

    fn add(mut self, name: impl Into<String>, color: Option<usize>, layer: Layer) -> Self {
        self.series.push(Series { name: name.into(), color, layer });
        self
    }

    /// A line through points in the given order; points that cannot be drawn leave a gap.
    pub fn line(self, name: impl Into<String>, points: &[(f64, f64)]) -> Self {
        let look = LineLook { width: 1.8, dash: Dash::Solid };
        self.add(name, None, Layer::Line { points: points.to_vec(), stepped: false, look })
    }

    /// A staircase: each value holds until the next point.
    pub fn step(self, name: impl Into<String>, points: &[(f64, f64)]) -> Self {
        let look = LineLook { width: 1.8, dash: Dash::Solid };
        self.add(name, None, Layer::Line { points: points.to_vec(), stepped: true, look })
    }

    /// A cloud of points; very large clouds are thinned evenly.
    pub fn points(self, name: impl Into<String>, points: &[(f64, f64)], style: Style) -> Self {
        self.add(name, style.color, Layer::Points { points: points.to_vec(), style })
    }

    /// A shaded area between a low and a high value at each `(x, low, high)`.
    pub fn band(self, name: impl Into<String>, edges: &[(f64, f64, f64)]) -> Self {
        self.add(name, None, Layer::Band { edges: edges.to_vec() })
    }

    /// A vertical stroke with caps from a low to a high value at each `(x, low, high)`.
    pub fn whiskers(self, name: impl Into<String>, edges: &[(f64, f64, f64)]) -> Self {
        self.add(name, None, Layer::Whiskers { edges: edges.to_vec() })
    }

    /// How often values occur, in bins of equal width; values that are not finite are left out.
    pub fn histogram(self, name: impl Into<String>, values: &[f64], n_bins: usize) -> Self {
        let columns = bins(values, n_bins);
        self.add(name, None, Layer::Columns { columns })
    }

    /// Upright bars on a numeric axis, each `(from, to, height)`.
    pub fn columns(self, name: impl Into<String>, columns: &[(f64, f64, f64)]) -> Self {
        let columns = columns.to_vec();
        self.add(name, None, Layer::Columns { columns })
    }

    /// Separate straight lines from point to point.
    pub fn segments(self, name: impl Into<String>, ends: &[Segment]) -> Self {
        let look = LineLook { width: 1.0, dash: Dash::Solid };
        self.add(name, None, Layer::Segments { ends: ends.to_vec(), look })
    }

    /// Horizontal bars, one per label from top to bottom.
    ///
    /// Several layers of bars share their labels: bars of one label stand next to each other.
    pub fn bars<S: AsRef<str>>(self, name: impl Into<String>, values: &[(S, f64)]) -> Self {
        let values = values.iter().map(|(label, v)| (label.as_ref().to_string(), *v)).collect();
        self.add_bars(name.into(), values, false)
    }

    /// Upright bars in groups: for every category one bar of each `(name, values)`.
    ///
    /// Values follow the order of the categories; a missing or non-finite value leaves a gap.
    pub fn bar_groups<C: AsRef<str>, N: AsRef<str>, V: AsRef<[f64]>>(
        mut self,
        categories: &[C],
        groups: &[(N, V)],
    ) -> Self {
        for (name, values) in groups {
            let value = |ix: usize| values.as_ref().get(ix).copied().unwrap_or(f64::NAN);
            let labelled = categories.iter().enumerate();
            let bars = labelled.map(|(ix, label)| (label.as_ref().to_string(), value(ix))).collect();
            self = self.add_bars(name.as_ref().to_string(), bars, true);
        }
        self
    }

    fn add_bars(mut self, name: String, values: Vec<(String, f64)>, upright: bool) -> Self {
        self.upright_bars.get_or_insert(upright);
        self.add(name, None, Layer::Bars { values })
    }

    /// The contour `n_sd` standard deviations around a Gaussian, with a label at its centre.
    ///
    /// Nothing is drawn for a matrix that is not a covariance.
    pub fn ellipse(
        self,
        center: (f64, f64),
        covariance: [[f64; 2]; 2],
        n_sd: f64,
        color: usize,
        label: Option<&str>,
    ) -> Self {
        let outline = ellipse_outline(center, covariance, n_sd);
        let label = label.map(str::to_string);
        self.add("", Some(color), Layer::Ellipse { outline, center, label })
    }

    /// Lifelines: horizontal bars from a beginning to an end, each in its lane.
    ///
    /// An infinite end reaches the edge of the chart: what still lives has no end to show.
    pub fn spans(self, spans: &[Span]) -> Self {
        self.add("", None, Layer::Spans { spans: spans.to_vec() })
    }

    /// Vertical lines across the chart at `(x, label)`, for events.
    pub fn marks<S: AsRef<str>>(self, marks: &[(f64, S)], style: MarkStyle) -> Self {
        let marks = marks.iter().map(|(x, label)| (*x, label.as_ref().to_string())).collect();
        self.add("", None, Layer::Marks { marks, style })
    }

    /// A gray picture of `width` times `height` values, row by row from the top; the smallest
    /// value is black, the largest white.
    ///
    /// It spans 0 to `width` and 0 to `height` in data units. Axes are drawn only if they have
    /// titles. Nothing is drawn when the number of values does not fit.
    pub fn image(self, width: usize, height: usize, gray: &[f64]) -> Self {
        let fits = width.checked_mul(height) == Some(gray.len());
        let gray = if fits { gray.to_vec() } else { Vec::new() };
        self.add("", None, Layer::Image { columns: width, rows: height, gray })
    }

    /// The chart as the text of an SVG file.
    pub fn to_svg(&self) -> String {
        SvgFigure::from(self).to_svg()
    }

    /// The chart as a PNG file, `scale` pixels for each pixel of its size.
    pub fn to_png(&self, scale: f64) -> Result<Vec<u8>, PlotError> {
        SvgFigure::from(self).to_png(scale)
    }
}
