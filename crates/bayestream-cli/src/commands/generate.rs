//! `generate`: data with a known answer, and the answer beside it.

use crate::error::Failure;
use crate::files::Files;
use crate::terminal::{self, counted};
use bayestream::model::nearest;
use bayestream::synthetic::{AbruptDrift, Covariance, GradualDrift, LetterOrder, MppcaTruth, StudentTruth, Truth};
use bayestream::synthetic::{letters, ofab_truth};
use bayestream_io::{Cell, CellKind, Format, OutColumn, TableWriter, write_atomic};
use clap::Args;
use serde::Serialize;

/// Arguments of `generate`.
#[derive(Args)]
pub struct GenerateArgs {
    /// What to make: ofab (random mixture), sorted (the same, sorted by component), drift-abrupt, drift-gradual,
    /// mppca (low-dimensional components), student (heavy tails), letters.
    #[arg(value_name = "NAME")]
    name: String,
    /// Components.
    #[arg(long, value_name = "K", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=1000))]
    k: u32,
    /// Columns.
    #[arg(long, value_name = "D", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=1000))]
    d: u32,
    /// Rows; drift-abrupt and letters have a number of their own.
    #[arg(short = 'n', long, value_name = "N", default_value_t = 50_000)]
    n: u64,
    /// Seed of the mixture and of its rows.
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// How covariances are drawn: aat, aat-raw or spd.
    #[arg(long, value_name = "HOW", default_value_t = Covariance::Aat)]
    covariance: Covariance,
    /// mppca: dimensions of the components, separated by commas [default: 1, 2, … below D, repeated].
    #[arg(long, value_name = "DIMS", value_delimiter = ',')]
    latent_dims: Option<Vec<usize>>,
    /// drift-gradual: how far each mean moves over the stream, in standard deviations of its component.
    #[arg(long, value_name = "SD", default_value_t = 5.0)]
    shift: f64,
    /// student: degrees of freedom.
    #[arg(long, value_name = "NU", default_value_t = 5.0)]
    freedom: f64,
    /// letters: sequential or hybrid.
    #[arg(long, value_name = "ORDER", default_value = "sequential")]
    order: LetterOrder,
    /// Add a column `component` with the component each row came from.
    #[arg(long)]
    labels: bool,
    /// File for the rows, `-` for standard output.
    #[arg(short = 'o', long, value_name = "OUT", default_value = "-")]
    output: String,
    /// Format to write: csv, ndjson, parquet or arrow [default: by extension, NDJSON on standard output].
    #[arg(long = "to", value_name = "FORMAT")]
    to: Option<Format>,
    /// File for the true model, as JSON.
    #[arg(long, value_name = "FILE")]
    truth: Option<String>,
}

const NAMES: [&str; 7] = ["ofab", "sorted", "drift-abrupt", "drift-gradual", "mppca", "student", "letters"];

/// Data is made in memory: about 2 GB of it at most.
const MOST_CELLS: u64 = 250_000_000;

/// Rows, the component each came from, and what is known of them.
struct Generated {
    rows: Vec<f64>,
    labels: Vec<u32>,
    n_columns: usize,
    truth: Option<Truth>,
    latent_dims: Option<Vec<usize>>,
    segments: Vec<SegmentEntry>,
    displacements: Option<Vec<Vec<f64>>>,
    freedom: Option<f64>,
}

/// The true model as JSON; components are described as `inspect --json` does.
#[derive(Serialize)]
struct Document<'a> {
    name: &'a str,
    seed: u64,
    n_rows: usize,
    columns: &'a [String],
    components: Vec<ComponentEntry<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    segments: &'a Vec<SegmentEntry>,
    #[serde(skip_serializing_if = "Option::is_none")]
    displacements: &'a Option<Vec<Vec<f64>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    degrees_of_freedom: Option<f64>,
}

#[derive(Serialize)]
struct ComponentEntry<'a> {
    id: String,
    weight: f64,
    mean: &'a [f64],
    covariance: Vec<&'a [f64]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    latent_dim: Option<usize>,
}

/// Rows (from one, both ends included) that come from these components alone.
#[derive(Serialize)]
struct SegmentEntry {
    first_row: usize,
    last_row: usize,
    components: Vec<String>,
}

