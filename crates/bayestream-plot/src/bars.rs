//! Bars and the labels they stand at.

use std::collections::BTreeMap;

use crate::chart::Chart;
use crate::color::Paint;
use crate::layer::Layer;
use crate::layout::{LINE_HEIGHT, Layout, TICK_SIZE};
use crate::scale::Range;
use crate::scene::{Anchor, Fill, Rect, Shape, Text};
use crate::text;
use crate::ticks::number;

const VALUE_SIZE: f64 = 10.5;

/// The labels of all bars of a chart, in order of appearance.
#[derive(Debug, Clone)]
pub(crate) struct Categories {
    pub upright: bool,
    names: Vec<String>,
    position: BTreeMap<String, usize>,
    /// The labels as they are written: cut or broken into lines to fit.
    written: Vec<Vec<String>>,
    /// Labels below an axis read upward because they are too long.
    turned: bool,
    /// For every label, which layers have a bar there: only those share its room.
    layers_at: Vec<Vec<usize>>,
    /// The width of the widest value as text: values are written at all bars or at none.
    widest_value: f64,
}

impl Categories {
    /// The categories of a chart that has bars.
    pub(crate) fn of(chart: &Chart) -> Option<Categories> {
        let upright = chart.upright_bars?;
        let mut found = Categories {
            upright,
            names: Vec::new(),
            position: BTreeMap::new(),
            written: Vec::new(),
            turned: false,
            layers_at: Vec::new(),
            widest_value: 0.0,
        };
        let mut n_layers = 0;
        for series in &chart.series {
            let Layer::Bars { values } = &series.layer else {
                continue;
            };
            for (label, value) in values {
                let width = text::width(&number(*value), VALUE_SIZE, false);
                found.widest_value = found.widest_value.max(width);
                let new = found.names.len();
                let ix = *found.position.entry(label.clone()).or_insert(new);
                if ix == new {
                    found.names.push(label.clone());
                    found.layers_at.push(Vec::new());
                }
                if found.layers_at[ix].last() != Some(&n_layers) {
                    found.layers_at[ix].push(n_layers);
                }
            }
            n_layers += 1;
        }
        Some(found)
    }

    /// The range of the axis that holds the labels.
    pub(crate) fn range(&self) -> Range {
        Range { lo: -0.5, hi: self.names.len().max(1) as f64 - 0.5, log: false }
    }

    /// Cuts labels to a width and tells how wide they are.
    pub(crate) fn fit_beside(&mut self, max_width: f64) -> f64 {
        let cut = |name: &String| text::shorten(name, TICK_SIZE, max_width);
        self.written = self.names.iter().map(|name| vec![cut(name)]).collect();
        let width = |lines: &Vec<String>| text::width(&lines[0], TICK_SIZE, false);
        self.written.iter().map(width).fold(0.0, f64::max)
    }

    /// Breaks labels into lines below an axis of the given length, or turns them upward where
    /// words are too long, and tells how high they are.
    pub(crate) fn fit_below(&mut self, length: f64, most: f64) -> f64 {
        const MOST_LINES: usize = 3;
        let slot = length / self.names.len().max(1) as f64 - 6.0;
        let wrap = |name: &String| text::wrap(name, TICK_SIZE, false, slot);
        self.written = self.names.iter().map(wrap).collect();
        let fits = |line: &String| text::width(line, TICK_SIZE, false) <= slot;
        self.turned = !self.written.iter().all(|l| l.len() <= MOST_LINES && l.iter().all(fits));
        if self.turned {
            return self.fit_beside(most);
        }
        let n_lines = self.written.iter().map(Vec::len).max().unwrap_or(0);
        n_lines as f64 * TICK_SIZE * LINE_HEIGHT
    }

