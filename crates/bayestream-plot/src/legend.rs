//! The legend: names of layers in rows above the plot area.

use crate::chart::Chart;
use crate::color::Paint;
use crate::layer::{Layer, Marker, Style};
use crate::layer_shapes::COLUMN_OPACITY;
use crate::scene::{Dots, Fill, Point, Rect, Shape, Stroke, Text};
use crate::text;

const SIZE: f64 = 11.5;
const ROW: f64 = 18.0;
const KEY_WIDTH: f64 = 20.0;
const KEY_GAP: f64 = 6.0;
const ENTRY_GAP: f64 = 18.0;

/// What a layer looks like in small.
#[derive(Debug, Clone, Copy)]
enum Key {
    Line { stroke: Stroke },
    Whisker { color: usize },
    Dot { style: Style, color: usize },
    Area { opacity: f64, color: usize },
}

#[derive(Debug, Clone)]
struct Entry {
    name: String,
    keys: Vec<Key>,
    /// The left end, relative to that of the legend.
    x: f64,
    row: usize,
}

/// All entries with their places.
#[derive(Debug, Clone)]
pub(crate) struct Legend {
    entries: Vec<Entry>,
    n_rows: usize,
}

impl Legend {
    pub(crate) fn of(chart: &Chart, colors: &[usize], max_width: f64) -> Legend {
        let mut entries: Vec<Entry> = Vec::new();
        for (series, &color) in chart.series.iter().zip(colors) {
            let Some(key) = key_of(&series.layer, color) else {
                continue;
            };
            if series.name.is_empty() {
                continue;
            }
            match entries.iter_mut().find(|entry| entry.name == series.name) {
                Some(entry) => entry.keys.push(key),
                None => entries.push(Entry { name: series.name.clone(), keys: vec![key], x: 0.0, row: 0 }),
            }
        }
        let (mut x, mut row) = (0.0, 0);
        for entry in &mut entries {
            let label = text::shorten(&entry.name, SIZE, max_width - KEY_WIDTH - KEY_GAP);
            let width = KEY_WIDTH + KEY_GAP + text::width(&label, SIZE, false);
            if x > 0.0 && x + width > max_width {
                (x, row) = (0.0, row + 1);
            }
            (entry.x, entry.row, entry.name) = (x, row, label);
            x += width + ENTRY_GAP;
        }
        let n_rows = if entries.is_empty() { 0 } else { row + 1 };
        Legend { entries, n_rows }
    }

    pub(crate) fn height(&self) -> f64 {
        if self.n_rows == 0 { 0.0 } else { self.n_rows as f64 * ROW + 4.0 }
    }

    /// The legend with its top left corner at the given point.
    pub(crate) fn shapes(&self, (left, top): Point) -> Vec<Shape> {
        let mut shapes = Vec::new();
        for entry in &self.entries {
            let (x, y) = (left + entry.x, top + 4.0 + ROW * (entry.row as f64 + 0.5));
            shapes.extend(entry.keys.iter().map(|key| key.shape(x, y)));
            let at = (x + KEY_WIDTH + KEY_GAP, y + SIZE * 0.36);
            shapes.push(Shape::Text(Text::new(at, &entry.name, SIZE, Paint::Ink)));
        }
        shapes
    }
}

fn key_of(layer: &Layer, color: usize) -> Option<Key> {
    match layer {
        Layer::Line { look, .. } | Layer::Segments { look, .. } => Some(Key::Line { stroke: look.stroke(color) }),
        Layer::Whiskers { .. } => Some(Key::Whisker { color }),
        Layer::Points { style, .. } => Some(Key::Dot { style: *style, color }),
        Layer::Band { .. } => Some(Key::Area { opacity: 0.2, color }),
        Layer::Columns { .. } => Some(Key::Area { opacity: COLUMN_OPACITY, color }),
        Layer::Bars { .. } => Some(Key::Area { opacity: 1.0, color }),
        Layer::Ellipse { .. } | Layer::Spans { .. } | Layer::Marks { .. } | Layer::Image { .. } => None,
    }
}

impl Key {
    fn shape(&self, x: f64, y: f64) -> Shape {
        match *self {
            Key::Line { stroke } => Shape::Lines { runs: vec![vec![(x, y), (x + KEY_WIDTH, y)]], stroke },
            Key::Whisker { color } => {
                let middle = x + KEY_WIDTH / 2.0;
                Shape::Lines {
                    runs: vec![vec![(middle, y - 5.0), (middle, y + 5.0)]],
                    stroke: Stroke::new(Paint::Series(color), 1.4),
                }
            }
            Key::Dot { style, color } => Shape::Dots(Dots {
                centers: vec![(x + KEY_WIDTH / 2.0, y)],
                // Even the finest dust of points needs a key one can see.
                radius: style.radius.clamp(2.8, 5.5),
                marker: if style.radius < 1.5 { Marker::Circle } else { style.marker },
                paint: Paint::Series(color),
                opacity: style.opacity.max(0.75),
            }),
            Key::Area { opacity, color } => Shape::Box {
                area: Rect { x: x + 3.0, y: y - 5.0, w: KEY_WIDTH - 6.0, h: 10.0 },
                radius: 1.5,
                fill: Fill { paint: Paint::Series(color), opacity },
            },
        }
    }
}
