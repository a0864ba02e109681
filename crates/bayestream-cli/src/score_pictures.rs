//! Charts of verdicts: surprise along a stream, and what made one row surprising.

use crate::changes;
use crate::pictures::MOST_POINTS;
use crate::terminal::short;
use bayestream::outlier::DriftAlarm;
use bayestream::structure::{Event, Happening, Reason};
use bayestream_plot::{Chart, MarkStyle, Marker, Style};

/// Bars drawn at most, the most surprising first.
const MOST_BARS: usize = 30;
/// Marks of one kind closer to each other than this share of the picture are drawn as one.
const NEAREST_MARKS: f64 = 0.01;

/// The share of rows that must be seen well.
const HIGH_SHARE: f64 = 0.995;
/// How many times higher than those the picture is, when it does not show all.
const TOWERING: f64 = 3.0;
/// Room for marks at the upper edge.
const EDGE_ROOM: f64 = 1.06;

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

/// Surprise along the stream: alarms all, other rows thinned, and the few that would flatten the rest at the upper edge.
pub fn surprise_over_time(rows: &[Judged]) -> Chart {
    let ceiling = ceiling(rows);
    let (inside, beyond): (Vec<&Judged>, Vec<&Judged>) = rows.iter().partition(|judged| judged.surprise <= ceiling);
    let at = |judged: &&Judged| (judged.row, judged.surprise);
    let (alarms, usual): (Vec<&Judged>, Vec<&Judged>) = inside.into_iter().partition(|judged| judged.alarm);
    let stride = (usual.len() / MOST_POINTS).max(1);
    let usual: Vec<(f64, f64)> = usual.iter().step_by(stride).map(at).collect();
    let alarms: Vec<(f64, f64)> = alarms.iter().map(at).collect();
    let (from, to) = (rows.first().map_or(0.0, |j| j.row), rows.last().map_or(1.0, |j| j.row));
    let alarm_style = Style::color(1).with_radius(3.5).with_opacity(1.0);
    let chart = Chart::new("Surprise, row by row")
        .x_label("row")
        .y_label("surprise (nats)")
        .x_range(from, to.max(from + 1.0))
        .size(900.0, 360.0)
        .points("rows", &usual, Style::cloud().with_color(0).with_opacity(0.5))
        .points("alarms", &alarms, alarm_style);
    if beyond.is_empty() {
        return chart;
    }
    let highest = beyond.iter().map(|judged| judged.surprise).fold(ceiling, f64::max);
    let at_the_edge: Vec<(f64, f64)> = beyond.iter().map(|judged| (judged.row, ceiling)).collect();
    let name = format!("beyond the edge, up to {}", short(highest));
    chart.y_range(0.0, EDGE_ROOM * ceiling).points(name, &at_the_edge, alarm_style.with_marker(Marker::Triangle))
}

/// The highest surprise that is drawn where it is: infinite unless a few rows tower over all others.
fn ceiling(rows: &[Judged]) -> f64 {
    let mut surprises: Vec<f64> = rows.iter().map(|judged| judged.surprise).collect();
    surprises.sort_by(f64::total_cmp);
    let high = surprises.get((HIGH_SHARE * surprises.len() as f64) as usize).copied().unwrap_or(0.0);
    let towers = surprises.last().is_some_and(|highest| *highest > 2.0 * TOWERING * high);
    if towers && high > 0.0 { TOWERING * high } else { f64::INFINITY }
}

/// Where a stream is said to have changed.
pub struct Changes<'a, E> {
    /// By its watch: marked with what changed.
    pub alarms: &'a [DriftAlarm],
    /// The names of its columns.
    pub columns: &'a [String],
    /// By the components of its model: marked where the watch has nothing to say.
    pub events: E,
}

/// Marks changes over a stretch of rows.
pub fn with_changes<'a, E: Iterator<Item = &'a Event>>(
    chart: Chart,
    changes: Changes<'_, E>,
    stretch: (f64, f64),
) -> Chart {
    let is_inside = |row: &f64| *row >= stretch.0 && *row <= stretch.1;
    let (alarms, columns) = (changes.alarms, changes.columns);
    let mut marks: Vec<(f64, String)> = alarms
        .iter()
        .map(|alarm| (alarm.row as f64, format!("drift: {}", changes::label(alarm.what, columns))))
        .filter(|(row, _)| is_inside(row))
        .collect();
    if marks.is_empty() {
        let drifted = changes.events.filter(|event| matches!(event.what, Happening::Drift));
        // One word is enough: it says what all such lines are.
        let words = ["drift of a component"].into_iter().chain(std::iter::repeat(""));
        let rows =
            apart(drifted.map(|event| event.row as f64).filter(is_inside), NEAREST_MARKS * (stretch.1 - stretch.0));
        marks = rows.into_iter().zip(words.map(String::from)).collect();
    }
    if marks.is_empty() { chart } else { chart.marks(&marks, MarkStyle { color: Some(3), dashed: true }) }
}

