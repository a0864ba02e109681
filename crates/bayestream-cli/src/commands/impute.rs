//! `impute`: missing cells filled by a model that stays as it is.

use crate::args::{OnErrorArg, TableArgs};
use crate::error::Failure;
use crate::feed::{Feed, Next, Plan};
use crate::files::Files;
use crate::imputing::Imputer;
use crate::model_file::{self, AnyModel};
use crate::terminal::{self, counted};
use bayestream::structure::FeatureScorer;
use bayestream_io::{Cell, CellKind, Format, OnError, OutColumn, ReadOptions, TableWriter};
use clap::Args;

/// Rows filled together.
const BATCH_ROWS: usize = 512;

/// Arguments of `impute`.
#[derive(Args)]
pub struct ImputeArgs {
    /// The model file.
    #[arg(value_name = "MODEL")]
    model: String,
    /// A file with rows, or `-` for standard input. Columns that the model does not have are left out.
    #[arg(value_name = "INPUT")]
    input: String,
    /// Add a column NAME_sd for each column: the standard deviation of a filled cell, empty for cells that were there.
    #[arg(long)]
    uncertainty: bool,
    /// Format of the input: csv, ndjson, parquet or arrow [default: by extension, else by the first bytes].
    #[arg(long, value_name = "FORMAT")]
    format: Option<Format>,
    /// A column that names the rows, repeated in front of their cells.
    #[arg(long, value_name = "NAME")]
    id_column: Option<String>,
    /// What to do with a row that cannot be used.
    #[arg(long, value_enum, default_value_t, value_name = "WHAT")]
    on_error: OnErrorArg,
    #[command(flatten)]
    table: TableArgs,
}

/// Fills every row of the input, in its order.
pub fn run(args: ImputeArgs) -> Result<(), Failure> {
    Files::default()
        .reads("MODEL", [&args.model])
        .reads("INPUT", [&args.input])
        .writes("-o", [&args.table.output])
        .check()?;
    let (columns, filler) = match model_file::load_any(&args.model)? {
        AnyModel::Features(model) => {
            let model = model_file::learnt_features(&args.model, *model)?;
            (model.columns().to_vec(), Filler::Features(Box::new(model.scorer())))
        }
        AnyModel::Rows(model) => {
            let snapshot = model_file::learnt(&args.model, *model)?.snapshot();
            (snapshot.columns.clone(), Filler::Mixture(Box::new(Imputer::new(&snapshot))))
        }
        AnyModel::Documents(model) => {
            return Err(model_file::has_no_rows(&args.model, model.config().kind.name(), "documents"));
        }
        AnyModel::Linear(model) => {
            return Err(model_file::has_no_rows(&args.model, model.config().kind.name(), "labelled rows"));
        }
    };
    fill(&args, &columns, filler)
}

/// Who fills.
enum Filler {
    Mixture(Box<Imputer>),
    Features(Box<FeatureScorer>),
}

impl Filler {
    /// Fills the missing cells of rows; `sd` gets the standard deviation of each, NaN elsewhere.
    fn fill(&mut self, rows: &mut [f64], sd: &mut Vec<f64>) {
        match self {
            Filler::Mixture(imputer) => imputer.fill(rows, sd),
            Filler::Features(scorer) => scorer.fill(rows, sd),
        }
    }
}

fn fill(args: &ImputeArgs, columns: &[String], mut filler: Filler) -> Result<(), Failure> {
    let options = ReadOptions {
        format: args.format,
        columns: Some(columns.to_vec()),
        id_column: args.id_column.clone(),
        on_error: if args.on_error == OnErrorArg::Skip { OnError::Skip } else { OnError::Fail },
        batch_rows: BATCH_ROWS,
        ..ReadOptions::default()
    };
    let plan = Plan { inputs: vec![args.input.clone()], options, columns: Some(columns.to_vec()), skip: 0 };
    let mut feed = Feed::start(plan, None);
    feed.opening()?;
    let mut table = TableWriter::create(&args.table.output, args.table.to, fields(args, columns))?;
    let (d, mut sd) = (columns.len(), Vec::new());
    let mut n_filled = 0;
    while let Next::Rows(mut portion) = feed.next()? {
        filler.fill(&mut portion.batch.rows, &mut sd);
        n_filled += sd.iter().filter(|sd| !sd.is_nan()).count() as u64;
        for row_ix in 0..portion.batch.n_rows {
            let of_row = row_ix * d..(row_ix + 1) * d;
            let mut cells: Vec<Cell<'_>> = Vec::with_capacity(2 * d + 1);
            if args.id_column.is_some() {
                cells.push(portion.batch.ids.get(row_ix).map_or(Cell::Null, |id| Cell::Text(id)));
            }
            cells.extend(portion.batch.rows[of_row.clone()].iter().map(|value| Cell::Float(*value)));
            if args.uncertainty {
                cells.extend(sd[of_row].iter().map(|sd| Cell::Float(*sd)));
            }
            table.write_row(&cells)?;
        }
        table.flush()?;
        feed.reuse(portion.batch);
    }
    table.finish()?;
    terminal::note(format!("{} filled", counted(n_filled, "cell")));
    Ok(())
}

fn fields(args: &ImputeArgs, columns: &[String]) -> Vec<OutColumn> {
    let id = args.id_column.iter().map(|name| OutColumn::new(name, CellKind::Text));
    let cells = columns.iter().map(|name| OutColumn::new(name, CellKind::Float));
    let sd =
        columns.iter().filter(|_| args.uncertainty).map(|name| OutColumn::new(format!("{name}_sd"), CellKind::Float));
    id.chain(cells).chain(sd).collect()
}
