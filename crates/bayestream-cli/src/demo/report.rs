//! The demonstration's page of pictures.

use super::plant::{self, DRIFTING, N_ROWS, NEW_REGIME_AT, OLD_REGIME_ENDS_AT, OUTLIER_SHARE, Plant};
use super::{Alarms, Course};
use crate::pictures::{self, MOST_POINTS};
use crate::score_pictures::{self, Changes, Judged};
use crate::scores;
use crate::terminal::percent;
use crate::terminal::{short, thousands};
use bayestream::structure::{Reason, Snapshot};
use bayestream_plot::{Chart, MarkStyle, Marker, Page, Style};

/// Surprises shown in the table.
const TOP: usize = 10;
/// Rows at the end of the stream that the last model is drawn over.
const RECENT_ROWS: usize = 10_000;

/// The report.
pub fn page(plant: &Plant, course: &Course, snapshot: &Snapshot, alarms: &Alarms) -> Page {
    let planted = alarms.n_planted;
    let (table_head, table_rows) = top_table(plant, course, alarms);
    Page::new("A stream, learnt as it went by")
        .lead(format!(
            "{} rows from {} sensors of a made-up plant, learnt once, in order, by gmm/ofab in {} s. Each row was scored \
             by what had been learnt before it. Nobody told the model how many regimes there are, or when they change.",
            thousands(N_ROWS as u64),
            plant::sensors().len(),
            short(course.seconds)
        ))
        .section(
            "Components come and go",
            format!(
                "The regime “recipe b” begins at row {}, “cleaning” is last seen before row {}, and the sensor {} drifts \
                 all the time. The model starts from many small components and keeps those that earn their place.",
                thousands(NEW_REGIME_AT as u64),
                thousands(OLD_REGIME_ENDS_AT as u64),
                plant::sensors()[DRIFTING]
            ),
        )
        .chart(sizes(course), "Components of the snapshot, and components held while learning.")
        .chart(
            with_marks(pictures::lifelines(course.events.iter(), snapshot)),
            "Each bar is the life of a component, from its birth or split to its death or merge.",
        )
        .section(
            "How well each row was foreseen",
            "The log-score is the log-density of a row before it was learnt from; higher is better. The dashed line is \
             the best possible: the density of the plant itself, which knows its regimes and its drift.",
        )
        .chart(log_score(course), "Median of each batch of rows.")
        .section("What it learnt", "")
        .chart(scatter(plant, snapshot), "The two sensors in which the components differ most, over the last rows.")
        .table(&["component", "share", "regime it stands for"], &component_rows(plant, snapshot))
        .section(
            "Outliers",
            format!(
                "{planted} rows have one or two wrong readings, off by less than the regimes differ, so that no fixed \
                 limit finds them. An alarm rate of {} %, their share, gave {} alarms, {} of which are planted: a recall \
                 of {} at a precision of {}. {} other alarms are rows of “recipe b”, most of them before the model knew \
                 it.",
                100.0 * OUTLIER_SHARE,
                alarms.rows.len(),
                alarms.n_found,
                percent(alarms.recall()),
                percent(alarms.precision()),
                alarms.n_new_regime
            ),
        )
        .chart(surprise(plant, course), "How unusual each row was among the rows before it; larger is more unusual.")
        .chart(most_surprising(course, alarms), "The most surprising row that a few cells explain: what was seen and what was expected.")
        .table(&table_head, &table_rows)
}

fn with_marks(chart: Chart) -> Chart {
    let marks = [(NEW_REGIME_AT as f64, "recipe b begins"), (OLD_REGIME_ENDS_AT as f64, "cleaning ends")];
    chart.marks(&marks, MarkStyle::default())
}

fn wide(title: &str, y_label: &str) -> Chart {
    Chart::new(title).x_label("rows seen").y_label(y_label).x_range(0.0, N_ROWS as f64).size(900.0, 340.0)
}

fn sizes(course: &Course) -> Chart {
    let realized: Vec<(f64, f64)> = course.sizes.iter().map(|(row, k, _)| (*row, *k)).collect();
    let held: Vec<(f64, f64)> = course.sizes.iter().map(|(row, _, k)| (*row, *k)).collect();
    let chart =
        wide("Number of components", "components").step("held", &held).color(5).step("in the snapshot", &realized);
    with_marks(chart.color(0))
}

