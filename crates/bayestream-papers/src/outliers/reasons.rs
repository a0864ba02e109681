//! Are the columns that were spoilt the ones that are named?

use crate::data::DataFolder;
use crate::error::ReproduceError;
use crate::experiment::Setting;
use crate::learn::{evaluation_seed, feed, new_model};
use crate::ofab::shuttle::Shuttle;
use crate::outcome::Outcome;
use crate::parallel::run_all;
use crate::summary::list;
use crate::table::Table;
use bayestream::model::{Kind, Settings};
use bayestream::num;
use bayestream::structure::Scorer;
use bayestream::synthetic::{Covariance, ofab_truth};

/// Rows to learn from, clean rows to rank among, and rows to spoil in each way.
const LEARN: usize = 20_000;
const CLEAN: usize = 10_000;
const SPOIL: usize = 2_000;
/// Rows that are ranked this low are asked for reasons.
const UNUSUAL: f64 = 0.001;
/// Mixtures: columns, components, reading of the covariances.
const MIXTURES: [(usize, usize, Covariance); 7] = [
    (3, 3, Covariance::Aat),
    (5, 1, Covariance::Aat),
    (5, 3, Covariance::Spd),
    (5, 3, Covariance::Aat),
    (10, 10, Covariance::Spd),
    (10, 10, Covariance::Aat),
    (20, 5, Covariance::Aat),
];

/// What is done to a cell.
#[derive(Clone, Copy, PartialEq)]
enum Fault {
    /// Another row's value in its place.
    Swap,
    /// The same, counted only where each of the cells alone would make the row unusual: a value of another row is often
    /// an ordinary one here too, and then nothing is wrong with it.
    SwapThatShows,
    /// Moved by this many standard deviations of its column, up or down.
    Shift(f64),
}

/// How many columns are spoilt, and how.
const WAYS: [(usize, Fault); 7] = [
    (1, Fault::Swap),
    (1, Fault::Shift(3.0)),
    (1, Fault::Shift(6.0)),
    (2, Fault::Swap),
    (2, Fault::SwapThatShows),
    (2, Fault::Shift(3.0)),
    (2, Fault::Shift(6.0)),
];

impl Fault {
    fn name(self) -> String {
        match self {
            Fault::Swap => "another row's value".into(),
            Fault::SwapThatShows => "another row's value, each alone unusual".into(),
            Fault::Shift(n_sd) => format!("±{n_sd} sd"),
        }
    }
}

/// A stream that was learnt, and rows of it that were not.
struct Subject {
    n_columns: usize,
    scorer: Scorer,
    /// Rows the ranks are among.
    clean: Vec<f64>,
    /// Rows to spoil.
    rows: Vec<f64>,
}

/// Rows that came to be unusual, and in how many the spoilt columns led the reasons.
#[derive(Clone, Copy, Default)]
struct Count {
    unusual: usize,
    named: usize,
    /// Rows in which exactly the spoilt columns were blamed.
    exact: usize,
}

pub fn run(setting: &mut Setting<'_>) -> Result<Outcome, ReproduceError> {
    let seeds = setting.seeds(5000..5005);
    let mut jobs: Vec<(String, u64, Option<usize>)> = Vec::new();
    for (at, (d, k, covariance)) in MIXTURES.iter().enumerate() {
        jobs.extend(seeds.iter().map(|&seed| (format!("{covariance} D={d} K={k}"), seed, Some(at))));
    }
    let real = real_streams(&setting.data)?;
    if real.is_empty() {
        (setting.progress)("real streams left out: no data folder");
    }
    jobs.extend(real.iter().map(|(name, _, _)| (name.clone(), seeds[0], None)));
    let describe = |job: &(String, u64, Option<usize>), _: &Vec<Count>| format!("reasons: {} seed {}", job.0, job.1);
    let counts = run_all(&jobs, setting.n_threads, setting.progress, describe, |(name, seed, at)| {
        let subject = match at {
            Some(at) => synthetic(MIXTURES[*at], *seed)?,
            None => learnt(real.iter().find(|(n, _, _)| n == name).expect("jobs come from this list"), *seed)?,
        };
        Ok(measured(&subject, *seed))
    })?;
    let title = format!(
        "Rows with p ≤ {UNUSUAL} among {SPOIL} spoilt in each way: spoilt columns named first (in brackets: blamed, and \
         no other), seeds {}",
        list(&seeds)
    );
    let heads = WAYS.map(|(n, fault)| format!("{n} column{}: {}", if n == 1 { "" } else { "s" }, fault.name()));
    let mut table = Table::new("", title, ["stream".to_string()].into_iter().chain(heads));
    let mut names: Vec<&String> = jobs.iter().map(|(name, _, _)| name).collect();
    names.dedup();
    for name in names {
        let of_stream: Vec<&Vec<Count>> =
            jobs.iter().zip(&counts).filter(|(j, _)| j.0 == *name).map(|(_, c)| c).collect();
        table.row([name.clone()].into_iter().chain((0..WAYS.len()).map(|way| text(of_stream.iter().map(|c| c[way])))));
    }
    let all_synthetic = jobs.iter().zip(&counts).filter(|(j, _)| j.2.is_some()).map(|(_, c)| c);
    table.row(
        ["all mixtures".to_string()]
            .into_iter()
            .chain((0..WAYS.len()).map(|way| text(all_synthetic.clone().map(|c| c[way])))),
    );
    Ok(Outcome { notes: Vec::new(), tables: vec![table], figures: Vec::new(), files: Vec::new() })
}

