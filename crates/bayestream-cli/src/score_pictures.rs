//! Charts of verdicts: surprise along a stream, and what made one row surprising.

use crate::pictures::MOST_POINTS;
use crate::terminal::short;
use bayestream::structure::{Event, Happening, Reason};
use bayestream_plot::{Chart, MarkStyle, Style};

/// Bars drawn at most, the most surprising first.
const MOST_BARS: usize = 30;
/// Marks of one kind closer to each other than this share of the picture are drawn as one.
const NEAREST_MARKS: f64 = 0.01;

/// One row of a stream, judged.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Judged {
    /// Its number, from 1.
    pub row: f64,
    /// Its surprise.
    pub surprise: f64,
    /// Whether it raised an alarm.
    pub alarm: bool,
}

/// Surprise along the stream: alarms all, other rows thinned.
pub fn surprise_over_time(rows: &[Judged]) -> Chart {
    let at = |judged: &Judged| (judged.row, judged.surprise);
    let n_usual = rows.iter().filter(|judged| !judged.alarm).count();
    let stride = (n_usual / MOST_POINTS).max(1);
    let usual: Vec<(f64, f64)> = rows.iter().filter(|judged| !judged.alarm).step_by(stride).map(at).collect();
    let alarms: Vec<(f64, f64)> = rows.iter().filter(|judged| judged.alarm).map(at).collect();
    let (from, to) = (rows.first().map_or(0.0, |j| j.row), rows.last().map_or(1.0, |j| j.row));
    Chart::new("Surprise, row by row")
        .x_label("row")
        .y_label("surprise (nats)")
        .x_range(from, to.max(from + 1.0))
        .size(900.0, 360.0)
        .points("rows", &usual, Style::cloud().with_color(0).with_opacity(0.5))
        .points("alarms", &alarms, Style::color(1).with_radius(3.5).with_opacity(1.0))
}

/// Marks where components are said to have drifted, over a stretch of rows.
pub fn with_drift<'a>(chart: Chart, events: impl Iterator<Item = &'a Event>, stretch: (f64, f64)) -> Chart {
    let mut marks: Vec<(f64, &str)> = Vec::new();
    let nearest = NEAREST_MARKS * (stretch.1 - stretch.0);
    for event in events.filter(|event| matches!(event.what, Happening::Drift)) {
        let row = event.row as f64;
        let is_near = marks.last().is_some_and(|(last, _)| row - last < nearest);
        if row >= stretch.0 && row <= stretch.1 && !is_near {
            // One word is enough: it says what all such lines are.
            marks.push((row, if marks.is_empty() { "drift" } else { "" }));
        }
    }
    if marks.is_empty() { chart } else { chart.marks(&marks, MarkStyle { color: Some(3), dashed: true }) }
}

/// How surprising each cell of a row is given the others, the most surprising first.
pub fn reasons(title: &str, reasons: &[Reason], columns: &[String]) -> Chart {
    let bars: Vec<(String, f64)> = reasons
        .iter()
        .take(MOST_BARS)
        .map(|reason| {
            let name = columns.get(reason.column).map_or("", String::as_str);
            let blamed = if reason.blamed { "* " } else { "" };
            let values = format!("{}, expected {}", short(reason.observed), short(reason.expected));
            (format!("{blamed}{name} {values}"), reason.surprise)
        })
        .collect();
    let mut chart = Chart::new(title)
        .x_label("surprise given the cells that are not blamed (nats)")
        .size(760.0, 120.0 + 24.0 * bars.len() as f64)
        .bars("", &bars);
    if reasons.iter().any(|reason| reason.blamed) {
        chart = chart.note("* without these cells the row is ordinary");
    }
    if reasons.len() > MOST_BARS {
        chart = chart.note(format!("the {MOST_BARS} most surprising of {} columns", reasons.len()));
    }
    chart
}

#[cfg(test)]
mod tests {
    use super::*;
    use bayestream::structure::ComponentId;

    #[test]
    fn alarms_are_drawn_all_and_other_rows_thinned() {
        let rows: Vec<Judged> = (0..40_000)
            .map(|ix| Judged { row: f64::from(ix) + 1.0, surprise: f64::from(ix % 7), alarm: ix % 1000 == 3 })
            .collect();
        let svg = surprise_over_time(&rows).to_svg();
        let few: Vec<Judged> = rows.iter().copied().filter(|judged| judged.alarm).collect();
        assert!(svg.len() < 40 * surprise_over_time(&few).to_svg().len());
        assert!(svg.contains("alarms") && !svg.contains("NaN"));
        assert!(!surprise_over_time(&[]).to_svg().contains("NaN"));
    }

    #[test]
    fn drifts_close_to_each_other_are_one_mark() {
        let component = ComponentId { shard: 0, serial: 3 };
        let event = |row, what| Event { row, component, what };
        let drifts = [10, 500, 501, 502, 900].map(|row| event(row, Happening::Drift));
        let chart = || Chart::new("").x_range(100.0, 1000.0).line("", &[(100.0, 0.0), (1000.0, 1.0)]);
        let plain = chart().to_svg();
        let marked = with_drift(chart(), drifts.iter(), (100.0, 1000.0)).to_svg();
        let lines = |svg: &str| svg.matches("<line").count() + svg.matches("<path").count();
        assert_eq!(lines(&marked) - lines(&plain), 2);
        let born = [event(600, Happening::Born)];
        assert_eq!(with_drift(chart(), born.iter(), (100.0, 1000.0)).to_svg(), plain);
    }
}
