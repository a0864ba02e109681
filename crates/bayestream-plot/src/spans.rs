//! Lifelines: spans in lanes, with their labels beside them.

use crate::color::Paint;
use crate::layer::Span;
use crate::layer_shapes::{LABEL_SIZE, Pen};
use crate::scene::{Anchor, Fill, Rect, Shape, Text};
use crate::text;

impl Pen<'_> {
    /// Bars and labels, apart: labels of one layer are drawn above all bars.
    pub(crate) fn spans(&self, spans: &[Span]) -> (Vec<Shape>, Vec<Shape>) {
        let area = self.layout.area;
        let lane = match (self.layout.y.px(0.0), self.layout.y.px(1.0)) {
            (Some(a), Some(b)) => (b - a).abs(),
            _ => area.h / spans.len().max(1) as f64,
        };
        let thickness = (0.62 * lane).clamp(1.0, 13.0);
        let (mut bars, mut labels) = (Vec::new(), Vec::new());
        for span in spans {
            // An infinite end reaches over the edge: what still lives has no end to show.
            let end = |value: f64| match value {
                f64::INFINITY => Some(area.right() + 20.0),
                f64::NEG_INFINITY => Some(area.x - 20.0),
                finite => self.layout.x.px(finite),
            };
            let (Some(from), Some(to)) = (end(span.from), end(span.to)) else {
                continue;
            };
            let Some(y) = self.layout.y.px(span.y) else {
                continue;
            };
            let (left, right) = (from.min(to), from.max(to));
            if right < area.x || left > area.right() || !self.visible.contains((area.x, y)) {
                continue;
            }
            let (left, right) = (left.max(area.x - 20.0), right.min(area.right() + 20.0));
            let bar = Rect { x: left, y: y - thickness / 2.0, w: (right - left).max(1.5), h: thickness };
            let fill = Fill { paint: Paint::Series(span.color), opacity: 1.0 };
            bars.push(Shape::Box { area: bar, radius: thickness * 0.2, fill });
            if !span.label.is_empty() && lane >= LABEL_SIZE {
                labels.push(Shape::Text(self.span_label(&span.label, left, right, y)));
            }
        }
        (bars, labels)
    }

    /// After the span if there is room, else before it, else on it.
    fn span_label(&self, label: &str, left: f64, right: f64, y: f64) -> Text {
        let area = self.layout.area;
        let width = text::width(label, LABEL_SIZE, false) + 6.0;
        let baseline = y + LABEL_SIZE * 0.36;
        let (x, anchor) = if right + width <= area.right() {
            (right + 4.0, Anchor::Start)
        } else if left - width >= area.x {
            (left - 4.0, Anchor::End)
        } else {
            (left.max(area.x) + 5.0, Anchor::Start)
        };
        Text::new((x, baseline), label, LABEL_SIZE, Paint::Ink).anchored(anchor).with_halo()
    }
}