/// Makes data.
pub fn run(args: GenerateArgs) -> Result<(), Failure> {
    Files::default().writes("-o", [&args.output]).writes("--truth", &args.truth).check()?;
    let generated = generate(&args)?;
    let columns: Vec<String> = (1..=generated.n_columns).map(|j| format!("x{j}")).collect();
    if let Some(path) = &args.truth {
        let document = document(&args, &generated, &columns);
        let text = serde_json::to_string_pretty(&document)
            .map_err(|error| Failure::Failed(format!("the true model cannot be written as JSON: {error}")))?;
        write_atomic(path, (text + "\n").as_bytes())?;
    }
    let mut fields: Vec<OutColumn> = columns.iter().map(|name| OutColumn::new(name, CellKind::Float)).collect();
    if args.labels {
        fields.push(OutColumn::new("component", CellKind::Int));
    }
    let mut table = TableWriter::create(&args.output, args.to, fields)?;
    let mut cells = Vec::new();
    for (row, label) in generated.rows.chunks_exact(generated.n_columns).zip(&generated.labels) {
        cells.clear();
        cells.extend(row.iter().map(|value| Cell::Float(*value)));
        if args.labels {
            cells.push(Cell::Int(i64::from(*label)));
        }
        table.write_row(&cells)?;
    }
    table.finish()?;
    terminal::note(format!("{}: {} of {}", args.output, counted(generated.labels.len() as u64, "row"), args.name));
    Ok(())
}

fn generate(args: &GenerateArgs) -> Result<Generated, Failure> {
    let (k, d, seed) = (args.k as usize, args.d as usize, args.seed);
    if args.n.saturating_mul(u64::from(args.d)) > MOST_CELLS {
        return Err(Failure::Usage(format!(
            "-n {}: at most {} rows of {d} columns",
            args.n,
            MOST_CELLS / u64::from(args.d)
        )));
    }
    if !args.shift.is_finite() {
        return Err(Failure::Usage("--shift must be a finite number".to_string()));
    }
    let n = args.n as usize;
    let mixture = || ofab_truth(k, d, args.covariance, seed);
    Ok(match args.name.as_str() {
        "ofab" => {
            let truth = mixture();
            Generated::new(truth.sample(n, seed), d, Some(truth))
        }
        "sorted" => {
            let truth = mixture();
            Generated::new(truth.sample_sorted(n, seed), d, Some(truth))
        }
        "drift-abrupt" => {
            let drift = AbruptDrift::new(args.covariance, seed);
            let d = drift.truth.n_columns();
            let segments = drift
                .segments
                .iter()
                .map(|segment| SegmentEntry {
                    first_row: segment.batches.start * drift.batch + 1,
                    last_row: segment.batches.end * drift.batch,
                    components: segment.components.clone().map(|k| k.to_string()).collect(),
                })
                .collect();
            Generated { segments, ..Generated::new(drift.sample(seed), d, Some(drift.truth)) }
        }
        "drift-gradual" => {
            let drift = GradualDrift::new(mixture(), args.shift, n, seed);
            let rows = drift.sample(n, seed);
            Generated { displacements: Some(drift.displacements), ..Generated::new(rows, d, Some(drift.start)) }
        }
        "mppca" => {
            let dims = args.latent_dims.clone().unwrap_or_else(|| (0..k).map(|ix| 1 + ix % (d - 1).max(1)).collect());
            let MppcaTruth { truth, latent_dims } = MppcaTruth::new(d, &dims, seed);
            Generated { latent_dims: Some(latent_dims), ..Generated::new(truth.sample(n, seed), d, Some(truth)) }
        }
        "student" if args.freedom > 0.0 => {
            let student = StudentTruth { base: mixture(), freedom: args.freedom };
            let rows = student.sample(n, seed);
            Generated { freedom: Some(args.freedom), ..Generated::new(rows, d, Some(student.base)) }
        }
        "student" => return Err(Failure::Usage("--freedom must be above 0".to_string())),
        "letters" => {
            let letters = letters(args.order, seed);
            Generated::new((letters.rows, letters.labels), 2, None)
        }
        unknown => {
            let hint = nearest(unknown, NAMES.into_iter()).map(|name| format!("; did you mean `{name}`?"));
            let names = NAMES.join(", ");
            return Err(Failure::Usage(format!(
                "there is no generator `{unknown}`{}\n  there are: {names}",
                hint.unwrap_or_default()
            )));
        }
    })
}

impl Generated {
    fn new((rows, labels): (Vec<f64>, Vec<u32>), n_columns: usize, truth: Option<Truth>) -> Generated {
        Generated {
            rows,
            labels,
            n_columns,
            truth,
            latent_dims: None,
            segments: Vec::new(),
            displacements: None,
            freedom: None,
        }
    }
}

fn document<'a>(args: &'a GenerateArgs, generated: &'a Generated, columns: &'a [String]) -> Document<'a> {
    let components = generated.truth.iter().flat_map(|truth| {
        (0..truth.n_components()).map(move |ix| ComponentEntry {
            id: ix.to_string(),
            weight: truth.weights[ix],
            mean: &truth.means[ix],
            covariance: truth.covariances[ix].chunks_exact(truth.n_columns().max(1)).collect(),
            latent_dim: generated.latent_dims.as_ref().and_then(|dims| dims.get(ix).copied()),
        })
    });
    Document {
        name: &args.name,
        seed: args.seed,
        n_rows: generated.labels.len(),
        columns,
        components: components.collect(),
        segments: &generated.segments,
        displacements: &generated.displacements,
        degrees_of_freedom: generated.freedom,
    }
}