fn text(counts: impl Iterator<Item = Count>) -> String {
    let sum = counts.fold(Count::default(), |a, b| Count {
        unusual: a.unusual + b.unusual,
        named: a.named + b.named,
        exact: a.exact + b.exact,
    });
    let share = |n: usize| 100.0 * n as f64 / sum.unusual as f64;
    match sum.unusual {
        0 => "none unusual".into(),
        n => format!("{:.1} % ({:.0} %) of {n}", share(sum.named), share(sum.exact)),
    }
}

fn synthetic((d, k, covariance): (usize, usize, Covariance), seed: u64) -> Result<Subject, ReproduceError> {
    let truth = ofab_truth(k, d, covariance, seed);
    let mut model = new_model(Kind::GmmOfab, d, seed, Settings::default())?;
    feed(&mut model, &truth.sample(LEARN, seed).0, 50, |_, _, _| {})?;
    let (mut clean, _) = truth.sample(CLEAN + SPOIL, evaluation_seed(seed));
    let rows = clean.split_off(CLEAN * d);
    Ok(Subject { n_columns: d, scorer: model.scorer(), clean, rows })
}

/// Name, columns and ordinary rows of the streams that are there; none without a data folder.
type Real = (String, usize, Vec<f64>);

fn real_streams(data: &DataFolder) -> Result<Vec<Real>, ReproduceError> {
    if data.folder.is_none() {
        return Ok(Vec::new());
    }
    let shuttle = Shuttle::read(data)?.ordinary;
    let mut streams = vec![("Shuttle, class 1".to_string(), 9, shuttle)];
    for (file, n_columns) in [("thyroid", 6), ("satimage-2", 36)] {
        let table = data.csv(&format!("anomaly/{file}.csv.gz"))?;
        let names: Vec<String> = (1..=n_columns).map(|j| format!("x{j}")).collect();
        let cells = table.numbers(&names.iter().map(String::as_str).collect::<Vec<_>>())?;
        let labels = table.words("anomaly")?;
        let normal = cells.chunks(n_columns).zip(labels).filter(|(_, label)| *label == "0");
        streams.push((format!("{file}, normal"), n_columns, normal.flat_map(|(row, _)| row.to_vec()).collect()));
    }
    Ok(streams)
}

/// One half is learnt from; the other is ranked among, and rows of it are spoilt.
fn learnt((_, d, rows): &Real, seed: u64) -> Result<Subject, ReproduceError> {
    let mut order: Vec<usize> = (0..rows.len() / d).collect();
    num::stream(seed, 0, 0).shuffle(&mut order);
    let half = order.len() / 2;
    let pick = |from: usize, n: usize| -> Vec<f64> {
        order[from..from + n].iter().flat_map(|&i| rows[i * d..(i + 1) * d].iter().copied()).collect()
    };
    let mut model = new_model(Kind::GmmOfab, *d, seed, Settings::default())?;
    feed(&mut model, &pick(0, half.min(LEARN)), 50, |_, _, _| {})?;
    Ok(Subject {
        n_columns: *d,
        scorer: model.scorer(),
        clean: pick(half, half.min(CLEAN)),
        rows: pick(half, half.min(SPOIL)),
    })
}

/// One count for each way to spoil rows.
fn measured(subject: &Subject, seed: u64) -> Vec<Count> {
    let d = subject.n_columns;
    let mut scorer = subject.scorer.clone();
    let mut clean = Vec::new();
    scorer.log_densities(&subject.clean, &mut clean);
    clean.sort_by(f64::total_cmp);
    let sd: Vec<f64> = (0..d).map(|j| spread(subject.clean.iter().skip(j).step_by(d))).collect();
    let mut rng = num::stream(seed, 7, 0);
    let n = subject.rows.len() / d;
    let mut density = Vec::new();
    let mut is_unusual = |scorer: &mut Scorer, row: &[f64]| {
        scorer.log_densities(row, &mut density);
        let below = clean.partition_point(|v| *v <= density[0]);
        below as f64 + 0.5 <= UNUSUAL * (clean.len() as f64 + 1.0)
    };
    let mut count_of = |(n_spoilt, fault): (usize, Fault)| {
        let mut count = Count::default();
        for sound in subject.rows.chunks(d) {
            let mut row = sound.to_vec();
            let mut columns: Vec<usize> = (0..d).collect();
            rng.shuffle(&mut columns);
            columns.truncate(n_spoilt);
            columns.sort_unstable();
            for &j in &columns {
                row[j] = match fault {
                    Fault::Swap | Fault::SwapThatShows => subject.rows[rng.below(n) * d + j],
                    Fault::Shift(n_sd) => row[j] + n_sd * sd[j] * if rng.uniform() < 0.5 { -1.0 } else { 1.0 },
                };
            }
            let mut shows_alone = |j: &usize| {
                let mut alone = sound.to_vec();
                alone[*j] = row[*j];
                is_unusual(&mut scorer, &alone)
            };
            if fault == Fault::SwapThatShows && !columns.iter().all(&mut shows_alone) || !is_unusual(&mut scorer, &row)
            {
                continue;
            }
            let reasons = scorer.reasons(&row);
            let mut first: Vec<usize> = reasons.iter().take(n_spoilt).map(|r| r.column).collect();
            let mut blamed: Vec<usize> = reasons.iter().filter(|r| r.blamed).map(|r| r.column).collect();
            first.sort_unstable();
            blamed.sort_unstable();
            count.unusual += 1;
            count.named += usize::from(first == columns);
            count.exact += usize::from(blamed == columns);
        }
        count
    };
    WAYS.iter().map(|&way| count_of(way)).collect()
}

fn spread<'a>(values: impl Iterator<Item = &'a f64> + Clone) -> f64 {
    let n = values.clone().count() as f64;
    let mean = values.clone().sum::<f64>() / n;
    (values.map(|v| (v - mean).powi(2)).sum::<f64>() / n).sqrt()
}