    /// The labels along their axis; where they would overlap, only every n-th.
    pub(crate) fn labels(&self, layout: &Layout) -> Vec<Shape> {
        let area = layout.area;
        let length = if self.upright { area.w } else { area.h };
        let slot = length / self.names.len().max(1) as f64;
        let every = (TICK_SIZE * 1.1 / slot).ceil().max(1.0) as usize;
        let mut shapes = Vec::new();
        for (ix, lines) in self.written.iter().enumerate().step_by(every) {
            let middle = (ix as f64 + 0.5) * slot;
            for (line_ix, line) in lines.iter().enumerate() {
                let drop = line_ix as f64 * TICK_SIZE * LINE_HEIGHT;
                let half_letter = TICK_SIZE * 0.36;
                let (at, anchor) = match (self.upright, self.turned) {
                    (true, false) => {
                        let y = area.bottom() + 6.0 + TICK_SIZE + drop;
                        ((area.x + middle, y), Anchor::Middle)
                    }
                    (true, true) => ((area.x + middle + half_letter, area.bottom() + 7.0), Anchor::End),
                    (false, _) => ((area.x - 7.0, area.y + middle + half_letter), Anchor::End),
                };
                let text = Text::new(at, line, TICK_SIZE, Paint::Ink).anchored(anchor);
                let upward = self.upright && self.turned;
                shapes.push(Shape::Text(Text { upward, ..text }));
            }
        }
        shapes
    }

    /// The bars of one layer, `layer_ix`-th of all layers of bars, with their values if there is
    /// room.
    pub(crate) fn bars(
        &self,
        values: &[(String, f64)],
        layer_ix: usize,
        color: usize,
        layout: &Layout,
    ) -> (Vec<Shape>, Vec<Shape>) {
        let area = layout.area;
        let length = if self.upright { area.w } else { area.h };
        let slot = length / self.names.len().max(1) as f64;
        let most_at_once = self.layers_at.iter().map(Vec::len).max().unwrap_or(1).max(1);
        let thickness = (0.76 * slot / most_at_once as f64).min(38.0);
        let gap = if thickness > 6.0 { 1.0 } else { 0.0 };
        let scale = if self.upright { layout.y } else { layout.x };
        let base = scale.base_px();
        let (mut boxes, mut numbers) = (Vec::new(), Vec::new());
        for (label, value) in values {
            let (Some(&ix), Some(tip)) = (self.position.get(label), scale.px(*value)) else {
                continue;
            };
            let neighbours = &self.layers_at[ix];
            let rank = neighbours.iter().take_while(|&&other| other < layer_ix).count();
            let group_start = (ix as f64 + 0.5) * slot - 0.5 * thickness * neighbours.len() as f64;
            let start = group_start + thickness * rank as f64 + 0.5 * gap;
            // Far-out values end just outside the plot area.
            let tip = if self.upright {
                tip.clamp(area.y - 9.0, area.bottom() + 9.0)
            } else {
                tip.clamp(area.x - 9.0, area.right() + 9.0)
            };
            let (low, high) = (base.min(tip), base.max(tip));
            let bar = if self.upright {
                Rect { x: area.x + start, y: low, w: thickness - gap, h: high - low }
            } else {
                Rect { x: low, y: area.y + start, w: high - low, h: thickness - gap }
            };
            let fill = Fill { paint: Paint::Series(color), opacity: 1.0 };
            boxes.push(Shape::Box { area: bar, radius: 0.0, fill });
            numbers.extend(self.value_label(*value, &bar, tip, base, thickness).map(Shape::Text));
        }
        (boxes, numbers)
    }

    fn value_label(&self, value: f64, bar: &Rect, tip: f64, base: f64, thickness: f64) -> Option<Text> {
        let label = number(value);
        let middle = bar.center();
        if self.upright {
            if self.widest_value > thickness + 4.0 {
                return None;
            }
            let y = if tip <= base { tip - 4.0 } else { tip + VALUE_SIZE + 1.0 };
            return Some(Text::new((middle.0, y), label, VALUE_SIZE, Paint::Soft).anchored(Anchor::Middle));
        }
        if thickness < VALUE_SIZE {
            return None;
        }
        let (x, anchor) = if tip >= base { (tip + 4.0, Anchor::Start) } else { (tip - 4.0, Anchor::End) };
        Some(Text::new((x, middle.1 + VALUE_SIZE * 0.36), label, VALUE_SIZE, Paint::Soft).anchored(anchor))
    }
}
