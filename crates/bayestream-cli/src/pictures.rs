//! Charts of a mixture: its components over the data, their lives, their weights.

use bayestream::structure::{Clustering, ComponentId, Event, Happening, Snapshot};
use bayestream_plot::{Chart, Span, Style};
use std::collections::BTreeMap;

/// Points of data drawn at most; more would hide the components.
pub const MOST_POINTS: usize = 4000;
/// Lives drawn at most, the longest first.
const MOST_LIVES: usize = 40;
/// Ellipses hold about 86 % of a component's rows in two columns.
const N_SD: f64 = 2.0;
/// The cloud behind the components.
const CLOUD_COLOR: usize = 5;

/// A colour for each component, feature or cluster that stays the same from chart to chart.
pub fn color_of(id: ComponentId) -> usize {
    id.serial as usize
}

/// The components of a snapshot with their clusters: those of one cluster share its colour.
fn clustering(snapshot: &Snapshot) -> Clustering {
    Clustering::new(&snapshot.clusters(), snapshot.n_seen, snapshot.events.n_total())
}

/// The columns in which the components differ most, the most telling first.
pub fn telling_columns(snapshot: &Snapshot, n: usize) -> Vec<usize> {
    let d = snapshot.columns.len();
    let share_between = |j: usize| {
        let mean: f64 = snapshot.components.iter().map(|c| c.weight * c.mean[j]).sum();
        let (between, within) = snapshot.components.iter().fold((0.0, 0.0), |(between, within), c| {
            (between + c.weight * (c.mean[j] - mean).powi(2), within + c.weight * c.covariance[j * d + j])
        });
        let total = between + within;
        if total > 0.0 { between / total } else { 0.0 }
    };
    let mut columns: Vec<usize> = (0..d).collect();
    columns.sort_by(|&a, &b| share_between(b).total_cmp(&share_between(a)).then(a.cmp(&b)));
    columns.truncate(n);
    columns
}

/// Two columns: rows as a cloud, components as ellipses.
pub fn scatter(snapshot: &Snapshot, columns: (usize, usize), rows: &[f64]) -> Chart {
    let (a, b) = columns;
    let d = snapshot.columns.len();
    let points: Vec<(f64, f64)> = rows.chunks_exact(d).map(|row| (row[a], row[b])).collect();
    let mut chart = Chart::new("").x_label(&snapshot.columns[a]).y_label(&snapshot.columns[b]);
    if !points.is_empty() {
        chart = chart.points("", &points, Style::cloud().with_color(CLOUD_COLOR));
    }
    let clusters = clustering(snapshot);
    for component in &snapshot.components {
        let cell = |i: usize, j: usize| component.covariance[i * d + j];
        let covariance = [[cell(a, a), cell(a, b)], [cell(b, a), cell(b, b)]];
        let center = (component.mean[a], component.mean[b]);
        let id = component.id.to_string();
        chart = chart.ellipse(center, covariance, N_SD, color_of(clusters.cluster_of(component.id)), Some(&id));
    }
    chart
}

/// One column: the density of the mixture, with the rows as a histogram when there are any.
pub fn density(snapshot: &Snapshot, column: usize, rows: &[f64]) -> Chart {
    const N_STEPS: usize = 400;
    let d = snapshot.columns.len();
    let moments: Vec<(f64, f64, f64)> = snapshot
        .components
        .iter()
        .map(|c| (c.weight, c.mean[column], c.covariance[column * d + column].max(f64::MIN_POSITIVE).sqrt()))
        .collect();
    let low = moments.iter().map(|(_, m, sd)| m - 4.0 * sd).fold(f64::INFINITY, f64::min);
    let high = moments.iter().map(|(_, m, sd)| m + 4.0 * sd).fold(f64::NEG_INFINITY, f64::max);
    let at = |x: f64| -> f64 {
        moments
            .iter()
            .map(|(w, m, sd)| w * (-0.5 * ((x - m) / sd).powi(2)).exp() / (sd * std::f64::consts::TAU.sqrt()))
            .sum()
    };
    let steps = |ix: usize| low + (high - low) * ix as f64 / N_STEPS as f64;
    let curve: Vec<(f64, f64)> = (0..=N_STEPS).map(steps).map(|x| (x, at(x))).collect();
    let mut chart = Chart::new("")
        .x_label(&snapshot.columns[column])
        .y_label("density")
        .y_range(0.0, curve.iter().map(|(_, y)| *y).fold(0.0, f64::max) * 1.1);
    if !rows.is_empty() {
        let values: Vec<f64> = rows.iter().skip(column).step_by(d).copied().filter(|v| v.is_finite()).collect();
        chart = chart.columns("rows", &bins(&values, low, high)).color(CLOUD_COLOR);
    }
    chart.line("model", &curve).color(0)
}