/// The first of rows that are closer to each other than this.
fn apart(rows: impl Iterator<Item = f64>, nearest: f64) -> Vec<f64> {
    let mut kept: Vec<f64> = Vec::new();
    for row in rows {
        if kept.last().is_none_or(|last| row - last >= nearest) {
            kept.push(row);
        }
    }
    kept
}

/// How far out each cell of a row is given the others, the most surprising first.
pub fn reasons(title: &str, reasons: &[Reason], columns: &[String]) -> Chart {
    let bars: Vec<(String, f64)> = reasons
        .iter()
        .take(MOST_BARS)
        .map(|reason| {
            let name = columns.get(reason.column).map_or("", String::as_str);
            let blamed = if reason.blamed { "* " } else { "" };
            let values = format!("{}, expected {}", short(reason.observed), short(reason.expected));
            (format!("{blamed}{name} {values}"), far_out(reason))
        })
        .collect();
    let mut chart = Chart::new(title)
        .x_label("−log of the chance, given the cells that are not blamed (nats)")
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

/// A length that is never negative, as a density's logarithm may be.
fn far_out(reason: &Reason) -> f64 {
    // Beyond what a float can say of a chance, the density says about the same.
    if reason.probability > 0.0 { -reason.probability.ln() } else { reason.surprise }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bayestream::outlier::DriftKind;
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
    fn bars_are_as_long_as_a_cell_is_unlikely() {
        let reason = |surprise, probability| Reason {
            column: 1,
            blamed: surprise > 9.0,
            surprise,
            probability,
            observed: 2.5,
            expected: -1.5,
        };
        assert_eq!(far_out(&reason(-0.7, 1.0)), 0.0);
        assert!((far_out(&reason(5.0, 0.01)) - 100_f64.ln()).abs() < 1e-12);
        assert_eq!(far_out(&reason(900.0, 0.0)), 900.0);
        let columns = ["flow", "temp"].map(String::from);
        let svg = super::reasons("Row 7", &[reason(900.0, 0.0), reason(-0.7, 1.0)], &columns).to_svg();
        assert!(svg.contains("* temp 2.5, expected -1.5") && !svg.contains("−0.7"), "{svg}");
    }

    #[test]
    fn a_few_towering_rows_stand_at_the_edge() {
        let judged = |ix: u32, surprise| Judged { row: f64::from(ix) + 1.0, surprise, alarm: surprise > 8.0 };
        let level: Vec<Judged> = (0..3000).map(|ix| judged(ix, f64::from(ix % 10))).collect();
        assert_eq!(ceiling(&level), f64::INFINITY);
        let towering: Vec<Judged> = level.iter().copied().chain([judged(3000, 700.5)]).collect();
        assert_eq!(ceiling(&towering), 27.0);
        assert!(surprise_over_time(&towering).to_svg().contains("beyond the edge, up to 700.5"));
        // Where nearly all rows are alike there is no scale to tower over.
        assert_eq!(ceiling(&[judged(0, 0.0), judged(1, 0.0)]), f64::INFINITY);
    }

    #[test]
    fn alarms_are_marked_by_name_and_otherwise_components_that_drifted() {
        let component = ComponentId { shard: 0, serial: 3 };
        let event = |row, what| Event { row, component, what };
        let drifts = [10, 500, 501, 502, 900].map(|row| event(row, Happening::Drift));
        let columns = ["flow", "temp"].map(String::from);
        let marked = |alarms: &[DriftAlarm], events: &[Event]| {
            let chart = Chart::new("").x_range(100.0, 1000.0).line("", &[(100.0, 0.0), (1000.0, 1.0)]);
            let changes = Changes { alarms, columns: &columns, events: events.iter() };
            with_changes(chart, changes, (100.0, 1000.0)).to_svg()
        };
        let lines = |svg: &str| svg.matches("<line").count() + svg.matches("<path").count();
        let plain = marked(&[], &[]);
        assert_eq!(marked(&[], &[event(600, Happening::Born)]), plain);
        // Drifts close to each other are one mark.
        let by_components = marked(&[], &drifts);
        assert_eq!(lines(&by_components) - lines(&plain), 2);
        let alarm = |row, what| DriftAlarm { row, since: row - 9, what, strength: 20.0 };
        let alarms = [alarm(300, DriftKind::Spread { column: 1 }), alarm(2000, DriftKind::Occupancy)];
        let by_alarms = marked(&alarms, &drifts);
        assert_eq!(lines(&by_alarms) - lines(&plain), 1);
        assert!(by_alarms.contains("drift: spread of temp"));
    }
}
