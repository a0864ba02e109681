//! What a comparison says: a table, a document, a picture.

use super::{Contest, Contestant};
use crate::commands::setting_value;
use crate::terminal::{aligned, short, thousands};
use bayestream::structure::Scorer;
use bayestream_plot::{Chart, Page, SvgFigure, grid};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// Widths of lines in pixels.
const THINNEST_LINE: f64 = 1.8;
const WIDEST_LINE: f64 = 5.0;

/// Log-densities of rows that nobody has learnt.
pub struct Heldout {
    scorers: Vec<Option<Scorer>>,
    sums: Vec<f64>,
    n_columns: usize,
    /// Rows that have a density under every kind.
    n_rows: u64,
}

impl Heldout {
    /// Nothing judged yet; a kind that has failed has no scorer.
    pub fn new(scorers: Vec<Option<Scorer>>, n_columns: usize) -> Heldout {
        Heldout { sums: vec![0.0; scorers.len()], scorers, n_columns, n_rows: 0 }
    }

    /// Judges some rows.
    pub fn add(&mut self, rows: &[f64]) {
        let mut densities: Vec<(usize, Vec<f64>)> = Vec::new();
        for (ix, scorer) in self.scorers.iter_mut().enumerate() {
            if let Some(scorer) = scorer {
                let mut out = Vec::new();
                scorer.log_densities(rows, &mut out);
                densities.push((ix, out));
            }
        }
        let is_sound = |row: &usize| densities.iter().all(|(_, of_rows)| of_rows[*row].is_finite());
        for row in (0..rows.len() / self.n_columns).filter(is_sound) {
            self.n_rows += 1;
            densities.iter().for_each(|(ix, of_rows)| self.sums[*ix] += of_rows[row]);
        }
    }

    fn mean(&self, ix: usize) -> f64 {
        match self.scorers[ix] {
            Some(_) => self.sums[ix] / self.n_rows as f64,
            None => f64::NAN,
        }
    }
}

impl Contest {
    fn log_score(&self, contestant: &Contestant) -> f64 {
        match contestant.failure.is_none() && contestant.config.kind.info().streaming {
            true => contestant.sum / self.n_compared as f64,
            false => f64::NAN,
        }
    }

    fn cpu_ratio(&self, contestant: &Contestant) -> f64 {
        let seconds = |contestant: &Contestant| contestant.learning.as_secs_f64();
        self.contestants.first().map_or(f64::NAN, |first| seconds(contestant) / seconds(first))
    }
}

/// The table for people.
pub fn table(contest: &Contest, heldout: Option<&Heldout>) -> String {
    let mut header = vec!["kind", "log-score"];
    header.extend(heldout.map(|_| "held out"));
    header.extend(["components", "held", "CPU s", "ratio", "model kB"]);
    let mut rows = vec![header.into_iter().map(String::from).collect::<Vec<String>>()];
    for (ix, contestant) in contest.contestants.iter().enumerate() {
        let Some(result) = &contestant.result else {
            rows.push(vec![contestant.name.clone(), "failed".to_string()]);
            continue;
        };
        let mut row = vec![contestant.name.clone(), three_decimals(contest.log_score(contestant))];
        row.extend(heldout.map(|heldout| three_decimals(heldout.mean(ix))));
        row.extend([
            result.k_realized.to_string(),
            result.k_implemented.to_string(),
            short(contestant.learning.as_secs_f64()),
            short(contest.cpu_ratio(contestant)),
            short(result.model_bytes as f64 / 1000.0),
        ]);
        rows.push(row);
    }
    let mut out = aligned(&rows);
    out += &format!(
        "\n  log-score: nats a row, over {} of {} rows: those that all kinds scored before learning them\n",
        thousands(contest.n_compared),
        thousands(contest.n_rows)
    );
    if let Some(heldout) = heldout {
        out += &format!("  held out: nats a row, over {} rows that nobody learnt\n", thousands(heldout.n_rows));
    }
    out
}

/// Enough to tell kinds apart by a thousandth of a nat.
fn three_decimals(value: f64) -> String {
    if value.is_finite() { format!("{value:.3}") } else { short(f64::NAN) }
}

/// What `--json` prints.
#[derive(Serialize)]
pub struct Document<'a> {
    inputs: &'a [String],
    n_rows: u64,
    n_compared: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    n_test: Option<u64>,
    kinds: Vec<KindEntry<'a>>,
}

#[derive(Serialize)]
struct KindEntry<'a> {
    name: &'a str,
    kind: &'static str,
    settings: BTreeMap<&'static str, Value>,
    log_score: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    test_log_density: Option<f64>,
    k_realized: Option<usize>,
    k_implemented: Option<usize>,
    cpu_seconds: f64,
    cpu_ratio: f64,
    model_bytes: Option<usize>,
    course: Vec<StretchEntry>,
    failure: Option<&'a str>,
}