/// A histogram that integrates to one, as a density does.
fn bins(values: &[f64], low: f64, high: f64) -> Vec<(f64, f64, f64)> {
    const N_BINS: usize = 60;
    let width = (high - low) / N_BINS as f64;
    let mut counts = [0_usize; N_BINS];
    for value in values {
        let bin = ((value - low) / width).floor();
        if (0.0..N_BINS as f64).contains(&bin) {
            counts[bin as usize] += 1;
        }
    }
    let per_row = 1.0 / (values.len().max(1) as f64 * width);
    let edge = |ix: usize| low + width * ix as f64;
    counts.iter().enumerate().map(|(ix, n)| (edge(ix), edge(ix + 1), *n as f64 * per_row)).collect()
}

/// The shares of the components.
pub fn weights(snapshot: &Snapshot) -> Chart {
    const MOST_BARS: usize = 30;
    let bars: Vec<(String, f64)> =
        snapshot.components.iter().take(MOST_BARS).map(|c| (c.id.to_string(), c.weight)).collect();
    Chart::new("Shares of the components")
        .x_label("share of the rows")
        .size(640.0, 120.0 + 22.0 * bars.len() as f64)
        .bars("", &bars)
}

/// One component's life, in rows of the stream.
struct Life {
    /// None when its beginning is not among the events.
    from: Option<f64>,
    to: f64,
}

/// When components began and ended, as far as the events tell.
fn lives<'a>(events: impl Iterator<Item = &'a Event>, snapshot: &Snapshot) -> Vec<(ComponentId, f64, f64)> {
    let now = snapshot.n_seen as f64;
    let mut lives: BTreeMap<ComponentId, Life> = BTreeMap::new();
    let unknown = || Life { from: None, to: now };
    for event in events {
        let row = event.row as f64;
        let life = lives.entry(event.component).or_insert_with(unknown);
        match event.what {
            Happening::Born => life.from = Some(row),
            Happening::Died | Happening::Merged { .. } => life.to = row,
            Happening::Split { new } => lives.entry(new).or_insert_with(unknown).from = Some(row),
            Happening::Drift | Happening::Full => {}
        }
    }
    for component in &snapshot.components {
        lives.entry(component.id).or_insert_with(unknown);
    }
    // Components are numbered as they come: one whose beginning is unknown began after those with smaller numbers.
    let mut latest = 0.0_f64;
    let mut shard = None;
    lives
        .into_iter()
        .map(|(id, life)| {
            if shard.replace(id.shard) != Some(id.shard) {
                latest = 0.0;
            }
            let from = life.from.unwrap_or(latest).min(life.to);
            latest = latest.max(from);
            (id, from, life.to)
        })
        .collect()
}

/// Lives of the components, one lane each.
pub fn lifelines<'a>(events: impl Iterator<Item = &'a Event>, snapshot: &Snapshot) -> Chart {
    let now = snapshot.n_seen as f64;
    let mut shown = lives(events, snapshot);
    let in_snapshot = |id: &ComponentId| snapshot.components.iter().any(|c| c.id == *id);
    let length = |life: &(ComponentId, f64, f64)| life.2 - life.1;
    shown.sort_by(|a, b| {
        in_snapshot(&b.0).cmp(&in_snapshot(&a.0)).then(length(b).total_cmp(&length(a))).then(a.0.cmp(&b.0))
    });
    let n_lives = shown.len();
    shown.truncate(MOST_LIVES);
    shown.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
    let clusters = clustering(snapshot);
    let span = |(lane, &(id, from, to)): (usize, &(ComponentId, f64, f64))| Span {
        y: lane as f64,
        from,
        to,
        color: color_of(clusters.cluster_of(id)),
        label: id.to_string(),
    };
    let spans: Vec<Span> = shown.iter().enumerate().map(span).collect();
    let mut chart = Chart::new("Lives of the components")
        .x_label("rows seen")
        .x_range(0.0, now.max(1.0))
        .flip_y()
        .size(900.0, 130.0 + 17.0 * spans.len() as f64)
        .spans(&spans);
    if n_lives > MOST_LIVES {
        chart = chart.note(format!("the {MOST_LIVES} longest of {n_lives}"));
    }
    chart
}