fn log_score(course: &Course) -> Chart {
    let learnt: Vec<(f64, f64)> = course.log_scores.iter().map(|(row, score, _)| (*row, *score)).collect();
    let best: Vec<(f64, f64)> = course.log_scores.iter().map(|(row, _, best)| (*row, *best)).collect();
    // The first batches, before there is a real model, would flatten the rest.
    let settled = best.iter().map(|(_, y)| *y).filter(|y| y.is_finite());
    let (low, high) = settled.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), y| (low.min(y), high.max(y)));
    let chart = wide("Log-score before learning", "nats a row").y_range(low - 3.0, high + 0.5);
    with_marks(chart.line("model", &learnt).color(0).line("best possible", &best).color(1).dashed().line_width(1.2))
}

fn scatter(plant: &Plant, snapshot: &Snapshot) -> Chart {
    let columns = pictures::telling_columns(snapshot, 2);
    let (a, b) = (columns[0], columns.get(1).copied().unwrap_or(columns[0]));
    let stride = (RECENT_ROWS / MOST_POINTS).max(1);
    let recent = N_ROWS - RECENT_ROWS;
    let rows: Vec<f64> = (recent..N_ROWS).step_by(stride).flat_map(|row| plant.row(row).to_vec()).collect();
    let wrong: Vec<(f64, f64)> =
        plant.planted.iter().filter(|p| p.row >= recent).map(|p| (plant.row(p.row)[a], plant.row(p.row)[b])).collect();
    let style = Style::color(1).with_marker(Marker::Cross).with_radius(4.0).with_opacity(1.0);
    pictures::scatter(snapshot, (a, b), &rows).size(720.0, 540.0).points("planted outliers", &wrong, style)
}

fn component_rows(plant: &Plant, snapshot: &Snapshot) -> Vec<[String; 3]> {
    let entry = |c: &bayestream::structure::Component| {
        let regime = plant::regime_name(plant.nearest_regime(&c.mean));
        [c.id.to_string(), format!("{:.3}", c.weight), regime.to_string()]
    };
    snapshot.components.iter().map(entry).collect()
}

fn surprise(plant: &Plant, course: &Course) -> Chart {
    let judged = |(ix, verdict): (usize, &bayestream::outlier::Verdict)| Judged {
        row: ix as f64 + 1.0,
        surprise: verdict.surprise,
        alarm: verdict.p_value <= OUTLIER_SHARE,
    };
    let rows: Vec<Judged> = course.verdicts.iter().enumerate().map(judged).collect();
    let wrong: Vec<(f64, f64)> =
        plant.planted.iter().map(|p| (p.row as f64 + 1.0, course.verdicts[p.row].surprise)).collect();
    let style = Style::color(2).with_marker(Marker::Cross).with_radius(3.5).with_opacity(1.0);
    let chart = score_pictures::surprise_over_time(&rows).points("planted outliers", &wrong, style);
    let changes = Changes { alarms: &course.drift_alarms, columns: &plant::sensors(), events: course.events.iter() };
    with_marks(score_pictures::with_changes(chart, changes, (0.0, N_ROWS as f64)))
}

fn most_surprising(course: &Course, alarms: &Alarms) -> Chart {
    // A row may be surprising as a whole: one that a few cells explain shows more.
    let is_explained = |row: &&usize| reasons_of(course, **row).first().is_some_and(|reason| reason.blamed);
    let row = alarms.rows.iter().find(is_explained).or(alarms.rows.first()).copied().unwrap_or(0);
    let title = format!("Row {}", thousands(row as u64 + 1));
    score_pictures::reasons(&title, reasons_of(course, row), &plant::sensors())
}

fn reasons_of(course: &Course, row: usize) -> &[Reason] {
    course.reasons.binary_search_by_key(&row, |(at, _)| *at).map_or(&[], |ix| &course.reasons[ix].1)
}

fn top_table(plant: &Plant, course: &Course, alarms: &Alarms) -> ([&'static str; 6], Vec<[String; 6]>) {
    let names = plant::sensors();
    let rows = alarms
        .rows
        .iter()
        .take(TOP)
        .map(|&row| {
            let why = scores::leading(reasons_of(course, row));
            let planted = plant.planted.binary_search_by_key(&row, |p| p.row).ok().map(|ix| &plant.planted[ix].sensors);
            let wrong = planted.map(|sensors| sensors.iter().map(|s| names[*s].clone()).collect::<Vec<_>>().join(", "));
            [
                thousands(row as u64 + 1),
                short(course.verdicts[row].surprise),
                why.iter().map(|reason| names[reason.column].clone()).collect::<Vec<_>>().join(", "),
                why.first().map_or(String::new(), |reason| short(reason.observed)),
                why.first().map_or(String::new(), |reason| short(reason.expected)),
                wrong.unwrap_or_else(|| "nothing".to_string()),
            ]
        })
        .collect();
    (["row", "surprise", "reason", "first reason: observed", "expected", "planted"], rows)
}