#[derive(Serialize)]
struct StretchEntry {
    row: u64,
    k_realized: Option<usize>,
    log_score: f64,
}

/// The document for programs.
pub fn document<'a>(contest: &'a Contest, heldout: Option<&Heldout>, inputs: &'a [String]) -> Document<'a> {
    let kinds = contest.contestants.iter().enumerate().map(|(ix, contestant)| {
        let config = &contestant.config;
        let settings = config.settings.list(config.kind).into_iter();
        let course = contestant.course.stretches().iter();
        KindEntry {
            name: &contestant.name,
            kind: config.kind.name(),
            settings: settings.map(|(name, value)| (name, setting_value(&value))).collect(),
            log_score: contest.log_score(contestant),
            test_log_density: heldout.map(|heldout| heldout.mean(ix)),
            k_realized: contestant.result.as_ref().map(|result| result.k_realized),
            k_implemented: contestant.result.as_ref().map(|result| result.k_implemented),
            cpu_seconds: contestant.learning.as_secs_f64(),
            cpu_ratio: contest.cpu_ratio(contestant),
            model_bytes: contestant.result.as_ref().map(|result| result.model_bytes),
            course: course
                .map(|s| StretchEntry { row: s.row, k_realized: s.k_realized, log_score: s.log_score() })
                .collect(),
            failure: contestant.failure.as_deref(),
        }
    });
    Document {
        inputs,
        n_rows: contest.n_rows,
        n_compared: contest.n_compared,
        n_test: heldout.map(|heldout| heldout.n_rows),
        kinds: kinds.collect(),
    }
}

/// The score and the number of components along the stream, one under the other.
pub fn figure(contest: &Contest) -> SvgFigure {
    let panel = |title: &str, y_label: &str| {
        Chart::new(title)
            .x_label("rows seen")
            .y_label(y_label)
            .x_range(0.0, contest.n_rows.max(1) as f64)
            .size(900.0, 320.0)
    };
    let mut scores = panel("Log-score before learning", "nats a row");
    let mut sizes = panel("Number of components", "components");
    let mut all_scores = Vec::new();
    let n_kinds = contest.contestants.len();
    for (ix, contestant) in contest.contestants.iter().enumerate() {
        let (name, stretches) = (&contestant.name, contestant.course.stretches());
        // Lines that coincide show all the same: the first are wider.
        let width = (THINNEST_LINE + (n_kinds - 1 - ix) as f64).min(WIDEST_LINE);
        let score: Vec<(f64, f64)> = stretches.iter().map(|s| (s.row as f64, s.log_score())).collect();
        let size: Vec<(f64, f64)> =
            stretches.iter().filter_map(|s| Some((s.row as f64, s.k_realized? as f64))).collect();
        if score.iter().any(|(_, y)| y.is_finite()) {
            all_scores.extend(score.iter().map(|(_, y)| *y).filter(|y| y.is_finite()));
            scores = scores.line(name, &score).color(ix).line_width(width);
        }
        sizes = match size.as_slice() {
            // A kind that fits at the end has one number to show.
            [(_, k)] => sizes.line(name, &[(0.0, *k), (contest.n_rows as f64, *k)]).color(ix).dashed(),
            _ => sizes.step(name, &size).color(ix).line_width(width),
        };
    }
    if let Some((floor, highest)) = telling_range(all_scores) {
        scores = scores.y_range(floor, highest).note("the lowest scores are below the edge");
    }
    grid(&[scores, sizes], 1)
}

/// The range in which scores are to be told apart, when a few bad ones, as at the beginning, would flatten it.
fn telling_range(mut scores: Vec<f64>) -> Option<(f64, f64)> {
    scores.sort_by(f64::total_cmp);
    let (lowest, highest) = (*scores.first()?, *scores.last()?);
    let low = scores[scores.len() / 10];
    let floor = low - 2.0 * (highest - low);
    let margin = 0.05 * (highest - floor);
    (highest > low && lowest < floor).then_some((floor, highest + margin))
}

/// The figure on a page of its own.
pub fn page(contest: &Contest, heldout: Option<&Heldout>, inputs: &[String], figure: SvgFigure) -> Page {
    Page::new(format!("Kinds compared on {}", inputs.join(", ")))
        .chart(figure, "Means of stretches of the stream. A broken line is a kind that fits at the end.")
        .pre(table(contest, heldout))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_bad_scores_do_not_flatten_the_others() {
        let steady: Vec<f64> = (0..40).map(|ix| -3.0 - f64::from(ix % 4)).collect();
        assert_eq!(telling_range(steady.clone()), None);
        assert_eq!(telling_range(vec![-2.0; 9]), None);
        assert_eq!(telling_range(Vec::new()), None);
        let (floor, highest) = telling_range(steady.into_iter().chain([-800.0]).collect()).unwrap();
        assert!(floor == -12.0 && highest > -3.0, "{floor} {highest}");
    }
}