/// How many components were held, told backwards from now by the events that are kept.
pub fn held_over_time(snapshot: &Snapshot) -> Vec<(f64, f64)> {
    let mut k = snapshot.k_implemented as f64;
    let mut points = vec![(snapshot.n_seen as f64, k)];
    let events: Vec<&Event> = snapshot.events.iter().collect();
    for event in events.into_iter().rev() {
        let change = match event.what {
            Happening::Born | Happening::Split { .. } => 1.0,
            Happening::Died | Happening::Merged { .. } => -1.0,
            Happening::Drift | Happening::Full => 0.0,
        };
        points.push((event.row as f64, k));
        k -= change;
    }
    points.reverse();
    points
}

/// An even choice of rows from a stream of unknown length: when full, every second one goes.
pub struct Thinned {
    rows: Vec<f64>,
    n_columns: usize,
    stride: u64,
    n_seen: u64,
}

impl Thinned {
    /// Nothing yet.
    pub fn new(n_columns: usize) -> Thinned {
        Thinned { rows: Vec::new(), n_columns, stride: 1, n_seen: 0 }
    }

    /// Offers rows, row-major.
    pub fn extend(&mut self, rows: &[f64]) {
        for row in rows.chunks_exact(self.n_columns) {
            if self.n_seen.is_multiple_of(self.stride) {
                self.rows.extend_from_slice(row);
                if self.rows.len() >= 2 * MOST_POINTS * self.n_columns {
                    self.halve();
                }
            }
            self.n_seen += 1;
        }
    }

    fn halve(&mut self) {
        let kept = self.rows.chunks_exact(self.n_columns).step_by(2).flatten().copied().collect();
        self.rows = kept;
        self.stride *= 2;
    }

    /// The rows chosen.
    pub fn rows(&self) -> &[f64] {
        &self.rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bayestream::structure::{Component, EventLog, LogScore};

    fn snapshot(means: &[[f64; 3]]) -> Snapshot {
        let components = means
            .iter()
            .enumerate()
            .map(|(ix, mean)| Component {
                id: ComponentId { shard: 0, serial: ix as u32 },
                weight: 1.0 / means.len() as f64,
                count: 10.0,
                mean: mean.to_vec(),
                covariance: vec![1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0],
                latent_dim: None,
                basis: None,
            })
            .collect();
        Snapshot {
            n_seen: 500,
            columns: ["a", "b", "c"].map(String::from).to_vec(),
            k_implemented: 3,
            components,
            pool: None,
            log_score: LogScore::default(),
            events: EventLog::default(),
        }
    }

    #[test]
    fn columns_that_separate_components_come_first() {
        let apart = snapshot(&[[0.0, 3.0, -9.0], [0.0, -3.0, 9.0]]);
        assert_eq!(telling_columns(&apart, 2), [2, 1]);
    }

    #[test]
    fn the_count_of_components_is_told_backwards() {
        let mut now = snapshot(&[[0.0; 3]]);
        let id = |serial| ComponentId { shard: 0, serial };
        for (row, component, what) in
            [(100, id(0), Happening::Born), (200, id(1), Happening::Born), (300, id(1), Happening::Died)]
        {
            now.events.push(Event { row, component, what });
        }
        let held = held_over_time(&now);
        assert_eq!(held, [(100.0, 3.0), (200.0, 4.0), (300.0, 3.0), (500.0, 3.0)]);
    }

    #[test]
    fn lives_begin_and_end_with_their_events() {
        let mut now = snapshot(&[[0.0; 3]]);
        let id = |serial| ComponentId { shard: 0, serial };
        for (row, component, what) in [
            (100, id(0), Happening::Born),
            (150, id(0), Happening::Split { new: id(4) }),
            (300, id(7), Happening::Merged { into: id(4) }),
            (400, id(4), Happening::Died),
        ] {
            now.events.push(Event { row, component, what });
        }
        let told = lives(now.events.iter(), &now);
        assert_eq!(told, [(id(0), 100.0, 500.0), (id(4), 150.0, 400.0), (id(7), 150.0, 300.0)]);
    }

    #[test]
    fn thinning_keeps_an_even_choice() {
        let mut thinned = Thinned::new(1);
        let rows: Vec<f64> = (0..50_000).map(f64::from).collect();
        rows.chunks(777).for_each(|part| thinned.extend(part));
        let kept = thinned.rows();
        assert!(kept.len() >= MOST_POINTS && kept.len() < 2 * MOST_POINTS);
        let gap = kept[1] - kept[0];
        assert!(kept.windows(2).all(|pair| pair[1] - pair[0] == gap));
    }
}
